"""Kernel k-means on all points and on coresets against answers by hand, dense twins, and its relatives."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from peaks import traced
from reference.kernels import SEEDS, blobs, random_kernel, twin_cost, twin_sq_distances
from scipy import sparse
from scipy.spatial.distance import cdist

import graphclust as gc
from graphclust.errors import ConvergenceWarning, GraphValidationError, ParameterError
from graphclust.points.kernel_k_means import coreset as coreset_module
from graphclust.points.kernel_k_means.full_batch import Partition
from graphclust.points.kernel_k_means.seeding import draw_seeds


def test_seeds_follow_the_squared_distances():
    """The second seed of K = diag(1, 2, 4) after point 0, chi-square over the two others: 1+2 to 1+4."""
    K = np.diag([1.0, 2.0, 4.0])
    weights = np.array([1.0, 2.0, 1.0])
    rng = np.random.default_rng(88)
    counts = np.zeros((3, 3))
    for _ in range(4000):
        first, second = gc.kernel_kmeans_plusplus(K, 2, kernel="precomputed", sample_weight=weights, rng=rng).rows
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


def test_two_pairs_on_a_line():
    result = gc.kernel_kmeans([[0.0], [1.0], [10.0], [11.0]], 2, kernel="linear", init=[0, 1, 1, 1])
    assert result.labels.tolist() == [0, 0, 1, 1]
    assert result.cost == pytest.approx(1.0, abs=1e-10)
    assert result.gamma == 11.0
    assert result.predict([[3.0], [7.0]]).tolist() == [0, 1]


@for_each("incremental", [True, False])
@for_each("seed", SEEDS)
def test_full_batch_equals_the_dense_twin_step_by_step(seed, incremental):
    rng = np.random.default_rng(seed)
    K, weights = random_kernel(70, rng), rng.uniform(0.5, 3.0, 70)
    labels = rng.integers(4, size=70)
    n_steps, settled = 0, False
    while not settled:
        result = gc.kernel_kmeans(
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
        gc.kernel_kmeans(M, 6, kernel="precomputed", sample_weight=weights, init=init, incremental=incremental)
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
    weighted = gc.kernel_kmeans(gc.GaussianKernel(X, 9.0), 3, sample_weight=counts, init=init)
    repeated = gc.kernel_kmeans(gc.GaussianKernel(np.repeat(X, counts, axis=0), 9.0), 3, init=np.repeat(init, counts))
    assert np.array_equal(np.repeat(weighted.labels, counts), repeated.labels)
    assert weighted.cost == pytest.approx(repeated.cost, rel=1e-10)


def test_points_of_weight_zero_have_no_vote():
    rng = np.random.default_rng(17)
    X = blobs(60, rng)
    weights = np.where(np.arange(60) < 45, 1.0, 0.0)
    init = rng.integers(3, size=60)
    whole = gc.kernel_kmeans(gc.GaussianKernel(X, 9.0), 3, sample_weight=weights, init=init)
    part = gc.kernel_kmeans(gc.GaussianKernel(X[:45], 9.0), 3, init=init[:45])
    assert np.array_equal(whole.labels[:45], part.labels)
    assert np.array_equal(whole.labels[45:], part.predict(X[45:]))


def test_isolated_nodes_have_no_vote_whatever_they_weigh():
    rng = np.random.default_rng(6)
    A = np.triu(rng.random((30, 30)) < 0.3, 1).astype(float)
    alone = np.pad(A + A.T, ((0, 1), (0, 1)))
    weights, init = rng.uniform(1.0, 3.0, 31), rng.integers(3, size=31)
    with pytest.warns(match="isolated"):
        kernel = gc.GraphKernel(alone)
    whole = gc.kernel_kmeans(kernel, 3, sample_weight=weights, init=init)
    part = gc.kernel_kmeans(gc.GraphKernel(A + A.T), 3, sample_weight=weights[:30], init=init[:30])
    assert whole.labels.tolist() == [*part.labels, -1]
    assert whole.centers.sq_norms == pytest.approx(part.centers.sq_norms, rel=1e-12)
    assert whole.cost == pytest.approx(part.cost, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_linear_kernel_is_k_means(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 3))
    labels = cdist(X, X[:4]).argmin(axis=1)
    result = gc.kernel_kmeans(X, 4, kernel="linear", init=labels)
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
    kernel = gc.GraphKernel(gc.as_graph(A), loops="given")
    partition = Partition(kernel, kernel.weights, labels, 5, 0.0)
    partition.sum_afresh()
    constant = (A.diagonal() / A.sum(axis=1)).sum() - 5
    assert partition.cost() == pytest.approx(gc.normalized_cut(A, labels) + constant, rel=1e-10)
    assert partition.cost() == pytest.approx(gc.kernel_k_means_cost(A, labels), rel=1e-10)


def test_on_a_graph_it_lowers_the_normalized_cut():
    planted = gc.stochastic_block_model([30] * 4, 0.5, 0.02, rng=5)
    matrix = planted.graph.to_scipy().tolil()
    matrix[7] = 0.0
    matrix[:, 7] = 0.0
    noisy = planted.labels.copy()
    noisy[::5] = (noisy[::5] + 1) % 4
    with pytest.warns(match="isolated"):
        graph = gc.as_graph(matrix.tocsr())
    result = gc.kernel_kmeans(graph, 4, init=noisy)
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
    result = gc.kernel_kmeans(K, 40, kernel="precomputed", sample_weight=weights, init=init)
    assert result.n_negative > 0
    lowest = np.linalg.eigvalsh(roots[:, None] * K * roots).min()
    assert -lowest <= result.proposed_shift <= -1.05 * lowest
    shift = result.proposed_shift
    mended = gc.kernel_kmeans(K + np.diag(shift / weights), 40, kernel="precomputed", sample_weight=weights, init=init)
    same = gc.kernel_kmeans(K, 40, kernel="precomputed", sample_weight=weights, init=init, shift=shift)
    assert mended.n_negative == 0
    assert np.array_equal(mended.labels, same.labels)
    assert mended.cost == pytest.approx(same.cost + shift * (90 - len(np.unique(same.labels))), rel=1e-9)


def test_empty_clusters_duplicates_and_extreme_k():
    X = np.array([[0.0], [0.0], [1.0], [5.0], [9.0]])
    filled = gc.kernel_kmeans(X, 3, kernel="linear", init=[0, 0, 0, 0, 0])
    assert len(np.unique(filled.labels)) == 3
    with pytest.warns(ConvergenceWarning, match="only 4 distinct"):
        every = gc.kernel_kmeans(X, 5, kernel="linear", rng=3)
    assert every.cost == pytest.approx(0.0, abs=1e-10)
    single = gc.kernel_kmeans(X, 1, kernel="linear", rng=3)
    assert single.cost == pytest.approx(((X - 3.0) ** 2).sum())
    distinct = gc.kernel_kmeans(X[1:], 4, rng=3)
    assert sorted(distinct.labels.tolist()) == [0, 1, 2, 3]
    with pytest.warns(ConvergenceWarning, match="only 1 distinct"):
        assert gc.kernel_kmeans(np.ones((4, 2)), 2, rng=3).cost == pytest.approx(0.0, abs=1e-12)


def test_a_listener_can_stop_it_and_the_same_rng_gives_the_same():
    X = blobs(80, np.random.default_rng(5))

    def stop(stage, done, total):
        raise KeyboardInterrupt

    refuses(KeyboardInterrupt, None, gc.kernel_kmeans, X, 3, rng=1, progress=stop)
    first, second = (gc.kernel_kmeans(X, 3, rng=7) for _ in range(2))
    assert np.array_equal(first.labels, second.labels) and first.cost == second.cost


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_new_points_by_the_rows_of_a_sparse_matrix(sparse_rows):
    rng = np.random.default_rng(12)
    K = random_kernel(40, rng)
    K[np.abs(K) < 1.0] = 0.0
    settings = {"kernel": "precomputed", "sample_weight": np.arange(40) % 5, "init": np.arange(40) % 3}
    dense, thin = gc.kernel_kmeans(K, 3, **settings), gc.kernel_kmeans(sparse.csr_array(K), 3, **settings)
    rows = random_kernel(40, rng)[:9]
    rows[rows < 0.5] = 0.0
    given = sparse.coo_array(rows) if sparse_rows else rows
    assert thin.predict(given).tolist() == dense.predict(rows).tolist()
    for wrong in (rows[:, :39], np.full((2, 40), np.nan)):
        refuses(GraphValidationError, "Y has shape", thin.predict, sparse.csr_array(wrong) if sparse_rows else wrong)
    graph = gc.kernel_kmeans(nx.karate_club_graph(), 2, rng=1)
    K = graph.centers.kernel.K
    assert graph.predict(K).tolist() == graph.centers.sq_distances_to(K.toarray()).argmin(axis=1).tolist()


def test_distances_clipped_while_seeding_are_counted_and_said():
    """Points 0 and 1 lie at -3 from each other: neither can follow the other."""
    K = np.array([[1.0, 2.5, 0.0], [2.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.warns(ConvergenceWarning, match="only 2 points.*came out negative.*indefinite"):
        seeds = gc.kernel_kmeans_plusplus(K, 3, kernel="precomputed", rng=1)
    assert seeds.n_clipped > 0 and (seeds.sq_distances == 0).all() and 2 in seeds.rows
    assert gc.kernel_kmeans(K, 2, kernel="precomputed", rng=1).n_clipped > 0
    assert gc.kernel_kmeans(K, 2, kernel="precomputed", init=[0, 0, 1]).n_clipped == 0
    unweighted = gc.kernel_kmeans_plusplus(K, 2, kernel="precomputed", sample_weight=[1, 0, 1], rng=1)
    assert unweighted.n_clipped == 0  # of points that count, none lies below 0


def test_results_are_shown_in_one_line():
    result = gc.kernel_kmeans(np.arange(5000.0)[:, None], 2, kernel="linear", init=np.arange(5000) // 2500)
    assert repr(result).startswith("KernelKMeansResult(k=2, n=5000, cost=2.6041") and len(repr(result)) < 200
    assert repr(result.centers) == "KernelCenters(2 of 5000 points, LinearKernel)"


def test_many_new_points_take_little_memory():
    rng = np.random.default_rng(3)
    result = gc.kernel_kmeans(rng.normal(size=(1500, 1)), 2, max_iter=1, rng=0)
    new = rng.normal(size=(12_000, 1))
    peak, labels = traced(lambda: result.predict(new))
    assert peak < 120e6  # all entries at a time take 144 MB, and their copies as much again
    assert labels.shape == (12_000,) and (labels[-100:] == result.predict(new[-100:])).all()


def test_a_coreset_of_all_points_is_the_full_batch():
    X = blobs(60, np.random.default_rng(19))
    result = gc.coreset_kernel_kmeans(X, 4, coreset_size=60, rng=3)
    full = gc.kernel_kmeans(X, 4, rng=3)
    assert np.array_equal(result.labels, full.labels)
    assert result.cost == pytest.approx(full.cost)


@pytest.mark.parametrize("second_term", ["voronoi", "seed_weight"])
def test_a_coreset_costs_little_more_than_all_points(second_term):
    rng = np.random.default_rng(27)
    X = np.eye(4)[rng.integers(4, size=800)] * 6.0 + rng.normal(size=(800, 4))
    full = gc.kernel_kmeans(X, 4, rng=5)  # both find the four, which depends on the seeds
    result = gc.coreset_kernel_kmeans(X, 4, coreset_size=200, second_term=second_term, rng=5)
    assert full.cost <= result.cost * (1 + 1e-12) <= 1.1 * full.cost
    assert len(result.centers.rows) <= 200
    assert np.array_equal(result.predict(X), result.labels)


@pytest.mark.parametrize("sampling", ["naive", "tree"])
def test_a_coreset_of_a_graph(sampling):
    planted = gc.stochastic_block_model([150] * 3, 0.5, 0.02, rng=9)
    result = gc.coreset_kernel_kmeans(planted.graph, 3, coreset_size=150, sampling=sampling, rng=4)
    assert gc.adjusted_rand_index(result.labels, planted.labels) > 0.95


def test_impossible_kernel_coresets_are_named():
    X = blobs(30, np.random.default_rng(1))
    refuses(ParameterError, "n_seeds=999", gc.kernel_kmeans_plusplus, X[:9], 999)
    refuses(ParameterError, "coreset_size=3", gc.coreset_kernel_kmeans, X, 4, coreset_size=3)
    refuses(ParameterError, "tree", gc.coreset_kernel_kmeans, X, 4, coreset_size=9, sampling="tree")
    refuses(ParameterError, "second_term", gc.coreset_kernel_kmeans, X, 4, coreset_size=9, second_term="none")
    refuses(ParameterError, "second_term", gc.coreset_kernel_kmeans, X, 4, coreset_size=30, second_term="none")


def test_oversampling_says_how_many_seeds_the_coreset_is_drawn_by(monkeypatch):
    asked, X, construct = [], blobs(30, np.random.default_rng(1)), coreset_module.construct_coreset
    monkeypatch.setattr(coreset_module, "draw_seeds", lambda *a: asked.append(a[2]) or draw_seeds(*a))
    noted = lambda *a, **by_name: asked.append(by_name["oversampling"]) or construct(*a, **by_name)  # noqa: E731
    monkeypatch.setattr(coreset_module, "construct_coreset", noted)
    for oversampling, n_seeds in ((0.5, 2), (1.0, 4), (2.0, 8), (2.6, 11), (100.0, 30)):
        gc.coreset_kernel_kmeans(X, 4, coreset_size=20, oversampling=oversampling, max_iter=1, rng=2)
        assert asked[-2:] == [n_seeds, 4]
    gc.coreset_kernel_kmeans(nx.karate_club_graph(), 2, coreset_size=20, sampling="tree", oversampling=3.5, rng=1)
    assert asked[-2:] == [3.5, 2]


def test_clipped_distances_are_counted_and_few_points_said():
    """Forty points in two groups whose members K puts at -3 from each other."""
    K = np.kron(np.eye(2), np.full((20, 20), 2.5)) - 1.5 * np.eye(40)
    result = gc.coreset_kernel_kmeans(K, 2, coreset_size=10, kernel="precomputed", rng=1)
    assert result.n_clipped > 0
    with pytest.warns(ConvergenceWarning, match="k=3, but only 2 distinct"):
        copies = np.repeat([[0.0], [5.0]], 20, axis=0)
        assert len(np.unique(gc.coreset_kernel_kmeans(copies, 3, coreset_size=10, rng=1).labels)) == 2
