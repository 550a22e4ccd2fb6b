"""Nested levels of clusters as an icicle: a row for each level, a box for each cluster, as wide as it has nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphclust.checks import as_whole_number, check_type
from graphclust.faces.plots.canvas import COLORS, axes_for
from graphclust.results.hierarchy import Hierarchy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BOXES = 20_000  # narrower ones than the rest would not show
NAMED_FROM = 0.03  # of the width, a box has room for the number of its nodes


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
    boxes = boxes_of(hierarchy, shown)
    boxes = sorted(boxes, key=lambda box: -box[2])[:MOST_BOXES]
    for depth, left, width, top in boxes:
        ax.bar(
            left, 0.92, width, bottom=depth, align="edge", color=COLORS[top % len(COLORS)], edgecolor="white",
            linewidth=0.4, alpha=1.0 - 0.5 * depth / max(shown, 2),
        )  # fmt: skip
        if width >= NAMED_FROM * hierarchy.graph.n_nodes:
            ax.text(left + width / 2, depth + 0.46, f"{width:,}", ha="center", va="center", fontsize=8)
    ax.set_xlim(0, hierarchy.graph.n_nodes)
    ax.set_ylim(shown, 0)
    ax.set_yticks(np.arange(shown) + 0.46, [f"level {depth}" for depth in range(shown)])
    ax.set_xlabel("nodes")
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0)
    return ax


def boxes_of(hierarchy: Hierarchy, n_levels: int) -> list[tuple[int, int, int, Any]]:
    """Of each cluster its level, the place of its left side, its width in nodes, and the coarsest cluster above."""
    order = np.lexsort(hierarchy.levels[n_levels - 1 :: -1])  # by the coarsest level, then by the one below it, ...
    found = []
    for depth in range(n_levels):
        labels = hierarchy.levels[depth][order]
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        widths = np.diff(starts, append=len(labels))
        tops = hierarchy.levels[0][order][starts]
        found += list(zip([depth] * len(starts), starts.tolist(), widths.tolist(), tops.tolist(), strict=True))
    return found
