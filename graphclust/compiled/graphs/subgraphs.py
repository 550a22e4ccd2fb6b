"""The rows and columns of some nodes, as CSR again."""

from numba import njit


@njit(cache=True, nogil=True)
def count_entries(first, last, block, nodes, indptr, indices, position, counts):
    """Entries of row nodes[r] that lead to another chosen node go to counts[r + 1]; position is -1 for the rest."""
    for r in range(first, last):
        count = 0
        for e in range(indptr[nodes[r]], indptr[nodes[r] + 1]):
            if position[indices[e]] >= 0:
                count += 1
        counts[r + 1] = count


@njit(cache=True, nogil=True)
def fill_entries(first, last, block, nodes, rows, position, subgraph, sums):
    """Nodes come in increasing order, so the new rows keep theirs; their sums go to `sums`."""
    indptr, indices, weights = rows
    sub_indptr, sub_indices, sub_weights = subgraph
    degrees, loops = sums
    for r in range(first, last):
        free = sub_indptr[r]
        degree = 0.0
        for e in range(indptr[nodes[r]], indptr[nodes[r] + 1]):
            column = position[indices[e]]
            if column < 0:
                continue
            weight = 1.0
            if len(weights) > 0:
                weight = weights[e]
                sub_weights[free] = weight
            sub_indices[free] = column
            degree += weight
            if column == r:
                loops[r] = weight
            free += 1
        degrees[r] = degree
