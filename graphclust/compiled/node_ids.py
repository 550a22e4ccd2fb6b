"""A table of whole numbers with open addressing, for node ids that are too sparse for an array of all of them."""

import numpy as np
from numba import njit

EMPTY = -1  # an id is never negative


@njit(cache=True, nogil=True, inline="always")
def _first_slot(node, mask):
    """Fibonacci hashing: the high bits of the product depend on every bit of the id."""
    return np.int64((np.uint64(node) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask


@njit(cache=True, nogil=True)
def insert(ids, table):
    """Put each id into the table, whose length is a power of two above the number of ids; returns how many were new."""
    mask = len(table) - 1
    n_new = 0
    for node in ids:
        slot = _first_slot(node, mask)
        while table[slot] != EMPTY and table[slot] != node:
            slot = (slot + 1) & mask
        if table[slot] == EMPTY:
            table[slot] = node
            n_new += 1
    return n_new


@njit(cache=True, nogil=True)
def look_up(ids, table, rank_of_slot, ranks):
    """The rank of each id; all of them are in the table."""
    mask = len(table) - 1
    for i in range(len(ids)):
        slot = _first_slot(ids[i], mask)
        while table[slot] != ids[i]:
            slot = (slot + 1) & mask
        ranks[i] = rank_of_slot[slot]
