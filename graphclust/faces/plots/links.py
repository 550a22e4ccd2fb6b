"""How the clusters lie to each other: the links of their quotient graph that stand out, drawn as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.faces.plots.canvas import LINE, ORDERED, as_clustering, axes_for
from graphclust.results.clustering import Clustering
from graphclust.results.quotient import weights_between

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLUSTERS = 60  # in a picture
LINKS_PER_CLUSTER = 3


class Links(NamedTuple):
    """The clusters of most volume and the links that stand out.

    clusters : int64, shape (c,), their numbers, increasing. pairs : int64, shape (m, 2), places in `clusters`, the
    first of a pair below the second. weight : shape (m,), between the two. excess : shape (m,), the same over what
    chance would put there, vol(a) vol(b) / vol(V).
    """

    clusters: npt.NDArray[np.int64]
    pairs: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]
    excess: npt.NDArray[np.float64]


def excess_over_chance(clustering: Clustering, weight: sparse.csr_array) -> sparse.csr_array:
    """`weights_between` over what chance would put there, vol(a) vol(b) / vol(V); an isolated node has no links."""
    volume = clustering.volume
    inverse = np.divide(1.0, volume, out=np.zeros(len(volume)), where=volume > 0.0)
    share = sparse.dia_array((inverse[None, :], [0]), shape=weight.shape)
    return (share @ weight @ share * clustering.graph.total_volume).tocsr()


def nearest_clusters(clustering: Clustering) -> npt.NDArray[np.int64]:
    """The cluster with which each one's links exceed chance most, shape (n_clusters,); -1 for one without links."""
    excess = excess_over_chance(clustering, weights_between(clustering.graph, clustering.labels, clustering.n_clusters))
    nearest = np.full(clustering.n_clusters, -1)
    for c in np.flatnonzero(np.diff(excess.indptr)).tolist():
        row = slice(excess.indptr[c], excess.indptr[c + 1])
        nearest[c] = excess.indices[row][excess.data[row].argmax()]
    return nearest


def strongest_links(clustering: Clustering, most: int = MOST_CLUSTERS, per_cluster: int = LINKS_PER_CLUSTER) -> Links:
    """The `most` clusters of most volume, and for each of them its links of most excess."""
    clusters = np.sort(np.argsort(-clustering.volume, kind="stable")[:most])
    weights = weights_between(clustering.graph, clustering.labels, clustering.n_clusters)
    weight = weights[clusters][:, clusters].toarray()
    excess = excess_over_chance(clustering, weights)[clusters][:, clusters].toarray()
    nearest = np.argsort(-excess, axis=1, kind="stable")[:, :per_cluster]
    chosen = np.zeros(excess.shape, bool)
    np.put_along_axis(chosen, nearest, True, axis=1)
    chosen = np.triu((chosen | chosen.T) & (excess > 0.0), 1)
    a, b = np.nonzero(chosen)
    return Links(clusters, np.stack([a, b], axis=1), weight[a, b], excess[a, b])


def places(links: Links) -> npt.NDArray[np.float64]:
    """Where to draw the clusters, in the unit square, shape (c, 2): those with links of more excess nearer."""
    import networkx as nx

    n = len(links.clusters)
    if n == 1:
        return np.full((1, 2), 0.5)
    G = nx.Graph()
    G.add_nodes_from(range(n))
    top = float(links.excess.max(initial=1.0))
    for (a, b), excess in zip(links.pairs.tolist(), links.excess.tolist(), strict=True):
        G.add_edge(a, b, weight=0.2 + excess / top)
    found = nx.spring_layout(G, seed=0, k=1.6 / np.sqrt(n), iterations=200)
    xy = np.array([found[c] for c in range(n)])
    low, span = xy.min(axis=0), np.ptp(xy, axis=0)
    return np.where(span > 0, (xy - low) / np.where(span > 0, span, 1.0), 0.5)


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
