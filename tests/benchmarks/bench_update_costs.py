"""What an update costs beside a full run, by the number of edges that change: processor time of one thread.

    NUMBA_NUM_THREADS=1 python bench_update_costs.py

Half of the edges of an edit are taken away at random,
the others close triangles. Medians of five, each edit of the graph after ten edges changed; of full runs the quicker of
two. What is printed, with all graphs measured, is results/update_costs.md.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import asked, shown, write_table
from peers_data import graphs_folder, real_graph
from tools import timed

from graphclust import Graph, as_graph, communities, coreset_sc, hierarchy, planted_partition
from graphclust.updates.edits import places_of

SIZES: dict[str, Callable[[Graph], int]] = {
    "1 edge": lambda _: 1, "10": lambda _: 10, "1,000": lambda _: 1000,
    "0.1 %": lambda G: G.n_edges // 1000, "1 %": lambda G: G.n_edges // 100,
}  # fmt: skip
REPEATS = 5


def edits_of(graph: Graph, n: int, seed: int) -> dict[str, np.ndarray]:
    """So many edges: half of them taken away, half new ones between neighbors of a node."""
    rng, half = np.random.default_rng(seed), max(n // 2, 1)
    entries = rng.integers(0, graph.n_entries, half)
    source = np.searchsorted(graph.indptr, entries, side="right") - 1
    removed = np.unique(np.sort(np.stack([source, graph.indices[entries]], 1), axis=1), axis=0)
    ends = walked = rng.choice(np.flatnonzero(~graph.isolated), half if n > 1 else 0)
    for _ in range(2):
        lengths = graph.indptr[walked + 1] - graph.indptr[walked]
        walked = graph.indices[graph.indptr[walked] + (rng.random(len(walked)) * lengths).astype(np.int64)]
    pairs = np.unique(np.sort(np.stack([ends, walked], 1)[ends != walked], axis=1), axis=0)
    _, is_there = places_of(graph, *pairs.T.astype(np.int64))
    return {"removed": removed, "added": pairs[~is_there]}


def row_of(name: str, graph: Graph, method: str, make: Callable[[Graph, int], Any]) -> list[str]:
    full = min(timed(make, graph, seed, clock=time.process_time)[0] for seed in (0, 0, 1))  # the first may compile
    found = make(graph, 0).update(**edits_of(graph, 10, 99), rng=0)
    cells = []
    for size in SIZES.values():
        edits = [edits_of(found.graph, size(graph), seed) for seed in range(REPEATS)]
        took = float(np.median([timed(found.update, **of, rng=0, clock=time.process_time)[0] for of in edits]))
        cells.append(f"{1e3 * took:.0f} ms, {took / full:.1%}")
    return [name, f"{graph.n_entries:,}", method, f"{1e3 * full:.0f} ms", *cells]


def main() -> None:
    asked(__doc__)
    graphs = {
        "livejournal sample": as_graph(real_graph(graphs_folder() / "livejournal_top5000_sub.npz")[0]),
        "planted, 50,000 nodes": planted_partition(50, 1000, 15, 5, rng=1).graph,
        "planted, 500,000 nodes": planted_partition(500, 1000, 15, 5, rng=1).graph,
    }
    rows = []
    for name, graph in graphs.items():
        k = 2777 if "live" in name else graph.n_nodes // 1000
        methods: dict[str, Callable[[Graph, int], Any]] = {
            "communities": lambda G, seed: communities(G, rng=seed),
            "coreset_sc": lambda G, seed, k=k: coreset_sc(G, k, rng=seed),
            "hierarchy": lambda G, seed: hierarchy(G, max_size=50, rng=seed),
        }
        for method, make in methods.items():
            if graph.n_nodes < 500_000 or method != "hierarchy":
                rows.append(shown(row_of(name, graph, method, make)))
    header = ["graph", "entries", "method", "full run", *SIZES]
    notes = "processor time, seeds 0 and 1 of full runs, 0 of updates."
    write_table("update_costs", "Updates by the number of edges that change", header, rows, notes)


if __name__ == "__main__":
    main()
