"""Read lines of neighbors, as METIS writes them, out of bytes."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import UNCOUNTED, loop
from graphclust.compiled.text.number_lines import (
    BAD_NODE,
    BAD_WEIGHT,
    FINE,
    NEWLINE,
    NINE,
    PERCENT,
    TOO_FEW,
    TOO_MANY,
    ZERO,
    is_end,
    skip_spaces,
)


@loop(**UNCOUNTED)
def count_words(first, last, block, text, n_lines, n_words):
    """Lines that are no comments of %, and words on them; both (n_blocks,)."""
    lines = words = 0
    at = first
    while at < last:
        at = skip_spaces(text, at)
        if text[at] == PERCENT:
            while text[at] != NEWLINE:
                at += 1
            at += 1
            continue
        while text[at] != NEWLINE:
            words += 1
            while not is_end(text[at]):
                at += 1
            at = skip_spaces(text, at)
        lines += 1
        at += 1
    n_lines[block] = lines
    n_words[block] = words


class NeighborLines(NamedTuple):
    """Lines of neighbors 1..n_nodes, each line a node's.

    The first `n_leading` numbers of a line are passed over; where `weighted`, a weight > 0 follows each neighbor.
    """

    n_nodes: int
    n_leading: int
    weighted: bool


class BlockStarts(NamedTuple):
    """The first node of each block of lines, counted from 0, and where its first entry goes."""

    nodes: np.ndarray
    entries: np.ndarray


class NeighborEntries(NamedTuple):
    """Both ends and the weight of each entry."""

    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray


class BlockOutcomes(NamedTuple):
    """How many entries each block has, and its first fault: code and position."""

    n_entries: np.ndarray
    faults: np.ndarray


@loop(**UNCOUNTED)
def parse_neighbors(first, last, block, text, lines, starts, entries, outcomes):
    """Read the lines of a block."""
    n_nodes, n_leading, weighted = lines
    nodes, entry_starts = starts
    sources, targets, weights = entries
    n_entries, faults = outcomes
    node = nodes[block]
    entry = entry_starts[block]
    at = first
    code = FINE
    while at < last and code == FINE:
        at = skip_spaces(text, at)
        if text[at] == PERCENT:
            while text[at] != NEWLINE:
                at += 1
            at += 1
            continue
        start = at
        column = 0
        while text[at] != NEWLINE and code == FINE:
            token = at
            number = np.int64(0)
            while ZERO <= text[at] <= NINE and at - token < 18:
                number = number * 10 + np.int64(text[at] - ZERO)
                at += 1
            if at == token or not is_end(text[at]):
                code = BAD_WEIGHT if weighted and column >= n_leading and (column - n_leading) & 1 else BAD_NODE
            elif node >= n_nodes:
                code = TOO_MANY
            elif column >= n_leading:
                if weighted and (column - n_leading) & 1:
                    weights[entry - 1] = number
                    if number == 0:
                        code = BAD_WEIGHT
                elif number < 1 or number > n_nodes or number == node + 1:
                    code = BAD_NODE
                else:
                    sources[entry], targets[entry] = node, number - 1
                    entry += 1
            column += 1
            at = skip_spaces(text, at)
        if code == FINE and node < n_nodes and (column < n_leading or (weighted and (column - n_leading) & 1)):
            code = TOO_FEW
        if code != FINE:
            faults[block, 0], faults[block, 1] = code, start
        at += 1
        node += 1
    n_entries[block] = entry - entry_starts[block]
