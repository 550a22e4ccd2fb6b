"""Contract a graph to the quotient graph of its clusters."""

from typing import NamedTuple

import numpy as np
from numba import njit

from graphclust.compiled.runtime.prefetch import CACHED, ask_for, ask_for_neighbors, ask_for_row

AHEAD = 4  # nodes: so far ahead the clusters of neighbors are asked for; before that, who and where those are


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
def sum_links(first, last, block, quotient, rows, clusters, q_loops):
    """Rows first..last-1 of the quotient graph, other clusters in the order met, itself last; returns their entries.

    A row has room for as many clusters as it is made of entries, or as there are, so that one more can always be
    written than were counted.
    """
    lengths, q_indices, q_weights = quotient
    cluster, starts, members = clusters
    weighted = len(rows.weights) > 0
    link = np.zeros(len(starts) - 1)
    written = 0
    many, end = len(cluster) > CACHED, starts[last]
    for c in range(first, last):
        start = written
        stays = 0.0  # apart from the others: often most links do, and adding to link[c] would wait for itself
        for i in range(starts[c], starts[c + 1]):
            if many and i + 3 * AHEAD < end:
                ask_for(rows.indptr, members[i + 3 * AHEAD])
                ask_for_row(rows, members[i + 2 * AHEAD])
                ask_for_neighbors(cluster, rows, members[i + AHEAD])
            for e in range(rows.indptr[members[i]], rows.indptr[members[i] + 1]):
                other = cluster[np.uint32(rows.indices[e])]
                if other == c:
                    stays += rows.weights[e] if weighted else 1.0
                    continue
                q_indices[written] = other  # counted only where it is the first link: a branch would be a coin toss
                written += link[other] == 0.0
                link[other] += rows.weights[e] if weighted else 1.0
        if stays > 0.0:
            link[c] = q_loops[c] = stays
            q_indices[written] = c
            written += 1
        for i in range(start, written):
            q_weights[i] = link[q_indices[i]]
            link[q_indices[i]] = 0.0
        lengths[c] = written - start
    return written
