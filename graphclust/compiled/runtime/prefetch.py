"""Ask for memory some time before it is read.

A loop over the edges of a shuffled graph looks up one value for each neighbor, in no order. Where the values are more
than the caches hold each look-up waits for memory, and that is most of what a pass takes: with 5 million nodes a third
to a half of the time is left once the values of a row are asked for a few rows ahead. Nothing that is computed changes.
Where the values fit the caches asking for them would only be work. But the nearest cache holds little: of nodes that a
loop comes to in no order it pays, on small graphs too, to ask for where their rows begin.
"""

import numpy as np

from graphclust.compiled.runtime.loops import INLINED, ask_for, loop

CACHED = 1 << 21  # values of four bytes that caches of a processor of today hold
LINE = 16  # values of four bytes
AHEAD = 2  # rows: so far ahead of the row at hand loops over rows in order ask for the values of its neighbors


@loop(**INLINED)
def ask_for_neighbors(values, rows, u):
    for e in range(rows.indptr[u], rows.indptr[u + 1]):
        ask_for(values, np.uint32(rows.indices[e]))


@loop(**INLINED)
def ask_for_row(rows, u):
    """Fetch the entries of the row of u; of a memory line once."""
    for e in range(rows.indptr[u], rows.indptr[u + 1], LINE):
        ask_for(rows.indices, e)


@loop(**INLINED)
def ask_for_next(values, rows, nodes, i, ahead, many):
    """Fetch what nodes[i] and others after it will need, each thing once the one before has to be known.

    Farthest ahead where a row begins, then what it begins with; of many nodes the whole of it, and the values of the
    neighbors. The place i + 3 ahead is one of `nodes`.
    """
    ask_for(rows.indptr, nodes[i + 3 * ahead])
    if many:
        ask_for_row(rows, nodes[i + 2 * ahead])
        ask_for_neighbors(values, rows, nodes[i + ahead])
    else:
        ask_for(rows.indices, rows.indptr[nodes[i + 2 * ahead]])
