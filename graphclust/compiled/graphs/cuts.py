"""The weight that leaves each node's cluster: one streaming pass over the edges."""

import numpy as np

from graphclust.compiled.runtime.loops import loop


@loop()
def weights_to_others(first, last, block, rows, labels, leaving):
    """Sum each row's entries to nodes of other labels into leaving (n,); empty `weights` stand for all ones."""
    indptr, indices, weights = rows
    weighted = len(weights) > 0
    for u in range(first, last):
        own = labels[u]
        row = indices[indptr[u] : indptr[u + 1]]
        row_weights = weights[indptr[u] : indptr[u + 1]]
        # A sum of floats is not reordered, so the look-ups stay scalar: on rows of tens that beats vector gathers.
        total = 0.0
        for e in range(len(row)):
            if labels[np.uint32(row[e])] != own:  # unsigned: no test for counting from the end
                total += row_weights[e] if weighted else 1.0
        leaving[u] = total
