"""Labels from eigenvectors without k-means."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from scipy import sparse

from graphclust import planted_partition, spectral_clustering, spectral_embedding
from graphclust.errors import ConvergenceWarning, GraphWarning, ParameterError
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.spectral.whole_graph import by_discretizing, by_pivoted_qr

PLANTED = planted_partition(8, 60, 10.0, 1.0, rng=3)
HOW = ("cluster_qr", "discretize")


def marks(k, sizes, rng):
    """Orthonormal marks of k clusters in any order, turned by any rotation; and the clusters."""
    labels = rng.permutation(np.repeat(np.arange(k), sizes))
    columns = np.eye(k)[labels] / np.sqrt(np.bincount(labels))
    rotation, _ = np.linalg.qr(rng.standard_normal((k, k)))
    return columns @ rotation, labels


@for_each("seed", range(20))
def test_marks_that_were_turned_are_found(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 9))
    vectors, labels = marks(k, rng.integers(1, 30, k), rng)
    assert adjusted_rand_index(by_pivoted_qr(vectors, rng), labels) == 1.0
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert adjusted_rand_index(by_discretizing(unit, rng), labels) == 1.0


@pytest.mark.parametrize("how", HOW)
def test_a_planted_partition_is_found(how):
    found = spectral_clustering(PLANTED.graph, 8, assign_labels=how, rng=1)
    assert adjusted_rand_index(found.labels, PLANTED.labels) == 1.0
    assert found == spectral_clustering(PLANTED.graph, 8, assign_labels=how, rng=1)


def test_discretizing_ends_where_labels_and_rotation_fit_each_other():
    """No rotation is closer to the marks of the labels: the sum of what each node has of its own is the greatest."""
    rng = np.random.default_rng(0)
    rows = spectral_embedding(planted_partition(5, 40, 6.0, 3.0, rng=1).graph, 5, rng=0)
    labels = by_discretizing(rows, rng)
    left, spread, right = np.linalg.svd(rows.T @ np.eye(5)[labels])
    turned = rows @ (left @ right)
    assert (turned.argmax(axis=1) == labels).mean() > 0.99
    assert turned[np.arange(200), labels].sum() == pytest.approx(spread.sum())
    for _ in range(20):
        other, _ = np.linalg.qr(rng.standard_normal((5, 5)))
        assert (rows @ other)[np.arange(200), labels].sum() < spread.sum()


def test_discretized_rows_are_of_unit_length():
    graph = planted_partition(4, 50, 6.0, 4.0, rng=2).graph
    rng = np.random.default_rng(4)
    expected = by_discretizing(spectral_embedding(graph, 4, rng=rng), rng)
    found = spectral_clustering(graph, 4, assign_labels="discretize", rng=4).labels
    assert adjusted_rand_index(found, expected) == 1.0


@pytest.mark.parametrize("how", HOW)
def test_isolated_nodes_stay_out(how):
    graph = nx.disjoint_union(nx.barbell_graph(5, 0), nx.empty_graph(2))
    with pytest.warns(UserWarning, match="isolated"):
        found = spectral_clustering(graph, 2, assign_labels=how, rng=0)
    assert found.labels.tolist() == [0] * 5 + [1] * 5 + [-1] * 2


def test_more_or_fewer_eigenvectors_than_clusters():
    few = spectral_clustering(PLANTED.graph, 8, n_components=7, rng=1)
    many = spectral_clustering(PLANTED.graph, 8, n_components=12, rng=1)
    for found in (few, many):
        assert found.n_clusters == 8 and adjusted_rand_index(found.labels, PLANTED.labels) > 0.9
    with pytest.raises(ParameterError, match=r"n_components=9 with assign_labels='cluster_qr', expected at most k=8"):
        spectral_clustering(PLANTED.graph, 8, n_components=9, assign_labels="cluster_qr")
    with pytest.warns(ConvergenceWarning, match="only 7 of k=8"):
        spectral_clustering(PLANTED.graph, 8, n_components=7, assign_labels="cluster_qr")
    for wrong in ({"n_components": 0}, {"n_components": 481}, {"n_init": 0}, {"assign_labels": "qr"}):
        refuses(ParameterError, next(iter(wrong)), spectral_clustering, PLANTED.graph, 8, **wrong)


@pytest.mark.parametrize("assign_labels", ["kmeans", "cluster_qr", "discretize"])
def test_fewer_nodes_with_edges_than_clusters(assign_labels):
    one_edge = sparse.coo_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(5, 5))
    with pytest.warns(GraphWarning, match="3 isolated"), pytest.warns(ConvergenceWarning, match="2 of k=4"):
        assert spectral_clustering(one_edge, 4, assign_labels=assign_labels, rng=0).labels.tolist() == [
            0,
            1,
            -1,
            -1,
            -1,
        ]
