"""Rounds of kernel k-means on the whole graph: all nodes choose at once, so that threads can share the work."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.blocks import entry_blocks, run_in_blocks
from graphclust.compiled.rounds import choose_clusters
from graphclust.graph import Graph
from graphclust.progress import Progress
from graphclust.refinement.local_moves import inside_and_volume

__all__ = ["Spread", "run_round", "run_rounds", "spread_labels"]


class Spread(NamedTuple):
    """Labels, int32, and how many nodes had one at the start and after each round."""

    labels: np.ndarray
    n_labelled: list[int]


def spread_labels(graph: Graph, labels: np.ndarray, k: int, n_rounds: int, progress: Progress) -> Spread:
    """Rounds of `run_round` until every node has a label, at least one and at most n_rounds."""
    n_labelled = [int(np.count_nonzero(labels >= 0))]
    for done in range(n_rounds):
        labels, _ = run_round(graph, labels, k)
        n_labelled.append(int(np.count_nonzero(labels >= 0)))
        progress.step(done + 1, n_rounds)
        if n_labelled[-1] in (graph.n_nodes, n_labelled[-2]):
            break
    return Spread(labels, n_labelled)


def run_rounds(graph: Graph, labels: np.ndarray, k: int, n_rounds: int, few: float, progress: Progress) -> np.ndarray:
    """Rounds of `run_round` until one changes no more than the share `few` of the nodes, at most n_rounds."""
    for done in range(n_rounds):
        labels, n_changed = run_round(graph, labels, k)
        progress.step(done + 1, n_rounds)
        if n_changed <= few * graph.n_nodes:
            break
    return labels


def run_round(graph: Graph, labels: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    """Every node joins the nearest centroid among its neighbors' clusters; new labels, and how many changed.

    labels : int32, shape (n_nodes,), -1 for nodes without a label: they get one as soon as a neighbor has one. A round
    may raise the normalised cut.
    """
    inside, volume = inside_and_volume(graph, labels, k)
    used = volume > 0
    bias = np.divide(inside, volume * volume, out=np.zeros(k), where=used)
    pull = np.divide(2.0, volume, out=np.zeros(k), where=used)
    blocks = entry_blocks(graph.indptr, 1 << 19)
    n_changed = np.zeros(len(blocks) - 1, np.int64)
    chosen = np.empty_like(labels)
    run_in_blocks(
        choose_clusters, blocks, graph.indptr, graph.indices, graph.weights_or_empty, graph.degrees, labels,
        bias, pull, chosen, n_changed,
    )  # fmt: skip
    return chosen, int(n_changed.sum())
