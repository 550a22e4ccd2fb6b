"""A level of the multilevel engine and a partition of it, as the loops take them.

Inside the engine a self-loop is a number of its node, in `Terms.loops`. Rows of the user's graph may still hold their
diagonal, which every loop passes over; rows of a contracted graph hold none.
"""

from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.graphs.masses import copy_mass
from graphclust.compiled.graphs.objective import ClusterSums, Objective, Rows
from graphclust.compiled.runtime.loops import loop


class Terms(NamedTuple):
    """What each node adds to the sums of its cluster: to `inside` by itself, and to `mass`; float64, (n,) each.

    size : what it adds to what a cluster holds, by which bounds go; None where there are no bounds. layers :
    where a graph has layers, and each node several masses, (n, n_masses), what `Objective` says of them.
    """

    loops: np.ndarray
    mass: np.ndarray
    size: Any = None
    layers: Any = ()


class Level(NamedTuple):
    """A graph, finest or contracted, and the terms of its nodes."""

    rows: Rows
    terms: Terms


class Partition(NamedTuple):
    """The cluster of each node, int32 (n,), and the sums of the clusters; labels run from 0 to k - 1, all used."""

    labels: Any
    sums: ClusterSums


class Task(NamedTuple):
    """What a partition is judged by, and its number of clusters; k = 0: as many as the objective makes.

    least, most : bounds on the sum of the sizes of a cluster's nodes; of levels whose nodes have sizes only.
    """

    objective: Objective
    k: int
    least: float = 0.0
    most: float = np.inf


@loop()
def copy_to(room, values):
    """Values into an array that has room for them; an assignment to a slice takes seconds to compile."""
    for i in range(len(values)):
        room[i] = values[i]


@loop()
def write(made, room):
    """A partition into the arrays of another, which may have room for more clusters; returns how many there are."""
    copy_to(room.labels, made.labels)
    copy_to(room.sums.inside, made.sums.inside)
    for c in range(len(made.sums.mass)):
        copy_mass(room.sums.mass, c, made.sums.mass, c)
    copy_to(room.sums.size, made.sums.size)
    return len(made.sums.size)
