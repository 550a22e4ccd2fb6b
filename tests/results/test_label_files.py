"""Files of labels, ours and those of other programs: what is written comes back, and what is none is refused."""

import json
import os
from html import unescape

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphclust
from graphclust import coreset_sc, load_model, read_labels, write_labels
from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError
from graphclust.faces.cli.main import main


@pytest.mark.parametrize("name", ["l.tsv", "l.json", "l.npz", "l.csv", "l.part", "karate.graph.part.4"])
def test_labels_come_back(tmp_path, name):
    """CSV keeps any names, of METIS a file has the labels alone."""
    labels, any_names = np.array([0, -1, 2, 1]), [["a,b", 'q"', " x\ny", "7"]] if name[-3:] in ("csv", "son") else []
    for nodes in (None, ["a b", "Ö", "7", "x"], [10, 20, -3, 4], np.array([5, 6, 7, 9]), *any_names):
        write_labels(tmp_path / name, labels, nodes, overwrite=True)
        read_nodes, read = read_labels(tmp_path / name)
        assert read_nodes == ([0, 1, 2, 3] if nodes is None or "part" in name else list(nodes))
        assert read.dtype == np.int64 and read.tolist() == [0, -1, 2, 1]
    assert "part" not in name or (tmp_path / name).read_text() == "0\n-1\n2\n1\n"


def test_labels_by_name_are_written_with_their_names(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    of_names = {"ann": 1, "bob": 0}
    for labels in (of_names, pandas.Series(of_names)):
        write_labels(tmp_path / "l.csv", labels, overwrite=True)
        names, read = read_labels(tmp_path / "l.csv")
        assert dict(zip(names, read.tolist(), strict=True)) == of_names


@pytest.mark.parametrize(
    ("name", "kinds", "message"),
    [
        ("a\rb", ["csv", "tsv"], "carriage return|line break"),
        ("\ud800", ["csv", "tsv"], "half of a character"),
        ("a" * 131_073, ["csv", "tsv"], "longer than 131,072 characters"),
        ("a\0", ["npz"], "ends in a zero character"),
        ("a\0b", ["graphml", "gexf"], "a character that .g.* files cannot hold"),
    ],
)
def test_names_that_a_file_of_labels_would_change_are_refused_and_json_keeps_them(tmp_path, name, kinds, message):
    clustering = graphclust.communities(nx.path_graph([name, "b"]), rng=0)
    for kind in kinds:
        with pytest.raises(GraphValidationError, match=f"({message}).*; write a .json file"):
            write_labels(tmp_path / f"l.{kind}", clustering)
    write_labels(tmp_path / "l.json", clustering)
    assert os.listdir(tmp_path) == ["l.json"] and read_labels(tmp_path / "l.json")[0] == [name, "b"]
    clustering.model().save(tmp_path / "m.npz")
    assert graphclust.load_model(tmp_path / "m.npz").nodes == (name, "b")


@for_each(
    "name, labels, nodes, words",
    [
        ("l.tsv", [0], ["a\tb"], "tab or a line break"),
        ("l.json", [0], [(1, 2)], "tuple"),
        ("l.tsv", [0, 0, 1], ["a", "b"], "2 names, expected one for each of 3 labels"),
        ("l.tsv", [0, 1], [1, "1"], "two nodes are named '1' as text"),
        ("l.tsv", [0, 1], np.array(["2024-01-01", "2024-01-02"], "datetime64[ns]"), "is a datetime64"),
    ],
)
def test_labels_that_cannot_be_written_leave_no_file(tmp_path, name, labels, nodes, words):
    refuses(GraphValidationError, words, write_labels, tmp_path / name, labels, nodes)
    assert list(tmp_path.iterdir()) == []


def test_labels_that_cannot_be_read_or_written_over(tmp_path):
    write_labels(tmp_path / "l.json", [0], ["a\tb"])
    refuses(FileExistsError, "choose another name, or pass overwrite=True", write_labels, tmp_path / "l.json", [0])
    for labels, nodes, words in (
        (np.array([0]), np.array([print], dtype=object), "pickled objects are never loaded"),
        (np.array([0.5]), np.array(["a"]), "labels are of dtype float64"),
        (np.array([2**63], "uint64"), np.array(["a"]), "labels are of dtype uint64"),
        (np.array([1, 2]), np.array(["a"]), r"holds 1 nodes and labels of shape \(2,\)"),
    ):
        np.savez(tmp_path / "p.npz", nodes=nodes, labels=labels)
        refuses(GraphFormatError, words, read_labels, tmp_path / "p.npz")


@pytest.mark.parametrize("word", ["1_0", "\u0663", "1.0", "1e5", "nan", "9223372036854775808", "1 2", "# 1"])
def test_a_line_of_metis_that_is_no_whole_number_is_named(tmp_path, word):
    """Python's int() reads 1_0 as 10, and digits of every script."""
    (tmp_path / "l.part").write_text(f"\ufeff0\n{word}\n", encoding="utf-8")
    with pytest.raises(GraphFormatError, match=r"line 2.* is not a label, expected a whole number below 2\^63"):
        read_labels(tmp_path / "l.part")


def test_names_of_other_programs_stay_as_they_are(tmp_path):
    """One that a number would not bring back makes names of all."""
    for names in ([1, -2], ["007", "8"], ["+7", "8"]):
        (tmp_path / "labels.tsv").write_text("{}\t0\n{}\t1\n".format(*names))
        found, labels = read_labels(tmp_path / "labels.tsv")
        assert (found, labels.tolist()) == (names, [0, 1])


KARATE = nx.karate_club_graph()


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_a_graph_file_with_labels(tmp_path, kind):
    """Read by NetworkX, it holds the nodes by their names with their clusters, the edges and their weights."""
    graph = nx.relabel_nodes(KARATE, {node: f"member {33 - node}" for node in KARATE})
    clustering = graphclust.coreset_sc(graph, 4, rng=0)
    write_labels(tmp_path / f"l.{kind}", clustering)
    read = {"graphml": nx.read_graphml, "gexf": nx.read_gexf}[kind](tmp_path / f"l.{kind}")
    assert dict(read.nodes(data="cluster")) == clustering.as_dict()
    text = unescape((tmp_path / f"l.{kind}").read_text())
    assert json.dumps(clustering.origin)[1:] in text and ("<description>" in text) == (kind == "gexf")
    weights = {frozenset(edge): w for *edge, w in graph.edges(data="weight")}
    assert {frozenset(edge): w for *edge, w in read.edges(data="weight")} == weights
    refuses(ParameterError, "expected a Clustering", write_labels, tmp_path / f"m.{kind}", [0, 1])
    refuses(ParameterError, f"networkx.read_{kind}", read_labels, tmp_path / f"l.{kind}")


def test_labels_as_a_series():
    pandas = pytest.importorskip("pandas")
    graph = nx.relabel_nodes(KARATE, {node: (node % 3, node) for node in KARATE})
    clustering = graphclust.coreset_sc(graph, 4, rng=0)
    series = clustering.to_series()
    assert series.to_dict() == clustering.as_dict() and series.name == "cluster"
    frame = pandas.DataFrame({"club": ["a", "b"]}, index=[0, 33])
    own = graphclust.coreset_sc(nx.to_scipy_sparse_array(KARATE), 2, rng=0).to_series()
    assert frame.join(own)["cluster"].notna().all()


def test_cut_and_shares_of_two_cliques_and_a_bridge():
    clustering = graphclust.coreset_sc(nx.barbell_graph(6, 0), 2, rng=0)
    report = clustering.report()
    assert (report["edge_cut"], report["imbalance"], report["largest_share"]) == (1.0, 1.0, 0.5)
    uneven = graphclust.coreset_sc(nx.disjoint_union_all([nx.complete_graph(n) for n in (6, 3, 3)]), 3, rng=0)
    report = uneven.report()
    assert (report["edge_cut"], report["imbalance"], report["smallest_share"]) == (0.0, 1.5, 0.25)
    assert "the largest 50.0% of the nodes, the smallest 25.0%; imbalance 1.50" in str(uneven)


@pytest.mark.parametrize("ending", ["tsv", "txt", "json", "npz"])
@for_each("name", ["007", "+5", "-0", "1_0", "1.0", " 7", "\u0663", "1e3", ""])
def test_a_name_that_only_looks_like_a_number_stays_text(tmp_path, ending, name):
    path = tmp_path / f"labels.{ending}"
    write_labels(path, [0, 1, -1], ["12", name, "-3"], overwrite=True)
    nodes, labels = read_labels(path)
    assert nodes == ["12", name, "-3"] and labels.tolist() == [0, 1, -1]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(-1, 1000)), min_size=1, max_size=20),
    ending=st.sampled_from(["tsv", "json", "npz"]),
)
def test_whole_numbers_come_back_as_numbers(tmp_path, rows, ending):
    names, labels = map(list, zip(*rows, strict=True))
    path = tmp_path / f"labels.{ending}"
    write_labels(path, labels, names, overwrite=True)
    nodes, read = read_labels(path)
    assert nodes == names and read.tolist() == labels
    assert all(type(node) is int for node in nodes)


def test_a_long_table_and_one_made_by_hand(tmp_path):
    """A long one is written in pieces that join."""
    labels, path = np.arange(200_000) % 7 - 1, tmp_path / "labels.tsv"
    write_labels(path, labels)
    nodes, read = read_labels(path)
    assert nodes == list(range(200_000)) and np.array_equal(read, labels)
    path.write_text("two words\t5\r\nplain\t-1\r\n")
    nodes, labels = read_labels(path)
    assert nodes == ["two words", "plain"] and labels.tolist() == [5, -1]
    for row in ("a\t1.5\n", "a\t--1\n", "a\t\n", "a 1\n", "a\t1 \n"):
        path.write_text("node\tlabel\nb\t0\n" + row)
        refuses(GraphFormatError, "line 3", read_labels, path)


BARBELL = nx.relabel_nodes(nx.barbell_graph(4, 0), dict(enumerate("abcdefgh")))


def written(tmp_path, name, text):
    (tmp_path / name).write_bytes(text.encode())
    return str(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text", "labels"),
    [
        ("l.csv", "name,community\na,x\nb,y\n", ["x", "y"]),
        ("l.csv", "community,name\nx,a\ny,b\n", ["x", "y"]),
        ("l.csv", "a,x\nb,y\n", ["x", "y"]),
        ("l.tsv", "a\tx y\nb\tz\n", ["x y", "z"]),
        ("l.tsv", "gene\tcell_type\na\tT cell\nb\tB cell\n", ["T cell", "B cell"]),
        ("l.csv", "#node,cluster\na,0\nb,1\n", [0, 1]),
        ("l.csv", ",leiden\na,0\nb,1\n", [0, 1]),
        ("l.csv", "who,what\na,0\nb,1\n", [0, 1]),
        ("l.csv", "\ufeffnode,label\na,0\nb,1\n", [0, 1]),
        ("l.tsv", "\ufeffnode\tlabel\r\na\t0\r\nb\t1\r\n", [0, 1]),
        ("l.csv", "\ufeffa,0\nb,1\n", [0, 1]),
        ("l.csv", "# any words, with commas\n# more\nnode,label\na,0\nb,-1\n", [0, -1]),
        ("l.tsv", "# a comment\twith a tab\na\t0\nb\t1\n", [0, 1]),
        ("l.json", '\ufeff{"nodes": ["a", "b"], "labels": ["x", "y"]}', ["x", "y"]),
        ("l.json", '{"a": 1, "b": 0}', [1, 0]),
        ("l.tsv", "node\tlabel\n\na\t0\nb\t-1\n\n", [0, -1]),  # blank lines, and blanks before numbers
        ("l.csv", "node,label\r\na,0\r\nb,-1\r\n\r\n", [0, -1]),
        ("l.csv", "node,label\na, 0\nb, -1\n", [0, -1]),
        ("l.part.1", "0\n-1\n\n", [0, -1]),
    ],
)
def test_labels_of_other_programs_are_read(tmp_path, name, text, labels):
    nodes, found = read_labels(written(tmp_path, name, text))
    assert nodes == ([0, 1] if "part" in name else ["a", "b"]) and found.tolist() == labels


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("l.csv", "node,label\na,1\nb,x\n", "line 3: the label of 'b' is 'x', no whole number as that of line 2"),
        ("l.csv", "node,label\na,x\nb,\n", "line 3: node 'b' has no label"),
        ("l.tsv", "# one\nnode\tlabel\na\t1\nb\n", "line 4: .*1 column, expected two: a node, a tab and a label"),
        ("l.tsv", "node\tlabel\tdegree\na\t1\t7\n", "line 1: .*3 columns, expected two"),
        ("l.txt", "ann\tlee\t0\n", "line 1: .*3 columns, expected two"),
        ("l.csv", "# one\nnode,label\na,1\nb\n", "line 4: .*1 column, expected two: a node and a label"),
        ("l.csv", 'a,1\n"b,2\n', "not CSV"),
        ("l.csv", "a,x\n", "line 1: holds one row, 'a' and 'x'"),
        ("l.json", '{"nodes": ["a", "b"], "labels": ["x", 1]}', "mix names and whole numbers"),
        ("l.json", '{"nodes": ["a"], "labels": [1.5]}', "its labels are not a list"),
        ("l.json", '{"nodes": [1]}', "labels"),
        ("l.json", "[0, 1, 1]", "it is not an object with a label for each name"),
    ],
)
def test_what_holds_no_labels_says_where(tmp_path, name, text, words):
    refuses(GraphFormatError, words, read_labels, written(tmp_path, name, text))


def test_labels_of_names_agree_with_labels_of_numbers(tmp_path, capsys):
    one = written(tmp_path, "a.tsv", "node\tlabel\na\t0\nb\t1\nc\t1\n")
    for name, text in (("b.csv", "name,community\na,x\nb,y\nc,y\n"), ("c.csv", "\ufeffnode,label\na,5\nb,4\nc,4\n")):
        assert main(["compare", one, written(tmp_path, name, text)]) == 0
        assert "adjusted Rand index            1.0000" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["tsv", "csv"])
def test_a_table_of_labels_is_one_that_pandas_reads(tmp_path, ending):
    clustering = coreset_sc(BARBELL, 2)
    file = tmp_path / f"l.{ending}"
    write_labels(file, clustering)
    assert read_labels(file)[0] == list(BARBELL) and (read_labels(file)[1] == clustering.labels).all()
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.read_csv(file, sep="\t" if ending == "tsv" else ",", index_col="node")
    pandas.testing.assert_series_equal(table["cluster"], clustering.to_series(), check_index_type=False)


def test_other_files_of_labels_say_it_too(tmp_path):
    clustering = coreset_sc(BARBELL, 2, rng=5)
    for name in ("l.json", "l.npz", "l.graphml", "l.part"):
        write_labels(tmp_path / name, clustering)
    stored = json.loads((tmp_path / "l.json").read_text())
    origin = {"format": "graphclust labels", "format_version": 2, **clustering.origin}
    assert stored["origin"] == origin and stored["origin"]["seed"] == 5
    assert stored["label_of"] == clustering.as_dict()
    assert stored["communities"] == clustering.communities(as_lists=True)
    assert json.loads(str(np.load(tmp_path / "l.npz")["origin"])) == origin
    assert json.loads(nx.read_graphml(tmp_path / "l.graphml").graph["origin"]) == origin
    assert (tmp_path / "l.part").read_text() == "".join(f"{label}\n" for label in clustering.labels)
    for name in ("l.json", "l.npz"):
        assert read_labels(tmp_path / name)[0] == list(BARBELL)
    clustering.model().save(tmp_path / "m.npz")
    assert load_model(tmp_path / "m.npz").origin == clustering.origin


@pytest.mark.parametrize("ending", ["tsv", "csv", "json", "npz"])
def test_whole_numbers_beyond_int64_never_become_floats(tmp_path, ending):
    names = [2**63 + 1, 2**63 + 2, 1]
    write_labels(tmp_path / f"l.{ending}", [0, 1, 2], names)
    assert [*map(int, read_labels(tmp_path / f"l.{ending}")[0])] == names
