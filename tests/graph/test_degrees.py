"""Degrees of weighted graphs are sums without the rounding of single additions."""

import math

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from scipy import sparse

from graphclust import as_graph
from graphclust.errors import GraphValidationError
from graphclust.graph.matrices import graph_of_checked_rows
from graphclust.graph.node_order import in_order
from graphclust.updates.edits import apply_edits


def star(weights):
    """Node 0 joined to all others by these weights."""
    n = len(weights) + 1
    rows = np.zeros(n - 1, int), np.arange(1, n)
    upper = sparse.csr_array((np.asarray(weights, dtype=float), rows), shape=(n, n))
    return sparse.csr_array(upper + upper.T)


def degrees_of(matrix):
    """As the gate sums them, and as for rows that are known to be right."""
    again = graph_of_checked_rows(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, None, ()
    )
    found = as_graph(matrix).degrees
    assert (again.degrees == found).all()
    return found


@pytest.mark.parametrize("at", [0, 500, 99_998])
def test_one_heavy_edge_swallows_no_light_ones(at):
    weights = np.ones(99_999)
    weights[at] = 1e16
    assert degrees_of(star(weights))[0] == 1e16 + 99_998


@for_each("spread", [1, 20, 60])
@for_each("seed", [518, 2209])
def test_degrees_are_exact_to_the_last_bit_or_two(seed, spread):
    rng = np.random.default_rng(seed)
    weights = 10.0 ** rng.uniform(-spread, spread, 3000)
    found = degrees_of(star(weights))
    assert abs(found[0] / math.fsum(weights) - 1.0) <= 2**-52
    assert (found[1:] == weights).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1.0])
def test_what_is_no_weight_is_still_found(bad):
    weights = np.ones(50)
    weights[17] = bad
    refuses(GraphValidationError, rf"2 entries .* the first {bad} at \(0, 18\)", as_graph, star(weights))


def test_degrees_of_a_subgraph_and_of_another_order_are_those_of_the_graph():
    rng = np.random.default_rng(5)
    upper = np.triu(rng.random((30, 30)) * (rng.random((30, 30)) < 0.5), 1)
    upper[0, 1] = 1e16  # swallows the others, where they are added one after the other
    graph = as_graph(upper + upper.T)
    assert np.array_equal(graph.subgraph(np.arange(30)).degrees, graph.degrees)
    order = rng.permutation(30)
    turned = in_order(graph, order)
    assert np.array_equal(turned.degrees, as_graph(graph.to_scipy()[order][:, order]).degrees)
    assert np.array_equal(turned.degrees, graph.degrees[order])


def test_degrees_after_an_edit_are_those_of_the_new_graph():
    heavy = nx.Graph([("a", "b", {"weight": 1e16}), ("a", "c", {"weight": 1.0}), ("b", "c", {"weight": 1.0})])
    edited = apply_edits(as_graph(heavy), added=[("a", "d", 1.0)]).graph
    heavy.add_edge("a", "d", weight=1.0)
    assert edited.degrees.tolist() == as_graph(heavy).degrees.tolist()
