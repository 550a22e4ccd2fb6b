"""Updates after edits of 1 % of the edges beside full runs, on a planted graph: seconds, and value after many in a row.

    python bench_updates.py ROWS.jsonl [--nodes 1000000] [--updates 100] [--methods communities coreset_sc]

A row is added to the file for each method, so that they can be measured one by one; with both results/updates.md is
written, or updates_25.md for 25 in a row. What is done is kept beside it every few updates, so that a run that was
ended goes on from there.

The graph has clusters of 1,000 nodes and 20 neighbors a node, 15 of them in the own cluster. Each update takes half a
per cent of the edges away and adds as many, three of four inside a planted cluster. The value is that of the last
update's modularity beside a full run's on the same graph. Labels: of nodes more than two hops from a change, after ten
updates in a row of 40 edges each. The first update is left out of the median: it compiles.
"""

import pathlib
import pickle

import numpy as np
from harness import add_line, asked, read_lines, write_table
from tools import timed

import graphclust
from graphclust import Clustering, Graph

SHARE, SIZE, INSIDE, OUTSIDE = 0.01, 1000, 15, 5
LOCAL_UPDATES, LOCAL_EDITS = 10, 20  # added and removed each
KEPT_EVERY = 20


def edits_of(graph: Graph, rng: np.random.Generator, first: int, last: int, n: int) -> dict[str, np.ndarray]:
    """So many edges among nodes first..last-1 taken away, and as many added."""
    entries = rng.integers(graph.indptr[first], graph.indptr[last], n)
    source = np.searchsorted(graph.indptr, entries, side="right") - 1
    target = graph.indices[entries]
    removed = np.unique(np.sort(np.stack([source, target], 1), axis=1), axis=0)
    u = rng.integers(first, last, n)
    block = u // SIZE * SIZE
    anywhere = rng.integers(first, last, n)
    v = np.where(rng.random(n) < INSIDE / (INSIDE + OUTSIDE), block + rng.integers(0, SIZE, n), anywhere)
    added = np.unique(np.sort(np.stack([u, v], 1)[u != v], axis=1), axis=0)
    matrix = graph.to_scipy()
    return {"removed": removed, "added": added[matrix[added[:, 0], added[:, 1]] == 0]}


def kept_far_away(before: Clustering, after: Clustering, edits: dict[str, np.ndarray]) -> tuple[int, int]:
    """Nodes more than two hops from a change, and how many of them kept their label."""
    near = np.zeros(len(before.labels), bool)
    near[edits["added"]] = near[edits["removed"]] = True
    for _ in range(2):
        nodes = np.flatnonzero(near)
        for graph in (before.graph, after.graph):
            near[graph.to_scipy()[nodes].indices] = True
    return int(np.count_nonzero(~near)), int(np.count_nonzero((before.labels == after.labels) & ~near))


def row_of(method: str, n_nodes: int, n_updates: int, kept_in: pathlib.Path) -> list[str]:
    k, rng = n_nodes // SIZE, np.random.default_rng(0)

    def run(graph: Graph, seed: int) -> tuple[float, Clustering]:
        if method == "communities":
            return timed(graphclust.communities, graph, rng=seed)
        return timed(graphclust.coreset_sc, graph, k, rng=seed)

    if kept_in.exists():
        found, first, seconds, rng = pickle.loads(kept_in.read_bytes())
    else:
        first, found = run(graphclust.planted_partition(k, SIZE, INSIDE, OUTSIDE, rng=1).graph, 0)
        seconds = []
    n_edits = int(SHARE * found.graph.n_edges / 2)
    while len(seconds) < n_updates:
        edits = edits_of(found.graph, rng, 0, n_nodes, n_edits)
        taken, found = timed(found.update, **edits, rng=len(seconds))
        seconds.append(taken)
        if len(seconds) % KEPT_EVERY == 0:
            kept_in.write_bytes(pickle.dumps((found, first, seconds, rng)))
    (whole, fresh), parts = run(found.graph, 1), found.seconds
    whole = min(first, whole)  # the first one may compile
    few, far, kept, last = [], 0, 0, found
    for step in range(LOCAL_UPDATES):
        edits = edits_of(last.graph, rng, 0, n_nodes, LOCAL_EDITS)
        taken, later = timed(last.update, **edits, rng=step)
        few.append(taken)
        far, kept = (a + b for a, b in zip((far, kept), kept_far_away(last, later, edits), strict=True))
        last = later
    update = float(np.median(seconds[1:]))
    return [
        method, f"{whole:.2f}", f"{update:.3f}", f"{update / whole:.1%}",
        " + ".join(f"{parts[name]:.2f}" for name in ("edits", "partition", "ids")),
        f"{np.median(few):.3f}", f"{found.modularity:.5f}", f"{fresh.modularity:.5f}",
        f"{found.modularity / fresh.modularity - 1.0:+.3%}", f"{kept / max(far, 1):.3%} of {far:,}",
    ]  # fmt: skip


def main() -> None:
    words = {"rows": {"type": pathlib.Path}}
    options = asked(__doc__, words, nodes=1_000_000, updates=100, methods=["communities", "coreset_sc"])
    for method in options.methods:
        kept_in = options.rows.with_suffix(f".{method}.pickle")
        add_line(options.rows, row_of(method, options.nodes, options.updates, kept_in))
    rows = read_lines(options.rows)
    header = [
        "method", "full run, s", "update, s", "share", "edits + partition + ids", "update of 40 edges, s",
        "modularity", "of a full run", "difference", "far labels kept",
    ]  # fmt: skip
    title = f"Updates of a clustering of {options.nodes:,} nodes, {options.updates} in a row with 1 % of the edges each"
    notes = "seeds 0 and 1 of full runs, 0, 1, ... of updates."
    name = "updates" if options.updates == 100 else f"updates_{options.updates}"
    write_table(name, title, header, rows, notes, whole=options.nodes == 1_000_000 and len(rows) == 2)


if __name__ == "__main__":
    main()
