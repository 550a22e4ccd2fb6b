"""Join nodes into small clusters and contract a graph to the quotient graph of its clusters."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def join_neighbours(order, indptr, indices, weights, degrees, part, largest_volume, cluster, volume, link, met):
    """One sweep: each node goes to the neighbouring cluster with the highest link / (its volume + the cluster's).

    No cluster outgrows `largest_volume` or holds nodes of two parts; part (n,) may be 0 everywhere. cluster (n,) and
    volume (n,) start as singletons and their degrees; link (n,) is all zero between nodes. Returns how many moved.
    """
    weighted = len(weights) > 0
    moved = 0
    for i in range(len(order)):
        u = order[i]
        own = cluster[u]
        n_met = 0
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if v == u:
                continue
            c = cluster[v]
            if link[c] == 0.0:
                met[n_met] = c
                n_met += 1
            link[c] += weights[e] if weighted else 1.0
        d = degrees[u]
        volume[own] -= d
        best = own
        most = link[own] / (volume[own] + d) if volume[own] > 0.0 else 0.0
        for j in range(n_met):
            c = met[j]
            if c != own and part[c] == part[u] and volume[c] + d <= largest_volume:
                rating = link[c] / (volume[c] + d)
                if rating > most or (rating == most and c < best):
                    most = rating
                    best = c
        for j in range(n_met):
            link[met[j]] = 0.0
        volume[best] += d
        if best != own:
            cluster[u] = best
            moved += 1
    return moved


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
def group_members(cluster, starts, members):
    """Nodes sorted by cluster, stable; starts (k + 1,) begins as zeros."""
    for u in range(len(cluster)):
        starts[cluster[u] + 1] += 1
    for c in range(len(starts) - 1):
        starts[c + 1] += starts[c]
    place = starts[:-1].copy()
    for u in range(len(cluster)):
        members[place[cluster[u]]] = u
        place[cluster[u]] += 1


@njit(cache=True, nogil=True)
def count_links(first, last, block, starts, members, indptr, indices, cluster, n_links):
    """How many clusters each cluster of first..last-1 is linked to, itself included, into n_links[c + 1]."""
    last_seen = np.full(len(starts) - 1, -1, np.int32)
    for c in range(first, last):
        count = 0
        for i in range(starts[c], starts[c + 1]):
            for e in range(indptr[members[i]], indptr[members[i] + 1]):
                other = cluster[indices[e]]
                if last_seen[other] != c:
                    last_seen[other] = c
                    count += 1
        n_links[c + 1] = count


@njit(cache=True, nogil=True)
def add_links(
    first, last, block, starts, members, indptr, indices, weights, cluster, q_indptr, q_indices, q_weights, q_loops
):
    """Rows first..last-1 of the quotient graph, links in the order in which they are met."""
    place = np.full(len(starts) - 1, -1, np.int64)  # where a link's weight is kept, if at or after the row's start
    weighted = len(weights) > 0
    for c in range(first, last):
        free = q_indptr[c]
        for i in range(starts[c], starts[c + 1]):
            for e in range(indptr[members[i]], indptr[members[i] + 1]):
                other = cluster[indices[e]]
                if place[other] < q_indptr[c]:
                    place[other] = free
                    q_indices[free] = other
                    q_weights[free] = 0.0
                    free += 1
                q_weights[place[other]] += weights[e] if weighted else 1.0
        if place[c] >= q_indptr[c]:
            q_loops[c] = q_weights[place[c]]
