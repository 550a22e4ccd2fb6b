"""Under a profiler, a debugger or coverage everything works: they hold references to whatever a function holds."""

import cProfile
import os
import sys
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

import graphclust

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="every step of every loop would be watched")


def reads(path) -> graphclust.Graph:
    path.write_text("# c\n" + "".join(f"{u} {7_000_000_000 + v}\n" for u in range(40) for v in range(u % 9 + 1)))
    return graphclust.load_graph(path)


def work(tmp_path) -> dict[str, Callable]:
    """Functions that grow, cut and fill arrays, each giving an array to compare."""
    graph = nx.planted_partition_graph(4, 30, 0.4, 0.02, seed=518)
    points = np.random.default_rng(518).normal(size=(400, 3))
    kinds = [{}, {"method": "two-step"}, {"method": "paper"}, {"effort": "high"}]
    return {
        "coreset_sc": lambda: np.concatenate([graphclust.coreset_sc(graph, 4, rng=0, **kind).labels for kind in kinds]),
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
