"""Which resolution suits a number of clusters, and which number a resolution: read off dendrograms and partitions.

The unions of a dendrogram come in the order of their excess, the weight between two clusters over what chance would put
there. At a resolution below it their union raises modularity. k is natural at the resolutions at which the union that
leaves k clusters gains, and the next union does not. Natural resolutions are those in the middle of the widest ranges
over which a dendrogram keeps its number of clusters.

At resolution g a partition is worth a - g b: a is the share of the weight inside its clusters, b the sum of the squares
of their shares of the mass, which is the volume for modularity. So each of many partitions is a line in g, and is the
best where its line is the highest.

Source: Bonald et al. 2018, "Hierarchical graph clustering using node pair sampling", for the dendrogram; Weir, Emmons,
Gibson, Taylor & Mucha 2017, "Post-processing partitions to identify domains of modularity optimization" (CHAMP).
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs import agglomeration as merging
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.engine.contraction import NO_PAIRS, agglomerate, contract
from graphclust.engine.levels import Run
from graphclust.engine.local_moving import find_regions
from graphclust.objective.objective import (
    OBJECTIVES,
    ObjectiveChoice,
    Totals,
    WeighedGraph,
    additive_objective,
    chance_objective,
    lower_hull,
    ratio_objective,
)

# If a graph has many more natural clusters than k, the resolution that matches k is tiny, and only small groups that
# hang on by few edges are worth cutting off. Mean agreement with annotated classes hardly depends on the floor between
# 0.25 and 0.5; see the table of floors in the benchmarks' results.
FLOOR = 0.3
# Regions with which V-cycles begin. If k is given, as many per cluster: cuts and modularity agree on these numbers. If
# k is free, regions made at REGION_SIZES times the resolution of the task.
REGIONS_PER_CLUSTER = (4, 8, 16)
REGION_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0)
FEW_CLUSTERS = 20  # every other V-cycle of a cut into fewer makes so many first: small cuts run around small groups
FINEST = 16.0  # times the task's resolution: if k is free, large graphs are contracted to regions made at that
LOWEST, HIGHEST = 1.0 / 16.0, 16.0  # resolutions between which ranges are looked at
WIDE = log(2.0)  # of a range; random graphs have .2, planted groups .8 and more
FEWEST_NODES = 4  # of an average cluster


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
        """The schedule at another resolution, in units of chance; at the one that the choice names, if it does."""
        objective, stated = objective_of(choice, self.task.k, resolution, totals)
        return self._replace(task=Task(objective, self.task.k), resolution=stated)


def schedule_for_any_number(task: Task) -> Schedule:
    """As many clusters as an additive objective makes."""
    return Schedule(task, tuple(size * task.objective.penalty for size in REGION_SIZES), None)


def n_made(choice: ObjectiveChoice, k: int) -> int:
    """How many clusters V-cycles make on the way to k: k itself, and at least FEW_CLUSTERS for a cut."""
    return max(k, FEW_CLUSTERS) if choice.is_ratio else k


def schedule_for_k(choice: ObjectiveChoice, k: int, dendrogram: Dendrogram, totals: Totals) -> Schedule:
    """Exactly k clusters, at the resolution at which k is natural unless the choice names one.

    Every other V-cycle of a cut into few clusters begins with more regions.
    """
    n_regions = [size * k for size in REGIONS_PER_CLUSTER]
    if (n := n_made(choice, k)) > k:
        n_regions.insert(1, REGIONS_PER_CLUSTER[0] * n)
        n_regions.insert(3, REGIONS_PER_CLUSTER[-1] * n)
    penalties = tuple(totals.chance * dendrogram.resolution(each) for each in n_regions)
    objective, resolution = objective_of(choice, k, dendrogram.resolution(k), totals)
    below_natural = choice.resolution == "auto" and dendrogram.natural_range(k)[1] < FLOOR
    return Schedule(Task(objective, k), penalties, resolution, below_natural, n)


def remarks_on(schedule: Schedule) -> tuple[str, ...]:
    """A remark if k is smaller than what the graph shows at any resolution that is used."""
    if not schedule.below_natural:
        return ()
    return (
        f"k = {schedule.task.k} is less than the number of clusters that the graph shows even at resolution {FLOOR:g}: "
        "some are united for the number alone",
    )


def objective_of(choice: ObjectiveChoice, k: int, matched: float, totals: Totals) -> tuple[Objective, float | None]:
    """The objective of a choice, and its resolution as a caller states it: else `matched`, FLOOR at least."""
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


def natural_resolutions(on: WeighedGraph, run: Run, lowest: float = LOWEST) -> list[tuple[float, float]]:
    """Each natural resolution, in units of chance, and how wide its range is as a logarithm; the widest first.

    lowest : resolutions below it do not count; of one cluster, and of clusters that are tiny, no range does.
    """
    regions = find_regions(run.finest, FINEST * on.totals.chance, run)
    inside, squares = dendrogram_sums(on, regions, run)
    most = min(len(inside) - 1, on.graph.n_nodes // FEWEST_NODES)
    ranges = best_ranges(inside, squares * on.totals.chance)[2 : most + 1]
    low, high = np.maximum(ranges[:, 0], lowest), np.minimum(ranges[:, 1], HIGHEST)
    natural = [(sqrt(a * b), log(b / a)) for a, b in zip(low.tolist(), high.tolist(), strict=True) if b > a]
    return sorted(natural, key=lambda one: -one[1])


def dendrogram_sums(on: WeighedGraph, regions: Partition, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Weight inside and sum of squared masses of the partition into t clusters, at place t; nothing is at place 0."""
    level = contract(run.finest, regions, run).coarse
    n = len(level.terms.mass)
    gains, pairs = np.zeros(n), np.zeros((n, 2), np.int32)
    merging.agglomerate(level, Task(chance_objective(on.totals), 1), gains, pairs)
    inside, squares = np.zeros((2, n + 1))
    inside[n], squares[n] = level.terms.loops.sum(), (level.terms.mass**2).sum()
    mass = level.terms.mass.tolist()
    for t, gain, (a, b) in zip(range(n - 1, 0, -1), gains[:0:-1].tolist(), pairs[:0:-1].tolist(), strict=True):
        chance = 2.0 * mass[a] * mass[b]
        inside[t], squares[t] = inside[t + 1] + gain * chance, squares[t + 1] + chance
        mass[b] += mass[a]
    squares[0] = squares[1]  # with nothing inside: never the best
    inside[0] = -1.0
    return inside, squares


def best_ranges(inside: npt.NDArray[np.float64], squares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """For each line inside - g squares the range of g >= 0 in which it is the highest; float64, shape (n, 2).

    inside, squares : shape (n,), finite, n >= 1. Of lines that are equal up to rounding the first counts.

    The ranges that are not empty cover the half-line from 0 to infinity. A line that is nowhere the highest gets the
    empty range (g, g) where it comes nearest: there the two highest lines meet whose squares are next to its own.
    """
    # As points (-squares, -inside) the lines that are highest somewhere are a lower hull, from its lowest point on.
    hull = lower_hull(-squares, -inside, np.lexsort((-inside, -squares)))
    highest = hull[len(hull) - 1 - int(inside[hull][::-1].argmax()) :]
    meet = np.diff(inside[highest]) / np.diff(squares[highest])
    bounds = np.concatenate([[0.0], meet, [np.inf]])
    place = np.searchsorted(-squares[highest], -squares)  # the envelope's squares fall
    nearest = bounds[np.clip(place, 0, len(bounds) - 2)]
    ranges = np.stack([nearest, nearest], axis=1)
    ranges[highest] = np.stack([bounds[:-1], bounds[1:]], axis=1)
    return ranges
