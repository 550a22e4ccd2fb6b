"""Rounds of kernel k-means on the whole graph: all nodes choose at once, so that threads can share the work."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.blocks import entry_blocks, run_in_blocks
from graphclust.compiled.rounds import choose_clusters
from graphclust.graph import Graph
from graphclust.progress import Progress
from graphclust.refinement.local_moves import inside_and_volume

__all__ = ["Rounds", "run_rounds"]


class Rounds(NamedTuple):
    """Labels after some rounds, int32, and how many nodes had one after each round, the start included."""

    labels: np.ndarray
    n_labelled: list[int]


def run_rounds(graph: Graph, labels: np.ndarray, k: int, n_rounds: int, few: float, progress: Progress) -> Rounds:
    """Let every node join the nearest centroid among its neighbors' clusters, n_rounds times at most.

    labels : int32, shape (n_nodes,), -1 for nodes without a label, which get one as soon as a neighbor has one.
    Stops when a round changes no more than the share `few` of the nodes. A round may raise the normalised cut.
    """
    blocks = entry_blocks(graph.indptr, 1 << 19)
    n_changed = np.zeros(len(blocks) - 1, np.int64)
    n_labelled = [int(np.count_nonzero(labels >= 0))]
    for done in range(n_rounds):
        inside, volume = inside_and_volume(graph, labels, k)
        used = volume > 0
        bias = np.divide(inside, volume * volume, out=np.zeros(k), where=used)
        pull = np.divide(2.0, volume, out=np.zeros(k), where=used)
        chosen = np.empty_like(labels)
        run_in_blocks(
            choose_clusters, blocks, graph.indptr, graph.indices, graph.weights_or_empty, graph.degrees, labels,
            bias, pull, chosen, n_changed,
        )  # fmt: skip
        labels = chosen
        n_labelled.append(int(np.count_nonzero(labels >= 0)))
        progress.step(done + 1, n_rounds)
        if n_changed.sum() <= few * graph.n_nodes:
            break
    return Rounds(labels, n_labelled)
