"""The resolution at which k is the natural number of clusters, and the objective that follows from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.objective import ClusterSums, Objective
from graphclust.objective.objective import RATIOS, Aim, Weighed, plain_objective, ratio_objective
from graphclust.partition.likelihood import implied_resolution

# Where a graph has many more natural clusters than k, the resolution that matches k is tiny, and almost nothing but
# small groups that hang on by few edges is worth cutting off. Mean agreement with annotated classes hardly depends on
# the floor between 0.25 and 0.5; see the table of floors in the benchmarks' results.
FLOOR = 0.3
NO_UNIONS = np.empty(0)  # what a cut does not need


class Goal(NamedTuple):
    """The objective with its numbers; the resolution as a caller states it (None: it has none), and k's own range."""

    objective: Objective
    resolution: float | None
    natural: tuple[float, float] | None


def natural_range(unions: np.ndarray, k: int) -> tuple[float, float]:
    """From which resolution to which k clusters are natural: when k + 1 become k, and when those become k - 1."""
    highest = float(unions[k]) if k < len(unions) else np.inf
    return max(float(unions[min(k, len(unions)) - 1]), 0.0), max(highest, 0.0)


def matched_resolution(unions: np.ndarray, k: int) -> float:
    """The middle of the range in which k is natural, on a logarithmic scale; at most for half as many as nodes."""
    return middle_of(*natural_range(unions, max(min(k, len(unions) // 2), 1)))


def middle_of(lowest: float, highest: float) -> float:
    """The middle of a range on a logarithmic scale; where an end is open, a resolution that is not beyond the other."""
    if not np.isfinite(highest):
        return max(lowest, FLOOR)
    return float(np.sqrt((lowest or min(FLOOR, highest)) * highest))


def goal_of(aim: Aim, on: Weighed, k: int, unions: np.ndarray) -> Goal:
    """The objective of an aim on a graph; `unions` are those of the graph or of a quotient graph of it."""
    if aim.name in RATIOS:
        return Goal(ratio_objective(on), None, None)
    lowest, highest = natural_range(unions, k)
    natural = lowest * unit_of(aim, on), highest * unit_of(aim, on)
    if isinstance(aim.resolution, float):
        return Goal(plain_objective(on, k, aim.resolution / unit_of(aim, on)), aim.resolution, natural)
    return goal_at(aim, on, k, max(matched_resolution(unions, k), FLOOR), natural)


def goal_at(aim: Aim, on: Weighed, k: int, resolution: float, natural: tuple[float, float] | None) -> Goal:
    """The goal at a resolution that is a multiple of chance."""
    return Goal(plain_objective(on, k, resolution), resolution * unit_of(aim, on), natural)


def implied_goal(aim: Aim, on: Weighed, k: int, sums: ClusterSums) -> Goal:
    """The goal where there is no time for a tree of unions: at the resolution that the clusters found call for."""
    if isinstance(aim.resolution, float):
        return goal_at(aim, on, k, aim.resolution / unit_of(aim, on), None)
    if aim.name in RATIOS:
        return goal_of(aim, on, k, NO_UNIONS)
    return goal_at(aim, on, k, max(implied_resolution(on, sums), FLOOR), None)


def unit_of(aim: Aim, on: Weighed) -> float:
    """What a caller's resolution is measured in; Potts' in weight between two nodes."""
    return 1.0 if aim.name == "modularity" else on.chance
