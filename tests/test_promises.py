"""Promises that belong to no part: of the process that calls, and of its environment. All stand in docs/promises.md."""

import logging
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import networkx as nx
import numpy as np
import pytest

import graphclust
from graphclust.cached import cached_property

ANSWERS = """
import pathlib
import networkx as nx
import graphclust
graph = nx.relabel_nodes(nx.les_miserables_graph(), lambda name: name.upper().replace("I", "\\u0131"))
found = graphclust.coreset_sc(graph, 5, rng=1)
graphclust.write_labels("labels.tsv", found, overwrite=True)
said = pathlib.Path("labels.tsv").read_text(encoding="utf-8") + graphclust.hierarchy(graph, max_size=9, rng=1).to_json()
"""
ODD = """
import locale, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
locale.setlocale(locale.LC_ALL, "")
"""
HAND_OVER = "sys.stdout.buffer.write(said.encode())"


@pytest.mark.skipif(sys.platform == "win32", reason="sets limits as POSIX has them")
def test_the_environment_changes_no_label(tmp_path, monkeypatch):
    odd = {"LC_ALL": "C", "PYTHONHASHSEED": "1", "PYTHONUTF8": "0", "TMPDIR": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-c", ODD + ANSWERS + HAND_OVER], env={**os.environ, **odd}, capture_output=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(ANSWERS, names)
    assert done.stdout.decode() == names["said"] and os.listdir(tmp_path) == ["labels.tsv"]


def test_calls_leave_the_process_as_it_was(tmp_path, monkeypatch, capfd):
    def refuse(*_):
        raise AssertionError("a connection is opened")

    def state():
        return {
            "generators": (random.getstate(), np.random.get_state()[1].tobytes()),  # noqa: NPY002
            "environment": dict(os.environ), "folder": os.getcwd(), "filters": list(warnings.filters),
            "signals": [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)], "errors": np.geterr(),
            "logging": [(log.level, list(log.handlers)) for log in (logging.root, logging.getLogger("graphclust"))],
            "hooks": (sys.excepthook, threading.excepthook, sys.displayhook), "recursion": sys.getrecursionlimit(),
            "temporaries": sorted(os.listdir(tempfile.gettempdir())),
        }  # fmt: skip

    def work():
        graph = nx.karate_club_graph()
        found = graphclust.coreset_sc(graph, 3, rng=1)
        graphclust.communities(graph, rng=1, max_size=12)
        graphclust.cluster_path(graph, rng=1).suggest()
        graphclust.hierarchy(graph, max_size=9, rng=1).save(tmp_path / "levels.json", overwrite=True)
        graphclust.save_graph(tmp_path / "g.mtx", graph, overwrite=True)
        graphclust.load_graph(tmp_path / "g.mtx")
        graphclust.save_store(tmp_path / "s", graph, overwrite=True)
        graphclust.write_report(tmp_path / "p.html", found, overwrite=True)
        found.update(added=[(0, 99)], rng=1)
        graphclust.kmeans(np.arange(12.0).reshape(6, 2), 2, rng=1)

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    work()  # what is imported and compiled is so before
    capfd.readouterr()
    before = state()
    work()
    assert state() == before
    assert capfd.readouterr() == ("", "")


def test_the_same_content_makes_the_same_file_at_any_time(tmp_path, monkeypatch):
    graph, now = nx.to_scipy_sparse_array(nx.les_miserables_graph()), time.time
    found = graphclust.communities(graph, rng=1)
    endings = (".csv", ".tsv.gz", ".npz", ".graphml", ".gml", ".gexf")
    written = []
    for later in (0, 10**6):
        monkeypatch.setattr(time, "time", lambda later=later: now() + later)
        for ending in endings:
            graphclust.save_graph(tmp_path / f"graph{ending}", graph, overwrite=True)
        for ending in (".tsv", ".csv", ".json", ".npz"):
            graphclust.write_labels(tmp_path / f"labels{ending}", found, overwrite=True)
        found.model().save(tmp_path / "model.npz", overwrite=True)
        graphclust.write_report(tmp_path / "page.html", found, overwrite=True)
        written.append({path.name: path.read_bytes() for path in tmp_path.iterdir()})
    assert written[0] == written[1] and len(written[0]) == 12


def test_no_property_waits_for_another_thread():
    """A process that is forked meanwhile does not have this thread, and would wait for ever."""
    begun, ended = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, waits):
            self.waits = waits

        @cached_property
        def value(self):
            begun.set()
            return self.waits and ended.wait(30)

    threads = [threading.Thread(target=lambda waits=waits: Slow(waits).value) for waits in (True, False)]
    threads[0].start()
    begun.wait(30)
    threads[1].start()
    threads[1].join(5)
    has_waited = threads[1].is_alive()
    ended.set()
    for thread in threads:
        thread.join(30)
    assert not has_waited
    sources = pathlib.Path(graphclust.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if re.search("functools import .*cached", path.read_text())] == ["cached.py"]
