"""A graph as a GraphML, GML or GEXF file, written by NetworkX: for Gephi, Cytoscape, yEd and their like."""

from __future__ import annotations

import gzip
import io
import re
from typing import IO, TYPE_CHECKING, Any

from scipy import sparse

from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.io.node_names import as_texts

if TYPE_CHECKING:
    import networkx

NETWORK_FORMATS = ("graphml", "gml", "gexf")
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What each cannot hold in a name. NetworkX reads two texts of GML as empty lists.
_UNFIT = {"graphml": _NO_XML, "gexf": _NO_XML, "gml": re.compile(r"^(\(\)|\[\])\Z")}


def as_network(graph: Graph, names: list[Any]) -> networkx.Graph:
    """The graph as NetworkX's, its nodes in order by their names, its weights, if any, as the attribute "weight"."""
    import networkx

    network = networkx.Graph()
    network.add_nodes_from(names)
    upper = sparse.triu(graph.to_scipy(), format="coo")
    ends = [[names[node] for node in nodes.tolist()] for nodes in (upper.row, upper.col)]
    if graph.weights is None:
        network.add_edges_from(zip(*ends, strict=True))
    else:
        network.add_weighted_edges_from(zip(*ends, upper.data.tolist(), strict=True))
    return network


def names_for(graph: Graph, format: str) -> list[str]:
    """The names of the nodes as text; GraphValidationError for two alike, and for one that the format cannot hold."""
    names = as_texts(range(graph.n_nodes) if graph.nodes is None else graph.nodes)
    if names is None:
        raise GraphValidationError(
            f"two nodes of G have the same name as text, by which {format} files tell them apart"
        )
    unfit = next(filter(_UNFIT[format].search, names), None)
    if unfit is not None:
        raise GraphValidationError(f"node {unfit!r} of G has a name that {format} files cannot hold; rename it")
    return names


def write_network(file: IO[bytes] | gzip.GzipFile, network: networkx.Graph, format: str) -> None:
    """Write a graph of NetworkX's to an open file."""
    import networkx

    writers = {"graphml": networkx.write_graphml, "gml": networkx.write_gml, "gexf": networkx.write_gexf}
    writers[format](network, file)


def network_bytes(network: networkx.Graph, format: str) -> int:
    """How long the file is, found by writing it to nowhere."""
    nowhere = _Nowhere()
    write_network(nowhere, network, format)
    return nowhere.n_bytes


class _Nowhere(io.BytesIO):
    """Counts what is written, and keeps nothing."""

    n_bytes = 0

    def write(self, data: Any) -> int:
        self.n_bytes += len(data)
        return len(data)
