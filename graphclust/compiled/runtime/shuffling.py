"""Shuffle arrays in loops as numpy's Generator does, draw by draw.

Loops take `draws_of` a Generator: where numpy's function is, and its state. From a Generator numba takes both by Python
calls, some 20 us a time, as long as all else that a loop does on a small graph.
"""

import ctypes
from typing import Any

import numpy as np

from graphclust.compiled.runtime.instructions import next_bits
from graphclust.compiled.runtime.loops import loop


def draws_of(rng: np.random.Generator) -> Any:
    """What a loop draws by, for as long as the Generator is there: addresses of numpy's function and of its state."""
    interface = rng.bit_generator.ctypes
    return ctypes.cast(interface.next_uint32, ctypes.c_void_p).value, interface.state_address


@loop()
def draw_up_to(most, draws):
    """A whole number of 0..most < 2^32, each as likely: bits are drawn until they are no more than that."""
    mask = np.uint32(most)
    for shift in (1, 2, 4, 8, 16):
        mask |= mask >> np.uint32(shift)
    function, state = np.uintp(draws[0]), np.uintp(draws[1])
    found = next_bits(function, state) & mask
    while found > most:
        found = next_bits(function, state) & mask
    return found


@loop()
def shuffle(values, draws):
    """Shuffle an array of one dimension and fewer than 2^32 places, in place, from the last place to the first."""
    for i in range(len(values) - 1, 0, -1):
        j = np.int64(draw_up_to(np.uint32(i), draws))
        values[i], values[j] = values[j], values[i]
