"""`weight=` means the same in every public function that takes a graph."""

import inspect
import types
from itertools import permutations
from math import fsum

import networkx as nx
import numpy as np
import pytest
from cases import refuses

import graphclust as gc
from graphclust.errors import GraphValidationError, ParameterError

LABELS = np.arange(34) % 3


def two_attributes() -> nx.Graph:
    """The karate club; what its edges weigh depends on the attribute asked for."""
    graph = nx.karate_club_graph()
    for u, v in graph.edges:
        graph[u][v]["strength"] = float(1 + (u * v) % 7)
    return graph


def kernel_block(kernel):
    return kernel.block(slice(None), slice(None))


READERS = {
    "well_connected": lambda G, **w: gc.well_connected(G, LABELS, **w).modularity,
    "cluster_volumes": lambda G, **w: gc.cluster_volumes(G, LABELS, **w),
    "normalized_cut": lambda G, **w: gc.normalized_cut(G, LABELS, **w),
    "edge_cut": lambda G, **w: gc.edge_cut(G, LABELS, **w),
    "conductance": lambda G, **w: gc.conductance(G, LABELS, **w),
    "modularity": lambda G, **w: gc.modularity(G, LABELS, **w),
    "kernel_k_means_cost": lambda G, **w: gc.kernel_k_means_cost(G, LABELS, **w),
    "merge_clusters": lambda G, **w: gc.merge_clusters(G, 6, **w),
    "move_nodes": lambda G, **w: gc.move_nodes(G, LABELS, **w),
    "refine_partition": lambda G, **w: gc.refine_partition(G, np.arange(34) % 6, rng=0, **w),
    "quotient_graph": lambda G, **w: gc.quotient_graph(G, LABELS, **w).to_scipy().toarray(),
    "coreset_sc": lambda G, **w: gc.coreset_sc(G, 6, rng=0, **w).labels,
    "balanced_partition": lambda G, **w: gc.balanced_partition(G, 6, rng=0, **w).labels,
    "communities": lambda G, **w: gc.communities(G, resolution=2.0, rng=0, **w).labels,
    "hierarchy": lambda G, **w: gc.hierarchy(G, max_size=8, rng=0, **w).levels[-1],
    "cluster_path": lambda G, **w: gc.cluster_path(G, range(2, 8), rng=0, **w)[6].labels,
    "spectral_clustering": lambda G, **w: gc.spectral_clustering(G, 6, rng=0, **w).labels,
    "fast_spectral_clustering": lambda G, **w: gc.fast_spectral_clustering(G, 2, rng=0, **w).labels,
    "spectral_embedding": lambda G, **w: gc.spectral_embedding(G, 3, rng=0, **w),
    "fast_spectral_embedding": lambda G, **w: gc.fast_spectral_embedding(G, 3, rng=0, **w),
    "NormalizedCutKernel": lambda G, **w: gc.NormalizedCutKernel.of(G, **w).self_affinity,
    "GraphKernel": lambda G, **w: kernel_block(gc.GraphKernel(G, **w)),
    "HeatKernel": lambda G, **w: kernel_block(gc.HeatKernel(G, 0.1, **w)),
}  # fmt: skip
OF_KERNELS = {
    "kernel_kmeans": (6, {}, "cost"), "kernel_kmeans_plusplus": (6, {}, "sq_distances"),
    "minibatch_kernel_kmeans": (3, {"max_iter": 5}, "cost"), "truncated_kernel_kmeans": (3, {"max_iter": 5}, "cost"),
    "coreset_kernel_kmeans": (3, {"coreset_size": 20}, "cost"),
}  # fmt: skip


def reader(name, k, options, figure):
    how = {"kernel": "normalized cut", "rng": 0, **options}
    return lambda G, **w: getattr(getattr(gc, name)(G, k, **how, **w), figure)


READERS |= {name: reader(name, *how) for name, how in OF_KERNELS.items()}
SOME_READERS = [pytest.param(name, marks=[pytest.mark.slow] * (name == "balanced_partition")) for name in READERS]


@pytest.mark.parametrize("name", SOME_READERS)
def test_weight_names_the_same_attribute_everywhere(name):
    graph, result = two_attributes(), READERS[name]
    by_weight = []
    for weight in ("weight", "strength", None):
        matrix = nx.to_scipy_sparse_array(graph, weight=weight, dtype=float)
        by_weight.append(result(matrix))
        np.testing.assert_array_equal(result(graph, weight=weight), by_weight[-1])
        np.testing.assert_array_equal(result(gc.as_graph(graph, weight=weight)), by_weight[-1])
        np.testing.assert_array_equal(result(matrix, weight=None), result(graph, weight=None))
    np.testing.assert_array_equal(result(graph), by_weight[0])
    assert not np.array_equal(by_weight[0], by_weight[1]) and not np.array_equal(by_weight[0], by_weight[2])


@pytest.mark.parametrize("name", SOME_READERS)
def test_a_weight_that_no_edge_has_is_refused_everywhere(name):
    refuses(GraphValidationError, "no edge has the attribute 'power'", READERS[name], two_attributes(), weight="power")


def test_every_public_function_of_a_graph_is_held_to_it():
    # The gate itself; and what says what is there, or keeps it.
    reads_graphs = {"as_graph", "save_graph", "save_store", "graph_facts", "estimate_memory"}
    for name in gc.__all__:
        value = getattr(gc, name)
        function = value.__init__ if isinstance(value, type) else value
        if isinstance(function, types.FunctionType) and {"G", "K_or_X"} & inspect.signature(function).parameters.keys():
            assert name in reads_graphs or name in READERS, name
            if name in READERS:
                parameter = inspect.signature(function).parameters["weight"]
                assert (parameter.default, parameter.kind) == ("weight", inspect.Parameter.KEYWORD_ONLY), name


@pytest.mark.parametrize("function", [name for name in READERS if "kmeans" in name])
def test_weights_of_edges_are_not_for_points(function):
    points = np.arange(12.0).reshape(6, 2)
    for data in (points, gc.GaussianKernel(points, 1.0), gc.GraphKernel(nx.path_graph(6))):
        for weight in ("strength", None):
            options = {"coreset_size": 4} if function == "coreset_kernel_kmeans" else {}
            with pytest.raises(ParameterError, match=f"weight={weight!r} names an attribute of edges"):
                getattr(gc, function)(data, 2, weight=weight, **options)


def test_an_absent_default_weight_is_all_ones():
    path = nx.path_graph(5)
    assert gc.normalized_cut(path, [0, 0, 1, 1, 1]) == gc.normalized_cut(path, [0, 0, 1, 1, 1], weight=None)


@pytest.mark.parametrize("cluster", [gc.coreset_sc, gc.spectral_clustering])
def test_what_a_clustering_says_of_itself_the_measures_say_too(cluster):
    graph = two_attributes()
    found = cluster(graph, 3, weight="strength", rng=0)
    for labels in (found, found.labels, found.as_dict(), found.communities()):
        assert gc.normalized_cut(graph, labels, weight="strength") == pytest.approx(found.normalized_cut)
        assert gc.conductance(graph, labels, weight="strength") == pytest.approx(found.conductance)
        assert gc.normalized_cut(found.graph, labels) == pytest.approx(found.normalized_cut)
    assert gc.normalized_cut(graph, found) != pytest.approx(found.normalized_cut, rel=0.01)


def multigraph(edges):
    graph = nx.MultiGraph()
    graph.add_weighted_edges_from(edges)
    return graph


@pytest.mark.filterwarnings("ignore:4 repeated entries")
@pytest.mark.parametrize("make", [list, multigraph])
def test_parallel_edges_have_the_same_sum_in_any_order(make):
    """Else the order of the edges would decide the order of the nodes, and ties in a clustering."""
    weights = [0.1, 0.7, 0.3, 1e-9, 0.2]
    sums = {
        tuple(gc.as_graph(make([("a", "b", weight) for weight in order])).weights) for order in permutations(weights)
    }
    assert sums == {(fsum(weights), fsum(weights))}
