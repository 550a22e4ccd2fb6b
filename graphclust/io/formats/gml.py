"""GML files (Himsolt, GML: a portable graph file format, 1997): those of Newman's collection, igraph, Gephi, NetworkX.

Texts may be UTF-8 or Latin-1, raw or as HTML entities.
"""

import re
from collections.abc import Callable
from html.entities import name2codepoint

from graphclust.errors import GraphFormatError, quote
from graphclust.io.formats.network_listing import MOST_DEPTH, NetworkListing, parse_number

_TOKEN = re.compile(r'(?:\s++|#[^\r\n]*+)*+("[^"]*"|[\[\]"]|[^\s\[\]"]++)', re.ASCII)
_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]*));")
_TOP, _GRAPH, _NODE, _EDGE, _PASSED_OVER = range(5)
_LISTS = {(_TOP, "graph"): _GRAPH, (_GRAPH, "node"): _NODE, (_GRAPH, "edge"): _EDGE}
_CHECKED = 1 << 16  # tokens between two looks at the memory

Fields = list[tuple[str, str]]


def read_gml(content: bytes, listing: NetworkListing, check: Callable[[], None]) -> None:
    """Add nodes and edges to a listing; GraphFormatError with the line for what is malformed, or of several graphs."""
    _Gml(content, listing).read(check)


class _Gml:
    """A file that is being read."""

    def __init__(self, content: bytes, listing: NetworkListing):
        self.content, self.listing = listing.decode(content), listing
        self.is_directed = False
        self.not_yet_listed: dict[str, int] = {}  # nodes that edges name, and where

    def read(self, check: Callable[[], None]) -> None:
        """Go through the tokens, add nodes and edges, and pass over all other lists; `check` is called now and then."""
        places: list[tuple[int, int]] = []  # the lists around the one that is being read, and where they begin
        place, start = _TOP, 0
        key: str | None = None
        fields: Fields = []
        for n_tokens, match in enumerate(_TOKEN.finditer(self.content)):
            token = match[1]
            if n_tokens % _CHECKED == 0:
                check()
            if token == "[":
                if key is None and place != _PASSED_OVER:
                    raise self._error("'[' stands where a key is expected", match.start(1))
                places.append((place, start))
                if len(places) > MOST_DEPTH:
                    raise self._error("is nested too deeply for gml", match.start(1))
                place = _LISTS.get((place, (key or "").lower()), _PASSED_OVER)
                start, key = match.start(1), None
                if place == _GRAPH:
                    self.listing.begin_graph(self._line(start))
                elif place != _PASSED_OVER:
                    fields = []
            elif token == "]":
                if not places or (key is not None and place != _PASSED_OVER):
                    raise self._error("']' stands where a list has no end", match.start(1))
                if place == _NODE:
                    self._add_node(fields, start)
                elif place == _EDGE:
                    self._add_edge(fields, start)
                (place, start), key = places.pop(), None
            elif token == '"':
                raise self._error("a text has no end", match.start(1))
            elif place == _TOP:
                key = token  # whatever stands before the graph, in quotes or not
            elif place != _PASSED_OVER:
                if key is None:
                    if not (token[:1].isascii() and token[:1].isalpha()):
                        shown = quote(token.encode(errors="replace"), 40)
                        raise self._error(f"{shown!r} stands where a key is expected", match.start(1))
                    key = token
                    continue
                if place != _GRAPH:
                    fields.append((key, token))
                elif key.lower() == "directed":
                    self.is_directed = self._text(token) not in ("0", "false")
                key = None
        if places:
            raise self._error("ends before its graph does; get the file again", len(self.content.rstrip()))
        if not self.listing.has_graph:
            raise GraphFormatError("holds no graph, expected gml: graph [ node [ id 0 ] ... ]", self.listing.path)
        for id, at in self.not_yet_listed.items():
            if id not in self.listing.number_of:
                node = quote(id.encode(errors="replace"), 40)
                raise self._error(f"an edge names node {node!r}, which is not there", at)
        if self.is_directed:
            self.listing.is_directed = bytearray(b"\1") * len(self.listing.sources)

    def _add_node(self, fields: Fields, at: int) -> None:
        values = {key.lower(): token for key, token in reversed(fields)}
        if "id" not in values:
            raise self._error("a node has no id", at)
        number = self.listing.add_node(self._text(values["id"]))
        for name, names in self.listing.names.items():
            token = values.get(name)
            if token is not None:
                names.of_node.setdefault(number, self._text(token))
                names.are_text |= name == "name" and token.startswith('"')

    def _add_edge(self, fields: Fields, at: int) -> None:
        """Add an edge, the nodes of which may be listed later."""
        ends: dict[str, str] = {}
        listing, number = self.listing, len(self.listing.sources)
        for key, token in fields:
            if key in _ENDS:
                if key in ends:
                    raise self._error(f"an edge has two values of {key}, expected one", at)
                ends[key] = self._text(token)
                continue
            attribute = listing.undeclared_attribute(key)
            if not attribute.occurs:
                attribute.is_number = parse_number(token) is not None  # one in quotes is a text
            attribute.add(number, self._text(token), lambda: self._line(at))
        if len(ends) < len(_ENDS):
            raise self._error("an edge has no source or no target, expected the ids of two nodes", at)
        listing.add_edge(ends["source"], ends["target"], False)
        if listing.sources[-1] < 0:
            self.not_yet_listed.setdefault(ends["source"], at)
        if listing.targets[-1] < 0:
            self.not_yet_listed.setdefault(ends["target"], at)

    def _text(self, token: str) -> str:
        """The text of a value, without quotes and entities."""
        text = token[1:-1] if token[:1] == '"' else token
        return _ENTITY.sub(_character, text) if "&" in text else text

    def _line(self, at: int) -> int:
        return self.content.count("\n", 0, at) + 1

    def _error(self, problem: str, at: int) -> GraphFormatError:
        return GraphFormatError(problem, self.listing.path, self._line(at))


_ENDS = ("source", "target")


def _character(entity: re.Match[str]) -> str:
    """What an entity stands for; itself if it is unknown."""
    decimal, hexadecimal, name = entity.groups()
    code = int(decimal) if decimal else int(hexadecimal, 16) if hexadecimal else name2codepoint.get(name, -1)
    return chr(code) if 0 <= code < 0x110000 else entity[0]
