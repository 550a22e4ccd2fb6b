"""Exactly k clusters within bounds on what they hold, under any objective; and connected ones.

1. The engine's partition without bounds. If it is within them, it is the answer.
2. The engine's search, whose every step settles partitions within the bounds: V-cycles from nothing and inside the
   clusters of step 1, and k parts of about equal size, if the bounds are tight; recombination; iteration.
3. If clusters are disconnected, parts join neighbors, which then give nodes away, and V-cycles undo every step that
   disconnects a cluster.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.engine.bisection import new_parts
from graphclust.engine.bounds import NO_ROOM, Bounds, describe_sure_bounds
from graphclust.engine.connected_balance import balance_by_pieces, grow_connected
from graphclust.engine.connectivity import connect, connect_once
from graphclust.engine.contraction import coarsest, restricted
from graphclust.engine.engine import EFFORTS, Effort, search
from graphclust.engine.levels import Run, n_entries, read_only_level, value, with_sizes_as_masses, with_sums
from graphclust.engine.overlay import find_connected_parts
from graphclust.engine.packing import pack
from graphclust.engine.resolution import Schedule
from graphclust.engine.settling import balance, best_of, is_cut, is_within, settle
from graphclust.engine.v_cycle import coarsen, v_cycle
from graphclust.errors import ParameterError

TIGHT = 1.5  # times the mean: if the upper bound is lower, equal parts are a parent too
ROUNDS = 8  # in which parts of clusters join neighbors, and these give nodes away
TRIES = 8  # at growing connected clusters from random nodes
FEW_ENTRIES = 1 << 13  # of a level, up to which clusters other than equal parts are balanced by connected moves


def partition_within(
    level: Level, find: Callable[[], tuple[Partition, Schedule]], bounds: Bounds, effort: Effort, run: Run
) -> tuple[Partition, Schedule]:
    """Exactly k clusters within the bounds: the best partition that the effort finds, and what it was made for.

    find : makes the clusters without bounds. Raises ParameterError where the nodes do not fit into the clusters.
    """
    with run.progress.within(None):  # what is found without bounds is no result yet
        found, schedule = find()
    schedule = schedule._replace(task=schedule.task._replace(least=bounds.least, most=bounds.most))
    return search_within(level, found, schedule, effort, run), schedule


def bring_within(found: Partition, schedule: Schedule, bounds: Bounds, run: Run) -> tuple[Partition, list[str]]:
    """A partition of the finest level, changed if it is outside the bounds; and remarks on it."""
    rows, terms = run.finest
    level = read_only_level(rows, Terms(terms.loops, terms.mass, bounds.size))
    run, task = replace(run, finest=level), schedule.task._replace(least=bounds.least, most=bounds.most)
    found = search_within(level, found, schedule._replace(task=task), EFFORTS["normal"], run)
    return found, remark_on_parts(found, run)


def remark_on_parts(found: Partition, run: Run) -> list[str]:
    """A remark if clusters of the finest level are disconnected for another reason than the graph's components."""
    n_parts = n_disconnected(run.finest, found, run)
    return [f"not all clusters are connected, which the bounds do not let them be: {n_parts} parts"] if n_parts else []


def n_disconnected(level: Level, found: Partition, run: Run) -> int:
    """The number of connected parts of all clusters; 0 if there are no more than clusters, or components."""
    n_parts, n_components = (
        find_connected_parts(level, found, run)[1],
        1 if run.graph is None else run.graph.n_components,
    )
    return n_parts if n_parts > max(len(found.sums.size), n_components) else 0


def search_within(level: Level, free: Partition, schedule: Schedule, effort: Effort, run: Run) -> Partition:
    """The best partition within the bounds that is found, starting also from `free`, which need not be within them."""
    task, penalties = schedule.task, schedule.penalties
    if is_within(level, free, task, run):
        return free
    steps = coarsen(level, penalties[0], task, run, free)
    top = coarsest(level, steps)
    tries = [partial(v_cycle, top, restricted(steps, free), task, penalties[0])]
    tries += [partial(v_cycle, top, None, task, penalty) for penalty in penalties]
    repels = bool(level.terms.layers) and level.rows.weights.min(initial=1.0) <= 0.0  # no cut is small or large then
    if task.k * task.most < TIGHT * level.terms.size.sum() and not repels:
        tries.append(partial(_equal_parts, top, task))
    found, _ = search(level, steps, [], tries, schedule, effort.asked, effort.descent, run)
    found = connect(level, found, task, run)
    if not is_within(level, found, task, run):
        found = settle(level, pack(level, task.k, run), task, run)
    if not run.progress.out_of_time() and n_disconnected(level, found, run):
        found = make_connected(level, found, schedule, run)
    if not is_within(level, found, task, run):
        raise ParameterError(
            f"no {task.k} clusters of {task.least:.12g} to {task.most:.12g} were found: {NO_ROOM}; "
            f"{describe_sure_bounds(level.terms.size, task.k)} are sure to do, or fewer clusters"
        )
    return found


def _equal_parts(level: Level, task: Task, run: Run) -> Partition:
    """k parts of about equal size by the edge cut, settled."""
    own = with_sizes_as_masses(replace(run, graph=None, finest=level), level.terms.size)
    cut = task._replace(objective=Objective(ADDITIVE, 0.0, run.totals.volume / len(level.terms.size)))
    found = new_parts(own.finest, cut, own)
    return settle(level, with_sums(level, found.labels, task.k, run), task, run)


def make_connected(level: Level, found: Partition, schedule: Schedule, run: Run) -> Partition:
    """The best partition within the bounds whose clusters are connected, if one is found; else the best one."""
    task = schedule.task
    if is_cut(task):
        candidates = _connected_parts(level, found, task, run)
    else:
        candidates = _find_connected(level, found, schedule, run)
    made = [one for one in candidates if is_within(level, one, task, run)]
    connected = [one for one in made if not n_disconnected(level, one, run)]
    if not connected:
        return best_of(level, [found, *made], task, run)
    best = best_of(level, connected, task, run)
    for penalty in schedule.penalties:
        if not run.progress.out_of_time():
            tried = v_cycle(level, best, task, penalty, run, settled=settle_connected)
            if value(tried, task) > value(best, task) and not n_disconnected(level, tried, run):
                best = tried
    return best


def _find_connected(level: Level, found: Partition, schedule: Schedule, run: Run) -> Iterator[Partition]:
    """Partitions that are more likely to have connected clusters than the one found."""
    task, is_few = schedule.task, n_entries(level) <= FEW_ENTRIES
    free, made = task._replace(least=0.0, most=np.inf), [found]
    made += [v_cycle(level, None, task, penalty, run, settled=settle_connected) for penalty in schedule.penalties]
    yield from made[1:]
    yield reconnect(level, found, task, run)
    for one in [one for one in made if is_few and len(one.sums.size) == task.k]:
        whole = connect_once(level, settle(level, one, free, run), free, run)
        yield settle_connected(level, balance_by_pieces(level, whole, task, run), task, run)
    if is_few and (run.graph is None or run.graph.n_components == 1):
        for _ in range(TRIES):
            grown = balance_by_pieces(level, grow_connected(level, task.k, run), task, run)
            yield settle_connected(level, grown, task, run)


def _connected_parts(level: Level, found: Partition, task: Task, run: Run) -> Iterator[Partition]:
    """Equal parts of a connected graph that are likely to be connected; new ones only if none is within the bounds."""
    yield reconnect(level, found, task, run)
    starts = [partial(connect_once, level, found, task._replace(least=0.0, most=np.inf), run)]
    for start in starts + [partial(grow_connected, level, task.k, run)] * TRIES:
        made = balance_by_pieces(level, start(), task, run)
        yield settle_connected(level, made, task, run)
        if is_within(level, made, task, run):
            break


def settle_connected(level: Level, found: Partition, task: Task, run: Run) -> Partition:
    """`settle`, if that leaves all clusters connected; else the partition found, connected if that is possible."""
    for tried in (settle(level, found, task, run), found):
        if len(tried.sums.size) == task.k:
            made = connect(level, tried, bounds_of_joining(task, run), run)
            if is_within(level, made, task, run) and find_connected_parts(level, made, run)[1] == task.k:
                return made
    return found


def bounds_of_joining(task: Task, run: Run) -> Task:
    """The task by which parts of clusters join neighbors: without bounds where those of the clusters differ."""
    return task if run.shares is None else task._replace(least=0.0, most=np.inf)


def reconnect(level: Level, found: Partition, task: Task, run: Run) -> Partition:
    """The partition after rounds: parts of clusters join full neighbors, which then give nodes away."""
    for _ in range(ROUNDS):
        found = connect_once(level, found, task._replace(least=0.0, most=np.inf), run)
        found = connect_once(level, balance(level, found, task, run)[0], bounds_of_joining(task, run), run)
        if not n_disconnected(level, found, run):
            break
    return settle_connected(level, found, task, run)
