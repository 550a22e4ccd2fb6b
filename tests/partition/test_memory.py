"""Memory: the estimate is near what is taken, and work that would take too much does not start."""

import os
import pathlib
import subprocess
import sys
import tracemalloc

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import graphclust
from graphclust import ParameterError, ResourceLimitError, as_graph, coreset_sc, estimate_memory, planted_partition

GRAPHS = {"sparse": (40, 1000, 10.0, 2.0), "dense": (20, 1000, 40.0, 10.0), "many": (150, 300, 12.0, 3.0)}
GRAPHS["uneven"] = (40, 1000, 20.0, 5.0)
OPTIONS = {"uneven": {"degree_exponent": 2.3}}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("method", ["two-step", "multilevel", "paper"])
def test_the_estimate_is_near_the_truth(name, method):
    graph, labels = planted_partition(*GRAPHS[name], **OPTIONS.get(name, {}), rng=1)
    k = int(labels.max()) + 1
    coreset_sc(graph, k, method=method, rng=0)  # compiles, and makes what a graph keeps
    tracemalloc.start(1)
    coreset_sc(graph, k, method=method, rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = estimate_memory(graph, k, method=method)
    least = peak if method == "multilevel" else peak / 1.7
    most = 20 * peak if method == "multilevel" else 6 * peak  # a bound of graphs without clusters, see the next test
    assert least < estimate < most, (peak, estimate)


def sparse_random(n: int, degree: float, weighted: bool = False):
    """Links between any two nodes, without clusters: of no graph is more there again on every level."""
    rng = np.random.default_rng(518)
    ends = rng.integers(n, size=(2, int(n * degree / 2)))
    values = rng.uniform(0.5, 2.0, ends.shape[1]) if weighted else np.ones(ends.shape[1])
    matrix = sparse.coo_array((values, ends), shape=(n, n)).tocsr()
    matrix = matrix.maximum(matrix.T)
    return matrix if weighted else matrix.astype(bool)


BOUNDED = {
    "random": lambda: sparse_random(20_000, 10), "random, weighted": lambda: sparse_random(20_000, 10, weighted=True),
    "random, few": lambda: sparse_random(300, 6), "random, dense": lambda: sparse_random(3000, 200),
    "random, large": lambda: sparse_random(60_000, 10), "tree": lambda: nx.balanced_tree(2, 13),
    "hubs": lambda: nx.barabasi_albert_graph(20_000, 3, seed=1), "grid": lambda: nx.grid_2d_graph(100, 100),
    "path": lambda: nx.path_graph(20_000), "karate": nx.karate_club_graph, "complete": lambda: nx.complete_graph(300),
    "regular": lambda: nx.random_regular_graph(3, 20_000, seed=1),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
@pytest.mark.parametrize("name", BOUNDED)
def test_no_graph_takes_more_than_the_bound_of_multilevel(name):
    graph, peaks = as_graph(BOUNDED[name]()), []
    for objective in ("modularity", "normalized_cut"):
        coreset_sc(graph, 2, method="multilevel", objective=objective, rng=0)  # compiles
        for k in (2, 20, 200) if graph.n_nodes > 400 else (2, 8):
            tracemalloc.start(1)
            coreset_sc(graph, k, method="multilevel", objective=objective, rng=0)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert peaks[-1] < estimate_memory(graph, k, method="multilevel"), (objective, k, peaks[-1])
    if name.startswith("random"):  # the bound is near what it is made of
        assert max(peaks) > estimate_memory(graph, 2, method="multilevel") / 4


def test_the_largest_graph_of_the_papers_fits_into_8_gigabytes_beside_its_file(monkeypatch):
    monkeypatch.setattr("graphclust.partition.memory_estimate.n_threads", lambda: 2)
    friendster = 65_608_366, 3_612_134_270
    assert estimate_memory(friendster, 1000) == estimate_memory(friendster, 1000, method="two-step")
    assert estimate_memory(friendster, 1000, method="two-step") < 8e9 > estimate_memory(friendster, 10_000)
    assert estimate_memory(friendster, 1000, method="multilevel") > 24e9


def test_what_is_too_much_is_refused_before_the_work():
    graph, _ = planted_partition(10, 300, 12, 3, rng=1)

    def listener(stage, done, total):
        raise AssertionError("the work has begun")

    words = r"needs about \d+ MiB beside the graph of 3000 nodes and \d+ entries, but memory_limit is 1,000 bytes"
    with pytest.raises(ResourceLimitError, match=words):
        coreset_sc(graph, 10, memory_limit=1000, progress=listener)
    with pytest.raises(ParameterError, match="memory_limit"):
        coreset_sc(graph, 10, memory_limit=0)
    assert coreset_sc(graph, 10, memory_limit=estimate_memory(graph, 10, method="multilevel"), rng=0).n_clusters == 10


@pytest.mark.parametrize("counts", [(10,), (0, 5), (10, -1)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ParameterError):
        estimate_memory(counts, 2)


LIMITED = """
import resource
import numpy as np
from graphclust import coreset_sc, ResourceLimitError
from graphclust.graph.container import Graph
n = 30_000_000  # without entries to speak of, but with nodes
indptr = np.full(n + 1, 2); indptr[:2] = 0, 1
graph = Graph(indptr, np.array([1, 0], np.int32), None, np.ones(n), np.zeros(n))
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    coreset_sc(graph, 2, method="two-step")
except ResourceLimitError as problem:
    print(problem)
"""


@pytest.mark.slow
def test_a_limit_of_the_process_counts_too():
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(graphclust.__file__).parents[1])}
    ended = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, env=environment)
    assert "but there is 2048 MiB" in ended.stdout, ended.stderr


def test_counts_of_nodes_matter_and_not_only_of_entries():
    few, many = (estimate_memory((n, 10**8), 100, method="paper", coreset_size=1000) for n in (10**6, 10**7))
    assert np.isclose(many / few, 10, rtol=0.05)
