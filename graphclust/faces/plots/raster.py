"""The adjacency matrix, its nodes ordered by cluster, as a raster of densities, drawn on a few hundred squares."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_whole_number
from graphclust.compiled.runtime.blocks import entry_blocks
from graphclust.faces.plots.canvas import COLORS, as_clustering, axes_for
from graphclust.graph.container import Graph
from graphclust.results.clustering import Clustering

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENTRIES_PER_BLOCK = 1 << 22  # some 100 MB of scratch
MOST_SQUARES = 60  # clusters whose squares are drawn
PALEST = 0.3  # of the lowest density: below it the color would be white
LEAST_SHARE_NAMED = 0.03  # of the side, for a cluster's number beside it


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


def adjacency(clustering: Clustering, *, size: int = 512, ax: Axes | None = None) -> Axes:
    """Draw the adjacency matrix ordered by cluster, as the share of node pairs that are linked in each small square.

    clustering : a `Clustering`; its largest cluster comes first, and in each cluster the nodes of high degree.
    size : squares along a side, >= 1; a graph of fewer nodes has one for each.

    Nodes in no cluster are left out. One pass over the edges, 100 million entries take seconds.

    Raises TypeError for no Clustering or no axes, ParameterError for an impossible size, ImportError without
    matplotlib.
    """
    clustering = as_clustering(clustering)
    size = as_whole_number(size, "size", at_least=1)
    ax = axes_for(ax)
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    raster = block_raster(clustering, size)
    side = len(raster.density)
    shown = np.ma.masked_equal(raster.density, 0.0)
    lowest, highest = (float(shown.min()), float(shown.max())) if shown.count() else (0.1, 1.0)
    norm = LogNorm(min(lowest, highest / 10.0) * PALEST, highest)
    image = ax.imshow(shown, cmap="Blues", norm=norm, interpolation="nearest", extent=(0, side, side, 0))
    ax.figure.colorbar(image, ax=ax, label="share of node pairs linked", shrink=0.8)
    middles, widths = (raster.starts[1:] + raster.starts[:-1]) / 2, np.diff(raster.starts)
    if len(widths) <= MOST_SQUARES:
        for start, width in zip(raster.starts.tolist(), widths.tolist(), strict=False):
            ax.add_patch(Rectangle((start, start), width, width, fill=False, edgecolor=COLORS[3], linewidth=0.8))
    named = np.flatnonzero(widths >= LEAST_SHARE_NAMED * side)
    ax.set_xticks(middles[named], named)
    ax.set_yticks(middles[named], named)
    ax.tick_params(length=0)
    ax.set_xlabel(f"{len(raster.order):,} nodes, by cluster")
    ax.set_ylabel("cluster")
    return ax
