"""Greedy graph growing: connected parts of even size, one after the other, each along the weakest connections.

Source: Karypis & Kumar 1998, "A fast and high quality multilevel scheme for partitioning irregular graphs" (GGGP).
"""

import numpy as np

from graphclust.compiled.graphs.heap import pop, push
from graphclust.compiled.runtime.loops import loop


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
            n_starts = push(starts, start_of, n_starts, -left[u], u)
        while n_starts > 0:
            u = start_of[0]
            is_current = parts[u] < 0 and starts[0] == -left[u]
            n_starts = pop(starts, start_of, n_starts)
            if not is_current:
                continue
            share, held, n_gains = remaining / max(np.ceil(remaining / most), 1.0), 0.0, 0
            while u >= 0:
                parts[u] = n_parts
                held += size[u]
                for e in range(rows.indptr[u], rows.indptr[u + 1]):
                    v = rows.indices[e]
                    if parts[v] < 0:
                        w = rows.weights[e] if weighted else 1.0
                        left[v] -= w
                        shared[v] = w + (shared[v] if met_by[v] == n_parts else 0.0)
                        met_by[v] = n_parts
                        n_starts = push(starts, start_of, n_starts, -left[v], v)
                        n_gains = push(gains, gain_of, n_gains, shared[v] - left[v], v)
                u = -1
                while n_gains > 0 and u < 0 and held < share:
                    v = gain_of[0]
                    if parts[v] < 0 and gains[0] == shared[v] - left[v] and held + size[v] <= most:
                        u = v
                    n_gains = pop(gains, gain_of, n_gains)
            remaining -= held
            n_parts += 1
    return n_parts
