"""The multilevel engine: a partition of a graph under any objective, into k clusters or as many as the objective makes.

`partition_into` makes k clusters, by `search_for_k`, and `partition_into_any_number` as many as there are. Both make
regions first and then call `search`, for steps 3 to 5; `connect` comes last.

1. Coarsening. Local moving joins nodes to small regions, and the graph is contracted to these, again and again: to a
   dozen regions per cluster where k is given, else while V-cycles over the graph would exceed the budget.
2. The task. Where k is given, the dendrogram of these regions tells at which resolution k clusters are natural, and
   they are merged into the first partition. Nodes move on every level on the way back.
3. V-cycles. Each begins with regions of another size: local moving at a resolution, then contraction, repeated while
   levels shrink. At the top clusters are merged pair by pair; on the way back nodes move on every level. If k is free,
   or a cut has few clusters, every other V-cycle first makes more clusters and merges these. Where the first two
   partitions are equally good, only 5's tree and step 6 follow. If k is matched and regions are pure, none is made.
4. Recombination. Nodes that share a cluster in all of several partitions become one node; this small graph has a
   V-cycle of its own, and the result is refined. Fiduccia & Mattheyses 1982 then shortens the borders of cuts.
5. Iteration. V-cycles inside the clusters found merge their regions again; the better partition is kept. More effort
   buys a family tree of new partitions: four have a child, which V-cycles improve, four children have one, and so on.
6. Connection. Parts of a cluster that no edge links become clusters, or join the neighbor that loses least.

Where k is matched by a resolution and regions mix clusters, a likelier partition may replace the best one before step
6. That and connection can lower the value; every other step keeps or raises it.

Local moving and contraction are those of Blondel et al. 2008 (Louvain) and Traag et al. 2019 (Leiden), merging that of
Clauset, Newman & Moore 2004, the dendrogram that of Bonald et al. 2018, refinement on every level that of Rotta & Noack
2011, recombination that of Ovelgönne & Geyer-Schulz 2012 and Biedermann et al. 2018 (VieClus).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.agglomeration import labels_of_unions
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import Rows
from graphclust.engine.connectivity import connect
from graphclust.engine.contraction import Contraction, agglomerate, coarsest, contract, contractions
from graphclust.engine.family_tree import FAMILY, VALUE_RTOL, evolve, offer, recombine, side_by_side
from graphclust.engine.levels import Run, heaviness, n_entries, penalty_of_level, read_only_level, value, with_sums
from graphclust.engine.likelihood import is_likelier, resolution_of_clusters
from graphclust.engine.local_moving import find_regions, refine
from graphclust.engine.resolution import (
    FINEST,
    REGIONS_PER_CLUSTER,
    Dendrogram,
    Schedule,
    dendrogram_of,
    n_made,
    schedule_for_any_number,
    schedule_for_k,
)
from graphclust.engine.settling import climb, is_bounded, uncoarsen, worth
from graphclust.engine.v_cycle import BUDGET, FIRST, LARGEST_SHARE, coarsen, first_v_cycle, v_cycle, v_cycle_of_ties
from graphclust.objective.objective import ObjectiveChoice, ratio_objective

MIN_REGIONS = 12  # per cluster, in the graph whose dendrogram tells at which resolution k is natural
COARSER = 4.0  # factor by which the resolution of regions rises at least if it makes too few
UNCLEAR = 0.1  # of the mass: if more leaves the regions' clusters on some level, regions mix clusters
SPARE_ENTRIES = 1 << 15  # that new partitions of a small graph read at normal effort: three milliseconds; half for k
ENTRIES_PER_CALL = 1024  # that a loop reads in the time that its call from Python takes
WORTH_A_CYCLE = 2e-5  # relative gain of a V-cycle inside the clusters that is worth another
MANY = 32 * SPARE_ENTRIES  # that new partitions of a small graph read at high effort
FEW = 256  # nodes: V-cycles over all their pairs read as many entries as those over ten times as many in a sparse graph
MOST = 1_000  # nodes, between all pairs of which there may be edges
TURNS = 8  # of unions of clusters and moves of nodes, at most, while they gain


class Cycles(NamedTuple):
    """How many V-cycles a search makes.

    first : from nothing. inside : within the clusters found; if k is free, so many in a row that gain next to nothing.
    spare : entries that new partitions of a small graph may read beyond that. most : entries of a graph whose nodes are
    merged again by the V-cycles inside clusters; of a larger one regions are.
    """

    first: int
    inside: int
    spare: int = 0
    most: int = BUDGET


class EffortCycles(NamedTuple):
    """V-cycles for any number of clusters, for k at the resolution matched to it, and for k by a cut or at a given one.

    descent : new partitions whose descendants are tried after that.
    """

    free: Cycles
    matched: Cycles
    asked: Cycles
    descent: float


# Where the resolution is matched to k, clusters are wanted that people recognize: one V-cycle inside them, and one from
# nothing if regions mix clusters. Three of these take 1.7 times as long, and recognize no more. Cuts, and values at a
# resolution, have many more local optima. high : as many new partitions as a tree of three generations
# has, FAMILY ** 3.
EFFORTS = {
    "low": EffortCycles(Cycles(2, 0), Cycles(0, 0), Cycles(1, 0), 0),
    "normal": EffortCycles(Cycles(4, 1, SPARE_ENTRIES), Cycles(1, 1, 0, 1 << 15), Cycles(4, 1, SPARE_ENTRIES // 2), 0),
    "high": EffortCycles(Cycles(8, 3, MANY), Cycles(3, 1, MANY), Cycles(5, 3, MANY), 64),
}
ONE_V_CYCLE = EffortCycles(Cycles(1, 0), Cycles(1, 0), Cycles(1, 0), 0)
TO_THE_END = EFFORTS["high"]._replace(descent=np.inf)  # of a time budget, while anything is gained


def partition_into_any_number(level: Level, task: Task, effort: EffortCycles, run: Run) -> Partition:
    """As many clusters as an additive objective makes: the best that the effort finds, all of them connected."""
    steps, schedule = coarsen(level, FINEST * task.objective.penalty, task, run), schedule_for_any_number(task)
    tries = [partial(first_v_cycle, coarsest(level, steps), schedule, turn) for turn in range(effort.free.first)]
    partition, _ = search(level, steps, [], tries, schedule, effort.free, effort.descent, run)
    return connect(level, partition, task, run)


def partition_into(
    level: Level, k: int, choice: ObjectiveChoice, effort: EffortCycles, run: Run
) -> tuple[Partition, Schedule]:
    """Exactly k clusters: the best partition that the effort finds, and what it was made for."""
    partition, schedule, is_clear = search_for_k(level, k, choice, effort, run)
    if choice.resolution == "auto" and not is_clear and effort.matched.first and not level.terms.layers:
        partition = accept_likelier(level, partition, schedule.task, run)
    return connect(level, partition, schedule.task, run), schedule


def partition_from(
    level: Level, at_hand: Partition, schedule: Schedule, choice: ObjectiveChoice, effort: EffortCycles, run: Run
) -> Partition:
    """Exactly k clusters: a child of a given partition and of the best that the effort finds."""
    if not run.progress.out_of_time():
        other, *_ = search_for_k(level, schedule.task.k, choice, effort, run, schedule)
        at_hand = recombine(level, [at_hand, other], schedule, run)
    return connect(level, at_hand, schedule.task, run)


def search_for_k(
    level: Level, k: int, choice: ObjectiveChoice, effort: EffortCycles, run: Run, schedule: Schedule | None = None
) -> tuple[Partition, Schedule, bool]:
    """The best partition into k clusters that the effort finds, its schedule, and whether the clusters are clear.

    If they are, regions merged into k clusters are all that is needed. schedule : one at hand; else the dendrogram of
    some dozen regions per cluster tells it.
    """
    steps = contract_to_regions(level, n_made(choice, k), run)
    dendrogram = dendrogram_of(coarsest(level, steps), run, k)
    schedule = schedule or schedule_for_k(choice, k, dendrogram, run.totals)
    is_matched = choice.resolution == "auto" and not choice.is_ratio
    cycles = effort.matched if is_matched else effort.asked
    budget = BUDGET if is_matched else BUDGET // 4  # with all of it cuts are .2 % smaller in 1.2 times the time
    n_shared = sum(n_entries(step.fine) * FIRST > budget for step in steps)
    n_shared = max(n_shared, min(int(n_entries(level) > cycles.most), len(steps)))
    shared, below = steps[:n_shared], steps[n_shared:]
    del steps  # which `take_back` uses up
    top = coarsest(level, shared)
    most = UNCLEAR if cycles.first and is_matched else 1.0
    merged = merge_regions(top, below, dendrogram, schedule, most, run)
    is_clear = merged is not None and is_matched
    n_first = 0 if is_clear else min(cycles.first, len(schedule.penalties))
    tries = [partial(first_v_cycle, top, schedule, turn) for turn in range(n_first)]
    pool = [] if merged is None else [merged]
    best, share = search(level, shared, pool, tries, schedule, cycles, effort.descent, run)
    return best, schedule, is_clear and share <= UNCLEAR


def search(
    level: Level, steps: list[Contraction], pool: list[Partition], tries: Sequence[Callable[[Run], Partition]],
    schedule: Schedule, cycles: Cycles, descent: float, run: Run,
) -> tuple[Partition, float]:  # fmt: skip
    """The best partition of a level that is found from some of its coarsest level, and from tries to make others.

    steps : used up, as `take_back` says. Also returned: the share of mass that `take_back` tells.
    """
    task, top, ahead = schedule.task, coarsest(level, steps), 2 - len(pool)
    if not (pool and run.progress.out_of_time()):
        pool = pool + side_by_side(tries[: 1 if run.progress.out_of_time() else ahead], top, run)
    values = [value(one, task) for one in pool[:2]]
    is_as_good = len(pool) > 1 and abs(values[0] - values[1]) <= VALUE_RTOL * abs(values[0])
    is_agreed = is_as_good and worth(top, pool[0], task, run)[0]
    if not is_agreed and not run.progress.out_of_time():
        pool += side_by_side(tries[ahead:], top, run)
    best = recombine(top, pool, schedule, run) if len(pool) > 1 and not is_agreed else pool[0]
    is_large = n_entries(level) > cycles.most
    if is_large and not is_agreed:
        with run.progress.within(partial(labels_of_nodes, [step.regions.labels for step in steps])):
            best = improve_while_worth(top, best, schedule, run, cycles.inside)
    best, share = take_back(steps, best, task, 1.0, run)
    offer(level, best, task, run)
    if not is_large and not is_agreed:
        best = improve_while_worth(level, best, schedule, run, cycles.inside)
    n_new = max(descent, number_to_spare(level, cycles.spare))
    if n_new and len(level.terms.mass) > task.k != 1:
        best = evolve(level, best, schedule, n_new, run)
    return best, share


def merge_regions(
    level: Level, steps: list[Contraction], dendrogram: Dendrogram, schedule: Schedule, most: float, run: Run
) -> Partition | None:
    """A partition of a level, merged into k clusters of the regions that contractions of it end with.

    They are merged by their excess, whatever the objective: by a cut itself one cluster would swallow all light ones.
    None if more than the share `most` of the mass moves on some level on the way back: regions then mix clusters.
    """
    task, regions = schedule.task, coarsest(level, steps)
    named, labels = np.unique(labels_of_unions(dendrogram.pairs, task.k), return_inverse=True)
    partition = refine(regions, with_sums(regions, labels.astype(np.int32), len(named), run), task, run)
    partition, share = take_back(steps, partition, task, most, run)
    return partition if share <= most else None


def take_back(
    steps: list[Contraction], partition: Partition, task: Task, most: float, run: Run
) -> tuple[Partition, float]:
    """The partition of the last contraction, refined on every level on the way back.

    steps : emptied on the way; so what later V-cycles take is not taken beside the levels that are done with.

    Also returned: the largest share of the mass that moves on one of these levels. If it exceeds `most` the way ends.
    """
    share = 0.0
    while steps and share <= most:
        step = steps.pop()
        before, partition = partition, uncoarsen(step, partition, task, run)
        mass, has_moved = heaviness(step.fine), partition.labels != before.labels[step.regions.labels]
        share = max(share, float(mass[has_moved].sum()) / float(mass.sum()))
    steps.clear()
    return partition, share


def labels_of_nodes(regions: Sequence[np.ndarray], labels: np.ndarray) -> np.ndarray:
    """Labels of the last of some regions as those of the nodes; regions : of each contraction, those of its nodes."""
    for of_nodes in reversed(regions):
        labels = labels[of_nodes]
    return labels


def accept_likelier(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition found, or a likelier one after a V-cycle by a ratio of the same sums.

    At any one resolution, either small clusters are united or large ones are split (Fortunato & Barthélemy 2007,
    "Resolution limit in community detection"). A ratio weighs each cluster by its own mass. At the resolution that the
    clusters imply one region may hold several small clusters, so its regions are made at a higher one.
    """
    if run.progress.out_of_time():
        return partition
    penalty = COARSER * resolution_of_clusters(run.totals, partition.sums) * run.totals.chance
    tried = v_cycle(level, partition, Task(ratio_objective(run.totals), task.k), penalty, run)
    return tried if is_likelier(run, tried, partition) else partition


def schedule_on(level: Level, k: int, choice: ObjectiveChoice, run: Run) -> Schedule:
    """The schedule for k clusters of a level, from the dendrogram of its regions."""
    steps = contract_to_regions(level, n_made(choice, k), run)
    return schedule_for_k(choice, k, dendrogram_of(coarsest(level, steps), run, k), run.totals)


def contract_to_regions(level: Level, k: int, run: Run) -> list[Contraction]:
    """Contractions to one or two dozen regions per cluster: more would show less well which k is natural."""
    fewest, least, by_level = MIN_REGIONS * k, run.totals.chance * max(1.0, k / REGIONS_PER_CLUSTER[-1]), False
    finest = level

    def regions_of(level: Level, within: np.ndarray | None) -> Partition | None:
        """Regions of one level; None if levels end."""
        nonlocal by_level
        n = len(level.terms.mass)
        if n < (fewest + 1 if level is finest else 2 * fewest):
            return None
        if not by_level:
            regions = find_regions(level, least, run, fewest=fewest)
            by_level = len(regions.sums.size) <= fewest
        if by_level:
            regions = find_regions(level, max(COARSER * least, penalty_of_level(level)), run, fewest=fewest)
        return regions if len(regions.sums.size) <= LARGEST_SHARE * n else None

    return contractions(level, regions_of, run)


def improve(level: Level, partition: Partition, schedule: Schedule, run: Run, n_cycles: int = 3) -> Partition:
    """The partition after V-cycles inside its clusters, by the third, second and first penalty of the schedule."""
    task, has_ties = schedule.task, schedule.task.k > 0 and run.graph is not None and run.graph.weights is not None
    has_ties = has_ties and not is_bounded(task)
    for done, penalty in enumerate(schedule.penalties[2::-1][:n_cycles]):
        if not run.progress.out_of_time():
            offer(level, partition, task, run)
            run.progress.step(done, n_cycles)
            better = (v_cycle_of_ties if has_ties else v_cycle)(level, partition, task, penalty, run)
            partition = climb(level, better, task, run)
    return partition


def number_to_spare(level: Level, entries: int) -> int:
    """How many new partitions may be made of so many entries, in whole families: a V-cycle reads a level twice."""
    spare = entries // max(2 * n_entries(level), ENTRIES_PER_CALL)
    return spare - spare % FAMILY


def improve_while_worth(level: Level, partition: Partition, schedule: Schedule, run: Run, n_cycles: int) -> Partition:
    """The partition after V-cycles inside its clusters; if k is free, until n_cycles in a row gain next to nothing.

    At a resolution at which a graph has no clusters, many V-cycles gain.
    """
    if schedule.task.k > 0:
        return improve(level, partition, schedule, run, n_cycles)
    n_done = in_vain = 0
    while in_vain < n_cycles and not run.progress.out_of_time():
        run.progress.offer(partition.labels.copy)
        run.progress.step(in_vain, n_cycles)
        before, penalty = value(partition, schedule.task), schedule.penalties[-1 - n_done % len(schedule.penalties)]
        partition = v_cycle(level, partition, schedule.task, penalty, run)
        gained = value(partition, schedule.task) - before
        n_done, in_vain = n_done + 1, 0 if gained > WORTH_A_CYCLE * abs(before) else in_vain + 1
    return partition


def partition_signed(level: Level, task: Task, effort: EffortCycles, run: Run) -> Partition:
    """As many clusters as the objective makes, or exactly k; they need not be connected.

    Where a layer has a negative penalty, as of signed graphs, a union of two clusters that no edge links may gain:
    positive degrees push them apart, and negative degrees, which chance would have set against each other, pull them
    together. So moves and unions take nodes without an edge for neighbors by edges of weight zero: on all of a small
    graph, and on the regions or clusters of a larger one.
    """
    if task.k > 0:
        return _partition_signed_into(level, task, effort, run)
    if len(level.terms.mass) <= FEW:
        return partition_into_any_number(with_all_pairs(level), task, effort, run)
    return unite_any(level, partition_into_any_number(level, task, effort, run), task, run)


def unite_any(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition after unions of clusters that need not be linked, and moves of nodes, while they gain."""
    for _ in range(TURNS):
        before, step = partition, contract(level, partition, run)
        clusters = with_all_pairs(step.coarse)
        united = step.project(refine(clusters, agglomerate(clusters, task, run), task, run))
        better = united if value(united, task) > value(before, task) else before
        partition = refine(with_all_pairs(level), better, task, run)
        if value(partition, task) <= value(before, task) or run.progress.out_of_time():
            break
    return partition


def _partition_signed_into(level: Level, task: Task, effort: EffortCycles, run: Run) -> Partition:
    """Exactly k clusters: regions are merged by what their unions gain until k are left, and V-cycles follow."""
    steps: list[Contraction] = []
    level = top = with_all_pairs(level)
    while (n := len(top.terms.mass)) > max(MOST, MIN_REGIONS * task.k):
        regions = find_regions(top, FINEST * task.objective.penalty, run, fewest=MIN_REGIONS * task.k)
        if len(regions.sums.size) > LARGEST_SHARE * n:
            break
        step = contract(top, regions, run)
        steps.append(step._replace(coarse=with_all_pairs(step.coarse)))
        top = steps[-1].coarse
    schedule = schedule_for_any_number(task)
    tries = [partial(first_v_cycle, top, schedule, turn) for turn in range(effort.asked.first)]
    return search(level, steps, [], tries, schedule, effort.asked, effort.descent, run)[0]


def with_all_pairs(level: Level) -> Level:
    """The level with an edge of weight zero between any two nodes of mass that have none; the same if it is large."""
    n, rows = len(level.terms.mass), level.rows
    if n > MOST:
        return level
    weights, has_mass = np.zeros((n, n)), heaviness(level) > 0.0
    weights[np.repeat(np.arange(n), np.diff(rows.indptr)), rows.indices] = rows.weights
    is_pair = (has_mass & has_mass[:, None]) ^ np.diag(has_mass)
    row, column = np.nonzero(is_pair)
    starts = np.append(0, np.cumsum(np.bincount(row, minlength=n)))
    return read_only_level(Rows(starts, column.astype(np.int32), weights[is_pair]), level.terms)
