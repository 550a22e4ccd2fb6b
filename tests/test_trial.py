"""Which way a graph is made smaller, by trying it on a block of nodes."""

import networkx as nx
import numpy as np
import pytest
from graphs import make_graph

from graphclust.generators import planted_partition
from graphclust.graph.gate import as_graph
from graphclust.partition import trial
from graphclust.partition.pipeline import coreset_sc
from graphclust.partition.trial import nodes_around, share_left, suits_a_coreset


def triangles(n):
    """A graph whose neighbors are neighbors."""
    return as_graph(nx.watts_strogatz_graph(n, 10, 0.1, seed=0))


def sparse_blocks():
    return planted_partition(8, 250, 16, 4, rng=1).graph


@pytest.mark.parametrize("seed", range(3))
def test_joined_nodes_leave_few_entries_where_neighbors_are_neighbors_and_most_where_they_are_not(seed):
    assert share_left(triangles(2_000), 8, np.random.default_rng(seed)) < 0.2
    assert share_left(sparse_blocks(), 8, np.random.default_rng(seed)) > 0.5


def test_only_large_graphs_are_tried(monkeypatch):
    graph = sparse_blocks()
    assert not suits_a_coreset(graph, 8, np.random.default_rng(0))
    monkeypatch.setattr(trial, "BUDGET", graph.n_entries)
    assert suits_a_coreset(graph, 8, np.random.default_rng(0))
    assert not suits_a_coreset(triangles(4_000), 8, np.random.default_rng(0))


def test_the_rows_of_a_coreset_of_a_very_dense_graph_do(monkeypatch):
    monkeypatch.setattr(trial, "BUDGET", 1)
    graph = as_graph(nx.complete_graph(202))
    assert suits_a_coreset(graph, 2, np.random.default_rng(0))
    assert not suits_a_coreset(as_graph(nx.complete_graph(199)), 2, np.random.default_rng(0))


def test_the_method_is_what_was_tried(monkeypatch):
    monkeypatch.setattr(trial, "BUDGET", 1)
    for graph, method in ((sparse_blocks(), "two-step"), (triangles(2_000), "multilevel")):
        found = coreset_sc(graph, 8, rng=0)
        assert found.parameters["method"] == method and "method" in found.seconds


@pytest.mark.parametrize("n", [1, 7, 20, 39, 40, 100])
def test_a_block_is_of_nodes_that_hang_together(n):
    nodes = nodes_around(make_graph("path"), n, np.random.default_rng(3))
    assert (np.diff(nodes) == 1).all() and len(nodes) == min(n, 40)


def test_blocks_of_small_components_are_several_and_leave_isolated_nodes_out():
    graph = nx.disjoint_union_all([nx.complete_graph(4)] * 50)
    graph.add_nodes_from(range(200, 300))
    graph = as_graph(graph)
    nodes = nodes_around(graph, 60, np.random.default_rng(0))
    assert len(nodes) == 60 and nodes.max() < 200 and len(np.unique(nodes // 4)) == 15
    assert share_left(graph, 3, np.random.default_rng(0)) == 0.0  # of components nothing is left between regions
    without = as_graph(nx.empty_graph(5))
    assert share_left(without, 2, np.random.default_rng(0)) == 0.0


def test_a_hub_does_not_make_a_block_larger():
    graph = as_graph(nx.star_graph(5_000))
    assert len(nodes_around(graph, 100, np.random.default_rng(0))) == 100
