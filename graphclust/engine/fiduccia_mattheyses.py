"""Fiduccia-Mattheyses for the cuts: searches accept losing moves, then roll back to the best prefix."""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs import fiduccia_mattheyses as loops
from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.compiled.graphs.objective import RATIO
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.engine.levels import Run, n_entries, read_only_level, room_for, value, with_sums

# Share of the level's entries that a search may read after the value was highest; without this limit cuts take 2 to 3
# times as long.
IN_VAIN = 0.2
FM_MIN_ENTRIES = 1 << 11  # that a search may read on any level: those of some dozen regions, as a branch of a tree is
ROUNDS = 3  # of searches, each from all border nodes; a round that gains nothing is the last


def climb(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition after searches from all border nodes; the same under a plain objective, or when time is up."""
    if goal.objective.kind != RATIO or len(found.sums.size) < 2 or run.progress.out_of_time():
        return found
    n = len(level.terms.mass)
    in_vain = max(IN_VAIN * n_entries(level), FM_MIN_ENTRIES)
    return climb_within(level, np.ones(n), found, goal, loops.FMLimits(n, n, in_vain, ROUNDS, 0.0), run)


def climb_within(
    level: Level, size: np.ndarray, found: Partition, goal: Goal, search_limits: loops.FMLimits, run: Run
) -> Partition:
    """The partition after searches that keep the bounds of the goal; the one found if that is no better.

    size : of each node, for the bounds. A heavy node that passes through a light cluster leaves round-off in its sums.
    So the sums of the new partition are added up again before the two values are compared.
    """
    k = len(found.sums.size)
    room, sized = room_for(level, k), read_only_level(level.rows, level.terms._replace(size=size))
    loops.climb_into(sized, found, goal, np.zeros(k), search_limits, draws_of(run.rng), room)
    run.reads(level, n_entries(level))
    made = with_sums(level, room.labels, k, run)
    return made if value(made, goal) > value(found, goal) else found
