"""A first look: cluster a planted graph and the karate club, and compare with the known groups."""

import time
from collections.abc import Iterator

from graphclust.generators import stochastic_block_model
from graphclust.io.formats.toy_graphs import classic_graph
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.progress import Progress
from graphclust.results.clustering import Clustering

BLOCKS, BLOCK_SIZE, P, Q = 50, 1_000, 0.09, 0.0002  # about 90 neighbors inside the block, 10 outside


def demo(seed: int = 0, progress: Progress | None = None) -> Iterator[str]:
    """Pages of text: each graph, its stages with times, sizes, normalized cut and ARI against the known labels."""
    progress = progress or Progress()
    yield f"A stochastic block model: {BLOCKS} blocks of {BLOCK_SIZE:,} nodes, p = {P}, q = {Q}\n"
    start = time.perf_counter()
    graph, planted_labels = stochastic_block_model([BLOCK_SIZE] * BLOCKS, P, Q, rng=seed)
    yield f"  planted in {time.perf_counter() - start:.2f} s"
    start = time.perf_counter()
    coreset_sc(graph, BLOCKS, rng=seed)
    yield f"  loops compiled in {time.perf_counter() - start:.2f} s, once; from now on they come from the cache"
    clustering = coreset_sc(graph, BLOCKS, rng=seed, progress=Progress(progress.listener))
    yield _page(clustering, planted_labels, "the planted blocks")

    yield "\nZachary's karate club, its ties without weights: 34 members and the two clubs they split into\n"
    graph, clubs = classic_graph("karate")
    clustering = coreset_sc(graph, 2, rng=seed, progress=Progress(progress.listener))
    yield _page(clustering, clubs, "the two clubs")


def _page(clustering: Clustering, known_labels, what: str) -> str:
    index = adjusted_rand_index(known_labels, clustering.labels)
    return f"{clustering}\n\n  ARI against {what}: {index:.4f}"
