"""Means of clusters: rows grouped by label, then summed in chunks that depend on the labels alone."""

from numba import njit


@njit(cache=True, nogil=True)
def group_rows(labels, ends, order):
    """order (n,): the rows by cluster, ascending within each; ends (k,): on entry where each cluster starts."""
    for i in range(len(labels)):
        j = labels[i]
        order[ends[j]] = i
        ends[j] += 1


@njit(cache=True, nogil=True)
def sum_chunks(first, last, block, X, rows, weights, order, chunk_starts, chunk_ends, sums, masses):
    """sums (n_chunks, d) of w x and masses (n_chunks,) of w; a chunk's points are X[rows[order[start:end]]]."""
    for chunk in range(first, last):
        for position in range(chunk_starts[chunk], chunk_ends[chunk]):
            i = rows[order[position]]
            w = weights[order[position]]
            masses[chunk] += w
            for l in range(X.shape[1]):
                sums[chunk, l] += w * X[i, l]
