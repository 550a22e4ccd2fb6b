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
for embedding in ("eigsh", "power"):
    result = graphclust.coreset_sc(graph.to_scipy(), 10, embedding=embedding, rng=1)
result.normalized_cut
first = time.perf_counter()
graphclust.coreset_sc(graph.to_scipy(), 10, rng=1).normalized_cut
print(imported - start, made - imported, first - made, time.perf_counter() - first)
"""


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        for what in ("empty cache", "second process", "third process"):
            done = subprocess.run(
                [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
            )
            rows.append([what, *(f"{float(seconds):.2f}" for seconds in done.stdout.split())])
            print(*rows[-1], flush=True)
    write_table(
        "cold_start",
        "The first use",
        ["process", "import s", "generator s", "first coreset_sc s (both embeddings)", "again s"],
        rows,
        "SBM of 5,000 nodes, 10 clusters. The import of graphclust is lazy: the generator's column includes numba's.",
    )


if __name__ == "__main__":
    main()
