"""A clustering as a graph file whose nodes carry their labels: GraphML or GEXF, for Gephi, Cytoscape and their like."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from graphclust.partition.clustering import Clustering

if TYPE_CHECKING:
    import networkx

ATTRIBUTE = "cluster"


def write_labeled_graph(file: IO[bytes], clustering: Clustering, names: list[Any], kind: str) -> None:
    """Write all nodes with their attribute "cluster", -1 for none, and the edges with their weights."""
    import networkx

    writers = {"graphml": networkx.write_graphml, "gexf": networkx.write_gexf}
    writers[kind](_labeled(clustering, names), file)


def _labeled(clustering: Clustering, names: list[Any]) -> networkx.Graph:
    import networkx

    graph = clustering.graph
    labeled = networkx.from_scipy_sparse_array(graph.to_scipy())
    networkx.set_node_attributes(labeled, dict(enumerate(clustering.labels.tolist())), ATTRIBUTE)
    if graph.weights is None:
        for *_, attributes in labeled.edges(data=True):
            del attributes["weight"]
    return networkx.relabel_nodes(labeled, dict(enumerate(names)))
