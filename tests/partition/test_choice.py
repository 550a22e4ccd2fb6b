"""Which way a large graph is made smaller."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import graphclust as gc
from graphclust.two_step import method as two_step
from graphclust.two_step.method import share_in_common, suits_a_coreset


def sparse_blocks():
    return gc.planted_partition(8, 250, 16, 4, rng=1).graph


def triangles():
    """A graph whose neighbors are neighbors."""
    return gc.as_graph(nx.watts_strogatz_graph(2_000, 10, 0.1, seed=0))


@pytest.mark.parametrize("seed", range(3))
def test_closed_pairs_are_counted(seed):
    rng = np.random.default_rng(seed)
    complete = gc.as_graph(nx.complete_graph(10))  # of two picks of nine both may be the same
    assert share_in_common(complete, rng) == pytest.approx(8 / 9, abs=0.03)
    assert share_in_common(gc.as_graph(nx.complete_bipartite_graph(9, 9)), rng) == 0.0
    clustering = nx.average_clustering(nx.watts_strogatz_graph(2_000, 10, 0.1, seed=0))
    assert share_in_common(triangles(), rng) == pytest.approx(clustering * 0.9, abs=0.05)


def test_only_large_graphs_without_many_triangles_suit_a_coreset(monkeypatch):
    graph, rng = sparse_blocks(), np.random.default_rng(0)
    assert not suits_a_coreset(graph, 8, rng)
    monkeypatch.setattr(two_step, "BUDGET", graph.n_entries)
    assert suits_a_coreset(graph, 8, rng)
    assert suits_a_coreset(graph, 25, rng) and not suits_a_coreset(graph, 30, rng)  # 600 and 720 of 2,000 nodes
    monkeypatch.setattr(two_step, "BUDGET", 1)
    assert not suits_a_coreset(triangles(), 8, rng)
    assert not suits_a_coreset(gc.planted_partition(8, 250, 6, 1, rng=1).graph, 8, rng)  # of a mean degree of 7
    upper = sparse.triu(graph.to_scipy(), 1).tocoo()
    for spread, expected in ((0.5, True), (1.5, False)):  # some 16 and 3 edges of a node that count
        upper.data = np.random.default_rng(0).lognormal(0.0, spread, upper.nnz)
        assert suits_a_coreset(gc.as_graph(upper + upper.T), 8, rng) == expected
    for n, expected in ((202, True), (199, False)):  # all triangles
        assert suits_a_coreset(gc.as_graph(nx.complete_graph(n)), 1, rng) == expected


def test_the_method_taken_follows_the_graph(monkeypatch):
    monkeypatch.setattr(two_step, "BUDGET", 1)
    for graph, method in ((sparse_blocks(), "two-step"), (triangles(), "multilevel")):
        found = gc.coreset_sc(graph, 8, rng=0)
        assert found.parameters["method"] == method and "method" in found.seconds
