"""Partition a graph into k clusters through coarser graphs, under any objective.

1. The graph is coarsened into some dozen regions a cluster, and the tree of unions of the regions tells at which
   resolution any number of clusters is natural.
2. Starts: the graph is coarsened to regions that are natural at one of several resolutions, from 3 to 16 a cluster.
   They are merged pair by pair into k clusters by the objective, then single nodes move on every level on the way
   back. The best start is kept.
3. Cycles: the graph is coarsened within the clusters, the regions are merged anew where that is better, and nodes move
   on every level again; while that pays, and for cuts, which have many more local optima, at each resolution once.
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
from graphclust.compiled.graphs.objective import RATIO, Objective
from graphclust.graph.container import GraphLike
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
SMALL = 40  # nodes a cluster: starts begin on the first level with fewer, since finer ones gain nothing but time
CHEAP = 10_000  # entries up to which starts begin on the graph itself; on meshes that finds smaller cuts
REGIONS = (4, 8, 16, 3)  # a cluster, for each of the starts: no one size suits all graphs
LEAST = 20  # clusters that every other size is made for at least, for cuts: the smallest run around small groups
FEWEST = 2  # regions a cluster; of fewer there is hardly one way to merge them
FINER = 3.0  # the factor to a resolution that may leave enough regions, where one does not
CLUSTERS_PER_RESOLUTION = 16.0  # a first guess, low for most graphs: resolution k / 16 leaves more than k clusters
LARGE = 1_000_000  # entries from which cycles run on the first coarse level; on all nodes at high effort only
WORTHWHILE = 0.005  # of what is lacking: cycles go on while each takes so much off
HIGH_EFFORT = 2.0  # from here on, there are so many tries, and cycles of the whole of large graphs


class Partition(NamedTuple):
    """int32 labels, their value, and the goal that they were made for."""

    labels: np.ndarray
    value: float
    goal: Goal


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
    if progress.out_of_time():  # the shortest way: the regions at hand are merged, and stay together
        labels, _ = merged(coarsest, k, goal.objective, progress)
        value = value_of(goal.objective, summed(coarsest, labels, k)[1])
        return Partition(carried_over(levels, labels), value, goal)
    shared = []
    while levels and levels[0].on.graph.n_nodes >= SMALL * k and on.graph.n_entries > CHEAP:
        shared.append(levels.pop(0))
    start = levels[0].on if levels else coarsest
    found: Partition | None = None
    for _ in range(max(1, round(effort)) if resolutions else 1):  # without regions every try would be the same
        if found is not None and progress.out_of_time():
            break
        with progress.within(None) if found is not None else nullcontext():  # what an interruption returns is the best
            labels, value = one_try(on, shared, start, k, goal.objective, resolutions, effort, rng, progress)
        if found is None or value > found.value:
            found = Partition(labels, value, goal)
            progress.offer(labels.copy)
    assert found is not None
    if is_searched_whole(on, shared, effort) and not progress.out_of_time() and in_doubt(aim, on, goal):
        found = likeliest(on, found, k, aim, resolutions, min(effort, 1.0), rng, progress)
    return found


def one_try(
    on: Weighed,
    shared: list[Level],
    start: Weighed,
    k: int,
    objective: Objective,
    resolutions: list[float],
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[np.ndarray, float]:
    """Starts, and cycles on the whole graph unless it is large; at high effort there are more tries, not longer ones.

    shared : the levels from `on` down to `start`, which are the same for all starts.
    """
    once = min(effort, 1.0)
    with progress.within(lambda labels: carried_over(shared, labels)):
        labels, value = best_start(start, k, objective, resolutions, once, rng, progress)
        if shared and on.graph.n_entries > LARGE:
            labels, value = in_cycles(start, labels, k, objective, resolutions, once, rng, progress)
    if shared:
        labels, value = carried(shared, labels, k, objective, progress, value)
    if is_searched_whole(on, shared, effort) and not progress.out_of_time():
        labels, value = in_cycles(on, labels, k, objective, resolutions, once, rng, progress)
    return labels, value


def is_searched_whole(on: Weighed, shared: list[Level], effort: float) -> bool:
    """Whether cycles run on the nodes of the graph itself: of a large one where starts do too, or at high effort."""
    return on.graph.n_entries <= LARGE or not shared or effort >= HIGH_EFFORT


def goal_on(aim: Aim, regions: Weighed, k: int, progress: Progress) -> tuple[Goal, list[float]]:
    """The goal for k clusters of a graph, and the resolutions of its starts, from a coarse graph of it.

    Too few nodes for regions leave a start from the nodes themselves, and no resolutions; so does a cut without time.
    """
    enough = regions.graph.n_nodes >= 2 * FEWEST * k
    if aim.name in RATIOS and (not enough or progress.out_of_time()):
        return goal_of(aim, regions, k, NO_UNIONS), []
    tree = unions(regions, progress, k)
    return goal_of(aim, regions, k, tree), resolutions_of_regions(aim, tree, k) if enough else []


def resolutions_of_regions(aim: Aim, tree: np.ndarray, k: int) -> list[float]:
    """At which resolutions the regions of starts and cycles are made, by a tree of unions."""
    return [matched_resolution(tree, n) for n in numbers_of_regions(aim, k)]


def numbers_of_regions(aim: Aim, k: int) -> list[int]:
    """How many regions k clusters are made of, in starts and cycles: small ones every other time."""
    small = k_of_small_regions(aim, k)
    return [n * (k if place % 2 else small) for place, n in enumerate(REGIONS)]


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
        coarse, n_coarse = joined(on, resolution, None, rng, progress)
        if n_coarse > LEAST_SHRINKAGE * on.graph.n_nodes:
            break
        if n_coarse < ENOUGH * k and not (n_coarse >= FEWEST * k and progress.out_of_time()):
            resolution *= FINER
            continue
        levels.append(Level(on, coarse))
        on = contracted(on, coarse, n_coarse)
    return levels, on


def best_start(
    on: Weighed,
    k: int,
    objective: Objective,
    resolutions: list[float],
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[np.ndarray, float]:
    """Labels and their value: the best of several partitions, each merged from the regions of another resolution."""
    best: tuple[np.ndarray, float] | None = None
    for start in range(max(1, round(effort * len(resolutions)))):
        if best is not None and progress.out_of_time():
            break
        levels: list[Level] = []
        core = on
        if resolutions:
            resolution = resolutions[start % len(resolutions)]
            levels, core, _ = coarsened(on, resolution, FEWEST * k, rng, progress)
        labels, _ = merged(core, k, objective, progress)
        value = moved_until_stable(core, labels, k, objective, progress)
        if levels:
            labels, value = carried(levels, labels, k, objective, progress, value)
        if best is None or value > best[1]:
            best = labels, value
            progress.offer(labels.copy)
        if not levels:
            break  # no regions but the nodes: every other start would be the same
    assert best is not None
    return best


def carried(
    levels: list[Level], labels: np.ndarray, k: int, objective: Objective, progress: Progress, value: float = 0.0
) -> tuple[np.ndarray, float]:
    """Labels of the coarsest graph carried to the finest of the levels, nodes moving on each; and their value.

    value : of the labels given, which is returned when time is up and they are carried as they are.
    """
    for level in reversed(levels):
        labels = labels[level.coarse]
        if not progress.out_of_time():
            value = moved_until_stable(level.on, labels, k, objective, progress)
    return labels, value


def carried_over(levels: list[Level], labels: np.ndarray) -> np.ndarray:
    """Labels of the coarsest graph as those of the finest of the levels, as they are."""
    for level in reversed(levels):
        labels = labels[level.coarse]
    return labels


def in_cycles(
    on: Weighed,
    labels: np.ndarray,
    k: int,
    objective: Objective,
    resolutions: list[float],
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[np.ndarray, float]:
    """Cycles at one resolution after the other while they pay: int32 labels, and their value, which never falls.

    For cuts, and at high effort, each resolution has its turn before one that hardly pays ends them.
    """
    value = value_of(objective, summed(on, labels, k)[1])
    lacking = best_conceivable(on, k, objective)
    n_turns = len(resolutions) if objective.kind == RATIO or effort >= HIGH_EFFORT else 1
    for done in range(round(effort * len(resolutions))):
        progress.offer(labels.copy)
        if progress.out_of_time():
            break
        before = value
        labels, value = cycle(on, labels, k, objective, resolutions[done % len(resolutions)], rng, progress)
        if done + 1 >= n_turns and value - before <= WORTHWHILE * (lacking - before):
            break
    return labels, value


def cycle(
    on: Weighed,
    labels: np.ndarray,
    k: int,
    objective: Objective,
    resolution: float,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[np.ndarray, float]:
    """Coarsen within the clusters, and move nodes on every level on the way back: whole regions move; never worse.

    The regions are also merged anew into k: that splits a cluster which is two and joins two which are one, the local
    optimum that no moves leave.
    """
    levels, core, moved = coarsened(on, resolution, FEWEST * k, rng, progress, labels)
    moved = moved.copy()
    value = moved_until_stable(core, moved, k, objective, progress)
    anew, _ = merged(core, k, objective, progress)
    value_anew = moved_until_stable(core, anew, k, objective, progress)
    if value_anew > value:
        moved, value = anew, value_anew
    return carried(levels, moved, k, objective, progress, value)


def likeliest(
    on: Weighed,
    found: Partition,
    k: int,
    aim: Aim,
    resolutions: list[float],
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
) -> Partition:
    """The partition, or one at a higher resolution, while the edges are likelier under it.

    Greedy unions put the range of k too low where clusters are hard to tell apart. The clusters found call for another
    resolution; that one and the middle on the way there are tried.
    """
    sums = summed(on, found.labels, k)[1]
    likelihood, called_for = log_likelihood(on, sums), implied_resolution(on, sums)
    lowest = found.goal.objective.pull / on.chance
    for resolution in (middle_of(lowest, called_for), called_for) if called_for > lowest else ():
        if progress.out_of_time():
            break
        goal = goal_at(aim, on, k, resolution, found.goal.natural)
        labels, value = in_cycles(on, found.labels, k, goal.objective, resolutions, effort, rng, progress)
        before, likelihood = likelihood, log_likelihood(on, summed(on, labels, k)[1])
        if likelihood <= before:
            break
        found = Partition(labels, value, goal)
    return found


def best_conceivable(on: Weighed, k: int, objective: Objective) -> float:
    """A value that no partition exceeds: no edge cut, and nothing taken off for mass."""
    if objective.kind == RATIO:
        return k * objective.unit + float((on.terms.loops - on.graph.loops).sum()) / float(on.terms.mass.sum()) * k
    return on.graph.total_volume
