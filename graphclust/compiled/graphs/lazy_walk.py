"""Multiply the rows of a graph with a few columns."""

from graphclust.compiled.runtime.loops import loop

IN_REGISTERS = 8  # up to so many columns, sums are kept in registers, four at a time, and the row is read again


@loop()
def step(first, last, block, rows, walk, scaled, columns, out):
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
