"""A disk without room: the message names the file and what it needs, and nothing is left behind."""

import errno
import os
import pathlib
import re
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import graphclust
from graphclust import save_graph, write_labels
from graphclust.io.atomic_write import whole_file

RUN = """
import resource, sys
import networkx as nx, numpy as np
import graphclust
from graphclust import save_graph, save_store, write_labels
graph = nx.path_graph(30_000)
labels = np.random.default_rng(0).integers(0, 10_000, 30_000)
save_graph("warm.txt", nx.path_graph(3))
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
for name in sys.argv[1:]:
    try:
        (save_store if "store" in name else save_graph)(name, graph) if "g." in name else write_labels(name, labels)
    except OSError as problem:
        print(problem.errno, problem, sep="|")
"""
SIZES = {"labels.tsv": 318_000, "labels.json": 440_000, "labels.npz": 480_000, "g.mtx": 340_000, "g.txt": 340_000,
         "g.csv": 340_000, "g.graph": 340_000, "g.mtx.gz": 340_000, "g.gml": 2_600_000, "g.store": 960_000}  # fmt: skip
MESSAGE = r"\[Errno \d+\] cannot write (.+): File too large for about ([\d,]+) bytes; nothing was left behind"


@pytest.mark.slow
def test_the_message_names_the_file_and_what_it_needs(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(graphclust.__file__).parents[1])}
    ended = subprocess.run(
        [sys.executable, "-c", RUN, *SIZES], capture_output=True, text=True, timeout=100, cwd=tmp_path, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    for (name, size), line in zip(SIZES.items(), ended.stdout.splitlines(), strict=True):
        number, said = line.split("|")
        found = re.fullmatch(MESSAGE, said)
        assert found and int(number) in (errno.EFBIG, errno.ENOSPC) and found[1].endswith(name), line
        assert int(found[2].replace(",", "")) == pytest.approx(size, rel=0.2), line
    assert os.listdir(tmp_path) == ["warm.txt"]


@pytest.mark.slow
def test_the_estimated_size_is_within_a_tenth_of_the_file(tmp_path, monkeypatch):
    """Of many blocks, weighted: within a tenth of what the file has when there is room."""
    monkeypatch.setattr("graphclust.io.save._ENTRIES", 5_000)
    network = nx.gnm_random_graph(3_000, 40_000, seed=518)
    for *_, attributes in network.edges(data=True):
        attributes["weight"] = 0.25
    foretold = []
    monkeypatch.setattr("graphclust.io.save.whole_file", lambda path, overwrite, size: (
        foretold.append(size()) or whole_file(path, overwrite, size)
    ))  # fmt: skip
    for name in ("g.mtx", "g.txt", "g.graphml", "g.gml", "g.gexf"):
        save_graph(tmp_path / name, network)
        assert foretold.pop() == pytest.approx((tmp_path / name).stat().st_size, rel=0.1)


@pytest.mark.parametrize("problem", [OSError("100 requested and 0 written"), OSError(errno.ENOSPC, "No space left")])
def test_whoever_says_that_there_is_no_room(tmp_path, problem):
    words = r"cannot write .*l.npz: No space left on device for about 7 bytes"
    with pytest.raises(OSError, match=words), whole_file(tmp_path / "l.npz", size=lambda: 7):
        raise problem
    assert os.listdir(tmp_path) == []


def test_other_faults_stay_as_they_are(tmp_path):
    with pytest.raises(PermissionError, match="not yours"), whole_file(tmp_path / "l.npz", size=lambda: 7):
        raise PermissionError(errno.EACCES, "not yours")
    write_labels(tmp_path / "l.npz", np.array([0, 1]))


@pytest.mark.slow
def test_the_command_line_says_it_too(tmp_path):
    (tmp_path / "g.txt").write_text("".join(f"{u} {u + 1}\n" for u in range(2000)))
    command = [sys.executable, "-m", "graphclust", "cluster", "g.txt", "-k", "2", "-o"]
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(graphclust.__file__).parents[1])}
    limited = ["bash", "-c", 'ulimit -f 1; exec "$@"', "limited"]
    for prefix, code in (([], 0), (limited, 1)):  # the first run compiles
        ended = subprocess.run(
            [*prefix, *command, f"{code}.tsv"], capture_output=True, text=True, cwd=tmp_path, env=environment
        )
        assert ended.returncode == code, ended.stderr
    assert ended.stderr.startswith("graphclust: cannot write 1.tsv: File too large for about ")
    assert ended.stderr.count("\n") == 1 and sorted(os.listdir(tmp_path)) == ["0.tsv", "g.txt"]
