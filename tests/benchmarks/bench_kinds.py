"""Directed, bipartite, signed graphs and several at once: value and processor time beside leidenalg, on one thread.

    GRAPHCLUST_DATA=... NUMBA_NUM_THREADS=1 python bench_kinds.py [--seeds 3]

email-Eu-core and wiki-Vote by their directions, davis as NetworkX has it, the others planted: blocks with more edges
inside, of the signed graph with negative ones between them, of the layers each so weak that none shows the blocks.
leidenalg runs until nothing changes (n_iterations=-1) on graphs that are made beforehand; ours has its gate included.
Both values are the modularity of the kind, by graphclust. Needs leidenalg and the data that $GRAPHCLUST_DATA names.
"""

import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from harness import asked, shown, write_table
from scipy import sparse
from tools import timed

import graphclust
from graphclust.io.kinds import as_layered

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from leiden_of_kinds import optimized, parts_of

Case = tuple[str, dict[str, Any], Any]  # name, options of `communities`, and G


def pairs(of_row: np.ndarray, of_column: np.ndarray, n_inside: int, n_any: int, rng: np.random.Generator) -> np.ndarray:
    """Rows and columns of entries: so many with both ends in the same block, and so many anywhere; (2, n)."""
    row = rng.integers(0, len(of_row), n_inside)
    order, counts = np.argsort(of_column, kind="stable"), np.bincount(of_column)
    starts = np.cumsum(counts) - counts
    block = of_row[row]
    column = order[starts[block] + (rng.random(n_inside) * counts[block]).astype(np.int64)]
    anywhere = rng.integers(0, len(of_row), n_any), rng.integers(0, len(of_column), n_any)
    return np.concatenate([np.stack([row, column]), np.stack(anywhere)], axis=1)


def matrix_of(ends: np.ndarray, shape: tuple[int, int], undirected: bool = False) -> sparse.csr_array:
    """A matrix of ones without loops; of an undirected graph both entries of each edge."""
    row, column = ends if undirected is False else np.concatenate([ends, ends[::-1]], axis=1)
    kept = (row != column) | (shape[0] != shape[1])
    made = sparse.coo_array((np.ones(kept.sum()), (row[kept], column[kept])), shape=shape).tocsr()
    made.data[:] = 1.0
    return made


def cases() -> Iterator[Case]:
    """The graphs, small ones first."""
    lists = pathlib.Path(os.environ["GRAPHCLUST_DATA"]) / "files" / "edgelists"
    davis = nx.davis_southern_women_graph()
    top, bottom = davis.graph["top"], davis.graph["bottom"]
    yield "davis", {"kind": "bipartite"}, nx.bipartite.biadjacency_matrix(davis, top, bottom).astype(float)
    for name in ("email-Eu-core/email-Eu-core.txt", "wiki-Vote.txt"):
        ends = np.unique(np.loadtxt(lists / name, np.int64), axis=0)
        ends = ends[ends[:, 0] != ends[:, 1]].T
        number = np.unique(ends, return_inverse=True)[1].reshape(2, -1)
        n = int(number.max()) + 1
        yield pathlib.Path(name).stem, {"kind": "directed"}, matrix_of(number, (n, n))
    rng = np.random.default_rng(0)
    of = np.arange(1_200) % 6
    layers = [matrix_of(pairs(of, of, 4_000, 10_000, rng), (1_200, 1_200), True) for _ in range(3)]
    yield "three layers", {}, layers
    of = np.arange(10_000) % 50
    friends, foes = pairs(of, of, 40_000, 20_000, rng), pairs(of, of, 0, 40_000, rng)
    foes = foes[:, of[foes[0]] != of[foes[1]]]
    shape = (len(of), len(of))
    signs = matrix_of(friends, shape, True) - matrix_of(foes, shape, True)
    yield "planted signed", {"kind": "signed"}, sparse.csr_array(signs)
    of = np.arange(20_000) % 100
    yield "planted directed", {"kind": "directed"}, matrix_of(pairs(of, of, 120_000, 120_000, rng), (20_000, 20_000))
    rows, columns = np.arange(14_000) % 50, np.arange(6_000) % 50  # five times as many take leidenalg 20 minutes
    sales = matrix_of(pairs(rows, columns, 60_000, 40_000, rng), (14_000, 6_000))
    yield "planted bipartite", {"kind": "bipartite"}, sales


def optimize(make: Callable, *how: Any) -> list:
    return optimized(make(), *how)


def main() -> None:
    options = asked(__doc__, seeds=3)
    rows = []
    for name, given, G in cases():
        layered = as_layered(G, **given)
        make, weights = parts_of(given.get("kind"), G)
        graphclust.communities(G, rng=0, **given)  # compiles what is not there
        found = np.empty((options.seeds, 4))
        for seed in range(options.seeds):
            ours_s, ours = timed(graphclust.communities, G, rng=seed, clock=time.process_time, **given)
            theirs_s, parts = timed(optimize, make, weights, seed, clock=time.process_time)
            theirs = np.unique(parts[0].membership, return_inverse=True)[1]
            found[seed] = layered.modularity(ours.labels), layered.modularity(theirs), ours_s, theirs_s
        (a, b), (ours_s, theirs_s) = found[:, :2].mean(axis=0), np.median(found[:, 2:], axis=0)
        size = [given.get("kind", "several"), f"{layered.n_nodes:,}", f"{layered.combined.n_entries:,}"]
        seconds = [f"{ours_s:.4f}", f"{theirs_s:.4f}", f"{theirs_s / ours_s:.1f}"]
        rows.append(shown([name, *size, f"{a:.5f}", f"{b:.5f}", f"{a - b:+.5f}", *seconds]))
    header = ["graph", "kind", "nodes", "entries", "value", "value: leidenalg", "difference"]
    header += ["seconds", "seconds: leidenalg", "times"]
    notes = f"Processor time of one thread, medians of {options.seeds} seeds; values are means over them."
    write_table("kinds", "Kinds of graphs beside leidenalg", header, rows, notes, whole=options.seeds >= 3)


if __name__ == "__main__":
    main()
