"""Partition a graph into k clusters through coarser graphs, under any objective.

1. The graph is coarsened into some dozen regions a cluster, and the tree of unions of the regions tells at which
   resolution any number of clusters is natural.
2. Starts: the graph is coarsened to regions that are natural at one of several resolutions, from 3 to 16 a cluster.
   They are merged pair by pair into k clusters by the objective, then single nodes move on every level on the way
   back. The best start is kept.
3. Cycles: the graph is coarsened within the clusters, the regions are merged anew where that is better, and nodes move
   on every level again; while that pays, and for cuts, which have many more local optima, at each resolution once.
   Where edges have weights every other cycle begins with groups of a few nodes that heavy edges tie together.
4. Where k is natural over a narrow range of resolutions only, cycles at higher ones, while the edges become likelier.

Moving regions is how the local optima of single-node moves are left (Dhillon, Guan & Kulis 2007, Graclus; METIS); that
regions of modularity at several resolutions are what the smallest cuts run between was found by measuring.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_number, as_whole_number
from graphclust.compiled.graphs.objective import RATIO, ClusterSums, Objective
from graphclust.graph.container import Graph, GraphLike
from graphclust.objective.objective import RATIOS, Aim, Weighed, as_aim, value_of, weighed
from graphclust.partition.coarsening import LEAST_SHRINKAGE, Level, coarsened, joined
from graphclust.partition.likelihood import implied_resolution, log_likelihood
from graphclust.partition.merging import graph_without_isolated_nodes, merged, unions
from graphclust.partition.moves import moved_until_stable, summed
from graphclust.partition.quotient import contracted
from graphclust.partition.resolution import NO_UNIONS, Goal, goal_at, goal_of, in_doubt, matched_resolution, middle_of
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["multilevel_partition"]

ENOUGH = 12  # regions a cluster, for a tree that shows where k is natural and leaves the starts a choice
SMALL = 50  # nodes a cluster: starts begin on the first level with fewer, since finer ones gain nothing but time
VERY_SMALL = 500  # nodes that starts begin on at least: of fewer, Satellite agrees less with its classes (.66 for .69)
REGIONS = (4, 8, 16)  # a cluster, for each of the starts: no one size suits all graphs
FEW_REGIONS = 3  # a cluster, for one more start of cuts, which have more local optima
LEAST = 20  # clusters that every other size is made for at least, for cuts: the smallest run around small groups
FINER = 3.0  # the factor to a resolution that may leave enough regions, where one does not
CLUSTERS_PER_RESOLUTION = 16.0  # a first guess, low for most graphs: resolution k / 16 leaves more than k clusters
HEAVY = 2.0  # times the mean: the least weight that ties two average nodes, where edges have weights
LARGE = 2_000_000  # entries from which cycles run on the first coarse level; on all nodes at high effort only
WORTHWHILE = 0.005  # of what is lacking: cycles go on while each takes so much off
HIGH_EFFORT = 2.0  # from here on, there are so many tries, and cycles of the whole of large graphs


class Assigned(NamedTuple):
    """int32 labels and the sums of their clusters, which are the same on every level but for the numbers of nodes."""

    labels: np.ndarray
    sums: ClusterSums


def assigned(on: Weighed, labels: np.ndarray, k: int) -> Assigned:
    """Labels with their sums, which takes a pass over the graph."""
    return Assigned(labels, summed(on, labels, k)[1])


class Partition(NamedTuple):
    """What was found, and the goal that it was made for."""

    labels: np.ndarray
    sums: ClusterSums
    goal: Goal

    @property
    def value(self) -> float:
        return value_of(self.goal.objective, self.sums)


class Search(NamedTuple):
    """What is looked for, and what it takes: k clusters by an objective, from regions at these resolutions.

    No resolutions: the clusters are made of the nodes themselves. effort : the share of the starts and cycles to make.
    """

    k: int
    objective: Objective
    resolutions: list[float]
    effort: float
    rng: np.random.Generator
    progress: Progress

    def value(self, found: Assigned) -> float:
        return value_of(self.objective, found.sums)


def multilevel_partition(
    G: GraphLike,
    k: int,
    *,
    objective: str = "modularity",
    resolution: float | str | None = None,
    effort: float = 1.0,
    weight: str | None = "weight",
    rng: Seed = None,
    progress: ProgressLike = None,
) -> npt.NDArray[np.int64]:
    """Labels of a partition into k clusters, through coarser and coarser quotient graphs.

    G, weight : as `as_graph` takes them, without isolated nodes; k : 1 <= k <= n_nodes.
    objective, resolution : as `coreset_sc` takes them.
    effort : > 0; rounded, so many tries are made and the best is kept; below 1 a try has fewer starts and cycles.
    rng : None, a seed or a numpy Generator; progress : see `Progress`.

    Returns int64, shape (n_nodes,), every label from 0 to k - 1 used.

    Raises ParameterError for isolated nodes, an impossible k, effort or resolution, and an unknown objective.

    Source: see the module; coarsening as in Blondel et al. 2008, the tree of unions of Bonald et al. 2018.

    >>> import networkx as nx
    >>> multilevel_partition(nx.barbell_graph(4, 0), 2, rng=0)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    aim = as_aim(objective, resolution)
    graph, rng, progress = graph_without_isolated_nodes(G, weight), as_generator(rng), as_progress(progress)
    k = as_whole_number(k, "k", at_least=1, at_most=graph.n_nodes, why=", the number of nodes")
    effort = as_number(effort, "effort", above=0.0)
    with progress.interruptible(_as_labels):
        return _as_labels(partitioned(weighed(graph, aim.name), k, aim, effort, rng, progress).labels)


def _as_labels(labels: np.ndarray) -> npt.NDArray[np.int64]:
    return labels.astype(np.int64)


def partitioned(
    on: Weighed, k: int, aim: Aim, effort: float, rng: np.random.Generator, progress: Progress
) -> Partition:
    """`multilevel_partition` on checked arguments, with cycles on the whole graph."""
    levels, coarsest = regions(on, k, aim, rng, progress)
    goal, resolutions = goal_on(aim, coarsest, k, progress)
    # At high effort there are more tries, not longer ones.
    search = Search(k, goal.objective, resolutions, min(effort, 1.0), rng, progress)
    if progress.out_of_time():  # the shortest way: the regions at hand are merged, and stay together
        labels, sums = merged(coarsest, k, goal.objective, progress)
        return Partition(carried_over(levels, labels), sums, goal)
    shared = []
    while levels and levels[0].on.graph.n_nodes >= max(SMALL * k, VERY_SMALL):
        shared.append(levels.pop(0))
    start = levels[0].on if levels else coarsest
    best: Assigned | None = None
    for _ in range(max(1, round(effort)) if resolutions else 1):  # without regions every try would be the same
        if best is not None and progress.out_of_time():
            break
        with progress.within(None) if best is not None else nullcontext():  # what an interruption returns is the best
            found = one_try(on, shared, start, effort, search)
        if best is None or search.value(found) > search.value(best):
            best = found
            progress.offer(best.labels.copy)
    assert best is not None
    partition = Partition(*best, goal)
    if is_searched_whole(on, shared, effort) and not progress.out_of_time() and in_doubt(aim, on, goal):
        partition = likeliest(on, partition, aim, search)
    return partition


def one_try(on: Weighed, shared: list[Level], start: Weighed, effort: float, search: Search) -> Assigned:
    """Starts, and cycles on the whole graph unless it is large.

    shared : the levels from `on` down to `start`, which are the same for all starts.
    """
    progress = search.progress
    with progress.within(lambda labels: carried_over(shared, labels)):
        found = best_start(start, search)
        if shared and on.graph.n_entries > LARGE:
            found = in_cycles(start, found, search, settled=True)
    found = carried(shared, found, search)
    if is_searched_whole(on, shared, effort) and not progress.out_of_time():
        found = in_cycles(on, found, search, settled=True)
    return found


def is_searched_whole(on: Weighed, shared: list[Level], effort: float) -> bool:
    """Whether cycles run on the nodes of the graph itself: of a large one where starts do too, or at high effort."""
    return on.graph.n_entries <= LARGE or not shared or effort >= HIGH_EFFORT


def goal_on(aim: Aim, regions: Weighed, k: int, progress: Progress) -> tuple[Goal, list[float]]:
    """The goal for k clusters of a graph, and the resolutions of its starts, from a coarse graph of it.

    Too few nodes for regions leave a start from the nodes themselves, and no resolutions; so does a cut without time.
    """
    enough = regions.graph.n_nodes >= REGIONS[0] * k
    if aim.name in RATIOS and (not enough or progress.out_of_time()):
        return goal_of(aim, regions, k, NO_UNIONS), []
    tree = unions(regions, progress, k)
    return goal_of(aim, regions, k, tree), resolutions_of_regions(aim, tree, k) if enough else []


def resolutions_of_regions(aim: Aim, tree: np.ndarray, k: int) -> list[float]:
    """At which resolutions the regions of starts and cycles are made, by a tree of unions."""
    return [matched_resolution(tree, n) for n in numbers_of_regions(aim, k)]


def numbers_of_regions(aim: Aim, k: int) -> list[int]:
    """How many regions k clusters are made of, in starts and cycles; for cuts small ones every other time."""
    small, sizes = k_of_small_regions(aim, k), (*REGIONS, FEW_REGIONS) if aim.name in RATIOS else REGIONS
    return [n * (k if place % 2 else small) for place, n in enumerate(sizes)]


def k_of_small_regions(aim: Aim, k: int) -> int:
    """The number of clusters that small regions are made for."""
    return max(k, LEAST) if aim.name in RATIOS else k


def regions(on: Weighed, k: int, aim: Aim, rng: np.random.Generator, progress: Progress) -> tuple[list[Level], Weighed]:
    """Levels down to the coarsest graph of at least ENOUGH regions a cluster.

    Where a resolution would leave fewer, the level is made again at a higher one; where one hardly joins any nodes,
    higher ones would join fewer. When time is up a level of enough regions for one start will do.
    """
    levels: list[Level] = []
    k = k_of_small_regions(aim, k)
    resolution = max(1.0, k / CLUSTERS_PER_RESOLUTION)
    while on.graph.n_nodes > ENOUGH * k and (not levels or on.graph.n_nodes >= SMALL * k):
        fewest = (REGIONS[0] if progress.out_of_time() else ENOUGH) * k
        coarse, n_coarse = joined(on, resolution, None, fewest, rng, progress)
        if n_coarse > LEAST_SHRINKAGE * on.graph.n_nodes:
            break
        if n_coarse < ENOUGH * k and not (n_coarse >= REGIONS[0] * k and progress.out_of_time()):
            resolution *= FINER
            continue
        levels.append(Level(on, coarse))
        on = contracted(on, coarse, n_coarse)
    return levels, on


def best_start(on: Weighed, search: Search) -> Assigned:
    """The best of several partitions, each merged from the regions of another resolution."""
    best: Assigned | None = None
    resolutions: list[float | None] = [*(turns(search) or search.resolutions[:1])]
    for resolution in resolutions or [None]:  # one start, from the nodes
        if best is not None and search.progress.out_of_time():
            break
        found = cycle(on, None, search, resolution)
        if best is None or search.value(found) > search.value(best):
            best = found
            search.progress.offer(best.labels.copy)
    assert best is not None
    return best


def turns(search: Search) -> list[float]:
    """The resolutions of as many starts or cycles as the effort asks for, one after the other."""
    resolutions = search.resolutions
    return [resolutions[turn % len(resolutions)] for turn in range(round(search.effort * len(resolutions)))]


def in_cycles(on: Weighed, found: Assigned, search: Search, *, settled: bool = False) -> Assigned:
    """Cycles at one resolution after the other while they pay; the value never falls.

    For cuts, and at high effort, each resolution has its turn before one that hardly pays ends them.
    settled : whether the nodes of this graph have moved already, as far as any gains by it.
    """
    value, lacking = search.value(found), best_conceivable(on, search.k, search.objective)
    all_have_turns = search.objective.kind == RATIO or search.effort >= HIGH_EFFORT
    n_turns = len(search.resolutions) if all_have_turns else 1
    for done, resolution in enumerate(turns(search)):
        search.progress.offer(found.labels.copy)
        if search.progress.out_of_time():
            break
        before = value
        tied = tying_resolution(on.graph) if done % 2 == 0 else 0.0
        found = cycle(on, found, search, resolution, settled=settled or done > 0, finest=tied)
        value = search.value(found)
        if done + 1 >= n_turns and value - before <= WORTHWHILE * (lacking - before):
            break
    return found


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
    settled : see `in_cycles`; finest : see `coarsened`.
    """
    k, objective, progress = search.k, search.objective, search.progress
    parts = None if found is None else found.labels
    enough = on.graph.n_nodes if resolution is None else k
    levels, core, parts = coarsened(on, resolution or 1.0, enough, search.rng, progress, parts, finest)
    best = moved(core, Assigned(*merged(core, k, objective, progress)), search)
    if found is not None:
        kept = moved(core, Assigned(parts, found.sums), search)
        best = kept if search.value(kept) >= search.value(best) else best
    return carried(levels, best, search, found if settled else None)


def moved(on: Weighed, found: Assigned, search: Search) -> Assigned:
    """The partition after moves of single nodes, unless time is up."""
    labels = found.labels.copy()
    sums = found.sums._replace(size=np.bincount(labels, minlength=search.k))
    return Assigned(labels, moved_until_stable(on, labels, search.k, search.objective, search.progress, sums=sums))


def carried(levels: list[Level], found: Assigned, search: Search, settled: Assigned | None = None) -> Assigned:
    """A partition of the coarsest graph carried to the finest of the levels, nodes moving on each.

    settled : a partition of the finest in which no node gains by a move; where it comes back nothing is tried again.
    """
    for depth, level in reversed(list(enumerate(levels))):
        labels = found.labels[level.coarse]
        if depth == 0 and settled is not None and np.array_equal(labels, settled.labels):
            return settled
        found = moved(level.on, Assigned(labels, found.sums), search)
    return found


def carried_over(levels: list[Level], labels: np.ndarray) -> np.ndarray:
    """Labels of the coarsest graph as those of the finest of the levels, as they are."""
    for level in reversed(levels):
        labels = labels[level.coarse]
    return labels


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


def best_conceivable(on: Weighed, k: int, objective: Objective) -> float:
    """A value that no partition exceeds: no edge cut, and nothing taken off for mass."""
    if objective.kind == RATIO:
        return k * objective.unit + float((on.terms.loops - on.graph.loops).sum()) / float(on.terms.mass.sum()) * k
    return on.graph.total_volume
