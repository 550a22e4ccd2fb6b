"""Single-node moves that lower the normalised cut, with the exact change of each."""

import numpy as np
from numba import njit

LEAST_GAIN = 1e-12  # a smaller change may be round-off; without a bound such moves could go round in circles
HASH = 2_654_435_761  # Knuth's multiplier, 2^32 over the golden ratio
LONG_ROW = 64  # entries; on shorter rows single look-ups are faster


@njit(cache=True, nogil=True)
def staying_weights(first, last, block, indptr, indices, weights, labels, stays):
    """stays[u] = weight of the edges of u to its own cluster, a self-loop included; 0 for nodes without a cluster."""
    for u in range(first, last):
        own = labels[u]
        row = indices[indptr[u] : indptr[u + 1]]
        row_weights = weights[indptr[u] : indptr[u + 1]]
        if own < 0:
            stays[u] = 0.0
        elif len(row_weights) > 0 or len(row) < LONG_ROW:
            total = 0.0
            for e in range(len(row)):
                if labels[np.uint32(row[e])] == own:  # unsigned: no test for counting from the end
                    total += row_weights[e] if len(row_weights) > 0 else 1.0
            stays[u] = total
        else:
            count = 0  # a sum of whole numbers may be reordered, so that several labels are looked up at a time
            for e in range(len(row)):
                count += labels[np.uint32(row[e])] == own
            stays[u] = count


@njit(cache=True, nogil=True)
def move_nodes(
    budget, indptr, indices, weights, degrees, labels, inside, volume, sizes,
    queue, queued, ends, link, met,
):  # fmt: skip
    """Take nodes from a ring queue and move each to the cluster that lowers the normalised cut most.

    sum_j inside_j / volume_j is k minus the normalised cut; the gain of a move changes two of its terms. A move never
    empties a cluster. The neighbours of a moved node that stayed elsewhere are queued again. `ends` (2,) holds the
    queue's head and length, link (k,) is all zero between nodes. Returns the entries read, about `budget` at most.
    """
    n = len(degrees)
    weighted = len(weights) > 0
    read = 0
    while ends[1] > 0 and read < budget:
        u = queue[ends[0]]
        ends[0] = (ends[0] + 1) % n
        ends[1] -= 1
        queued[u] = False
        own = labels[u]
        if own < 0 or sizes[own] <= 1:
            continue
        n_met = 0
        loop = stays = 0.0
        for e in range(indptr[u], indptr[u + 1]):
            v = np.uint32(indices[e])
            w = weights[e] if weighted else 1.0
            if v == u:
                loop = w
                continue
            c = labels[v]
            if c == own:
                stays += w  # apart from the others: most edges do, and adding to link[own] would wait for itself
            elif c >= 0:
                if link[c] == 0.0:
                    met[n_met] = c
                    n_met += 1
                link[c] += w
        read += indptr[u + 1] - indptr[u]
        d = degrees[u]
        rest = volume[own] - d
        best = -1
        if rest > 0.0:
            loss = inside[own] / volume[own] - (inside[own] - 2.0 * stays - loop) / rest
            most = loss + LEAST_GAIN
            for i in range(n_met):
                c = met[i]
                gain = (inside[c] + 2.0 * link[c] + loop) / (volume[c] + d) - inside[c] / volume[c]
                if gain > most or (gain == most and best >= 0 and c < best):
                    most = gain
                    best = c
        if best >= 0:
            inside[own] -= 2.0 * stays + loop
            volume[own] -= d
            sizes[own] -= 1
            inside[best] += 2.0 * link[best] + loop
            volume[best] += d
            sizes[best] += 1
            labels[u] = best
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                if not queued[v] and labels[v] != best and labels[v] >= 0:
                    queued[v] = True
                    queue[(ends[0] + ends[1]) % n] = v
                    ends[1] += 1
        for i in range(n_met):
            link[met[i]] = 0.0
    return read


@njit(cache=True, nogil=True)
def choose_moves(
    first, last, block, indptr, indices, weights, degrees, loops, labels, stays, inside, volume, sizes, least_volume,
    turn, target,
):  # fmt: skip
    """target[u] = the cluster to which a move of u would lower the cut most as things stand, or -1 if none would.

    With turn 0 or 1 only one half of the nodes is looked at, mixed by a hash; with -1 all are.

    Most nodes are ruled out by the weight that stays in their cluster: even if all the rest went to a single one, of
    the least volume of all, its gain could not make up for the loss.
    """
    weighted = len(weights) > 0
    link = np.zeros(len(inside))
    met = np.empty(len(inside), np.int32)
    for u in range(first, last):
        own = labels[u]
        target[u] = -1
        if own < 0 or sizes[own] <= 1 or volume[own] <= degrees[u] or (turn >= 0 and u * HASH >> 16 & 1 != turn):
            continue
        d = degrees[u]
        twice = 2.0 * stays[u] - loops[u]  # an edge that stays counts in both directions, a loop once
        loss = inside[own] / volume[own] - (inside[own] - twice) / (volume[own] - d)
        if (2.0 * (d - stays[u]) + loops[u]) / (least_volume + d) <= loss:
            continue
        n_met = 0
        for e in range(indptr[u], indptr[u + 1]):
            c = labels[np.uint32(indices[e])]
            if c == own or c < 0:
                continue
            if link[c] == 0.0:
                met[n_met] = c
                n_met += 1
            link[c] += weights[e] if weighted else 1.0
        most = loss + LEAST_GAIN
        for i in range(n_met):
            c = met[i]
            gain = (inside[c] + 2.0 * link[c] + loops[u]) / (volume[c] + d) - inside[c] / volume[c]
            link[c] = 0.0
            if gain > most or (gain == most and target[u] >= 0 and c < target[u]):
                most = gain
                target[u] = c
