"""Means with their spread over repeats, as curves and as tables."""

from collections.abc import Sequence
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

Row = dict[str, Any]

plt.rcParams.update({
    "figure.dpi": 72,
    "savefig.dpi": 72,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "legend.frameon": False,
    "legend.fontsize": 9,
})  # fmt: skip
COLORS = matplotlib.colormaps["tab10"].colors
MARKERS = "osD^vPX*<>"


def groups(rows: Sequence[Row], by: str) -> dict[Any, list[Row]]:
    """Rows by their value of one column, in the order of first sight."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(row[by], []).append(row)
    return found


def mean_and_std(rows: Sequence[Row], y: str) -> tuple[float, float]:
    """Of one column; the standard deviation of a sample, 0 for a single row."""
    values = np.array([row[y] for row in rows], dtype=float)
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0


def mean(rows: Sequence[Row], y: str, **where: Any) -> float:
    """Mean of a column over the rows that have these values in other columns."""
    kept = [row for row in rows if all(row[name] == value for name, value in where.items())]
    if not kept:
        raise ValueError(f"no row has {where}")
    return mean_and_std(kept, y)[0]


def estimate(rows: Sequence[Row], y: str, form: str = ".3f", **where: Any) -> str:
    """Mean ± standard error of a column over the rows that have these values in other columns; one row has none."""
    kept = [row for row in rows if all(row[name] == value for name, value in where.items())]
    if not kept:
        raise ValueError(f"no row has {where}")
    middle, spread = mean_and_std(kept, y)
    return f"{middle:{form}} ± {spread / len(kept) ** 0.5:{form}}" if len(kept) > 1 else f"{middle:{form}} (1 run)"


def difference(
    rows: Sequence[Row], others: Sequence[Row], y: str, by: Sequence[str] = ("seed",)
) -> tuple[float, float]:
    """Mean of a column's differences between rows of the same settings, and its standard error (NaN for one pair)."""
    partner = {tuple(row[name] for name in by): row[y] for row in others}
    pairs = [(row[y], partner[key]) for row in rows if (key := tuple(row[name] for name in by)) in partner]
    if not pairs:
        raise ValueError(f"no rows have the same {', '.join(by)}")
    differences = np.array([ours - theirs for ours, theirs in pairs], dtype=float)
    error = differences.std(ddof=1) / len(pairs) ** 0.5 if len(pairs) > 1 else float("nan")
    return float(differences.mean()), float(error)


def at_least(margin: float, error: float) -> bool | None:
    """Whether a paired difference says "at least as good": 0 or above by two standard errors; None if within two of 0.

    A difference of exactly 0 without an error says it too. Two equal ways are rarely told apart from ways that differ a
    little, so most of them are left undecided.
    """
    return True if margin >= 2 * error else False if margin < -2 * error else None


def better(margin: float, error: float) -> bool | None:
    """Whether a paired difference says "better": above 0 by two standard errors; None if it lies within two of 0."""
    return True if margin > 2 * error else False if margin < -2 * error else None


def draw(axes: Axes, rows: Sequence[Row], x: str, y: str, by: str, order: Sequence[str] | None = None) -> None:
    """A curve of means for each value of `by`, shaded by one standard deviation as in the papers."""
    members = groups(rows, by)
    for place, name in enumerate(order or members):
        if name not in members:
            continue
        at = sorted(groups(members[name], x).items())
        xs = np.array([key for key, _ in at], dtype=float)
        means, stds = np.array([mean_and_std(group, y) for _, group in at]).T
        color = COLORS[place % len(COLORS)]
        axes.plot(xs, means, MARKERS[place % len(MARKERS)] + "-", color=color, markersize=4, linewidth=1.3, label=name)
        axes.fill_between(xs, means - stds, means + stds, color=color, alpha=0.15, linewidth=0)


def logarithmic(axes: Axes, which: str = "xy") -> None:
    """Log scales with ticks that are plain numbers where there are few decades; call it when all is drawn."""
    for name in which:
        axes.set(**{f"{name}scale": "log"})
        axis = axes.xaxis if name == "x" else axes.yaxis
        low, high = axis.get_view_interval()
        if high < 300 * low:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_locator(NullLocator())


def table(rows: Sequence[Row], by: Sequence[str], columns: Sequence[str], form: str = ".3f") -> None:
    """Print one line for each combination of the columns `by`: mean ± standard error of the others."""
    lines = [[*by, *columns, "runs"]]
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in by), []).append(row)
    for key, group in found.items():
        cells = []
        for column in columns:
            middle, spread = mean_and_std(group, column)
            error = spread / len(group) ** 0.5
            cells.append(f"{middle:{form}} ± {error:{form}}" if len(group) > 1 else f"{middle:{form}}")
        lines.append([*(str(value) for value in key), *cells, str(len(group))])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
