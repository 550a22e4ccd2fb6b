"""Multiply the rows of a graph with a few columns."""

from numba import njit


@njit(cache=True, nogil=True)
def step(first, last, block, indptr, indices, weights, row_scale, stay, scaled, columns, out):
    """out[i] = stay columns[i] + (1 - stay) row_scale[i] sum_j A_ij scaled[j], for rows first..last-1.

    columns, scaled, out : shape (n, n_columns); `scaled` is what the neighbours send.
    """
    n_columns = columns.shape[1]
    weighted = len(weights) > 0
    for i in range(first, last):
        for c in range(n_columns):
            out[i, c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if weighted:
                for c in range(n_columns):
                    out[i, c] += weights[e] * scaled[j, c]
            else:
                for c in range(n_columns):
                    out[i, c] += scaled[j, c]
        for c in range(n_columns):
            out[i, c] = stay * columns[i, c] + (1.0 - stay) * row_scale[i] * out[i, c]
