"""The command line between programs: standard input and output, other formats, conversion."""

import errno
import io
import json
import os
import re
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from graph_files import same_csr
from shell import said

from graphclust import classic_graph, load_graph, read_labels, save_graph, save_store
from graphclust.faces.cli import main as cli

TWO_CLIQUES = "".join(f"{u} {v}\n" for u, v in nx.barbell_graph(6, 0).edges)


def test_a_graph_from_standard_input_and_labels_to_standard_output(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TWO_CLIQUES.encode())))
    code, out, err = said(capsys, "cluster", "-", "-k", 2, "-o", "-")
    lines = [line.split("\t") for line in out.splitlines()]
    assert (code, err, lines[0]) == (0, "", ["node", "cluster"])
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


def test_impossible_conversions_are_named(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    code, _, err = said(capsys, "convert", tmp_path / "g.txt", tmp_path / "g.xyz")
    assert code == 2 and "ends in none of .mtx" in err and "pass --to" in err and re.search(r"\w=", err) is None
    code, _, err = said(capsys, "convert", tmp_path / "g.txt", tmp_path / "g.txt")
    assert code == 2 and "never overwritten" in err
    code, _, err = said(capsys, "convert", tmp_path / "g.txt", "g.npz.gz")
    assert code == 2 and err.startswith("graphclust: 'g.npz.gz' ends in .gz, but .npz files are compressed already")
    save_graph(tmp_path / "loop.mtx", np.array([[1.0, 1.0], [1.0, 0.0]]))
    code, _, err = said(capsys, "convert", tmp_path / "loop.mtx", tmp_path / "loop.graph")
    assert code == 1 and "METIS files cannot hold" in err and not os.path.exists(tmp_path / "loop.graph")


@pytest.fixture
def piped(monkeypatch):
    """Gives some bytes to standard input."""
    return lambda content: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("to", [None, "snap", "csv", "matrix_market", "metis", "npz", "graphml", "gml", "gexf"])
def test_conversion_to_standard_output(capsysbinary, tmp_path, to):
    (tmp_path / "g.txt").write_text(TWO_CLIQUES)
    assert cli.main(["convert", str(tmp_path / "g.txt"), "-", *(["--to", to] if to else [])]) == 0
    out, err = capsysbinary.readouterr()
    assert err == b"" and (to is not None or out.endswith(b"\n10\t11\n"))
    (tmp_path / "h").write_bytes(out)
    graph, info = load_graph(tmp_path / "h", return_info=True)
    assert graph == load_graph(tmp_path / "g.txt") and info.format == (to or "snap")


def test_the_names_of_standard_output_are_a_dash(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("-", "/dev/stdout", "/dev/fd/1"):
        assert said(capsys, "convert", "karate", name)[1].endswith("\n32\t33\n")
        assert said(capsys, "cluster", "karate", "-k", 2, "-o", name)[1].startswith("node\tcluster\n0\t")
    assert os.listdir(tmp_path) == []


def sources(folder) -> dict[str, str]:
    """The names of the same graph in every form that is a source."""
    graph = classic_graph("karate")[0]
    for name in ("k.txt", "k.mtx", "k.npz", "k.gml"):
        save_graph(folder / name, graph)
    save_store(folder / "k.store", graph)
    return {name: str(folder / name) for name in ("k.txt", "k.mtx", "k.npz", "k.gml", "k.store")} | {"karate": "karate"}


@pytest.mark.parametrize("target", ["g.mtx", "g.gexf", "g.store", "-"])
def test_every_target_takes_every_source(capsys, tmp_path, monkeypatch, piped, target):
    monkeypatch.chdir(tmp_path)
    given = sources(tmp_path)
    for source in [*given.values(), "-"]:
        piped((tmp_path / "k.mtx").read_bytes())
        to = ["--to", "store"] if target == "g.store" else []
        code, out, err = said(capsys, "convert", source, target, "--force", *to)
        assert (code, err) == (0, ""), source
        if target == "-":
            (tmp_path / "g.txt").write_text(out)
        assert same_csr(load_graph("g.txt" if target == "-" else target), classic_graph("karate")[0]), source
    assert sorted(os.listdir(tmp_path)) == sorted([*list(given)[:-1], "g.txt" if target == "-" else target])


def test_stores_that_cannot_be_made(capsys, tmp_path, monkeypatch, piped):
    monkeypatch.chdir(tmp_path)
    save_store("k", classic_graph("karate")[0])
    (tmp_path / "g.txt").write_text("1 2\n")
    for arguments, words in {
        ("karate", "-"): "a store is a folder, which standard output cannot hold; name one, or choose another --to",
        ("k", "k", "--force"): "output k is the input file, which is never overwritten",
        ("karate", "k"): "exists already and was left as it is; choose another name, or --force\n",
        ("karate", "g.txt", "--force"): "exists already and is not a store",
        ("karate", "no/k"): "there is no folder",
    }.items():
        code, out, err = said(capsys, "convert", *arguments, "--to", "store")
        assert (code, out, err.count("\n")) == (2, "", 1) and words in err, arguments
    piped(b"1 x\n2 3\n")
    code, _, err = said(capsys, "convert", "-", "new", "--to", "store", "--format", "snap")
    assert code == 1 and err.startswith("graphclust: standard input, line 1: ")
    code, _, err = said(capsys, "convert", "g.txt", "new", "--to", "store", "--max-bytes", 3)
    assert code == 1 and "holds more than --max-bytes 3 bytes" in err
    assert sorted(os.listdir(tmp_path)) == ["g.txt", "k"]


def test_what_a_format_cannot_hold_is_said_in_the_words_of_the_shell(capsys, tmp_path):
    code, out, err = said(capsys, "convert", "les-miserables", "-")
    assert (code, out) == (1, "") and "whole numbers >= 0, as --to snap needs; use --to csv\n" in err
    (tmp_path / "lone.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n")
    code, out, err = said(capsys, "convert", tmp_path / "lone.mtx", "-")
    assert (code, out) == (1, "") and "--to snap cannot hold nodes without edges, --to matrix_market can\n" in err


def test_info_and_the_page_call_it_standard_input(capsys, tmp_path, piped):
    piped(TWO_CLIQUES.encode())
    assert said(capsys, "info", "-")[1].startswith("file        standard input\n")
    piped(TWO_CLIQUES.encode())
    assert json.loads(said(capsys, "info", "-", "--report", "json")[1])["path"] == "standard input"
    piped(TWO_CLIQUES.encode())
    assert said(capsys, "cluster", "-", "-k", 2, "--html", tmp_path / "p.html", "--time-budget", "1e-9")[0] == 0
    assert "<h1>standard input</h1>" in (tmp_path / "p.html").read_text()


def test_a_folder_that_may_not_be_written_is_named_before_any_work(capsys, tmp_path, monkeypatch):
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: "kept" not in str(path))
    for command in (["convert", "karate", "--"], ["cluster", "karate", "-k", "2", "-o"]):
        target = tmp_path / "kept" / "labels.csv"
        code, out, err = said(capsys, *command, target)
        assert (code, out) == (2, "") and f"cannot write {target}: no file can be made in the folder" in err


def test_a_folder_that_turns_out_not_to_be_writable_is_named(capsys, tmp_path, monkeypatch):
    system_open = os.open

    def refused(path, *arguments, **options):
        if ".graphclust-" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return system_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refused)
    code, _, err = said(capsys, "convert", "karate", tmp_path / "k.mtx")
    folder = f"no file can be made in the folder {tmp_path}, Permission denied\n"
    assert (code, err) == (1, f"graphclust: cannot write {tmp_path / 'k.mtx'}: {folder}")
