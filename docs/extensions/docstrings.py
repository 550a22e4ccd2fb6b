"""Docstrings as this package writes them, made into reStructuredText.

A line `name : text` describes an argument or a field, with its further lines indented; names in backticks are
references; a paragraph that begins with Returns, Raises, Warns or Source says so in bold; examples are doctests.
Everything else is plain text, in which no character means anything else.
"""

import dataclasses
import inspect
import re
from typing import Any

FIELD = re.compile(r"(\*{0,2}[A-Za-z_]\w*(?:, \*{0,2}[A-Za-z_]\w*)*) : (.*)")
OPENING = re.compile(r"(Returns|Yields|Raises|Warns|Source|Fitted)\b:?")
BACKTICKS = re.compile(r"``([^`]+)``|`([^`]+)`")
NAME = re.compile(r"[A-Za-z_][\w.]*")


def as_rst(lines: list[str]) -> list[str]:
    """The lines of a docstring, its indentation removed, as lines of reStructuredText."""
    out: list[str] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        block = [line]
        place += 1
        if not line.strip():
            continue
        if line.startswith(">>>"):
            while place < len(lines) and lines[place].strip():
                block.append(lines[place])
                place += 1
            out += [*block, ""]
        elif line.startswith("    "):  # code, or something laid out by hand
            while place < len(lines) and (lines[place].startswith("    ") or not lines[place].strip()):
                block.append(lines[place])
                place += 1
            out += ["::", "", *block, ""]
        else:
            field = FIELD.fullmatch(line)
            while place < len(lines) and _goes_on(lines[place], block, bool(field)):
                block.append(lines[place])
                place += 1
            text = " ".join(part.strip() for part in block)
            out += _field(text) if field else [_paragraph(text)]
            out.append("")
    return out


def _goes_on(line: str, block: list[str], is_field: bool) -> bool:
    """Whether a line belongs to the block before it: of a field what is indented, or ends a sentence begun there."""
    if is_field and line.startswith("    "):
        return True
    if not line.strip() or line.startswith(("    ", ">>>")) or FIELD.fullmatch(line):
        return False
    return not is_field or not block[-1].rstrip().endswith((".", ":"))


def _field(text: str) -> list[str]:
    names, _, description = text.partition(" : ")
    bold = ", ".join(f"**{escaped(name)}**" for name in names.split(", "))
    return [bold, f"    {inline(description) or '..'}"]


def _paragraph(text: str) -> str:
    opening = OPENING.match(text)
    if not opening:
        return inline(text)
    return f"**{opening[1]}** {inline(text[opening.end() :].strip())}".strip()


def inline(text: str) -> str:
    """One paragraph: names become references, other text in backticks code, the rest is plain."""
    parts: list[str] = []
    end = 0
    for found in BACKTICKS.finditer(text):
        parts.append(escaped(text[end : found.start()]))
        code = found[1] or found[2]
        role = f":py:obj:`{code}`" if NAME.fullmatch(code) else f"``{code}``"
        # Inline markup has to stand apart from the letters around it.
        before = "\\ " if text[: found.start()][-1:].isalnum() else ""
        after = "\\ " if text[found.end() :][:1].isalnum() else ""
        parts.append(f"{before}{role}{after}")
        end = found.end()
    return "".join([*parts, escaped(text[end:])])


def escaped(text: str) -> str:
    """Plain text, whatever reStructuredText would make of its characters."""
    return re.sub(r"([\\*|_`])", r"\\\1", text)


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sphinx hands over the lines of each docstring, to be changed in place."""
    lines[:] = as_rst(lines)


def skip(app: Any, what: str, name: str, obj: Any, is_skipped: bool, options: Any) -> bool | None:
    """Leave out what other libraries' classes bring along, and fields, which the docstring of their class has."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or getattr(obj, "__func__", obj)
    home = getattr(function, "__module__", None)
    return None if isinstance(home, str) and home.startswith("graphclust") else True


def signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """Leave out how results are made: people get them, and the docstring has their fields."""
    is_result = inspect.isclass(obj) and (dataclasses.is_dataclass(obj) or hasattr(obj, "_fields"))
    return ("", "") if is_result else None


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
