"""Nearest-neighbor graphs: by hand, then against brute force."""

import sys

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from scipy import sparse
from scipy.spatial import distance

from graphclust import adjusted_rand_index, coreset_sc
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError
from graphclust.points.neighbors.graphs import graph_from_neighbors, knn_graph
from graphclust.points.neighbors.search import SPARE, nearest_neighbors

METHODS = ("exact", "approximate")


def by_brute_force(points: np.ndarray, k: int) -> np.ndarray:
    """Sort each row of the distance matrix, ties to the lower index."""
    sq_distances = distance.cdist(points, points, "sqeuclidean")
    np.fill_diagonal(sq_distances, np.inf)
    return np.argsort(sq_distances, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("method", METHODS)
def test_neighbors_of_points_on_a_line_are_those_by_hand(method):
    points = [[0.0], [1.0], [3.0], [3.5], [10.0]]
    neighbors, distances = nearest_neighbors(points, 2, method=method)
    assert neighbors.tolist() == [[1, 2], [0, 2], [3, 1], [2, 1], [3, 2]]
    assert distances.tolist() == [[1, 3], [1, 2], [0.5, 2], [0.5, 2.5], [6.5, 7]]
    union = knn_graph(points, 1, method=method)
    assert union.to_scipy().toarray().tolist() == nx.to_numpy_array(nx.Graph([(0, 1), (2, 3), (3, 4)])).tolist()
    with pytest.warns(GraphWarning, match="1 isolated"):
        mutual = knn_graph(points, 1, method=method, symmetrize="mutual")
    assert mutual.n_edges == 2 and mutual.isolated.tolist() == [False] * 4 + [True]


@for_each("seed", [518, 2209, 7741])
@for_each("d", [2, 30])
def test_exact_neighbors_are_those_of_brute_force(seed, d):
    points = np.random.default_rng(seed).normal(size=(400, d))
    neighbors, distances = nearest_neighbors(points, 7)
    assert (neighbors == by_brute_force(points, 7)).all()
    assert distances == pytest.approx(np.sort(distance.cdist(points, points), axis=1)[:, 1:8])


@for_each("as_given", [np.asarray, sparse.csr_array])
@for_each("metric", ["euclidean", "cosine", "manhattan"])
def test_neighbors_of_query_points_are_those_of_brute_force(metric, as_given):
    rng = np.random.default_rng(7)
    points, queries = rng.normal(size=(60, 4)), rng.normal(size=(9, 4))
    apart = distance.cdist(queries, points, {"manhattan": "cityblock"}.get(metric, metric))
    expected = np.argsort(apart, axis=1, kind="stable")
    for k in (1, 5, 60):
        neighbors, distances = nearest_neighbors(as_given(points), k, queries=as_given(queries), metric=metric)
        assert (neighbors == expected[:, :k]).all()
        assert distances == pytest.approx(np.sort(apart, axis=1)[:, :k])
    given = nearest_neighbors(points, 5, queries=points[:3], metric=metric)
    assert given[0][:, 0].tolist() == [0, 1, 2] and given[1][:, 0] == pytest.approx([0.0] * 3, abs=1e-15)
    lists = nearest_neighbors(as_given(np.zeros((60, 60))), 5, queries=apart, metric="precomputed")
    assert (lists[0] == expected[:, :5]).all()


def test_approximate_neighbors_of_query_points_are_mostly_the_true_ones():
    rng = np.random.default_rng(8)
    points, queries = rng.normal(size=(2000, 8)), rng.normal(size=(50, 8))
    exact = nearest_neighbors(points, 10, queries=queries)[0]
    found = nearest_neighbors(points, 10, queries=queries, method="approximate", n_probes=30, rng=0)[0]
    assert np.mean([len(set(a) & set(b)) for a, b in zip(exact.tolist(), found.tolist(), strict=True)]) > 9.5


def test_queries_that_cannot_be_used():
    points, damaged = np.eye(3), sparse.csr_array(np.eye(3))
    damaged.indices[0] = 9
    for queries, error, word in [
        (damaged, GraphValidationError, "queries has indices from 1 to 9"),
        (np.eye(2), GraphValidationError, r"queries has shape \(2, 2\), expected \(m, 3\)"),
        ([[np.nan, 0.0, 0.0]], GraphValidationError, r"queries\[0, 0\] is nan"),
        (sparse.csr_array(points), TypeError, "dense and sparse"),
        (np.empty((0, 3)), GraphValidationError, "n >= 1"),
    ]:
        refuses(error, word, nearest_neighbors, points, 1, queries=queries)
    refuses(ParameterError, r"n_neighbors=4 .* at most the 3 points", nearest_neighbors, points, 4, queries=points)
    words = r"expected \(m, 3\), the distances to X"
    refuses(GraphValidationError, words, nearest_neighbors, points, 1, queries=np.eye(2), metric="precomputed")


def test_auto_is_exact_for_few_points_and_for_those_that_have_no_approximate_search():
    points = np.random.default_rng(9).normal(size=(400, 3))
    for X, metric in ((points, "euclidean"), (sparse.csr_array(points), "cosine"), (points, "manhattan")):
        found = nearest_neighbors(X, 4, metric=metric, method="auto")
        assert (found[0] == nearest_neighbors(X, 4, metric=metric)[0]).all()


@pytest.mark.parametrize("method", METHODS)
def test_neighbors_far_from_the_origin_are_those_at_the_origin(method):
    points = np.random.default_rng(518).normal(size=(300, 5))
    shifted = nearest_neighbors(points + 1e6, 5, method=method, n_probes=100)[0]
    assert (shifted == by_brute_force(points, 5)).mean() > 0.999


@pytest.mark.parametrize("method", METHODS)
def test_copies_of_a_point_are_neighbors_but_never_oneself(method):
    points = np.repeat(np.arange(5.0), 4)[:, None]
    neighbors, distances = nearest_neighbors(points, 3, method=method)
    assert (distances == 0).all() and all(i not in row for i, row in enumerate(neighbors.tolist()))
    graph = knn_graph(points, 3, method=method, weights="gaussian")
    assert graph.n_components == 5 and (graph.loops == 0).all() and graph.weights is None
    many = nearest_neighbors(np.zeros((50, 2)), 5)[0]  # more than there are candidates
    assert all(len(set(row)) == 5 and i not in row for i, row in enumerate(many.tolist()))


@pytest.mark.parametrize("d", [2, 20])
def test_ties_go_to_the_lower_index_where_few_enough_points_are_as_near(d):
    """On a grid most last neighbors are tied; beyond the spare candidates only their distances are promised."""
    points = np.zeros((300, d))
    points[:, :2] = np.random.default_rng(9).integers(0, 12, (300, 2))
    neighbors, distances = nearest_neighbors(points, 5)
    expected = by_brute_force(points, 5)
    everything = distance.cdist(points, points)
    assert (distances == np.take_along_axis(everything, expected, axis=1)).all()
    as_near = (everything <= distances[:, -1:]).sum(axis=1) - 1
    promised = as_near <= 5 + SPARE
    assert 150 < promised.sum() < 300 and (as_near[promised] > 5).sum() > 50
    assert (neighbors[promised] == expected[promised]).all()
    assert (np.diff(distances) >= 0).all() and (np.diff(neighbors)[np.diff(distances) == 0] > 0).all()


def test_gaussian_weights_by_hand():
    """At 0, 1, 3, 7 with two neighbors each: scales 3, 2, 3, 6, and exp(-d^2 / (s_i s_j)) from either end."""
    dense = knn_graph([[0.0], [1.0], [3.0], [7.0]], 2, weights="gaussian").to_scipy().toarray()
    squares, scales = np.array([[0, 1, 9, 49], [1, 0, 4, 36], [9, 4, 0, 16], [49, 36, 16, 0]]), np.array([3, 2, 3, 6])
    expected = np.exp(-squares / np.outer(scales, scales))
    expected[np.eye(4, dtype=bool)] = expected[0, 3] = expected[3, 0] = 0.0
    assert dense == pytest.approx(expected)


def test_a_far_point_stays_joined():
    points = np.concatenate([np.random.default_rng(518).normal(size=(30, 2)) * 1e-3, [[1e6, 0]]])
    graph = knn_graph(points, 3, weights="gaussian")
    assert not graph.isolated.any() and graph.weights.min() == 1e-12


@pytest.mark.filterwarnings("ignore:.*isolated nodes")
@pytest.mark.parametrize("symmetrize", ["union", "mutual", "mean"])
def test_neighbor_graphs_follow_the_symmetrizing_rule(symmetrize):
    points = np.random.default_rng(7741).normal(size=(200, 3))
    listed = np.zeros((200, 200), bool)
    np.put_along_axis(listed, by_brute_force(points, 6), True, axis=1)
    expected = {"union": listed | listed.T, "mutual": listed & listed.T, "mean": 0.5 * listed + 0.5 * listed.T}
    assert (knn_graph(points, 6, symmetrize=symmetrize).to_scipy().toarray() == expected[symmetrize]).all()


def test_approximate_neighbors_are_mostly_the_true_ones():
    rng = np.random.default_rng(2209)
    points = rng.normal(size=(20, 16))[rng.integers(20, size=5000)] * 3 + rng.normal(size=(5000, 16))
    exact = nearest_neighbors(points, 10)[0]
    shares = []
    for n_probes in (1, 16):
        found = nearest_neighbors(points, 10, method="approximate", n_probes=n_probes, rng=0)[0]
        shares.append(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found.tolist(), exact.tolist(), strict=True)]))
    assert shares[0] < 0.9 < 0.97 < shares[1]
    again = nearest_neighbors(points, 10, method="approximate", rng=0)[0]
    assert (again == found).all()


def test_clusters_of_points_are_found():
    rng = np.random.default_rng(518)
    labels = rng.integers(4, size=600)
    points = np.array([[0, 0], [8, 0], [0, 8], [8, 8]])[labels] + rng.normal(size=(600, 2))
    clustering = coreset_sc(knn_graph(points, 10, weights="gaussian"), 4, rng=0)
    assert adjusted_rand_index(labels, clustering.labels) > 0.98


def test_blocks_change_no_neighbor_and_report_progress(monkeypatch):
    points = np.random.default_rng(518).normal(size=(500, 4))
    whole = nearest_neighbors(points, 5)[0]
    monkeypatch.setattr("graphclust.points.neighbors.search._PRODUCTS", 500 * 4 * 30)
    monkeypatch.setattr("graphclust.points.neighbors.search._COMPARED", 100)
    steps = []
    assert (nearest_neighbors(points, 5, progress=lambda *step: steps.append(step))[0] == whole).all()
    assert len(steps) > 10 and steps[-1] == ("nearest neighbors", 500, 500)


@for_each(
    ("arguments", "error", "word"),
    [
        (([[0.0], [1.0]], 2), ParameterError, "n_neighbors=2"),
        (([[0.0], [1.0]], 0), ParameterError, "n_neighbors=0"),
        (([[0.0], [np.nan]], 1), GraphValidationError, r"X\[1, 0\] is nan"),
        (([0.0, 1.0], 1), GraphValidationError, "shape"),
        ((sparse.csr_array([[0.0], [np.inf]]), 1), GraphValidationError, "stored entry of X is inf"),
        (([["a"], ["b"]], 1), TypeError, "numbers"),
    ],
)
def test_impossible_arguments_are_named(arguments, error, word):
    refuses(error, word, knn_graph, *arguments)
    for option in ({"method": "best"}, {"symmetrize": "sum"}, {"weights": "cosine"}, {"n_probes": 0}, {"metric": "l0"}):
        refuses(ParameterError, next(iter(option)), knn_graph, [[0.0], [1.0], [2.0]], 1, **option)


@pytest.mark.parametrize(("method", "module"), [("exact", "sklearn.neighbors"), ("approximate", "faiss")])
def test_a_missing_library_names_the_extra(monkeypatch, method, module):
    monkeypatch.setitem(sys.modules, module, None)
    refuses(ImportError, r"graphclust\[neighbors\]", nearest_neighbors, [[0.0], [1.0], [2.0]], 1, method=method)


def scattered(seed, n=120, d=9, dense=0.4):
    """Points with many zeros, so that sparse matrices of them have rows of several lengths."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < dense)


SCIPYS = {"euclidean": "euclidean", "cosine": "cosine", "manhattan": "cityblock"}


@for_each("metric", SCIPYS)
@for_each("seed", [518, 7741])
def test_every_metric_from_dense_sparse_and_given_distances(metric, seed):
    """By brute force with SciPy's own distances; no point has length 0."""
    points = scattered(seed)
    points[~points.any(axis=1), 0] = 1.0
    apart = distance.squareform(distance.pdist(points, SCIPYS[metric]))
    expected = np.sort(apart + np.diag(np.full(len(points), np.inf)), axis=1)[:, :5]
    for X in (points, sparse.csr_matrix(points), sparse.coo_array(points)):
        neighbors, distances = nearest_neighbors(X, 5, metric=metric)
        assert distances == pytest.approx(expected, abs=1e-12)
        assert np.take_along_axis(apart, neighbors, axis=1) == pytest.approx(expected, abs=1e-12)
    neighbors, distances = nearest_neighbors(apart, 5, metric="precomputed")
    assert (distances == expected).all()
    rows, columns = np.nonzero(apart <= np.sort(apart, axis=1)[:, 8:9])
    known = sparse.coo_array((apart[rows, columns], (rows, columns)), shape=apart.shape)  # distances of 0 among them
    assert (nearest_neighbors(known, 5, metric="precomputed")[1] == expected).all()
    if metric == "cosine":
        approximate = nearest_neighbors(points, 5, metric=metric, method="approximate", n_probes=50, rng=1)[1]
        assert approximate == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "metric"), [("l2", "euclidean"), ("l1", "manhattan"), ("cityblock", "manhattan")])
def test_other_names_of_a_metric(name, metric):
    points = scattered(7741)
    for X in (points, sparse.csr_array(points)):
        found, expected = (nearest_neighbors(X, 5, metric=one) for one in (name, metric))
        assert np.array_equal(found, expected)
        assert knn_graph(X, 5, metric=name, weights="gaussian") == knn_graph(X, 5, metric=metric, weights="gaussian")
    if metric == "euclidean":
        again = knn_graph(points, 5, metric=name, method="approximate", n_probes=99, rng=1)
        assert again == knn_graph(points, 5, method="approximate", n_probes=99, rng=1)


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_points_without_a_direction_are_at_right_angles_to_all_but_their_like(as_given):
    points = np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 0.1], [0.0, 0.0], [-1.0, 0.0]])
    neighbors, distances = nearest_neighbors(as_given(points), 4, metric="cosine")
    assert neighbors[1].tolist() == [3, 0, 2, 4] and distances[1] == pytest.approx([0, 1, 1, 1])
    assert neighbors[0].tolist() == [2, 1, 3, 4] and distances[0, 1:] == pytest.approx([1, 1, 2])


def test_distances_that_cannot_be_used():
    refuses(GraphValidationError, "square matrix of distances", knn_graph, np.ones((3, 2)), 1, metric="precomputed")
    refuses(GraphValidationError, "the distance -1", knn_graph, [[0.0, -1.0], [-1.0, 0.0]], 1, metric="precomputed")
    few = sparse.csr_array([[0, 1, 0], [1, 0, 1], [1, 1, 0]])
    words = r"1 distances of point 0 .* at least n_neighbors=2"
    refuses(GraphValidationError, words, knn_graph, few, 2, metric="precomputed")
    for X, metric in ((sparse.eye_array(9).tocsr(), "euclidean"), (np.eye(9), "manhattan")):
        words = 'method="approximate" is for dense points'
        refuses(ParameterError, words, knn_graph, X, 2, metric=metric, method="approximate")


def test_lists_of_another_library():
    """With the point itself in any place, -1 for none; the same as from the points."""
    points = scattered(2209, d=4, dense=1.0)
    neighbors, distances = nearest_neighbors(points, 6)
    listed = np.insert(neighbors, 2, np.arange(len(points)), axis=1).astype(np.int32)
    apart = np.insert(distances, 2, 0.0, axis=1).astype(np.float64)
    for weights in (None, "gaussian", "umap"):
        assert graph_from_neighbors(listed, apart, weights=weights) == knn_graph(points, 6, weights=weights)
    short = np.where(np.arange(6) < 4, neighbors, -1)
    assert graph_from_neighbors(short) == knn_graph(points, 4)
    assert graph_from_neighbors(short, distances, weights="gaussian") == knn_graph(points, 4, weights="gaussian")


@for_each(
    ("arguments", "options", "word"),
    [
        (([[1], [2]],), {}, r"\[0, 2\)"),
        (([[1.0], [0.0]],), {}, "whole numbers"),
        (([1, 0],), {}, "shape"),
        (([[1, 1], [0, -1]],), {}, "twice"),
        (([[1], [0]],), {"weights": "umap"}, "expected distances="),
        (([[1], [0]], [[1.0]]), {"weights": "umap"}, "that of indices"),
        (([[1], [0]], [[1.0], [-1.0]]), {"weights": "gaussian"}, "negative"),
    ],
)
def test_lists_that_cannot_be_used(arguments, options, word):
    refuses(ValueError, word, graph_from_neighbors, *arguments, **options)


def test_umap_weights_by_hand():
    """Two neighbors at 1 and 1 + ln 2 of a point: 1 + exp(-ln 2 / s) = log2(3) has one solution."""
    graph = graph_from_neighbors([[1, 2], [0, 2], [0, 1]], np.array([[1.0, 1.0 + np.log(2)]] * 3), weights="umap")
    far = np.log2(3) - 1.0
    dense = graph.to_scipy().toarray()
    assert dense[0, 1] == 1.0 and dense[1, 2] == pytest.approx(far + far - far * far, abs=1e-4)
    with pytest.warns(GraphWarning, match="1 isolated"):
        mutual = graph_from_neighbors([[1], [2], [1]], [[2.0], [1.0], [1.0]], weights="umap", symmetrize="mutual")
    assert mutual.n_edges == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [518, 2209])
def test_umap_weights_are_those_of_umap(seed):
    """On its own lists, with copies of a point among them, which have distance 0."""
    umap_ = pytest.importorskip("umap.umap_", reason="umap-learn is not installed")
    points = np.random.default_rng(seed).normal(size=(400, 5)).astype(np.float32)
    points[:30] = points[30:60]
    neighbors, distances = nearest_neighbors(points, 14)
    listed = np.insert(neighbors, 0, np.arange(len(points)), axis=1)
    apart = np.insert(distances, 0, 0.0, axis=1).astype(np.float32)
    expected = umap_.fuzzy_simplicial_set(
        points, 15, np.random.RandomState(0), "euclidean", knn_indices=listed, knn_dists=apart
    )[0].toarray()  # fmt: skip
    found = graph_from_neighbors(listed, apart, weights="umap").to_scipy().toarray()
    assert np.abs(found - expected).max() < 2e-5 and ((found > 1e-9) == (expected > 1e-9)).all()


@for_each(("rows", "at"), [(slice(7, 8), 1e10), (slice(30), 1e8)])
def test_exact_neighbors_far_from_the_mean_are_those_of_brute_force(rows, at):
    """Of points near to each other, whose squared lengths hide the distances between them."""
    points = np.random.default_rng(20).normal(size=(60, 20))
    points[rows] = at if rows.start else points[rows] + at
    expected = by_brute_force(points, 4)
    assert (nearest_neighbors(points, 4)[0] == expected).all()
    assert (nearest_neighbors(points, 4, queries=points[:5] + 1e-7)[0][:, 1:] == expected[:5, :3]).all()
    assert (nearest_neighbors(sparse.csr_array(points), 4)[0] == expected).all()
