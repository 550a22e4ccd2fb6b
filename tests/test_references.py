"""Loops that count no references leave those of their caller as they were, and do the same as those that count."""

import inspect
import sys

import numpy as np
import pytest
from numba import njit

from graphclust import planted_partition
from graphclust.compiled.graphs import moves
from graphclust.compiled.runtime.references import UNCOUNTED
from graphclust.objective.objective import plain_objective, ratio_objective, weighed
from graphclust.partition import merging
from graphclust.partition.merging import merged
from graphclust.progress import Progress

pytestmark = pytest.mark.skipif(not hasattr(moves.staying_weights, "py_func"), reason="nothing is compiled")


def test_no_reference_is_lost_or_kept():
    graph, labels = planted_partition(3, 20, 6, 1, rng=0)
    labels, stays = labels.astype(np.int32), np.empty(graph.n_nodes)
    arrays = (*graph.rows, labels, stays)
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(100):
        moves.staying_weights(0, graph.n_nodes, 0, graph.rows, labels, stays)
    assert [sys.getrefcount(array) for array in arrays] == before


def test_numba_has_the_option():
    """Where it has not, all works as before, but merging takes four times as long: a reason to look for another way."""
    assert UNCOUNTED


@pytest.mark.slow
def test_merging_is_the_same_with_counts(monkeypatch):
    source = inspect.getsource(merging.loops).replace(", **UNCOUNTED", "").replace("cache=True, ", "")
    counted: dict = {"__name__": "counted"}
    exec(compile(source, "counted.py", "exec"), counted)
    assert isinstance(counted["merge_pairs"], type(njit(lambda: 0)))
    graph, _ = planted_partition(10, 50, 8, 2, rng=1)
    on, progress = weighed(graph, "modularity"), Progress()
    for objective in (plain_objective(on, 10, 1.0), ratio_objective(on)):
        found, sums = merged(on, 10, objective, progress)
        with monkeypatch.context() as patch:
            patch.setattr(merging.loops, "merge_pairs", counted["merge_pairs"])
            again, sums_again = merged(on, 10, objective, progress)
        assert np.array_equal(found, again)
        assert np.array_equal(sums.inside, sums_again.inside)
