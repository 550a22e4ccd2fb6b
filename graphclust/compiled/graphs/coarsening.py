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
            v = np.uint32(indices[e])  # unsigned: no test for counting from the end
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
def sum_links(
    first, last, block, lengths, q_indices, q_weights, starts, members, indptr, indices, weights, cluster, q_loops
):  # fmt: skip
    """Rows first..last-1 of the quotient graph, other clusters in the order met, itself last; returns their entries."""
    weighted = len(weights) > 0
    link = np.zeros(len(starts) - 1)
    written = 0
    for c in range(first, last):
        start = written
        stays = 0.0  # apart from the others: often most links do, and adding to link[c] would wait for itself
        for i in range(starts[c], starts[c + 1]):
            for e in range(indptr[members[i]], indptr[members[i] + 1]):
                other = cluster[np.uint32(indices[e])]
                if other == c:
                    stays += weights[e] if weighted else 1.0
                    continue
                if link[other] == 0.0:
                    q_indices[written] = other
                    written += 1
                link[other] += weights[e] if weighted else 1.0
        if stays > 0.0:
            link[c] = q_loops[c] = stays
            q_indices[written] = c
            written += 1
        for i in range(start, written):
            q_weights[i] = link[q_indices[i]]
            link[q_indices[i]] = 0.0
        lengths[c] = written - start
    return written
