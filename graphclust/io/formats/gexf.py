"""GEXF files (https://gexf.net), of Gephi and others; versions 1.0 to 1.3 differ in nothing that is read here."""

from collections.abc import Callable

from graphclust.io.formats.network_listing import EdgeAttribute, NetworkListing, NodeNames
from graphclust.io.formats.xml_elements import MOST_DEPTH, PASS_OVER, Declarations, XmlElements
from graphclust.io.text.byte_source import Source
from graphclust.progress import Progress


def read_gexf(source: Source, listing: NetworkListing, progress: Progress, check: Callable[[], None]) -> None:
    """Add the nodes and edges of a file to a listing; nodes within nodes are added like the others.

    Raises GraphFormatError for several graphs, and as `XmlElements` does.
    """
    _Gexf(source.path, listing).elements.read(source, progress, check)


class _Gexf(Declarations):
    def __init__(self, path: str, listing: NetworkListing):
        def nothing(attributes: dict[str, str]) -> None: ...

        self.listing = listing
        self.elements = XmlElements(
            path,
            "gexf",
            {
                "gexf": nothing, "graph": self._graph, "attributes": self._attributes, "attribute": self._attribute,
                "default": self._default, "nodes": nothing, "node": self._node, "edges": nothing, "edge": self._edge,
                "attvalues": nothing, "attvalue": self._attvalue,
            },
            {
                "attribute": self._end_declaration, "default": self._end_default, "node": self._leave,
                "edge": self._leave,
            },
        )  # fmt: skip
        self._of_edges: dict[str, EdgeAttribute] = {}
        self._of_nodes: dict[str, NodeNames | None] = {}
        self._weight = listing.edge_attribute("weight")  # of the format itself, which leaves out weights that are 1
        self._weight.may_be_left_out = True
        self._class = ""
        self._owners: list[tuple[str, int]] = []  # nodes within each other, or an edge
        self._type = "undirected"
        self._has_graph = False

    def _graph(self, attributes: dict[str, str]) -> object:
        if self._has_graph:
            raise self.listing.second_graph(self.elements.line)
        self._has_graph = True
        self._type = attributes.get("defaultedgetype", self._type).lower()
        if attributes.get("mode") == "dynamic":
            self.listing.remarks.append("the graph changes over time; every node and edge was read, times were not")
        return None

    def _attributes(self, attributes: dict[str, str]) -> object:
        self._class = attributes.get("class", "")
        return None

    def _attribute(self, attributes: dict[str, str]) -> object:
        """Note what an id of attributes stands for."""
        id = attributes.get("id", "")
        name, type = attributes.get("title", id), attributes.get("type", "string")
        self._declared = None
        if self._class == "edge":
            self._declared = self._of_edges[id] = self.listing.edge_attribute(name, type)
        elif self._class == "node":
            names = self._of_nodes[id] = self.listing.names.get(name.lower())
            if names is not None:
                names.are_text = type == "string"
        return None

    def _node(self, attributes: dict[str, str]) -> object:
        """Add a node, which may be in another one."""
        if "id" not in attributes:
            raise self.elements.error("a node has no id")
        if self._owners:
            self.listing.n_nested += 1
        if len(self._owners) > MOST_DEPTH:
            raise self.elements.error("is nested too deeply for gexf")
        number = self.listing.add_node(attributes["id"])
        self._owners.append(("node", number))
        if "label" in attributes:
            self.listing.names["label"].of_node.setdefault(number, attributes["label"])
        return None

    def _edge(self, attributes: dict[str, str]) -> object:
        source, target = attributes.get("source"), attributes.get("target")
        if source is None or target is None:
            raise self.elements.error("an edge has no source or no target, expected the ids of two nodes")
        edge = self.listing.add_edge(source, target, attributes.get("type", self._type).lower() == "directed")
        self._owners.append(("edge", edge))
        if "weight" in attributes:
            self._weight.add(edge, attributes["weight"], lambda: self.elements.line)
        return None

    def _leave(self) -> None:
        self._owners.pop()

    def _attvalue(self, attributes: dict[str, str]) -> object:
        """Give the open node or edge the value of an attribute."""
        id, value = attributes.get("for", attributes.get("id")), attributes.get("value", "")
        if id is None or not self._owners:
            return PASS_OVER
        owner, number = self._owners[-1]
        if owner == "edge":
            attribute = self._of_edges.get(id)
            if attribute is None:
                attribute = self._of_edges[id] = self.listing.edge_attribute(id)
            attribute.add(number, value, lambda: self.elements.line)
        else:
            names = self._of_nodes[id] if id in self._of_nodes else self.listing.names.get(id.lower())
            if names is not None:
                names.of_node.setdefault(number, value)
        return None
