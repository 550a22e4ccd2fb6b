"""A coreset of 20,000 nodes in 1,000 clusters: block power iteration on B B^T against eigsh and no embedding at all.

    python bench_embedding.py [--repeats 3]

A planted graph of 1,000 blocks of 200 nodes, degree 40 + 4; the coreset graph links nodes by shared neighbors. Seconds
are those of the embedding and of weighted k-means on it (one greedy k-means++ start); ARI is on the coreset nodes.
eigsh of k vectors runs on the formed graph, for some k below 1,000 only: what it costs grows faster than k.
"""

import argparse

import numpy as np
from scipy.sparse import linalg
from tables import write_table
from tools import timed

from graphclust import (
    NormalizedCutKernel,
    adjusted_rand_index,
    block_power_embedding,
    construct_coreset,
    coreset_sc,
    kmeans,
    planted_partition,
    two_step_coreset_graph,
    two_step_factor,
)

K, SIZE = 1000, 20_000


def top_vectors(graph, n_columns: int) -> np.ndarray:
    scale = 1 / np.sqrt(np.maximum(graph.degrees, 1e-300))
    scaled = graph.to_scipy().multiply(scale[:, None]).multiply(scale[None, :]).tocsr()
    vectors = linalg.eigsh(scaled, n_columns, which="LA", v0=np.ones(graph.n_nodes))[1]
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    small = planted_partition(10, 200, 40, 4, rng=0)
    warm = construct_coreset(NormalizedCutKernel.of(small.graph), 10, 500, rng=0)
    kmeans(block_power_embedding(two_step_factor(NormalizedCutKernel.of(small.graph), warm), 10, rng=0), 10, rng=0)

    found: dict[str, list] = {}
    for seed in range(options.repeats):
        planted = planted_partition(K, 200, 40, 4, rng=seed)
        kernel = NormalizedCutKernel.of(planted.graph)
        coreset = construct_coreset(kernel, K, SIZE, rng=seed)
        truth = planted.labels[coreset.nodes]
        forming, factor = timed(two_step_factor, kernel, coreset)
        embeddings = {
            f"block power, {columns} columns": timed(block_power_embedding, factor, columns, rng=seed)
            for columns in (32, 64, 128, 256)
        }
        forming_graph, graph = timed(two_step_coreset_graph, kernel, coreset)
        if seed == 0:
            for columns in (64, 128, 256):
                embeddings[f"eigsh, {columns} vectors"] = timed(top_vectors, graph, columns)
        for name, (seconds, points) in embeddings.items():
            spent, result = timed(kmeans, points, K, sample_weight=coreset.weights, n_init=1, rng=seed)
            agreement = adjusted_rand_index(result.labels, truth)
            found.setdefault(name, []).append((forming + seconds, spent, agreement))
            print(name, *found[name][-1], flush=True)
        linked = np.flatnonzero(~graph.isolated)
        seconds, labels = timed(coreset_sc, graph.subgraph(linked), K, method="multilevel", components="all", rng=seed)
        agreement = adjusted_rand_index(labels.labels, truth[linked])
        found.setdefault("merging, no embedding", []).append((forming_graph + seconds, 0.0, agreement))
    rows = [[name, *(f"{value:.3f}" for value in np.median(runs, axis=0))] for name, runs in found.items()]
    title = f"Embedding a coreset of {SIZE:,} nodes for k = {K:,}"
    write_table(
        "embedding", title, ["method", "embedding s", "k-means s", "ARI on the coreset"], rows, "eigsh ran once."
    )


if __name__ == "__main__":
    main()
