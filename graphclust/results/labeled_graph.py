"""A clustering as a graph file whose nodes carry their labels: GraphML or GEXF, for Gephi, Cytoscape and their like."""

import io
import json
from html import escape
from typing import IO, Any

from graphclust.io.formats.network_writers import as_network, write_network
from graphclust.results.clustering import Clustering

ATTRIBUTE = "cluster"


def write_labeled_graph(file: IO[bytes], clustering: Clustering, names: list[Any], kind: str) -> None:
    """Write all nodes with their attribute "cluster", -1 for none, and the edges with their weights.

    What made the labels is an attribute "origin" of the graph in GraphML, and the description of the file in GEXF.
    """
    labeled = as_network(clustering.graph, names)
    origin = json.dumps(clustering.origin, ensure_ascii=False)
    for name, label in zip(names, clustering.labels.tolist(), strict=True):
        labeled.nodes[name][ATTRIBUTE] = label
    if kind == "graphml":
        labeled.graph["origin"] = origin
        write_network(file, labeled, kind)
    else:
        text = io.BytesIO()
        write_network(text, labeled, kind)
        description = f"</creator><description>{escape(origin, quote=False)}</description>"  # NetworkX writes none
        file.write(text.getvalue().replace(b"</creator>", description.encode(), 1))
