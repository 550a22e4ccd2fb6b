"""Shuffle in a compiled loop, by the draws that numpy's own shuffle takes from a Generator.

Loops take `draws_of` a Generator: where numpy's function is, and its state. From a Generator numba takes both by Python
code, in which Ctrl-C may strike, and then crashes; and its shuffle, for arrays of any shape, takes three seconds to
compile, the draw of one place, of which it is made, none.
A numba that has no such draw, and a run as plain Python, take the Generator and its shuffle: the order is the same.
"""

import ctypes
from typing import Any

import numba
import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

try:
    from numba.np.random.random_methods import random_interval
except ImportError:
    HAS_INTERVALS = False
else:
    HAS_INTERVALS = not numba.config.DISABLE_JIT


def draws_of(rng: np.random.Generator) -> Any:
    """What a compiled loop draws by, for as long as the Generator is there."""
    if not HAS_INTERVALS:
        return rng
    interface = rng.bit_generator.ctypes
    return ctypes.cast(interface.next_uint32, ctypes.c_void_p).value, interface.state_address


@njit(cache=True, nogil=True)
def shuffle_any(values, rng):
    """Shuffle an array of one dimension, in place."""
    rng.shuffle(values)


@njit(cache=True, nogil=True)
def shuffle_row(values, draws):
    """The same, place by place from the last."""
    bits = _bit_generator(np.uintp(draws[0]), np.uintp(draws[1]))
    for i in range(len(values) - 1, 0, -1):
        j = np.int64(random_interval(bits, np.uint64(i)))
        values[i], values[j] = values[j], values[i]


@intrinsic
def _bit_generator(typing_context, next_uint32, state):
    """A bit generator as numba knows it, which draws 32 bits at a time: enough for places below 2^32."""
    made = types.NumPyRandomBitGeneratorType("bit_generator")

    def build(context, builder, signature, arguments):
        struct = cgutils.create_struct_proxy(made)(context, builder)
        struct.fnptr_next_uint32, struct.state = arguments
        return struct._getvalue()

    return made(types.uintp, types.uintp), build


shuffle = shuffle_row if HAS_INTERVALS else shuffle_any
