"""Single-node moves that raise an objective, with the exact change of each."""

from typing import NamedTuple

import numpy as np
from numba import njit

from graphclust.compiled.graphs.link_places import INNER, LEAST_LINK, place_of
from graphclust.compiled.graphs.link_table import best_in_table, note_move
from graphclust.compiled.graphs.objective import (
    LEAST_GAIN,
    PLAIN,
    RATIO,
    ClusterSums,
    Objective,
    better_of,
    gain_of_joining,
    loss_of_leaving,
    most_from_joining,
)
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors, ask_for_next
from graphclust.compiled.runtime.references import INLINED, UNCOUNTED

HASH = 2_654_435_761  # Knuth's multiplier, 2^32 over the golden ratio
NEVER = -np.inf
LONG_ROW = 64  # entries; on shorter rows single look-ups are faster


class Scratch(NamedTuple):
    """The weight of a node to each cluster, all zero between nodes, and the clusters that it meets, its own first.

    link (k,), or (k + INNER,) where the links inside its cluster are kept apart, see `link_places`; met (k + 1,) has
    room for one that is not counted.
    """

    link: np.ndarray
    met: np.ndarray


class Look(NamedTuple):
    """The other cluster that a node gains most by going to, -1 where it has none, the gain, its links to both."""

    best: int
    gain: float
    stays: float
    shared: float


class MoveQueue(NamedTuple):
    """A ring of nodes and who is in it, 1 or 0; state = (head of the ring, its length); and scratch."""

    nodes: np.ndarray
    queued: np.ndarray
    state: np.ndarray
    scratch: Scratch


class Bounds(NamedTuple):
    """What no cluster falls short of, (least mass, worst) as `most_from_joining` takes them, to rule out nodes by.

    of_all : of all clusters; of_others : but for light ones, for nodes that have no neighbor there. beside (n,) bool :
    which nodes have; empty where no cluster is light.
    """

    of_all: tuple[float, float]
    of_others: tuple[float, float]
    beside: np.ndarray


class MoveRound(NamedTuple):
    """The partition as it stands when nodes look for better clusters all at once, and whose turn it is.

    stays (n,) is what `staying_weights` finds; where it is not known, it is made of the nodes looked at. With turn 0 or
    1 only one half of the nodes is looked at, mixed by a hash; with -1 all are. entries_read (n_blocks,) is filled;
    where what stays is known the row of a node that is ruled out is not read.
    """

    labels: np.ndarray
    sums: ClusterSums
    stays: np.ndarray
    known: bool
    bounds: Bounds
    turn: int
    entries_read: np.ndarray


@njit(cache=True, nogil=True, **INLINED)
def staying_weight(u, rows, labels):
    """Weight of the edges of u to others of its cluster; 0 for a node without a cluster."""
    own = labels[u]
    if own < 0:
        return 0.0
    row = rows.indices[rows.indptr[u] : rows.indptr[u + 1]]
    weights = rows.weights[rows.indptr[u] : rows.indptr[u + 1]]
    if len(weights) > 0 or len(row) < LONG_ROW:
        total = 0.0
        for e in range(len(row)):
            stays = (labels[np.uint32(row[e])] == own) & (row[e] != u)  # unsigned: no test for counting from the end
            total += np.float64(stays) * (weights[e] if len(weights) > 0 else 1.0)  # a branch would be a coin toss
        return total
    count = 0  # a sum of whole numbers may be reordered, so that several labels are looked up at a time
    for e in range(len(row)):
        count += (labels[np.uint32(row[e])] == own) & (row[e] != u)
    return float(count)


@njit(cache=True, nogil=True, **UNCOUNTED)
def staying_weights(first, last, block, rows, labels, stays):
    """stays[u] = weight of the edges of u to others of its cluster; 0 for nodes without a cluster."""
    many = len(labels) > CACHED
    for u in range(first, last):
        if many and u + AHEAD < last:
            ask_for_neighbors(labels, rows, u + AHEAD)
        stays[u] = staying_weight(u, rows, labels)


@njit(cache=True, nogil=True, **UNCOUNTED)
def add_to_sums(labels, stays, terms, sums):
    """Adds to the sums of the clusters what each node brings, `stays` being its weight to others of its cluster."""
    for u in range(len(labels)):
        c = labels[u]
        if c >= 0:
            sums.inside[c] += stays[u] + terms.loops[u]
            sums.mass[c] += terms.mass[u]
            sums.size[c] += 1


@njit(cache=True, nogil=True, **UNCOUNTED)
def changes_inside(first, last, block, rows, labels, moved, movers, changes):
    """What the clusters that movers[i] leaves and joins lose and win inside, its own loop aside, when all move at once.

    changes (2, n_movers) : row 0 becomes what is lost, row 1 what is won.
    labels, moved : of all nodes before and after. An edge counts in both directions; where both of its nodes move each
    stands for its own.
    """
    weighted, many = len(rows.weights) > 0, len(labels) > CACHED
    lost, won = changes[0], changes[1]
    for i in range(first, last):
        u = movers[i]
        if many and i + AHEAD < last:
            ask_for_neighbors(labels, rows, movers[i + AHEAD])
            ask_for_neighbors(moved, rows, movers[i + AHEAD])
        before, now = labels[u], moved[u]
        lost[i] = won[i] = 0.0
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.uint32(rows.indices[e])
            if v == u:
                continue
            w = rows.weights[e] if weighted else 1.0
            if labels[v] == moved[v]:
                w *= 2.0
            if labels[v] == before:
                lost[i] += w
            if moved[v] == now:
                won[i] += w


@njit(cache=True, nogil=True, **UNCOUNTED)
def mark_neighbors(nodes, rows, marked):
    """marked[v] = True for all neighbors of some nodes."""
    for u in nodes:
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            marked[np.uint32(rows.indices[e])] = True


@njit(cache=True, nogil=True, **INLINED)
def _best_met(objective, u, terms, sums, scratch, n_met, most):
    """The cluster of those met that u gains most by joining, -1 where none is worth more than `most`; gain and link.

    Leaves no link but that with the cluster of u.
    """
    # Which kind it is is asked here, not of every cluster.
    if objective.kind == RATIO:
        ratio = Objective(RATIO, objective.pull, objective.unit)
        return _best_by(ratio, terms.loops[u], terms.mass[u], sums, scratch, n_met, most)
    plain = Objective(PLAIN, objective.pull, objective.unit)
    return _best_by(plain, terms.loops[u], terms.mass[u], sums, scratch, n_met, most)


@njit(cache=True, nogil=True, **INLINED)
def _best_by(objective, loop, mass, sums, scratch, n_met, most):
    """`_best_met` for a kind of objective that is known when the loop is compiled."""
    link, met = scratch
    best, shared = np.int32(-1), 0.0
    for i in range(1, n_met):
        c = np.uint32(met[i])
        w = link[c]
        link[c] = 0.0
        gain = gain_of_joining(objective, w, loop, mass, sums.inside[c], sums.mass[c])
        best, most = better_of(met[i], gain, best, most)
        shared = w if best == met[i] else shared
    return best, most, shared


@njit(cache=True, nogil=True, **INLINED)
def look_at(u, rows, terms, objective, labels, sums, scratch, table):
    """What a move of u would change; nodes without a cluster stay there, and so does the last one of a cluster.

    table : its links to each cluster are looked up there; None: they are added up.
    """
    link, met = scratch
    own, loop, mass = labels[u], terms.loops[u], terms.mass[u]
    if own < 0 or sums.size[own] <= 1 or sums.mass[own] <= mass:
        return Look(np.int32(-1), NEVER, 0.0, 0.0)
    if table is None:
        first, last = rows.indptr[u], rows.indptr[u + 1]
        row, weights, weighted = rows.indices[first:last], rows.weights[first:last], len(rows.weights) > 0
        met[0], n_met = own, 1
        link[own] = LEAST_LINK
        for e in range(len(row)):
            v = np.uint32(row[e])
            c = labels[v]
            if c >= 0 and v != u:
                before = link[np.uint32(c)]
                met[np.uint32(n_met)] = c  # counted only where it is the first edge to c: a branch would be a coin toss
                n_met += before == 0.0
                link[np.uint32(c)] = before + (weights[e] if weighted else 1.0)
        stays = link[own]
        link[own] = 0.0
        best, most, shared = _best_met(objective, u, terms, sums, scratch, n_met, NEVER)
    else:
        links = table.links[np.uint32(u)]
        best, most = best_in_table(objective, u, own, terms, sums, table)
        stays, shared = links[own], links[np.uint32(best)] if best >= 0 else 0.0
    loss = loss_of_leaving(objective, stays, loop, mass, sums.inside[own], sums.mass[own])
    return Look(best, most - loss, stays, shared)


@njit(cache=True, nogil=True, **INLINED)
def change_cluster(u, to, stays, shared, terms, labels, sums):
    """Node u goes to another cluster, with the links `stays` to the others of its own and `shared` to that one."""
    own, loop, mass = labels[u], terms.loops[u], terms.mass[u]
    sums.inside[own] -= 2.0 * stays + loop
    sums.mass[own] -= mass
    sums.size[own] -= 1
    sums.inside[to] += 2.0 * shared + loop
    sums.mass[to] += mass
    sums.size[to] += 1
    labels[u] = to


@njit(cache=True, nogil=True, **UNCOUNTED)
def move_nodes(budget, rows, terms, objective, labels, sums, queue, table):
    """Take nodes from a ring queue and move each to the cluster that raises the objective most.

    The neighbors of a moved node that are elsewhere are queued again. A move never empties a cluster. Returns the
    entries of the rows looked at, about `budget` at most. table : of the partition, see `look_at`, or None.
    """
    nodes, queued, state, scratch = queue
    n = len(labels)
    least = LEAST_GAIN * objective.unit
    read = 0
    many = n > CACHED
    head, waiting = state[0], state[1]
    while waiting > 0 and read < budget:
        u = np.uint32(nodes[head])
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        if min(waiting, n - head) > 3 * AHEAD:
            ask_for_next(labels, rows, nodes, head, AHEAD, many)
        queued[u] = 0
        first, last = rows.indptr[u], rows.indptr[u + 1]
        read += last - first
        now = look_at(u, rows, terms, objective, labels, sums, scratch, table)
        if now.gain > least:
            own, best = labels[u], now.best
            change_cluster(u, best, now.stays, now.shared, terms, labels, sums)
            if table is not None:
                note_move(u, own, best, rows, table)
            place = head + waiting if head + waiting < n else head + waiting - n
            for e in range(first, last):
                v = np.uint32(rows.indices[e])
                c = labels[v]
                nodes[np.uint32(place)] = v  # free, as u itself does not wait; counted only where v is to wait
                elsewhere = np.uint8(c != best) & np.uint8(c >= 0)
                waits = elsewhere & (queued[v] ^ np.uint8(1))
                queued[v] |= waits
                place += waits
                waiting += waits
                place = 0 if place == n else place
    state[0], state[1] = head, waiting
    return read


@njit(cache=True, nogil=True, **INLINED)
def _has_turn(u, turn):
    """Whether node u is looked at in this turn, see `MoveRound`."""
    return turn < 0 or u * HASH >> 16 & 1 == turn


@njit(cache=True, nogil=True)
def choose_moves(first, last, block, rows, terms, objective, now, target):
    """target[u] = the cluster to which a move of u would raise the objective most as things stand, or -1.

    Most nodes are ruled out by the weight that stays in their cluster: even if all the rest went to a single other one
    it could not make up for the loss.
    """
    k = len(now.sums.mass)
    scratch = Scratch(np.zeros(k + INNER), np.empty(k + 1, np.int32))
    scratch.link[k:] = LEAST_LINK
    now.entries_read[block] = _choose_moves(first, last, rows, terms, objective, now, scratch, target)


@njit(cache=True, nogil=True, **UNCOUNTED)
def _choose_moves(first, last, rows, terms, objective, now, scratch, target):
    """`choose_moves`, apart from it because making the scratch takes counts of references; see `references`."""
    labels, sums, stays, known, bounds, turn, _ = now
    read = 0
    link, met = scratch
    k = len(sums.mass)
    weighted = len(rows.weights) > 0
    least = LEAST_GAIN * objective.unit
    many = len(labels) > CACHED
    for u in range(first, last):
        if many and u + AHEAD < last and _has_turn(u + AHEAD, turn):
            ask_for_neighbors(labels, rows, u + AHEAD)
        own = labels[u]
        target[u] = -1
        if not _has_turn(u, turn):
            continue
        if not known:
            stays[u] = staying_weight(u, rows, labels)
            read += rows.indptr[u + 1] - rows.indptr[u]
        loop, mass = terms.loops[u], terms.mass[u]
        if own < 0 or sums.size[own] <= 1 or sums.mass[own] <= mass:
            continue
        loss = loss_of_leaving(objective, stays[u], loop, mass, sums.inside[own], sums.mass[own])
        least_mass, worst = bounds.of_all if len(bounds.beside) == 0 or bounds.beside[u] else bounds.of_others
        if most_from_joining(objective, terms.degrees[u] - stays[u], loop, mass, least_mass, worst) <= loss:
            continue
        read += rows.indptr[u + 1] - rows.indptr[u] if known else 0
        met[0], n_met = own, 1
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            c = labels[np.uint32(rows.indices[e])]
            place = np.uint32(place_of(c, (c == own) | (c < 0), e, k))
            before = link[place]
            met[np.uint32(n_met)] = c
            n_met += before == 0.0
            link[place] = before + (rows.weights[e] if weighted else 1.0)
        target[u], _, _ = _best_met(objective, u, terms, sums, scratch, n_met, loss + least)
    return read


@njit(cache=True, nogil=True, **UNCOUNTED)
def choose_in_table(rows, terms, objective, labels, sums, table, scratch, target):
    """`choose_moves` of all nodes by a table: a look takes no longer there than to rule a node out."""
    least = LEAST_GAIN * objective.unit
    for u in range(len(labels)):
        now = look_at(u, rows, terms, objective, labels, sums, scratch, table)
        target[u] = now.best if now.gain > least else -1
