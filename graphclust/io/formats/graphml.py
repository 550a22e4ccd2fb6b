"""GraphML files (http://graphml.graphdrawing.org): those of NetworkX, igraph, Gephi, yEd and others."""

from collections.abc import Callable

from graphclust.io.formats.network_listing import EdgeAttribute, NetworkListing, NodeNames, as_number
from graphclust.io.formats.xml_elements import MOST_DEPTH, PASS_OVER, Declarations, XmlElements
from graphclust.io.text.byte_source import Source
from graphclust.progress import Progress

_TRUE = {"true", "1"}
_OF_THE_FORMAT = {"id", "source", "target", "directed", "sourceport", "targetport"}  # attributes of an edge


def read_graphml(source: Source, listing: NetworkListing, progress: Progress, check: Callable[[], None]) -> None:
    """Add the nodes and edges of a file to a listing; nodes and edges of graphs in nodes are added like the others.

    Raises GraphFormatError for hyperedges, for several graphs, and as `XmlElements` does.
    """
    _GraphML(source.path, listing).elements.read(source, progress, check)


class _GraphML(Declarations):
    def __init__(self, path: str, listing: NetworkListing):
        self.listing = listing
        self.elements = XmlElements(
            path,
            "graphml",
            {
                "graphml": lambda attributes: None, "key": self._key, "default": self._default, "graph": self._graph,
                "node": self._node, "edge": self._edge, "hyperedge": self._hyperedge, "data": self._data,
            },
            {
                "key": self._end_declaration, "default": self._end_default, "graph": self._end_owner,
                "node": self._end_owner, "edge": self._end_owner, "data": self._end_data,
            },
        )  # fmt: skip
        self._of_edges: dict[str, EdgeAttribute] = {}
        self._of_elements: dict[str, EdgeAttribute] = {}
        self._of_nodes: dict[str, NodeNames | None] = {}
        self._owners: list[tuple[str, int]] = []  # what the data belong to: graphs, nodes and edges within each other
        self._directed = [False]  # by default, of each graph that is being read
        self._keep: Callable[[str], object] = str  # what becomes of the text that is being read
        self._has_graph = False

    def _key(self, attributes: dict[str, str]) -> object:
        """Note what an id of attributes stands for, of nodes, edges or both."""
        id, owner = attributes.get("id", ""), attributes.get("for", "all")
        name, type = attributes.get("attr.name", id), attributes.get("attr.type", "string")
        self._declared = None
        if owner in ("node", "all"):
            names = self.listing.names.get(name.lower())
            self._of_nodes[id] = names
            if names is not None:
                names.are_text = type == "string"
        if owner in ("edge", "all"):
            self._declared = self._of_edges[id] = self.listing.edge_attribute(name, type)
        return None

    def _graph(self, attributes: dict[str, str]) -> object:
        if self._owners:
            self.listing.n_nested += 1
        elif self._has_graph:
            raise self.listing.second_graph(self.elements.line)
        self._has_graph = True
        self._directed.append(attributes.get("edgedefault", "").lower() == "directed")
        self._enter("graph", len(self._directed))
        return None

    def _node(self, attributes: dict[str, str]) -> object:
        if "id" not in attributes:
            raise self.elements.error("a node has no id")
        node = self.listing.add_node(attributes["id"])
        self._enter("node", node)
        for name, names in self.listing.names.items():
            if name in attributes:  # of the element itself, as some programs write it
                names.of_node.setdefault(node, attributes[name])
        return None

    def _edge(self, attributes: dict[str, str]) -> object:
        """Add an edge, and the attributes that stand in its element."""
        source, target = attributes.get("source"), attributes.get("target")
        if source is None or target is None:
            raise self.elements.error("an edge has no source or no target, expected the ids of two nodes")
        directed = attributes.get("directed")
        is_directed = self._directed[-1] if directed is None else directed.strip().lower() in _TRUE
        edge = self.listing.add_edge(source, target, is_directed)
        self._enter("edge", edge)
        for name in attributes:  # of the element itself, as some programs write it
            if name in _OF_THE_FORMAT or ":" in name:
                continue
            attribute = self._of_elements.get(name)
            if attribute is None:
                attribute = self._of_elements[name] = self.listing.edge_attribute(name)
                attribute.is_number = as_number(attributes[name]) is not None
            attribute.add(edge, attributes[name], lambda: self.elements.line)
        return None

    def _hyperedge(self, attributes: dict[str, str]) -> object:
        raise self.elements.error("holds a hyperedge, expected edges of two nodes; replace it by such edges")

    def _data(self, attributes: dict[str, str]) -> object:
        """Give the open node or edge the value of an attribute, once its text is known."""
        owner, number = self._owners[-1] if self._owners else ("graph", 0)
        key = attributes.get("key")
        if key is None or owner == "graph":
            return PASS_OVER
        if owner == "edge":
            attribute = self._of_edges.get(key)
            if attribute is None:
                attribute = self._of_edges[key] = self.listing.edge_attribute(key)
            if not attribute.is_wanted:
                attribute.occurs = True
                return PASS_OVER
            self._keep = lambda text: attribute.add(number, text, lambda: self.elements.line)
        else:
            names = self._of_nodes[key] if key in self._of_nodes else self.listing.names.get(key.lower())
            if names is None:
                return PASS_OVER
            self._keep = lambda text: names.of_node.setdefault(number, text)
        self.elements.collect_text()
        return None

    def _end_data(self) -> None:
        self._keep(self.elements.text())

    def _enter(self, owner: str, number: int) -> None:
        if len(self._owners) > MOST_DEPTH:
            raise self.elements.error("is nested too deeply for graphml")
        self._owners.append((owner, number))

    def _end_owner(self) -> None:
        owner, _ = self._owners.pop()
        if owner == "graph":
            self._directed.pop()
