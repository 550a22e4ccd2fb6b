"""Loops over rows against dense products: weighted and not, any number of columns, any choice of nodes."""

import numpy as np
import pytest
from cases import for_each
from graphs import all_graphs, make, make_graph
from reference import algorithms as reference

import graphclust as gc
from graphclust.spectral.embedding import NormalizedAdjacency
from graphclust.two_step.in_memory import spread_labels


def weighted(name: str) -> gc.Graph:
    """A graph of this pattern whose weights tell the edges apart, loops included."""
    pattern = make(name).tocoo()
    u, v = np.minimum(pattern.row, pattern.col), np.maximum(pattern.row, pattern.col)
    pattern.data = 1.0 + (7 * u + 3 * v) % 11 / 4
    return gc.as_graph(pattern.tocsr())


@for_each("n_columns", [1, 2, 3, 4, 5, 7, 8, 9, 13])
@for_each("name", ["some loops", "karate", "looped block model"])
def test_a_step_of_the_walk_is_a_product_for_any_number_of_columns(name, n_columns):
    columns = np.random.default_rng(518).standard_normal((make(name).shape[0], n_columns))
    for graph in (make_graph(name), weighted(name)):
        N = reference.normalized_adjacency(graph.to_scipy().toarray())
        operator = NormalizedAdjacency(graph)
        np.testing.assert_allclose(operator @ columns, N @ columns, atol=1e-13)
        np.testing.assert_allclose(operator.lazy_step(columns, 0.3), 0.3 * columns + 0.7 * (N @ columns), atol=1e-13)


@for_each("name", all_graphs())
def test_a_subgraph_is_the_matrix_of_its_rows_and_columns(name):
    graph = make_graph(name)
    dense = graph.to_scipy().toarray()
    for share in (0.0, 0.3, 0.7, 1.0):
        nodes = np.flatnonzero(np.random.default_rng(7741).random(graph.n_nodes) < share)
        found, expected = graph.subgraph(nodes), dense[np.ix_(nodes, nodes)]
        assert np.array_equal(found.to_scipy().toarray(), expected)
        assert np.array_equal(found.loops, np.diag(expected))
        np.testing.assert_allclose(found.degrees, expected.sum(axis=1), rtol=1e-14)
        assert found.to_scipy().has_sorted_indices and (found.weights is None) == (graph.weights is None)


@pytest.mark.parametrize("name", ["karate", "power-law blocks", "weights of all sizes", "looped block model"])
def test_labels_spread_by_weight_and_ties_go_to_the_lower(name):
    graph = make_graph(name) if name == "weights of all sizes" else weighted(name)
    dense = graph.to_scipy().toarray()
    rng = np.random.default_rng(2209)
    for _ in range(5):
        labels = np.where(rng.random(graph.n_nodes) < 0.6, -1, rng.integers(0, 4, graph.n_nodes)).astype(np.int32)
        links = dense @ (labels[:, None] == np.arange(4))
        expected = np.where(labels >= 0, labels, np.where(links.any(axis=1), links.argmax(axis=1), -1))
        assert np.array_equal(spread_labels(graph, labels, 4, 1.0, gc.Progress())[0], expected)
