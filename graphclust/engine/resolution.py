"""The resolution at which k clusters are natural, read off a dendrogram whose unions come in the order of their excess.

The excess of two clusters is the weight between them over what chance would put there. At a resolution below it their
union raises modularity. k is natural at the resolutions at which the union that leaves k clusters gains, and the next
union does not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.graphs.levels import Level, Task
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.engine.agglomeration import NO_PAIRS, agglomerate
from graphclust.engine.levels import Run
from graphclust.objective.objective import (
    OBJECTIVES,
    ObjectiveChoice,
    Totals,
    WeighedGraph,
    additive_objective,
    chance_objective,
    ratio_objective,
)

# If a graph has many more natural clusters than k, the resolution that matches k is tiny, and only small groups that
# hang on by few edges are worth cutting off. Mean agreement with annotated classes hardly depends on the floor between
# 0.25 and 0.5; see the table of floors in the benchmarks' results.
FLOOR = 0.3
# Regions with which V-cycles begin. If k is given, as many per cluster: cuts and modularity agree on these numbers. If
# k is free, those at so many times the resolution of the task.
REGIONS_PER_CLUSTER = (4, 8, 16)
REGION_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0)
FEW_CLUSTERS = 20  # every other V-cycle of a cut into fewer makes so many first: small cuts run around small groups


class Dendrogram(NamedTuple):
    """The unions of the nodes of a level: `excess[t]` is the excess of the union that leaves t clusters.

    excess : float64, (n,), in units of chance; minus infinity for unlinked clusters, and below the last union that was
    made. It never rises from union to union (Bonald et al. 2018, "Hierarchical graph clustering using node pair
    sampling"), except on graphs with hubs, where merging takes excesses that differ by less than an eighth as equal.
    pairs : int32, (n, 2), the two clusters of that union, as `agglomerate` tells them.
    """

    excess: np.ndarray
    pairs: np.ndarray = NO_PAIRS

    def natural_range(self, k: int) -> tuple[float, float]:
        """From which resolution to which k clusters are natural: excess of the union to k - 1, and of that to k."""
        highest = float(self.excess[k]) if k < len(self.excess) else np.inf
        return max(float(self.excess[min(k, len(self.excess)) - 1]), 0.0), max(highest, 0.0)

    def resolution(self, k: int) -> float:
        """The middle of the range in which k is natural, on a logarithmic scale; at most for half as many as nodes."""
        return middle_of(*self.natural_range(max(min(k, len(self.excess) // 2), 1)))


def dendrogram_of(level: Level, run: Run, k: int = 1) -> Dendrogram:
    """The dendrogram of a level, down to one cluster less than k."""
    n = len(level.terms.mass)
    excess, pairs = np.full(n, -np.inf), np.empty((n, 2), np.int32)
    agglomerate(level, Task(chance_objective(run.totals), max(k - 1, 1)), run, excess, pairs)
    return Dendrogram(excess / run.totals.chance, pairs)


class Schedule(NamedTuple):
    """What a search is for, and how its V-cycles begin.

    penalties : of the additive objective that makes the first regions, for one V-cycle after the other. resolution : as
    a caller states it; None if the objective has none. below_natural : whether more clusters than k are natural even at
    the lowest resolution that is used, so that some are united for the number alone. detour_k : the number of clusters
    that every other V-cycle makes first.
    """

    task: Task
    penalties: tuple[float, ...]
    resolution: float | None
    below_natural: bool = False
    detour_k: int = 0

    def at(self, choice: ObjectiveChoice, resolution: float, totals: Totals) -> Schedule:
        """The schedule at another resolution, in units of chance, unless the choice names one."""
        objective, stated = objective_of(choice, self.task.k, resolution, totals)
        return self._replace(task=Task(objective, self.task.k), resolution=stated)


def schedule_for_any_number(task: Task) -> Schedule:
    """As many clusters as an additive objective makes."""
    return Schedule(task, tuple(size * task.objective.penalty for size in REGION_SIZES), None)


def n_made(choice: ObjectiveChoice, k: int) -> int:
    """How many clusters V-cycles make on the way to k: k itself, and at least FEW_CLUSTERS for a cut."""
    return max(k, FEW_CLUSTERS) if choice.is_ratio else k


def numbers_of_regions(choice: ObjectiveChoice, k: int) -> tuple[int, ...]:
    """Numbers of regions with which V-cycles begin, in turn; every other one is larger for a cut into few clusters."""
    of_k, n = tuple(size * k for size in REGIONS_PER_CLUSTER), n_made(choice, k)
    if n == k:
        return of_k
    return *of_k[:1], REGIONS_PER_CLUSTER[0] * n, *of_k[1:2], REGIONS_PER_CLUSTER[-1] * n, *of_k[2:]


def plan_for_k(choice: ObjectiveChoice, k: int, dendrogram: Dendrogram, totals: Totals) -> Schedule:
    """Exactly k clusters, at the resolution at which k is natural unless the choice names one."""
    penalties = tuple(totals.chance * dendrogram.resolution(n) for n in numbers_of_regions(choice, k))
    objective, resolution = objective_of(choice, k, dendrogram.resolution(k), totals)
    below_natural = choice.resolution == "auto" and dendrogram.natural_range(k)[1] < FLOOR
    return Schedule(Task(objective, k), penalties, resolution, below_natural, n_made(choice, k))


def remarks_on(schedule: Schedule) -> tuple[str, ...]:
    """A remark if k is smaller than what the graph shows at any resolution that is used."""
    if not schedule.below_natural:
        return ()
    return (
        f"k = {schedule.task.k} is less than the number of clusters that the graph shows even at resolution {FLOOR:g}: "
        "some are united for the number alone",
    )


def objective_of(choice: ObjectiveChoice, k: int, matched: float, totals: Totals) -> tuple[Objective, float | None]:
    """The objective of a choice, and its resolution as a caller states it: `matched`, if the choice names none."""
    if choice.is_ratio:
        return ratio_objective(totals), None
    unit = choice.spec.unit_of_resolution(totals)
    at = choice.resolution / unit if isinstance(choice.resolution, float) else max(matched, FLOOR)
    return additive_objective(totals, k, at), at * unit


def task_at(on: WeighedGraph, resolution: Any, objective: str) -> Task:
    """The task of as many clusters as an additive objective makes at a resolution, as a caller states it.

    Of a graph with layers it is a factor of their penalties, which may have resolutions of their own.
    """
    if on.layers:
        return Task(Objective(ADDITIVE, resolution, on.total / on.graph.n_nodes, on.layers), 0)
    penalty = resolution * OBJECTIVES[objective].chance(on.totals)
    return Task(Objective(ADDITIVE, penalty, on.graph.total_volume / on.graph.n_nodes), 0)


def middle_of(lowest: float, highest: float) -> float:
    """The middle of a range on a logarithmic scale; if an end is open, a usual resolution within the range."""
    if not np.isfinite(highest):
        return max(lowest, FLOOR)
    return float(np.sqrt((lowest or min(FLOOR, highest)) * highest))
