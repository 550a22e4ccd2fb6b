"""Join nodes to regions that hang together: each in turn takes the neighboring region that gains most by it.

By the plain objective, as in the method of Louvain (Blondel et al. 2008). What a node wins by region c rather than its
own is twice the difference of link(c) - pull mass(node) mass(c); what a region has inside need not be known.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from graphclust.compiled.graphs.link_places import LEAST_LINK
from graphclust.compiled.graphs.objective import LEAST_GAIN, better_of
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors, ask_for_next
from graphclust.compiled.runtime.references import UNCOUNTED


class Joining(NamedTuple):
    """Nodes on their way into regions: the region of each, mass and size of each region, and scratch of the loop.

    state = (regions that may still vanish, nodes that moved): the loop ends where the first falls below 0.
    link (n,) is zero between nodes; met (n + 1,) has room for one that is not counted.
    """

    region: np.ndarray
    mass: np.ndarray
    size: np.ndarray
    state: np.ndarray
    link: np.ndarray
    met: np.ndarray


@njit(cache=True, nogil=True, **UNCOUNTED)
def keep_within(rows, parts, kept):
    """Of each row what leads to nodes of the same part, into rows that have room for all.

    Nodes that are joined by what is kept are of one part, and what they could not use is not read pass after pass.
    """
    n, weighted, n_kept = len(parts), len(rows.weights) > 0, 0
    for u in range(n):
        if n > CACHED and u + AHEAD < n:
            ask_for_neighbors(parts, rows, u + AHEAD)
        part = parts[u]
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.uint32(rows.indices[e])
            kept.indices[np.uint64(n_kept)] = v  # counted only where it stays: a branch would be a coin toss
            if weighted:
                kept.weights[np.uint64(n_kept)] = rows.weights[e]
            n_kept += parts[v] == part
        kept.indptr[u + 1] = n_kept


@njit(cache=True, nogil=True, **UNCOUNTED)
def join_in_turn(first, last, order, rows, terms, objective, joining):
    """Nodes order[first:last] take their turn; returns the entries read."""
    region, mass, size, state, link, met = joining
    weighted = len(rows.weights) > 0
    n, least = len(order), 0.5 * LEAST_GAIN * objective.unit
    many, spare, read, n_moved = n > CACHED, state[0], 0, 0
    for i in range(first, last):
        if spare < 0:
            break
        if i + 3 * AHEAD < n:
            ask_for_next(region, rows, order, i, AHEAD, many)
        u = np.uint32(order[i])
        start, end = rows.indptr[u], rows.indptr[u + 1]
        row, weights = rows.indices[start:end], rows.weights[start:end]
        read += len(row)
        own, n_met = region[u], 0
        link[own] = LEAST_LINK
        for e in range(len(row)):
            v = np.uint32(row[e])
            if v != u:
                c = region[v]
                before = link[np.uint32(c)]
                met[np.uint32(n_met)] = c  # counted only where it is the first edge to c: a branch would be a coin toss
                n_met += before == 0.0
                link[np.uint32(c)] = before + (weights[e] if weighted else 1.0)
        pull = objective.pull * terms.mass[u]
        best, most = np.int32(-1), link[own] - pull * (mass[own] - terms.mass[u]) + least
        link[own] = 0.0
        for j in range(n_met):
            c = np.uint32(met[j])
            worth = link[c] - pull * mass[c]
            link[c] = 0.0
            best, most = better_of(met[j], worth, best, most)
        if best >= 0:
            mass[own] -= terms.mass[u]
            size[own] -= 1
            spare -= size[own] == 0
            mass[best] += terms.mass[u]
            size[best] += 1
            region[u] = best
            n_moved += 1
    state[0] = spare
    state[1] += n_moved
    return read
