"""Balanced partitioning: exactly k clusters within bounds on what they hold, with the smallest edge cut.

The engine's search, in which new partitions come by bisection on every level (`bisection.py`), every step settles the
parts within their bounds (`settling.py`), and the child of several partitions is a V-cycle of the best one inside their
overlay. Every step but a rebalancing keeps the cut or lowers it.

Source: recombination, Sanders & Schulz 2012, "Distributed evolutionary graph partitioning" (KaFFPaE).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.engine.bisection import new_parts
from graphclust.engine.bounds import pack
from graphclust.engine.engine import Cycles, offer, search
from graphclust.engine.levels import LESS_THOROUGH, THOROUGH, Run, Shares, Thoroughness, mean_weight, value
from graphclust.engine.resolution import Schedule
from graphclust.engine.settling import is_within, settle
from graphclust.engine.v_cycle import v_cycle
from graphclust.engine.within_bounds import make_connected, n_disconnected


class Effort(NamedTuple):
    """The V-cycles of a search for equal parts; descent : as of `engine.Effort`, thoroughness : as of `Run`."""

    cycles: Cycles
    descent: float
    thoroughness: Thoroughness = THOROUGH


EFFORTS = {
    "low": Effort(Cycles(1, 0), 0, LESS_THOROUGH),
    "normal": Effort(Cycles(2, 2), 0),
    "high": Effort(Cycles(4, 3), 4),
}


def partition_balanced(
    level: Level, task: Task, effort: Effort, run: Run, contiguous: bool = False
) -> tuple[Partition, bool]:
    """The best partition that the effort finds, and whether it is within the bounds.

    A time budget may end before a thorough partition is made, so that the first one is made as at low effort.
    contiguous : whether one whose parts are connected is preferred, if one is found.
    """
    run, pool = replace(run, thoroughness=effort.thoroughness), []
    tries = [partial(new_parts, level, task)] * effort.cycles.first
    schedule = Schedule(task, (0.0, 0.0, 0.0), None)  # the regions depend on the level alone
    if effort.descent == np.inf:
        pool = [new_parts(level, task, replace(run, thoroughness=LESS_THOROUGH))]
        offer(level, pool[0], task, run)
    found, _ = search(level, [], pool, tries, schedule, effort.cycles, effort.descent, run)
    if not is_within(level, found, task, run):
        found = settle(level, pack(level, task.k, run), task, run)
    if contiguous and n_disconnected(level, found, run):
        found = make_connected(level, found, schedule, run)
    return found, is_within(level, found, task, run)


def improve_parts(level: Level, found: Partition, max_cycles: int, run: Run) -> Partition:
    """The partition after V-cycles: each part holds as much as before, and the cut is no larger.

    max_cycles : the first V-cycle that gains nothing is the last.
    """
    k = len(found.sums.size)
    load = np.bincount(found.labels, level.terms.size, minlength=k)
    run = replace(run, shares=Shares(load, np.zeros(k), load))
    task = Task(Objective(ADDITIVE, 0.0, mean_weight(level)), k, 0.0, float(load.max()))
    for _ in range(max_cycles):
        made = v_cycle(level, found, task, 0.0, run)
        if value(made, task) <= value(found, task):
            break
        found = made
    return found
