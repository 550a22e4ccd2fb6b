"""Many processes that want one data set, and processes that are killed while they fetch it."""

import json
import pathlib
import random
import subprocess
import sys

import http_faults as faults
import numpy as np
import pytest

from graphclust.datasets.cache import sha256_of
from graphclust.datasets.kept_arrays import kept_graph

NAME, PATH = "Newman/karate", "/MM/Newman/karate.tar.gz"


@pytest.fixture(scope="module")
def runner():
    """The process that forks."""
    runner = subprocess.Popen(
        [sys.executable, pathlib.Path(__file__).with_name("dataset_runner.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert runner.stdout.readline() == "ready\n"
    yield runner
    runner.stdin.close()
    runner.wait(20)
    runner.stdout.close()


@pytest.fixture
def server():
    rng = np.random.default_rng(518)
    edges = np.unique(np.sort(rng.integers(1, 2001, (20_000, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    lines = "".join(f"{high} {low}\n" for low, high in edges.tolist())
    header = f"%%MatrixMarket matrix coordinate pattern symmetric\n2000 2000 {len(edges)}\n"
    with faults.running() as server:
        server.files[PATH] = faults.archive("karate", header + lines)
        yield server


@pytest.fixture
def ask(runner, server, tmp_path):
    """ask(processes, kill_after): what each found."""

    def question(processes: int = 1, kill_after: float | None = None) -> list[dict]:
        environment = {"GRAPHCLUST_CACHE": str(tmp_path / "cache"), "GRAPHCLUST_MIRROR": server.address}
        asked = {"name": NAME, "processes": processes, "kill_after": kill_after, "environment": environment}
        runner.stdin.write(json.dumps(asked) + "\n")
        runner.stdin.flush()
        return json.loads(runner.stdout.readline())

    return question


def test_eight_processes_make_one_download(ask, server):
    server.block, server.pause = 4000, 0.005
    found = ask(processes=8)
    assert len(server.log) == 1
    assert all(answer == found[0] for answer in found) and found[0]["n_nodes"] == 2000


def kill_and_look(ask, server, folder: pathlib.Path, times: int) -> int:
    """Kill at random moments of download and conversion; returns how often that left a file to go on with."""
    rng = random.Random(2209)
    server.block = 4000
    server.pause = 0.25 * server.block / len(server.files[PATH])  # a quarter of a second in all
    n_parts = 0
    for i in range(times):
        if i % 3 == 0:  # what the last one left is gone on with, twice out of three
            for file in folder.glob("cache/suitesparse/*/*/*"):
                file.unlink()
        ask(kill_after=rng.uniform(0.0, 0.4))
        place = folder / "cache" / "suitesparse" / NAME
        archive = place / "karate.tar.gz"
        assert not archive.exists() or archive.read_bytes() == server.files[PATH]
        for converted in place.glob("karate.tar.gz.*.npz"):
            assert kept_graph(converted) is not None
        n_parts += (place / "karate.tar.gz.part").exists()
    (answer,) = ask()
    assert answer.get("n_nodes") == 2000, answer
    names = {file.name for file in (folder / "cache" / "suitesparse" / NAME).iterdir()}
    assert {"karate.tar.gz", "karate.tar.gz.json"} <= names and not any("part" in name for name in names)
    assert sha256_of(archive) == json.loads(archive.with_name("karate.tar.gz.json").read_bytes())["sha256"]
    return n_parts


def test_a_killed_process_leaves_nothing_or_a_valid_file(ask, server, tmp_path):
    assert kill_and_look(ask, server, tmp_path, 8) > 0


@pytest.mark.slow
def test_fifty_killed_processes(ask, server, tmp_path):
    assert kill_and_look(ask, server, tmp_path, 50) > 5


def test_the_lock_of_a_dead_process_is_free(ask, server):
    server.block, server.pause = 2000, 0.05
    ask(kill_after=0.1)
    server.block = 0
    (answer,) = ask()
    assert answer.get("n_nodes") == 2000
