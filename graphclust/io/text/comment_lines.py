"""Lines that start with # or %: comments, or rows of a table whose first id does, as hashtags do."""

import re
from typing import TYPE_CHECKING

from graphclust.errors import amount
from graphclust.io.columns import ends_by_name, is_number

if TYPE_CHECKING:
    from graphclust.io.text.layout import Layout

COMMENTS = (b"#", b"%")
_NAME = re.compile(r"[#%][^\s#%]")
_NAMED_LINE = re.compile(rb"^[ \t]*[#%][^\s#%][^\n]*", re.MULTILINE)


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
        self.layout = layout
        self.lines = list(layout.doubtful[:1])
        self.n_lines = len(layout.doubtful)

    def add(self, line: int) -> None:
        """Count a line."""
        self.n_lines += 1
        self.lines = self.lines or [line]

    def look_at(self, block: bytes, line: int) -> None:
        """Count the lines of a block of numbers that start with a name; `line` lines came before it."""
        if not any(mark in block for mark in COMMENTS):
            return
        for found in _NAMED_LINE.finditer(block):
            fields = found[0].decode("utf-8", "replace").split(self.layout.delimiter)
            if has_shape(fields, self.layout.n_columns, None):
                self.add(line + block.count(b"\n", 0, found.start()) + 1)

    def sentence(self) -> str:
        """What to say of them; nothing if there are none."""
        if not self.n_lines:
            return ""
        one = "line that starts with # or % was taken for a comment"
        many = "lines that start with # or % were taken for comments"
        said = f"{amount(self.n_lines, one, many)}, the first in line {self.lines[0]}, though shaped like an edge"
        remedy = "put its first id into quotes" if self.layout.text_ids else "pass format='csv'"
        return f"{said}; if it is one, {remedy}"
