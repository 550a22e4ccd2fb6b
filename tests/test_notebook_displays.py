"""What a notebook shows of a result in the last line of a cell."""

import networkx as nx
import pytest

import graphclust


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda G: graphclust.communities(G, rng=0), "Clustering(20 nodes in 4 clusters)"),
        (lambda G: graphclust.cluster_path(G, rng=0), "<td>modularity</td>"),
        (lambda G: graphclust.cluster_path(G, rng=0).suggest(), "Suggestion: k = 4"),
        (lambda G: graphclust.hierarchy(G, rng=0), "Hierarchy(20 nodes"),
        (graphclust.as_graph, "<td>20</td>"),
    ],
)
def test_results_show_themselves_as_html(make, shown):
    assert shown in make(nx.ring_of_cliques(4, 5))._repr_html_()


def test_names_of_nodes_are_escaped():
    graph = nx.relabel_nodes(nx.barbell_graph(4, 0), {0: "<script>"})
    assert "<script>" not in graphclust.communities(graph, rng=0)._repr_html_()
