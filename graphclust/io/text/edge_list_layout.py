"""Where source, target and weight stand in the lines of an edge list, read off its first lines."""

import contextlib
import csv
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from graphclust.errors import GraphFormatError
from graphclust.io.text.byte_source import HEAD
from graphclust.io.text.column_choice import Choice, Columns, choose, refuse_columns
from graphclust.io.text.column_names import find_ends, is_number, is_table_of_nodes, name_both_ends, plain_name
from graphclust.io.text.comment_lines import COMMENTS, has_shape, is_row, names_of_columns
from graphclust.io.text.lines import quote

_SAY = 'pass weights="file" if it is, weights="ignore" if it is not'
_TABS_AROUND = re.compile(r"[ \t]*\t[ \t]*(?=[,;])|(?<=[,;])[ \t]*\t[ \t]*")
# The first line of a network of KONECT (http://konect.cc): its columns are the ends, the weight and the time.
_KONECT = re.compile(rb"\s*%\s*(sym|asym|bip)[ \t]+([a-z]+)[ \t\r]*\n")
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
    note: str = ""  # what was assumed about the first line or the columns
    n_passed: int = 0  # lines above the first row: comments and the header
    doubtful: tuple[int, ...] = ()  # those of them that are shaped like a row
    bipartite: bool = False  # whether the two columns number different nodes
    names: tuple[str, str] = ("source", "target")  # of the two columns
    two_kinds: bool = False  # whether those may name two kinds of nodes
    may_be_names: bool = False  # whether the first edge may be the names of the columns

    @property
    def has_marked_rows(self) -> bool:
        """Whether a line that starts with # or % and has the columns of a row is one, rather than a comment."""
        return self.text_ids and (self.delimiter is not None or self.has_header)

    @property
    def is_plain(self) -> bool:
        return self.delimiter is None and self.n_columns == 2 and self.source < self.target


def data_lines(head: bytes, most: int = 2) -> list[bytes]:
    """The first lines that are neither blank nor comments."""
    return [line for _, line in _number_lines(head, most)]


def _number_lines(head: bytes, most: int) -> list[tuple[int, bytes]]:
    """The same lines with their numbers, from 1."""
    return list(itertools.islice((row for row in _lines(head) if not row[1].startswith(COMMENTS)), most))


def _lines(head: bytes) -> Iterator[tuple[int, bytes]]:
    """Numbers and content of the lines that are not blank, the last perhaps cut."""
    at = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    number = 0
    while at < len(head):
        number += 1
        end = head.find(b"\n", at)
        line = head[at : end if end >= 0 else len(head)].strip()
        if line:
            yield number, line
        at = end + 1 if end >= 0 else len(head)


def layout_of(
    head: bytes, path: str, weights: str | None, text_ids: bool | None, columns: Columns | None = None
) -> Layout:
    """Read the layout off the first lines of data, as far as the caller has not named the columns."""
    asked = columns or Columns()
    numbered = _number_lines(head, 2)
    lines = [line.decode("utf-8", "replace") for _, line in numbered]
    if not lines:
        return _layout_of_marked_rows(head, weights, text_ids)
    konect = _KONECT.match(head.removeprefix(b"\xef\xbb\xbf"))
    delimiter = _delimiter_of(lines[0])
    if delimiter == "\t" and all(map(is_number, lines[0].split())):
        delimiter = None  # blanks may be among the tabs
    fields = _fields_of(head, lines[0], delimiter, path)
    first_line, second_line = numbered[0][0], numbered[-1][0]
    marked = list(_find_marked_rows(head, delimiter, len(fields)))
    below = [row for line, row in marked if line > first_line]
    following = _fields_of(head, lines[1], delimiter, path) if len(lines) > 1 else below[0] if below else []
    has_header = asked.header
    if has_header is None:
        has_header = _has(asked, fields) or (konect is None and _is_header(head, fields, following, delimiter))
    if has_header:
        if delimiter is not None and any(first_line < line < second_line for line, _ in marked):
            following = below[0]
        choice = choose(asked, fields, len(fields), lambda: _rows(head, delimiter), path)
        layout = _layout_of_choice(choice, fields, len(fields), delimiter, weights)
        numeric = _are_ends_ids(layout, following, lines[-1]) if text_ids is None else not text_ids
        return replace(layout, has_header=True, text_ids=not numeric, n_passed=first_line)
    if len(head) >= HEAD and b"\n" not in head:
        raise GraphFormatError(f"line too long: {len(head)} bytes without an end, expected a list of edges", path, 1)
    names = _names_above(head, first_line, len(fields), delimiter, asked)
    timed = not konect and names is None and asked == Columns() and _end_in_times([fields, *_rows(head, delimiter)])
    plain_columns = konect or names or timed or asked.source is not None
    if not (len(fields) > 1 and plain_columns) and len(fields) not in (2, 3):
        raise GraphFormatError(
            f"the first edge is {quote(data_lines(head)[0])!r}, {len(fields)} columns; expected 2, or 3 with a weight, "
            "or a header line that names source, target and weight, or the places of the columns, as in source=0, "
            "target=1; a METIS graph: format='metis'",
            path,
            first_line,
        )
    if konect and len(fields) > 2 and asked == Columns():
        weighted = konect[2] != b"unweighted"
        choice = Choice(0, 1, 2 if weighted else None)
    elif timed:
        choice = Choice(0, 1, 2, sure=False)
    else:
        choice = choose(asked, names, len(fields), lambda: _rows(head, delimiter), path)
    if names is None and choice.weight == 2 and weights != "ignore" and not any(is_number(f) for f in fields[2:3]):
        refuse_columns(None, len(fields), path)
    layout = _layout_of_choice(choice, names, len(fields), delimiter, weights)
    if konect:
        layout = replace(layout, bipartite=konect[1] == b"bip")
    above = [(line, row) for line, row in marked if line < first_line] if delimiter and text_ids is not False else []
    if names is not None:
        above = []
    row = _first_row_above(above, len(fields), bool(below))
    numeric = _are_ends_ids(layout, fields, lines[0])
    if row is not None:
        first_line, fields = row
        numeric, above = False, []
    if text_ids is None:
        ends = [fields[layout.source], fields[layout.target]]
        text_ids = not numeric and (not any(map(is_number, ends)) or any(_is_quoted(end, lines[0]) for end in ends))
    doubtful = [line for line, fields in above if text_ids and _may_be_row(fields, layout.n_columns)]
    return replace(
        layout, text_ids=text_ids, n_passed=first_line - 1, doubtful=tuple(doubtful),
        may_be_names=text_ids and asked.header is None and names is None and not any(map(is_number, fields)),
    )  # fmt: skip


def _end_in_times(rows: list[list[str]]) -> bool:
    """Whether every row has four columns: two nodes, a number and a time, in seconds since 1970, from 1973 on."""
    return all(
        len(row) == 4 and is_number(row[2]) and row[3].isdecimal() and int(row[3]) >= _LEAST_TIME for row in rows
    )


def _has(asked: Columns, fields: list[str]) -> bool:
    """Whether a line holds all the names that are asked for."""
    names = {plain_name(field) for field in fields}
    return asked.are_named and all(plain_name(name) in names for name in asked[:3] if isinstance(name, str))


def _rows(head: bytes, delimiter: str | None) -> list[list[str]]:
    """The first rows below the first line."""
    rows = []
    for line in data_lines(head, _SAMPLE + 1)[1:]:
        with contextlib.suppress(csv.Error):
            rows.append(split(line.decode("utf-8", "replace"), delimiter))
    return rows


def _names_above(
    head: bytes, first_line: int, n_columns: int, delimiter: str | None, asked: Columns
) -> list[str] | None:
    """The names in a comment above the first row, as in `# FromNodeId ToNodeId Weight`, or those asked for."""
    for line, text in _lines(head):
        if line >= first_line:
            break
        words = text.decode("utf-8", "replace").lstrip("#% ")
        for mark in (delimiter, None):
            with contextlib.suppress(csv.Error, StopIteration):
                names = split(words, mark)
                if len(names) == n_columns and (_has(asked, names) or name_both_ends(list(map(plain_name, names)))):
                    return names
    return None


def _are_ends_ids(layout: Layout, fields: list[str], line: str) -> bool:
    """Whether both ends of a row are whole numbers that no quotes call text."""
    if max(layout.source, layout.target) >= len(fields):
        return False
    ends = [fields[layout.source], fields[layout.target]]
    return _are_ids(ends) and not any(_is_quoted(end, line) for end in ends)


def _first_row_above(above: list, n_columns: int, others_below: bool) -> tuple[int, list[str]] | None:
    """The first of the marked lines above all others that is a row of the table, if one is.

    A line that stands there alone, and has no weight, may as well be the names of the columns.
    """
    rows = [(line, fields) for line, fields in above if _may_be_row(fields, n_columns)]
    return rows[0] if rows and (n_columns == 3 or others_below) else None


def _may_be_row(fields: list[str], n_columns: int) -> bool:
    return has_shape(fields, n_columns, 2 if n_columns == 3 else None) and not names_of_columns(fields)


def _layout_of_choice(
    choice: Choice, names: list[str] | None, n_columns: int, delimiter: str | None, weights: str | None
) -> Layout:
    """The layout of these columns, and what is to be said of them."""
    source, target, weight, sure, two_kinds = choice
    called = [name.strip() for name in names] if names is not None else list(map(str, range(n_columns)))
    notes = []
    if weight is not None and not sure and weights is None:
        what = "the third column" if names is None and weight == 2 else f"column {called[weight]!r}"
        notes.append(f"{what} was read as weights; {_SAY}")
    if ignored := [called[i] or repr("") for i in range(n_columns) if i not in (source, target, weight)]:
        plain = "; each edge counts 1 unless weight= names its weight" if weight is None and weights is None else ""
        notes.append(f"columns not used: {', '.join(ignored)[:80]}{plain}")
    ends = (called[source], called[target]) if names is not None else ("source", "target")
    return Layout(
        delimiter, n_columns, False, False, source, target, None if weights == "ignore" else weight, "; ".join(notes),
        names=ends, two_kinds=two_kinds,
    )  # fmt: skip


def _layout_of_marked_rows(head: bytes, weights: str | None, text_ids: bool | None) -> Layout:
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
        with contextlib.suppress(csv.Error):
            fields = split(words, delimiter)
            if has_shape(fields, n_columns, None) and not _are_ids([fields[0][1:], fields[1]]):
                yield line, fields


def _is_header(head: bytes, fields: list[str], following: list[str], delimiter: str | None) -> bool:
    """Whether the first line names columns: its names say so, or the next line has numbers where it has words.

    Of names that may be nodes as well, none may occur again as the end of an edge.
    """
    if len(fields) < 2 or any(map(_is_id, fields[:2])):
        return False
    if name_both_ends([plain_name(field) for field in fields]):
        return True
    if any(map(is_number, fields)):
        return False
    if len(following) >= 2:
        numbers = list(map(is_number, following))
        if all(numbers[:2]) or (len(fields) == len(following) > 2 and any(numbers)):
            return True
    if is_table_of_nodes(fields):
        return not _occurs_again(head, fields[:2], delimiter)
    ends = [fields[column] for pair in find_ends(fields) for column in pair]
    return bool(ends) and not _occurs_again(head, ends, delimiter)


def _occurs_again(head: bytes, nodes: list[str], delimiter: str | None) -> bool:
    """Whether one of the nodes of the first edge has another edge among the next thousand."""
    for line in data_lines(head, 1001)[1:]:
        with contextlib.suppress(csv.Error):
            if not set(nodes).isdisjoint(split(line.decode("utf-8", "replace"), delimiter)):
                return True
    return False


def line_of(head: bytes, text: bytes) -> int:
    """The line, from 1, on which a text first stands."""
    return head.count(b"\n", 0, head.find(text)) + 1


def _delimiter_of(line: str) -> str | None:
    """The delimiter of a row; tabs beside a comma or semicolon are white space around it."""
    return next((mark for mark in "\t;," if mark in _TABS_AROUND.sub("", line)), None)


def split(line: str, delimiter: str | None) -> list[str]:
    """The fields of a line, by white space or by a delimiter with quotes; csv.Error where a quote does not end."""
    if delimiter is None:
        return line.split()
    fields = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    return [field if field == field.strip(" \t") or _is_quoted(field, line) else field.strip(" \t") for field in fields]


def _is_quoted(field: str, line: str) -> bool:
    return '"' + field.replace('"', '""') + '"' in line


def _fields_of(head: bytes, line: str, delimiter: str | None, path: str) -> list[str]:
    try:
        return split(line, delimiter)
    except csv.Error as problem:
        text = line.encode()
        raise GraphFormatError(f"{quote(text)!r} is no row of a table ({problem})", path, line_of(head, text)) from None


def _is_id(field: str) -> bool:
    return field.strip().isascii() and field.strip().isdigit()


def _are_ids(fields: list[str]) -> bool:
    return bool(fields) and all(map(_is_id, fields))
