"""Writers that are killed at random moments leave what was there, or what they were to write, whole."""

import hashlib
import os
import pathlib
import random
import signal
from collections import Counter

import http_faults as faults
import networkx as nx
import numpy as np
import pytest
from runners import runner_of

from graphclust import open_store, save_graph
from graphclust.datasets.cache import read_kept_graph
from graphclust.io.store.store import is_store

N_KILLS = 200


@pytest.fixture(scope="module")
def runner():
    """The process that forks, and the names of its writers."""
    with runner_of("writer_runner.py") as runner:
        writers = runner.read()
        yield (lambda **what: runner.ask(what)), writers


def digest(path: pathlib.Path) -> str:
    """What tells contents apart: numbers of stores and archives, else bytes."""
    made = hashlib.sha256()
    if is_store(path):
        graph = open_store(path)
        for array in (graph.indptr, graph.indices, graph.degrees):
            made.update(array.tobytes())
    elif path.suffix == ".npz":
        with np.load(path) as arrays:
            for name in sorted(arrays.files):
                made.update(arrays[name].tobytes())
    else:
        made.update(path.read_bytes())
    return made.hexdigest()


def contents(folder: pathlib.Path, server_files: dict) -> dict[str, str]:
    """What is in a folder under the names that were asked for; in the cache, the files that are there are whole."""
    cache = folder / "cache"
    if cache.exists():
        for file in cache.glob("suitesparse/*/*/*"):
            if file.name.endswith(".tar.gz"):
                assert file.read_bytes() in server_files.values()
            elif file.suffix == ".npz" and not file.name.startswith("."):
                assert read_kept_graph(file) is not None
        return {"cache": "whole"}
    is_store(folder / "s")  # opening it would do as well: it may have to be taken back
    return {
        path.name: digest(path)
        for path in folder.iterdir()
        if not path.name.startswith(".") and not path.name.endswith(".partial")
    }


@pytest.fixture
def place(tmp_path):
    """Old and new sources beside the folders of the writers."""
    for new in (False, True):
        graph = nx.gnm_random_graph(400 + 200 * new, 4_000, seed=new)
        save_graph(tmp_path / f"source{new}.tsv", nx.convert_node_labels_to_integers(graph))
        save_graph(tmp_path / f"source{new}.npz", graph)
    np.save(tmp_path / "points.npy", np.random.default_rng(0).normal(size=(300, 3)))
    return tmp_path


@pytest.mark.slow
def test_two_hundred_kills_of_all_writers_leave_the_old_or_the_new(runner, place):
    ask, writers = runner
    rng, outcomes, n_died = random.Random(518), Counter(), Counter()
    with faults.running() as server:
        header = "%%MatrixMarket matrix coordinate pattern symmetric\n34 34 561\n"
        server.files["/MM/Newman/karate.tar.gz"] = faults.archive(
            "karate", header + "".join(f"{u} {v}\n" for u in range(2, 35) for v in range(1, u))
        )
        known = {}
        for writer in writers:
            folder = place / writer.replace("/", "-")
            folder.mkdir()
            unharmed = {}
            for new in (True, False):
                unharmed[new] = ask(writer=writer, folder=folder, new=new, address=server.address)
                assert unharmed[new]["status"] == 0, (writer, unharmed)
                known[writer, new] = contents(folder, server.files)
            known[writer, "unharmed"] = unharmed
            known[writer, "now"] = False
        for turn in range(N_KILLS):
            writer = writers[turn % len(writers)]
            folder, exchange = place / writer.replace("/", "-"), bool(turn // len(writers) % 2)
            new = not known[writer, "now"]
            if writer == "fetch_suitesparse":
                new = True
                for file in (folder / "cache").glob("suitesparse/*/*/*"):
                    file.unlink()
            unharmed = known[writer, "unharmed"][new]
            when = (
                {"call": rng.randint(1, unharmed["calls"])}
                if turn % 3
                else {"after": rng.uniform(0.0, 1.2 * unharmed["seconds"])}
            )
            ended = ask(writer=writer, folder=folder, new=new, exchange=exchange, **when)
            found = contents(folder, server.files)
            assert found in (known[writer, False], known[writer, True]), (writer, when, sorted(os.listdir(folder)))
            is_new = found == known[writer, True]
            n_died[ended["status"] == signal.SIGKILL] += 1
            outcomes["new" if is_new == new else "old"] += 1
            known[writer, "now"] = is_new
        for writer in writers:
            folder = place / writer.replace("/", "-")
            assert ask(writer=writer, folder=folder, new=True)["status"] == 0
            assert contents(folder, server.files) == known[writer, True]
            assert sorted(os.listdir(folder)) == sorted(known[writer, True]), writer
            assert [path.name for path in folder.rglob(".graphclust-*")] == [], writer
    print(f"{len(writers)} writers, {N_KILLS} kills: {n_died[True]} died; left {dict(outcomes)}")
    assert n_died[True] > 0.6 * N_KILLS and min(outcomes["old"], outcomes["new"]) > 10
