"""The kernel k-means family against answers by hand, dense twins written from the formulas, and its relatives."""

import networkx as nx
import numba
import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import expm
from scipy.spatial.distance import cdist

from graphclust import (
    CosineKernel,
    DenseKernel,
    GaussianKernel,
    GraphKernel,
    HeatKernel,
    LaplacianKernel,
    PolynomialKernel,
    SparseKernel,
    adjusted_rand_index,
    as_graph,
    coreset_kernel_kmeans,
    kernel_k_means_cost,
    kernel_kmeans,
    kernel_kmeans_plusplus,
    minibatch_kernel_kmeans,
    nearest_neighbor_kernel,
    normalized_cut,
    stochastic_block_model,
    truncated_kernel_kmeans,
)
from graphclust.compiled.points.gaussian_sums import COLUMNS, ROWS, exp2_double, exp2_single
from graphclust.errors import ConvergenceWarning, GraphValidationError, ParameterError
from graphclust.kernel_k_means.full_batch import Partition
from graphclust.progress import Progress

SEEDS = [411, 2087, 9153]


def blobs(n: int, rng: np.random.Generator, d: int = 3, k: int = 4) -> np.ndarray:
    return rng.normal(size=(k, d))[rng.integers(k, size=n)] * 4.0 + rng.normal(size=(n, d))


def random_kernel(n: int, rng: np.random.Generator) -> np.ndarray:
    """Positive semi-definite, with a diagonal that varies."""
    factor = rng.normal(size=(n, 5)) * rng.uniform(0.5, 2.0, size=(n, 1))
    return factor @ factor.T


def twin_sq_distances(K, weights, labels, k):
    """|phi(x) - c_j|^2 from the definition, (n, k); infinite for empty clusters."""
    out = np.full((len(K), k), np.inf)
    for j in range(k):
        members = labels == j
        mass = weights[members].sum()
        if mass > 0:
            inner = K[:, members] @ weights[members] / mass
            norm = weights[members] @ K[np.ix_(members, members)] @ weights[members] / mass**2
            out[:, j] = np.diag(K) - 2 * inner + norm
    return out


def twin_cost(K, weights, labels, k):
    return float((weights * twin_sq_distances(K, weights, labels, k)[np.arange(len(K)), labels]).sum())


# Kernels


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_of_point_kernels_equal_their_formulas(dtype):
    X = np.random.default_rng(33).normal(5.0, 1.0, size=(40, 6)).astype(dtype)
    wide = X.astype(np.float64)
    lengths = np.sqrt((wide**2).sum(axis=1))
    kappa, width = (cdist(wide, wide) ** 2).mean(), cdist(wide, wide, "cityblock").mean()
    expected = {
        GaussianKernel(X): np.exp(-(cdist(wide, wide) ** 2) / kappa),
        LaplacianKernel(X): np.exp(-cdist(wide, wide, "cityblock") / width),
        PolynomialKernel(X, 2, 0.5, 3.0): (0.5 * wide @ wide.T + 3.0) ** 2,
        CosineKernel(X): wide @ wide.T / np.outer(lengths, lengths),
    }
    rows, columns = np.array([3, 0, 3, 39]), np.array([39, 3, 5])
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    for kernel, K in expected.items():
        assert kernel.dtype == kernel.block(rows, columns).dtype == dtype
        np.testing.assert_allclose(kernel.block(rows, columns), K[np.ix_(rows, columns)], rtol=tolerance)
        np.testing.assert_allclose(kernel.block(slice(5, 9), slice(None)), K[5:9], rtol=tolerance)
        np.testing.assert_allclose(kernel.diagonal, np.diag(K), rtol=tolerance)
        entries, self_affinities = kernel.against(X[:7], columns)
        np.testing.assert_allclose(entries, K[:7][:, columns], rtol=tolerance)
        np.testing.assert_allclose(self_affinities, np.diag(K)[:7], rtol=tolerance)


def test_far_from_the_origin_the_gaussian_keeps_its_digits():
    X = np.random.default_rng(8).normal(size=(30, 4))
    np.testing.assert_allclose(
        GaussianKernel(X + 1e6, 2.0).block(slice(None), slice(None)), np.exp(-(cdist(X, X) ** 2) / 2.0), rtol=1e-7
    )


@pytest.mark.parametrize(
    ("exp2", "dtype", "integer", "lowest", "tolerance"),
    [(exp2_single, np.float32, np.int32, -126.0, 3e-7), (exp2_double, np.float64, np.int64, -1022.0, 1e-15)],
)
def test_powers_of_two(exp2, dtype, integer, lowest, tolerance):
    size = ROWS * COLUMNS
    spread, near = np.linspace(lowest, 0.0, 9 * size // 2), np.linspace(-1.0, 0.0, size // 2 - 3)
    exponents = np.concatenate([spread, near, [-1e-7, 1e-6, 4.0 * lowest]]).astype(dtype)
    powers = np.empty(size, dtype)
    found = exponents.copy()
    for first in range(0, 5 * size, size):
        exp2(found[first : first + size], powers, powers.view(integer))
    expected = np.exp2(np.clip(exponents.astype(np.float64), lowest, 0.0))
    assert np.abs(found / expected - 1.0).max() < tolerance
    assert found.max() == 1.0


def random_votes(k: int, n_rows: int, rng: np.random.Generator) -> sparse.csc_array:
    """Of either sign; some rows have none, some several."""
    return sparse.random_array((k, n_rows), density=0.4, rng=rng, data_sampler=rng.normal).tocsc()


@pytest.mark.parametrize(("n", "d", "n_rows"), [(300, 1, 1), (300, 3, 7), (129, 8, 64)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weighted_sums_of_entries(n, d, n_rows, dtype, monkeypatch):
    rng = np.random.default_rng(n + d)
    X = rng.normal(3.0, 1.0, size=(n, d)).astype(dtype)
    K = np.exp(-cdist(X, X, "sqeuclidean") / 1.5)
    rows, votes = rng.integers(n, size=n_rows), random_votes(3, n_rows, rng)
    kernels = {GaussianKernel(X, 1.5): 2e-6 if dtype == np.float32 else 1e-12}
    if dtype == np.float64:
        kernels |= {DenseKernel(K): 1e-12, SparseKernel(sparse.csr_array(K)): 1e-12}
    drawn = rng.integers(n, size=n)  # as many as there are points, and yet not all
    for kernel, tolerance in kernels.items():
        for columns in (slice(None), slice(5, n - 2), drawn, drawn[:4]):
            for small in (False, True):
                with monkeypatch.context() as patch:
                    if small:
                        patch.setattr("graphclust.kernel_k_means.kernel.BLOCK_ENTRIES", 50)
                        patch.setattr("graphclust.kernel_k_means.point_kernels.BLOCK_ENTRIES", 50)
                    expected = votes @ K[rows][:, columns]
                    sums = np.ones(expected.shape)
                    kernel.add_sums(votes, rows, columns, sums, Progress())
                np.testing.assert_allclose(sums - 1.0, expected, atol=tolerance * np.abs(votes).sum(axis=1).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_rows_that_vote_alike(dtype):
    """Runs of rows with one vote each, two each, or none, that end within a group of four rows or with it."""
    rng = np.random.default_rng(64)
    X = rng.normal(size=(70, 3)).astype(dtype)
    lengths = [9, 7, 4, 2, 11, 8, 20]
    alike = np.array([[0.5, 0, 0], [0.25, 0, 0], [0, 1.5, 0], [0.3, 0, -0.3], [0, 0, 2.0], [0, 0, 0], [-1.0, 0.2, 0]])
    votes = np.repeat(alike, lengths, axis=0).T
    votes[1, 44] = 3.0  # one row of the last run has its own
    sums = np.zeros((3, 70))
    GaussianKernel(X, 2.0).add_sums(sparse.csc_array(votes), np.arange(61), slice(None), sums, Progress())
    expected = votes @ np.exp(-cdist(X[:61], X, "sqeuclidean") / 2.0)
    tolerance = 1e-6 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(sums, expected, atol=tolerance * np.abs(votes).sum(axis=1).max())


@pytest.mark.parametrize("sizes", [[1], [3, 1, 2], [5, 300, 2, 1, 260, 37]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lengths_of_means(sizes, dtype):
    """Of groups that end anywhere in a tile of columns; each against all pairs of its points."""
    rng = np.random.default_rng(len(sizes))
    X = rng.normal(2.0, 1.0, size=(200, 3)).astype(dtype)
    rows = rng.integers(200, size=sum(sizes))
    for kernel in (GaussianKernel(X, 3.0), PolynomialKernel(X, 2)):
        K = kernel.block(slice(None), slice(None)).astype(np.float64)
        expected = [K[np.ix_(group, group)].mean() for group in np.split(rows, np.cumsum(sizes)[:-1])]
        found = kernel.mean_sq_norms(rows, np.array(sizes))
        np.testing.assert_allclose(found, expected, rtol=2e-6 if dtype == np.float32 else 1e-13)


def test_sums_have_the_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(91)
    kernel = GaussianKernel(rng.normal(size=(700, 5)).astype(np.float32))
    rows, votes = rng.integers(700, size=90), random_votes(4, 90, rng)
    n_threads = numba.get_num_threads()
    found = []
    try:
        for threads in (1, n_threads):
            numba.set_num_threads(threads)
            sums = np.zeros((4, 700))
            kernel.add_sums(votes, rows, slice(None), sums, Progress())
            found.append(sums)
    finally:
        numba.set_num_threads(n_threads)
    assert np.array_equal(*found)


@pytest.mark.parametrize("density", [0.05, 0.7])
def test_entries_of_a_sparse_matrix(density):
    rng = np.random.default_rng(71)
    half = sparse.random_array((60, 60), density=density, rng=rng)
    K = sparse.csr_array(half + half.T)
    kernel = SparseKernel(K)
    rows, columns = rng.integers(60, size=9), rng.integers(60, size=14)
    np.testing.assert_array_equal(kernel.block(rows, columns), K.toarray()[np.ix_(rows, columns)])
    np.testing.assert_array_equal(kernel.block(slice(4, 6), slice(None)), K.toarray()[4:6])


def test_entries_of_a_graph_and_of_heat_on_it():
    G = nx.karate_club_graph()
    A = nx.to_numpy_array(G) + np.diag(np.arange(34) % 3)
    degrees = A.sum(axis=1)
    everything = slice(None), slice(None)
    np.testing.assert_allclose(GraphKernel(A, loops="given").block(*everything), A / np.outer(degrees, degrees))
    L = np.eye(34) - A / np.sqrt(np.outer(degrees, degrees))
    heat = HeatKernel(A, 0.7)
    np.testing.assert_allclose(heat.block(*everything), expm(-0.7 * L), atol=1e-12)
    heat._kept = None  # as on graphs too large to keep the matrix
    rows, columns = np.array([3, 5]), np.array([0, 33, 5, 5])
    np.testing.assert_allclose(heat.block(rows, columns), expm(-0.7 * L)[np.ix_(rows, columns)], atol=1e-12)
    np.testing.assert_allclose(heat.block(columns, rows), expm(-0.7 * L)[np.ix_(columns, rows)], atol=1e-12)
    np.testing.assert_allclose(heat.block(rows, slice(2, 9)), expm(-0.7 * L)[rows, 2:9], atol=1e-12)


def test_each_point_is_among_its_own_neighbours():
    kernel = nearest_neighbor_kernel(np.array([[0.0], [1.0], [2.5]]), 1)
    A = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    degrees = A.sum(axis=1)
    np.testing.assert_allclose(kernel.K.toarray(), A / np.outer(degrees, degrees))
    assert kernel.weights is None


@pytest.mark.parametrize(
    ("K", "said"),
    [
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "finite"),
        (np.ones((2, 3)), "shape"),
        (sparse.csr_array([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (sparse.csr_array([[np.inf, 0.0], [0.0, 1.0]]), "finite"),
    ],
)
def test_matrices_that_are_no_kernels_are_refused(K, said):
    with pytest.raises(GraphValidationError, match=said):
        kernel_kmeans(K, 1, kernel="precomputed")


def test_a_matrix_of_single_precision_may_be_symmetric_but_for_rounding():
    K = random_kernel(20, np.random.default_rng(6)).astype(np.float32)
    K[3, 7] *= 1 + 4e-7
    assert K[3, 7] != K[7, 3]
    assert kernel_kmeans(K, 2, kernel="precomputed", rng=1).gamma > 0
    with pytest.raises(GraphValidationError, match="not symmetric"):
        kernel_kmeans(K.astype(np.float64) + 1e-4 * np.eye(20, k=1), 2, kernel="precomputed")


def test_arguments_out_of_range_are_refused():
    X = np.arange(5.0)[:, None]
    with pytest.raises(GraphValidationError, match="finite"):
        kernel_kmeans([[np.nan], [1.0]], 1)
    with pytest.raises(ParameterError, match="k=6"):
        kernel_kmeans(X, 6)
    with pytest.raises(ParameterError, match="kernel='rbf'"):
        kernel_kmeans(X, 2, kernel="rbf")
    with pytest.raises(GraphValidationError, match="init"):
        kernel_kmeans(X, 2, init=[0, 1, 2, 0, 0])
    with pytest.raises(ParameterError, match="kappa"):
        GaussianKernel(X, -1.0)
    with pytest.raises(TypeError, match="sparse"):
        kernel_kmeans(sparse.csr_array(X), 2)


# Seeding


def test_seeds_follow_the_squared_distances():
    """The second seed of K = diag(1, 2, 4) after point 0, chi-square over the two others: 1+2 to 1+4."""
    K = np.diag([1.0, 2.0, 4.0])
    weights = np.array([1.0, 2.0, 1.0])
    rng = np.random.default_rng(88)
    counts = np.zeros((3, 3))
    for _ in range(4000):
        first, second = kernel_kmeans_plusplus(K, 2, kernel="precomputed", sample_weight=weights, rng=rng).rows
        counts[first, second] += 1

    def chi_square(masses):
        expected = np.array(
            [[0.0 if i == j else weights[i] / 4 * masses[i, j] / masses[i].sum() for j in range(3)] for i in range(3)]
        )
        off = ~np.eye(3, dtype=bool)
        return (((counts - 4000 * expected) ** 2)[off] / (4000 * expected[off])).sum()

    diagonal = np.diag(K)
    masses = weights * (diagonal[:, None] + diagonal) * (1 - np.eye(3))
    assert chi_square(masses) < 38.0  # p > 1e-6 with 5 degrees of freedom: 35.9
    assert chi_square(weights * diagonal * (1 - np.eye(3))) > 38.0


def test_fewer_distinct_points_than_seeds():
    with pytest.warns(ConvergenceWarning, match="only 2 distinct"):
        seeds = kernel_kmeans_plusplus(np.repeat([[0.0], [3.0]], 4, axis=0), 5, rng=2)
    assert len(seeds.rows) == 2 and not seeds.sq_distances.any()


# Full batch


def test_two_pairs_on_a_line():
    result = kernel_kmeans([[0.0], [1.0], [10.0], [11.0]], 2, kernel="linear", init=[0, 1, 1, 1])
    assert result.labels.tolist() == [0, 0, 1, 1]
    assert result.cost == pytest.approx(1.0, abs=1e-10)
    assert result.gamma == 11.0
    assert result.predict([[3.0], [7.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("incremental", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_full_batch_equals_the_dense_twin_step_by_step(seed, incremental):
    rng = np.random.default_rng(seed)
    K, weights = random_kernel(70, rng), rng.uniform(0.5, 3.0, 70)
    labels = rng.integers(4, size=70)
    n_steps, settled = 0, False
    while not settled:
        result = kernel_kmeans(
            K, 4, kernel="precomputed", sample_weight=weights, init=labels, max_iter=1, incremental=incremental
        )
        expected = twin_sq_distances(K, weights, labels, 4).argmin(axis=1)
        assert np.array_equal(result.labels, expected)
        assert result.cost == pytest.approx(twin_cost(K, weights, expected, 4), rel=1e-9)
        settled = np.array_equal(expected, labels)
        labels = expected
        n_steps += 1
    assert n_steps > 3


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_carried_over_equals_what_is_summed_afresh(seed):
    rng = np.random.default_rng(seed)
    K, weights = random_kernel(120, rng), rng.uniform(0.5, 3.0, 120)
    init = rng.integers(6, size=120)
    runs = [
        kernel_kmeans(M, 6, kernel="precomputed", sample_weight=weights, init=init, incremental=incremental)
        for M in (K, sparse.csr_array(K))
        for incremental in (True, False)
    ]
    for result in runs:
        assert np.array_equal(result.labels, runs[0].labels)
        assert result.n_iter == runs[0].n_iter > 2
        np.testing.assert_allclose(result.history, runs[0].history, rtol=1e-10)
        assert (np.diff(result.history) <= 1e-9).all()
        assert result.cost <= result.history[-1]
        assert result.n_negative == 0 and result.proposed_shift == 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_equal_repetition(seed):
    rng = np.random.default_rng(seed)
    X = blobs(40, rng)
    counts = rng.integers(1, 4, size=40)
    init = rng.integers(3, size=40)
    weighted = kernel_kmeans(GaussianKernel(X, 9.0), 3, sample_weight=counts, init=init)
    repeated = kernel_kmeans(GaussianKernel(np.repeat(X, counts, axis=0), 9.0), 3, init=np.repeat(init, counts))
    assert np.array_equal(np.repeat(weighted.labels, counts), repeated.labels)
    assert weighted.cost == pytest.approx(repeated.cost, rel=1e-10)


def test_points_of_weight_zero_have_no_vote():
    rng = np.random.default_rng(17)
    X = blobs(60, rng)
    weights = np.where(np.arange(60) < 45, 1.0, 0.0)
    init = rng.integers(3, size=60)
    whole = kernel_kmeans(GaussianKernel(X, 9.0), 3, sample_weight=weights, init=init)
    part = kernel_kmeans(GaussianKernel(X[:45], 9.0), 3, init=init[:45])
    assert np.array_equal(whole.labels[:45], part.labels)
    assert np.array_equal(whole.labels[45:], part.predict(X[45:]))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_linear_kernel_is_k_means(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 3))
    labels = cdist(X, X[:4]).argmin(axis=1)
    result = kernel_kmeans(X, 4, kernel="linear", init=labels)
    assert result.n_iter >= 2
    for _ in range(result.n_iter):
        means = np.array([X[labels == j].mean(axis=0) for j in range(4)])
        labels = (cdist(X, means) ** 2).argmin(axis=1)
    assert np.array_equal(result.labels, labels)
    means = np.array([X[labels == j].mean(axis=0) for j in range(4)])
    assert result.cost == pytest.approx(((X - means[labels]) ** 2).sum())
    np.testing.assert_allclose(result.centers.sq_distances_to(X), cdist(X, means) ** 2, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cost_of_a_partition_is_its_normalized_cut(seed):
    """At any labels: cost = NCut + trace(D^-1 A) - k."""
    rng = np.random.default_rng(seed)
    half = sparse.triu(sparse.random_array((50, 50), density=0.2, rng=rng))
    A = sparse.csr_array(half + half.T)
    labels = np.append(np.arange(5), rng.integers(5, size=45))
    kernel = GraphKernel(as_graph(A), loops="given")
    partition = Partition(kernel, kernel.weights, labels, 5, 0.0)
    partition.sum_afresh(Progress())
    constant = (A.diagonal() / A.sum(axis=1)).sum() - 5
    assert partition.cost() == pytest.approx(normalized_cut(A, labels) + constant, rel=1e-10)
    assert partition.cost() == pytest.approx(kernel_k_means_cost(A, labels), rel=1e-10)


def test_on_a_graph_it_lowers_the_normalized_cut():
    planted = stochastic_block_model([30] * 4, 0.5, 0.02, rng=5)
    matrix = planted.graph.to_scipy().tolil()
    matrix[7] = 0.0
    matrix[:, 7] = 0.0
    noisy = planted.labels.copy()
    noisy[::5] = (noisy[::5] + 1) % 4
    with pytest.warns(match="isolated"):
        graph = as_graph(matrix.tocsr())
    result = kernel_kmeans(graph, 4, init=noisy)
    assert result.labels[7] == -1
    others = np.arange(120) != 7
    assert np.array_equal(result.labels[others], planted.labels[others])


def test_negative_distances_are_counted_and_the_proposed_shift_mends_them():
    rng = np.random.default_rng(62)
    A = nx.to_numpy_array(nx.gnp_random_graph(90, 0.1, seed=3)) + 0.05 * np.eye(90)
    weights = A.sum(axis=1)
    K = A / np.outer(weights, weights)
    roots = np.sqrt(weights)
    init = rng.integers(40, size=90)
    init[:40] = np.arange(40)
    result = kernel_kmeans(K, 40, kernel="precomputed", sample_weight=weights, init=init)
    assert result.n_negative > 0
    lowest = np.linalg.eigvalsh(roots[:, None] * K * roots).min()
    assert -lowest <= result.proposed_shift <= -1.05 * lowest
    shift = result.proposed_shift
    mended = kernel_kmeans(K + np.diag(shift / weights), 40, kernel="precomputed", sample_weight=weights, init=init)
    same = kernel_kmeans(K, 40, kernel="precomputed", sample_weight=weights, init=init, shift=shift)
    assert mended.n_negative == 0
    assert np.array_equal(mended.labels, same.labels)
    assert mended.cost == pytest.approx(same.cost + shift * (90 - len(np.unique(same.labels))), rel=1e-9)


def test_empty_clusters_duplicates_and_extreme_k():
    X = np.array([[0.0], [0.0], [1.0], [5.0], [9.0]])
    filled = kernel_kmeans(X, 3, kernel="linear", init=[0, 0, 0, 0, 0])
    assert len(np.unique(filled.labels)) == 3
    with pytest.warns(ConvergenceWarning, match="only 4 distinct"):
        every = kernel_kmeans(X, 5, kernel="linear", rng=3)
    assert every.cost == pytest.approx(0.0, abs=1e-10)
    single = kernel_kmeans(X, 1, kernel="linear", rng=3)
    assert single.cost == pytest.approx(((X - 3.0) ** 2).sum())
    distinct = kernel_kmeans(X[1:], 4, rng=3)
    assert sorted(distinct.labels.tolist()) == [0, 1, 2, 3]
    with pytest.warns(ConvergenceWarning, match="only 1 distinct"):
        assert kernel_kmeans(np.ones((4, 2)), 2, rng=3).cost == pytest.approx(0.0, abs=1e-12)


def test_a_listener_can_stop_it_and_the_same_rng_gives_the_same():
    X = blobs(80, np.random.default_rng(5))

    def stop(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kernel_kmeans(X, 3, rng=1, progress=stop)
    first, second = (kernel_kmeans(X, 3, rng=7) for _ in range(2))
    assert np.array_equal(first.labels, second.labels) and first.cost == second.cost


# Mini-batches


def twin_minibatch(K, seeds, batches, rate, tau=None, renormalize=False):
    """Coefficients of the centres on the points, (k, n), and labels of each batch, straight from the definition."""
    k, n = len(seeds), len(K)
    start = np.eye(n)[seeds]
    means = [[] for _ in range(k)]  # of each cluster: (batch, share, mean as coefficients, number of points)
    totals, seen = np.zeros(k), []

    def centre(j):
        run, held = means[j], 0
        if tau is not None:
            for first in range(len(means[j]) - 1, -1, -1):
                held += means[j][first][2]
                if held >= tau:
                    run = means[j][first:]
                    break
        total, left = np.zeros(n), 1.0
        for share, mean, _ in reversed(run):
            total, left = total + left * share * mean, left * (1.0 - share)
        total = total + left * start[j] if len(run) == len(means[j]) else total
        return total / total.sum() if renormalize else total

    for batch in batches:
        C = np.array([centre(j) for j in range(k)])
        labels = (np.einsum("jx,xy,jy->j", C, K, C)[:, None] - 2 * C @ K[:, batch]).argmin(axis=0)
        seen.append(labels)
        for j in range(k):
            members = batch[labels == j]
            totals[j] += len(members)
            if len(members):
                share = np.sqrt(len(members) / len(batch)) if rate == "sqrt" else len(members) / totals[j]
                means[j].append((share, np.bincount(members, minlength=n) / len(members), len(members)))
    return np.array([centre(j) for j in range(k)]), seen


def coefficients_on_all(result, n):
    dense = np.zeros((result.centers.coefficients.shape[0], n))
    dense[:, result.centers.rows] = result.centers.coefficients.toarray()
    return dense


@pytest.mark.parametrize("rate", ["sqrt", "count"])
@pytest.mark.parametrize("seed", SEEDS)
def test_minibatch_equals_its_twin(seed, rate):
    rng = np.random.default_rng(seed)
    K = random_kernel(50, rng)
    batches = [rng.integers(50, size=12) for _ in range(25)]
    seeds = rng.choice(50, 4, replace=False)
    result = minibatch_kernel_kmeans(K, 4, kernel="precomputed", init=seeds, rate=rate, batches=batches)
    C, _ = twin_minibatch(K, seeds, batches, rate)
    assert result.n_iter == 25
    np.testing.assert_allclose(coefficients_on_all(result, 50), C, atol=1e-12)
    norms = np.einsum("jx,xy,jy->j", C, K, C)
    np.testing.assert_allclose(result.centers.sq_norms, norms, rtol=1e-9)
    to_centers = np.diag(K)[:, None] + norms - 2 * K @ C.T
    assert np.array_equal(result.labels, to_centers.argmin(axis=1))
    assert result.cost == pytest.approx(to_centers.min(axis=1).sum())
    np.testing.assert_allclose(result.centers.sq_distances_to(K), to_centers - np.diag(K)[:, None], atol=1e-9)


@pytest.mark.parametrize("renormalize", [True, False])
@pytest.mark.parametrize("rate", ["sqrt", "count"])
@pytest.mark.parametrize("tau", [1, 5, 20])
def test_truncated_equals_its_twin(tau, rate, renormalize):
    rng = np.random.default_rng(5150 + tau)
    K = random_kernel(50, rng)
    batches = [rng.integers(50, size=12) for _ in range(25)]
    seeds = rng.choice(50, 4, replace=False)
    result = truncated_kernel_kmeans(
        K, 4, kernel="precomputed", init=seeds, rate=rate, tau=tau, renormalize=renormalize, batches=batches
    )
    C, _ = twin_minibatch(K, seeds, batches, rate, tau, renormalize)
    np.testing.assert_allclose(coefficients_on_all(result, 50), C, atol=1e-12)
    np.testing.assert_allclose(result.centers.sq_norms, np.einsum("jx,xy,jy->j", C, K, C), rtol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tau_never_reached_changes_nothing(seed):
    X = blobs(80, np.random.default_rng(seed))
    whole = minibatch_kernel_kmeans(X, 4, batch_size=24, max_iter=10, rng=seed)
    kept = truncated_kernel_kmeans(X, 4, batch_size=24, max_iter=10, tau=24 * 11, rng=seed)
    np.testing.assert_allclose(kept.history, whole.history, rtol=1e-9)
    assert np.array_equal(kept.labels, whole.labels)
    assert kept.cost == pytest.approx(whole.cost, rel=1e-9)


@pytest.mark.parametrize("function", [minibatch_kernel_kmeans, truncated_kernel_kmeans])
def test_the_whole_data_as_one_batch_is_one_full_step(function):
    rng = np.random.default_rng(404)
    X = blobs(80, rng)
    kernel = GaussianKernel(X)
    seeds = rng.choice(80, 4, replace=False)
    K = kernel.block(slice(None), slice(None))
    nearest = (np.diag(K)[seeds] - 2 * K[:, seeds]).argmin(axis=1)
    expected = kernel_kmeans(kernel, 4, init=nearest, max_iter=1)
    result = function(kernel, 4, init=seeds, rate="count", batches=[np.arange(80)])
    assert np.array_equal(result.labels, expected.labels)


def test_nothing_of_size_n_is_touched_between_seeding_and_labels():
    class Spy(GaussianKernel):
        largest = 0

        def block(self, rows, columns):
            self.look(rows, columns)
            return super().block(rows, columns)

        def add_sums(self, votes, rows, columns, sums, progress):
            self.look(rows, columns)
            super().add_sums(votes, rows, columns, sums, progress)

        def look(self, *asked):
            for chosen in asked:
                assert not isinstance(chosen, slice) or self.labelling
                self.largest = max(self.largest, chosen.stop if isinstance(chosen, slice) else len(chosen))

    kernel = Spy(blobs(1000, np.random.default_rng(2)))
    stages = []

    def listener(stage, done, total):
        stages.append(stage)
        if stage == "kernel k-means":
            assert 20 <= kernel.largest < 4 * (30 + 20) + 4
            kernel.labelling = done == 15

    kernel.labelling = False
    truncated_kernel_kmeans(
        kernel, 4, init=[3, 9, 27, 81], batch_size=20, tau=30, max_iter=15, rng=1, progress=listener
    )
    assert "labels" in stages


@pytest.mark.parametrize("function", [minibatch_kernel_kmeans, truncated_kernel_kmeans])
def test_mini_batches_find_the_blobs(function):
    rng = np.random.default_rng(3)
    truth = rng.integers(4, size=240)
    X = np.eye(4)[truth] * 12.0 + rng.normal(size=(240, 4))
    for K_or_X, named in ((X, "gaussian"), (X.astype(np.float32), "gaussian"), (X, "laplacian"),
                          (nearest_neighbor_kernel(X, 50), "precomputed")):  # fmt: skip
        result = function(K_or_X, 4, kernel=named, init=[int(np.flatnonzero(truth == j)[0]) for j in range(4)],
                          batch_size=60, max_iter=8, rng=5)  # fmt: skip
        assert adjusted_rand_index(result.labels, truth) == 1.0


@pytest.mark.parametrize("function", [minibatch_kernel_kmeans, truncated_kernel_kmeans])
def test_it_stops_when_a_batch_gains_too_little(function):
    X = blobs(100, np.random.default_rng(12))
    K = GaussianKernel(X).block(slice(None), slice(None))
    batches = [np.arange(100)] * 20
    result = function(X, 3, rate="count", batches=batches, max_iter=20, tol=1e-3, rng=6)
    assert 1 < result.n_iter < 20
    gains = -np.diff(result.history)
    assert (gains >= 1e-3).all()
    never = function(X, 3, rate="count", batches=batches, max_iter=20, rng=6)
    assert never.n_iter == 20
    assert never.history[result.n_iter - 1] - never.history[result.n_iter] < 1e-3
    assert result.history[0] <= np.diag(K).mean() * 2


@pytest.mark.parametrize("function", [minibatch_kernel_kmeans, truncated_kernel_kmeans])
def test_batches_are_drawn_by_weight_and_then_count_alike(function):
    X = np.array([[0.0], [0.2], [50.0], [9.0], [9.3]])
    weights = np.array([1.0, 3.0, 0.0, 2.0, 2.0])
    result = function(X, 2, kernel="linear", sample_weight=weights, init=[0, 3], batch_size=4000, rate="count",
                      max_iter=1, rng=8)  # fmt: skip
    # Means of points drawn by weight: 0.15 and 9.15, standard deviations 0.0019 and 0.0034 over 2,000 points.
    means = (result.centers.coefficients @ X[result.centers.rows]).ravel()
    np.testing.assert_allclose(means, [0.15, 9.15], atol=0.02)
    assert result.labels.tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("function", [minibatch_kernel_kmeans, truncated_kernel_kmeans])
def test_extreme_sizes_of_mini_batches(function):
    X = np.arange(6.0)[:, None] ** 2
    assert len(np.unique(function(X, 6, batch_size=50, max_iter=5, rng=2).labels)) == 6
    assert not function(X, 1, batch_size=1, max_iter=5, rng=2).labels.any()
    with pytest.warns(ConvergenceWarning, match="only 1 distinct"):
        assert not function(np.ones((5, 2)), 3, batch_size=50, max_iter=3, rng=2).labels.any()
    with pytest.raises(ParameterError, match="rate"):
        function(X, 2, rate="beta")
    with pytest.raises(ParameterError, match="batches"):
        function(X, 2, batches=[[0, 6]])
    with pytest.raises(GraphValidationError, match="init"):
        function(X, 2, init=[0, 1, 2])


# Coresets


def test_a_coreset_of_all_points_is_the_full_batch():
    X = blobs(60, np.random.default_rng(19))
    result = coreset_kernel_kmeans(X, 4, coreset_size=60, rng=3)
    full = kernel_kmeans(X, 4, rng=3)
    assert np.array_equal(result.labels, full.labels)
    assert result.cost == pytest.approx(full.cost)


@pytest.mark.parametrize("second_term", ["voronoi", "seed_weight"])
def test_a_coreset_costs_little_more_than_all_points(second_term):
    rng = np.random.default_rng(27)
    X = np.eye(4)[rng.integers(4, size=800)] * 6.0 + rng.normal(size=(800, 4))
    full = kernel_kmeans(X, 4, rng=5)  # both find the four, which depends on the seeds
    result = coreset_kernel_kmeans(X, 4, coreset_size=200, second_term=second_term, rng=5)
    assert full.cost <= result.cost * (1 + 1e-12) <= 1.1 * full.cost
    assert len(result.centers.rows) <= 200
    assert np.array_equal(result.predict(X), result.labels)


@pytest.mark.parametrize("sampling", ["naive", "tree"])
def test_a_coreset_of_a_graph(sampling):
    planted = stochastic_block_model([150] * 3, 0.5, 0.02, rng=9)
    result = coreset_kernel_kmeans(planted.graph, 3, coreset_size=150, sampling=sampling, rng=4)
    assert adjusted_rand_index(result.labels, planted.labels) > 0.95


def test_coresets_that_cannot_be():
    X = blobs(30, np.random.default_rng(1))
    with pytest.raises(ParameterError, match="coreset_size=3"):
        coreset_kernel_kmeans(X, 4, coreset_size=3)
    with pytest.raises(ParameterError, match="tree"):
        coreset_kernel_kmeans(X, 4, coreset_size=9, sampling="tree")
    with pytest.raises(ParameterError, match="second_term"):
        coreset_kernel_kmeans(X, 4, coreset_size=9, second_term="none")
