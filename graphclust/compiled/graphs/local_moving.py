"""Local moving: each node goes to the neighboring cluster that raises the objective most.

The first phase of the methods of Louvain (Blondel et al. 2008) and Leiden (Traag et al. 2019): from singletons it makes
regions, from a partition it refines it. A round looks once at each node that waits, batch by batch:

    choose_moves     the nodes of a batch choose side by side, see `choosing`
    make_moves       they move one after the other; what has changed since they chose is made up for, so that the
                     gain of each move is exact up to round-off, and only gains above LEAST_GAIN are taken
    mark_neighbors   after the round, neighbors wait that have not looked since a move

So the value never falls, and labels depend neither on the number of threads that choose nor on how they share nodes.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.choosing import WORD, Batch, Choices, Rules, State, choose_moves, hash_of, scratch_for
from graphclust.compiled.graphs.levels import (
    Partition,
    change_cluster,
    has_room,
    limits_of,
    may_lose,
    number_by_first_node,
    size_at,
)
from graphclust.compiled.graphs.objective import (
    ADDITIVE,
    LEAST_GAIN,
    ClusterSums,
    Objective,
    clear_mass,
    copy_mass,
    gain_of_joining,
    loss_of_leaving,
    no_masses,
    score,
    typical_product,
)
from graphclust.compiled.runtime.loops import INLINED, UNCOUNTED, loop
from graphclust.compiled.runtime.random_numbers import mix_bits

# Nodes of one batch do not see each other's choices. With 16 batches regions are about as good as one by one, with 64
# as good on planted, social, web and mesh graphs; each costs a call for every thread.
BATCHES, NODES_PER_BATCH = 64, 16
# A batch is made of groups of up to 64 consecutive nodes, whose rows lie side by side: that reads rows two to three
# times as fast as single nodes in random order.
GROUP, GROUPS_PER_BATCH = 6, 16
IDLE, WAITS, IN_ROUND = 0, 1, 2
N_MOVED, N_EMPTY = 0, 1


class Moving(NamedTuple):
    """Which nodes wait, and what a round changes beside the partition.

    waits : IDLE, WAITS for the next round, or IN_ROUND; (n,), rounded up to whole words. moved (n,) : the nodes that
    moved in the round. empty (k,) : a stack of the empty clusters. counts : N_MOVED and N_EMPTY, how many those are.
    """

    waits: np.ndarray
    moved: np.ndarray
    empty: np.ndarray
    counts: np.ndarray


class Round(NamedTuple):
    """The nodes of a round: batch b is nodes[starts[b] : starts[b + 1]], in the order of their numbers.

    entries (n_nodes + 1,) : how many the rows before each node have. key, shift : they decide who is in which batch.
    """

    nodes: np.ndarray
    starts: np.ndarray
    entries: np.ndarray
    key: int
    shift: int


@loop(**INLINED)
def batch_of(u, key, shift, n_batches):
    """The number of the batch that a node is in."""
    return (hash_of(u, key, shift) * n_batches) >> 32


@loop()
def next_round(waits, indptr, key):
    """The nodes that wait, by batches that are drawn by the key; those of the round before are idle."""
    n, words, waiting, n_waiting = len(indptr) - 1, waits.view(np.uint64), np.empty(len(waits), np.int32), 0
    for word in range(len(words)):
        if words[word] != 0:  # mostly zero: few nodes wait after the first rounds
            for u in range(8 * word, 8 * word + 8):
                waiting[n_waiting] = u
                n_waiting += waits[u] == WAITS
                waits[u] = IN_ROUND if waits[u] == WAITS else IDLE
    n_batches = max(1, min(BATCHES, n_waiting // NODES_PER_BATCH))
    shift = 0
    # Larger groups while every batch still has GROUPS_PER_BATCH of them.
    while shift < GROUP and (n >> (shift + 1)) >= GROUPS_PER_BATCH * n_batches:
        shift += 1
    starts, entries = np.zeros(n_batches + 1, np.int64), np.zeros(n_waiting + 1, np.int64)
    for i in range(n_waiting):
        # A counting sort by batch: stable, so that nodes stay in their order.
        starts[batch_of(waiting[i], key, shift, n_batches) + 1] += 1
    for b in range(n_batches):
        starts[b + 1] += starts[b]
    place, nodes = starts[:-1].copy(), np.empty(n_waiting, np.int32)
    for i in range(n_waiting):
        u = waiting[i]
        b = batch_of(u, key, shift, n_batches)
        nodes[place[b]] = u
        entries[place[b] + 1] = indptr[u + 1] - indptr[u]  # summed below, once all are in place
        place[b] += 1
    for i in range(n_waiting):
        entries[i + 1] += entries[i]
    return Round(nodes, starts, entries, key, shift)


@loop()
def batch_at(now, b):
    """Batch b of a round."""
    n_batches, first, last = len(now.starts) - 1, now.starts[b], now.starts[b + 1]
    # Hashes h with h * n_batches >> 32 == b: rounded up, as integer division rounds down.
    low, high = -((-b << 32) // n_batches), -((-(b + 1) << 32) // n_batches)
    return Batch(now.nodes[first:last], now.entries[first : last + 1], now.key, now.shift, low, high)


@loop()
def room_for_choices(now):
    """Room for the choices of any batch of a round."""
    most_nodes, most_entries = 0, 0
    for b in range(len(now.starts) - 1):
        most_nodes = max(most_nodes, now.starts[b + 1] - now.starts[b])
        most_entries = max(most_entries, now.entries[now.starts[b + 1]] - now.entries[now.starts[b]])
    return Choices(
        np.empty(most_nodes, np.int32), np.empty(most_nodes), np.empty(most_nodes), np.empty(most_nodes, np.int64),
        np.empty(most_entries, np.int64), np.empty(most_entries, np.int32),
    )  # fmt: skip


@loop(**UNCOUNTED)
def make_moves(level, objective, now, batch, choices, moving):
    """Make the moves of a batch that still gain, in order; nodes whose move does not wait again."""
    (rows, terms), (labels, sums, rules) = level, now
    limits, weighted, counts = rules.limits, len(rows.weights) > 0, moving.counts
    for i in range(len(batch.nodes)):
        to = choices.target[i]
        if to < 0:
            continue
        u = np.uint32(batch.nodes[i])
        own, stays, shared = labels[u], choices.stays[i], choices.shared[i]
        place = batch.entries[i] - batch.entries[0]
        # Neighbors that came first in the batch may have moved since: their weight goes where they are now.
        for j in range(place, place + choices.n_earlier[i]):
            e, then = choices.entry[j], choices.label[j]
            since = labels[np.uint32(rows.indices[e])]
            if since != then:
                w = rows.weights[e] if weighted else 1.0
                stays += w * (np.float64(since == own) - np.float64(then == own))
                shared += w * (np.float64(since == to) - np.float64(then == to))
        loop, mass, size = terms.loops[u], terms.mass[u], size_at(limits, u)
        alone = to == own  # the code of `note_choice` for a cluster by itself
        is_last = sums.size[own] == 1
        moving.waits[u] = WAITS  # unless the move is made
        may_vanish = not alone and len(sums.size) - counts[N_EMPTY] > rules.fewest
        # The rules are asked again: earlier moves of the batch may have used up what they allow.
        if (is_last and not may_vanish) or not (is_last or may_lose(limits, own, size)):
            continue
        if alone:
            gain = score(objective, loop, mass, objective.layers)
            shared = 0.0
        # It vanished, or was filled, since the node chose it.
        elif sums.size[to] == 0 or not has_room(limits, to, size):
            continue
        else:
            gain = gain_of_joining(objective, shared, loop, mass, sums.inside[to], sums.mass[to], objective.layers)
        loss = loss_of_leaving(objective, stays, loop, mass, sums.inside[own], sums.mass[own], objective.layers)
        if not gain > loss + LEAST_GAIN * objective.unit:
            continue
        if alone:
            if counts[N_EMPTY] == 0:
                continue
            counts[N_EMPTY] -= 1
            to = moving.empty[counts[N_EMPTY]]
        change_cluster(u, to, stays, shared, terms, labels, sums, limits)
        if is_last:
            sums.inside[own] = 0.0  # what is left is round-off
            clear_mass(sums.mass, own)
            moving.empty[counts[N_EMPTY]] = own
            counts[N_EMPTY] += 1
        moving.waits[u] = IN_ROUND
        moving.moved[counts[N_MOVED]] = u
        counts[N_MOVED] += 1


@loop(**UNCOUNTED)
def mark_neighbors(first, last, block, rows, labels, now, moving):
    """The neighbors of moved nodes in other clusters wait, but for those that a later batch has looked at since."""
    waits, n_batches = moving.waits, len(now.starts) - 1
    for i in range(first, last):
        u = moving.moved[i]
        own, b = labels[u], batch_of(u, now.key, now.shift, n_batches)
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.uint32(rows.indices[e])
            # A later batch has seen the move already.
            if labels[v] != own and (waits[v] == IDLE or batch_of(v, now.key, now.shift, n_batches) <= b):
                waits[v] = WAITS


@loop()
def play_round(level, objective, now, moving, key, scratch):
    """One round on one thread; returns it, and the entries read."""
    this = next_round(moving.waits, level.rows.indptr, key)
    moving.counts[N_MOVED] = 0
    play_batches(level, objective, now, this, room_for_choices(this), moving, scratch)
    return this, this.entries[len(this.nodes)]


@loop()
def play_batches(level, objective, now, this, choices, moving, scratch):
    """The batches of a round on one thread, one after the other."""
    for b in range(len(this.starts) - 1):
        batch = batch_at(this, b)
        choose_moves(np.int64(0), len(batch.nodes), level, objective, now, batch, choices, scratch)
        make_moves(level, objective, now, batch, choices, moving)


@loop()
def moving_of(sums, n):
    """All n nodes wait, for a partition with these sums."""
    k = len(sums.size)
    waits = np.zeros(-(-n // 8) * 8, np.uint8)  # whole words, which `next_round` reads at once
    waits[:n] = WAITS
    moving = Moving(waits, np.empty(n, np.int32), np.empty(k, np.int32), np.zeros(2, np.int64))
    for c in range(k - 1, -1, -1):  # so that the lowest empty cluster is on top of the stack
        if sums.size[c] == 0:
            moving.empty[moving.counts[N_EMPTY]] = c
            moving.counts[N_EMPTY] += 1
    return moving


@loop()
def singletons(terms):
    """Each node a cluster by itself."""
    n = len(terms.mass)
    sums = ClusterSums(terms.loops.copy(), terms.mass.copy(), np.ones(n, np.int64))
    return Partition(np.arange(n, dtype=np.int32), sums)


@loop()
def without_gaps(labels, sums):
    """A partition whose clusters are those that have a node, numbered by their first node."""
    number = np.full(len(sums.size), -1, np.int32)
    k = number_by_first_node(labels, number)
    kept = ClusterSums(np.empty(k), no_masses(sums.mass, k), np.empty(k, np.int64))
    for c in range(len(number)):
        if number[c] >= 0:
            to = number[c]
            kept.inside[to], kept.size[to] = sums.inside[c], sums.size[c]
            copy_mass(kept.mass, to, sums.mass, c)
    return Partition(labels, kept)


@loop()
def start_of_regions(terms, penalty, fewest, most):
    """The additive objective that joins nodes to regions, and the state in which each node is one, and waits.

    fewest : how many regions there have to be. most : what one may hold of the sizes of nodes, where they have any.
    """
    labels, sums = singletons(terms)
    limits = limits_of(terms.size, labels, len(labels), 0.0, most)
    objective = Objective(ADDITIVE, penalty, penalty * typical_product(terms.mass, terms.layers), terms.layers)
    return objective, State(labels, sums, Rules(fewest, False, limits)), moving_of(sums, len(labels))


@loop()
def find_regions(level, penalty, fewest, most, n_rounds, key):
    """Regions, and the entries read: rounds of moves from singletons, with the arguments of `start_of_regions`."""
    n, read, scratch = len(level.terms.mass), 0, scratch_for(len(level.terms.mass))
    objective, now, moving = start_of_regions(level.terms, penalty, fewest, most)
    for _ in range(n_rounds):
        if n - moving.counts[N_EMPTY] <= fewest:  # as few regions as there may be
            break
        moving.waits[:n] = WAITS
        read += play_round(level, objective, now, moving, key, scratch)[1]
        key = next_key(key)
    return without_gaps(now.labels, now.sums), read


@loop()
def next_key(key):
    """The key of the round after one."""
    return np.int64(mix_bits(np.uint64(key + 1)) & np.uint64(WORD))


@loop()
def start_of_refinement(level, partition, task, room):
    """The state in which nodes of a partition move, and all of them wait; room : for so many clusters."""
    n, k, free = len(level.terms.mass), len(partition.sums.size), task.k == 0
    sums = ClusterSums(np.zeros(room), no_masses(partition.sums.mass, room), np.zeros(room, np.int64))
    for c in range(k):
        sums.inside[c] = partition.sums.inside[c]
        copy_mass(sums.mass, c, partition.sums.mass, c)
    labels = partition.labels.copy()
    for u in range(n):
        sums.size[labels[u]] += 1
    limits = limits_of(level.terms.size, labels, room, task.least, task.most)
    return State(labels, sums, Rules(1 if free else k, free, limits)), moving_of(sums, n)


@loop()
def refine(level, partition, task):
    """The partition after rounds of moves until no node that waits gains by one; and the entries read.

    All nodes wait at first. Where the number of clusters is free, a cluster may vanish and a node may become one.
    """
    # Where k is free, each node may become a cluster by itself.
    room = len(partition.labels) if task.k == 0 else len(partition.sums.size)
    now, moving = start_of_refinement(level, partition, task, room)
    scratch, key, read = scratch_for(len(now.sums.size)), np.int64(0), 0
    while True:
        this, n_read = play_round(level, task.objective, now, moving, key, scratch)
        read += n_read
        n_moved = moving.counts[N_MOVED]
        mark_neighbors(np.int64(0), n_moved, np.int64(0), level.rows, now.labels, this, moving)
        if n_moved == 0:
            break
        key = next_key(key)
    made = without_gaps(now.labels, now.sums) if task.k == 0 else Partition(now.labels, now.sums)
    return made, read
