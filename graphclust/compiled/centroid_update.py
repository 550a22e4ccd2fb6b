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
def sum_chunks(first, last, block, X, weights, order, chunk_starts, chunk_ends, sums, masses):
    """sums (n_chunks, d) of w x and masses (n_chunks,) of w over the rows order[start:end] of each chunk."""
    for chunk in range(first, last):
        total = sums[chunk]
        mass = 0.0
        for e in range(chunk_starts[chunk], chunk_ends[chunk]):
            w = weights[order[e]]
            if w == 0.0:
                continue
            x = X[order[e]]
            mass += w
            for l in range(len(total)):
                total[l] += w * x[l]
        masses[chunk] = mass
