"""Clusters within bounds: what they cost, beside leidenalg; recognition with a minimum; weights of a mesh.

    GRAPHCLUST_DATA=... python bench_bounds.py communities|recognition|weights [--seeds 3] [--only NAME ...]

communities : those of at most a fiftieth of the nodes and at least 5, on the graphs of bench_communities.py; leidenalg
with its `max_comm_size`, which has no minimum, and 2 iterations, on graphs of up to 100,000 entries. "within" is the
share of the nodes whose cluster holds the bounds, of the free clusters without being asked to.
recognition : exactly as many clusters as classes, of at least 5 nodes, on the graphs of bench_recognition.py.
weights : equal parts of meshes whose nodes weigh 1 to 100, within 3 %, beside METIS.
Medians of the seeds. Needs leidenalg, pymetis, scikit-learn and the data that $GRAPHCLUST_DATA names.
"""

import argparse
import time
import warnings
from collections.abc import Iterable

import numpy as np
from bench_communities import graphs, n_disconnected, value
from peers_data import annotated_graphs, meshes
from scipy import sparse
from tables import write_table

import graphclust
from graphclust.objective.agreement import adjusted_rand_index, normalized_mutual_information

LEAST, SHARE = 5, 50
FEW_ENTRIES = 100_000  # of a graph that leidenalg takes seconds for
MOST_NODES = 100_000  # of a mesh whose nodes have weights


def timed(call, seeds: int) -> list[tuple[graphclust.Clustering, float]]:
    runs = []
    for seed in range(seeds):
        start = time.perf_counter()
        runs.append((call(seed), time.perf_counter() - start))
    return runs


def within(labels: np.ndarray, least: float, most: float) -> float:
    """The share of the nodes whose cluster holds the bounds."""
    sizes = np.bincount(labels)
    return float(((sizes >= least) & (sizes <= most))[labels].mean())


def with_leidenalg(matrix: sparse.csr_matrix, most: int) -> tuple[np.ndarray, float]:
    import igraph
    import leidenalg

    upper = sparse.triu(matrix, 1).tocoo()
    graph = igraph.Graph(n=matrix.shape[0], edges=np.c_[upper.row, upper.col])
    start = time.perf_counter()
    found = leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, max_comm_size=most, seed=1)
    return np.asarray(found.membership), time.perf_counter() - start


def compare_communities(chosen: Iterable[tuple[str, sparse.csr_matrix]], seeds: int, whole: bool) -> None:
    rows, lost = [], []
    for name, matrix in chosen:
        n = matrix.shape[0]
        most = max(n // SHARE, LEAST)
        bounds = {"min_size": LEAST, "max_size": most}
        try:
            bounded = timed(lambda seed: graphclust.communities(matrix, rng=seed, **bounds), seeds)  # noqa: B023
        except graphclust.ParameterError as problem:
            rows.append([name, str(n), f"{LEAST} to {most}", str(problem)[:60], *[""] * 11])
            continue
        free = timed(lambda seed: graphclust.communities(matrix, rng=seed), seeds)  # noqa: B023
        reached = np.median([value(matrix, found.labels, "modularity", 1.0) for found, _ in bounded])
        without = np.median([value(matrix, found.labels, "modularity", 1.0) for found, _ in free])
        by_itself = np.median([within(found.labels, LEAST, most) for found, _ in free])
        is_small = matrix.nnz <= FEW_ENTRIES
        theirs, took = with_leidenalg(matrix, most) if is_small else (np.zeros(n, np.int64), np.nan)
        kept = min(within(found.labels, LEAST, most) for found, _ in bounded)
        apart = max(n_disconnected(matrix, found.labels) for found, _ in bounded)
        cells = [f"{by_itself:.1%}", f"{kept:.0%}", str(np.bincount(theirs).max()) if is_small else ""]
        cells += [f"{without:.4f}", f"{reached:.4f}"]
        cells += [
            f"{value(matrix, theirs, 'modularity', 1.0):.4f}" if is_small else "",
            f"{100 * (without - reached) / without:.2f}",
        ]
        seconds = [np.median([one for _, one in runs]) for runs in (free, bounded)]
        rows.append([name, str(n), f"{LEAST} to {most}", *cells, str(apart), *(f"{s:.3f}" for s in (*seconds, took))])
        lost.append((by_itself, (without - reached) / without))
        print(*rows[-1], flush=True)
    losses = [f"{100 * loss:.2f} %" for share, loss in lost if share >= 0.95]
    notes = f"Modularity lost where 95 % of the nodes are within without being asked to: {', '.join(losses) or 'none'}."
    header = [
        "graph",
        "nodes",
        "bounds",
        "within, free",
        "ours",
        "largest of leidenalg",
        "modularity, free",
        "ours",
        "leidenalg",
    ]
    header += ["lost, %", "not connected", "s: free", "s: ours", "s: leidenalg"]
    write_table("bounds_communities", "Communities within bounds", header, rows, notes, whole)


def compare_recognition(chosen: Iterable, seeds: int, whole: bool) -> None:
    rows, found = [], []
    for name, matrix, classes in chosen:
        known, k = classes >= 0, int(classes.max()) + 1
        figures = []
        for options in ({}, {"min_size": LEAST}):
            runs = timed(lambda seed: graphclust.coreset_sc(matrix, k, rng=seed, **options), seeds)  # noqa: B023
            figures += [
                np.median([adjusted_rand_index(classes[known], one.labels[known]) for one, _ in runs]),
                np.median([normalized_mutual_information(classes[known], one.labels[known]) for one, _ in runs]),
                min(one.sizes.min() for one, _ in runs),
                np.median([one for _, one in runs]),
            ]
        found.append(figures)
        rows.append([name, str(k), *(f"{one:.3f}" if i % 4 != 2 else str(int(one)) for i, one in enumerate(figures))])
        print(*rows[-1], flush=True)
    mean = np.mean(found, axis=0)
    total = np.sum(found, axis=0)
    means = [f"{mean[i]:.3f}" if i % 4 < 2 else f"{total[i]:.2f}" if i % 4 == 3 else "" for i in range(8)]
    rows.append([f"mean of {len(found)}", "", *means])
    header = ["graph", "k", *(f"{what}{of}" for of in ("", f", min_size={LEAST}") for what in MEASURED)]
    write_table("bounds_recognition", "Recognition with a minimal size", header, rows, "", whole)


MEASURED = ("ARI", "NMI", "smallest", "seconds")


def compare_weights(seeds: int, whole: bool) -> None:
    import pymetis

    rows = []
    for name, matrix in meshes():
        if matrix.shape[0] > MOST_NODES:
            continue
        weights = np.random.default_rng(matrix.shape[0]).integers(1, 101, matrix.shape[0])
        for k in (8, 64):
            runs = timed(lambda seed: graphclust.balanced_partition(matrix, k, node_weight=weights, rng=seed), seeds)  # noqa: B023
            start = time.perf_counter()
            rows_of = {"xadj": matrix.indptr, "adjncy": matrix.indices, "vweights": weights}
            _, parts = pymetis.part_graph(k, **rows_of, options=pymetis.Options(ufactor=30))
            took, parts = time.perf_counter() - start, np.asarray(parts)
            cuts = [np.median([one.edge_cut for one, _ in runs]), cut_of(matrix, parts)]
            heaviest = [max(imbalance(one.labels, weights, k) for one, _ in runs), imbalance(parts, weights, k)]
            seconds = [np.median([one for _, one in runs]), took]
            rows.append([name, str(k), *(f"{one:.4f}" for one in heaviest), *(f"{one:.0f}" for one in cuts),
                         *(f"{one:.3f}" for one in seconds)])  # fmt: skip
            print(*rows[-1], flush=True)
    header = ["mesh", "k", "heaviest over mean", "METIS", "edge cut", "METIS", "seconds", "METIS"]
    write_table("bounds_weights", "Equal parts of meshes whose nodes weigh 1 to 100", header, rows, "", whole)


def imbalance(labels: np.ndarray, weights: np.ndarray, k: int) -> float:
    return float(np.bincount(labels, weights, minlength=k).max() * k / weights.sum())


def cut_of(matrix: sparse.csr_matrix, labels: np.ndarray) -> float:
    entries = matrix.tocoo()
    return float(entries.data[labels[entries.row] != labels[entries.col]].sum() / 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("communities", "recognition", "weights"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some graphs; the table is printed, not kept")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    wanted, whole = options.only or [""], options.only is None
    small = sparse.csr_matrix(np.kron(np.eye(4), np.ones((6, 6))) + np.eye(24, k=6) + np.eye(24, k=-6))
    graphclust.communities(small, min_size=5, max_size=7, rng=0)  # compile
    graphclust.coreset_sc(small, 3, min_size=5, max_size=9, rng=0)
    if options.what == "communities":
        chosen = ((name, matrix) for name, matrix in graphs() if any(part in name for part in wanted))
        compare_communities(chosen, options.seeds, whole)
    elif options.what == "recognition":
        chosen = (graph for graph in annotated_graphs() if any(part in graph[0] for part in wanted))
        compare_recognition(chosen, options.seeds, whole)
    else:
        compare_weights(options.seeds, whole)


if __name__ == "__main__":
    main()
