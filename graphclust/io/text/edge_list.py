"""Edge lists: SNAP files (https://snap.stanford.edu/data) and CSV or TSV tables with any ids, an edge a line.

Whole-number ids are read by a compiled loop and renumbered in increasing order; other ids are kept as text and
numbered as they appear.
"""

import contextlib
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

import numpy as np

from graphclust.compiled.text import number_lines
from graphclust.errors import GraphFormatError, GraphValidationError, amount, quote
from graphclust.io.columns import refuse_overlap
from graphclust.io.edges import Edges, NegativeOrInfinite, keep_kinds_apart, renumber_sparse
from graphclust.io.text.byte_source import Source, in_pieces
from graphclust.io.text.edge_lines import EdgeLines, ReadAgain, Reading, Sample, judge_first_line
from graphclust.io.text.layout import Layout, with_point
from graphclust.io.text.records import COMMENTS, MISSING, Doubts, OpenQuote, has_shape, is_quoted, is_row, split
from graphclust.progress import Progress

_EXPONENT = re.compile(r"\d{1,15}(?:\.\d{0,15})?[eE]\+?\d{1,2}")
_NO_COMMENT = b"#N/A"  # as Excel writes a missing value
MOST_LONE_ROWS = 0.05  # of all rows may share no id with another, where the first does not and is taken for names


def read_edge_list(source: Source, reading: Reading, progress: Progress) -> Edges:
    """The edges of a list `source target [weight]`, separated by white space, tabs, commas or semicolons.

    Fields may be in quotes, and then hold delimiters and line ends. `graphclust.io.columns` says which columns are
    read. Raises what `load_graph` does, and ReadAgain where later lines show how to read them.
    """
    lines = EdgeLines(source, reading)
    layout = lines.layout
    unfit = NegativeOrInfinite(source.path, reading.policy)
    as_text = layout.text_ids or reading.quoted
    read_block = _TextReader(layout, reading, unfit) if as_text else NumberReader(layout, reading, unfit)
    chunks: list = []
    for block in lines.blocks(progress):
        parts, n_lines = read_block(block, lines.n_lines)
        chunks += [part for part in parts if len(part[0])]
        lines.n_lines += n_lines
    read_block.complain()
    if not chunks:
        raise lines.no_edges()
    unfit.complain()
    n_rows = sum(len(part[0]) for part in chunks)
    said = ""
    first = {float(column[0]) for column in chunks[0] if column is not None}
    if not as_text and not first.isdisjoint((n_rows - 1, (n_rows - 1) / 2)):
        sources, targets, weights = chunks[0]
        others = [column for part in chunks[1:] for column in part[:2]] + [sources[1:], targets[1:]]
        low = min((int(column.min()) for column in others if len(column)), default=0)
        high = max((int(column.max()) for column in others if len(column)), default=0)
        weight = None if weights is None else weights[0]
        sample = Sample(int(sources[0]), int(targets[0]), weight, n_rows, low, high)
        said = judge_first_line(sample, layout, reading, source.path)
    edges = read_block.to_edges(chunks)
    lines.complete(edges, n_rows, said, read_block.doubts.sentence())
    return edges


class _Reader:
    """Blocks of lines into edges. start : the line that is being read, from 1."""

    start = 0

    def __init__(self, layout: Layout, reading: Reading, unfit: NegativeOrInfinite):
        self.layout, self.reading, self.unfit, self.path = layout, reading, unfit, unfit.path
        self.doubts = Doubts(layout)

    def wrong(self, problem: str) -> GraphFormatError:
        """The error of this line."""
        return GraphFormatError(problem, self.path, self.start)

    def complain(self) -> None:
        """Raise what only the whole file shows."""


class NumberReader(_Reader):
    """Blocks of lines with whole-number ids, into raw ids."""

    def __init__(self, layout: Layout, reading: Reading, unfit: NegativeOrInfinite):
        super().__init__(layout, reading, unfit)
        self.field = re.compile(rb"\S*" if layout.delimiter is None else rb"[^\n%b]*" % layout.delimiter.encode())
        self.ids: type = np.int32
        self.largest = 0

    def __call__(self, block: memoryview, line: int) -> tuple[list, int]:
        """Read a block of whole lines into edges; returns its parts and how many lines it has."""
        pieces = in_pieces(block, self._read)
        for *_, (code, position) in pieces:
            if code == number_lines.BAD_NODE and self.ids is np.int32:  # or too large for 32 bits
                self.ids = np.int64
                return self(block, line)
            if code != number_lines.FINE:
                self._explain(bytes(block), code, position, line)
        if self.layout.delimiter is not None:
            content = bytes(block)
            goes_on = b'"' in content and any(row.count(b'"') % 2 for row in content.split(b"\n"))
            if goes_on or content.startswith(_NO_COMMENT) or b"\n" + _NO_COMMENT in content:
                raise ReadAgain(replace(self.reading, quoted=True))  # row by row, as quotes may hold delimiters
            self.doubts.look_at(content, line)
        chunks = []
        for sources, targets, weights, hard, largest, *_ in pieces:
            self.largest = max(self.largest, largest)
            if weights is not None:
                for row in np.flatnonzero(hard).tolist():
                    weights[row] = self._weight_at(block, int(hard[row]) - 1, line)
                weights = self.unfit.look_at(weights, lambda row: f"edge ({sources[row]}, {targets[row]})")  # noqa: B023
            chunks.append((sources, targets, weights))
        return chunks, sum(n_lines for *_, n_lines, _ in pieces)

    def _read(self, first: int, last: int, text: np.ndarray) -> tuple:
        """One piece: sources, targets, weights and which are left, the largest id, the number of lines, the fault."""
        layout = self.layout
        # Between delimiters all fields but the two ids may be empty.
        most_rows = (last - first) // (layout.n_columns + (2 if layout.delimiter else layout.n_columns)) + 1
        ends: np.ndarray = np.empty((2, most_rows), self.ids)
        sources, targets = ends
        bound, n_rows = np.iinfo(self.ids).max, -1
        n_weights = 0 if layout.weight is None else most_rows
        weights, hard = np.empty(n_weights), np.empty(n_weights, np.int64)
        fault = np.zeros(2, np.int64)
        if layout.is_plain:
            n_rows, n_lines = number_lines.parse_pairs(first, last, text, sources, targets, bound)
        if n_rows < 0:
            columns = (layout.n_columns, layout.source, layout.target, -1 if layout.weight is None else layout.weight)
            lines = number_lines.EdgeLines(ord(layout.delimiter or "\0"), columns, bound)
            edges = number_lines.ParsedEntries(sources, targets, weights, hard)
            n_rows, n_lines = number_lines.parse_edges(first, last, text, lines, edges, fault)
        sources, targets = sources[:n_rows].copy(), targets[:n_rows].copy()
        left = (None, None) if layout.weight is None else (weights[:n_rows].copy(), hard[:n_rows].copy())
        largest = max(int(sources.max()), int(targets.max())) if n_rows else 0
        return sources, targets, *left, largest, n_lines, fault.tolist()

    def _weight_at(self, block: memoryview, position: int, line: int) -> float:
        match = self.field.match(block, position)
        assert match is not None
        if b'"' in match[0] or (self.layout.delimiter == ";" and b"," in match[0]):
            raise ReadAgain(replace(self.reading, quoted=True))
        return _weight(match[0], self.path, lambda: line + bytes(block[:position]).count(b"\n") + 1)

    def _explain(self, block: bytes, code: int, position: int, line: int) -> NoReturn:
        """GraphFormatError that names the first line that the loop could not read, and why."""
        self.start = line + block.count(b"\n", 0, position) + 1
        row = block[position : block.index(b"\n", position)].strip()
        text, n = quote(row), self.layout.n_columns
        ends = self._ends(row)
        are_ids = all(end.isascii() and end.isdigit() for end in ends)
        are_in_quotes = any(b'"%b"' % end.encode() in row for end in ends)
        lacks_an_id = code == number_lines.BAD_NODE and not MISSING.isdisjoint(ends)
        if (b'"' in row and are_ids and not are_in_quotes) or lacks_an_id:
            raise ReadAgain(replace(self.reading, quoted=True))  # which counts the rows without an id too
        if code in (number_lines.TOO_FEW, number_lines.TOO_MANY):
            problem = f"{text!r} has {'fewer' if code == number_lines.TOO_FEW else 'more'} columns than the first edge"
            expected = "the same number in every line (a first line that counts: header=True; METIS: format='metis')"
            raise self.wrong(f"{problem}, {n}; expected {expected}")
        if are_ids and any(map(_is_padded, ends)):
            if self.reading.text_ids is None:
                raise ReadAgain(replace(self.reading, text_ids=True))
            said = f"{text!r} has an id with a leading zero, expected whole numbers without; to keep ids as they are"
            raise self.wrong(f"{said} written pass format='csv'")
        raise self.wrong(
            f"{text!r} does not hold two node ids, expected whole numbers from 0 to 2^63 - 1 as in the first edge; for "
            "ids that are names pass format='csv'"
        )

    def _ends(self, row: bytes) -> list[str]:
        with contextlib.suppress(ValueError, IndexError):
            fields = split(row.decode("utf-8", "replace"), self.layout.delimiter)
            return [fields[self.layout.source], fields[self.layout.target]]
        return [" "]

    def to_edges(self, chunks: list) -> Edges:
        """Renumber ids in increasing order; `nodes` holds the ids unless they are 0..n-1 already."""
        if self.layout.bipartite:
            sides = [renumber_sparse(chunks, (column,)) for column in (0, 1)]
            return keep_kinds_apart(self.path, chunks, [ids.tolist() for ids in sides], self.layout.names)
        refuse_overlap(self.reading.bipartite, self.layout.names, lambda: _shared(chunks).tolist(), self.path)
        if self.largest < max(2 * sum(len(u) for u, _, _ in chunks), 1 << 20):
            return Edges(self.path, self.largest + 1, chunks, gaps=True)
        ids = renumber_sparse(chunks)
        return Edges(self.path, len(ids), chunks, nodes=ids)


class _TextReader(_Reader):
    """Blocks of lines with ids of any text; nodes are numbered as they appear, in a bipartite list on either side."""

    def __init__(self, layout: Layout, reading: Reading, unfit: NegativeOrInfinite):
        super().__init__(layout, reading, unfit)
        first: dict[str, int] = {}
        self.number_of = (first, {} if layout.bipartite else first)
        self.begun: list[bytes] = []  # lines of a row that a quote goes on from
        self.n_quotes = 0  # in them
        self.row = ""  # its text
        self.n_missing, self.first_missing = 0, ""
        self.decimals: dict[str, str] = {}  # the first weight with each decimal mark

    def __call__(self, block: memoryview, line: int) -> tuple[list, int]:
        """Read a block of whole lines into edges; returns its parts and how many lines it has."""
        layout = self.layout
        sources: list[int] = []
        targets: list[int] = []
        weights: list[float] = []
        rows = bytes(block).split(b"\n")
        white_space = b" \r" if layout.delimiter == "\t" else b" \t\r"
        numbers = ((layout.source, self.number_of[0], sources), (layout.target, self.number_of[1], targets))
        for number, row in enumerate(rows[:-1], line + 1):
            if self.begun:
                fields = self._go_on(row)
            else:
                row, self.start = row.strip(white_space), number
                if not row or row.isspace():
                    continue
                if row.startswith(COMMENTS) and not (row.startswith(_NO_COMMENT) or self._is_row(row, number)):
                    continue
                fields = self._fields(row)
            if fields is None or self._is_missing(fields):
                continue
            for column, number_of, ends in numbers:
                if not fields[column]:
                    raise self.wrong(f"{quote(row)!r} has an empty node id, expected a name")
                ends.append(number_of.setdefault(fields[column], len(number_of)))
            if layout.weight is not None:
                weights.append(self._weight(fields[layout.weight]))
        edges = np.array(sources, np.int32), np.array(targets, np.int32)
        if layout.weight is None:
            return [(*edges, None)], len(rows) - 1
        names = [list(number_of) for number_of in self.number_of]
        values = self.unfit.look_at(
            np.array(weights, np.float64), lambda i: f"edge ({names[0][sources[i]]}, {names[1][targets[i]]})"
        )
        return [(*edges, values)], len(rows) - 1

    def _is_missing(self, fields: list[str]) -> bool:
        """Whether a row lacks an id, which is counted; in quotes, and with missing="keep", such a word is a name."""
        ends = fields[self.layout.source], fields[self.layout.target]
        words = [end for end in ends if end in MISSING and not (end and is_quoted(end, self.row))]
        if not words or self.reading.missing == "keep":
            return False
        self.n_missing += 1
        self.first_missing = self.first_missing or f"{words[0]!r} in line {self.start}"
        return True

    def _weight(self, field: str) -> float:
        text = with_point(field, self.layout.delimiter)
        if self.layout.delimiter == ";" and "." in text:
            self.decimals.setdefault("." if text == field else ",", field)
        return _weight(text.encode(), self.path, lambda: self.start)

    def complain(self) -> None:
        """Raise for a quote that does not end, for missing ids, and for weights with two decimal marks."""
        if self.begun:
            raise self.wrong(f"{quote(self.begun[0])!r} is not a row of a table (a quote does not end)")
        if self.n_missing and self.reading.missing == "error":
            problem = f"{amount(self.n_missing, 'row lacks', 'rows lack')} an id, the first {self.first_missing}"
            remedy = 'missing="drop" leaves these rows out, missing="keep" takes such words for names'
            raise GraphValidationError(f"{self.path}: {problem}; expected two in each: {remedy}")
        if len(self.decimals) > 1:
            raise GraphFormatError(f"weights have two decimal marks: {' and '.join(self.decimals.values())}", self.path)

    def _is_row(self, row: bytes, line: int) -> bool:
        """Whether a line that starts with # or % is a row after all; where it may be one it is counted."""
        layout, words = self.layout, row.decode("utf-8", "replace")
        try:
            fields = split(words, layout.delimiter)
        except ValueError:
            return False
        named = is_row(words)
        if not (named or layout.delimiter) or not has_shape(fields, layout.n_columns, layout.weight):
            return False
        if not (named and layout.has_marked_rows):
            self.doubts.add(line)
            return False
        return True

    def _go_on(self, row: bytes) -> list[str] | None:
        """The fields of the rows that were begun with this line, None where a quote goes on from here too."""
        self.begun.append(row)
        self.n_quotes += row.count(b'"')
        if self.n_quotes % 2:  # as long as a field is open
            return None
        begun, self.begun = self.begun, []
        return self._fields(b"\n".join(begun).rstrip(b" \r"))

    def _fields(self, row: bytes) -> list[str] | None:
        """The fields of a row as text, None where a quote goes on in the next line."""
        try:
            self.row = row.decode("utf-8")
            fields = split(self.row, self.layout.delimiter)
        except UnicodeDecodeError:
            raise self.wrong(
                f"{quote(row)!r} is not UTF-8; save the file as UTF-8, or name its encoding, as in encoding='cp1252'"
            ) from None
        except OpenQuote:
            self.begun, self.n_quotes = [row], row.count(b'"')
            return None
        except ValueError as problem:
            raise self.wrong(f"{quote(row)!r} is not a row of a table ({problem})") from None
        if len(fields) != self.layout.n_columns:
            said = f"{quote(row)!r} has {len(fields)} columns, expected {self.layout.n_columns} as in the first line"
            raise self.wrong(said)
        return fields

    def to_edges(self, chunks: list) -> Edges:
        """The edges, without a first row that names the columns."""
        names = [list(number_of) for number_of in self.number_of]
        said = []
        if self.layout.may_be_names:
            lone = _lone_rows(chunks, [len(side) for side in names], self.layout.bipartite)
            n_rows, first = len(lone), f"{names[0][chunks[0][0][0]]!r} and {names[1][chunks[0][1][0]]!r}"
            if lone[0] and lone.sum() - 1 > n_rows * MOST_LONE_ROWS:
                said.append(f"the first line was read as an edge of {first}; if it names the columns, pass header=True")
            elif lone[0] and n_rows > 1:
                was = f"the first line, {first}, was read as names of the columns, since neither occurs again"
                said.append(f"{was}; if it is an edge, pass header=False")
                n_dropped = 1 if self.layout.bipartite else 2
                names = [side[n_dropped:] for side in names]
                chunks[0] = tuple(None if column is None else column[1:] for column in chunks[0])
                for sources, targets, _ in chunks:
                    sources -= n_dropped
                    targets -= n_dropped
        for side in names:
            _refuse_two_spellings(side, self.path)
        if self.n_missing:
            said.append(f"{amount(self.n_missing, 'row')} without an id left out, the first {self.first_missing}")
        asked = self.layout.bipartite or self.reading.bipartite
        refuse_overlap(asked, self.layout.names, lambda: [names[0][node] for node in _shared(chunks)], self.path)
        nodes: list[list] = names if self.layout.text_ids else self._as_numbers(chunks, names)
        if self.layout.bipartite:
            edges = keep_kinds_apart(self.path, chunks, nodes, self.layout.names)
        else:
            in_order = nodes[0] == list(range(len(nodes[0])))
            edges = Edges(self.path, len(nodes[0]), chunks, nodes=None if in_order else nodes[0])
        edges.repairs += said
        return edges

    def _as_numbers(self, chunks: list, names: list[list[str]]) -> list[list[int]]:
        """The ids of either side as whole numbers in increasing order, by which the ends are renumbered."""
        for name in (name for side in names for name in side):
            if _is_padded(name) and self.reading.text_ids is None:
                raise ReadAgain(replace(self.reading, text_ids=True, quoted=False))
            if not (name.isascii() and name.isdigit()) or int(name) >= 2**63 or _is_padded(name):
                problem = f"the id {name[:80]!r} is not a whole number from 0 to 2^63 - 1 as in the first edge"
                raise GraphFormatError(f"{problem}; for ids that are names pass format='csv'", self.path)
        numbers = [np.array(list(map(int, side)), np.int64) for side in names]
        ranks = [np.argsort(np.argsort(side)).astype(np.int32) for side in numbers]
        for i, (sources, targets, weights) in enumerate(chunks):
            chunks[i] = (ranks[0][sources], ranks[1][targets], weights)
        return [np.sort(side).tolist() for side in numbers]


def _shared(chunks: list) -> np.ndarray:
    """The nodes that are both the source of an edge and the target of one."""
    sources, targets = (np.unique(np.concatenate([part[side] for part in chunks])) for side in (0, 1))
    return np.intersect1d(sources, targets, assume_unique=True)


def _refuse_two_spellings(names: list[str], path: str) -> None:
    """Refuse a whole number that is one id as 100000 and another as 1e+05, which is how R writes it."""
    short = [name for name in names if _EXPONENT.fullmatch(name)]
    known = set(names) if short else set()
    for name in short:
        if (whole := f"{float(name):.0f}") in known:
            problem = f"the ids {name!r} and {whole!r} are one number, expected one spelling"
            raise GraphFormatError(f"{problem}; in R options(scipen=99) writes all digits", path)


def _lone_rows(chunks: list, n_names: list[int], bipartite: bool) -> np.ndarray:
    """Of each row, whether neither of its ends has another."""
    ends = [np.concatenate([part[side] for part in chunks]) for side in (0, 1)]
    counts = [np.bincount(column, minlength=n) for column, n in zip(ends, n_names, strict=True)]
    if not bipartite:
        counts = [counts[0] + counts[1]] * 2
    return (counts[0][ends[0]] == 1) & (counts[1][ends[1]] == 1)


def _is_padded(end: str) -> bool:
    return len(end) > 1 and end.startswith("0")


def _weight(field: bytes, path: str, line: Callable[[], int]) -> float:
    """The number that a whole field is, white space at its ends aside."""
    try:
        if b"_" in field:
            raise ValueError
        return float(field)
    except ValueError:
        expected = "a number with a decimal point" if b"," in field else "a number"
        problem = f"the weight is {quote(field.strip())!r}, expected {expected}"
        raise GraphFormatError(f"{problem}; weights='ignore' counts each edge 1", path, line()) from None
