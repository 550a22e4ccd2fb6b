"""The multilevel engine: a partition of a graph under any objective, into k clusters or as many as the objective makes.

1. Coarsening. While V-cycles over the graph would exceed the budget, local moving joins nodes to small regions, and the
   graph is contracted to these.
2. The goal. Where k is given, a dendrogram of regions tells at which resolution k clusters are natural.
3. V-cycles. Each begins with regions of another size: local moving at a resolution, then contraction, repeated while
   levels shrink. At the top clusters are merged pair by pair; on the way back nodes move on every level. If k is free,
   or a cut has few clusters, every other V-cycle first makes more clusters and merges these. One partition of a cut
   starts from the clusters of the dendrogram.
4. Recombination. Nodes that share a cluster in all of several partitions become one node; this small graph has a
   V-cycle of its own, and the result is refined. Fiduccia & Mattheyses 1982 then shortens the borders of cuts.
5. Iteration. V-cycles inside the clusters found merge their regions again; the better partition is kept. More effort
   buys a family tree of new partitions: four have a child, which V-cycles improve, four children have one, and so on.
   Where the resolution was matched to k, other resolutions and a ratio of the same sums are tried; the partition under
   which the edges are likelier is kept.
6. Connection. Parts of a cluster that no edge links become clusters, or join the neighbor that loses least. Only this
   step and the other objectives of step 5 can lower the value; every other step keeps or raises it.

Local moving and contraction are those of Blondel et al. 2008 (Louvain) and Traag et al. 2019 (Leiden), merging that of
Clauset, Newman & Moore 2004, the dendrogram that of Bonald et al. 2018, refinement on every level that of Rotta & Noack
2011, recombination that of Ovelgönne & Geyer-Schulz 2012 and Biedermann et al. 2018 (VieClus).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs import v_cycle as loops
from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.compiled.graphs.objective import RATIO
from graphclust.compiled.runtime.blocks import map_blocks, row_blocks
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.engine.agglomeration import agglomerate
from graphclust.engine.connectivity import connect
from graphclust.engine.contraction import Contraction, contract, uncoarsen
from graphclust.engine.fiduccia_mattheyses import climb
from graphclust.engine.levels import Run, is_small, n_entries, partition_in, room_for, value, with_sums
from graphclust.engine.likelihood import is_likelier, resolution_of_clusters
from graphclust.engine.local_moving import UNSETTLED, find_regions, refine
from graphclust.engine.overlay import overlay
from graphclust.engine.resolution import (
    REGIONS_PER_CLUSTER,
    Plan,
    dendrogram_of,
    n_made,
    plan_for_any_number,
    plan_for_k,
)
from graphclust.objective.objective import Aim, chance_objective, ratio_objective

BUDGET = 4_000_000  # entries that all first V-cycles read together: some tenths of a second
FIRST = 5  # first V-cycles at normal effort, which share the budget
# If k is free, large graphs are contracted to regions made at FINEST times the goal's resolution. Every other V-cycle
# makes clusters at FINER times the goal's resolution first, in turn.
FINEST, FINER = 16.0, (1.25, 2.0)
MIN_REGIONS = 12  # per cluster, in the graph whose dendrogram tells at which resolution k is natural
COARSER = 4.0  # factor by which the resolution rises if it makes too few regions
MIN_RELATIVE_CHANGE = 0.02  # of the nodes: a step that changes fewer is not worth another pass over the graph
LARGEST_SHARE = 1.0 - MIN_RELATIVE_CHANGE
HEAVY = 2.0  # times the mean weight: such an edge ties two average nodes together
WORTH_A_THREAD = 1 << 13  # entries; a V-cycle over fewer ends before another thread has woken
FAMILY = 4  # parents of one child; also the most families made side by side, whatever the number of threads
SPARE_ENTRIES = 1 << 17  # that new partitions of a small graph read at any effort: some milliseconds ...
MOST_SPARE = 32  # ... but no more new partitions than these
WORTH_A_CYCLE = 2e-5  # relative gain of a V-cycle inside the clusters that is worth another
CYCLES_OF_A_CHILD = 3  # V-cycles inside its clusters, at most, while they gain
SAME = 1e-12  # relative difference of two values that may be round-off
PATIENCE = 1024  # new partitions without a gain, after which the search ends


class Effort(NamedTuple):
    """How many first V-cycles there are, V-cycles inside the clusters after them, and new partitions to descend from.

    first : where k is given, no more than the plan has pulls: 3 at most, or 5 for cuts into few clusters.
    times_spare : how many times more of these a small graph has than by default.
    """

    first: int
    iterated: int
    descent: float
    times_spare: int = 1


# low : two parents, the fewest that have a child. normal : a first V-cycle by each pull, three inside the clusters.
# high : as many new partitions as a tree of three generations has, FAMILY ** 3.
EFFORTS = {"low": Effort(2, 0, 0), "normal": Effort(FIRST, 3, 0), "high": Effort(8, 3, 64, 8)}
ONE_V_CYCLE = Effort(1, 0, 0)
TO_THE_END = EFFORTS["high"]._replace(descent=np.inf)  # of a time budget, while anything is gained


def partition(level: Level, goal: Goal, effort: Effort, run: Run) -> Partition:
    """As many clusters as a plain objective makes: the best partition that the effort finds, all clusters connected."""
    steps = coarsen(level, FINEST * goal.objective.pull, 1, run, goal.most)
    top = steps[-1].coarse if steps else level
    found = search(level, steps, top, plan_for_any_number(goal), effort, run)
    return connect(level, found, goal, run)


def partition_into(level: Level, k: int, aim: Aim, effort: Effort, run: Run) -> tuple[Partition, Plan]:
    """Exactly k clusters: the best partition that the effort finds, and what it was made for."""
    n = n_made(aim, k)
    steps = coarsen(level, pull_of_regions(n, run), MIN_REGIONS * n, run)
    plan = plan_on(steps[-1].coarse if steps else level, k, aim, run)
    found = search_at(level, steps, plan, aim, effort, run)
    if aim.resolution == "auto" and effort.iterated:
        found, plan = accept_likelier(level, found, aim, plan, run)
    return connect(level, found, plan.goal, run), plan


def partition_from(level: Level, at_hand: Partition, plan: Plan, aim: Aim, effort: Effort, run: Run) -> Partition:
    """Exactly k clusters: a child of a given partition and of the best that the effort finds."""
    if not run.progress.out_of_time():
        n = n_made(aim, plan.goal.k)
        steps = coarsen(level, pull_of_regions(n, run), MIN_REGIONS * n, run)
        at_hand = recombine(level, [at_hand, search_at(level, steps, plan, aim, effort, run)], plan, run)
    return connect(level, at_hand, plan.goal, run)


def search_at(level: Level, steps: list[Contraction], plan: Plan, aim: Aim, effort: Effort, run: Run) -> Partition:
    """The best partition for a plan that the effort finds."""
    iterated = effort.iterated if aim.is_ratio else min(effort.iterated, 1)  # cuts have many more local optima
    effort = effort._replace(first=min(effort.first, len(plan.pulls)), iterated=iterated)
    return search(level, steps, steps[-1].coarse if steps else level, plan, effort, run)


def accept_likelier(level: Level, found: Partition, aim: Aim, plan: Plan, run: Run) -> tuple[Partition, Plan]:
    """The partition found, or a likelier one after V-cycles by other objectives of the same sums.

    If clusters are hard to tell apart, greedy unions put the range in which k is natural too low. The clusters found
    imply another resolution. Three are tried: halfway to the implied one, the implied one, and halfway again, since
    small clusters are united at one of them and told apart at the other.

    At any one resolution, either small clusters are united or large ones are split (Fortunato & Barthélemy 2007,
    "Resolution limit in community detection"). So a ratio is tried last, which weighs each cluster by its own mass. At
    the implied resolution one region may hold several small clusters, so its regions are made at a higher one.
    """
    implied = resolution_of_clusters(run.units, found.sums)
    for resolution in plan.resolutions_beyond(implied, run.units) if n_entries(level) <= BUDGET else ():
        other = plan.at(aim, resolution, run.units)
        tried = improve(level, found, other, run, 1)
        if run.progress.out_of_time() or not is_likelier(run, tried, found):
            break
        found, plan = tried, other
    if run.progress.out_of_time():
        return found, plan
    pull = COARSER * resolution_of_clusters(run.units, found.sums) * run.units.chance
    tried = v_cycle(level, found, Goal(ratio_objective(run.units), plan.goal.k), pull, run)
    return tried if is_likelier(run, tried, found) else found, plan


def plan_on(level: Level, k: int, aim: Aim, run: Run) -> Plan:
    """The plan for k clusters of a level, from the dendrogram of its regions."""
    steps = contract_to_regions(level, n_made(aim, k), run)
    return plan_for_k(aim, k, dendrogram_of(steps[-1].coarse if steps else level, run, k), run.units)


def pull_of_regions(k: int, run: Run) -> float:
    """The pull for the first regions of k clusters: a guess that mostly leaves more regions than are needed."""
    return run.units.chance * max(1.0, k / REGIONS_PER_CLUSTER[-1])


def contract_to_regions(level: Level, k: int, run: Run) -> list[Contraction]:
    """Contractions to one or two dozen regions per cluster: more would show less well which k is natural."""
    steps: list[Contraction] = []
    fewest = MIN_REGIONS * k
    while len(level.terms.mass) >= (2 * fewest if steps else fewest + 1):
        regions = find_many_regions(level, pull_of_regions(k, run), fewest, run)
        if regions is None:
            break
        steps.append(contract(level, regions, run))
        level = steps[-1].coarse
    return steps


def search(level: Level, steps: list[Contraction], top: Level, plan: Plan, effort: Effort, run: Run) -> Partition:
    """The best partition of a level by V-cycles, first at the top of its contractions and then on the level itself."""
    goal = plan.goal
    n_first = 1 if run.progress.out_of_time() else effort.first
    tries: list[Callable[[Run], Partition]] = [partial(first_v_cycle, top, plan, turn) for turn in range(n_first)]
    if goal.objective.kind == RATIO and n_first > 1:
        tries.append(partial(start_by_excess, top, plan))
    pool = side_by_side(tries, top, run)
    best = recombine(top, pool, plan, run)
    for step in reversed(steps):
        best = uncoarsen(step, best, goal, run)
    run.progress.offer(best.labels.copy)
    if n_entries(level) <= BUDGET:
        best = improve_while_worth(level, best, plan, run, effort.iterated)
    n_new = max(effort.descent, number_to_spare(level, effort.times_spare))
    if n_new and len(level.terms.mass) > goal.k != 1:
        best = evolve(level, best, plan, n_new, run)
    return best


def first_v_cycle(level: Level, plan: Plan, turn: int, run: Run) -> Partition:
    """A V-cycle from nothing, at the pull whose turn it is.

    For few clusters of a cut, or a free number of clusters, every other V-cycle makes more clusters and merges these.

    Among few clusters, the nodes of a small group that few edges leave are spread over regions of other clusters. Among
    more clusters the group is one of them, and exchanges nodes until it is whole. Then whole clusters are merged. If k
    is free, clusters of a higher resolution come first, and a V-cycle merges them where that is better: unions of
    regions alone can gain step by step until one large cluster is left that no part gains by leaving.
    """
    goal, pull = plan.goal, plan.pulls[turn % len(plan.pulls)]
    if goal.k == 0 and turn % 2:
        higher = FINER[turn // 2 % len(FINER)] * goal.objective.pull
        finer = goal._replace(objective=goal.objective._replace(pull=higher))
        found = refine(level, v_cycle(level, None, finer, pull, run), goal, run)
        return v_cycle(level, found, goal, pull, run)
    if turn % 2 == 0 or not goal.k < plan.by_way_of <= len(level.terms.mass):
        return v_cycle(level, None, goal, pull, run)
    more = v_cycle(level, None, goal._replace(k=plan.by_way_of), pull, run)
    step = contract(level, more, run)
    merged = refine(step.coarse, agglomerate(step.coarse, goal, run), goal, run)
    return uncoarsen(step, merged, goal, run)


def start_by_excess(level: Level, plan: Plan, run: Run) -> Partition:
    """A partition refined from the clusters of a dendrogram of regions.

    Agglomeration by the cut itself grows one cluster that swallows all light ones, so that sizes become uneven.
    """
    steps = contract_to_regions(level, max(plan.goal.k, plan.by_way_of), run)
    top = steps[-1].coarse if steps else level
    found = refine(top, agglomerate(top, Goal(chance_objective(run.units), plan.goal.k), run), plan.goal, run)
    for step in reversed(steps):
        found = uncoarsen(step, found, plan.goal, run)
    return found


def improve(level: Level, found: Partition, plan: Plan, run: Run, n_cycles: int = 3) -> Partition:
    """The partition after V-cycles inside its clusters, by the third, second and first pull of the plan."""
    goal, has_ties = plan.goal, plan.goal.k > 0 and run.graph is not None and run.graph.weights is not None
    for done, pull in enumerate(plan.pulls[2::-1][:n_cycles]):
        if not run.progress.out_of_time():
            run.progress.offer(found.labels.copy)
            run.progress.step(done, n_cycles)
            better = (v_cycle_of_ties if has_ties else v_cycle)(level, found, goal, pull, run)
            found = climb(level, better, goal, run)
    return found


def v_cycle_of_ties(level: Level, found: Partition, goal: Goal, pull: float, run: Run) -> Partition:
    """The better of the partition and a new one merged from groups of few nodes that heavy edges tie together.

    Two nodes linked by a heavy edge gain only by moving together.
    """
    pull_of_ties = HEAVY * float(level.rows.weights.mean()) / float(level.terms.mass.mean()) ** 2
    ties = find_regions(loops.rows_within(level, found.labels), pull_of_ties, run)
    step = contract(level, ties, run)
    return uncoarsen(step, v_cycle(step.coarse, step.restrict(found), goal, pull, run), goal, run)


def number_to_spare(level: Level, times: int = 1) -> int:
    """How many new partitions a small graph gets at any effort, in whole families.

    times : a factor for more effort. A V-cycle reads the level at least twice.
    """
    spare = times * min(MOST_SPARE, SPARE_ENTRIES // (2 * max(n_entries(level), 1)))
    return spare - spare % FAMILY


def improve_while_worth(level: Level, found: Partition, plan: Plan, run: Run, n_cycles: int) -> Partition:
    """The partition after V-cycles inside its clusters; if k is free, until n_cycles in a row gain next to nothing.

    At a resolution at which a graph has no clusters, many V-cycles gain.
    """
    if plan.goal.k > 0:
        return improve(level, found, plan, run, n_cycles)
    n_done = in_vain = 0
    while in_vain < n_cycles and not run.progress.out_of_time():
        run.progress.offer(found.labels.copy)
        run.progress.step(in_vain, n_cycles)
        before, pull = value(found, plan.goal), plan.pulls[-1 - n_done % len(plan.pulls)]
        found = v_cycle(level, found, plan.goal, pull, run)
        gained = value(found, plan.goal) - before
        n_done, in_vain = n_done + 1, 0 if gained > WORTH_A_CYCLE * abs(before) else in_vain + 1
    return found


def coarsen(level: Level, pull: float, n_regions: int, run: Run, most: float = np.inf) -> list[Contraction]:
    """Contractions, each to n_regions at least, down to a level on which the budget pays for the first V-cycles.

    most : what a region may hold, where nodes have sizes.
    """
    steps: list[Contraction] = []
    while n_entries(level) * FIRST > BUDGET:
        regions = find_many_regions(level, pull, n_regions, run, most)
        if regions is None:
            break
        steps.append(contract(level, regions, run))
        level = steps[-1].coarse
    return steps


def find_many_regions(level: Level, pull: float, n_regions: int, run: Run, most: float = np.inf) -> Partition | None:
    """At least n_regions regions, made at the pull or a higher one; None if these join hardly any nodes."""
    n = len(level.terms.mass)
    while n > n_regions:
        regions = find_regions(level, pull, run, most)
        if len(regions.sums.size) >= n_regions:
            return regions if len(regions.sums.size) <= LARGEST_SHARE * n else None
        pull *= COARSER
    return None


def v_cycle(level: Level, found: Partition | None, goal: Goal, pull: float, run: Run) -> Partition:
    """The better of the partition found, if any, and a new one merged within its clusters.

    pull : of the plain objective that joins nodes to regions; a larger pull makes smaller regions.
    """
    if is_small(level):
        is_k = goal.k > 0 and goal.most == np.inf  # with a bound, more than k may be left: no two fit into one
        room = room_for(level, goal.k if is_k else len(level.terms.mass))
        plan = loops.Coarsening(pull, UNSETTLED, LARGEST_SHARE)
        given = loops.NO_PARTITION if found is None else found
        k, read = loops.v_cycle_into(level, given, goal, plan, draws_of(run.rng), room)
        run.reads(level, read)
        return partition_in(room, k)
    within = level if found is None else loops.rows_within(level, found.labels)
    regions = find_regions(within, pull, run, goal.most)
    if not goal.k <= len(regions.sums.size) <= LARGEST_SHARE * len(regions.labels):
        made = refine(level, agglomerate(level, goal, run), goal, run)
        kept = None if found is None else refine(level, found, goal, run)
        return made if kept is None or value(made, goal) > value(kept, goal) else kept
    step = contract(level, regions, run)
    best = v_cycle(step.coarse, None if found is None else step.restrict(found), goal, pull, run)
    return uncoarsen(step, best, goal, run)


def recombine(level: Level, parents: Sequence[Partition], plan: Plan, run: Run) -> Partition:
    """A child of several partitions, at least as good as the best of them; that one where time is up."""
    goal = plan.goal
    best = max(parents, key=lambda parent: value(parent, goal))
    if run.progress.out_of_time():
        return best
    shared = overlay(level, parents, run)
    if len(shared.sums.size) <= max(goal.k, 1):
        return best
    step = contract(level, shared, run)
    child = v_cycle(step.coarse, None, goal, plan.pulls[0], run)
    kept = step.restrict(best)
    if value(child, goal) < value(kept, goal):
        child = v_cycle(step.coarse, kept, goal, plan.pulls[0], run)
    child = climb(step.coarse, child, goal, run)
    return climb(level, uncoarsen(step, child, goal, run), goal, run)


def side_by_side(tries: Sequence[Callable[[Run], Partition]], level: Level, run: Run) -> list[Partition]:
    """The partitions that some tries make of a level; on threads if a try runs on one core and is worth a thread."""
    runs = run.spawn(len(tries))
    if is_small(level) and n_entries(level) >= WORTH_A_THREAD:
        return map_blocks(lambda i, *_: tries[i](runs[i]), row_blocks(len(tries), 1))
    return [one(own) for one, own in zip(tries, runs, strict=True)]


def evolve(level: Level, found: Partition, plan: Plan, n_first: float, run: Run) -> Partition:
    """The best partition that descends from n_first new ones, or from as many as there is time for; or the one found.

    Four new partitions have a child; four such children have one; and so on (a family tree). Partitions of one pool
    soon become alike; separate lines stay different. After each round the best so far is also recombined with the
    newest child. New partitions are made from regions. If all families of a round reach the value of the best so far,
    the next are made from random clusters; if those do as well, the search ends. If k is given, one of several families
    is always made from random clusters.
    """
    goal, best, n_new, in_vain, by_regions = plan.goal, found, 0, 0, True
    waiting: list[list[Partition]] = []  # of each generation, those without a child
    most = int(min(n_first, PATIENCE))
    n_families = min(FAMILY, max(most // FAMILY, 1)) if is_small(level) else 1
    while n_new < n_first and in_vain < PATIENCE and not run.progress.out_of_time():
        before = value(best, goal)
        run.progress.step(min(n_new, most), most)
        kinds = [v_cycle_from_regions if by_regions else scatter] * n_families
        if goal.k and n_families > 1:
            kinds[-1] = scatter
        new = [partial(kind, level, len(best.sums.size), plan) for kind in kinds]
        families = side_by_side([partial(descend, level, one, plan) for one in new], level, run)
        for one in families:
            newest = join_line(level, one, waiting, plan, run)
        is_settled = all(abs(value(one, goal) - before) <= SAME * abs(before) for one in families)
        if not is_settled:
            best = child(level, [best, newest], plan, run)
        n_new, in_vain = n_new + FAMILY * n_families, in_vain + FAMILY * n_families
        in_vain = 0 if value(best, goal) > before else in_vain
        run.progress.offer(best.labels.copy)
        run.progress.step(min(n_new, most), most)
        if is_settled and not (by_regions and goal.most == np.inf):
            break
        by_regions = by_regions and not is_settled
    return best


def descend(level: Level, new: Callable[[Run], Partition], plan: Plan, run: Run) -> Partition:
    """The child of some new partitions."""
    parents = [new(run)]
    while len(parents) < FAMILY and not run.progress.out_of_time():
        parents.append(new(run))
    return child(level, parents, plan, run)


def join_line(level: Level, one: Partition, waiting: list[list[Partition]], plan: Plan, run: Run) -> Partition:
    """Add a partition to its line; returns the newest of the line: a child, if the partition completes a family."""
    for generation in range(len(waiting) + 1):
        if generation == len(waiting):
            waiting.append([])
        waiting[generation].append(one)
        if len(waiting[generation]) < FAMILY or run.progress.out_of_time():
            break
        one, waiting[generation] = child(level, waiting[generation], plan, run), []
    return one


def child(level: Level, parents: Sequence[Partition], plan: Plan, run: Run) -> Partition:
    """A child of some partitions, at least as good as the best, after at most three V-cycles inside its clusters.

    They end when one gains nothing; on graphs of clear clusters the first does.
    """
    found = recombine(level, parents, plan, run)
    for _ in range(CYCLES_OF_A_CHILD):
        if run.progress.out_of_time():
            break
        before, found = found, v_cycle(level, found, plan.goal, run.rng.choice(plan.pulls), run)
        if value(found, plan.goal) - value(before, plan.goal) <= SAME * abs(value(found, plan.goal)):
            break
    return found


def v_cycle_from_regions(level: Level, k: int, plan: Plan, run: Run) -> Partition:
    """A new partition, by a V-cycle from regions of a random size."""
    return v_cycle(level, None, plan.goal, run.rng.choice(plan.pulls), run)


def scatter(level: Level, k: int, plan: Plan, run: Run) -> Partition:
    """A new partition, refined from random clusters: as many as the goal has, or k if their number is free."""
    n = len(level.terms.mass)
    k = plan.goal.k or max(k, min(2, n))
    labels = run.rng.permutation(np.arange(n, dtype=np.int32) % np.int32(k))
    return refine(level, with_sums(level, labels, k, run), plan.goal, run)
