"""What is written goes straight into a pipe, is else there whole or not at all, and says where there is no room."""

import errno
import hashlib
import os
import pathlib
import random
import re
import signal
import sys
import threading
from collections import Counter

import http_faults as faults
import networkx as nx
import numpy as np
import pytest
from runners import runner_of
from shell import run_apart

from graphclust import load_graph, open_store, read_labels, save_graph, write_labels
from graphclust.datasets.cache import read_kept_graph
from graphclust.errors import ParameterError
from graphclust.faces.cli import main as cli
from graphclust.io.atomic_write import check_target, is_pipe, whole_file
from graphclust.io.store.store import is_store
from graphclust.io.text.points import read_points

NO_POINTS = "holds no table of points: it is empty, expected a row of numbers for each point"
TWO_CLIQUES = "".join(f"{u} {v}\n" for u, v in nx.barbell_graph(6, 0).edges)


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def from_the_other_end(pipe, write) -> bytes:
    """What comes out of a pipe while `write` puts it in."""
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write()
    reader.join(timeout=20)
    assert is_pipe(pipe) and len(os.listdir(pipe.parent)) == 1
    return found[0]


def into(pipe, content: bytes) -> threading.Thread:
    writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
    writer.start()
    return writer


def test_labels_and_graphs_go_into_a_pipe(pipe, tmp_path_factory):
    labels = from_the_other_end(pipe, lambda: write_labels(pipe, [0, 1, -1], overwrite=True))
    assert labels == b"node\tcluster\n0\t0\n1\t1\n2\t-1\n"
    assert from_the_other_end(pipe, lambda: save_graph(pipe, nx.path_graph(3))).endswith(b"\n0\t1\n1\t2\n")
    packed = from_the_other_end(pipe, lambda: save_graph(pipe, nx.path_graph(3), format="npz"))
    target = tmp_path_factory.mktemp("unpacked") / "g.npz"
    target.write_bytes(packed)
    assert load_graph(target).n_edges == 2


def test_an_ending_counts_for_a_pipe_too(tmp_path):
    pipe = tmp_path / "labels.csv"
    os.mkfifo(pipe)
    assert from_the_other_end(pipe, lambda: write_labels(pipe, [0, 1])) == b"node,cluster\n0,0\n1,1\n"


def test_labels_and_points_come_out_of_a_pipe(pipe):
    writer = into(pipe, b"node\tlabel\na\t0\nb\t1\n")
    assert read_labels(pipe)[0] == ["a", "b"]
    writer.join()
    writer = into(pipe, b"x\ty\n1\t2\n3\t4.5\n")
    assert read_points(pipe).tolist() == [[1, 2], [3, 4.5]]
    writer.join()


def test_pipes_and_devices_are_told_from_files(pipe):
    assert is_pipe(pipe) and is_pipe("/dev/null")
    assert not any(map(is_pipe, (pipe.parent, __file__, "nowhere", "a\0b")))


def test_a_file_that_is_open_already_is_never_replaced(tmp_path):
    with open(tmp_path / "open", "w") as file:
        name = f"/proc/self/fd/{file.fileno()}"
        with pytest.raises(ParameterError, match="stands for a file that is open already; give that file's own name"):
            check_target(name, overwrite=True)
    check_target(tmp_path / "open", overwrite=True)


def test_a_socket_is_no_output(tmp_path):
    import socket

    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind(str(tmp_path / "plug"))
        with pytest.raises(ParameterError, match="it is a device or a socket, expected the name of a file or a pipe"):
            check_target(tmp_path / "plug", overwrite=True)


def test_the_command_line_reads_and_writes_pipes(capsys, pipe):
    writer = into(pipe, TWO_CLIQUES.encode())
    assert cli.main(["info", str(pipe)]) == 0
    writer.join()
    assert f"file        {pipe}\n" in capsys.readouterr().out
    out = from_the_other_end(pipe, lambda: cli.main(["cluster", "karate", "-k", "2", "-q", "-o", str(pipe)]))
    assert out.startswith(b"node\tcluster\n0\t") and out.count(b"\n") == 35
    out = from_the_other_end(pipe, lambda: cli.main(["convert", "karate", str(pipe), "-q", "--to", "metis"]))
    assert out.startswith(b"34 78\n")
    assert capsys.readouterr() == ("", "")


def run(command: str, folder):
    return run_apart(["bash", "-c", command.replace("graphclust ", f"{sys.executable} -m graphclust ")], folder)


@pytest.mark.slow
def test_commands_pass_graphs_on_through_pipes(tmp_path):
    (tmp_path / "cliques.txt").write_text(TWO_CLIQUES)
    ended = run("graphclust convert cliques.txt - | graphclust cluster - -k 2 -o - | tail -n 12 | cut -f 2", tmp_path)
    labels = ended.stdout.split()
    assert (ended.returncode, ended.stderr) == (0, "") and len(labels) == 12
    assert len(set(labels[:6])) == len(set(labels[6:])) == 1 and labels[0] != labels[6]
    ended = run(
        "graphclust convert karate - --to npz > k.npz; graphclust convert k.npz - --to metis | head -1", tmp_path
    )
    assert (ended.stdout, ended.stderr) == ("34 78\n", "")
    ended = run("graphclust convert karate /dev/stdout > k.txt; graphclust info k.txt | head -2", tmp_path)
    assert ended.stdout == "file        k.txt\nformat      snap\n" and ended.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("graphclust convert karate - | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("graphclust convert karate - --to npz | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("graphclust convert karate - >&-", 1, ""),
        ("graphclust convert karate - >/dev/full", 1, "cannot write to standard output: No space left on device"),
        ("graphclust convert - k.mtx <&-", 1, "standard input is closed, expected a file or a pipe"),
        ("graphclust convert - k.mtx </dev/null", 1, "standard input: is empty, expected a graph"),
        ("graphclust knn - -o k.mtx </dev/null", 1, f"standard input: {NO_POINTS}"),
    ],
)
def test_pipes_that_are_closed_full_or_empty(tmp_path, command, code, words):
    ended = run(command, tmp_path)
    assert (ended.returncode, ended.stdout) == (code, ""), ended.stderr
    assert ended.stderr == (f"graphclust: {words}\n" if words else "")
    assert os.listdir(tmp_path) == []


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
    ended = run_apart([sys.executable, "-c", RUN, *SIZES], tmp_path)
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
    limited = ["bash", "-c", 'ulimit -f 1; exec "$@"', "limited"]
    for prefix, code in (([], 0), (limited, 1)):  # the first run compiles
        ended = run_apart([*prefix, *command, f"{code}.tsv"], tmp_path)
        assert ended.returncode == code, ended.stderr
    assert ended.stderr.startswith("graphclust: cannot write 1.tsv: File too large for about ")
    assert ended.stderr.count("\n") == 1 and sorted(os.listdir(tmp_path)) == ["0.tsv", "g.txt"]


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
