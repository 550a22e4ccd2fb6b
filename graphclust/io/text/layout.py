"""Where source, target and weight stand in the lines of an edge list, read off its first lines."""

import itertools
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from graphclust.errors import GraphFormatError, quote
from graphclust.io.columns import (
    Choice,
    Columns,
    Kind,
    Table,
    choose,
    describe_choice,
    ends_by_name,
    is_number,
    names_nodes,
    plain_name,
)
from graphclust.io.text.byte_source import HEAD
from graphclust.io.text.records import (
    COMMENTS,
    MISSING,
    QUOTED,
    OpenQuote,
    has_shape,
    is_quoted,
    is_row,
    names_of_columns,
    split,
)

_TABS_AROUND = re.compile(r"[ \t]*\t[ \t]*(?=[,;])|(?<=[,;])[ \t]*\t[ \t]*")
# The first line of a network of KONECT (http://konect.cc): its columns are the ends, the weight and the time.
_KONECT = re.compile(rb"\s*%\s*(sym|asym|bip)[ \t]+([a-z]+)[ \t\r]*\n")
_SEPARATOR = re.compile(rb"(?:\xef\xbb\xbf)?sep=([,;\t])\r?\n", re.IGNORECASE)  # as Excel writes it
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
_LEAST_TIME = 100_000_000  # larger numbers in a fourth column are times
_SAMPLE = 50  # rows that say of what kind a column is


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
    note: str = ""  # what was assumed about the columns
    n_passed: int = 0  # lines above the first row: comments and the header
    doubtful: tuple[int, ...] = ()  # those of them that are shaped like a row
    bipartite: bool = False  # whether the two columns number different nodes
    names: tuple[str, str] = ("source", "target")  # of the two columns
    may_be_names: bool = False  # whether the first edge may be the names of the columns

    @property
    def has_marked_rows(self) -> bool:
        """Whether a line that starts with # or % and has the columns of a row is one, rather than a comment."""
        return self.text_ids and (self.delimiter is not None or self.has_header)

    @property
    def is_plain(self) -> bool:
        return self.delimiter is None and self.n_columns == 2 and self.source < self.target

    @property
    def is_table(self) -> bool:
        """Whether a person would call the file a table, and not a list of numbers."""
        return self.text_ids or self.has_header or self.delimiter in (",", ";")


class Row(NamedTuple):
    """A row of a table: its first line, the line after its last one, its text and its fields."""

    line: int
    end: int
    text: str
    fields: list[str]


def data_lines(head: bytes, most: int = 2) -> list[bytes]:
    """The first lines that are neither blank nor comments."""
    return list(itertools.islice((line for _, line in _lines(head) if not line.lstrip().startswith(COMMENTS)), most))


def _lines(head: bytes) -> Iterator[tuple[int, bytes]]:
    """Numbers, from 1, and content of the lines that are not blank, the last perhaps cut; tabs stay, as delimiters."""
    at = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    number = 0
    while at < len(head):
        number += 1
        end = head.find(b"\n", at)
        line = head[at : end if end >= 0 else len(head)].strip(b" \r")
        if line.strip():
            yield number, line
        at = end + 1 if end >= 0 else len(head)


def _rows_of(head: bytes, delimiter: str | None, path: str) -> Iterator[Row]:
    """The rows that are no comments, in one line or, in quotes, several; GraphFormatError for what is no row."""
    begun: list[bytes] = []
    start, cut = 0, False  # the last row may be cut where the head is, but not the first
    for line, text in _lines(head):
        if not begun and text.lstrip().startswith(COMMENTS):
            continue
        start = line if not begun else start
        begun.append(text)
        if len(begun) > 1 and b'"' not in text:
            continue
        whole = b"\n".join(begun).decode("utf-8", "replace")
        try:
            fields = split(whole, delimiter)
        except OpenQuote:
            continue
        except ValueError as problem:
            raise _no_row(begun[0], problem, path, start) from None
        yield Row(start, line + 1, whole, fields)
        begun, cut = [], len(head) >= HEAD
    if begun and not cut:
        raise _no_row(begun[0], "a quote does not end", path, start)


def _no_row(text: bytes, problem: object, path: str, line: int) -> GraphFormatError:
    return GraphFormatError(f"{quote(text)!r} is not a row of a table ({problem})", path, line)


def _first_text(head: bytes) -> str:
    """The first line that is no comment, with those after it in which its quotes go on."""
    text = ""
    for _, line in _lines(head):
        if text or not line.lstrip().startswith(COMMENTS):
            text += line.decode("utf-8", "replace") + "\n"
            if text.count('"') % 2 == 0:
                break
    return text.rstrip("\n")


def layout_of(head: bytes, path: str, weights: str | None, text_ids: bool | None, asked: Columns) -> Layout:
    """Read the layout off the first lines of data, as far as the caller has not named the columns."""
    separator = _SEPARATOR.match(head)
    if separator is not None:  # its line becomes blank
        head = b"\n" + head[separator.end() :]
    if not data_lines(head, 1):
        return _layout_of_marked_rows(head, path, weights, text_ids)
    first_text = _first_text(head)
    konect = _KONECT.match(head.removeprefix(b"\xef\xbb\xbf"))
    delimiter = separator[1].decode() if separator else _delimiter_of(first_text)
    if delimiter == "\t" and all(map(is_number, first_text.split())):
        delimiter = None  # blanks may be among the tabs
    rows = list(itertools.islice(_rows_of(head, delimiter, path), _SAMPLE + 1))
    if not rows or (len(head) >= HEAD and b"\n" not in head):
        raise GraphFormatError(f"line too long: {len(head)} bytes without an end, expected a list of edges", path, 1)
    first, fields = rows[0], rows[0].fields
    marked = list(_find_marked_rows(head, delimiter, len(fields)))
    below = [row for line, row in marked if line > first.line]
    following = rows[1].fields if len(rows) > 1 else below[0] if below else []
    has_header = asked.header
    if has_header is None:
        has_header = _has(asked, fields) or (konect is None and _is_header(head, fields, following, delimiter))
    if has_header:
        if delimiter is not None and len(rows) > 1 and any(first.line < line < rows[1].line for line, _ in marked):
            following = below[0]
        names: list[str] | None = fields
        if len(following) == len(fields) + 1 and not any(map(is_number, fields)):
            names = ["", *fields]  # R writes the names of rows below no name
        elif len(following) != len(fields) and all(map(is_number, fields)):
            names = None
        n_columns = len(fields if not following else following if names is None else names)
        layout = _chosen(asked, names, n_columns, delimiter, rows[1:], weights, path)
        if text_ids is None:
            text_ids = not _are_ends_ids(layout, following, rows[min(1, len(rows) - 1)].text)
        return replace(layout, has_header=True, text_ids=text_ids, n_passed=first.end - 1)
    names = _names_above(head, first.line, len(fields), delimiter, asked)
    timed = not konect and names is None and asked == Columns() and _end_in_times(rows)
    plain_columns = konect or names or timed or asked.source is not None
    if not (len(fields) > 1 and plain_columns) and len(fields) not in (2, 3):
        expected = (
            "expected 2, or 3 with a weight, or a header line that names source, target and weight, or the places of "
            "the columns, as in source=0, target=1 (a first line that counts: header=True; METIS: format='metis')"
        )
        problem = f"the first edge is {quote(data_lines(head)[0])!r}, {len(fields)} columns"
        raise GraphFormatError(f"{problem}; {expected}", path, first.line)
    of_konect = konect and len(fields) > 2 and asked == Columns()
    if of_konect or timed:
        choice = Choice(0, 1, None if konect and konect[2] == b"unweighted" else 2, sure=not timed)
        layout = _layout_of_choice(choice, None, len(fields), delimiter, weights)
    else:
        layout = _chosen(asked, names, len(fields), delimiter, rows, weights, path)
    if konect:
        layout = replace(layout, bipartite=konect[1] == b"bip")
    may_be_above = delimiter and text_ids is not False and names is None
    above = [(line, row) for line, row in marked if line < first.line] if may_be_above else []
    numeric, first_line = _are_ends_ids(layout, fields, first.text), first.line
    rows_above = [(line, row) for line, row in above if _may_be_row(row, len(fields))]
    if rows_above and (len(fields) == 3 or below):  # one alone, without a weight, may as well name the columns
        first_line, fields = rows_above[0]
        numeric, above = False, []
    if text_ids is None:
        ends = [fields[layout.source], fields[layout.target]]
        text_ids = not numeric and (not any(map(is_number, ends)) or any(is_quoted(end, first.text) for end in ends))
    doubtful = [line for line, fields in above if text_ids and _may_be_row(fields, layout.n_columns)]
    return replace(
        layout, text_ids=text_ids, n_passed=first_line - 1, doubtful=tuple(doubtful),
        may_be_names=text_ids and asked.header is None and names is None and not any(map(is_number, fields)),
    )  # fmt: skip


def _chosen(
    asked: Columns, names: list[str] | None, n_columns: int, delimiter: str | None, rows: list[Row],
    weights: str | None, path: str,
) -> Layout:  # fmt: skip
    """The layout of the columns that the three rules choose; `rows` are the first ones below the names."""

    def kind(column: int) -> Kind:
        values = [with_point(row.fields[column], delimiter) for row in rows if column < len(row.fields)]
        values = [value for value in values if value not in MISSING]
        if not values or not is_number(values[0]):
            return "text"
        numbers = [float(value) for value in values if is_number(value)]
        return "whole" if all(number.is_integer() or math.isinf(number) for number in numbers) else "number"

    def first_rows() -> list[str]:
        above = [] if names is None else [(delimiter or " ").join(names)]
        return [quote(text.encode()) for text in (*above, *(row.text for row in rows[:3]))]

    choice = choose(asked, Table(names, n_columns, kind, first_rows, path))
    return _layout_of_choice(choice, names, n_columns, delimiter, weights)


def with_point(field: str, delimiter: str | None) -> str:
    """A number with a decimal point: between semicolons a comma can only be that of a number."""
    return field.replace(",", ".") if delimiter == ";" and _DECIMAL_COMMA.fullmatch(field) else field


def _end_in_times(rows: list[Row]) -> bool:
    """Whether every row has four columns: two nodes, a number and a time, in seconds since 1970, from 1973 on."""
    return all(
        len(row.fields) == 4 and is_number(row.fields[2])
        and is_number(row.fields[3]) and _LEAST_TIME <= float(row.fields[3]) < float("inf")
        for row in rows
    )  # fmt: skip


def _has(asked: Columns, fields: list[str]) -> bool:
    """Whether a line holds all the names that are asked for."""
    named = [plain_name(name) for name in asked[:3] if isinstance(name, str)]
    return named != [] and set(named) <= {plain_name(field) for field in fields}


def _names_above(
    head: bytes, first_line: int, n_columns: int, delimiter: str | None, asked: Columns
) -> list[str] | None:
    """The names in a comment above the first row, as in `# FromNodeId ToNodeId Weight`, or those asked for."""
    for line, text in _lines(head):
        if line >= first_line:
            break
        words = text.decode("utf-8", "replace").lstrip("#% ")
        for mark in (delimiter, None):
            with suppress(ValueError):
                names = split(words, mark)
                if len(names) == n_columns and (_has(asked, names) or ends_by_name(names) is not None):
                    return names
    return None


def _are_ends_ids(layout: Layout, fields: list[str], line: str) -> bool:
    """Whether both ends of a row are whole numbers that no quotes call text."""
    if max(layout.source, layout.target) >= len(fields):
        return False
    ends = [fields[layout.source], fields[layout.target]]
    return all(map(_is_id, ends)) and not any(is_quoted(end, line) for end in ends)


def _may_be_row(fields: list[str], n_columns: int) -> bool:
    return has_shape(fields, n_columns, 2 if n_columns == 3 else None) and not names_of_columns(fields)


def _layout_of_choice(
    choice: Choice, names: list[str] | None, n_columns: int, delimiter: str | None, weights: str | None
) -> Layout:
    """The layout of these columns, and what is to be said of them."""
    source, target, weight, _ = choice
    ends = ("source", "target") if names is None else (names[source].strip(), names[target].strip())
    note = describe_choice(choice, names, n_columns, weights)
    weight = None if weights == "ignore" else weight
    return Layout(delimiter, n_columns, False, False, source, target, weight, note, names=ends)


def _layout_of_marked_rows(head: bytes, path: str, weights: str | None, text_ids: bool | None) -> Layout:
    """The layout of lines that all start with # or %: of a table, if they are all shaped like its rows."""
    nothing = Layout(None, 2, False, False)
    names = [line for _, line in _lines(head) if is_row(line.decode("utf-8", "replace"))]
    if text_ids is False or not names:
        return nothing
    delimiter = _delimiter_of(names[0].decode("utf-8", "replace"))
    n_columns = len(next((row for n in (2, 3) for _, row in _find_marked_rows(head, delimiter, n)), []))
    rows = list(_find_marked_rows(head, delimiter, n_columns))
    if delimiter is None or len(rows) < len(names) or names_of_columns(rows[0][1]):
        return nothing
    choice = Choice(0, 1, 2 if n_columns == 3 else None, sure=False)
    layout = _layout_of_choice(choice, None, n_columns, delimiter, weights)
    return replace(layout, text_ids=True, n_passed=rows[0][0] - 1)


def _find_marked_rows(head: bytes, delimiter: str | None, n_columns: int) -> Iterator[tuple[int, list[str]]]:
    """Line and fields of each of the first thousand lines that can be rows though they start with # or %.

    A row of numbers with a mark before it was put out of use.
    """
    for line, text in itertools.islice(_lines(head), 1001):
        words = text.decode("utf-8", "replace")
        if not is_row(words):
            continue
        with suppress(ValueError):
            fields = split(words, delimiter)
            if has_shape(fields, n_columns, None) and not all(map(_is_id, [fields[0][1:], fields[1]])):
                yield line, fields


def _is_header(head: bytes, fields: list[str], following: list[str], delimiter: str | None) -> bool:
    """Whether the first line names columns: its names say so, or the next line has numbers where it has words.

    Of names that may be nodes as well, none may occur again as the end of an edge.
    """
    ends = ends_by_name(fields)
    if ends is not None and plain_name(fields[ends[0]]) != "u":
        return True
    if len(fields) < 2 or any(is_number(with_point(field, delimiter)) for field in fields):
        return False
    numbers = [is_number(with_point(field, delimiter)) for field in following]
    if len(numbers) >= 2 and (all(numbers[:2]) or (len(fields) == len(following) > 2 and any(numbers))):
        return True
    if len(fields) == len(following) == 2 and any(numbers):
        return not _occurs_again(head, fields, delimiter)
    if len(following) == len(fields) + 1 and numbers[0]:
        return True  # of R, which gives no name to the column of the names of rows
    if ends is None and not names_nodes(fields[0]):
        return False
    return not _occurs_again(head, [fields[column] for column in ends or (0, 1)], delimiter)


def _occurs_again(head: bytes, nodes: list[str], delimiter: str | None) -> bool:
    """Whether one of the nodes of the first edge has another edge among the next thousand."""
    for line in data_lines(head, 1001)[1:]:
        with suppress(ValueError):
            if not set(nodes).isdisjoint(split(line.decode("utf-8", "replace"), delimiter)):
                return True
    return False


def line_of(head: bytes, text: bytes) -> int:
    """The line, from 1, on which a text first stands."""
    return head.count(b"\n", 0, head.find(text)) + 1


def _delimiter_of(line: str) -> str | None:
    """The delimiter of a row, outside of quotes; tabs beside a comma or semicolon are white space around it."""
    plain = _TABS_AROUND.sub("", QUOTED.sub("", line))
    return next((mark for mark in "\t;," if mark in plain), None)


def _is_id(field: str) -> bool:
    return field.strip().isascii() and field.strip().isdigit()
