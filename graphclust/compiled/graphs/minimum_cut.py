"""Minimum cuts inside clusters, exactly: the least weight of edges whose removal parts a cluster.

One scan of a graph in the order of maximum adjacency, each next node being the one that is linked most to those before,
shows which edges lie between nodes that no cut below the best so far parts (the sparse certificate of Nagamochi &
Ibaraki 1992; Nagamochi, Ono & Ibaraki 1994). These nodes become one, as do two of which one hangs on the other by half
of its degree (Padberg & Rinaldi 1990), and the smaller graph is scanned again until one node is left. The best cut is
that of a node, or of the nodes up to some place of a scan. Ties are by number, so that the graph decides.
"""

import numpy as np

from graphclust.compiled.graphs.components import flatten, join, root
from graphclust.compiled.graphs.contraction import contract
from graphclust.compiled.graphs.heap import pop, push
from graphclust.compiled.graphs.levels import Level, Partition, Terms, number_by_first_node
from graphclust.compiled.graphs.objective import ClusterSums, Rows
from graphclust.compiled.runtime.loops import loop, read_only

APART, WHOLE = -2, -1  # what becomes of a node that is not in a part of its cluster: it is alone, or its cluster stays
ROUND_OFF = 1e-9  # relative: cuts so alike weigh the same


@loop()
def rows_among(members, rows, labels, place):
    """The rows of a cluster's members, who are numbered in their order, without loops and links to other clusters.

    place : int32, of all nodes; those of the members are written.
    """
    n, own, weighted, room = len(members), labels[members[0]], len(rows.weights) > 0, 0
    for i in range(n):
        place[members[i]] = i
        room += rows.indptr[members[i] + 1] - rows.indptr[members[i]]
    indptr, indices, weights = np.zeros(n + 1, np.int64), np.empty(room, np.int32), np.ones(room)
    free = 0
    for i in range(n):
        u = members[i]
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.uint32(rows.indices[e])
            if labels[v] == own and v != u:
                indices[free] = place[v]
                if weighted:
                    weights[free] = rows.weights[e]
                free += 1
        indptr[i + 1] = free
    return Rows(read_only(indptr), read_only(indices[:free]), read_only(weights[:free]))


@loop()
def sum_rows(rows):
    degree = np.zeros(len(rows.indptr) - 1)
    for u in range(len(degree)):
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            degree[u] += rows.weights[e]
    return degree


@loop()
def peel(rows, bar, turn):
    """Peel off the node of lowest degree among those left, while that is at most bar[n] for the n left; returns n.

    turn : zeros, int32; of the nodes that are peeled -1, -2, ... in their order.
    """
    degree, left, size = sum_rows(rows), len(turn), 0
    if degree.min() > bar[left]:  # nothing to peel: most clusters, without a heap
        return left
    gains, items = np.empty(left + len(rows.indices)), np.empty(left + len(rows.indices), np.int32)
    for u in range(left):
        if degree[u] <= bar[left]:
            size = push(gains, items, size, -degree[u], u)
    while size > 0:
        u, lowest = items[0], -gains[0]
        size = pop(gains, items, size)
        if turn[u] < 0 or lowest != degree[u]:  # peeled, or an older entry
            continue
        if lowest > bar[left]:
            break
        left -= 1
        turn[u] = left - len(turn)  # -1 for the first
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = rows.indices[e]
            degree[v] -= rows.weights[e]
            if turn[v] == 0 and degree[v] <= bar[left]:
                size = push(gains, items, size, -degree[v], v)
    return left


@loop()
def scan(rows, degree, best, is_fixed, parent, place):
    """Scan in the order of maximum adjacency, and join in `parent` nodes that no cut below the best parts.

    place[u] is the place of a node. Returns the weight of the best cut, and how many first places are on one side of
    it; 0 if it is the one that was known. Links at least as heavy as the best cut count alike. is_fixed : all cuts
    below the best one given are kept, instead of one that is best.
    """
    n, cut, length = len(degree), 0.0, 0
    link, is_matched = np.zeros(n), np.zeros(n, np.bool_)
    gains, items = np.empty(len(rows.indices) + 1), np.empty(len(rows.indices) + 1, np.int32)
    size, last, n_trees = push(gains, items, 0, 0.0, 0), 0, n
    for i in range(n):
        while size > 0 and place[items[0]] >= 0:  # entries of nodes that were scanned meanwhile
            size = pop(gains, items, size)
        if size == 0:  # disconnected
            return 0.0, i
        before, u = last, items[0]
        place[u], last = i, u
        cut += degree[u] - 2.0 * link[u]  # of the nodes up to u: its links to those before are inside now
        if i + 1 < n and cut < best and not is_fixed:
            best, length = cut, i + 1
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v, weight = rows.indices[e], rows.weights[e]
            if place[v] >= 0:
                continue
            if link[v] < best:
                # Alike from `best` on, so that each node is pushed few times.
                size = push(gains, items, size, min(link[v] + weight, best), v)
            link[v] += weight
            if link[v] < best:
                # Padberg & Rinaldi's test is of two nodes as they are: not of what is joined in this scan already.
                if is_fixed or is_matched[u] or is_matched[v] or 2.0 * weight < min(degree[u], degree[v]):
                    continue
                is_matched[u] = is_matched[v] = True
            n_trees -= root(parent, u) != root(parent, v)
            join(parent, u, v)
            if n_trees == 1:  # one node is left: no lower cut can be there
                return best, length
    if not is_fixed:
        join(parent, before, last)  # the link of the last node is its degree, but for rounding
    return best, length


@loop()
def merge(rows, parent, of):
    """The rows of the graph whose nodes are the trees in `parent`; `of` says which of them each first node is in."""
    flatten(parent)
    number = parent.astype(np.int32)
    n = number_by_first_node(number, np.full(len(parent), -1, np.int32))
    for u in range(len(of)):
        of[u] = number[of[u]]
    none = read_only(np.zeros(n))  # the sums of clusters that `contract` carries along, and no cut asks for
    sums = ClusterSums(np.zeros(n), np.zeros(n), np.zeros(n, np.int64))
    return contract(Level(rows, Terms(none, none, None, ())), Partition(number, sums)).rows


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
        if degree[lightest] < best:  # the cut around one node is a cut too
            best = degree[lightest]
            for u in range(n):
                side[u] = of[u] == lightest
        if best == 0.0:  # disconnected: nothing is below
            break
        parent, place = np.arange(k), np.full(k, -1, np.int32)
        best, length = scan(rows, degree, best, False, parent, place)
        if length > 0:
            for u in range(n):
                side[u] = 0 <= place[of[u]] < length
        if best == 0.0:
            break
        rows = merge(rows, parent, of)
    return best


@loop()
def find_minimum_cuts(first, last, block, members, rows, place, cuts):
    """The weight of a minimum cut of clusters first..last-1; 0 for a single node."""
    labels, starts, nodes, _ = members
    for c in range(first, last):
        own = nodes[starts[c] : starts[c + 1]]
        cuts[c] = 0.0
        if len(own) > 1:
            cuts[c] = minimum_cut(rows_among(own, rows, labels, place), np.inf, np.empty(len(own), np.int8))


@loop()
def part_along_minimum_cuts(rows, best, part):
    """Whether a minimum cut is below `best`; then part (n,) numbers what such cuts leave.

    All minimum cuts around nodes that none of them parts, as far as scans show, are taken at once, or else the one that
    was found.
    """
    side = np.zeros(len(part), np.int8)
    least = minimum_cut(rows, best, side)
    if not least < best:
        return False
    above, of, k = least * (1.0 + ROUND_OFF), np.arange(len(part)), -1
    # Scans join what no minimum cut parts, until one joins nothing more.
    while least > 0.0 and len(rows.indptr) - 1 != k:
        k = len(rows.indptr) - 1
        parent = np.arange(k)
        scan(rows, sum_rows(rows), above, True, parent, np.full(k, -1, np.int32))
        rows = merge(rows, parent, of)
    degree, is_found = sum_rows(rows), False
    for u in range(len(part)):
        part[u] = of[u] + 1 if degree[of[u]] <= above else 0
        is_found |= part[u] > 0
    for u in range(len(part)):
        # Every minimum cut parts several of the nodes left: take the one known.
        part[u] = part[u] if is_found else side[u]
    return True


@loop()
def cut_clusters(first, last, block, members, rows, place, bar, fate):
    """Peel clusters first..last-1, and part the rest where a minimum cut is at most bar[n].

    fate[u] is a node of the part that u is in; the nodes peeled off are a part. Of a cluster that is peeled to the end
    the two halves of that order are parts.
    """
    labels, starts, nodes, _ = members
    for c in range(first, last):
        own = nodes[starts[c] : starts[c + 1]]
        inner, turn = rows_among(own, rows, labels, place), np.zeros(len(own), np.int32)
        n = peel(inner, bar, turn)
        kept, part, is_whole = np.flatnonzero(turn == 0), np.zeros(len(own), np.int32), False
        if n > 1:
            if n < len(own):
                inner = rows_among(kept, inner, turn, np.empty(len(own), np.int32))
            among = np.zeros(n, np.int32)
            is_whole = not part_along_minimum_cuts(inner, np.nextafter(bar[n], np.inf), among)
            for i in range(n):
                part[kept[i]] = 1 + among[i]
        else:
            for i in range(len(own)):
                part[i] = -2 * turn[i] > len(own)  # peeled to the end: the second half of the order is the denser one
        named = np.full(len(own) + 2, -1)
        for i in range(len(own)):
            u = own[i]
            if named[part[i]] < 0:
                named[part[i]] = u
            fate[u] = WHOLE if is_whole and turn[i] == 0 else named[part[i]] if len(own) > 1 else APART
