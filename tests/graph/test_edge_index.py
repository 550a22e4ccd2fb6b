"""Arrays of edges, as PyTorch Geometric holds them: as graphs everywhere, and in parts."""

import warnings

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses

from graphclust import as_graph, communities, coreset_sc
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError
from graphclust.interop.pyg import partition
from graphclust.io.tables import graph_from_edge_arrays

TWO_TRIANGLES = np.array([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]])


class Tensor:
    """What of a torch tensor is used: moves to memory, and makes another of its kind."""

    def __init__(self, values, device="cuda:0"):
        self.values, self.device, self.shape = np.asarray(values), device, np.asarray(values).shape

    def detach(self):
        return Tensor(self.values, self.device)

    def cpu(self):
        return Tensor(self.values, "cpu")

    def numpy(self):
        assert self.device == "cpu"
        return self.values

    def new_tensor(self, values):
        return Tensor(values, self.device)


@for_each("edges", [TWO_TRIANGLES, TWO_TRIANGLES.T, np.hstack([TWO_TRIANGLES, TWO_TRIANGLES[::-1]])])
@for_each("kind", [np.asarray, Tensor])
def test_edges_in_one_direction_or_both_are_one_graph(edges, kind):
    graph = as_graph((kind(edges), 6))
    assert graph.n_edges == 7 and graph.weights is None
    assert graph.neighbors(2).tolist() == [0, 1, 3]
    assert communities((kind(edges), 6), rng=0).k == 2


def test_nodes_without_edges_are_nodes():
    with pytest.warns(GraphWarning, match="2 isolated nodes"):
        graph = as_graph((TWO_TRIANGLES, 8))
    assert graph.n_nodes == 8


def test_parts_of_isolated_nodes_come_without_a_word_on_labels_that_they_would_not_have():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.bincount(partition(TWO_TRIANGLES, 1206, 2)).max() <= 1.03 * 603 + 1


def test_weights_of_an_edge_in_both_directions_are_one_and_repeats_add_up():
    edges = np.array([[0, 1, 0, 0], [1, 0, 2, 2]])
    with pytest.warns(GraphWarning, match="repeated"):
        graph = graph_from_edge_arrays(edges, 3, np.array([2.0, 2.0, 1.0, 4.0]))
    assert graph.degrees.tolist() == [7.0, 2.0, 5.0]


@for_each(
    "edges, n, weights, message",
    [
        (np.zeros((3, 4), int), 5, None, r"shape \(3, 4\), expected \(2, n_edges\)"),
        (np.zeros((2, 4)), 5, None, "dtype float64, expected whole numbers"),
        (np.array([[0, 1], [1, 5]]), 5, None, r"ends 0 to 5, expected them in \[0, 5\)"),
        (np.array([[0, -1], [1, 2]]), 5, None, r"ends -1 to 2"),
        (np.array([[0, 1], [1, 2]]), 5, np.ones(3), r"edge_weight has shape \(3,\)"),
        (np.array([[0, 1], [1, 2]]), 5, np.array([1.0, -1.0]), "edge_weight"),
    ],
)
def test_what_is_no_array_of_edges_is_refused(edges, n, weights, message):
    refuses(GraphValidationError, message, graph_from_edge_arrays, edges, n, weights)


def test_an_array_of_edges_has_no_name_of_weights():
    refuses(ParameterError, "weight='w'", as_graph, (TWO_TRIANGLES, 6), weight="w")


def test_a_tuple_of_edges_is_still_a_list_of_edges():
    assert as_graph(((0, 1), (1, 2))).n_edges == 2


def test_a_partition_is_of_the_kind_that_came():
    parts = partition(TWO_TRIANGLES, 6, 2)
    assert parts.dtype == np.int64 and parts.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    cliques = nx.to_scipy_sparse_array(nx.disjoint_union_all([nx.complete_graph(5)] * 4)).nonzero()
    assert np.bincount(partition(np.array(cliques), 20, None)).tolist() == [5, 5, 5, 5]
    tensor = partition(Tensor(TWO_TRIANGLES), 6, 2)
    assert isinstance(tensor, Tensor) and tensor.device == "cuda:0" and tensor.values.tolist() == parts.tolist()


def test_every_node_is_in_a_part_and_lonely_ones_fill_the_smallest():
    edges = np.array([[0, 1, 2, 3, 0, 4], [1, 2, 3, 0, 2, 5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parts = partition(edges, 9, 2)
    of_cycle, of_pair = parts[0], parts[4]
    assert (parts[:4] == of_cycle).all() and (parts[4:6] == of_pair).all() and of_cycle != of_pair
    assert np.sort(np.bincount(parts)).tolist() == [4, 5]


def test_components_put_aside_go_whole_to_the_smallest_part():
    blocks = [nx.complete_graph(8), nx.complete_graph(7), nx.path_graph(2), nx.path_graph(3), nx.empty_graph(2)]
    network = nx.disjoint_union_all(blocks)
    network.add_edge(0, 8)
    parts = partition(np.array(network.edges).T, 22, 2, objective="normalized_cut")
    assert len({*parts[:8]}) == len({*parts[8:15]}) == len({*parts[15:17]}) == len({*parts[17:20]}) == 1
    assert parts[0] != parts[8] == parts[17] != parts[15] and np.bincount(parts).tolist() == [11, 11]


def test_weights_and_options_reach_the_clustering():
    weights = np.array([5.0, 5, 5, 5, 5, 5, 0.1])
    parts = partition(TWO_TRIANGLES, 6, 2, edge_weight=weights, objective="modularity", random_state=3)
    graph = graph_from_edge_arrays(TWO_TRIANGLES, 6, weights)
    assert parts.tolist() == coreset_sc(graph, 2, rng=3).labels.tolist()


def test_parts_are_of_equal_size_and_nodes_without_edges_count():
    hubs = np.array(nx.barabasi_albert_graph(2000, 2, seed=1).edges).T
    assert np.bincount(partition(hubs, 2400, 20)).max() <= np.ceil(1.03 * 120)
    parts = partition([[0, 0, 1], [1, 2, 2]], 8, 5)
    assert np.bincount(parts).max() == 2 and sum(parts[u] != parts[v] for u, v in ((0, 1), (0, 2), (1, 2))) == 2
