"""Bounds on what clusters hold: how loops ask for them, and what is compiled away where there are none.

Limits that are None make every question here a constant when a loop is compiled, so that a run without bounds is the
loop without them.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.instructions import where_given
from graphclust.compiled.runtime.loops import INLINED, loop


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
def shift_load(limits, from_c, to_c, size):
    if limits is not None:
        limits.load[from_c] -= size
        limits.load[to_c] += size
