"""Rows of a graph: checked and summed, multiplied with columns, chosen, in another order, or with some entries changed.

A matrix is checked in one streaming pass, which collects degrees and loops.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import UNCOUNTED, loop
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors, ask_for_row
from graphclust.compiled.runtime.random_numbers import GOLDEN, mix_bits


@loop(**UNCOUNTED)
def compensated_sum(weights, start, end):
    """Sum of weights[start:end] with what each addition rounded off kept apart (Neumaier 1974; Knuth's two-sum).

    The error does not grow with the row: an edge of 1e16 swallows no edge of 1. It costs no time, since only the sum
    itself waits for the addition before.
    """
    total = 0.0
    lost = 0.0
    for e in range(start, end):
        grown = total + weights[e]
        added = grown - total
        lost += (total - (grown - added)) + (weights[e] - added)
        total = grown
    return total + lost if total < np.inf else total


@loop(**UNCOUNTED)
def check_rows(first, last, block, rows, weight_bits, sums, faults, asymmetry):
    """Sum the rows (`RowSums`), and for each block the asymmetry and the number of faulty entries.

    An entry (i, j, w) adds its hash where i < j and takes it away where i > j: the total over all blocks is 0 when
    the matrix is symmetric, and otherwise is 0 with probability 2^-64. No entry is followed to another row.
    The loops over a row have no branches, so that several entries are checked at a time.
    """
    indptr, indices, weights = rows
    degrees, loops = sums
    n = len(indptr) - 1
    weighted = len(weights) > 0
    total = np.int64(0)
    for i in range(first, last):
        start, end = indptr[i], indptr[i + 1]
        row, row_weights, row_bits = indices[start:end], weights[start:end], weight_bits[start:end]
        n_faults = 0
        n_below = 0
        for e in range(len(row)):
            j = np.int64(row[e])
            n_faults += (j < 0) | (j >= n)
            n_below += j < i
            code = mix_bits(np.uint64(min(i, j)) << np.uint64(32) | np.uint64(max(i, j)))  # alike for (i, j) and (j, i)
            if weighted:
                code = mix_bits(code + row_bits[e] * GOLDEN)
            total += np.int64(code) * (np.int64(j > i) - np.int64(j < i))
        for e in range(1, len(row)):
            n_faults += row[e] <= row[e - 1]  # columns have to increase
        degree = float(len(row))
        if weighted:
            for e in range(len(row)):
                n_faults += 1 - ((row_weights[e] > 0.0) & (row_weights[e] < np.inf))
            degree = compensated_sum(weights, start, end) if n_faults == 0 else 0.0
        degrees[i] = degree
        faults[block] += n_faults
        if n_faults == 0 and n_below < len(row) and row[n_below] == i:
            loops[i] = row_weights[n_below] if weighted else 1.0
    asymmetry[block] = total


@loop(**UNCOUNTED)
def sum_rows(first, last, block, rows, sums):
    """The same sums as `check_rows` makes, of rows that are known to be right."""
    indptr, indices, weights = rows
    degrees, loops = sums
    weighted = len(weights) > 0
    for i in range(first, last):
        start, end = indptr[i], indptr[i + 1]
        degrees[i] = compensated_sum(weights, start, end) if weighted else float(end - start)
        place = start + np.searchsorted(indices[start:end], i)
        if place < end and indices[place] == i:
            loops[i] = weights[place] if weighted else 1.0


IN_REGISTERS = 8  # up to so many columns, sums are kept in registers, four at a time, and the row is read again


@loop()
def lazy_step(first, last, block, rows, walk, scaled, columns, out):
    """out[i] = stay columns[i] + (1 - stay) row_scale[i] sum_j A_ij scaled[j], for rows first..last-1.

    walk : stay and row_scale, (n,). columns, scaled, out : (n, n_columns); `scaled` is what the neighbors send.
    """
    indptr, indices, weights = rows
    stay, row_scale = walk
    n_columns = columns.shape[1]
    weighted = len(weights) > 0
    for i in range(first, last):
        by_fours = n_columns - n_columns % 4 if n_columns <= IN_REGISTERS else 0
        for c in range(0, by_fours, 4):
            sum_0 = sum_1 = sum_2 = sum_3 = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                weight = weights[e] if weighted else 1.0
                sum_0 += weight * scaled[j, c]
                sum_1 += weight * scaled[j, c + 1]
                sum_2 += weight * scaled[j, c + 2]
                sum_3 += weight * scaled[j, c + 3]
            out[i, c], out[i, c + 1], out[i, c + 2], out[i, c + 3] = sum_0, sum_1, sum_2, sum_3
        if n_columns <= IN_REGISTERS:
            for c in range(by_fours, n_columns):
                total = 0.0
                for e in range(indptr[i], indptr[i + 1]):
                    total += (weights[e] if weighted else 1.0) * scaled[indices[e], c]
                out[i, c] = total
        else:
            for c in range(n_columns):
                out[i, c] = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                weight = weights[e] if weighted else 1.0
                for c in range(n_columns):
                    out[i, c] += weight * scaled[j, c]
        for c in range(n_columns):
            out[i, c] = stay * columns[i, c] + (1.0 - stay) * row_scale[i] * out[i, c]


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
                # One entry of each run, so that the whole row is represented.
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
        ends[i] = first_at_least(rows.indices, starts[i], rows.indptr[i + 1], last)  # from the start on, which is known


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
            count += position[np.uint32(rows.indices[e])] >= 0  # unsigned: no test for counting from the end
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
        # Up to the next change, and behind the last to the end.
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
            start += entries.is_there[i]  # the old entry is passed over
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
            # A sum does not depend on the order.
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
        if end - start < n_columns:  # each entry of the row is searched for among the columns
            for e in range(start, end):
                at = first_at_least(columns, 0, n_columns, indices[e])
                if at < n_columns and columns[at] == indices[e]:
                    block[i, at] = values[e]
        else:
            at = start
            for c in range(n_columns):
                at = first_at_least(indices, at, end, columns[c])  # columns increase: the search goes on from there
                if at < end and indices[at] == columns[c]:
                    block[i, c] = values[at]
