"""Local moving over a level of any size: regions from singletons, and the refinement of a partition.

A small level takes one compiled call. On a large one the same loop returns now and then, for progress, a time budget
and Ctrl-C; the nodes that a refinement looks at first are found on all threads.
"""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs import local_moving as loops
from graphclust.compiled.graphs.bounds import limits_of
from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.compiled.graphs.objective import PLAIN, ClusterSums, Objective
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.engine.levels import Run, is_small, n_entries, partition_in, room_for

UNSETTLED = 0.25  # of the nodes: while a pass moves more, another follows; two passes mostly
ENTRIES_PER_BLOCK = 1 << 21  # a block has scratch for all clusters
OPENED_PER_NODE = 2  # new clusters for which there is room, for each node that may gain
ENTRIES_PER_STEP = float(1 << 21)  # some hundredths of a second between two looks at the clock


def find_regions(level: Level, pull: float, run: Run, most: float = np.inf) -> Partition:
    """Regions of nodes that hang together, by local moving from singletons at the pull of a plain objective.

    most : what a region may hold of the sizes of nodes, where the level has any.
    """
    n = len(level.terms.mass)
    unsettled = 1.0 if run.progress.out_of_time() else UNSETTLED
    if is_small(level):
        room = room_for(level, n)
        k, read = loops.find_regions_into(level, pull, most, unsettled, draws_of(run.rng), room)
        run.reads(level, read)
        return partition_in(room, k)
    regions, objective = (
        loops.singletons(level.terms),
        Objective(PLAIN, pull, pull * float(level.terms.mass.mean()) ** 2),
    )
    moving = loops.queue_of(run.rng.permutation(n).astype(np.int32), regions.sums)
    rules = loops.Rules(True, False, False, limits_of(level.terms.size, regions.labels, n, 0.0, most))
    while True:
        _move(level, objective, rules, regions.labels, regions.sums, moving, run)
        if moving.state[2] <= unsettled * n:
            return loops.without_gaps(regions.labels, regions.sums)
        moving.state[1:3] = n, 0


def refine(
    level: Level, found: Partition, goal: Goal, run: Run, *, once: bool = False, nodes: np.ndarray | None = None
) -> Partition:
    """The partition after local moving until no queued node gains by a move.

    If k is free, a cluster may vanish and a node may become a cluster; else all clusters stay and keep their numbers.
    once : only the nodes that gain at the start move, each at most once, even when time is up.
    nodes : the nodes queued at the start, increasing, by default all that gain; others are queued by a neighbor's move.
    """
    if run.progress.out_of_time() and not once:
        return _with_sizes(found)
    n, k = len(level.terms.mass), len(found.sums.size)
    if is_small(level) and not once and nodes is None:
        room = room_for(level, n if goal.k == 0 else k)
        k, read = loops.refine_into(level, found, goal, room)
        run.reads(level, read)
        return partition_in(room, k)
    free, found = goal.k == 0, _with_sizes(found)
    most = n if nodes is None else min(n, k + OPENED_PER_NODE * len(nodes))
    more, labels = (most if free else k) - k, found.labels.copy()
    sums = ClusterSums(*(np.concatenate([values, np.zeros(more, values.dtype)]) for values in found.sums))
    rules = loops.Rules(free, free, not once, limits_of(level.terms.size, labels, k + more, goal.least, goal.most))
    if nodes is None:
        target = _choose(level, goal.objective, loops.BlockState(labels, sums, rules), run)
    else:
        target = np.full(n, -1, np.int32)
        target[nodes] = 0
    moving = loops.queue_of(target, sums)
    loops.queue_chosen(target, moving)
    _move(level, goal.objective, rules, labels, sums, moving, run)
    return loops.without_gaps(labels, sums) if free else Partition(labels, sums)


def _choose(level: Level, objective: Objective, now: loops.BlockState, run: Run) -> np.ndarray:
    """The cluster to which each node gains most by a move now, -1 for none; on all threads."""
    target = np.empty(len(now.labels), np.int32)
    blocks = entry_blocks(level.rows.indptr, ENTRIES_PER_BLOCK)
    run_in_blocks(loops.choose_moves, blocks, level.rows, level.terms, objective, now, target)
    run.reads(level, n_entries(level))
    return target


def _move(level, objective, rules, labels, sums, moving, run: Run) -> None:
    """Move the queued nodes, in steps, until the queue is empty or time is up; changes labels, sums and moving."""
    n = len(labels)
    while moving.state[1] and not (rules.requeues and run.progress.out_of_time()):
        read = loops.move_nodes(ENTRIES_PER_STEP, level.rows, level.terms, objective, rules, labels, sums, moving)
        run.reads(level, read)
        run.progress.step(n - int(moving.state[1]), n)


def _with_sizes(found: Partition) -> Partition:
    """The partition with the sizes that its clusters have on this level."""
    size = np.bincount(found.labels, minlength=len(found.sums.size))
    return found._replace(sums=found.sums._replace(size=size))
