"""One round of kernel k-means on a graph: every node looks at its neighbours' clusters at once."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def choose_clusters(first, last, block, indptr, indices, weights, degrees, labels, bias, pull, chosen, n_changed):
    """chosen[u] = argmin over clusters c of a neighbour of u of bias_c - pull_c link(u, c) / degree_u.

    With bias = inside / volume^2 and pull = 2 / volume this is the nearest centroid in the feature space of D^-1 A
    D^-1. A node stays where it is when no cluster is better than its own, and keeps -1 when no neighbour has a cluster.
    """
    weighted = len(weights) > 0
    link = np.zeros(len(bias))
    met = np.empty(len(bias), np.int32)
    changed = 0
    for u in range(first, last):
        n_met = 0
        for e in range(indptr[u], indptr[u + 1]):
            c = labels[indices[e]]
            if c < 0:
                continue
            if link[c] == 0.0:
                met[n_met] = c
                n_met += 1
            link[c] += weights[e] if weighted else 1.0
        own = labels[u]
        best = own
        least = np.inf
        if own >= 0:
            least = bias[own] - pull[own] * link[own] / degrees[u]
        for i in range(n_met):
            c = met[i]
            value = bias[c] - pull[c] * link[c] / degrees[u]
            if value < least or (value == least and best != own and c < best):
                least = value
                best = c
            link[c] = 0.0
        chosen[u] = best
        if best != own:
            changed += 1
    n_changed[block] = changed
