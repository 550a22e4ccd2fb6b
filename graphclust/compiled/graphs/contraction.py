"""Contraction (aggregation): clusters become the nodes of a coarser graph; its partitions keep their value.

The links between clusters are added up cluster by cluster, or, of a very large graph, in the order of its file.
"""

from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.graphs.cluster_sums import INNER, LEAST_LINK, sum_of_links
from graphclust.compiled.graphs.levels import Level, Terms, loads_of
from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.runtime.blocks import MadeRows
from graphclust.compiled.runtime.loops import loop, read_only
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors, ask_for_next

MEMBERS_AHEAD = 4  # so far ahead the clusters of neighbors are asked for; before that, who and where those are


class Members(NamedTuple):
    """The cluster of each node, and the nodes sorted by cluster: cluster c is nodes[starts[c] : starts[c + 1]].

    layers : as `Objective` has them.
    """

    cluster: np.ndarray
    starts: np.ndarray
    nodes: np.ndarray
    layers: Any = ()


@loop()
def group_members(cluster, indptr, k):
    """Starts and nodes of `Members`, and entries (k + 1,): the rows of cluster c hold entries[c + 1] - entries[c]."""
    starts, entries, nodes = np.zeros(k + 1, np.int64), np.zeros(k + 1, np.int64), np.empty(len(cluster), np.int32)
    sort_nodes(cluster, starts, nodes)
    for u in range(len(cluster)):
        entries[cluster[u] + 1] += indptr[u + 1] - indptr[u]
    for c in range(len(starts) - 1):
        entries[c + 1] += entries[c]
    return starts, nodes, entries


@loop()
def sort_nodes(cluster, starts, nodes):
    """Nodes sorted by cluster, stable: those of cluster c from starts[c] on; starts (k + 1,) begins as zeros."""
    for u in range(len(cluster)):
        starts[cluster[u] + 1] += 1
    for c in range(len(starts) - 1):
        starts[c + 1] += starts[c]
    place = starts[:-1].copy()
    for u in range(len(cluster)):
        nodes[place[cluster[u]]] = u
        place[cluster[u]] += 1


@loop()
def link_clusters(first, last, block, made, rows, members):
    """Rows first..last-1 of the contracted graph, neighbors in the order met; returns how many entries they have.

    A row has room for as many clusters as it is made of entries, or as there are, so that one more than is counted can
    always be written.
    """
    cluster, starts, nodes, layers = members
    weighted, k = len(rows.weights) > 0, len(starts) - 1
    link, written = np.zeros(k + INNER), 0
    link[k:] = LEAST_LINK  # links inside a cluster go there: they look as if they were met already
    many, end = len(cluster) > CACHED, starts[last]
    for c in range(first, last):
        start = written
        for i in range(starts[c], starts[c + 1]):
            if i + 3 * MEMBERS_AHEAD < end:
                ask_for_next(cluster, rows, nodes, i, MEMBERS_AHEAD, many)
            row = rows.indptr[nodes[i]]
            for e in range(row, rows.indptr[nodes[i] + 1]):
                other = cluster[np.uint32(rows.indices[e])]
                # Turns are counted from the row's start, so that sums are the same wherever the row lies.
                place = np.uint32(k + ((e - row) & (INNER - 1)) if other == c else other)
                before = link[place]
                made.indices[np.uint32(written)] = other  # counted at the first link; a branch would be unpredictable
                written += before == 0.0
                link[place] = sum_of_links(before, rows.weights[e] if weighted else 1.0, layers)
        for i in range(start, written):
            made.weights[i] = link[made.indices[i]]
            link[made.indices[i]] = 0.0
        made.lengths[c] = written - start
    return written


@loop()
def contract(level, partition):
    """The level whose nodes are the clusters of a partition; their sums are known, so that links alone are added up."""
    (rows, terms), (labels, sums), k = level, partition, len(partition.sums.size)
    starts, nodes, entries = group_members(labels, rows.indptr, k)
    room = 1
    for c in range(k):
        room += min(entries[c + 1] - entries[c], k)  # no row of a cluster has more than either
    first, indptr = np.int64(0), np.zeros(k + 1, np.int64)
    made = MadeRows(indptr[1:], np.empty(room, np.int32), np.empty(room))
    n_entries = link_clusters(first, k, first, made, rows, Members(labels, starts, nodes, terms.layers))
    for c in range(k):
        indptr[c + 1] += indptr[c]
    indices, weights = made.indices[:n_entries].copy(), made.weights[:n_entries].copy()
    coarse = Rows(read_only(indptr), read_only(indices), read_only(weights))
    size = read_only(loads_of(terms.size, labels, k))
    return Level(coarse, Terms(read_only(sums.inside), read_only(sums.mass), size, terms.layers))


@loop()
def add_links(first, last, lane, part, n_parts, rows, cluster, links):
    """Add the entries of one part of a lane's rows to links (n_lanes, k, k)."""
    weighted, many = len(rows.weights) > 0, len(cluster) > CACHED
    start = first + (last - first) * part // n_parts
    stop = first + (last - first) * (part + 1) // n_parts
    for u in range(start, stop):
        if many and u + AHEAD < stop:
            ask_for_neighbors(cluster, rows, u + AHEAD)
        own = cluster[u]
        row_links = links[lane, own]
        stays = 0.0  # apart from the others: often most links do
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            other = cluster[np.uint32(rows.indices[e])]
            weight = rows.weights[e] if weighted else 1.0
            if other == own:
                stays += weight
            else:
                row_links[other] += weight
        row_links[own] += stays


@loop()
def overlay_pair(one, k, other, n_other, overlay):
    """overlay[u] = the number of the pair (one[u], other[u]), in the order of the first; returns how many there are.

    The nodes are sorted by `one`, so that a table of the clusters of `other` is all that has to be kept.
    """
    n = len(one)
    starts, order, number = np.zeros(k + 1, np.int64), np.empty(n, np.int32), np.full(n_other, -1, np.int32)
    sort_nodes(one, starts, order)
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
