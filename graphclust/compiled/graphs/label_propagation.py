"""Nodes without a cluster look at their neighbors' clusters, all at once."""

import numpy as np

from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors


@loop()
def choose_clusters(first, last, block, n_clusters, nodes, rows, labels, chosen):
    """chosen[i] = the cluster that node nodes[i] has most weight to, the lower of equals; -1 when to none."""
    indptr, indices, weights = rows
    weighted, many = len(weights) > 0, len(labels) > CACHED
    link = np.zeros(n_clusters)
    met = np.empty(n_clusters, np.int32)
    for i in range(first, last):
        u = nodes[i]
        if many and i + AHEAD < last:
            ask_for_neighbors(labels, rows, nodes[i + AHEAD])
        n_met = 0
        for e in range(indptr[u], indptr[u + 1]):
            c = labels[indices[e]]
            if c < 0:
                continue
            if link[c] == 0.0:
                met[n_met] = c
                n_met += 1
            link[c] += weights[e] if weighted else 1.0
        best = -1
        most = 0.0
        for j in range(n_met):
            c = met[j]
            if link[c] > most or (link[c] == most and c < best):
                most = link[c]
                best = c
            link[c] = 0.0
        chosen[i] = best
