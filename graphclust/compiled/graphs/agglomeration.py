"""Agglomeration: nodes are merged pair by pair, always the pair whose union gains most.

Source: Clauset, Newman & Moore 2004, "Finding community structure in very large networks".
"""

import numpy as np
from numba import njit

from graphclust.compiled.graphs.bounds import limits_of
from graphclust.compiled.graphs.levels import Partition, write
from graphclust.compiled.graphs.merging import CLUSTER, LIST, Chains, Merger, merge_light, merge_pairs, number_roots
from graphclust.compiled.graphs.objective import ClusterSums

NO_END = 1 << 62  # entries that merging may read before it comes back


@njit(cache=True, nogil=True)
def _unite_light(goal, chains, merger, limits):
    """Unite clusters below the least, where nodes have sizes."""
    if limits is not None:
        merge_light(goal.objective, chains, merger)


@njit(cache=True, nogil=True)
def agglomerate(level, goal, trace, pairs):
    """The nodes of a level merged into k clusters, or until no union gains; more than k where no two fit into one.

    Where k is free, clusters below the least of the goal are then united with neighbors.

    trace, pairs : of every union, as `merging.Merger` takes them; empty where nobody asks for them.
    """
    rows, terms = level
    n = len(terms.mass)
    links = np.empty(len(rows.indices))
    for e in range(len(links)):
        links[e] = rows.weights[e] if len(rows.weights) else 1.0
    chains = Chains(rows.indptr, rows.indices.copy(), links, np.empty(n, LIST))
    clusters = np.zeros(n, CLUSTER)
    labels, roots, number = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for u in range(n):
        clusters[u]["inside"], clusters[u]["mass"], number[u] = terms.loops[u], terms.mass[u], -1
        labels[u] = u
    heap = np.empty(2 * n + 16), np.empty(2 * n + 16, np.int32)
    limits = limits_of(terms.size, labels, n, goal.least, goal.most)
    merger = Merger(clusters, heap[0], heap[1], roots, np.zeros(4, np.int64), trace, pairs, limits)
    merge_pairs(np.int64(NO_END), goal.k, goal.objective, chains, merger)
    if goal.k == 0:
        _unite_light(goal, chains, merger, limits)
    k = number_roots(clusters, number, labels, roots)
    sums = ClusterSums(np.empty(k), np.empty(k), np.zeros(k, np.int64))
    for c in range(k):
        sums.inside[c], sums.mass[c] = clusters[roots[c]]["inside"], clusters[roots[c]]["mass"]
    for u in range(n):
        sums.size[labels[u]] += 1
    return Partition(labels, sums)


@njit(cache=True, nogil=True)
def agglomerate_into(level, goal, trace, pairs, room):
    """`agglomerate`, into arrays that are there: returns the number of clusters."""
    return write(agglomerate(level, goal, trace, pairs), room)
