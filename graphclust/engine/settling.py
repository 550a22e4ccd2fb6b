"""Partitions brought within bounds at the least loss, and refined there: what a step under bounds ends with.

Free clusters are only refined. k clusters within bounds are merged to k, give away or take the nodes that cost the
objective least, and are refined. Equal parts move in Jet's rounds instead, which may pass the bounds for a while, and
then by Fiduccia-Mattheyses, from the whole border and from few nodes of it; the coarse levels of a new partition may
pass the bounds by the size of one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from graphclust.compiled.graphs import balance as loops
from graphclust.compiled.graphs import fiduccia_mattheyses as climbing
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import ADDITIVE, RATIO
from graphclust.compiled.runtime.random_numbers import draws_of
from graphclust.engine.cluster_sizes import Sizes, join_small
from graphclust.engine.contraction import NO_GAINS, Contraction, agglomerate, contract, is_estimate
from graphclust.engine.levels import Run, Shares, n_entries, read_only_level, value, with_sums
from graphclust.engine.local_moving import refine

FINEST_TOLERANCE, COARSE_TOLERANCE = 0.25, 0.75  # of Jet
# A search from the whole border can cross high barriers; searches from a few nodes cross low ones, and end soon.
WHOLE = climbing.FMLimits(1 << 40, 300, np.inf, 3, 0.0)
LOCAL = climbing.FMLimits(16, 15, 1000.0, 3, 0.0)
# Share of the level's entries that a search for a ratio may read after the value was highest; without this limit cuts
# take 2 to 3 times as long.
IN_VAIN = 0.2
FM_MIN_ENTRIES = 1 << 11  # that a search may read on any level: those of some dozen regions, as a branch of a tree is
ROUNDS = 3  # of searches, each from all border nodes; a round that gains nothing is the last
ROUND_OFF = 1e-9  # of how far parts of unequal shares may be from their targets
MOST_IN_ROUNDS = 1 << 22  # entries of a level whose nodes move in rounds, each of which reads all of them
Settle = Callable[[Level, Partition, Task, Run], Partition]  # what ends a step on a level


def is_bounded(task: Task) -> bool:
    """Whether k clusters have bounds."""
    return task.k > 0 and (task.least > 0.0 or task.most < np.inf)


def is_cut(task: Task) -> bool:
    """Whether the task is the smallest edge cut, of equal parts."""
    return task.k > 0 and task.objective.kind == ADDITIVE and task.objective.penalty == 0.0 and task.most < np.inf


def is_within(level: Level, partition: Partition, task: Task, run: Run) -> bool:
    """Whether there are k clusters, each of which has a node and holds what the bounds say."""
    least, most = (task.least, task.most) if run.shares is None else run.shares[1:]
    load = np.bincount(partition.labels, level.terms.size, minlength=task.k)
    holds = len(load) == task.k and ((load >= least) & (load <= most)).all()
    return bool(holds) and bool(np.bincount(partition.labels, minlength=task.k).all())


def shares_of(task: Task, run: Run) -> Shares:
    """The shares of k parts, equal ones by default; without a lower bound parts are to be full."""
    if run.shares is not None:
        return run.shares
    target = task.most if task.least == 0.0 else 0.5 * (task.least + task.most)
    return Shares(*(np.full(task.k, each) for each in (target, task.least, task.most)))


def room_left(shares: Shares, size: np.ndarray) -> float:
    """What all parts together may still take, or give away if that is less; size : of each node, (n,)."""
    return float(min(shares.most.sum() - size.sum(), size.sum() - shares.least.sum()))


def bound_all(shares: Shares, task: Task, spare: float = 0.0) -> tuple[Task, np.ndarray]:
    """Bounds that serve parts of unequal shares, and the ballast that each part has to hold for that.

    spare : by how much parts may pass their bounds. All may be as far from their targets as the part that may least.
    """
    target, largest = shares.target, float(shares.target.max())
    # Equal shares: the bounds are the same for all, and no ballast is needed.
    if (target == largest).all():
        least, most = float(shares.least.max()), float(shares.most.min())
    else:
        least = largest - (1.0 - ROUND_OFF) * float((target - shares.least).min())
        most = largest + (1.0 - ROUND_OFF) * float((shares.most - target).min())
    return task._replace(k=len(target), least=least - spare, most=most + spare), largest - target


def worth(level: Level, partition: Partition, task: Task, run: Run) -> tuple[bool, float]:
    """By what partitions are compared: those within the bounds first, by their values."""
    return not is_bounded(task) or is_within(level, partition, task, run), value(partition, task)


def best_of(level: Level, pool: Sequence[Partition], task: Task, run: Run) -> Partition:
    """The partition of most value, among those within the bounds if there are any."""
    return max(pool, key=lambda one: worth(level, one, task, run))  # the first of equals, so that order decides


def rebalance(
    level: Level, partition: Partition, task: Task, ballast: np.ndarray | None = None
) -> tuple[Partition, bool]:
    """The partition after nodes left clusters that hold too much for others, and whether all are within the bounds.

    ballast : float64, (k,), what clusters hold beside their nodes; None: nothing.
    """
    return loops.balance(level, partition, task, np.zeros(len(partition.sums.size)) if ballast is None else ballast)


def balance(level: Level, partition: Partition, task: Task, run: Run) -> tuple[Partition, bool]:
    """The partition rebalanced, unless it is within the bounds, and whether it is now."""
    if is_within(level, partition, task, run):
        return partition, True
    return rebalance(level, partition, *((task,) if run.shares is None else bound_all(run.shares, task)))


def settle(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition refined; under bounds with k clusters within them, as far as the nodes of the level allow."""
    if not is_bounded(task):
        return refine(level, partition, task, run)
    if is_cut(task):
        return settle_parts(level, partition, shares_of(task, run), task, run, level is not run.finest)
    if len(partition.sums.size) > task.k:
        step = contract(level, partition, run)
        partition = step.project(agglomerate(step.coarse, task._replace(least=0.0, most=np.inf), run))
    return refine(level, balance(level, partition, task, run)[0], task, run)


def uncoarsen(step: Contraction, partition: Partition, task: Task, run: Run, settled: Settle = settle) -> Partition:
    """A partition of the regions of a contraction as one of the nodes, settled.

    Moves for a ratio need the weight inside clusters: it is summed again where links were estimated.
    """
    projected, n_regions = step.project(partition), len(step.regions.sums.size)
    if task.objective.kind == RATIO and is_estimate(n_entries(step.fine), n_regions):
        projected = with_sums(step.fine, projected.labels, len(projected.sums.size), run)
    return settled(step.fine, projected, task, run)


def settle_parts(
    level: Level, partition: Partition, shares: Shares, task: Task, run: Run, relaxed: bool, in_rounds: bool = True
) -> Partition:
    """Equal parts within their bounds, or relaxed by the size of an average node, as far as that is found, and refined.

    in_rounds : whether nodes move in rounds before searches begin.
    """
    size, k = level.terms.size, len(shares.target)
    mean = float(size.mean())
    bound, ballast = bound_all(shares, task, mean if relaxed else 0.0)
    load = np.bincount(partition.labels, size, minlength=k)
    if load.min() == 0.0 or (load + ballast).max() > bound.most or (load + ballast).min() < bound.least:
        partition, _ = rebalance(level, partition, bound, ballast)
    is_late, (rounds_in_vain, searches, _) = run.progress.out_of_time(), run.thoroughness
    if k > 1 and in_rounds and n_entries(level) <= MOST_IN_ROUNDS:
        tolerance, in_vain = COARSE_TOLERANCE if relaxed else FINEST_TOLERANCE, 1 if is_late else rounds_in_vain
        partition = loops.move_in_rounds(level, partition, bound, ballast, tolerance, in_vain)
    # Full parts: nodes can only change places, so a part may be one node over on the way.
    slack = float(size.max()) if room_left(shares, size) < k * mean else 0.0
    for search_limits in (WHOLE, LOCAL._replace(rounds=searches))[is_late:]:  # once time is up only the cheap search
        limits = search_limits._replace(slack=slack)
        partition = climbing.climb(level, partition, bound, ballast, limits, draws_of(run.rng))
    run.reads(level, n_entries(level))
    return partition


def merge(level: Level, task: Task, run: Run) -> Partition:
    """The nodes merged into k clusters that meet the lower bound, or into more clusters if no two fit into one.

    Merging goes as far as to the last partition with k clusters that heavy; the lighter clusters join these.
    """
    size = level.terms.size
    if not is_bounded(task) or size.min() >= task.least:
        return agglomerate(level, task, run)
    n = len(size)
    pairs = np.full((n, 2), -1, np.int32)
    agglomerate(level, task._replace(k=1, least=0.0), run, NO_GAINS, pairs)
    # Row t is the union that leaves t clusters: in the order in which they were made.
    unions, load = pairs[pairs[:, 0] >= 0][::-1].tolist(), size.tolist()
    n_heavy, n_unions = sum(held >= task.least for held in load), -1
    for i, (ended, enlarged) in enumerate(unions, 1):
        before = (load[ended] >= task.least) + (load[enlarged] >= task.least)
        load[enlarged] += load[ended]
        n_heavy += (load[enlarged] >= task.least) - before
        if n_heavy == task.k:
            n_unions = i
    if n_unions < 0:
        return agglomerate(level, task, run)
    into = np.arange(n)
    for ended, enlarged in reversed(unions[:n_unions]):
        into[ended] = into[enlarged]
    merged = np.unique(into, return_inverse=True)[1].astype(np.int32)
    joined = join_small(level.rows, merged, Sizes(size, task.least, task.most))
    return with_sums(level, joined, int(joined.max()) + 1, run)


def climb(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition after Fiduccia-Mattheyses, where that helps; the same when time is up.

    For a ratio searches begin at all border nodes. Within bounds nodes change places, if some cluster has no room.
    Equal parts are settled by such searches anyhow, and under another additive objective they gain next to nothing.
    """
    if task.k < 2 or is_cut(task) or run.progress.out_of_time():
        return partition
    if is_bounded(task):
        heaviest = float(level.terms.size.max())
        has_room = is_within(level, partition, task._replace(most=task.most - heaviest), run)
        if has_room or not is_within(level, partition, task, run):
            return partition
        return climb_within(level, level.terms.size, partition, task, LOCAL._replace(slack=heaviest), run)
    if task.objective.kind != RATIO:
        return partition
    n = len(level.terms.mass)
    in_vain = max(IN_VAIN * n_entries(level), FM_MIN_ENTRIES)
    return climb_within(level, np.ones(n), partition, task, climbing.FMLimits(n, n, in_vain, ROUNDS, 0.0), run)


def climb_within(
    level: Level, size: np.ndarray, partition: Partition, task: Task, search_limits: climbing.FMLimits, run: Run
) -> Partition:
    """The partition after searches that keep the bounds of the task; the one found if that is no better.

    size : of each node, for the bounds. A heavy node that passes through a light cluster leaves round-off in its sums.
    So the sums of the new partition are added up again before the two values are compared.
    """
    k = len(partition.sums.size)
    sized = read_only_level(level.rows, level.terms._replace(size=size))
    climbed = climbing.climb(sized, partition, task, np.zeros(k), search_limits, draws_of(run.rng))
    run.reads(level, n_entries(level))
    made = with_sums(level, climbed.labels, k, run)
    return made if value(made, task) > value(partition, task) else partition
