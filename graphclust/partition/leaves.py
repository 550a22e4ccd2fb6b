"""Leaves, nodes of one edge, folded into the node that they hang on: of many graphs they are a quarter to a half.

A normalised cut only gets smaller when a leaf, with an edge of weight w, goes to the cluster of its neighbor: that has
w less cut then, and w more volume; where it was, of cut c and volume v, (c - w) / (v - w) <= c / v as c <= v; and if it
was alone, no cluster is worse. So a node gains by a move without its leaves only where it does with them. By modularity
it may gain more without them, where a cluster is too large for the resolution. Where nodes count, not degrees, a leaf
can be as good a cluster as any.
"""

from __future__ import annotations

import numpy as np

from graphclust.graph.container import Graph
from graphclust.objective.objective import Weighed, node_terms
from graphclust.partition.reduction import Reduction

MANY = 0.25  # of the nodes: to copy the rest of the graph takes longer than fewer leaves do


def without_leaves(on: Weighed, least: int) -> Reduction | None:
    """The graph between the nodes that are no leaves, each with the terms of its leaves too; None if not worth it.

    A leaf whose neighbor is one as well is none: the two are a component. least : nodes that have to be left.

    Neighbors come in the same order. What the rows lack is in the terms, and degrees are those of the whole graph: each
    partition has the value that it has there.
    """
    graph = on.graph
    lengths = np.diff(graph.indptr)
    leaves = np.flatnonzero(lengths == 1)
    edges = graph.indptr[leaves]
    hangs = lengths[graph.indices[edges]] > 1
    leaves, edges = leaves[hangs], edges[hangs]
    if len(leaves) < MANY * graph.n_nodes or graph.n_nodes - len(leaves) < least:
        return None
    is_left = np.ones(graph.n_nodes, np.bool_)
    is_left[leaves] = False
    region = np.cumsum(is_left, dtype=np.int32) - np.int32(1)
    region[leaves] = region[graph.indices[edges]]
    left = np.flatnonzero(is_left)

    def summed(values: np.ndarray) -> np.ndarray:
        sums: np.ndarray = np.bincount(region, weights=values, minlength=len(left))
        return sums

    links = np.ones(len(edges)) if graph.weights is None else graph.weights[edges]
    loops = summed(on.terms.loops) + 2.0 * np.bincount(region[leaves], weights=links, minlength=len(left))
    degrees, between = summed(graph.degrees), graph.subgraph(left)
    small = Graph(between.indptr, between.indices, between.weights, degrees, between.loops)
    return Reduction(on, region, Weighed(small, node_terms(loops, summed(on.terms.mass), degrees)))
