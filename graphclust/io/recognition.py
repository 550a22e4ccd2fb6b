"""The format of a graph file, by what it holds and not by what it is called."""

import os
import re
from contextlib import suppress

from graphclust.errors import GraphFormatError
from graphclust.io.formats.dimacs import START as dimacs_start
from graphclust.io.formats.matrix_market import BANNER
from graphclust.io.formats.network_files import LISTED_FORMATS, network_format
from graphclust.io.formats.other_formats import refuse_other_formats
from graphclust.io.formats.suitesparse import TAR, TAR_AT
from graphclust.io.formats.whole_files import WHOLE, whole_format
from graphclust.io.text.byte_source import Source, open_source
from graphclust.io.text.edge_lines import counts_edges
from graphclust.io.text.layout import data_lines, line_of
from graphclust.io.text.lines import quote

FORMATS = ("matrix_market", "suitesparse", "snap", "csv", "metis", "dimacs", *LISTED_FORMATS, *WHOLE)


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
