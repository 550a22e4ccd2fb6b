"""Kernels: entries, sums and lengths of means against their formulas; what is none; lengths far from one another."""

import networkx as nx
import numba
import numpy as np
import pytest
from cases import for_each, refuses
from reference.kernels import SEEDS, random_kernel, twin_cost
from scipy import sparse
from scipy.linalg import expm
from scipy.spatial.distance import cdist

import graphclust as gc
from graphclust.compiled.points.gaussian_sums import COLUMNS, ROWS, exp2_double, exp2_single
from graphclust.errors import ConvergenceWarning, GraphValidationError, GraphWarning, ParameterError
from graphclust.points.kernel_k_means import matrix_kernels
from graphclust.points.kernel_k_means.full_batch import Partition


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_of_point_kernels_equal_their_formulas(dtype):
    X = np.random.default_rng(33).normal(5.0, 1.0, size=(40, 6)).astype(dtype)
    wide = X.astype(np.float64)
    lengths = np.sqrt((wide**2).sum(axis=1))
    kappa, width = (cdist(wide, wide) ** 2).mean(), cdist(wide, wide, "cityblock").mean()
    expected = {
        gc.GaussianKernel(X): np.exp(-(cdist(wide, wide) ** 2) / kappa),
        gc.LaplacianKernel(X): np.exp(-cdist(wide, wide, "cityblock") / width),
        gc.PolynomialKernel(X, 2, 0.5, 3.0): (0.5 * wide @ wide.T + 3.0) ** 2,
        gc.PolynomialKernel(X): (wide @ wide.T / 6 + 1.0) ** 3,
        gc.CosineKernel(X): wide @ wide.T / np.outer(lengths, lengths),
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
    X, everything = np.random.default_rng(8).normal(size=(30, 4)), slice(None)
    found = gc.GaussianKernel(X + 1e6, 2.0).block(everything, everything)
    np.testing.assert_allclose(found, np.exp(-(cdist(X, X) ** 2) / 2.0), rtol=1e-7)


@pytest.mark.parametrize(
    ("exp2", "dtype", "integer", "lowest", "tolerance"),
    [(exp2_single, np.float32, np.int32, -126.0, 3e-7), (exp2_double, np.float64, np.int64, -1022.0, 1e-15)],
)
def test_compiled_powers_of_two_are_accurate(exp2, dtype, integer, lowest, tolerance):
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
def test_weighted_sums_of_entries_equal_dense_products(n, d, n_rows, dtype, monkeypatch):
    rng = np.random.default_rng(n + d)
    X = rng.normal(3.0, 1.0, size=(n, d)).astype(dtype)
    K = np.exp(-cdist(X, X, "sqeuclidean") / 1.5)
    rows, votes = rng.integers(n, size=n_rows), random_votes(3, n_rows, rng)
    kernels = {gc.GaussianKernel(X, 1.5): 2e-6 if dtype == np.float32 else 1e-12}
    if dtype == np.float64:
        kernels |= {gc.DenseKernel(K): 1e-12, gc.SparseKernel(sparse.csr_array(K)): 1e-12}
    drawn = rng.integers(n, size=n)  # as many as there are points, and yet not all
    for kernel, tolerance in kernels.items():
        for columns in (slice(None), slice(5, n - 2), drawn, drawn[:4]):
            for small in (False, True):
                with monkeypatch.context() as patch:
                    if small:
                        patch.setattr("graphclust.points.kernel_k_means.matrix_kernels.BLOCK_ENTRIES", 50)
                        patch.setattr("graphclust.points.kernel_k_means.point_kernels.BLOCK_ENTRIES", 50)
                    expected = votes @ K[rows][:, columns]
                    sums = np.ones(expected.shape)
                    kernel.add_sums(votes, rows, columns, sums)
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
    gc.GaussianKernel(X, 2.0).add_sums(sparse.csc_array(votes), np.arange(61), slice(None), sums)
    expected = votes @ np.exp(-cdist(X[:61], X, "sqeuclidean") / 2.0)
    tolerance = 1e-6 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(sums, expected, atol=tolerance * np.abs(votes).sum(axis=1).max())


@for_each("sizes", [[1], [3, 1, 2], [5, 300, 2, 1, 260, 37]])
@for_each("dtype", [np.float32, np.float64])
def test_lengths_of_means_equal_those_over_all_pairs(sizes, dtype):
    """Of groups that end anywhere in a tile of columns; each against all pairs of its points."""
    rng = np.random.default_rng(len(sizes))
    X = rng.normal(2.0, 1.0, size=(200, 3)).astype(dtype)
    rows = rng.integers(200, size=sum(sizes))
    for kernel in (gc.GaussianKernel(X, 3.0), gc.PolynomialKernel(X, 2)):
        K = kernel.block(slice(None), slice(None)).astype(np.float64)
        expected = [K[np.ix_(group, group)].mean() for group in np.split(rows, np.cumsum(sizes)[:-1])]
        found = kernel.mean_sq_norms(rows, np.array(sizes))
        np.testing.assert_allclose(found, expected, rtol=2e-6 if dtype == np.float32 else 1e-13)


def test_sums_have_the_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(91)
    kernel = gc.GaussianKernel(rng.normal(size=(700, 5)).astype(np.float32))
    rows, votes = rng.integers(700, size=90), random_votes(4, 90, rng)
    found = np.zeros((2, 4, 700))
    for threads, sums in zip((1, numba.get_num_threads()), found, strict=True):
        with gc.limit_threads(threads):
            kernel.add_sums(votes, rows, slice(None), sums)
    assert np.array_equal(*found)


@pytest.mark.parametrize("density", [0.05, 0.7])
def test_entries_of_a_sparse_matrix(density):
    rng = np.random.default_rng(71)
    half = sparse.random_array((60, 60), density=density, rng=rng)
    K = sparse.csr_array(half + half.T)
    kernel = gc.SparseKernel(K)
    rows, columns = rng.integers(60, size=9), rng.integers(60, size=14)
    np.testing.assert_array_equal(kernel.block(rows, columns), K.toarray()[np.ix_(rows, columns)])
    np.testing.assert_array_equal(kernel.block(slice(4, 6), slice(None)), K.toarray()[4:6])


def test_entries_of_a_graph_and_of_heat_on_it():
    G = nx.karate_club_graph()
    A = nx.to_numpy_array(G) + np.diag(np.arange(34) % 3)
    degrees = A.sum(axis=1)
    everything = slice(None), slice(None)
    np.testing.assert_allclose(gc.GraphKernel(A, loops="given").block(*everything), A / np.outer(degrees, degrees))
    L = np.eye(34) - A / np.sqrt(np.outer(degrees, degrees))
    heat = gc.HeatKernel(A, 0.7)
    np.testing.assert_allclose(heat.block(*everything), expm(-0.7 * L), atol=1e-12)
    heat._kept = None  # as on graphs too large to keep the matrix
    rows, columns = np.array([3, 5]), np.array([0, 33, 5, 5])
    np.testing.assert_allclose(heat.block(rows, columns), expm(-0.7 * L)[np.ix_(rows, columns)], atol=1e-12)
    np.testing.assert_allclose(heat.block(columns, rows), expm(-0.7 * L)[np.ix_(columns, rows)], atol=1e-12)
    np.testing.assert_allclose(heat.block(rows, slice(2, 9)), expm(-0.7 * L)[rows, 2:9], atol=1e-12)


@pytest.mark.parametrize("t", [1e-6, 1.0, 20.0, 3000.0])
def test_heat_equals_the_exponential_and_draws_nothing(t):
    """Of a bipartite component, whose spectrum reaches -1, as well; the fixture of all tests watches NumPy's state."""
    G = nx.disjoint_union(nx.karate_club_graph(), nx.complete_bipartite_graph(3, 4))
    G.add_node("alone")
    A = nx.to_numpy_array(G)
    scale = np.divide(1.0, np.sqrt(A.sum(axis=1)), out=np.zeros(len(A)), where=A.sum(axis=1) > 0)
    K = gc.HeatKernel(nx.karate_club_graph(), t).block(slice(None), slice(None))
    with pytest.warns(GraphWarning, match="isolated"):
        whole = gc.HeatKernel(A, t).block(slice(None), slice(None))
    np.testing.assert_allclose(whole, expm(-t * (np.eye(len(A)) - scale[:, None] * A * scale)), atol=1e-13)
    np.testing.assert_allclose(whole[:34, :34], K, atol=1e-15)


@pytest.mark.parametrize("t", [1e-9, 0.3, 1.0, 70.0, 1e6])
def test_coefficients_of_heat_end_where_rounding_begins(t):
    coefficients = matrix_kernels._heat_coefficients(t)
    x = 1.0 - np.geomspace(1e-12, 2.0, 500)
    np.testing.assert_allclose(np.polynomial.chebyshev.chebval(x, coefficients), np.exp(t * (x - 1)), atol=1e-12)
    assert (coefficients > 0).all() and abs(coefficients.sum() - 1.0) < 1e-14
    assert len(coefficients) <= 15 + 9 * np.sqrt(t)  # the next would be far below rounding


def test_each_point_is_among_its_own_neighbors():
    kernel = gc.nearest_neighbor_kernel(np.array([[0.0], [1.0], [2.5]]), 1)
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
    refuses(GraphValidationError, said, gc.kernel_kmeans, K, 1, kernel="precomputed")


def test_a_matrix_of_single_precision_may_be_symmetric_but_for_rounding():
    K = random_kernel(20, np.random.default_rng(6)).astype(np.float32)
    K[3, 7] *= 1 + 4e-7
    assert K[3, 7] != K[7, 3]
    assert gc.kernel_kmeans(K, 2, kernel="precomputed", rng=1).gamma > 0
    skewed = K.astype(np.float64) + 1e-4 * np.eye(20, k=1)
    refuses(GraphValidationError, "not symmetric", gc.kernel_kmeans, skewed, 2, kernel="precomputed")


def test_arguments_out_of_range_are_refused():
    X = np.arange(5.0)[:, None]
    refuses(GraphValidationError, "finite", gc.kernel_kmeans, [[np.nan], [1.0]], 1)
    refuses(ParameterError, "k=6", gc.kernel_kmeans, X, 6)
    refuses(ParameterError, "kernel='rbf'", gc.kernel_kmeans, X, 2, kernel="rbf")
    refuses(GraphValidationError, "init", gc.kernel_kmeans, X, 2, init=[0, 1, 2, 0, 0])
    refuses(ParameterError, "kappa", gc.GaussianKernel, X, -1.0)
    refuses(TypeError, "sparse", gc.kernel_kmeans, sparse.csr_array(X), 2)


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 2e3), (np.float64, 1e8)])
def test_gaussian_entries_of_points_far_beyond_the_width(dtype, far):
    rng = np.random.default_rng(4)
    points = (rng.normal(size=(30, 3)) + far * (np.arange(30)[:, None] % 3)).astype(dtype)
    kernel = gc.GaussianKernel(points, 1.0)
    expected = np.exp(-cdist(points, points, "sqeuclidean"))
    everything = np.arange(30)
    assert np.allclose(kernel.block(everything, everything), expected, rtol=1e-5, atol=1e-300)
    sums = np.zeros((2, 30))
    votes = rng.random((2, 30))
    kernel.add_sums(sparse.csc_array(votes), everything, slice(None), sums)
    assert np.allclose(sums, votes @ expected, rtol=1e-5)
    rows, sizes = np.array([0, 3, 6, 1, 4]), np.array([3, 2])
    means = [expected[np.ix_(some, some)].mean() for some in np.split(rows, [3])]
    assert np.allclose(kernel.mean_sq_norms(rows, sizes), means, rtol=1e-5)


def test_default_widths_do_not_hang_on_the_unit_of_weights():
    points = [[0.0], [1.0], [5.0]]
    for kind in (gc.GaussianKernel, gc.LaplacianKernel):
        kappas = [kind(points, sample_weight=[scale, scale, 2 * scale]).kappa for scale in (1.0, 2.0**-1060, 2.0**1021)]
        assert kappas[0] == kappas[1] == kappas[2]
    for scale in (5e-324, 1e308):
        refuses(GraphValidationError, "sample_weight", gc.kernel_kmeans, points, 2, sample_weight=scale, rng=0)


def two_groups(seed, n=200):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 6.0 * rng.integers(0, 2, n)[:, None], rng.integers(0, 2, n)


def from_the_same_start(X, labels, k):
    wide = X.astype(np.float64)
    return gc.kmeans(wide, k, init=[wide[labels == j].mean(axis=0) for j in range(k)])


@for_each("precomputed", [False, True])
@for_each(("far", "dtype"), [(1e5, np.float32), (1e7, np.float64)])
@for_each("seed", SEEDS)
def test_one_far_point_leaves_the_others_free_to_move(seed, far, dtype, precomputed):
    X, init = two_groups(seed)
    X, init = np.vstack([X, [[far, 0.0]]]).astype(dtype), np.append(init, 2)
    given = X.astype(np.float64) @ X.astype(np.float64).T if precomputed else X
    found = gc.kernel_kmeans(given, 3, kernel="precomputed" if precomputed else "linear", init=init)
    expected = from_the_same_start(X, init, 3)
    assert found.n_iter > 0
    assert found.labels.tolist() == expected.labels.tolist()


@for_each("offset", [1e3, 5e3, 1e5])
@for_each("seed", SEEDS)
def test_far_from_the_origin_the_linear_kernel_is_still_k_means(seed, offset):
    """The points of single precision tell their distances; products of single precision would not."""
    X, init = two_groups(seed)
    X = (X + offset).astype(np.float32)
    found = gc.kernel_kmeans(X, 2, kernel="linear", init=init)
    expected = from_the_same_start(X, init, 2)
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.cost == pytest.approx(expected.inertia, rel=1e-4)
    seeded = gc.kernel_kmeans(X, 2, kernel="linear", rng=seed)
    assert seeded.cost == pytest.approx(expected.inertia, rel=1e-4) and seeded.n_negative == 0


@pytest.mark.parametrize("offset", [1e7, 1e9, -1e11])
def test_millions_of_spreads_from_the_origin_the_linear_kernel_is_still_k_means(offset):
    """Squared lengths hold no digit of the distances there; the points do."""
    X, init = two_groups(0)
    X[:, 0] += offset
    expected = from_the_same_start(X, init, 2)
    for found in (gc.kernel_kmeans(X, 2, kernel="linear", init=init), gc.kernel_kmeans(X, 2, kernel="linear", rng=0)):
        assert found.cost == pytest.approx(expected.inertia, rel=1e-9) and found.n_negative == 0
        assert found.predict(X).tolist() == found.labels.tolist()
    model = gc.KernelKMeans(2, kernel="linear", random_state=0).fit(X)
    own = model.transform(X)[np.arange(len(X)), model.labels_]
    assert own @ own == pytest.approx(expected.inertia, rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_light_edge_on_a_heavy_graph(seed):
    """Two blocks of edges of 1e8, and a node that hangs on one of 1e-6: k(x, x) is there 1e14 times the others'."""
    rng = np.random.default_rng(seed)
    blocks = np.repeat([0, 1], 30)
    A = np.where(blocks[:, None] == blocks, rng.random((60, 60)) < 0.6, rng.random((60, 60)) < 0.02) * 1e8
    A = np.pad(np.triu(A, 1), ((0, 1), (0, 1)))
    A[0, 60] = 1e-6
    A = sparse.csr_array(A + A.T)
    init = np.append(np.where(rng.random(60) < 0.25, 1 - blocks, blocks), 0)
    found = gc.kernel_kmeans(A, 2, kernel="normalized cut", init=init)
    assert found.n_iter > 0
    assert gc.normalized_cut(A, found.labels) == pytest.approx(gc.normalized_cut(A, np.append(blocks, 0)), rel=1e-6)


def test_a_far_point_does_not_make_the_others_coincide():
    """Six groups a unit apart beside a point at 1e8: after it and one of them, four more are drawn."""
    X = np.vstack([np.repeat(np.arange(6.0), 10)[:, None], [[1e8]]])
    for seed in range(20):
        seeds = gc.kernel_kmeans_plusplus(X, 7, kernel="linear", rng=seed)
        assert sorted(np.unique(X[seeds.rows])) == [0, 1, 2, 3, 4, 5, 1e8]
        assert seeds.n_clipped == 0


@for_each("dtype", [np.float32, np.float64])
@for_each("kernel", ["gaussian", "linear", "polynomial", "laplacian", "cosine"])
def test_copies_coincide_in_either_precision(kernel, dtype):
    X = np.repeat(np.random.default_rng(3).normal(2.0, 1.0, size=(4, 7)), 6, axis=0).astype(dtype)
    with pytest.warns(ConvergenceWarning, match="only 4 distinct"):
        seeds = gc.kernel_kmeans_plusplus(X, 9, kernel=kernel, rng=5)
    assert len(seeds.rows) == 4 and not seeds.sq_distances.any() and seeds.n_clipped == 0


def test_a_point_alone_in_its_cluster_stays_there_however_sums_are_rounded():
    """Of clusters {0}, {1, 2, 3}, {} the last takes from the second; the first has rounding only, here made large."""
    K = np.diag([1e6, 1.0, 1.0, 2.0])
    labels = np.array([0, 1, 1, 1])
    partition = Partition(gc.DenseKernel(K), np.ones(4), labels, 3, 0.0)
    partition.sum_afresh()
    partition.sums[0, 0] *= 1.0 - 1e-4
    assert partition.own_sq_distances()[0] > 10.0
    partition.fill_empty_clusters()
    assert labels.tolist() == [0, 1, 1, 2]


def test_an_empty_cluster_takes_what_costs_most_beside_a_point_far_longer():
    K = np.array([[1.0], [1.1], [1.0]]) @ np.array([[1.0, 1.1, 1.0]])
    K = np.pad(K, ((0, 1), (0, 1)))
    K[3, 3] = 1e14
    found = gc.kernel_kmeans(K, 3, kernel="precomputed", init=[0, 0, 0, 1])
    assert found.labels.tolist() == [0, 2, 0, 1]


def test_ties_within_rounding_stay_and_beyond_it_move():
    """Of three unit vectors the last moves to the second's cluster where that is nearer by more than rounding."""
    for nearer, expected in ((0.0, 0), (1e-14, 0), (1e-9, 1)):
        K = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5 + nearer], [0.5, 0.5 + nearer, 1.0]])
        weights = np.array([1.0, 1.0, 0.0])  # without a vote, so that both means stay
        found = gc.kernel_kmeans(K, 2, kernel="precomputed", sample_weight=weights, init=[0, 1, 0])
        assert found.labels.tolist() == [0, 1, expected]
        assert found.cost == pytest.approx(twin_cost(K, weights, found.labels, 2), abs=1e-12)


def test_distances_below_zero_are_counted_beside_a_point_far_longer():
    """The clusters {0, 1} and {2}: K says -0.25 for points 0 and 1, which a length of 1e12 elsewhere does not hide."""
    K = np.array([[1.0, 1.5, 0.0], [1.5, 1.0, 0.0], [0.0, 0.0, 1e12]])
    found = gc.kernel_kmeans(K, 2, kernel="precomputed", init=[0, 0, 1])
    assert found.n_negative == 2 and found.proposed_shift == pytest.approx(0.51)


def test_graphs_of_any_weight_cluster_alike():
    graph = nx.barbell_graph(6, 0)
    A = nx.to_scipy_sparse_array(graph, dtype=float)
    start = [0] * 5 + [1] * 7
    for scale in (1e-100, 1.0, 1e100):
        assert gc.kernel_kmeans(A * scale, 2, kernel="normalized cut", init=start).labels.tolist() == [0] * 6 + [1] * 6
