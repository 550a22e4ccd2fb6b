"""Read one file of any known format, by what it holds and not by what it is called: the graph, and what to say of it.

Text files of formats that are not read here are named, and never taken for an edge list.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from graphclust.checks import as_choice, as_whole_number
from graphclust.errors import GraphFormatError, ParameterError, quote
from graphclust.graph.container import Graph
from graphclust.io.columns import Columns, as_columns
from graphclust.io.edges import DUPLICATES, EdgeCounts, Edges, graph_from_edges
from graphclust.io.formats.array_files import name_failures_of_memory
from graphclust.io.formats.dimacs import START as dimacs_start
from graphclust.io.formats.dimacs import read_dimacs
from graphclust.io.formats.matrix_market import BANNER, read_matrix_market
from graphclust.io.formats.metis import read_metis
from graphclust.io.formats.network_files import LISTED_FORMATS, network_format, read_network_file
from graphclust.io.formats.suitesparse import TAR, TAR_AT, read_suitesparse
from graphclust.io.formats.whole_files import WHOLE, whole_format
from graphclust.io.text.byte_source import Source, open_source
from graphclust.io.text.edge_lines import MayBeMetis, ReadAgain, Reading, counts_edges
from graphclust.io.text.edge_list import read_edge_list
from graphclust.io.text.layout import data_lines, line_of
from graphclust.progress import Progress

__all__ = ["LoadInfo"]

# What is read block by block: NAME(source, reading, progress) gives the edges.
READERS: dict[str, Callable[[Source, Reading, Progress], Edges]] = {
    "matrix_market": read_matrix_market, "suitesparse": read_suitesparse, "metis": read_metis, "dimacs": read_dimacs,
    "snap": read_edge_list, "csv": read_edge_list, **dict.fromkeys(LISTED_FORMATS, read_network_file),
}  # fmt: skip
FORMATS = ("matrix_market", "suitesparse", "snap", "csv", "metis", "dimacs", *LISTED_FORMATS, *WHOLE)

_DOT = re.compile(
    rb"(?:\s|//[^\n]*\n|/\*.*?\*/|#[^\n]*\n)*(?:strict\s+)?(?:di)?graph\b[^{}\n\[]*\{", re.IGNORECASE | re.DOTALL
)
_STARTS = {
    "a DOT file of Graphviz": _DOT,
    "a UCINET DL file": re.compile(rb"\s*dl\s+n\s*=?\s*\d+|\s*dl\s+(?:nr|nc|format|labels|data)\b", re.IGNORECASE),
    "a DIMACS graph": re.compile(rb"(?:c\b[^\n]*\n)*p\s+(?:max|min|asn|cut|tw|ds)\s+\d+\s+\d+"),
    "a GDF file of GUESS": re.compile(rb"\s*nodedef\s*>", re.IGNORECASE),
    "a LEDA graph": re.compile(rb"\s*(?:#[^\n]*\n\s*)*LEDA\.GRAPH"),
    "a Tulip file": re.compile(rb"\s*\(tlp\s"),
    "a graph6 file": re.compile(rb">>graph6<<"),
    "a sparse6 file": re.compile(rb">>sparse6<<|:[?-~]+\s*$"),
    "RDF in Turtle": re.compile(rb"\s*@(?:prefix|base)\b"),
    "a YAML file": re.compile(rb"---\s*\n"),
    "a pointer of Git LFS to a file that was not fetched": re.compile(rb"version https://git-lfs"),
}
_MARK = re.compile(rb"#\s+\S+")  # of LGL: a node, above its neighbors
_ARROWS = {b"->", b"-->", b"<-", b"<->", b"--", b"---", b"=>"}
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
    try:
        codec = None if encoding is None else codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError):
        raise ParameterError(f"encoding={encoding!r}, expected the name of one, such as 'cp1252'") from None
    codec = None if codec in ("utf-8", "utf-8-sig") else codec
    columns = as_columns(source, target, weight, header)
    return Reading(**given, columns=columns, encoding=codec, text_ids=ID_TYPE.get(format or ""))


def refuse_columns_of(columns: Columns, format: str, path: str) -> None:
    """Refuse names of columns for a format that has none; its own weights are all there are."""
    if format in TABLES:
        return
    wrong = {name: value for name, value in columns._asdict().items() if value is not None}
    if format in LISTED_FORMATS and isinstance(columns.weight, str):
        del wrong["weight"]
    for name, value in wrong.items():
        problem = f"{name}={value!r} names a column of an edge list, but {path} is {format}"
        raise ParameterError(f'{problem}; leave it out (weights="ignore" counts every entry as 1)')


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
        if format == "snap" and edges.is_table:
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
    return graph, LoadInfo(name, format, compression, n_bytes, counts, graph.remarks, edges.details, repairs)


def check_format(format: str, reading: Reading, source: Source) -> None:
    """Refuse arguments that mean nothing to a format, and lines that no reader of lines would part."""
    path, head = source.path, source.head()
    refuse_other_arguments(reading, format, path)
    if format not in WITHOUT_LINES and b"\r" in head.rstrip() and b"\n" not in head:
        problem = "its lines end in carriage returns alone, as on old Macs, expected line feeds"
        raise GraphFormatError(f"{problem}; save it with the line ends of Unix or Windows", path, 1)


def load_file(path: str | os.PathLike[str], reading: Reading, progress: Progress) -> tuple[Graph, LoadInfo]:
    """What `load_graph` returns of a file."""
    with name_failures_of_memory(path):
        graph, info = read_file(path, reading, progress)
    return replace(graph, file=as_text(path)), info


def as_text(path: str | os.PathLike[str]) -> str:
    """A path as text that every file can hold."""
    return os.fsdecode(path).encode(errors="backslashreplace").decode()


def holds_values_of_matrix(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a matrix with values, which may be no weights of a graph."""
    if not os.path.isfile(path):
        return False
    if whole_format(path) in ("npz", "mat"):
        return True
    with suppress(GraphFormatError), open_source(path) as source:
        format = recognize(source)
        return format == "suitesparse" or (format == "matrix_market" and b"pattern" not in source.head()[:200].lower())
    return False


def recognize(source: Source) -> str:
    """The format of a file by its first bytes; where they allow several, the later reader decides line by line."""
    head = source.head()
    if not head:
        raise GraphFormatError("is empty, expected a graph", source.path)
    if head.startswith(TAR, TAR_AT):
        return "suitesparse"
    if network := network_format(head, source.path):
        return network
    for mark, name in ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"), (b"\x00\x00\xfe\xff", "UTF-32")):
        if head.startswith(mark):
            expected = "expected UTF-8; save it as UTF-8, or name its encoding"
            raise GraphFormatError(f"is {name} text (by its BOM), {expected}", source.path)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if dimacs_start.match(text):
        return "dimacs"
    if head.startswith(b"\x89HDF"):
        remedy = "of an .h5ad file pass anndata.read_h5ad(path) to cluster_anndata"
        raise GraphFormatError(f"is an HDF5 file, expected a graph; {remedy}", source.path)
    if b"\0" in head:
        raise GraphFormatError(f"is binary (it starts with {quote(head, 20)!r}), expected a text file", source.path)
    if not text:
        raise GraphFormatError("is empty but for white space, expected a graph", source.path)
    if BANNER.match(text):
        return "matrix_market"
    start = text[:200].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise GraphFormatError("is an HTML page, not a graph; was the download refused?", source.path)
    if start.startswith((b"<", b"{", b"[", b"*")):
        expected = f"expected one of {', '.join(FORMATS)}"
        raise GraphFormatError(f"starts with {quote(text, 40)!r}, which is not a known format; {expected}", source.path)
    if what := _other_format(head.removeprefix(b"\xef\xbb\xbf"), source.path):
        first = quote(text.strip().split(b"\n")[0], 40)
        problem = f"looks like {what} (it starts with {first!r}), which is not read here; write its edges as a table"
        raise GraphFormatError(f"{problem} `source,target,weight`, or as GraphML", source.path)
    lines = data_lines(head, 1)
    if re.search(r"\.mtx(\.gz|\.bz2)?$", source.path, re.IGNORECASE):
        above = lines[0] if lines else text.split(b"\n")[0]
        problem = f"Not a Matrix Market file: {quote(above)!r} comes before any %%MatrixMarket banner"
        remedy = "if it is an edge list use format='snap' (whole-number ids) or format='csv' (any ids)"
        raise GraphFormatError(f"{problem}; {remedy}", source.path, line_of(head, above))
    return "metis" if _looks_like_metis(head, source.path) else "snap"


def _is_count(word: bytes) -> bool:
    """Whether a word is a whole number that can count anything in a file."""
    return word.isdigit() and len(word) < 19


def _looks_like_metis(head: bytes, path: str) -> bool:
    """A header of whole numbers, and then lines of different lengths that name no node above the first number.

    An edge list has lines of one length. Where both are possible, the name of the file may say .graph or .metis.
    """
    lines = [line.split() for line in data_lines(head, 1000)]
    if not lines or not 2 <= len(lines[0]) <= 4 or not all(map(_is_count, lines[0])):
        return False
    if re.search(r"\.(graph|metis)(\.gz|\.bz2)?$", path, re.IGNORECASE):
        return True
    if all(len(line) == len(lines[0]) for line in lines) or not all(_is_count(word) for line in lines for word in line):
        return False
    n_nodes, n_edges = int(lines[0][0]), int(lines[0][1])
    if counts_edges(head) and n_nodes != n_edges:
        return False
    fmt = lines[0][2].zfill(3) if len(lines[0]) > 2 else b"000"
    if len(lines) - 1 > n_nodes or fmt.strip(b"01"):  # a list of edges below a line of counts
        return False
    n_leading = fmt.startswith(b"1") + (fmt[1:2] == b"1") * int(lines[0][3] if len(lines[0]) > 3 else 1)
    step = 2 if fmt.endswith(b"1") else 1
    neighbors = [int(word) for line in lines[1:] for word in line[n_leading::step]]
    return max(neighbors, default=0) <= n_nodes and 2 * n_edges <= n_nodes * (n_nodes - 1)


def _other_format(text: bytes, path: str) -> str:
    """What a file of another format looks like by its first bytes; empty for any other."""
    if re.search(r"\.hgr(\.gz|\.bz2)?$", path, re.IGNORECASE):
        return "a hypergraph of hMETIS"
    for what, start in _STARTS.items():
        if start.match(text):
            return what
    lines = _lines(text, 20)
    if [line.startswith(b"#") for line in lines[:2]] == [True, False] and _is_lgl(_lines(text, 1000)):
        return "an LGL file, with the neighbors of each node below a line `# node`"
    if len(lines) > 1 and all(len(words) > 2 and words[1] in _ARROWS for words in map(bytes.split, lines[:10])):
        return "a list of edges drawn as arrows"
    if b"\n#\n" in text and _is_trivial_graph(_lines(text, 1000)):
        return "a trivial graph format (TGF) file, whose nodes and edges are parted by a line `#`"
    return "an adjacency matrix with the names of its rows and columns" if _is_named_matrix(lines) else ""


def _lines(text: bytes, most: int) -> list[bytes]:
    """The first lines that are not blank."""
    lines = [line.strip() for line in text.split(b"\n", most)[:most]]
    return [line for line in lines if line] or [b""]


def _is_lgl(lines: list[bytes]) -> bool:
    """Whether `# node` stands above one or two words, several times, and no other comment anywhere."""
    marks = [line for line in lines if line.startswith(b"#")]
    if len(marks) < 2 or not lines[0].startswith(b"#") or lines[1].startswith(b"#"):
        return False
    return all(map(_MARK.fullmatch, marks)) and all(len(line.split()) <= 2 for line in lines)


def _is_trivial_graph(lines: list[bytes]) -> bool:
    """Whether a line `#` alone parts nodes, each with a label at most, from edges between them."""
    if b"#" not in lines[1:-1]:
        return False
    at = lines.index(b"#")
    nodes = {line.split()[0] for line in lines[:at]}
    edges = [line.split() for line in lines[at + 1 :]]
    return len(nodes) == at and all(len(edge) >= 2 and {edge[0], edge[1]} <= nodes for edge in edges)


def _is_named_matrix(lines: list[bytes]) -> bool:
    """Whether the first word of each line is the name of its column in the first line."""
    rows = [[field.strip(b' "') for field in re.split(rb"[,;\t]", line)] for line in lines]
    names = rows[0][1:] if rows else []
    if len(names) < 2 or len(rows) < 3 or len(set(names)) < len(names) or {*map(len, rows)} != {len(rows[0])}:
        return False
    return [row[0] for row in rows[1:]] == names[: len(rows) - 1]
