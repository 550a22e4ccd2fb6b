"""Exactly k clusters within bounds on what they hold, under any objective; and connected ones.

1. The engine's partition without bounds. If it is within them, it is the answer.
2. The engine's search, whose every step settles partitions within the bounds: V-cycles from nothing and inside the
   clusters of step 1, and k parts of about equal size, if the bounds are tight; recombination; iteration.
3. If clusters are disconnected, parts join neighbors, which then give nodes away, and V-cycles undo every step that
   disconnects a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from graphclust.compiled.graphs.levels import Goal, Level, Partition, Terms
from graphclust.compiled.graphs.objective import PLAIN, Objective
from graphclust.engine.bisection import new_parts
from graphclust.engine.bounds import (
    NO_ROOM,
    Bounds,
    describe_sure_bounds,
    pack,
)
from graphclust.engine.connected_balance import balance_connected, grow_connected
from graphclust.engine.connectivity import connect, connect_once
from graphclust.engine.contraction import coarsest, restricted
from graphclust.engine.engine import EFFORTS, Effort, partition_into, search
from graphclust.engine.levels import Run, n_entries, read_only_level, value, with_sizes_as_masses, with_sums
from graphclust.engine.overlay import find_connected_parts
from graphclust.engine.resolution import Plan
from graphclust.engine.settling import balance, best_of, is_cut, is_within, settle
from graphclust.engine.v_cycle import coarsen, v_cycle
from graphclust.errors import ParameterError
from graphclust.objective.objective import Aim

TIGHT = 1.5  # times the mean: if the upper bound is lower, equal parts are a parent too
ROUNDS = 8  # in which parts of clusters join neighbors, and these give nodes away
TRIES = 8  # at growing connected clusters from random nodes
FEW_ENTRIES = 1 << 13  # of a level, up to which clusters are balanced by moves that keep them connected ...
FEW_OF_PARTS = 1 << 17  # ... and equal parts, where that was asked for


def partition_within(
    level: Level, k: int, aim: Aim, bounds: Bounds, effort: Effort, run: Run
) -> tuple[Partition, Plan]:
    """Exactly k clusters within the bounds: the best partition that the effort finds, and what it was made for.

    Raises ParameterError where the nodes do not fit into the clusters.
    """
    with run.progress.within(None):  # what is found without bounds is no result yet
        found, plan = partition_into(level, k, aim, effort, run)
    plan = plan._replace(goal=plan.goal._replace(least=bounds.least, most=bounds.most))
    return search_within(level, found, plan, effort, run), plan


def bring_within(found: Partition, plan: Plan, bounds: Bounds, run: Run) -> tuple[Partition, list[str]]:
    """A partition of the finest level, changed if it is outside the bounds; and remarks on it."""
    rows, terms = run.finest
    level = read_only_level(rows, Terms(terms.loops, terms.mass, bounds.size))
    run, goal = replace(run, finest=level), plan.goal._replace(least=bounds.least, most=bounds.most)
    found = search_within(level, found, plan._replace(goal=goal), EFFORTS["normal"], run)
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


def search_within(level: Level, free: Partition, plan: Plan, effort: Effort, run: Run) -> Partition:
    """The best partition within the bounds that is found, starting also from `free`, which need not be within them."""
    goal, pulls = plan.goal, plan.pulls
    if is_within(level, free, goal, run):
        return free
    steps = coarsen(level, pulls[0], goal, run, free)
    top = coarsest(level, steps)
    tries = [partial(v_cycle, top, restricted(steps, free), goal, pulls[0])]
    tries += [partial(v_cycle, top, None, goal, pull) for pull in pulls]
    if goal.k * goal.most < TIGHT * level.terms.size.sum():
        tries.append(partial(_equal_parts, top, goal))
    found, _ = search(level, steps, [], tries, plan, effort.asked, effort.descent, run)
    found = connect(level, found, goal, run)
    if not is_within(level, found, goal, run):
        found = settle(level, pack(level, goal.k, run), goal, run)
    if not run.progress.out_of_time() and n_disconnected(level, found, run):
        found = make_connected(level, found, plan, run)
    if not is_within(level, found, goal, run):
        raise ParameterError(
            f"no {goal.k} clusters of {goal.least:.12g} to {goal.most:.12g} were found: {NO_ROOM}; "
            f"{describe_sure_bounds(level.terms.size, goal.k)} are sure to do, or fewer clusters"
        )
    return found


def _equal_parts(level: Level, goal: Goal, run: Run) -> Partition:
    """k parts of about equal size by the edge cut, settled."""
    own = with_sizes_as_masses(replace(run, graph=None, finest=level), level.terms.size)
    cut = goal._replace(objective=Objective(PLAIN, 0.0, run.units.volume / len(level.terms.size)))
    found = new_parts(own.finest, cut, own)
    return settle(level, with_sums(level, found.labels, goal.k, run), goal, run)


def make_connected(level: Level, found: Partition, plan: Plan, run: Run) -> Partition:
    """The best partition within the bounds whose clusters are connected, if one is found; else the best one."""
    goal = plan.goal
    made = [one for one in _find_connected(level, found, plan, run) if is_within(level, one, goal, run)]
    connected = [one for one in made if not n_disconnected(level, one, run)]
    if not connected:
        return best_of(level, [found, *made], goal, run)
    best = best_of(level, connected, goal, run)
    for pull in plan.pulls:
        if not run.progress.out_of_time():
            tried = v_cycle(level, best, goal, pull, run, settled=settle_connected)
            if value(tried, goal) > value(best, goal) and not n_disconnected(level, tried, run):
                best = tried
    return best


def _find_connected(level: Level, found: Partition, plan: Plan, run: Run) -> Iterator[Partition]:
    """Partitions that are more likely to have connected clusters than the one found."""
    goal, is_few = plan.goal, n_entries(level) <= (FEW_OF_PARTS if is_cut(plan.goal) else FEW_ENTRIES)
    free, made = goal._replace(least=0.0, most=np.inf), [found]
    if not is_cut(goal):
        made += [v_cycle(level, None, goal, pull, run, settled=settle_connected) for pull in plan.pulls]
        yield from made[1:]
    yield reconnect(level, found, goal, run)
    for one in [one for one in made if is_few and len(one.sums.size) == goal.k]:
        whole = connect_once(level, settle(level, one, free, run), free, run)
        yield settle_connected(level, balance_connected(level, whole, goal, run), goal, run)
    if is_few and (run.graph is None or run.graph.n_components == 1):
        for _ in range(TRIES):
            grown = balance_connected(level, grow_connected(level, goal.k, run), goal, run)
            yield settle_connected(level, grown, goal, run)


def settle_connected(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """`settle`, if that leaves all clusters connected; else the partition found, connected if that is possible."""
    for tried in (settle(level, found, goal, run), found):
        if len(tried.sums.size) == goal.k:
            made = connect(level, tried, bounds_of_joining(goal, run), run)
            if is_within(level, made, goal, run) and find_connected_parts(level, made, run)[1] == goal.k:
                return made
    return found


def bounds_of_joining(goal: Goal, run: Run) -> Goal:
    """The goal by which parts of clusters join neighbors: without bounds where those of the clusters differ."""
    return goal if run.shares is None else goal._replace(least=0.0, most=np.inf)


def reconnect(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition after rounds: parts of clusters join full neighbors, which then give nodes away."""
    for _ in range(ROUNDS):
        found = connect_once(level, found, goal._replace(least=0.0, most=np.inf), run)
        found = connect_once(level, balance(level, found, goal, run)[0], bounds_of_joining(goal, run), run)
        if not n_disconnected(level, found, run):
            break
    return settle_connected(level, found, goal, run)
