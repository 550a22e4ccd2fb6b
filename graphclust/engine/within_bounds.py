"""Exactly k clusters within bounds on what they hold, under any objective; and equal parts, whose edge cut is small.

1. The engine's partition without bounds. If it is within them, it is the answer.
2. The engine's search, whose every step settles partitions within the bounds: V-cycles from nothing and inside the
   clusters of step 1, and k parts of about equal size, if the bounds are tight; recombination; iteration.
3. If clusters are disconnected, parts join neighbors, which then give nodes away, and V-cycles undo every step that
   disconnects a cluster. Clusters are also grown from nodes, and rebalanced by moves of pieces.

Equal parts have no first step. New ones come by bisection on every level (`bisection.py`), and the child of several is
a V-cycle of the best one inside their overlay. Every step but a rebalancing keeps the cut or lowers it. Where nodes are
so few that they make few partitions, all of these are compared instead.

Source: recombination, Sanders & Schulz 2012, "Distributed evolutionary graph partitioning" (KaFFPaE).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs import region_growing
from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.engine.bisection import new_parts
from graphclust.engine.bounds import NO_ROOM, Bounds, describe_sure_bounds, share_of_least
from graphclust.engine.cluster_sizes import pack
from graphclust.engine.connectivity import connect, connect_once, find_connected_parts
from graphclust.engine.contraction import coarsest, restricted
from graphclust.engine.engine import EFFORTS, Cycles, EffortCycles, offer, search
from graphclust.engine.levels import (
    LESS_THOROUGH,
    THOROUGH,
    Run,
    Shares,
    Thoroughness,
    mean_weight,
    n_entries,
    read_only_level,
    value,
    with_sizes_as_masses,
    with_sums,
)
from graphclust.engine.resolution import Schedule
from graphclust.engine.settling import balance, best_of, bound_all, is_cut, is_within, room_left, settle, shares_of
from graphclust.engine.v_cycle import coarsen, v_cycle
from graphclust.errors import ParameterError

TIGHT = 1.5  # times the mean: if the upper bound is lower, equal parts are a parent too
ROUNDS = 8  # in which parts of clusters join neighbors, and these give nodes away
TRIES = 8  # at growing connected clusters from random nodes
FEW_ENTRIES = 1 << 13  # of a level, up to which clusters other than equal parts are balanced by connected moves
MOST_COMPARED = 1 << 14  # partitions of few nodes: of fifteen in two parts, of nine in four
DIGITS = 12  # of values that are compared: what differs only in the others differs by round-off


def partition_within(
    level: Level, find: Callable[[], tuple[Partition, Schedule]], bounds: Bounds, effort: EffortCycles, run: Run
) -> tuple[Partition, Schedule]:
    """Exactly k clusters within the bounds: the best partition that the effort finds, and what it was made for.

    find : makes the clusters without bounds. Raises ParameterError where the nodes do not fit into the clusters.
    """
    with run.progress.within(None):  # what is found without bounds is no result yet
        partition, schedule = find()
    schedule = schedule._replace(task=schedule.task._replace(least=bounds.least, most=bounds.most))
    return search_within(level, partition, schedule, effort, run), schedule


def bring_within(partition: Partition, schedule: Schedule, bounds: Bounds, run: Run) -> tuple[Partition, list[str]]:
    """A partition of the finest level, changed if it is outside the bounds; and remarks on it."""
    rows, terms = run.finest
    level = read_only_level(rows, Terms(terms.loops, terms.mass, bounds.size))
    run, task = replace(run, finest=level), schedule.task._replace(least=bounds.least, most=bounds.most)
    partition = search_within(level, partition, schedule._replace(task=task), EFFORTS["normal"], run)
    return partition, remark_on_parts(partition, run)


def remark_on_parts(partition: Partition, run: Run) -> list[str]:
    """A remark if clusters of the finest level are disconnected for another reason than the graph's components."""
    n_parts = n_disconnected(run.finest, partition, run)
    return [f"not all clusters are connected, which the bounds do not let them be: {n_parts} parts"] if n_parts else []


def n_disconnected(level: Level, partition: Partition, run: Run) -> int:
    """The number of connected parts of all clusters; 0 if there are no more than clusters, or components."""
    n_parts = find_connected_parts(level, partition, run)[1]
    n_components = 1 if run.graph is None else run.graph.n_components
    return n_parts if n_parts > max(len(partition.sums.size), n_components) else 0


def search_within(level: Level, free: Partition, schedule: Schedule, effort: EffortCycles, run: Run) -> Partition:
    """The best partition within the bounds that is found, starting also from `free`, which need not be within them."""
    task, penalties = schedule.task, schedule.penalties
    if is_within(level, free, task, run):
        return free
    steps = coarsen(level, penalties[0], task, run, free)
    top = coarsest(level, steps)
    # Inside the clusters that were found without bounds.
    tries = [partial(v_cycle, top, restricted(steps, free), task, penalties[0])]
    tries += [partial(v_cycle, top, None, task, penalty) for penalty in penalties]
    repels = bool(level.terms.layers) and level.rows.weights.min(initial=1.0) <= 0.0  # no cut is small or large then
    if task.k * task.most < TIGHT * level.terms.size.sum() and not repels:
        tries.append(partial(_equal_parts, top, task))
    partition, _ = search(level, steps, [], tries, schedule, effort.asked, effort.descent, run)
    partition = connect(level, partition, task, run)
    if not is_within(level, partition, task, run):
        partition = settle(level, pack(level, task.k, run), task, run)
    if not run.progress.out_of_time() and n_disconnected(level, partition, run):
        partition = make_connected(level, partition, schedule, run)
    if not is_within(level, partition, task, run):
        raise ParameterError(
            f"no {task.k} clusters of {task.least:.12g} to {task.most:.12g} were found: {NO_ROOM}; "
            f"{describe_sure_bounds(level.terms.size, task.k)} are sure to do, or fewer clusters"
        )
    return partition


def _equal_parts(level: Level, task: Task, run: Run) -> Partition:
    """k parts of about equal size by the edge cut, settled."""
    own = with_sizes_as_masses(replace(run, graph=None, finest=level), level.terms.size)
    cut = task._replace(objective=Objective(ADDITIVE, 0.0, run.totals.volume / len(level.terms.size)))
    parts = new_parts(own.finest, cut, own)
    return settle(level, with_sums(level, parts.labels, task.k, run), task, run)


def make_connected(level: Level, partition: Partition, schedule: Schedule, run: Run) -> Partition:
    """The best partition within the bounds whose clusters are connected, if one is found; else the best one."""
    task = schedule.task
    if is_cut(task):
        candidates = _connected_parts(level, partition, task, run)
    else:
        candidates = _find_connected(level, partition, schedule, run)
    made = [one for one in candidates if is_within(level, one, task, run)]
    connected = [one for one in made if not n_disconnected(level, one, run)]
    if not connected:
        return best_of(level, [partition, *made], task, run)
    best = best_of(level, connected, task, run)
    for penalty in schedule.penalties:
        if not run.progress.out_of_time():
            tried = v_cycle(level, best, task, penalty, run, settled=settle_connected)
            if value(tried, task) > value(best, task) and not n_disconnected(level, tried, run):
                best = tried
    return best


def _find_connected(level: Level, partition: Partition, schedule: Schedule, run: Run) -> Iterator[Partition]:
    """Partitions that are more likely to have connected clusters than the one found."""
    task, is_few = schedule.task, n_entries(level) <= FEW_ENTRIES
    free, made = task._replace(least=0.0, most=np.inf), [partition]
    made += [v_cycle(level, None, task, penalty, run, settled=settle_connected) for penalty in schedule.penalties]
    yield from made[1:]
    yield reconnect(level, partition, task, run)
    for one in [one for one in made if is_few and len(one.sums.size) == task.k]:
        # Connected first, whatever the bounds; then evened out by pieces that keep it so.
        whole = connect_once(level, settle(level, one, free, run), free, run)
        yield settle_connected(level, balance_by_pieces(level, whole, task, run), task, run)
    if is_few and (run.graph is None or run.graph.n_components == 1):
        for _ in range(TRIES):
            grown = balance_by_pieces(level, grow_connected(level, task.k, run), task, run)
            yield settle_connected(level, grown, task, run)


def _connected_parts(level: Level, partition: Partition, task: Task, run: Run) -> Iterator[Partition]:
    """Equal parts of a connected graph that are likely to be connected; new ones only if none is within the bounds."""
    yield reconnect(level, partition, task, run)
    starts = [partial(connect_once, level, partition, task._replace(least=0.0, most=np.inf), run)]
    for start in starts + [partial(grow_connected, level, task.k, run)] * TRIES:
        made = balance_by_pieces(level, start(), task, run)
        yield settle_connected(level, made, task, run)
        if is_within(level, made, task, run):
            break


def settle_connected(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """`settle`, if that leaves all clusters connected; else the partition found, connected if that is possible."""
    bounds = task if run.shares is None else task._replace(least=0.0, most=np.inf)  # those of parts may differ
    for tried in (settle(level, partition, task, run), partition):
        if len(tried.sums.size) == task.k:
            made = connect(level, tried, bounds, run)
            if is_within(level, made, task, run) and find_connected_parts(level, made, run)[1] == task.k:
                return made
    return partition


def reconnect(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition after rounds: parts of clusters join full neighbors, which then give nodes away."""
    free = task._replace(least=0.0, most=np.inf)
    for _ in range(ROUNDS):
        balanced, _ = balance(level, connect_once(level, partition, free, run), task, run)
        partition = connect_once(level, balanced, task if run.shares is None else free, run)
        if not n_disconnected(level, partition, run):
            break
    return settle_connected(level, partition, task, run)


def balance_by_pieces(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition after moves of pieces that keep its clusters connected, which may bring them within the bounds.

    Each move makes two clusters more even. It takes along what it would cut off, so that leaves follow their hub.
    """
    task = task._replace(most=min(task.most, float(level.terms.size.sum())))  # a difference to infinity is none
    bound, ballast = bound_all(shares_of(task, run), task)
    labels = partition.labels.copy()
    region_growing.balance_connected(level, labels, bound, ballast)
    return with_sums(level, labels, task.k, run)


def grow_connected(level: Level, k: int, run: Run) -> Partition:
    """k connected clusters of a connected level, grown from random nodes by random links."""
    rows, n = level.rows, len(level.terms.size)
    labels = np.full(n, -1, np.int32)
    seeds = run.rng.permutation(n)[:k]
    labels[seeds] = np.arange(k)
    border = seeds.tolist()
    while border:
        u = border[i := int(run.rng.integers(len(border)))]
        free = [v for v in rows.indices[rows.indptr[u] : rows.indptr[u + 1]].tolist() if labels[v] < 0]
        if free:
            v = free[int(run.rng.integers(len(free)))]
            labels[v] = labels[u]
            border.append(v)
        else:
            border[i] = border[-1]
            border.pop()
    return with_sums(level, labels, k, run)


class PartsEffort(NamedTuple):
    """The V-cycles of a search for equal parts; descent : as of `EffortCycles`, thoroughness : as of `Run`.

    if_full : the thoroughness where parts have no room for another node, so that nodes have to change places.
    """

    cycles: Cycles
    descent: float
    thoroughness: Thoroughness = THOROUGH
    if_full: Thoroughness = THOROUGH


EFFORTS_OF_PARTS = {
    "low": PartsEffort(Cycles(1, 0), 0, LESS_THOROUGH, LESS_THOROUGH),
    "normal": PartsEffort(Cycles(2, 2), 0, LESS_THOROUGH._replace(rounds_in_vain=2)),
    "high": PartsEffort(Cycles(4, 3), 4),
}


def partition_balanced(
    level: Level, task: Task, effort: PartsEffort, run: Run, contiguous: bool = False
) -> tuple[Partition, bool]:
    """The best partition that the effort finds, and whether it is within the bounds; if not, it is near to them.

    A time budget may end before a thorough partition is made, so that the first one is made as at low effort.
    contiguous : whether one whose parts are connected is preferred, if one is found.
    """
    is_full = room_left(shares_of(task, run), level.terms.size) < task.k * float(level.terms.size.mean())
    run, pool = replace(run, thoroughness=effort.if_full if is_full else effort.thoroughness), []
    tries = [partial(new_parts, level, task)] * effort.cycles.first
    schedule = Schedule(task, (0.0, 0.0, 0.0), None)  # the regions depend on the level alone
    if (partition := best_of_all(level, task, run)) is None:
        if effort.descent == np.inf:
            pool = [new_parts(level, task, replace(run, thoroughness=LESS_THOROUGH))]
            offer(level, pool[0], task, run)
        partition, _ = search(level, [], pool, tries, schedule, effort.cycles, effort.descent, run)
        if not is_within(level, partition, task, run):
            partition = settle(level, pack(level, task.k, run), task, run)
    if contiguous and n_disconnected(level, partition, run):
        partition = make_connected(level, partition, schedule, run)
    return partition, is_within(level, partition, task, run)


def best_of_all(level: Level, task: Task, run: Run) -> Partition | None:
    """Of all partitions of few nodes the nearest to the bounds, then of least cut, then most even; None of too many."""
    n, k, (target, least, most) = len(level.terms.size), task.k, shares_of(task, run)
    if not 1 < k <= n <= MOST_COMPARED.bit_length():
        return None
    labels = np.empty((1, 0), np.int32)  # a partition a row, of one more node each time
    for _ in range(n):
        n_used = labels.max(axis=1, initial=-1) + 1
        # Equal parts have no names: a node goes to one in use or to the next, so that none is listed twice.
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
    keys = [np.ldexp(np.round(digits, DIGITS), n) for digits, n in map(np.frexp, (uneven, cut, below, above))]
    first = np.lexsort(keys)[0]
    return with_sums(level, np.ascontiguousarray(labels[first]), k, run)


def improve_parts(level: Level, partition: Partition, max_cycles: int, run: Run) -> Partition:
    """The partition after V-cycles while they gain: each part holds as much as before, and the cut is no larger."""
    k = len(partition.sums.size)
    load = np.bincount(partition.labels, level.terms.size, minlength=k)
    run = replace(run, shares=Shares(load, np.zeros(k), load))  # what a part holds now is the most that it may
    task = Task(Objective(ADDITIVE, 0.0, mean_weight(level)), k, 0.0, float(load.max()))
    for _ in range(max_cycles):
        made = v_cycle(level, partition, task, 0.0, run)
        if value(made, task) <= value(partition, task):
            break
        partition = made
    return partition
