"""Functions of one block of rows, run over all blocks: here on threads, by `graphclust.distributed` on a cluster.

Whoever writes an algorithm in this form writes it once. A step is a function `f(source, first, last, *arguments)` of
the rows first..last-1 that returns a value and changes nothing; `each` runs it on all blocks, `once` runs a function
`f(source, *arguments)` in one place, on what all blocks found, in block order. Values stay where they were made until
`fetch` asks for them. The blocks follow from the graph alone, so neither threads nor partitions change a result.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.runtime.blocks import map_blocks


class ByBlock(NamedTuple):
    """The values of a step, one a block, or whatever stands for them; a later step gets them block by block."""

    values: Any


class Whole(NamedTuple):
    """One value, or what stands for it; every block of a later step gets it."""

    value: Any


class Engine:
    """Where steps run: on threads of this process; an argument is a ByBlock, a Whole, or a value that is small."""

    def __init__(self, source: Any, boundaries: np.ndarray):
        self.source, self.boundaries = source, boundaries

    def each(self, function: Callable[..., Any], *arguments: Any) -> ByBlock:
        """`function(source, first, last, *arguments)` for each block."""
        return ByBlock(values_by_block(self.source, self.boundaries, function, *take_apart(arguments)))

    def once(self, function: Callable[..., Any], *arguments: Any) -> Whole:
        """`function(source, *arguments)`; a ByBlock among them comes as a list."""
        values, _ = take_apart(arguments)
        with np.errstate(all="ignore"):
            return Whole(function(self.source, *values))

    def by_block(self, values: list[Any]) -> ByBlock:
        """Values that are known here, one for each block."""
        return ByBlock(values)

    def fetch(self, values: ByBlock | Whole) -> Any:
        """The value, or the list of values in block order."""
        return values[0]


def take_apart(arguments: tuple[Any, ...]) -> tuple[list[Any], list[bool]]:
    """What the arguments of a step stand for, and which of them go block by block."""
    values = [argument[0] if isinstance(argument, ByBlock | Whole) else argument for argument in arguments]
    return values, [isinstance(argument, ByBlock) for argument in arguments]


def values_by_block(
    source: Any, boundaries: np.ndarray, function: Callable[..., Any], values: list[Any], by_block: list[bool]
) -> list[Any]:
    """The results of a step on some blocks that follow one another, on the threads of this process."""

    def of_block(first: int, last: int, block: int) -> Any:
        own = [value[block] if split else value for value, split in zip(values, by_block, strict=True)]
        return function(source, first, last, *own)

    return map_blocks(of_block, boundaries)


def sum_in_order(parts: list[Any]) -> Any:
    """The sum of numbers or arrays, added from the first to the last."""
    return functools.reduce(operator.add, parts)
