"""Clusters that no edge links: where a layer of negative penalty, as of signed graphs, makes their union gain.

Positive degrees push two clusters apart; negative degrees, which chance would have set against each other, penalty them
together. So moves and unions consider clusters without an edge between them too, as neighbors by edges of weight zero:
on all of a small graph, and on the regions or clusters of a larger one.
"""

from functools import partial

import numpy as np

from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import Rows
from graphclust.engine.agglomeration import agglomerate
from graphclust.engine.contraction import Contraction, contract
from graphclust.engine.engine import FINEST, MIN_REGIONS, Effort, partition, search
from graphclust.engine.levels import Run, heaviness, read_only_level, value
from graphclust.engine.local_moving import find_regions, refine
from graphclust.engine.resolution import schedule_for_any_number
from graphclust.engine.v_cycle import LARGEST_SHARE, first_v_cycle

FEW = 256  # nodes: V-cycles over all their pairs read as many entries as those over a sparse graph of ten times as many
MOST = 1_000  # nodes, between all pairs of which there may be edges
TURNS = 8  # of unions of clusters and moves of nodes, at most, while they gain


def partition_any(level: Level, task: Task, effort: Effort, run: Run) -> Partition:
    """As many clusters as the objective makes, or exactly k; they need not be connected."""
    if task.k > 0:
        return _partition_into(level, task, effort, run)
    if len(level.terms.mass) <= FEW:
        return partition(with_all_pairs(level), task, effort, run)
    return unite_any(level, partition(level, task, effort, run), task, run)


def unite_any(level: Level, found: Partition, task: Task, run: Run) -> Partition:
    """The partition after unions of clusters that need not be linked, and moves of nodes, while they gain."""
    for _ in range(TURNS):
        before, found = found, _unite_and_move(level, found, task, run)
        if value(found, task) <= value(before, task) or run.progress.out_of_time():
            break
    return found


def _unite_and_move(level: Level, found: Partition, task: Task, run: Run) -> Partition:
    """The partition after unions of whole clusters, linked or not, and moves of nodes; no worse."""
    step = contract(level, found, run)
    clusters = with_all_pairs(step.coarse)
    united = step.project(refine(clusters, agglomerate(clusters, task, run), task, run))
    return refine(with_all_pairs(level), united if value(united, task) > value(found, task) else found, task, run)


def _partition_into(level: Level, task: Task, effort: Effort, run: Run) -> Partition:
    """Exactly k clusters: regions are merged by what their unions gain until k are left, and V-cycles follow."""
    steps: list[Contraction] = []
    level = top = with_all_pairs(level)
    while (n := len(top.terms.mass)) > max(MOST, MIN_REGIONS * task.k):
        regions = find_regions(top, FINEST * task.objective.penalty, run, fewest=MIN_REGIONS * task.k)
        if len(regions.sums.size) > LARGEST_SHARE * n:
            break
        step = contract(top, regions, run)
        steps.append(step._replace(coarse=with_all_pairs(step.coarse)))
        top = steps[-1].coarse
    schedule = schedule_for_any_number(task)
    tries = [partial(first_v_cycle, top, schedule, turn) for turn in range(effort.asked.first)]
    return search(level, steps, [], tries, schedule, effort.asked, effort.descent, run)[0]


def with_all_pairs(level: Level) -> Level:
    """The level with an edge of weight zero between any two nodes of mass that have none; the same if it is large."""
    n, rows = len(level.terms.mass), level.rows
    if n > MOST:
        return level
    weights, has_mass = np.zeros((n, n)), heaviness(level) > 0.0
    weights[np.repeat(np.arange(n), np.diff(rows.indptr)), rows.indices] = rows.weights
    is_pair = (has_mass & has_mass[:, None]) ^ np.diag(has_mass)
    row, column = np.nonzero(is_pair)
    starts = np.append(0, np.cumsum(np.bincount(row, minlength=n)))
    return read_only_level(Rows(starts, column.astype(np.int32), weights[is_pair]), level.terms)
