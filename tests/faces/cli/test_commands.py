"""The commands beside `cluster` and `info`, and the options that all have: by what they print, write and return."""

import functools
import io
import json
import logging
import re
import sys

import networkx as nx
import numpy as np
import pytest
from shell import said

import graphclust
from graphclust.faces.cli import main as cli
from graphclust.faces.cli import options as shared
from graphclust.io.text.points import read_points
from graphclust.results.label_files import read_labels, write_labels

COMMANDS = ["cluster", "partition", "path", "info", "convert", "compare", "knn", "demo", "compile", "datasets", "cache"]


@pytest.fixture
def karate(tmp_path):
    """Labels of the karate club in two files, in other orders and numbers."""
    found = {}
    for k in (2, 4):
        labels = graphclust.coreset_sc(graphclust.classic_graph("karate")[0], k, rng=0).labels
        found[k] = tmp_path / f"{k}.{'tsv' if k == 2 else 'json'}"
        order = np.random.default_rng(k).permutation(34)
        write_labels(found[k], labels[order], order)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_the_common_options_and_examples_that_can_be_parsed(capsys, command):
    code, out, _ = said(capsys, command, "--help")
    assert code == 0 and "\nexamples:\n" in out
    examples = [line.strip() for line in out.split("\nexamples:\n")[1].splitlines() if line.strip()]
    assert examples and max(map(len, out.splitlines())) <= 120
    for example in examples:
        command_line = re.split(r" {2,}", example)[0]
        words = next(part for part in command_line.split("|") if "graphclust" in part).split()
        assert words[0] == "graphclust"
        cli._parser().parse_args(words[1:])
    out = said(capsys, command, "clear", "--help")[1] if command == "cache" else out
    assert {"--quiet", "--verbose", "--threads", "--debug"} <= set(re.findall(r"--[\w-]+", out))


def test_the_help_documents_the_exit_codes(capsys):
    out = said(capsys, "--help")[1]
    codes = re.findall(r"^  (\d+) +(\w+)", out.split("exit codes:")[1], re.M)
    assert set(COMMANDS) <= set(re.findall(r"^    (\w+) ", out, re.M))
    assert codes == [("0", "done"), ("1", "failed"), ("2", "asked"), ("130", "interrupted")]
    assert re.findall(r"^    (\w+) ", out, re.M)[0] == "cluster"


def test_two_files_of_labels_are_compared_by_the_names_of_their_nodes(capsys, karate):
    one, other = (dict(zip(nodes, labels.tolist(), strict=True)) for nodes, labels in map(read_labels, karate.values()))
    code, out, err = said(capsys, "compare", *karate.values(), "--graph", "karate", "--report", "json")
    facts, graph = json.loads(out), graphclust.classic_graph("karate")[0]
    assert (code, err) == (0, "") and (facts["n_nodes"], facts["n_clusters"]) == (34, [2, 4])
    assert facts["adjusted_rand_index"] == graphclust.adjusted_rand_index(one, other) < 1
    assert facts["normalized_mutual_information"] == graphclust.normalized_mutual_information(one, other)
    assert facts["normalized_cut"] == [graphclust.normalized_cut(graph, labels) for labels in (one, other)]
    assert facts["modularity"] == [graphclust.modularity(graph, labels) for labels in (one, other)]
    assert facts["edge_cut"] == [graphclust.edge_cut(graph, labels) for labels in (one, other)]
    assert facts["imbalance"][0] == max(np.bincount([*one.values()])) * 2 / 34
    given = [graphclust.well_connected(graph, labels, connectivity=0) for labels in (one, other)]
    assert facts["n_well_connected"] == [clustering.n_well_connected for clustering in given]
    out = said(capsys, "compare", *karate.values(), "--graph", "karate")[1]
    assert "34 nodes, in 2 clusters (A) and 4 clusters (B)" in out
    assert re.search(rf"modularity +{facts['modularity'][0]:.4f} +{facts['modularity'][1]:.4f}", out)
    out = said(capsys, "compare", karate[2], karate[2])[1]
    assert re.search(r"adjusted Rand index +1\.0000", out) and "modularity" not in out


def test_well_connected_communities_by_a_word_or_a_number(capsys, tmp_path):
    for connectivity in ("well", 2):
        code, out, _ = said(capsys, "communities", "karate", "--connectivity", connectivity, "--seed", 0)
        found = graphclust.communities(graphclust.classic_graph("karate")[0], connectivity=connectivity, rng=0)
        assert code == 0 and found.remarks[-1] in out and "well-connected   " in out
        code, out, _ = said(capsys, "hierarchy", "karate", "--connectivity", connectivity, "--seed", 0, "-o", "-")
        levels = graphclust.hierarchy(graphclust.classic_graph("karate")[0], connectivity=connectivity, rng=0)
        assert code == 0 and json.loads(out)["clusters"] == json.loads(levels.to_json())["clusters"]
    for command in ("communities", "hierarchy"):
        code, _, err = said(capsys, command, "karate", "--connectivity", "strong")
        assert code != 0 and "connectivity='strong' is unknown, expected one of 'well', 'log10'" in err


def test_labels_of_other_nodes_are_not_compared(capsys, karate, tmp_path):
    write_labels(tmp_path / "few.tsv", [0, 1])
    code, out, err = said(capsys, "compare", karate[2], tmp_path / "few.tsv")
    assert (code, out) == (1, "") and "few.tsv has no label for node" in err
    assert "2.tsv has no label for node" not in err
    (tmp_path / "twice.tsv").write_text("1\t0\n1\t1\n")
    assert "holds a label for some node twice" in said(capsys, "compare", tmp_path / "twice.tsv", karate[2])[2]
    assert said(capsys, "compare", karate[2])[0] == cli.WRONG_USE
    few = tmp_path / "few.tsv"
    assert f"{few} has no label for node 2" in said(capsys, "compare", few, few, "--graph", "karate")[2]
    code, _, err = said(capsys, "compare", karate[2], "labels.doc")
    assert code == cli.WRONG_USE and err.startswith("graphclust: 'labels.doc' ends in '.doc', expected a name in .tsv")
    code, _, err = said(capsys, "compare", karate[2], "missing.tsv")
    assert code == 1 and "No such file or directory: missing.tsv" in err


def write_points(file, kind, points, names=""):
    """Points as an array, in an archive beside other arrays, or as text below names of columns."""
    if kind == "npy":
        np.save(file, points)
    elif kind == "npz":
        np.savez(file, X=points, y=np.arange(60))
    else:
        delimiter = {"csv": ",", "tsv": "\t", "txt": " "}[kind]
        np.savetxt(file, points, delimiter=delimiter, header=delimiter.join(names), comments="" if names else "#")


@pytest.mark.parametrize("name", ["points.npy", "points.npz", "several.npz", "points.csv", "points.tsv", "points.txt"])
def test_points_of_a_file_or_of_standard_input_become_a_graph(capsys, tmp_path, monkeypatch, name):
    pytest.importorskip("sklearn")
    points = np.random.default_rng(518).normal(size=(60, 3)).round(6)
    file, target = tmp_path / name, tmp_path / "graph.mtx.gz"
    if name == "points.npz":
        np.savez(file, any=points)
    else:
        write_points(file, name[-3:], points, "" if name.endswith("tsv") else ["one", "two", "three"])
    assert np.array_equal(read_points(file), points)
    code, out, err = said(capsys, "knn", file, "-k", 5, "-o", target)
    graph = graphclust.load_graph(target)
    assert (code, err) == (0, "") and graph == graphclust.knn_graph(points, 5)
    assert out == f"60 nodes, {graph.n_edges} edges in {target}\n"
    assert said(capsys, "cluster", target, "-k", 3)[0] == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    code, out, err = said(capsys, "knn", "-", "-k", 5, "-o", "-")
    listed = [tuple(map(int, line.split("\t"))) for line in out.splitlines() if not line.startswith("#")]
    assert (code, err) == (0, "")
    assert listed == [(u, v) for u in range(60) for v in graph.neighbors(u).tolist() if u < v]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--metric", "cosine", "--weights", "umap"], {"metric": "cosine", "weights": "umap"}),
        (["--metric", "cityblock", "--weights", "gaussian"], {"metric": "manhattan", "weights": "gaussian"}),
        (["--metric", "manhattan", "--symmetrize", "mutual"], {"metric": "manhattan", "symmetrize": "mutual"}),
        (["--method", "approximate", "--n-probes", "1"], {"method": "approximate", "n_probes": 1, "rng": 0}),
    ],
)
@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
def test_neighbors_are_asked_for_in_the_words_of_the_library(capsys, tmp_path, words, options):
    pytest.importorskip("sklearn")
    if "approximate" in words:
        pytest.importorskip("faiss")
    points = np.random.default_rng(7741).normal(size=(300, 2))
    np.save(tmp_path / "points.npy", points)
    expected = graphclust.knn_graph(points, 4, **options)
    code, _, err = said(capsys, "knn", tmp_path / "points.npy", "-k", 4, "-o", tmp_path / "g.npz", *words)
    assert (code, err) == (0, "") and graphclust.load_graph(tmp_path / "g.npz") == expected
    assert expected != graphclust.knn_graph(points, 4)


def test_what_is_no_table_of_points_and_neighbors_that_cannot_be_asked_for(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("1,2\n3,x\n")
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    np.save("flat.npy", np.arange(3.0))
    np.save("objects.npy", np.array([{}]), allow_pickle=True)
    np.savez("two.npz", a=np.eye(2), b=np.eye(2))
    np.save("good.npy", np.eye(4))
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.txt").write_text("x y\n")
    for name, words in {
        "empty.csv": "holds no table of points: it is empty, expected a row of numbers for each point",
        "header.txt": "holds no table of points: it is empty",
        "a.csv": "a.csv: holds no table of points: could not convert string 'x'",
        "ragged.csv": "ragged.csv: holds no table of points",
        "flat.npy": "shape (3,) and dtype float64, expected numbers in two dimensions",
        "objects.npy": "pickled objects are never loaded",
        "two.npz": "arrays a, b, expected one, or one called points or X",
        "missing.npy": "No such file or directory: missing.npy",
    }.items():
        code, out, err = said(capsys, "knn", name, "-o", "g.mtx")
        assert (code, out, err.count("\n")) == (1, "", 1) and words in err, name
    for arguments, words in {
        ("a.doc", "-o", "g.mtx"): "'a.doc' ends in none of .npy, .npz, .csv",
        ("good.npy", "-o", "g.doc"): "-o 'g.doc' ends in none of .mtx",
        ("good.npy", "-o", "good.npy", "--force"): "ends in none of",
        ("good.npy", "-k", "9", "-o", "g.mtx"): "-k 9 is out of range, expected fewer than the 4 points",
        ("good.npy", "-o", "no/g.mtx"): "there is no folder no",
        ("good.npy",): "the following arguments are required: -o",
        ("good.npy", "-o", "g.mtx", "--metric", "l0"): "argument --metric: invalid choice: 'l0'",
        ("good.npy", "-k", "2", "-o", "g.mtx", "--metric", "l1", "--method", "approximate"):
            "--method approximate is for dense points by --metric euclidean",
        ("good.npy", "-k", "2", "-o", "g.mtx", "--method", "approximate", "--n-probes", "0"):
            "--n-probes 0 is out of range",
        ("good.npy", "-k", "4", "-o", "g.mtx", "--weights", "umap"): "-k 4 is out of range",
    }.items():  # fmt: skip
        code, out, err = said(capsys, "knn", *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1) and words in err, arguments
        assert re.search(r"\w=", err) is None
    assert "--to snap cannot hold" in said(capsys, "knn", "good.npy", "-k", 1, "-o", "-", "--symmetrize", "mutual")[2]
    assert not (tmp_path / "g.mtx").exists()


def test_a_page_is_written_beside_the_labels(capsys, tmp_path):
    page, labels = tmp_path / "<b>.html", tmp_path / "labels.tsv"
    graph = tmp_path / "<i>&.txt"
    graph.write_text("".join(f"{u} {v}\n" for u, v in nx.barbell_graph(6, 0).edges))
    code, out, err = said(capsys, "cluster", graph, "-k", 2, "--html", page, "-o", labels)
    assert (code, err) == (0, "") and "12 nodes" in out and len(read_labels(labels)[1]) == 12
    assert "<h1>&lt;i&gt;&amp;.txt</h1>" in page.read_text()
    assert 'id="path"' in page.read_text() and "stability" in page.read_text()
    words = ("--force", "--time-budget", "1e-9")
    assert said(capsys, "cluster", graph, "-k", 2, "--html", page, *words)[0] == 0
    assert 'id="path"' not in page.read_text() and "the time budget of 1e-09 s ran out" in page.read_text()
    code, _, err = said(capsys, "cluster", graph, "-k", 2, "--html", page)
    assert code == 2 and "exists already" in err and "--force" in err
    assert said(capsys, "cluster", graph, "-k", 2, "--html", page, "--force")[0] == 0
    assert "is the input file" in said(capsys, "cluster", graph, "-k", 2, "--html", graph, "--force")[2]
    both = tmp_path / "both.tsv"
    again = f"{tmp_path}/./both.tsv"
    for command in ("cluster", "hierarchy"):
        for other in (both, again):
            words = (*([] if command == "hierarchy" else ["-k", 2]), "--html", other, "-o", both)
            assert "two outputs are named" in said(capsys, command, graph, *words)[2]
    code, _, err = said(capsys, "partition", graph, "-k", 2, "-o", both, "--permutation", again)
    assert code == 2 and "two outputs are named" in err and not both.exists()


def test_quiet_and_verbose(capsys, tmp_path):
    code, out, err = said(capsys, "cluster", "karate", "-k", 2, "-q", "-o", tmp_path / "labels.tsv")
    assert (code, out, err) == (0, "", "") and len(read_labels(tmp_path / "labels.tsv")[1]) == 34
    code, out, err = said(capsys, "cluster", "karate", "-k", 2, "--verbose")
    assert code == 0 and "34 nodes" in out and re.search(r"^graphclust: partition: \d\.\d+ s$", err, re.M)
    assert said(capsys, "cluster", "karate", "-k", 2)[2] == "" and len(logging.getLogger("graphclust").handlers) == 1
    assert "not allowed with argument" in said(capsys, "info", "karate", "-q", "-v")[2]
    assert "34" in said(capsys, "info", "karate", "-q")[1]


def test_threads_are_set_for_the_command_and_change_no_label(capsys, monkeypatch, tmp_path):
    from graphclust.compiled.runtime.blocks import most_threads, n_threads

    seen, before = [], n_threads()
    load = shared.load_kind
    monkeypatch.setattr(shared, "load_kind", lambda options: (seen.append(n_threads()), load(options))[1])
    for n in {1, most_threads()}:
        assert said(capsys, "cluster", "karate", "-k", 4, "--threads", n, "-o", tmp_path / f"{n}.tsv")[0] == 0
        assert seen[-1] == n and n_threads() == before
    assert len({(tmp_path / f"{n}.tsv").read_text() for n in {1, most_threads()}}) == 1
    for n in (0, most_threads() + 1):
        code, _, err = said(capsys, "cluster", "karate", "-k", 2, "--threads", n)
        assert code == 2 and f"--threads {n} is out of range, expected between 1 and {most_threads()}" in err


def test_the_path_of_k_is_printed_with_its_suggestion(capsys):
    code, out, err = said(capsys, "path", "karate", "--to", 9)
    assert code == 0 and "34 nodes, k from 1 to 9" in out and err == ""
    assert "suggestion: 2" in out and "2 clusters are the best from resolution" in out
    code, out, _ = said(capsys, "path", "karate", "--from", 2, "--report", "json", "--objective", "normalized_cut")
    data = json.loads(out)
    assert code == 0 and [row["k"] for row in data["rows"]] == list(range(2, 18))
    assert data["objective"] == "normalized_cut" and data["suggestion"]["k"] == 2
    assert sum(data["rows"][3]["sizes"]) == 34 and "has no resolution" in data["suggestion"]["reasons"][-1]


def test_a_path_has_the_k_that_its_bounds_allow(capsys):
    code, out, _ = said(capsys, "path", "karate", "--min-size", 5, "--max-size", 12)
    assert code == 0 and out.startswith("34 nodes, k from 3 to 6 within the bounds, with the figures")
    code, out, _ = said(capsys, "path", "karate", "--to", 4, "--imbalance", 0.1, "--report", "json")
    assert code == 0 and json.loads(out)["options"]["max_imbalance"] == 0.1
    assert "bounds" not in said(capsys, "path", "karate", "--to", 4)[1]


def test_a_time_budget_is_told_in_the_report(capsys):
    code, out, _ = said(capsys, "cluster", "karate", "-k", 4, "--time-budget", "1e-9")
    assert code == 0 and "note: the time budget of 1e-09 s ran out" in out
    code, _, err = said(capsys, "cluster", "karate", "-k", 4, "--time-budget", "0")
    assert code == 2 and "--time-budget 0.0 is out of range" in err
    code, out, _ = said(capsys, "path", "karate", "--time-budget", "1e-9")
    assert code == 0 and "the time budget of 1e-09 s ran out" in out and "was not tried" in out
    code, out, _ = said(capsys, "path", "karate", "--time-budget", "1e-9", "--report", "json")
    candidates = json.loads(out, parse_constant=pytest.fail)["suggestion"]["candidates"]
    assert code == 0 and {one["stability"] for one in candidates} == {None}


def test_an_interrupt_leaves_the_best_labels_where_they_were_asked_for(capsys, monkeypatch, tmp_path):
    best = graphclust.coreset_sc(graphclust.classic_graph("karate")[0], 3, rng=0)

    @functools.wraps(graphclust.coreset_sc)
    def stopped(*_, **__):
        raise graphclust.Interrupted(best)

    monkeypatch.setattr(sys.modules["graphclust.partition.coreset_sc"], "coreset_sc", stopped)
    target = tmp_path / "labels.tsv"
    code, out, err = said(capsys, "cluster", "karate", "-k", 3, "-o", target)
    assert (code, out) == (130, "") and err == f"graphclust: interrupted: the best labels so far are in {target}\n"
    assert np.array_equal(read_labels(target)[1], best.labels)
    assert said(capsys, "cluster", "karate", "-k", 3) == (130, "", "graphclust: interrupted\n")


def test_a_permutation_on_standard_output_is_alone_there(capsys):
    out = said(capsys, "partition", "karate", "-k", 2, "--permutation", "-")[1]
    assert sorted(map(int, out.split())) == list(range(34))


def test_a_matrix_is_partitioned_by_its_pattern_unless_its_values_are_asked_for(capsys, tmp_path):
    """Values of a matrix from physics have signs, and its entries are what is communicated."""
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n2 1 -1\n3 2 -9\n4 3 -1\n4 1 -9\n")
    code, out, err = said(capsys, "partition", path, "-k", 2)
    assert code == 0 and "the values of the matrix are not used; --weights file takes them" in out + err
    assert said(capsys, "partition", path, "-k", 2, "--weights", "file")[0] != 0
    assert said(capsys, "partition", path, "-k", 2, "--weights", "abs")[0] == 0


def test_what_a_file_leaves_open_is_decided_by_options(capsys, tmp_path):
    files = {
        "missing.csv": (b"from,to\na,b\nNA,c\nb,c\n", ["--missing", "drop"]),
        "kinds.csv": (b"customer,product\n1,1\n2,1\n", ["--bipartite"]),
        "kind.csv": (b"sender,receiver\n1,2\n2,3\n", ["--no-bipartite"]),
        "latin.csv": (b"M\xfcller;x\nx;y\n", ["--encoding", "cp1252"]),
        "two.graph": (b"2 1 011 2\n7 8 2 5\n7 8 1 5\n", ["--constraint", "0"]),
        "pairs.csv": (b"from,to,weight\na,b,1\na,b,2\n", ["--duplicates", "max"]),
    }
    for name, (content, options) in files.items():
        (tmp_path / name).write_bytes(content)
        if name != "pairs.csv":
            code, _, err = said(capsys, "info", tmp_path / name)
            assert code != 0 and options[0] in err, name
        assert said(capsys, "info", tmp_path / name, *options)[0] == 0, name


def test_a_file_goes_before_the_graph_of_its_name_whatever_its_kind(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind in ("directed", "signed"):
        code, out, err = said(capsys, "communities", "karate", "--kind", kind, "--report", "json")
        assert code == 0 and json.loads(out)["n_nodes"] == 34, err
    for kind, last in (("undirected", 1), ("directed", 1), ("signed", -1)):
        (tmp_path / "karate").write_text(f"source target weight\na b 1\nb c 1\nc a {last}\n")
        code, out, err = said(capsys, "communities", "karate", "--kind", kind, "--format", "csv", "--report", "json")
        assert code == 0 and json.loads(out)["n_nodes"] == 3, err
