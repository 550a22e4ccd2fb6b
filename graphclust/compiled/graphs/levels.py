"""A level of the multilevel engine, a partition of it, and the bounds on what clusters hold, as the loops take them.

Inside the engine a self-loop is a number of its node, in `Terms.loops`. Rows of the user's graph may still hold their
diagonal, which every loop passes over; rows of a contracted graph hold none.

Limits that are None make every question about them a constant when a loop is compiled, so that a run without bounds is
the loop without them.
"""

from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.graphs.objective import ClusterSums, Objective, Rows, add_mass
from graphclust.compiled.runtime.loops import INLINED, loop, where_given


class Terms(NamedTuple):
    """What each node adds to the sums of its cluster: to `inside` by itself, and to `mass`; float64, (n,) each.

    size : what it adds to what a cluster holds, by which bounds go; None where there are no bounds. layers : where a
    graph has layers, and each node several masses, (n, n_masses), what `Objective` says of them.
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
def number_by_first_node(labels, number):
    """Number labels by their first node, in place; number : -1 for each label at first. Returns how many there are."""
    k = 0
    for u in range(len(labels)):
        if number[labels[u]] < 0:
            number[labels[u]] = k
            k += 1
        labels[u] = number[labels[u]]
    return k


class Limits(NamedTuple):
    """The size of each node, (n,), the sum of them in each cluster, (k,), and the least and most that one may hold."""

    size: np.ndarray
    load: np.ndarray
    least: float
    most: float


@loop()
def loads_of(size, labels, k):
    """The sum of the sizes in each of k clusters; None where nodes have none."""
    load = np.zeros(0 if size is None else k)
    if size is not None:
        for u in range(len(labels)):
            load[labels[u]] += size[u]
    return where_given(size, load)


@loop()
def limits_of(size, labels, k, least, most):
    """The limits of k clusters as they are; None where nodes have no sizes."""
    # None is known when the loop is compiled.
    return where_given(size, Limits(size, loads_of(size, labels, k), least, most))


@loop(**INLINED)
def size_at(limits, u):
    if limits is None:
        return 0.0
    return limits.size[u]


@loop(**INLINED)
def has_room(limits, c, size):
    if limits is None:
        return True
    return limits.load[c] + size <= limits.most


@loop(**INLINED)
def may_lose(limits, c, size):
    """Whether cluster c holds its least without so much; what is below it already may lose more."""
    if limits is None:
        return True
    return limits.load[c] - size >= limits.least or limits.load[c] < limits.least


@loop(**INLINED)
def may_stand(limits, size):
    """Whether so much may be a cluster by itself."""
    if limits is None:
        return True
    return limits.least <= size


@loop(**INLINED)
def load_at(limits, c):
    if limits is None:
        return 0.0
    return limits.load[c]


@loop(**INLINED)
def change_cluster(u, to, stays, shared, terms, labels, sums, limits):
    """Node u moves to a cluster; stays, shared : its links to the one that it leaves and to this one."""
    own, loop, mass = labels[u], terms.loops[u], terms.mass[u]
    shift_load(limits, own, to, size_at(limits, u))
    sums.inside[own] -= 2.0 * stays + loop
    add_mass(sums.mass, own, mass, -1.0)
    sums.size[own] -= 1
    sums.inside[to] += 2.0 * shared + loop
    add_mass(sums.mass, to, mass, 1.0)
    sums.size[to] += 1
    labels[u] = to


@loop(**INLINED)
def shift_load(limits, from_c, to_c, size):
    if limits is not None:
        limits.load[from_c] -= size
        limits.load[to_c] += size
