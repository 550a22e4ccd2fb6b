"""A table of whole numbers with open addressing, for node ids that are too sparse for an array of all of them.

The slot of an id is the high bits of its product with a random odd number (multiply-shift, Dietzfelbinger et al. 1997):
no file can be made to collide. Ranks do not depend on the slots.
"""

import numpy as np

from graphclust.compiled.runtime.loops import loop

EMPTY = -1  # an id is never negative


@loop()
def insert(ids, multiplier, shift, table):
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
def look_up(ids, multiplier, shift, table, rank_of_slot, ranks):
    mask = len(table) - 1
    for i in range(len(ids)):
        slot = np.int64((np.uint64(ids[i]) * multiplier) >> shift)
        while table[slot] != ids[i]:
            slot = (slot + 1) & mask
        ranks[i] = rank_of_slot[slot]
