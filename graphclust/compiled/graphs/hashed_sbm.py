"""Rows of a planted graph that follow from their number alone: no row has to know another.

Position p = block * size + place. Inside, a block is a circulant: the neighbors of a place lie `offsets` before and
behind it, round the block. Outside, neighbor r of place i in block b is place turns[r] - i in block shift - b, both
round, where the odd shift is drawn for the pair {i, turns[r] - i}: an involution, that leaves no block in its place as
their number is even, and leads to a place of its own for every r. Nodes are named by a bijection of the positions.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.splitmix64 import mix_bits

ROUNDS = 3


class Plan(NamedTuple):
    """What all rows follow from: n_blocks blocks of `size` nodes, the numbers above, and the seed of the shifts."""

    n_blocks: int
    size: int
    offsets: np.ndarray
    turns: np.ndarray
    keys: np.ndarray
    seed: np.uint64


@loop(inline="always")
def _node_at(position, n, keys):
    """The node at a position: rounds of multiplying and folding the upper half of the bits onto the lower one.

    keys (2 + 2 ROUNDS,): mask of the bits, how far to fold, and for each round an odd factor and its inverse. What
    falls outside is named again until it is a node: on a bijection of all words that ends, and stays one.
    """
    word = np.uint64(position)
    while True:
        for i in range(ROUNDS):
            word = (word * keys[2 + 2 * i] + keys[2 + 2 * i]) & keys[0]
            word ^= word >> keys[1]
        if word < np.uint64(n):
            return np.int64(word)


@loop(inline="always")
def _position(node, n, keys):
    """The inverse of `_node_at`: folding undoes itself, as the folded half is not changed by it."""
    word = np.uint64(node)
    while True:
        for i in range(ROUNDS - 1, -1, -1):
            word ^= word >> keys[1]
            word = ((word - keys[2 + 2 * i]) * keys[3 + 2 * i]) & keys[0]
        if word < np.uint64(n):
            return np.int64(word)


@loop()
def positions(first, last, block, n, keys, out):
    """out[u] = the position of nodes first..last-1."""
    for u in range(first, last):
        out[u] = _position(u, n, keys)


@loop()
def write_rows(first, last, block, plan, indices):
    """The sorted neighbors of nodes first..last-1, all rows of one length."""
    n_blocks, size, offsets, turns, keys, seed = plan
    n = n_blocks * size
    n_inside = 2 * len(offsets)
    length = n_inside + len(turns)
    for u in range(first, last):
        p = _position(u, n, keys)
        own, i = p // size, p % size
        row = indices[u * length : (u + 1) * length]
        for r in range(length):
            if r < n_inside:
                offset = offsets[r >> 1] if r & 1 else size - offsets[r >> 1]
                other, place = own, i + offset
                if place >= size:
                    place -= size
            else:
                place = turns[r - n_inside] - i
                if place < 0:
                    place += size
                pair = np.uint64(min(i, place)) * np.uint64(len(turns)) + np.uint64(r - n_inside)
                shift = 2 * np.int64(mix_bits(pair + seed) % np.uint64(n_blocks // 2)) + 1
                other = shift - own
                if other < 0:
                    other += n_blocks
            v = _node_at(other * size + place, n, keys)
            slot = r  # insertion: rows are short
            while slot > 0 and row[slot - 1] > v:
                row[slot] = row[slot - 1]
                slot -= 1
            row[slot] = v
