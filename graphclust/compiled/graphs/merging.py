"""Merge clusters pair by pair, always the pair whose union raises the objective most."""

from typing import NamedTuple

import numpy as np
from numba import njit

from graphclust.compiled.graphs.objective import RATIO, gain_of_union

SMALL_SHARE = 8.0  # a cluster that grows by less than an eighth keeps its entry
NEAR_ENOUGH = 1e-3  # units; each merge with the giant shifts all gains by a little


class Chains(NamedTuple):
    """The neighbors of each live cluster: a chain of the lists of the nodes that it swallowed.

    neighbors and links are those of the graph at first, `lengths` how much of each list is used, `following` the next
    list of the chain, `tail` its last.
    """

    indptr: np.ndarray
    neighbors: np.ndarray
    links: np.ndarray
    lengths: np.ndarray
    following: np.ndarray
    tail: np.ndarray


class Merger(NamedTuple):
    """merged_into (n,): itself for live clusters; inside and mass of the live; a heap of gains and their clusters.

    expected (n,) is the gain that each cluster was last pushed with, partner and shared (n,) are with whom and their
    link; looked and changed (n,) tell how many clusters were left when it was last looked at, and when it last grew.
    state = (size of the heap, the cluster of most mass, clusters left), zeros before the first call; link (n,) and met
    (n,) are scratch, link all zero between calls. trace is empty, or (n,): trace[t] becomes the gain of the union that
    leaves t clusters. pairs has no row, or n: pairs[t] becomes the cluster that this union ends and the one that it
    enlarges.
    """

    merged_into: np.ndarray
    inside: np.ndarray
    mass: np.ndarray
    expected: np.ndarray
    partner: np.ndarray
    shared: np.ndarray
    looked: np.ndarray
    changed: np.ndarray
    gains: np.ndarray
    items: np.ndarray
    link: np.ndarray
    met: np.ndarray
    state: np.ndarray
    trace: np.ndarray
    pairs: np.ndarray


@njit(cache=True, nogil=True)
def _push(gains, items, size, gain, item):
    place = size
    while place > 0:
        parent = (place - 1) // 2
        if gains[parent] > gain or (gains[parent] == gain and items[parent] <= item):
            break
        gains[place], items[place] = gains[parent], items[parent]
        place = parent
    gains[place], items[place] = gain, item
    return size + 1


@njit(cache=True, nogil=True)
def _pop(gains, items, size):
    """Take the top away and close the gap; returns the new size."""
    size -= 1
    gain, item = gains[size], items[size]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and (
            gains[child + 1] > gains[child] or (gains[child + 1] == gains[child] and items[child + 1] < items[child])
        ):
            child += 1
        if gains[child] < gain or (gains[child] == gain and items[child] >= item):
            break
        gains[place], items[place] = gains[child], items[child]
        place = child
    gains[place], items[place] = gain, item
    return size


@njit(cache=True, nogil=True)
def _alive(merged_into, a):
    while merged_into[a] != a:
        merged_into[a] = merged_into[merged_into[a]]
        a = merged_into[a]
    return a


@njit(cache=True, nogil=True)
def _best_partner(a, objective, chains, merger):
    """The live neighbor that a gains most by joining, the gain, their link, and how many entries were read.

    For ratio objectives the cluster of most mass is a candidate too, linked or not: such a union can pay. The chain of
    a is rewritten to one entry a live neighbor, which never needs more room than it had. Without candidates -1 and a
    gain of minus infinity.
    """
    link, met = merger.link, merger.met
    n_met = 0
    n_read = 1
    piece = a
    while piece >= 0:
        n_read += chains.lengths[piece]
        for e in range(chains.indptr[piece], chains.indptr[piece] + chains.lengths[piece]):
            b = _alive(merger.merged_into, chains.neighbors[e])
            if b == a:
                continue
            if link[b] == 0.0:
                met[n_met] = b
                n_met += 1
            link[b] += chains.links[e]
        piece = chains.following[piece]
    best, most, shared = -1, -np.inf, 0.0
    giant = merger.state[1]
    inside, mass = merger.inside[a], merger.mass[a]
    if objective.kind == RATIO and giant != a:
        best, shared = giant, link[giant]
        most = gain_of_union(objective, shared, inside, mass, merger.inside[giant], merger.mass[giant])
    for i in range(n_met):
        b = met[i]
        gain = gain_of_union(objective, link[b], inside, mass, merger.inside[b], merger.mass[b])
        if gain > most or (gain == most and b < best):
            best, most, shared = b, gain, link[b]
    written = 0
    piece = a
    while piece >= 0:
        chains.lengths[piece] = min(chains.indptr[piece + 1] - chains.indptr[piece], n_met - written)
        for e in range(chains.indptr[piece], chains.indptr[piece] + chains.lengths[piece]):
            chains.neighbors[e] = met[written]
            chains.links[e] = link[met[written]]
            written += 1
        piece = chains.following[piece]
    for i in range(n_met):
        link[met[i]] = 0.0
    return best, most, shared, n_read


@njit(cache=True, nogil=True)
def _start(objective, chains, merger):
    """Every node is a cluster; fills what is empty of chains and merger."""
    n = len(merger.mass)
    giant = 0
    for u in range(n):
        merger.merged_into[u] = chains.tail[u] = u
        chains.following[u] = -1
        merger.expected[u] = -np.inf
        merger.changed[u] = n
        chains.lengths[u] = chains.indptr[u + 1] - chains.indptr[u]
        if merger.mass[u] > merger.mass[giant]:
            giant = u
    merger.state[0], merger.state[1], merger.state[2] = 0, giant, n
    for u in range(n):
        if not (objective.kind == RATIO and u == giant):
            _first_look(u, giant, objective, chains, merger)
            merger.state[0] = _push(merger.gains, merger.items, merger.state[0], merger.expected[u], u)


@njit(cache=True, nogil=True)
def _first_look(u, giant, objective, chains, merger):
    """Note what `_best_partner` would say of a node before any merge, when there are no links to be summed."""
    inside, mass = merger.inside[u], merger.mass[u]
    best, most, shared, with_giant = -1, -np.inf, 0.0, 0.0
    for e in range(chains.indptr[u], chains.indptr[u + 1]):
        v = chains.neighbors[e]
        if v == u:
            continue
        if v == giant:
            with_giant = chains.links[e]
        gain = gain_of_union(objective, chains.links[e], inside, mass, merger.inside[v], merger.mass[v])
        if gain > most or (gain == most and v < best):
            best, most, shared = v, gain, chains.links[e]
    if objective.kind == RATIO:
        gain = gain_of_union(objective, with_giant, inside, mass, merger.inside[giant], merger.mass[giant])
        if gain > most or (gain == most and giant < best):
            best, most, shared = giant, gain, with_giant
    _note(u, best, most, shared, merger)


@njit(cache=True, nogil=True)
def _note(a, best, most, shared, merger):
    """Keep what a look at a has shown: its best partner, the gain and their link."""
    merger.partner[a], merger.expected[a], merger.shared[a] = best, most, shared
    merger.looked[a] = merger.state[2]


@njit(cache=True, nogil=True)
def _holds(a, objective, merger):
    """Whether neither a nor its partner, nor the giant that can be one, has changed since a was last looked at."""
    b, looked = merger.partner[a], merger.looked[a]
    if b < 0 or merger.merged_into[b] != b or merger.changed[a] < looked or merger.changed[b] < looked:
        return False
    return objective.kind != RATIO or merger.changed[merger.state[1]] >= looked


@njit(cache=True, nogil=True)
def _look_at(a, objective, chains, merger):
    """Push the best gain of a; returns the entries read."""
    best, most, shared, n_read = _best_partner(a, objective, chains, merger)
    _note(a, best, most, shared, merger)
    size = merger.state[0]
    if size == len(merger.gains):  # full of entries that are no longer true
        size = 0
        for u in range(len(merger.mass)):
            if u != a and merger.merged_into[u] == u and not (objective.kind == RATIO and u == merger.state[1]):
                size = _push(merger.gains, merger.items, size, merger.expected[u], u)
    merger.state[0] = _push(merger.gains, merger.items, size, merger.expected[a], a)
    return n_read


@njit(cache=True, nogil=True)
def _unite(a, b, link, chains, merger):
    """Cluster a becomes a part of b."""
    merger.inside[b] += merger.inside[a] + 2.0 * link
    merger.mass[b] += merger.mass[a]
    merger.merged_into[a] = b
    chains.following[chains.tail[b]] = a
    chains.tail[b] = chains.tail[a]
    merger.state[2] -= 1
    merger.changed[b] = merger.state[2]
    if len(merger.pairs):
        merger.pairs[merger.state[2], 0], merger.pairs[merger.state[2], 1] = a, b


@njit(cache=True, nogil=True)
def _unite_unlinked(n_clusters, chains, merger):
    """Where no two clusters are linked the two of least mass are united, again and again."""
    size = 0
    for u in range(len(merger.mass)):
        if merger.merged_into[u] == u:
            size = _push(merger.gains, merger.items, size, -merger.mass[u], u)
    while merger.state[2] > n_clusters:
        a = merger.items[0]
        size = _pop(merger.gains, merger.items, size)
        b = merger.items[0]
        size = _pop(merger.gains, merger.items, size)
        _unite(a, b, 0.0, chains, merger)
        size = _push(merger.gains, merger.items, size, -merger.mass[b], b)


@njit(cache=True, nogil=True)
def merge_pairs(budget, n_clusters, objective, chains, merger):
    """Merge until n_clusters are left or about `budget` entries were read; returns whether it ended for the first.

    The first call begins with a cluster for every node. A pair must share an edge or, for ratio objectives, include the
    giant, the cluster of most mass; where plain ones have no linked pair left the lightest clusters are united. The
    heap holds, for each cluster, the gain of its best partner when it was last looked at; the cluster on top is looked
    at again before it is merged, unless that still holds. Merging changes only pairs with the merged cluster, which is
    looked at at once unless it hardly grew; those pairs, and all pairs with the giant, are also kept by their other
    ends.
    """
    gains, items, state = merger.gains, merger.items, merger.state
    if state[2] == 0:
        _start(objective, chains, merger)
    near = NEAR_ENOUGH * objective.unit if objective.kind == RATIO else 0.0
    while state[2] > n_clusters:
        if budget <= 0:
            return False
        gain, a = gains[0], items[0]
        if gain == -np.inf:
            _unite_unlinked(n_clusters, chains, merger)
            return True
        state[0] = _pop(gains, items, state[0])
        if merger.merged_into[a] != a or (objective.kind == RATIO and a == state[1]) or gain != merger.expected[a]:
            continue  # merged meanwhile, or pushed again with another gain
        if not _holds(a, objective, merger):
            b, now, link, n_read = _best_partner(a, objective, chains, merger)
            _note(a, b, now, link, merger)
            budget -= n_read
        b, now, link = merger.partner[a], merger.expected[a], merger.shared[a]
        if (state[0] > 0 and now < gains[0] - near) or b < 0:
            state[0] = _push(gains, items, state[0], now, a)
            continue
        grew_little = merger.mass[a] * SMALL_SHARE < merger.mass[b]
        if objective.kind != RATIO and merger.mass[a] > merger.mass[b]:
            a, b = b, a  # the shorter chain goes to the end of the longer; the one without an entry is left
            grew_little = False
        if len(merger.trace):
            merger.trace[state[2] - 1] = now
        _unite(a, b, link, chains, merger)
        looked_at = b
        if objective.kind == RATIO and b != state[1] and merger.mass[b] > merger.mass[state[1]]:
            looked_at = state[1]  # the giant of until now has to have an entry again
            state[1] = b
        elif grew_little or (objective.kind == RATIO and b == state[1]):
            continue
        budget -= _look_at(looked_at, objective, chains, merger)
    return True


@njit(cache=True, nogil=True)
def number_roots(merged_into, number, labels, roots):
    """Number the clusters by first appearance, in labels and roots; number (n,) is scratch of -1. Returns how many."""
    count = 0
    for u in range(len(merged_into)):
        root = _alive(merged_into, u)
        if number[root] < 0:
            number[root] = count
            roots[count] = root
            count += 1
        labels[u] = number[root]
    return count
