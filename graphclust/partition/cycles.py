"""Cycles: down to regions, which are merged into k clusters, and back with nodes moving on every level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from graphclust.compiled.graphs import small_cycles, small_levels
from graphclust.compiled.graphs.climbing import Patience
from graphclust.compiled.graphs.objective import RATIO, Objective, value_of
from graphclust.compiled.graphs.small_levels import Assigned, Coarsening
from graphclust.compiled.runtime.blocks import map_blocks, row_blocks
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.graph.container import Graph
from graphclust.objective.objective import Weighed
from graphclust.partition import coarsening
from graphclust.partition.budget import HARDLY_ANY, Budget
from graphclust.partition.coarsening import ENOUGH, coarser
from graphclust.partition.merging import merged
from graphclust.partition.moves import moved_until_stable, summed
from graphclust.partition.reduction import Reduction, reduced, used_labels
from graphclust.partition.small_graphs import is_small, level_of, room_for
from graphclust.progress import Progress

WORTH_A_THREAD = 1 << 11  # entries: a cycle over so many takes longer than to wake a thread
PAIR = 2  # cycles that start from the same partition: as many as there are cores nearly everywhere
HEAVY = 2.0  # times the mean: the least weight that ties two average nodes, where edges have weights
PATIENCE = 0.2  # of the entries that a climb may read in vain: all of them take a tenth longer for no smaller cuts
ANYWAY = WORTH_A_THREAD  # entries that it may in any case: those of some dozen regions, as a branch of a tree is
LEAST = 20  # clusters that cuts are made by way of, at every other size: the smallest run around small groups

NO_END = Budget(np.inf)
T = TypeVar("T")


def assigned(on: Weighed, labels: np.ndarray, k: int) -> Assigned:
    """Labels with their sums, which takes a pass over the graph."""
    return Assigned(labels, summed(on, labels, k)[1])


class Search(NamedTuple):
    """What is looked for, and what it takes: k clusters by an objective, from regions at these resolutions.

    No resolutions: the clusters are made of the nodes themselves. effort : the share of the starts and cycles to make;
    budget : what these may take. coarse : the graph reduced to regions, where these do for more clusters than k.
    """

    k: int
    objective: Objective
    resolutions: list[float]
    effort: float
    rng: np.random.Generator
    progress: Progress
    budget: Budget = NO_END
    coarse: Reduction | None = None

    @property
    def is_thorough(self) -> bool:
        """Whether partitions are combined and climbed from: cuts, which have more local optima, unless of one start."""
        return self.objective.kind == RATIO and bool(turns(self))

    @property
    def patience(self) -> Patience:
        """For how long climbs go on."""
        return Patience(PATIENCE, ANYWAY) if self.is_thorough else Patience(0.0, 0.0)

    def value(self, found: Assigned) -> float:
        return value_of(self.objective, found.sums)


def best_start(on: Weighed, by_excess: Assigned | None, search: Search) -> Assigned:
    """The best of several partitions, each merged from the regions of another resolution.

    by_excess : one merged as links exceed chance, which for cuts is another start, if there is one. Merged by the cut
    one cluster grows that swallows whatever is light, and clusters that should be alike end up unlike each other.
    """
    resolutions: list[float | None] = [*(turns(search) or search.resolutions[:1])]
    starts = [partial(cycle, on, None, own, at) for own, at in by_own_draws(search, resolutions or [None])]
    if by_excess is not None and search.is_thorough:
        starts.append(partial(moved, on, by_excess, search))
    return best_of(starts, on, search)


def by_own_draws(search: Search, resolutions: Sequence[T]) -> list[tuple[Search, T]]:
    """The search with draws of its own for each of several tries, which so are the same in whatever order they run."""
    if len(resolutions) == 1:
        return [(search, resolutions[0])]
    keys = search.rng.integers(2**63, size=len(resolutions)).tolist()
    return [(search._replace(rng=np.random.default_rng(key)), at) for key, at in zip(keys, resolutions, strict=True)]


def best_of(
    tries: Sequence[Callable[[], Assigned]], on: Weighed, search: Search, found: Assigned | None = None
) -> Assigned:
    """The best of what some tries make of the partition found, if any: the first in any case, others by the budget.

    Of several cuts it is what comes of all of them together. What is better than the partition found is climbed from,
    and settles again. On a small graph, whose loops use one core only, the tries run side by side, unless threads would
    take longer to wake.
    """
    at_once = len(tries) if is_small(on.graph) and on.graph.n_entries >= WORTH_A_THREAD else 1
    made: list[Assigned] = []
    for first in range(0, len(tries), at_once):
        if made and (search.progress.out_of_time() or not search.budget.covers(on.graph)):
            break
        now = tries[first : first + at_once]
        search.budget.take(on.graph, len(now))
        made += [now[0]()] if len(now) == 1 else map_blocks(lambda i, *_, now=now: now[i](), row_blocks(len(now), 1))
        best = max(made, key=search.value)  # the first of those as good
        search.progress.offer(best.labels.copy)
        search.progress.step(first + len(now), len(tries))
    if not search.is_thorough or search.progress.out_of_time():
        return best
    settled = best  # as each start and each cycle ends with moves
    if len(made) > 1:
        best = together(on, best, made if found is None else [*made, found], search)
    if found is not None and search.value(best) <= search.value(found):
        return found
    higher = climbed(on, best, search)
    return settled if higher is settled else moved(on, higher, search)


def together(on: Weighed, best: Assigned, several: Sequence[Assigned], search: Search) -> Assigned:
    """What comes of several partitions together: their best, or one that takes of each what is good in it.

    What all of them have in one cluster is a region (Ovelgönne & Geyer-Schulz 2012; Sanders & Schulz 2012). Where there
    are few all are merged anew, and borders that most of the partitions share are left by whole regions. Single nodes
    have not moved yet. Where they agree on so little that there are as many as a start has, the best of them is left.
    """
    region, n_regions = several[0].labels, search.k
    for other in several[1:]:
        region, n_regions = used_labels(region.astype(np.int64) * search.k + other.labels)
    if not search.k < n_regions <= min((1.0 - HARDLY_ANY) * on.graph.n_nodes, ENOUGH * search.k):
        return best
    united = by_regions(reduced(on, region, n_regions), best, search, None)
    return united if search.value(united) > search.value(best) else best


def turns(search: Search) -> list[float]:
    """The resolutions of as many starts or cycles as the effort asks for, one after the other."""
    resolutions = search.resolutions
    return [resolutions[turn % len(resolutions)] for turn in range(round(search.effort * len(resolutions)))]


def made_by_way_of(k: int, *, cut: bool) -> int:
    """The number of clusters that every other cycle, and the size of its regions, is for: of cuts LEAST at least."""
    return max(k, LEAST) if cut else k


def in_cycles(on: Weighed, found: Assigned, search: Search, *, settled: bool = False, each: bool = False) -> Assigned:
    """A cycle at the first of the resolutions; for cuts, which have more local optima, two from one partition.

    Cycles go on from resolution to resolution, as far as the budget goes, while each of the last gained more than
    hardly any of what is lacking; for cuts until each resolution had its turn, which each has in any case where few
    clusters are wanted, and again where edges have weights, with which there are more local optima yet. The value never
    falls.

    settled : whether the nodes of this graph have moved already, as far as any gains by it. each : whether each
    resolution has its turn in any case, and again.
    """
    resolutions, is_cut = turns(search), search.objective.kind == RATIO
    n, done, gained = len(resolutions), 0, np.inf
    at_once = min(PAIR, n) if each or is_cut else 1
    first = n if each or (is_cut and search.k < made_by_way_of(search.k, cut=True)) else at_once
    once = is_cut and not each and on.graph.weights is None
    hardly_any, most = at_once * HARDLY_ANY, n if once else np.inf
    while n and (done < first or (done < most and gained > hardly_any * lacking(found, search))):
        search.progress.offer(found.labels.copy)
        if search.progress.out_of_time() or not search.budget.covers(on.graph):
            break
        now = [resolutions[place % n] for place in range(done, done + at_once)]
        tries = [
            partial(cycle_of_kind, place, on, found, own, at, settled or done > 0, done == 0)
            for place, (own, at) in enumerate(by_own_draws(search, now))
        ]
        before, better = search.value(found), best_of(tries, on, search, found)
        gained = search.value(better) - before
        found, done = better, done + len(now)
    return found


def lacking(found: Assigned, search: Search) -> float:
    """What a partition lacks of the best value conceivable, that of clusters which no edge leaves."""
    return search.k * search.objective.unit - search.value(found)


def cycle_of_kind(
    place: int, on: Weighed, found: Assigned, search: Search, resolution: float, settled: bool, at_hand: bool
) -> Assigned:
    """One cycle of a pair: the first by way of more clusters where few are wanted, and from ties by heavy edges.

    at_hand : whether the other one may begin with the regions that all starts share, which suit few clusters alone.
    """
    more = made_by_way_of(search.k, cut=search.objective.kind == RATIO)
    tied = tying_resolution(on.graph) if place == 0 else 0.0
    if place == 0 and search.k < more <= on.graph.n_nodes:
        return cycle_by_way_of(more, on, found, search, resolution, settled=settled, finest=tied)
    if at_hand and search.coarse is not None and search.k < more:
        return cycle_of_regions_at_hand(on, found, search, resolution, search.coarse, settled=settled)
    return cycle(on, found, search, resolution, settled=settled, finest=tied)


def tying_resolution(graph: Graph) -> float:
    """At which resolution an edge of HEAVY times the mean weight still joins two average nodes; 0 without weights."""
    return 0.0 if graph.weights is None else HEAVY * graph.n_nodes**2 / graph.n_entries


def cycle(
    on: Weighed,
    found: Assigned | None,
    search: Search,
    resolution: float | None,
    *,
    settled: bool = False,
    finest: float = 0.0,
) -> Assigned:
    """Down to regions, which are merged into k clusters, and back with nodes moving on every level.

    found : a partition to better; None: there is none yet. The graph is then coarsened within its clusters, so that
    whole regions move, and the regions merged anew are kept only where they are better: that splits a cluster which is
    two and joins two which are one, the local optimum that no moves leave.
    settled : see `in_cycles`; finest : see `coarser`.
    """
    k, objective, progress = search.k, search.objective, search.progress
    if is_small(on.graph):
        return cycle_in_one_call(on, found, search, resolution, settled, finest)
    parts = None if found is None else found.labels
    reduction = None
    if resolution is not None:
        reduction = coarser(on, resolution, k, search.rng, progress, parts, finest)
    if reduction is None:
        best = moved(on, Assigned(*merged(on, k, objective, progress)), search)
        kept = None if found is None else moved(on, found, search)
        return best if kept is None or search.value(kept) < search.value(best) else kept
    bettered = by_regions(reduction, found, search, resolution)
    return moved_unless_settled(on, bettered, search, found if settled else None)


def by_regions(reduction: Reduction, found: Assigned | None, search: Search, resolution: float | None) -> Assigned:
    """A cycle over the regions of a graph; what it makes of them, nodes having stayed with their regions."""
    of_regions = None if found is None else Assigned(reduction.restricted(found.labels), found.sums)
    bettered = climbed(reduction.small, cycle(reduction.small, of_regions, search, resolution), search)
    return Assigned(reduction.prolonged(bettered.labels), bettered.sums)


def cycle_of_regions_at_hand(
    on: Weighed, found: Assigned, search: Search, resolution: float, at_hand: Reduction, *, settled: bool = False
) -> Assigned:
    """A cycle whose first level is there already: what clusters have of the regions that all starts share."""
    region, n_regions = used_labels(at_hand.region.astype(np.int64) * search.k + found.labels)
    bettered = by_regions(reduced(on, region, n_regions), found, search, resolution)
    return moved_unless_settled(on, bettered, search, found if settled else None)


def cycle_by_way_of(
    more: int,
    on: Weighed,
    found: Assigned,
    search: Search,
    resolution: float,
    *,
    settled: bool = False,
    finest: float = 0.0,
) -> Assigned:
    """More clusters than are wanted, whole ones of which are then merged; the partition found where that is better.

    A small group that few edges leave is seldom a region, or several, by itself: in a few clusters its nodes are lost
    in others, where among more clusters it is one of them, and gets and gives nodes until it is whole. They are made
    of the regions at hand, where there are enough and no heavy edges tie nodes together.
    """
    objective, progress = search.objective, search.progress
    for_more = search._replace(k=more)
    levels = [search.coarse] if search.coarse is not None and finest == 0.0 else []
    finer = cycle(levels[0].small if levels else on, None, for_more, resolution, finest=finest)
    finer = carried(levels, finer, for_more)
    reduction = reduced(on, finer.labels, more)
    labels, sums = merged(reduction.small, search.k, objective, progress)
    tried = moved(on, Assigned(reduction.prolonged(labels), sums), search)
    kept = found if settled else moved(on, found, search)
    return tried if search.value(tried) > search.value(kept) else kept


def cycle_in_one_call(
    on: Weighed, found: Assigned | None, search: Search, resolution: float | None, settled: bool, finest: float
) -> Assigned:
    """The same of a small graph, whose levels would take longer to prepare than to work on."""
    graph, progress = on.graph, search.progress
    plan = Coarsening(
        graph.n_nodes if resolution is None else search.k,
        (resolution or 1.0) * on.chance,
        finest * on.chance,
        coarsening.UNSETTLED,
        1.0 - HARDLY_ANY,
        search.patience,
    )
    given = small_cycles.NOTHING if found is None else found
    k, level = search.k, level_of(on)
    better = room_for(graph.n_nodes, k)
    draws = draws_of(search.rng)
    n_read = small_cycles.cycle_at_once(level, given, k, search.objective, plan, settled, draws, better)
    progress.reads(graph, n_read)
    return better


def moved(on: Weighed, found: Assigned, search: Search) -> Assigned:
    """The partition after moves of single nodes, unless time is up."""
    if is_small(on.graph) and not search.progress.out_of_time():
        better = room_for(on.graph.n_nodes, search.k)
        n_read = small_levels.move_at_once(level_of(on), found, search.k, search.objective, better)
        search.progress.reads(on.graph, n_read)
        return better
    labels = found.labels.copy()
    sums = found.sums._replace(size=np.bincount(labels, minlength=search.k))
    return Assigned(labels, moved_until_stable(on, labels, search.k, search.objective, search.progress, sums=sums))


def moved_unless_settled(on: Weighed, bettered: Assigned, search: Search, settled: Assigned | None) -> Assigned:
    """What a cycle made of a partition after moves; the partition itself where it has moved and is still the same.

    settled : the partition that the cycle began with, if no node of it gains by a move.
    """
    if settled is not None and np.array_equal(bettered.labels, settled.labels):
        return settled
    return moved(on, bettered, search)


def climbed(on: Weighed, found: Assigned, search: Search) -> Assigned:
    """The partition after moves that go on where the value falls, see `climbing`; where none gain it is as it was."""
    if search.patience.share == 0.0 or search.progress.out_of_time():
        return found
    better = room_for(on.graph.n_nodes, search.k)
    n_read = small_levels.climb_at_once(level_of(on), found, search.objective, search.patience, better)
    search.progress.reads(on.graph, n_read)
    return found if np.array_equal(better.labels, found.labels) else better


def carried(reductions: list[Reduction], found: Assigned, search: Search) -> Assigned:
    """A partition of the smallest of several graphs, each reduced to the next, carried to the largest by moves."""
    for reduction in reversed(reductions):
        found = moved(reduction.on, Assigned(reduction.prolonged(found.labels), found.sums), search)
    return found
