"""Tables of labels as other people and programs write them, and what ours say of where labels came from."""

import json

import networkx as nx
import numpy as np
import pytest
from cases import refuses

from graphclust import coreset_sc, load_model, read_labels, write_labels
from graphclust.errors import GraphFormatError, GraphValidationError
from graphclust.faces.cli.main import main

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
    ],
)
def test_labels_of_other_programs_are_read(tmp_path, name, text, labels):
    nodes, found = read_labels(written(tmp_path, name, text))
    assert nodes == ["a", "b"] and found.tolist() == labels


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
        ("l.json", "[0, 1, 1]", "it is not an object with a label for each name"),
    ],
)
def test_what_holds_no_labels_says_where(tmp_path, name, text, words):
    refuses(GraphFormatError, words, read_labels, written(tmp_path, name, text))


def test_labels_of_names_agree_with_labels_of_numbers(tmp_path, capsys):
    one = written(tmp_path, "a.tsv", "node\tlabel\na\t0\nb\t1\nc\t1\n")
    for name, text in (
        ("b.csv", "name,community\na,x\nb,y\nc,y\n"),
        ("c.csv", "\ufeffnode,label\na,5\nb,4\nc,4\n"),
    ):
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
    assert stored["origin"] == clustering.origin and stored["origin"]["seed"] == 5
    assert stored["label_of"] == clustering.as_dict()
    assert stored["communities"] == clustering.communities(as_lists=True)
    assert json.loads(str(np.load(tmp_path / "l.npz")["origin"])) == clustering.origin
    assert json.loads(nx.read_graphml(tmp_path / "l.graphml").graph["origin"]) == clustering.origin
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


def test_two_names_of_one_text_are_refused(tmp_path):
    refuses(GraphValidationError, "two nodes are named '1' as text", write_labels, tmp_path / "l.tsv", [0, 1], [1, "1"])


def test_times_as_names_are_refused_as_what_they_are(tmp_path):
    days = np.array(["2024-01-01", "2024-01-02"], "datetime64[ns]")
    refuses(GraphValidationError, "is a datetime64", write_labels, tmp_path / "l.tsv", [0, 1], days)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.tsv", "node\tlabel\n\na\t0\nb\t-1\n\n"),
        ("l.csv", "node,label\r\na,0\r\nb,-1\r\n\r\n"),
        ("l.csv", "node,label\na, 0\nb, -1\n"),
        ("l.part.1", "0\n-1\n\n"),
    ],
)
def test_blank_lines_and_blanks_before_numbers_are_passed_over(tmp_path, name, text):
    (tmp_path / name).write_text(text, newline="")
    nodes, labels = read_labels(tmp_path / name)
    assert len(nodes) == 2 and labels.tolist() == [0, -1]
