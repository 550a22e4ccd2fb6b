"""From edges in the order of a file to the sorted rows of an undirected graph, in memory or a run of rows at a time.

In memory, by stable counting sorts: each edge is kept once, at its lower end, as the key 2 * higher end + direction;
both directions of an edge then lie next to each other, are joined by one rule, and the rows of the whole matrix are
written out in order. No comparison sort is needed, and at most 8 bytes an edge (24 with weights) are held beside the
edges themselves. What is sorted lies in slices, one after the other. Each slice counts for itself how many entries it
has for every bucket, and so knows where to put them whatever the other slices do: they may run at the same time, and
the order of the entries does not depend on it.

A run of rows at a time, for stores: a line u -> v is an entry of row u and one of row v. Its key is the row, counted
from the first of its bucket, then the other end, then the direction, in 31, 32 and 1 bits: sorted keys are sorted rows,
with all that belongs to an edge side by side.

Ids that are too sparse for an array of all of them stand in a table of whole numbers with open addressing. The slot of
an id is the high bits of its product with a random odd number (multiply-shift, Dietzfelbinger et al. 1997): no file can
be made to collide. Ranks do not depend on the slots.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import UNCOUNTED, loop

EMPTY = -1  # an id is never negative


@loop()
def insert_ids(ids, multiplier, shift, table):
    """Put each id into the table, of 2^(64 - shift) slots and more than there are ids; returns how many were new."""
    mask = len(table) - 1
    n_new = 0
    for node in ids:
        slot = np.int64((np.uint64(node) * multiplier) >> shift)
        while table[slot] != EMPTY and table[slot] != node:
            slot = (slot + 1) & mask
        if table[slot] == EMPTY:
            table[slot] = node
            n_new += 1
    return n_new


@loop()
def look_up_ids(ids, multiplier, shift, table, rank_of_slot, ranks):
    mask = len(table) - 1
    for i in range(len(ids)):
        slot = np.int64((np.uint64(ids[i]) * multiplier) >> shift)
        while table[slot] != ids[i]:
            slot = (slot + 1) & mask
        ranks[i] = rank_of_slot[slot]


# What `join_directions` counts, and the first edge at which it saw it.
DUPLICATE, ONE_WAY, TWO_WAY, UNEQUAL, ZERO, LOOP = range(6)
N_COUNTS = 6


@loop(**UNCOUNTED)
def count_higher_ends(sources, targets, lower, counts):
    """How many edges have each node as their higher end is added to counts (n,); lower (n,) marks the lower ends."""
    for e in range(len(sources)):
        counts[max(sources[e], targets[e])] += 1
        lower[min(sources[e], targets[e])] = True


@loop(**UNCOUNTED)
def count_lower_ends(first, last, starts, keys, counts):
    """How many of the edges of the buckets first..last-1 have each node as their lower end is added to counts (n,)."""
    for e in range(starts[first], starts[last]):
        counts[np.int64(keys[e]) >> 1] += 1


@loop(**UNCOUNTED)
def starts_of(first, last, counts, starts):
    """Make of the counts (n_slices, n) in each bucket where each slice puts its first entry; starts (n + 1,).

    Buckets first..last-1 follow on those before them.
    """
    at = starts[first]
    for bucket in range(first, last):
        starts[bucket] = at
        for s in range(len(counts)):
            n_here = counts[s, bucket]
            counts[s, bucket] = at
            at += n_here
    starts[last] = at


@loop(**UNCOUNTED)
def place_by_higher_end(sources, targets, weights, ranks, keys, key_weights, cursor):
    """Put each edge into the bucket of its higher end, in the order of the file; `cursor` (n,) moves on.

    ranks : the number of the node that each id stands for, in the same order; empty if it is the id itself.
    """
    weighted = len(weights) > 0
    renumbered = len(ranks) > 0
    for e in range(len(sources)):
        low, high = np.int64(min(sources[e], targets[e])), np.int64(max(sources[e], targets[e]))
        if renumbered:
            low, high = np.int64(ranks[low]), np.int64(ranks[high])
        slot = cursor[high]
        cursor[high] = slot + 1
        keys[slot] = 2 * low + (sources[e] > targets[e])
        if weighted:
            key_weights[slot] = weights[e]


@loop(**UNCOUNTED)
def place_by_lower_end(first, last, starts, keys, key_weights, sorted_keys, sorted_weights, cursor):
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


class EdgesByLowerEnd(NamedTuple):
    """Edges sorted by their lower end, those of a node from starts[node] on; keys hold the other end, see above.

    Empty weights stand for all ones.
    """

    starts: np.ndarray
    keys: np.ndarray
    weights: np.ndarray


@loop(**UNCOUNTED)
def join_directions(first, last, edges, add, n_upper, n_lower, counts, examples):
    """Make one entry of all entries of an edge, at the start of its row: keys become higher ends.

    n_upper (n,) says how many edges each row keeps; for the higher end of each, unless it is a loop, n_lower (n,) grows
    by one.
    """
    starts, keys, weights = edges
    weighted = len(weights) > 0
    for low in range(first, last):
        end = starts[low + 1]
        n_one_way = 0
        e = written = starts[low]
        while e < end:
            high = np.int64(keys[e]) >> 1
            if (
                high != low
                and (e + 1 == end or np.int64(keys[e + 1]) >> 1 != high)
                and not (weighted and weights[e] == 0)
            ):
                if n_one_way == 0 and counts[ONE_WAY] == 0:
                    examples[ONE_WAY, 0], examples[ONE_WAY, 1] = low, high
                n_one_way += 1  # most edges are alone
                keys[written] = high
                if weighted:
                    weights[written] = weights[e]
                written += 1
                n_lower[high] += 1
                e += 1
                continue
            joined, seen, e = join_entries(keys, weights, e, end, add)
            note_edge(low, high, joined, seen, counts, examples)
            if joined != 0.0:
                keys[written] = high
                if weighted:
                    weights[written] = joined
                written += 1
                if high != low:
                    n_lower[high] += 1
        counts[ONE_WAY] += n_one_way
        n_upper[low] = written - starts[low]


@loop(inline="always", **UNCOUNTED)
def join_entries(keys, weights, first, last, add):
    """What the entries of an edge come to that begin at `first`, before `last`, and where they end.

    Repeated entries of one direction are added (without weights: counted once), to the same sum in any order; of the
    two directions the larger weight stays, or, where `add`, their sum. In between stand the entries upward and
    downward, and whether both directions weigh the same.
    """
    weighted, edge, e = len(weights) > 0, np.int64(keys[first]) >> 1, first
    upward = downward = lost_upward = lost_downward = 0.0
    n_upward = n_downward = 0
    while e < last and np.int64(keys[e]) >> 1 == edge:
        weight = weights[e] if weighted else 1.0
        if np.int64(keys[e]) & 1:
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
    joined = upward + downward if add else max(upward, downward)
    return joined, (n_upward, n_downward, upward == downward), e


@loop(inline="always", **UNCOUNTED)
def note_edge(low, high, joined, seen, counts, examples):
    """Count what was seen of an edge."""
    n_upward, n_downward, is_equal = seen
    if high == low:
        note(LOOP, joined != 0.0, low, high, counts, examples)
    elif n_upward == 0 or n_downward == 0:
        note(ONE_WAY, 1, low, high, counts, examples)
    else:
        note(TWO_WAY, 1, low, high, counts, examples)
        if not is_equal:
            note(UNEQUAL, 1, low, high, counts, examples)
    if n_upward > 1 or n_downward > 1:
        note(DUPLICATE, max(n_upward - 1, 0) + max(n_downward - 1, 0), low, high, counts, examples)
    if joined == 0.0:
        note(ZERO, 1, low, high, counts, examples)


@loop(inline="always", **UNCOUNTED)
def round_off(a, b):
    """What is left out of the sum of two numbers, exactly; 0 where the sum is infinite.

    Source: Knuth 1969, "The Art of Computer Programming", volume 2, section 4.2.2.
    """
    total = a + b
    part = total - a
    return (a - (total - part)) + (b - part) if total < np.inf else 0.0


@loop(inline="always", **UNCOUNTED)
def note(kind, amount, low, high, counts, examples):
    """Count something that was found at an edge; the first is remembered."""
    if counts[kind] == 0:
        examples[kind, 0], examples[kind, 1] = low, high
    counts[kind] += amount


@loop(**UNCOUNTED)
def write_both_ends(first, last, edges, upper_starts, rows, lower_cursor):
    """Write each edge into the rows of both its ends: in a row the lower neighbors come first."""
    starts, higher_ends, upper_weights = edges
    indptr, indices, weights = rows
    weighted = len(upper_weights) > 0
    for low in range(first, last):
        slot = upper_starts[low]
        n_edges = indptr[low + 1] - slot
        for e in range(starts[low], starts[low] + n_edges):
            high = np.int64(higher_ends[e])
            indices[slot] = high
            if weighted:
                weights[slot] = upper_weights[e]
            slot += 1
            if high != low:
                other = lower_cursor[high]
                lower_cursor[high] = other + 1
                indices[other] = low
                if weighted:
                    weights[other] = upper_weights[e]


@loop()
def count_row_entries(sources, targets, counts):
    """How many entries each node's row gets from some lines is added to counts (n,)."""
    for e in range(len(sources)):
        counts[sources[e]] += 1
        if targets[e] != sources[e]:
            counts[targets[e]] += 1


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
        joined, seen, e = join_entries(keys, weights, e, n, add)
        local = np.int64(pair >> np.uint64(32))
        row, other = first_row + local, np.int64(pair & np.uint64(0xFFFFFFFF))
        if row <= other:
            note_edge(row, other, joined, seen, counts, examples)
        if joined != 0.0:
            indices[written] = other
            if weighted:
                row_weights[written] = joined
            lengths[local] += 1
            written += 1
    return written
