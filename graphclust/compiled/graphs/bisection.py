"""Bisection by growth: one half of each part grows from a node, always by the node that cuts least.

Source: Karypis & Kumar 1998, "A fast and high quality multilevel scheme for partitioning irregular graphs" (greedy
graph growing).
"""

import numpy as np

from graphclust.compiled.graphs.heap import pop, push
from graphclust.compiled.runtime.loops import UNCOUNTED, loop


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
                    if not is_met[v]:
                        is_met[v] = True
                        for f in range(rows.indptr[v], rows.indptr[v + 1]):
                            if rows.indices[f] != v:
                                gain[v] -= rows.weights[f] if weighted else 1.0
                    gain[v] += 2.0 * w
                    heap = push(gains, items, heap, gain[v], v)
    return halves
