"""How a node chooses whose row is so long that one thread would keep all others waiting: see `choosing`.

Threads share first the entries of the row, to look up the clusters of the neighbors, and then the clusters. The links
to a cluster are added by one thread in the order of the row, so choices are those of one thread, bit by bit.
"""

import numpy as np

from graphclust.compiled.graphs.choosing import choose, judge
from graphclust.compiled.graphs.cluster_links import LEAST_LINK, sum_of_links
from graphclust.compiled.runtime.loops import UNCOUNTED, loop


@loop(**UNCOUNTED)
def look_up_clusters(first, last, block, u, rows, labels, clusters):
    """The clusters at the ends of entries first..last-1 of the row of u, -1 for a loop."""
    for e in range(first, last):
        v = np.uint32(rows.indices[rows.indptr[u] + e])
        clusters[e] = -1 if v == u else labels[v]


@loop(**UNCOUNTED)
def look_at_some(entries, u, level, objective, now, clusters, scratch):
    """What a move of u would change, to one of the clusters at the ends of some entries of its row."""
    link, met = scratch
    own, start, weighted = now.labels[u], level.rows.indptr[u], len(level.rows.weights) > 0
    met[0], n_met = own, 1
    link[own] = LEAST_LINK
    for e in entries:
        c = clusters[e]
        before = link[c]
        met[n_met] = c
        n_met += before == 0.0
        link[c] = sum_of_links(before, level.rows.weights[start + e] if weighted else 1.0, objective.layers)
    return judge(u, n_met, level, objective, now, scratch)


@loop(**UNCOUNTED)
def choose_of_looks(i, look, rows, labels, batch, choices):
    """`choose`, called from Python."""
    choose(i, look, rows, labels, batch, choices)
