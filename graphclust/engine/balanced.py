"""Balanced partitioning: exactly k clusters within bounds on what they hold, with the smallest edge cut.

The engine's search, in which new partitions come by bisection on every level (`bisection.py`), every step settles the
parts within their bounds (`settling.py`), and the child of several partitions is a V-cycle of the best one inside their
overlay. Every step but a rebalancing keeps the cut or lowers it. Where nodes are so few that they make few partitions,
all of these are compared instead.

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
from graphclust.engine.bounds import share_of_least
from graphclust.engine.engine import Cycles, offer, search
from graphclust.engine.levels import LESS_THOROUGH, THOROUGH, Run, Shares, Thoroughness, mean_weight, value, with_sums
from graphclust.engine.packing import pack
from graphclust.engine.resolution import Schedule
from graphclust.engine.settling import is_within, room_left, settle, shares_of
from graphclust.engine.v_cycle import v_cycle
from graphclust.engine.within_bounds import make_connected, n_disconnected


class Effort(NamedTuple):
    """The V-cycles of a search for equal parts; descent : as of `engine.Effort`, thoroughness : as of `Run`.

    if_full : the thoroughness where parts have no room for another node, so that nodes have to change places.
    """

    cycles: Cycles
    descent: float
    thoroughness: Thoroughness = THOROUGH
    if_full: Thoroughness = THOROUGH


EFFORTS = {
    "low": Effort(Cycles(1, 0), 0, LESS_THOROUGH, LESS_THOROUGH),
    "normal": Effort(Cycles(2, 2), 0, LESS_THOROUGH._replace(rounds_in_vain=2)),
    "high": Effort(Cycles(4, 3), 4),
}

MOST_COMPARED = 1 << 14  # partitions of few nodes: of fifteen in two parts, of nine in four
DIGITS = 12  # of values that are compared: what differs only in the others differs by round-off


def partition_balanced(
    level: Level, task: Task, effort: Effort, run: Run, contiguous: bool = False
) -> tuple[Partition, bool]:
    """The best partition that the effort finds, and whether it is within the bounds; if not, it is near to them.

    A time budget may end before a thorough partition is made, so that the first one is made as at low effort.
    contiguous : whether one whose parts are connected is preferred, if one is found.
    """
    is_full = room_left(shares_of(task, run), level.terms.size) < task.k * float(level.terms.size.mean())
    run, pool = replace(run, thoroughness=effort.if_full if is_full else effort.thoroughness), []
    tries = [partial(new_parts, level, task)] * effort.cycles.first
    schedule = Schedule(task, (0.0, 0.0, 0.0), None)  # the regions depend on the level alone
    if (found := best_of_all(level, task, run)) is None:
        if effort.descent == np.inf:
            pool = [new_parts(level, task, replace(run, thoroughness=LESS_THOROUGH))]
            offer(level, pool[0], task, run)
        found, _ = search(level, [], pool, tries, schedule, effort.cycles, effort.descent, run)
        if not is_within(level, found, task, run):
            found = settle(level, pack(level, task.k, run), task, run)
    if contiguous and n_disconnected(level, found, run):
        found = make_connected(level, found, schedule, run)
    return found, is_within(level, found, task, run)


def best_of_all(level: Level, task: Task, run: Run) -> Partition | None:
    """Of all partitions of few nodes the nearest to the bounds, of these the smallest cut, of these the most even.

    None where there are too many partitions.
    """
    n, k, (target, least, most) = len(level.terms.size), task.k, shares_of(task, run)
    if not 1 < k <= n <= MOST_COMPARED.bit_length():
        return None
    labels = np.empty((1, 0), np.int32)  # a partition a row, of one more node each time
    for _ in range(n):
        n_used = labels.max(axis=1, initial=-1) + 1
        choices = np.minimum(n_used + 1, k) if run.shares is None else np.full(len(labels), k)
        if choices.sum() > MOST_COMPARED:
            return None
        own = np.arange(choices.sum(), dtype=np.int32) - np.repeat(np.cumsum(choices) - choices, choices)
        labels = np.column_stack([np.repeat(labels, choices, axis=0), own.astype(np.int32)])
    is_in = labels[:, None, :] == np.arange(k)[:, None]
    has_all = is_in.any(axis=2).all(axis=1)
    labels, load = labels[has_all], is_in[has_all] @ level.terms.size
    rows, ends = level.rows, np.repeat(np.arange(n), np.diff(level.rows.indptr))
    is_cut = labels[:, ends] != labels[:, rows.indices]
    cut = is_cut @ rows.weights if len(rows.weights) else is_cut.sum(axis=1)
    above, below = np.maximum((load - most) / target, 0.0).max(axis=1), -share_of_least(load, least).min(axis=1)
    uneven = (load**2 / target).sum(axis=1)  # least where loads are as targets, since their sum is given
    first = np.lexsort([_without_round_off(key) for key in (uneven, cut, below, above)])[0]
    return with_sums(level, np.ascontiguousarray(labels[first]), k, run)


def _without_round_off(values: np.ndarray) -> np.ndarray:
    """The values to as many digits as are compared."""
    digits, exponent = np.frexp(values)
    return np.ldexp(np.round(digits, DIGITS), exponent)


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
