"""Memory: the estimate is near what is taken, and work that would take too much does not start."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from cases import refuses

import graphclust
from graphclust import ParameterError, ResourceLimitError, coreset_sc, estimate_memory, planted_partition

# Prints for each call, the first of its process, the most memory that it took beyond what was there before, and the
# estimate.
MEASURED = """
import ctypes, gc, json, os, sys, warnings
import graphclust as g
warnings.simplefilter("ignore")

def kilobytes(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))

K = 50
CALLS = {
    "multilevel": lambda G: g.coreset_sc(G, K, method="multilevel", rng=0),
    "two-step": lambda G: g.coreset_sc(G, K, method="two-step", rng=0),
    "communities": lambda G: g.communities(G, rng=0), "hierarchy": lambda G: g.hierarchy(G, rng=0),
    "bounds": lambda G: g.communities(G, max_size=2000, rng=0), "path": lambda G: g.cluster_path(G, [K], rng=0),
}
small = g.planted_partition(60, 100, 8, 2, rng=0).graph
for call in CALLS.values():
    call(small)
sizes = json.loads(sys.argv[1])
for name, n, degree, is_first in [(*size, first) for size in sizes for first in (True, False)]:
    if process := os.fork():
        assert os.waitpid(process, 0)[1] == 0
        continue
    G = g.planted_partition(n // 1000, 1000, 0.8 * degree, 0.2 * degree, rng=0).graph
    gc.collect(), ctypes.CDLL("libc.so.6").malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = kilobytes("VmRSS")
    CALLS[name](G)
    taken = (kilobytes("VmHWM") - before) * 1024
    method = name if name in ("multilevel", "two-step") else "multilevel"
    if not is_first:  # which may have compiled loops of large levels
        print(json.dumps([name, n, degree, taken, g.estimate_memory(G, K, method=method)]), flush=True)
    os._exit(0)
"""
SIZES = [
    ("multilevel", 30_000, 100), ("multilevel", 600_000, 6), ("multilevel", 100_000, 6), ("two-step", 600_000, 6),
    ("two-step", 600_000, 10), ("two-step", 30_000, 100), ("communities", 200_000, 10), ("communities", 1_000_000, 6),
    ("communities", 600_000, 6), ("hierarchy", 30_000, 100), ("hierarchy", 600_000, 6), ("bounds", 200_000, 10),
    ("path", 200_000, 10), ("multilevel", 300_000, 10), ("multilevel", 100_000, 30),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak")
def test_the_estimate_is_near_the_truth():
    environment = os.environ | {"GRAPHCLUST_COMPILE": "always"}
    ended = subprocess.run(
        [sys.executable, "-c", MEASURED, json.dumps(SIZES)], capture_output=True, text=True, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    for line in ended.stdout.splitlines():
        *_, taken, estimate = json.loads(line)
        print(line, round(estimate / taken, 2))
        assert taken / 1.3 < estimate < 1.3 * taken, line


def test_the_largest_graph_of_the_papers_fits_into_8_gigabytes_beside_its_file():
    friendster = 65_608_366, 3_612_134_270
    assert estimate_memory(friendster, 1000) == estimate_memory(friendster, 1000, method="two-step")
    assert estimate_memory(friendster, 1000, method="two-step") < 8e9 > estimate_memory(friendster, 10_000)
    assert estimate_memory(friendster, 1000, method="multilevel") > 20e9
    assert estimate_memory((10_000, 10**6)) == estimate_memory((10_000, 10**6), 200, method="multilevel")


def test_what_is_too_much_is_refused_before_the_work():
    graph, _ = planted_partition(10, 300, 12, 3, rng=1)

    def listener(stage, done, total):
        raise AssertionError("the work has begun")

    words = r"needs about \d+ MiB beside the graph of 3000 nodes and \d+ entries, but memory_limit is 1,000 bytes"
    refuses(ResourceLimitError, words, coreset_sc, graph, 10, memory_limit=1000, progress=listener)
    refuses(ParameterError, "memory_limit", coreset_sc, graph, 10, memory_limit=0)
    enough = estimate_memory(graph, 10)
    with pytest.raises(ResourceLimitError, match=f"needs about {enough >> 20} MiB"):
        coreset_sc(graph, 10, memory_limit=enough - 1, progress=listener)
    assert coreset_sc(graph, 10, memory_limit=estimate_memory(graph, 10, method="multilevel"), rng=0).n_clusters == 10


def test_impossible_counts_and_sizes_are_refused():
    for counts in ((10,), (0, 5), (10, -1)):
        refuses(ParameterError, None, estimate_memory, counts, 2)
    for size in (-5, 0, 6):
        refuses(ParameterError, f"coreset_size={size} .* >= 7 for k=7", estimate_memory, (9, 9), 7, coreset_size=size)


LIMITED = """
import resource, sys
import graphclust as g
from graphclust import ResourceLimitError
from graphclust.io.container_limits import available_bytes
graph = g.planted_partition(200, 1000, 5, 1, rng=0).graph
small = g.planted_partition(3, 100, 8, 2, rng=0).graph
calls = [
    lambda G: g.communities(G), lambda G: g.coreset_sc(G, 3), lambda G: g.balanced_partition(G, 3),
    lambda G: g.hierarchy(G, max_size=50), lambda G: g.cluster_path(G, [3]),
    lambda G: g.coreset_sc(G, 3, method="two-step"), lambda G: g.communities(G, max_size=50),
]
for call in calls:
    call(small)  # loads loops
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (20 << 20), resource.RLIM_INFINITY))
assert available_bytes() <= 20 << 20
for call in calls:
    try:
        call(graph)
    except ResourceLimitError as problem:
        print(problem)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for what is in use")
@pytest.mark.filterwarnings("ignore")
def test_every_clustering_is_refused_where_the_limit_of_the_process_leaves_too_little():
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(graphclust.__file__).parents[1])}
    ended = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, env=environment)
    refused = ended.stdout.splitlines()
    assert len(refused) == 7, ended.stderr
    assert all(" MiB beside the graph" in line and "but there is " in line for line in refused), refused


def test_counts_of_nodes_matter_and_not_only_of_entries():
    few, many = (estimate_memory((n, 10**8), 100, method="paper", coreset_size=1000) for n in (10**6, 10**7))
    assert np.isclose(many / few, 10, rtol=0.05)


def test_work_that_takes_more_than_was_estimated_stops_before_it_is_killed(monkeypatch):
    graph = planted_partition(30, 1000, 18, 4, rng=1).graph
    resident = iter([0])
    monkeypatch.setattr("graphclust.progress.container_memory", lambda: 1 << 30)
    monkeypatch.setattr("graphclust.progress.resident_bytes", lambda: next(resident, 1 << 40))
    with pytest.raises(
        ResourceLimitError, match="nearly all memory of the container is taken in the stage 'partition'"
    ):
        graphclust.communities(graph, effort="high", rng=0)
