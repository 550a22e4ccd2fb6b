"""Exactly k clusters within bounds on what they hold, under any objective.

1. The engine's partition without bounds. If it is within them, it is the answer.
2. Parents: V-cycles whose every step keeps the bounds, from nothing and inside the clusters of step 1; and k parts of
   about equal size, if the bounds are tight.
3. Children: V-cycles inside the overlay of two parents.
4. The best one with connected clusters. If there is none yet, V-cycles that undo every step which disconnects a cluster
   look for one.

A cluster that is outside the bounds gives away or takes the nodes that cost the objective least; then nodes move within
the bounds. Only partitions into k clusters are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.levels import Goal, Level, Partition, Terms
from graphclust.compiled.graphs.objective import PLAIN, Objective
from graphclust.compiled.graphs.v_cycle import rows_within
from graphclust.engine import balanced
from graphclust.engine.agglomeration import NO_GAINS, agglomerate
from graphclust.engine.balanced import LITTER, PATIENCE, balance, is_within, select
from graphclust.engine.bounds import (
    NO_ROOM,
    Bounds,
    describe_sure_bounds,
    pack,
)
from graphclust.engine.connected_balance import balance_connected, grow_connected
from graphclust.engine.connectivity import connect, connect_once, join_homes
from graphclust.engine.contraction import Contraction, contract
from graphclust.engine.engine import (
    BUDGET,
    FIRST,
    LARGEST_SHARE,
    SPARE_ENTRIES,
    Effort,
    labels_of_nodes,
    partition_into,
    side_by_side,
)
from graphclust.engine.fiduccia_mattheyses import climb_within
from graphclust.engine.levels import (
    Run,
    n_entries,
    read_only_level,
    value,
    with_sizes_as_masses,
    with_sums,
)
from graphclust.engine.local_moving import find_regions, refine
from graphclust.engine.overlay import overlay, split_disconnected
from graphclust.engine.resolution import Plan
from graphclust.errors import ParameterError
from graphclust.objective.objective import Aim

REGION_SHARE = 0.15  # of the upper bound: larger regions would not fill clusters evenly
TIGHT = 1.5  # times the mean: if the upper bound is lower, equal parts are a parent too
BEST, ROUNDS = 2, 8  # how many partitions are reconnected, and in how many rounds
TRIES = 8  # at growing connected clusters from random nodes
FEW_ENTRIES = 1 << 13  # of a level, up to which clusters are balanced by moves that keep them connected
CHILDREN = {"low": 0, "normal": 2, "high": 48}  # no generation, one and 24: a child costs two V-cycles
SPARE_CHILDREN = 4  # of small levels, on which they take some milliseconds


def partition_within(
    level: Level, k: int, aim: Aim, bounds: Bounds, effort: Effort, n_children: float, run: Run
) -> tuple[Partition, Plan]:
    """Exactly k clusters within the bounds: the best partition that the effort finds, and what it was made for.

    Raises ParameterError where the nodes do not fit into the clusters.
    """
    with run.progress.within(None):  # what is found without bounds is no result yet
        found, plan = partition_into(level, k, aim, effort, run)
    plan = plan._replace(goal=plan.goal._replace(least=bounds.least, most=bounds.most))
    if not is_within(level, found, plan.goal):
        found = search_within(level, found, plan, n_children, run)
    return found, plan


def bring_within(found: Partition, plan: Plan, bounds: Bounds, run: Run) -> tuple[Partition, list[str]]:
    """A partition of the finest level, changed if it is outside the bounds; and remarks on it."""
    rows, terms = run.finest
    level = read_only_level(rows, Terms(terms.loops, terms.mass, bounds.size))
    run, goal = replace(run, finest=level), plan.goal._replace(least=bounds.least, most=bounds.most)
    if not is_within(level, found, goal):
        found = search_within(level, found, plan._replace(goal=goal), CHILDREN["normal"], run)
    return found, remark_on_parts(found, run)


def remark_on_parts(found: Partition, run: Run) -> list[str]:
    """A remark if clusters of the finest level are disconnected for another reason than the graph's components."""
    n_parts, n_components = _n_parts(run.finest, found, run), 1 if run.graph is None else run.graph.n_components
    if n_parts <= max(len(found.sums.size), n_components):
        return []
    return [f"not all clusters are connected, which the bounds do not let them be: {n_parts} parts"]


def search_within(level: Level, free: Partition, plan: Plan, n_children: float, run: Run) -> Partition:
    """The best partition within the bounds that is found, starting also from `free`, which need not be within them."""
    goal, pulls = plan.goal, plan.pulls
    steps = _contract(level, free, goal, pulls[0], BUDGET // FIRST, run)
    top = steps[-1].coarse if steps else level
    tries = [partial(cycle, top, _restrict(steps, free), goal, pulls[0])]
    tries += [partial(cycle, top, None, goal, pull) for pull in pulls]
    affordable = max(1, FIRST * BUDGET // max(n_entries(top), 1))  # where bounds keep regions small, top may be large
    if n_children < np.inf:
        spare = SPARE_CHILDREN if n_children and n_entries(top) <= SPARE_ENTRIES else 0
        n_children = min(n_children + spare, affordable - len(tries))
    pool = side_by_side(tries[: 1 if run.progress.out_of_time() else affordable], top, run)
    if goal.k * goal.most < TIGHT * level.terms.size.sum():
        pool.append(_equal_parts(top, goal, run))
    pool, n_made, in_vain = _rank(top, pool, goal), 0, 0
    while n_made < n_children and in_vain < PATIENCE and not run.progress.out_of_time():
        if is_within(top, pool[0], goal):
            run.progress.offer(partial(labels_of_nodes, steps, pool[0].labels))
        run.progress.step(int(min(n_made, PATIENCE)), int(min(n_children, PATIENCE)))
        litter = side_by_side([partial(_child, top, pool, plan)] * LITTER, top, run)
        best = value(pool[0], goal)
        pool, n_made = _rank(top, [*pool, *litter], goal), n_made + LITTER
        in_vain = 0 if value(pool[0], goal) > best else in_vain + LITTER
    return _finish(level, steps, pool, plan, run)


def cycle(
    level: Level, found: Partition | None, goal: Goal, pull: float, run: Run, is_connected: bool = False
) -> Partition:
    """The better of the partition found, if any, and a new one merged within its clusters; see `settle`.

    is_connected : whether steps that disconnect a cluster are undone.
    """
    settled = settle_connected if is_connected else settle
    steps = _contract(level, found, goal, pull, 0, run)
    top = steps[-1].coarse if steps else level
    tried = [settled(top, _merge(top, goal, run), goal, run)]
    if found is not None:
        tried.append(settled(top, _restrict(steps, found), goal, run))
    best = _rank(top, tried, goal)[0]
    for step in reversed(steps):
        best = settled(step.fine, step.project(best), goal, run)
    best = best if is_connected else climb(level, best, goal, run)
    return best if found is None else _rank(level, [found, best], goal)[0]


def settle(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """Merge to k clusters, rebalance as far as the nodes of the level allow, and refine."""
    if len(found.sums.size) > goal.k:
        step = contract(level, found, run)
        found = step.project(agglomerate(step.coarse, goal._replace(least=0.0, most=np.inf), run))
    return refine(level, balance(level, found, goal)[0], goal, run)


def climb(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition after Fiduccia-Mattheyses, which lets nodes change places, if some cluster has no room."""
    heaviest = float(level.terms.size.max())
    has_room = is_within(level, found, goal._replace(most=goal.most - heaviest))
    if has_room or not is_within(level, found, goal) or run.progress.out_of_time():
        return found
    return climb_within(level, level.terms.size, found, goal, balanced.LOCAL._replace(slack=heaviest), run)


def settle_connected(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """`settle`, if that leaves all clusters connected; else the partition found, connected if that is possible."""
    for tried in (settle(level, found, goal, run), found):
        if len(tried.sums.size) == goal.k:
            made = connect(level, tried, goal, run)
            if is_within(level, made, goal) and _n_parts(level, made, run) == goal.k:
                return made
    return found


def reconnect(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition after rounds: parts of clusters join full neighbors, which then give nodes away."""
    for _ in range(ROUNDS):
        found = connect_once(level, found, goal._replace(least=0.0, most=np.inf), run)
        found = connect_once(level, balance(level, found, goal)[0], goal, run)
        if _n_parts(level, found, run) == goal.k:
            break
    return settle_connected(level, found, goal, run)


def _n_parts(level: Level, found: Partition, run: Run) -> int:
    """The number of connected parts of all clusters."""
    return len(split_disconnected(level, found, run).sums.size)


def _merge(level: Level, goal: Goal, run: Run) -> Partition:
    """The nodes merged into k clusters that meet the lower bound, or into more clusters if no two fit into one.

    Merging goes as far as to the last partition with k clusters that heavy; the lighter clusters join these.
    """
    size = level.terms.size
    if size.min() >= goal.least:
        return agglomerate(level, goal, run)
    n = len(size)
    pairs = np.full((n, 2), -1, np.int32)
    agglomerate(level, goal._replace(k=1, least=0.0), run, NO_GAINS, pairs)
    unions, load = pairs[pairs[:, 0] >= 0][::-1].tolist(), size.tolist()
    n_heavy, n_unions = sum(held >= goal.least for held in load), -1
    for i, (ended, enlarged) in enumerate(unions, 1):
        before = (load[ended] >= goal.least) + (load[enlarged] >= goal.least)
        load[enlarged] += load[ended]
        n_heavy += (load[enlarged] >= goal.least) - before
        if n_heavy == goal.k:
            n_unions = i
    if n_unions < 0:
        return agglomerate(level, goal, run)
    into = np.arange(n)
    for ended, enlarged in reversed(unions[:n_unions]):
        into[ended] = into[enlarged]
    k, labels = np.unique(into, return_inverse=True)
    merged = with_sums(level, labels.astype(np.int32), len(k), run)
    return _join_light(level, merged, goal, run)


def _join_light(level: Level, merged: Partition, goal: Goal, run: Run) -> Partition:
    """The partition in which clusters below the lower bound have joined neighbors, or any cluster if none has room."""
    step = contract(level, merged, run)
    size = step.coarse.terms.size
    is_heavy = size >= goal.least
    number = np.where(is_heavy, np.cumsum(is_heavy) - 1, -1)
    joined = join_homes(step.coarse, is_heavy, number, goal)
    load = np.bincount(joined.home[joined.home >= 0], size[joined.home >= 0], minlength=goal.k)
    for c in np.flatnonzero(joined.home < 0).tolist():
        joined.home[c] = load.argmin()
        load[joined.home[c]] += size[c]
    return with_sums(level, joined.home.astype(np.int32)[merged.labels], goal.k, run)


def _contract(
    level: Level, found: Partition | None, goal: Goal, pull: float, enough: int, run: Run
) -> list[Contraction]:
    """Contractions to regions inside the clusters found, until `enough` entries are left or levels hardly shrink."""
    steps: list[Contraction] = []
    while n_entries(level) > enough:
        inner = level if found is None else rows_within(level, found.labels)
        regions = find_regions(inner, pull, run, REGION_SHARE * goal.most)
        if not goal.k <= len(regions.sums.size) <= LARGEST_SHARE * len(regions.labels):
            break
        steps.append(contract(level, regions, run))
        level, found = steps[-1].coarse, None if found is None else steps[-1].restrict(found)
    return steps


def _restrict(steps: list[Contraction], found: Partition) -> Partition:
    """A partition of the finest level as one of the coarsest."""
    for step in steps:
        found = step.restrict(found)
    return found


def _equal_parts(level: Level, goal: Goal, run: Run) -> Partition:
    """k parts of about equal size by the edge cut, settled."""
    own = with_sizes_as_masses(replace(run, graph=None, finest=level), level.terms.size)
    with run.progress.within(None):
        cut = goal._replace(objective=_edge_cut(level, run))
        found, _ = balanced.partition_balanced(own.finest, cut, balanced.EFFORTS["low"], own)
    return settle(level, with_sums(level, found.labels, goal.k, run), goal, run)


def _edge_cut(level: Level, run: Run) -> Objective:
    return Objective(PLAIN, 0.0, run.units.volume / len(level.terms.size))


def _rank(level: Level, found: Sequence[Partition], goal: Goal) -> list[Partition]:
    """The best partitions by value, best first; only those within the bounds if there are any."""
    return select([one for one in found if is_within(level, one, goal)] or found, goal)


def _child(level: Level, pool: Sequence[Partition], plan: Plan, run: Run) -> Partition:
    """A child of two partitions: V-cycles of the better one inside their overlay."""
    goal, pull = plan.goal, run.rng.choice(plan.pulls)
    better, other = (sorted(run.rng.permutation(len(pool))[:2]) * 2)[:2]
    shared = overlay(level, [pool[better], pool[other]], run)
    if len(shared.sums.size) <= goal.k:
        return cycle(level, pool[better], goal, pull, run)
    step = contract(level, shared, run)
    child = cycle(step.coarse, step.restrict(pool[better]), goal, plan.pulls[0], run)
    return cycle(level, settle(level, step.project(child), goal, run), goal, pull, run)


def _find_connected(level: Level, pool: Sequence[Partition], plan: Plan, run: Run) -> Iterator[Partition]:
    """Partitions that are more likely to have connected clusters than those of a pool."""
    goal = plan.goal
    made = [cycle(level, None, goal, pull, run, is_connected=True) for pull in plan.pulls]
    yield from _rank(level, made, goal)
    for found in pool[:BEST]:
        yield reconnect(level, found, goal, run)
    without_bounds = goal._replace(least=0.0, most=np.inf)
    for found in [*pool, *made] if n_entries(level) <= FEW_ENTRIES else []:
        whole = connect_once(level, settle(level, found, without_bounds, run), without_bounds, run)
        yield settle_connected(level, balance_connected(level, whole, goal, run), goal, run)


def _finish(level: Level, steps: list[Contraction], pool: Sequence[Partition], plan: Plan, run: Run) -> Partition:
    """The first of a pool whose clusters are connected on the nodes; else the best connected one, or the best."""
    goal, top = plan.goal, steps[-1].coarse if steps else level
    n_components = 1 if run.graph is None else run.graph.n_components
    fewest = max(goal.k, n_components)
    found = list(_project_to_nodes(level, steps, pool, False, goal, run))
    is_connected = bool(found) and found[-1].n_parts <= fewest
    if not is_connected and not run.progress.out_of_time():
        others = [*_project_to_nodes(level, steps, list(_find_connected(top, pool, plan, run)), True, goal, run)]
        connected = max((one for one in others if one.n_parts <= fewest), default=None, key=lambda one: one.value)
        if connected is None and n_components == 1 and n_entries(level) <= FEW_ENTRIES:
            connected = _grow(level, goal, run)
        if connected is not None:
            return _improve(level, connected, plan, run)
        found += others
    best = max(found, key=lambda one: one.value).found if found else settle(level, pack(level, goal.k, run), goal, run)
    if not is_within(level, best, goal):
        raise ParameterError(
            f"no {goal.k} clusters of {goal.least:.12g} to {goal.most:.12g} were found: {NO_ROOM}; "
            f"{describe_sure_bounds(level.terms.size, goal.k)} are sure to do, or fewer clusters"
        )
    return found[-1].found if is_connected else best


def _grow(level: Level, goal: Goal, run: Run) -> Candidate | None:
    """Connected clusters within the bounds, grown from random nodes; None if no try succeeds."""
    for _ in range(TRIES):
        made = settle_connected(
            level, balance_connected(level, grow_connected(level, goal.k, run), goal, run), goal, run
        )
        if is_within(level, made, goal) and _n_parts(level, made, run) == goal.k:
            return Candidate(made, value(made, goal), goal.k)
    return None


class Candidate(NamedTuple):
    """A partition of the nodes within the bounds, its value, and the number of connected parts of its clusters."""

    found: Partition
    value: float
    n_parts: int


def _project_to_nodes(
    level: Level, steps: list[Contraction], pool: Sequence[Partition], keeps_connected: bool, goal: Goal, run: Run
) -> Iterator[Candidate]:
    """Project partitions of the coarsest level to the nodes; yields those within the bounds.

    The first with connected clusters is the last. keeps_connected : all are projected, and steps that disconnect a
    cluster are undone.
    """
    for one in pool:
        for step in reversed(steps):
            one = (settle_connected if keeps_connected else settle)(step.fine, step.project(one), goal, run)
        if is_within(level, one, goal):
            one = connect(level, one if keeps_connected or not steps else climb(level, one, goal, run), goal, run)
            run.progress.offer(one.labels.copy)
            made = Candidate(one, value(one, goal), _n_parts(level, one, run))
            yield made
            if made.n_parts == goal.k and not keeps_connected:
                return


def _improve(level: Level, best: Candidate, plan: Plan, run: Run) -> Partition:
    """The partition after V-cycles that keep its clusters connected."""
    for pull in plan.pulls:
        if not run.progress.out_of_time():
            tried = cycle(level, best.found, plan.goal, pull, run, is_connected=True)
            made = Candidate(tried, value(tried, plan.goal), _n_parts(level, tried, run))
            if made.n_parts <= best.n_parts and made.value > best.value:
                best = made
    return best.found
