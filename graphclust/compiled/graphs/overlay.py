"""The overlay of partitions, and the connected parts of clusters."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def split_by_connection(rows, labels, parts):
    """parts[u] = the connected part of its cluster that u is in, numbered by first node; returns how many there are."""
    n, n_parts = len(labels), 0
    stack = np.empty(n, np.int32)
    for u in range(n):
        parts[u] = -1
    for start in range(n):
        if parts[start] >= 0:
            continue
        parts[start], stack[0], size = n_parts, start, 1
        while size > 0:
            size -= 1
            u = stack[size]
            for e in range(rows.indptr[u], rows.indptr[u + 1]):
                v = rows.indices[e]
                if parts[v] < 0 and labels[v] == labels[start]:
                    parts[v] = n_parts
                    stack[size] = v
                    size += 1
        n_parts += 1
    return n_parts
