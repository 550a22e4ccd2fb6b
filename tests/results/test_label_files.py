"""Files of labels: what is written comes back, and what is none is refused."""

import json
import os
from html import unescape

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphclust
from graphclust import read_labels, write_labels
from graphclust.errors import (
    GraphFormatError,
    GraphValidationError,
    ParameterError,
)


@pytest.mark.parametrize("name", ["l.tsv", "l.json", "l.npz"])
@pytest.mark.parametrize("nodes", [None, ["a b", "Ö", "7"], [10, 20, -3], np.array([5, 6, 7])])
def test_labels_come_back(tmp_path, name, nodes):
    labels = np.array([0, -1, 2])
    write_labels(tmp_path / name, labels, nodes)
    read_nodes, read = read_labels(tmp_path / name)
    assert read_nodes == (list(range(3)) if nodes is None else list(nodes)) and read.tolist() == [0, -1, 2]
    assert read.dtype == np.int64


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


def test_labels_that_cannot_be_written_or_read(tmp_path):
    refuses(GraphValidationError, "tab or a line break", write_labels, tmp_path / "l.tsv", [0], ["a\tb"])
    write_labels(tmp_path / "l.json", [0], ["a\tb"])
    refuses(GraphValidationError, "tuple", write_labels, tmp_path / "l.json", [0], [(1, 2)], overwrite=True)
    refuses(FileExistsError, "choose another name, or pass overwrite=True", write_labels, tmp_path / "l.json", [0])
    np.savez(tmp_path / "p.npz", nodes=np.array([print], dtype=object), labels=np.array([0]))
    refuses(GraphFormatError, "pickled objects are never loaded", read_labels, tmp_path / "p.npz")
    for labels, dtype in ([0.5], "float64"), ([2**63], "uint64"):
        np.savez(tmp_path / "p.npz", nodes=np.array(["a"]), labels=np.array(labels, dtype))
        refuses(GraphFormatError, f"labels are of dtype {dtype}", read_labels, tmp_path / "p.npz")
    np.savez(tmp_path / "p.npz", nodes=np.array(["a"]), labels=np.array([1, 2]))
    refuses(GraphFormatError, r"holds 1 nodes and labels of shape \(2,\)", read_labels, tmp_path / "p.npz")
    (tmp_path / "x.tsv").write_text("node\tlabel\na\t1\nb 2\n")
    refuses(GraphFormatError, "line 3", read_labels, tmp_path / "x.tsv")
    (tmp_path / "x.json").write_text('{"nodes": [1]}')
    refuses(GraphFormatError, "labels", read_labels, tmp_path / "x.json")


@pytest.mark.parametrize("word", ["1_0", "\u0663", "1.0", "1e5", "nan", "9223372036854775808", "1 2", "# 1"])
def test_a_line_of_metis_that_is_no_whole_number_is_named(tmp_path, word):
    """Python's int() reads 1_0 as 10, and digits of every script."""
    (tmp_path / "l.part").write_text(f"\ufeff0\n{word}\n", encoding="utf-8")
    with pytest.raises(GraphFormatError, match=r"line 2.* is not a label, expected a whole number below 2\^63"):
        read_labels(tmp_path / "l.part")


@pytest.mark.parametrize(
    "text, nodes",
    [
        ("1\t0\n-2\t1\n", [1, -2]),
        ("007\t0\n8\t1\n", ["007", "8"]),  # one that a number would not bring back makes names of all
        ("+7\t0\n8\t1\n", ["+7", "8"]),
    ],
)
def test_names_of_other_programs_stay_as_they_are(tmp_path, text, nodes):
    (tmp_path / "labels.tsv").write_text(text)
    found, labels = read_labels(tmp_path / "labels.tsv")
    assert (found, labels.tolist()) == (nodes, [0, 1])


KARATE = nx.karate_club_graph()


@pytest.mark.parametrize("name", ["l.csv", "l.part", "karate.graph.part.4"])
def test_more_formats_come_back(tmp_path, name):
    """CSV keeps any names, of METIS a file has the labels alone."""
    labels = np.array([0, -1, 2, 1])
    for nodes in (None, ["a,b", 'q"', " x\ny", "7"], [4, 3, -2, 1]):
        write_labels(tmp_path / name, labels, nodes, overwrite=True)
        found, read = read_labels(tmp_path / name)
        assert found == ([0, 1, 2, 3] if nodes is None or "part" in name else nodes) and (read == labels).all()
    if "part" in name:
        assert (tmp_path / name).read_text() == "0\n-1\n2\n1\n"


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_a_graph_file_with_labels(tmp_path, kind):
    """Read by NetworkX, it holds the nodes by their names with their clusters, the edges and their weights."""
    graph = nx.relabel_nodes(KARATE, {node: f"member {33 - node}" for node in KARATE})
    clustering = graphclust.coreset_sc(graph, 4, rng=0)
    write_labels(tmp_path / f"l.{kind}", clustering)
    read = {"graphml": nx.read_graphml, "gexf": nx.read_gexf}[kind](tmp_path / f"l.{kind}")
    assert dict(read.nodes(data="cluster")) == clustering.as_dict()
    text = unescape((tmp_path / f"l.{kind}").read_text())
    assert json.dumps(clustering.origin) in text and ("<description>" in text) == (kind == "gexf")
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
    assert (
        frame.join(graphclust.coreset_sc(nx.to_scipy_sparse_array(KARATE), 2, rng=0).to_series())["cluster"]
        .notna()
        .all()
    )


def test_cut_and_shares_of_two_cliques_and_a_bridge():
    clustering = graphclust.coreset_sc(nx.barbell_graph(6, 0), 2, rng=0)
    report = clustering.report()
    assert (report["edge_cut"], report["imbalance"], report["largest_share"]) == (1.0, 1.0, 0.5)
    uneven = graphclust.coreset_sc(nx.disjoint_union_all([nx.complete_graph(n) for n in (6, 3, 3)]), 3, rng=0)
    report = uneven.report()
    assert (report["edge_cut"], report["imbalance"], report["smallest_share"]) == (0.0, 1.5, 0.25)
    assert "the largest 50.0% of the nodes, the smallest 25.0%; imbalance 1.50" in str(uneven)


LOOKS_LIKE_NUMBERS = ["007", "+5", "-0", "1_0", "1.0", " 7", "\u0663", "1e3", ""]


@pytest.mark.parametrize("ending", ["tsv", "txt", "json", "npz"])
@pytest.mark.parametrize("name", LOOKS_LIKE_NUMBERS)
def test_a_name_that_only_looks_like_a_number_stays_text(tmp_path, ending, name):
    path = tmp_path / f"labels.{ending}"
    write_labels(path, [0, 1, -1], ["12", name, "-3"])
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


def test_a_table_made_by_hand(tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text("two words\t5\r\nplain\t-1\r\n")
    nodes, labels = read_labels(path)
    assert nodes == ["two words", "plain"] and labels.tolist() == [5, -1]
    for row in ("a\t1.5\n", "a\t--1\n", "a\t\n", "a 1\n", "a\t1 \n"):
        path.write_text("node\tlabel\nb\t0\n" + row)
        refuses(GraphFormatError, "line 3", read_labels, path)


def test_many_labels_are_written_in_pieces_that_join(tmp_path):
    labels = np.arange(200_000) % 7 - 1
    write_labels(tmp_path / "labels.tsv", labels)
    nodes, read = read_labels(tmp_path / "labels.tsv")
    assert nodes == list(range(200_000)) and np.array_equal(read, labels)


def test_as_many_names_as_labels(tmp_path):
    with pytest.raises(GraphValidationError, match="2 names, expected one for each of 3 labels"):
        write_labels(tmp_path / "labels.tsv", [0, 0, 1], ["a", "b"])
    assert list(tmp_path.iterdir()) == []
