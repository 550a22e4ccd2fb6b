"""Nearest coreset centroid in kernel space for every node, from the rows of the coreset nodes alone."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.row_subset import first_at_least
from graphclust.compiled.runtime.loops import loop

PRODUCT, BEST, LABEL, DEGREE = range(4)
NOT_MET = -1.0  # no product: those are >= 0, and may be rounded to 0


class Centroids(NamedTuple):
    """The centroids of the clusters of a coreset in kernel space.

    members, weights : the coreset nodes of positive weight and their weights, sorted by cluster; cluster j from
        starts[j]. cluster_weights, sq_norms : of each cluster, and of its centroid; shape (n_clusters,).
    """

    members: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    cluster_weights: np.ndarray
    sq_norms: np.ndarray


class Assignment(NamedTuple):
    """Labels of nodes, whether no row of the coreset said anything about them, and the entries read by each block."""

    labels: np.ndarray
    undecided: np.ndarray
    entries_read: np.ndarray


@loop()
def label_nodes(first, last, block, rows, terms, centroids, met_only, assignment):
    """Labels of nodes first..last-1: argmin over clusters j of |c_j|^2 - 2 <x, c_j>, ties to the lower j.

    met_only : whether only clusters that have a neighbor of x are candidates, where there are any.

    All weights are positive, but for an empty cluster's, which is no candidate. <x, c_j> is 0 for clusters without a
    neighbor of x, so that beside the clusters met in the rows only the one of least |c_j|^2 can win; a node that no
    row meets is undecided and goes there.
    """
    indptr, indices, weights = rows
    degrees, self_affinity, _ = terms
    members, member_weights, starts, cluster_weights, sq_norms = centroids
    labels, undecided, entries_read = assignment
    n_clusters = len(cluster_weights)
    default = -1
    for j in range(n_clusters):
        if cluster_weights[j] > 0.0 and (default < 0 or sq_norms[j] < sq_norms[default]):
            default = j
    nodes = np.empty((last - first, 4))  # what is looked up often for each node, in half a memory line
    met = np.empty(last - first + 1, np.int64)  # with room for one that is not counted
    for x in range(first, last):
        nodes[x - first, PRODUCT] = NOT_MET
        nodes[x - first, BEST] = np.inf if met_only else sq_norms[default]
        nodes[x - first, LABEL] = default
        nodes[x - first, DEGREE] = degrees[x]
        undecided[x] = True
    for j in range(n_clusters):
        n_met = 0
        for i in range(starts[j], starts[j + 1]):
            y = members[i]
            scale = member_weights[i] / degrees[y]
            if first <= y < last and self_affinity[y] > 0.0:
                # Times d_y, because all products are divided by the degree of x below.
                n_met = _add(nodes, met, n_met, y - first, member_weights[i] * self_affinity[y] * degrees[y])
            start = first_at_least(indices, indptr[y], indptr[y + 1], first)
            for e in range(start, indptr[y + 1]):
                x = indices[e]
                if x >= last:
                    break
                entries_read[block] += 1
                if x != y:
                    n_met = _add(nodes, met, n_met, x - first, scale * (weights[e] if len(weights) > 0 else 1.0))
        for i in range(n_met):
            x = met[i]
            best, label = nodes[x, BEST], nodes[x, LABEL]
            value = sq_norms[j] - 2.0 * nodes[x, PRODUCT] / (nodes[x, DEGREE] * cluster_weights[j])
            better = (value < best) | ((value == best) & (j < label))
            nodes[x, PRODUCT] = NOT_MET
            nodes[x, BEST] = value if better else best
            nodes[x, LABEL] = j if better else label
            undecided[first + x] = False
    for x in range(first, last):
        labels[x] = np.int64(nodes[x - first, LABEL])


@loop()
def _add(nodes, met, n_met, x, product):
    """Add to the product of x with a cluster; returns how many nodes that met. No branch: it is unpredictable."""
    before = nodes[x, PRODUCT]
    met[n_met] = x
    nodes[x, PRODUCT] = product if before == NOT_MET else before + product
    return n_met + (before == NOT_MET)
