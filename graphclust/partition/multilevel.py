"""Partition a graph into k clusters through coarser graphs, under any objective.

Where degrees count and many nodes are leaves, with one edge each, steps 1 to 3 are made without them, see `leaves`.

1. The graph is coarsened into some dozen regions a cluster, some more for cuts of weighted edges, and the tree of
   unions of the regions tells at which resolution any number of clusters is natural.
2. Starts: the graph is coarsened to regions that are natural at one of several resolutions, from 4 to 16 a cluster.
   They are merged pair by pair into k clusters by the objective, then single nodes move on every level on the way
   back. Cuts have one more, at the foot of the tree, as one cluster swallows what is light where they are merged by the
   cut. The best start is kept; of cuts, what comes of all together: what all have in one cluster is merged anew, unless
   they agree on so little that this would be one more start.
3. Cycles: the graph is coarsened within the clusters, the regions are merged anew where that is better, and nodes move
   on every level again: once, and on while more than hardly anything is gained. Cuts have many more local optima. For
   them cycles come in pairs, from one partition and at one resolution after the other: at each once while that gains,
   and again where edges have weights. Where few clusters are wanted each has its turn in any case; then the first of
   two goes by way of more, and both begin with the regions of step 1 where these do, but in later pairs one, which so
   may find others. What comes of several partitions together, starts or cycles, has its borders made shorter by climbs,
   of regions and in the end of nodes: moves go on where the value falls, as far as it takes to get over a hill.
   Where edges have weights the first of two begins with groups of a few nodes that heavy edges tie together.
4. Where the clusters call for a higher resolution than those at which k is natural, cycles at such ones, while the
   edges become likelier, with their weights and without.
5. Where the resolution was matched to k, a cycle by the ratio objective of the same sums, from regions that are smaller
   than small clusters, which is kept if the edges become likelier: no one resolution suits clusters of very unequal
   sizes.
6. A graph too large for cycles as a whole has none of the last two. Where two of its clusters belong together at the
   resolution that all call for, which is higher than the one they were made for, others are two: it has the cycle by
   the ratio, and cycles at that resolution, while it is so and the edges become likelier.

Starts and cycles draw on one budget, what is in doubt on another as large, so that of a large graph only a coarse level
has cycles.

Moving regions is how the local optima of single-node moves are left (Dhillon, Guan & Kulis 2007, Graclus; METIS); that
regions of modularity at several resolutions are what the smallest cuts run between was found by measuring. To merge
what several partitions agree on is the combination of Sanders & Schulz 2012, on core groups of Ovelgönne &
Geyer-Schulz 2012.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_number, as_whole_number
from graphclust.graph.container import GraphLike
from graphclust.objective.objective import BY_DEGREE, RATIOS, Aim, Weighed, as_aim, weighed
from graphclust.partition.budget import HARDLY_ANY, Budget
from graphclust.partition.coarsening import ENOUGH, REGIONS, joined
from graphclust.partition.cycles import (
    Assigned,
    Search,
    best_start,
    carried,
    in_cycles,
    made_by_way_of,
    moved,
)
from graphclust.partition.healing import Partition, healed, is_in_doubt, is_unhealthy, likelier_by_ratio, likeliest
from graphclust.partition.leaves import without_leaves
from graphclust.partition.merging import graph_without_isolated_nodes, merged, unions, united
from graphclust.partition.reduction import Reduction, prolonged_through, reduced
from graphclust.partition.resolution import NO_UNIONS, Goal, goal_of, matched_resolution
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["multilevel_partition"]

ALL_SIZES = 2 * REGIONS[-1]  # for a tree that shows the finest regions of starts: it shows half as many as it is of
SMALL = REGIONS[0] * REGIONS[-1]  # nodes a cluster, four a region where these are smallest; more gain nothing but time
SINGLE_START = 0.0  # the effort of one start without cycles: regions of a coreset need not be perfect
BUDGET = 2_500_000  # entries for the starts and cycles of a try: some tenths of a second


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
    single = is_single_start(effort)
    folded = None
    if aim.name in BY_DEGREE and not single and Budget(BUDGET).covers(on.graph):
        folded = without_leaves(on, SMALL * k)
    if folded is None:
        best, goal, search = best_try(on, k, aim, effort, rng, progress)
    else:
        progress.reads(on.graph, on.graph.n_entries)
        progress.watch_part(folded.small.graph, on.graph)
        with progress.within(folded.prolonged):
            best, goal, search = best_try(folded.small, k, aim, effort, rng, progress)
        labels = folded.prolonged(best.labels)
        best = Assigned(labels, best.sums._replace(size=np.bincount(labels, minlength=k)))
        if aim.name not in RATIOS:  # of cuts nothing is left to gain
            best = moved(on, best, search)
    partition = Partition(*best, goal)
    return partition if single else looked_at_again(on, partition, aim, effort, search)


def is_single_start(effort: float) -> bool:
    """Whether so little effort makes one start and no cycles, see `turns`."""
    return round(effort * len(REGIONS)) == 0


def best_try(
    on: Weighed, k: int, aim: Aim, effort: float, rng: np.random.Generator, progress: Progress
) -> tuple[Assigned, Goal, Search]:
    """The best of as many tries as the effort asks for, the goal that it was made for, and what to go on with."""
    single = is_single_start(effort)
    levels, coarsest = regions(on, k, aim, rng, progress, single=single)
    goal, resolutions, by_excess = goal_on(aim, coarsest, k, progress, united_too=not single)
    # At high effort there are more tries, not longer ones.
    search = Search(k, goal.objective, resolutions, min(effort, 1.0), rng, progress, Budget(BUDGET))
    if progress.out_of_time():  # the shortest way: the regions at hand are merged, and stay together
        labels, sums = merged(coarsest, k, goal.objective, progress)
        return Assigned(prolonged_through(levels, labels), sums), goal, search
    shared = []
    while levels and (single or levels[0].on.graph.n_nodes >= SMALL * k):
        shared.append(levels.pop(0))
    start = levels[0].on if levels else coarsest
    if by_excess is not None:
        by_excess = Assigned(prolonged_through(levels, by_excess.labels), by_excess.sums)
    best: Assigned | None = None
    for _ in range(max(1, round(effort)) if resolutions else 1):  # without regions every try would be the same
        if best is not None and progress.out_of_time():
            break
        with progress.within(None) if best is not None else nullcontext():  # what an interruption returns is the best
            found = one_try(on, shared, start, by_excess, search._replace(budget=Budget(BUDGET * max(effort, 1.0))))
        by_excess = None  # it would be the same in every try
        if best is None or search.value(found) > search.value(best):
            best = found
            progress.offer(best.labels.copy)
    assert best is not None
    return best, goal, search


def looked_at_again(on: Weighed, found: Partition, aim: Aim, effort: float, search: Search) -> Partition:
    """The partition after steps 4 and 5, or where no cycles ran on the whole graph, after 5 and 6 if it takes them."""
    rng, progress = search.rng, search.progress
    if search.budget.covers(on.graph):
        if not progress.out_of_time() and is_in_doubt(aim, on, found):
            found = likeliest(on, found, aim, search)
        found = likelier_by_ratio(on, found, aim, rng, progress)
    elif effort >= 1.0 and not progress.out_of_time() and is_unhealthy(on, found):
        by_ratio = likelier_by_ratio(on, found, aim, rng, progress)
        if not progress.out_of_time() and (by_ratio is found or is_unhealthy(on, by_ratio)):
            return healed(on, by_ratio, aim, rng, progress)
        return by_ratio
    return found


def one_try(
    on: Weighed, shared: list[Reduction], start: Weighed, by_excess: Assigned | None, search: Search
) -> Assigned:
    """Starts, and cycles on the whole graph, or where the budget does not cover that, on the graph of the starts.

    shared : the levels from `on` down to `start`, which are the same for all starts. by_excess : see `best_start`.
    """
    with search.progress.within(lambda labels: prolonged_through(shared, labels)):
        found = best_start(start, by_excess, search)
        if not search.budget.covers(on.graph):
            found = in_cycles(start, found, search, settled=True)
    found = carried(shared, found, search)
    if shared and shared[0].small.graph.n_nodes >= SMALL * made_by_way_of(search.k, cut=True):
        search = search._replace(coarse=shared[0])
    return in_cycles(on, found, search, settled=True)


def goal_on(
    aim: Aim, regions: Weighed, k: int, progress: Progress, *, united_too: bool = False
) -> tuple[Goal, list[float], Assigned | None]:
    """The goal for k clusters of a graph, and the resolutions of its starts, from a coarse graph of it.

    Too few nodes for regions leave a start from the nodes themselves, and no resolutions; so does a cut without time.
    united_too : whether, of cuts, the clusters that the tree leaves of the coarse graph are wanted as well.
    """
    enough = regions.graph.n_nodes >= REGIONS[0] * k
    if aim.name not in RATIOS:
        tree = unions(regions, progress, k)
        return goal_of(aim, regions, k, tree), resolutions_of_regions(aim, tree, k) if enough else [], None
    if not enough or progress.out_of_time():
        return goal_of(aim, regions, k, NO_UNIONS), [], None
    # Cuts do not ask where k itself is natural: without its clusters the tree is followed to the fewest regions only.
    fewest = min(*numbers_of_regions(aim, k), regions.graph.n_nodes // 2)
    tree, labels, sums = united(regions, k if united_too else max(fewest - 1, 1), progress)
    found = Assigned(labels, sums) if united_too else None
    return goal_of(aim, regions, k, tree), resolutions_of_regions(aim, tree, k), found


def resolutions_of_regions(aim: Aim, tree: np.ndarray, k: int) -> list[float]:
    """At which resolutions the regions of starts and cycles are made, by a tree of unions.

    Each counts once: the tree may have no more regions to show, and not few clusters are made by way of as many.
    """
    return [*dict.fromkeys(matched_resolution(tree, n) for n in numbers_of_regions(aim, k))]


def numbers_of_regions(aim: Aim, k: int) -> list[int]:
    """How many regions k clusters are made of, in starts and cycles; for cuts small ones every other time."""
    cut = aim.name in RATIOS
    small, sizes = made_by_way_of(k, cut=cut), (*REGIONS, REGIONS[0]) if cut else REGIONS
    return [n * (k if place % 2 else small) for place, n in enumerate(sizes)]


def regions(
    on: Weighed, k: int, aim: Aim, rng: np.random.Generator, progress: Progress, *, single: bool = False
) -> tuple[list[Reduction], Weighed]:
    """Levels down to the coarsest graph of at least ENOUGH regions a cluster, or ALL_SIZES for cuts of weighted edges.

    Where a resolution would leave fewer, the level is made again at a higher one; where one hardly joins any nodes,
    higher ones would join fewer. For a single start, or when time is up, as many as that takes will do.
    """
    levels: list[Reduction] = []
    k = made_by_way_of(k, cut=aim.name in RATIOS)
    enough = ALL_SIZES if aim.name in RATIOS and on.graph.weights is not None and not single else ENOUGH
    resolution = max(1.0, k / REGIONS[-1])  # a first guess, mostly low: at k / 16 more than k clusters are natural
    while on.graph.n_nodes > enough * k and (not levels or on.graph.n_nodes >= SMALL * k):
        fewest = (REGIONS[0] if single or progress.out_of_time() else enough) * k
        region, n_regions = joined(on, resolution, None, fewest, rng, progress)
        if n_regions > (1.0 - HARDLY_ANY) * on.graph.n_nodes:
            break
        if n_regions < fewest and not (n_regions >= REGIONS[0] * k and progress.out_of_time()):
            resolution *= REGIONS[0]
            continue
        levels.append(reduced(on, region, n_regions))
        on = levels[-1].small
    return levels, on
