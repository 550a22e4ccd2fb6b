"""Numbers that have little to do with those of the nodes, and are the same wherever they are needed."""

import numpy as np
from numba import njit

from graphclust.compiled.runtime.references import UNCOUNTED

MULTIPLIER = 2_654_435_761  # Knuth's, 2^32 over the golden ratio


@njit(cache=True, nogil=True, **UNCOUNTED)
def mixed(i):
    """A number from 0 to 2^16 - 1."""
    return (np.int64(i) * MULTIPLIER >> 16) & 0xFFFF  # what comes may be of 32 bits, and in plain Python would stay so
