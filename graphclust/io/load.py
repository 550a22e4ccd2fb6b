"""Load a graph from a file of any known format, recognised by what it holds and not by what it is called."""

import os
import re
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal, overload

from graphclust.checks import as_choice, as_whole_number
from graphclust.errors import GraphFormatError, GraphWarning, ResourceLimitError
from graphclust.graph import Graph
from graphclust.io.edge_list import data_lines, line_of, read_edge_list
from graphclust.io.edges import EdgeCounts, Edges, graph_from_edges
from graphclust.io.lines import shown
from graphclust.io.matrix_market import BANNER, read_matrix_market
from graphclust.io.source import Source, open_source
from graphclust.progress import Progress, as_progress

__all__ = ["LoadInfo", "load_graph"]

FORMATS = ("matrix_market", "snap", "csv")


@dataclass(frozen=True)
class LoadInfo:
    """What a file was, and what was done with it.

    format : one of "matrix_market", "snap", "csv".
    compression : "gzip", "bzip2" or None.
    counts : entries in the file; duplicates; edges with one direction, with two, with two of unequal weight; zero
        weights; self-loops.
    remarks : what was assumed or repaired, one sentence each, as in `Graph.remarks`.
    """

    path: str
    format: str
    compression: str | None
    counts: EdgeCounts
    remarks: tuple[str, ...]
    details: dict[str, Any] = field(default_factory=dict)


@overload
def load_graph(path: str | os.PathLike, *, return_info: Literal[False] = False, **options: Any) -> Graph: ...
@overload
def load_graph(path: str | os.PathLike, *, return_info: Literal[True], **options: Any) -> tuple[Graph, LoadInfo]: ...
def load_graph(
    path: str | os.PathLike,
    *,
    format: str | None = None,
    symmetrize: str | None = "max",
    weights: str | None = None,
    return_info: bool = False,
    max_bytes: int | None = None,
    memory_limit: int | None = None,
    progress: Any = None,
) -> Graph | tuple[Graph, LoadInfo]:
    """Load an undirected graph from a file, plain or compressed by gzip or bzip2.

    format : None recognises the format by the content; or "matrix_market", "snap" (an edge list with whole-number
        ids), "csv" (an edge list with ids of any text).
    symmetrize : what becomes of an edge whose two directions differ: "max" keeps the larger weight, "sum" adds the
        two, None makes it an error.
    weights : "file" takes the weights of the file, "abs" their absolute values, "ignore" counts every entry as 1. None
        is "file", but says so where a third column without a name was taken for weights.
    return_info : return also a `LoadInfo`; its remarks then take the place of the warning.
    max_bytes : most bytes to decompress; None stops only what no text file could be.
    memory_limit : most bytes that the header of a file may ask for; None allows 200 for each byte of the file, at
        least 256 MiB and at most what the machine has.
    progress : a listener `(stage, done, total)` or a `Progress`.

    Returns a `Graph`; its `nodes` are the ids in the file unless those are 0..n-1 in order. Matrix Market nodes are
    numbered from 0. Repeated entries are added up, or counted once if there are no weights; self-loops stay; zero
    weights are no edges; what was joined or repaired is in `Graph.remarks` and in one `GraphWarning`.

    Raises OSError as `open` does; GraphFormatError with path and line for a file that is broken or of no known format;
    GraphValidationError for one that holds no graph: rectangular, negative, non-finite, without edges to read;
    ResourceLimitError, before the memory is taken, for one that would need more than the limits.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("# a triangle\\n10 20\\n20 30\\n30 10\\n")
    ...     file.flush()
    ...     graph = load_graph(file.name)
    >>> graph, graph.nodes.tolist()
    (Graph(3 nodes, 3 edges, unweighted), [10, 20, 30])
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path={path!r} is a {type(path).__name__}, expected the path of a file")
    if format is not None:
        as_choice(format, "format", FORMATS)
    if symmetrize is not None:
        as_choice(symmetrize, "symmetrize", ("max", "sum"))
    if weights is not None:
        as_choice(weights, "weights", ("file", "abs", "ignore"))
    for name, limit in (("max_bytes", max_bytes), ("memory_limit", memory_limit)):
        if limit is not None:
            as_whole_number(limit, name, at_least=1)
    progress = as_progress(progress)
    try:
        with progress.stage("reading"), open_source(path, max_bytes) as source:
            format = format or recognize(source)
            edges = _read(source, format, weights, memory_limit, progress)
        with progress.stage("building the graph"):
            graph, counts = graph_from_edges(edges, symmetrize, progress)
    except MemoryError as problem:
        if isinstance(problem, ResourceLimitError):
            raise
        raise ResourceLimitError(f"{os.fsdecode(path)}: memory ran out while loading; {problem}") from None
    details = {key: value for key, value in edges.details.items() if key != "weighted"}
    info = LoadInfo(source.path, format, source.compression, counts, graph.remarks, details)
    if return_info:
        return graph, info
    if edges.repairs:
        warnings.warn(f"{source.path}: {'; '.join(edges.repairs)}", GraphWarning, stacklevel=2)
    return graph


def recognize(source: Source) -> str:
    """The format of a file by its first bytes; where they allow several, the later reader decides line by line."""
    head = source.head()
    if not head:
        raise GraphFormatError("is empty, expected a graph", source.path)
    for mark, name in ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"), (b"\x00\x00\xfe\xff", "UTF-32")):
        if head.startswith(mark):
            raise GraphFormatError(f"is {name} text (by its BOM), expected UTF-8; save it as UTF-8", source.path)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if b"\0" in head:
        raise GraphFormatError(f"is binary (it starts with {shown(head, 20)!r}), expected a text file", source.path)
    if not text:
        raise GraphFormatError("is empty but for white space, expected a graph", source.path)
    if BANNER.match(text):
        return "matrix_market"
    start = text[:200].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise GraphFormatError("is an HTML page, not a graph; was the download refused?", source.path)
    if start.startswith((b"<", b"{", b"[", b"*")):
        raise GraphFormatError(
            f"starts with {shown(text, 40)!r}, which is no known format; expected Matrix Market or an edge list",
            source.path,
        )
    lines = data_lines(head, 1)
    if re.search(r"\.mtx(\.gz|\.bz2)?$", source.path, re.IGNORECASE):
        first = lines[0] if lines else text.split(b"\n")[0]
        raise GraphFormatError(
            f"Not a Matrix Market file: {shown(first)!r} comes before any %%MatrixMarket banner; if it is an edge list "
            "use format='snap' (whole-number ids) or format='csv' (any ids)",
            source.path,
            line_of(head, first),
        )
    return "snap"


def _read(source: Source, format: str, weights: str | None, memory_limit: int | None, progress: Progress) -> Edges:
    if format == "matrix_market":
        return read_matrix_market(source, weights or "file", memory_limit, progress)
    return read_edge_list(source, weights, progress, text_ids=True if format == "csv" else None)
