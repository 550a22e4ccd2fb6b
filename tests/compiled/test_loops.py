"""Loops are plain Python until compiling pays, and give the same either way, and under a profiler or a debugger."""

import cProfile
import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from numba import njit

import graphclust
from graphclust import communities, coreset_sc, hierarchy, planted_partition
from graphclust.compiled.graphs import agglomeration as merging
from graphclust.compiled.graphs import cluster_sums
from graphclust.compiled.graphs.csr import check_rows
from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.runtime import loops, random_numbers
from graphclust.compiled.runtime.loop_cache import fingerprint
from graphclust.compiled.runtime.loops import plain, start_compiler
from graphclust.engine import levels
from graphclust.engine.contraction import agglomerate
from graphclust.engine.levels import run_on
from graphclust.objective.objective import additive_objective, ratio_objective, weigh

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="no loop is compiled")


@pytest.mark.parametrize(
    "ask",
    [
        lambda G: communities(G, effort="low", rng=3).labels,
        lambda G: coreset_sc(G, 3, objective="normalized_cut", effort="low", rng=3).labels,
        lambda G: hierarchy(G, max_size=6, effort="low", rng=0).levels,
    ],
)
def test_labels_of_plain_loops_are_those_of_compiled_ones(ask):
    for graph in (nx.karate_club_graph(), nx.connected_caveman_graph(6, 4), nx.gnp_random_graph(40, 0.1, seed=1)):
        graph.remove_nodes_from(list(nx.isolates(graph)))
        with plain():
            of_plain = ask(graph)
        np.testing.assert_equal(of_plain, ask(graph))


def test_numbers_are_counted_in_arrays_within_arrays():
    assert loops.count_numbers((np.zeros((2, 3)), 7, (np.zeros(4), (np.zeros(1), "x")))) == 11


def test_a_loop_stays_plain_for_few_numbers_and_little_time(monkeypatch):
    few, many = (np.zeros(10),), (np.zeros(loops.COMPILED.numbers + 1),)
    monkeypatch.setattr("graphclust.compiled.runtime.loop_cache.are_at_hand", lambda path: False)
    assert not loops.may_stay_plain(check_rows, few), "as the tests are run"
    monkeypatch.delenv("GRAPHCLUST_COMPILE")
    assert loops.may_stay_plain(check_rows, few) and not loops.may_stay_plain(check_rows, many)
    monkeypatch.setattr(loops._Clock, "plain", loops.COMPILED.seconds + 1)
    assert not loops.may_stay_plain(check_rows, few)


def test_a_loop_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(check_rows)) is check_rows


def test_a_loop_that_numba_was_asked_for_runs_where_numba_is_told_not_to_compile():
    code = "from graphclust.compiled.runtime.loops import loop, start_compiler; start_compiler();"
    code += "double = loop()(lambda number: 2 * number); double.dispatcher; print(double(21))"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert ended.stdout == "42\n", ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False])
def test_a_small_graph_is_clustered_without_numba_where_loops_would_be_compiled(kept, tmp_path):
    if kept:
        folder = tmp_path / fingerprint() / "graphs"
        folder.mkdir(parents=True)
        for stem in ("components", "v_cycle", "local_moving"):
            (folder / f"{stem}.loop-1.0.0").touch()
    code = "import sys, networkx as nx, graphclust; G = nx.gnm_random_graph(60, 600, seed=1);"
    code += "graphclust.communities(G, rng=0); print('numba' in sys.modules)"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "GRAPHCLUST_COMPILE": "auto"}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout == f"{kept}\n"


def in_plain_python(values, draws):
    with plain():
        random_numbers.shuffle(values, draws)


@for_each("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
@for_each("shuffle", [random_numbers.shuffle, in_plain_python])
def test_orders_and_draws_are_those_of_numpy(shuffle, bits):
    ours, expected = np.random.Generator(bits(5)), np.random.Generator(bits(5))
    for n in (0, 1, 2, 3, 1000):
        order = np.arange(n, dtype=np.int32)
        shuffle(order, random_numbers.draws_of(ours))
        assert (order == expected.permutation(n)).all()
    assert ours.random() == expected.random()


def test_no_reference_is_lost_or_kept():
    graph, labels = planted_partition(3, 20, 6, 1, rng=0)
    labels, stays = labels.astype(np.int32), np.empty(graph.n_nodes)
    arrays = (*graph.rows, labels, stays)
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(100):
        cluster_sums.weights_to_own(0, graph.n_nodes, 0, graph.rows, labels, stays)
    assert [sys.getrefcount(array) for array in arrays] == before


@pytest.mark.slow
def test_merging_is_the_same_with_counts(monkeypatch):
    ours = "from graphclust.compiled.runtime.loops import INLINED, UNCOUNTED, loop\n"
    counting = "from numba import njit\nINLINED = {}\nloop = lambda **options: njit(**options)\n"
    source = inspect.getsource(merging).replace("@loop(**UNCOUNTED)", "@loop()").replace(ours, counting)
    start_compiler()
    counted: dict = {"__name__": "counted"}
    exec(compile(source, "counted.py", "exec"), counted)
    assert isinstance(counted["merge_pairs"], type(njit(lambda: 0)))
    run = run_on(weigh(planted_partition(10, 50, 8, 2, rng=1).graph, "modularity"))
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    for objective in (additive_objective(run.totals, 10, 1.0), ratio_objective(run.totals)):
        found = agglomerate(run.finest, Task(objective, 10), run)
        with monkeypatch.context() as patch:
            patch.setattr(merging, "merge_pairs", counted["merge_pairs"])
            again = agglomerate(run.finest, Task(objective, 10), run)
        assert np.array_equal(found.labels, again.labels)
        assert np.array_equal(found.sums.inside, again.sums.inside)


def reads(path) -> graphclust.Graph:
    path.write_text("# c\n" + "".join(f"{u} {7_000_000_000 + v}\n" for u in range(40) for v in range(u % 9 + 1)))
    return graphclust.load_graph(path)


def work(tmp_path) -> dict[str, Callable]:
    """Functions that grow, cut and fill arrays, each giving an array to compare."""
    graph = nx.planted_partition_graph(4, 30, 0.4, 0.02, seed=518)
    points = np.random.default_rng(518).normal(size=(400, 3))
    kinds = [{}, {"method": "two-step"}, {"method": "paper"}, {"effort": "high"}]
    return {
        "coreset_sc": lambda: np.concatenate([coreset_sc(graph, 4, rng=0, **kind).labels for kind in kinds]),
        "kmeans": lambda: np.concatenate([
            graphclust.kmeans(points, 5, rng=0).labels, graphclust.kmeans_parallel(points, 5, rng=0).ravel(),
            graphclust.nested_minibatch_kmeans(points, 5, batch_size=50, rng=0).labels,
        ]),
        "kernel_kmeans": lambda: np.concatenate([
            graphclust.kernel_kmeans(points, 3, rng=0).labels,
            graphclust.truncated_kernel_kmeans(points, 3, batch_size=64, max_iter=5, rng=0).labels,
        ]),
        "load_graph": lambda: reads(tmp_path / "g.txt").indices,
    }  # fmt: skip


def profiled(function: Callable):
    with cProfile.Profile():
        return function()


def under(install: Callable, function: Callable):
    """The result while every call, line and return of Python is seen by a tool that looks at all local variables."""
    kept = []

    def look(frame, event, argument):
        if "graphclust" in frame.f_code.co_filename and len(kept) < 100_000:
            kept.append(list(frame.f_locals.values()))
        return look

    before = sys.gettrace() if install is sys.settrace else sys.getprofile()
    install(look)
    try:
        return function()
    finally:
        install(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["coreset_sc", "kmeans", "kernel_kmeans", "load_graph"])
def test_profiling_and_tracing_change_no_result(tmp_path, name):
    function = work(tmp_path)[name]
    expected = function()
    assert np.array_equal(profiled(function), expected)
    assert np.array_equal(under(sys.setprofile, function), expected)
    assert np.array_equal(under(sys.settrace, function), expected)
