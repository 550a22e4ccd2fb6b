"""Where source, target and weight stand in the lines of an edge list, read off its first lines."""

import contextlib
import csv
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from graphclust.errors import GraphFormatError
from graphclust.io.column_names import columns_by_name, may_name_both_ends, name_both_ends, plain_name
from graphclust.io.lines import shown
from graphclust.io.marked_rows import COMMENTS, has_shape, is_number, is_row, names_of_columns
from graphclust.io.source import HEAD

_SAY = 'pass weights="file" if it is, weights="ignore" if it is not'
_TABS_AROUND = re.compile(r"[ \t]*\t[ \t]*(?=[,;])|(?<=[,;])[ \t]*\t[ \t]*")
_NAMED_WEIGHT = re.compile(rb"^#\s*FromNodeId\s+ToNodeId\s+Weight\s*$", re.MULTILINE | re.IGNORECASE)


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

    @property
    def has_marked_rows(self) -> bool:
        """Whether a line that starts with # or % and has the columns of a row is one, rather than a comment."""
        return self.text_ids and (self.delimiter is not None or self.has_header)

    @property
    def is_plain(self) -> bool:
        return self.delimiter is None and self.n_columns == 2 and self.source < self.target


def data_lines(head: bytes, most: int = 2) -> list[bytes]:
    """The first lines that are neither blank nor comments."""
    return [line for _, line in _numbered_lines(head, most)]


def _numbered_lines(head: bytes, most: int) -> list[tuple[int, bytes]]:
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


def layout_of(head: bytes, path: str, weights: str | None, text_ids: bool | None) -> Layout:
    """Read the layout off the first two lines of data."""
    numbered = _numbered_lines(head, 2)
    lines = [line.decode("utf-8", "replace") for _, line in numbered]
    if not lines:
        return _layout_of_marked_rows(head, weights, text_ids)
    delimiter = _delimiter_of(lines[0])
    if delimiter == "\t" and all(map(is_number, lines[0].split())):
        delimiter = None  # blanks may be among the tabs
    fields = _fields_of(head, lines[0], delimiter, path)
    numeric = _are_ids(fields[:2])
    first_line, second_line = numbered[0][0], numbered[-1][0]
    marked = list(_marked_rows(head, delimiter, len(fields)))
    below = [row for line, row in marked if line > first_line]
    following = _fields_of(head, lines[1], delimiter, path) if len(lines) > 1 else below[0] if below else []
    if _is_header(head, fields, following, delimiter):
        if delimiter is not None and any(first_line < line < second_line for line, _ in marked):
            following = below[0]
        numeric = _are_ids(following[:2]) if text_ids is None else not text_ids
        layout = _layout_from_names(fields, delimiter, text_ids=not numeric, weights=weights)
        return replace(layout, n_passed=first_line)
    if len(head) >= HEAD and b"\n" not in head:
        raise GraphFormatError(f"line too long: {len(head)} bytes without an end, expected a list of edges", path, 1)
    if len(fields) not in (2, 3):
        raise GraphFormatError(
            f"the first edge is {shown(data_lines(head)[0])!r}, {len(fields)} columns; expected 2, or 3 with "
            "a weight, or a header line that names source, target and weight; a METIS graph: format='metis'",
            path,
            first_line,
        )
    above = [(line, row) for line, row in marked if line < first_line] if delimiter and text_ids is not False else []
    row = _first_row_above(above, len(fields), bool(below))
    if row is not None:
        first_line, fields = row
        numeric, above = False, []
    if text_ids is None:
        text_ids = not (numeric or any(is_number(field) for field in fields[:2]))
    layout = _layout_without_names(head, delimiter, len(fields), text_ids, weights)
    doubtful = [line for line, fields in above if text_ids and _may_be_row(fields, layout.n_columns)]
    return replace(layout, n_passed=first_line - 1, doubtful=tuple(doubtful))


def _first_row_above(above: list, n_columns: int, others_below: bool) -> tuple[int, list[str]] | None:
    """The first of the marked lines above all others that is a row of the table, if one is.

    A line that stands there alone, and has no weight, may as well be the names of the columns.
    """
    rows = [(line, fields) for line, fields in above if _may_be_row(fields, n_columns)]
    return rows[0] if rows and (n_columns == 3 or others_below) else None


def _may_be_row(fields: list[str], n_columns: int) -> bool:
    return has_shape(fields, n_columns, 2 if n_columns == 3 else None) and not names_of_columns(fields)


def _layout_without_names(
    head: bytes, delimiter: str | None, n_columns: int, text_ids: bool, weights: str | None
) -> Layout:
    weighted = n_columns == 3 and weights != "ignore"
    note = f"the third column was read as weights; {_SAY}"
    return Layout(
        delimiter, n_columns, False, text_ids, weight=2 if weighted else None,
        note=note if weighted and weights is None and not _NAMED_WEIGHT.search(head) else "",
    )  # fmt: skip


def _layout_of_marked_rows(head: bytes, weights: str | None, text_ids: bool | None) -> Layout:
    """The layout of lines that all start with # or %: of a table, if they are all shaped like its rows."""
    nothing = Layout(None, 2, False, False)
    names = [line for _, line in _lines(head) if is_row(line.decode("utf-8", "replace"))]
    if text_ids is False or not names:
        return nothing
    delimiter = _delimiter_of(names[0].decode("utf-8", "replace"))
    n_columns = len(next((row for n in (2, 3) for _, row in _marked_rows(head, delimiter, n)), []))
    rows = list(_marked_rows(head, delimiter, n_columns))
    if delimiter is None or len(rows) < len(names) or names_of_columns(rows[0][1]):
        return nothing
    return replace(_layout_without_names(head, delimiter, n_columns, True, weights), n_passed=rows[0][0] - 1)


def _marked_rows(head: bytes, delimiter: str | None, n_columns: int) -> Iterator[tuple[int, list[str]]]:
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
    """Whether the first line names columns: it is no edge, its names say so, or the next one has a number there."""
    if min(len(fields), len(following)) < 2 or any(map(_is_id, fields[:2])):
        return False
    names = [plain_name(field) for field in fields]
    if _are_ids(following[:2]) or name_both_ends(names):
        return True
    if len(fields) == len(following) == 3 and not is_number(fields[2]) and is_number(following[2]):
        return True
    return may_name_both_ends(*names[:2]) and not _named_again(head, fields[:2], delimiter)


def _named_again(head: bytes, nodes: list[str], delimiter: str | None) -> bool:
    """Whether one of the nodes of the first edge has another edge among the next thousand."""
    for line in data_lines(head, 1001)[1:]:
        with contextlib.suppress(csv.Error):
            if not set(nodes).isdisjoint(split(line.decode("utf-8", "replace"), delimiter)[:2]):
                return True
    return False


def _layout_from_names(fields: list[str], delimiter: str | None, text_ids: bool, weights: str | None) -> Layout:
    source, target, weight, is_sure = columns_by_name([plain_name(field) for field in fields])
    notes = []
    if weight is not None and not is_sure and weights is None:
        notes.append(f"column {fields[weight].strip()!r} was read as weights; {_SAY}")
    ignored = [field.strip() for i, field in enumerate(fields) if i not in (source, target, weight)]
    if ignored:
        notes.append(f"columns not used: {', '.join(ignored)[:80]}")
    if weights == "ignore":
        weight = None
    return Layout(delimiter, len(fields), True, text_ids, source, target, weight, "; ".join(notes))


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
        raise GraphFormatError(f"{shown(text)!r} is no row of a table ({problem})", path, line_of(head, text)) from None


def _is_id(field: str) -> bool:
    return field.strip().isascii() and field.strip().isdigit()


def _are_ids(fields: list[str]) -> bool:
    return bool(fields) and all(map(_is_id, fields))
