"""Edge lists of NetworkX (`write_edgelist`): two ids and a dict of attributes, of which the weight is read.

The lines are rewritten as `source target weight`, and read as any other edge list. The dicts are not evaluated.
"""

import re
from collections import Counter
from collections.abc import Iterator

from graphclust.errors import GraphFormatError, GraphValidationError
from graphclust.io.text.lines import quote

_LINE = re.compile(rb"[ \t]*(?!#|%)(\S.*?)([ \t]+|[,;])(\{.*\})[ \t\r]*", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<text>[bru]{0,2}'(?:[^'\\]|\\.)*(?:'|\\?\Z)|[bru]{0,2}"(?:[^"\\]|\\.)*(?:"|\\?\Z))|(?P<open>[\[{(])|(?P<close>[\])}])"""
    r"""|(?P<mark>[:,])|(?P<other>[^\s'"\[\]{}():,]+)|\s+"""
)
_OF_NUMPY = re.compile(r"(?:np|numpy)\.\w+\((.*)\)|Decimal\('(.*)'\)")


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
            found = _match(row)
            if found is None:
                continue
            weight = None
            for name, value in items(found[3].decode("utf-8", "replace")):
                if name != self.weight:
                    self.unused[name] += 1
                    continue
                weight, self.n_weights = value, self.n_weights + 1
            if weight is not None and (boxed := _OF_NUMPY.fullmatch(weight)):
                weight = boxed[1] or boxed[2]
            if weight is None or not weight or any(mark in weight for mark in " \t,;'\""):
                if weight is not None:
                    raise GraphFormatError(
                        f"the weight is {quote(weight.encode())!r}, expected a number", self.path, line + i + 1
                    )
                weight = "1"
            rows[i] = found[1] + found[2] + weight.encode()
        return b"\n".join(rows)

    def remarks(self) -> list[str]:
        """What is left out. Raises GraphValidationError where no edge has the attribute that was asked for."""
        found = ", ".join(repr(name) for name in sorted(self.unused)[:20])
        if self.is_asked and not self.n_weights:
            raise GraphValidationError(
                f"{self.path}: weight={self.weight!r} is an attribute of no edge, expected one of {found or 'none'}"
            )
        return [f"attributes not used: {found[:80]}"] if found else []


def has_attributes(line: bytes) -> bool:
    """Whether a line holds two ids and a dict."""
    return _match(line) is not None


def _match(line: bytes) -> re.Match[bytes] | None:
    """The ids, the separator, and the dict; None for a line of names, one of which may be in braces.

    Where a line ends with a brace, the pattern matches at once or not at all; elsewhere it would try every brace.
    """
    found = _LINE.fullmatch(line) if line.rstrip(b" \t\r").endswith(b"}") else None
    return found if found is not None and len(found[1].split(found[2].strip() or None)) > 1 else None


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
