"""Planted graphs of any size written straight to a store, as fast as the disk takes them.

Every row follows from its number, so that rows are written one after the other and nothing is ever sorted; nodes are
named at random, so that neither names nor the order of the neighbors show the blocks.

Position p = block * size + place. Inside, a block is a circulant: the neighbors of a place lie `offsets` before and
behind it, round the block. Outside, neighbor r of place i in block b is place turns[r] - i in block shift - b, both
round, where the odd shift is drawn for the pair {i, turns[r] - i}: an involution, that leaves no block in its place as
their number is even, and leads to a place of its own for every r. Nodes are named by a bijection of the positions.
"""

from itertools import pairwise
from typing import NamedTuple

import numba
import numpy as np

from graphclust import Graph, open_store
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.compiled.runtime.random_numbers import mix_bits
from graphclust.io.store.store import new_store

ENTRIES_PER_STEP, ENTRIES_PER_BLOCK = 1 << 24, 1 << 19
ROUNDS = 3
_mix_bits = numba.njit(inline="always")(mix_bits.py_func)


class Plan(NamedTuple):
    """What all rows follow from: n_blocks blocks of `size` nodes, the numbers above, and the seed of the shifts."""

    n_blocks: int
    size: int
    offsets: np.ndarray
    turns: np.ndarray
    keys: np.ndarray
    seed: np.uint64


@numba.njit(inline="always")
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


@numba.njit(inline="always")
def _position(node, n, keys):
    """The inverse of `_node_at`: folding undoes itself, as the folded half is not changed by it."""
    word = np.uint64(node)
    while True:
        for i in range(ROUNDS - 1, -1, -1):
            word ^= word >> keys[1]
            word = ((word - keys[2 + 2 * i]) * keys[3 + 2 * i]) & keys[0]
        if word < np.uint64(n):
            return np.int64(word)


@numba.njit(nogil=True)
def positions(first, last, block, n, keys, out):
    """out[u] = the position of nodes first..last-1."""
    for u in range(first, last):
        out[u] = _position(u, n, keys)


@numba.njit(nogil=True)
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
                shift = 2 * np.int64(_mix_bits(pair + seed) % np.uint64(n_blocks // 2)) + 1
                other = shift - own
                if other < 0:
                    other += n_blocks
            v = _node_at(other * size + place, n, keys)
            slot = r  # insertion: rows are short
            while slot > 0 and row[slot - 1] > v:
                row[slot] = row[slot - 1]
                slot -= 1
            row[slot] = v


def planted_store(
    path: str, n_blocks: int, size: int, inside: int, outside: int, seed: int
) -> tuple[Graph, np.ndarray]:
    """Write a graph of equal blocks, in which every node has as many neighbors, to a store; the graph and its labels.

    n_blocks : even. size : nodes of each block. inside : neighbors of each node in its own block, even and below size.
    outside : neighbors of each node in other blocks, at most size.
    """
    rng = np.random.default_rng(seed)
    n, length = n_blocks * size, inside + outside
    assert n_blocks % 2 == inside % 2 == 0 and inside < size and outside <= size and n < 2**31
    offsets = 1 + rng.permutation((size - 1) // 2)[: inside // 2]
    turns = rng.permutation(size)[:outside]
    keys = _keys(n, rng)
    plan = Plan(n_blocks, size, offsets, turns, keys, rng.integers(2**64, dtype=np.uint64))
    with new_store(path, {"indptr": n + 1, "indices": n * length, "degrees": n}, overwrite=True) as arrays:
        for first, last in pairwise(row_blocks(n, ENTRIES_PER_STEP // length).tolist()):
            arrays["indptr"][first : last + 1] = np.arange(first, last + 1) * length
            arrays["degrees"][first:last] = length
            blocks = first + row_blocks(last - first, ENTRIES_PER_BLOCK // length)
            run_in_blocks(write_rows, blocks, plan, arrays["indices"])
    labels = np.empty(n, np.int64)
    run_in_blocks(positions, row_blocks(n), n, keys, labels)
    return open_store(path, verify="fast"), labels // size


def _keys(n: int, rng: np.random.Generator) -> np.ndarray:
    """What names the nodes: a mask of as many bits as they need, half of that, and odd factors with their inverses."""
    n_bits = max(int(n - 1).bit_length(), 2)
    factors = rng.integers(2**64, size=ROUNDS, dtype=np.uint64) | np.uint64(1)
    pairs = [(int(factor), pow(int(factor), -1, 2**64)) for factor in factors]
    words = [2**n_bits - 1, (n_bits + 1) // 2, *(word for pair in pairs for word in pair)]
    return np.array(words, np.uint64)
