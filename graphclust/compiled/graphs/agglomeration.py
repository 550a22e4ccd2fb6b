"""Agglomeration: nodes are merged pair by pair, always the pair whose union gains most.

Source: Clauset, Newman & Moore 2004, "Finding community structure in very large networks".
"""

import numpy as np

from graphclust.compiled.graphs.levels import Partition, limits_of, write
from graphclust.compiled.graphs.merging import CLUSTER, LIST, Chains, Merger, masses_of, merge_pairs, number_roots
from graphclust.compiled.graphs.objective import ClusterSums, several_masses, size_of_mass
from graphclust.compiled.runtime.loops import loop

NO_END = 1 << 62  # entries that merging may read before it comes back


@loop()
def chains_of(rows):
    links = np.empty(len(rows.indices))
    for e in range(len(links)):
        links[e] = rows.weights[e] if len(rows.weights) else 1.0
    return Chains(rows.indptr, rows.indices.copy(), links, np.empty(len(rows.indptr) - 1, LIST))


@loop()
def merger_of(terms, task, gains, pairs):
    """Each node a cluster by itself; gains, pairs : as `Merger` takes them."""
    n = len(terms.mass)
    clusters = np.zeros(n, CLUSTER)
    for u in range(n):
        clusters[u]["inside"], clusters[u]["mass"] = terms.loops[u], size_of_mass(terms.mass, u)
    heap = np.empty(2 * n + 16), np.empty(2 * n + 16, np.int32)
    limits = limits_of(terms.size, np.arange(n, dtype=np.int32), n, task.least, task.most)
    masses = several_masses(terms.mass)
    return Merger(
        clusters, heap[0], heap[1], np.empty(n, np.int32), np.zeros(4, np.int64), gains, pairs, limits, masses
    )


@loop()
def partition_of(merger):
    """The clusters as a partition, numbered by their first node."""
    clusters, n = merger.clusters, len(merger.clusters)
    labels, roots, number = np.empty(n, np.int32), np.empty(n, np.int32), np.full(n, -1, np.int32)
    k = number_roots(clusters, number, labels, roots)
    sums = ClusterSums(np.empty(k), masses_of(merger.masses, clusters, roots, k), np.zeros(k, np.int64))
    for c in range(k):
        sums.inside[c] = clusters[roots[c]]["inside"]
    for u in range(n):
        sums.size[labels[u]] += 1
    return Partition(labels, sums)


@loop()
def agglomerate(level, task, gains, pairs):
    """The nodes of a level merged into k clusters, or until no union gains; more than k where no two fit into one.

    gains, pairs : of every union, as `Merger` takes them; empty where nobody asks for them.
    """
    merger, chains = merger_of(level.terms, task, gains, pairs), chains_of(level.rows)
    merge_pairs(np.int64(NO_END), task.k, task.objective, chains, merger)
    return partition_of(merger)


@loop()
def agglomerate_into(level, task, gains, pairs, room):
    """`agglomerate`, into arrays that are there: returns the number of clusters."""
    return write(agglomerate(level, task, gains, pairs), room)


@loop()
def labels_of_unions(pairs, k):
    """The cluster of each node once unions have left k, each named by one of its nodes; `pairs` as of a merger."""
    n = len(pairs)
    labels = np.arange(n, dtype=np.int32)
    for t in range(k, n):  # the last of these unions first: what it enlarges ends in none of them
        labels[pairs[t, 0]] = labels[pairs[t, 1]]
    return labels
