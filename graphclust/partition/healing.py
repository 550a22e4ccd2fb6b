"""Cycles at higher resolutions, where a matched one is in doubt or the clusters are impure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.objective import ClusterSums, value_of
from graphclust.objective.objective import Aim, Weighed
from graphclust.partition.cycles import Assigned, Search, assigned, cycle, in_cycles, moved
from graphclust.partition.likelihood import implied_resolution, log_likelihood
from graphclust.partition.purity import are_impure, in_plain_terms
from graphclust.partition.resolution import Goal, goal_at, middle_of
from graphclust.progress import Progress


class Partition(NamedTuple):
    """What was found, and the goal that it was made for."""

    labels: np.ndarray
    sums: ClusterSums
    goal: Goal

    @property
    def value(self) -> float:
        return value_of(self.goal.objective, self.sums)


def is_unhealthy(on: Weighed, found: Partition, progress: Progress) -> bool:
    """Whether clusters are impure that call for a higher resolution than they were made for.

    Of more clusters than a graph has some belong together too, but those were made for a resolution that parts them.
    """
    made_for = found.goal.objective.pull / on.chance
    return implied_resolution(on, found.sums) > made_for and are_impure(on, found.labels, found.sums, progress)


def likeliest(on: Weighed, found: Partition, aim: Aim, search: Search) -> Partition:
    """The partition, or one at a higher resolution, while the edges are likelier under it.

    Greedy unions put the range of k too low where clusters are hard to tell apart. The clusters found call for another
    resolution; that one and the middle on the way there are tried.
    """
    likelihood, called_for = log_likelihood(on, found.sums), implied_resolution(on, found.sums)
    lowest = found.goal.objective.pull / on.chance
    for resolution in (middle_of(lowest, called_for), called_for) if called_for > lowest else ():
        if search.progress.out_of_time():
            break
        goal = goal_at(aim, on, search.k, resolution, found.goal.natural)
        tried = in_cycles(on, Assigned(found.labels, found.sums), search._replace(objective=goal.objective))
        before, likelihood = likelihood, log_likelihood(on, tried.sums)
        if likelihood <= before:
            break
        found = Partition(*tried, goal)
    return found


def healed(on: Weighed, found: Partition, aim: Aim, rng: np.random.Generator, progress: Progress) -> Partition:
    """The partition after cycles at the resolution that its clusters call for, while they are impure and get likelier.

    At a resolution that is too low, or from regions that hold nodes of many clusters, halves of clusters end up
    together; at the one that they call for, regions of the nodes themselves are purer each time. Where the resolution
    is not to be matched, nodes move by the goal at the end, and the better of the two partitions is kept.
    """
    k, goal = len(found.sums.size), found.goal
    plain, sums = in_plain_terms(on, found.labels, found.sums)
    best, likelihood = Assigned(found.labels, sums), log_likelihood(plain, sums)
    while not progress.out_of_time():
        resolution = implied_resolution(plain, best.sums)
        called_for = goal_at(aim, plain, k, resolution, found.goal.natural)
        tried = cycle(plain, best, Search(k, called_for.objective, [], 1.0, rng, progress), resolution)
        before, likelihood = likelihood, log_likelihood(plain, tried.sums)
        if likelihood <= before:
            break
        best, goal = tried, called_for
        progress.offer(best.labels.copy)
        if not are_impure(plain, *best, progress):
            break
    if best.labels is found.labels:
        return found
    if aim.resolution == "auto":
        return Partition(*best, goal)
    best = best if plain is on else assigned(on, best.labels, k)
    best = moved(on, best, Search(k, found.goal.objective, [], 1.0, rng, progress))
    by_goal = Partition(*best, found.goal)
    return by_goal if by_goal.value > found.value else found
