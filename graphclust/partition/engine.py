"""The multilevel engine: a partition of a graph under any objective, into k clusters or as many as the objective makes.

1. Coarsening. While V-cycles over the graph would exceed the budget, local moving joins nodes to small regions, and the
   graph is contracted to these.
2. V-cycles. Each begins with regions of another size: local moving at a resolution, contraction, and so on while levels
   shrink. At the top clusters are merged pair by pair. On the way back nodes move on every level.
3. Recombination. Nodes that several partitions have in one cluster become one node; the small graph of these has a
   V-cycle of its own, and the result is refined. So a child has of each parent what is good in it.
4. Iteration. V-cycles inside the clusters found merge their regions anew, and are kept where that is better. More
   effort buys generations of a pool of partitions: a child of some of them, and a V-cycle on it.

Every step keeps the value or raises it. Local moving and contraction are those of Blondel et al. 2008 (Louvain) and
Traag et al. 2019 (Leiden), merging that of Clauset, Newman & Moore 2004, refinement on every level that of Rotta &
Noack 2011, recombination that of Ovelgönne & Geyer-Schulz 2012 and Biedermann et al. 2018 (VieClus).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs import v_cycle as loops
from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.compiled.runtime.blocks import map_blocks, row_blocks
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.partition.agglomeration import agglomerate
from graphclust.partition.contraction import Contraction, contract
from graphclust.partition.levels import Run, filled, is_small, n_entries, room_for, value, with_sums
from graphclust.partition.local_moving import UNSETTLED, find_regions, refine
from graphclust.partition.overlay import overlay, split_disconnected

REGION_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0)  # regions of the first V-cycles are made at the resolution times these
BUDGET = 4_000_000  # entries that the first V-cycles run over in all: some tenths of a second
MIN_RELATIVE_CHANGE = 0.02  # a contraction that leaves more of the nodes is not made
LARGEST_SHARE = 1.0 - MIN_RELATIVE_CHANGE
WORTH_A_THREAD = 1 << 13  # entries; over fewer a V-cycle is done before another thread has woken
POOL = 8  # partitions that children are made of
LITTER = 4  # children of one generation, made side by side whatever the number of threads
FRESH = 0.25  # of the children have a new partition for a parent, so that the pool never becomes all alike
SPARE_ENTRIES = 1 << 17  # by their entries small graphs have children at any effort, which take some milliseconds ...
MOST_SPARE = 32  # ... but no more than these
SAME = 1e-12  # of the value: partitions that differ by less differ by round-off
PATIENCE = 1024  # children; after so many in vain nothing more is tried


class Effort(NamedTuple):
    """How many first V-cycles there are, V-cycles inside the clusters after them, and children of a pool."""

    first: int
    iterated: int
    children: float


EFFORTS = {"low": Effort(2, 0, 0), "normal": Effort(5, 2, 0), "high": Effort(8, 2, 64)}


def partition(level: Level, goal: Goal, effort: Effort, run: Run) -> Partition:
    """The best partition of a level that the effort finds, every cluster of it connected where k is free."""
    steps = coarsen(level, goal, run)
    top = steps[-1].coarse if steps else level
    sizes = [REGION_SIZES[i % len(REGION_SIZES)] for i in range(effort.first)]
    pool = side_by_side([partial(v_cycle, top, None, goal, size) for size in sizes], top, run)
    best = recombine(top, pool, goal, run)
    for step in reversed(steps):
        best = refine(step.fine, step.project(best), goal, run)
        run.progress.offer(best.labels.copy)
    for size in REGION_SIZES[2::-2][: effort.iterated]:
        if n_entries(level) <= BUDGET and not run.progress.out_of_time():
            best = v_cycle(level, best, goal, size, run)
    n_children = max(effort.children, min(MOST_SPARE, SPARE_ENTRIES // n_entries(level)))
    if n_children:
        best = evolve(level, [best] if steps else [*pool, best], goal, n_children, run)
    return connect(level, best, goal, run) if goal.k == 0 else best


def connect(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition with connected clusters: parts without a link gain by being apart, whatever the plain objective."""
    parts = split_disconnected(level, found, run)
    if parts is found:
        return found
    return split_disconnected(level, refine(level, parts, goal, run), run)


def coarsen(level: Level, goal: Goal, run: Run) -> list[Contraction]:
    """Contractions down to a level that the budget covers the first V-cycles of."""
    steps: list[Contraction] = []
    while n_entries(level) * len(REGION_SIZES) > BUDGET:
        regions = find_regions(level, REGION_SIZES[-1] * goal.objective.pull, run, goal.most)
        if len(regions.sums.size) > LARGEST_SHARE * len(regions.labels):
            break
        steps.append(contract(level, regions, run))
        level = steps[-1].coarse
    return steps


def v_cycle(level: Level, found: Partition | None, goal: Goal, size: float, run: Run) -> Partition:
    """The better of the partition found, if any, and of one merged anew within its clusters.

    size : regions are made at the resolution of the goal times this; the larger it is the smaller they are.
    """
    if is_small(level):
        is_k = goal.k > 0 and goal.most == np.inf  # where no two clusters fit into one, more than k are left
        room = room_for(level, goal.k if is_k else len(level.terms.mass))
        plan = loops.Plan(size * goal.objective.pull, UNSETTLED, LARGEST_SHARE)
        given = loops.NO_PARTITION if found is None else found
        k, read = loops.v_cycle_into(level, given, goal, plan, draws_of(run.rng), room)
        run.reads(level, read)
        return filled(room, k)
    within = level if found is None else loops.rows_within(level, found.labels)
    regions = find_regions(within, size * goal.objective.pull, run, goal.most)
    if not goal.k <= len(regions.sums.size) <= LARGEST_SHARE * len(regions.labels):
        made = refine(level, agglomerate(level, goal, run), goal, run)
        kept = None if found is None else refine(level, found, goal, run)
        return made if kept is None or value(made, goal) > value(kept, goal) else kept
    step = contract(level, regions, run)
    best = v_cycle(step.coarse, None if found is None else step.restrict(found), goal, size, run)
    return refine(level, step.project(best), goal, run)


def recombine(level: Level, parents: Sequence[Partition], goal: Goal, run: Run) -> Partition:
    """A child of several partitions, at least as good as the best of them."""
    best = max(parents, key=lambda parent: value(parent, goal))
    step = contract(level, overlay(level, parents, run), run)
    child = v_cycle(step.coarse, None, goal, REGION_SIZES[0], run)
    kept = step.restrict(best)
    if value(child, goal) < value(kept, goal):
        child = v_cycle(step.coarse, kept, goal, REGION_SIZES[0], run)
    return refine(level, step.project(child), goal, run)


def side_by_side(tries: Sequence[Callable[[Run], Partition]], level: Level, run: Run) -> list[Partition]:
    """What some tries make of a level; on threads where each runs on one core and is worth waking another for."""
    runs = run.spawn(len(tries))
    if is_small(level) and n_entries(level) >= WORTH_A_THREAD:
        return map_blocks(lambda i, *_: tries[i](runs[i]), row_blocks(len(tries), 1))
    return [one(own) for one, own in zip(tries, runs, strict=True)]


def evolve(level: Level, pool: list[Partition], goal: Goal, n_children: float, run: Run) -> Partition:
    """The best of a pool of partitions after so many children took the places of worse ones, or when time is up."""
    n_made, in_vain = 0, 0
    pool = select(pool, goal)
    most = int(min(n_children, PATIENCE))
    while n_made < n_children and in_vain < PATIENCE and not run.progress.out_of_time():
        best = value(pool[0], goal)
        size = int(min(LITTER, n_children - n_made))
        litter = side_by_side([partial(child, level, pool, goal)] * size, level, run)
        pool = select([*pool, *litter], goal)
        n_made, in_vain = n_made + size, 0 if value(pool[0], goal) > best else in_vain + size
        run.progress.offer(pool[0].labels.copy)
        run.progress.step(min(n_made, most), most)
    return pool[0]


def select(found: Sequence[Partition], goal: Goal) -> list[Partition]:
    """The best of some partitions, best first; of those with one value, which are mostly the same, the first."""
    kept: list[Partition] = []
    for one in sorted(found, key=lambda one: -value(one, goal)):
        if not kept or value(kept[-1], goal) - value(one, goal) > SAME * abs(value(one, goal)):
            kept.append(one)
    return kept[:POOL]


def child(level: Level, pool: Sequence[Partition], goal: Goal, run: Run) -> Partition:
    """A child of two partitions of a pool, or of one and a new one, after a V-cycle inside its clusters."""
    size, other_size = run.rng.choice(REGION_SIZES, 2)
    parents = [pool[i] for i in run.rng.permutation(len(pool))[:2]]
    if len(parents) < 2 or run.rng.random() < FRESH:
        by_regions = goal.most < np.inf or run.rng.random() < 0.5  # on small graphs these can be one local optimum
        k = len(parents[-1].sums.size)
        parents[0] = v_cycle(level, None, goal, size, run) if by_regions else scatter(level, k, goal, run)
    return v_cycle(level, recombine(level, parents, goal, run), goal, other_size, run)


def scatter(level: Level, k: int, goal: Goal, run: Run) -> Partition:
    """A partition refined from k random clusters."""
    n = len(level.terms.mass)
    labels = run.rng.permutation(np.arange(n, dtype=np.int32) % np.int32(max(k, min(2, n))))
    return refine(level, with_sums(level, labels, int(labels.max()) + 1, run), goal, run)
