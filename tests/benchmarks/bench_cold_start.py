"""The cost of the first use: import, the first clustering with all loops compiled, and the first of a later process.

    python bench_cold_start.py

Each line is a new process; the first has an empty cache of compiled loops, the others share what it left. A second
table is of a small graph: what a process pays once beyond the start of numba.
"""

import os
import statistics
import subprocess
import sys
import tempfile

from tables import write_table

CODE = """
import time
start = time.perf_counter()
import graphclust
imported = time.perf_counter()
graph, planted = graphclust.stochastic_block_model([500] * 10, 0.2, 0.002, rng=1)
made = time.perf_counter()
for method in ("auto", "two-step", "paper"):
    done = time.perf_counter()
    for _ in range(2):
        graphclust.coreset_sc(graph.to_scipy(), 10, method=method, rng=1).normalized_cut
        print(time.perf_counter() - done)
        done = time.perf_counter()
print(imported - start, made - imported)
"""

SMALL = """
import time
start = time.process_time()
import networkx as nx, numpy as np
from graphclust.compiled.graphs import csr_checks
csr_checks.flatten(np.arange(3))
G = nx.karate_club_graph()
nx.to_scipy_sparse_array(G)
started = time.process_time()
from graphclust import coreset_sc
imported = time.process_time()
coreset_sc(G, 2, rng=0)
first = time.process_time()
coreset_sc(G, 2, rng=0)
print(started - start, imported - started, first - imported, time.process_time() - first)
"""
PROCESSES = 10  # of the small graph, after one that may compile


def main() -> None:
    first_uses()
    first_calls()


def first_calls() -> None:
    """The processor time of the first call on a small graph, over several processes."""
    runs = []
    for _ in range(1 + PROCESSES):
        done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True, check=True)
        runs.append([float(seconds) for seconds in done.stdout.split()])
    columns = list(zip(*runs[1:], strict=True))
    rows = [
        [of, *(f"{1e3 * take(seconds):.1f}" for seconds in columns)]
        for of, take in (("least", min), ("median", statistics.median))
    ]
    write_table(
        "first_call",
        "The first call on a small graph",
        ["of 10 processes", "start of networkx, numpy and numba", "import", "first call", "again"],
        rows,
        "Milliseconds of processor time. Zachary's karate club; coreset_sc for two clusters, all compiled before.",
    )


def first_uses() -> None:
    """The first use with nothing compiled, and of later processes."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        for what in ("empty cache", "second process", "third process"):
            done = subprocess.run(
                [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
            )
            *calls, imported, made = (float(seconds) for seconds in done.stdout.split())
            cells = [imported, made, *calls, imported + made + sum(calls)]
            rows.append([what, *(f"{seconds:.2f}" for seconds in cells)])
            print(*rows[-1], flush=True)
    write_table(
        "cold_start",
        "The first use",
        ["process", "import", "generator", "auto", "again", "two-step", "again", "paper", "again", "all"],
        rows,
        "Seconds. SBM of 5,000 nodes, 10 clusters; coreset_sc by each method, twice. graphclust imports lazily: the "
        "generator's column includes the import of numba.",
    )


if __name__ == "__main__":
    main()
