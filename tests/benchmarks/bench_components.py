"""Graphs of several components: which take part, and whether the clusters of the largest stay what they are alone.

    GRAPHCLUST_DATA=... python bench_components.py [--seeds 3]

A planted graph, or one without communities, with 1 to 50 extra components of 2 nodes to half of all nodes, paths or
random graphs; and the real graphs as they are, of which most other tables take the largest component. Both questions:
exactly k, and communities at resolution 1. "alone" is the same question for the largest component by itself. The
agreement (adjusted Rand index, mean of the seeds) is that of the largest component's nodes with the planted blocks or
the annotated classes; nodes in no cluster are alike. spread is that of the modularity over the seeds, in per cent.
"""

import argparse
import os
import pathlib
import time
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import networkx as nx
import numpy as np
from peers_data import largest_component, planted, real_graph
from scipy import sparse
from scipy.sparse import csgraph
from tables import write_table

import graphclust

EXTRAS = (
    (1, (2, 10, 45, 200, 1000, 2000)), (4, (2, 10, 40, 45, 100, 200, 500)), (10, (5, 50, 200)), (50, (2, 10, 40)),
)  # fmt: skip
LARGEST, MEAN_DEGREE, CLASSLESS_K = "largest component", 8, 20


class Case(NamedTuple):
    """A graph, the labels to find (-1: unknown), and the number of clusters to ask for."""

    name: str
    matrix: sparse.csr_matrix
    labels: np.ndarray
    k: int


def path(n: int, seed: int) -> sparse.csr_matrix:
    return sparse.csr_matrix(nx.to_scipy_sparse_array(nx.path_graph(n), dtype=float))


def random_graph(n: int, seed: int) -> sparse.csr_matrix:
    degree = min(MEAN_DEGREE, n - 1)
    made = nx.random_regular_graph(degree, n, seed=seed) if n * degree % 2 == 0 else nx.complete_graph(n)
    return sparse.csr_matrix(nx.to_scipy_sparse_array(made, dtype=float))


def made_cases() -> Iterator[Case]:
    """Planted and structureless graphs with extra components, which are labeled -1."""
    blocks, of_block = largest_component(*planted("5x400:8:1.6"))
    blob = random_graph(2000, 7)
    for base, found, k, name in ((blocks, of_block, 5, "5 blocks"), (blob, np.zeros(2000, int), 2, "no blocks")):
        for kind, make in (("paths", path), ("random graphs", random_graph)):
            for count, sizes in EXTRAS:
                for size in sizes:
                    parts = [base, *(make(size, seed) for seed in range(count))]
                    labels = np.append(found, np.full(count * size, -1))
                    of = kind[:-1] if count == 1 else kind
                    yield Case(
                        f"{name} + {count} {of} of {size}", sparse.csr_matrix(sparse.block_diag(parts)), labels, k
                    )


def real_cases() -> Iterator[Case]:
    """The real graphs that have several components; k is the number of classes, if any."""
    for file in sorted((pathlib.Path(os.environ["GRAPHCLUST_DATA"]) / "graphs").glob("*.npz")):
        matrix, labels = real_graph(file)
        if csgraph.connected_components(matrix, directed=False)[0] > 1:
            n_classes = len(np.unique(labels[labels >= 0]))
            yield Case(file.stem, matrix, labels, n_classes if 1 < n_classes <= 100 else CLASSLESS_K)


def agreement(found: np.ndarray, labels: np.ndarray, nodes: np.ndarray) -> float:
    known = nodes[labels[nodes] >= 0]
    if len(known) == 0:
        return float("nan")
    return float(graphclust.adjusted_rand_index(found[known] + 1, labels[known]))


def row_of(case: Case, question: str, seeds: int) -> list[str]:
    """What a question finds in a graph, and in its largest component alone."""

    def ask(matrix: sparse.csr_matrix, seed: int) -> graphclust.Clustering:
        call: Callable = graphclust.communities if question == "communities" else graphclust.coreset_sc
        return call(matrix, *([] if question == "communities" else [case.k]), rng=seed)

    _, component = csgraph.connected_components(case.matrix, directed=False)
    nodes = np.flatnonzero(component == np.bincount(component).argmax())
    start = time.perf_counter()
    found = [ask(case.matrix, seed) for seed in range(seeds)]
    seconds = (time.perf_counter() - start) / seeds
    part = sparse.csr_matrix(case.matrix[nodes][:, nodes])
    alone = [ask(part, seed) for seed in range(seeds)]
    first = found[0]
    inside = first.labels[nodes]
    n_inside = len(np.unique(inside[inside >= 0]))
    values = np.array([one.modularity for one in found])
    together = float(np.mean([agreement(one.labels, case.labels, nodes) for one in found]))
    by_itself = float(np.mean([agreement(one.labels, case.labels[nodes], np.arange(len(nodes))) for one in alone]))
    decided = np.mean([one.seconds.get("components", 0.0) for one in found])
    return [
        case.name, f"{1.0 - len(nodes) / len(component):.1%}", str(component.max()), question,
        f"{n_inside} of {first.n_clusters}", str(first.n_aside), f"{together:.3f}", f"{by_itself:.3f}",
        f"{100.0 * np.ptp(values) / max(abs(values.mean()), 1e-12):.2f}", f"{1e3 * decided:.1f}", f"{seconds:.3f}",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    rows = []
    for case in (*made_cases(), *real_cases()):
        for question in (f"k = {case.k}", "communities"):
            rows.append(row_of(case, question, options.seeds))
            print(*rows[-1], sep=" | ", flush=True)
    header = ["graph", "outside the largest", "other components", "question", "clusters inside the largest"]
    header += ["nodes aside", "agreement", "alone", "spread, %", "ms to choose", "s"]
    write_table("components_1", "Graphs of several components", header, rows)


if __name__ == "__main__":
    main()
