"""Agglomeration of a level: nodes merged pair by pair into k clusters, or until no union gains."""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs import agglomeration as loops
from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.partition.levels import Run, filled, room_for

NO_TRACE, NO_PAIRS = np.empty(0), np.empty((0, 2), np.int32)


def agglomerate(level: Level, goal: Goal, run: Run) -> Partition:
    """The nodes merged into `goal.k` clusters, or where that is 0 while a union gains."""
    room = room_for(level, len(level.terms.mass))
    return filled(room, loops.agglomerate_into(level, goal, NO_TRACE, NO_PAIRS, room))
