"""A Clustering as others take it: communities for NetworkX, copies that are equal to it, a line of text."""

import pickle

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from graphs import make_graph

import graphclust
from graphclust.errors import GraphWarning

NAMES = ["x", "a", ("b", 1), 4.5, "c", "alone", "d", "e"]


def graph_with_isolated_nodes() -> nx.Graph:
    """A path of six named nodes among two isolated ones."""
    graph = nx.Graph()
    graph.add_nodes_from(NAMES)
    nx.add_path(graph, [name for name in NAMES if name not in ("x", "alone")])
    return graph


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
@pytest.mark.parametrize("cluster", [graphclust.spectral_clustering, graphclust.coreset_sc])
def test_communities_are_a_partition_of_all_nodes_that_networkx_takes(cluster):
    graph = graph_with_isolated_nodes()
    clustering = cluster(graph, 2, rng=0)
    communities = clustering.communities()
    assert nx.community.is_partition(graph, communities)
    assert [len(community) for community in communities] == [3, 3, 1, 1]
    assert communities[2:] == [{"x"}, {"alone"}]
    assert clustering.as_dict()["x"] == -1
    for c in range(2):
        assert communities[c] == {node for node, label in clustering.as_dict().items() if label == c}
    expected = nx.community.modularity(graph, communities)
    assert graphclust.modularity(graph, clustering.labels) == pytest.approx(expected)
    assert nx.community.partition_quality(graph, communities)[0] == pytest.approx(4 / 5)


def test_without_isolated_nodes_there_are_k_communities():
    clustering = graphclust.spectral_clustering(nx.barbell_graph(4, 0), 2, rng=0)
    assert clustering.communities() == [{0, 1, 2, 3}, {4, 5, 6, 7}]


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
def test_a_clustering_equals_its_copies_and_no_other():
    graph = graph_with_isolated_nodes()
    clustering = graphclust.spectral_clustering(graph, 2, rng=0)
    assert pickle.loads(pickle.dumps(clustering)) == clustering
    assert graphclust.spectral_clustering(graph, 2, rng=0) == clustering  # only the seconds differ
    assert graphclust.spectral_clustering(graph, 3, rng=0) != clustering
    assert graphclust.fast_spectral_clustering(graph, 2, rng=0) != clustering
    other_labels = graphclust.Clustering(1 - clustering.labels, 2, clustering.graph, parameters=clustering.parameters)
    assert other_labels != clustering
    heavier = nx.Graph(graph)
    heavier["a"][("b", 1)]["weight"] = 1.5
    on_heavier = graphclust.Clustering(
        clustering.labels, 2, graphclust.as_graph(heavier), parameters=clustering.parameters
    )
    assert on_heavier != clustering
    assert clustering != "clustering"
    refuses(TypeError, "unhashable", hash, clustering)


def test_graphs_are_equal_when_nodes_edges_and_weights_are():
    graph = make_graph("weighted")
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert graphclust.as_graph(graph.to_scipy()) == graph
    assert graphclust.as_graph(graph, weight=None) != graph
    named = graphclust.as_graph(nx.path_graph(3))
    unnamed = graphclust.as_graph(nx.to_scipy_sparse_array(nx.path_graph(3)))
    renamed = graphclust.as_graph(nx.relabel_nodes(nx.path_graph(3), {2: "two"}))
    assert named == graphclust.as_graph(nx.path_graph(3))
    assert not any(named == other or other == named for other in (unnamed, renamed, make_graph("path"), 3))
    other_ends = graphclust.as_graph(nx.Graph([(0, 2), (2, 1)]))
    assert graphclust.as_graph(nx.Graph([(0, 1), (1, 2)])) != other_ends


def test_numpy_names_compare_too():
    rows = make_graph("path")
    arrays = (rows.indptr, rows.indices, rows.weights, rows.degrees, rows.loops)
    one = graphclust.Graph(*arrays, np.arange(10, 10 + rows.n_nodes))
    assert one == graphclust.Graph(*arrays, np.arange(10, 10 + rows.n_nodes), ("a remark",))
    assert one != graphclust.Graph(*arrays, np.arange(11, 11 + rows.n_nodes))


def test_isolated_nodes_are_said_once():
    with pytest.warns(GraphWarning) as caught:
        clustering = graphclust.spectral_clustering(graph_with_isolated_nodes(), 2, rng=0)
    assert len(caught) == 1
    assert sum("isolated" in remark for remark in clustering.remarks) == 1


def test_one_of_anything_is_counted_in_the_singular():
    edge = graphclust.coreset_sc(nx.path_graph(2), 1, rng=0)
    assert str(edge).startswith("2 nodes, 1 edge (unweighted) in 1 cluster\n")
    loop = graphclust.Clustering(np.zeros(1, int), 1, graphclust.as_graph(np.ones((1, 1))), undecided=np.ones(1, bool))
    assert str(loop).startswith("1 node, 1 edge (unweighted) in 1 cluster\n")
    assert "undecided        1 node (100.0%), without" in str(loop)
    apart = str(graphclust.coreset_sc(nx.path_graph(2), 2, rng=0))
    assert (
        "2 nodes, 1 edge (unweighted) in 2 clusters" in apart
        and "2 clusters are natural from 0.775 to 0.775, an empty range" in apart
    )
    assert "; 1 cluster is natural from 0 to" in str(graphclust.coreset_sc(nx.path_graph(2), 1, rng=0))


def test_a_small_cut_beside_heavy_edges_is_summed_from_the_edges():
    """Nodes of weights over some forty orders of magnitude passed through the cluster whose cut is small."""
    rng = np.random.default_rng(103)
    upper = np.triu(rng.random((14, 14)) < 0.35, 1) * np.exp(rng.normal(0, 20, (14, 14)))
    graph = graphclust.as_graph(upper + upper.T)
    found = graphclust.coreset_sc(
        graph, 3, objective="normalized_cut", method="multilevel", effort="low", components="all", rng=0
    )
    assert found.normalized_cut == pytest.approx(graphclust.normalized_cut(graph, found.labels), rel=1e-9)


def test_what_is_printed_of_a_large_result_is_one_line():
    graph = graphclust.planted_partition(5, 400, 12, 2, rng=0).graph
    kernel = graphclust.NormalizedCutKernel.of(graph)
    clustering = graphclust.coreset_sc(graph, 5, method="two-step", rng=0)
    for one in (
        kernel,
        graphclust.d2_seeding(kernel, 5, rng=0),
        clustering.coreset,
        clustering,
        clustering.model(),
        graph,
    ):
        assert "\n" not in repr(one) and len(repr(one)) < 200, type(one)


def test_the_quotient_graph_of_a_clustering_is_that_of_its_graph_and_labels():
    clustering = graphclust.communities(graphclust.planted_partition(4, 30, 8, 1, rng=0).graph, rng=0)
    quotient = graphclust.quotient_graph(clustering)
    assert np.allclose(quotient.degrees, graphclust.cluster_volumes(clustering.graph, clustering.labels))
