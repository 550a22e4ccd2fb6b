"""Minimum cuts inside clusters, exactly: the least weight of edges whose removal parts a cluster.

One scan of a graph in the order of maximum adjacency, each next node being the one that is linked most to those before,
shows which edges lie between nodes that no cut below the best so far parts (the sparse certificate of Nagamochi &
Ibaraki 1992; Nagamochi, Ono & Ibaraki 1994). These nodes become one, as do two of which one hangs on the other by half
of its degree (Padberg & Rinaldi 1990), and the smaller graph is scanned again until one node is left. The best cut is
that of a node, or of the nodes up to some place of a scan. Ties are by number, so that the graph decides.
"""

import numpy as np

from graphclust.compiled.graphs.contraction import contract
from graphclust.compiled.graphs.csr_checks import flatten, join
from graphclust.compiled.graphs.heap import pop, push
from graphclust.compiled.graphs.levels import Level, Partition, Terms
from graphclust.compiled.graphs.objective import ClusterSums, Rows
from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.read_only import read_only

APART, WHOLE, NEAR, FAR = range(4)  # what becomes of a node: left out, its cluster stays, or on which side of a cut


@loop()
def rows_among(members, rows, labels, place):
    """The rows of a cluster's members, who are numbered in their order, without loops and links to other clusters.

    place : int32, of all nodes; those of the members are written.
    """
    n, own, weighted = len(members), labels[members[0]], len(rows.weights) > 0
    indptr = np.zeros(n + 1, np.int64)
    for i in range(n):
        u = members[i]
        place[u] = i
        indptr[i + 1] = indptr[i]
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            indptr[i + 1] += labels[rows.indices[e]] == own and rows.indices[e] != u
    indices, weights = np.empty(indptr[n], np.int32), np.ones(indptr[n])
    free = 0
    for u in members:
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = rows.indices[e]
            if labels[v] == own and v != u:
                indices[free] = place[v]
                if weighted:
                    weights[free] = rows.weights[e]
                free += 1
    return Rows(read_only(indptr), read_only(indices), read_only(weights))


@loop()
def sum_rows(rows):
    """The degree of each node."""
    degree = np.zeros(len(rows.indptr) - 1)
    for u in range(len(degree)):
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            degree[u] += rows.weights[e]
    return degree


@loop()
def peel(rows, bar, labels):
    """Label -1 the node of lowest degree among those left, while that is at most bar[n] for the n left; returns n.

    labels : zeros, int32.
    """
    degree, left, size = sum_rows(rows), len(labels), 0
    gains, items = np.empty(left + len(rows.indices)), np.empty(left + len(rows.indices), np.int32)
    for u in range(left):
        if degree[u] <= bar[left]:
            size = push(gains, items, size, -degree[u], u)
    while size > 0:
        u, lowest = items[0], -gains[0]
        size = pop(gains, items, size)
        if labels[u] < 0 or lowest != degree[u]:
            continue
        if lowest > bar[left]:
            break
        labels[u] = -1
        left -= 1
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = rows.indices[e]
            degree[v] -= rows.weights[e]
            if labels[v] >= 0 and degree[v] <= bar[left]:
                size = push(gains, items, size, -degree[v], v)
    return left


@loop()
def scan(rows, degree, best, parent, place):
    """Scan in the order of maximum adjacency, and join in `parent` nodes that no cut below the best parts.

    place[u] is the place of a node. Returns the weight of the best cut, and how many first places are on one side of
    it; 0 if it is the one that was known. Links at least as heavy as the best cut count alike.
    """
    n, cut, length = len(degree), 0.0, 0
    link, is_matched = np.zeros(n), np.zeros(n, np.bool_)
    gains, items = np.empty(len(rows.indices) + 1), np.empty(len(rows.indices) + 1, np.int32)
    size, last = push(gains, items, 0, 0.0, 0), 0
    for i in range(n):
        while size > 0 and place[items[0]] >= 0:
            size = pop(gains, items, size)
        if size == 0:  # disconnected
            return 0.0, i
        before, u = last, items[0]
        place[u], last = i, u
        cut += degree[u] - 2.0 * link[u]
        if i + 1 < n and cut < best:
            best, length = cut, i + 1
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v, weight = rows.indices[e], rows.weights[e]
            if place[v] >= 0:
                continue
            if link[v] < best:
                size = push(gains, items, size, min(link[v] + weight, best), v)
            link[v] += weight
            if link[v] >= best:
                join(parent, u, v)
            elif 2.0 * weight >= min(degree[u], degree[v]) and not is_matched[u] and not is_matched[v]:
                is_matched[u] = is_matched[v] = True
                join(parent, u, v)
    join(parent, before, last)  # the link of the last node is its degree, but for rounding
    return best, length


@loop()
def minimum_cut(rows, best, side):
    """The weight of the least cut below `best`, or `best` where there is none; side (n,) is 1 on one side of it."""
    n = len(side)
    of = np.arange(n)
    while len(rows.indptr) > 2:
        k, degree = len(rows.indptr) - 1, sum_rows(rows)
        lightest = 0
        for c in range(k):
            if degree[c] < degree[lightest]:
                lightest = c
        if degree[lightest] < best:
            best = degree[lightest]
            for u in range(n):
                side[u] = of[u] == lightest
        if best == 0.0:
            break
        parent, place = np.arange(k), np.full(k, -1, np.int32)
        best, length = scan(rows, degree, best, parent, place)
        if length > 0:
            for u in range(n):
                side[u] = 0 <= place[of[u]] < length
        if best == 0.0:
            break
        flatten(parent)
        number, n_left = np.empty(k, np.int32), 0
        for c in range(k):
            if parent[c] == c:
                number[c] = n_left
                n_left += 1
            else:
                number[c] = number[parent[c]]
        none = read_only(np.zeros(n_left))
        sums = ClusterSums(none, none, read_only(np.zeros(n_left, np.int64)))
        rows = contract(Level(rows, Terms(none, none, None)), Partition(number, sums)).rows
        for u in range(n):
            of[u] = number[of[u]]
    return best


@loop()
def find_minimum_cuts(first, last, block, nodes, starts, rows, labels, place, cuts):
    """The weight of a minimum cut of clusters first..last-1, nodes[starts[c] : starts[c + 1]]; 0 for a single node."""
    for c in range(first, last):
        members = nodes[starts[c] : starts[c + 1]]
        cuts[c] = 0.0
        if len(members) > 1:
            cuts[c] = minimum_cut(rows_among(members, rows, labels, place), np.inf, np.empty(len(members), np.int8))


@loop()
def cut_clusters(first, last, block, nodes, starts, rows, labels, place, bar, fate):
    """Peel clusters first..last-1 and cut them where a minimum cut is at most bar[n]; what becomes of each node."""
    for c in range(first, last):
        members = nodes[starts[c] : starts[c + 1]]
        inner, left = rows_among(members, rows, labels, place), np.zeros(len(members), np.int32)
        n = peel(inner, bar, left)
        kept = np.flatnonzero(left == 0)
        side = np.zeros(n, np.int8)
        if 0 < n < len(members):
            inner = rows_among(kept, inner, left, np.empty(len(members), np.int32))
        enough = np.nextafter(bar[n], np.inf)
        is_cut = n > 1 and minimum_cut(inner, enough, side) < enough
        for u in members:
            fate[u] = APART
        for i in range(n):
            fate[members[kept[i]]] = (FAR if side[i] else NEAR) if is_cut else WHOLE
