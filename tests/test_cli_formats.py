"""The command line between programs: standard input and output, other formats, conversion."""

import io
import os
import re
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from graphclust import load_graph, read_labels, save_graph
from graphclust.faces import cli

TWO_CLIQUES = "".join(f"{u} {v}\n" for u, v in nx.barbell_graph(6, 0).edges)


def said(capsys, *arguments) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, run within this process."""
    try:
        code = cli.main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_graph_from_standard_input_and_labels_to_standard_output(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TWO_CLIQUES.encode())))
    code, out, err = said(capsys, "cluster", "-", "-k", 2, "-o", "-")
    lines = [line.split("\t") for line in out.splitlines()]
    assert (code, err, lines[0]) == (0, "", ["node", "label"])
    assert [int(node) for node, _ in lines[1:]] == list(range(12))
    labels = [label for _, label in lines[1:]]
    assert len(set(labels[:6])) == len(set(labels[6:])) == 1 and labels[0] != labels[6]


def test_what_is_wrong_with_standard_input_is_said_of_it(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"<html>")))
    code, _, err = said(capsys, "info", "-")
    assert code == 1 and "standard input" in err and "/tmp" not in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_failure():
    command = [sys.executable, "-m", "graphclust", "cluster", "-", "-k", "2", "-o", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        process.stdin.write(TWO_CLIQUES.encode())
        process.stdin.close()
        assert process.stderr.read() == b"" and process.wait() == 0


@pytest.mark.parametrize("ending", ["csv", "part.2", "graphml", "gexf"])
def test_labels_in_other_formats(capsys, tmp_path, ending):
    (tmp_path / "g.txt").write_text(TWO_CLIQUES)
    code, out, _ = said(capsys, "cluster", tmp_path / "g.txt", "-k", 2, "-o", tmp_path / f"l.{ending}")
    assert code == 0 and "edge cut         1\n" in out and "imbalance 1.00" in out
    if ending in ("csv", "part.2"):
        labels = read_labels(tmp_path / f"l.{ending}")[1]
    else:
        read = {"graphml": nx.read_graphml, "gexf": nx.read_gexf}[ending](tmp_path / f"l.{ending}")
        labels = np.array([read.nodes[str(node)]["cluster"] for node in range(12)])
    assert (labels == labels[0]).tolist() == [True] * 6 + [False] * 6


@pytest.mark.parametrize(
    ("name", "options"), [("g.npz", []), ("g.mtx.gz", []), ("g.graph", []), ("g", ["--to", "csv"])]
)
def test_conversion_keeps_the_graph(capsys, tmp_path, name, options):
    (tmp_path / "g.txt").write_text(TWO_CLIQUES)
    code, out, err = said(capsys, "convert", tmp_path / "g.txt", tmp_path / name, *options)
    assert (code, err) == (0, "") and "Graph(12 nodes, 31 edges, unweighted)" in out
    assert load_graph(tmp_path / name) == load_graph(tmp_path / "g.txt")
    again = said(capsys, "convert", tmp_path / "g.txt", tmp_path / name, *options)
    assert again[0] == 2 and "overwrite it with --force" in again[2]
    assert said(capsys, "convert", tmp_path / "g.txt", tmp_path / name, *options, "--force")[0] == 0


def test_conversions_that_cannot_be(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    code, _, err = said(capsys, "convert", tmp_path / "g.txt", tmp_path / "g.xyz")
    assert code == 2 and "ends in none of .mtx" in err and "pass --to" in err and re.search(r"\w=", err) is None
    code, _, err = said(capsys, "convert", tmp_path / "g.txt", tmp_path / "g.txt")
    assert code == 2 and "never overwritten" in err
    save_graph(tmp_path / "loop.mtx", np.array([[1.0, 1.0], [1.0, 0.0]]))
    code, _, err = said(capsys, "convert", tmp_path / "loop.mtx", tmp_path / "loop.graph")
    assert code == 1 and "METIS files cannot hold" in err and not os.path.exists(tmp_path / "loop.graph")
