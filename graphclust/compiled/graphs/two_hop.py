"""Two-hop coarsening: nodes that no region has room for are joined if they share their most linked region.

Leaves of a hub have no other neighbor: if regions are bounded, most leaves stay alone, and levels hardly shrink.

Source: LaSalle et al. 2015, "Improving graph partitioning for modern graphs and architectures".
"""

import numpy as np

from graphclust.compiled.runtime.loops import loop


@loop()
def join_singletons(rows, size, parts, labels, most):
    """Regions of one node that share their most linked region, and their part, become one that holds at most `most`.

    labels : of the regions, changed in place. Nodes without a link share one with each other. Returns how many regions
    there are, numbered by their first node.
    """
    n = len(labels)
    count, load, link = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
    open_at, weighted = np.full(n, -1, np.int32), len(rows.weights) > 0
    for u in range(n):
        count[labels[u]] += 1
        load[labels[u]] += size[u]
    open_for = np.full(n, -1, np.int32)  # of each part, for nodes without a link
    for u in range(n):
        if count[labels[u]] != 1:
            continue
        best, most_link = -1, 0.0
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = rows.indices[e]
            if v != u:
                c = labels[v]
                link[c] += rows.weights[e] if weighted else 1.0
                if link[c] > most_link or (link[c] == most_link and c < best):
                    best, most_link = c, link[c]
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            link[labels[rows.indices[e]]] = 0.0
        group = open_at[best] if best >= 0 else open_for[parts[u]]
        if group >= 0 and load[group] + size[u] <= most:
            count[labels[u]], load[labels[u]] = 0, 0.0
            labels[u] = group
            count[group] += 1
            load[group] += size[u]
        elif best >= 0:
            open_at[best] = labels[u]
        else:
            open_for[parts[u]] = labels[u]
    number, k = open_at, 0
    number[:] = -1
    for u in range(n):
        if number[labels[u]] < 0:
            number[labels[u]] = k
            k += 1
        labels[u] = number[labels[u]]
    return k
