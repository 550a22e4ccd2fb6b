"""One cycle over a small graph in one call: down to regions, which are merged into clusters, and back with moves.

The same as `partition.cycles.cycle` does level by level, in the same order. A loop takes some ten microseconds for a
level of a few thousand entries; to make its arrays and to call it from outside takes twice as long.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from graphclust.compiled.graphs.coarsening import (
    Clusters,
    count_links,
    group_members,
    is_counted,
    number_clusters,
    sum_links,
)
from graphclust.compiled.graphs.merging import CLUSTER, LIST, Chains, Merger, merge_pairs, number_roots
from graphclust.compiled.graphs.moves import (
    Bounds,
    MoveQueue,
    MoveRound,
    Scratch,
    add_to_sums,
    choose_moves,
    move_nodes,
)
from graphclust.compiled.graphs.objective import PLAIN, ClusterSums, NodeTerms, Objective, Rows, value_of
from graphclust.compiled.runtime.blocks import MadeRows
from graphclust.compiled.runtime.read_only import read_only
from graphclust.compiled.runtime.shuffling import shuffle

NO_END = 1 << 62  # entries that a loop may read before it comes back
# Written so, since a loop that is called with a number as such is compiled anew for this very number.


class Level(NamedTuple):
    """A graph, the terms of its nodes, and (n,) what they bring to `inside` beyond their entries on the diagonal."""

    rows: Rows
    terms: NodeTerms
    brought: np.ndarray


class Assigned(NamedTuple):
    """int32 labels and the sums of their clusters, which are the same on every level but for the numbers of nodes."""

    labels: np.ndarray
    sums: ClusterSums


NOTHING = Assigned(np.empty(0, np.int32), ClusterSums(np.empty(0), np.empty(0), np.empty(0, np.int64)))


class Coarsening(NamedTuple):
    """How a graph is coarsened: to `enough` nodes at least, in so many passes over each level.

    pull : of the plain objective by which nodes are joined; finest : on the first level, where that is higher.
    least_shrinkage : a level that leaves a larger share of the nodes is not made.
    """

    enough: int
    pull: float
    finest: float
    passes: int
    least_shrinkage: float


@njit(cache=True, nogil=True)
def cycle_at_once(level, found, k, objective, coarsening, settled, rng):
    """The better of the partition found, if any, and one merged anew; and the entries read of the rows of the graph.

    settled : whether no node gains by a move in the partition found.
    """
    levels, regions = [level], [found.labels]  # of the finest level there are none below
    has_found = len(found.labels) > 0
    parts = found.labels if has_found else np.zeros(1, np.int32)
    pull = max(coarsening.finest, coarsening.pull)
    n_read = 0
    while len(level.brought) > coarsening.enough:
        region, n_regions, read = _joined(level, pull, parts, coarsening, rng)
        n_read += read if len(levels) == 1 else 0
        if coarsening.enough <= n_regions <= coarsening.least_shrinkage * len(region):
            level = _contracted(level, region, n_regions)
            levels.append(level)
            regions.append(region)
            parts = _of_regions(parts, region, n_regions) if has_found else parts
        elif pull == coarsening.pull:
            break
        pull = coarsening.pull
    best, read = _moved(level, _merged(level, k, objective), k, objective)
    if has_found:
        kept, read_again = _moved(level, Assigned(parts, found.sums), k, objective)
        best = kept if value_of(objective, kept.sums) >= value_of(objective, best.sums) else best
        read += read_again
    n_read += read if len(levels) == 1 else 0
    for depth in range(len(levels) - 2, -1, -1):
        labels = _of_nodes(best.labels, regions[depth + 1])
        if depth == 0 and settled and _are_equal(labels, found.labels):
            return found, n_read
        best, read = _moved(levels[depth], Assigned(labels, best.sums), k, objective)
        n_read += read if depth == 0 else 0
    return best, n_read


@njit(cache=True, nogil=True)
def _of_regions(labels, region, n_regions):
    """The labels of regions whose nodes all have the same."""
    of_region = np.empty(n_regions, np.int32)
    for u in range(len(region)):
        of_region[region[u]] = labels[u]
    return of_region


@njit(cache=True, nogil=True)
def _of_nodes(labels, region):
    """The labels of nodes by those of their regions."""
    of_node = np.empty(len(region), np.int32)
    for u in range(len(region)):
        of_node[u] = labels[region[u]]
    return of_node


@njit(cache=True, nogil=True)
def _are_equal(labels, others):
    n_equal = 0
    for u in range(len(labels)):
        n_equal += labels[u] == others[u]
    return n_equal == len(labels)


@njit(cache=True, nogil=True)
def _joined(level, pull, parts, coarsening, rng):
    """`partition.coarsening.joined`: regions of nodes of one part, how many they are, and the entries read."""
    rows, terms = level.rows, level.terms
    n, n_entries = len(terms.mass), len(rows.indices)
    region, order, unnumbered = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    sums = ClusterSums(terms.loops.copy(), terms.mass.copy(), np.empty(n, np.int64))
    queued, scratch = np.empty(n, np.uint8), Scratch(np.zeros(n), np.empty(n + 1, np.int32))
    total = 0.0
    for u in range(n):
        region[u], order[u], unnumbered[u] = u, u, -1
        sums.size[u], queued[u] = 1, 1
        total += terms.degrees[u]
    shuffle(order, rng)
    objective = Objective(PLAIN, pull, total / n)
    queue = MoveQueue(order, queued, np.array([0, n]), scratch)
    read = 0
    for done in range(coarsening.passes):
        before = region.copy()
        read += move_nodes(float(n_entries), rows, terms, objective, region, sums, parts, queue)
        n_regions = 0
        for u in range(n):
            n_regions += sums.size[u] > 0
        if n_regions < coarsening.enough:
            if done > 0:
                region = before
            break
    return region, number_clusters(region, unnumbered), read


@njit(cache=True, nogil=True)
def _contracted(level, cluster, k):
    """`partition.quotient.contracted`: the quotient graph of k clusters."""
    rows, terms, brought = level
    starts, entries = np.zeros(k + 1, np.int64), np.zeros(k + 1, np.int64)
    members = np.empty(len(cluster), np.int32)
    group_members(cluster, rows.indptr, starts, entries, members)
    loops, mass, degrees, q_brought = np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k)
    for u in range(len(cluster)):
        mass[cluster[u]] += terms.mass[u]
        degrees[cluster[u]] += terms.degrees[u]
        q_brought[cluster[u]] += brought[u]
    most = 0
    for c in range(k):
        most += min(entries[c + 1] - entries[c], k)
    first, indptr = np.int64(0), np.zeros(k + 1, np.int64)
    made, clusters = MadeRows(indptr[1:], np.empty(most, np.int32), np.empty(most)), Clusters(cluster, starts, members)
    if is_counted(k, len(rows.indices), len(rows.weights) > 0):
        n_entries = count_links(first, k, first, made, rows, clusters, loops)
    else:
        n_entries = sum_links(first, k, first, made, rows, clusters, loops)
    for c in range(k):
        indptr[c + 1] += indptr[c]
        loops[c] += q_brought[c]
    indices, weights = made.indices[:n_entries].copy(), made.weights[:n_entries].copy()
    quotient = Rows(read_only(indptr), read_only(indices), read_only(weights))
    return Level(quotient, NodeTerms(read_only(loops), read_only(mass), read_only(degrees)), q_brought)


@njit(cache=True, nogil=True)
def _merged(level, k, objective):
    """`partition.merging.merged`: the nodes merged pair by pair into k clusters."""
    rows, terms = level.rows, level.terms
    n = len(terms.mass)
    links = np.empty(len(rows.indices))
    for e in range(len(links)):
        links[e] = rows.weights[e] if len(rows.weights) else 1.0
    chains = Chains(rows.indptr, rows.indices.copy(), links, np.empty(n, LIST))
    clusters = np.zeros(n, CLUSTER)
    labels, roots, unnumbered = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for u in range(n):
        clusters[u]["inside"], clusters[u]["mass"], unnumbered[u] = terms.loops[u], terms.mass[u], -1
    heap = np.empty(2 * n + 16), np.empty(2 * n + 16, np.int32)
    no_trace, no_pairs = np.empty(0), np.empty((0, 2), np.int32)
    merger = Merger(clusters, heap[0], heap[1], roots, np.zeros(3, np.int64), no_trace, no_pairs)
    merge_pairs(np.int64(NO_END), k, objective, chains, merger)
    number_roots(clusters, unnumbered, labels, roots)
    sums = ClusterSums(np.empty(k), np.empty(k), np.zeros(k, np.int64))
    for c in range(k):
        sums.inside[c], sums.mass[c] = clusters[roots[c]]["inside"], clusters[roots[c]]["mass"]
    return Assigned(labels, sums)


@njit(cache=True, nogil=True)
def _moved(level, found, k, objective):
    """`partition.cycles.moved`: the partition after moves of single nodes, and the entries read.

    All clusters bound what a move can gain: to leave light ones out of it takes longer here than it saves.
    """
    rows, terms = level.rows, level.terms
    n = len(terms.mass)
    labels, target, stays = found.labels.copy(), np.empty(n, np.int32), np.empty(n)
    before = ClusterSums(found.sums.inside, found.sums.mass, np.zeros(k, np.int64))
    for u in range(n):
        before.size[labels[u]] += 1
    least, worst = np.inf, 0.0
    for c in range(k):
        if before.mass[c] > 0.0:
            least, worst = min(least, before.mass[c]), max(worst, -before.inside[c] / before.mass[c])
    bounds = Bounds((least, worst), (least, worst), np.empty(0, np.bool_))
    n_read = np.zeros(1, np.int64)
    first, now = np.int64(0), MoveRound(labels, before, stays, False, bounds, -1, n_read)
    choose_moves(first, n, first, rows, terms, objective, now, target)
    sums = ClusterSums(np.zeros(k), np.zeros(k), np.zeros(k, np.int64))
    add_to_sums(labels, stays, terms, sums)
    nodes, queued, waiting = np.empty(n, np.int32), np.zeros(n, np.uint8), 0
    for u in range(n):
        if target[u] >= 0:
            nodes[waiting] = u
            queued[u] = 1
            waiting += 1
    if waiting > 0:
        scratch = Scratch(np.zeros(k), np.empty(k + 1, np.int32))
        queue = MoveQueue(nodes, queued, np.array([0, waiting]), scratch)
        n_read[0] += move_nodes(float(NO_END), rows, terms, objective, labels, sums, np.empty(0, np.int32), queue)
    return Assigned(labels, sums), n_read[0]
