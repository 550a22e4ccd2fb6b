"""The adjacency matrix, its nodes ordered by cluster, as a raster of densities: any graph on a few hundred squares."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.runtime.blocks import entry_blocks
from graphclust.graph.container import Graph
from graphclust.results.clustering import Clustering

ENTRIES_PER_BLOCK = 1 << 22  # some 100 MB of scratch


class Raster(NamedTuple):
    """The matrix in squares.

    counts : int64, shape (size, size), stored entries in each square. density : float64, the same over the number of
    places in the square, in [0, 1]. starts : float64, shape (n_clusters + 1,), where each cluster starts and the last
    ends, in squares. order : int64, the rows of the graph from top to bottom; nodes in no cluster are left out.
    """

    counts: npt.NDArray[np.int64]
    density: npt.NDArray[np.float64]
    starts: npt.NDArray[np.float64]
    order: npt.NDArray[np.int64]


def block_raster(clustering: Clustering, size: int = 512) -> Raster:
    """The adjacency matrix by clusters, in each the nodes of high degree first, on at most `size` squares a side."""
    graph, labels = clustering.graph, clustering.labels
    order = np.lexsort((-graph.degrees, labels))[np.count_nonzero(labels < 0) :]
    n = len(order)
    size = min(size, n)
    square = np.full(graph.n_nodes, size)  # one square more, for the nodes in no cluster
    square[order] = np.arange(n) * size // n
    counts = entries_in_squares(graph, square, size + 1)[:size, :size]
    nodes_in = np.bincount(square[order], minlength=size)
    starts = np.concatenate([[0], np.cumsum(clustering.sizes)]) * (size / n)
    return Raster(counts, counts / np.outer(nodes_in, nodes_in), starts, order)


def entries_in_squares(graph: Graph, square: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """How many stored entries (u, v) there are with u in square i and v in square j; int64, shape (size, size)."""
    counts = np.zeros(size * size, np.int64)
    blocks = entry_blocks(graph.indptr, ENTRIES_PER_BLOCK).tolist()
    for first, last in pairwise(blocks):
        lengths = np.diff(graph.indptr[first : last + 1])
        places = np.repeat(square[first:last] * size, lengths)
        places += square[graph.indices[graph.indptr[first] : graph.indptr[last]]]
        counts += np.bincount(places, minlength=size * size)
    return counts.reshape(size, size)
