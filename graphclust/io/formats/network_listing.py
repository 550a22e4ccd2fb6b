"""What a GraphML, GEXF or GML file lists: nodes by their ids, edges with directions, and numbers that may be weights.

Of all attributes only those are kept that can be a node's name or an edge's weight.
"""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from graphclust.errors import GraphFormatError
from graphclust.io.columns import WEIGHT_NAMES, is_plain_number, plain_name

MOST_DEPTH = 1000  # of elements or lists within each other
NUMBERS = {"int", "integer", "long", "short", "byte", "float", "double", "decimal", "biginteger", "bigdecimal"}
NAME_ATTRIBUTES = ("name", "label")  # of nodes; the first that tells all nodes apart is used


@dataclass
class EdgeAttribute:
    """One attribute of the edges, and its values if it may be the weight.

    is_wanted : whether values are kept.  is_number : by its type, or by the first value where there are no types.
    default : the number that stands for a missing value, None for none.  occurs : whether any edge has the attribute.
    edges, values : one value each.  unfit : the first value that is no number, and its line.
    is_repeated : whether an edge has several values.  may_be_left_out : whether a missing value plainly means 1.
    """

    name: str
    is_wanted: bool
    is_number: bool = True
    default: float | None = None
    occurs: bool = False
    edges: array = field(default_factory=lambda: array("i"))
    values: array = field(default_factory=lambda: array("d"))
    unfit: tuple[str, int] | None = None
    is_repeated: bool = False
    may_be_left_out: bool = False

    def add(self, edge: int, text: str, line: Callable[[], int]) -> None:
        """Keep the value of an edge, if the attribute is wanted; an empty one is missing."""
        self.occurs = True
        if not self.is_wanted or not text or text.isspace():
            return
        if self.edges and self.edges[-1] == edge:
            self.is_repeated = True
        number = self._number(text, line)
        self.edges.append(edge)
        self.values.append(np.nan if number is None else number)

    def set_default(self, text: str, line: int) -> None:
        """Keep the value that edges without any have."""
        if text and not text.isspace():
            self.default = self._number(text, lambda: line)

    def _number(self, text: str, line: Callable[[], int]) -> float | None:
        number = parse_number(text)
        if number is None and self.unfit is None:
            self.unfit = text.strip(), line()
        return number


@dataclass
class NodeNames:
    """The values of one attribute of the nodes; `are_text` says that digits in them are no numbers."""

    are_text: bool = False
    of_node: dict[int, str] = field(default_factory=dict)


class NetworkListing:
    """Nodes and edges in the order of the file.

    path : of the file.  weight : the edge attribute that was asked for as the weight, or None.
    """

    def __init__(self, path: str, weight: str | None):
        self.path, self.weight, self.has_graph = path, weight, False
        self.number_of: dict[str, int] = {}
        self.names = {name: NodeNames() for name in NAME_ATTRIBUTES}
        self.attributes: list[EdgeAttribute] = []
        self._of_numbers: dict[str, EdgeAttribute] = {}  # those that are declared as such, by name
        self._undeclared: dict[str, EdgeAttribute] = {}
        self.sources, self.targets, self.is_directed = array("i"), array("i"), bytearray()
        self.n_nested = self.n_listed_twice = 0  # nodes with a graph in them; repeats of a node
        self.remarks: list[str] = []
        self._not_yet_listed: dict[str, int] = {}  # ids that so far only edges have

    @property
    def n_bytes(self) -> int:
        """About the memory that is taken so far, and that making a graph of it will take."""
        n_texts = len(self.number_of) + len(self._not_yet_listed) + sum(len(x.of_node) for x in self.names.values())
        n_values = sum(len(attribute.edges) for attribute in self.attributes)
        return 200 * n_texts + 60 * len(self.sources) + 20 * n_values

    def decode(self, content: bytes) -> str:
        """The text of a file, in UTF-8 or with a remark in Latin-1."""
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            self.remarks.append("the file is not UTF-8 and was read as Latin-1")
            return content.decode("latin-1")

    def add_node(self, id: str) -> int:
        """The number of a node; one that is listed twice is one node."""
        n_nodes = len(self.number_of)
        number = self.number_of.setdefault(id, n_nodes)
        self.n_listed_twice += number < n_nodes
        return number

    def add_edge(self, source: str, target: str, is_directed: bool) -> int:
        """The number of an edge."""
        self.sources.append(self._number_of_end(source))
        self.targets.append(self._number_of_end(target))
        self.is_directed.append(is_directed)
        return len(self.sources) - 1

    def _number_of_end(self, id: str) -> int:
        number = self.number_of.get(id)
        return self._not_yet_listed.setdefault(id, -1 - len(self._not_yet_listed)) if number is None else number

    def undeclared_attribute(self, name: str) -> EdgeAttribute:
        """The attribute of edges of this name; whether it holds numbers is for its first value to say."""
        if name not in self._undeclared:
            self._undeclared[name] = self.edge_attribute(name)
        return self._undeclared[name]

    def edge_attribute(self, name: str, type: str | None = None) -> EdgeAttribute:
        """A new attribute of the edges; without a type its values decide whether it holds numbers.

        Attributes of one name that are of types of numbers are one: NetworkX declares whole numbers and others apart.
        """
        is_number = type is None or type.lower() in NUMBERS
        if type is not None and is_number and name in self._of_numbers:
            return self._of_numbers[name]
        is_wanted = plain_name(name) in WEIGHT_NAMES if self.weight is None else name == self.weight
        attribute = EdgeAttribute(name, is_wanted, is_number)
        self.attributes.append(attribute)
        if type is not None and is_number:
            self._of_numbers[name] = attribute
        return attribute

    def list_other_ends(self) -> int:
        """Give numbers to the nodes that only edges name; returns how many there are."""
        if not self._not_yet_listed:
            return 0
        n_listed = len(self.number_of)
        numbers = [self.number_of.setdefault(id, len(self.number_of)) for id in self._not_yet_listed]
        final = np.array(numbers[::-1] + list(range(len(self.number_of))), np.int32)
        self.sources, self.targets = (
            array("i", final[np.frombuffer(ends, np.int32) + len(numbers)].tobytes())
            for ends in (self.sources, self.targets)
        )
        self._not_yet_listed = {}
        return len(self.number_of) - n_listed

    def begin_graph(self, line: int) -> None:
        """Refuse a second graph: their nodes may or may not be the same."""
        if self.has_graph:
            raise GraphFormatError("holds two graphs, expected one; save each in a file of its own", self.path, line)
        self.has_graph = True


def parse_number(text: str) -> float | None:
    """The number that a text is, None for any other."""
    return float(text) if is_plain_number(text) else None
