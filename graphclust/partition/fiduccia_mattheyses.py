"""Fiduccia-Mattheyses for the cuts: nodes move on where the value falls, and back to where it was highest."""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs import fiduccia_mattheyses as loops
from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.compiled.graphs.objective import RATIO
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.partition.levels import Run, filled, n_entries, read_only_level, room_for

ROUNDS = 3  # of searches, each from all nodes of borders; a round that gains nothing is the last


def climb(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition after searches from all nodes of its borders; the same under a plain objective, or without time."""
    if goal.objective.kind != RATIO or len(found.sums.size) < 2 or run.progress.out_of_time():
        return found
    n, k = len(level.terms.mass), len(found.sums.size)
    sized = read_only_level(level.rows, level.terms._replace(size=np.ones(n)))
    patience = loops.Patience(n, n, np.inf, ROUNDS, 0.0)
    room = room_for(level, k)
    loops.climb_into(sized, found, goal, np.zeros(k), patience, draws_of(run.rng), room)
    run.reads(level, n_entries(level))
    return filled(room, k)
