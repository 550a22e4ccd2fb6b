"""The command line as a person meets it: run as a program, judged by its output, its exit code and what it leaves."""

import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from shell import said

from graphclust import ResourceLimitError, coreset_sc
from graphclust.faces.cli import main as cli
from graphclust.faces.cli.terminal import in_the_shell
from graphclust.objective.objective import OBJECTIVES
from graphclust.progress import ProgressLine
from graphclust.results.label_files import read_labels

TWO_CLIQUES = "".join(f"{u} {v}\n" for u, v in nx.barbell_graph(6, 0).edges)


@pytest.fixture
def edges(tmp_path) -> pathlib.Path:
    path = tmp_path / "cliques.txt"
    path.write_text(TWO_CLIQUES)
    return path


def test_two_cliques_are_found_written_and_reported(capsys, edges, tmp_path):
    code, out, err = said(capsys, "cluster", edges, "-k", 2, "-o", tmp_path / "labels.tsv")
    assert (code, err) == (0, "")
    assert "12 nodes, 31 edges (unweighted) in 2 clusters" in out
    nodes, labels = read_labels(tmp_path / "labels.tsv")
    assert nodes == list(range(12)) and len(set(labels[:6])) == 1 and len(set(labels[6:])) == 1
    code, out, _ = said(capsys, "cluster", edges, "-k", 2, "--report", "json")
    report = json.loads(out)
    assert code == 0 and report["sizes"] == [6, 6] and report["seconds"]["reading"] > 0
    code, out, _ = said(capsys, "info", edges, "--report", "json")
    facts = json.loads(out)
    assert (facts["n_nodes"], facts["n_edges"], facts["n_components"], facts["directions"]["one"]) == (12, 31, 1, 31)


def test_each_objective_wins_by_its_own_figure(capsys):
    """What is asked for is what is reported, beside both figures; each objective wins by its own."""
    words = "--method", "two-step", "--effort", "high", "--report", "json"
    parameters = json.loads(said(capsys, "cluster", "karate", "-k", 2, *words)[1])["parameters"]
    assert (parameters["method"], parameters["effort"]) == ("two-step", "high")
    reports = {}
    for words in ((), ("--resolution", "auto"), ("--resolution", "1"), ("--objective", "normalized_cut")):
        code, out, err = said(capsys, "cluster", "karate", "-k", 6, *words, "--report", "json")
        assert (code, err) == (0, "")
        reports[words] = json.loads(out)
    auto, plain, cut = (reports[words] for words in list(reports)[1:])
    same = {"labels", "objective", "resolution", "natural_range", "normalized_cut", "modularity", "sizes"}
    assert all(reports[()].get(name) == auto.get(name) for name in same)
    assert [report["objective"] for report in (auto, plain, cut)] == ["modularity", "modularity", "normalized_cut"]
    lowest, highest = auto["natural_range"]
    assert lowest <= auto["resolution"] <= highest and plain["resolution"] == 1.0 and cut["resolution"] is None
    assert cut["normalized_cut"] < plain["normalized_cut"] and cut["modularity"] < plain["modularity"]
    assert plain["modularity"] >= auto["modularity"] and plain["sizes"] != cut["sizes"]


def test_the_page_names_the_objective_and_gives_both_figures(capsys):
    page = said(capsys, "cluster", "karate", "-k", 4, "--objective", "constant_potts", "--resolution", "0.05")[1]
    assert re.search(r"normalized cut +\d\.\d+", page) and re.search(r"modularity +0\.\d+", page)
    assert "made for         the constant Potts model at resolution 0.05; 4 clusters are natural from" in page
    page = said(capsys, "cluster", "karate", "-k", 4, "--objective", "normalized_cut")[1]
    assert "made for         a small normalized cut\n" in page


def test_the_help_shows_objective_and_resolution_by_examples(capsys):
    words = " ".join(said(capsys, "cluster", "--help")[1].split())
    assert f"--objective {{{','.join(OBJECTIVES)}}}" in words
    assert "--resolution auto|NUMBER" in words
    commands = re.findall(r"^  graphclust (cluster karate(?: \S+)*)  ", said(capsys, "cluster", "--help")[1], re.M)
    assert len(commands) == 3
    for command in commands:
        assert said(capsys, *command.split())[0] == 0


def test_same_seed_same_labels_and_another_seed_others(capsys, tmp_path):
    path = tmp_path / "no-blocks.txt"
    path.write_text("".join(f"{u} {v}\n" for u, v in nx.gnp_random_graph(150, 0.05, seed=518).edges))
    found = []
    for run, seed in enumerate((7, 7, 0, 1, 2)):
        labels = tmp_path / f"{run}.npz"
        arguments = "-k", 20, "--method", "two-step", "--effort", "low", "--seed", seed, "-o", labels
        assert said(capsys, "cluster", path, *arguments)[0] == 0
        found.append(read_labels(labels)[1].tolist())
    assert found[0] == found[1] and any(labels != found[0] for labels in found[2:])


def test_without_k_the_suggestion_is_taken(capsys):
    code, out, _ = said(capsys, "cluster", "karate")
    assert code == 0 and "in 2 clusters" in out and "k was not given, 2 was taken: the graph shows no number" in out


def test_classic_by_name_unless_a_file_has_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "34 nodes, 78 edges" in said(capsys, "cluster", "karate", "-k", 2)[1]
    assert "the weights that NetworkX gives" in said(capsys, "info", "karate")[1]
    assert "weights that NetworkX" not in said(capsys, "info", "davis")[1]
    pathlib.Path("karate").write_text(TWO_CLIQUES)
    assert "12 nodes, 31 edges" in said(capsys, "cluster", "karate", "-k", 2)[1]


@for_each(
    "words, code, message",
    [
        ("cluster missing.txt -k 2", 1, "No such file or directory: missing.txt"),
        ("cluster karate 2", 1, "No such file or directory: 2; a number of parts is asked for by -k 2"),
        ("cluster karate -k abc", 2, "invalid int value: 'abc'"),
        ("cluster karate -k 0", 2, "-k 0 is out of range"),
        ("cluster karate -k 35 -o labels.tsv", 2, "k=35 is more than the 34 nodes"),
        ("cluster", 2, "the following arguments are required: FILE"),
        ("cluster karate -k 2 --fast", 2, "unrecognized arguments: --fast"),
        ("cluster karate -k 2 --seed -1", 2, "--seed -1"),
        ("cluster karate -k 2 --coreset-size 1", 2, "--coreset-size 1"),
        ("cluster karate -k 2 -o nowhere/labels.tsv", 2, "there is no folder nowhere"),
        ("cluster karate -k 2 -o l.doc", 2, "-o 'l.doc' ends in '.doc', expected a name in .tsv"),
        ("cluster karate -k 2 -o labels", 2, "-o 'labels' has no ending, expected a name in .tsv"),
        ("cluster . -k 2", 1, ". is a directory"),
        (["info", ""], 1, "the path of the graph file is empty"),
        ("info a\0b", 1, "NUL"),
        ("", 2, "command"),
        ("cluster karate -k 2 --objective cut", 2, "argument --objective: invalid choice: 'cut'"),
        ("cluster karate -k 2 --resolution high", 2, "argument --resolution: 'high' is neither 'auto' nor a number"),
        ("cluster karate -k 2 --resolution -1", 2, "--resolution -1.0 is out of range, expected a finite number > 0"),
        ("cluster karate -k 2 --resolution nan", 2, "--resolution nan is out of range"),
        ("cluster karate -k 2 --objective ratio_cut --resolution 2", 2,
         "--resolution 2.0 is not an option of objective 'ratio"),
        ("cluster karate -k 2 --method paper --resolution 2", 2, "--resolution 2.0 is not an option of method 'paper'"),
        ("cluster karate -k 2 --method paper --objective modularity", 2,
         "--objective modularity is not what method 'paper' is"),
        ("cluster karate -k 2 --method multilevel --coreset-size 5", 2,
         "--coreset-size 5 is not an option of method 'multilevel'"),
        ("path karate --to 9 --min-size 5", 2, "--min-size <= 4 or k <= 6"),
        ("path karate --from 0", 2, "--from 0 is out of range"),
        ("path karate --from 5 --to 3", 2, "--to 3 is less than --from 5"),
        ("path karate --to 35", 2, "--from and --to ask for k = 35, more than the 34 nodes of G with edges"),
        (["cluster", "karate", "-k", 2, "--html", ""], 2, "the name of a file to write is empty"),
        ("cluster karate -k 2 --html -", 2, "only -o and --permutation write to standard output"),
        ("hierarchy karate --html -", 2, "only -o and --permutation write to standard output"),
        ("hierarchy karate --levels 0", 2, "--levels 0 is out of range"),
        ("partition karate", 2, "graphclust cluster, without -k, takes the number that the graph shows"),
        ("partition karate -k 2 --reordered -", 2, "--reordered '-' ends in none of .mtx"),
        ("partition karate -k 2 -o - --permutation -", 2, "both name standard output"),
    ],
)  # fmt: skip
def test_what_is_impossible_is_one_line_on_stderr_and_leaves_nothing(
    capsys, tmp_path, monkeypatch, words, code, message
):
    monkeypatch.chdir(tmp_path)
    ended, out, err = said(capsys, *(words.split() if isinstance(words, str) else words))
    assert (ended, out, err.count("\n")) == (code, "", 1)
    assert message in err and "Traceback" not in err and "format" not in err.replace("--format", "")
    assert re.search(r"\w=", err.replace("k=", "")) is None and os.listdir(tmp_path) == []


def test_info_tells_all_faults_of_an_edge_list(capsys, tmp_path):
    broken = tmp_path / "e.txt"
    broken.write_text("# edges\n0 1\n1\n1 2\nx 2\n2 0\n0 3 4\n")
    code, out, err = said(capsys, "info", broken)
    assert (code, out) == (1, "")
    assert [re.search(r"line (\d)", line)[1] for line in err.splitlines()] == ["3", "5", "7"]
    assert err.count(f"graphclust: {broken}, line") == 3
    broken.write_text("0 1 5\n1 2\n1 2 -1\n0 2 3\n")
    *_, last = said(capsys, "info", broken)[2].splitlines()
    assert last.startswith(f"graphclust: {broken}: 1 negative weight")
    broken.write_text("# edges\n0 1 2 3 4\n1 2\n")
    assert said(capsys, "info", broken)[2].count("\n") == 1


def test_advice_is_in_the_words_of_the_shell(capsys, edges, tmp_path):
    crumb = tmp_path / "crumb.txt"
    crumb.write_text(TWO_CLIQUES.replace("5 6\n", "") + "20 21\n" + "".join(f"{u} {u + 1}\n" for u in range(30, 190)))
    assert "--components all searches all" in said(capsys, "cluster", crumb, "-k", 2)[1]
    wide = tmp_path / "wide.mtx"
    wide.write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 3\n1 1\n1 2\n2 3\n")
    code, _, err = said(capsys, "info", wide)
    assert code == 1 and "--bipartite" in err
    assert "5 nodes, 3 edges" in said(capsys, "cluster", wide, "-k", 2, "--bipartite")[1]
    target = tmp_path / "labels.tsv"
    target.write_text("precious")
    assert "overwrite it with --force" in said(capsys, "cluster", edges, "-k", 2, "-o", target)[2]
    assert target.read_text() == "precious"
    assert said(capsys, "cluster", edges, "-k", 2, "-o", target, "--force")[0] == 0
    assert len(read_labels(target)[1]) == 12


@pytest.mark.parametrize(
    ("name", "text", "options", "words"),
    [
        ("g.txt", "1 2 -1\n2 3 1\n", [], ["pass --weights ignore to", "or --weights abs for"]),
        ("g.csv", "a,b,1\nb,c,2\n", [], ["pass --weights file if it is, --weights ignore if it is not"]),
        ("g.txt", "1 2 3 4 5\n1 2\n", [], ["--format metis", "as in --source 0, --target 1"]),
        ("g.txt", "1 2\na b\n", [], ["pass --format csv"]),
        ("g.mtx", "%%MatrixMarket matrix coordinate real general\n999 999 1\n1 2 3\n", ["--memory-limit", 100],
         ["pass a larger --memory-limit", "but --memory-limit is"]),
        ("g.mtx", "%%MatrixMarket matrix array real general\n1 1\n3\n", [], ["coordinate required"]),
        ("g.txt", "1 2\n2 3\n", ["--source", "a"], ["--source is given and --target is not"]),
        ("g.txt", "1 2\n2 3\n", ["--max-bytes", 3], ["holds more than --max-bytes 3 bytes", "raise --max-bytes"]),
        ("g.txt", "1 2\n2 3\n", ["--max-bytes", 0], ["--max-bytes 0 is out of range"]),
        ("g.mtx", "x y\n", [], ["use --format snap", "or --format csv"]),
    ],
)  # fmt: skip
def test_errors_and_notes_speak_of_options(capsys, tmp_path, name, text, options, words):
    (tmp_path / name).write_text(text)
    _, out, err = said(capsys, "info", tmp_path / name, *options)
    for word in words:
        assert word in out + err
    python = re.compile(r"\w=|\"(abs|ignore|file)\"|'(csv|snap|metis)'|as_graph|scipy|memory_limit|max_bytes")
    assert python.search((out + err).replace(str(tmp_path), "")) is None, out + err


def test_want_of_memory_names_the_options_that_help(capsys):
    with pytest.raises(ResourceLimitError, match="pass a larger memory_limit") as error:
        coreset_sc(nx.barbell_graph(6, 0), 2, memory_limit=999)
    assert in_the_shell(str(error.value)).endswith("; pass a smaller --coreset-size or another --method")
    _, out, _ = said(capsys, "cluster", "--help")
    assert "--coreset-size" in out and "--method" in out


def test_a_file_without_a_command_is_told_one(capsys, tmp_path, monkeypatch):
    (tmp_path / "edges.csv").write_text("a,b\n")
    code, _, err = said(capsys, tmp_path / "edges.csv")
    assert code == cli.WRONG_USE and f"as in graphclust cluster {tmp_path / 'edges.csv'} (see" in err
    monkeypatch.chdir(tmp_path)
    (tmp_path / "info").write_text("a,b\n")
    assert cli.main(["info", "karate"]) == 0  # a file of that name stands in no command's way


def test_an_unknown_option_is_told_the_one_that_is_meant(capsys):
    for words, meant in {"--max_size 9": "--max-size", "--node_weight 3": "--node-weight", "--k 2": "-k"}.items():
        said_of_it = f"unrecognized arguments: {words}, did you mean {meant}? (see graphclust cluster --help)\n"
        code, _, err = said(capsys, "cluster", "karate", *words.split())
        assert (code, err) == (cli.WRONG_USE, f"graphclust cluster: {said_of_it}")


def test_help_and_version_import_nothing_slow_and_touch_no_cache():
    script = """
import contextlib, io, sys
touched = []
sys.addaudithook(lambda what, of: touched.append(of) if what in ("os.mkdir", "tempfile.mkdtemp") or (
    what == "open" and str(of[0]).endswith((".nbi", ".nbc"))) else None)
import graphclust.faces.cli.main as cli
for words in ([], ["--help"], ["--version"], ["no-command"]):
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as out, \
            contextlib.redirect_stderr(out):
        cli.main(words)
    assert "graphclust" in out.getvalue()
print([name for name in ("numpy", "numba", "scipy", "networkx") if name in sys.modules], touched)
"""
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[] []\n"


def test_a_fault_of_ours_is_one_line_too(capsys, monkeypatch):
    def broken(*_, **__):
        raise AssertionError("seven is no prime")

    monkeypatch.setattr("graphclust.io.load.classic_graph", broken)
    code, _, err = said(capsys, "info", "karate")
    assert code == 1 and err.count("\n") == 1 and "AssertionError: seven is no prime" in err
    assert "Traceback" in said(capsys, "info", "karate", "--debug")[2]


def test_the_input_is_never_overwritten(capsys, edges, tmp_path):
    (tmp_path / "link.tsv").symlink_to(edges)
    for target in (edges, tmp_path / "." / "cliques.txt", tmp_path / "link.tsv"):
        code, _, err = said(capsys, "cluster", edges, "-k", 2, "-o", target, "--force")
        assert code == 2 and "is the input file" in err
    assert edges.read_text() == TWO_CLIQUES


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["head -1", "head -4", "true"])
def test_a_reader_may_leave_at_any_time(tmp_path, reader):
    """Whether the pipe was closed before the end is a matter of microseconds: the exit code is that of work done."""
    target = tmp_path / "labels.tsv"
    command = f"{sys.executable} -m graphclust cluster karate -k 2 -o {target} | {reader}; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "") and len(read_labels(target)[1]) == 34
    assert ended.stdout.startswith("34 nodes") or reader == "true"


def test_a_reader_who_leaves_ends_the_work_that_is_left(capsys, monkeypatch):
    pages = []

    def demo(**_):
        for page in range(3):
            pages.append(page)
            yield "page"

    def gone(*_, **__):
        raise BrokenPipeError

    monkeypatch.setattr("graphclust.faces.cli.first_steps.demo", demo)
    monkeypatch.setattr("builtins.print", gone)
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    monkeypatch.setattr(sys.stdout, "fileno", lambda: 1, raising=False)
    assert cli.main(["demo"]) == 0 and pages == [0]


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", ["info karate", "cluster karate -k 2 -o -"])
def test_a_closed_or_full_stdout_ends_with_one_message(arguments, unbuffered):
    command = f"PYTHONUNBUFFERED={unbuffered} {sys.executable} -m graphclust {arguments}"
    full = "graphclust: cannot write to standard output: No space left on device\n"
    for target, message in ((">&-", ""), (">/dev/full", full)):
        ended = subprocess.run(["bash", "-c", f"{command} {target}"], capture_output=True, text=True, timeout=60)
        assert ended.returncode == 1 and ended.stderr.endswith(message) and ended.stderr.count("\n") == bool(message)


# A shell lets what it starts in the background ignore SIGINT.
READY = """
import signal, sys, graphclust.faces.cli.main, graphclust.partition.coreset_sc
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
sys.exit(graphclust.faces.cli.main.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_interrupt_ends_within_two_seconds_with_130(tmp_path):
    large = tmp_path / "large.txt"
    ends = np.random.default_rng(518).integers(0, 200_000, (200_000, 2)).tolist()
    large.write_text("".join(f"{u}\t{v}\n" for u, v in ends) * 40)
    small = tmp_path / "small.txt"  # first, so that nothing is left to be compiled: a compilation cannot be interrupted
    small.write_text("".join(f"{u}\t{(u + step) % 500}\n" for u in range(500) for step in (1, 2, 3)))
    warm = [sys.executable, "-m", "graphclust", "cluster", small, "-k", "5", "--coreset-size", "100"]
    subprocess.run(warm, capture_output=True, check=True)
    process = subprocess.Popen(
        [sys.executable, "-c", READY, "cluster", large, "-k", "5000", "--coreset-size", "100000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - start < 2.0
    assert process.returncode == 130 and err.endswith("graphclust: interrupted\n") and "Traceback" not in err


INTERRUPTED_CALLBACK = """
import signal, sys
from numba.core.codegen import CPUCodeLibrary

signal.signal(signal.SIGINT, signal.default_int_handler)
original = CPUCodeLibrary._object_getbuffer_hook.__func__
calls = 0

def interrupted(cls, module):
    global calls
    calls += 1
    if calls == 2:
        signal.raise_signal(signal.SIGINT)
    return original(cls, module)

CPUCodeLibrary._object_getbuffer_hook = classmethod(interrupted)
import graphclust.faces.cli.main
from graphclust.compiled.runtime.loops import start_compiler
start_compiler()
status = graphclust.faces.cli.main.main(["cluster", "karate", "-k", "2"])
assert calls >= 2, calls
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
sys.exit(status)
"""


def test_interrupt_within_a_callback_of_the_compiler_is_delivered_after_it():
    """Raised inside the callback it would be lost there, and the loop without code would crash the process."""
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED_CALLBACK], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 130 and ended.stderr.endswith("graphclust: interrupted\n"), ended.stderr


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_line_waits_a_second_and_is_wiped_and_nothing_of_it_goes_to_a_file(is_terminal):
    stream, times = io.StringIO(), iter([0.0, 0.9, 1.1, 2.5])
    stream.isatty = lambda: is_terminal
    line = ProgressLine(stream, lambda: next(times))
    line("reading", 1, 4)
    assert stream.getvalue() == ""
    line("reading", 1, 4)
    line("downloading", 25 << 20, 50 << 20)
    shown = stream.getvalue()
    assert (shown.startswith("\rreading") and "25%" in shown and "downloading 50.0 MiB" in shown) == is_terminal
    line.clear()
    assert stream.getvalue().endswith("\r") == is_terminal == bool(stream.getvalue())


def test_demo_shows_both_graphs(capsys):
    code, out, err = said(capsys, "demo")
    assert (code, err) == (0, "")
    assert "50,000 nodes" in out and "34 nodes, 78 edges" in out
    indices = [float(line.rsplit(" ", 1)[1]) for line in out.splitlines() if "ARI against" in line]
    assert len(indices) == 2 and indices[0] > 0.9 and indices[1] > 0.5


def test_real_files_are_clustered_or_refused_with_a_remedy(capsys, data_folder):
    enron = data_folder / "files" / "edgelists" / "email-Enron.txt.gz"
    code, out, _ = said(capsys, "cluster", enron, "-k", 10)
    assert code == 0 and "36,692 nodes, 183,831 edges" in out
    bus = data_folder / "files" / "matrixmarket" / "nist" / "1138_bus.mtx.gz"
    code, _, err = said(capsys, "cluster", bus, "-k", 5)
    assert code == 1 and "negative" in err and "abs" in err
    assert said(capsys, "cluster", bus, "-k", 5, "--weights", "abs")[0] == 0
