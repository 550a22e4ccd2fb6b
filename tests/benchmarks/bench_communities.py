"""Clusters at a resolution, their number free: value, time and connectedness beside Leiden.

    GRAPHCLUST_DATA=... python bench_communities.py [--objective modularity] [--resolution 1.0] [--seeds 3] [--high]

All real graphs and three planted ones, largest component. For Potts the resolution is a multiple of the density. igraph
runs two iterations (its default), and until nothing changes; NetworKit its parallel Leiden, for modularity. Medians of
the seeds; spread is that of our values over the seeds, in per cent. Needs igraph and networkit.
"""

import argparse
import os
import pathlib
import random
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from peers_data import largest_component, planted, real_graph
from scipy import sparse
from scipy.sparse import csgraph
from tables import write_table

import graphclust

PLANTED = ("200x2000:12:6", "50x1000:20:4", "20x1000:12:2:dc:unbalanced")
Tool = Callable[[sparse.csr_matrix, str, float, int], tuple[np.ndarray, float]]


def ours(effort: str) -> Tool:
    def call(matrix, objective, resolution, seed):
        start = time.perf_counter()
        options = {"objective": objective, "resolution": resolution, "effort": effort}
        labels = graphclust.communities(matrix, rng=seed, **options).labels
        return labels, time.perf_counter() - start

    return call


def leiden(iterations: int) -> Tool:
    def call(matrix, objective, resolution, seed):
        import igraph

        upper = sparse.triu(matrix, 1).tocoo()
        graph = igraph.Graph(n=matrix.shape[0], edges=np.c_[upper.row, upper.col])
        random.seed(seed)
        start = time.perf_counter()
        if objective == "modularity":
            options = {"objective_function": "modularity", "resolution": resolution}
        else:  # igraph's sum is over pairs of nodes, ours over ordered ones and each node with itself
            options = {"objective_function": "CPM", "resolution": resolution}
        found = graph.community_leiden(n_iterations=iterations, **options)
        return np.asarray(found.membership), time.perf_counter() - start

    return call


def parallel_leiden(matrix, objective, resolution, seed):
    import networkit

    upper = sparse.triu(matrix, 1).tocoo()
    ends = upper.row.astype(np.uint64), upper.col.astype(np.uint64)
    graph = networkit.GraphFromCoo((upper.data.astype(float), ends), n=matrix.shape[0], weighted=False)
    networkit.setSeed(seed, False)
    start = time.perf_counter()
    run = networkit.community.ParallelLeiden(graph, gamma=resolution)
    run.run()
    return np.asarray(run.getPartition().getVector()), time.perf_counter() - start


def value(matrix: sparse.csr_matrix, labels: np.ndarray, objective: str, resolution: float) -> float:
    """Modularity, or the Potts value over the weight of the graph."""
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    whole, entries = degrees.sum(), matrix.tocoo()
    inside = entries.data[labels[entries.row] == labels[entries.col]].sum() / whole
    if objective == "modularity":
        return float(inside - resolution * (np.bincount(labels, weights=degrees) ** 2).sum() / whole**2)
    return float(inside - resolution * (np.bincount(labels).astype(float) ** 2).sum() / whole)


def n_disconnected(matrix: sparse.csr_matrix, labels: np.ndarray) -> int:
    entries = matrix.tocoo()
    same = labels[entries.row] == labels[entries.col]
    inner = sparse.coo_matrix((np.ones(same.sum()), (entries.row[same], entries.col[same])), shape=matrix.shape)
    _, part = csgraph.connected_components(inner, directed=False)
    return int((np.bincount(np.unique(np.c_[labels, part], axis=0)[:, 0]) > 1).sum())


def graphs() -> Iterator[tuple[str, sparse.csr_matrix]]:
    for path in sorted((pathlib.Path(os.environ["GRAPHCLUST_DATA"]) / "graphs").glob("*.npz")):
        yield path.stem, largest_component(*real_graph(path))[0]
    for spec in PLANTED:
        yield spec, largest_component(*planted(spec))[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objective", choices=("modularity", "constant_potts"), default="modularity")
    parser.add_argument("--resolution", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--high", action="store_true", help='effort="high" as well')
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    tools: dict[str, Tool] = {"graphclust": ours("normal"), **({"high": ours("high")} if options.high else {})}
    tools |= {"Leiden, 2 iterations": leiden(2), "Leiden, converged": leiden(-1)}
    if options.objective == "modularity":
        tools["NetworKit"] = parallel_leiden
    graphclust.communities(sparse.csr_matrix(np.kron(np.eye(4), np.ones((6, 6)))), objective=options.objective)
    rows, seconds, lacking = [], dict.fromkeys(tools, 0.0), {name: [] for name in tools}
    for name, matrix in graphs():
        n = matrix.shape[0]
        at = options.resolution * (1.0 if options.objective == "modularity" else matrix.sum() / n**2)
        found = {}
        for tool, call in tools.items():
            runs = [call(matrix, options.objective, at, seed) for seed in range(options.seeds)]
            values = [value(matrix, labels, options.objective, at) for labels, _ in runs]
            middle = int(np.argsort(values)[len(values) // 2])
            labels = np.unique(runs[middle][0], return_inverse=True)[1]
            took = float(np.median([one for _, one in runs]))
            found[tool] = values[middle], took, labels.max() + 1, n_disconnected(matrix, labels), np.ptp(values)
            seconds[tool] += took
        best = max(one[0] for one in found.values())
        for tool, one in found.items():
            lacking[tool].append((best - one[0]) / abs(best))
        spread = 100 * found["graphclust"][4] / abs(best)
        cells = [f"{one[0]:.5f}" for one in found.values()] + [f"{one[1]:.3f}" for one in found.values()]
        counts = [str(found["graphclust"][2]), "/".join(str(one[3]) for one in found.values())]
        rows.append([name, str(matrix.nnz), *cells, *counts, f"{spread:.3f}"])
        print(*rows[-1], flush=True)
    short = [f"-{100 * np.mean(lacking[tool]):.3f} %" for tool in tools]
    rows.append(
        ["mean below the best, seconds in all", "", *short, *(f"{seconds[tool]:.2f}" for tool in tools), *[""] * 3]
    )
    title = {"modularity": "Modularity", "constant_potts": "Potts"}[options.objective]
    header = ["graph", "entries", *(f"value: {tool}" for tool in tools), *(f"s: {tool}" for tool in tools)]
    header += ["clusters", "not connected", "spread, %"]
    name = f"communities_{options.objective}_{options.resolution:g}"
    write_table(name, f"{title} at resolution {options.resolution:g}, the number of clusters free", header, rows)


if __name__ == "__main__":
    main()
