"""Moves that go on where the value falls, over a hill, and are taken back to where it was highest.

A border that is ragged, or that lies a few nodes beside a shorter one, is a local optimum of moves that each have to
gain. Here the node that gains most, or loses least, moves next, and once only (Fiduccia & Mattheyses 1982; between
several clusters as in METIS, Karypis & Kumar 1998).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from graphclust.compiled.graphs.heap import pop, push
from graphclust.compiled.graphs.link_table import note_move, table_of, table_pays
from graphclust.compiled.graphs.moves import NEVER, Scratch, change_cluster, look_at
from graphclust.compiled.graphs.objective import LEAST_GAIN, gain_of_link
from graphclust.compiled.runtime.references import INLINED, UNCOUNTED


class Patience(NamedTuple):
    """How many entries may be read after the value was highest: a share of all, so many in any case; share 0: none."""

    share: float
    least: float


class Climber(NamedTuple):
    """A heap of gains and their nodes, with room for all nodes and entries; (n,) what else is known of each node.

    gain : what it was last pushed with, NEVER where it has no neighbor elsewhere or has to stay. moved : whether it has
    moved; those that have are trail[0], trail[1], ..., each from the cluster in `left`.
    """

    gains: np.ndarray
    items: np.ndarray
    gain: np.ndarray
    moved: np.ndarray
    trail: np.ndarray
    left: np.ndarray
    scratch: Scratch


@njit(cache=True, nogil=True, **UNCOUNTED)
def _look_at(u, rows, terms, objective, labels, sums, scratch, table):
    """`look_at`, compiled once: the loop calls it in three places."""
    return look_at(u, rows, terms, objective, labels, sums, scratch, table)


@njit(cache=True, nogil=True, **INLINED)
def _is_at_border(u, rows, labels):
    """Whether u has a neighbor in another cluster."""
    own, n_elsewhere = labels[u], 0
    for e in range(rows.indptr[u], rows.indptr[u + 1]):
        n_elsewhere += labels[np.uint32(rows.indices[e])] != own
    return n_elsewhere > 0


@njit(cache=True, nogil=True, **INLINED)
def _take_back(u, to, rows, terms, labels, sums):
    """Node u goes back to the cluster that it left."""
    own, weighted, stays, shared = labels[u], len(rows.weights) > 0, 0.0, 0.0
    for e in range(rows.indptr[u], rows.indptr[u + 1]):
        v = np.uint32(rows.indices[e])
        if v != u:
            w = rows.weights[e] if weighted else 1.0
            stays += w * np.float64(labels[v] == own)
            shared += w * np.float64(labels[v] == to)
    change_cluster(u, to, stays, shared, terms, labels, sums)


@njit(cache=True, nogil=True)
def climb(patience, rows, terms, objective, labels, sums):
    """Move nodes, in place, to where the value is highest on the way; returns what is gained, and the entries read.

    patience : how long to go on.
    """
    n, k, most = len(labels), len(sums.mass), len(labels) + len(rows.indices)
    heap, known = (np.empty(most), np.empty(most, np.int32)), (np.empty(n), np.zeros(n, np.bool_))
    scratch = Scratch(np.zeros(k), np.empty(k + 1, np.int32))
    climber = Climber(*heap, *known, np.empty(n, np.int32), np.empty(n, np.int32), scratch)
    if table_pays(rows, terms, k):
        return _climb(patience, rows, terms, objective, labels, sums, climber, table_of(rows, labels, k))
    return _climb(patience, rows, terms, objective, labels, sums, climber, None)


@njit(cache=True, nogil=True, **UNCOUNTED)
def _climb(patience, rows, terms, objective, labels, sums, climber, table):
    """`climb`, apart from it because making the arrays takes counts of references; see `references`.

    A node that has moved never does so again, so that each edge brings a neighbor back into the heap once at most. What
    the move does to the gain of that is reckoned from the edge alone; on top of the heap it is looked at again.
    """
    gains, items, gain, moved, trail, left, scratch = climber
    weighted, least = len(rows.weights) > 0, LEAST_GAIN * objective.unit
    size, read, last = 0, len(rows.indices), max(patience.share * len(rows.indices), patience.least)
    for u in range(len(labels)):
        gain[u] = NEVER
        if table is not None or _is_at_border(u, rows, labels):  # to add up the links of all would take longest
            gain[u] = _look_at(u, rows, terms, objective, labels, sums, scratch, table).gain
        if gain[u] > NEVER:
            size = push(gains, items, size, gain[u], u)
    made, kept, value, highest, in_vain = 0, 0, 0.0, 0.0, 0
    while size > 0 and in_vain <= last:
        u = np.int64(items[0])
        is_true = gains[0] == gain[u] and not moved[u]
        size = pop(gains, items, size)
        if not is_true:
            continue
        now = _look_at(u, rows, terms, objective, labels, sums, scratch, table)
        in_vain += rows.indptr[u + 1] - rows.indptr[u]
        gain[u] = now.gain
        if now.best < 0:
            continue
        if size > 0 and now.gain < gains[0]:
            size = push(gains, items, size, now.gain, u)
            continue
        own, to = labels[u], now.best
        trail[made], left[made], moved[u] = u, own, True
        made += 1
        change_cluster(u, to, now.stays, now.shared, terms, labels, sums)
        if table is not None:
            note_move(u, own, to, rows, table)
        value += now.gain
        if value > highest + least:
            read += in_vain
            highest, kept, in_vain = value, made, 0
        in_vain += rows.indptr[u + 1] - rows.indptr[u]
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.uint32(rows.indices[e])
            c = labels[v]
            if moved[v] or c == to:  # of those the gain can only have become less
                continue
            if gain[v] > NEVER:
                w = rows.weights[e] if weighted else 1.0
                gain[v] += gain_of_link(objective, w, sums.mass[to])
                gain[v] += gain_of_link(objective, w, sums.mass[own]) if c == own else 0.0
            else:
                gain[v] = _look_at(np.int64(v), rows, terms, objective, labels, sums, scratch, table).gain
                in_vain += rows.indptr[v + 1] - rows.indptr[v]
            if gain[v] > NEVER:
                size = push(gains, items, size, gain[v], v)
    for i in range(made - 1, kept - 1, -1):
        _take_back(trail[i], left[i], rows, terms, labels, sums)
    return highest, read + in_vain
