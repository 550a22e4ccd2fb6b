"""Rows of text tables: fields between delimiters, in quotes where they hold delimiters, quotes or line ends.

A line that starts with # or % is a comment, or a row whose first id does, as hashtags do.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphclust.errors import amount
from graphclust.io.columns import ends_by_name, is_number

if TYPE_CHECKING:
    from graphclust.io.text.layout import Layout

_QUOTED = r'"((?:[^"]++|"")*+)"'
_FIELD = {
    mark: re.compile(rf"[ ]*+(?:{_QUOTED}[ {blank}]*+|([^\n{mark}]*+))(?={mark}|\r?\Z)")
    for mark, blank in (("\t", ""), (";", "\t"), (",", "\t"))
}
QUOTED = re.compile(_QUOTED)
_BEGUN = re.compile(r'[ ]*+"(?:[^"]++|"")*+\Z')
_WORD = re.compile(rf"{_QUOTED}(?=\s|\Z)|(\S+)")
COMMENTS = (b"#", b"%")
_NAME = re.compile(r"[#%][^\s#%]")
_NAMED_LINE = re.compile(rb"^[ \t]*[#%][^\s#%][^\n]*", re.MULTILINE)
MOST = 2**63  # what a store can hold as a number is smaller
# The words that pandas, R and databases write, or read, for a value that is missing.
MISSING = frozenset(
    ("", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NaT", "NULL", "null", "None", r"\N")
)


class OpenQuote(ValueError):
    """A quoted field goes on in the next line."""


def split(row: str, delimiter: str | None) -> list[str]:
    """The fields of a row, white space around them taken away unless it is in quotes.

    delimiter : None for white space. Raises OpenQuote where a quote does not end; ValueError where text follows one.

    >>> split('a, "b, ""c"" d",e', ",")
    ['a', 'b, "c" d', 'e']
    """
    if '"' not in row:
        return row.split() if delimiter is None else [field.strip(" \t\r") for field in row.split(delimiter)]
    if delimiter is None:
        return [match[2] if match[1] is None else match[1].replace('""', '"') for match in _WORD.finditer(row)]
    fields, at = [], 0
    while True:
        match = _FIELD[delimiter].match(row, at)
        if match is None or (match[1] is None and match[2].startswith('"')):
            if _BEGUN.match(row, at):
                raise OpenQuote("a quote does not end")
            raise ValueError("text follows a quoted field")
        fields.append(match[2].strip(" \t\r") if match[1] is None else match[1].replace('""', '"'))
        at = match.end() + 1
        if match.end() >= len(row.rstrip("\r")):
            return fields


def is_quoted(field: str, row: str) -> bool:
    """Whether a field stands in quotes in its row."""
    return '"' + field.replace('"', '""') + '"' in row


def is_row(line: str) -> bool:
    """Whether a line that starts with a mark goes on like a name; a comment has a blank there, or more marks."""
    return bool(_NAME.match(line))


def has_shape(fields: list[str], n_columns: int, weight: int | None) -> bool:
    """Whether there are as many columns as in every row, both ends among them, and a number where the weight is."""
    return len(fields) == n_columns > 1 and all(fields[:2]) and (weight is None or is_number(fields[weight]))


def names_of_columns(fields: list[str]) -> bool:
    """Whether a comment names the columns below it, as in `#source,target`."""
    return ends_by_name([field.lstrip("#% ") for field in fields]) is not None


class Doubts:
    """Lines that were taken for comments though they have the shape of a row: how many, and the first."""

    def __init__(self, layout: "Layout"):
        self.layout, self.n_lines = layout, len(layout.doubtful)
        self.first = next(iter(layout.doubtful), 0)

    def add(self, line: int) -> None:
        self.n_lines += 1
        self.first = self.first or line

    def look_at(self, block: bytes, line: int) -> None:
        """Count the lines of a block of numbers that start with a name; `line` lines came before it."""
        if not any(mark in block for mark in COMMENTS):
            return
        for match in _NAMED_LINE.finditer(block):
            fields = match[0].decode("utf-8", "replace").split(self.layout.delimiter)
            if has_shape(fields, self.layout.n_columns, None):
                self.add(line + block.count(b"\n", 0, match.start()) + 1)

    def sentence(self) -> str:
        """What to say of them; nothing if there are none."""
        if not self.n_lines:
            return ""
        one = "line that starts with # or % was taken for a comment"
        many = "lines that start with # or % were taken for comments"
        said = f"{amount(self.n_lines, one, many)}, the first in line {self.first}, though shaped like an edge"
        remedy = "put its first id into quotes" if self.layout.text_ids else "pass format='csv'"
        return f"{said}; if it is one, {remedy}"


def as_texts(names: Iterable[Any]) -> list[str] | None:
    """The names as they are printed; None where two would be the same."""
    texts = [str(name) for name in names]
    return texts if len(set(texts)) == len(texts) else None


def as_numbers(names: list[Any]) -> list[Any]:
    """Names as whole numbers below 2^63, if all are, as they would be written."""
    return [int(name) for name in names] if all(map(_is_number, names)) else names


def _is_number(name: Any) -> bool:
    if not isinstance(name, str):
        return False
    digits = name.removeprefix("-")
    shaped = digits.isascii() and digits.isdigit() and len(digits) <= len(str(MOST))
    return shaped and str(int(name)) == name and abs(int(name)) < MOST
