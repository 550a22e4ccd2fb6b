"""Kernel k-means where lengths differ by many orders of magnitude: one far or light point freezes no other."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from reference.kernels import SEEDS, twin_cost
from scipy import sparse

from graphclust import KernelKMeans, kernel_kmeans, kernel_kmeans_plusplus, kmeans, normalized_cut
from graphclust.errors import ConvergenceWarning
from graphclust.points.kernel_k_means.full_batch import Partition
from graphclust.points.kernel_k_means.matrix_kernels import DenseKernel
from graphclust.progress import Progress


def two_groups(seed, n=200):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 6.0 * rng.integers(0, 2, n)[:, None], rng.integers(0, 2, n)


def from_the_same_start(X, labels, k):
    wide = X.astype(np.float64)
    return kmeans(wide, k, init=[wide[labels == j].mean(axis=0) for j in range(k)])


@for_each("precomputed", [False, True])
@for_each(("far", "dtype"), [(1e5, np.float32), (1e7, np.float64)])
@for_each("seed", SEEDS)
def test_one_far_point_leaves_the_others_free_to_move(seed, far, dtype, precomputed):
    X, init = two_groups(seed)
    X, init = np.vstack([X, [[far, 0.0]]]).astype(dtype), np.append(init, 2)
    if precomputed:
        K = X.astype(np.float64) @ X.astype(np.float64).T
        found = kernel_kmeans(K, 3, kernel="precomputed", init=init)
    else:
        found = kernel_kmeans(X, 3, kernel="linear", init=init)
    expected = from_the_same_start(X, init, 3)
    assert found.n_iter > 0
    assert found.labels.tolist() == expected.labels.tolist()


@for_each("offset", [1e3, 5e3, 1e5])
@for_each("seed", SEEDS)
def test_far_from_the_origin_the_linear_kernel_is_still_k_means(seed, offset):
    """The points of single precision tell their distances; products of single precision would not."""
    X, init = two_groups(seed)
    X = (X + offset).astype(np.float32)
    found = kernel_kmeans(X, 2, kernel="linear", init=init)
    expected = from_the_same_start(X, init, 2)
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.cost == pytest.approx(expected.inertia, rel=1e-4)
    seeded = kernel_kmeans(X, 2, kernel="linear", rng=seed)
    assert seeded.cost == pytest.approx(expected.inertia, rel=1e-4) and seeded.n_negative == 0


@pytest.mark.parametrize("offset", [1e7, 1e9, -1e11])
def test_millions_of_spreads_from_the_origin_the_linear_kernel_is_still_k_means(offset):
    """Squared lengths hold no digit of the distances there; the points do."""
    X, init = two_groups(0)
    X[:, 0] += offset
    expected = from_the_same_start(X, init, 2)
    for found in (kernel_kmeans(X, 2, kernel="linear", init=init), kernel_kmeans(X, 2, kernel="linear", rng=0)):
        assert found.cost == pytest.approx(expected.inertia, rel=1e-9) and found.n_negative == 0
        assert found.predict(X).tolist() == found.labels.tolist()
    model = KernelKMeans(2, kernel="linear", random_state=0).fit(X)
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
    found = kernel_kmeans(A, 2, kernel="normalized cut", init=init)
    assert found.n_iter > 0
    assert normalized_cut(A, found.labels) == pytest.approx(normalized_cut(A, np.append(blocks, 0)), rel=1e-6)


def test_a_far_point_does_not_make_the_others_coincide():
    """Six groups a unit apart beside a point at 1e8: after it and one of them, four more are drawn."""
    X = np.vstack([np.repeat(np.arange(6.0), 10)[:, None], [[1e8]]])
    for seed in range(20):
        seeds = kernel_kmeans_plusplus(X, 7, kernel="linear", rng=seed)
        assert sorted(np.unique(X[seeds.rows])) == [0, 1, 2, 3, 4, 5, 1e8]
        assert seeds.n_clipped == 0


@for_each("dtype", [np.float32, np.float64])
@for_each("kernel", ["gaussian", "linear", "polynomial", "laplacian", "cosine"])
def test_copies_coincide_in_either_precision(kernel, dtype):
    X = np.repeat(np.random.default_rng(3).normal(2.0, 1.0, size=(4, 7)), 6, axis=0).astype(dtype)
    with pytest.warns(ConvergenceWarning, match="only 4 distinct"):
        seeds = kernel_kmeans_plusplus(X, 9, kernel=kernel, rng=5)
    assert len(seeds.rows) == 4 and not seeds.sq_distances.any() and seeds.n_clipped == 0


def test_a_point_alone_in_its_cluster_stays_there_however_sums_are_rounded():
    """Of clusters {0}, {1, 2, 3}, {} the last takes from the second; the first has rounding only, here made large."""
    K = np.diag([1e6, 1.0, 1.0, 2.0])
    labels = np.array([0, 1, 1, 1])
    partition = Partition(DenseKernel(K), np.ones(4), labels, 3, 0.0)
    partition.sum_afresh(Progress())
    partition.sums[0, 0] *= 1.0 - 1e-4
    assert partition.own_sq_distances()[0] > 10.0
    partition.fill_empty_clusters()
    assert labels.tolist() == [0, 1, 1, 2]


def test_an_empty_cluster_takes_what_costs_most_beside_a_point_far_longer():
    K = np.array([[1.0], [1.1], [1.0]]) @ np.array([[1.0, 1.1, 1.0]])
    K = np.pad(K, ((0, 1), (0, 1)))
    K[3, 3] = 1e14
    found = kernel_kmeans(K, 3, kernel="precomputed", init=[0, 0, 0, 1])
    assert found.labels.tolist() == [0, 2, 0, 1]


def test_ties_within_rounding_stay_and_beyond_it_move():
    """Of three unit vectors the last moves to the second's cluster where that is nearer by more than rounding."""
    for nearer, expected in ((0.0, 0), (1e-14, 0), (1e-9, 1)):
        K = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5 + nearer], [0.5, 0.5 + nearer, 1.0]])
        weights = np.array([1.0, 1.0, 0.0])  # without a vote, so that both means stay
        found = kernel_kmeans(K, 2, kernel="precomputed", sample_weight=weights, init=[0, 1, 0])
        assert found.labels.tolist() == [0, 1, expected]
        assert found.cost == pytest.approx(twin_cost(K, weights, found.labels, 2), abs=1e-12)


def test_distances_below_zero_are_counted_beside_a_point_far_longer():
    """The clusters {0, 1} and {2}: K says -0.25 for points 0 and 1, which a length of 1e12 elsewhere does not hide."""
    K = np.array([[1.0, 1.5, 0.0], [1.5, 1.0, 0.0], [0.0, 0.0, 1e12]])
    found = kernel_kmeans(K, 2, kernel="precomputed", init=[0, 0, 1])
    assert found.n_negative == 2 and found.proposed_shift == pytest.approx(0.51)


def test_graphs_of_any_weight_cluster_alike():
    graph = nx.barbell_graph(6, 0)
    A = nx.to_scipy_sparse_array(graph, dtype=float)
    start = [0] * 5 + [1] * 7
    for scale in (1e-100, 1.0, 1e100):
        assert kernel_kmeans(A * scale, 2, kernel="normalized cut", init=start).labels.tolist() == [0] * 6 + [1] * 6
