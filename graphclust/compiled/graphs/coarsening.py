"""Contract a graph to the quotient graph of its clusters."""

from typing import NamedTuple

import numpy as np
from numba import njit

from graphclust.compiled.graphs.link_places import INNER, LEAST_LINK, place_of
from graphclust.compiled.runtime.prefetch import CACHED, ask_for_next

AHEAD = 4  # nodes: so far ahead the clusters of neighbors are asked for; before that, who and where those are


MOST_COUNTED = 1 << 31  # entries that counts of 32 bits hold


class Clusters(NamedTuple):
    """The cluster of each node, and the nodes sorted by cluster: cluster c is members[starts[c] : starts[c + 1]]."""

    of_node: np.ndarray
    starts: np.ndarray
    members: np.ndarray


@njit(cache=True, nogil=True)
def number_clusters(cluster, number):
    """Renumber clusters 0, 1, ... by first appearance, in place; number (n,) is scratch of -1. Returns how many."""
    n_clusters = 0
    for u in range(len(cluster)):
        if number[cluster[u]] < 0:
            number[cluster[u]] = n_clusters
            n_clusters += 1
        cluster[u] = number[cluster[u]]
    return n_clusters


@njit(cache=True, nogil=True)
def group_members(cluster, indptr, starts, entries, members):
    """Nodes sorted by cluster, stable; starts and entries (k + 1,) begin as zeros.

    Cluster c gets members[starts[c] : starts[c + 1]], whose rows hold entries[c + 1] - entries[c] entries.
    """
    for u in range(len(cluster)):
        starts[cluster[u] + 1] += 1
        entries[cluster[u] + 1] += indptr[u + 1] - indptr[u]
    for c in range(len(starts) - 1):
        starts[c + 1] += starts[c]
        entries[c + 1] += entries[c]
    place = starts[:-1].copy()
    for u in range(len(cluster)):
        members[place[cluster[u]]] = u
        place[cluster[u]] += 1


@njit(cache=True, nogil=True)
def is_counted(k, n_entries, weighted):
    """Whether `count_links` is to make the rows of k clusters from so many entries."""
    return not weighted and k * k <= n_entries < MOST_COUNTED


@njit(cache=True, nogil=True)
def sum_links(first, last, block, quotient, rows, clusters, q_loops):
    """Rows first..last-1 of the quotient graph, other clusters in the order met, itself last; returns their entries.

    A row has room for as many clusters as it is made of entries, or as there are, so that one more can always be
    written than were counted.
    """
    lengths, q_indices, q_weights = quotient
    cluster, starts, members = clusters
    weighted = len(rows.weights) > 0
    k = len(starts) - 1
    link = np.zeros(k + INNER)
    written = 0
    many, end = len(cluster) > CACHED, starts[last]
    for c in range(first, last):
        start = written
        link[k:] = LEAST_LINK
        for i in range(starts[c], starts[c + 1]):
            if i + 3 * AHEAD < end:
                ask_for_next(cluster, rows, members, i, AHEAD, many)
            start_of_row = rows.indptr[members[i]]
            for e in range(start_of_row, rows.indptr[members[i] + 1]):
                other = cluster[np.uint32(rows.indices[e])]
                place = np.uint32(place_of(other, other == c, e - start_of_row, k))
                before = link[place]
                q_indices[np.uint32(written)] = other  # counted at the first link: a branch would be a coin toss
                written += before == 0.0
                link[place] = before + (rows.weights[e] if weighted else 1.0)
        stays = link[k:].sum()
        if stays > INNER * LEAST_LINK:
            link[c] = q_loops[c] = stays
            q_indices[written] = c
            written += 1
        for i in range(start, written):
            q_weights[i] = link[q_indices[i]]
            link[q_indices[i]] = 0.0
        lengths[c] = written - start
    return written


@njit(cache=True, nogil=True)
def count_links(first, last, block, quotient, rows, clusters, q_loops):
    """`sum_links` of a graph without weights, in the order of the clusters: faster where most rows meet most of them.

    Which clusters are met shows in the end, in the counts: nothing is asked of an entry but to whom it leads.
    """
    lengths, q_indices, q_weights = quotient
    cluster, starts, members = clusters
    k = len(starts) - 1
    link = np.zeros(k, np.int32)  # half of what floats take, as both threads of a core share its nearest cache
    written = 0
    many, end = len(cluster) > CACHED, starts[last]
    for c in range(first, last):
        start = written
        for i in range(starts[c], starts[c + 1]):
            if i + 3 * AHEAD < end:
                ask_for_next(cluster, rows, members, i, AHEAD, many)
            for e in range(rows.indptr[members[i]], rows.indptr[members[i] + 1]):
                link[cluster[np.uint32(rows.indices[e])]] += 1
        q_loops[c] = link[c]
        for other in range(k):
            if link[other] > 0:
                q_indices[written] = other
                q_weights[written] = link[other]
                link[other] = 0
                written += 1
        lengths[c] = written - start
    return written
