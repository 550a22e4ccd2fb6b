"""The path of k: is the planted number of clusters suggested, what is suggested for real graphs, what does it cost?

    python bench_path.py planted [--repeats 4]     results/path.md
    python bench_path.py real                      results/path_real.md
    python bench_path.py cost                      results/path_cost.md

planted: specs of `peers_data.planted`, and LFR graphs of NetworkX (5,000 nodes, degree exponent 2.5, size exponent 1.5,
mean degree 15, communities of 30 to 300). Counted are the seeds for which the suggestion is exact and within the
tolerance, over graphs whose partition at the planted k has an adjusted Rand index of 0.99 at least, and all LFR graphs.
real: largest components of annotated graphs, and 15-NN graphs; Leiden's count is igraph's, at resolution 1.
cost: CPU seconds of the path of 2..50 and of each k refined, against `coreset_sc` at k = 50 and Leiden at k (see
`tools`), whose 49 runs are three times 49 / 3, at k = 5, 20 and 50. Compile time is excluded.
real needs igraph and the data that $GRAPHCLUST_DATA names; cost needs igraph.
"""

import statistics
import time
from functools import partial

import numpy as np
from harness import asked, shown, write_table
from peers_data import annotated_graphs, lfr, planted
from tools import LEIDEN, LEIDEN_AT_K, spread_over_seeds, timed

from graphclust import adjusted_rand_index, as_graph, cluster_path, coreset_sc, modularity

PLANTED = [
    ("3x3000:16:3", 0.0), ("5x2000:16:3", 0.0), ("10x1000:14:3", 0.0), ("20x500:14:3", 0.0), ("50x500:14:2", 0.0),
    ("100x300:14:3", 0.0), ("100x150:12:2", 0.0), ("150x200:14:2", 0.02), ("200x100:14:2", 0.02),
    ("10x800:20:3:unbalanced", 0.0), ("15x1000:20:2:unbalanced", 0.0), ("8x1500:20:2:dc", 0.0), ("30x500:20:2:dc", 0.0),
    ("60x300:20:2:dc", 0.0), ("12x1000:20:2:dc:unbalanced", 0.05), ("20x1000:20:2:dc:unbalanced", 0.05),
]  # fmt: skip
LFR_MIXING, LFR_TOLERANCE = (0.1, 0.2, 0.3, 0.4), 0.1
ENOUGH = 0.99


def planted_table(repeats: int) -> None:
    graphs = [(spec, lambda seed, spec=spec: planted(spec, seed), tolerance) for spec, tolerance in PLANTED]
    graphs += [
        (f"LFR {mu}", lambda seed, mu=mu: lfr(mu, 5_000, seed, 15, 150, (30, 300)), LFR_TOLERANCE) for mu in LFR_MIXING
    ]
    rows = []
    for name, make, tolerance in graphs:
        aris, found, seconds, clear, wanted = [], [], [], 0, []
        for seed in range(repeats):
            matrix, labels = make(seed)
            k = int(labels.max()) + 1
            taken, path = timed(cluster_path, matrix, rng=seed)
            of_suggestion, suggestion = timed(path.suggest)
            seconds.append(taken + of_suggestion)
            ari = adjusted_rand_index((path if k in path else cluster_path(matrix, [k], rng=seed))[k].labels, labels)
            aris.append(ari)
            if ari >= ENOUGH or name.startswith("LFR"):
                found.append(suggestion.k)
                wanted.append(k)
                clear += suggestion.clear
        off = [abs(one - k) / k for one, k in zip(found, wanted, strict=True)]
        counts = [len(found), sum(one == 0 for one in off), sum(one <= tolerance for one in off)]
        last = [f"{max(off, default=0.0):.1%}", str(clear), f"{statistics.median(seconds):.2f}"]
        agreement = [f"{np.mean(aris):.3f}", f"{spread_over_seeds(aris):.3f}"]
        rows.append(shown([name, *agreement, *map(str, counts), *last]))
    counted, exact, within = (sum(int(row[column]) for row in rows) for column in (3, 4, 5))
    notes = (
        f"seeds 0 to {repeats - 1}. "
        f"Spread is half the range over them. Of {counted} that count {exact} are exact and "
        f"{within} within the tolerance."
    )
    header = ["graph", "ARI at the planted k", "spread of ARI", "count", "exact", "within tolerance", "farthest"]
    header += ["clear", "seconds"]
    write_table("path", "The number of clusters that is suggested for planted graphs", header, rows, notes)


def real_table() -> None:
    rows = []
    for name, matrix, classes in annotated_graphs():
        path = cluster_path(matrix, rng=0)
        suggestion = path.suggest()
        others = ", ".join(str(one.k) for one in suggestion.runners_up)
        leiden = len(np.unique(LEIDEN.run(matrix, 0, 0)[0]))
        clear, n_classes = "yes" if suggestion.clear else "no", int(classes.max()) + 1
        rows.append(shown([name, str(n_classes), str(suggestion.k), clear, others, str(leiden)]))
    header = ["graph", "classes", "suggestion", "clear", "runners-up", "Leiden at 1"]
    notes = "seed 0."
    write_table("path_real", "The number of clusters that is suggested for annotated graphs", header, rows, notes)


def cost_table() -> None:
    matrix, _ = planted("50x1000:20:4")
    graph, ks = as_graph(matrix), range(2, 51)

    cpu = partial(timed, clock=time.process_time)
    seconds, path = cpu(cluster_path, graph, ks, rng=0)
    refining, _ = cpu(lambda: [path[k] for k in ks])
    alone = [cpu(coreset_sc, graph, k, rng=0) for k in ks]
    at_50, of_all = alone[-1][0], sum(one for one, _ in alone)
    rows = [["path 2..50", f"{seconds:.2f}", f"{seconds / at_50:.1f}"],
            ["the same, every k refined", f"{seconds + refining:.2f}", f"{(seconds + refining) / at_50:.1f}"],
            ["coreset_sc at k = 50", f"{at_50:.2f}", "1.0"],
            ["coreset_sc at each of 2..50", f"{of_all:.2f}", f"{of_all / at_50:.1f}"]]  # fmt: skip
    leiden = [cpu(LEIDEN_AT_K.run, matrix, k, 0)[0] for k in (5, 20, 50)]
    rows.append(["Leiden at each k of 2..50", f"{np.mean(leiden) * 49:.0f}", f"{np.mean(leiden) * 49 / at_50:.0f}"])
    lacking = []
    for _, found in alone:
        values = [modularity(graph, one, resolution=found.resolution) for one in (found, path[found.k])]
        lacking.append(1.0 - values[1] / values[0])
    notes = (
        f"seed 0. "
        f"A partition of the path has {np.median(lacking):.2%} less of the objective than a clustering at that k "
        f"alone, at that one's resolution, in the median; {max(lacking):.2%} at most, {min(lacking):.2%} at least."
    )
    header = ["50x1000:20:4", "CPU seconds", "times coreset_sc at k = 50"]
    write_table("path_cost", "What a path costs", header, rows, notes)


def main() -> None:
    options = asked(__doc__, {"table": {"choices": ("planted", "real", "cost")}}, repeats=4)
    cluster_path(planted("5x200:10:1")[0], rng=0).suggest()  # compile
    coreset_sc(planted("5x200:10:1")[0], 5, rng=0)
    {"planted": lambda: planted_table(options.repeats), "real": real_table, "cost": cost_table}[options.table]()


if __name__ == "__main__":
    main()
