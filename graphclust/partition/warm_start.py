"""Partitions made from others: what there is stays, unless something else is better."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.partition.contraction import contract
from graphclust.partition.engine import REGION_SIZES, connect, v_cycle
from graphclust.partition.levels import Run, with_sums
from graphclust.partition.local_moving import refine

Labels = npt.NDArray[np.int32]


def improved(level: Level, labels: Labels, goal: Goal, run: Run) -> Partition:
    """A partition no worse than one with these labels, 0, 1, ..., all used: nodes move, then V-cycles inside it."""
    found = _cycled(level, with_sums(level, labels, int(labels.max()) + 1, run), REGION_SIZES[:2], goal, run)
    return connect(level, found, goal, run) if goal.k == 0 else found


def reopened(level: Level, labels: Labels, is_open: npt.NDArray[np.bool_], goal: Goal, run: Run) -> Partition:
    """A partition made anew where clusters are open; the others stay whole while those are, then single nodes move.

    labels : 0..k-1, all used. is_open : shape (k,). Each other cluster is one node, so that the work is on the open.
    """
    k, n_whole = len(is_open), int(np.count_nonzero(~is_open))
    found = with_sums(level, labels, k, run)
    if n_whole < k:
        regions = (np.cumsum(~is_open) - 1)[labels].astype(np.int32)
        nodes = np.flatnonzero(is_open[labels])
        regions[nodes] = n_whole + np.arange(len(nodes), dtype=np.int32)
        step = contract(level, with_sums(level, regions, n_whole + len(nodes), run), run)
        found = step.project(_cycled(step.coarse, step.restrict(found), REGION_SIZES[:1], goal, run))
    found = refine(level, found, goal, run)
    return connect(level, found, goal, run) if goal.k == 0 else found


def _cycled(level: Level, found: Partition, sizes: tuple[float, ...], goal: Goal, run: Run) -> Partition:
    found = refine(level, found, goal, run)
    for size in reversed(sizes):
        found = v_cycle(level, found, goal, size, run)
    return found
