"""Where the time went, how sure the labels are, and whether that sureness can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_whole_number
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.faces.plots.canvas import COLORS, LINE, axes_for, without_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graphclust.results.confidence import Certainty


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
    without_frame(ax)
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
    without_frame(ax)
    ax.set_xlabel("margin to the next cluster")
    ax.set_ylabel(f"nodes, of {len(numbers):,}")
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
    mean_said, mean_right, error = calibration_points(said, right, bins)
    ax.plot([0, 1], [0, 1], color=LINE, linewidth=1, linestyle="--", label="as said")
    ax.errorbar(mean_said, mean_right, 2 * error, marker="o", color=COLORS[0], capsize=3, label="observed")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.legend(frameon=False, loc="upper left")
    without_frame(ax)
    ax.set_xlabel("certainty said")
    ax.set_ylabel("share of nodes that are right")
    return ax


def calibration_points(
    said: npt.NDArray[np.float64], right: npt.NDArray[np.float64], bins: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Mean certainty, share that is right and its standard error, of at most `bins` groups of equally many nodes."""
    groups = [group for group in np.array_split(np.argsort(said, kind="stable"), bins) if len(group)]
    share = np.array([right[group].mean() for group in groups])
    error = np.sqrt(share * (1.0 - share) / [len(group) for group in groups])
    return np.array([said[group].mean() for group in groups]), share, error


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
