"""The rows and columns of some nodes, as CSR again."""

import numpy as np

from graphclust.compiled.graphs.csr_checks import compensated_sum
from graphclust.compiled.runtime.jit_options import UNCOUNTED
from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors, ask_for_row


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
