"""Shuffle in a compiled loop, by the draws that numpy's own shuffle takes from a Generator.

numba's, for arrays of any shape, takes three seconds to compile; the draw of one place, of which it is made, none. A
numba that has none of that name, and a run as plain Python, take the general one: the order is the same.
"""

import numba
import numpy as np
from numba import njit

try:
    from numba.np.random.random_methods import random_interval
except ImportError:
    HAS_INTERVALS = False
else:
    HAS_INTERVALS = not numba.config.DISABLE_JIT


@njit(cache=True, nogil=True)
def shuffle_any(values, rng):
    """Shuffle an array of one dimension, in place."""
    rng.shuffle(values)


@njit(cache=True, nogil=True)
def shuffle_row(values, rng):
    """The same, place by place from the last."""
    for i in range(len(values) - 1, 0, -1):
        j = np.int64(random_interval(rng.bit_generator, np.uint64(i)))
        values[i], values[j] = values[j], values[i]


shuffle = shuffle_row if HAS_INTERVALS else shuffle_any
