"""Many processes that want one data set, and processes that are killed while they fetch it."""

import json
import pathlib
import random
from typing import Any

import http_faults as faults
import pytest
from runners import runner_of

from graphclust.datasets.cache import read_kept_graph, sha256_of

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
    server.answers[PATH] = [faults.stall(30_000)]
    ask(kill_when=[str(place / "karate.tar.gz.part"), 20_000])
    server.answers[PATH] = [faults.serve]
    assert (place / "karate.tar.gz.part").stat().st_size >= 20_000


def faults_after_kills(ask, server, folder: pathlib.Path, times: int) -> list[str]:
    """What is wrong after kills at any call of download and conversion, every sixth in the middle of a download."""
    rng, place = random.Random(2209), folder / "cache" / "suitesparse" / NAME
    archive, found = place / "karate.tar.gz", []
    (unharmed,) = ask()
    assert unharmed["n_nodes"] == 34
    for i in range(times):
        if i % 3 == 0:  # two of three downloads go on from what the last one left
            for file in place.iterdir():
                file.unlink()
        if i % 6 == 0:
            kill_in_the_middle(ask, server, place)
        else:
            ask(kill_at=rng.randint(1, unharmed["calls"]))
        if archive.exists() and archive.read_bytes() != server.files[PATH]:
            found.append(f"kill {i}: the archive is not whole")
        found += [f"kill {i}: {one.name}" for one in place.glob("karate.tar.gz.*.npz") if read_kept_graph(one) is None]
    (answer,) = ask()
    if answer.get("n_nodes") != 34:
        found.append(f"the last answer is {answer}")
    names = {file.name for file in place.iterdir()}
    if not {"karate.tar.gz", "karate.tar.gz.json"} <= names or any("part" in name for name in names):
        found.append(f"the folder holds {names}")
    if sha256_of(archive) != json.loads(archive.with_name("karate.tar.gz.json").read_bytes())["sha256"]:
        found.append("the digest is not that of the archive")
    return found


def test_a_killed_process_leaves_nothing_or_a_valid_file(ask, server, tmp_path):
    assert faults_after_kills(ask, server, tmp_path, 8) == []


def test_the_lock_of_a_dead_process_is_free(ask, server, tmp_path):
    kill_in_the_middle(ask, server, tmp_path / "cache" / "suitesparse" / NAME)
    (answer,) = ask()
    assert answer.get("n_nodes") == 34
