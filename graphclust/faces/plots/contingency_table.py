"""Two labelings of the same nodes: how many nodes each cluster of the one shares with each of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.faces.plots.canvas import ORDERED, axes_for
from graphclust.objective.agreement import joint_sizes
from graphclust.objective.labels import LabelsLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLUSTERS = 200  # of either labeling, the largest; of more a row would be thinner than a line
MOST_NUMBERS = 15  # clusters of either labeling up to which the numbers of nodes are written into the picture


class Shared(NamedTuple):
    """A table of two labelings.

    counts : nodes that a cluster of the first (row) shares with one of the second (column), int64.
    rows, columns : the labels that they stand for, in their order.
    n_left_out : nodes in clusters that are too many to be shown.
    """

    counts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    n_left_out: int


def contingency(labels: LabelsLike, other: LabelsLike, *, ax: Axes | None = None) -> Axes:
    """Draw which clusters of one labeling become which of another, as the share of each row's nodes in each column.

    labels, other : two labelings of the same nodes, see `adjusted_rand_index`. Rows are the clusters of `labels`,
        the largest on top; columns those of `other`, each below the row that holds most of it. So equal labelings
        make a diagonal, a split cluster a row of several squares, and clusters that were united a column.

    Nodes labeled -1 in either are left out, and the smallest of more than 200 clusters. Raises what
    `adjusted_rand_index` raises, TypeError for no axes, ImportError without matplotlib.
    """
    shared = table_of_labelings(labels, other)
    n_rows, n_columns = shared.counts.shape
    ax = axes_for(ax)
    share = shared.counts / shared.counts.sum(axis=1, keepdims=True)
    shown = np.ma.masked_equal(share, 0.0)
    image = ax.imshow(shown, cmap=ORDERED, vmin=0.0, vmax=1.0, interpolation="nearest", aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="share of the row's nodes", shrink=0.8)
    if max(n_rows, n_columns) <= MOST_NUMBERS:
        for i, j in np.argwhere(shared.counts).tolist():
            color = "black" if share[i, j] > 0.5 else "white"
            ax.text(j, i, f"{shared.counts[i, j]:,}", ha="center", va="center", fontsize=8, color=color)
        ax.set_xticks(range(n_columns), shared.columns.tolist())
        ax.set_yticks(range(n_rows), shared.rows.tolist())
    else:
        ax.set_xticks([])
        ax.set_yticks([])
    ax.tick_params(length=0)
    left_out = f"; {shared.n_left_out:,} nodes in smaller ones left out" if shared.n_left_out else ""
    ax.set_xlabel(f"{n_columns:,} clusters of the second labeling{left_out}")
    ax.set_ylabel(f"{n_rows:,} clusters of the first")
    return ax


def table_of_labelings(labels: LabelsLike, other: LabelsLike) -> Shared:
    """The table of two labelings, its rows by size and its columns by the row that holds most of each.

    >>> shared = table_of_labelings([0, 0, 0, 1, 1, 1, 1], [5, 5, 5, 2, 2, 2, 5])
    >>> shared.counts.tolist(), shared.rows.tolist(), shared.columns.tolist()
    ([[3, 1], [0, 3]], [1, 0], [2, 5])
    """
    pairs, of_first, of_second = joint_sizes(labels, other)
    rows, columns = (
        np.argsort(-sizes, kind="stable")[: min(np.count_nonzero(sizes), MOST_CLUSTERS)]
        for sizes in (of_first, of_second)
    )
    counts = pairs.tocsr()[rows][:, columns].toarray()
    rows, counts = rows[is_held := counts.any(axis=1)], counts[is_held]
    columns, counts = columns[is_held := counts.any(axis=0)], counts[:, is_held]
    order = np.lexsort((-counts.max(axis=0), counts.argmax(axis=0)))
    return Shared(counts[:, order], rows, columns[order], int(of_first.sum() - counts.sum()))
