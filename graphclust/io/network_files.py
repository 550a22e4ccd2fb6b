"""GraphML, GML and GEXF files, read by NetworkX. They are verbose, and hold small graphs with attributes."""

import io
import re

import numpy as np

from graphclust.errors import GraphFormatError, GraphValidationError, ResourceLimitError, in_mebibytes
from graphclust.io.edges import Edges
from graphclust.io.lines import NegativeOrInfinite
from graphclust.io.node_names import as_numbers
from graphclust.io.source import Source
from graphclust.progress import Progress

GML_START = re.compile(
    rb"(?:\s*(?:#[^\n]*|(?:Creator|Version|comment|directed)\b[^\n]*)\n)*\s*graph\s*\[", re.IGNORECASE
)
_ASIDES = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)
MOST_BYTES = 1 << 30
_BYTES_AS_OBJECTS = 30  # NetworkX holds a graph in about so many bytes for each of its file


def read_network_file(source: Source, format: str, weights: str, memory_limit: int | None, progress: Progress) -> Edges:
    """The edges of a GraphML, GML or GEXF file; the edge attribute "weight" holds the weight, where there is any.

    Nodes have their ids as names, in GML their labels; names that are all whole numbers become numbers. Parallel edges
    are repeated entries. Raises GraphFormatError for what NetworkX cannot read, and for XML that defines entities,
    ResourceLimitError for more than a gigabyte.
    """
    import networkx

    content = _content(source, memory_limit, progress)
    if format != "gml" and b"<!" in _ASIDES.sub(b"", content):
        raise GraphFormatError("defines a document type or entities, which no graph needs; remove them", source.path)
    read = {"graphml": networkx.read_graphml, "gml": networkx.read_gml, "gexf": networkx.read_gexf}[format]
    options = {"label": _gml_label(content)} if format == "gml" else {}
    try:
        network = read(io.BytesIO(content), **options)
    except RecursionError:
        raise GraphFormatError(f"is nested too deeply for {format}", source.path) from None
    except Exception as problem:  # whatever its parsers raise; the file is at fault
        line = re.search(r"line (\d+)", str(problem))
        raise GraphFormatError(
            f"cannot be read as {format}: {type(problem).__name__}: {' '.join(str(problem).split())[:200]}",
            source.path,
            int(line[1]) if line else None,
        ) from None
    return _edges_of(network, source.path, weights)


def _content(source: Source, memory_limit: int | None, progress: Progress) -> bytes:
    most = MOST_BYTES if memory_limit is None else memory_limit // _BYTES_AS_OBJECTS
    parts, size = [], 0
    for block in source.line_blocks(progress):
        parts.append(bytes(block))
        size += len(block)
        if size > most:
            raise ResourceLimitError(
                f"{source.path}: more than {most} bytes would need {in_mebibytes(_BYTES_AS_OBJECTS * most)} as objects"
                "; convert the file to an edge list, or pass a larger memory_limit"
            )
    return b"".join(parts).removeprefix(b"\xef\xbb\xbf")


def _gml_label(content: bytes) -> str:
    """Nodes are called by their labels where there are any, else by their ids."""
    return "label" if re.search(rb"\blabel\b", content) else "id"


def _edges_of(network, path: str, weights: str) -> Edges:
    nodes = list(network)
    if not nodes:
        raise GraphValidationError(f"{path}: the graph has 0 nodes, expected at least 1 node")
    number_of = {node: i for i, node in enumerate(nodes)}
    ends = np.array([(number_of[u], number_of[v]) for u, v in network.edges()], np.int32).reshape(-1, 2)
    written = [weight for _, _, weight in network.edges(data="weight")]
    weighted = weights != "ignore" and any(weight is not None for weight in written)
    values = None
    if weighted:
        try:
            values = np.array([1.0 if weight is None else float(weight) for weight in written])
        except (TypeError, ValueError, OverflowError) as problem:
            raise GraphFormatError(f"the edge attribute weight is not always a number: {problem}", path) from None
        unfit = NegativeOrInfinite(path, weights)
        values = unfit.look_at(values, lambda i: f"edge ({nodes[ends[i, 0]]}, {nodes[ends[i, 1]]})")
        unfit.complain()
    chunks = [(np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]), values)] if len(ends) else []
    nodes = as_numbers(nodes)
    in_order = nodes == list(range(len(nodes)))
    return Edges(
        path, len(nodes), chunks, nodes=None if in_order else nodes,
        symmetric="full" if network.is_directed() else "list", details={"weighted": weighted},
    )  # fmt: skip
