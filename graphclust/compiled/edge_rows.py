"""From edges in the order of a file to the sorted rows of an undirected graph, by two stable counting sorts.

Each edge is kept once, at its lower end, as the key 2 * higher end + direction; both directions of an edge then lie
next to each other, are joined by one rule, and the rows of the whole matrix are written out in order. No comparison
sort is needed, and at most 8 bytes an edge (24 with weights) are held beside the edges themselves.
"""

import numpy as np
from numba import njit

# What `join_directions` counts, and the first edge at which it saw it.
DUPLICATE, ONE_WAY, TWO_WAY, UNEQUAL, ZERO, LOOP = range(6)
N_COUNTS = 6


@njit(cache=True, nogil=True)
def count_ends(sources, targets, low_counts, high_counts):
    """How many edges have each node as their lower, and as their higher end; both (n,) are updated."""
    for e in range(len(sources)):
        low_counts[min(sources[e], targets[e])] += 1
        high_counts[max(sources[e], targets[e])] += 1


@njit(cache=True, nogil=True)
def place_by_higher_end(sources, targets, weights, cursor, keys, key_weights):
    """Put each edge into the bucket of its higher end, in the order of the file; `cursor` (n,) moves on."""
    weighted = len(weights) > 0
    for e in range(len(sources)):
        low, high = np.int64(min(sources[e], targets[e])), max(sources[e], targets[e])
        slot = cursor[high]
        cursor[high] = slot + 1
        keys[slot] = 2 * low + (sources[e] > targets[e])
        if weighted:
            key_weights[slot] = weights[e]


@njit(cache=True, nogil=True)
def place_by_lower_end(first, last, starts, keys, key_weights, cursor, sorted_keys, sorted_weights):
    """Put the edges of the buckets first..last-1 into those of their lower ends, which become sorted by it."""
    weighted = len(key_weights) > 0
    for high in range(first, last):
        for e in range(starts[high], starts[high + 1]):
            low = np.int64(keys[e]) >> 1
            slot = cursor[low]
            cursor[low] = slot + 1
            sorted_keys[slot] = 2 * high + (np.int64(keys[e]) & 1)
            if weighted:
                sorted_weights[slot] = key_weights[e]


@njit(cache=True, nogil=True)
def join_directions(first, last, starts, keys, weights, add, upper_starts, counts, examples):
    """Make one entry of all entries of an edge, in place: keys become higher ends, weights the joined weights.

    Repeated entries of one direction are added (without weights: counted once); of the two directions the larger
    weight stays, or, where `add`, their sum. Rows first..last-1 follow on those before them.
    """
    weighted = len(weights) > 0
    written = upper_starts[first]
    for low in range(first, last):
        end = starts[low + 1]
        e = starts[low]
        while e < end:
            high = np.int64(keys[e]) >> 1
            upward = downward = 0.0
            n_upward = n_downward = 0
            while True:
                weight = weights[e] if weighted else 1.0
                if np.int64(keys[e]) & 1:
                    downward = downward + weight if weighted else 1.0
                    n_downward += 1
                else:
                    upward = upward + weight if weighted else 1.0
                    n_upward += 1
                e += 1
                if e == end or np.int64(keys[e]) >> 1 != high:
                    break
            joined = upward + downward if add else max(upward, downward)
            if high == low:
                _note(LOOP, joined != 0.0, low, high, counts, examples)
            elif n_upward == 0 or n_downward == 0:
                _note(ONE_WAY, 1, low, high, counts, examples)
            else:
                _note(TWO_WAY, 1, low, high, counts, examples)
                if upward != downward:
                    _note(UNEQUAL, 1, low, high, counts, examples)
            if n_upward > 1 or n_downward > 1:
                _note(DUPLICATE, max(n_upward - 1, 0) + max(n_downward - 1, 0), low, high, counts, examples)
            if joined == 0.0:
                _note(ZERO, 1, low, high, counts, examples)
            else:
                keys[written] = high
                if weighted:
                    weights[written] = joined
                written += 1
        upper_starts[low + 1] = written


@njit(cache=True, nogil=True, inline="always")
def _note(kind, amount, low, high, counts, examples):
    if counts[kind] == 0:
        examples[kind, 0], examples[kind, 1] = low, high
    counts[kind] += amount


@njit(cache=True, nogil=True)
def count_both_ends(first, last, upper_starts, higher_ends, counts):
    """Entries that each node gets in the full matrix; counts (n,) is updated."""
    for low in range(first, last):
        counts[low] += upper_starts[low + 1] - upper_starts[low]
        for e in range(upper_starts[low], upper_starts[low + 1]):
            if higher_ends[e] != low:
                counts[higher_ends[e]] += 1


@njit(cache=True, nogil=True)
def write_both_ends(first, last, upper_starts, higher_ends, upper_weights, cursor, indices, weights):
    """Write each edge into the rows of both its ends. All lower neighbours of a row are there before its own turn."""
    weighted = len(upper_weights) > 0
    for low in range(first, last):
        for e in range(upper_starts[low], upper_starts[low + 1]):
            high = np.int64(higher_ends[e])
            indices[cursor[low]] = high
            if weighted:
                weights[cursor[low]] = upper_weights[e]
            cursor[low] += 1
            if high != low:
                indices[cursor[high]] = low
                if weighted:
                    weights[cursor[high]] = upper_weights[e]
                cursor[high] += 1
