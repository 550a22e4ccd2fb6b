"""A clustering as a graph file whose nodes carry their labels: GraphML or GEXF, for Gephi, Cytoscape and their like."""

import json
from typing import IO, Any

from graphclust.io.network_writers import as_network, write_network
from graphclust.partition.clustering import Clustering

ATTRIBUTE = "cluster"


def write_labeled_graph(file: IO[bytes], clustering: Clustering, names: list[Any], kind: str) -> None:
    """Write all nodes with their attribute "cluster", -1 for none, and the edges with their weights."""
    labeled = as_network(clustering.graph, names)
    if kind == "graphml":
        labeled.graph["origin"] = json.dumps(clustering.origin, ensure_ascii=False)
    for name, label in zip(names, clustering.labels.tolist(), strict=True):
        labeled.nodes[name][ATTRIBUTE] = label
    write_network(file, labeled, kind)
