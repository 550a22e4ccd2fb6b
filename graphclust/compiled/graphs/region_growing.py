"""Parts of even size: bisected or grown one after the other, along the weakest connections, or evened out by pieces.

On the way down to a bisection nodes that no region has room for are joined if they share their most linked region:
leaves of a hub have no other neighbor, most stay alone if regions are bounded, and levels hardly shrink.

Where parts have to stay connected, load flows from each to lighter neighbors: a node that holds its cluster together
takes along what it would cut off from the largest part of the rest. What that is one depth-first search of the cluster
tells: the subtrees from which no edge leads above the node.

Source: Karypis & Kumar 1998, "A fast and high quality multilevel scheme for partitioning irregular graphs" (greedy
graph growing); LaSalle et al. 2015, "Improving graph partitioning for modern graphs and architectures" (two-hop
coarsening); Hopcroft & Tarjan 1973, "Efficient algorithms for graph manipulation" (cut vertices); Cybenko 1989,
"Dynamic load balancing for distributed memory multiprocessors" (load that flows along differences).
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.choosing import meet_clusters, scratch_for
from graphclust.compiled.graphs.heap import pop, push
from graphclust.compiled.graphs.levels import number_by_first_node
from graphclust.compiled.runtime.loops import UNCOUNTED, loop


@loop()
def join_singletons(rows, size, parts, labels, most):
    """Regions of one node that share their most linked region, and their part, become one that holds at most `most`.

    labels : of the regions, changed in place. Nodes without a link share one with each other. Returns how many regions
    there are, numbered by their first node.
    """
    n = len(labels)
    count, load, link = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
    open_at, weighted = np.full(n, -1, np.int32), len(rows.weights) > 0
    for u in range(n):
        count[labels[u]] += 1
        load[labels[u]] += size[u]
    open_for = np.full(n, -1, np.int32)  # of each part, for nodes without a link
    for u in range(n):
        if count[labels[u]] != 1:
            continue
        best, most_link = -1, 0.0
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = rows.indices[e]
            if v != u:
                c = labels[v]
                link[c] += rows.weights[e] if weighted else 1.0
                if link[c] > most_link or (link[c] == most_link and c < best):
                    best, most_link = c, link[c]
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            link[labels[rows.indices[e]]] = 0.0
        group = open_at[best] if best >= 0 else open_for[parts[u]]  # the group that waits for more of the same region
        if group >= 0 and load[group] + size[u] <= most:
            count[labels[u]], load[labels[u]] = 0, 0.0
            labels[u] = group
            count[group] += 1
            load[group] += size[u]
        elif best >= 0:
            open_at[best] = labels[u]
        else:
            open_for[parts[u]] = labels[u]
    open_at[:] = -1
    return number_by_first_node(labels, open_at)


@loop(**UNCOUNTED)
def _farthest_node(start, rows, reached, number, queue):
    """The node that a breadth-first search from `start` comes to last; reached[u] = number for all that it comes to."""
    head, tail = 0, 1
    queue[0], reached[start] = start, number
    while head < tail:
        u = queue[head]
        head += 1
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = rows.indices[e]
            if reached[v] != number:
                reached[v] = number
                queue[tail] = v
                tail += 1
    return np.int64(queue[tail - 1])


@loop()
def grow_halves(rows, size, parts, target, order):
    """One half of each part: labels 2 p and 2 p + 1 of the nodes of part p, of which the second holds about target[p].

    rows : without edges between parts. order : the nodes; in each part a half begins as far as there is from the first.
    """
    n = len(parts)
    halves, grown, gain, is_met = np.empty(n, np.int32), np.zeros(len(target)), np.zeros(n), np.zeros(n, np.bool_)
    room = n + len(rows.indices) + 1
    gains, items, weighted = np.empty(room), np.empty(room, np.int32), len(rows.weights) > 0
    reached, queue = np.full(n, -1), np.empty(n, np.int32)
    for u in range(n):
        halves[u] = 2 * parts[u]
    for start in order:
        p, heap = parts[start], 0
        # Taken, or the half has its share: it may pass the target by half a node.
        if halves[start] != 2 * p or target[p] == 0.0 or (grown[p] > 0.0 and grown[p] + 0.5 * size[start] >= target[p]):
            continue
        if grown[p] == 0.0:
            start = _farthest_node(start, rows, reached, start, queue)
        heap = push(gains, items, heap, 0.0, start)
        gain[start], is_met[start] = 0.0, True
        while heap > 0:
            u = np.int64(items[0])
            is_true = gains[0] == gain[u] and halves[u] == 2 * p
            heap = pop(gains, items, heap)
            if not is_true or (grown[p] > 0.0 and grown[p] + 0.5 * size[u] >= target[p]):
                continue
            halves[u] = 2 * p + 1
            grown[p] += size[u]
            for e in range(rows.indptr[u], rows.indptr[u + 1]):
                v = np.int64(rows.indices[e])
                if halves[v] == 2 * p and v != u:
                    w = rows.weights[e] if weighted else 1.0
                    if not is_met[v]:  # what v has to lose is summed when it is first met
                        is_met[v] = True
                        for f in range(rows.indptr[v], rows.indptr[v + 1]):
                            if rows.indices[f] != v:
                                gain[v] -= rows.weights[f] if weighted else 1.0
                    gain[v] += 2.0 * w  # counted as an edge that v would cut; it would mend it now
                    heap = push(gains, items, heap, gain[v], v)
    return halves


PASSES = 256  # over the graph: entries that all searches together may read


@loop()
def grow_parts(rows, members, size, most, parts):
    """parts[u] = the part of node u: connected parts of all clusters, none above `most`; returns how many there are.

    rows : without edges between clusters. members : clusters, as `contraction.Members`. size : (n,), none above `most`.

    A part begins with the node that is tied least to the rest of its cluster, and takes next the neighbor that
    keeps the cut smallest. It ends when it has its even share. What is left may fall apart, and then has parts of less.
    """
    n, weighted, n_parts = len(parts), len(rows.weights) > 0, 0
    left, shared, met_by = np.zeros(n), np.zeros(n), np.full(n, -1, np.int32)
    room = len(rows.indices) + n
    starts, start_of = np.empty(room), np.empty(room, np.int32)
    gains, gain_of = np.empty(room), np.empty(room, np.int32)
    for u in range(n):
        parts[u] = -1
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            if rows.indices[e] != u:
                left[u] += rows.weights[e] if weighted else 1.0
    for c in range(len(members.starts) - 1):
        remaining, n_starts = 0.0, 0
        for i in range(members.starts[c], members.starts[c + 1]):
            u = members.nodes[i]
            remaining += size[u]
            n_starts = push(starts, start_of, n_starts, -left[u], u)  # the node tied least to what is left is on top
        while n_starts > 0:
            u = start_of[0]
            is_current = parts[u] < 0 and starts[0] == -left[u]
            n_starts = pop(starts, start_of, n_starts)
            if not is_current:
                continue
            # As many parts as the rest needs, all of one size.
            share, held, n_gains = remaining / max(np.ceil(remaining / most), 1.0), 0.0, 0
            while u >= 0:
                parts[u] = n_parts
                held += size[u]
                for e in range(rows.indptr[u], rows.indptr[u + 1]):
                    v = rows.indices[e]
                    if parts[v] < 0:
                        w = rows.weights[e] if weighted else 1.0
                        left[v] -= w
                        # Links to the part at hand; those to earlier parts are void.
                        shared[v] = w + (shared[v] if met_by[v] == n_parts else 0.0)
                        met_by[v] = n_parts
                        n_starts = push(starts, start_of, n_starts, -left[v], v)
                        n_gains = push(gains, gain_of, n_gains, shared[v] - left[v], v)
                u = -1
                while n_gains > 0 and u < 0 and held < share:
                    v = gain_of[0]
                    # Free, not outdated, and there is room.
                    if parts[v] < 0 and gains[0] == shared[v] - left[v] and held + size[v] <= most:
                        u = v
                    n_gains = pop(gains, gain_of, n_gains)
            remaining -= held
            n_parts += 1
    return n_parts


class Tree(NamedTuple):
    """A depth-first search of one cluster. trail : its nodes in the order in which they are met. The rest is by node.

    place : in the trail, -1 for nodes not met. highest : the first place that a link from the subtree leads to. above :
    the node it was met from. next_entry : of its row. ends : the place behind its subtree. load : of its subtree. cut :
    of the subtrees that its removal cuts off. largest, at : of the heaviest of these, and the node that it begins with.
    ties : links to the nodes that these begin with.
    """

    trail: np.ndarray
    place: np.ndarray
    highest: np.ndarray
    above: np.ndarray
    next_entry: np.ndarray
    ends: np.ndarray
    load: np.ndarray
    cut: np.ndarray
    largest: np.ndarray
    at: np.ndarray
    ties: np.ndarray


@loop(**UNCOUNTED)
def _meet(u, above, n_met, rows, size, tree):
    """Node u is the next on the trail."""
    tree.trail[n_met], tree.place[u], tree.highest[u], tree.above[u] = u, n_met, n_met, above
    tree.next_entry[u], tree.load[u] = rows.indptr[u], size[u]
    tree.cut[u], tree.largest[u], tree.ties[u] = 0.0, 0.0, 0.0
    return n_met + 1


@loop(**UNCOUNTED)
def _search(root, rows, size, labels, tree):
    """Search the cluster of a node from there; returns how many nodes it has."""
    own, n_met, u = labels[root], _meet(root, -1, 0, rows, size, tree), np.int64(root)
    while u >= 0:
        e = tree.next_entry[u]
        if e < rows.indptr[u + 1]:
            tree.next_entry[u] = e + 1
            v = np.int64(rows.indices[e])
            if labels[v] == own:
                if tree.place[v] < 0:
                    n_met, u = _meet(v, u, n_met, rows, size, tree), v
                else:
                    tree.highest[u] = min(tree.highest[u], tree.place[v])  # a link back: it holds the subtree of u
            continue
        tree.ends[u] = n_met
        above = np.int64(tree.above[u])
        if above >= 0:
            tree.load[above] += tree.load[u]
            tree.highest[above] = min(tree.highest[above], tree.highest[u])
            # No link leads past `above`: without that node the subtree is cut off (Hopcroft & Tarjan)
            if tree.highest[u] >= tree.place[above]:
                tree.cut[above] += tree.load[u]
                tree.ties[above] += rows.weights[tree.next_entry[above] - 1] if len(rows.weights) > 0 else 1.0
                if tree.load[u] > tree.largest[above]:
                    tree.largest[above], tree.at[above] = tree.load[u], u
        u = above
    return n_met


@loop(**UNCOUNTED)
def _best_piece(n_met, level, labels, load, tree, scratch):
    """The node of the cluster searched whose piece costs least of the cut by load, and where it goes; -1 for none.

    A piece goes to a lighter cluster, and makes the loads of both more even.
    """
    rows, size, root = level.rows, level.terms.size, np.int64(tree.trail[0])
    total, own, best, to, least = tree.load[root], labels[root], np.int64(-1), np.int64(-1), np.inf
    for i in range(n_met):
        u = np.int64(tree.trail[i])
        links = meet_clusters(u, rows, labels, scratch, ())
        # Rest: what stays connected to the root without u.
        inner, rest = scratch.link[own], total - size[u] - tree.cut[u]
        scratch.link[own] = 0.0
        piece = total - max(rest, tree.largest[u])  # all but the larger of what u would part
        inner -= tree.ties[u] if rest >= tree.largest[u] else 0.0  # subtrees that come along are cut from nothing
        for j in range(1, links):
            c = scratch.met[j]
            loss = (inner - scratch.link[c]) / max(piece, 1e-300)
            scratch.link[c] = 0.0
            # Then both loads come nearer to each other.
            if loss < least and 0.0 < piece < min(total, load[own] - load[c]):
                best, to, least = u, np.int64(c), loss
    return best, to


@loop(**UNCOUNTED)
def _send(first, last, to, labels, load, size, tree):
    """The nodes from one place of the trail to another move to a cluster."""
    for i in range(first, last):
        v = np.int64(tree.trail[i])
        load[labels[v]] -= size[v]
        load[to] += size[v]
        labels[v] = to


@loop(**UNCOUNTED)
def _take_piece(u, to, n_met, labels, load, size, tree):
    """Node u moves, with all but the largest part of the others; returns a node that stays."""
    root, place = np.int64(tree.trail[0]), tree.place[u]
    if tree.largest[u] > tree.load[root] - size[u] - tree.cut[u]:
        stays = np.int64(tree.at[u])
        _send(0, tree.place[stays], to, labels, load, size, tree)
        _send(tree.ends[stays], n_met, to, labels, load, size, tree)
        return stays
    _send(place, place + 1, to, labels, load, size, tree)
    i = place + 1
    while i < tree.ends[u]:
        below = np.int64(tree.trail[i])
        if tree.highest[below] >= place:
            _send(i, tree.ends[below], to, labels, load, size, tree)
        i = tree.ends[below]  # whole subtrees are passed over: their nodes are consecutive on the trail
    return root


@loop()
def balance_connected(level, labels, task, ballast):
    """Change the labels of connected clusters by moves of pieces, until all are within the bounds of the task.

    ballast : what each cluster holds beside its nodes. Returns whether all are within: no move may be left that makes
    two clusters more even, or searches may have read the graph PASSES times.
    """
    rows, size, n, k = level.rows, level.terms.size, len(labels), len(ballast)
    load, root, is_stuck = ballast.copy(), np.zeros(k, np.int64), np.zeros(k, np.bool_)
    scratch = scratch_for(k)
    tree = Tree(
        np.empty(n, np.int32), np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty(n, np.int32),
        np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n), np.empty(n), np.empty(n), np.empty(n, np.int32),
        np.empty(n),
    )  # fmt: skip
    for u in range(n):
        load[labels[u]] += size[u]
        root[labels[u]] = u
    n_read, most_read = 0, PASSES * (n + len(rows.indices))
    while True:
        heaviest, is_within = -1, True
        for c in range(k):
            is_within = is_within and task.least <= load[c] <= task.most
            if not is_stuck[c] and (heaviest < 0 or load[c] > load[heaviest]):
                heaviest = c
        if is_within or heaviest < 0 or n_read >= most_read:
            return is_within
        n_met = _search(root[heaviest], rows, size, labels, tree)
        u, to = _best_piece(n_met, level, labels, load, tree, scratch)
        if u < 0:
            is_stuck[heaviest] = True
        else:
            root[heaviest] = _take_piece(u, to, n_met, labels, load, size, tree)
            is_stuck[:] = False  # what changed may have freed the others
        for i in range(n_met):
            v = np.int64(tree.trail[i])
            tree.place[v] = -1  # the next search meets all nodes anew
            n_read += 1 + rows.indptr[v + 1] - rows.indptr[v]
