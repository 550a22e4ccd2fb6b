"""The steps of a cycle over a small graph, each in one call: nodes joined to regions, contracted, merged, and moved.

The same as `partition` does by loops over blocks, in the same order. A loop takes some ten microseconds for a level of
a few thousand entries; to make its arrays and to call it from outside takes twice as long.

What is called from outside, `..._at_once`, writes to arrays that are there and returns numbers alone: to hand an array
over numba calls Python code, where Ctrl-C may strike; it goes on without what was not made, and crashes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from graphclust.compiled.graphs.climbing import Patience, climb
from graphclust.compiled.graphs.coarsening import (
    Clusters,
    count_links,
    group_members,
    is_counted,
    number_clusters,
    sum_links,
)
from graphclust.compiled.graphs.joining import Joining, join_in_turn, keep_within
from graphclust.compiled.graphs.link_table import table_of, table_pays
from graphclust.compiled.graphs.merging import (
    CLUSTER,
    LIST,
    Chains,
    Merger,
    merge_pairs,
    number_roots,
)
from graphclust.compiled.graphs.moves import (
    Bounds,
    MoveQueue,
    MoveRound,
    Scratch,
    add_to_sums,
    choose_in_table,
    choose_moves,
    move_nodes,
)
from graphclust.compiled.graphs.objective import PLAIN, ClusterSums, NodeTerms, Objective, Rows
from graphclust.compiled.runtime.blocks import MadeRows
from graphclust.compiled.runtime.read_only import read_only
from graphclust.compiled.runtime.shuffling import shuffle

NO_END = 1 << 62  # entries that a loop may read before it comes back


class Level(NamedTuple):
    """A graph, the terms of its nodes under an objective, and (n,) the entries on its diagonal."""

    rows: Rows
    terms: NodeTerms
    loops: np.ndarray


class Assigned(NamedTuple):
    """int32 labels and the sums of their clusters, which are the same on every level but for the numbers of nodes."""

    labels: np.ndarray
    sums: ClusterSums


class Coarsening(NamedTuple):
    """How a graph is coarsened: to `enough` nodes at least.

    pull : of the plain objective by which nodes are joined; finest : on the first level, where that is higher.
    unsettled : while a pass moves a larger share of the nodes of a level, another one follows.
    least_shrinkage : a level that leaves a larger share of the nodes is not made.
    patience : of `climb`, on every level of regions; of no share where nodes only make moves that gain.
    """

    enough: int
    pull: float
    finest: float
    unsettled: float
    least_shrinkage: float
    patience: Patience


@njit(cache=True, nogil=True)
def join_nodes(level, pull, parts, enough, unsettled, draws):
    """`partition.coarsening.joined`: regions of nodes of one part, how many they are, and the entries read."""
    rows, terms = level.rows, level.terms
    n = len(terms.mass)
    if len(parts) > 1:
        kept = Rows(np.zeros(n + 1, np.int64), np.empty(len(rows.indices), np.int32), np.empty(len(rows.weights)))
        keep_within(rows, parts, kept)
        rows = Rows(read_only(kept.indptr), read_only(kept.indices), read_only(kept.weights))
    region, order, unnumbered = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    size = np.empty(n, np.int32)
    total = 0.0
    for u in range(n):
        region[u], order[u], unnumbered[u], size[u] = u, u, -1, 1
        total += terms.degrees[u]
    shuffle(order, draws)
    objective, state = Objective(PLAIN, pull, total / n), np.array([n - enough, n])
    joining = Joining(region, terms.mass.copy(), size, state, np.zeros(n), np.empty(n + 1, np.int32))
    first, read, done = np.int64(0), 0, 0
    while done == 0 or state[1] > unsettled * n:
        before = region.copy()
        state[1] = 0
        read += join_in_turn(first, n, order, rows, terms, objective, joining)
        if state[0] < 0:
            region = before if done > 0 else region
            break
        done += 1
    return region, number_clusters(region, unnumbered), read


@njit(cache=True, nogil=True)
def contract_clusters(level, cluster, k):
    """`partition.quotient.contracted`: the quotient graph of k clusters."""
    rows, terms, loops = level
    starts, entries = np.zeros(k + 1, np.int64), np.zeros(k + 1, np.int64)
    members = np.empty(len(cluster), np.int32)
    group_members(cluster, rows.indptr, starts, entries, members)
    q_loops, mass, degrees, brought = np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k)
    for u in range(len(cluster)):
        mass[cluster[u]] += terms.mass[u]
        degrees[cluster[u]] += terms.degrees[u]
        brought[cluster[u]] += terms.loops[u] - loops[u]
    most = 0
    for c in range(k):
        most += min(entries[c + 1] - entries[c], k)
    first, indptr = np.int64(0), np.zeros(k + 1, np.int64)
    made, clusters = MadeRows(indptr[1:], np.empty(most, np.int32), np.empty(most)), Clusters(cluster, starts, members)
    if is_counted(k, len(rows.indices), len(rows.weights) > 0):
        n_entries = count_links(first, k, first, made, rows, clusters, q_loops)
    else:
        n_entries = sum_links(first, k, first, made, rows, clusters, q_loops)
    for c in range(k):
        indptr[c + 1] += indptr[c]
        brought[c] += q_loops[c]
    indices, weights = made.indices[:n_entries].copy(), made.weights[:n_entries].copy()
    quotient = Rows(read_only(indptr), read_only(indices), read_only(weights))
    return Level(quotient, NodeTerms(read_only(brought), read_only(mass), read_only(degrees)), read_only(q_loops))


@njit(cache=True, nogil=True)
def merge_nodes(level, k, objective, trace, pairs):
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
    merger = Merger(clusters, heap[0], heap[1], roots, np.zeros(4, np.int64), trace, pairs, None)
    merge_pairs(np.int64(NO_END), k, objective, chains, merger)  # a bare number would be a type of its own
    n_clusters = number_roots(clusters, unnumbered, labels, roots)
    sums = ClusterSums(np.empty(n_clusters), np.empty(n_clusters), np.zeros(n_clusters, np.int64))
    for c in range(n_clusters):
        sums.inside[c], sums.mass[c] = clusters[roots[c]]["inside"], clusters[roots[c]]["mass"]
    for u in range(n):
        sums.size[labels[u]] += 1
    return Assigned(labels, sums)


@njit(cache=True, nogil=True)
def move_until_stable(level, found, k, objective):
    """`partition.cycles.moved`: the partition after moves of single nodes, and the entries read."""
    rows, terms = level.rows, level.terms
    n = len(terms.mass)
    labels, target, stays = found.labels.copy(), np.empty(n, np.int32), np.empty(n)
    before = ClusterSums(found.sums.inside, found.sums.mass, np.zeros(k, np.int64))
    for u in range(n):
        before.size[labels[u]] += 1
    sums = ClusterSums(np.zeros(k), np.zeros(k), np.zeros(k, np.int64))
    scratch = Scratch(np.zeros(k), np.empty(k + 1, np.int32))
    queue = MoveQueue(np.empty(n, np.int32), np.zeros(n, np.uint8), np.zeros(2, np.int64), scratch)
    n_read = len(rows.indices)
    if table_pays(rows, terms, k):
        table = table_of(rows, labels, k)
        choose_in_table(rows, terms, objective, labels, before, table, scratch, target)
        for u in range(n):
            stays[u] = table.links[u, labels[u]]
        add_to_sums(labels, stays, terms, sums)
        _wait(target, queue)
        n_read += move_nodes(float(NO_END), rows, terms, objective, labels, sums, queue, table)
    else:
        _choose(level, labels, before, stays, objective, target)
        add_to_sums(labels, stays, terms, sums)
        _wait(target, queue)
        n_read += move_nodes(float(NO_END), rows, terms, objective, labels, sums, queue, None)
    return Assigned(labels, sums), n_read


@njit(cache=True, nogil=True)
def _choose(level, labels, sums, stays, objective, target):
    """`choose_moves` of all nodes, and what stays.

    All clusters bound what a move can gain: to leave light ones out of it takes longer here than it saves.
    """
    least, worst = np.inf, 0.0
    for c in range(len(sums.mass)):
        if sums.mass[c] > 0.0:
            least, worst = min(least, sums.mass[c]), max(worst, -sums.inside[c] / sums.mass[c])
    bounds = Bounds((least, worst), (least, worst), np.empty(0, np.bool_))
    first, now = np.int64(0), MoveRound(labels, sums, stays, False, bounds, -1, np.zeros(1, np.int64))
    choose_moves(first, len(labels), first, level.rows, level.terms, objective, now, target)


@njit(cache=True, nogil=True)
def _wait(target, queue):
    """The nodes that have a target wait in the queue."""
    for u in range(len(target)):
        if target[u] >= 0:
            queue.nodes[queue.state[1]] = u
            queue.queued[u] = 1
            queue.state[1] += 1


@njit(cache=True, nogil=True)
def climb_from(level, found, objective, patience):
    """`partition.cycles.climbed`: the partition after a climb, as it is if none gains; and the entries read."""
    labels, size = found.labels.copy(), np.zeros(len(found.sums.mass), np.int64)
    for u in range(len(labels)):
        size[labels[u]] += 1
    sums = ClusterSums(found.sums.inside.copy(), found.sums.mass.copy(), size)
    gained, n_read = climb(patience, level.rows, level.terms, objective, labels, sums)
    return (Assigned(labels, sums) if gained > 0.0 else found), n_read


@njit(cache=True, nogil=True)
def join_at_once(level, pull, parts, enough, unsettled, draws, region):
    """`join_nodes`, to region (n,); returns how many regions they are, and the entries read."""
    joined, n_regions, read = join_nodes(level, pull, parts, enough, unsettled, draws)
    copy_to(region, joined)
    return n_regions, read


@njit(cache=True, nogil=True)
def contract_at_once(level, cluster, k, quotient):
    """`contract_clusters`, to a level whose rows have room for as many entries as there can be; returns how many."""
    made = contract_clusters(level, cluster, k)
    copy_to(quotient.rows.indptr, made.rows.indptr)
    copy_to(quotient.rows.indices, made.rows.indices)
    copy_to(quotient.rows.weights, made.rows.weights)
    copy_to(quotient.terms.loops, made.terms.loops)
    copy_to(quotient.terms.mass, made.terms.mass)
    copy_to(quotient.terms.degrees, made.terms.degrees)
    copy_to(quotient.loops, made.loops)
    return len(made.rows.indices)


@njit(cache=True, nogil=True)
def merge_at_once(level, k, objective, trace, pairs, merged):
    """`merge_nodes`, to labels and sums that are there."""
    write(merge_nodes(level, k, objective, trace, pairs), merged)


@njit(cache=True, nogil=True)
def move_at_once(level, found, k, objective, moved):
    """`move_until_stable`, to labels and sums that are there; returns the entries read."""
    made, n_read = move_until_stable(level, found, k, objective)
    write(made, moved)
    return n_read


@njit(cache=True, nogil=True)
def climb_at_once(level, found, objective, patience, better):
    """`climb_from`, to labels and sums that are there; returns the entries read."""
    made, n_read = climb_from(level, found, objective, patience)
    write(made, better)
    return n_read


@njit(cache=True, nogil=True)
def write(made, to):
    """Labels and sums into the arrays of others."""
    copy_to(to.labels, made.labels)
    copy_to(to.sums.inside, made.sums.inside)
    copy_to(to.sums.mass, made.sums.mass)
    copy_to(to.sums.size, made.sums.size)


@njit(cache=True, nogil=True)
def copy_to(room, values):
    """Values into an array that has room for them.

    An assignment to a slice is a dozen times as many instructions, with the text of an error about shapes: the first
    call in a process loads them all.
    """
    for i in range(len(values)):
        room[i] = values[i]
