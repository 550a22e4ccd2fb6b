"""Graphs and tables as other libraries hold them: whatever the order and names of the nodes, labels land right."""

import functools
import random
from decimal import Decimal

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from cliques import as_networkx, cliques
from hypothesis import HealthCheck, given, settings
from scipy import sparse

import graphclust
from graphclust import (
    as_graph,
    communities,
    coreset_sc,
    graph_from_table,
    load_graph,
    modularity,
    save_graph,
    spectral_clustering,
)
from graphclust.errors import GraphFormatError, GraphValidationError, GraphWarning, ParameterError, ResourceLimitError


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


@pytest.fixture
def igraph():
    return library("igraph")


@pytest.fixture
def pandas():
    return library("pandas")


@pytest.fixture
def polars():
    return library("polars")


def assert_cliques_are_clusters(of_node, nodes, members):
    """Labels by the nodes: each clique has one of 0, 1, ..., no two the same, and whoever is in none has -1."""
    of_cliques = [{of_node[node] for node in clique} for clique in members]
    assert all(len(one) == 1 for one in of_cliques) and set.union(*of_cliques) == {*range(len(members))}
    assert {of_node[node] for node in {*nodes}.difference(*members)} <= {-1} and len(of_node) == len(nodes)


def as_igraph(nodes, edges):
    place = {node: i for i, node in enumerate(nodes)}
    G = library("igraph").Graph(n=len(nodes), edges=[(place[u], place[v]) for u, v, _ in edges])
    G.es["weight"] = [w for *_, w in edges]
    G.vs["name"] = nodes
    return G


def columns(edges):
    return {name: [edge[i] for edge in edges] for i, name in enumerate(("source", "target", "weight"))}


def as_adjacency_table(G):
    library("pandas")
    return nx.to_pandas_adjacency(G)


FORMS = {
    "networkx": as_networkx,
    "igraph": as_igraph,
    "pandas": lambda nodes, edges: graph_from_table(library("pandas").DataFrame(columns(edges)), nodes=nodes),
    "polars": lambda nodes, edges: graph_from_table(library("polars").DataFrame(columns(edges)), nodes=nodes),
    "Graph": lambda nodes, edges: as_graph(as_networkx(nodes, edges)),
    "pandas matrix": lambda nodes, edges: as_adjacency_table(as_networkx(nodes, edges)),
}


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
@for_each("form", FORMS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cliques())
def test_labels_land_on_the_right_nodes(form, graph):
    nodes, edges, members = graph
    clustering = coreset_sc(FORMS[form](nodes, edges), len(members), rng=0)
    assert len(clustering.labels) == len(nodes) and {*clustering.nodes} == {*nodes}
    assert_cliques_are_clusters(clustering.as_dict(), nodes, members)


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
@for_each("form", FORMS)
@settings(max_examples=25, deadline=None)
@given(cliques())
def test_all_forms_are_one_graph(form, graph):
    nodes, edges, _ = graph
    expected, found = as_graph(as_networkx(nodes, edges)), as_graph(FORMS[form](nodes, edges))
    assert list(range(len(nodes)) if found.nodes is None else found.nodes) == nodes
    assert (found.to_scipy() != expected.to_scipy()).nnz == 0


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=cliques())
def test_labels_of_a_matrix_on_disk_are_in_the_order_of_its_rows(tmp_path, graph):
    nodes, edges, members = graph
    matrix = as_graph(as_networkx(nodes, edges)).to_scipy()
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        sparse.save_npz(tmp_path / "m.npz", kind(matrix))
        labels = coreset_sc(tmp_path / "m.npz", len(members), rng=0).labels
        assert_cliques_are_clusters(dict(zip(nodes, labels, strict=True)), nodes, members)
        assert load_graph(tmp_path / "m.npz") == as_graph(matrix)


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
@settings(max_examples=15, deadline=None)
@given(cliques())
def test_communities_as_networkx_has_them(graph):
    nodes, edges, members = graph
    G = as_networkx(nodes, edges)
    for cluster in (coreset_sc, spectral_clustering):
        found = cluster(G, len(members), rng=1).communities()
        assert nx.community.is_partition(G, found)
        assert all(one in members for one in found[: len(members)])


@pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")
def test_seeds_as_networkx_takes_them():
    """The same number, drawn from any kind of generator; and the modules, whose own generators are drawn from."""
    G = nx.connected_caveman_graph(4, 5)
    find = functools.partial(nx.community.louvain_communities, G, backend="graphclust")
    for make in (np.random.default_rng, np.random.RandomState, random.Random):
        assert find(seed=make(3)) == find(seed=make(3))
    for module in (random, np.random):
        before = np.random.get_state(), random.getstate()  # noqa: NPY002
        assert len(find(seed=module)) == 4
        assert (random.getstate() != before[1]) == (module is random)
        np.random.set_state(before[0])  # noqa: NPY002
        random.setstate(before[1])
    for wrong in ("a", 1.5, object()):
        refuses((TypeError, ValueError), r"seed|random", find, seed=wrong)


def test_clusterings_of_igraph_are_labels(igraph):
    G = igraph.Graph.Full(4) + igraph.Graph.Full(3)
    G.vs["name"] = list("abcdefg")
    found = G.components()
    assert graphclust.modularity(G, found) == pytest.approx(G.modularity(found))
    assert graphclust.adjusted_rand_index(found, [0] * 4 + [1] * 3) == 1.0


def test_tables_without_a_list_of_nodes(pandas, polars):
    """Whole numbers in increasing order, other ids as they appear; the same as from a file."""
    table = {"a": [7, 3, 5], "b": [3, 5, 7]}
    assert as_graph(pandas.DataFrame({"source": [2, 0], "target": [1, 2]})).nodes is None
    assert graph_from_table(polars.DataFrame(table), "a", "b").nodes == [3, 5, 7]
    words = {"a": ["x", "w", "y"], "b": ["w", "y", "x"], "n": [1.0, 2.0, 0.5]}
    for frame in (pandas.DataFrame(words), polars.DataFrame(words), pandas.DataFrame(words).astype({"a": "category"})):
        graph = graph_from_table(frame, "a", "b", "n")
        assert graph.nodes == ["x", "w", "y"] and graph.weights.tolist() == [1, 0.5, 1, 2, 0.5, 2]


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0, 4.0, 1.0]])
def test_a_table_is_read_as_the_file_it_would_make(tmp_path, pandas, weights):
    """An edge from both ends, a repeated one, a loop: by one set of rules."""
    table = pandas.DataFrame({"source": ["a", "b", "b", "c", "c"], "target": ["b", "a", "c", "c", "b"]})
    if weights:
        table["weight"] = weights
    table = pandas.concat([table, table[2:3]])
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(GraphWarning):
        expected = load_graph(tmp_path / "t.csv")
    with pytest.warns(GraphWarning, match="repeated") as caught:
        assert as_graph(table) == expected
    assert caught[0].filename == __file__
    with pytest.warns(GraphWarning, match="sum of its two weights"):
        as_graph(table, symmetrize="sum")


@for_each(
    ("table", "options", "word"),
    [
        ({"a": [1], "target": [2]}, {"source": "source", "target": "target"}, "source='source' is not a column"),
        ({"source": [1], "target": [2]}, {"weight": "w"}, "weight='w' is not a column"),
        ({"source": [1, None], "target": [2, 3]}, {}, "1 row lacks an id, the first in row 1 of column 'source'"),
        ({"source": [1], "target": [2], "weight": ["x"]}, {}, "expected numbers; convert them"),
        ({"source": [1], "target": [2], "weight": [-1.0]}, {}, "column 'weight': a weight is -1"),
        ({"source": [1], "target": [2]}, {"nodes": [1, 3]}, "edge of 2"),
        ({"source": [1], "target": [2]}, {"nodes": [1, 2, 1]}, "twice"),
        ({"source": [], "target": []}, {}, "no rows"),
    ],
)
@for_each("frames", ["pandas", "polars"])
def test_tables_that_cannot_be_used(frames, table, options, word):
    refuses(GraphValidationError, word, graph_from_table, library(frames).DataFrame(table), **options)


def test_a_table_may_hold_decimal_numbers_and_no_columns_in_its_index(pandas):
    table = pandas.DataFrame({"source": [1, 2], "target": [2, 3], "weight": [Decimal("0.5"), Decimal(2)]})
    assert graph_from_table(table).weights.tolist() == [0.5, 0.5, 2.0, 2.0]
    for options in ({}, {"source": "source", "target": "target"}):
        with pytest.raises((GraphFormatError, GraphValidationError), match=r"pass table.reset_index\(\)"):
            graph_from_table(table.set_index(["source", "target"]), **options)


def test_adjacency_tables_are_graphs_with_names(pandas):
    """Of sparse columns too; rows in another order than the columns, or two of one name, are no such table."""
    table = pandas.DataFrame([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]], ["c", "a", "b"], ["c", "a", "b"])
    graph = as_graph(table)
    assert graph.nodes == ["c", "a", "b"] and graph.to_scipy().toarray().tolist() == table.to_numpy().tolist()
    thin = as_graph(table.astype(pandas.SparseDtype(float, 0.0)))
    assert thin == graph and thin.nodes == graph.nodes
    assert as_graph(table, weight=None).degrees.tolist() == [1.0, 2.0, 1.0]
    refuses(TypeError, r"G is a pandas[\w.]*DataFrame", as_graph, table.loc[["a", "b", "c"]])
    with pytest.raises(GraphValidationError, match="two rows of the table have one name"):
        as_graph(table.set_axis(["a", "a", "b"]).set_axis(["a", "a", "b"], axis=1))


@pytest.mark.parametrize("table", [None, [(0, 1), (1, 2)], {"source": [0], "target": [1]}])
def test_what_has_no_columns_is_no_table(table):
    refuses(TypeError, r"table is a (NoneType|list|dict), expected a pandas", graph_from_table, table)


def test_a_table_of_two_columns_of_one_name(pandas):
    table = pandas.DataFrame([[0, 1, 2]], columns=["source", "target", "target"])
    refuses(GraphValidationError, "2 columns of the table are named 'target', expected one", graph_from_table, table)


def test_a_table_that_is_not_computed_yet(polars):
    lazy = polars.DataFrame({"source": [0], "target": [1]}).lazy()
    for take in (graph_from_table, as_graph):
        refuses(GraphValidationError, r"polars.LazyFrame, expected a DataFrame; .*collect\(\)", take, lazy)


def test_parallel_and_missing_and_directed_edges_of_igraph(igraph):
    G = igraph.Graph(n=3, edges=[(0, 1), (1, 0), (1, 2), (2, 2)])
    assert as_graph(G).to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 1]]
    G.es["strength"] = [1.0, 2.0, None, 4.0]
    assert as_graph(G, weight="strength").to_scipy().toarray().tolist() == [[0, 3, 0], [3, 0, 1], [0, 1, 4]]
    assert as_graph(G, weight=None).weights is None and as_graph(G).nodes is None
    G.vs["name"] = ["a", "a", "b"]
    assert as_graph(G).nodes is None
    refuses(GraphValidationError, "'w'", as_graph, G, weight="w")
    directed = igraph.Graph(edges=[(0, 1), (1, 0), (1, 2)], directed=True)
    refuses(GraphValidationError, "directed igraph", as_graph, directed)
    with pytest.warns(GraphWarning, match="sum of its two weights"):
        summed = as_graph(directed, symmetrize="sum")
    assert summed.to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    directed.delete_edges([2])
    with pytest.warns(GraphWarning, match="sum of its two weights"):
        assert as_graph(directed, symmetrize="sum").degrees.tolist() == [2, 2, 0]
    refuses(GraphValidationError, "0 nodes", as_graph, igraph.Graph())
    G.es["strength"] = ["much"] * 4
    refuses(GraphValidationError, "does not hold numbers", as_graph, G, weight="strength")


def test_matrices_of_graphblas_and_of_sparse():
    """Stand-ins with the methods that are called, for neither library need be there."""
    matrix = sparse.coo_array(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]]))
    entries = matrix.row.astype(np.uint64), matrix.col.astype(np.uint64), matrix.data
    blas = type("Matrix", (), {"__module__": "graphblas.core", "shape": (3, 3), "to_coo": lambda self: entries})
    data = type("COO", (), {"__module__": "sparse.numba_backend", "to_scipy_sparse": lambda self: matrix})
    assert as_graph(blas()) == as_graph(data()) == as_graph(matrix)


MATRICES = {
    "graphblas": lambda blas, rows, columns, values, n: blas.Matrix.from_coo(rows, columns, values, nrows=n, ncols=n),
    "sparse": lambda data, rows, columns, values, n: data.COO(np.array([rows, columns]), values, shape=(n, n)),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MATRICES)
@settings(max_examples=20, deadline=None)
@given(cliques())
def test_labels_are_in_the_order_of_the_rows_of_a_matrix(name, graph):
    nodes, edges, members = graph
    expected = as_graph(as_networkx(nodes, edges)).to_scipy()
    rows, columns = expected.nonzero()
    matrix = MATRICES[name](library(name), rows, columns, np.asarray(expected[rows, columns]), len(nodes))
    found = as_graph(matrix)
    assert found.nodes is None and (found.to_scipy() != expected).nnz == 0
    labels = coreset_sc(matrix, len(members), rng=0).labels
    assert_cliques_are_clusters(dict(zip(nodes, labels, strict=True)), nodes, members)


def test_archives_of_matrices_are_read_with_loops_and_directions(tmp_path):
    graph = as_graph(np.array([[0, 2.5, 0], [2.5, 0, 1], [0, 1, 3]]))
    save_graph(tmp_path / "g.npz", graph)
    read, info = load_graph(tmp_path / "g.npz", return_info=True)
    assert read == graph and info.format == "npz" and info.counts.loops == 1
    with pytest.warns(GraphWarning, match="larger of its two"):
        sparse.save_npz(tmp_path / "d.npz", sparse.csr_array(np.array([[0, 1.0], [0, 0]])))
        assert load_graph(tmp_path / "d.npz").n_edges == 1
    assert load_graph(tmp_path / "g.npz", weights="ignore").weights is None
    sparse.save_npz(tmp_path / "b.npz", sparse.csr_array(np.array([[False, True], [True, False]])))
    assert load_graph(tmp_path / "b.npz").weights is None
    refuses(ResourceLimitError, "memory_limit", load_graph, tmp_path / "g.npz", memory_limit=10)
    refuses(ParameterError, "compressed already", save_graph, tmp_path / "g.npz.gz", graph)
    refuses(ParameterError, "bipartite", load_graph, tmp_path / "g.npz", bipartite=True)


def test_archives_that_hold_no_matrix(tmp_path):
    sparse.save_npz(tmp_path / "w.npz", sparse.csr_array(np.ones((2, 3))))
    refuses(GraphValidationError, "square", load_graph, tmp_path / "w.npz")
    sparse.save_npz(tmp_path / "n.npz", sparse.csr_array(np.array([[0.0, -2.0], [-2.0, 0.0]])))
    refuses(GraphValidationError, r"a weight is -2.0", load_graph, tmp_path / "n.npz")
    assert load_graph(tmp_path / "n.npz", weights="abs").weights.tolist() == [2, 2]


EDGES = [(0, 1, 2.0), (1, 2, 1.0), (2, 2, 3.0), (0, 1, 4.0)]  # a loop, and two edges between one pair
DEGREES = [6.0, 7.0, 4.0]


def networkit_graph(directed=False):
    networkit = library("networkit")
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
    networkit = library("networkit")
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
    return library("pyarrow").table(columns)


def duckdb_relation(columns):
    duckdb = library("duckdb")
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


def test_clusters_become_a_vertex_clustering(igraph):
    G = igraph.Graph.Famous("Zachary")
    G.es["weight"] = [1.0 + edge % 3 for edge in range(G.ecount())]
    clustering = communities(G, rng=0)
    theirs = clustering.to_igraph(G)
    assert isinstance(theirs, igraph.VertexClustering) and theirs.membership == clustering.labels.tolist()
    assert theirs.modularity == pytest.approx(modularity(G, clustering), abs=1e-12)
    with pytest.raises(GraphValidationError, match="3 vertices, expected the graph that was clustered, of 34"):
        clustering.to_igraph(igraph.Graph(3))


@pytest.mark.filterwarnings("ignore:1 isolated node")
def test_an_isolated_vertex_is_a_cluster_of_its_own_in_igraph(igraph):
    G = igraph.Graph(n=7, edges=[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    assert sorted(coreset_sc(G, 2, rng=0).to_igraph(G).sizes()) == [1, 3, 3]


def test_vertices_of_igraph_are_named_by_what_tells_them_apart(igraph):
    G = igraph.Graph.from_networkx(nx.Graph([("b", "a"), ("a", "c")]))
    assert as_graph(G).nodes == ["b", "a", "c"]
    G.vs["name"] = ["x", "y", "x"]
    assert as_graph(G).nodes == ["b", "a", "c"]
    G.vs["name"] = ["x", "y", "z"]
    assert as_graph(G).nodes == ["x", "y", "z"]
    G.vs["name"], G.vs["_nx_name"] = [["x"], ["y"], ["z"]], [1, 1, 2]
    assert as_graph(G).nodes is None
