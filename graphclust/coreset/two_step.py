"""The two-step coreset graph: coreset nodes are linked by the neighbours they share.

In a sparse graph two nodes of one cluster rarely share an edge but share many neighbours, so the coreset graph of
K = D^-1 A D^-1 falls apart where that of its square does not. Two steps alone would fold a bipartite structure onto
itself, one side of it on the other; the lazy walk ((N + I) / 2)^2 = (N^2 + 2 N + I) / 4 keeps it apart.
"""

import numpy as np

from graphclust.compiled import two_step as loops
from graphclust.compiled.blocks import entry_blocks, run_in_blocks
from graphclust.coreset.sampling import Coreset
from graphclust.graph import Graph
from graphclust.graph_kernel import NormalizedCutKernel

__all__ = ["two_step_coreset_graph"]

MOST_VISITORS = 32


def two_step_coreset_graph(kernel: NormalizedCutKernel, coreset: Coreset) -> Graph:
    """Links w'_x (2 K + D^-1 A D^-1 A D^-1)_xy w'_y between different coreset nodes, from their rows alone.

    Returns a weighted Graph of m nodes, symmetric up to round-off, neighbors in the order met. It has no diagonal: in
    the square of a sampled matrix it outweighs the rest by one over the sampling rate. A node with more than 32 coreset
    neighbors (a hub) links them in runs of 32, with the weights scaled up, so that work and memory stay linear in the
    entries of the coreset's rows.

    >>> import networkx as nx
    >>> kernel = NormalizedCutKernel.of(nx.star_graph(3))
    >>> two_step_coreset_graph(kernel, Coreset(np.array([1, 2]), np.array([2.0, 2.0]))).to_scipy().toarray()
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    graph, nodes = kernel.graph, coreset.nodes
    m = len(nodes)
    rows = (graph.indptr, graph.indices)
    starts = np.zeros(graph.n_nodes + 1, np.int64)
    loops.count_visits(nodes, *rows, starts)
    np.cumsum(starts, out=starts)
    visitors = np.empty(starts[-1], np.int32)
    visit_weights = np.empty(0 if graph.weights is None else starts[-1])
    loops.list_visits(nodes, *rows, graph.weights_or_empty, starts[:-1].copy(), visitors, visit_weights)
    scale = coreset.weights / kernel.degrees[nodes]

    blocks = entry_blocks(np.concatenate([[0], np.cumsum(np.diff(graph.indptr)[nodes])]), 1 << 18)
    fixed = (
        MOST_VISITORS, nodes, *rows, graph.weights_or_empty, starts, visitors, visit_weights, kernel.degrees, scale
    )  # fmt: skip
    indptr = np.zeros(m + 1, np.int64)
    run_in_blocks(loops.shared_neighbours, blocks, *fixed, True, indptr, np.empty(0, np.int32), np.empty(0))
    np.cumsum(indptr, out=indptr)
    indices, weights = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    run_in_blocks(loops.shared_neighbours, blocks, *fixed, False, indptr, indices, weights)
    degrees = np.add.reduceat(np.append(weights, 0.0), indptr[:-1]) * (np.diff(indptr) > 0)
    return Graph(indptr, indices, weights, degrees, np.zeros(m))
