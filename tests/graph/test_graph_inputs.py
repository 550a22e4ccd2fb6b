"""What is handed over in memory as a graph: tables, lists and arrays of edges, names of weights, ids of every type."""

import datetime
import json
import warnings

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from scipy import sparse

import graphclust
from graphclust import as_graph, communities, coreset_sc, graph_from_table, load_graph
from graphclust.errors import GraphFormatError, GraphValidationError, GraphWarning, ParameterError
from graphclust.interop.pyg import partition
from graphclust.io.edges import joined
from graphclust.io.tables import edges_of_arrays

pandas = pytest.importorskip("pandas", reason="pandas is not installed")

EDGES = {"source": ["a", "b"], "target": ["b", "c"]}


@pytest.mark.parametrize("name", ["weight", "weights", "Weight", "WEIGHTS", "w", "edge_weight"])
def test_a_column_of_weights_means_the_same_in_a_table_as_in_a_file(tmp_path, name):
    table = pandas.DataFrame({**EDGES, name: [10.0, 1.0]})
    table.to_csv(tmp_path / "t.csv", index=False)
    assert as_graph(table) == load_graph(tmp_path / "t.csv")
    assert as_graph(table).weights.tolist() == [10, 10, 1, 1]
    assert as_graph(table, weight=None).weights is None


@pytest.mark.parametrize("name", ["value", "Score", "strength"])
def test_a_column_that_may_hold_weights_is_used_with_a_warning(tmp_path, name):
    table = pandas.DataFrame({**EDGES, name: [10.0, 1.0]})
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(GraphWarning, match=f"column '{name}' was read as weights") as caught:
        graph = as_graph(table)
    assert f"weight='{name}' if it is, weight=None if it is not" in str(caught[0].message)
    with pytest.warns(GraphWarning):
        assert graph == load_graph(tmp_path / "t.csv")
    assert as_graph(table, weight=name).weights.tolist() == [10, 10, 1, 1]


def test_numbers_that_are_not_used_are_named():
    """Of tables, NetworkX and igraph: in a remark, for nothing is wrong with them."""
    table = pandas.DataFrame({**EDGES, "calls": [3, 4], "kind": ["x", "y"]})
    network = nx.from_pandas_edgelist(table, edge_attr=True)
    for graph in (as_graph(table), as_graph(network)):
        assert graph.weights is None
        (remark,) = (remark for remark in graph.remarks if "not used" in remark)
        assert "calls" in remark and "weight=" in remark
    assert as_graph(network, weight="calls").weights.tolist() == [3, 3, 4, 4]
    assert "columns not used: calls, kind" in as_graph(table, weight=None).remarks
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    other = igraph.Graph(n=2, edges=[(0, 1)], edge_attrs={"calls": [3]})
    assert any("'calls'" in remark for remark in as_graph(other).remarks)


@for_each(
    "G",
    [
        *(kind(np.ones((3, 3))) for kind in (np.asarray, sparse.csr_array, as_graph)),
        pandas.DataFrame(np.ones((3, 3)), list("abc"), list("abc")),
        pandas.DataFrame(EDGES),
        nx.path_graph(3),
        [(0, 1, 2.0), (1, 2, 1.0)],
        [(0, 1), (1, 2)],
        [(0, 1, {"strength": 2.0})],
        [{"source": 0, "target": 1}],
    ],
)
def test_a_weight_that_nothing_has_is_an_error(G):
    refuses((ParameterError, GraphValidationError), "nonsense", as_graph, G, weight="nonsense")
    refuses((ParameterError, GraphValidationError), "nonsense", coreset_sc, G, 2, weight="nonsense")
    for wrong in (lambda u, v, data: 1.0, ["weight"]):
        refuses(TypeError, r"weight is a (function|list), expected the name", as_graph, G, weight=wrong)
    assert as_graph(G, weight=None).weights is None


def test_unsigned_ids_stay_whole_numbers():
    """NumPy joins int64 and uint64 to float64, which would make one id of three."""
    big = 2**63
    table = pandas.DataFrame({"source": np.array([big + 1, big + 2, big + 3], np.uint64), "target": [1, 2, 3]})
    assert as_graph(table).nodes == [1, 2, 3, big + 1, big + 2, big + 3]
    assert [type(node) for node in as_graph(table).nodes] == [int] * 6
    table = pandas.DataFrame({"source": [2**70, 2], "target": [5, 3]})
    assert as_graph(table).nodes == [2, 3, 5, 2**70]
    nullable = {"source": pandas.array([7, 3]), "target": pandas.array([3, 5]), "weight": pandas.array([3, 1])}
    assert as_graph(pandas.DataFrame(nullable)).nodes == [3, 5, 7]
    assert as_graph(pandas.DataFrame(nullable)).weights.tolist() == [1, 3, 1, 3]


def test_times_stay_times():
    first, second, third = pandas.date_range("2024-01-01", periods=3)
    table = pandas.DataFrame({"source": [first, second], "target": [second, third]})
    assert as_graph(table).nodes == [first, second, third]
    named = graph_from_table(table, nodes=[*table["source"], third])
    assert named.nodes == [first, second, third]
    days = pandas.DataFrame({"source": pandas.to_timedelta([1, 2], "D"), "target": pandas.to_timedelta([2, 3], "D")})
    assert as_graph(days).nodes == list(pandas.to_timedelta([1, 2, 3], "D"))
    polars = pytest.importorskip("polars", reason="polars is not installed")
    graph = as_graph(polars.DataFrame({"source": [datetime.date(2024, 1, 1)], "target": [datetime.date(2024, 1, 2)]}))
    assert graph.nodes == [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]


def test_an_edge_that_ends_in_no_name_is_refused():
    words = r"2 ends of edges that name no node, the first .* in G\[1\]"
    for end in (float("nan"), None, [0]):
        refuses(GraphValidationError, words, as_graph, [(1, 2), (end, 1), (1, end)])


def test_lists_of_edges_are_graphs():
    weighted = as_graph(nx.Graph([("a", "b", {"weight": 2.0}), ("b", "c", {"weight": 1.0})]))
    triples = [("a", "b", 2.0), ("b", "c", 1.0)]
    dicts = [{"source": u, "target": v, "weight": w} for u, v, w in triples]
    with_attributes = [(u, v, {"weight": w}) for u, v, w in triples]
    for edges in (triples, tuple(triples), dicts, with_attributes):
        assert as_graph(edges) == weighted
    pairs = [(u, v) for u, v, _ in triples]
    assert as_graph(pairs) == as_graph(triples, weight=None) == as_graph(nx.Graph(pairs))
    assert as_graph([(u, v, {"since": 3}) for u, v in pairs]) == as_graph(pairs)
    assert as_graph([(1, "a"), ((2, 3), 1)]).nodes == [1, "a", (2, 3)]
    assert as_graph([((0, 0), (0, 1)), ((0, 1), (1, 1))]).nodes == [(0, 0), (0, 1), (1, 1)]
    assert coreset_sc([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], 2, rng=0).sizes.tolist() == [3, 3]


@for_each(
    ("edges", "words"),
    [
        ([], "empty list"),
        ([[0, 1], [1, 0]], r"holds a list.*numpy.array\(G\)"),
        ([(0, 1), (1, 2, 3.0)], "mixes pairs and triples"),
        ([(0, 1, 2, 3)], "holds a tuple"),
        (graphclust.classic_graph("karate"), r"holds a Graph.*the graph alone is G\[0\]"),
        ([{"source": 0, "target": 1}, {"source": 1}], "1 row lacks an id, the first in row 1 of column 'target'"),
        ([{"id": 0, "to": 1}], r"no two of its columns .* graph_from_table\(table, source=...\) .*'id', 'to'"),
        ([(0, None)], r"1 end of an edge that names no node, the first None"),
        ([(0, 1, "x")], "expected numbers"),
        ([("a", "b", 1), ("a", "likes", "b")], r"third entry of the edge \('a', 'likes', 'b'\) is not a number"),
    ],
)
def test_a_list_that_is_no_list_of_edges_says_what_one_is(edges, words):
    refuses((TypeError, GraphFormatError, GraphValidationError), words, as_graph, edges)


def test_edges_in_an_array_are_told_how_to_be_edges():
    pairs = np.array([[0, 1], [1, 2], [2, 3]])
    refuses(GraphValidationError, r"\[\*map\(tuple, G.tolist\(\)\)\]", as_graph, pairs)
    assert as_graph([*map(tuple, pairs.tolist())]) == as_graph(nx.to_scipy_sparse_array(nx.path_graph(4)))


def test_a_table_whose_columns_do_not_say_the_ends_is_told_what_takes_their_names():
    table = pandas.DataFrame({"id": ["x"], "caller": ["a"], "callee": ["b"]})
    refuses(GraphFormatError, r"graph_from_table\(table, source=...\).*'id', 'caller', 'callee'", as_graph, table)
    assert graph_from_table(table, source="caller", target="callee").n_edges == 1
    refuses(GraphFormatError, "there are none", as_graph, pandas.DataFrame(index=["a"]))
    refuses(TypeError, r"networkx.Graph\(G\)", as_graph, {"a": ["b"]})


@pytest.mark.parametrize("missing", [float("nan"), pandas.NA, pandas.NaT, None])
def test_missing_ids_are_refused_or_left_out(missing):
    """NetworkX has no None; igraph's vertices are named by an attribute."""
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    edges = [("a", "b"), ("b", missing), ("b", "c"), (missing, "c")]
    rows = [{"from": u, "to": v} for u, v in edges]
    names = ["a", "b", missing, "c"]
    of_igraph = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (1, 3), (2, 3)], vertex_attrs={"name": names})
    adjacency = pandas.DataFrame([[0, 1, 0, 0], [1, 0, 5, 1], [0, 5, 0, 1], [0, 1, 1, 0]], names, names)
    inputs = [of_igraph, adjacency, edges, rows, pandas.DataFrame(rows, dtype=object)]
    inputs += [] if missing is None else [nx.Graph(edges)]
    for G in inputs:
        is_of_nodes = hasattr(G, "is_directed") or G is adjacency
        wanted = "1 node named .*, a missing id, the first at place 2" if is_of_nodes else "2 (rows lack|ends of edges)"
        refuses(GraphValidationError, rf'{wanted}.*, missing="drop"\) leaves', as_graph, G)
        left_out = "1 node without an id left out" if is_of_nodes else "2 rows without an id left out, the first row 1"
        with pytest.warns(GraphWarning, match=left_out):
            graph = as_graph(G, missing="drop")
        assert (list(graph.nodes), graph.n_edges, graph.weights) == (["a", "b", "c"], 2, None)
    with pytest.raises(GraphValidationError, match="1 node, all without a name"):
        as_graph(igraph.Graph(n=1, vertex_attrs={"name": [missing]}), missing="drop")
    refuses(ParameterError, "missing='keep' is unknown", as_graph, edges, missing="keep")


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
def test_two_directions_of_an_edge_are_added_or_the_larger_is_kept_whatever_holds_them(tmp_path):
    arcs = [("a", "b", 2.0), ("b", "a", 3.0), ("b", "c", 1.0)]
    table = pandas.DataFrame(arcs, columns=["source", "target", "weight"])
    network, matrix = nx.DiGraph(), np.zeros((3, 3))
    network.add_weighted_edges_from(arcs)
    for u, v, w in arcs:
        matrix["abc".index(u), "abc".index(v)] = w
    inputs = [arcs, table, network, matrix, sparse.csr_array(matrix), sparse.coo_array(matrix)]
    table.to_csv(tmp_path / "t.csv", index=False)
    nx.write_gml(network, tmp_path / "t.gml")
    nx.write_graphml(network, tmp_path / "t.graphml")
    (tmp_path / "t.json").write_text(json.dumps(nx.node_link_data(network, edges="links")))
    (tmp_path / "t.net").write_text("*Vertices 3\n1 a\n2 b\n3 c\n*Arcs\n1 2 2\n2 1 3\n2 3 1\n")
    (tmp_path / "t.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 2\n2 1 3\n2 3 1\n")
    for G in [*inputs, *sorted(tmp_path.iterdir())]:
        for rule, kept in (("sum", 5.0), ("max", 3.0)):
            found = as_graph(G, symmetrize=rule).to_scipy().toarray()
            assert found.tolist() == [[0, kept, 0], [kept, 0, 1], [0, 1, 0]], (G, rule)


def test_two_kinds_of_ids_are_no_one_kind():
    table = pandas.DataFrame({"customer_id": [1, 2, 3], "product_id": [1, 1, 2], "amount": [5, 6, 7]})
    names = ("customer_id", "product_id", "amount")
    with pytest.raises(GraphValidationError, match=r"share 2 ids, the first 1, .*bipartite=True .*bipartite=False"):
        graph_from_table(table, *names)
    graph = graph_from_table(table, *names, bipartite=True)
    assert graph.nodes == [*(f"customer_id:{i}" for i in (1, 2, 3)), "product_id:1", "product_id:2"]
    assert graph.degrees.tolist() == [5, 6, 7, 11, 7]
    assert graph_from_table(table, *names, bipartite=False).n_nodes == 3
    for other in (("caller", "callee"), ("node1", "node2"), ("from_user", "to_user"), ("a", "b")):
        assert graph_from_table(table.set_axis([*other, "n"], axis=1), *other, "n").n_nodes == 3


def test_repeated_rows_are_added_or_the_largest_stays_or_they_are_refused(tmp_path):
    table = pandas.DataFrame({"from": list("abab"), "to": list("bcbc"), "weight": [0.9, 0.2, 0.4, 0.3]})
    table.to_csv(tmp_path / "t.csv", index=False)
    for read in (graph_from_table, load_graph):
        given = table if read is graph_from_table else tmp_path / "t.csv"
        with pytest.warns(GraphWarning, match="2 repeated entries"):
            assert read(given).degrees.tolist() == pytest.approx([1.3, 1.8, 0.5])
        with pytest.warns(GraphWarning, match="of 2 repeated entries the largest weight was kept"):
            assert read(given, duplicates="max").degrees.tolist() == pytest.approx([0.9, 1.2, 0.3])
        with pytest.raises(GraphValidationError, match=r"2 repeated entries, the first \(a, b\).*duplicates="):
            read(given, duplicates="error")


def test_a_weight_that_is_none_is_named_with_its_row_and_its_edge():
    edges = [(1, 2, 1.0), (2, 3, -2.0), (3, 1, -1.0)]
    words = r"a weight is -2.0 in row 1, the edge \(2, 3\), the first of 2 such weights"
    for G in (edges, pandas.DataFrame(edges, columns=["from", "to", "weight"])):
        refuses(GraphValidationError, words, as_graph, G)
    with pytest.raises(GraphValidationError, match=r"expected numbers; .* 'x' in row 0, the edge \('a', 'b'\)"):
        graph_from_table(pandas.DataFrame({"from": ["a"], "to": ["b"], "weight": ["x"]}))


def test_columns_of_lists_and_of_long_names_are_refused_in_few_words():
    for value in ([1], {"a": 1}, np.ones(2)):
        with pytest.raises(GraphValidationError, match="columns 'from' and 'to' hold what names no node"):
            graph_from_table(pandas.DataFrame({"from": [value, value], "to": [1, 2]}))
    with pytest.raises(GraphValidationError) as caught:
        graph_from_table(pandas.DataFrame({"from": ["x" * 100_000], "to": ["y"]}), nodes=["y"])
    assert len(str(caught.value)) < 2100


def test_none_as_the_weight_of_an_edge_is_refused_by_the_name_of_the_edge():
    graph = nx.Graph([("a", "b", {"weight": 1.0}), ("b", "c", {"weight": None})])
    with pytest.raises(GraphValidationError, match=r"edge \('b', 'c'\) has None as 'weight'") as caught:
        as_graph(graph)
    assert "nan" not in str(caught.value)
    del graph["b"]["c"]["weight"]
    assert as_graph(graph).n_edges == 2


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_an_impossible_weight_of_an_edge_is_told_by_the_name_of_the_edge(value):
    edges = [("a", "b", 1.0), ("b", "c", value)]
    graph = nx.Graph()
    graph.add_weighted_edges_from(edges)
    words = rf"edge \('b', 'c'\) has {value} as 'weight', .*, expected finite weights >= 0; .*weight=None"
    refuses(GraphValidationError, words, as_graph, graph)
    assert as_graph(graph, weight=None).n_edges == 2
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    refuses(GraphValidationError, words, as_graph, igraph.Graph.TupleList(edges, weights=True))


@pytest.mark.parametrize("measure", ["cluster_volumes", "conductance", "normalized_cut", "kernel_k_means_cost"])
def test_a_measure_of_a_directed_graph_can_be_had_as_the_error_says(measure):
    directed, labels = nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3)]), [0, 0, 0, 1]
    refuses(GraphValidationError, r'pass symmetrize="sum".* or "max"', getattr(graphclust, measure), directed, labels)
    with pytest.warns(GraphWarning, match="directed"):
        found = getattr(graphclust, measure)(directed, labels, symmetrize="max")
    expected = getattr(graphclust, measure)(directed.to_undirected(), labels)
    assert np.all(found == expected)


@pytest.mark.filterwarnings("ignore:the graph was directed")
def test_a_remedy_names_what_the_called_function_takes_and_works():
    directed = sparse.csr_array([[0, 1, 0], [0, 0, 2], [3, 0, 0]])
    signed = sparse.csr_array([[0, -1, 0], [-1, 0, 2], [0, 2, 0]])
    for G, remedy, n_edges in ((directed, {"symmetrize": "sum"}, 3), (signed, {"weight": None}, 2)):
        (argument,) = remedy
        refuses(GraphValidationError, f"pass {argument}=", graphclust.communities, G)
        refuses(GraphValidationError, rf"pass as_graph\(G, {argument}=", graphclust.graph_facts, G)
        assert as_graph(G, **remedy).n_edges == n_edges


@pytest.mark.parametrize("entry", [-1.0, np.nan, 2j])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix, np.array])
def test_without_weights_a_matrix_is_its_pattern_whatever_its_entries(form, entry):
    matrix = form(np.array([[0, entry, 0], [5, 0, 2], [0, 3, 0]]))
    assert as_graph(matrix, weight=None).to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_an_error_of_a_file_names_the_function_that_takes_its_remedy(tmp_path):
    """Of load_graph itself the argument alone."""
    file = tmp_path / "r.csv"
    file.write_text("source,target,weight\na,b,-1\nb,c,2\n")
    for use in (as_graph, coreset_sc, graphclust.graph_facts):
        refuses(ValueError, r'load_graph\(path, weights="abs"\)', use, file)
    refuses(ValueError, r'(?<!path, )weights="abs"', load_graph, file)
    assert coreset_sc(load_graph(file, weights="abs"), 2, rng=0).n_clusters == 2
    large = tmp_path / "large.mtx"
    large.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n900000000 900000000 1\n2 1\n")
    refuses(MemoryError, "pass a larger memory_limit to load_graph", coreset_sc, large, 2)


TWO_TRIANGLES = np.array([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]])


class Tensor:
    """What of a torch tensor is used: moves to memory, and makes another of its kind."""

    def __init__(self, values, device="cuda:0"):
        self.values, self.device, self.shape = np.asarray(values), device, np.asarray(values).shape

    def detach(self):
        return Tensor(self.values, self.device)

    def cpu(self):
        return Tensor(self.values, "cpu")

    def numpy(self):
        assert self.device == "cpu"
        return self.values

    def new_tensor(self, values):
        return Tensor(values, self.device)


@for_each("edges", [TWO_TRIANGLES, TWO_TRIANGLES.T, np.hstack([TWO_TRIANGLES, TWO_TRIANGLES[::-1]])])
@for_each("kind", [np.asarray, Tensor])
def test_edges_in_one_direction_or_both_are_one_graph(edges, kind):
    graph = as_graph((kind(edges), 6))
    assert graph.n_edges == 7 and graph.weights is None
    assert graph.neighbors(2).tolist() == [0, 1, 3]
    assert communities((kind(edges), 6), rng=0).k == 2
    with pytest.warns(GraphWarning, match="2 isolated nodes"):
        assert as_graph((kind(edges), 8)).n_nodes == 8


def test_parts_of_isolated_nodes_come_without_a_word_on_labels_that_they_would_not_have():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.bincount(partition(TWO_TRIANGLES, 1206, 2)).max() <= 1.03 * 603 + 1


def test_weights_of_an_edge_in_both_directions_are_one_and_repeats_add_up():
    edges = np.array([[0, 1, 0, 0], [1, 0, 2, 2]])
    with pytest.warns(GraphWarning, match="repeated"):
        graph = joined(edges_of_arrays(edges, 3, np.array([2.0, 2.0, 1.0, 4.0])), "max")
    assert graph.degrees.tolist() == [7.0, 2.0, 5.0]


@for_each(
    "edges, n, weights, message",
    [
        (np.zeros((3, 4), int), 5, None, r"shape \(3, 4\), expected \(2, n_edges\)"),
        (np.zeros((2, 4)), 5, None, "dtype float64, expected whole numbers"),
        (np.array([[0, 1], [1, 5]]), 5, None, r"ends 0 to 5, expected them in \[0, 5\)"),
        (np.array([[0, -1], [1, 2]]), 5, None, r"ends -1 to 2"),
        (np.array([[0, 1], [1, 2]]), 5, np.ones(3), r"edge_weight has shape \(3,\)"),
        (np.array([[0, 1], [1, 2]]), 5, np.array([1.0, -1.0]), "edge_weight"),
    ],
)
def test_what_is_no_array_of_edges_is_refused(edges, n, weights, message):
    refuses(GraphValidationError, message, edges_of_arrays, edges, n, weights)


def test_an_array_of_edges_has_no_name_of_weights_and_a_tuple_of_edges_is_a_list_of_them():
    refuses(ParameterError, "weight='w'", as_graph, (TWO_TRIANGLES, 6), weight="w")
    assert as_graph(((0, 1), (1, 2))).n_edges == 2


def test_a_partition_is_of_the_kind_that_came():
    parts = partition(TWO_TRIANGLES, 6, 2)
    assert parts.dtype == np.int64 and parts.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    cliques = nx.to_scipy_sparse_array(nx.disjoint_union_all([nx.complete_graph(5)] * 4)).nonzero()
    assert np.bincount(partition(np.array(cliques), 20, None)).tolist() == [5, 5, 5, 5]
    tensor = partition(Tensor(TWO_TRIANGLES), 6, 2)
    assert isinstance(tensor, Tensor) and tensor.device == "cuda:0" and tensor.values.tolist() == parts.tolist()


def test_every_node_is_in_a_part_and_lonely_ones_fill_the_smallest():
    edges = np.array([[0, 1, 2, 3, 0, 4], [1, 2, 3, 0, 2, 5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parts = partition(edges, 9, 2)
    of_cycle, of_pair = parts[0], parts[4]
    assert (parts[:4] == of_cycle).all() and (parts[4:6] == of_pair).all() and of_cycle != of_pair
    assert np.sort(np.bincount(parts)).tolist() == [4, 5]


def test_components_put_aside_go_whole_to_the_smallest_part():
    blocks = [nx.complete_graph(8), nx.complete_graph(7), nx.path_graph(2), nx.path_graph(3), nx.empty_graph(2)]
    network = nx.disjoint_union_all(blocks)
    network.add_edge(0, 8)
    parts = partition(np.array(network.edges).T, 22, 2, objective="normalized_cut")
    assert len({*parts[:8]}) == len({*parts[8:15]}) == len({*parts[15:17]}) == len({*parts[17:20]}) == 1
    assert parts[0] != parts[8] == parts[17] != parts[15] and np.bincount(parts).tolist() == [11, 11]


def test_weights_and_options_reach_the_clustering():
    weights = np.array([5.0, 5, 5, 5, 5, 5, 0.1])
    parts = partition(TWO_TRIANGLES, 6, 2, edge_weight=weights, objective="modularity", random_state=3)
    graph = joined(edges_of_arrays(TWO_TRIANGLES, 6, weights), "max")
    assert parts.tolist() == coreset_sc(graph, 2, rng=3).labels.tolist()


def test_parts_are_of_equal_size_and_nodes_without_edges_count():
    hubs = np.array(nx.barabasi_albert_graph(2000, 2, seed=1).edges).T
    assert np.bincount(partition(hubs, 2400, 20)).max() <= np.ceil(1.03 * 120)
    parts = partition([[0, 0, 1], [1, 2, 2]], 8, 5)
    assert np.bincount(parts).max() == 2 and sum(parts[u] != parts[v] for u, v in ((0, 1), (0, 2), (1, 2))) == 2
