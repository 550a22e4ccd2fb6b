"""Conversions: whatever the memory and however often they are killed, the store holds what `load_graph` reads."""

import gzip
import os
import signal
import sys
import tarfile

import numpy as np
import pytest
from cases import refuses
from graph_files import BANNER, same_csr, told
from shell import run_apart

from graphclust import (
    GraphFormatError,
    GraphValidationError,
    ParameterError,
    ResourceLimitError,
    convert_to_store,
    load_graph,
    save_graph,
)
from graphclust.io.store import convert as module
from graphclust.io.store.edge_streams import read_parts

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
LITTLE = 6_000  # bytes for keys: a few hundred entries at a time


def random_lines(n: int, n_lines: int, seed: int, *, weights: bool = False, spread: int = 1, first: int = 0) -> str:
    """Edges with repetitions, both directions, self-loops, zero weights, in no order."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(n, size=(n_lines, 2)) * spread + first
    ends[: n_lines // 4] = ends[n_lines // 4 : n_lines // 2][: n_lines // 4, ::-1]
    ends[-5:, 1] = ends[-5:, 0]
    ends[-12:-5] = ends[:7]
    if not weights:
        return "".join(f"{u} {v}\n" for u, v in ends.tolist())
    values = rng.integers(0, 9, n_lines) * 0.1
    return "".join(f"{u}\t{v}\t{w!r}\n" for (u, v), w in zip(ends.tolist(), values.tolist(), strict=True))


def matrix(n: int, n_entries: int, seed: int, symmetry: str) -> str:
    rng = np.random.default_rng(seed)
    pairs = np.unique(np.sort(rng.integers(n, size=(n_entries, 2)), axis=1), axis=0)[:, ::-1] + 1
    rows = "".join(f"{u} {v} {1 + (u * v) % 7}\n" for u, v in pairs.tolist())
    return BANNER.replace("general", symmetry) + f"% a comment\n{n} {n} {len(pairs)}\n{rows}"


FILES = {
    "list.txt": (random_lines(200, 900, 1), {}),
    "weighted.tsv": (random_lines(150, 900, 2, weights=True), {"weights": "file"}),
    "often.tsv": (random_lines(20, 400, 12, weights=True), {"weights": "file"}),
    "summed.tsv": (random_lines(150, 900, 3, weights=True), {"weights": "file", "symmetrize": "sum"}),
    "sum-of-ones.txt": (random_lines(150, 700, 4), {"symmetrize": "sum"}),
    "ignored.tsv": (random_lines(150, 700, 5, weights=True), {"weights": "ignore"}),
    "gaps.txt": (random_lines(60, 800, 6, spread=3, first=5), {}),
    "far.txt": (random_lines(60, 800, 7, spread=10**9, first=2**40), {}),
    "header.csv": ("source,target\n" + random_lines(50, 300, 8).replace(" ", ","), {}),
    "ones.csv": ("0,1,1\n1,2,1\n2,0,1\n", {"weights": "file"}),
    "text.csv": ("anna,bob\nbob,carl\n", {}),
    "general.mtx": (matrix(120, 800, 9, "general"), {}),
    "symmetric.mtx": (matrix(120, 800, 10, "symmetric"), {}),
    "bipartite.mtx": (matrix(60, 400, 11, "general"), {"bipartite": True}),
    "ring.graph": ("3 3\n2 3\n1 3\n1 2\n", {}),
    "from-0.txt": ("3 4\n0 1\n1 2\n2 3\n0 3\n", {}),  # no count of the nodes, which are four
    "may-be-metis.txt": ("3 3\n2 3\n1 3\n1 2\n", {}),
}


@pytest.fixture
def small_steps(monkeypatch):
    """Blocks of some kilobytes, and a note after every second one."""
    monkeypatch.setattr("graphclust.io.text.byte_source.BLOCK", 1 << 10)
    monkeypatch.setattr(module, "BLOCKS_PER_NOTE", 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_any_number_of_buckets_makes_the_graph_that_is_loaded(tmp_path, name, small_steps):
    text, options = FILES[name]
    path = tmp_path / name
    path.write_text(text)
    (graph, info), _ = told(lambda: load_graph(path, return_info=True, **options))
    _, said = told(lambda: load_graph(path, **options))
    for limit in (LITTLE, 10**6):
        store, said_here = told(lambda: convert_to_store(path, tmp_path / f"{limit}", memory_limit=limit, **options))  # noqa: B023
        assert same_csr(store, graph) and said_here == said and store.remarks == graph.remarks == info.remarks
        assert (store.nodes is None) == (graph.nodes is None)
        assert graph.nodes is None or list(store.nodes) == list(graph.nodes)
        assert same_csr(load_graph(tmp_path / f"{limit}"), graph), "passes the full check"
    assert sorted(os.listdir(tmp_path)) == sorted([f"{LITTLE}", f"{10**6}", name])


def test_archives_and_stores_are_sources_too(tmp_path):
    (tmp_path / "g.txt").write_text(random_lines(200, 900, 1))
    graph = load_graph(tmp_path / "g.txt")
    save_graph(tmp_path / "g.npz", graph)
    source = tmp_path / "g.npz"
    for target in ("a", "b"):
        assert same_csr(convert_to_store(source, tmp_path / target), graph)
        source = tmp_path / target
    with pytest.raises(ParameterError, match="is a store, and format='snap' is for other files"):
        convert_to_store(source, tmp_path / "c", format="snap")
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "g.npz", "g.txt"]


def test_rows_and_columns_of_an_archive_of_suitesparse_are_different_nodes(tmp_path):
    (tmp_path / "g.mtx").write_text(matrix(60, 400, 11, "general"))
    with tarfile.open(tmp_path / "g.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "g.mtx", "g/g.mtx")
    store = convert_to_store(tmp_path / "g.tar.gz", tmp_path / "g", bipartite=True)
    assert store.n_nodes == 120 and same_csr(store, load_graph(tmp_path / "g.mtx", bipartite=True))


def test_a_file_that_unpacks_to_more_than_allowed_is_refused(tmp_path):
    with gzip.open(tmp_path / "g.txt.gz", "wt") as file:
        file.write("1 2\n2 3\n")
    with pytest.raises(ResourceLimitError, match="holds more than max_bytes=7 bytes"):
        convert_to_store(tmp_path / "g.txt.gz", tmp_path / "g", max_bytes=7)
    assert convert_to_store(tmp_path / "g.txt.gz", tmp_path / "g", max_bytes=8).n_edges == 2
    with pytest.raises(ParameterError, match="max_bytes=0 is out of range"):
        convert_to_store(tmp_path / "g.txt.gz", tmp_path / "h", max_bytes=0)


@pytest.mark.parametrize("limit", [None, LITTLE])
def test_a_header_that_claims_more_nodes_than_its_file_can_need_is_refused_as_by_load_graph(tmp_path, limit):
    claim = 2**31 - 1
    (tmp_path / "g.mtx").write_text(f"{BANNER.replace('real', 'pattern')}{claim} {claim} 1\n1 2\n")
    for read in (load_graph, lambda path, **options: convert_to_store(path, tmp_path / "g", **options)):
        with pytest.raises(ResourceLimitError, match=rf"g\.mtx: {claim} nodes .*; pass a larger memory_limit"):
            read(tmp_path / "g.mtx", memory_limit=limit)
    assert os.listdir(tmp_path) == ["g.mtx"]


def test_a_limit_allows_more_nodes_where_it_is_given(tmp_path, monkeypatch):
    monkeypatch.setattr("graphclust.io.edges.FLOOR_BYTES", 1 << 10)  # of a file of any size, so that it can be small
    (tmp_path / "g.mtx").write_text(BANNER + "3000 3000 1\n1 2 3\n")
    with pytest.raises(ResourceLimitError, match="3000 nodes need about 120000 bytes"):
        convert_to_store(tmp_path / "g.mtx", tmp_path / "g")
    assert convert_to_store(tmp_path / "g.mtx", tmp_path / "g", memory_limit=120_000).n_nodes == 3000


def test_a_limit_too_little_for_the_nodes_leaves_what_another_call_goes_on_with(tmp_path):
    (tmp_path / "g.txt").write_text(random_lines(200, 900, 1))
    refuses(ResourceLimitError, "too little for", convert_to_store, tmp_path / "g.txt", tmp_path / "g", memory_limit=10)
    assert (tmp_path / "g.partial" / "lines").exists()
    assert same_csr(convert_to_store(tmp_path / "g.txt", tmp_path / "g"), load_graph(tmp_path / "g.txt"))


def test_weights_out_of_range_are_refused_with_the_path(tmp_path):
    (tmp_path / "g.mtx").write_text(BANNER + "3 3 1\n1 2 1e-320\n")
    for read in (load_graph, lambda path: convert_to_store(path, tmp_path / "g")):
        refuses(GraphValidationError, r"g\.mtx: degree overflow or underflow", read, tmp_path / "g.mtx")


def test_many_buckets_are_used(tmp_path, monkeypatch):
    (tmp_path / "g.txt").write_text(random_lines(200, 900, 1))
    seen = []
    buckets = module._buckets
    monkeypatch.setattr(module, "_buckets", lambda *given: seen.append(buckets(*given)) or seen[-1])
    convert_to_store(tmp_path / "g.txt", tmp_path / "g", memory_limit=LITTLE)
    (first_rows,) = seen
    assert 5 < len(first_rows) < 12 and first_rows[0] == 0
    graph = load_graph(tmp_path / "g.txt")
    assert np.diff([*first_rows, graph.n_nodes]).min() > 0


class Stopped(Exception):
    pass


@pytest.mark.parametrize("name", ["list.txt", "weighted.tsv", "gaps.txt", "far.txt", "symmetric.mtx"])
def test_a_stopped_conversion_goes_on_where_it_was(tmp_path, name, small_steps):
    text, options = FILES[name]
    path = tmp_path / name
    path.write_text(text)
    expected, _ = told(lambda: load_graph(path, **options))
    steps, stages = ["reading", "sorting into buckets", "writing the rows"], set()
    reached = 0
    for n_steps in range(1, 200):  # stops later and later, each time taking up what the last one left
        calls = []

        def listener(stage, done, total):
            calls.append(stage)  # noqa: B023
            if len(calls) >= n_steps:  # noqa: B023
                stages.add(stage)
                raise Stopped

        try:
            store, _ = told(
                lambda: convert_to_store(path, tmp_path / "g", memory_limit=LITTLE, progress=listener, **options)
            )
            break
        except Stopped:
            assert sorted(os.listdir(tmp_path)) == sorted(["g.partial", name])
            assert steps.index(calls[0]) >= reached  # no step is done again once another has begun
            reached = steps.index(calls[-1])
    assert stages == {*steps}
    assert same_csr(store, expected)
    assert sorted(os.listdir(tmp_path)) == sorted(["g", name])


KILLED = """
import os, signal, sys
import graphclust
from graphclust.io.store import convert as module
from graphclust.io.text import byte_source
byte_source.BLOCK, module.BLOCKS_PER_NOTE = 1 << 10, 2
for left in map(int, sys.argv[1:]):  # of the calls of os.fsync, the one that this process, forked from one, dies in
    if (child := os.fork()) == 0:
        to_disk = os.fsync
        def fsync(handle):
            global left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            to_disk(handle)
        os.fsync = fsync
        graphclust.convert_to_store("g.txt", "g", memory_limit=6_000)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), os.path.exists("g"))
"""


@pytest.mark.slow
def test_a_killed_conversion_goes_on_where_it_was(tmp_path):
    (tmp_path / "g.txt").write_text(random_lines(200, 900, 1))
    left = [str(i * i) for i in range(1, 22)]
    ended = run_apart([sys.executable, "-W", "ignore", "-c", KILLED, *left], tmp_path)
    assert ended.returncode == 0, ended.stderr
    outcomes = ended.stdout.splitlines()
    assert outcomes.count(f"{-signal.SIGKILL} False") >= 4, outcomes
    assert "0 True" in outcomes and "0 False" not in outcomes
    assert same_csr(load_graph(tmp_path / "g"), load_graph(tmp_path / "g.txt"))


def test_a_file_that_has_changed_is_converted_anew(tmp_path):
    def stop(stage, done, total):
        if stage == "writing the rows":
            raise Stopped

    for lines in ("0 1\n1 2\n", "0 1\n1 2\n2 3\n"):
        (tmp_path / "g.txt").write_text(lines)
        if len(lines) < 10:
            refuses(Stopped, None, convert_to_store, tmp_path / "g.txt", tmp_path / "g", progress=stop)
    assert convert_to_store(tmp_path / "g.txt", tmp_path / "g").n_edges == 3


def test_compressed_files_are_read_again_from_their_beginning(tmp_path, small_steps):
    with gzip.open(tmp_path / "g.txt.gz", "wt") as file:
        file.write(random_lines(200, 900, 1))

    def stop(stage, done, total):
        if os.path.exists(tmp_path / "g.partial" / "lines") and os.path.getsize(tmp_path / "g.partial" / "lines"):
            raise Stopped

    refuses(Stopped, None, convert_to_store, tmp_path / "g.txt.gz", tmp_path / "g", progress=stop)
    assert same_csr(convert_to_store(tmp_path / "g.txt.gz", tmp_path / "g"), load_graph(tmp_path / "g.txt.gz"))


def test_a_faulty_file_leaves_nothing(tmp_path):
    for text, options, kind, words in (
        ("0 1\n1 x\n", {}, GraphFormatError, "line 2"),
        ("0 1 2\n1 2 -3\n", {}, GraphValidationError, "negative"),
        ("0 1\n1 0\n1 2\n", {"symmetrize": None}, GraphValidationError, "not symmetric"),
        (BANNER + "2 2 3\n1 2 1\n", {}, GraphFormatError, "declares"),
        (BANNER.replace("general", "symmetric") + "2 2 2\n1 2 1\n2 1 1\n", {}, GraphFormatError, "both triangles"),
        ("# nothing\n", {}, GraphValidationError, "no edges"),
    ):
        (tmp_path / "g").write_text(text)
        refuses(kind, words, convert_to_store, tmp_path / "g", tmp_path / "s", **options)
        assert os.listdir(tmp_path) == ["g"]
    (tmp_path / "g").write_text("0 1\n")
    assert convert_to_store(tmp_path / "g", tmp_path / "s", symmetrize=None).n_edges == 1


def test_too_little_memory_is_refused_before_sorting(tmp_path):
    (tmp_path / "g.txt").write_text("".join(f"0 {v}\n" for v in range(1, 1000)))
    with pytest.raises(ResourceLimitError, match=r"up to 999 in a row, expected at least 19980"):
        convert_to_store(tmp_path / "g.txt", tmp_path / "g", memory_limit=5000)
    assert convert_to_store(tmp_path / "g.txt", tmp_path / "g", memory_limit=19980).n_edges == 999


def test_one_conversion_at_a_time(tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n")

    def again(stage, done, total):
        refuses(ParameterError, "another process", convert_to_store, tmp_path / "g.txt", tmp_path / "g")

    assert convert_to_store(tmp_path / "g.txt", tmp_path / "g", progress=again).n_edges == 1
    refuses(FileExistsError, None, convert_to_store, tmp_path / "g.txt", tmp_path / "g")
    assert convert_to_store(tmp_path / "g.txt", tmp_path / "g", overwrite=True).n_edges == 1


@pytest.mark.slow
def test_a_full_disk_is_named_and_the_work_kept(tmp_path):
    (tmp_path / "g.txt").write_text(random_lines(2000, 9000, 1))
    limited = (
        "import resource, graphclust\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "graphclust.convert_to_store('g.txt', 'g')"
    )
    ended = run_apart([sys.executable, "-c", limited], tmp_path)
    assert "g.partial: File too large; make room and convert again" in ended.stderr
    n_kept = sum(len(part[0]) for part, _ in read_parts(str(tmp_path / "g.partial" / "lines")) if part[0].size)
    assert n_kept > 0 and not os.path.exists(tmp_path / "g")
    assert same_csr(convert_to_store(tmp_path / "g.txt", tmp_path / "g"), load_graph(tmp_path / "g.txt"))
