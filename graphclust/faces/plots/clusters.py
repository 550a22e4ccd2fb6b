"""A clustering: the adjacency matrix by cluster, the quotient graph as a map, the coreset in its spectral embedding."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.checks import Seed, as_generator, as_whole_number
from graphclust.compiled.runtime.blocks import entry_blocks
from graphclust.coreset.sampling import CoresetSample, construct_coreset
from graphclust.errors import ParameterError
from graphclust.faces.plots.canvas import COLORS, LINE, MARKERS, ORDERED, as_clustering, axes_for
from graphclust.graph.container import Graph
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.results.clustering import Clustering
from graphclust.results.quotient import weights_between
from graphclust.spectral.embedding import block_power_embedding
from graphclust.two_step.method import default_size
from graphclust.two_step.shared_neighbors import two_step_factor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENTRIES_PER_BLOCK = 1 << 22  # some 100 MB of scratch
MOST_SQUARES = 60  # clusters whose squares are drawn
PALEST = 0.3  # of the lowest density: below it the color would be white
LEAST_SHARE_NAMED = 0.03  # of the side, for a cluster's number beside it
MOST_CLUSTERS = 60  # of a quotient graph that is drawn
LINKS_PER_CLUSTER = 3
MOST_NAMED = 30  # clusters whose numbers are written


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
    for first, last in pairwise(entry_blocks(graph.indptr, ENTRIES_PER_BLOCK).tolist()):
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
    ax.set(xlabel=f"{len(raster.order):,} nodes, by cluster", ylabel="cluster")
    return ax


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


def excess_over_chance(clustering: Clustering) -> tuple[sparse.csr_array, sparse.csr_array]:
    """`weights_between`, and these over what chance would put there, vol(a) vol(b) / vol(V)."""
    volume = clustering.volume
    weight = weights_between(clustering.graph, clustering.labels, clustering.n_clusters)
    inverse = np.divide(1.0, volume, out=np.zeros(len(volume)), where=volume > 0.0)  # an isolated node has no links
    share = sparse.diags_array(inverse)
    return weight, (share @ weight @ share * clustering.graph.total_volume).tocsr()


def nearest_clusters(clustering: Clustering) -> npt.NDArray[np.int64]:
    """The cluster with which each one's links exceed chance most, shape (n_clusters,); -1 for one without links."""
    _, excess = excess_over_chance(clustering)
    return np.where(np.diff(excess.indptr) > 0, np.ravel(excess.argmax(axis=1)), -1)


def strongest_links(clustering: Clustering, per_cluster: int = LINKS_PER_CLUSTER) -> Links:
    """The clusters of most volume, and for each of them its links of most excess."""
    clusters = np.sort(np.argsort(-clustering.volume, kind="stable")[:MOST_CLUSTERS])
    weight, excess = (values[clusters][:, clusters].toarray() for values in excess_over_chance(clustering))
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
    G = nx.Graph()
    G.add_nodes_from(range(n))
    top = float(links.excess.max(initial=1.0))
    for (a, b), excess in zip(links.pairs.tolist(), links.excess.tolist(), strict=True):
        G.add_edge(a, b, weight=0.2 + excess / top)
    place = nx.spring_layout(G, seed=0, k=1.6 / np.sqrt(n), iterations=200)
    xy = np.array([place[c] for c in range(n)])
    low, span = xy.min(axis=0), np.ptp(xy, axis=0)
    return np.where(span > 0, (xy - low) / np.where(span > 0, span, 1.0), 0.5)


def widths(links: Links, volume: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How wide to draw the links, by their share of the smaller side's volume; volume : of `links.clusters`."""
    share = links.weight / volume[links.pairs].min(axis=1)
    return 0.5 + 6.0 * share / max(float(share.max(initial=0.0)), 1e-300)


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
    lines = LineCollection(list(xy[links.pairs]), linewidths=widths(links, volume), colors=LINE, alpha=0.35, zorder=1)
    ax.add_collection(lines)
    disks = ax.scatter(
        xy[:, 0], xy[:, 1], s=60.0 + 1500.0 * volume / volume.max(), c=clustering.conductance[links.clusters],
        cmap=ORDERED, vmin=0.0, edgecolors="white", linewidths=1.0, zorder=2,
    )  # fmt: skip
    middle = float(clustering.conductance[links.clusters].max(initial=0.0)) / 2
    for (x, y), c in zip(xy.tolist(), links.clusters.tolist(), strict=True):
        color = "white" if clustering.conductance[c] < middle else "black"
        ax.text(x, y, str(c), ha="center", va="center", fontsize=8, color=color, zorder=3)
    ax.figure.colorbar(disks, ax=ax, label="conductance", shrink=0.8)
    hidden = clustering.n_clusters - len(links.clusters)
    more = f", {hidden:,} smaller ones not shown" if hidden else ""
    ax.set(xlim=(-0.12, 1.12), ylim=(-0.12, 1.12), xticks=[], yticks=[])
    ax.set_xlabel(f"{len(links.clusters)} clusters, area by volume{more}")
    return ax


def embedding(
    clustering: Clustering, *, first: int = 1, second: int = 2, rng: Seed = 0, ax: Axes | None = None
) -> Axes:
    """Draw coreset nodes at two coordinates of their spectral embedding, marked by cluster.

    clustering : a `Clustering`; its coreset is drawn, or a new one, if its method needed none.
    first, second : which eigenvectors of the coreset's two-step graph, by decreasing eigenvalue from 0; vector 0 is
        constant but for the degrees. rng : for the sample and for the power method.

    Raises TypeError for no Clustering or no axes, ParameterError where there are not so many eigenvectors, ImportError
    without matplotlib.
    """
    clustering, rng = as_clustering(clustering), as_generator(rng)
    first = as_whole_number(first, "first", at_least=0)
    second = as_whole_number(second, "second", at_least=0)
    ax = axes_for(ax)
    graph = clustering.graph
    kernel = NormalizedCutKernel.of(graph)
    if clustering.coreset is not None:
        coreset = CoresetSample(clustering.coreset.nodes, clustering.coreset.weights)
    else:
        size = max(clustering.n_clusters, default_size(graph.n_nodes, graph.n_entries, clustering.n_clusters))
        coreset = construct_coreset(kernel, clustering.n_clusters, size, rng=rng)
    labels = clustering.labels[coreset.nodes]
    if max(first, second) >= len(coreset.nodes):
        given = f"first={first}, second={second} are too many for a coreset of {len(coreset.nodes)} nodes"
        raise ParameterError(f"{given}, expected numbers below that")
    n_columns = min(len(coreset.nodes), max(clustering.n_clusters, first + 1, second + 1))
    factor = two_step_factor(kernel, coreset)
    points = block_power_embedding(factor, n_columns, rows="degree", rng=rng)[:, [first, second]]
    for c in range(clustering.n_clusters):
        own = points[labels == c]
        marker, color = MARKERS[c // len(COLORS) % len(MARKERS)], COLORS[c % len(COLORS)]
        ax.scatter(own[:, 0], own[:, 1], s=14, marker=marker, color=color, alpha=0.7, linewidths=0, label=f"{c}")
        if len(own) and c < MOST_NAMED:
            box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": LINE, "linewidth": 0.5}
            ax.annotate(str(c), np.median(own, axis=0), ha="center", va="center", fontsize=7, bbox=box)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel=f"eigenvector {first} of the coreset's two-step graph", ylabel=f"eigenvector {second}")
    return ax
