"""A graph as a GraphML, GML or GEXF file, written by NetworkX: for Gephi, Cytoscape, yEd and their like."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.io.text.records import MOST, as_numbers, as_texts

if TYPE_CHECKING:
    import networkx

NETWORK_FORMATS = ("graphml", "gml", "gexf")
NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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


def name_network(graph: Graph, format: str) -> networkx.Graph:
    """The graph as NetworkX's, with nodes that `load_graph` calls as the graph does.

    It takes ids that are all whole numbers for numbers; where they are text, the attribute "name" says so.
    """
    nodes = range(graph.n_nodes) if graph.nodes is None else graph.nodes
    names = _texts(nodes, format)
    network = as_network(graph, names)
    if isinstance(nodes[0], str) and as_numbers(names) is not names:
        for name in names:
            network.nodes[name]["name"] = name
    return network


def _texts(nodes: Sequence[Any] | np.ndarray, format: str) -> list[str]:
    """The names of the nodes as a format can hold them; GraphValidationError where it cannot."""
    names = as_texts(nodes)
    if names is None:
        raise GraphValidationError(
            f"two nodes of G have the same name as text, by which {format} files tell them apart; rename one of them"
        )
    kind = str if isinstance(nodes[0], str) else int | np.integer
    other = next((name for name in nodes if not isinstance(name, kind) or isinstance(name, bool)), None)
    if other is None and kind is not str:
        other = next((name for name in nodes if abs(int(name)) >= MOST), None)
    if other is not None:
        raise GraphValidationError(
            f"node {other!r} of G has a name of type {type(other).__name__}, but {format} files hold names that are "
            "all text or all whole numbers below 2^63; rename the nodes, all to text for example"
        )
    unfit = next(filter(NO_XML.search, names), None) if format != "gml" else None
    if unfit is not None:
        raise GraphValidationError(f"node {unfit!r} of G has a name that {format} files cannot hold; rename it")
    return names


def write_network(file: IO[bytes] | gzip.GzipFile, network: networkx.Graph, format: str) -> None:
    """Write a graph of NetworkX's to an open file."""
    import networkx

    writers = {"graphml": networkx.write_graphml, "gml": networkx.write_gml, "gexf": networkx.write_gexf}
    writers[format](network, file)


class _Nowhere(io.BytesIO):
    """Counts what is written, and keeps nothing."""

    n_bytes = 0

    def write(self, data: Any) -> int:
        self.n_bytes += len(data)
        return len(data)


def network_bytes(network: networkx.Graph, format: str) -> int:
    """How long the file is, found by writing it to nowhere."""
    nowhere = _Nowhere()
    write_network(nowhere, network, format)
    return nowhere.n_bytes
