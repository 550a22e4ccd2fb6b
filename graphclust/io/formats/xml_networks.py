"""GraphML (http://graphml.graphdrawing.org) and GEXF (https://gexf.net): of NetworkX, igraph, Gephi, yEd and others.

Elements are read one by one: no tree is built, and document types and entities are refused. Encodings are those of the
declaration or the byte order mark, as the expat parser knows them. Versions 1.0 to 1.3 of GEXF differ in nothing that
is read here.
"""

from collections.abc import Callable
from typing import Any, ClassVar
from xml.parsers import expat

from graphclust.errors import GraphClustError, GraphFormatError
from graphclust.io.formats.network_listing import MOST_DEPTH, EdgeAttribute, NetworkListing, NodeNames, parse_number
from graphclust.io.text.byte_source import Source
from graphclust.progress import Progress

PASS_OVER = object()  # what a handler returns for an element that is of no use
_BLOCK = 1 << 20
_LONGEST_TAG = 16 << 20
_TOO_EARLY = (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN)
_TRUE = {"true", "1"}
_OF_GRAPHML = {"id", "source", "target", "directed", "sourceport", "targetport"}  # attributes of its edges


class _XmlNetwork:
    """Calls begin_NAME with the attributes of an element called NAME, and end_NAME at its end; passes over all others.

    A subclass has these methods, and as `root` the name of the outermost element. If that has a prefix, so have the
    others. What begin_NAME answers with PASS_OVER is passed over with whatever it holds, and has no end. Attributes are
    declared, and nodes and edges within each other have values of them.
    """

    root: ClassVar[str]

    def __init__(self, path: str, listing: NetworkListing):
        self.path, self.listing = path, listing
        self.of_edges: dict[str, EdgeAttribute] = {}
        self.of_nodes: dict[str, NodeNames | None] = {}
        self.owners: list[tuple[str, int]] = []  # what values belong to: graphs, nodes and edges within each other
        self.declared: EdgeAttribute | None = None  # by the element that is being read
        self._begins, self._ends = (
            {name.removeprefix(start): getattr(self, name) for name in dir(self) if name.startswith(start)}
            for start in ("begin_", "end_")
        )
        self._has_root = False
        self._depth_passed_over = 0
        self._text: list[str] | None = None
        self._use: Callable[[str], object] = str  # what becomes of the text that is being read
        self._n_lines_before = 0
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self._refuse_definitions

    def line(self) -> int:
        """The line of the element that is being read, from 1."""
        return self._parser.CurrentLineNumber + self._n_lines_before

    def error(self, message: str) -> GraphFormatError:
        """An error at this line."""
        return GraphFormatError(message, self.path, self.line())

    def collect_text(self, use: Callable[[str], object]) -> None:
        """Pass the text of the element that begins to `use` at its end; elements in it are passed over."""
        self._text, self._use = [], use
        self._parser.CharacterDataHandler = self._text.append

    def read(self, source: Source, progress: Progress, check: Callable[[], None]) -> None:
        """Read a whole file; `check` is called now and then."""
        n_bytes = 0
        try:
            for block in source.blocks(_BLOCK, progress):
                if n_bytes == 0 and block.lstrip().startswith(b"<?xml"):
                    self._n_lines_before = block[: block.index(b"<")].count(b"\n")
                    block = block.lstrip()
                n_bytes += len(block)
                self._parser.Parse(block)
                if n_bytes - self._parser.CurrentByteIndex > _LONGEST_TAG:
                    raise self.error(f"holds a tag or comment of more than {_LONGEST_TAG >> 20} MiB, expected a graph")
                check()
            self._parser.Parse(b"", True)
        except expat.ExpatError as problem:
            cause = expat.ErrorString(problem.code)
            hint = "; it ends too early, get the file again" if cause in _TOO_EARLY else ""
            line = problem.lineno + self._n_lines_before
            raise GraphFormatError(f"is not well-formed XML ({cause}){hint}", self.path, line) from None
        except (LookupError, ValueError) as problem:
            if isinstance(problem, GraphClustError):
                raise
            raise GraphFormatError(f"cannot be read in its encoding ({problem}); save it as UTF-8", self.path) from None

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Pass an opening tag to its reader, or pass over it with all that is in it."""
        if self._depth_passed_over or self._text is not None:
            self._depth_passed_over += 1
            if self._depth_passed_over > MOST_DEPTH:
                raise self.error(f"is nested too deeply for {self.root}")
            return
        if not self._has_root:
            prefix, _, name = tag.rpartition(":")
            if name != self.root:
                raise self.error(f"begins with the element <{tag[:40]}>, expected <{self.root}>")
            prefix += ":" * bool(prefix)
            self._begins = {prefix + name: method for name, method in self._begins.items()}
            self._ends = {prefix + name: method for name, method in self._ends.items()}
            self._has_root = True
        begin = self._begins.get(tag)
        if begin is None or begin(attributes) is PASS_OVER:
            self._depth_passed_over = 1

    def _end(self, tag: str) -> None:
        if self._depth_passed_over:
            self._depth_passed_over -= 1
        elif self._text is not None:
            self._parser.CharacterDataHandler = None
            text, self._text = "".join(self._text), None
            self._use(text)
        elif end := self._ends.get(tag):
            end()

    def _refuse_definitions(self, *_) -> None:
        raise self.error("defines a document type or entities, which no graph needs; remove them")

    def declare(self, id: str, name: str, type: str, owner: str) -> None:
        """Note what an id of attributes stands for: of a "node", an "edge" or "all"."""
        self.declared = None
        if owner in ("node", "all"):
            names = self.of_nodes[id] = self.listing.names.get(name.lower())
            if names is not None:
                names.are_text = type == "string"
        if owner in ("edge", "all"):
            self.declared = self.of_edges[id] = self.listing.edge_attribute(name, type)

    def begin_default(self, attributes: dict[str, str]) -> Any:
        if self.declared is None:
            return PASS_OVER
        attribute = self.declared
        self.collect_text(lambda text: attribute.set_default(text, self.line()))

    def end_attribute(self) -> None:
        self.declared = None

    end_key = end_attribute

    def begin_node(self, attributes: dict[str, str]) -> None:
        if "id" not in attributes:
            raise self.error("a node has no id")
        node = self.listing.add_node(attributes["id"])
        self.enter("node", node)
        for name, names in self.listing.names.items():
            if name in attributes:  # of the element itself
                names.of_node.setdefault(node, attributes[name])

    def add_edge(self, attributes: dict[str, str], is_directed: bool) -> int:
        """Add an edge and enter it; returns its number."""
        source, target = attributes.get("source"), attributes.get("target")
        if source is None or target is None:
            raise self.error("an edge has no source or no target, expected the ids of two nodes")
        edge = self.listing.add_edge(source, target, is_directed)
        self.enter("edge", edge)
        return edge

    def enter(self, owner: str, number: int) -> None:
        """Begin what holds others, or values."""
        if len(self.owners) > MOST_DEPTH:
            raise self.error(f"is nested too deeply for {self.root}")
        self.owners.append((owner, number))

    def leave(self) -> None:
        """End it."""
        self.owners.pop()

    end_node = end_edge = leave

    def keeper(self, id: str | None) -> Callable[[str], object] | None:
        """What keeps a value of an attribute for the open node or edge; None where it is of no use."""
        owner, number = self.owners[-1] if self.owners else ("graph", 0)
        if id is None or owner == "graph":
            return None
        if owner == "edge":
            attribute = self.of_edges.get(id)
            if attribute is None:
                attribute = self.of_edges[id] = self.listing.edge_attribute(id)
            attribute.occurs = True
            return (lambda text: attribute.add(number, text, self.line)) if attribute.is_wanted else None
        names = self.of_nodes[id] if id in self.of_nodes else self.listing.names.get(id.lower())
        return None if names is None else lambda text: names.of_node.setdefault(number, text)


class GraphML(_XmlNetwork):
    """A GraphML file; GraphFormatError for hyperedges too."""

    root = "graphml"

    def __init__(self, path: str, listing: NetworkListing):
        super().__init__(path, listing)
        self._directed = [False]  # by default, of each graph that is being read

    def begin_graphml(self, attributes: dict[str, str]) -> None: ...

    def begin_key(self, attributes: dict[str, str]) -> None:
        id = attributes.get("id", "")
        name, type = attributes.get("attr.name", id), attributes.get("attr.type", "string")
        self.declare(id, name, type, attributes.get("for", "all"))

    def begin_graph(self, attributes: dict[str, str]) -> None:
        if self.owners:
            self.listing.n_nested += 1
        else:
            self.listing.begin_graph(self.line())
        self._directed.append(attributes.get("edgedefault", "").lower() == "directed")
        self.enter("graph", len(self._directed))

    def end_graph(self) -> None:
        self.leave()
        self._directed.pop()

    def begin_edge(self, attributes: dict[str, str]) -> None:
        """Add an edge, and the attributes that stand in its element, as some programs write them."""
        directed = attributes.get("directed")
        edge = self.add_edge(attributes, self._directed[-1] if directed is None else directed.strip().lower() in _TRUE)
        for name in attributes:
            if name in _OF_GRAPHML or ":" in name:
                continue
            attribute = self.listing.undeclared_attribute(name)
            if not attribute.occurs:
                attribute.is_number = parse_number(attributes[name]) is not None
            attribute.add(edge, attributes[name], self.line)

    def begin_hyperedge(self, attributes: dict[str, str]) -> None:
        raise self.error("holds a hyperedge, expected edges of two nodes; replace it by such edges")

    def begin_data(self, attributes: dict[str, str]) -> Any:
        """Give the open node or edge the value of an attribute, once its text is known."""
        keep = self.keeper(attributes.get("key"))
        if keep is None:
            return PASS_OVER
        self.collect_text(keep)


class Gexf(_XmlNetwork):
    """A GEXF file."""

    root = "gexf"

    def __init__(self, path: str, listing: NetworkListing):
        super().__init__(path, listing)
        self._weight = listing.edge_attribute("weight")  # of the format itself, which leaves out weights that are 1
        self._weight.may_be_left_out = True
        self._class, self._type = "", "undirected"

    def begin_gexf(self, attributes: dict[str, str]) -> None: ...

    begin_nodes = begin_edges = begin_attvalues = begin_gexf

    def begin_graph(self, attributes: dict[str, str]) -> None:
        self.listing.begin_graph(self.line())
        self._type = attributes.get("defaultedgetype", self._type).lower()
        if attributes.get("mode") == "dynamic":
            self.listing.remarks.append("the graph changes over time; every node and edge was read, times were not")

    def begin_attributes(self, attributes: dict[str, str]) -> None:
        self._class = attributes.get("class", "")

    def begin_attribute(self, attributes: dict[str, str]) -> None:
        id = attributes.get("id", "")
        self.declare(id, attributes.get("title", id), attributes.get("type", "string"), self._class)

    def begin_node(self, attributes: dict[str, str]) -> None:
        self.listing.n_nested += bool(self.owners)
        super().begin_node(attributes)

    def begin_edge(self, attributes: dict[str, str]) -> None:
        edge = self.add_edge(attributes, attributes.get("type", self._type).lower() == "directed")
        if "weight" in attributes:
            self._weight.add(edge, attributes["weight"], self.line)

    def begin_attvalue(self, attributes: dict[str, str]) -> Any:
        """Give the open node or edge the value of an attribute."""
        keep = self.keeper(attributes.get("for", attributes.get("id")))
        if keep is None:
            return PASS_OVER
        keep(attributes.get("value", ""))
