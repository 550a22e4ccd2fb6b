"""The overlay of partitions, and the connected parts of clusters."""

import numpy as np

from graphclust.compiled.graphs.csr_checks import flatten, join, root
from graphclust.compiled.runtime.loops import loop

FEW = 2  # neighbors, which mostly make one part of a cluster already


@loop()
def overlay_pair(one, k, other, n_other, overlay):
    """overlay[u] = the number of the pair (one[u], other[u]), in the order of the first; returns how many there are.

    The nodes are sorted by `one`, so that a table of the clusters of `other` is all that has to be kept.
    """
    n = len(one)
    starts, order, number = np.zeros(k + 1, np.int64), np.empty(n, np.int32), np.full(n_other, -1, np.int32)
    for u in range(n):
        starts[one[u] + 1] += 1
    for c in range(k):
        starts[c + 1] += starts[c]
    place = starts[:-1].copy()
    for u in range(n):
        order[place[one[u]]] = u
        place[one[u]] += 1
    n_pairs = 0
    for c in range(k):
        for i in range(starts[c], starts[c + 1]):
            u = order[i]
            if number[other[u]] < 0:
                number[other[u]] = n_pairs
                n_pairs += 1
            overlay[u] = number[other[u]]
        for i in range(starts[c], starts[c + 1]):
            number[other[order[i]]] = -1
    return n_pairs


@loop()
def split_by_connection(rows, labels, k, parts):
    """parts[u] = the connected part of its cluster that u is in, numbered by first node.

    Returns how many parts there are, and how many entries were read.
    Each node is joined with its first FEW neighbors of its cluster; the others are read only for the nodes that are
    then outside the largest part of their cluster (Sutton et al. 2018, Afforest, for components).
    """
    n, n_parts, n_read = len(labels), 0, 0
    for u in range(n):
        parts[u] = u
    for u in range(n):
        n_joined = 0
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            n_read += 1
            v = np.uint32(rows.indices[e])
            if labels[v] == labels[u] and v != u:
                join(parts, u, np.int64(v))
                n_joined += 1
                if n_joined == FEW:
                    break
    flatten(parts)
    size, largest = np.zeros(n, np.int32), np.full(k, -1, np.int32)
    for u in range(n):
        size[parts[u]] += 1
    for u in range(n):
        c = labels[u]
        if largest[c] < 0 or size[u] > size[largest[c]]:
            largest[c] = u
    for u in range(n):
        if root(parts, u) != root(parts, largest[labels[u]]):
            n_read += rows.indptr[u + 1] - rows.indptr[u]
            for e in range(rows.indptr[u], rows.indptr[u + 1]):
                v = np.uint32(rows.indices[e])
                if labels[v] == labels[u]:
                    join(parts, u, np.int64(v))
    flatten(parts)
    for u in range(n):
        if parts[u] == u:
            size[u] = n_parts
            n_parts += 1
    for u in range(n):
        parts[u] = size[parts[u]]
    return n_parts, n_read
