"""Exactly k clusters wherever k nodes have edges: every method but the published one, every k, awkward graphs."""

import functools
import os
import warnings

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from graphs import multilevel_labels
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import sparse

import graphclust as gc
from graphclust.objective.objective import OBJECTIVES

METHODS = {
    "auto": {}, "low effort": {"effort": "low"}, "high effort": {"effort": "high"},
    "all components": {"components": "all"}, "multilevel": {"method": "multilevel"}, "two-step": {"method": "two-step"},
    "two-step, all components": {"method": "two-step", "components": "all"},
    "naive": {"method": "two-step", "coreset": gc.Coreset(sampling="naive")},
    "uniform": {"method": "two-step", "coreset": gc.Coreset(sampling="uniform")},
    "oversampled": {"coreset": gc.Coreset(oversampling=5.0)}, **{name: {"objective": name} for name in OBJECTIVES},
    **{f"two-step, {name}": {"method": "two-step", "objective": name} for name in OBJECTIVES},
    "two-step, ratio_cut, all components": {"method": "two-step", "objective": "ratio_cut", "components": "all"},
    "high resolution": {"resolution": 50.0}, "low resolution": {"resolution": 1e-3, "components": "all"},
    "Potts' high resolution": {"objective": "constant_potts", "resolution": 1e4},
}  # fmt: skip
QUICK = ("auto", "multilevel", "two-step", *(set(OBJECTIVES) - {"modularity"}), "two-step, normalized_cut")
SMALLEST_CORESETS = {  # of k draws, of which some hit the same node
    "two-step": {"method": "two-step"},
    "uniform": {"sampling": "uniform"},
    "low effort": {"effort": "low"},
}


def caught(graph) -> gc.Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gc.GraphWarning)
        return gc.as_graph(graph)


def of_random_weights(graph: nx.Graph, orders: float) -> sparse.csr_array:
    """The weights run over so many orders of magnitude."""
    upper = sparse.triu(nx.to_scipy_sparse_array(graph, weight=None, dtype=np.float64), 1).tocoo()
    upper.data = 10.0 ** np.random.default_rng(2209).uniform(-orders / 2, orders / 2, upper.nnz)
    return (upper + upper.T).tocsr()


def with_hub(n: int) -> nx.Graph:
    return nx.compose(nx.star_graph(n), nx.cycle_graph(range(1, n + 1)))


GRAPHS = {
    "two nodes": lambda: nx.path_graph(2), "three nodes": lambda: nx.path_graph(3),
    "two looped nodes": lambda: np.ones((2, 2)), "star": lambda: nx.star_graph(40), "path": lambda: nx.path_graph(50),
    "ring": lambda: nx.cycle_graph(36), "complete": lambda: nx.complete_graph(24),
    "complete bipartite": lambda: nx.complete_bipartite_graph(9, 21), "tree": lambda: nx.full_rary_tree(3, 60),
    "grid": lambda: nx.grid_2d_graph(8, 9), "hub": lambda: with_hub(80),
    "caveman": lambda: nx.connected_caveman_graph(6, 8),
    "single edges": lambda: nx.disjoint_union_all([nx.path_graph(2)] * 30),
    "many components": lambda: nx.disjoint_union_all([nx.complete_graph(size % 5 + 2) for size in range(20)]),
    "tiny components": lambda: nx.disjoint_union_all([nx.gnp_random_graph(60, 0.2, seed=1), *[nx.path_graph(2)] * 20]),
    "isolated nodes": lambda: nx.disjoint_union(nx.barbell_graph(8, 3), nx.empty_graph(12)),
    "loops alone": lambda: np.diag([1.0, 2.0, 3.0, 0.5, 0.0, 7.0]),
    "looped path": lambda: np.eye(12) + nx.to_numpy_array(nx.path_graph(12)),
    "weighted": lambda: of_random_weights(nx.gnp_random_graph(70, 0.15, seed=7), 2.0),
    "weights of all sizes": lambda: of_random_weights(nx.grid_2d_graph(7, 8), 16.0),
    "planted": lambda: gc.planted_partition(5, 30, 9, 1, rng=518).graph,
    "power law": lambda: gc.planted_partition(4, 30, 8, 2, degree_exponent=2.3, rng=7741).graph,
    "no blocks": lambda: nx.gnp_random_graph(90, 0.06, seed=3),
}  # fmt: skip


@functools.cache
def graph_of(name: str) -> gc.Graph:
    return caught(GRAPHS[name]())


def assert_exactly_k(graph: gc.Graph, k: int, **options) -> None:
    """And nothing to warn about but that a small graph has fewer points than seeds were asked for."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "only .* seeds were drawn", gc.ConvergenceWarning)
        found = gc.coreset_sc(graph, k, **options)
    linked = ~graph.isolated
    assert found.n_clusters == k and found.k == k
    assert np.unique(found.labels[linked & ~found.aside]).tolist() == list(range(k))
    assert (found.labels[~linked] == -1).all()
    assert (found.sizes > 0).all() and not any("clusters have nodes" in remark for remark in found.remarks)
    assert str(found)


def some_k(n: int) -> list[int]:
    """From 1 to n, denser where clusters are few or single nodes."""
    return sorted({1, 2, 3, 5, n // 2, n - 1, n} & set(range(1, n + 1)))


@pytest.mark.parametrize(
    "method", [pytest.param(method, marks=() if method in QUICK else pytest.mark.slow) for method in METHODS]
)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_graph_is_cut_into_exactly_k(name, method):
    graph = graph_of(name)
    for k in some_k(int((~graph.isolated).sum())):
        assert_exactly_k(graph, k, rng=k, **METHODS[method])


@pytest.mark.slow
@pytest.mark.parametrize("method", SMALLEST_CORESETS)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_coreset_of_k_draws_is_enough(name, method):
    graph = graph_of(name)
    for k in some_k(int((~graph.isolated).sum())):
        options = dict(SMALLEST_CORESETS[method])
        coreset = gc.Coreset(size=k, sampling=options.pop("sampling", "tree"))
        assert_exactly_k(graph, k, coreset=coreset, rng=k, **options)


@for_each("objective", OBJECTIVES)
@for_each("name", GRAPHS)
def test_every_graph_is_partitioned_into_exactly_k(name, objective):
    graph = graph_of(name)
    graph = graph.subgraph(np.flatnonzero(~graph.isolated))
    for k in some_k(graph.n_nodes):
        labels = multilevel_labels(graph, k, objective=objective, rng=k)
        assert np.unique(labels).tolist() == list(range(k))


@st.composite
def graph_and_k(draw) -> tuple[gc.Graph, int]:
    """Few nodes and any edges between them, plain or weighted, in one piece or many."""
    n = draw(st.integers(2, 14))
    weight = st.one_of(st.just(1.0), st.floats(1e-6, 1e6))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), weight)
    edges = draw(st.lists(pairs, min_size=1, max_size=3 * n))
    matrix = np.zeros((n, n))
    for u, v, w in edges:
        matrix[u, v] = matrix[v, u] = w
    graph = caught(matrix)
    return graph, draw(st.integers(1, int((~graph.isolated).sum())))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graph_and_k(), st.sampled_from(sorted(METHODS)), st.integers(0, 3))
@example((caught(np.ones((2, 2))), 2), "two-step", 0)
def test_any_small_graph_is_cut_into_exactly_k(case, method, seed):
    graph, k = case
    assert_exactly_k(graph, k, rng=seed, **METHODS[method])


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.parametrize("k", [3, 5])
def test_few_clusters_of_a_large_graph_of_many_blocks(k):
    graph = large_graph_of_blocks()
    for method in ("auto", "two-step"):
        assert_exactly_k(graph, k, method=method, rng=0)
    assert_exactly_k(graph, k, coreset=gc.Coreset(size=500), rng=1)


@functools.cache
def large_graph_of_blocks() -> gc.Graph:
    return gc.planted_partition(50, 2000, 18, 3, rng=0).graph


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.parametrize("name", ["altsoph_football", "planetoid_cora", "fb100_Caltech36_dorm", "metis_PGPgiantcompo"])
def test_real_graphs_are_cut_into_exactly_k(data_folder, name):
    with np.load(data_folder / "graphs" / f"{name}.npz", allow_pickle=False) as stored:
        indptr, indices, n = stored["indptr"], stored["indices"], len(stored["indptr"]) - 1
    graph = caught(sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n)))
    for options in ({}, {"method": "two-step"}, {"components": "all"}, {"coreset": gc.Coreset(size=100)}):
        for k in (2, 5, 60):
            assert_exactly_k(graph, k, rng=k, **options)
