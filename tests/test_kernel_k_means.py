"""The kernel k-means family against answers by hand, dense twins written from the formulas, and its relatives."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import expm
from scipy.spatial.distance import cdist

from graphclust import (
    CosineKernel,
    GaussianKernel,
    GraphKernel,
    HeatKernel,
    LaplacianKernel,
    PolynomialKernel,
    SparseKernel,
    as_graph,
    kernel_k_means_cost,
    kernel_kmeans,
    kernel_kmeans_plusplus,
    nearest_neighbor_kernel,
    normalized_cut,
    stochastic_block_model,
)
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
