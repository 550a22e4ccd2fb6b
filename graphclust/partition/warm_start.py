"""Partitions made from others: what there is stays, unless something else is better."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.partition.contraction import contract
from graphclust.partition.engine import REGION_SIZES, connect, v_cycle
from graphclust.partition.levels import Run, with_sums
from graphclust.partition.local_moving import refine


def improved(level: Level, labels: npt.NDArray[np.int32], goal: Goal, run: Run) -> Partition:
    """A partition no worse than one with these labels, 0, 1, ..., all used: nodes move, then V-cycles inside it."""
    found = refine(level, with_sums(level, labels, int(labels.max()) + 1, run), goal, run)
    for size in REGION_SIZES[1::-1]:
        found = v_cycle(level, found, goal, size, run)
    return connect(level, found, goal, run) if goal.k == 0 else found


def reopened(
    level: Level, labels: npt.NDArray[np.int32], open_nodes: npt.NDArray[np.bool_], goal: Goal, run: Run
) -> Partition:
    """`improved`, but clusters without an open node stay whole; they only move or grow.

    open_nodes : shape (n,). All other clusters become one node each, so that the work is on those with open nodes.
    """
    k = int(labels.max()) + 1
    found = with_sums(level, labels, k, run)
    is_open = np.zeros(k, bool)
    is_open[labels[open_nodes]] = True
    if is_open.all():
        return improved(level, labels, goal, run)
    nodes = np.flatnonzero(is_open[labels])
    number = np.cumsum(~is_open) - 1
    regions = number[labels].astype(np.int32)
    regions[nodes] = np.arange(len(nodes), dtype=np.int32) + np.int32(np.count_nonzero(~is_open))
    step = contract(level, with_sums(level, regions, int(regions.max()) + 1, run), run)
    made = improved(step.coarse, step.restrict(found).labels, goal, run)
    made = refine(level, step.project(made), goal, run)
    return connect(level, made, goal, run) if goal.k == 0 else made
