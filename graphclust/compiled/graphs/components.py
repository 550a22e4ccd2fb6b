"""Connected components of a graph, and the connected parts of clusters, by union-find."""

import numpy as np

from graphclust.compiled.graphs.levels import number_by_first_node
from graphclust.compiled.runtime.loops import UNCOUNTED, ask_for, loop
from graphclust.compiled.runtime.prefetch import CACHED

AHEAD = 16  # nodes: the first two or so neighbors of a row are prefetched so far ahead
FEW = 2  # neighbors, which mostly make one part of a cluster already


@loop(**UNCOUNTED)
def root(parent, u):
    while parent[u] != u:
        parent[u] = parent[parent[u]]  # path halving
        u = parent[u]
    return u


@loop(**UNCOUNTED)
def join(parent, u, v):
    """The lower root becomes the parent, so that a component's root is its lowest node."""
    u, v = root(parent, u), root(parent, v)
    if u < v:
        parent[v] = u
    elif v < u:
        parent[u] = v


@loop(**UNCOUNTED)
def join_first_neighbors(first, last, n_neighbors, indptr, indices, parent):
    """Join each node with its first few neighbors: on most graphs this finds the giant component already."""
    many = len(parent) > CACHED
    for u in range(first, last):
        if many and u + 2 * AHEAD < last:
            ask_for(indices, indptr[u + 2 * AHEAD])
            start = indptr[u + AHEAD]
            for e in range(start, min(start + n_neighbors, indptr[u + AHEAD + 1])):
                ask_for(parent, np.uint32(indices[e]))
        for e in range(indptr[u], min(indptr[u] + n_neighbors, indptr[u + 1])):
            join(parent, u, indices[e])


@loop(**UNCOUNTED)
def join_remaining_neighbors(first, last, giant, n_neighbors, indptr, indices, parent):
    """Join the rest of the edges, except those from nodes already in `giant`: the edge's other end sees it too."""
    for u in range(first, last):
        if root(parent, u) == giant:
            continue
        for e in range(indptr[u] + n_neighbors, indptr[u + 1]):
            join(parent, u, indices[e])


@loop(**UNCOUNTED)
def flatten(parent):
    for u in range(len(parent)):
        parent[u] = parent[parent[u]]  # a parent is never above its child, and is flat already


@loop()
def split_by_connection(rows, labels, k, parts):
    """parts[u] = the connected part of its cluster that u is in, numbered by first node.

    Returns how many parts there are, and how many entries were read. Each node is joined with its first FEW neighbors
    of its cluster; the others are read only for the nodes that are then outside the largest part of their cluster
    (Sutton et al. 2018, Afforest, for components).
    """
    n, n_read = len(labels), 0
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
    return number_by_first_node(parts, np.full(n, -1, np.int32)), n_read
