"""A graph in another order of its nodes, and the hash of neighborhoods that decides a canonical one."""

import numpy as np

from graphclust.compiled.runtime.jit_options import UNCOUNTED
from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors
from graphclust.compiled.runtime.splitmix64 import mix_bits

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@loop(**UNCOUNTED)
def hash_neighbors(first, last, block, rows, weight_bits, seen, hashed):
    """hashed[u] = a hash of what was seen at u and, in no order, at its neighbors and on the edges to them."""
    weighted, many = len(weight_bits) > 0, len(seen) > CACHED
    for u in range(first, last):
        if many and u + 2 * AHEAD < last:
            ask_for_neighbors(seen, rows, u + 2 * AHEAD)
        total = np.uint64(0)
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            near = seen[np.uint32(rows.indices[e])]
            total += near * mix_bits(weight_bits[e] + GOLDEN) if weighted else near
        hashed[u] = mix_bits(seen[u] + mix_bits(total + GOLDEN) + GOLDEN)


@loop(**UNCOUNTED)
def reorder_rows(rows, order, place, free, made):
    """The rows with node order[i] as node i, of a symmetric matrix; place : the inverse of the order.

    free : where each new row begins, moved on to where it ends. Rows are read in the new order and written as columns,
    so that the columns of each new row increase.
    """
    weighted = len(rows.weights) > 0
    for i in range(len(order)):
        v = order[i]
        for e in range(rows.indptr[v], rows.indptr[v + 1]):
            row = place[np.uint32(rows.indices[e])]
            at = np.uint64(free[row])
            made.indices[at] = i
            if weighted:
                made.weights[at] = rows.weights[e]
            free[row] += 1
