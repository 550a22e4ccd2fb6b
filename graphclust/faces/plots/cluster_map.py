"""The quotient graph: each cluster a disk, the links between clusters that stand out as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphclust.faces.plots.canvas import LINE, ORDERED, as_clustering, axes_for
from graphclust.faces.plots.links import places, strongest_links
from graphclust.results.clustering import Clustering

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def quotient(clustering: Clustering, *, ax: Axes | None = None) -> Axes:
    """Draw the clusters as disks, and the links between them that exceed chance most as lines.

    clustering : a `Clustering`; of more than 60 clusters those of most volume are drawn.

    The area of a disk is the cluster's volume, its color its conductance. Three links of each cluster are drawn, the
    wider the more of the smaller side's volume they carry; clusters with strong links lie near each other.

    Raises TypeError for no Clustering or no axes, ImportError without matplotlib.
    """
    clustering = as_clustering(clustering)
    ax = axes_for(ax)
    from matplotlib.collections import LineCollection

    links = strongest_links(clustering)
    xy, volume = places(links), clustering.volume[links.clusters]
    share = links.weight / np.minimum(volume[links.pairs[:, 0]], volume[links.pairs[:, 1]])
    widths = 0.5 + 6.0 * share / max(float(share.max(initial=0.0)), 1e-300)
    ax.add_collection(LineCollection(list(xy[links.pairs]), linewidths=widths, colors=LINE, alpha=0.35, zorder=1))
    disks = ax.scatter(
        xy[:, 0], xy[:, 1], s=60.0 + 1500.0 * volume / volume.max(), c=clustering.conductance[links.clusters],
        cmap=ORDERED, vmin=0.0, edgecolors="white", linewidths=1.0, zorder=2,
    )  # fmt: skip
    middle = float(clustering.conductance[links.clusters].max(initial=0.0)) / 2
    for (x, y), c in zip(xy.tolist(), links.clusters.tolist(), strict=True):
        color = "white" if clustering.conductance[c] < middle else "black"
        ax.text(x, y, str(c), ha="center", va="center", fontsize=8, color=color, zorder=3)
    ax.figure.colorbar(disks, ax=ax, label="conductance", shrink=0.8)
    ax.set_xlim(-0.12, 1.12)
    ax.set_ylim(-0.12, 1.12)
    ax.set_xticks([])
    ax.set_yticks([])
    hidden = clustering.n_clusters - len(links.clusters)
    more = f", {hidden:,} smaller ones not shown" if hidden else ""
    ax.set_xlabel(f"{len(links.clusters)} clusters, area by volume{more}")
    return ax
