"""Jet: rounds of moves that pass the bounds and are balanced afterwards.

Where clusters are full, a search that keeps the bounds can exchange few nodes, and on irregular graphs it ends early. A
round of Jet moves all nodes at once that gain, or lose little, whatever the bounds; then nodes leave what holds too
much. A node that has moved stays for one round, so that neighbors do not change places for ever. The best partition
within the bounds is kept.

Source: Gilbert, Madduri, Boman & Rajamanickam 2024, "Jet: multilevel graph partitioning on graphics processing units".
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.balance import bring_within, work_for
from graphclust.compiled.graphs.choosing import meet_clusters
from graphclust.compiled.graphs.cluster_sums import add_to_sums, weights_to_own
from graphclust.compiled.graphs.levels import Partition, copy_to, write
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.compiled.runtime.loops import UNCOUNTED, loop

LEAST_PROGRESS = 0.999  # of the cut; a round that leaves more of it than this is in vain


class Rounds(NamedTuple):
    """When nodes move, and when rounds end.

    tolerance : the share of its weight to its own cluster that a node may lose by a move. in_vain : rounds that end it.
    """

    tolerance: float
    in_vain: int


class Moves(NamedTuple):
    """Where each node is to go, -1 for nowhere; what it gains; whether it stays for this round; nodes to move; (n,)."""

    target: np.ndarray
    gain: np.ndarray
    stays: np.ndarray
    nodes: np.ndarray


@loop(**UNCOUNTED)
def _choose(rows, labels, load, tolerance, moves, scratch):
    """Nodes that gain, or lose no more than is tolerated, and their targets.

    Returns how many nodes are chosen, and the cut twice: links are added up, for a
    difference of sums can be below 0.
    """
    n_chosen, cut = 0, 0.0
    for u in range(len(labels)):
        own, n_met = labels[u], meet_clusters(u, rows, labels, scratch)
        inner = scratch.link[own]
        scratch.link[own] = 0.0
        to, most = np.int32(-1), 0.0
        for j in range(1, n_met):
            c = scratch.met[j]
            link = scratch.link[c]
            scratch.link[c] = 0.0
            cut += link
            if link > most or (link == most and to >= 0 and load[c] < load[to]):
                to, most = c, link
        is_chosen = to >= 0 and not moves.stays[u] and inner - most <= tolerance * inner
        moves.target[u] = to if is_chosen else -1
        moves.gain[u] = most - inner
        moves.stays[u] = False
        if is_chosen:
            moves.nodes[n_chosen] = u
            n_chosen += 1
    return n_chosen, cut


@loop(**UNCOUNTED)
def _move(n_chosen, level, labels, load, count, moves):
    """Of the chosen nodes those move that lose nothing once those of more gain have moved."""
    rows, weighted, n_moves = level.rows, len(level.rows.weights) > 0, 0
    target, gain, stays, nodes = moves
    for i in range(n_chosen):
        u = np.int64(nodes[i])
        own, to, mine, change = labels[u], target[u], gain[u], 0.0
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.int64(rows.indices[e])
            if v != u:
                is_first = target[v] >= 0 and (gain[v] > mine or (gain[v] == mine and v < u))
                c = target[v] if is_first else labels[v]
                w = rows.weights[e] if weighted else 1.0
                change += w * (np.float64(c == to) - np.float64(c == own))
        nodes[n_moves] = u
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


@loop(**UNCOUNTED)
def _are_within(task, load, count):
    """Whether each cluster has a node, and holds what the bounds of the task say."""
    within = True
    for c in range(len(load)):
        within = within and count[c] > 0 and task.least <= load[c] <= task.most
    return within


@loop()
def move_in_rounds(level, found, task, ballast, rounds):
    """The best partition within the bounds of the task, a cut, that rounds of moves come to; nodes have sizes.

    ballast : what each cluster holds beside its nodes.
    """
    n, k = len(found.labels), len(found.sums.size)
    labels, best, least_cut, in_vain = found.labels.copy(), found.labels.copy(), np.inf, 0
    moves = Moves(np.full(n, -1, np.int32), np.empty(n), np.zeros(n, np.bool_), np.empty(n, np.int32))
    work = work_for(level, k)
    sums, load = ClusterSums(np.zeros(k), np.zeros(k), np.zeros(k, np.int64)), np.empty(k)  # only `size` is up to date
    for u in range(n):
        sums.size[labels[u]] += 1
    while True:
        copy_to(load, ballast)
        for u in range(n):
            load[labels[u]] += level.terms.size[u]
        n_chosen, cut = _choose(level.rows, labels, load, rounds.tolerance, moves, work.scratch)
        is_within = _are_within(task, load, sums.size)
        in_vain = 0 if is_within and cut < LEAST_PROGRESS * least_cut else in_vain + 1
        if is_within and cut < least_cut:
            least_cut = cut
            copy_to(best, labels)
        if in_vain > rounds.in_vain or _move(n_chosen, level, labels, load, sums.size, moves) == 0:
            break
        if not _are_within(task, load, sums.size):
            bring_within(level, task, ballast, labels, sums, work)
    if least_cut == np.inf:
        return found
    made, stays = ClusterSums(np.zeros(k), np.zeros(k), np.zeros(k, np.int64)), np.empty(n)
    weights_to_own(0, n, 0, level.rows, best, stays)
    add_to_sums(best, stays, level.terms, made)
    return Partition(best, made)


@loop()
def move_in_rounds_into(level, found, task, ballast, rounds, room):
    """`move_in_rounds`, into arrays that are there: returns the number of clusters."""
    return write(move_in_rounds(level, found, task, ballast, rounds), room)
