"""What is written to pipes and devices, and read from them: straight, and never in their place."""

import os
import subprocess
import sys
import threading

import networkx as nx
import pytest

from graphclust import load_graph, read_labels, save_graph, write_labels
from graphclust.errors import ParameterError
from graphclust.faces.cli import main as cli
from graphclust.io.atomic_write import check_target, is_pipe
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


def run(command: str, folder) -> subprocess.CompletedProcess:
    words = ["bash", "-c", command.replace("graphclust ", f"{sys.executable} -m graphclust ")]
    return subprocess.run(words, capture_output=True, text=True, timeout=100, cwd=folder)


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
