"""Nearest-neighbour graphs: by hand, then against brute force."""

import builtins

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import distance

from graphclust import adjusted_rand_index, coreset_sc
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError
from graphclust.neighbors import SPARE, knn_graph, nearest_neighbors

METHODS = ("exact", "approximate")


def by_brute_force(points: np.ndarray, k: int) -> np.ndarray:
    """Sort each row of the distance matrix, ties to the lower index."""
    sq_distances = distance.cdist(points, points, "sqeuclidean")
    np.fill_diagonal(sq_distances, np.inf)
    return np.argsort(sq_distances, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("method", METHODS)
def test_points_on_a_line(method):
    points = [[0.0], [1.0], [3.0], [3.5], [10.0]]
    neighbors, distances = nearest_neighbors(points, 2, method=method)
    assert neighbors.tolist() == [[1, 2], [0, 2], [3, 1], [2, 1], [3, 2]]
    assert distances.tolist() == [[1, 3], [1, 2], [0.5, 2], [0.5, 2.5], [6.5, 7]]
    union = knn_graph(points, 1, method=method)
    assert union.to_scipy().toarray().tolist() == nx.to_numpy_array(nx.Graph([(0, 1), (2, 3), (3, 4)])).tolist()
    with pytest.warns(GraphWarning, match="1 isolated"):
        mutual = knn_graph(points, 1, method=method, symmetrize="mutual")
    assert mutual.n_edges == 2 and mutual.isolated.tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("seed", [518, 2209, 7741])
@pytest.mark.parametrize("d", [2, 30])
def test_exact_neighbors_are_those_of_brute_force(seed, d):
    points = np.random.default_rng(seed).normal(size=(400, d))
    neighbors, distances = nearest_neighbors(points, 7)
    assert (neighbors == by_brute_force(points, 7)).all()
    assert distances == pytest.approx(np.sort(distance.cdist(points, points), axis=1)[:, 1:8])


@pytest.mark.parametrize("method", METHODS)
def test_far_from_the_origin(method):
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


def test_many_copies_leave_no_point_without_neighbors():
    points = np.zeros((50, 2))
    neighbors, _ = nearest_neighbors(points, 5)
    assert all(len(set(row)) == 5 and i not in row for i, row in enumerate(neighbors.tolist()))


@pytest.mark.parametrize("d", [2, 20])
def test_ties_go_to_the_lower_index_where_few_enough_points_are_as_near(d):
    """On a grid most last neighbours are tied; beyond the spare candidates only their distances are promised."""
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
    graph = knn_graph([[0.0], [1.0], [3.0]], 1, weights="gaussian")
    dense = graph.to_scipy().toarray()
    assert dense[0, 1] == pytest.approx(np.exp(-1)) and dense[1, 2] == pytest.approx(np.exp(-4 / (2 * 1)))
    assert dense[0, 2] == 0 and (dense == dense.T).all()


def test_the_scale_of_a_point_is_the_distance_to_its_last_neighbor():
    """At 0, 1, 3, 7 with two neighbours each: scales 3, 2, 3, 6, and exp(-d^2 / (s_i s_j)) from either end."""
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
@pytest.mark.parametrize("symmetrize", ["union", "mutual"])
def test_symmetrized_as_said(symmetrize):
    points = np.random.default_rng(7741).normal(size=(200, 3))
    listed = np.zeros((200, 200), bool)
    np.put_along_axis(listed, by_brute_force(points, 6), True, axis=1)
    expected = listed | listed.T if symmetrize == "union" else listed & listed.T
    assert (knn_graph(points, 6, symmetrize=symmetrize).to_scipy().toarray() == expected).all()


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


def test_blocks_and_progress(monkeypatch):
    points = np.random.default_rng(518).normal(size=(500, 4))
    whole = nearest_neighbors(points, 5)[0]
    monkeypatch.setattr("graphclust.neighbors._PRODUCTS", 500 * 4 * 30)
    monkeypatch.setattr("graphclust.neighbors._COMPARED", 100)
    steps = []
    assert (nearest_neighbors(points, 5, progress=lambda *step: steps.append(step))[0] == whole).all()
    assert len(steps) > 10 and steps[-1] == ("nearest neighbours", 500, 500)


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        (([[0.0], [1.0]], 2), ParameterError, "n_neighbors=2"),
        (([[0.0], [1.0]], 0), ParameterError, "n_neighbors=0"),
        (([[0.0], [np.nan]], 1), GraphValidationError, r"X\[1, 0\] is nan"),
        (([0.0, 1.0], 1), GraphValidationError, "shape"),
        ((sparse.eye_array(3).tocsr(), 1), TypeError, "sparse"),
        (([["a"], ["b"]], 1), TypeError, "numbers"),
    ],
)
def test_bad_arguments(arguments, error, word):
    with pytest.raises(error, match=word):
        knn_graph(*arguments)
    for option in ({"method": "best"}, {"symmetrize": "sum"}, {"weights": "cosine"}, {"n_probes": 0}):
        with pytest.raises(ParameterError, match=next(iter(option))):
            knn_graph([[0.0], [1.0], [2.0]], 1, **option)


@pytest.mark.parametrize(("method", "module"), [("exact", "sklearn"), ("approximate", "faiss")])
def test_a_missing_library_names_the_extra(monkeypatch, method, module):
    real_import = builtins.__import__

    def without(name, *arguments):
        if name.split(".")[0] == module:
            raise ImportError(name)
        return real_import(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"graphclust\[neighbors\]"):
        nearest_neighbors([[0.0], [1.0], [2.0]], 1, method=method)
