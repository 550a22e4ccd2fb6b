"""Loops are plain Python until compiling pays, and give the same either way."""

import os
import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from graphclust import communities, coreset_sc, hierarchy
from graphclust.compiled.graphs.csr_checks import check_rows
from graphclust.compiled.runtime import loops
from graphclust.compiled.runtime.loop_cache import fingerprint

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="no loop is compiled")


@pytest.mark.parametrize("ask", [communities, lambda G, **o: coreset_sc(G, 3, objective="normalized_cut", **o)])
def test_labels_of_plain_loops_are_those_of_compiled_ones(ask):
    for graph in (nx.karate_club_graph(), nx.connected_caveman_graph(6, 4), nx.gnp_random_graph(40, 0.1, seed=1)):
        graph.remove_nodes_from(list(nx.isolates(graph)))
        with loops.plain():
            found = ask(graph, effort="low", rng=3).labels
        assert np.array_equal(found, ask(graph, effort="low", rng=3).labels)


def test_levels_of_plain_loops_are_those_of_compiled_ones():
    graph = nx.davis_southern_women_graph()
    with loops.plain():
        found = hierarchy(graph, max_size=6, rng=0)
    assert [level.tolist() for level in found.levels] == [
        level.tolist() for level in hierarchy(graph, max_size=6, rng=0).levels
    ]


def test_numbers_are_counted_in_arrays_within_arrays():
    assert loops.count_numbers((np.zeros((2, 3)), 7, (np.zeros(4), (np.zeros(1), "x")))) == 11


def test_a_loop_stays_plain_for_few_numbers_and_little_time(monkeypatch):
    few, many = (np.zeros(10),), (np.zeros(loops.COMPILED.numbers + 1),)
    monkeypatch.setattr(loops, "_limits", lambda path: loops.COMPILED)
    assert not loops.may_stay_plain(check_rows, few), "as the tests are run"
    monkeypatch.delenv("GRAPHCLUST_COMPILE")
    assert loops.may_stay_plain(check_rows, few) and not loops.may_stay_plain(check_rows, many)
    monkeypatch.setattr(loops._Clock, "plain", loops.COMPILED.seconds + 1)
    assert not loops.may_stay_plain(check_rows, few)


def test_time_of_the_compiler_is_not_working_time():
    before = loops.working_time()
    loops.add_compiler_time(1000.0)
    try:
        assert loops.working_time() < before - 900
    finally:
        loops.add_compiler_time(-1000.0)


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
    code = (
        "import sys, networkx as nx, graphclust; graphclust.communities(nx.gnm_random_graph(60, 600, seed=1), rng=0);"
    )
    code += "print('numba' in sys.modules)"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "GRAPHCLUST_COMPILE": "auto"}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout == f"{kept}\n"
