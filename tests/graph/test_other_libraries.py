"""Graphs and tables of further libraries, and results as igraph has them."""

import numpy as np
import pytest
from cases import refuses

from graphclust import as_graph, communities, coreset_sc, graph_from_table, modularity
from graphclust.errors import GraphValidationError, GraphWarning

EDGES = [(0, 1, 2.0), (1, 2, 1.0), (2, 2, 3.0), (0, 1, 4.0)]  # a loop, and two edges between one pair
DEGREES = [6.0, 7.0, 4.0]


def networkit_graph(directed=False):
    networkit = pytest.importorskip("networkit", reason="networkit is not installed")
    G = networkit.Graph(3, weighted=True, directed=directed)
    for edge in EDGES:
        G.addEdge(*edge)
    return G


class GraphToolGraph:
    """What of a graph_tool.Graph is used."""

    __module__ = "graph_tool"

    def __init__(self, edges, vertices, directed=False):
        self.edges, self.vertices, self.directed = edges, vertices, directed
        self.edge_properties = {"weight": 2, "twice": 3}
        self.properties = {("e", "weight"): 2, ("e", "twice"): 3, ("v", "name"): 0}

    def is_directed(self):
        return self.directed

    def get_vertices(self):
        return np.array(self.vertices)

    def get_edges(self, eprops=()):
        rows = np.array([(u, v, w, 2 * w) for u, v, w in self.edges])
        return rows[:, [0, 1, *eprops]]


def test_a_networkit_graph_is_read_with_its_weights():
    G = networkit_graph()
    assert as_graph(G).degrees.tolist() == DEGREES and as_graph(G).nodes is None
    assert as_graph(G, weight=None).degrees.tolist() == [1, 2, 2]
    refuses(GraphValidationError, "weight='distance'", as_graph, G, weight="distance")
    refuses(GraphValidationError, "directed networkit", as_graph, networkit_graph(directed=True))
    with pytest.warns(GraphWarning, match="directed"):
        assert as_graph(networkit_graph(directed=True), symmetrize="max").degrees.tolist() == DEGREES


def test_nodes_of_networkit_keep_their_ids_where_some_were_removed():
    networkit = pytest.importorskip("networkit", reason="networkit is not installed")
    G = networkit.Graph(5)
    G.addEdge(0, 3)
    G.addEdge(3, 4)
    G.removeNode(1)
    with pytest.warns(GraphWarning, match="1 isolated node"):
        graph = as_graph(G)
    assert graph.nodes == [0, 2, 3, 4] and graph.degrees.tolist() == [1, 0, 2, 1]


def test_a_graph_of_graph_tool_is_read_by_the_names_of_its_properties():
    G = GraphToolGraph(EDGES, [0, 1, 2])
    assert as_graph(G).degrees.tolist() == DEGREES
    assert as_graph(G, weight="twice").degrees.tolist() == [2 * degree for degree in DEGREES]
    assert as_graph(G, weight=None).degrees.tolist() == [1, 2, 2]
    refuses(GraphValidationError, r"'distance', expected one of \['twice', 'weight'\]", as_graph, G, weight="distance")
    assert as_graph(GraphToolGraph([(5, 2, 1.0)], [2, 5])).nodes == [2, 5]
    refuses(GraphValidationError, "directed graph_tool", as_graph, GraphToolGraph(EDGES, [0, 1, 2], directed=True))


COLUMNS = {"source": ["a", "b", "c"], "target": ["b", "c", "d"], "weight": [1.0, 2.0, 4.0]}


def pyarrow_table(columns):
    return pytest.importorskip("pyarrow", reason="pyarrow is not installed").table(columns)


def duckdb_relation(columns):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    rows = ", ".join(str(row).replace("None", "null") for row in zip(*columns.values(), strict=True))
    names = ", ".join(f'"{name}"' for name in columns)
    return duckdb.sql(f"select * from (values {rows}) as edges({names})")


@pytest.mark.parametrize("table", [pyarrow_table, duckdb_relation])
def test_a_table_of_edges_is_a_graph(table):
    graph = as_graph(table(COLUMNS))
    assert graph.nodes == ["a", "b", "c", "d"] and graph.degrees.tolist() == [1.0, 3.0, 6.0, 4.0]
    assert as_graph(table(COLUMNS), weight=None).degrees.tolist() == [1, 2, 2, 1]
    named = table({"from": [3, 1], "to": [1, 2], "calls": [2, 5]})
    assert graph_from_table(named, "from", "to", "calls").degrees.tolist() == [7.0, 5.0, 2.0]
    with pytest.warns(GraphWarning, match="'calls' was read as weights"):
        assert as_graph(named).degrees.tolist() == [7.0, 5.0, 2.0]
    with pytest.raises(GraphValidationError, match="'weight' has 1 missing value"):
        as_graph(table(COLUMNS | {"weight": [1.0, None, 4.0]}))


def test_clusters_become_a_vertex_clustering():
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    G = igraph.Graph.Famous("Zachary")
    G.es["weight"] = [1.0 + edge % 3 for edge in range(G.ecount())]
    clustering = communities(G, rng=0)
    theirs = clustering.to_igraph(G)
    assert isinstance(theirs, igraph.VertexClustering) and theirs.membership == clustering.labels.tolist()
    assert theirs.modularity == pytest.approx(modularity(G, clustering), abs=1e-12)
    with pytest.raises(GraphValidationError, match="3 vertices, expected the graph that was clustered, of 34"):
        clustering.to_igraph(igraph.Graph(3))


@pytest.mark.filterwarnings("ignore:1 isolated node")
def test_an_isolated_vertex_is_a_cluster_of_its_own_in_igraph():
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    G = igraph.Graph(n=7, edges=[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    assert sorted(coreset_sc(G, 2, rng=0).to_igraph(G).sizes()) == [1, 3, 3]


def test_vertices_of_igraph_are_named_by_what_tells_them_apart():
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    networkx = pytest.importorskip("networkx")
    G = igraph.Graph.from_networkx(networkx.Graph([("b", "a"), ("a", "c")]))
    assert as_graph(G).nodes == ["b", "a", "c"]
    G.vs["name"] = ["x", "y", "x"]
    assert as_graph(G).nodes == ["b", "a", "c"]
    G.vs["name"] = ["x", "y", "z"]
    assert as_graph(G).nodes == ["x", "y", "z"]
    G.vs["name"], G.vs["_nx_name"] = [["x"], ["y"], ["z"]], [1, 1, 2]
    assert as_graph(G).nodes is None
