"""The adjacency matrix with its nodes ordered by cluster: dense squares along the diagonal are what was looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphclust.checks import as_whole_number
from graphclust.faces.plots.canvas import COLORS, as_clustering, axes_for
from graphclust.faces.plots.raster import block_raster
from graphclust.results.clustering import Clustering

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SQUARES = 60  # clusters whose squares are drawn
PALEST = 0.3  # of the lowest density: below it the color would be white
LEAST_SHARE_NAMED = 0.03  # of the side, for a cluster's number beside it


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
