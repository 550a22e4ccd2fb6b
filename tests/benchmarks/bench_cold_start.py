"""The cost of the first use: import, the first clustering with all loops compiled, and the first of a later process.

    python bench_cold_start.py

Each line is a new process; the first has an empty cache of compiled loops, the others share what it left.
"""

import os
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


def main() -> None:
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
