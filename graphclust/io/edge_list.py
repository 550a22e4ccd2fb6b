"""Edge lists: SNAP files (https://snap.stanford.edu/data) and CSV or TSV tables with any ids, an edge a line.

Whole-number ids are read by a compiled loop and renumbered in increasing order; other ids are kept as text and
numbered as they appear.
"""

import csv
import re
from collections.abc import Callable
from typing import NoReturn

import numpy as np

from graphclust.compiled.runtime.blocks import run_in_blocks
from graphclust.compiled.text import text_rows
from graphclust.errors import GraphFormatError, GraphValidationError
from graphclust.io.edge_list_layout import Layout, layout_of, split
from graphclust.io.edges import Edges
from graphclust.io.lines import NegativeOrInfinite, line_boundaries, shown
from graphclust.io.marked_rows import COMMENTS, Doubts, has_shape, is_row
from graphclust.io.source import Source
from graphclust.io.sparse_ids import renumber_sparse
from graphclust.progress import Progress

ANNOUNCED = re.compile(rb"^#\s*Nodes:\s*\d+\s+Edges:\s*(\d+)", re.MULTILINE)


def read_edge_list(source: Source, weights: str | None, progress: Progress, text_ids: bool | None = None) -> Edges:
    """The edges of a list `source target [weight]`, separated by white space, tabs, commas or semicolons.

    Lines that start with # or % are comments, unless a name follows the mark at once in a table of names that has a
    header or a delimiter, and the columns are those of a row. A first line of names is a header; it may name more
    columns, of which source, target and weight are used. Without a header, two columns are expected, or three with the
    weight last.
    text_ids : True reads ids as text, False demands whole numbers, None lets the first edge decide.

    Raises GraphFormatError with the line for lines of another number of columns, ids that are no whole numbers where
    the first ones are, and weights that are no numbers; GraphValidationError for negative or non-finite weights,
    and for a file without an edge.
    """
    head = source.head()
    layout = layout_of(head, source.path, weights, text_ids)
    unfit = NegativeOrInfinite(source.path, weights or "file")
    read_block = _TextReader(layout) if layout.text_ids else NumberReader(layout)
    chunks = []
    line = 0
    for block in source.line_blocks(progress):
        if line == 0:
            block = first_block(block, layout.n_passed)
        parts, n_lines = read_block(block, line, unfit, source.path)
        chunks += [part for part in parts if len(part[0])]
        line += n_lines
    if not chunks:
        raise GraphValidationError(f"{source.path}: holds no edges, expected at least one line `source target`")
    unfit.complain()
    n_rows = sum(len(part[0]) for part in chunks)
    if not layout.text_ids:
        refuse_headless_matrix(chunks, n_rows, source.path)
        if text_ids is None and may_be_metis(chunks, n_rows, layout):
            raise MayBeMetis
    edges = read_block.numbered(chunks, source.path)
    edges.symmetric = "list"
    edges.details["weighted"] = layout.weight is not None and weights != "ignore"
    if layout.note:
        edges.repairs.append(layout.note)
    if layout.text_ids and not layout.has_header and n_rows > 1 and _stands_alone(chunks):
        edges.repairs.append(
            f"the first line was read as an edge of {edges.name(0)!r} and {edges.name(1)!r}; if it names the "
            "columns, call them source and target there, or take it out"
        )
    if doubts := read_block.doubts.sentence():
        edges.repairs.append(doubts)
    announced = ANNOUNCED.search(head)
    if announced and n_rows < int(announced[1][:18]):
        edges.repairs.append(
            f"its header announces {int(announced[1][:18])} edges, {n_rows} lines follow: is it whole?"
        )
    return edges


class MayBeMetis(Exception):
    """The lines are an edge list, but just as well a METIS graph in which all nodes have equally many neighbours."""


def first_block(block: memoryview, n_passed: int) -> memoryview:
    """The same lines without a byte order mark, the first of them blank."""
    if bytes(block[:3]) == b"\xef\xbb\xbf":
        block = block[3:]
    if n_passed == 0:
        return block
    text = bytes(block)
    at = 0
    for _ in range(n_passed):
        at = text.index(b"\n", at) + 1
    return memoryview(b"\n" * n_passed + text[at:])


class NumberReader:
    """Blocks of lines with whole-number ids, into raw ids."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.field = re.compile(rb"\S*" if layout.delimiter is None else rb"[^\n%b]*" % layout.delimiter.encode())
        self.ids: type = np.int32
        self.largest = 0
        self.doubts = Doubts(layout)

    def __call__(self, block: memoryview, line: int, unfit: NegativeOrInfinite, path: str) -> tuple[list, int]:
        boundaries, text = line_boundaries(block), np.frombuffer(block.toreadonly(), np.uint8)
        pieces: list = [None] * (len(boundaries) - 1)

        def read(first: int, last: int, piece: int) -> None:
            pieces[piece] = self._read(first, last, text)

        run_in_blocks(read, boundaries)
        for *_, (code, position) in pieces:
            if code == text_rows.BAD_NODE and self.ids is np.int32:  # or too large for 32 bits
                self.ids = np.int64
                return self(block, line, unfit, path)
            if code != text_rows.FINE:
                self._explain(bytes(block), code, position, line, path)
        if self.layout.delimiter is not None:
            self.doubts.look_at(bytes(block), line)
        chunks = []
        for sources, targets, weights, hard, largest, *_ in pieces:
            self.largest = max(self.largest, largest)
            if weights is not None:
                for row in np.flatnonzero(hard).tolist():
                    weights[row] = self._weight_at(block, int(hard[row]) - 1, line, path)
                weights = unfit.look_at(weights, lambda row: f"edge ({sources[row]}, {targets[row]})")  # noqa: B023
            chunks.append((sources, targets, weights))
        return chunks, sum(n_lines for *_, n_lines, _ in pieces)

    def _read(self, first: int, last: int, text: np.ndarray) -> tuple:
        """One piece: sources, targets, weights and which are left, the largest id, the number of lines, the fault."""
        layout = self.layout
        most_rows = (last - first) // (2 * layout.n_columns) + 1
        ends: np.ndarray = np.empty((2, most_rows), self.ids)
        sources, targets = ends[0], ends[1]
        bound = np.iinfo(self.ids).max
        n_rows = -1
        n_weights = 0 if layout.weight is None else most_rows
        weights, hard = np.empty(n_weights), np.empty(n_weights, np.int64)
        fault = np.zeros(2, np.int64)
        if layout.is_plain:
            n_rows, n_lines = text_rows.parse_pairs(first, last, text, sources, targets, bound)
        if n_rows < 0:
            columns = (layout.n_columns, layout.source, layout.target, -1 if layout.weight is None else layout.weight)
            lines = text_rows.EdgeLines(ord(layout.delimiter or "\0"), columns, bound)
            edges = text_rows.ParsedEdges(sources, targets, weights, hard)
            n_rows, n_lines = text_rows.parse_edges(first, last, text, lines, edges, fault)
        sources, targets = sources[:n_rows].copy(), targets[:n_rows].copy()
        left = (None, None) if layout.weight is None else (weights[:n_rows].copy(), hard[:n_rows].copy())
        largest = max(int(sources.max()), int(targets.max())) if n_rows else 0
        return sources, targets, *left, largest, n_lines, fault.tolist()

    def _weight_at(self, block: memoryview, position: int, line: int, path: str) -> float:
        found = self.field.match(block, position)
        assert found is not None
        return _weight(found[0], path, lambda: line + bytes(block[:position]).count(b"\n") + 1)

    def _explain(self, block: bytes, code: int, position: int, line: int, path: str) -> NoReturn:
        line += block.count(b"\n", 0, position) + 1
        text = shown(block[position : block.index(b"\n", position)].strip())
        n = self.layout.n_columns
        if code in (text_rows.TOO_FEW, text_rows.TOO_MANY):
            raise GraphFormatError(
                f"{text!r} has {'fewer' if code == text_rows.TOO_FEW else 'more'} columns than the first edge, {n}; "
                "expected the same number in every line (a METIS graph: format='metis')",
                path,
                line,
            )
        raise GraphFormatError(
            f"{text!r} does not hold two node ids, expected whole numbers from 0 to 2^63 - 1 as in the first edge; for "
            "ids that are names pass format='csv'",
            path,
            line,
        )

    def numbered(self, chunks: list, path: str) -> Edges:
        """Renumber ids in increasing order; `nodes` holds the ids unless they are 0..n-1 already."""
        if self.largest < max(2 * sum(len(u) for u, _, _ in chunks), 1 << 20):
            return Edges(path, self.largest + 1, chunks, gaps=True)
        ids = renumber_sparse(chunks)
        return Edges(path, len(ids), chunks, nodes=ids)


class _TextReader:
    """Blocks of lines with ids of any text; nodes are numbered as they appear."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.number_of: dict[str, int] = {}
        self.doubts = Doubts(layout)

    def __call__(self, block: memoryview, line: int, unfit: NegativeOrInfinite, path: str) -> tuple[list, int]:
        layout, number_of = self.layout, self.number_of
        sources: list[int] = []
        targets: list[int] = []
        weights: list[float] = []
        rows = bytes(block).split(b"\n")
        white_space = b" \r" if layout.delimiter == "\t" else b" \t\r"
        for row in rows:
            line += 1
            row = row.strip(white_space)
            if not row or row.isspace() or (row.startswith(COMMENTS) and not self._is_row(row, line)):
                continue
            fields = self._fields(row, path, line)
            for end, ends in ((fields[layout.source], sources), (fields[layout.target], targets)):
                if not end:
                    raise GraphFormatError(f"{shown(row)!r} has an empty node id, expected a name", path, line)
                ends.append(number_of.setdefault(end, len(number_of)))
            if layout.weight is not None:
                weights.append(_weight(fields[layout.weight].encode(), path, lambda: line))  # noqa: B023
        edges = np.array(sources, np.int32), np.array(targets, np.int32)
        if layout.weight is None:
            return [(*edges, None)], len(rows) - 1
        names = list(number_of)
        values = unfit.look_at(
            np.array(weights, np.float64), lambda i: f"edge ({names[sources[i]]}, {names[targets[i]]})"
        )
        return [(*edges, values)], len(rows) - 1

    def _is_row(self, row: bytes, line: int) -> bool:
        """Whether a line that starts with # or % is a row after all; where it may be one it is counted."""
        layout, words = self.layout, row.decode("utf-8", "replace")
        try:
            fields = split(words, layout.delimiter)
        except csv.Error:
            return False
        named = is_row(words)
        if not (named or layout.delimiter) or not has_shape(fields, layout.n_columns, layout.weight):
            return False
        if not (named and layout.has_marked_rows):
            self.doubts.add(line)
            return False
        return True

    def _fields(self, row: bytes, path: str, line: int) -> list[str]:
        try:
            fields = split(row.decode("utf-8"), self.layout.delimiter)
        except UnicodeDecodeError:
            raise GraphFormatError(f"{shown(row)!r} is not UTF-8; save the file as UTF-8", path, line) from None
        except (csv.Error, StopIteration) as problem:
            raise GraphFormatError(f"{shown(row)!r} is no row of a table ({problem})", path, line) from None
        if len(fields) != self.layout.n_columns:
            raise GraphFormatError(
                f"{shown(row)!r} has {len(fields)} columns, expected {self.layout.n_columns} as in the first line",
                path,
                line,
            )
        return fields

    def numbered(self, chunks: list, path: str) -> Edges:
        return Edges(path, len(self.number_of), chunks, nodes=list(self.number_of))


def _weight(field: bytes, path: str, line: Callable[[], int]) -> float:
    """The number that a whole field is, white space at its ends aside."""
    try:
        if b"_" in field:
            raise ValueError
        return float(field)
    except ValueError:
        expected = "a number with a decimal point" if b"," in field else "a number"
        raise GraphFormatError(f"the weight is {shown(field.strip())!r}, expected {expected}", path, line()) from None


def _stands_alone(chunks: list) -> bool:
    """Whether the nodes of the first edge, numbers 0 and 1, have no other."""
    return sum(int(np.count_nonzero(ends < 2)) for sources, targets, _ in chunks for ends in (sources, targets)) == 2


def may_be_metis(chunks: list, n_rows: int, layout: Layout) -> bool:
    """The first line counts the nodes, which are the other lines, and half of all the numbers on those."""
    n_nodes, n_edges = int(chunks[0][0][0]), int(chunks[0][1][0])
    if not layout.is_plain or n_nodes != n_rows - 1 or n_edges != n_nodes:
        return False
    return all(max(u.max(), v.max()) <= n_nodes and min(u.min(), v.min()) >= 1 for u, v, _ in chunks)


def refuse_headless_matrix(chunks: list, n_rows: int, path: str) -> None:
    """A line `n n entries`, followed by so many entries within 1..n, is a Matrix Market file that lost its banner."""
    sources, targets, weights = chunks[0]
    if weights is None or sources[0] != targets[0] or weights[0] != n_rows - 1 or n_rows < 2:
        return
    n = int(sources[0])
    if all(max(u.max(), v.max()) <= n and min(u.min(), v.min()) >= 1 for u, v, _ in chunks):
        raise GraphFormatError(
            f"its first line {n} {n} {n_rows - 1} is the size line of a Matrix Market file, but the banner "
            "%%MatrixMarket is missing; put it back as the first line",
            path,
            1,
        )
