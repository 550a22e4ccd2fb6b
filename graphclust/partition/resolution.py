"""At which resolution k clusters are natural: read off a dendrogram, whose unions come in the order of their excess.

The excess of two clusters is the weight between them over what chance would put there. At a resolution below it their
union raises modularity. A number of clusters is natural at the resolutions at which a union would gain down to it, and
none beyond.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.levels import Goal, Level
from graphclust.compiled.graphs.objective import Objective
from graphclust.objective.objective import Aim, Units, chance_objective, plain_objective, ratio_objective
from graphclust.partition.agglomeration import agglomerate
from graphclust.partition.levels import Run

# Where a graph has many more natural clusters than k, the resolution that matches k is tiny, and almost nothing but
# small groups that hang on by few edges is worth cutting off. Mean agreement with annotated classes hardly depends on
# the floor between 0.25 and 0.5; see the table of floors in the benchmarks' results.
FLOOR = 0.3
REGIONS_PER_CLUSTER = (4, 8, 16)  # that V-cycles begin with, where k is given: on these cuts and modularity agree
FEW_CLUSTERS = 20  # fewer of a cut are merged from so many, every other time: the smallest cuts run around small groups
REGION_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0)  # and where it is free, the resolution of the regions over that of the goal


class Dendrogram(NamedTuple):
    """The unions of the nodes of a level by excess: `excess[t]` is that of the union which leaves t clusters.

    float64, (n,), in units of chance; minus infinity where nothing is linked, and where unions are not followed. It
    never rises from union to union (Bonald et al. 2018, "Hierarchical graph clustering using node pair sampling"),
    except on graphs with hubs, where merging takes excesses that differ by less than an eighth as equal.
    """

    excess: np.ndarray

    def natural_range(self, k: int) -> tuple[float, float]:
        """From which resolution to which k clusters are natural: when k + 1 become k, and when those become k - 1."""
        highest = float(self.excess[k]) if k < len(self.excess) else np.inf
        return max(float(self.excess[min(k, len(self.excess)) - 1]), 0.0), max(highest, 0.0)

    def resolution(self, k: int) -> float:
        """The middle of the range in which k is natural, on a logarithmic scale; at most for half as many as nodes."""
        return middle_of(*self.natural_range(max(min(k, len(self.excess) // 2), 1)))


def dendrogram_of(level: Level, run: Run, k: int = 1) -> Dendrogram:
    """The dendrogram of a level, down to one cluster less than k."""
    excess = np.full(len(level.terms.mass), -np.inf)
    agglomerate(level, Goal(chance_objective(run.units), max(k - 1, 1)), run, excess)
    return Dendrogram(excess / run.units.chance)


class Plan(NamedTuple):
    """What a search is for, and how its V-cycles begin.

    pulls : of the plain objective that joins nodes to the regions of one V-cycle after the other. resolution : as a
    caller states it; None where the objective has none. below_natural : whether more clusters than k are natural
    even at the lowest resolution that is used, so that some are united for the number alone. highest : the resolution
    up to which k is natural, in units of chance. by_way_of : the number of clusters that every other V-cycle makes
    first.
    """

    goal: Goal
    pulls: tuple[float, ...]
    resolution: float | None
    below_natural: bool = False
    highest: float = np.inf
    by_way_of: int = 0

    def at(self, aim: Aim, resolution: float, units: Units) -> Plan:
        """The plan at another resolution, in units of chance, unless the aim names one."""
        objective, stated = objective_of(aim, self.goal.k, resolution, units)
        return self._replace(goal=Goal(objective, self.goal.k), resolution=stated)

    def resolutions_beyond(self, called_for: float, units: Units) -> tuple[float, ...]:
        """What to try on the way to the resolution that clusters call for, where k is not natural there any more.

        Where k is natural below 1 only, so that fewer clusters are asked for than modularity finds by itself, what
        looks like a likelier partition leaves out the few large clusters that a small k asks for.
        """
        if not 1.0 < self.highest < called_for:
            return ()
        middle = middle_of(self.goal.objective.pull / units.chance, called_for)
        return middle, called_for, middle


def plan_for_any_number(goal: Goal) -> Plan:
    """As many clusters as a plain objective makes."""
    return Plan(goal, tuple(size * goal.objective.pull for size in REGION_SIZES), None)


def n_made(aim: Aim, k: int) -> int:
    """How many clusters V-cycles make on the way to k: k itself, but of a cut FEW_CLUSTERS at least."""
    return max(k, FEW_CLUSTERS) if aim.is_ratio else k


def numbers_of_regions(aim: Aim, k: int) -> tuple[int, ...]:
    """What V-cycles begin with, one after the other; every other one of a cut into few clusters with small regions."""
    of_k, n = tuple(size * k for size in REGIONS_PER_CLUSTER), n_made(aim, k)
    if n == k:
        return of_k
    return *of_k[:1], REGIONS_PER_CLUSTER[0] * n, *of_k[1:2], REGIONS_PER_CLUSTER[-1] * n, *of_k[2:]


def plan_for_k(aim: Aim, k: int, dendrogram: Dendrogram, units: Units) -> Plan:
    """Exactly k clusters, at the resolution at which k is natural unless the aim names one."""
    pulls = tuple(units.chance * dendrogram.resolution(n) for n in numbers_of_regions(aim, k))
    objective, resolution = objective_of(aim, k, dendrogram.resolution(k), units)
    highest = dendrogram.natural_range(k)[1]
    below_natural = aim.resolution == "auto" and highest < FLOOR
    return Plan(Goal(objective, k), pulls, resolution, below_natural, highest, n_made(aim, k))


def remarks_on(plan: Plan) -> tuple[str, ...]:
    """What the reader of the labels should know of k; nothing where it is not too small."""
    if not plan.below_natural:
        return ()
    return (
        f"k = {plan.goal.k} is less than the number of clusters that the graph shows even at resolution {FLOOR:g}: "
        "some are united for the number alone",
    )


def objective_of(aim: Aim, k: int, matched: float, units: Units) -> tuple[Objective, float | None]:
    """The objective of an aim, and its resolution as a caller states it; `matched` is where the aim leaves it open."""
    if aim.is_ratio:
        return ratio_objective(units), None
    unit = aim.definition.unit_of_resolution(units)
    at = aim.resolution / unit if isinstance(aim.resolution, float) else max(matched, FLOOR)
    return plain_objective(units, k, at), at * unit


def middle_of(lowest: float, highest: float) -> float:
    """The middle of a range on a logarithmic scale; where an end is open, a resolution that is not beyond the other."""
    if not np.isfinite(highest):
        return max(lowest, FLOOR)
    return float(np.sqrt((lowest or min(FLOOR, highest)) * highest))
