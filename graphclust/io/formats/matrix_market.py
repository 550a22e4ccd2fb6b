"""Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html), coordinate format.

`scipy.io.mmread` reads the same numbers, but believes the header, ignores the rest of a line that it cannot read, and
mirrors a symmetric file that already holds both triangles. To check each line takes as long as to read it, so here
one loop does both.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import numpy as np

from graphclust.compiled.text import number_lines
from graphclust.errors import GraphFormatError, GraphValidationError, quote
from graphclust.io.edges import Edges, NegativeOrInfinite, check_memory
from graphclust.io.text.byte_source import Source, in_pieces
from graphclust.io.text.edge_lines import Reading
from graphclust.progress import Progress

_WORD = re.compile(rb"\S*")
BANNER = re.compile(rb"%%MatrixMarket\b", re.IGNORECASE)
_FIELDS = {"pattern": "pattern", "integer": "integer", "unsigned-integer": "unsigned-integer", "real": "real"}
_FIELDS |= {"double": "real", "complex": "complex"}
_COMPLEX = re.compile(rb"^([ \t]*\d+[ \t]+\d+)[ \t]+(\S+)[ \t]+(\S+)[ \t\r]*$", re.MULTILINE)  # an entry


@dataclass(frozen=True)
class Header:
    """What banner and sizes say. Columns become the nodes from `offset` on: 0, or of a bipartite graph n_rows."""

    field: str
    symmetric: bool
    n_rows: int
    n_columns: int
    n_entries: int
    offset: int = 0

    @property
    def has_value(self) -> bool:
        """Does each entry have a value beside row and column?"""
        return self.field != "pattern"


def read_matrix_market(source: Source, reading: Reading, progress: Progress) -> Edges:
    """The edges of a coordinate matrix; an entry of a symmetric one may be in either triangle, but not in both."""
    header, line = read_header(source, reading)
    unfit = NegativeOrInfinite(source.path, reading.policy)
    chunks: list = []
    for parts, _, _ in stream_entries(source, header, unfit, progress, line):
        chunks += parts
    unfit.complain()
    return edges_of(source.path, header, chunks)


def edges_of(path: str, header: Header, chunks: list) -> Edges:
    """What a file says of itself, with its entries."""
    bipartite = header.offset > 0
    n = header.offset + header.n_columns
    remark = f"bipartite: rows are the nodes 0 to {header.n_rows - 1}, columns those from {header.n_rows} to {n - 1}"
    edges = Edges(path, n, chunks, symmetric="stored once" if header.symmetric or bipartite else "full")
    if bipartite:
        edges.remarks, edges.n_sources = [remark], header.n_rows
    return edges


def stream_entries(
    source: Source, header: Header, unfit: NegativeOrInfinite, progress: Progress, line: int, n_read: int = 0
) -> Iterator[tuple[list, int, int]]:
    """Of each block its entries in pieces, (rows, columns, values) from 0, and how many lines and entries came so far.

    Raises GraphFormatError when the blocks end before the last entry.
    """
    for block in source.line_blocks(progress):
        if header.field == "complex":
            block = _with_sizes(block)
        parts, n_lines = _read_entries(block, header, header.n_entries - n_read, unfit, source.path, line)
        n_read += sum(len(part[0]) for part in parts)
        line += n_lines
        yield parts, line, n_read
    if n_read < header.n_entries:
        problem = f"Truncated: the header declares {header.n_entries} entries, found {n_read}"
        raise GraphFormatError(f"{problem}; get the file again", source.path, line)


def read_header(source: Source, reading: Reading) -> tuple[Header, int]:
    """Banner, comments and the line of sizes, and the number of lines up to it."""
    first = source.line()
    if not first:
        raise GraphFormatError("is empty, expected a %%MatrixMarket banner", source.path)
    banner = _read_banner(first.strip().removeprefix(b"\xef\xbb\xbf"), source.path, reading.policy)
    text, n_lines = source.data_line()
    if not text:
        wrong = 'Premature end of file: expected "rows columns entries" after the banner'
        raise GraphFormatError(wrong, source.path, n_lines + 2)
    return _read_sizes(text, banner, source, n_lines + 1, reading), n_lines + 1


def _with_sizes(block: memoryview) -> memoryview:
    """The lines of complex entries with the size of each in the place of its two parts; others stay, to be refused."""

    def rewrite(entry: re.Match[bytes]) -> bytes:
        try:
            return b"%b %r" % (entry[1], math.hypot(float(entry[2]), float(entry[3])))
        except ValueError:
            return entry[0]

    return memoryview(_COMPLEX.sub(rewrite, bytes(block)))


def _read_banner(text: bytes, path: str, weights: str) -> tuple[str, bool]:
    """The field's name and whether the matrix is symmetric, from the first line."""
    words = [quote(word) for word in text[:200].lower().split()]
    if not words or words[0] != "%%matrixmarket":
        problem = f"Not a Matrix Market file: it starts with {quote(text)!r}, expected a %%MatrixMarket banner"
        remedy = "for an edge list use format='snap' (whole-number ids) or format='csv' (any ids)"
        raise GraphFormatError(f"{problem}; {remedy}", path, 1)
    kind, layout, field, symmetry = (words[1:] + [""] * 4)[:4]
    if kind != "matrix":
        raise GraphFormatError(f"holds a {kind!r}, expected a matrix", path, 1)
    if layout != "coordinate":
        expected = "coordinate required: a line `row column value` for each entry that is not 0"
        raise GraphFormatError(f"holds the format {layout!r}, {expected}", path, 1)
    is_signed = field == "complex" or symmetry in ("hermitian", "skew-symmetric")
    if is_signed and weights not in ("abs", "ignore"):
        raise GraphValidationError(
            f"{path}, line 1: the matrix is {field} {symmetry}, expected a real symmetric or general one; "
            'pass weights="abs" for the sizes of its entries, or weights="ignore" to count every entry as 1'
        )
    if field not in _FIELDS:
        raise GraphFormatError(f"holds the field {field!r}, expected one of {', '.join(_FIELDS)}", path, 1)
    if symmetry not in ("general", "symmetric", "hermitian", "skew-symmetric"):
        raise GraphFormatError(f"holds the symmetry {symmetry!r}, expected general or symmetric", path, 1)
    return _FIELDS[field], symmetry != "general"


def _read_sizes(text: bytes, banner: tuple[str, bool], source: Source, line: int, reading: Reading) -> Header:
    """The header from the line of sizes; refused where the file is too small for them, or memory is."""
    words, bipartite = text.split(), bool(reading.bipartite)
    if len(words) != 3 or not all(word.isdigit() and len(word) < 20 for word in words):
        raise GraphFormatError(f'sizes are {quote(text)!r}, expected "rows columns entries"', source.path, line)
    n_rows, n_columns, n_entries = map(int, words)
    field, symmetric = banner
    if symmetric and n_rows != n_columns:
        wrong = f"is symmetric and {n_rows} x {n_columns}; a symmetric matrix must be square"
        raise GraphFormatError(wrong, source.path, line)
    if n_rows != n_columns and not bipartite:
        fault = f"{source.path}, line {line}: the matrix is {n_rows} x {n_columns}, expected a square adjacency matrix"
        raise GraphValidationError(f"{fault}; pass bipartite=True to make nodes of its rows and nodes of its columns")
    if symmetric and bipartite:
        raise GraphValidationError(
            f"{source.path}, line 1: the matrix is symmetric, expected a general one for bipartite=True"
        )
    n_nodes = n_rows + n_columns if bipartite else n_rows
    if n_nodes == 0:
        raise GraphValidationError(f"{source.path}, line {line}: the matrix has 0 nodes, expected at least 1 node")
    least = 4 if field == "pattern" else 6
    if n_entries * least - 1 > source.most_bytes:
        problem = f"the file has only {source.most_bytes} bytes (at least {least} an entry)"
        raise GraphFormatError(f"the header declares {n_entries} entries, but {problem}", source.path, line)
    check_memory(source.path, n_nodes, n_entries, field != "pattern", source.most_bytes, reading.memory_limit)
    return Header(field, symmetric, n_rows, n_columns, n_entries, n_rows if bipartite else 0)


def _read_entries(
    block: memoryview, header: Header, n_missing: int, unfit: NegativeOrInfinite, path: str, line: int
) -> tuple[list, int]:
    """Rows, columns (from 0) and values of a block of lines, in pieces, and how many lines they are."""
    pieces = in_pieces(block, lambda first, last, text: _read_piece(first, last, text, header))
    for *_, (code, position) in pieces:
        if code != number_lines.FINE:
            _explain(block, position, header, n_missing, path, line)
    if sum(len(rows) for _, rows, *_ in pieces) > n_missing:
        _explain(block, 0, header, n_missing, path, line)
    parts = []
    for first, rows, columns, values, hard, _, _ in pieces:
        if values is not None:
            for entry in np.flatnonzero(hard).tolist():
                word = _WORD.match(block, position := int(hard[entry]) - 1)
                assert word is not None
                try:
                    values[entry] = _value_of(word[0], header.field)
                except ValueError as problem:
                    at = line + bytes(block[:position]).count(b"\n") + 1
                    raise GraphFormatError(str(problem), path, at) from None
            place = partial(_place, rows, columns - header.offset, block, first, line)
            values = unfit.look_at(values, place)
        if len(rows):
            parts.append((rows, columns, values))
    return parts, sum(n_lines for *_, n_lines, _ in pieces)


def _read_piece(first: int, last: int, text: np.ndarray, header: Header) -> tuple:
    """One piece: its start, rows, columns, values and which of them are left, how many lines it has, and the fault."""
    most = (last - first) // (6 if header.has_value else 4) + 1
    rows, columns = np.empty((2, most), np.int32)
    n_values = most if header.has_value else 0
    values, hard = np.empty(n_values), np.empty(n_values, np.int64)
    fault = np.zeros(2, np.int64)
    whole = header.field not in ("real", "complex")
    lines = number_lines.MatrixLines(header.n_rows, header.n_columns, header.offset, header.has_value, whole)
    entries = number_lines.ParsedEntries(rows, columns, values, hard)
    n, n_lines = number_lines.parse_entries(first, last, text, lines, entries, fault)
    left = (values[:n].copy(), hard[:n].copy()) if header.has_value else (None, None)
    return first, rows[:n].copy(), columns[:n].copy(), *left, n_lines, fault.tolist()


def _explain(block: memoryview, position: int, header: Header, n_missing: int, path: str, line: int) -> NoReturn:
    """Find the first line from `position` on that is not an entry, and say what is wrong with it."""
    text_block = bytes(block)
    line += text_block.count(b"\n", 0, position)
    expected = "row column value" if header.has_value else "row column"
    n_seen = 0
    for text in text_block[position:].split(b"\n"):
        line += 1
        words = text.split()
        if not words or words[0].startswith(b"%"):
            continue
        n_seen += 1
        if position == 0 and n_seen > n_missing:
            raise GraphFormatError(f"more entries than the {header.n_entries} that the header declares", path, line)
        if len(words) < 2 + header.has_value:
            wrong = f"the entry is {quote(text)!r}, a value is missing; expected {expected!r}"
            raise GraphFormatError(wrong, path, line)
        for word, n in zip(words[:2], (header.n_rows, header.n_columns), strict=True):
            if not word.lstrip(b"-").isdigit():
                raise GraphFormatError(f"the index is {quote(word)!r}, expected a whole number", path, line)
            if not 1 <= int(word[:40]) <= n:
                hint = "; indices are 1-based: is this file 0-based?" if int(word[:40]) == 0 else ""
                raise GraphFormatError(f"index {quote(word)} is out of bounds, expected 1 to {n}{hint}", path, line)
        if header.has_value:
            try:
                _value_of(words[2], header.field)
            except ValueError as problem:
                raise GraphFormatError(str(problem), path, line) from None
        if len(words) > 2 + header.has_value:
            fault = f"the entry {quote(text)!r} has {len(words)} columns, expected {expected!r}"
            raise GraphFormatError(fault, path, line)
    raise GraphFormatError("the entries cannot be read", path, line)


def _value_of(word: bytes, field: str) -> float:
    """The value of an entry, which may be infinite or nan; ValueError says what is wrong with another word."""
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"the value is {quote(word)!r}, expected a number") from None
    if b"_" in word:
        raise ValueError(f"the value is {quote(word)!r}, expected a plain decimal number")
    if field in ("real", "complex"):
        return value
    if not word.lstrip(b"+-").isdigit():
        raise ValueError(f"the value is {quote(word)!r}, expected a whole number in an {field} file")
    smallest, largest = (0, 2**64) if field == "unsigned-integer" else (-(2**63), 2**63)
    if not smallest <= int(word[:40]) < largest:
        raise ValueError(f"the value {quote(word)} is out of range for a 64-bit {field}")
    return value


def _place(rows, columns, block: memoryview, first: int, line: int, entry: int) -> str:
    """Where an entry of the piece from `first` on stands in the file: its indices as written there, and its line."""
    line += bytes(block[:first]).count(b"\n")
    seen = -1
    for text in bytes(block[first:]).split(b"\n"):
        line += 1
        if text.strip() and not text.lstrip().startswith(b"%"):
            seen += 1
            if seen == entry:
                break
    return f"({rows[entry] + 1}, {columns[entry] + 1}) in line {line}"
