"""Balanced partitioning: exactly k clusters within bounds on what they hold, with the smallest edge cut.

1. Coarsening. Local moving joins nodes to regions of a few nodes, whose sizes are bounded; remaining singletons with
   the same neighbor share a region. So levels shrink even if most nodes are leaves of hubs.
2. Recursive bisection on the way back. The coarsest level is cut in two, and a finer level doubles the parts as soon as
   it has nodes enough for them. Parts are bisected by a V-cycle of their own: they are coarsened, grown into halves
   several times, of which the best are taken, and refined on the way back.
3. Refinement at every level: clusters that hold too much give nodes away, and those that hold too little take some;
   Jet's rounds of moves may pass the bounds for a while; Fiduccia-Mattheyses searches from the whole border and from
   few nodes of it. Coarse levels may pass the bounds by the size of one node, the finest never does.
4. V-cycles inside the clusters found, and recombination: V-cycles inside the overlay of two partitions.

Every step but a rebalancing keeps the cut or lowers it, and the best partition within the bound is returned.

Source: bisection on every level, Gottesbüren et al. 2021, "Deep multilevel graph partitioning" (KaMinPar);
recombination, Sanders & Schulz 2012, "Distributed evolutionary graph partitioning" (KaFFPaE).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs import balance as balance_loops
from graphclust.compiled.graphs import fiduccia_mattheyses as climbing
from graphclust.compiled.graphs.bisection import grow_halves
from graphclust.compiled.graphs.jet import Rounds, move_in_rounds_into
from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.compiled.graphs.objective import PLAIN, Objective
from graphclust.compiled.graphs.two_hop import join_singletons
from graphclust.compiled.graphs.v_cycle import rows_within
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.engine.bounds import pack
from graphclust.engine.contraction import Contraction, contract
from graphclust.engine.engine import VALUE_RTOL, side_by_side
from graphclust.engine.levels import Run, n_entries, partition_in, room_for, value, with_sums
from graphclust.engine.local_moving import find_regions
from graphclust.engine.overlay import overlay

REGION = 3.0  # nodes, about: an average link joins a node to a region that is no larger
HEAVIEST = 0.15  # of an average cluster: no region is larger, so that clusters can be balanced ...
GROWTH = 8.0  # ... but coarse levels, which have fewer clusters, allow so many nodes of average size
JOINED = 4.0  # nodes of average size in a region of singletons
HARDLY_SHRINKS = 0.5  # of the nodes: singletons are joined if regions leave more
MOST_LEFT = 0.95  # of the nodes: a contraction that leaves more is not made
NODES_PER_PART = 400  # that a level needs before a part of it is bisected ...
COARSEST = 20  # ... and to how many nodes the part is coarsened for that
NODES_PER_CLUSTER = 10  # of the coarsest level of a V-cycle
TRIES = 8  # bisections of each part, of which the best is taken
FINEST_ROUNDS, COARSE_ROUNDS = Rounds(0.25, 12), Rounds(0.75, 12)  # of Jet
# A search from the whole border can cross high barriers; searches from a few nodes cross low ones, and end soon.
WHOLE = climbing.FMLimits(1 << 40, 300, np.inf, 3, 0.0)
LOCAL = climbing.FMLimits(16, 15, 1000.0, 3, 0.0)
POOL = 8  # partitions that are kept as parents
LITTER = 2  # children of one generation
BUDGET = 1 << 24  # entries that all V-cycles read: some seconds; the first V-cycle is always made
MOST_IN_ROUNDS = 1 << 22  # entries of a level whose nodes move in rounds, each of which reads all of them
SPARE_ENTRIES, MOST_SPARE = (
    1 << 17,
    8,
)  # small graphs have a child for each so many entries less, up to so many children
PATIENCE = 64  # children without a gain, after which the search ends


class Effort(NamedTuple):
    """How many partitions there are at first, V-cycles for each, and children of two."""

    first: int
    v_cycles: int
    children: float


EFFORTS = {"low": Effort(1, 0, 0), "normal": Effort(2, 0, 2), "high": Effort(4, 1, 16)}


class Parts(NamedTuple):
    """A partition on its way to k clusters, and the number of clusters that each part will be bisected into."""

    found: Partition
    counts: np.ndarray


def partition_balanced(level: Level, goal: Goal, effort: Effort, run: Run) -> tuple[Partition, bool]:
    """The best partition that the effort finds, and whether it is within the bounds."""
    affordable = max(1, BUDGET // max(n_entries(level), 1))
    n_first = 1 if run.progress.out_of_time() else min(effort.first, affordable)
    pool = side_by_side([partial(_new_partition, level, goal)] * n_first, level, run)
    for _ in range(min(effort.v_cycles, affordable // len(pool) - 1)):
        run.progress.offer(best_of(level, pool, goal).labels.copy)
        if not run.progress.out_of_time():
            pool = side_by_side([partial(_v_cycle, level, one, one, goal) for one in pool], level, run)
    pool = [one for one in pool if is_within(level, one, goal)] or [_refine_packed(level, goal, run)]
    n_made, in_vain, children = 0, 0, effort.children if affordable > LITTER * len(pool) else 0
    if children > 0:
        children = max(children, min(MOST_SPARE, SPARE_ENTRIES // max(n_entries(level), 1)))
    pool = select(pool, goal)
    while n_made < children and in_vain < PATIENCE and not run.progress.out_of_time():
        best = value(pool[0], goal)
        run.progress.offer(pool[0].labels.copy)
        litter = side_by_side([partial(_child, level, pool, goal)] * LITTER, level, run)
        pool = select([*pool, *(one for one in litter if is_within(level, one, goal))], goal)
        n_made, in_vain = n_made + LITTER, 0 if value(pool[0], goal) > best else in_vain + LITTER
        run.progress.step(int(min(n_made, PATIENCE)), int(min(children, PATIENCE)))
    return pool[0], is_within(level, pool[0], goal)


def best_of(level: Level, pool: Sequence[Partition], goal: Goal, counts: npt.ArrayLike = 1) -> Partition:
    """The partition of least cut, among those within the bound if there are any."""
    return max(pool, key=lambda one: (is_within(level, one, goal, counts), value(one, goal)))


def select(found: Sequence[Partition], goal: Goal) -> list[Partition]:
    """The best partitions, best first; of several with equal values, which are mostly the same, only the first."""
    kept: list[Partition] = []
    for one in sorted(found, key=lambda one: -value(one, goal)):
        if not kept or value(kept[-1], goal) - value(one, goal) > VALUE_RTOL * abs(value(one, goal)):
            kept.append(one)
    return kept[:POOL]


def is_within(level: Level, found: Partition, goal: Goal, counts: npt.ArrayLike = 1) -> bool:
    """Whether there are k clusters, each of which has a node and holds what the bounds say.

    counts : how many times the upper bound each cluster may hold.
    """
    load = np.bincount(found.labels, level.terms.size, minlength=goal.k)
    holds = (load >= goal.least) & (load <= goal.most * np.asarray(counts))
    return bool(holds.all()) and np.count_nonzero(np.bincount(found.labels)) == goal.k


def balance(level: Level, found: Partition, goal: Goal) -> tuple[Partition, bool]:
    """The partition rebalanced, as far as the nodes of the level allow, and whether it is within the bounds.

    A partition that is within the bounds stays as it is.
    """
    if is_within(level, found, goal):
        return found, True
    room = room_for(level, goal.k)
    _, within = balance_loops.balance_into(level, found, goal, np.zeros(goal.k), room)
    return partition_in(room, goal.k), bool(within)


def improve_parts(level: Level, found: Partition, max_cycles: int, run: Run) -> Partition:
    """The partition after V-cycles: each part holds as much as before, and the cut is no larger.

    max_cycles : the first V-cycle that gains nothing is the last.
    """
    k = len(found.sums.size)
    counts = np.bincount(found.labels, level.terms.size, minlength=k)
    unit = float(level.rows.weights.mean()) if len(level.rows.weights) else 1.0
    goal = Goal(Objective(PLAIN, 0.0, unit), k, 0.0, 1.0)  # a part holds at most 1 for each of its count
    for _ in range(max_cycles):
        made = _v_cycle(level, found, found, goal, run, counts)
        if value(made, goal) <= value(found, goal):
            break
        found = made
    return found


def settle(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition refined, with its clusters within the bound as far as nodes can be moved."""
    return _settle(level, Parts(found, np.ones(goal.k, np.int64)), goal, run, False).found


def _child(level: Level, pool: Sequence[Partition], goal: Goal, run: Run) -> Partition:
    """A child of two partitions: a V-cycle of the better one inside their overlay."""
    if len(pool) == 1:
        return _v_cycle(level, pool[0], _new_partition(level, goal, run), goal, run)
    better, other = sorted(run.rng.permutation(len(pool))[:2])
    return _v_cycle(level, pool[better], pool[other], goal, run)


def _new_partition(level: Level, goal: Goal, run: Run) -> Partition:
    """A partition from nothing: down to a level of few nodes, and back with more and more parts."""
    one_part = np.zeros(len(level.terms.mass), np.int32)
    steps = _coarsen(level, one_part, 2 * NODES_PER_PART, goal.k, GROWTH, run)
    levels = [level, *(step.coarse for step in steps)]
    parts = Parts(with_sums(levels[-1], np.zeros(len(levels[-1].terms.mass), np.int32), 1, run), np.array([goal.k]))
    for depth in range(len(steps), -1, -1):
        here, relaxed = levels[depth], depth > 0
        affordable = len(here.terms.mass) // NODES_PER_PART if relaxed else np.inf  # parts
        if depth < len(steps):
            parts = parts._replace(found=steps[depth].project(parts.found))
        while parts.counts.max() > 1 and 2 * len(parts.counts) <= affordable:
            parts = _bisect(here, _settle(here, parts, goal, run, relaxed), goal, run, relaxed)
        parts = _settle(here, parts, goal, run, relaxed)
    return parts.found


def _v_cycle(
    level: Level, found: Partition, other: Partition, goal: Goal, run: Run, counts: np.ndarray | None = None
) -> Partition:
    """The better of the partition and of a V-cycle of it inside its overlay with another.

    counts : how many times the bound each cluster may hold; once, by default.
    """
    within = found if other is found else overlay(level, [found, other], run)
    steps = _coarsen(level, within.labels, NODES_PER_CLUSTER * goal.k, goal.k, 0.0, run)
    kept, counts = found, np.ones(goal.k, np.int64) if counts is None else counts
    for step in steps:
        kept = step.restrict(kept)
    made = _settle(steps[-1].coarse if steps else level, Parts(kept, counts), goal, run, bool(steps)).found
    for depth in range(len(steps) - 1, -1, -1):
        made = _settle(steps[depth].fine, Parts(steps[depth].project(made), counts), goal, run, depth > 0).found
    return best_of(level, [found, made], goal, counts)


def _coarsen(level: Level, within: np.ndarray, least: int, k: int, growth: float, run: Run) -> list[Contraction]:
    """Contractions to regions inside the clusters of labels, until `least` nodes are left or levels hardly shrink.

    growth : of nodes of average size, which a region may hold at least; k : parts that the level is to have.
    """
    steps: list[Contraction] = []
    total, mass, is_whole = float(level.terms.size.sum()), float(level.terms.mass.sum()), not within.any()
    while (n := len(level.terms.mass)) > least:
        inner = level if is_whole else rows_within(level, within)
        mean, weight = total / n, _mean_weight(level)
        most = max(HEAVIEST * total / k, growth * mean)
        regions = find_regions(inner, weight / (REGION * (mass / n) ** 2), run, most)
        if len(regions.sums.size) > HARDLY_SHRINKS * n:
            labels = regions.labels.copy()
            n_regions = join_singletons(inner.rows, level.terms.size, within, labels, min(most, JOINED * mean))
            regions = with_sums(level, labels, n_regions, run)
        if len(regions.sums.size) > MOST_LEFT * n:
            break
        steps.append(contract(level, regions, run))
        coarse = np.empty(len(regions.sums.size), np.int32)
        coarse[regions.labels] = within
        level, within = steps[-1].coarse, coarse
    return steps


def _mean_weight(level: Level) -> float:
    """The mean weight of the entries in use: rows within parts have unused room at the end."""
    weights = level.rows.weights[: level.rows.indptr[-1]]
    return float(weights.mean()) if len(weights) else 1.0


def _settle(level: Level, parts: Parts, goal: Goal, run: Run, relaxed: bool, in_rounds: bool = True) -> Parts:
    """The parts within their bounds, as far as the nodes of the level allow, and refined.

    relaxed : whether a cluster may pass the bounds by the size of an average node. in_rounds : whether nodes move in
    rounds before searches begin.
    """
    (found, counts), size = parts, level.terms.size
    k, largest = len(counts), int(counts.max())
    spare = float(size.mean()) if relaxed else 0.0
    bound = goal._replace(k=k, least=goal.least * largest - spare, most=goal.most * largest + spare)
    ballast = goal.most * (largest - counts)  # so that one bound serves parts of unequal numbers of clusters
    load = np.bincount(found.labels, size, minlength=k)
    if load.min() == 0.0 or (load + ballast).max() > bound.most or (load + ballast).min() < bound.least:
        room = room_for(level, k)
        balance_loops.balance_into(level, found, bound, ballast, room)
        found = partition_in(room, k)
    if k > 1 and in_rounds and n_entries(level) <= MOST_IN_ROUNDS:
        room = room_for(level, k)
        move_in_rounds_into(level, found, bound, ballast, COARSE_ROUNDS if relaxed else FINEST_ROUNDS, room)
        found = partition_in(room, k)
    room_left = min(goal.most * goal.k - size.sum(), size.sum() - goal.least * goal.k)
    slack = float(size.max()) if room_left < goal.k * size.mean() else 0.0
    for search_limits in (LOCAL,) if run.progress.out_of_time() else (WHOLE, LOCAL):
        room = room_for(level, k)
        climbing.climb_into(level, found, bound, ballast, search_limits._replace(slack=slack), draws_of(run.rng), room)
        found = partition_in(room, k)
    run.reads(level, n_entries(level))
    return Parts(found, counts)


def _bisect(level: Level, parts: Parts, goal: Goal, run: Run, relaxed: bool) -> Parts:
    """Every part of more than one cluster in two halves, by a V-cycle inside all parts at once."""
    found, inner = parts.found, rows_within(level, parts.found.labels)
    n_halves = 2 * len(parts.counts)
    steps = _coarsen(inner, found.labels, COARSEST * n_halves, n_halves, GROWTH, run)
    for step in steps:
        found = step.restrict(found)
    coarsest = steps[-1].coarse if steps else inner
    halves = _grow(coarsest, parts._replace(found=found), goal, run, relaxed or bool(steps))
    for depth in range(len(steps) - 1, -1, -1):
        found = steps[depth].project(halves.found)
        halves = _settle(steps[depth].fine, halves._replace(found=found), goal, run, relaxed or depth > 0)
    return halves._replace(found=with_sums(level, halves.found.labels, len(halves.counts), run))


def _grow(inner: Level, parts: Parts, goal: Goal, run: Run, relaxed: bool) -> Parts:
    """Every part of more than one cluster in two halves: of several tries the one that cuts least, part by part.

    inner : without edges between parts.
    """
    found, counts = parts
    second = counts // 2
    target = np.bincount(found.labels, inner.terms.size, minlength=len(counts)) * second / counts
    halves = np.stack([counts - second, second], 1).ravel()
    number = np.cumsum(halves > 0, dtype=np.int32) - 1
    best, least = found.labels, np.full(len(counts), np.inf)
    for i in range(TRIES):  # every other one without rounds of moves, which on few nodes all come to the same
        grown = grow_halves(inner.rows, inner.terms.size, found.labels, target, run.rng.permutation(len(found.labels)))
        made = with_sums(inner, number[grown], int(number[-1]) + 1, run)
        labels = _settle(inner, Parts(made, halves[halves > 0]), goal, run, relaxed, i % 2 == 0).found.labels
        cut = _cut_inside(inner, found.labels, labels, len(counts))
        best = np.where((cut < least)[found.labels], labels, best)
        least = np.minimum(cut, least)
    return Parts(with_sums(inner, best, int(number[-1]) + 1, run), halves[halves > 0])


def _cut_inside(level: Level, parts: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Twice the weight of the edges between two labels inside each part."""
    rows = level.rows
    source = np.repeat(np.arange(len(parts)), np.diff(rows.indptr))
    is_cut = labels[source] != labels[rows.indices[: len(source)]]
    weights = is_cut * rows.weights[: len(source)] if len(rows.weights) else is_cut
    return np.bincount(parts[source], weights, minlength=k)


def _refine_packed(level: Level, goal: Goal, run: Run) -> Partition:
    """A partition by size alone, refined."""
    packed = Parts(pack(level, goal.k, run), np.ones(goal.k, np.int64))
    return _settle(level, packed, goal, run, False).found
