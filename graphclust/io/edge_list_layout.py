"""Where source, target and weight stand in the lines of an edge list, read off its first lines."""

import contextlib
import csv
import re
from dataclasses import dataclass

from graphclust.errors import GraphFormatError
from graphclust.io.column_names import columns_by_name, may_name_both_ends, name_both_ends, plain_name
from graphclust.io.lines import shown
from graphclust.io.source import HEAD

COMMENTS = (b"#", b"%")
_SAY = 'pass weights="file" if it is, weights="ignore" if it is not'
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

    @property
    def is_plain(self) -> bool:
        return self.delimiter is None and self.n_columns == 2 and self.source < self.target


def data_lines(head: bytes, most: int = 2) -> list[bytes]:
    """The first lines that are neither blank nor comments."""
    lines: list[bytes] = []
    at = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    while at < len(head) and len(lines) < most:
        end = head.find(b"\n", at)
        line = head[at : end if end >= 0 else len(head)].strip()
        if line and not line.startswith(COMMENTS):
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
    fields = _fields_of(head, lines[0], delimiter, path)
    numeric = _are_ids(fields[:2])
    following = _fields_of(head, lines[1], delimiter, path) if len(lines) > 1 else []
    if _is_header(head, fields, following, delimiter):
        numeric = _are_ids(following[:2]) if text_ids is None else not text_ids
        return _layout_from_names(fields, delimiter, text_ids=not numeric, weights=weights)
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
    note = f"the third column was read as weights; {_SAY}"
    return Layout(
        delimiter, len(fields), False, text_ids, weight=2 if weighted else None,
        note=note if weighted and weights is None and not _NAMED_WEIGHT.search(head) else "",
    )  # fmt: skip


def _is_header(head: bytes, fields: list[str], following: list[str], delimiter: str | None) -> bool:
    """Whether the first line names columns: it is no edge, its names say so, or the next one has a number there."""
    if min(len(fields), len(following)) < 2 or any(map(_is_id, fields[:2])):
        return False
    names = [plain_name(field) for field in fields]
    if _are_ids(following[:2]) or name_both_ends(names):
        return True
    if len(fields) == len(following) == 3 and not _looks_like_number(fields[2]) and _looks_like_number(following[2]):
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
    return next((mark for mark in "\t;," if mark in line), None)


def split(line: str, delimiter: str | None) -> list[str]:
    """The fields of a line, by white space or by a delimiter with quotes; csv.Error where a quote does not end."""
    if delimiter is None:
        return line.split()
    fields = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    return [field.rstrip(" ") if field.endswith(" ") and not _is_quoted(field, line) else field for field in fields]


def _is_quoted(field: str, line: str) -> bool:
    return field.replace('"', '""') + '"' in line


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


def _looks_like_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
