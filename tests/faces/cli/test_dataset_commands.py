"""Graphs by name on the command line, and what a person sees of a download."""

import io
import json
import random
import re
import sys

import http_faults as faults
import pytest
from shell import said

from graphclust import fetch_suitesparse
from graphclust.datasets.cache import cached

SQUARE = "%%MatrixMarket matrix coordinate pattern symmetric\n6 6 5\n2 1\n3 1\n3 2\n5 4\n6 6\n"
NAME, PATH = "Newman/karate", "/MM/Newman/karate.tar.gz"


@pytest.fixture
def server(tmp_path, monkeypatch):
    faults.own_cache(tmp_path, monkeypatch)
    with faults.as_mirror(monkeypatch) as server:
        server.files[PATH] = faults.archive("karate", SQUARE)
        yield server


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.slow
def test_the_command_line_says_how_large_a_graph_is_before_it_comes(server, capsys):
    code, out, err = said(capsys, "info", "suitesparse:" + NAME)
    assert code == 0 and re.search(r"nodes +6\nedges +5", out)
    assert err.startswith("graphclust: suitesparse:Newman/karate: undirected graph, 6 nodes, 10 entries")
    assert re.search(r"about [\d.,]+ MiB of memory to read it, of [\d.,]+ MiB: enough\n$", err)
    assert said(capsys, "info", "suitesparse:" + NAME)[2] == "", "it is here"
    code, out, err = said(capsys, "cluster", "suitesparse:Sybrandt/MOLIERE_2016", "-k", "2", "--memory-limit", "999")
    assert code == 1 and "not enough" in err and "--memory-limit is 999 bytes; nothing was downloaded" in err
    code, _, err = said(capsys, "info", "suitesparse:Newman/karat")
    assert code == 2 and "the nearest are Newman/karate, " in err and len(server.log) == 1


def test_the_command_line_searches_lists_and_clears(server, capsys):
    code, out, _ = said(capsys, "datasets", "roadnet", "--entries", "1e6", "4e6", "--order", "memory")
    assert code == 0 and [line.split()[0] for line in out.splitlines()[1:-1]] == [
        "suitesparse:SNAP/roadNet-TX", "suitesparse:SNAP/roadNet-PA"
    ]  # fmt: skip
    found = json.loads(said(capsys, "datasets", "com-DBLP", "--symmetric", "--report", "json")[1])
    assert [entry["address"] for entry in found] == ["suitesparse:SNAP/com-DBLP", "snap:com-DBLP"]
    assert said(capsys, "datasets", "nowhere")[1] == "0 data sets found\n"
    fetch_suitesparse(NAME)
    listed = said(capsys, "cache", "list")[1]
    assert re.search(r"MiB  suitesparse:Newman/karate\n.*1 data set in /.*/cache", listed)
    code, _, err = said(capsys, "cache", "clear", "snap:com-DBLP")
    assert code == 2 and "but suitesparse:Newman/karate" in err
    assert "MiB freed" in said(capsys, "cache", "clear")[1] and cached() == []


@pytest.mark.slow
def test_a_bar_is_shown_where_people_look_on(server, monkeypatch):
    server.files[PATH] = faults.archive("karate", SQUARE, b=random.Random(1).randbytes(300_000).hex())
    server.block, server.pause = 40_000, 0.2
    monkeypatch.setattr(sys, "stderr", Terminal())
    fetch_suitesparse(NAME)
    assert "karate.tar.gz: " in sys.stderr.getvalue() and "%|" in sys.stderr.getvalue()
