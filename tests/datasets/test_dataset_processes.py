"""Many processes that want one data set, and processes that are killed while they fetch it."""

import json
import pathlib
import random
from typing import Any

import http_faults as faults
import pytest
from runners import runner_of

from graphclust.datasets.array_cache import read_kept_graph
from graphclust.datasets.cache import sha256_of

NAME, PATH = "Newman/karate", "/MM/Newman/karate.tar.gz"


@pytest.fixture(scope="module")
def runner():
    """The process that forks."""
    with runner_of("dataset_runner.py") as runner:
        assert runner.read() == "ready"
        yield runner


@pytest.fixture
def server():
    """A graph of the sizes that the catalog has, in an archive that takes a while to come."""
    lines = "".join(f"{u} {v}\n" for u in range(2, 35) for v in range(1, u))
    header = "%%MatrixMarket matrix coordinate pattern symmetric\n34 34 561\n"
    with faults.running() as server:
        server.files[PATH] = faults.archive("karate", header + lines, b=random.Random(518).randbytes(50_000).hex())
        yield server


@pytest.fixture
def ask(runner, server, tmp_path):
    """ask(processes, kill_at, kill_when): what each found."""

    def question(processes: int = 1, **kill: Any) -> list[dict]:
        environment = {"GRAPHCLUST_CACHE": str(tmp_path / "cache"), "GRAPHCLUST_MIRROR": server.address}
        asked = {"name": NAME, "processes": processes, "environment": environment, **kill}
        return runner.ask(asked)

    return question


@pytest.mark.slow
def test_eight_processes_make_one_download(ask, server):
    server.block, server.pause = 4000, 0.005
    found = ask(processes=8)
    assert len(server.log) == 1
    assert all(answer["indices"] == found[0]["indices"] for answer in found) and found[0]["n_nodes"] == 34


def kill_in_the_middle(ask, server, place: pathlib.Path) -> None:
    """Kill a process that has got some of the archive, and gets no more."""
    server.answers[PATH] = [faults.stalled(30_000)]
    ask(kill_when=[str(place / "karate.tar.gz.part"), 20_000])
    server.answers[PATH] = [faults.serve]
    assert (place / "karate.tar.gz.part").stat().st_size >= 20_000


def kill_and_look(ask, server, folder: pathlib.Path, times: int) -> None:
    """Kill at any call of download and conversion, and now and then in the middle of a download."""
    rng, place = random.Random(2209), folder / "cache" / "suitesparse" / NAME
    archive = place / "karate.tar.gz"
    (unharmed,) = ask()
    assert unharmed["n_nodes"] == 34
    for i in range(times):
        if i % 3 == 0:  # what the last one left is gone on with, twice out of three
            for file in place.iterdir():
                file.unlink()
        if i % 6 == 0:
            kill_in_the_middle(ask, server, place)
        else:
            ask(kill_at=rng.randint(1, unharmed["calls"]))
        assert not archive.exists() or archive.read_bytes() == server.files[PATH]
        for converted in place.glob("karate.tar.gz.*.npz"):
            assert read_kept_graph(converted) is not None
    (answer,) = ask()
    assert answer.get("n_nodes") == 34, answer
    names = {file.name for file in place.iterdir()}
    assert {"karate.tar.gz", "karate.tar.gz.json"} <= names and not any("part" in name for name in names)
    assert sha256_of(archive) == json.loads(archive.with_name("karate.tar.gz.json").read_bytes())["sha256"]


def test_a_killed_process_leaves_nothing_or_a_valid_file(ask, server, tmp_path):
    kill_and_look(ask, server, tmp_path, 8)


@pytest.mark.slow
def test_fifty_killed_processes(ask, server, tmp_path):
    kill_and_look(ask, server, tmp_path, 50)


def test_the_lock_of_a_dead_process_is_free(ask, server, tmp_path):
    kill_in_the_middle(ask, server, tmp_path / "cache" / "suitesparse" / NAME)
    (answer,) = ask()
    assert answer.get("n_nodes") == 34
