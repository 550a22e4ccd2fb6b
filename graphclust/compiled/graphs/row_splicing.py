"""Entries put into rows, taken out of them and given other weights, by one pass over the rows."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.row_subset import first_at_least
from graphclust.compiled.runtime.jit_options import UNCOUNTED
from graphclust.compiled.runtime.loops import loop


class NewEntries(NamedTuple):
    """What entries are to be, by increasing place, (m,) each.

    place : where the entry stands or would stand. is_there : whether it does. weight : 0 for an entry that goes.
    """

    place: np.ndarray
    is_there: np.ndarray
    column: np.ndarray
    weight: np.ndarray


@loop(**UNCOUNTED)
def find_entries(rows, row, column, place, is_there):
    """place[i] = where the entry (row[i], column[i]) stands or would stand, and whether it does."""
    for i in range(len(row)):
        end = rows.indptr[row[i] + 1]
        place[i] = first_at_least(rows.indices, rows.indptr[row[i]], end, column[i])
        is_there[i] = place[i] < end and rows.indices[place[i]] == column[i]


@loop(**UNCOUNTED)
def splice_entries(rows, entries, indices, weights):
    """The entries of all rows after the changes go to `indices` and, unless it is empty, to `weights`."""
    weighted, has_weights, start, free = len(weights) > 0, len(rows.weights) > 0, 0, 0
    for i in range(len(entries.place) + 1):
        end = entries.place[i] if i < len(entries.place) else len(rows.indices)
        old, new = rows.indices[start:end], indices[free : free + end - start]
        for e in range(len(new)):
            new[e] = old[e]
        if weighted:
            for e in range(end - start):
                weights[free + e] = rows.weights[start + e] if has_weights else 1.0
        free += end - start
        start = end
        if i < len(entries.place):
            start += entries.is_there[i]
            if entries.weight[i] > 0.0:
                indices[free] = entries.column[i]
                if weighted:
                    weights[free] = entries.weight[i]
                free += 1
