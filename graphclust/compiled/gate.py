"""One streaming pass that checks a CSR matrix and collects degrees and loops; connected components."""

import numpy as np
from numba import njit

# Columns of the report that `check_rows` fills, one row a block.
OUT_OF_RANGE, NOT_FINITE, NEGATIVE, ZERO, UNORDERED, LOOPS = range(6)
N_FINDINGS = 6


@njit(cache=True, nogil=True, inline="always")
def _mix(bits):
    """The finaliser of splitmix64: every input bit reaches every output bit."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@njit(cache=True, nogil=True)
def check_rows(first, last, block, indptr, indices, weights, weight_bits, degrees, loops, counts, examples, asymmetry):
    """Count what is wrong in each block; sum degrees (n,), loops (n,) and the asymmetry (n_blocks,).

    counts, examples (n_blocks, N_FINDINGS): how many entries of each kind, and the position of the first one.
    An entry (i, j, w) adds its hash where i < j and takes it away where i > j: the total over all blocks is 0 when
    the matrix is symmetric, and otherwise is 0 with probability 2^-64. No entry is followed to another row.
    """
    n = len(indptr) - 1
    weighted = len(weights) > 0
    total = np.uint64(0)
    for i in range(first, last):
        degree = 0.0
        previous = -1
        for e in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[e])
            w = 1.0
            code = np.uint64(0)
            if weighted:
                w = weights[e]
                code = weight_bits[e] * np.uint64(0x9E3779B97F4A7C15)
                if not np.isfinite(w):
                    if counts[block, NOT_FINITE] == 0:
                        examples[block, NOT_FINITE] = e
                    counts[block, NOT_FINITE] += 1
                elif w < 0.0:
                    if counts[block, NEGATIVE] == 0:
                        examples[block, NEGATIVE] = e
                    counts[block, NEGATIVE] += 1
                elif w == 0.0:
                    counts[block, ZERO] += 1
            if j < 0 or j >= n:
                if counts[block, OUT_OF_RANGE] == 0:
                    examples[block, OUT_OF_RANGE] = e
                counts[block, OUT_OF_RANGE] += 1
            if j <= previous:
                counts[block, UNORDERED] += 1
            previous = j
            degree += w
            if j > i:
                total += _mix(_mix(np.uint64(i) << np.uint64(32) | np.uint64(j)) + code)
            elif j < i:
                total -= _mix(_mix(np.uint64(j) << np.uint64(32) | np.uint64(i)) + code)
            else:
                loops[i] = w
                counts[block, LOOPS] += 1
        degrees[i] = degree
    asymmetry[block] = total


@njit(cache=True, nogil=True)
def narrow_indices(first, last, block, wide, narrow):
    """Copy int64 indices, already known to be in range, to int32."""
    for e in range(first, last):
        narrow[e] = wide[e]


@njit(cache=True, nogil=True)
def _root(parent, u):
    while parent[u] != u:
        parent[u] = parent[parent[u]]
        u = parent[u]
    return u


@njit(cache=True, nogil=True)
def _join(parent, u, v):
    """The lower root becomes the parent, so that a component's root is its lowest node."""
    u, v = _root(parent, u), _root(parent, v)
    if u < v:
        parent[v] = u
    elif v < u:
        parent[u] = v


@njit(cache=True, nogil=True)
def join_first_neighbours(first, last, n_neighbours, indptr, indices, parent):
    """Join each node with its first few neighbours: on most graphs this finds the giant component already."""
    for u in range(first, last):
        for e in range(indptr[u], min(indptr[u] + n_neighbours, indptr[u + 1])):
            _join(parent, u, indices[e])


@njit(cache=True, nogil=True)
def join_remaining_neighbours(first, last, giant, n_neighbours, indptr, indices, parent):
    """Join the rest of the edges, except those from nodes already in `giant`: the edge's other end sees it too."""
    for u in range(first, last):
        if _root(parent, u) == giant:
            continue
        for e in range(indptr[u] + n_neighbours, indptr[u + 1]):
            _join(parent, u, indices[e])


@njit(cache=True, nogil=True)
def flatten(parent):
    for u in range(len(parent)):
        parent[u] = parent[parent[u]]  # a parent is never above its child, and is flat already
