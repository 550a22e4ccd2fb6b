"""Rebalancing: nodes leave clusters that hold too much, and join clusters that hold too little. Jet, by rebalancing.

The node whose move costs the objective least moves first, to a neighboring cluster if one has room, else to any. Few
nodes move, since levels are coarsened and refined under the same bounds.

Where clusters are full, a search that keeps the bounds can exchange few nodes, and on irregular graphs it ends early. A
round of Jet moves all nodes at once that gain, or lose little, whatever the bounds; then nodes leave what holds too
much. A node that has moved stays for one round, so that neighbors do not change places for ever. The best partition
within the bounds is kept.

Source: Gilbert, Madduri, Boman & Rajamanickam 2024, "Jet: multilevel graph partitioning on graphics processing units".
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.choosing import Scratch, meet_clusters, scratch_for
from graphclust.compiled.graphs.cluster_sums import add_to_sums, weights_to_own
from graphclust.compiled.graphs.fiduccia_mattheyses import links_of, look_at
from graphclust.compiled.graphs.heap import pop, push
from graphclust.compiled.graphs.levels import Limits, Partition, change_cluster, copy_to
from graphclust.compiled.graphs.local_moving import without_gaps
from graphclust.compiled.graphs.objective import ClusterSums, gain_of_joining, loss_of_leaving
from graphclust.compiled.runtime.loops import UNCOUNTED, loop

NOWHERE = -1
MOST_PER_LINK = 4.0  # that a node gains of a link when its neighbor goes where it may go itself


class Work(NamedTuple):
    """A heap of gains and nodes; the gain of each node that is in it, (n,), else NaN."""

    gains: np.ndarray
    items: np.ndarray
    known: np.ndarray
    scratch: Scratch


@loop()
def work_for(level, k):
    """Room for balancing k clusters of a level."""
    n = len(level.terms.mass)
    room = 2 * n + len(level.rows.indices) + 1  # each node, and each raised gain of a neighbor
    scratch = scratch_for(k)
    return Work(np.empty(room), np.empty(room, np.int32), np.full(n, np.nan), scratch)


@loop(**UNCOUNTED)
def _gain_of(u, to, level, objective, state):
    """What the objective changes by when u moves to a cluster, linked or not."""
    labels, sums, _ = state
    own, loop, mass = labels[u], level.terms.loops[u], level.terms.mass[u]
    stays, shared = links_of(u, own, to, level.rows, labels)
    gain = gain_of_joining(objective, shared, loop, mass, sums.inside[to], sums.mass[to], objective.layers)
    if sums.size[own] > 1:
        gain -= loss_of_leaving(objective, stays, loop, mass, sums.inside[own], sums.mass[own], objective.layers)
    return gain


@loop(**UNCOUNTED)
def _move(u, to, level, objective, state):
    """Node u moves to a cluster, linked or not."""
    labels, sums, limits = state
    stays, shared = links_of(u, labels[u], to, level.rows, labels)
    change_cluster(u, to, stays, shared, level.terms, labels, sums, limits)


@loop(**UNCOUNTED)
def _roomiest_cluster(leaving, state):
    """The cluster with most room among those that no node has to leave; NOWHERE if there is none."""
    _, sums, limits = state
    best = np.int64(NOWHERE)
    for c in range(len(limits.load)):
        if leaving[c] == 0 and sums.size[c] > 0 and (best == NOWHERE or limits.load[c] < limits.load[best]):
            best = c
    return best


@loop(**UNCOUNTED)
def _best_place(u, roomiest, level, objective, state, scratch):
    """The cluster that u loses least by moving to: a linked one with room, else the roomiest; and the gain per size."""
    labels, sums, limits = state
    step = look_at(u, level, objective, labels, sums, scratch, limits)
    to, gain, size = np.int64(step.to), step.gain, max(limits.size[u], 1e-300)
    if to < 0:
        to = roomiest
        if to == NOWHERE or limits.load[to] + size > limits.most:
            return np.int64(NOWHERE), -np.inf
        gain = _gain_of(u, to, level, objective, state)
    # Per size: a loss should move much, a gain comes first where it does.
    return to, gain / size if gain < 0.0 else gain * size


@loop(**UNCOUNTED)
def _is_done(c, leaving, sums, limits):
    """Whether no more nodes have to leave cluster c."""
    if leaving[c] == 1:
        return limits.load[c] <= limits.most or sums.size[c] == 1  # the last node stays, however heavy
    return leaving[c] == 0 or sums.size[c] == 0


@loop(**UNCOUNTED)
def _empty(leaving, level, objective, state, work):
    """Move nodes out of clusters: until these meet the upper bound where `leaving` is 1, until they are empty where 2.

    The node that loses least leaves first. Then its neighbors lose less: their gains are raised by the most that they
    can be, and computed again on top of the heap.
    """
    labels, sums, limits = state
    gains, items, known, scratch = work
    rows, size, weighted, roomiest = level.rows, 0, len(level.rows.weights) > 0, _roomiest_cluster(leaving, state)
    n_left = 0
    for c in range(len(leaving)):
        n_left += not _is_done(c, leaving, sums, limits)
    for u in range(len(labels) if n_left > 0 else 0):
        if leaving[labels[u]] > 0:
            _, known[u] = _best_place(u, roomiest, level, objective, state, scratch)
            size = push(gains, items, size, known[u], u)
    while size > 0 and n_left > 0:
        gain, u = gains[0], np.int64(items[0])
        size = pop(gains, items, size)
        own = labels[u]
        if gain != known[u]:  # an older entry of the node
            continue
        known[u] = np.nan
        if _is_done(own, leaving, sums, limits):
            continue
        to, now = _best_place(u, _roomiest_cluster(leaving, state), level, objective, state, scratch)
        if to == NOWHERE:
            continue
        if size > 0 and now < gains[0]:
            known[u] = now
            size = push(gains, items, size, now, u)
            continue
        _move(u, to, level, objective, state)
        n_left -= _is_done(own, leaving, sums, limits)
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.int64(rows.indices[e])
            if labels[v] == own and known[v] > -np.inf and size < len(gains) - 1:
                known[v] += MOST_PER_LINK * (rows.weights[e] if weighted else 1.0) / max(limits.size[v], 1e-300)
                size = push(gains, items, size, known[v], v)
    for i in range(size):  # what is left in the heap is unknown to the next call
        known[items[i]] = np.nan


@loop(**UNCOUNTED)
def _offer(u, c, size, level, objective, state, work):
    """Push the neighbors of u that cluster c may take from others; returns the size of the heap."""
    labels, _, _ = state
    gains, items, known, _ = work
    for e in range(level.rows.indptr[u], level.rows.indptr[u + 1]):
        v = np.int64(level.rows.indices[e])
        if labels[v] != c and _may_give(v, c, state) and size < len(gains) - 1:
            gain = _gain_of(v, c, level, objective, state)
            if gain != known[v]:  # pushed already with the same gain, if it is equal
                known[v] = gain
                size = push(gains, items, size, gain, v)
    return size


@loop(**UNCOUNTED)
def _may_give(v, c, state):
    """Whether v may move to cluster c, the bounds of both being met."""
    labels, sums, limits = state
    own, w = labels[v], limits.size[v]
    return (
        own != c
        and sums.size[own] > 1
        and limits.load[own] - w >= limits.least
        and limits.load[c] + w <= limits.most
        and w > 0.0
    )


@loop(**UNCOUNTED)
def _fill(c, level, objective, state, work):
    """Nodes come to cluster c until it holds the least; returns whether it does."""
    labels, sums, limits = state
    gains, items, known, _ = work
    n, size = len(labels), 0
    for u in range(n):
        if labels[u] == c:
            size = _offer(u, c, size, level, objective, state, work)
    while limits.load[c] < limits.least or sums.size[c] == 0:
        if size == 0:  # no neighbor is left: a node from anywhere that costs least
            best, most = NOWHERE, -np.inf
            for v in range(n):
                if _may_give(v, c, state):
                    gain = _gain_of(v, c, level, objective, state)
                    if gain > most:
                        best, most = v, gain
            if best == NOWHERE:
                return False
            _move(best, c, level, objective, state)
            size = _offer(best, c, size, level, objective, state, work)
            continue
        gain, v = gains[0], np.int64(items[0])
        size = pop(gains, items, size)
        if gain != known[v]:
            continue
        known[v] = np.nan
        if not _may_give(v, c, state):
            continue
        now = _gain_of(v, c, level, objective, state)
        if size > 0 and now < gains[0]:
            known[v] = now
            size = push(gains, items, size, now, v)
            continue
        _move(v, c, level, objective, state)
        size = _offer(v, c, size, level, objective, state, work)
    for i in range(size):
        known[items[i]] = np.nan
    return True


@loop(**UNCOUNTED)
def _add_up(load, level, labels, ballast):
    """What each cluster holds, its ballast included."""
    copy_to(load, ballast)
    for u in range(len(labels)):
        load[labels[u]] += level.terms.size[u]


@loop(**UNCOUNTED)
def _are_within(task, load, count):
    """Whether each cluster has a node, unless k is free, and holds what the bounds of the task say."""
    within = True
    for c in range(len(load)):
        within = within and (task.k == 0 if count[c] == 0 else task.least <= load[c] <= task.most)
    return within


@loop()
def bring_within(level, task, ballast, labels, sums, work):
    """Change labels and sums until clusters are within the bounds of the task; returns whether all are.

    Where k is free, a cluster that no others can fill is given up.
    """
    k = len(sums.size)
    load, leaving = np.empty(k), np.zeros(k, np.uint8)
    limits = Limits(level.terms.size, load, 0.0, task.most)
    _add_up(load, level, labels, ballast)
    for c in range(k):
        leaving[c] = load[c] > task.most  # 1: down to the bound
    _empty(leaving, level, task.objective, (labels, sums, limits), work)
    _add_up(load, level, labels, ballast)
    state = labels, sums, Limits(level.terms.size, load, task.least, task.most)
    for c in np.argsort(load):  # the emptiest first, since it needs the most
        is_empty = sums.size[c] == 0
        if (is_empty and task.k == 0) or (not is_empty and load[c] >= task.least):
            continue
        if not _fill(c, level, task.objective, state, work) and task.k == 0:
            leaving[:] = 0
            leaving[c] = 2  # 2: all of them
            _empty(leaving, level, task.objective, state, work)
    return _are_within(task, load, sums.size)


@loop()
def balance(level, partition, task, ballast):
    """The partition with clusters within the bounds of the task, as far as that is found; nodes have sizes.

    ballast : what each cluster holds beside its nodes. Returns the partition, and whether all is within.
    """
    n, k = len(partition.labels), len(partition.sums.size)
    labels = partition.labels.copy()
    sums = ClusterSums(partition.sums.inside.copy(), partition.sums.mass.copy(), np.zeros(k, np.int64))
    for u in range(n):
        sums.size[labels[u]] += 1
    within = bring_within(level, task, ballast, labels, sums, work_for(level, k))
    return without_gaps(labels, sums) if task.k == 0 else Partition(labels, sums), within


LEAST_PROGRESS = 0.999  # of the cut; a round that leaves more of it than this is in vain


class Moves(NamedTuple):
    """Where each node is to go, -1 for nowhere; what it gains; whether it stays for this round; nodes to move; (n,)."""

    target: np.ndarray
    gain: np.ndarray
    stays: np.ndarray
    nodes: np.ndarray


@loop(**UNCOUNTED)
def _choose_moves(rows, labels, load, tolerance, moves, scratch):
    """Nodes that gain, or lose no more than is tolerated, and their targets.

    Returns how many nodes are chosen, and the cut twice: links are added up, for a difference of sums can be below 0.
    """
    n_chosen, cut = 0, 0.0
    for u in range(len(labels)):
        own, n_met = labels[u], meet_clusters(u, rows, labels, scratch, ())
        inner = scratch.link[own]
        scratch.link[own] = 0.0
        to, most = np.int32(-1), 0.0
        for j in range(1, n_met):
            c = scratch.met[j]
            link = scratch.link[c]
            scratch.link[c] = 0.0
            cut += link  # of both ends, so every edge twice
            if link > most or (link == most and to >= 0 and load[c] < load[to]):
                to, most = c, link
        # A small loss is allowed: the neighbors may come along.
        is_chosen = to >= 0 and not moves.stays[u] and inner - most <= tolerance * inner
        moves.target[u] = to if is_chosen else -1
        moves.gain[u] = most - inner
        moves.stays[u] = False
        if is_chosen:
            moves.nodes[n_chosen] = u
            n_chosen += 1
    return n_chosen, cut


@loop(**UNCOUNTED)
def _move_chosen(n_chosen, level, labels, load, count, moves):
    """Of the chosen nodes those move that lose nothing once those of more gain have moved."""
    rows, weighted, n_moves = level.rows, len(level.rows.weights) > 0, 0
    target, gain, stays, nodes = moves
    for i in range(n_chosen):
        u = np.int64(nodes[i])
        own, to, mine, change = labels[u], target[u], gain[u], 0.0
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.int64(rows.indices[e])
            if v != u:
                # As if those of more gain had moved already (Jet's afterburner).
                is_first = target[v] >= 0 and (gain[v] > mine or (gain[v] == mine and v < u))
                c = target[v] if is_first else labels[v]
                w = rows.weights[e] if weighted else 1.0
                change += w * (np.float64(c == to) - np.float64(c == own))
        nodes[n_moves] = u  # written over unless it counts: a branch is unpredictable
        n_moves += change >= 0.0
    for i in range(n_moves):
        u = np.int64(nodes[i])
        load[labels[u]] -= level.terms.size[u]
        load[target[u]] += level.terms.size[u]
        count[labels[u]] -= 1
        count[target[u]] += 1
        labels[u] = target[u]
        stays[u] = True
    return n_moves


@loop()
def move_in_rounds(level, partition, task, ballast, tolerance, rounds_in_vain):
    """The best partition within the bounds of the task, a cut, that rounds of moves come to; nodes have sizes.

    ballast : what each cluster holds beside its nodes. tolerance : the share of its weight to its own cluster that a
    node may lose by a move.
    """
    n, k = len(partition.labels), len(partition.sums.size)
    labels, best, least_cut, in_vain = partition.labels.copy(), partition.labels.copy(), np.inf, 0
    moves = Moves(np.full(n, -1, np.int32), np.empty(n), np.zeros(n, np.bool_), np.empty(n, np.int32))
    work = work_for(level, k)
    sums, load = ClusterSums(np.zeros(k), np.zeros(k), np.zeros(k, np.int64)), np.empty(k)  # only `size` is up to date
    for u in range(n):
        sums.size[labels[u]] += 1
    while True:
        _add_up(load, level, labels, ballast)
        n_chosen, cut = _choose_moves(level.rows, labels, load, tolerance, moves, work.scratch)
        is_within = _are_within(task, load, sums.size)
        in_vain = 0 if is_within and cut < LEAST_PROGRESS * least_cut else in_vain + 1
        if is_within and cut < least_cut:
            least_cut = cut
            copy_to(best, labels)
        if in_vain > rounds_in_vain or _move_chosen(n_chosen, level, labels, load, sums.size, moves) == 0:
            break
        if not _are_within(task, load, sums.size):
            bring_within(level, task, ballast, labels, sums, work)
    if least_cut == np.inf:  # no round was within the bounds
        return partition
    made, stays = ClusterSums(np.zeros(k), np.zeros(k), np.zeros(k, np.int64)), np.empty(n)
    weights_to_own(0, n, 0, level.rows, best, stays)
    add_to_sums(best, stays, level.terms, made)
    return Partition(best, made)
