"""Time of D²-sampling against the number of seeds: the naive algorithm and the sampling tree (Figure 2 of the paper).

    python bench_d2_sampling.py [--nodes 3000000] [--degree 20] [--repeats 3]
    python bench_d2_sampling.py --store GRAPH.store --naive 10 100 500     # of bench_scale.py --keep, say

A generated graph of blocks of 1,500 nodes, or one in a store. The naive algorithm runs for the numbers of seeds that
--naive names; its other times are on the line through the last two, for it is linear, and marked ~. The kernel is made
beforehand. Medians of the repeats; the naive algorithm, which does the same work whatever it draws, runs once.
"""

import numpy as np
from harness import asked, shown, write_table
from tools import timed

import graphclust as gc

SEEDS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def seconds(kernel: gc.NormalizedCutKernel, n_seeds: int, method: str, seed: int) -> tuple[float, int]:
    taken, seeds = timed(gc.d2_seeding, kernel, n_seeds, method=method, rng=seed)
    return taken, seeds.entries_read


def main() -> None:
    options = asked(__doc__, nodes=3_000_000, degree=20.0, repeats=3, store="", naive=list(SEEDS[:6]))

    warm = gc.NormalizedCutKernel.of(gc.planted_partition(5, 100, 10, 2, rng=0).graph)
    for method in ("naive", "tree"):
        gc.d2_seeding(warm, 5, method=method, rng=0)  # compile
    if options.store:
        graph = gc.open_store(options.store, verify="fast")
    else:
        graph, _ = gc.planted_partition(options.nodes // 1500, 1500, options.degree * 0.8, options.degree * 0.2, rng=1)
    kernel = gc.NormalizedCutKernel.of(graph)

    naive = {k: seconds(kernel, k, "naive", seed=1)[0] for k in options.naive}
    before, last = sorted(naive)[-2:]
    slope = (naive[last] - naive[before]) / (last - before)
    rows = []
    for k in SEEDS:
        slow, mark = naive.get(k, naive[last] + slope * (k - last)), "" if k in naive else "~"
        runs = [seconds(kernel, k, "tree", seed) for seed in range(options.repeats)]
        tree = float(np.median([run[0] for run in runs]))
        entries = int(np.median([run[1] for run in runs]))
        rows.append(shown([str(k), f"{mark}{slow:.3f}", f"{tree:.4f}", f"{mark}{slow / tree:.1f}", f"{entries:,}"]))
    write_table(
        "d2_sampling_store" if options.store else "d2_sampling",
        "D²-sampling: the naive algorithm and the tree",
        ["seeds", "naive s", "tree s", "times faster", "entries read by the tree"],
        rows,
        f"{graph.n_nodes:,} nodes, {graph.n_entries:,} entries. ~: on the line through {before} and {last} seeds.",
    )


if __name__ == "__main__":
    main()
