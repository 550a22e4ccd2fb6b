"""Pajek networks (Batagelj & Mrvar, Pajek reference manual, section 5.3): vertices, arcs and edges, or a matrix."""

import re
from collections.abc import Callable

from graphclust.errors import GraphFormatError, quote
from graphclust.io.edges import allowed_bytes
from graphclust.io.formats.network_listing import NetworkListing, parse_number

_PAIRS, _LISTS = ("arcs", "edges", "links", "bipartite"), ("arcslist", "edgeslist")
_PASSED_OVER = ("partition", "vector", "permutation", "cluster", "events")
_OTHER_NETWORKS = ("states", "multilayer", "intra", "inter", "contexts", "paths")  # of Infomap
_PARTS = "|".join(("vertices", *_PAIRS, *_LISTS, "matrix", *_PASSED_OVER, *_OTHER_NETWORKS))
START = re.compile(
    rf"(?:\s*+(?:[%#]|/\*)[^\n]*+\n|\s*+\*network\b[^\n]*+\n)*+\s*+\*(?:{_PARTS})\b".encode(), re.IGNORECASE
)
_FIELD = re.compile(r'"[^"]*"|\S+')
_CHECKED = 1 << 16  # lines between two looks at the memory
_BYTES_PER_VERTEX = 200
_LONGEST_NUMBER = 18  # digits


def read_pajek(content: bytes, listing: NetworkListing, check: Callable[..., None]) -> None:
    """Add vertices, with their numbers from 1 as ids, and edges to a listing.

    Arcs are directed, edges and Infomap's links are not; the third number of each is its weight. Of a matrix every
    entry but 0 is an arc. Without a number of vertices there are those that are listed; without a list, those of edges.
    """
    _Pajek(content, listing).read(check)


class _Pajek:
    """A file that is being read."""

    def __init__(self, content: bytes, listing: NetworkListing):
        self.text, self.listing = listing.decode(content), listing
        self.weight = listing.edge_attribute("weight")
        self.weight.may_be_left_out = True
        self.n_vertices: int | None = None
        self.n_rows = 0

    def read(self, check: Callable[..., None]) -> None:
        """Go through the lines, each by the part that it is in."""
        part = ""
        for number, raw in enumerate(self.text.split("\n"), 1):
            if number % _CHECKED == 0:
                check()
            line = raw.strip()
            if not line or line.startswith(("%", "#", "/*")):
                continue
            if line.startswith("*"):
                part = self._begin_part(line, number, part, check)
            elif part == "vertices":
                vertex, *fields = _FIELD.findall(line)
                place = self.listing.number_of[self._end(vertex, number, is_listed=True)]
                if fields:
                    self.listing.names["label"].of_node[place] = fields[0].strip('"')
            elif part == "matrix":
                self._add_row(line.split(), number)
            elif part in _PAIRS:
                self._add_edge(line.split(), part == "arcs", number)
            elif part in _LISTS:
                first, *others = line.split()
                for other in others:
                    self._add_edge([first, other], part == "arcslist", number)

    def _begin_part(self, line: str, number: int, before: str, check: Callable[..., None]) -> str:
        """The name of the part that a line with a star begins; the vertices are added by their number."""
        words = line[1:].lower().replace(":", " ").split()
        part = words[0] if words else ""
        if part == "vertices" and before in _PASSED_OVER:
            return before  # the vertices that a partition or a vector is of
        if part == "vertices":
            self.listing.begin_graph(number)
            count = words[1] if len(words) > 1 else "0"
            if not (count.isascii() and count.isdigit() and len(count) <= _LONGEST_NUMBER):
                raise self._error(f"{quote(line.encode(), 40)!r}, expected *Vertices and their number", number)
            self.n_vertices = int(count)
            allowed = allowed_bytes(len(self.text), None)
            if _BYTES_PER_VERTEX * self.n_vertices > allowed or self.n_vertices > 10 * len(self.text) + 1000:
                raise self._error(f"claims {self.n_vertices} vertices, more than a file of its size describes", number)
            check(_BYTES_PER_VERTEX * self.n_vertices)
            for vertex in range(1, self.n_vertices + 1):
                self.listing.add_node(str(vertex))
        elif part in _OTHER_NETWORKS:
            problem = f"*{words[0]} begins a network of states or layers, as Infomap writes it"
            raise self._error(
                f"{problem}, expected a plain one: its *Vertices, and *Edges or *Arcs between them", number
            )
        elif part not in (*_PAIRS, *_LISTS, "matrix", "network", *_PASSED_OVER):
            known = ", ".join(f"*{name}" for name in ("vertices", *_PAIRS, *_LISTS, "matrix"))
            raise self._error(f"{quote(line.encode(), 40)!r} begins an unknown part, expected one of {known}", number)
        return part

    def _add_edge(self, words: list[str], is_directed: bool, number: int) -> None:
        if len(words) < 2:
            raise self._error(f"{quote(' '.join(words).encode(), 40)!r}, expected the numbers of two vertices", number)
        edge = self.listing.add_edge(self._end(words[0], number), self._end(words[1], number), is_directed)
        if len(words) > 2 and parse_number(words[2]) is not None:
            self.weight.add(edge, words[2], lambda: number)
        elif len(words) > 2 and (words[2][0].isdigit() or words[2][0] in "+-."):
            raise self._error(f"the value of a line is {quote(words[2].encode(), 40)!r}, expected a number", number)

    def _add_row(self, words: list[str], number: int) -> None:
        """Add the arcs of a row of the matrix."""
        self.n_rows += 1
        n_vertices = self.n_vertices or 0
        if len(words) != n_vertices or self.n_rows > n_vertices:
            raise self._error(f"a row of {len(words)} numbers, expected {n_vertices} rows of as many", number)
        for column, word in enumerate(words, 1):
            value = parse_number(word)
            if value is None:
                raise self._error(f"{quote(word.encode(), 40)!r} in the matrix, expected a number", number)
            if value:
                self._add_edge([str(self.n_rows), str(column), word], True, number)

    def _end(self, word: str, number: int, is_listed: bool = False) -> str:
        if word not in self.listing.number_of:
            is_number = word.isascii() and word.isdigit() and len(word) <= _LONGEST_NUMBER
            if not is_number or self.n_vertices or not (is_listed or self.n_vertices is None):
                text = quote(word.encode(), 40)
                last = self.n_vertices or "their number"
                raise self._error(f"{text!r} is not a vertex, expected a number from 1 to {last}", number)
            self.listing.add_node(word)
        return word

    def _error(self, problem: str, number: int) -> GraphFormatError:
        return GraphFormatError(problem, self.listing.path, number)
