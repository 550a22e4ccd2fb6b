"""Minimum cuts of clusters: their weight, by NetworkX and by trying all, and the sides of one."""

import networkx as nx
import numpy as np
import pytest

from graphclust import Clustering, as_graph, limit_threads
from graphclust.compiled.graphs import minimum_cut as loops

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")  # of isolated nodes

SHAPES = {
    "bridge": lambda rng: nx.barbell_graph(int(rng.integers(3, 9)), int(rng.integers(0, 3))),
    "cliques joined by few edges": lambda rng: joined_cliques(rng),
    "star": lambda rng: nx.star_graph(int(rng.integers(1, 12))),
    "cycle": lambda rng: nx.cycle_graph(int(rng.integers(3, 20))),
    "random": lambda rng: nx.gnp_random_graph(int(rng.integers(2, 25)), rng.random(), seed=int(rng.integers(1 << 30))),
    "grid": lambda rng: nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, int(rng.integers(2, 7)))),
    "ring of cliques": lambda rng: nx.ring_of_cliques(int(rng.integers(2, 6)), int(rng.integers(3, 6))),
}


def joined_cliques(rng):
    n, m = rng.integers(3, 12, 2)
    graph = nx.disjoint_union(nx.complete_graph(n), nx.complete_graph(m))
    graph.add_edges_from((int(rng.integers(n)), int(n + rng.integers(m))) for _ in range(rng.integers(0, 6)))
    return graph


def made(shape, rng):
    """A graph of a shape whose nodes are numbered at random, with weights or without, and sometimes a loop."""
    graph = SHAPES[shape](rng)
    graph = nx.relabel_nodes(graph, dict(zip(graph, rng.permutation(len(graph)).tolist(), strict=True)))
    if rng.random() < 0.5:
        whole = rng.random() < 0.5
        for _, _, data in graph.edges(data=True):
            data["weight"] = float(rng.integers(1, 4)) if whole else float(rng.random() + 0.01)
    if rng.random() < 0.2:
        graph.add_edge(0, 0)
    ordered = nx.Graph()
    ordered.add_nodes_from(range(len(graph)))
    ordered.add_edges_from(graph.edges(data=True))
    return ordered


def weight_between(graph, side):
    return sum(data.get("weight", 1.0) for u, v, data in graph.edges(data=True) if (u in side) != (v in side))


def expected_cut(graph):
    simple = nx.Graph(graph)
    simple.remove_edges_from(list(nx.selfloop_edges(graph)))
    return nx.stoer_wagner(simple)[0] if nx.is_connected(simple) else 0.0


@pytest.mark.parametrize("shape", SHAPES)
def test_the_weight_is_that_of_stoer_wagner_and_the_side_has_it(shape):
    rng = np.random.default_rng(6604)
    for _ in range(300):
        graph = made(shape, rng)
        if graph.number_of_edges() == 0:
            continue
        ours, n, expected = as_graph(graph), len(graph), expected_cut(graph)
        of_weight = Clustering(np.zeros(n, int), 1, ours, parameters={"cut_weight": True})
        assert of_weight.min_cuts == pytest.approx([expected])
        inner = loops.rows_among(np.arange(n), ours.rows, np.zeros(n, np.int32), np.empty(n, np.int32))
        for best in (np.inf, expected * (1 + 1e-6) + 1e-6, expected * (1 - 1e-6)):
            side = np.zeros(n, np.int8)
            found = loops.minimum_cut(inner, best, side)
            if best < expected:
                assert found == best
            elif best > expected:
                assert weight_between(graph, {*np.flatnonzero(side)}) == pytest.approx(expected) == found
                assert 0 < side.sum() < n


def test_loops_are_in_no_cut():
    graph = as_graph(nx.Graph([(0, 0), (0, 1), (1, 1)]))
    assert Clustering(np.zeros(2, int), 1, graph).min_cuts.tolist() == [1.0]


def test_every_cluster_has_its_own_on_any_number_of_threads():
    graph = nx.disjoint_union_all([nx.complete_graph(6), nx.cycle_graph(5), nx.path_graph(4), nx.empty_graph(1)])
    graph.add_edges_from([(0, 6), (1, 7), (15, 0), (2, 11)])
    labels = np.repeat([2, 0, 1, 3, -1], [6, 5, 3, 1, 1])
    for threads in (1, 2):
        with limit_threads(threads):
            assert Clustering(labels, 4, as_graph(graph)).min_cuts.tolist() == [2.0, 1.0, 5.0, 0.0]
