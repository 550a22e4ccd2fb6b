"""Local moving: each node goes to the neighboring cluster that raises the objective most.

The first phase of the methods of Louvain (Blondel et al. 2008) and Leiden (Traag et al. 2019), without their random
order where a partition is refined: from singletons it makes regions, from a partition it refines it. The change of each
move is exact up to round-off, and only gains above LEAST_GAIN count, so the value never falls.
"""

from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.graphs.bounds import has_room, limits_of, may_lose, may_stand, shift_load, size_at
from graphclust.compiled.graphs.cluster_links import LEAST_LINK
from graphclust.compiled.graphs.levels import Partition, write
from graphclust.compiled.graphs.objective import (
    LEAST_GAIN,
    PLAIN,
    RATIO,
    ClusterSums,
    Objective,
    better_of,
    gain_of_joining,
    loss_of_leaving,
)
from graphclust.compiled.runtime.jit_options import INLINED, UNCOUNTED
from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors, ask_for_next
from graphclust.compiled.runtime.shuffling import shuffle


class Rules(NamedTuple):
    """What moves may do.

    empties : whether the last node of a cluster may leave it. opens : whether a node may become a cluster by itself.
    requeues : whether the neighbors of a moved node are looked at again; if not, each node waiting is looked at once.
    limits : what clusters may hold, as `bounds.Limits`, or None.
    """

    empties: bool
    opens: bool
    requeues: bool
    limits: Any = None


class MoveQueue(NamedTuple):
    """A ring of waiting nodes, who waits (1 or 0), and scratch.

    state = (head of the ring, nodes waiting, nodes moved, empty clusters). link (k,) is zero between nodes; met has
    room for k clusters and one that is not counted; empty (k,) is a stack of the empty clusters.
    """

    nodes: np.ndarray
    waits: np.ndarray
    state: np.ndarray
    link: np.ndarray
    met: np.ndarray
    empty: np.ndarray


class Scratch(NamedTuple):
    """The links of a node to each cluster, (k,), zero between nodes, and the clusters that it meets, (k + 1,)."""

    link: np.ndarray
    met: np.ndarray


class Look(NamedTuple):
    """The other cluster that a node gains most by joining, -1 where it gains nowhere, and its links to both.

    is_best_alone : whether the node gains even more as a cluster by itself, which it is not yet.
    """

    best: int
    stays: float
    shared: float
    is_best_alone: bool


class Node(NamedTuple):
    """What a node brings to its cluster."""

    loop: float
    mass: float
    size: float


class BlockState(NamedTuple):
    """A partition as it stands while nodes choose their moves, each as if it were the only one."""

    labels: np.ndarray
    sums: ClusterSums
    rules: Rules


@loop(**INLINED)
def best_cluster_met(objective, node, sums, scratch, n_met, most, limits):
    """The cluster met that a node gains most by joining, -1 where none gains more than `most`; gain and link.

    Leaves every link zero again.
    """
    if objective.kind == RATIO:  # asked here, not of every cluster
        return _best_by(Objective(RATIO, objective.pull, objective.unit), node, sums, scratch, n_met, most, limits)
    return _best_by(Objective(PLAIN, objective.pull, objective.unit), node, sums, scratch, n_met, most, limits)


@loop(**INLINED)
def _best_by(objective, node, sums, scratch, n_met, most, limits):
    """`best_cluster_met` for a kind of objective that is known when the loop is compiled."""
    link, met = scratch
    best, shared = np.int32(-1), 0.0
    for i in range(1, n_met):
        c = np.uint32(met[i])
        w = link[c]
        link[c] = 0.0
        gain = gain_of_joining(objective, w, node.loop, node.mass, sums.inside[c], sums.mass[c])
        gain = gain if has_room(limits, c, node.size) else -np.inf
        best, most = better_of(met[i], gain, best, most)
        shared = w if best == met[i] else shared
    return best, most, shared


@loop(**INLINED)
def meet_clusters(u, rows, labels, scratch):
    """Add up the links of u to each cluster; returns how many it meets, its own, the first of them, included."""
    link, met = scratch
    own, weighted = labels[u], len(rows.weights) > 0
    first, last = rows.indptr[u], rows.indptr[u + 1]
    row, weights = rows.indices[first:last], rows.weights[first:last]
    met[0], n_met = own, 1
    link[own] = LEAST_LINK
    for e in range(len(row)):
        v = np.uint32(row[e])
        if v != u:
            c = labels[v]
            before = link[np.uint32(c)]
            met[np.uint32(n_met)] = c  # counted only at the first edge to c; a branch would be unpredictable
            n_met += before == 0.0
            link[np.uint32(c)] = before + (weights[e] if weighted else 1.0)
    return n_met


@loop(**INLINED)
def _look_at(u, rows, terms, objective, labels, sums, scratch, limits):
    """What a move of u would change, as a `Look`; every link is zero again afterwards."""
    own, loop, mass, n_met = labels[u], terms.loops[u], terms.mass[u], meet_clusters(u, rows, labels, scratch)
    stays = scratch.link[own]
    scratch.link[own] = 0.0
    loss = loss_of_leaving(objective, stays, loop, mass, sums.inside[own], sums.mass[own])
    least = loss + LEAST_GAIN * objective.unit
    node = Node(loop, mass, size_at(limits, u))
    best, most, shared = best_cluster_met(objective, node, sums, scratch, n_met, least, limits)
    is_best_alone = loop - objective.pull * mass * mass > most and sums.size[own] > 1 and may_stand(limits, node.size)
    return Look(best, stays, shared, is_best_alone)


@loop(**UNCOUNTED)
def move_nodes(budget, rows, terms, objective, rules, labels, sums, moving):
    """Take nodes from the ring and move each to the cluster that raises the objective most; returns the entries read.

    Ends when no node waits or about `budget` entries were read. Clusters may become empty where the rules say so; their
    sums are then zero.
    """
    nodes, waits, state, link, met, empty = moving
    limits, scratch = rules.limits, Scratch(link, met)
    n, many, read = len(labels), len(labels) > CACHED, 0
    head, waiting, n_moved, n_empty = state[0], state[1], state[2], state[3]
    while waiting > 0 and read < budget:
        u = np.uint32(nodes[head])
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        waits[u] = 0
        if min(waiting, n - head) > 3 * AHEAD:
            ask_for_next(labels, rows, nodes, head, AHEAD, many)
        own, loop, mass, size = labels[u], terms.loops[u], terms.mass[u], size_at(limits, u)
        if sums.size[own] == 1:
            if not rules.empties:
                continue
        elif not may_lose(limits, own, size):
            continue
        first, last = rows.indptr[u], rows.indptr[u + 1]
        read += last - first
        now = _look_at(u, rows, terms, objective, labels, sums, scratch, limits)
        best, shared = now.best, now.shared
        if rules.opens and n_empty > 0 and now.is_best_alone:
            best, shared = empty[n_empty - 1], 0.0
        if best < 0:
            continue
        shift_load(limits, own, best, size)
        sums.inside[own] -= 2.0 * now.stays + loop
        sums.mass[own] -= mass
        sums.size[own] -= 1
        n_empty -= sums.size[best] == 0
        sums.inside[best] += 2.0 * shared + loop
        sums.mass[best] += mass
        sums.size[best] += 1
        if sums.size[own] == 0:
            sums.inside[own], sums.mass[own] = 0.0, 0.0  # what is left is round-off
            empty[n_empty] = own
            n_empty += 1
        labels[u] = best
        n_moved += 1
        if rules.requeues:
            place = head + waiting if head + waiting < n else head + waiting - n
            for e in range(first, last):
                v = np.uint32(rows.indices[e])
                nodes[np.uint32(place)] = v  # free, as u itself does not wait; counted only where v is to wait
                joins = np.uint8(labels[v] != best) & (waits[v] ^ np.uint8(1))
                waits[v] |= joins
                place += joins
                waiting += joins
                place = 0 if place == n else place
    state[0], state[1], state[2], state[3] = head, waiting, n_moved, n_empty
    return read


@loop()
def choose_moves(first, last, block, rows, terms, objective, now, target):
    """target[u] = the cluster to which a move of u gains most as things stand, its own for one by itself, or -1."""
    k = len(now.sums.mass)
    scratch = Scratch(np.zeros(k), np.empty(k + 1, np.int32))
    _choose_moves(first, last, rows, terms, objective, now, target, scratch)


@loop(**UNCOUNTED)
def _choose_moves(first, last, rows, terms, objective, now, target, scratch):
    """`choose_moves`, apart from it because making the scratch takes counts of references; see `jit_options`."""
    labels, sums, rules = now
    limits = rules.limits
    many = len(labels) > CACHED
    for u in range(first, last):
        target[u] = -1
        if many and u + 2 * AHEAD < last:
            ask_for_neighbors(labels, rows, u + 2 * AHEAD)
        if labels[u] < 0 or (not rules.empties and sums.size[labels[u]] == 1):  # -1 : in no cluster
            continue
        look = _look_at(np.uint32(u), rows, terms, objective, labels, sums, scratch, limits)
        target[u] = labels[u] if rules.opens and look.is_best_alone else look.best


@loop()
def queue_of(order, sums):
    """The nodes of `order`, (n,), all waiting, for a partition with these sums."""
    n, k = len(order), len(sums.size)
    state = np.array([0, n, 0, 0])
    moving = MoveQueue(
        order, np.ones(n, np.uint8), state, np.zeros(k), np.empty(k + 1, np.int32), np.empty(k, np.int32)
    )
    for c in range(k - 1, -1, -1):
        if sums.size[c] == 0:
            moving.empty[state[3]] = c
            state[3] += 1
    return moving


@loop()
def queue_chosen(target, moving):
    """The nodes that chose a move wait, in their order; no others do. The ring may be the array of the choices."""
    moving.state[1] = 0
    for u in range(len(target)):
        chosen = target[u] >= 0
        moving.waits[u] = chosen
        if chosen:
            moving.nodes[moving.state[1]] = u
            moving.state[1] += 1


@loop()
def singletons(terms):
    """Each node a cluster by itself."""
    n = len(terms.mass)
    sums = ClusterSums(terms.loops.copy(), terms.mass.copy(), np.ones(n, np.int64))
    return Partition(np.arange(n, dtype=np.int32), sums)


@loop()
def without_gaps(labels, sums):
    """A partition whose clusters are those that have a node, numbered by their first node."""
    number, k = np.full(len(sums.size), -1, np.int32), 0
    for u in range(len(labels)):
        if number[labels[u]] < 0:
            number[labels[u]] = k
            k += 1
        labels[u] = number[labels[u]]
    kept = ClusterSums(np.empty(k), np.empty(k), np.empty(k, np.int64))
    for c in range(len(number)):
        if number[c] >= 0:
            to = number[c]
            kept.inside[to], kept.mass[to], kept.size[to] = sums.inside[c], sums.mass[c], sums.size[c]
    return Partition(labels, kept)


@loop()
def find_regions(level, pull, most, unsettled, draws):
    """Regions: nodes moved from singletons, in shuffled passes while a pass moves more than the share `unsettled`.

    pull : of the plain objective that joins them. most : what one may hold, where nodes have sizes. Returns the
    partition and the entries read.
    """
    rows, terms = level
    n = len(terms.mass)
    regions = singletons(terms)
    order = regions.labels.copy()
    shuffle(order, draws)
    unit = 0.0
    for u in range(n):
        unit += terms.mass[u]
    objective = Objective(PLAIN, pull, pull * (unit / n) ** 2)
    rules = Rules(True, False, False, limits_of(terms.size, regions.labels, n, 0.0, most))
    moving, read = queue_of(order, regions.sums), 0
    while True:
        read += move_nodes(np.inf, rows, terms, objective, rules, regions.labels, regions.sums, moving)
        if moving.state[2] <= unsettled * n:
            break
        moving.state[1], moving.state[2] = n, 0
    return without_gaps(regions.labels, regions.sums), read


@loop()
def refine(level, found, goal):
    """The partition after local moving until no node that waits gains by a move; and the entries read.

    At first those nodes wait that gain as things stand; a move has the neighbors wait that it leaves or does not join.
    Where the number of clusters is free, a cluster may vanish and a node may become one.
    """
    rows, terms = level
    n, k, free = len(terms.mass), len(found.sums.size), goal.k == 0
    room = n if free else k
    sums = ClusterSums(np.zeros(room), np.zeros(room), np.zeros(room, np.int64))
    for c in range(k):
        sums.inside[c], sums.mass[c] = found.sums.inside[c], found.sums.mass[c]
    labels, target = found.labels.copy(), np.empty(n, np.int32)
    for u in range(n):
        sums.size[labels[u]] += 1
    limits = limits_of(terms.size, labels, room, goal.least, goal.most)
    first, rules = np.int64(0), Rules(free, free, True, limits)
    choose_moves(first, n, first, rows, terms, goal.objective, BlockState(labels, sums, rules), target)
    moving = queue_of(target, sums)
    queue_chosen(target, moving)
    read = move_nodes(np.inf, rows, terms, goal.objective, rules, labels, sums, moving)
    made = without_gaps(labels, sums) if free else Partition(labels, sums)
    return made, read + len(rows.indices)


@loop()
def find_regions_into(level, pull, most, unsettled, draws, room):
    """`find_regions`, into arrays that are there: returns the number of regions, and the entries read."""
    made, n_read = find_regions(level, pull, most, unsettled, draws)
    return write(made, room), n_read


@loop()
def refine_into(level, found, goal, room):
    """`refine`, into arrays that are there: returns the number of clusters, and the entries read."""
    made, n_read = refine(level, found, goal)
    return write(made, room), n_read
