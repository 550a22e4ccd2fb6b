"""Rows of some nodes: by themselves, between each other, in another order, or with some entries changed."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.csr_checks import compensated_sum
from graphclust.compiled.runtime.loops import UNCOUNTED, loop
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors, ask_for_row
from graphclust.compiled.runtime.random_numbers import GOLDEN, mix_bits


class ChosenRows(NamedTuple):
    """Rows of some nodes, in increasing order, with their degrees and the diagonal of K.

    Row i has the neighbors indices[indptr[i]:indptr[i + 1]], by their numbers in the whole graph; empty weights stand
    for all ones.
    """

    nodes: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    degrees: np.ndarray
    self_affinity: np.ndarray


@loop()
def first_at_least(indices, start, end, node):
    """Position of the first entry >= node in an increasing row."""
    while start < end:
        middle = (start + end) // 2
        if indices[middle] < node:
            start = middle + 1
        else:
            end = middle
    return start


@loop()
def copy_rows(first, last, block, nodes, rows, chosen):
    """Rows nodes[first], ..., nodes[last - 1] go to the indices and weights of `chosen`, as far as its indptr has room.

    Of a longer row one entry goes for each of as many runs of its entries, drawn by a hash of its first neighbor.
    """
    for i in range(first, last):
        start, free = rows.indptr[nodes[i]], chosen.indptr[i]
        length, room = rows.indptr[nodes[i] + 1] - start, chosen.indptr[i + 1] - free
        for j in range(room):
            e = start + j
            if room < length:
                e = start + j * length // room
                run = start + (j + 1) * length // room - e
                e += np.int64(mix_bits(np.uint64(rows.indices[start]) + np.uint64(j)) % np.uint64(run))
            chosen.indices[free + j] = rows.indices[e]
            if len(rows.weights) > 0:
                chosen.weights[free + j] = rows.weights[e]


@loop()
def bound_columns(first, last, rows, starts, ends):
    """Where the entries of the columns first..last-1 start and end in each row."""
    for i in range(len(rows.nodes)):
        starts[i] = first_at_least(rows.indices, rows.indptr[i], rows.indptr[i + 1], first)
        ends[i] = first_at_least(rows.indices, starts[i], rows.indptr[i + 1], last)


@loop(**UNCOUNTED)
def count_entries(first, last, block, nodes, rows, position, counts):
    """Entries of row nodes[r] that lead to another chosen node go to counts[r + 1]; position is -1 for the rest."""
    many = len(position) > CACHED
    for r in range(first, last):
        if many and r + 2 * AHEAD < last:
            ask_for_row(rows, nodes[r + 2 * AHEAD])
            ask_for_neighbors(position, rows, nodes[r + AHEAD])
        count = 0
        for e in range(rows.indptr[nodes[r]], rows.indptr[nodes[r] + 1]):
            count += position[np.uint32(rows.indices[e])] >= 0
        counts[r + 1] = count


@loop(**UNCOUNTED)
def fill_entries(first, last, block, nodes, rows, position, subgraph, sums):
    """Nodes come in increasing order, so the new rows keep theirs; their sums go to `sums`."""
    indptr, indices, weights = rows
    sub_indptr, sub_indices, sub_weights = subgraph
    degrees, loops = sums
    many = len(position) > CACHED
    for r in range(first, last):
        if many and r + 2 * AHEAD < last:
            ask_for_row(rows, nodes[r + 2 * AHEAD])
            ask_for_neighbors(position, rows, nodes[r + AHEAD])
        free = sub_indptr[r]
        for e in range(indptr[nodes[r]], indptr[nodes[r] + 1]):
            column = position[np.uint32(indices[e])]
            if column < 0:
                continue
            weight = 1.0
            if len(weights) > 0:
                weight = weights[e]
                sub_weights[free] = weight
            sub_indices[free] = column
            if column == r:
                loops[r] = weight
            free += 1
        degrees[r] = (
            compensated_sum(sub_weights, sub_indptr[r], free) if len(weights) > 0 else float(free - sub_indptr[r])
        )


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
            if entries.weight[i] != 0.0:
                indices[free] = entries.column[i]
                if weighted:
                    weights[free] = entries.weight[i]
                free += 1


@loop(**UNCOUNTED)
def hash_neighbors(first, last, block, rows, weight_bits, seen, hashed):
    """hashed[u] = a hash of what was seen at u and, in no order, at its neighbors and on the edges to them."""
    weighted, many = len(weight_bits) > 0, len(seen) > CACHED
    for u in range(first, last):
        if many and u + 2 * AHEAD < last:
            ask_for_neighbors(seen, rows, u + 2 * AHEAD)
        total = np.uint64(0)
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            near = seen[np.uint32(rows.indices[e])]
            total += near * mix_bits(weight_bits[e] + GOLDEN) if weighted else near
        hashed[u] = mix_bits(seen[u] + mix_bits(total + GOLDEN) + GOLDEN)


@loop(**UNCOUNTED)
def reorder_rows(rows, order, place, free, made):
    """The rows with node order[i] as node i, of a symmetric matrix; place : the inverse of the order.

    free : where each new row begins, moved on to where it ends. Rows are read in the new order and written as columns,
    so that the columns of each new row increase.
    """
    weighted = len(rows.weights) > 0
    for i in range(len(order)):
        v = order[i]
        for e in range(rows.indptr[v], rows.indptr[v + 1]):
            row = place[np.uint32(rows.indices[e])]
            at = np.uint64(free[row])
            made.indices[at] = i
            if weighted:
                made.weights[at] = rows.weights[e]
            free[row] += 1


@loop()
def gather_entries(indptr, indices, values, rows, columns, block):
    """Write K[rows, columns] to block, which is all zero; columns increase. Each row is searched for the fewer."""
    n_columns = len(columns)
    for i in range(len(rows)):
        start, end = indptr[rows[i]], indptr[rows[i] + 1]
        if end - start < n_columns:
            for e in range(start, end):
                at = first_at_least(columns, 0, n_columns, indices[e])
                if at < n_columns and columns[at] == indices[e]:
                    block[i, at] = values[e]
        else:
            at = start
            for c in range(n_columns):
                at = first_at_least(indices, at, end, columns[c])
                if at < end and indices[at] == columns[c]:
                    block[i, c] = values[at]
