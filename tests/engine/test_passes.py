"""Rows are read once: the sums that a method made are those that every figure of its clustering is made of."""

import networkx as nx
import numpy as np
import pytest
from aims import looped
from graphs import make_graph
from scipy import sparse

import graphclust
from graphclust import Coreset, communities, coreset_sc, load_model, planted_partition
from graphclust.graph.container import Graph
from graphclust.objective.objective import OBJECTIVES
from graphclust.profile.path_builder import cluster_path

K = 4


class CountingGraph(Graph):
    """A graph that counts how often its entries are asked for."""

    n_passes = 0

    def __getattribute__(self, name):
        if name in ("indices", "rows"):
            object.__setattr__(self, "n_passes", self.n_passes + 1)
        return super().__getattribute__(name)


def counting(graph: Graph) -> CountingGraph:
    return CountingGraph(graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops)


def passes_of(graph: CountingGraph, work) -> int:
    before = graph.n_passes
    work()
    return graph.n_passes - before


GRAPHS = {
    "planted": lambda: planted_partition(K, 30, 9, 1, rng=5).graph,
    "weighted, with loops": lambda: looped(40, 7),
    "components": lambda: graphclust.as_graph(
        sparse.block_diag([make_graph("karate").to_scipy(), *[np.ones((3, 3))] * 2], format="csr")
    ),
}
WAYS = {
    **{name: lambda graph, name=name: coreset_sc(graph, K, objective=name, rng=1) for name in OBJECTIVES},
    "two-step": lambda graph: coreset_sc(graph, K, method="two-step", rng=1),
    "two-step, ratio cut": lambda graph: coreset_sc(graph, K, method="two-step", objective="ratio_cut", rng=1),
    "by blocks": lambda graph: coreset_sc(graph, K, coreset=Coreset(sampling="parallel"), rng=1),
    "communities": lambda graph: communities(graph, rng=1),
    "constant Potts communities": lambda graph: communities(graph, objective="constant_potts", resolution=0.2, rng=1),
    "path": lambda graph: cluster_path(graph, range(1, K + 1), rng=1)[K],
}


def figures(found: graphclust.Clustering) -> dict[str, object]:
    names = ("modularity", "normalized_cut", "edge_cut", "conductance", "volume", "sizes", "imbalance")
    return {name: getattr(found, name) for name in names} | {
        name: getattr(found.model(), name) for name in ("inside", "mass")
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GRAPHS)
def test_figures_and_the_model_read_no_rows_again(name, way, tmp_path):
    found = WAYS[way](counting(GRAPHS[name]()))
    graph, known = found.graph, {}
    assert isinstance(graph, CountingGraph) and graph.n_passes > 0
    assert passes_of(graph, lambda: known.update(figures(found))) == 0
    assert passes_of(graph, lambda: found.model().save(tmp_path / "m.npz")) == 0
    # For the links of each node; and where components are aside, for the description of the others.
    assert 1 <= passes_of(graph, found.certainty) <= (1 if not found.n_aside else 4)
    assert load_model(tmp_path / "m.npz").inside == pytest.approx(known["inside"])
    made_of_labels = graphclust.Clustering(
        found.labels, found.k, GRAPHS[name](), objective=found.objective, resolution=found.resolution
    )
    read = figures(made_of_labels)
    for figure, value in read.items():
        assert known[figure] == pytest.approx(value, rel=1e-9, abs=1e-9), figure
    assert known["modularity"] == pytest.approx(graphclust.modularity(GRAPHS[name](), found.labels))


def test_methods_that_make_no_sums_take_one_pass_for_all_figures():
    found = graphclust.spectral_clustering(counting(GRAPHS["planted"]()), K, rng=0)
    assert passes_of(found.graph, lambda: figures(found)) == 1
    assert passes_of(found.graph, found.certainty) == 1


def test_sums_that_round_off_has_spoiled_are_made_again():
    """Weights of twelve orders of magnitude: of what a heavy cluster holds, its cut is less than round-off."""
    heavy = nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(6))
    nx.set_edge_attributes(heavy, 1e9 / 3.0, "weight")
    heavy.add_edge(0, 6, weight=1e-7)
    for graph, cut in ((heavy, 1e-7), (nx.Graph(heavy.edge_subgraph(set(heavy.edges) - {(0, 6)})), 0.0)):
        assert coreset_sc(graph, 2, rng=0).edge_cut == cut


def test_a_clustering_with_other_labels_has_figures_of_its_own():
    found = coreset_sc(nx.barbell_graph(5, 0), 2, rng=0)
    later = found.update(added=[(0, 7), (1, 8), (2, 9)], rng=0)
    assert later.edge_cut == graphclust.Clustering(later.labels, 2, later.graph).edge_cut == found.edge_cut + 3.0


def test_more_clusters_than_there_can_be_have_the_sums_of_those_that_there_are():
    matrix = sparse.block_diag([nx.to_numpy_array(nx.path_graph(3)), sparse.csr_array((2, 2))], format="csr")
    with pytest.warns(graphclust.GraphWarning), pytest.warns(graphclust.ConvergenceWarning):
        found = coreset_sc(matrix, 5, rng=0)
    assert found.n_clusters == 3 and found.edge_cut == 2.0
