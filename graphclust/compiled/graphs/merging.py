"""Merge clusters pair by pair, always the pair whose union lowers the normalised cut most."""

import numpy as np
from numba import njit

SMALL_SHARE = 8.0  # a cluster that grows by less than an eighth keeps its entry
NEAR_ENOUGH = 1e-3  # of one cluster's normalised cut: each merge with the giant shifts all gains by a little


@njit(cache=True, nogil=True)
def _gain(a, b, link, inside, volume):
    """Change of sum_j inside_j / volume_j when a and b become one, plus 1: the fall of the normalised cut."""
    joined = (inside[a] + inside[b] + 2.0 * link) / (volume[a] + volume[b])
    return 1.0 + joined - inside[a] / volume[a] - inside[b] / volume[b]


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
def _best_partner(a, giant, indptr, neighbors, links, lengths, following, inside, volume, merged_into, link, met):
    """The live neighbour, or the giant, that a gains most by joining, the gain, and how many entries were read.

    The list of a is a chain of pieces, one of each node that it swallowed; it is rewritten to one entry a live
    neighbour, which never needs more room than it had.
    """
    n_met = 0
    n_read = 1
    piece = a
    while piece >= 0:
        n_read += lengths[piece]
        for e in range(indptr[piece], indptr[piece] + lengths[piece]):
            b = _alive(merged_into, neighbors[e])
            if b == a:
                continue
            if link[b] == 0.0:
                met[n_met] = b
                n_met += 1
            link[b] += links[e]
        piece = following[piece]
    best, most = -1, -np.inf
    if giant != a:
        best, most = giant, _gain(a, giant, link[giant], inside, volume)
    for i in range(n_met):
        gain = _gain(a, met[i], link[met[i]], inside, volume)
        if gain > most or (gain == most and met[i] < best):
            best, most = met[i], gain
    written = 0
    piece = a
    while piece >= 0:
        lengths[piece] = min(indptr[piece + 1] - indptr[piece], n_met - written)
        for e in range(indptr[piece], indptr[piece] + lengths[piece]):
            neighbors[e] = met[written]
            links[e] = link[met[written]]
            written += 1
        piece = following[piece]
    for i in range(n_met):
        link[met[i]] = 0.0
    return best, most, n_read


@njit(cache=True, nogil=True)
def start_merging(
    indptr, neighbors, links, inside, volume, lengths, following, tail, merged_into, link, met, expected, gains, items,
    state,
):  # fmt: skip
    """Every node is a cluster; state becomes (size of the heap, the cluster of most volume, clusters left)."""
    n = len(volume)
    giant = 0
    for u in range(n):
        merged_into[u] = tail[u] = u
        following[u] = -1
        expected[u] = -np.inf
        lengths[u] = indptr[u + 1] - indptr[u]
        if volume[u] > volume[giant]:
            giant = u
    size = 0
    for u in range(n):
        if u != giant:
            _, expected[u], _ = _best_partner(
                u, giant, indptr, neighbors, links, lengths, following, inside, volume, merged_into, link, met
            )
            size = _push(gains, items, size, expected[u], u)
    state[0], state[1], state[2] = size, giant, n


@njit(cache=True, nogil=True)
def merge_pairs(
    budget, n_clusters, indptr, neighbors, links, inside, volume, lengths, following, tail, merged_into, link, met,
    expected, gains, items, state,
):  # fmt: skip
    """Merge until n_clusters are left or about `budget` entries were read.

    A pair must share an edge or include the giant, the cluster of most volume. The heap holds, for each other cluster,
    the gain of its best partner when it was last looked at; the cluster on top is looked at again before it is merged.
    Merging changes only pairs with the merged cluster, which is looked at at once unless it hardly grew; those pairs,
    and all pairs with the giant, are also kept by their other ends.
    """
    n = len(volume)
    size, giant, n_left = state[0], state[1], state[2]
    while n_left > n_clusters and budget > 0:
        gain, a = gains[0], items[0]
        size = _pop(gains, items, size)
        if merged_into[a] != a or a == giant or gain != expected[a]:
            continue  # merged meanwhile, or pushed again with another gain
        b, now, n_read = _best_partner(
            a, giant, indptr, neighbors, links, lengths, following, inside, volume, merged_into, link, met
        )
        budget -= n_read
        if size > 0 and now < gains[0] - NEAR_ENOUGH:
            expected[a] = now
            size = _push(gains, items, size, now, a)
            continue
        shared = 0.0
        piece = a
        while piece >= 0:
            for e in range(indptr[piece], indptr[piece] + lengths[piece]):
                if neighbors[e] == b:
                    shared = links[e]
            piece = following[piece]
        inside[b] += inside[a] + 2.0 * shared
        volume[b] += volume[a]
        merged_into[a] = b
        following[tail[b]] = a
        tail[b] = tail[a]
        n_left -= 1
        looked_at = b
        if b != giant and volume[b] > volume[giant]:
            looked_at = giant  # the giant of until now has to have an entry again
            giant = b
        elif b == giant or volume[a] * SMALL_SHARE < volume[b]:
            continue
        _, expected[looked_at], n_read = _best_partner(
            looked_at, giant, indptr, neighbors, links, lengths, following, inside, volume, merged_into, link, met
        )
        budget -= n_read
        if size == len(gains):  # full of entries that are no longer true
            size = 0
            for u in range(n):
                if merged_into[u] == u and u != giant and u != looked_at:
                    size = _push(gains, items, size, expected[u], u)
        size = _push(gains, items, size, expected[looked_at], looked_at)
    state[0], state[1], state[2] = size, giant, n_left


@njit(cache=True, nogil=True)
def number_roots(merged_into, number, labels):
    """Number the clusters by first appearance; number (n,) is scratch of -1."""
    count = 0
    for u in range(len(merged_into)):
        root = _alive(merged_into, u)
        if number[root] < 0:
            number[root] = count
            count += 1
        labels[u] = number[root]
