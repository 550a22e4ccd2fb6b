"""Time and memory of the generators, up to the paper's largest graph: 250 x 1,000 nodes, 125 million entries.

    python bench_generator.py

Each graph is made in a process of its own; its peak memory above that of the loaded package is set against the
bytes of the arrays it returns.
"""

import multiprocessing
import resource
import time

from tables import write_table

from graphclust import planted_partition, stochastic_block_model

GRAPHS = {
    "250 x 1,000, p = 0.5, q = 0.001/k": lambda: stochastic_block_model([1000] * 250, 0.5, 0.001 / 250, rng=1),
    "1,000 x 1,000, degree 16 + 3": lambda: planted_partition(1000, 1000, 16, 3, rng=1),
    "2,000 x 1,500, degree 16 + 4": lambda: planted_partition(2000, 1500, 16, 4, rng=1),
    "40 unbalanced blocks, power law": lambda: planted_partition(
        40, 25_000, 28, 4, size_ratio=0.9, degree_exponent=3.5, rng=1
    ),
}


def measure(name: str) -> tuple[int, int, float, float, float]:
    planted_partition(5, 100, 10, 2, rng=0)  # compile
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    graph, labels = GRAPHS[name]()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    arrays = sum(a.nbytes for a in (graph.indptr, graph.indices, graph.degrees, graph.loops, labels))
    return graph.n_nodes, graph.n_entries, seconds, arrays / 2**20, peak / 2**10


def main() -> None:
    rows = []
    for name in GRAPHS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            n_nodes, n_entries, seconds, arrays, peak = pool.apply(measure, (name,))
        cells = [
            f"{n_nodes:,}",
            f"{n_entries:,}",
            f"{seconds:.2f}",
            f"{arrays:.0f}",
            f"{peak:.0f}",
            f"{peak / arrays:.2f}",
        ]
        rows.append([name, *cells])
        print(*rows[-1], flush=True)
    header = ["graph", "nodes", "entries", "seconds", "MB of its arrays", "MB at the peak", "ratio"]
    write_table("generator", "Generated graphs: time and memory", header, rows)


if __name__ == "__main__":
    main()
