"""Nearest-neighbor graphs of MNIST (70,000 x 784): time, share of the true neighbors found, and what clustering
makes of it.

GRAPHCLUST_DATA=... python bench_neighbors.py [points, 70,000 by default] [neighbors, 50]
"""

import sys
import time
import warnings

import numpy as np
import peers_data
from tables import write_table

from graphclust import adjusted_rand_index, coreset_sc, knn_graph, nearest_neighbors


def main() -> None:
    images, labels = peers_data.points("mnist")
    points = images.astype(np.uint8)
    n = int(sys.argv[1]) if len(sys.argv) > 1 else len(points)
    k = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    points, labels = points[:n], labels[:n]
    warnings.simplefilter("ignore")
    true = None
    rows = []
    for method, n_probes in (("exact", 1), ("approximate", 4), ("approximate", 16)):
        start = time.perf_counter()
        found = nearest_neighbors(points, k, method=method, n_probes=n_probes, rng=1)[0]
        seconds = time.perf_counter() - start
        true = found if true is None else true
        share = np.mean([len(set(a) & set(b)) / k for a, b in zip(found.tolist(), true.tolist(), strict=True)])
        rows.append([method, f"{n_probes}" if method != "exact" else "", f"{seconds:.1f}", f"{share:.4f}", "", ""])
    graph = knn_graph(points, k, method="approximate", weights="gaussian", rng=1)
    clustering = coreset_sc(graph, 10, rng=1)
    index = adjusted_rand_index(labels, clustering.labels)
    rows.append(["gaussian, coreset_sc", "16", "", "", f"{clustering.normalized_cut:.4f}", f"{index:.4f}"])
    header = ["method", "probes", "seconds", "true neighbors", "normalized cut", "ARI"]
    write_table("neighbors_mnist", f"{k} nearest neighbors of {n:,} MNIST digits", header, rows)


if __name__ == "__main__":
    main()
