"""Turn a partition by the normalised cut to another aim, or back to pure clusters: pieces merged anew, and moves.

A piece is what a cluster has of a fragment, see `pieces`. What is done here is the same for a graph in memory and for
one that works block by block.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from graphclust.compiled.graphs.objective import value_of
from graphclust.objective.objective import BY_DEGREE, CUT, MODULARITY, Aim
from graphclust.partition.healing import Partition
from graphclust.partition.moves import MOST_SWEEPS
from graphclust.partition.resolution import Goal
from graphclust.partition.whole_graph import BY_RATIO, Labels, Merged, Parted, WholeGraph


class Mended(NamedTuple):
    """Clusters that were mended on the whole graph.

    leaving : share of a cluster's volume that leaves it, on average, after the first moves. impure : whether two of
    them belong together still.
    """

    found: Partition
    leaving: float
    impure: bool


def mended(whole: WholeGraph, merged: Merged, aim: Aim) -> Mended:
    """Merged regions after moves by the cut, and turned to the aim; when time is up hasty moves are all there is."""
    if late := whole.progress.out_of_time():
        found = whole.moved_hastily(merged.found, BY_RATIO, CUT.name)
    else:
        found = whole.moved(merged.found, BY_RATIO, CUT.name, most_sweeps=1)
    leaving = 1.0 - value_of(BY_RATIO, found.sums) / whole.k
    if aim.name not in BY_DEGREE:
        found = Parted(found.labels, whole.sums(found.labels, aim.name))
    if late:
        return Mended(Partition(*found, whole.implied_goal(aim, found.sums)), leaving, False)
    to_aim = purified if aim == CUT else partial(turned, aim)
    partition, impure = to_aim(whole, found, merged.fragments, merged.estimated)
    return Mended(partition, leaving, impure)


def purified(whole: WholeGraph, found: Parted, fragments: Labels, estimated: bool) -> tuple[Partition, bool]:
    """A partition by the normalised cut by way of modularity, where its clusters are impure and the cut gets smaller.

    On a sample a cut falls for small regions that few rows stand for; modularity counts them by their mass. Other
    partitions get a second sweep of moves. Returns whether clusters stay impure, too.
    """
    goal = Goal(BY_RATIO, None, None)
    by_way, impure = turned(MODULARITY, whole, found, fragments, estimated, only_impure=not estimated)
    if by_way.labels is not found.labels:
        after = whole.moved(Parted(by_way.labels, by_way.sums), BY_RATIO, CUT.name)
        if value_of(BY_RATIO, after.sums) >= value_of(BY_RATIO, found.sums):
            return Partition(*after, goal), impure
    return Partition(*whole.moved(found, BY_RATIO, CUT.name, most_sweeps=1), goal), impure


def turned(
    aim: Aim, whole: WholeGraph, found: Parted, fragments: Labels, estimated: bool, *, only_impure: bool = False
) -> tuple[Partition, bool]:
    """A partition by the normalised cut turned to another aim, and whether its clusters are impure all the same.

    estimated : whether quotient graphs are made of a sample, so that this is not known. only_impure : whether to leave
    clusters that are clearly pure as they are, and to merge only impure ones anew, where others are likelier.

    Where clusters are not clearly pure nodes move by the other aim first. What the clusters then have of each fragment
    is merged anew where that is better, and nodes move. The cut comes before all that since it heals: a stray fragment
    that was left as a cluster draws in the nodes around it; but where sizes are unequal it draws in too many, and so
    pieces are purer once nodes have moved by both. Where clusters are impure all the same that is done time and again
    while they become likelier, as long as the pieces merged anew still are: each time those are purer.
    """
    goal, impure = None, False
    if not estimated and not whole.are_clearly_pure(found, aim.name):
        found = moved_by_implied(aim, whole, found, most_sweeps=1)[0]
    elif only_impure:
        return Partition(*found, whole.implied_goal(aim, found.sums)), False
    while True:  # each time the clusters are likelier, or it ends
        if goal is not None and whole.are_clearly_pure(found, aim.name):
            impure = False
            break
        pieces = whole.pieces(found, fragments, aim.name)
        were_impure = not estimated and pieces.are_impure()
        if not were_impure and (goal is not None or only_impure):
            impure = False
            break
        after, tried, impure = pieces.merged_anew(aim)
        impure = were_impure and impure
        after = whole.moved(after, tried.objective, aim.name)
        if (were_impure or estimated) and not whole.is_better(aim, tried.objective, after, found):
            impure = were_impure
            break
        found, goal = after, tried
        if not impure or whole.progress.out_of_time():
            break
    if goal is None and (impure or not only_impure):
        found, goal = moved_by_implied(aim, whole, found)
    return Partition(*found, goal or whole.implied_goal(aim, found.sums)), impure


def moved_by_implied(aim: Aim, whole: WholeGraph, found: Parted, most_sweeps: int = MOST_SWEEPS) -> tuple[Parted, Goal]:
    """The partition after moves by another aim, at the resolution that its clusters call for, and that goal."""
    goal = whole.implied_goal(aim, found.sums)
    return whole.moved(found, goal.objective, aim.name, most_sweeps), goal
