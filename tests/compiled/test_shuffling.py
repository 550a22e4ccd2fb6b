"""Shuffles in compiled loops are those of numpy, draw for draw."""

import numpy as np
from cases import for_each

from graphclust.compiled.runtime import random_numbers
from graphclust.compiled.runtime.loops import plain, read_only


def in_plain_python(values, draws):
    with plain():
        random_numbers.shuffle(values, draws)


@for_each("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
@for_each("shuffle", [random_numbers.shuffle, in_plain_python])
def test_orders_and_draws_are_those_of_numpy(shuffle, bits):
    ours, expected = np.random.Generator(bits(5)), np.random.Generator(bits(5))
    for n in (0, 1, 2, 3, 1000):
        order = np.arange(n, dtype=np.int32)
        shuffle(order, random_numbers.draws_of(ours))
        assert (order == expected.permutation(n)).all()
    assert ours.random() == expected.random()


def test_a_read_only_array_is_the_same_one():
    values = np.arange(3.0)
    assert read_only(values) is values
