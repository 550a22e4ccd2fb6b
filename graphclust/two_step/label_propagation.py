"""Label propagation along the edges, from labeled nodes to unlabeled neighbors."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.label_propagation import choose_clusters
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.graph.container import Graph
from graphclust.progress import Progress

__all__ = ["Spread", "spread_labels"]

NODES_PER_BLOCK = 1 << 14  # a quarter of ROWS_PER_BLOCK: few nodes are left, and all threads should have some


class Spread(NamedTuple):
    """Labels, int32, and how many nodes with edges had one at the start and after each round."""

    labels: np.ndarray
    n_labeled: list[int]


def spread_labels(graph: Graph, labels: np.ndarray, k: int, few: float, progress: Progress) -> Spread:
    """In each round every unlabeled node with edges takes the label to which it has most edge weight.

    labels : int32 in [-1, k), shape (n_nodes,). few : the last round is the one in which at most this share of the
    nodes without a label gets one. A round reads the rows of all nodes without a label.
    """
    labels = labels.copy()
    missing = np.flatnonzero((labels < 0) & ~graph.isolated)
    n_points = graph.n_nodes - int(np.count_nonzero(graph.isolated))
    n_labeled = [n_points - len(missing)]
    while len(missing):
        chosen = np.empty(len(missing), np.int32)
        progress.reads(graph, int((graph.indptr[missing + 1] - graph.indptr[missing]).sum()))
        blocks = row_blocks(len(missing), NODES_PER_BLOCK)
        run_in_blocks(choose_clusters, blocks, k, missing, graph.rows, labels, chosen)
        labels[missing] = chosen
        before, missing = len(missing), missing[chosen < 0]
        n_labeled.append(n_points - len(missing))
        progress.step(n_labeled[-1], n_points)
        if before - len(missing) <= few * before:
            break
    return Spread(labels, n_labeled)
