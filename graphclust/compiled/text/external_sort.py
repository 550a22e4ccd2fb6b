"""From edges in the order of a file to the rows of an undirected graph, a run of rows at a time.

A line u -> v is an entry of row u and one of row v. Its key is the row, counted from the first of its bucket, then the
other end, then the direction, in 31, 32 and 1 bits: sorted keys are sorted rows, with all that belongs to an edge side
by side. What is made of an edge is that of `edges_to_csr.join_directions`, and the same in both of its rows.
"""

import numpy as np

from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.text.edges_to_csr import DUPLICATE, LOOP, ONE_WAY, TWO_WAY, UNEQUAL, ZERO, note, round_off


@loop()
def count_row_entries(sources, targets, counts):
    """How many entries each node's row gets from some lines is added to counts (n,)."""
    for e in range(len(sources)):
        counts[sources[e]] += 1
        if targets[e] != sources[e]:
            counts[targets[e]] += 1


@loop()
def count_bucket_entries(sources, targets, first_rows, counts):
    """How many entries each bucket gets; bucket b has the rows from first_rows[b] on, counts (n_buckets,)."""
    for e in range(len(sources)):
        counts[np.searchsorted(first_rows, sources[e], side="right") - 1] += 1
        if targets[e] != sources[e]:
            counts[np.searchsorted(first_rows, targets[e], side="right") - 1] += 1


@loop()
def distribute(sources, targets, weights, first_rows, place, keys, key_weights):
    """Write the keys of some lines to their buckets, in the order of the lines; place (n_buckets,) moves on."""
    for e in range(len(sources)):
        direction = np.uint64(sources[e] > targets[e])
        for end in range(2 if sources[e] != targets[e] else 1):
            row, other = np.int64(sources[e]), np.uint64(targets[e])
            if end == 1:
                row, other = np.int64(targets[e]), np.uint64(sources[e])
            bucket = np.searchsorted(first_rows, row, side="right") - 1
            slot = place[bucket]
            place[bucket] = slot + 1
            keys[slot] = np.uint64(row - first_rows[bucket]) << np.uint64(33) | other << np.uint64(1) | direction
            if len(weights) > 0:
                key_weights[slot] = weights[e]


@loop()
def join_rows(keys, weights, first_row, add, made, counts, examples):
    """Make one entry of all keys of an edge: sorted rows, as `MadeRows`; returns how many entries they have.

    Their lengths begin as zeros. counts and examples are of the edges whose lower end is the row.
    """
    lengths, indices, row_weights = made
    weighted = len(weights) > 0
    n = len(keys)
    e = 0
    written = 0
    while e < n:
        pair = keys[e] >> np.uint64(1)
        upward = downward = lost_upward = lost_downward = 0.0
        n_upward = n_downward = 0
        while e < n and keys[e] >> np.uint64(1) == pair:
            weight = weights[e] if weighted else 1.0
            if keys[e] & np.uint64(1):
                lost_downward += round_off(downward, weight)
                downward = downward + weight if weighted else 1.0
                n_downward += 1
            else:
                lost_upward += round_off(upward, weight)
                upward = upward + weight if weighted else 1.0
                n_upward += 1
            e += 1
        if weighted:
            upward, downward = upward + lost_upward, downward + lost_downward
        local = np.int64(pair >> np.uint64(32))
        row, other = first_row + local, np.int64(pair & np.uint64(0xFFFFFFFF))
        joined = upward + downward if add else max(upward, downward)
        if row == other:
            note(LOOP, joined != 0.0, row, other, counts, examples)
        if row < other:
            if n_upward == 0 or n_downward == 0:
                note(ONE_WAY, 1, row, other, counts, examples)
            else:
                note(TWO_WAY, 1, row, other, counts, examples)
                if upward != downward:
                    note(UNEQUAL, 1, row, other, counts, examples)
        if row <= other:
            if n_upward > 1 or n_downward > 1:
                note(DUPLICATE, max(n_upward - 1, 0) + max(n_downward - 1, 0), row, other, counts, examples)
            if joined == 0.0:
                note(ZERO, 1, row, other, counts, examples)
        if joined != 0.0:
            indices[written] = other
            if weighted:
                row_weights[written] = joined
            lengths[local] += 1
            written += 1
    return written
