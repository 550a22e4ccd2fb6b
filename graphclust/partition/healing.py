"""What a matched resolution does not show: a cycle by a ratio, and cycles at higher resolutions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.objective import ClusterSums, Objective, value_of
from graphclust.objective.objective import Aim, Weighed, counted, ratio_objective
from graphclust.partition.coarsening import REGIONS, coarser
from graphclust.partition.cycles import Assigned, Search, assigned, cycle, in_cycles, moved
from graphclust.partition.likelihood import implied_resolution, log_likelihood
from graphclust.partition.moves import summed
from graphclust.partition.purity import are_impure, in_plain_terms
from graphclust.partition.resolution import Goal, goal_at, middle_of, unit_of
from graphclust.progress import Progress


class Partition(NamedTuple):
    """What was found, and the goal that it was made for."""

    labels: np.ndarray
    sums: ClusterSums
    goal: Goal

    @property
    def value(self) -> float:
        return value_of(self.goal.objective, self.sums)


def is_unhealthy(on: Weighed, found: Partition) -> bool:
    """Whether clusters are impure that call for a higher resolution than they were made for.

    Of more clusters than a graph has some belong together too, but those were made for a resolution that parts them.
    """
    made_for = found.goal.objective.pull / on.chance
    return implied_resolution(on, found.sums) > made_for and are_impure(on, found.labels, found.sums)


def is_in_doubt(aim: Aim, on: Weighed, found: Partition) -> bool:
    """Whether clusters call for a resolution at which k is not natural any more, though theirs was matched to k.

    Where k is natural below 1 only, so that fewer clusters are asked for than modularity finds by itself, what looks
    like a likelier partition leaves out the few large clusters that a small k asks for.
    """
    if aim.resolution != "auto" or found.goal.resolution is None or found.goal.natural is None:
        return False
    unit = unit_of(aim, on)
    return found.goal.natural[1] > unit and implied_resolution(on, found.sums) * unit > found.goal.natural[1]


def likelier_by_ratio(
    on: Weighed, found: Partition, aim: Aim, rng: np.random.Generator, progress: Progress
) -> Partition:
    """The partition, or one after a cycle by the ratio of the same sums, if it was matched and edges are likelier then.

    At one resolution for all clusters small ones come together where large ones stay whole, and large ones fall apart
    where small ones stay apart (Fortunato & Barthélemy 2007, "Resolution limit in community detection"). A ratio weighs
    each by its own mass. At the resolution that the clusters call for several small ones may be one region, so regions
    are those of a higher one. Whether it helps shows on the graph of regions already, of which a few belong elsewhere.
    """
    if aim.resolution != "auto" or progress.out_of_time():
        return found
    k, resolution = len(found.sums.size), REGIONS[0] * implied_resolution(on, found.sums)
    reduction = coarser(on, resolution, k, rng, progress, found.labels)
    if reduction is None:
        return found
    search = Search(k, ratio_objective(on), [], 1.0, rng, progress)
    tried = cycle(reduction.small, Assigned(reduction.restricted(found.labels), found.sums), search, resolution)
    if log_likelihood(on, tried.sums) <= log_likelihood(on, found.sums):
        return found
    tried = moved(on, Assigned(reduction.prolonged(tried.labels), tried.sums), search)
    return Partition(*tried, found.goal) if is_likelier(aim, on, tried, found) else found


def likeliest(on: Weighed, found: Partition, aim: Aim, search: Search) -> Partition:
    """The partition, or one at a higher resolution, while the edges are likelier under it.

    Greedy unions put the range of k too low where clusters are hard to tell apart. The clusters found call for another
    resolution. The middle on the way there is tried, that one, and the middle again: small groups come together at the
    one and are told apart at the other, from which the last try sets out.
    """
    called_for = implied_resolution(on, found.sums)
    lowest = found.goal.objective.pull / on.chance
    middle = middle_of(lowest, called_for)
    for resolution in (middle, called_for, middle) if called_for > lowest else ():
        if search.progress.out_of_time():
            break
        goal = goal_at(aim, on, search.k, resolution, found.goal.natural)
        tried = in_cycles(on, Assigned(found.labels, found.sums), search._replace(objective=goal.objective))
        if not is_likelier(aim, on, tried, found):
            break
        found = Partition(*tried, goal)
    return found


def healed(on: Weighed, found: Partition, aim: Aim, rng: np.random.Generator, progress: Progress) -> Partition:
    """The partition after cycles at the resolution that its clusters call for, while they are impure and get better.

    At a resolution that is too low, or from regions that hold nodes of many clusters, halves of clusters end up
    together; at the one that they call for, regions of the nodes themselves are purer each time. Where the resolution
    is not to be matched nodes then move by the goal, which has to gain by it each time: whole clusters do so at once,
    while the smallest cuts of real graphs, which no likelihood calls clusters, get larger time after time.
    """
    k, best = len(found.sums.size), found
    while not progress.out_of_time():
        plain, sums = in_plain_terms(on, best.labels, best.sums)
        called_for = goal_at(aim, plain, k, implied_resolution(plain, sums), found.goal.natural)
        search = Search(k, called_for.objective, [], 1.0, rng, progress)
        tried = cycle(plain, Assigned(best.labels, sums), search, called_for.objective.pull / on.chance)
        if aim.resolution != "auto":
            tried = tried if plain is on else assigned(on, tried.labels, k)
            tried, called_for = moved(on, tried, search._replace(objective=found.goal.objective)), found.goal
        if not is_better(aim, on, called_for.objective, tried, best):
            break
        best = Partition(*tried, called_for)
        progress.offer(best.labels.copy)
        if not are_impure(on, best.labels, best.sums):
            break
    return best


def is_better(
    aim: Aim, on: Weighed, objective: Objective, found: Assigned | Partition, than: Assigned | Partition
) -> bool:
    """Whether one of two partitions is the better; where resolutions are matched, which differ, it is the likelier."""
    if aim.resolution == "auto":
        return is_likelier(aim, on, found, than)
    return value_of(objective, found.sums) > value_of(objective, than.sums)


def is_likelier(aim: Aim, on: Weighed, found: Assigned | Partition, than: Assigned | Partition) -> bool:
    """Whether the edges are likelier under one of two partitions: by their weights, and if they have any, without too.

    An edge of weight w is as likely as w edges at one place. That makes likely, where tails are heavy, what puts the
    heaviest edges into tiny clusters, and all that is left together; most edges then run between clusters.
    """
    if log_likelihood(on, found.sums) <= log_likelihood(on, than.sums):
        return False
    if on.graph.weights is None:
        return True
    k, without = len(found.sums.size), counted(on, aim.name)
    after, before = (log_likelihood(without, summed(without, of.labels, k)[1]) for of in (found, than))
    return after > before
