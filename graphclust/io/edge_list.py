"""Edge lists: SNAP files (https://snap.stanford.edu/data) and CSV or TSV tables with any ids, an edge a line.

Whole-number ids are read by a compiled loop and renumbered in increasing order; other ids are kept as text and
numbered as they appear.
"""

import csv
import re
import secrets
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from graphclust.compiled import node_ids, text_rows
from graphclust.compiled.blocks import run_in_blocks
from graphclust.errors import GraphFormatError, GraphValidationError
from graphclust.io.edges import Edges
from graphclust.io.lines import NegativeOrInfinite, line_boundaries, shown
from graphclust.io.source import HEAD, Source
from graphclust.progress import Progress

_SOURCE_NAMES = {"source", "src", "from", "fromnodeid", "from_node", "from_id", "source_id"}
_TARGET_NAMES = {"target", "dst", "to", "tonodeid", "to_node", "to_id", "target_id"}
_WEIGHT_NAMES = {"weight", "weights", "w"}
_COMMENTS = (b"#", b"%")
_ANNOUNCED = re.compile(rb"^#\s*Nodes:\s*\d+\s+Edges:\s*(\d+)", re.MULTILINE)
_NAMED_WEIGHT = re.compile(rb"^#\s*FromNodeId\s+ToNodeId\s+Weight\s*$", re.MULTILINE | re.IGNORECASE)
_FIELD = re.compile(rb"[^\s,;]*")


@dataclass(frozen=True)
class Layout:
    """Where things stand in a line. delimiter is None for white space; weight is None without one."""

    delimiter: str | None
    n_columns: int
    has_header: bool
    text_ids: bool
    source: int = 0
    target: int = 1
    weight: int | None = None
    note: str = ""  # what was assumed about a third column

    @property
    def is_plain(self) -> bool:
        return self.delimiter is None and self.n_columns == 2 and self.source < self.target


def read_edge_list(source: Source, weights: str | None, progress: Progress, text_ids: bool | None = None) -> Edges:
    """The edges of a list `source target [weight]`, separated by white space, tabs, commas or semicolons.

    Lines that start with # or % are comments. A first line of names is a header; it may name more columns, of which
    source, target and weight are used. Without a header, two columns are expected, or three with the weight last.
    text_ids : True reads ids as text, False demands whole numbers, None lets the first edge decide.

    Raises GraphFormatError with the line for lines of another number of columns, ids that are no whole numbers where
    the first ones are, and weights that are no numbers; GraphValidationError for negative or non-finite weights,
    and for a file without an edge.
    """
    head = source.head()
    layout = layout_of(head, source.path, weights, text_ids)
    unfit = NegativeOrInfinite(source.path, weights or "file")
    read_block = _TextReader(layout) if layout.text_ids else _NumberReader(layout)
    chunks = []
    line = 0
    for block in source.line_blocks(progress):
        if line == 0:
            block = _first_block(block, layout.has_header)
        *part, n_lines = read_block(block, line, unfit, source.path)
        if len(part[0]):
            chunks.append(tuple(part))
        line += n_lines
    if not chunks:
        raise GraphValidationError(f"{source.path}: holds no edges, expected at least one line `source target`")
    unfit.complain()
    n_rows = sum(len(part[0]) for part in chunks)
    if not layout.text_ids:
        _refuse_headless_matrix(chunks, n_rows, source.path)
        if text_ids is None and _may_be_metis(chunks, n_rows, layout):
            raise MayBeMetis
    edges = read_block.numbered(chunks, source.path)
    edges.symmetric = "list"
    edges.details["weighted"] = layout.weight is not None and weights != "ignore"
    if layout.note:
        edges.repairs.append(layout.note)
    announced = _ANNOUNCED.search(head)
    if announced and n_rows < int(announced[1][:18]):
        edges.repairs.append(
            f"its header announces {int(announced[1][:18])} edges, {n_rows} lines follow: is it whole?"
        )
    return edges


class MayBeMetis(Exception):
    """The lines are an edge list, but just as well a METIS graph in which all nodes have equally many neighbours."""


def data_lines(head: bytes, most: int = 2) -> list[bytes]:
    """The first lines that are neither blank nor comments."""
    lines: list[bytes] = []
    at = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    while at < len(head) and len(lines) < most:
        end = head.find(b"\n", at)
        line = head[at : end if end >= 0 else len(head)].strip()
        if line and not line.startswith(_COMMENTS):
            lines.append(line)
        at = end + 1 if end >= 0 else len(head)
    return lines


def layout_of(head: bytes, path: str, weights: str | None, text_ids: bool | None) -> Layout:
    """Read the layout off the first two lines of data."""
    lines = [line.decode("utf-8", "replace") for line in data_lines(head)]
    if not lines:
        return Layout(None, 2, False, False)
    delimiter = _delimiter_of(lines[0])
    if delimiter == "\t" and all(map(_looks_like_number, lines[0].split())):
        delimiter = None  # blanks may be among the tabs
    fields = _split(lines[0], delimiter)
    numeric = _are_ids(fields[:2])
    following = _split(lines[1], delimiter) if len(lines) > 1 else []
    names = [field.strip().strip('"').lower() for field in fields]
    has_header = not any(_is_id(field) for field in fields[:2]) and (
        (_are_ids(following[:2]) and len(following) >= 2) or bool(_SOURCE_NAMES & {*names} and _TARGET_NAMES & {*names})
    )
    if has_header:
        numeric = _are_ids(following[:2]) if text_ids is None else not text_ids
        return _layout_from_names(names, delimiter, text_ids=not numeric, weights=weights)
    if len(head) >= HEAD and b"\n" not in head:
        raise GraphFormatError(f"line too long: {len(head)} bytes without an end, expected a list of edges", path, 1)
    if len(fields) not in (2, 3):
        raise GraphFormatError(
            f"the first edge is {shown(data_lines(head)[0])!r}, {len(fields)} columns; expected 2, or 3 with "
            "a weight, or a header line that names source, target and weight; a METIS graph: format='metis'",
            path,
            line_of(head, data_lines(head)[0]),
        )
    if text_ids is None:
        text_ids = not (numeric or any(_looks_like_number(field) for field in fields[:2]))
    weighted = len(fields) == 3 and weights != "ignore"
    note = 'the third column was read as weights; pass weights="file" if it is, weights="ignore" if it is not'
    return Layout(
        delimiter, len(fields), False, text_ids, weight=2 if weighted else None,
        note=note if weighted and weights is None and not _NAMED_WEIGHT.search(head) else "",
    )  # fmt: skip


def _layout_from_names(names: list[str], delimiter: str | None, text_ids: bool, weights: str | None) -> Layout:
    source = next((i for i, name in enumerate(names) if name in _SOURCE_NAMES), None)
    target = next((i for i, name in enumerate(names) if name in _TARGET_NAMES), None)
    if source is None or target is None:
        source, target = 0, 1
    weight = next((i for i, name in enumerate(names) if name in _WEIGHT_NAMES), None)
    ignored = [name for i, name in enumerate(names) if i not in (source, target, weight)]
    note = f"columns not used: {', '.join(ignored)[:80]}" if ignored else ""
    if weights == "ignore":
        weight = None
    return Layout(delimiter, len(names), True, text_ids, source, target, weight, note)


def line_of(head: bytes, text: bytes) -> int:
    return head.count(b"\n", 0, head.find(text)) + 1


def _delimiter_of(line: str) -> str | None:
    return next((mark for mark in "\t;," if mark in line), None)


def _split(line: str, delimiter: str | None) -> list[str]:
    return line.split() if delimiter is None else next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))


def _is_id(field: str) -> bool:
    return field.strip().isascii() and field.strip().isdigit()


def _are_ids(fields: list[str]) -> bool:
    return bool(fields) and all(map(_is_id, fields))


def _looks_like_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _first_block(block: memoryview, has_header: bool) -> memoryview:
    """The same lines without a byte order mark, and with a header line (the first of data) turned into a comment."""
    if bytes(block[:3]) == b"\xef\xbb\xbf":
        block = block[3:]
    if not has_header:
        return block
    head = bytes(block[:HEAD])
    start = head.index(data_lines(head, 1)[0])
    return memoryview(b"".join([block[:start], b"#", block[start + 1 :]]))


class _NumberReader:
    """Blocks of lines with whole-number ids, into raw ids."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.ids: type = np.int32

    def __call__(self, block: memoryview, line: int, unfit: NegativeOrInfinite, path: str):
        layout = self.layout
        boundaries, text = line_boundaries(block), np.frombuffer(block, np.uint8)
        n_rows, n_lines = np.zeros((2, len(boundaries) - 1), np.int64)
        run_in_blocks(text_rows.count_lines, boundaries, text, n_lines)
        row_starts = np.concatenate([[0], np.cumsum(n_lines)])
        n_weights = row_starts[-1] if layout.weight is not None else 0
        sources, targets = np.empty(row_starts[-1], self.ids), np.empty(row_starts[-1], self.ids)
        largest = np.iinfo(self.ids).max
        if layout.is_plain:
            run_in_blocks(text_rows.parse_pairs, boundaries, text, row_starts, sources, targets, largest, n_rows)
            if (n_rows >= 0).all():
                return *_without_gaps(row_starts, n_rows, sources, targets), None, int(row_starts[-1])
        weights, hard = np.empty(n_weights), np.empty(n_weights, np.int64)
        faults = np.zeros((len(n_lines), 2), np.int64)
        columns = (layout.n_columns, layout.source, layout.target, -1 if layout.weight is None else layout.weight)
        run_in_blocks(
            text_rows.parse_edges, boundaries, text, ord(layout.delimiter or "\0"), columns, row_starts,
            sources, targets, largest, weights, hard, n_rows, faults,
        )  # fmt: skip
        faulty = np.flatnonzero(faults[:, 0])
        if len(faulty):
            code, position = faults[faulty[0]].tolist()
            if code == text_rows.BAD_NODE and self.ids is np.int32:  # or too large for 32 bits
                self.ids = np.int64
                return self(block, line, unfit, path)
            self._explain(bytes(block), code, position, line, path)
        sources, targets = _without_gaps(row_starts, n_rows, sources, targets)
        if layout.weight is None:
            return sources, targets, None, int(row_starts[-1])
        weights, hard = _without_gaps(row_starts, n_rows, weights, hard)
        if hard.any():
            for row in np.flatnonzero(hard).tolist():
                weights[row] = self._weight_at(block, int(hard[row]) - 1, line, path)
        weights = unfit.look_at(weights, lambda row: f"edge ({sources[row]}, {targets[row]})")
        return sources, targets, weights, int(row_starts[-1])

    @staticmethod
    def _weight_at(block: bytes | memoryview, position: int, line: int, path: str) -> float:
        word = _FIELD.match(block, position)[0]
        try:
            if b"_" in word:
                raise ValueError
            return float(word)
        except ValueError:
            line += bytes(block[:position]).count(b"\n") + 1
            raise GraphFormatError(f"the weight is {shown(word)!r}, expected a number", path, line) from None

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
        largest = max(int(max(u.max(), v.max())) for u, v, _ in chunks)
        if largest < max(2 * sum(len(u) for u, _, _ in chunks), 1 << 20):
            return Edges(path, largest + 1, chunks, gaps=True)
        ids = _renumber_sparse(chunks)
        return Edges(path, len(ids), chunks, nodes=ids)


def _without_gaps(row_starts: np.ndarray, n_rows: np.ndarray, *columns: np.ndarray) -> list[np.ndarray]:
    """The columns without the rows that were left for lines that turned out to be blank or comments."""
    if (row_starts[:-1] + n_rows == row_starts[1:]).all():
        return list(columns)
    pieces = [slice(start, start + n) for start, n in zip(row_starts.tolist(), n_rows.tolist(), strict=False)]
    return [np.concatenate([column[piece] for piece in pieces]) for column in columns]


class _IdTable:
    """All ids of a file in a table that grows with their number, and then the rank of each."""

    def __init__(self):
        self.multiplier = np.uint64(secrets.randbits(64) | 1)
        self.n_ids = 0
        self._resize(16)

    def _resize(self, n_bits: int) -> None:
        self.n_bits, self.shift = n_bits, np.uint64(64 - n_bits)
        self.slots = np.full(1 << n_bits, node_ids.EMPTY, np.int64)

    def add(self, ids: np.ndarray) -> None:
        while 2 * (self.n_ids + len(ids)) > len(self.slots):
            known = self.slots[self.slots != node_ids.EMPTY]
            self._resize(self.n_bits + 1)
            node_ids.insert(known, self.multiplier, self.shift, self.slots)
        self.n_ids += node_ids.insert(ids, self.multiplier, self.shift, self.slots)

    def sort(self) -> np.ndarray:
        """The ids in increasing order, after which `ranks` may be asked for."""
        used = np.flatnonzero(self.slots != node_ids.EMPTY)
        order = np.argsort(self.slots[used])
        self.rank_of_slot = np.zeros(len(self.slots), np.int32)
        self.rank_of_slot[used[order]] = np.arange(self.n_ids, dtype=np.int32)
        return self.slots[used[order]]

    def ranks(self, ids: np.ndarray) -> np.ndarray:
        ranks = np.empty(len(ids), np.int32)
        node_ids.look_up(
            ids.astype(np.int64, copy=False), self.multiplier, self.shift, self.slots, self.rank_of_slot, ranks
        )
        return ranks


def _renumber_sparse(chunks: list) -> np.ndarray:
    """Replace the ids of the chunks by their ranks; returns the ids."""
    table = _IdTable()
    with np.errstate(over="ignore"):  # the products wrap round, which interpreted loops warn of
        for sources, targets, _ in chunks:
            for ids in (sources, targets):
                for start in range(0, len(ids), 1 << 16):
                    table.add(ids[start : start + (1 << 16)].astype(np.int64, copy=False))
        ids = table.sort()
        for i, (sources, targets, weights) in enumerate(chunks):
            chunks[i] = (table.ranks(sources), table.ranks(targets), weights)
    return ids


class _TextReader:
    """Blocks of lines with ids of any text; nodes are numbered as they appear."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.number_of: dict[str, int] = {}

    def __call__(self, block: memoryview, line: int, unfit: NegativeOrInfinite, path: str):
        layout, number_of = self.layout, self.number_of
        sources, targets, weights = [], [], []
        rows = bytes(block).split(b"\n")
        for row in rows:
            line += 1
            row = row.strip(b" \r")
            if not row or row.isspace() or row.startswith(_COMMENTS):
                continue
            fields = self._fields(row, path, line)
            for end, ends in ((fields[layout.source], sources), (fields[layout.target], targets)):
                if not end:
                    raise GraphFormatError(f"{shown(row)!r} has an empty node id, expected a name", path, line)
                ends.append(number_of.setdefault(end, len(number_of)))
            if layout.weight is not None:
                weights.append(_NumberReader._weight_at(fields[layout.weight].strip().encode(), 0, line - 1, path))
        ends = np.array(sources, np.int32), np.array(targets, np.int32)
        if layout.weight is None:
            return *ends, None, len(rows) - 1
        names = list(number_of)
        values = np.array(weights, np.float64)
        values = unfit.look_at(values, lambda i: f"edge ({names[sources[i]]}, {names[targets[i]]})")
        return *ends, values, len(rows) - 1

    def _fields(self, row: bytes, path: str, line: int) -> list[str]:
        try:
            fields = _split(row.decode("utf-8"), self.layout.delimiter)
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


def _may_be_metis(chunks: list, n_rows: int, layout: Layout) -> bool:
    """The first line counts the nodes, which are the other lines, and half of all the numbers on those."""
    n_nodes, n_edges = int(chunks[0][0][0]), int(chunks[0][1][0])
    if not layout.is_plain or n_nodes != n_rows - 1 or n_edges != n_nodes:
        return False
    return all(max(u.max(), v.max()) <= n_nodes and min(u.min(), v.min()) >= 1 for u, v, _ in chunks)


def _refuse_headless_matrix(chunks: list, n_rows: int, path: str) -> None:
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
