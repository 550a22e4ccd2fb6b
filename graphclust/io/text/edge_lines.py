"""The lines of an edge list in blocks, how they are to be read, and what is to be said of the file as a whole.

Lines of NetworkX (`write_edgelist`), two ids and a dict of attributes, are rewritten as `source target weight` and read
as any other. The dicts are not evaluated.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from graphclust.errors import GraphFormatError, GraphValidationError, quote
from graphclust.io.columns import Columns
from graphclust.io.edges import Edges
from graphclust.io.text.byte_source import HEAD, Source
from graphclust.io.text.layout import Layout, data_lines, layout_of
from graphclust.progress import Progress

_LINE = re.compile(rb"[ \t]*(?!#|%)(\S.*?)([ \t]+|[,;])(\{.*\})[ \t\r]*", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<text>[bru]{0,2}'(?:[^'\\]|\\.)*(?:'|\\?\Z)|[bru]{0,2}"(?:[^"\\]|\\.)*(?:"|\\?\Z))|(?P<open>[\[{(])|(?P<close>[\])}])"""
    r"""|(?P<mark>[:,])|(?P<other>[^\s'"\[\]{}():,]+)|\s+"""
)
_OF_NUMPY = re.compile(r"(?:np|numpy)\.\w+\((.*)\)|Decimal\('(.*)'\)")
_ANNOUNCED = re.compile(rb"^#\s*Nodes:\s*\d+\s+Edges:\s*(\d+)", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"


class AttributeLines:
    """Rewrites the lines of a file block by block; `unused` counts the attributes that are left out."""

    def __init__(self, path: str, weight: str | None):
        self.path = path
        self.weight = "weight" if weight is None else weight
        self.is_asked = weight is not None
        self.n_weights = 0
        self.unused: Counter[str] = Counter()

    def rewrite(self, block: bytes, line: int) -> bytes:
        """The same lines with a weight, 1 where none is given, in place of each dict; `line` lines came before."""
        rows = block.split(b"\n")
        for i, row in enumerate(rows):
            match = _match(row)
            if match is None:
                continue
            weight = None
            for name, value in items(match[3].decode("utf-8", "replace")):
                if name != self.weight:
                    self.unused[name] += 1
                    continue
                weight, self.n_weights = value, self.n_weights + 1
            if weight is not None and (boxed := _OF_NUMPY.fullmatch(weight)):
                weight = boxed[boxed.lastindex or 0]
            if weight is None:
                weight = "1"
            elif not weight or any(mark in weight for mark in " \t,;'\""):
                wrong = f"the weight is {quote(weight.encode())!r}, expected a number"
                raise GraphFormatError(wrong, self.path, line + i + 1)
            rows[i] = match[1] + match[2] + weight.encode()
        return b"\n".join(rows)

    def remarks(self) -> list[str]:
        """What is left out. Raises GraphValidationError where no edge has the attribute that was asked for."""
        names = ", ".join(map(repr, sorted(self.unused)[:20]))
        if self.is_asked and not self.n_weights:
            wrong = f"{self.path}: weight={self.weight!r} is an attribute of no edge, expected one of {names or 'none'}"
            raise GraphValidationError(wrong)
        return [f"attributes not used: {names[:80]}"] if names else []


def _match(line: bytes) -> re.Match[bytes] | None:
    """The ids, the separator, and the dict; None for a line of names, one of which may be in braces.

    Where a line ends with a brace, the pattern matches at once or not at all; elsewhere it would try every brace.
    """
    match = _LINE.fullmatch(line) if line.rstrip(b" \t\r").endswith(b"}") else None
    return match if match is not None and len(match[1].split(match[2].strip() or None)) > 1 else None


def items(text: str) -> Iterator[tuple[str, str]]:
    """Keys, where they are strings, and values of a dict, as they are written; nested ones are passed over."""
    depth, start = 0, 0
    key = last = None  # last: the string just read, which a colon makes a key
    for token in _TOKEN.finditer(text):
        if token["open"]:
            depth += 1
            if depth == 1:
                start = token.end()
        elif token["close"]:
            depth -= 1
        if depth == 1 and token["mark"] == ":" and key is None:
            key, start = last, token.end()
        elif (depth == 1 and token["mark"] == ",") or (depth == 0 and token["close"]):
            if key is not None:
                yield key, text[start : token.start()].strip()
            key, start = None, token.end()
        if token.lastgroup is not None:
            last = token["text"].lstrip("bru")[1:-1] if token["text"] else None


@dataclass(frozen=True)
class Reading:
    """How to read a file: the arguments of `load_graph`, and what is found out on the way.

    format : for a reader the one that was recognized. weights : "signed" too, for those below zero. columns : those
    that the caller names. text_ids : True reads ids as text, False demands whole numbers, None lets the file decide.
    counted : the first line of data counts the nodes and the edges. quoted : fields may be in quotes, which are read
    row by row. as_edges : the edges are wanted, and no graph of them. with_details : the files beside a matrix too.
    """

    format: str | None = None
    symmetrize: str | None = "max"
    weights: str | None = None
    bipartite: bool | None = None
    columns: Columns = field(default_factory=Columns)
    missing: str = "error"
    duplicates: str = "sum"
    constraint: int | None = None
    encoding: str | None = None
    max_bytes: int | None = None
    memory_limit: int | None = None
    text_ids: bool | None = None
    counted: bool = False
    quoted: bool = False
    as_edges: bool = False
    with_details: bool = False

    @property
    def policy(self) -> str:
        """What becomes of weights, where no remark asks whether they are any."""
        return self.weights or "file"


class ReadAgain(Exception):
    """The lines turned out to be of another kind than the first ones; `reading` is how to read them."""

    def __init__(self, reading: Reading):
        self.reading = reading


class MayBeMetis(Exception):
    """The lines are an edge list, but just as well a METIS graph in which all nodes have equally many neighbors."""


class EdgeLines:
    """The lines of an edge list. n_lines : how many are done with."""

    def __init__(self, source: Source, reading: Reading):
        self.source = source
        self.head = source.head()
        if counts_edges(self.head) and reading.columns.header is not True:  # which leaves that line out
            reading = replace(reading, counted=True)
        self.reading = reading
        self.n_lines = 0
        self.attributes: AttributeLines | None = None
        head, columns = self.head, reading.columns
        self.first = data_lines(head, 1)[0].strip() if reading.counted else b""
        if reading.counted:
            rows = head.removeprefix(_BOM).split(b"\n")
            rows[[row.strip() for row in rows].index(self.first)] = b""
            head = b"\n".join(rows)
        if any(map(_match, data_lines(head))):
            weight = columns.weight if isinstance(columns.weight, str) else None
            self.attributes = AttributeLines(source.path, weight)
            head = AttributeLines(source.path, weight).rewrite(head[: head.rfind(b"\n") + 1] or head, 0)
            columns = columns._replace(weight=2)
        layout = layout_of(head, source.path, reading.weights, reading.text_ids, columns)
        self.layout = replace(layout, bipartite=layout.bipartite or bool(reading.bipartite))

    def blocks(self, progress: Progress) -> Iterator[memoryview]:
        """Blocks of lines to be read."""
        for block in self.source.line_blocks(progress):
            if self.n_lines == 0 and bytes(block[:3]) == _BOM:
                block = block[3:]
            if self.n_lines < self.layout.n_passed:
                *passed, rest = bytes(block).split(b"\n", self.layout.n_passed - self.n_lines)
                block = memoryview(b"\n" * len(passed) + rest)
            if self.attributes is not None:
                block = memoryview(self.attributes.rewrite(bytes(block), self.n_lines))
            yield block

    def complete(self, edges: Edges, n_rows: int, *said: str) -> None:
        """Add to the edges what is to be said of their lines; `said` was found out by others.

        Raises GraphFormatError where the first line should count the edges, and does not.
        """
        repairs = [self.layout.note]
        if self.reading.counted:
            repairs.append(f"its first line, {quote(self.first)!r}, was read as the numbers of nodes and edges")
            if int(self.first.split()[1]) != n_rows:
                wrong = f"the first line is {quote(self.first)!r}, fewer columns than the others have"
                expected = f"expected as many, or the numbers of nodes and of edges, which are {n_rows}"
                raise GraphFormatError(f"{wrong}; {expected}", self.source.path, 1)
        announced = _ANNOUNCED.search(self.head)
        if announced and n_rows < (n_edges := int(announced[1][:18])):
            repairs.append(f"its header announces {n_edges} edges, {n_rows} lines follow: is it whole?")
        edges.is_table = self.layout.is_table
        edges.remarks += [] if self.attributes is None else self.attributes.remarks()
        edges.repairs = [line for line in (*repairs, *edges.repairs, *said) if line]

    def no_edges(self) -> GraphValidationError:
        """The error of a file without an edge."""
        below = " below its header" if self.layout.has_header else ""
        remedy = "; if its first line is one, pass header=False" if below else ""
        return GraphValidationError(
            f"{self.source.path}: holds no edges{below}, expected at least one line `source target`{remedy}"
        )


def counts_edges(head: bytes) -> bool:
    """Whether two numbers above rows of three columns are the numbers of nodes and of edges, as far as can be seen."""
    first, second = [line.split() for line in [*data_lines(head), b"", b""]][:2]
    if len(first) != 2 or len(second) != 3 or not all(word.isdigit() and len(word) < 19 for word in first):
        return False
    n_rows = len(data_lines(head, HEAD)) - 1
    return int(first[1]) == n_rows if len(head) < HEAD else int(first[1]) >= n_rows


class Sample(NamedTuple):
    """The first edge, the number of edges, and the smallest and the largest id of all others."""

    source: int
    target: int
    weight: float | None
    n_rows: int
    low: int
    high: int


def judge_first_line(sample: Sample, layout: Layout, reading: Reading, path: str) -> str:
    """What is to be said of a first line that may count nodes and edges.

    Raises ReadAgain where it plainly counts them, MayBeMetis, and GraphFormatError for the size line of a Matrix Market
    file that lost its banner; and where it is as likely to count them as to be an edge: one of its numbers is that of
    the lines below, and no other line has the larger one.
    """
    n, m, weight, n_rows, low, high = sample
    n_below = n_rows - 1
    if n_rows < 2 or reading.counted or layout.bipartite or layout.has_header or reading.columns.header is False:
        return ""
    if n == m and weight == n_below and low >= 1 and high <= n:
        what = f"its first line {n} {n} {n_below} is the size line of a Matrix Market file, but the banner"
        raise GraphFormatError(f"{what} %%MatrixMarket is missing; put it back as the first line", path, 1)
    if reading.text_ids is None and layout.is_plain and n == m == n_below and low >= 1 and high <= n:
        raise MayBeMetis
    is_whole_range = (low >= 1 and high == n) or (low == 0 and high == n - 1)
    if layout.n_columns == 2 and m == n_below and is_whole_range and m > n >= 2:  # no other edge has a node m
        raise ReadAgain(replace(reading, counted=True))
    # Of edges, or of those in two directions; the other number counts nodes if no line has more.
    is_count = any(
        count in (n_below, n_below / 2) and nodes >= high + (low == 0) and nodes >= 2
        for count, nodes in ((m, n), (n, m))
    )
    if is_count and (max(n, m) > high or n == m):
        what = f"its first line, {n} {m}, may count nodes and edges, as {n_below} lines follow, or be an edge"
        raise GraphFormatError(f"{what}; pass header=True to leave it out, header=False to read it as an edge", path, 1)
    if layout.n_columns == 2 and m == n_below and is_whole_range and n >= 2:
        return f"its first line, {n} {m}, was read as an edge; if it counts nodes and edges, take it out"
    return ""
