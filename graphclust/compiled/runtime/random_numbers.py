"""Random numbers in loops: by counter, and draw by draw as numpy's Generator has them.

By counter each follows from (key, turn, number) alone, in any order, on any thread. The generator is splitmix64
(Steele, Lea & Flood 2014) with a stream for each turn of a key.

To shuffle, loops take `draws_of` a Generator: where numpy's function is, and its state. From a Generator numba takes
both by Python calls, some 20 us a time, as long as all else that a loop does on a small graph.
"""

import ctypes
from typing import Any

import numpy as np

from graphclust.compiled.runtime.loops import loop, next_bits

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: steps of that size spread best


@loop(inline="always")
def mix_bits(bits):
    """The finalizer of splitmix64: every input bit reaches every output bit."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@loop(inline="always")
def uniform_of(key, turn, number):
    """A number in [0, 1) of 53 random bits."""
    stream = mix_bits(np.uint64(key) ^ mix_bits((np.uint64(turn) + np.uint64(1)) * GOLDEN))
    bits = mix_bits(stream + (np.uint64(number) + np.uint64(1)) * GOLDEN)
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


@loop()
def fill_uniforms(key, turn, first, uniforms):
    """uniforms[i] becomes the number `first + i` of a turn."""
    for i in range(len(uniforms)):
        uniforms[i] = uniform_of(key, turn, first + i)


@loop()
def draw_each(key, turn, first, factor, weights, sq_distances, drawn):
    """Draw each i independently with probability min(1, factor w d^2); returns how many are drawn.

    The draw of i follows from its number first + i alone.
    """
    n_drawn = 0
    for i in range(len(weights)):
        mass = weights[i] * sq_distances[i]
        if mass > 0.0 and uniform_of(key, turn, first + i) < factor * mass:
            drawn[n_drawn] = i
            n_drawn += 1
    return n_drawn


@loop()
def draw_shares(key, turn, nodes, shares, drawn):
    """drawn[i] = whether nodes[i] is drawn, which it is with probability shares[i]."""
    for i in range(len(nodes)):
        drawn[i] = uniform_of(key, turn, nodes[i]) < shares[i]


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
    drawn = next_bits(function, state) & mask
    while drawn > most:
        drawn = next_bits(function, state) & mask
    return drawn


@loop()
def shuffle(values, draws):
    """Shuffle an array of one dimension and fewer than 2^32 places, in place, from the last place to the first."""
    for i in range(len(values) - 1, 0, -1):
        j = np.int64(draw_up_to(np.uint32(i), draws))
        values[i], values[j] = values[j], values[i]
