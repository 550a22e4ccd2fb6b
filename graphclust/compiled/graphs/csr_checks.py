"""One streaming pass that checks a CSR matrix and collects degrees and loops."""

import numpy as np

from graphclust.compiled.runtime.loops import UNCOUNTED, loop
from graphclust.compiled.runtime.random_numbers import GOLDEN, mix_bits

# Columns of the report that `count_faults` fills, one row a block.
OUT_OF_RANGE, NOT_FINITE, NEGATIVE, ZERO, UNORDERED = range(5)
N_FAULTS = 5


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
            code = mix_bits(np.uint64(min(i, j)) << np.uint64(32) | np.uint64(max(i, j)))
            if weighted:
                code = mix_bits(code + row_bits[e] * GOLDEN)
            total += np.int64(code) * (np.int64(j > i) - np.int64(j < i))
        for e in range(1, len(row)):
            n_faults += row[e] <= row[e - 1]
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


@loop(**UNCOUNTED)
def count_faults(first, last, block, rows, counts, examples):
    """Say what is wrong: how many entries of each kind, and the position of the first; (n_blocks, N_FAULTS) each."""
    indptr, indices, weights = rows
    n = len(indptr) - 1
    for i in range(first, last):
        previous = -1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            w = weights[e] if len(weights) > 0 else 1.0
            kind = -1
            if j < 0 or j >= n:
                kind = OUT_OF_RANGE
            elif not np.isfinite(w):
                kind = NOT_FINITE
            elif w < 0.0:
                kind = NEGATIVE
            elif w == 0.0:
                kind = ZERO
            elif j <= previous:
                kind = UNORDERED
            previous = j
            if kind >= 0:
                if counts[block, kind] == 0:
                    examples[block, kind] = e
                counts[block, kind] += 1
