"""Where the time went, how sure the labels are, whether that sureness can be trusted, and how two labelings agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_whole_number
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.faces.plots.canvas import COLORS, LINE, ORDERED, axes_for
from graphclust.objective.agreement import joint_sizes
from graphclust.objective.labels import LabelsLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graphclust.results.confidence import Certainty
MOST_CLUSTERS = 200  # of either labeling, the largest; of more a row would be thinner than a line
MOST_NUMBERS = 15  # clusters of either labeling up to which the numbers of nodes are written into the picture


def stage_times(result: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the seconds of each stage as bars, the first stage on top.

    result : anything with `seconds` (a `Clustering`, a `Progress`), or a mapping from stage to seconds.

    Raises TypeError for what has no seconds, ParameterError where there is no stage, ImportError without matplotlib.
    """
    seconds = result if isinstance(result, Mapping) else getattr(result, "seconds", None)
    if not isinstance(seconds, Mapping):
        raise TypeError(f"result is a {type(result).__name__}, expected a Clustering or a mapping of stages to seconds")
    if not seconds:
        raise ParameterError("result has no stages, expected seconds of at least one")
    ax = axes_for(ax, height=0.8 + 0.4 * len(seconds))
    names, values = list(seconds), [float(value) for value in seconds.values()]
    bars = ax.barh(names, values, color=COLORS[0])
    ax.bar_label(bars, [f"{value:.3g} s" if value >= 0.001 else "< 1 ms" for value in values], padding=3)
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(f"seconds, {sum(values):.3g} in all")
    return ax


def margins(values: Certainty | npt.ArrayLike, *, bins: int = 40, ax: Axes | None = None) -> Axes:
    """Draw how many nodes have which margin: by how much each prefers its own cluster to the next.

    values : a `Certainty`, or a margin for each node, shape (n_nodes,); near 0 a node could be in either. Nodes that
        cannot go elsewhere, whose margin is infinite or NaN, are left out.
    bins : >= 1.

    Raises GraphValidationError for what is no list of numbers, ParameterError for bins, ImportError without matplotlib.
    """
    given: Any = values
    numbers = _as_numbers(getattr(given, "margins", given), "values")
    numbers = numbers[np.isfinite(numbers)]
    bins = as_whole_number(bins, "bins", at_least=1)
    ax = axes_for(ax, height=3.5)
    ax.hist(numbers, bins=bins, color=COLORS[0])
    median = float(np.median(numbers))
    ax.axvline(median, color=COLORS[3], linewidth=1.5)
    ax.annotate(f" median {median:.3g}", (median, 1.0), xycoords=("data", "axes fraction"), va="top", color=COLORS[3])
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="margin to the next cluster", ylabel=f"nodes, of {len(numbers):,}")
    return ax


def calibration(certainty: npt.ArrayLike, correct: npt.ArrayLike, *, bins: int = 10, ax: Axes | None = None) -> Axes:
    """Draw how often nodes are right against how certain their labels were said to be.

    certainty : in [0, 1], shape (n_nodes,). correct : true where the label is right, shape (n_nodes,). bins : groups of
        equally many nodes, >= 1.

    On the diagonal certainties are what they say; below it they promise too much. Bars are twice the standard error.

    Raises GraphValidationError for other shapes or values, ParameterError for bins, ImportError without matplotlib.
    """
    said, right = _as_numbers(certainty, "certainty"), _as_numbers(correct, "correct")
    if said.shape != right.shape:
        raise GraphValidationError(f"correct has shape {right.shape}, expected that of certainty: {said.shape}")
    known = ~(np.isnan(said) | np.isnan(right))
    said, right = said[known], right[known]
    for name, array in (("certainty", said), ("correct", right)):
        if len(array) and (array.min() < 0.0 or array.max() > 1.0):
            raise GraphValidationError(f"{name} runs from {array.min():g} to {array.max():g}, expected 0 to 1")
    bins = as_whole_number(bins, "bins", at_least=1)
    ax = axes_for(ax, width=5.0)
    groups = [group for group in np.array_split(np.argsort(said, kind="stable"), bins) if len(group)]
    mean_said, mean_right = (np.array([of_node[group].mean() for group in groups]) for of_node in (said, right))
    error = np.sqrt(mean_right * (1.0 - mean_right) / [len(group) for group in groups])
    ax.plot([0, 1], [0, 1], color=LINE, linewidth=1, linestyle="--", label="as said")
    ax.errorbar(mean_said, mean_right, 2 * error, marker="o", color=COLORS[0], capsize=3, label="observed")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set(xlabel="certainty said", ylabel="share of nodes that are right")
    ax.legend(frameon=False, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _as_numbers(values: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise GraphValidationError(
            f"{name} has shape {array.shape} and dtype {array.dtype}, expected a number for each node: (n_nodes,)"
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).any():
        raise GraphValidationError(f"{name} holds no numbers, expected at least one")
    return array


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
        ax.set(xticks=[], yticks=[])
    ax.tick_params(length=0)
    left_out = f"; {shared.n_left_out:,} nodes in smaller ones left out" if shared.n_left_out else ""
    ax.set(
        xlabel=f"{n_columns:,} clusters of the second labeling{left_out}", ylabel=f"{n_rows:,} clusters of the first"
    )
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
