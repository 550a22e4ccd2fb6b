"""The format of a graph file, by what it holds and not by what it is called.

Text files of formats that are not read here are named, and never taken for an edge list.
"""

import os
import re
from contextlib import suppress

from graphclust.errors import GraphFormatError, quote
from graphclust.io.formats.dimacs import START as dimacs_start
from graphclust.io.formats.matrix_market import BANNER
from graphclust.io.formats.network_files import LISTED_FORMATS, network_format
from graphclust.io.formats.suitesparse import TAR, TAR_AT
from graphclust.io.formats.whole_files import WHOLE, whole_format
from graphclust.io.text.byte_source import Source, open_source
from graphclust.io.text.edge_lines import counts_edges
from graphclust.io.text.layout import data_lines, line_of

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
    network = network_format(head, source.path)
    if network is not None:
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
    refuse_other_formats(head, source.path)
    lines = data_lines(head, 1)
    if re.search(r"\.mtx(\.gz|\.bz2)?$", source.path, re.IGNORECASE):
        first = lines[0] if lines else text.split(b"\n")[0]
        found = f"Not a Matrix Market file: {quote(first)!r} comes before any %%MatrixMarket banner"
        remedy = "if it is an edge list use format='snap' (whole-number ids) or format='csv' (any ids)"
        raise GraphFormatError(f"{found}; {remedy}", source.path, line_of(head, first))
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


def refuse_other_formats(head: bytes, path: str) -> None:
    """Raise GraphFormatError for a file that looks like one of them by its first bytes."""
    text = head.removeprefix(b"\xef\xbb\xbf")
    if re.search(r"\.hgr(\.gz|\.bz2)?$", path, re.IGNORECASE):
        _refuse("a hypergraph of hMETIS", text, path)
    for what, start in _STARTS.items():
        if start.match(text):
            _refuse(what, text, path)
    lines = _lines(text, 20)
    if [line.startswith(b"#") for line in lines[:2]] == [True, False] and _is_lgl(_lines(text, 1000)):
        _refuse("an LGL file, with the neighbors of each node below a line `# node`", text, path)
    if len(lines) > 1 and all(len(words) > 2 and words[1] in _ARROWS for words in map(bytes.split, lines[:10])):
        _refuse("a list of edges drawn as arrows", text, path)
    if b"\n#\n" in text and _is_trivial_graph(_lines(text, 1000)):
        _refuse("a trivial graph format (TGF) file, whose nodes and edges are parted by a line `#`", text, path)
    if _is_named_matrix(lines):
        _refuse("an adjacency matrix with the names of its rows and columns", text, path)


def _lines(text: bytes, most: int) -> list[bytes]:
    """The first lines that are not blank."""
    lines = [line.strip() for line in text.split(b"\n", most)[:most]]
    return [line for line in lines if line] or [b""]


def _refuse(what: str, text: bytes, path: str) -> None:
    start = quote(text.strip().split(b"\n")[0], 40)
    found = f"looks like {what} (it starts with {start!r}), which is not read here"
    raise GraphFormatError(f"{found}; write its edges as a table `source,target,weight`, or as GraphML", path)


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
