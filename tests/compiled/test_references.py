"""Loops that count no references leave those of their caller as they were, and do the same as those that count."""

import inspect
import sys

import numpy as np
import pytest
from numba import njit

from graphclust import planted_partition
from graphclust.compiled.graphs import cluster_sums, merging
from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.runtime.loops import UNCOUNTED, start_compiler
from graphclust.engine import contraction, levels
from graphclust.engine.contraction import agglomerate
from graphclust.engine.levels import run_on
from graphclust.objective.objective import additive_objective, ratio_objective, weigh

pytestmark = pytest.mark.skipif(not hasattr(cluster_sums.weights_to_own, "py_func"), reason="nothing is compiled")


def test_no_reference_is_lost_or_kept():
    graph, labels = planted_partition(3, 20, 6, 1, rng=0)
    labels, stays = labels.astype(np.int32), np.empty(graph.n_nodes)
    arrays = (*graph.rows, labels, stays)
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(100):
        cluster_sums.weights_to_own(0, graph.n_nodes, 0, graph.rows, labels, stays)
    assert [sys.getrefcount(array) for array in arrays] == before


def test_numba_has_the_option():
    """Where it has not, all works as before, but merging takes four times as long: a reason to look for another way."""
    assert UNCOUNTED


@pytest.mark.slow
def test_merging_is_the_same_with_counts(monkeypatch):
    ours, counting = (
        "from graphclust.compiled.runtime.loops import INLINED, UNCOUNTED, loop\n",
        "INLINED = {}\nloop = lambda **options: njit(**options)\n",
    )
    source = inspect.getsource(merging).replace("@loop(**UNCOUNTED)", "@loop()")
    source = source.replace(ours, f"from numba import njit\n{counting}")
    start_compiler()
    counted: dict = {"__name__": "counted"}
    exec(compile(source, "counted.py", "exec"), counted)
    assert isinstance(counted["merge_pairs"], type(njit(lambda: 0)))
    run = run_on(weigh(planted_partition(10, 50, 8, 2, rng=1).graph, "modularity"))
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    for objective in (additive_objective(run.totals, 10, 1.0), ratio_objective(run.totals)):
        found = agglomerate(run.finest, Task(objective, 10), run)
        with monkeypatch.context() as patch:
            patch.setattr(contraction, "merge_pairs", counted["merge_pairs"])
            again = agglomerate(run.finest, Task(objective, 10), run)
        assert np.array_equal(found.labels, again.labels)
        assert np.array_equal(found.sums.inside, again.sums.inside)
