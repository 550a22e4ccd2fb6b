"""A bijection of 64-bit words that looks random: a hash, and with a counter a stream of numbers."""

import numpy as np

from graphclust.compiled.runtime.loops import loop


@loop(inline="always")
def mix_bits(bits):
    """The finalizer of splitmix64: every input bit reaches every output bit."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
