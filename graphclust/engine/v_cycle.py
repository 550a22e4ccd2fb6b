"""A V-cycle: down through contractions to regions, merged at the top, and back with a settling step on every level.

Free sizes, sizes within bounds and equal parts differ in how large regions may be, how clusters are merged, and in the
settling step. On a small level a V-cycle for free sizes is one compiled call (`compiled/graphs/v_cycle.py`).
"""

import numpy as np

from graphclust.compiled.graphs import v_cycle as loops
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.engine.bisection import small_regions
from graphclust.engine.contraction import Contraction, agglomerate, coarsest, contract, contractions, restricted
from graphclust.engine.levels import Run, is_small, n_entries, no_sums, square_of_mean_mass
from graphclust.engine.local_moving import ROUNDS, find_regions, refine
from graphclust.engine.resolution import Schedule
from graphclust.engine.settling import Settle, best_of, climb, is_bounded, is_cut, merge, settle, uncoarsen

BUDGET = 4_000_000  # entries that all first V-cycles read together: some tenths of a second
FIRST = 5  # first V-cycles, about, that share the budget
# If k is free, every other V-cycle merges clusters made at so many times the resolution, in turn.
FINER = (1.25, 2.0)
MIN_RELATIVE_CHANGE = 0.02  # of the nodes: a step that changes fewer is not worth another pass over the graph
LARGEST_SHARE = 1.0 - MIN_RELATIVE_CHANGE
SKIPPED = 0.9  # of the entries of a level: the next level that holds more costs memory, and moves on it gain nothing
HEAVY = 2.0  # times the mean weight: such an edge ties two average nodes together
REGION_SHARE = 0.15  # of the upper bound of k clusters: larger regions would not fill these evenly
NODES_PER_CLUSTER = 10  # of the coarsest level of a V-cycle of equal parts


def coarsen(
    level: Level, penalty: float, task: Task, run: Run, partition: Partition | None = None
) -> list[Contraction]:
    """Contractions, inside the clusters found if any, to a level on which the budget pays for the first V-cycles."""

    def regions_of(level: Level, within: np.ndarray | None) -> Partition | None:
        is_large = n_entries(level) * FIRST > BUDGET
        return regions_at(level, within, penalty, task, run, partition is None) if is_large else None

    return contractions(level, regions_of, run, None if partition is None else partition.labels, SKIPPED)


def regions_at(
    level: Level, within: np.ndarray | None, penalty: float, task: Task, run: Run, settles: bool = False
) -> Partition | None:
    """Regions of a level inside parts, no larger than the task lets them be; None if hardly fewer than nodes."""
    inner = level if within is None else loops.rows_within(level, within)
    most = REGION_SHARE * task.most if is_bounded(task) else task.most
    regions = find_regions(inner, penalty, run, most, settles=settles)
    return regions if task.k <= len(regions.sums.size) <= LARGEST_SHARE * len(regions.labels) else None


def v_cycle(
    level: Level, partition: Partition | None, task: Task, penalty: float, run: Run, within: np.ndarray | None = None,
    settled: Settle = settle,
) -> Partition:  # fmt: skip
    """The better of the partition found, if any, and a new one merged within its clusters.

    penalty : of the additive objective that joins nodes to regions; a larger penalty makes smaller regions. Of equal
    parts regions are of some nodes, and clusters are not merged again. within : parts that regions are inside of; by
    default the clusters found. settled : what ends the step on each level.
    """
    is_free, labels = not is_bounded(task), within
    if labels is None and partition is not None:
        labels = partition.labels
    if is_cut(task):
        steps = small_regions(level, labels, NODES_PER_CLUSTER * task.k, task.k, 0.0, run)
    else:

        def regions_of(level: Level, within: np.ndarray | None) -> Partition | None:
            return None if is_free and is_small(level) else regions_at(level, within, penalty, task, run)

        steps = contractions(level, regions_of, run, labels)
    top, kept = coarsest(level, steps), None if partition is None else restricted(steps, partition)
    if is_free and is_small(top):
        given = Partition(np.empty(0, np.int32), no_sums(top, 0)) if kept is None else kept
        best, read = loops.v_cycle(top, given, task, penalty, ROUNDS, LARGEST_SHARE, run.key())
        run.reads(top, read)
    else:
        tried = [] if is_cut(task) else [settled(top, merge(top, task, run), task, run)]
        tried += [] if kept is None else [settled(top, kept, task, run)]
        best = best_of(top, tried, task, run)
    for step in reversed(steps):
        best = uncoarsen(step, best, task, run, settled)
    if is_free:
        return best
    best = climb(level, best, task, run) if settled is settle else best
    return best if partition is None else best_of(level, [partition, best], task, run)


def v_cycle_of_ties(level: Level, partition: Partition, task: Task, penalty: float, run: Run) -> Partition:
    """The better of the partition and a new one merged from groups of few nodes that heavy edges tie together.

    Two nodes linked by a heavy edge gain only by moving together.
    """
    penalty_of_ties = HEAVY * float(level.rows.weights.mean()) / square_of_mean_mass(level)
    ties = find_regions(loops.rows_within(level, partition.labels), penalty_of_ties, run)
    step = contract(level, ties, run)
    return uncoarsen(step, v_cycle(step.coarse, step.restrict(partition), task, penalty, run), task, run)


def first_v_cycle(level: Level, schedule: Schedule, turn: int, run: Run) -> Partition:
    """A V-cycle from nothing, at the penalty whose turn it is.

    For few clusters of a cut, or a free number of clusters, every other V-cycle makes more clusters and merges these.

    Among few clusters, the nodes of a small group that few edges leave are spread over regions of other clusters. Among
    more clusters the group is one of them, and exchanges nodes until it is whole. Then whole clusters are merged. If k
    is free, clusters of a higher resolution come first, and a V-cycle merges them where that is better: unions of
    regions alone can gain step by step until one large cluster is left that no part gains by leaving.
    """
    task, penalty = schedule.task, schedule.penalties[turn % len(schedule.penalties)]
    if task.k == 0 and turn % 2:
        higher = FINER[turn // 2 % len(FINER)] * task.objective.penalty
        finer = task._replace(objective=task.objective._replace(penalty=higher))
        partition = refine(level, v_cycle(level, None, finer, penalty, run), task, run)
        return v_cycle(level, partition, task, penalty, run)
    if turn % 2 == 0 or is_bounded(task) or not task.k < schedule.detour_k <= len(level.terms.mass):
        return v_cycle(level, None, task, penalty, run)
    more = v_cycle(level, None, task._replace(k=schedule.detour_k), penalty, run)
    step = contract(level, more, run)
    merged = refine(step.coarse, agglomerate(step.coarse, task, run), task, run)
    return uncoarsen(step, merged, task, run)
