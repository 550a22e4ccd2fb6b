"""Rows of a random block graph, drawn twice: once to count the entries, once to write them where they belong."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.random_numbers import GOLDEN, mix_bits


class BlockModel(NamedTuple):
    """Blocks of nodes that end before ends[b], and how densely edges fall inside each and outside of them.

    Node j covers positions[j] <= t < positions[j + 1] of a line (an empty `positions` means j <= t < j + 1), on which
    hits fall with a rate of their own for each row: a node is a neighbor when it is hit at least once, and the walk
    goes on behind it. guide[g] is the first node that reaches beyond t = g.
    """

    key: np.uint64
    ends: np.ndarray
    inside_rates: np.ndarray
    outside_rate: float
    positions: np.ndarray
    guide: np.ndarray
    with_loops: bool


class DrawnRows(NamedTuple):
    """Rows that are counted as long as `indices` is empty, and written afterwards.

    Counted are upper (n,), entries above the diagonal, and arrived (n_lanes, n), how many entries (j, i) a lane sends
    to row j; when rows are written `arrived` starts with how many row j has already received from lower lanes.
    """

    indptr: np.ndarray
    indices: np.ndarray
    upper: np.ndarray
    arrived: np.ndarray


@loop()
def draw_rows(first, last, lane, part, n_parts, model, drawn):
    """Draw the neighbors j > i of a lane's rows i, in increasing order; one part of n_parts of the lane a call.

    Row i's stream of numbers depends on the model's key and i alone, so a second call draws the same rows, which are
    written then.
    """
    key, ends, inside_rates, outside_rate, positions, guide, with_loops = model
    indptr, indices, upper, arrived = drawn
    n = len(upper)
    counting = len(indices) == 0
    uneven = len(positions) > 0
    start = first + (last - first) * part // n_parts
    stop = first + (last - first) * (part + 1) // n_parts
    block_of_i = np.int64(0)
    for i in range(start, stop):
        while i >= ends[block_of_i]:
            block_of_i += 1
        state = mix_bits(key + np.uint64(i) * GOLDEN)
        n_drawn = 0
        slot = np.int64(0)
        if not counting:
            slot = indptr[i] + arrived[lane, i]  # all lower rows have been written
            if with_loops:
                indices[slot] = i
                slot += 1
        for segment in range(2):  # the rest of the own block, then all later blocks
            j = i + 1 if segment == 0 else ends[block_of_i]
            end = ends[block_of_i] if segment == 0 else n
            rate = inside_rates[block_of_i] if segment == 0 else outside_rate
            if uneven:
                rate *= positions[i + 1] - positions[i]
            if rate == 0.0:
                continue
            while j < end:
                state += GOLDEN
                uniform = (np.float64(mix_bits(state) >> np.uint64(11)) + 0.5) * 2.0**-53
                gap = -np.log(uniform) / rate
                if uneven:
                    t = positions[j] + gap
                    if t >= positions[end]:
                        break
                    j = max(j, guide[np.int64(t)])
                    while positions[j + 1] <= t:
                        j += 1
                else:
                    if gap >= end - j:
                        break
                    j += np.int64(gap)
                n_drawn += 1
                if counting:
                    arrived[lane, j] += 1
                else:
                    indices[slot] = j
                    slot += 1
                    indices[indptr[j] + arrived[lane, j]] = i
                    arrived[lane, j] += 1
                j += 1
        upper[i] = n_drawn
