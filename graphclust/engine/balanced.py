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

from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.compiled.graphs.objective import PLAIN, Objective
from graphclust.engine.bisection import new_parts
from graphclust.engine.bounds import pack
from graphclust.engine.engine import Cycles, search
from graphclust.engine.levels import Run, mean_weight, value
from graphclust.engine.resolution import Plan
from graphclust.engine.settling import is_within, settle
from graphclust.engine.v_cycle import v_cycle


class Effort(NamedTuple):
    """The V-cycles of a search for equal parts; descent : as of `engine.Effort`."""

    cycles: Cycles
    descent: float


EFFORTS = {
    "low": Effort(Cycles(1, 0), 0),
    "normal": Effort(Cycles(2, 2), 0),
    "high": Effort(Cycles(4, 3), 4),
}


def partition_balanced(level: Level, goal: Goal, effort: Effort, run: Run) -> tuple[Partition, bool]:
    """The best partition that the effort finds, and whether it is within the bounds."""
    tries = [partial(new_parts, level, goal)] * effort.cycles.first
    found, _ = search(level, [], [], tries, plan_for_parts(goal), effort.cycles, effort.descent, run)
    if not is_within(level, found, goal, run):
        found = settle(level, pack(level, goal.k, run), goal, run)
    return found, is_within(level, found, goal, run)


def plan_for_parts(goal: Goal) -> Plan:
    """The plan of a search for equal parts, whose regions depend on the level alone."""
    return Plan(goal, (0.0, 0.0, 0.0), None)


def improve_parts(level: Level, found: Partition, max_cycles: int, run: Run) -> Partition:
    """The partition after V-cycles: each part holds as much as before, and the cut is no larger.

    max_cycles : the first V-cycle that gains nothing is the last.
    """
    k = len(found.sums.size)
    run = replace(run, shares=np.bincount(found.labels, level.terms.size, minlength=k))
    goal = Goal(Objective(PLAIN, 0.0, mean_weight(level)), k, 0.0, 1.0)  # a part holds at most 1 for each of its share
    for _ in range(max_cycles):
        made = v_cycle(level, found, goal, 0.0, run)
        if value(made, goal) <= value(found, goal):
            break
        found = made
    return found
