"""Partitions into several numbers of clusters: how good each k of a path is, the tree of its unions, nested levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_whole_number, check_type
from graphclust.errors import ParameterError
from graphclust.faces.plots.canvas import COLORS, LINE, axes_for
from graphclust.objective.objective import OBJECTIVES
from graphclust.profile.path import ClusterPath
from graphclust.results.hierarchy import Hierarchy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LEAVES = 30  # of a drawn tree
LARGEST_DOT, SMALLEST_DOT = 160.0, 8.0
WIDEST = 3.0  # the logarithm of a range of resolutions, a factor of 20, that has the largest dot
MOST_BOXES = 20_000  # narrower ones than the rest would not show
NAMED_FROM = 0.03  # of the width, a box has room for the number of its nodes


def path_values(path: ClusterPath, *, k: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw how good the partition into each k is; a dot is the larger, the wider the range where its k is the best.

    path : as `cluster_path` gives. k : a number of clusters to mark, such as `path.suggest().k`.

    It is modularity, or for a path of small cuts the normalized cut of an average cluster.

    Raises TypeError for no ClusterPath or no axes, ParameterError for a k that is not on the path, ImportError without
    matplotlib.
    """
    ks, values, widths, name = values_of(path)
    marked = _as_marked(path, k)
    ax = axes_for(ax)
    sizes = SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * np.minimum(widths / WIDEST, 1.0)
    ax.plot(ks, values, color=LINE, linewidth=0.8, zorder=1)
    ax.scatter(ks, values, sizes, color=COLORS[0], zorder=2)
    if marked is not None:
        ax.axvline(marked, color=COLORS[3], linewidth=1.2, zorder=0)
        ax.annotate(f" k = {marked}", (marked, 0.0), xycoords=("data", "axes fraction"), va="bottom", color=COLORS[3])
    if ks[-1] > 20 * max(ks[0], 1):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="clusters k; larger dots: the best at more resolutions", ylabel=name)
    return ax


def tree_of_splits(path: ClusterPath, *, k: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw how the clusters of the largest k are united into one: the higher a union, the weaker the two are linked.

    path : as `cluster_path` gives, with a largest k of at least 2. k : where to cut the tree, into so many clusters. Of
        more than 30 clusters those that are united last are drawn, each with the number of clusters in it.

    Raises TypeError for no ClusterPath or no axes, ParameterError for a path to one cluster only or a k that is not on
    it, ImportError without matplotlib.
    """
    marked, tree = _as_marked(path, k), tree_lines(path)
    ax = axes_for(ax, height=4.0)
    for x, y in zip(tree["icoord"], tree["dcoord"], strict=True):
        ax.plot(x, y, color=LINE, linewidth=1.0)
    at = 5.0 + 10.0 * np.arange(len(tree["ivl"]))
    ax.set_xticks(at, tree["ivl"], rotation=90 if len(at) > 15 else 0, fontsize=8)
    if marked is not None:
        ax.axhline(height_of(path, marked), color=COLORS[3], linewidth=1.2)
        ax.annotate(f"k = {marked} ", (1.0, height_of(path, marked)), xycoords=("axes fraction", "data"), ha="right",
                    va="bottom", color=COLORS[3])  # fmt: skip
    ax.set_yscale("log")
    ax.set_ylim(bottom=float(path.tree()[:, 2].min()) / 1.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="clusters, by number; (n): n clusters united below", ylabel="chance over links between them")
    return ax


def values_of(path: ClusterPath) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64], str]:
    """For each k: k, how good its partition is, the logarithmic width of the range where it is the best; a name."""
    rows = as_path(path).table()
    ks = np.array([row.k for row in rows])
    ranges = np.array([row.best_range for row in rows], np.float64)
    with np.errstate(all="ignore"):
        widths = np.log(ranges[:, 1] / ranges[:, 0])
    widths[~np.isfinite(widths)] = 0.0  # the ends of the path have no neighbor to be compared with
    if OBJECTIVES[path.objective].is_ratio:
        return ks, np.array([row.normalized_cut for row in rows]) / ks, widths, "normalized cut of an average cluster"
    return ks, np.array([row.modularity for row in rows]), widths, "modularity"


def tree_lines(path: ClusterPath) -> dict[str, Any]:
    """Lines and names of the leaves, as SciPy's dendrogram lays them out."""
    from scipy.cluster.hierarchy import dendrogram

    if as_path(path).ks[-1] < 2:
        raise ParameterError("path goes to one cluster only, expected a largest k of at least 2: there is no union")
    tree: dict[str, Any] = dendrogram(path.tree(), p=MOST_LEAVES, truncate_mode="lastp", no_plot=True)
    return tree


def height_of(path: ClusterPath, k: int) -> float:
    """Where a line cuts the tree into k clusters: between the union that leaves k and the one that leaves k - 1."""
    heights = path.tree()[:, 2]
    n = len(heights) + 1
    below = float(heights[n - k - 1]) if k < n else float(heights[0]) / 1.2
    above = float(heights[n - k]) if k > 1 else float(heights[-1]) * 1.2
    return float(np.sqrt(below * above))


def as_path(path: Any) -> ClusterPath:
    """What was passed, if it is a ClusterPath."""
    check_type(path, ClusterPath, "path", "cluster_path(G) returns one")
    return path


def _as_marked(path: ClusterPath, k: int | None) -> int | None:
    if k is None:
        return None
    k = as_whole_number(k, "k", at_least=1)
    if k not in as_path(path):
        raise ParameterError(f"k={k} is not on the path, expected one of its ks, {path.ks[0]} to {path.ks[-1]}")
    return k


def icicle(hierarchy: Hierarchy, *, levels: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the levels from the whole graph down; a cluster stands below the one it is in, the larger to the left.

    hierarchy : as the function `hierarchy` gives. levels : draw the first so many; by default all. A color stands for a
        cluster of the coarsest level and what is inside it.

    Raises TypeError for no Hierarchy or no axes, ParameterError for impossible levels, ImportError without matplotlib.
    """
    check_type(hierarchy, Hierarchy, "hierarchy", "hierarchy(G) returns one")
    n_levels = len(hierarchy.levels)
    shown = n_levels if levels is None else as_whole_number(levels, "levels", at_least=1, at_most=n_levels)
    ax = axes_for(ax, width=8.0, height=1.0 + 0.6 * shown)
    for depth, left, width, top in sorted(boxes_of(hierarchy, shown), key=lambda box: -box[2])[:MOST_BOXES]:
        ax.bar(
            left, 0.92, width, bottom=depth, align="edge", color=COLORS[top % len(COLORS)], edgecolor="white",
            linewidth=0.4, alpha=1.0 - 0.5 * depth / max(shown, 2),
        )  # fmt: skip
        if width >= NAMED_FROM * hierarchy.graph.n_nodes:
            ax.text(left + width / 2, depth + 0.46, f"{width:,}", ha="center", va="center", fontsize=8)
    ax.set(xlim=(0, hierarchy.graph.n_nodes), ylim=(shown, 0), xlabel="nodes")
    ax.set_yticks(np.arange(shown) + 0.46, [f"level {depth}" for depth in range(shown)])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def boxes_of(hierarchy: Hierarchy, n_levels: int) -> list[tuple[int, int, int, Any]]:
    """Of each cluster its level, the place of its left side, its width in nodes, and the coarsest cluster above."""
    order = np.lexsort(hierarchy.levels[n_levels - 1 :: -1])  # by the coarsest level, then by the one below it, ...
    boxes = []
    for depth in range(n_levels):
        labels = hierarchy.levels[depth][order]
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        widths = np.diff(starts, append=len(labels))
        tops = hierarchy.levels[0][order][starts]
        boxes += list(zip([depth] * len(starts), starts.tolist(), widths.tolist(), tops.tolist(), strict=True))
    return boxes
