"""Weight between clusters, summed over the rows of a graph in the order of its file."""

import numpy as np

from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors


@loop()
def add_links(first, last, lane, part, n_parts, rows, cluster, links):
    """Add the entries of one part of a lane's rows to links (n_lanes, k, k); nodes of cluster -1 are left out."""
    weighted, many = len(rows.weights) > 0, len(cluster) > CACHED
    start = first + (last - first) * part // n_parts
    stop = first + (last - first) * (part + 1) // n_parts
    for u in range(start, stop):
        if many and u + AHEAD < stop:
            ask_for_neighbors(cluster, rows, u + AHEAD)
        own = cluster[u]
        if own < 0:
            continue
        row_links = links[lane, own]
        stays = 0.0  # apart from the others: often most links do
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            other = cluster[np.uint32(rows.indices[e])]
            weight = rows.weights[e] if weighted else 1.0
            if other == own:
                stays += weight
            else:
                row_links[other] += weight
        row_links[own] += stays


@loop()
def list_links(starts, length, rows, cluster, k, keys, weights):
    """Of the runs of `length` rows that begin at `starts`: own cluster k + the other's, and the weight, each entry.

    With empty `keys` they are counted only.
    """
    weighted = len(rows.weights) > 0
    n = len(cluster)
    written = 0
    for start in starts:
        for u in range(start, min(start + length, n)):
            if cluster[u] < 0:
                continue
            for e in range(rows.indptr[u], rows.indptr[u + 1]):
                if len(keys) > 0:
                    keys[written] = np.int64(cluster[u]) * k + cluster[np.uint32(rows.indices[e])]
                    if weighted:
                        weights[written] = rows.weights[e]
                written += 1
    return written
