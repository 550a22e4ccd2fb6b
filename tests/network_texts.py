"""Small GraphML, GEXF and GML files, and what is read from them."""

import pathlib
from collections.abc import Callable

from graphclust import load_graph

ABC = '<node id="a"/><node id="b"/><node id="c"/>'
AB, BC = '<edge source="a" target="b"/>', '<edge source="b" target="c"/>'


def graphml(body: str, keys: str = "", directed: bool = False) -> str:
    default = "directed" if directed else "undirected"
    graph = f'<graph edgedefault="{default}">{body}</graph>'
    return f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}{graph}</graphml>'


def gexf(nodes: str, edges: str, attributes: str = "", namespace: str = "http://www.gexf.net/1.2draft") -> str:
    parts = f"{attributes}<nodes>{nodes}</nodes><edges>{edges}</edges>"
    return f'<gexf xmlns="{namespace}"><graph defaultedgetype="undirected">{parts}</graph></gexf>'


def gml(*edges: str, directed: int = 0, nodes: str = "node [ id 0 ] node [ id 1 ] node [ id 2 ]") -> str:
    return f"graph [ directed {directed} {nodes} {' '.join(f'edge [ {edge} ]' for edge in edges)} ]"


def edge_with(name: str, value: str, format: str, type: str = "double") -> str:
    """A path of three nodes; its first edge has an attribute, the second has none."""
    if format == "gml":
        return gml(f"source 0 target 1 {name} {value}", "source 1 target 2")
    if format == "graphml":
        key = f'<key id="d0" for="edge" attr.name="{name}" attr.type="{type}"/>'
        return graphml(f'{ABC}<edge source="a" target="b"><data key="d0">{value}</data></edge>{BC}', key)
    attributes = f'<attributes class="edge"><attribute id="0" title="{name}" type="{type}"/></attributes>'
    valued = f'<edge source="a" target="b"><attvalues><attvalue for="0" value="{value}"/></attvalues></edge>'
    return gexf(ABC, valued + BC, attributes)


FORMATS = ["graphml", "gexf", "gml"]


def reader(folder: pathlib.Path) -> Callable:
    """Gives the graph and the info of a file with a text."""

    def read(text: str | bytes, format: str | None = None, **options):
        path = folder / "graph.file"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_graph(path, format=format, return_info=True, **options)

    return read


def edges_of(graph) -> dict[tuple, float]:
    """The weight of each edge, once, by the names of its ends."""
    nodes, matrix = graph.nodes, graph.to_scipy().tocoo()
    names = range(graph.n_nodes) if nodes is None else nodes
    entries = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    return {(names[u], names[v]): weight for u, v, weight in entries if u <= v}
