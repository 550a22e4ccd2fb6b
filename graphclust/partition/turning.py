"""Turn a partition by the normalised cut to another aim, or back to pure clusters: pieces merged anew, and moves.

A piece is what a cluster has of a fragment, one of the regions that the clusters were merged from. Moves by the cut
part fragments that held nodes of two clusters; so pieces are purer, and merged by their links they part what the
fragments could not.
"""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs.objective import ClusterSums, value_of
from graphclust.objective.objective import MODULARITY, RATIOS, Aim, Weighed, chance_objective, ratio_objective
from graphclust.partition.budget import HARDLY_ANY
from graphclust.partition.cycles import Assigned, Search, assigned, in_cycles
from graphclust.partition.healing import Partition, is_better
from graphclust.partition.likelihood import implied_resolution
from graphclust.partition.merging import merged
from graphclust.partition.moves import MOST_SWEEPS, moved_until_stable
from graphclust.partition.multilevel import resolutions_of_regions
from graphclust.partition.purity import are_clearly_pure, are_impure, united_below
from graphclust.partition.reduction import reduced, taken
from graphclust.partition.resolution import FLOOR, NO_UNIONS, Goal, goal_at, goal_of, unit_of
from graphclust.progress import Progress


def purified(
    on: Weighed,
    found: Assigned,
    fragments: np.ndarray,
    goal: Goal,
    estimated: bool,
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Assigned, bool]:
    """A partition by the normalised cut by way of modularity, where its clusters are impure and the cut gets smaller.

    On a sample a cut falls for small regions that few rows stand for; modularity counts them by their mass. Other
    partitions get a second sweep of moves. Returns whether clusters stay impure, too.
    """
    k = len(found.sums.size)
    by_way, impure = turned(
        MODULARITY, on, found, fragments, k, estimated, effort, rng, progress, only_impure=not estimated
    )
    if by_way.labels is not found.labels:
        labels = by_way.labels
        sums = moved_until_stable(on, labels, k, goal.objective, progress, MOST_SWEEPS, HARDLY_ANY, by_way.sums)
        if value_of(goal.objective, sums) >= value_of(goal.objective, found.sums):
            return Assigned(labels, sums), impure
    sums = moved_until_stable(on, found.labels, k, goal.objective, progress, sums=found.sums)
    return Assigned(found.labels, sums), impure


def turned(
    aim: Aim,
    on: Weighed,
    found: Assigned,
    fragments: np.ndarray,
    k: int,
    estimated: bool,
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
    *,
    only_impure: bool = False,
) -> tuple[Partition, bool]:
    """A partition by the normalised cut turned to another aim, and whether its clusters are impure all the same.

    estimated : whether quotient graphs are made of a sample, so that this is not known. only_impure : whether to leave
    clusters that are clearly pure as they are, and to merge only impure ones anew, where others are likelier.

    Where clusters are not clearly pure nodes move by the other aim first. What the clusters then have of each fragment
    is merged anew where that is better, and nodes move. The cut comes before all that since it heals: a stray fragment
    that was left as a cluster draws in the nodes around it; but where sizes are unequal it draws in too many, and so
    pieces are purer once nodes have moved by both. Where clusters are impure all the same that is done time and again
    while they become likelier, as long as the pieces merged anew still are: nodes move by the cut again, and each time
    the pieces are purer.
    """
    goal, impure = None, False
    if not estimated and not are_clearly_pure(on, *found, progress):
        found = Assigned(*moved_by_implied(aim, on, found, k, progress, 1)[:2])
    elif only_impure:
        return Partition(*found, implied_goal(aim, on, k, found.sums)), False
    while True:  # each time the clusters are likelier, or it ends
        if goal is not None and are_clearly_pure(on, *found, progress):
            impure = False
            break
        pieces = reduced(on, *common_pieces(on.terms.degrees, found.labels, fragments))
        progress.reads(on.graph, on.graph.n_entries)
        of_pieces = pieces.restricted(found.labels)
        were_impure = not estimated and are_impure(pieces.small, of_pieces, found.sums)
        if not were_impure and (goal is not None or only_impure):
            impure = False
            break
        with progress.within(pieces.prolonged):
            anew, tried = merged_anew(aim, pieces.small, of_pieces, k, effort, rng, progress)
        impure = were_impure and are_impure(pieces.small, *anew)
        labels = pieces.prolonged(anew.labels)
        sums = pieces.sums(anew.sums, labels)
        if impure:
            sums = moved_until_stable(on, labels, k, ratio_objective(on), progress, sums=sums)
        sums = moved_until_stable(on, labels, k, tried.objective, progress, MOST_SWEEPS, HARDLY_ANY, sums)
        after = Assigned(labels, sums)
        if (were_impure or estimated) and not is_better(aim, on, tried.objective, after, found):
            impure = were_impure
            break
        found, goal = after, tried
        if not impure or progress.out_of_time():
            break
    if goal is None and (impure or not only_impure):
        return moved_by_implied(aim, on, found, k, progress), impure
    return Partition(*found, goal or implied_goal(aim, on, k, found.sums)), impure


def moved_by_implied(
    aim: Aim, on: Weighed, found: Assigned, k: int, progress: Progress, most_sweeps: int = MOST_SWEEPS
) -> Partition:
    """The partition after moves by another aim, at the resolution that its clusters call for."""
    goal, labels = implied_goal(aim, on, k, found.sums), found.labels.copy()
    sums = moved_until_stable(on, labels, k, goal.objective, progress, most_sweeps, HARDLY_ANY, found.sums)
    return Partition(labels, sums, goal)


def implied_goal(aim: Aim, on: Weighed, k: int, sums: ClusterSums) -> Goal:
    """The goal where there is no time for a tree of unions: at the resolution that the clusters found call for."""
    if isinstance(aim.resolution, float):
        return goal_at(aim, on, k, aim.resolution / unit_of(aim, on), None)
    if aim.name in RATIOS:
        return goal_of(aim, on, k, NO_UNIONS)
    return goal_at(aim, on, k, max(implied_resolution(on, sums), FLOOR), None)


def merged_anew(
    aim: Aim,
    quotient: Weighed,
    of_piece: np.ndarray,
    k: int,
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Assigned, Goal]:
    """The partition of the pieces turned to another aim, on the quotient graph of the pieces."""
    n_pieces = quotient.graph.n_nodes
    tree = np.full(n_pieces, -np.inf)
    by_tree, _ = merged(quotient, k, chance_objective(quotient), progress, tree)
    tree /= quotient.chance
    # The resolutions at which k is natural start where no two of the clusters belong together.
    tree[k - 1] = min(united_below(quotient, of, k) for of in (of_piece, by_tree))
    goal = goal_of(aim, quotient, k, tree)
    found = assigned(quotient, of_piece, k)
    if are_same_clusters(of_piece, by_tree, quotient.terms.degrees):
        return found, goal
    resolutions = resolutions_of_regions(aim, tree, k)
    search = Search(k, goal.objective, resolutions, effort, rng, progress)
    return in_cycles(quotient, found, search, each=effort > 1.0), goal


def are_same_clusters(labels: np.ndarray, other: np.ndarray, volumes: np.ndarray) -> bool:
    """Whether each cluster has most of its volume in common with another cluster of the other partition."""
    pairs, place = np.unique(labels.astype(np.int64) * (int(other.max()) + 1) + other, return_inverse=True)
    cluster, counterpart = np.divmod(pairs, int(other.max()) + 1)
    order = np.lexsort((-np.bincount(place, weights=volumes), cluster))
    largest = order[np.flatnonzero(np.diff(cluster, prepend=-1))]
    return len(np.unique(counterpart[largest])) == len(largest)


def common_pieces(degrees: np.ndarray, labels: np.ndarray, fragments: np.ndarray) -> tuple[np.ndarray, int]:
    """What each cluster has of each fragment, int32, and how many pieces that makes; crumbs stay with their cluster."""
    n_fragments = int(fragments.max()) + 1
    pieces, n_pieces = used_labels(labels.astype(np.int64) * n_fragments + fragments)
    volumes = np.bincount(np.maximum(pieces, 0), weights=degrees)
    crumbs = (volumes < HARDLY_ANY * degrees.sum() / n_fragments).astype(np.int8)
    return used_labels(np.where(taken(crumbs, pieces) > 0, n_pieces + labels, pieces))


def used_labels(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Labels >= 0 renumbered without gaps as int32, negative ones as -1, and how many are not negative."""
    highest = int(labels.max())
    if highest > 8 * len(labels):
        distinct = np.unique(labels)
        distinct = distinct[distinct >= 0]
        numbered = np.searchsorted(distinct, labels).astype(np.int32)
        numbered[labels < 0] = -1
        return numbered, len(distinct)
    used = np.zeros(highest + 1, bool)
    used[labels if labels.min() >= 0 else labels[labels >= 0]] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return taken(number, labels), int(used.sum())
