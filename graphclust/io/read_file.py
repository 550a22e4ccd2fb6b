"""Read one file of any known format: the graph, and what is to say of the file."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from graphclust.checks import as_choice, as_whole_number
from graphclust.errors import GraphFormatError, ParameterError, ResourceLimitError
from graphclust.graph.container import Graph
from graphclust.io.columns import Columns, as_columns
from graphclust.io.edges import DUPLICATES, EdgeCounts, Edges, graph_from_edges
from graphclust.io.formats.dimacs import read_dimacs
from graphclust.io.formats.matrix_market import read_matrix_market
from graphclust.io.formats.metis import read_metis
from graphclust.io.formats.network_files import LISTED_FORMATS, read_network_file
from graphclust.io.formats.suitesparse import read_suitesparse
from graphclust.io.formats.whole_files import WHOLE, whole_format
from graphclust.io.recognition import FORMATS, recognize
from graphclust.io.text.byte_source import Source, open_source
from graphclust.io.text.edge_lines import MayBeMetis, ReadAgain, Reading
from graphclust.io.text.edge_list import read_edge_list
from graphclust.progress import Progress

__all__ = ["LoadInfo"]

# What is read block by block: NAME(source, reading, progress) gives the edges.
READERS: dict[str, Callable[[Source, Reading, Progress], Edges]] = {
    "matrix_market": read_matrix_market, "suitesparse": read_suitesparse, "metis": read_metis, "dimacs": read_dimacs,
    "snap": read_edge_list, "csv": read_edge_list, **dict.fromkeys(LISTED_FORMATS, read_network_file),
}  # fmt: skip
WITHOUT_LINES = ("suitesparse", "graphml", "gexf", "gml", "node_link")  # to which a line end is a blank
MISSING = ("error", "drop", "keep")  # what becomes of rows without an id
TABLES = ("snap", "csv", "parquet")
BINARY = ("store", "a data set", "suitesparse", *WHOLE)
ID_TYPE = {"snap": False, "csv": True}  # whether ids are text; else the first edge decides


@dataclass(frozen=True)
class LoadInfo:
    """What a file was, and what was done with it.

    format : a format that `load_graph` reads, or "store".
    compression : "gzip", "bzip2" or None.  n_bytes : of text, decompressed.
    counts : entries in the file; duplicates; edges with one direction, with two, with two of unequal weight; zero
        weights; self-loops.
    remarks : what was assumed or repaired, one sentence each, as in `Graph.remarks`.
    details : of a SuiteSparse archive, where it has them: `node_names`, a list; `coordinates` (n_nodes, d); `node_ids`
        and `class_of_node`, whole numbers (n_nodes,); `communities_all` and `communities_top5000`, `Communities`.
    repairs : those of the remarks that `load_graph` warns of.
    """

    path: str
    format: str
    compression: str | None
    n_bytes: int
    counts: EdgeCounts
    remarks: tuple[str, ...]
    details: dict[str, Any] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()


def as_reading(
    *, symmetrize: str | None = "max", weights: str | None = None, format: str | None = None, source: Any = None,
    target: Any = None, weight: Any = None, header: Any = None, encoding: str | None = None, **others: Any,
) -> Reading:  # fmt: skip
    """The arguments of `load_graph`, checked; ParameterError or TypeError names the one that cannot be."""
    choices = {"format": FORMATS, "symmetrize": ("max", "sum"), "weights": ("file", "abs", "ignore")}
    choices |= {"missing": MISSING, "duplicates": DUPLICATES}
    given = {"format": format, "symmetrize": symmetrize, "weights": weights, **others}
    for name, allowed in choices.items():
        if name in given and (given[name] is not None or name in ("missing", "duplicates")):
            as_choice(given[name], name, allowed)
    for name, least in (("max_bytes", 1), ("memory_limit", 1), ("constraint", 0)):
        if given.get(name) is not None:
            as_whole_number(given[name], name, at_least=least)
    columns = as_columns(source, target, weight, header)
    return Reading(**given, columns=columns, encoding=_as_encoding(encoding), text_ids=ID_TYPE.get(format or ""))


def _as_encoding(encoding: str | None) -> str | None:
    """The name of an encoding of text that Python knows; None for UTF-8."""
    try:
        name = None if encoding is None else codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError):
        raise ParameterError(f"encoding={encoding!r}, expected the name of one, such as 'cp1252'") from None
    return None if name in ("utf-8", "utf-8-sig") else name


def refuse_columns_of(columns: Columns, format: str, path: str) -> None:
    """Refuse names of columns for a format that has none; its own weights are all there are."""
    if format in TABLES:
        return
    wrong = {name: value for name, value in columns._asdict().items() if value is not None}
    if format in LISTED_FORMATS and isinstance(columns.weight, str):
        del wrong["weight"]
    for name, value in wrong.items():
        found = f"{name}={value!r} names a column of an edge list, but {path} is {format}"
        raise ParameterError(f'{found}; leave it out (weights="ignore" counts every entry as 1)')


def refuse_other_arguments(reading: Reading, format: str, path: str) -> None:
    """Refuse what means nothing to a format."""
    refuse_columns_of(reading.columns, format, path)
    for name, default, suits, what in (
        ("missing", "error", format in TABLES, "rows of a table"),
        ("constraint", None, format == "metis", "a METIS file"),
        ("encoding", None, format not in BINARY, "a text file"),
        ("duplicates", "sum", format not in BINARY[:2], "files that list edges"),
    ):
        value = getattr(reading, name)
        if value != default and not suits:
            raise ParameterError(f"{name}={value!r} is for {what}, but {path} is {format}; leave it out")
    if reading.bipartite and format not in (*TABLES, "matrix_market", "suitesparse"):
        raise ParameterError(f"bipartite=True needs a matrix or an edge list, but {path} is {format}")


def read_file(path: str | os.PathLike[str], reading: Reading, progress: Progress) -> tuple[Any, LoadInfo]:
    """The graph of a file, or its edges where those are wanted, and what is to say of it."""
    name, format, compression = os.fsdecode(path), reading.format or whole_format(path), None
    try:
        with progress.stage("reading"):
            if format in WHOLE:
                refuse_other_arguments(reading, format, name)
                edges, n_bytes = WHOLE[format](name, reading)
            else:
                with open_source(path, reading.max_bytes, reading.encoding) as source:
                    format = format or recognize(source)
                    check_format(format, reading, source)
                    if not source.head():
                        raise GraphFormatError("is empty, expected a graph", name)
                    edges = READERS[format](source, replace(reading, format=format), progress)
                    compression, n_bytes = source.compression, source.n_read
        details = {key: value for key, value in edges.details.items() if key not in ("weighted", "is_table")}
        if format == "snap" and edges.details.get("is_table"):
            format = "csv"
        with progress.stage("building the graph"):
            graph: Any = edges
            counts: Any = None
            if not reading.as_edges:
                graph, counts = graph_from_edges(edges, reading.symmetrize, progress, reading.duplicates)
    except ReadAgain as again:
        return read_file(path, replace(again.reading, format=reading.format), progress)
    except MayBeMetis:
        try:
            return read_file(path, replace(reading, format="metis", columns=Columns()), progress)
        except GraphFormatError:
            return read_file(path, replace(reading, format="snap", text_ids=False), progress)
    repairs = tuple(edges.repairs)
    return graph, LoadInfo(name, format, compression, n_bytes, counts, graph.remarks, details, repairs)


def check_format(format: str, reading: Reading, source: Source) -> None:
    """Refuse arguments that mean nothing to a format, and lines that no reader of lines would part."""
    path, head = source.path, source.head()
    refuse_other_arguments(reading, format, path)
    if format not in WITHOUT_LINES and b"\r" in head.rstrip() and b"\n" not in head:
        found = "its lines end in carriage returns alone, as on old Macs, expected line feeds"
        raise GraphFormatError(f"{found}; save it with the line ends of Unix or Windows", path, 1)


@contextmanager
def name_failures_of_memory(path: str | os.PathLike[str]) -> Iterator[None]:
    """A ResourceLimitError that names the file where memory runs out."""
    try:
        yield
    except MemoryError as problem:
        if isinstance(problem, ResourceLimitError):
            raise
        raise ResourceLimitError(f"{os.fsdecode(path)}: memory ran out while loading; {problem}") from None


def load_file(path: str | os.PathLike[str], reading: Reading, progress: Progress) -> tuple[Graph, LoadInfo]:
    """What `load_graph` returns of a file."""
    with name_failures_of_memory(path):
        graph, info = read_file(path, reading, progress)
    return replace(graph, file=as_text(path)), info


def as_text(path: str | os.PathLike[str]) -> str:
    """A path as text that every file can hold."""
    return os.fsdecode(path).encode(errors="backslashreplace").decode()
