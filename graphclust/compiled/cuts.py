"""The weight that leaves each node's cluster: one streaming pass over the edges."""

from numba import njit


@njit(cache=True, nogil=True)
def leaving_weights(first, last, block, indptr, indices, weights, labels, leaving):
    """Sum each row's entries to nodes of other labels into leaving (n,); empty `weights` stand for all ones."""
    weighted = len(weights) > 0
    for u in range(first, last):
        own = labels[u]
        if weighted:
            total = 0.0
            for e in range(indptr[u], indptr[u + 1]):
                if labels[indices[e]] != own:
                    total += weights[e]
            leaving[u] = total
        else:
            count = 0
            for e in range(indptr[u], indptr[u + 1]):
                count += labels[indices[e]] != own
            leaving[u] = count
