"""What a text file plainly says is read, what it does not say is not invented, and other formats are named."""

import contextlib
import dataclasses
import time

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from graph_files import BANNER, load
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphclust import GraphFormatError, GraphValidationError, GraphWarning, as_graph, load_graph, save_graph
from graphclust.compiled.runtime.loops import plain
from graphclust.faces.cli import main as cli
from graphclust.io.node_weights import read_node_weights
from graphclust.io.text.points import points_of, read_points

# -- ids


def test_ids_with_a_leading_zero_are_text_for_the_whole_file(tmp_path):
    assert load(tmp_path, "source,target\n007,10\n10,7\n", "p.csv")[1].nodes == ["007", "10", "7"]
    assert load(tmp_path, "1 2\n2 3\n3 01\n0 00\n")[1].nodes == ["1", "2", "3", "01", "0", "00"]
    assert load(tmp_path, "0 1\n1 2\n10 0\n")[1].nodes.tolist() == [0, 1, 2, 10]
    words = r"line 2: '3 01' has an id with a leading zero.*format='csv'"
    refuses(GraphFormatError, words, load, tmp_path, "1 2\n3 01\n", format="snap")


def test_ids_in_quotes_are_text(tmp_path):
    assert load(tmp_path, '"2","1"\n"1","7"\n', "p.csv")[1].nodes == ["2", "1", "7"]
    assert load(tmp_path, '"source","target"\n2,1\n1,7\n', "p.csv")[1].nodes.tolist() == [1, 2, 7]


def test_fields_that_are_not_used_may_be_empty(tmp_path):
    text = "source,target,label,kind\n5,7,,\n7,9,x,\n9,5,,y\n"
    assert load(tmp_path, text, "q.csv")[1].n_edges == 3
    for row, words in (("5,x,a,b", "two node ids"), ("5,7,a", "fewer columns"), ("5,7,a,b,c", "more columns")):
        refuses(GraphFormatError, f"line 5: .*{words}", load, tmp_path, text + row + "\n", "q.csv")


def test_quotes_of_other_columns_are_passed_over(tmp_path):
    text = 'source,target,label,weight\n30,10,"a, ""b""",2\n20,10,c,"3.5"\n'
    _, graph, info = load(tmp_path, text, "q.csv")
    assert graph.nodes == [10, 20, 30] and graph.neighbors(0).tolist() == [1, 2] and info.format == "csv"
    assert graph.weights.tolist() == [3.5, 2, 3.5, 2]
    assert load(tmp_path, 'label,source,target\n"a, b",1,2\n', "q.csv")[1].n_edges == 1
    refuses(GraphFormatError, "does not hold two node ids", load, tmp_path, '1,2\n"1",2\n', "q.csv")
    assert load(tmp_path, text.replace("20,10", "020,10"), "q.csv")[1].nodes == ["30", "10", "020"]
    with pytest.raises(GraphFormatError, match="the id 'x' is not a whole number"):
        load(tmp_path, text.replace("20,10", "x,10"), "q.csv")


NAMES = st.one_of(
    st.sampled_from(["NA", "NaN", "None", "#N/A"]),
    st.text(st.sampled_from("07#% a,\"'\t\n."), max_size=4),
    st.integers(0, 2**64).map(str),
    st.text(max_size=3),
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(NAMES, min_size=2, max_size=6, unique=True), weighted=st.booleans())
def test_a_table_of_any_names_is_read_back_or_refused(tmp_path, names, weighted):
    network = nx.path_graph(names)
    network.add_edge(names[0], names[-1])
    nx.set_edge_attributes(network, 2.5 if weighted else 1, "weight")
    try:
        save_graph(tmp_path / "t.csv", network, overwrite=True)
    except GraphValidationError as refusal:
        assert "not distinct single-line strings" in str(refusal)
        return
    assert load_graph(tmp_path / "t.csv") == as_graph(network)


@pytest.mark.parametrize("names", [[2**63, 2**64, 5], [3, 4, 2**63], [5, -1, 6]])
def test_whole_numbers_that_a_table_has_no_ids_for_come_back_as_text(tmp_path, names):
    with pytest.warns(GraphWarning, match="written as text"):
        save_graph(tmp_path / "t.csv", nx.path_graph(names))
    assert list(load_graph(tmp_path / "t.csv").nodes) == [str(name) for name in names]


@for_each("names, remedy", [(["a\nb", ""], "use format='graphml'"), ([1, "1"], "rename"), (["a\0", "b"], "rename")])
def test_the_remedy_for_names_that_no_table_holds_can_be_followed(tmp_path, names, remedy):
    refuses(GraphValidationError, f"as a table needs; {remedy}", save_graph, tmp_path / "t.csv", nx.path_graph(names))
    if "graphml" in remedy:
        save_graph(tmp_path / "t", nx.path_graph(names), format="graphml")
        assert load_graph(tmp_path / "t").nodes == names


def test_nodes_of_a_table_stay_in_order_where_each_has_a_lower_neighbor_or_the_next(tmp_path):
    network = nx.empty_graph(list("abcd"))
    network.add_edges_from([("a", "b"), ("b", "d"), ("c", "d"), ("d", "d")])
    save_graph(tmp_path / "t.csv", network)
    assert load_graph(tmp_path / "t.csv") == as_graph(network)


def test_whole_numbers_are_read_back(tmp_path):
    for format in ("csv", "snap"):
        network = nx.Graph([(0, 5), (5, 2**63 - 1)])
        save_graph(tmp_path / "t", network, format=format, overwrite=True)
        assert load_graph(tmp_path / "t") == as_graph(network)
    refuses(GraphValidationError, "increasing whole numbers", save_graph, tmp_path / "u.txt", nx.Graph([(0, 2**63)]))


# -- lines of NetworkX


@pytest.mark.parametrize(
    ("attributes", "weight"),
    [
        ({}, 1.0),
        ({"weight": 3}, 3.0),
        ({"weight": 3, "since": 5}, 3.0),
        ({"since": 5, "weight": 2.5}, 2.5),
        ({"note": "a 'weight': 7, {", "list": [1, {"weight": 9}], "weight": np.float64(0.5)}, 0.5),
        ({"weight": 3, 2: 7}, 3.0),
    ],
)
@pytest.mark.parametrize("delimiter", [" ", ",", "\t"])
def test_edge_lists_of_networkx_keep_their_weights(tmp_path, attributes, weight, delimiter):
    network = nx.karate_club_graph()
    for edge in network.edges:
        network.edges[edge].clear()
        network.edges[edge].update(attributes)
    nx.write_edgelist(network, tmp_path / "g.txt", delimiter=delimiter)
    graph, info = load_graph(tmp_path / "g.txt", return_info=True)
    matrix = nx.to_scipy_sparse_array(network, nodelist=range(34), weight="weight", dtype=float)
    assert (graph.to_scipy() != matrix).nnz == 0 and graph.to_scipy().data.tolist() == [weight] * 156
    others = sorted(key for key in attributes if isinstance(key, str) and key != "weight")
    said = [remark for remark in info.remarks if remark.startswith("attributes not used")]
    assert said == ([f"attributes not used: {', '.join(map(repr, others))}"] if others else [])


def test_another_attribute_may_be_the_weight(tmp_path):
    text = "a b {'weight': 3, 'since': 5}\nb c {'since': 7}\n"
    assert load(tmp_path, text, weight="since")[1].weights.tolist() == [5, 5, 7, 7]
    assert load(tmp_path, text)[1].weights.tolist() == [3, 3, 1, 1]
    with pytest.raises(GraphValidationError, match=r"weight='when' is an attribute of no edge.*'since', 'weight'"):
        load(tmp_path, text, weight="when")
    words = r"line 2: the weight is '\"3\"', expected a number"
    refuses(GraphFormatError, words, load, tmp_path, "a b {}\nb c {'weight': \"3\"}\n")
    for empty in ("np.float64()", "Decimal('')"):
        text = f"a b {{'weight': 2}}\nb c {{'weight': {empty}}}\n"
        refuses(GraphFormatError, "line 2: the weight is '', expected a number", load, tmp_path, text)


# -- other formats


def test_a_file_of_another_format_is_named(tmp_path):
    for text, what in (
        ("# 0\n1 4\n2 5\n# 1\n2 6\n", "an LGL file"),
        ("digraph { a -> b; b -> c }\n", "a DOT file"),
        ("// by hand\nstrict graph G {\n a -- b\n}\n", "a DOT file"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 7\n", "a pointer of Git LFS"),
        ("a -> b\nb -> c\n", "edges drawn as arrows"),
        ("a -- b;\nb -- c;\n", "edges drawn as arrows"),
        ("dl n=3 format=edgelist1\nlabels:\na,b,c\ndata:\n1 2\n", "a UCINET DL file"),
        ("c by hand\np max 3 2\nn 1 s\na 1 2 5\n", "a DIMACS graph"),
        ("nodedef>name VARCHAR\na\nb\nedgedef>node1,node2\na,b\n", "a GDF file"),
        ("1 first\n2 second\n#\n1 2 label\n", "TGF"),
        ("LEDA.GRAPH\nstring\nint\n2\n", "a LEDA graph"),
        (">>graph6<<DQc\n", "a graph6 file"),
        ("@prefix : <http://x.org/> .\n:a :b :c .\n", "Turtle"),
        (",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n", "an adjacency matrix"),
    ):
        refuses(GraphFormatError, f"looks like .*{what}", load, tmp_path, text)


def test_edge_lists_are_not_taken_for_other_formats(tmp_path):
    marked = ("# nodes\n# edges\n1 2\n2 3\n", "# made\n1 2\n2 3\n", "#a,#b\n#b,c\n")
    for text in (*marked, "graph node\nnode edge\n", "dl ml\nml dl\n"):
        assert load(tmp_path, text, "g.csv")[1].n_edges


def test_long_lines_take_no_longer_than_their_length(tmp_path):
    for text in (
        " " * 100_000 + "a b\nb c\n",
        "a" + " {" * 50_000 + "\nb c\n",
        "a b {'" + "\\'" * 50_000 + "}\nb c {}\n",
        "-" * 100_000 + " b\nb c\n",
        "(" + ")" * 100_000 + " b\nb c\n",
        "A" * 100_000 + ",B\na,b\n",
        ",".join(["a", "b"] * 2_000) + "\n1,2\n",
    ):
        path = tmp_path / "g.csv"
        path.write_text(text)
        start = time.process_time()
        with contextlib.suppress(GraphFormatError, GraphValidationError):
            load_graph(path, return_info=True)
        assert time.process_time() - start < 2


def test_a_first_line_that_counts_nodes_and_edges_is_no_edge(tmp_path):
    rows = "1 2\n2 3\n3 4\n4 5\n5 1\n1 3\n"
    _, graph, info = load(tmp_path, "5 6\n" + rows)
    assert (graph.n_nodes, graph.n_edges) == (5, 6) and "'5 6', was read as the numbers of nodes" in info.repairs[0]
    _, graph, _ = load(tmp_path, "# c\n5 6\n" + rows.replace("\n", " 2\n"), weights="file")
    assert (graph.n_nodes, graph.n_edges, set(graph.weights)) == (5, 6, {2})
    for text in ("5 7\n" + rows, rows):
        _, graph, info = load(tmp_path, text)
        assert graph.n_edges == text.count("\n")
        assert not any("first line" in said for said in info.repairs)
    _, graph, info = load(tmp_path, "4 3\n1 2\n2 3\n3 4\n")
    assert graph.n_edges == 3 and "4 3, was read as an edge" in info.repairs[0]


def test_a_first_line_that_may_count_is_neither_an_edge_nor_left_out_unasked(tmp_path):
    for first, rows in (
        ("6 5", "1 2\n2 3\n3 4\n4 5\n5 1\n1 3\n"),  # edges, nodes
        ("9 6", "1 2\n2 3\n3 4\n4 5\n5 6\n6 1\n"),  # three nodes have no edge
        ("6 6", "0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n"),
        ("5 3", "0 1\n1 2\n2 0\n1 0\n2 1\n0 2\n"),  # each edge twice
    ):
        said = rf"its first line, {first}, may count .* header=True .* header=False"
        refuses(GraphFormatError, said, load, tmp_path, f"{first}\n{rows}")
        n_edges = load(tmp_path, rows)[1].n_edges
        assert load(tmp_path, f"{first}\n{rows}", header=True)[1].n_edges == n_edges
        assert load(tmp_path, f"{first}\n{rows}", header=False)[1].n_edges == n_edges + 1


@for_each("first", ["5", "5 6 1", "5 5 6", "5 6 0 0"])
def test_a_first_line_of_another_length_is_named_as_what_may_count(tmp_path, first):
    """Not taken for METIS, whose errors speak of neighbors and fmt; `header=True` leaves it out, as it says."""
    rows = "1 2\n2 3\n3 4\n4 5\n5 1\n1 3\n"
    refuses(GraphFormatError, "a first line that counts: header=True", load, tmp_path, f"{first}\n{rows}")
    assert load(tmp_path, f"{first}\n{rows}", header=True)[1].n_edges == 6
    assert load(tmp_path, "5 6\n" + rows.replace("\n", " 2\n"), header=True)[1].n_edges == 6


# -- weights


@pytest.mark.parametrize("value", ["nan", "1e999", "inf"])
def test_ignored_weights_may_be_anything_in_every_format(tmp_path, value):
    texts = {
        "g.mtx": BANNER + f"3 3 2\n1 2 {value}\n2 3 1\n",
        "g.txt": f"0 1 {value}\n1 2 1\n",
        "g.csv": f"source,target,weight\na,b,{value}\nb,c,1\n",
        "nx.txt": f"a b {{'weight': {value}}}\nb c {{}}\n",
    }
    for name, text in texts.items():
        graph = load(tmp_path, text, name, weights="ignore")[1]
        assert graph.n_edges == 2 and graph.weights is None
        with pytest.raises(GraphValidationError, match=r'1 non-finite weight, .*weights="ignore" to count'):
            load(tmp_path, text, name, weights="file")


# -- METIS


def test_metis_takes_a_graph_without_its_loops_and_with_whole_weights(tmp_path, capsys):
    network = nx.Graph()
    network.add_weighted_edges_from([(0, 0, 0.5), (0, 1, 0.25), (1, 2, 0.0001)])
    refuses(GraphValidationError, r"1 self-loop, .* pass drop_loops=True", save_graph, tmp_path / "g.graph", network)
    refuses(GraphValidationError, "pass round_weights=1000", save_graph, tmp_path / "g.graph", network, drop_loops=True)
    with pytest.warns(GraphWarning, match="1 self-loop was left out; weights were multiplied by 1000 and rounded"):
        save_graph(tmp_path / "g.graph", network, drop_loops=True, round_weights=1000)
    assert load_graph(tmp_path / "g.graph").to_scipy().toarray().tolist() == [[0, 250, 0], [250, 0, 1], [0, 1, 0]]
    save_graph(tmp_path / "g.mtx", network)
    words = ["convert", str(tmp_path / "g.mtx"), str(tmp_path / "h.graph")]
    assert cli.main(words) != 0 and "pass --drop-loops" in capsys.readouterr().err
    assert cli.main([*words, "--drop-loops", "--round-weights", "1000"]) == 0
    assert "1 self-loop was left out" in capsys.readouterr().err
    assert (tmp_path / "h.graph").read_bytes() == (tmp_path / "g.graph").read_bytes()


def test_weights_of_nodes_are_kept_and_sizes_left_out_with_a_warning(tmp_path):
    (tmp_path / "g.graph").write_text("3 2 010\n0 2\n%\n7 1 3\n0 2\n")
    assert load_graph(tmp_path / "g.graph").node_weights.tolist() == [0, 7, 0]
    (tmp_path / "g.graph").write_text("3 2 110\n9 4 2\n9 7 1 3\n9 1 2\n")
    with pytest.warns(GraphWarning, match="not used: the size of each node"):
        assert load_graph(tmp_path / "g.graph").node_weights.tolist() == [4, 7, 1]


@pytest.mark.parametrize("weighs_edges", [False, True])
def test_metis_weights_of_nodes_come_back_as_they_were_written(tmp_path, weighs_edges):
    text = "4 3 011\n3 2 5 3 1\n1 1 5\n2 1 1 4 2\n9 3 2\n" if weighs_edges else "4 3 010\n3 2 3\n1 1\n2 1 4\n9 3\n"
    (tmp_path / "g.graph").write_text(text)
    graph = load_graph(tmp_path / "g.graph")
    assert graph.node_weights.tolist() == [3, 1, 2, 9] and (graph.weights is not None) == weighs_edges
    save_graph(tmp_path / "h.graph", graph)
    assert (tmp_path / "h.graph").read_text() == text
    with pytest.raises(GraphValidationError, match="node weights that are not whole numbers"):
        save_graph(tmp_path / "i.graph", dataclasses.replace(graph, node_weights=np.full(4, 0.5)))


def test_weights_of_nodes_stay_where_the_weights_of_edges_are_rounded(tmp_path):
    (tmp_path / "g.graph").write_text("3 2 011\n4 2 3\n7 1 3 3 1\n1 2 1\n")
    with pytest.warns(GraphWarning, match="^[^;]*: weights were multiplied by 2 and rounded[^;]*$"):
        save_graph(tmp_path / "h.graph", load_graph(tmp_path / "g.graph"), round_weights=2)
    assert (tmp_path / "h.graph").read_text() == "3 2 011\n4 2 6\n7 1 6 3 2\n1 2 2\n"


@pytest.mark.parametrize("ending", ["mtx", "npz", "csv", "txt", "graphml"])
def test_weights_of_nodes_that_a_format_cannot_hold_are_left_out_with_a_warning(tmp_path, ending):
    graph = dataclasses.replace(as_graph(nx.path_graph(3)), node_weights=np.array([4.0, 7, 1]))
    with pytest.warns(GraphWarning, match="the weights of the nodes were left out, which .* cannot hold; metis and a"):
        save_graph(tmp_path / f"g.{ending}", graph)
    assert load_graph(tmp_path / f"g.{ending}").node_weights is None


def test_names_that_a_format_cannot_hold_are_left_out_with_a_warning(tmp_path):
    with pytest.warns(GraphWarning, match="the names of the nodes were left out"):
        save_graph(tmp_path / "g.mtx", nx.path_graph(["a", "b"]))
    with pytest.warns(GraphWarning, match="written as text"):
        save_graph(tmp_path / "g.csv", nx.path_graph([(0, 1), "b"]))
    for names in ([-1, 2], [True, False]):  # which come back as text
        with pytest.warns(GraphWarning, match="written as text"):
            save_graph(tmp_path / "g.csv", nx.path_graph(names), overwrite=True)


@pytest.mark.parametrize("text", ["source,target\nx,{'a': 1}\n{b},x\n", "x\t{'a': 1}\n{b}\tx\n", "a b,{}\nc,a b\n"])
def test_a_name_in_braces_is_no_dict_of_attributes(tmp_path, text):
    _, graph, info = load(tmp_path, text)
    assert graph.n_edges == 2 and graph.weights is None
    assert not any("attributes" in remark for remark in info.remarks)


@pytest.mark.parametrize("text", ["0 1 {'weight': 2}\n1 2 {'weight': 3}\n", "*vertices 2\n*edges\n1 2\n", "a,b\nb,c\n"])
def test_lines_that_end_in_carriage_returns_alone_are_refused(tmp_path, text):
    assert load(tmp_path, text.replace("\n", "\r\n").removesuffix("\n"))[1].n_edges
    refuses(GraphFormatError, "lines end in carriage returns alone", load, tmp_path, text.replace("\n", "\r"))


def test_a_list_may_hold_one_named_node_and_its_self_loop(tmp_path):
    _, graph, _ = load(tmp_path, "a a\n")
    assert graph.nodes == ["a"] and graph.loops.tolist() == [1.0]


@pytest.mark.parametrize("word", ["1_0", "\u0663"])
def test_what_only_python_takes_for_a_number_is_none_in_a_file(tmp_path, word):
    """1_0, which is 10 to Python, and a digit of another script."""
    with pytest.raises(GraphFormatError, match=r"line 2.*is not a number"):
        (tmp_path / "weights").write_text(f"1\n{word}\n")
        read_node_weights(tmp_path / "weights", as_graph(nx.path_graph(2)))
    gml = f"graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight {word} ] ]"
    refuses(GraphFormatError, r"'weight' is .* expected a number", load, tmp_path, gml, "a.gml", weights="file")
    refuses(GraphFormatError, "expected a number", load, tmp_path, f"*Vertices 2\n*Edges\n1 2 {word}\n", "a.net")


@pytest.mark.parametrize("weight", ["", "1.5"])
def test_empty_fields_beside_the_ids_leave_room_for_every_row(tmp_path, weight):
    rows = "".join(f"{i},{i + 1},,,,,,{weight}\n" for i in range(9))
    with plain(), pytest.raises(GraphFormatError, match="the weight is ''") if not weight else contextlib.nullcontext():
        graph = load(tmp_path, f"source,target,a,b,c,d,e,weight\n{rows}", "a.csv")[1]
        assert graph.n_edges == 9 and (graph.weights == 1.5).all()


def test_a_last_neighbor_of_metis_without_its_weight_is_named(tmp_path):
    with pytest.raises(GraphFormatError, match=r"line 4: '2': numbers are missing"), plain():
        load(tmp_path, "3 2 001\n2 2\n1 2 3 3\n2\n", "a.graph")


@pytest.mark.parametrize("first", ["1,", ",2", "1,two", "1_0,2"])
def test_a_first_row_of_points_with_a_number_is_no_row_of_names(tmp_path, first):
    """It would be left out without a word."""
    (tmp_path / "p.csv").write_text(f"{first}\n3,4\n")
    refuses(GraphFormatError, r"its first line, .* holds numbers and other things", read_points, tmp_path / "p.csv")


def test_a_byte_order_mark_costs_no_point_and_no_edge(tmp_path):
    assert load(tmp_path, "\ufeffc two edges\np edge 3 2\ne 1 2\ne 2 3\n")[1].n_edges == 2
    (tmp_path / "p.csv").write_text("1,2\n3,4\n", encoding="utf-8-sig")
    assert read_points(tmp_path / "p.csv").tolist() == [[1, 2], [3, 4]]
    with open(tmp_path / "p.csv", "rb") as file:
        assert points_of(file, "p").tolist() == [[1, 2], [3, 4]]


def test_weights_of_nodes_are_found_by_names_in_quotes(tmp_path):
    graph = as_graph(nx.Graph([("a,b", 'say "c"'), ('say "c"', "d e")]))
    for text in ('name,w\n"a,b",3\n"say ""c""",2\nd e,1\n', 'name\tw\na,b\t3\n"say ""c"""\t2\nd e\t1\n'):
        (tmp_path / "weights").write_text(text)
        assert read_node_weights(tmp_path / "weights", graph).tolist() == [3.0, 2.0, 1.0]
    for text, line in (("3\n2 1\n1\n", 2), ('"a,b,3\nd,2\n', 1)):
        (tmp_path / "weights").write_text(text)
        refuses(GraphFormatError, f"line {line}: ", read_node_weights, tmp_path / "weights", graph)
