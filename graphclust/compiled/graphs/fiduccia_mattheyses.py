"""Fiduccia-Mattheyses: accept moves that lose, then roll back to the best prefix.

A border that is ragged, or that lies a few nodes beside a shorter one, is a local optimum of moves that each have to
gain. A search begins at one node of a border. The node that gains most, or loses least, moves next, and once only; its
neighbors join the search. When the value has not risen for a number of moves, the search is rolled back to where it was
highest.

Source: Fiduccia & Mattheyses 1982; searches from single nodes: Sanders & Schulz 2011, "Engineering multilevel graph
partitioning algorithms" (multi-try FM).
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.choosing import Node, Scratch, best_cluster_met, meet_clusters, scratch_for
from graphclust.compiled.graphs.heap import pop, push
from graphclust.compiled.graphs.levels import Partition, change_cluster, limits_of, may_lose
from graphclust.compiled.graphs.objective import LEAST_GAIN, ClusterSums, gain_of_link, loss_of_leaving
from graphclust.compiled.runtime.loops import INLINED, UNCOUNTED, loop
from graphclust.compiled.runtime.random_numbers import shuffle

NEVER = -np.inf
KEPT, ROLLED_BACK = 1, 2  # moves
HEAP = 1 << 18  # entries of the heap of one search, which ends where they are used up


class FMLimits(NamedTuple):
    """When searches end.

    together : border nodes that a search begins at. moves, entries : so many moves, or entries read, without a rise of
    the value end a search. rounds : of searches from every border node, at most. slack : what a cluster may hold
    above the bounds, or lack, during a search, so that nodes can change places where no cluster has room.
    """

    together: int
    moves: int
    entries: float
    rounds: int
    slack: float


class SearchState(NamedTuple):
    """What searches share; (n,) each, unless stated.

    gains, items : the heap. gain : an upper estimate, in most cases, of what a node gains; computed again when the node
    is on top of the heap, NaN before the first time. locked : 0 for nodes that have not moved in this round, else KEPT
    or ROLLED_BACK; a search may begin at a node that was rolled back. trail, left : nodes in the order of their moves,
    and the cluster that each left. seeds : border nodes. changed, before : nodes whose gain a search has changed, and
    the earlier gain, for the rollback.
    """

    gains: np.ndarray
    items: np.ndarray
    gain: np.ndarray
    locked: np.ndarray
    trail: np.ndarray
    left: np.ndarray
    seeds: np.ndarray
    changed: np.ndarray
    before: np.ndarray
    scratch: Scratch


class Step(NamedTuple):
    """The best move of a node: to which cluster, -1 for none, what it gains, and the links to both clusters."""

    to: int
    gain: float
    stays: float
    shared: float


@loop(**UNCOUNTED)
def look_at(u, level, objective, labels, sums, scratch, limits):
    """The move of u that gains most, or loses least, to a neighboring cluster with room."""
    rows, terms = level
    own, loop, mass = labels[u], terms.loops[u], terms.mass[u]
    n_met = meet_clusters(u, rows, labels, scratch, objective.layers)
    stays = scratch.link[own]
    scratch.link[own] = 0.0
    # No neighbor elsewhere, or the cluster cannot spare the node.
    if n_met == 1 or sums.size[own] == 1 or not may_lose(limits, own, limits.size[u]):
        for i in range(1, n_met):
            scratch.link[scratch.met[i]] = 0.0
        return Step(np.int32(-1), NEVER, 0.0, 0.0)
    to, most, shared = best_cluster_met(
        objective, Node(loop, mass, limits.size[u]), sums, scratch, n_met, NEVER, limits
    )
    loss = loss_of_leaving(objective, stays, loop, mass, sums.inside[own], sums.mass[own], objective.layers)
    return Step(to, most - loss, stays, shared)


@loop(**UNCOUNTED)
def links_of(u, own, to, rows, labels):
    weighted, stays, shared = len(rows.weights) > 0, 0.0, 0.0
    for e in range(rows.indptr[u], rows.indptr[u + 1]):
        v = np.uint32(rows.indices[e])
        if v != u:
            w = rows.weights[e] if weighted else 1.0
            stays += w * np.float64(labels[v] == own)
            shared += w * np.float64(labels[v] == to)
    return stays, shared


@loop(**INLINED)
def _excess(limits, least, most, c):
    """What cluster c holds above the bounds, or lacks."""
    return max(0.0, limits.load[c] - most) + max(0.0, least - limits.load[c])


@loop(**UNCOUNTED)
def _search_from(seeds, level, task, search_limits, state, search):
    """One search; returns what it gains."""
    labels, sums, limits = state
    rows, objective, most = level.rows, task.objective, limits.most - search_limits.slack
    gains, items, gain, locked, trail, left, _, changed, before, scratch = search
    weighted, least, room = len(rows.weights) > 0, LEAST_GAIN * objective.unit, len(gains) - 1
    size = 0
    for u in seeds:
        if locked[u] != KEPT and size < room:  # a move that was rolled back may be tried from another seed
            locked[u] = 0
            if np.isnan(gain[u]):
                gain[u] = look_at(np.int64(u), level, objective, labels, sums, scratch, limits).gain
            size = push(gains, items, size, gain[u], u)
    made, kept, value, highest, over, in_vain, n_changed, n_kept, entries = 0, 0, 0.0, 0.0, 0.0, 0, 0, 0, 0.0
    while size > 0 and in_vain < search_limits.moves and entries < search_limits.entries and n_changed < room:
        u = np.int64(items[0])
        is_true = gains[0] == gain[u] and locked[u] == 0  # else an older entry: there is one for each change of a gain
        size = pop(gains, items, size)
        if not is_true:
            continue
        step = look_at(u, level, objective, labels, sums, scratch, limits)
        entries += rows.indptr[u + 1] - rows.indptr[u]
        gain[u] = step.gain
        if step.to < 0:
            continue
        if size > 0 and step.gain < gains[0]:  # the estimate was too high: another node may gain more
            size = push(gains, items, size, step.gain, u)
            continue
        own, to = labels[u], step.to
        trail[made], left[made], locked[u] = u, own, KEPT
        made += 1
        # Only these two clusters change: their excess is taken out, and added again below.
        over -= _excess(limits, task.least, most, own) + _excess(limits, task.least, most, to)
        change_cluster(u, to, step.stays, step.shared, level.terms, labels, sums, limits)
        over += _excess(limits, task.least, most, own) + _excess(limits, task.least, most, to)
        value += step.gain
        in_vain += 1
        entries += rows.indptr[u + 1] - rows.indptr[u]
        # Only where all clusters are within the bounds is there a best prefix.
        if value > highest + least and over <= 0.0:
            highest, kept, in_vain, entries = value, made, 0, 0.0
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.int64(rows.indices[e])
            if v == u or n_changed >= room:
                continue
            if gain[v] > NEVER:
                changed[n_changed], before[n_changed] = v, gain[v]
                n_changed += 1
                w = rows.weights[e] if weighted else 1.0
                if labels[v] == to:
                    gain[v] -= gain_of_link(objective, w, sums.mass, to)
                else:  # mostly at least: on top of the heap it is looked at again
                    gain[v] += gain_of_link(objective, w, sums.mass, to)
                    gain[v] += gain_of_link(objective, w, sums.mass, own) if labels[v] == own else 0.0
            else:
                changed[n_changed], before[n_changed] = v, np.nan
                n_changed += 1
                gain[v] = look_at(v, level, objective, labels, sums, scratch, limits).gain
            if gain[v] > NEVER and locked[v] == 0 and size < room:
                size = push(gains, items, size, gain[v], v)
        if kept == made:  # the changes up to the best prefix stay after the rollback
            n_kept = n_changed
    for i in range(n_changed - 1, n_kept - 1, -1):  # backwards: a node that changed twice gets its first value
        gain[changed[i]] = before[i]
    for i in range(made - 1, kept - 1, -1):
        u, own, to = np.int64(trail[i]), labels[trail[i]], left[i]
        locked[u] = ROLLED_BACK
        stays, shared = links_of(u, own, to, rows, labels)  # the neighbors have moved too: links are added up again
        change_cluster(u, to, stays, shared, level.terms, labels, sums, limits)
    return highest


@loop(**UNCOUNTED)
def _border(rows, labels, seeds):
    """Nodes that have a neighbor in another cluster, into seeds; returns how many there are."""
    n_seeds = 0
    for u in range(len(labels)):
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            if labels[np.uint32(rows.indices[e])] != labels[u]:
                seeds[n_seeds] = u
                n_seeds += 1
                break
    return n_seeds


@loop()
def climb(level, partition, task, ballast, search_limits, draws):
    """The partition after rounds of searches until a round gains nothing; nodes have sizes.

    ballast : what each cluster holds beside its nodes, which lowers its bound.
    """
    n, k = len(partition.labels), len(partition.sums.size)
    labels = partition.labels.copy()
    sums = ClusterSums(partition.sums.inside.copy(), partition.sums.mass.copy(), np.zeros(k, np.int64))
    for u in range(n):
        sums.size[labels[u]] += 1
    slack = search_limits.slack
    limits = limits_of(level.terms.size, labels, k, max(0.0, task.least - slack), task.most + slack)
    for c in range(k):
        limits.load[c] += ballast[c]
    most = min(n + len(level.rows.indices), HEAP) + 1
    search = SearchState(
        np.empty(most), np.empty(most, np.int32), np.full(n, np.nan), np.zeros(n, np.uint8), np.empty(n, np.int32),
        np.empty(n, np.int32), np.empty(n, np.int32), np.empty(most, np.int32), np.empty(most), scratch_for(k),
    )  # fmt: skip
    for _ in range(search_limits.rounds):
        n_seeds = _border(level.rows, labels, search.seeds)
        shuffle(search.seeds[:n_seeds], draws)
        gained = 0.0
        search.locked[:] = 0
        for i in range(0, n_seeds, search_limits.together):
            seeds = search.seeds[i : min(i + search_limits.together, n_seeds)]
            if len(seeds) > 1 or search.locked[seeds[0]] != KEPT:
                gained += _search_from(seeds, level, task, search_limits, (labels, sums, limits), search)
        if gained <= LEAST_GAIN * task.objective.unit:
            break
    return Partition(labels, sums)
