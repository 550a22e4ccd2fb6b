"""Where the time of the published algorithm goes, stage by stage, against the least memory traffic of each stage.

    python bench_stages.py [--repeats 3]

Bytes are what a stage has to read and write at least: 4 for an index, 8 for a row start or a float. The last column is
the rate this amounts to, as a share of the bandwidth measured in the same run (threads that sum a large array). A
share near 1 leaves nothing to gain but by touching less; embedding and k-means work in cache and count no bytes.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
from tables import write_table

from graphclust import Coreset, Progress, coreset_sc, planted_partition, stochastic_block_model
from graphclust.objective.cuts import cut_and_volume


def bandwidth() -> float:
    """Bytes a second that numba's number of threads read from memory, the best of five."""
    n_threads = numba.get_num_threads()
    parts = np.array_split(np.ones(1 << 27), n_threads)
    best = np.inf
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in range(5):
            start = time.perf_counter()
            list(pool.map(np.sum, parts))
            best = min(best, time.perf_counter() - start)
    return 8 * (1 << 27) / best


def least_bytes(result) -> dict[str, float]:
    """Compulsory traffic of each stage."""
    n, m = result.graph.n_nodes, result.graph.n_entries
    read = result.entries_read
    return {
        "gate": m * (8 + 4) + n * (4 + 8 + 16),  # weights and indices; row starts narrow and wide; degrees, loops
        "D²-sampling": n * (16 + 16 + 8 + 8) + read["sampling"] * 4,  # degrees, affinities; tree; distances; nearest
        "importance sampling": n * (8 + 8 + 8),  # degrees, distances, probabilities
        "coreset graph": n * 4 + read["coreset graph"] * 4,  # the position of each node in the coreset
        "labeling": n * (8 + 8) + read["labeling"] * 4,  # degrees, labels
        "quality": n * (8 + 8 + 8) + m * 4,  # row starts, labels, sums
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    settings = {"method": "paper", "coreset": Coreset(embedding="power")}
    coreset_sc(
        planted_partition(5, 100, 10, 2, rng=0).graph.to_scipy(), 5, coreset=Coreset(size=100), rng=0, **settings
    )
    peak = bandwidth()
    rows = []
    for name, k, planted in (
        ("250 x 1,000, p = 0.5", 250, lambda: stochastic_block_model([1000] * 250, 0.5, 0.001 / 250, rng=1)),
        ("2,000 x 1,500, degree 16 + 4", 2000, lambda: planted_partition(2000, 1500, 16, 4, rng=1)),
    ):
        matrix = planted().graph.to_scipy()
        seconds: dict[str, list[float]] = {}
        for seed in range(options.repeats):
            progress = Progress()
            size = matrix.shape[0] // 100
            result = coreset_sc(matrix, k, coreset=Coreset(size=size), rng=seed, progress=progress, **settings)
            with progress.stage("quality"):
                cut_and_volume(result.graph, result.labels, result.n_clusters)
            for stage, spent in progress.seconds.items():
                seconds.setdefault(stage, []).append(spent)
        needed = least_bytes(result)
        for stage, spent in seconds.items():
            median = float(np.median(spent))
            cells = ["", ""]
            if stage in needed:
                cells = [f"{needed[stage] / 1e6:,.0f}", f"{needed[stage] / median / peak:.2f}"]
            rows.append([name, stage, f"{median * 1e3:.1f}", *cells])
            print(*rows[-1], flush=True)
        del matrix, result
    write_table(
        "stages",
        "Stages of the published algorithm, coreset of 1 %",
        ["graph", "stage", "ms", "least MB", "share of bandwidth"],
        rows,
        f"Bandwidth measured: {peak / 1e9:.1f} GB/s.",
    )


if __name__ == "__main__":
    main()
