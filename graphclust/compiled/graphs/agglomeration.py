"""Agglomeration: clusters are merged pair by pair, always the pair whose union raises the objective most.

Source: Clauset, Newman & Moore 2004, "Finding community structure in very large networks".
"""

from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.graphs.cluster_sums import LEAST_LINK, sum_of_links
from graphclust.compiled.graphs.heap import pop, push
from graphclust.compiled.graphs.levels import Partition, has_room, limits_of, load_at, number_by_first_node, shift_load
from graphclust.compiled.graphs.objective import (
    ADDITIVE,
    CHANCE,
    RATIO,
    UNGUARDED,
    ClusterSums,
    Objective,
    add_mass,
    better_of,
    copy_mass,
    gain_of_union,
    no_masses,
    score,
    size_of_mass,
)
from graphclust.compiled.runtime.loops import INLINED, UNCOUNTED, loop

NO_END = 1 << 62  # entries that merging may read before it comes back
SMALL_SHARE = 8.0  # a cluster that grows by less than an eighth keeps its entry
NEAR_ENOUGH = 1e-3  # units: gains that differ by less are equal; each union with the giant shifts all of them a little
MANY_READS = 64  # of each entry; half as many do, unless most nodes are leaves of one hub. From then on ...
COARSE_TIE = 0.125  # ... gains that differ by this share are equal: else each union with the hub shifts all the others

# What is kept of each cluster, in one record, since most of it is read together.
CLUSTER = np.dtype([
    ("inside", np.float64),
    ("mass", np.float64),
    ("score", np.float64),
    ("gain", np.float64),  # by the union with its partner when it was last looked at, and what it was last pushed with
    ("shared", np.float64),  # the link with its partner
    ("link", np.float64),  # scratch, zero between looks
    ("merged_into", np.int32),  # itself while it is live
    ("partner", np.int32),
    ("looked", np.int32),  # clusters left when it was last looked at ...
    ("changed", np.int32),  # ... and when it last grew
])  # fmt: skip
# Of each node: how much of its list of neighbors is used, the next list of the chain, and the last of all.
LIST = np.dtype([("length", np.int32), ("following", np.int32), ("tail", np.int32)])


class Chains(NamedTuple):
    """The neighbors of each live cluster: a chain of the lists of the nodes that it swallowed.

    neighbors and links are those of the graph at first; lists (n,) is of LIST, empty at first.
    """

    indptr: np.ndarray
    neighbors: np.ndarray
    links: np.ndarray
    lists: np.ndarray


class Merger(NamedTuple):
    """The clusters (n,), of CLUSTER, with inside and mass of the nodes at first; a heap of gains and their clusters.

    state = (size of the heap, the cluster of most mass, clusters left, entries read), zeros before the first call; met
    (n,) is scratch. trace is empty, or (n,): trace[t] becomes the gain of the union that leaves t clusters. pairs has
    no row, or n: pairs[t] becomes the cluster that this union ends and the one that it enlarges. masses : of the
    clusters, (n,), or (n, n_masses) where each has several; "mass" in a record is then the sum of their sizes. limits :
    what clusters may hold, as `Limits` of clusters that are one node each at first, or None.
    """

    clusters: np.ndarray
    gains: np.ndarray
    items: np.ndarray
    met: np.ndarray
    state: np.ndarray
    trace: np.ndarray
    pairs: np.ndarray
    masses: np.ndarray
    limits: Any


@loop(**INLINED)
def _live_cluster(clusters, a):
    """The live cluster that a is part of, itself if it is live. The branch is unpredictable, so there is none."""
    root = clusters[np.uint32(a)]["merged_into"]
    if clusters[np.uint32(root)]["merged_into"] == root:
        return root
    while clusters[root]["merged_into"] != root:
        clusters[root]["merged_into"] = clusters[clusters[root]["merged_into"]]["merged_into"]
        root = clusters[root]["merged_into"]
    clusters[a]["merged_into"] = root
    return root


@loop(**UNCOUNTED)
def _start(objective, chains, merger):
    """Every node is a cluster; fills what is empty of chains and merger."""
    indptr, lists, clusters = chains.indptr, chains.lists, merger.clusters
    n = len(clusters)
    giant, size = np.int64(0), np.int64(0)  # as they are later: of a literal all that they are given to compiles twice
    for u in range(n):
        lists[u]["length"] = indptr[u + 1] - indptr[u]
        lists[u]["following"] = -1
        lists[u]["tail"] = clusters[u]["merged_into"] = u
        clusters[u]["changed"] = n
        clusters[u]["score"] = score(objective, clusters[u]["inside"], clusters[u]["mass"], ())
        if clusters[u]["mass"] > clusters[giant]["mass"]:
            giant = u
    merger.state[1], merger.state[2] = giant, n
    for u in range(n):
        if objective.kind == RATIO and u == giant:
            clusters[u]["gain"] = -np.inf
        else:
            _look_first(u, giant, objective, chains, merger)
            size = push(merger.gains, merger.items, size, clusters[u]["gain"], u)
    merger.state[0] = size


@loop(**INLINED, **UNGUARDED)
def _gain(objective, link, at_a, at_b, merger):
    """`gain_of_union` of two clusters whose scores are known: of ratios the divisions for these would take longest."""
    a, b = merger.clusters[at_a], merger.clusters[at_b]
    if objective.kind == RATIO:
        united = score(objective, a["inside"] + b["inside"] + 2.0 * link, a["mass"] + b["mass"], ())
        return united - a["score"] - b["score"]
    return _plain_gain(objective, link, at_a, at_b, merger.clusters, merger.masses)


@loop(**INLINED, **UNGUARDED)
def _plain_gain(objective, link, at_a, at_b, clusters, masses):
    """`gain_of_union` of two clusters of an additive objective."""
    a, b = clusters[at_a], clusters[at_b]
    if masses.ndim == 1:
        return gain_of_union(objective, link, a["inside"], a["mass"], b["inside"], b["mass"], ())
    else:
        mass_a, mass_b = masses[at_a], masses[at_b]
        return gain_of_union(objective, link, a["inside"], mass_a, b["inside"], mass_b, objective.layers)


@loop(**INLINED)
def _look_first(u, giant, objective, chains, merger):
    """Note what `_look_at` would show of a node before any merge, when there are no links to be summed."""
    neighbors, links, limits = chains.neighbors, chains.links, merger.limits
    best, most, shared, with_giant, load = np.int32(-1), -np.inf, 0.0, 0.0, load_at(limits, u)
    for e in range(chains.indptr[u], chains.indptr[u + 1]):
        v = neighbors[e]
        if v == u:
            continue
        if v == giant:
            with_giant = links[e]
        gain = _gain(objective, links[e], u, np.uint32(v), merger)
        if (gain > most or (gain == most and v < best)) and has_room(limits, v, load):
            best, most, shared = v, gain, links[e]
    if objective.kind == RATIO:
        gain = _gain(objective, with_giant, u, giant, merger)
        if (gain > most or (gain == most and giant < best)) and has_room(limits, giant, load):
            best, most, shared = np.int32(giant), gain, with_giant
    _note(merger.clusters[u], best, most, shared, len(merger.clusters))


@loop(**INLINED)
def _note(cluster, best, most, shared, left):
    """Keep what a look at a cluster has shown while so many were left: its best partner, the gain and their link."""
    cluster["partner"], cluster["gain"], cluster["shared"] = best, most, shared
    cluster["looked"] = left


@loop(**INLINED)
def _best_of(objective, a, giant, n_met, merger):
    """The cluster, among those met, whose union with a gains most, and the gain; -1 and minus infinity without any."""
    _, penalty, unit, layers = objective
    if objective.kind == RATIO:  # asked here, not of every cluster
        return _best_by(Objective(RATIO, penalty, unit, layers), a, giant, n_met, merger)
    if objective.kind == CHANCE:
        return _best_by(Objective(CHANCE, penalty, unit, layers), a, giant, n_met, merger)
    return _best_by(Objective(ADDITIVE, penalty, unit, layers), a, giant, n_met, merger)


@loop(**INLINED)
def _best_by(objective, a, giant, n_met, merger):
    """`_best_of` for a kind of objective that is known when the loop is compiled."""
    clusters, met, limits = merger.clusters, merger.met, merger.limits
    best, most, load = np.int32(-1), -np.inf, load_at(merger.limits, a)
    if objective.kind == RATIO and giant != a and has_room(limits, giant, load):
        best, most = np.int32(giant), _gain(objective, clusters[giant]["link"], a, giant, merger)
    for i in range(n_met):
        other = np.uint32(met[i])
        gain = _gain(objective, clusters[other]["link"], a, other, merger)
        gain = gain if has_room(limits, met[i], load) else -np.inf
        best, most = better_of(met[i], gain, best, most)
    return best, most


@loop(**UNCOUNTED)
def _look_at(a, objective, chains, merger):
    """Note the live neighbor that a gains most by joining, the gain and their link; returns the entries read.

    For ratio objectives the cluster of most mass is a candidate too, linked or not: such a union can pay. The chain of
    a is rewritten to one entry a live neighbor, which never needs more room than it had. Without candidates the partner
    is -1 and the gain minus infinity.
    """
    indptr, neighbors, links, lists = chains
    clusters, met, giant = merger.clusters, merger.met, merger.state[1]
    n_met, n_read = np.int64(0), 1
    clusters[a]["link"] = LEAST_LINK  # as if it were met already: it is no partner of its own
    piece = a
    while piece >= 0:
        first, length = indptr[piece], lists[piece]["length"]
        n_read += length
        for e in range(first, first + length):
            b = np.uint32(_live_cluster(clusters, neighbors[e]))
            before = clusters[b]["link"]
            met[np.uint32(n_met)] = b  # counted only for the first link to b, without an unpredictable branch
            n_met += before == 0.0
            clusters[b]["link"] = sum_of_links(before, links[e], objective.layers)
        piece = lists[piece]["following"]
    clusters[a]["link"] = 0.0
    best, most = _best_of(objective, a, giant, n_met, merger)
    shared = clusters[best]["link"] if best >= 0 else 0.0
    written, piece = 0, a
    while piece >= 0:
        first = indptr[piece]
        length = min(indptr[piece + 1] - first, n_met - written)
        for e in range(first, first + length):
            b = np.uint32(met[written])
            neighbors[e], links[e] = b, clusters[b]["link"]
            clusters[b]["link"] = 0.0
            written += 1
        lists[piece]["length"] = length
        piece = lists[piece]["following"]
    _note(clusters[a], best, most, shared, merger.state[2])
    return n_read


@loop(**INLINED)
def _holds(a, is_ratio, giant, clusters):
    """Whether neither a nor its partner, nor the giant that can be one, has changed since a was last looked at."""
    b, looked = clusters[a]["partner"], clusters[a]["looked"]
    if b < 0 or clusters[b]["merged_into"] != b:
        return False
    if clusters[a]["changed"] < looked or clusters[b]["changed"] < looked:
        return False
    return not is_ratio or clusters[giant]["changed"] >= looked


@loop(**UNCOUNTED)
def _push_again(a, is_ratio, merger):
    """Push the gain of a; a heap that is full of outdated entries is rebuilt."""
    clusters, state = merger.clusters, merger.state
    size = state[0]
    if size == len(merger.gains):
        size = np.int64(0)
        for u in range(len(clusters)):
            if u != a and clusters[u]["merged_into"] == u and not (is_ratio and u == state[1]):
                size = push(merger.gains, merger.items, size, clusters[u]["gain"], u)
    state[0] = push(merger.gains, merger.items, size, clusters[a]["gain"], a)


@loop(**INLINED)
def _unite(a, b, link, objective, lists, merger):
    """Cluster a becomes a part of b."""
    shift_load(merger.limits, a, b, load_at(merger.limits, a))
    ended, enlarged, state = merger.clusters[a], merger.clusters[b], merger.state
    enlarged["inside"] += ended["inside"] + 2.0 * link
    enlarged["mass"] += ended["mass"]
    add_mass(merger.masses, b, merger.masses[a], 1.0)
    enlarged["score"] = score(objective, enlarged["inside"], enlarged["mass"], ())
    ended["merged_into"] = b
    lists[lists[b]["tail"]]["following"] = a
    lists[b]["tail"] = lists[a]["tail"]
    state[2] -= 1
    enlarged["changed"] = state[2]
    if len(merger.pairs):
        merger.pairs[state[2], 0], merger.pairs[state[2], 1] = a, b


@loop(**INLINED)
def _weight_of(c, clusters, limits):
    """What a cluster holds, or its mass where there are no limits."""
    if limits is None:
        return clusters[c]["mass"]
    return limits.load[c]


@loop(**UNCOUNTED)
def _unite_unlinked(n_clusters, objective, lists, merger):
    """Where no two clusters are linked, unite the two of least mass until n_clusters are left.

    With limits, unite the two that hold least, until two of them exceed the bound.
    """
    clusters, gains, items, limits = merger.clusters, merger.gains, merger.items, merger.limits
    size = np.int64(0)
    for u in range(len(clusters)):
        if clusters[u]["merged_into"] == u:
            size = push(gains, items, size, -_weight_of(u, clusters, limits), u)
    while merger.state[2] > n_clusters:
        a = np.int64(items[0])
        size = pop(gains, items, size)
        b = np.int64(items[0])
        size = pop(gains, items, size)
        if not has_room(limits, b, load_at(limits, a)):
            break
        _unite(a, b, 0.0, objective, lists, merger)
        size = push(gains, items, size, -_weight_of(b, clusters, limits), b)


@loop(**UNCOUNTED)
def merge_pairs(budget, n_clusters, objective, chains, merger):
    """Merge until n_clusters are left or about `budget` entries were read; returns whether merging is complete.

    n_clusters = 0 : merging ends when no union gains; for additive objectives only.

    The first call begins with a cluster for every node. A pair must share an edge or, for ratio objectives, include the
    giant, the cluster of most mass. Where no linked pair is left, additive objectives unite the lightest clusters.

    The heap holds, for each cluster, the gain of its best partner when it was last looked at. The cluster on top is
    looked at again before it is merged, unless neither it nor its partner has changed. A union changes only pairs with
    the united cluster, which is looked at right away unless it hardly grew; other clusters find such a pair outdated
    when they reach the top. Where most nodes are leaves of a hub, each union outdates all of them: see MANY_READS.
    """
    clusters, gains, items, state, lists = merger.clusters, merger.gains, merger.items, merger.state, chains.lists
    is_ratio = objective.kind == RATIO
    if state[2] == 0:
        _start(objective, chains, merger)
    near = NEAR_ENOUGH * objective.unit if is_ratio else 0.0
    while state[2] > n_clusters:
        if budget <= 0:
            return False
        gain, a = gains[0], np.int64(items[0])
        if gain == -np.inf:
            if n_clusters > 0:
                _unite_unlinked(n_clusters, objective, lists, merger)
            return True
        state[0] = pop(gains, items, state[0])
        top = clusters[a]
        if top["merged_into"] != a or (is_ratio and a == state[1]) or gain != top["gain"]:
            continue  # merged meanwhile, or pushed again with another gain
        is_slow = state[3] > MANY_READS * len(chains.links)
        if not _holds(a, is_ratio, state[1], clusters):
            n_read = _look_at(a, objective, chains, merger)
            budget, state[3] = budget - n_read, state[3] + n_read
        b = np.int64(top["partner"])
        least = gains[0] - (max(near, COARSE_TIE * abs(gains[0])) if is_slow else near)
        if (state[0] > 0 and top["gain"] < least) or b < 0:
            state[0] = push(gains, items, state[0], top["gain"], a)
            continue
        if n_clusters == 0 and top["gain"] <= 0.0:
            return True
        if len(merger.trace):
            merger.trace[state[2] - 1] = top["gain"]
        is_heavier = not is_ratio and top["mass"] > clusters[b]["mass"]
        link = top["shared"]
        if is_heavier:
            a, b = b, a  # the shorter chain goes to the end of the longer; the one without an entry is left
        hardly_grows = clusters[a]["mass"] * SMALL_SHARE < clusters[b]["mass"]
        _unite(a, b, link, objective, lists, merger)
        # Now b is looked at and pushed again, with three exceptions. If b is the new giant of a ratio, the old giant is
        # pushed instead. If b hardly grew, it keeps its entry; the giant of a ratio has none. If b hardly grew but was
        # popped itself, and merging is slow, it is postponed.
        looked_at = b
        if is_ratio and b != state[1] and clusters[b]["mass"] > clusters[state[1]]["mass"]:
            looked_at = state[1]  # the former giant needs an entry again
            state[1] = b
        elif (hardly_grows and not is_heavier) or (is_ratio and b == state[1]):
            continue
        elif hardly_grows and is_slow:
            gain = gains[0] if state[0] > 0 and -np.inf < gains[0] < clusters[b]["gain"] else clusters[b]["gain"]
            clusters[b]["gain"] = gain - COARSE_TIE * abs(gain)  # looked at again once the others gain less too
            _push_again(b, is_ratio, merger)
            continue
        n_read = _look_at(looked_at, objective, chains, merger)
        budget, state[3] = budget - n_read, state[3] + n_read
        _push_again(looked_at, is_ratio, merger)
    return True


@loop()
def chains_of(rows):
    links = rows.weights.copy() if len(rows.weights) else np.ones(len(rows.indices))
    return Chains(rows.indptr, rows.indices.copy(), links, np.empty(len(rows.indptr) - 1, LIST))


@loop()
def merger_of(terms, task, gains, pairs):
    """Each node a cluster by itself; gains, pairs : as `Merger` takes them."""
    n = len(terms.mass)
    clusters = np.zeros(n, CLUSTER)
    for u in range(n):
        clusters[u]["inside"], clusters[u]["mass"] = terms.loops[u], size_of_mass(terms.mass, u)
    gains_of_heap, items = np.empty(2 * n + 16), np.empty(2 * n + 16, np.int32)
    met, state = np.empty(n, np.int32), np.zeros(4, np.int64)
    limits = limits_of(terms.size, np.arange(n, dtype=np.int32), n, task.least, task.most)
    return Merger(clusters, gains_of_heap, items, met, state, gains, pairs, terms.mass.copy(), limits)


@loop()
def partition_of(merger):
    """The clusters as a partition, numbered by their first node."""
    clusters, n = merger.clusters, len(merger.clusters)
    labels, number = np.empty(n, np.int32), np.full(n, -1, np.int32)
    for u in range(n):
        labels[u] = _live_cluster(clusters, u)
    k = number_by_first_node(labels, number)
    sums = ClusterSums(np.empty(k), no_masses(merger.masses, k), np.zeros(k, np.int64))
    for a in range(n):
        sums.size[labels[a]] += 1
        if number[a] >= 0:
            sums.inside[number[a]] = clusters[a]["inside"]
            copy_mass(sums.mass, number[a], merger.masses, a)
    return Partition(labels, sums)


@loop()
def agglomerate(level, task, gains, pairs):
    """The nodes of a level merged into k clusters, or until no union gains; more than k where no two fit into one.

    gains, pairs : of every union, as `Merger` takes them; empty where nobody asks for them.
    """
    merger, chains = merger_of(level.terms, task, gains, pairs), chains_of(level.rows)
    merge_pairs(np.int64(NO_END), task.k, task.objective, chains, merger)
    return partition_of(merger)


@loop()
def labels_of_unions(pairs, k):
    """The cluster of each node once unions have left k, each named by one of its nodes; `pairs` as of a merger."""
    labels = np.arange(len(pairs), dtype=np.int32)
    for t in range(k, len(pairs)):  # the last of these unions first: what it enlarges ends in none of them
        labels[pairs[t, 0]] = labels[pairs[t, 1]]
    return labels
