"""What one node does in local moving: it looks at its row, and chooses the cluster that raises the objective most.

The nodes of a batch choose side by side, by the labels and sums as they stand, and change nothing of these.

A row may be so long that one thread would keep all others waiting. Threads share first its entries, to look up the
clusters of the neighbors, and then the clusters. The links to a cluster are added by one thread in the order of the
row, so choices are those of one thread, bit by bit.
"""

from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.graphs.cluster_sums import LEAST_LINK, sum_of_links
from graphclust.compiled.graphs.levels import has_room, may_lose, may_stand, size_at
from graphclust.compiled.graphs.objective import (
    ADDITIVE,
    LEAST_GAIN,
    RATIO,
    ClusterSums,
    Objective,
    better_of,
    gain_of_joining,
    loss_of_leaving,
    score,
)
from graphclust.compiled.runtime.loops import INLINED, UNCOUNTED, loop
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_next

GOLDEN, WORD = 2654435769, 0xFFFFFFFF  # 2^32 over the golden ratio: multiples of it spread evenly


class Rules(NamedTuple):
    """What moves may do.

    fewest : how many clusters have to be left: while there are more, the last node of one may leave it. opens : whether
    a node may become a cluster by itself. limits : what clusters may hold, as `Limits`, or None.
    """

    fewest: int
    opens: bool
    limits: Any = None


class State(NamedTuple):
    """A partition while nodes move: `labels` and `sums` change in place."""

    labels: np.ndarray
    sums: ClusterSums
    rules: Rules


class Batch(NamedTuple):
    """The nodes of one batch, as in `Round`; their hashes, and no others, are in [low, high)."""

    nodes: np.ndarray
    entries: np.ndarray
    key: int
    shift: int
    low: int
    high: int


class Choices(NamedTuple):
    """What each node of a batch chose: another cluster, its own to be one by itself, or -1; and its links to both.

    n_earlier : how many neighbors come before it in the batch. Their entries and their labels at that time stand in
    entry and label, from the place on that its entries begin at in the batch.
    """

    target: np.ndarray
    stays: np.ndarray
    shared: np.ndarray
    n_earlier: np.ndarray
    entry: np.ndarray
    label: np.ndarray


class Scratch(NamedTuple):
    """The links of a node to each cluster, (k,), zero between nodes, and the clusters that it meets, (k + 1,)."""

    link: np.ndarray
    met: np.ndarray


class Look(NamedTuple):
    """The other cluster that a node gains most by joining, -1 where it gains nowhere, and its links to both.

    most : the score by joining, or by staying where that is best. is_best_alone : whether the node gains even more as a
    cluster by itself, which it is not yet.
    """

    best: int
    most: float
    stays: float
    shared: float
    is_best_alone: bool


class Node(NamedTuple):
    """What a node brings to its cluster."""

    loop: float
    mass: Any
    size: float


@loop(**INLINED)
def hash_of(u, key, shift):
    """32 bits that decide in which batch a node is: equal for nodes of a group, spread evenly over the groups."""
    return (((np.int64(u) >> shift) ^ key) * GOLDEN) & WORD


@loop(**INLINED)
def best_cluster_met(objective, node, sums, scratch, n_met, most, limits):
    """The cluster met that a node gains most by joining, -1 where none gains more than `most`; gain and link.

    Leaves every link zero again.
    """
    _, penalty, unit, layers = objective
    if objective.kind == RATIO:  # asked here, not of every cluster
        return best_by(Objective(RATIO, penalty, unit, layers), node, sums, scratch, n_met, most, limits)
    return best_by(Objective(ADDITIVE, penalty, unit, layers), node, sums, scratch, n_met, most, limits)


@loop(**INLINED)
def best_by(objective, node, sums, scratch, n_met, most, limits):
    """`best_cluster_met` for a kind of objective that is known when the loop is compiled."""
    link, met = scratch
    best, shared = np.int32(-1), 0.0
    for i in range(1, n_met):  # the first cluster met is its own
        c = np.uint32(met[i])
        w = link[c]
        link[c] = 0.0
        gain = gain_of_joining(objective, w, node.loop, node.mass, sums.inside[c], sums.mass[c], objective.layers)
        # A constant True without bounds: nothing is left of it then.
        gain = gain if has_room(limits, c, node.size) else -np.inf
        best, most = better_of(met[i], gain, best, most)
        shared = w if best == met[i] else shared  # no branch: which cluster is best is unpredictable
    return best, most, shared


@loop(**INLINED)
def meet_clusters(u, rows, labels, scratch, layers):
    """Add up the links of u to each cluster; returns how many it meets, its own, the first of them, included."""
    link, met = scratch
    own, weighted = labels[u], len(rows.weights) > 0
    first, last = rows.indptr[u], rows.indptr[u + 1]
    row, weights = rows.indices[first:last], rows.weights[first:last]
    met[0], n_met = own, 1
    link[own] = LEAST_LINK  # so that it counts as met, and comes first
    for e in range(len(row)):
        v = np.uint32(row[e])
        if v != u:
            c = labels[v]
            before = link[np.uint32(c)]
            met[np.uint32(n_met)] = c  # counted only at the first edge to c; a branch would be unpredictable
            n_met += before == 0.0
            link[np.uint32(c)] = sum_of_links(before, weights[e] if weighted else 1.0, layers)
    return n_met


@loop(**INLINED)
def judge(u, n_met, level, objective, now, scratch):
    """What a move of u to one of the clusters met would change; every link is zero again afterwards."""
    labels, sums, rules = now
    own, loop, mass = labels[u], level.terms.loops[u], level.terms.mass[u]
    stays = scratch.link[own]  # LEAST_LINK in it is lost in any sum, and does not matter alone
    scratch.link[own] = 0.0
    loss = loss_of_leaving(objective, stays, loop, mass, sums.inside[own], sums.mass[own], objective.layers)
    least = loss + LEAST_GAIN * objective.unit
    node = Node(loop, mass, size_at(rules.limits, u))
    best, most, shared = best_cluster_met(objective, node, sums, scratch, n_met, least, rules.limits)
    is_best_alone = (
        rules.opens
        and score(objective, loop, mass, objective.layers) > most
        and sums.size[own] > 1
        and may_stand(rules.limits, node.size)
    )
    return Look(best, most, stays, shared, is_best_alone)


@loop(**INLINED)
def may_move(u, now):
    """Whether the cluster of u, if it is in any, can spare it."""
    labels, sums, rules = now
    own = labels[u]
    if own < 0:
        return False
    if sums.size[own] == 1:
        return rules.fewest < len(sums.size)  # an upper bound of the clusters left; `make_moves` counts exactly
    return may_lose(rules.limits, own, size_at(rules.limits, u))


@loop()
def scratch_for(k):
    """Scratch for k clusters."""
    return Scratch(np.zeros(k), np.empty(k + 1, np.int32))


@loop(**INLINED)
def note_choice(i, look, rows, labels, batch, choices):
    """What node i of a batch has seen becomes its choice, with notes on its earlier neighbors if it is to move.

    Most nodes of a refinement stay, so the row is read once more by those that move, instead of once slower by all.
    """
    u, n_earlier = np.uint32(batch.nodes[i]), 0
    choices.stays[i], choices.shared[i], choices.target[i] = look.stays, look.shared, look.best
    if look.is_best_alone:
        choices.target[i], choices.shared[i] = labels[u], 0.0  # its own label stands for a cluster by itself
    if choices.target[i] >= 0:
        place = batch.entries[i] - batch.entries[0]
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.uint32(rows.indices[e])
            # Before u in the same batch: `make_moves` asks whether it has moved.
            if v < u and batch.low <= hash_of(v, batch.key, batch.shift) < batch.high:
                choices.entry[place + n_earlier], choices.label[place + n_earlier] = e, labels[v]
                n_earlier += 1
    choices.n_earlier[i] = n_earlier


@loop(**UNCOUNTED)
def choose_moves(first, last, level, objective, now, batch, choices, scratch):
    """Nodes first..last-1 of the batch choose, each as if it were the only one to move."""
    rows, labels, nodes = level.rows, now.labels, batch.nodes
    many = len(labels) > CACHED
    for i in range(first, last):
        u = np.uint32(nodes[i])
        # Three steps of prefetching: the number of a node, its row, its neighbors' labels.
        if i + 3 * AHEAD < last:
            ask_for_next(labels, rows, nodes, i, AHEAD, many)
        choices.target[i], choices.n_earlier[i] = -1, 0
        if not may_move(u, now):
            continue
        n_met = meet_clusters(u, rows, labels, scratch, objective.layers)
        note_choice(i, judge(u, n_met, level, objective, now, scratch), rows, labels, batch, choices)


@loop()
def choose_alone(level, objective, now, nodes):
    """The cluster that each of some nodes chooses, -1 for none, as if it were the only one to move."""
    n, none = len(nodes), np.empty(0, np.int64)
    choices = Choices(
        np.empty(n, np.int32), np.empty(n), np.empty(n), np.empty(n, np.int64), none, none.astype(np.int32)
    )
    nobody = Batch(nodes, np.zeros(n + 1, np.int64), 0, 0, 0, 0)
    choose_moves(np.int64(0), n, level, objective, now, nobody, choices, scratch_for(len(now.sums.size)))
    return choices.target


@loop(**UNCOUNTED)
def look_up_clusters(first, last, block, u, rows, labels, clusters):
    """The clusters at the ends of entries first..last-1 of the row of u, -1 for a loop."""
    for e in range(first, last):
        v = np.uint32(rows.indices[rows.indptr[u] + e])
        clusters[e] = -1 if v == u else labels[v]


@loop(**UNCOUNTED)
def look_at_some(entries, u, level, objective, now, clusters, scratch):
    """What a move of u would change, to one of the clusters at the ends of some entries of its row."""
    link, met = scratch
    own, start, weighted = now.labels[u], level.rows.indptr[u], len(level.rows.weights) > 0
    met[0], n_met = own, 1
    link[own] = LEAST_LINK
    for e in entries:
        c = clusters[e]
        before = link[c]
        met[n_met] = c
        n_met += before == 0.0
        link[c] = sum_of_links(before, level.rows.weights[start + e] if weighted else 1.0, objective.layers)
    return judge(u, n_met, level, objective, now, scratch)
