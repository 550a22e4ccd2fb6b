"""Names of files and nodes reach a terminal as text: escapes in them steer nothing."""

import io
import json
import os
import sys

import networkx as nx
import numpy as np
import pytest
from cases import refuses

import graphclust as gc
from graphclust.errors import GraphWarning, escape_controls, quote, warn_caller
from graphclust.faces.cli import main as cli

RED, TITLE, CSI, BIDI = "\x1b[31m", "\x1b]0;owned\x07", "\x9b2J", "\u202e"
EVIL = f"a{RED}b{CSI}c{BIDI}"
SAFE = "a\\x1b[31mb\\x9b2Jc\\u202e"


def test_what_steers_a_terminal_is_escaped_and_all_else_is_kept():
    assert escape_controls(EVIL) == SAFE and escape_controls("Zoë ≥ 1: 数 =cmd()") == "Zoë ≥ 1: 数 =cmd()"
    assert escape_controls("a\tb\nc\r", keep="\n\t") == "a\tb\nc\\r" and escape_controls("\udcff") == "\\udcff"
    assert quote(EVIL.encode()) == SAFE


def test_messages_of_errors_are_escaped_and_their_path_is_not():
    plain = [kind(EVIL) for kind in (gc.ParameterError, gc.DownloadError, gc.ResourceLimitError)]
    for problem in (gc.GraphFormatError("is odd", EVIL, 3), *plain):
        assert SAFE in str(problem) and str(problem).isprintable()
        assert getattr(problem, "path", EVIL) == EVIL


def test_warnings_and_remarks_are_escaped():
    with pytest.warns(GraphWarning) as caught:
        warn_caller(EVIL, GraphWarning)
    assert str(caught[0].message) == SAFE
    clustering = gc.coreset_sc(nx.barbell_graph(4, 0), 2, rng=0)
    graph = clustering.graph
    object.__setattr__(clustering, "remarks", (EVIL,))
    assert SAFE in str(clustering) and EVIL not in str(clustering) and graph is clustering.graph


def test_files_that_cannot_be_written_are_named_with_escapes(tmp_path):
    name = str(tmp_path / f"{EVIL}.json")
    gc.write_labels(name, np.zeros(3, int))
    folder = str(tmp_path / "folder")
    os.mkdir(folder + EVIL)
    for kind, attempt in (
        (FileExistsError, lambda: gc.write_labels(name, np.zeros(3, int))),
        (FileNotFoundError, lambda: gc.write_labels(f"{name}/l.json", np.zeros(3, int))),
        (IsADirectoryError, lambda: gc.load_graph(folder + EVIL)),
        (FileExistsError, lambda: gc.save_store(folder + EVIL, nx.path_graph(3), overwrite=True)),
        (FileNotFoundError, lambda: gc.save_store(f"{folder}{EVIL}/none/s", nx.path_graph(3))),
    ):
        with pytest.raises(kind) as raised:
            attempt()
        assert SAFE in str(raised.value) and str(raised.value).isprintable()


@pytest.fixture
def graph_file(tmp_path) -> str:
    """A file whose name and whose nodes steer terminals."""
    path = tmp_path / f"{EVIL}.csv"
    rows = "".join(f"{TITLE}{u},{TITLE}{v}\n" for u, v in nx.barbell_graph(4, 0).edges)
    path.write_text("source,target\n" + rows, encoding="utf-8")
    return str(path)


def test_the_command_line_prints_no_escape_of_a_name(graph_file, capsys):
    cli.main(["info", graph_file])
    cli.main(["info", graph_file + ".none"])
    cli.main(["cluster", graph_file, "-k", "2", "-q", "-o", graph_file + ".tsv"])
    cli.main(["cluster", graph_file, "-k", "2", "-q", "-o", graph_file + ".tsv"])
    cli.main(["convert", graph_file, graph_file + ".mtx"])
    refuses(SystemExit, None, cli.main, ["info", graph_file, RED])
    said = capsys.readouterr()
    for text in (said.out, said.err):
        assert all(line.isprintable() for line in text.split("\n")), repr(text)
    assert said.out.count(SAFE) == 4 and said.err.count(SAFE) >= 1 and "\\x1b[31m" in said.err


def test_labels_are_escaped_on_a_terminal_and_raw_in_a_pipe(graph_file, monkeypatch, capsys):
    cli.main(["cluster", graph_file, "-k", "2", "-o", "-"])
    assert capsys.readouterr().out.count(TITLE) == 8
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", terminal)
    cli.main(["cluster", graph_file, "-k", "2", "-q", "-o", "-"])
    assert terminal.getvalue().count("\\x1b]0;owned\\x07") == 8 and "\x1b" not in terminal.getvalue()


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".json", ".npz"])
def test_names_that_look_like_formulas_or_steer_a_terminal_come_back_as_they_were(tmp_path, ending):
    names = ["=1+2", "+3", "-4", "@x", "'=1", EVIL, TITLE, "=cmd|'/c calc'!A0"]
    gc.write_labels(tmp_path / f"l{ending}", np.arange(len(names)), names)
    assert gc.read_labels(tmp_path / f"l{ending}")[0] == names


def test_reports_for_programs_hold_the_names_themselves(graph_file, capsys):
    cli.main(["info", graph_file, "--report", "json"])
    assert json.loads(capsys.readouterr().out)["path"] == graph_file
