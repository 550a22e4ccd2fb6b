"""Read one file of any known format: the graph, and what is to say of the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from graphclust.errors import GraphFormatError, ParameterError, ResourceLimitError
from graphclust.graph.container import Graph
from graphclust.io.columns import Columns
from graphclust.io.edges import EdgeCounts, Edges, graph_from_edges
from graphclust.io.formats.dimacs import read_dimacs
from graphclust.io.formats.matrix_archive import is_matrix_archive, read_matrix_archive
from graphclust.io.formats.matrix_market import read_matrix_market
from graphclust.io.formats.metis import read_metis
from graphclust.io.formats.network_files import LISTED_FORMATS, read_network_file
from graphclust.io.formats.suitesparse import read_suitesparse
from graphclust.io.formats.whole_files import WHOLE_FORMATS, read_whole_file, whole_format
from graphclust.io.recognition import recognize
from graphclust.io.text.byte_source import Source, open_source
from graphclust.io.text.edge_lines import MayBeMetis, ReadAgain, Reading
from graphclust.io.text.edge_list import read_edge_list
from graphclust.progress import Progress

__all__ = ["LoadInfo"]

WITHOUT_LINES = ("suitesparse", "graphml", "gexf", "gml", "node_link")  # to which a line end is a blank
MISSING = ("error", "drop", "keep")  # what becomes of rows without an id
TABLES = ("snap", "csv", "parquet")
BINARY = ("store", "a data set", "suitesparse", *WHOLE_FORMATS)
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


def refuse_columns_of(columns: Columns, format: str, path: str) -> None:
    """Refuse names of columns for a format that has none; its own weights are all there are."""
    if format in TABLES:
        return
    wrong = {name: value for name, value in columns._asdict().items() if value is not None}
    if format in LISTED_FORMATS and isinstance(columns.weight, str):
        del wrong["weight"]
    for name, value in wrong.items():
        raise ParameterError(
            f"{name}={value!r} names a column of an edge list, but {path} is {format}; leave it out "
            '(weights="ignore" counts every entry as 1)'
        )


def refuse_other_arguments(reading: Reading, format: str, path: str) -> None:
    """Refuse what means nothing to a format."""
    refuse_columns_of(reading.columns, format, path)
    for name, value, suits, what in (
        ("missing", reading.missing, format in TABLES or reading.missing == "error", "rows of a table"),
        ("constraint", reading.constraint, format == "metis" or reading.constraint is None, "a METIS file"),
        ("encoding", reading.encoding, format not in BINARY or reading.encoding is None, "a text file"),
        (
            "duplicates",
            reading.duplicates,
            format not in BINARY[:2] or reading.duplicates == "sum",
            "files that list edges",
        ),
    ):
        if not suits:
            raise ParameterError(f"{name}={value!r} is for {what}, but {path} is {format}; leave it out")
    if reading.bipartite and format not in (*TABLES, "matrix_market", "suitesparse"):
        raise ParameterError(f"bipartite=True needs a matrix or an edge list, but {path} is {format}")


def read_file(path, format, symmetrize, weights, max_bytes, memory_limit, reading, progress, return_info):
    """The graph, and what is to say of its file."""
    if format in (None, "npz") and is_matrix_archive(path):
        return _load_archive(path, "npz", symmetrize, weights, memory_limit, reading, progress)
    whole = format if format in WHOLE_FORMATS[1:] else whole_format(path) if format is None else None
    if whole is not None:
        return _load_archive(path, whole, symmetrize, weights, memory_limit, reading, progress)
    try:
        with progress.stage("reading"), open_source(path, max_bytes, reading.encoding) as source:
            if format == "npz":
                raise GraphFormatError("is not an archive of scipy.sparse.save_npz", source.path)
            recognized = format or recognize(source)
            check_format(recognized, reading, source)
            if not source.head():
                raise GraphFormatError("is empty, expected a graph", source.path)
            limits = (memory_limit, reading, progress, return_info)
            edges = _read(source, recognized, symmetrize, weights, *limits)
        if recognized == "snap" and edges.details.pop("is_table", False):
            recognized = "csv"
        with progress.stage("building the graph"):
            graph, counts = _build(edges, symmetrize, progress, reading)
    except ReadAgain as again:
        return read_file(
            path, format, symmetrize, weights, max_bytes, memory_limit, again.reading, progress, return_info
        )
    except MayBeMetis:
        others = (symmetrize, weights, max_bytes, memory_limit)
        try:
            return read_file(path, "metis", *others, replace(reading, columns=Columns()), progress, return_info)
        except GraphFormatError:
            return read_file(path, "snap", *others, replace(reading, text_ids=False), progress, return_info)
    known = {key: value for key, value in edges.details.items() if key not in ("weighted", "is_table")}
    n_bytes, repairs = source.n_read, tuple(edges.repairs)
    return graph, LoadInfo(
        source.path, recognized, source.compression, n_bytes, counts, graph.remarks, known, repairs
    )  # fmt: skip


def _build(edges, symmetrize, progress, reading):
    """The graph of the edges, and what was found among them; or the edges as they are, where those are wanted."""
    return (edges, None) if reading.as_edges else graph_from_edges(edges, symmetrize, progress, reading.duplicates)


def _load_archive(path, format, symmetrize, weights, memory_limit, reading, progress):
    """The same for a matrix of SciPy's or MATLAB's, or a table in Parquet."""
    name = os.fsdecode(path)
    refuse_other_arguments(reading, format, name)
    with progress.stage("reading"):
        if format == "npz":
            edges, n_bytes = read_matrix_archive(path, weights, memory_limit, progress)
        else:
            edges, n_bytes = read_whole_file(path, format, weights, reading, memory_limit)
    with progress.stage("building the graph"):
        graph, counts = _build(edges, symmetrize, progress, reading)
    return graph, LoadInfo(name, format, None, n_bytes, counts, graph.remarks, {}, tuple(edges.repairs))


def check_format(format: str, reading: Reading, source: Source) -> None:
    """Refuse arguments that mean nothing to a format, and lines that no reader of lines would part."""
    path, head = source.path, source.head()
    refuse_other_arguments(reading, format, path)
    if format not in WITHOUT_LINES and b"\r" in head.rstrip() and b"\n" not in head:
        raise GraphFormatError(
            "its lines end in carriage returns alone, as on old Macs, expected line feeds; save it with the line ends "
            "of Unix or Windows",
            path,
            1,
        )


def _read(
    source: Source,
    format: str,
    symmetrize: str | None,
    weights: str | None,
    memory_limit: int | None,
    reading: Reading,
    progress: Progress,
    with_details: bool,
) -> Edges:
    """The edges of a source of known format."""
    if format == "matrix_market":
        return read_matrix_market(source, weights or "file", memory_limit, progress, bool(reading.bipartite))
    if format == "suitesparse":
        return read_suitesparse(
            source, weights or "file", memory_limit, progress, bool(reading.bipartite), with_details
        )
    if format == "metis":
        return read_metis(source, weights or "file", memory_limit, progress, reading.constraint)
    if format == "dimacs":
        return read_dimacs(source, weights, memory_limit, progress)
    if format in LISTED_FORMATS:
        weight = reading.columns.weight
        attribute = None if weight is None else str(weight)
        return read_network_file(source, format, weights, attribute, symmetrize, memory_limit, progress)
    return read_edge_list(source, weights, progress, reading)


@contextmanager
def name_failures_of_memory(path: str | os.PathLike[str]) -> Iterator[None]:
    """A ResourceLimitError that names the file where memory runs out."""
    try:
        yield
    except MemoryError as problem:
        if isinstance(problem, ResourceLimitError):
            raise
        raise ResourceLimitError(f"{os.fsdecode(path)}: memory ran out while loading; {problem}") from None


def load_file(
    path: str | os.PathLike[str],
    format: str | None,
    symmetrize: str | None,
    weights: str | None,
    bipartite: bool | None,
    memory_limit: int | None,
    progress: Progress,
) -> tuple[Graph, LoadInfo]:
    """What `load_graph` returns of a file, with all details."""
    reading = Reading(ID_TYPE.get(format or ""), bipartite=bipartite)
    with name_failures_of_memory(path):
        graph, info = read_file(path, format, symmetrize, weights, None, memory_limit, reading, progress, True)
    return replace(graph, file=as_text(path)), info


def as_text(path: str | os.PathLike[str]) -> str:
    """A path as text that every file can hold."""
    return os.fsdecode(path).encode(errors="backslashreplace").decode()
