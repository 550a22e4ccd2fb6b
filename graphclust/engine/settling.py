"""Partitions brought within bounds at the least loss, and refined there: what a step under bounds ends with.

Free clusters are only refined. k clusters within bounds are merged to k, give away or take the nodes that cost the
objective least, and are refined. Equal parts move in Jet's rounds instead, which may pass the bounds for a while, and
then by Fiduccia-Mattheyses, from the whole border and from few nodes of it; the coarse levels of a new partition may
pass the bounds by the size of one node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphclust.compiled.graphs import balance as balance_loops
from graphclust.compiled.graphs import fiduccia_mattheyses as climbing
from graphclust.compiled.graphs.jet import Rounds, move_in_rounds_into
from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.compiled.graphs.objective import PLAIN, RATIO
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.engine.agglomeration import NO_GAINS, agglomerate
from graphclust.engine.contraction import Contraction, contract, project
from graphclust.engine.join_small_clusters import Sizes, join_small
from graphclust.engine.levels import Run, Shares, n_entries, partition_in, read_only_level, room_for, value, with_sums
from graphclust.engine.local_moving import refine

FINEST_TOLERANCE, COARSE_TOLERANCE = 0.25, 0.75  # of Jet
# A search from the whole border can cross high barriers; searches from a few nodes cross low ones, and end soon.
WHOLE = climbing.FMLimits(1 << 40, 300, np.inf, 3, 0.0)
LOCAL = climbing.FMLimits(16, 15, 1000.0, 3, 0.0)
LATE = LOCAL._replace(rounds=1)  # when time is up
# Share of the level's entries that a search for a ratio may read after the value was highest; without this limit cuts
# take 2 to 3 times as long.
IN_VAIN = 0.2
FM_MIN_ENTRIES = 1 << 11  # that a search may read on any level: those of some dozen regions, as a branch of a tree is
ROUNDS = 3  # of searches, each from all border nodes; a round that gains nothing is the last
ROUND_OFF = 1e-9  # of how far parts of unequal shares may be from their targets
MOST_IN_ROUNDS = 1 << 22  # entries of a level whose nodes move in rounds, each of which reads all of them


def is_bounded(goal: Goal) -> bool:
    """Whether k clusters have bounds."""
    return goal.k > 0 and (goal.least > 0.0 or goal.most < np.inf)


def is_cut(goal: Goal) -> bool:
    """Whether the goal is the smallest edge cut, of equal parts."""
    return goal.k > 0 and goal.objective.kind == PLAIN and goal.objective.pull == 0.0 and goal.most < np.inf


def is_within(level: Level, found: Partition, goal: Goal, run: Run) -> bool:
    """Whether there are k clusters, each of which has a node and holds what the bounds say."""
    least, most = (goal.least, goal.most) if run.shares is None else run.shares[1:]
    load = np.bincount(found.labels, level.terms.size, minlength=goal.k)
    holds = len(load) == goal.k and ((load >= least) & (load <= most)).all()
    return bool(holds) and bool(np.bincount(found.labels, minlength=goal.k).all())


def shares_of(goal: Goal, run: Run) -> Shares:
    """The shares of k parts, equal ones by default; without a lower bound parts are to be full."""
    if run.shares is not None:
        return run.shares
    target = goal.most if goal.least == 0.0 else 0.5 * (goal.least + goal.most)
    return Shares(*(np.full(goal.k, each) for each in (target, goal.least, goal.most)))


def bound_all(shares: Shares, goal: Goal, spare: float = 0.0) -> tuple[Goal, np.ndarray]:
    """Bounds that serve parts of unequal shares, and the ballast that each part has to hold for that.

    spare : by how much parts may pass their bounds. All may be as far from their targets as the part that may least.
    """
    target, largest = shares.target, float(shares.target.max())
    if (target == largest).all():
        least, most = float(shares.least.max()), float(shares.most.min())
    else:
        least = largest - (1.0 - ROUND_OFF) * float((target - shares.least).min())
        most = largest + (1.0 - ROUND_OFF) * float((shares.most - target).min())
    return goal._replace(k=len(target), least=least - spare, most=most + spare), largest - target


def worth(level: Level, found: Partition, goal: Goal, run: Run) -> tuple[bool, float]:
    """By what partitions are compared: those within the bounds first, by their values."""
    return not is_bounded(goal) or is_within(level, found, goal, run), value(found, goal)


def best_of(level: Level, pool: Sequence[Partition], goal: Goal, run: Run) -> Partition:
    """The partition of most value, among those within the bounds if there are any."""
    return max(pool, key=lambda one: worth(level, one, goal, run))


def balance(level: Level, found: Partition, goal: Goal, run: Run) -> tuple[Partition, bool]:
    """The partition rebalanced, as far as the nodes of the level allow, and whether it is within the bounds.

    A partition that is within the bounds stays as it is.
    """
    if is_within(level, found, goal, run):
        return found, True
    room, bound, ballast = room_for(level, goal.k), goal, np.zeros(goal.k)
    if run.shares is not None:
        bound, ballast = bound_all(run.shares, goal)
    _, within = balance_loops.balance_into(level, found, bound, ballast, room)
    return partition_in(room, goal.k), bool(within)


def settle(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition refined; under bounds with k clusters within them, as far as the nodes of the level allow."""
    if not is_bounded(goal):
        return refine(level, found, goal, run)
    if is_cut(goal):
        return settle_parts(level, found, shares_of(goal, run), goal, run, level is not run.finest)
    if len(found.sums.size) > goal.k:
        step = contract(level, found, run)
        found = step.project(agglomerate(step.coarse, goal._replace(least=0.0, most=np.inf), run))
    return refine(level, balance(level, found, goal, run)[0], goal, run)


def uncoarsen(step: Contraction, found: Partition, goal: Goal, run: Run) -> Partition:
    """A partition of the regions of a contraction as one of the nodes, settled."""
    return settle(step.fine, project(step, found, goal, run), goal, run)


def settle_parts(
    level: Level, found: Partition, shares: Shares, goal: Goal, run: Run, relaxed: bool, in_rounds: bool = True
) -> Partition:
    """Equal parts within their bounds, as far as the nodes of the level allow, and refined.

    relaxed : whether a part may pass its bounds by the size of an average node.
    in_rounds : whether nodes move in rounds before searches begin.
    """
    size, k = level.terms.size, len(shares.target)
    mean = float(size.mean())
    bound, ballast = bound_all(shares, goal, mean if relaxed else 0.0)
    load = np.bincount(found.labels, size, minlength=k)
    if load.min() == 0.0 or (load + ballast).max() > bound.most or (load + ballast).min() < bound.least:
        room = room_for(level, k)
        balance_loops.balance_into(level, found, bound, ballast, room)
        found = partition_in(room, k)
    is_late = run.progress.out_of_time()
    if k > 1 and in_rounds and n_entries(level) <= MOST_IN_ROUNDS:
        room = room_for(level, k)
        rounds = Rounds(COARSE_TOLERANCE if relaxed else FINEST_TOLERANCE, 1 if is_late else run.rounds_in_vain)
        move_in_rounds_into(level, found, bound, ballast, rounds, room)
        found = partition_in(room, k)
    room_left = min(shares.most.sum() - size.sum(), size.sum() - shares.least.sum())
    slack = float(size.max()) if room_left < k * mean else 0.0
    for search_limits in (LATE,) if is_late else (WHOLE, LOCAL):
        room = room_for(level, k)
        climbing.climb_into(level, found, bound, ballast, search_limits._replace(slack=slack), draws_of(run.rng), room)
        found = partition_in(room, k)
    run.reads(level, n_entries(level))
    return found


def merge(level: Level, goal: Goal, run: Run) -> Partition:
    """The nodes merged into k clusters that meet the lower bound, or into more clusters if no two fit into one.

    Merging goes as far as to the last partition with k clusters that heavy; the lighter clusters join these.
    """
    size = level.terms.size
    if not is_bounded(goal) or size.min() >= goal.least:
        return agglomerate(level, goal, run)
    n = len(size)
    pairs = np.full((n, 2), -1, np.int32)
    agglomerate(level, goal._replace(k=1, least=0.0), run, NO_GAINS, pairs)
    unions, load = pairs[pairs[:, 0] >= 0][::-1].tolist(), size.tolist()
    n_heavy, n_unions = sum(held >= goal.least for held in load), -1
    for i, (ended, enlarged) in enumerate(unions, 1):
        before = (load[ended] >= goal.least) + (load[enlarged] >= goal.least)
        load[enlarged] += load[ended]
        n_heavy += (load[enlarged] >= goal.least) - before
        if n_heavy == goal.k:
            n_unions = i
    if n_unions < 0:
        return agglomerate(level, goal, run)
    into = np.arange(n)
    for ended, enlarged in reversed(unions[:n_unions]):
        into[ended] = into[enlarged]
    merged = np.unique(into, return_inverse=True)[1].astype(np.int32)
    joined = join_small(level.rows, merged, Sizes(size, goal.least, goal.most))
    return with_sums(level, joined, int(joined.max()) + 1, run)


def climb(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition after Fiduccia-Mattheyses, where that helps; the same when time is up.

    For a ratio searches begin at all border nodes. Within bounds nodes change places, if some cluster has no room.
    Equal parts are settled by such searches anyhow, and under another plain objective they gain next to nothing.
    """
    if goal.k < 2 or is_cut(goal) or run.progress.out_of_time():
        return found
    if is_bounded(goal):
        heaviest = float(level.terms.size.max())
        has_room = is_within(level, found, goal._replace(most=goal.most - heaviest), run)
        if has_room or not is_within(level, found, goal, run):
            return found
        return climb_within(level, level.terms.size, found, goal, LOCAL._replace(slack=heaviest), run)
    if goal.objective.kind != RATIO:
        return found
    n = len(level.terms.mass)
    in_vain = max(IN_VAIN * n_entries(level), FM_MIN_ENTRIES)
    return climb_within(level, np.ones(n), found, goal, climbing.FMLimits(n, n, in_vain, ROUNDS, 0.0), run)


def climb_within(
    level: Level, size: np.ndarray, found: Partition, goal: Goal, search_limits: climbing.FMLimits, run: Run
) -> Partition:
    """The partition after searches that keep the bounds of the goal; the one found if that is no better.

    size : of each node, for the bounds. A heavy node that passes through a light cluster leaves round-off in its sums.
    So the sums of the new partition are added up again before the two values are compared.
    """
    k = len(found.sums.size)
    room, sized = room_for(level, k), read_only_level(level.rows, level.terms._replace(size=size))
    climbing.climb_into(sized, found, goal, np.zeros(k), search_limits, draws_of(run.rng), room)
    run.reads(level, n_entries(level))
    made = with_sums(level, room.labels, k, run)
    return made if value(made, goal) > value(found, goal) else found
