"""New partitions and their descendants: recombination of parents, and a family tree of random partitions.

Recombination is that of Ovelgönne & Geyer-Schulz 2012, "An ensemble learning strategy for graph clustering", and of
Biedermann et al. 2018, "Memetic graph clustering" (VieClus).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from graphclust.compiled.graphs.contraction import overlay_pair
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.runtime.blocks import map_blocks, row_blocks
from graphclust.engine.bisection import new_parts
from graphclust.engine.contraction import contract
from graphclust.engine.levels import Run, is_small, n_entries, value, with_sums
from graphclust.engine.resolution import Schedule
from graphclust.engine.settling import best_of, climb, is_bounded, is_cut, settle, uncoarsen, worth
from graphclust.engine.v_cycle import v_cycle

WORTH_A_THREAD = 1 << 13  # entries; a V-cycle over fewer ends before another thread has woken
FAMILY = 4  # parents of one child; also the most families made side by side, whatever the number of threads
CYCLES_OF_A_CHILD = 3  # V-cycles inside its clusters, at most, while they gain
VALUE_RTOL = 1e-12  # relative difference of two values that may be round-off
PATIENCE = 1024  # new partitions without a gain, after which the search ends


def offer(level: Level, partition: Partition, task: Task, run: Run) -> None:
    """Offer a partition, if it is within the bounds, to whom interrupts the work."""
    if worth(level, partition, task, run)[0]:
        run.progress.offer(partition.labels.copy)


def side_by_side(tries: Sequence[Callable[[Run], Partition]], level: Level, run: Run) -> list[Partition]:
    """The partitions that some tries make of a level; on threads if a try runs on one core and is worth a thread."""
    runs = run.spawn(len(tries))
    if is_small(level) and n_entries(level) >= WORTH_A_THREAD:
        return map_blocks(lambda i, *_: tries[i](runs[i]), row_blocks(len(tries), 1))
    return [one(own) for one, own in zip(tries, runs, strict=True)]


def overlay(level: Level, partitions: Sequence[Partition], run: Run) -> Partition:
    """The partition into core groups: the sets of nodes that share a cluster in each of some partitions."""
    labels, k = partitions[0].labels, len(partitions[0].sums.size)
    for other in partitions[1:]:
        pairs = np.empty(len(labels), np.int32)
        k = overlay_pair(labels, k, other.labels, len(other.sums.size), pairs)
        labels = pairs
    return with_sums(level, labels, k, run)


def recombine(level: Level, parents: Sequence[Partition], schedule: Schedule, run: Run) -> Partition:
    """A child of several partitions, at least as good as the best of them; that one where time is up."""
    task = schedule.task
    best = best_of(level, parents, task, run)
    if run.progress.out_of_time():
        return best
    shared = overlay(level, parents, run)
    if len(shared.sums.size) <= max(task.k, 1):
        return best
    if is_cut(task):  # whose clusters are full: pieces of the overlay would be too large to move
        return v_cycle(level, best, task, schedule.penalties[0], run, shared.labels)
    step = contract(level, shared, run)
    child = v_cycle(step.coarse, None, task, schedule.penalties[0], run)
    kept = step.restrict(best)
    if worth(step.coarse, child, task, run) < worth(step.coarse, kept, task, run):
        child = v_cycle(step.coarse, kept, task, schedule.penalties[0], run)
    child = climb(step.coarse, child, task, run)
    child = climb(level, uncoarsen(step, child, task, run), task, run)
    return best_of(level, [best, child], task, run) if is_bounded(task) else child


def child(level: Level, parents: Sequence[Partition], schedule: Schedule, run: Run) -> Partition:
    """A child of some partitions, no worse than the best, after up to three V-cycles inside its clusters that gain."""
    partition, task = recombine(level, parents, schedule, run), schedule.task
    for _ in range(CYCLES_OF_A_CHILD):
        if run.progress.out_of_time():
            break
        before = value(partition, task)
        partition = v_cycle(level, partition, task, run.rng.choice(schedule.penalties), run)
        if value(partition, task) - before <= VALUE_RTOL * abs(value(partition, task)):
            break
    return partition


def evolve(level: Level, partition: Partition, schedule: Schedule, n_first: float, run: Run) -> Partition:
    """The best partition that descends from n_first new ones, or from as many as there is time for; or the one found.

    Four new partitions have a child; four such children have one; and so on (a family tree). Partitions of one pool
    soon become alike; separate lines stay different. After each round the best so far is also recombined with the
    newest child. New partitions are made from regions. If all families of a round reach the value of the best so far,
    the next are made from random clusters; if those do as well, the search ends. If k is given, or no more
    nodes than a round makes partitions have layers, one of several families is always made from random clusters.
    """
    task, best, n_new, in_vain, by_regions = schedule.task, partition, 0, 0, True
    waiting: list[list[Partition]] = []  # of each generation, those without a child
    most = int(min(n_first, PATIENCE))
    n, n_families = len(level.terms.mass), min(FAMILY, max(most // FAMILY, 1)) if is_small(level) else 1
    while n_new < n_first and in_vain < PATIENCE and not run.progress.out_of_time():
        before = value(best, task)
        run.progress.step(min(n_new, most), most)
        kinds = [v_cycle_from_regions if by_regions else scatter] * n_families
        if (task.k or (task.objective.layers and n <= FAMILY**2)) and n_families > 1 and not is_cut(task):
            kinds[-1] = scatter
        new = [partial(kind, level, len(best.sums.size), schedule) for kind in kinds]
        families = side_by_side([partial(descend, level, one, schedule) for one in new], level, run)
        for one in families:
            newest = join_line(level, one, waiting, schedule, run)
        is_agreed = all(abs(value(one, task) - before) <= VALUE_RTOL * abs(before) for one in families)
        if not is_agreed:
            best = child(level, [best, newest], schedule, run)
        n_new, in_vain = n_new + FAMILY * n_families, in_vain + FAMILY * n_families
        in_vain = 0 if value(best, task) > before else in_vain
        offer(level, best, task, run)
        run.progress.step(min(n_new, most), most)
        if is_agreed and (not by_regions or task.most < np.inf):
            break
        by_regions = by_regions and not is_agreed
    return best


def descend(level: Level, new: Callable[[Run], Partition], schedule: Schedule, run: Run) -> Partition:
    """The child of some new partitions."""
    parents = [new(run)]
    while len(parents) < FAMILY and not run.progress.out_of_time():
        parents.append(new(run))
    return child(level, parents, schedule, run)


def join_line(level: Level, one: Partition, waiting: list[list[Partition]], schedule: Schedule, run: Run) -> Partition:
    """Add a partition to its line; returns the newest of the line: a child, if the partition completes a family."""
    for generation in range(len(waiting) + 1):
        if generation == len(waiting):
            waiting.append([])
        waiting[generation].append(one)
        if len(waiting[generation]) < FAMILY or run.progress.out_of_time():
            break
        one, waiting[generation] = child(level, waiting[generation], schedule, run), []
    return one


def v_cycle_from_regions(level: Level, k: int, schedule: Schedule, run: Run) -> Partition:
    """A new partition, by a V-cycle from regions of a random size, or by bisections for equal parts."""
    if is_cut(schedule.task):
        return new_parts(level, schedule.task, run)
    return v_cycle(level, None, schedule.task, run.rng.choice(schedule.penalties), run)


def scatter(level: Level, k: int, schedule: Schedule, run: Run) -> Partition:
    """A new partition, refined from random clusters: as many as the task has, or k if their number is free."""
    n = len(level.terms.mass)
    k = schedule.task.k or max(k, min(2, n))
    labels = run.rng.permutation(np.arange(n, dtype=np.int32) % np.int32(k))
    return settle(level, with_sums(level, labels, k, run), schedule.task, run)
