"""The two-step coreset graph: coreset nodes are linked by the neighbors they share.

In a sparse graph two nodes of one cluster rarely share an edge but share many neighbors. So the coreset graph of
K = D^-1 A D^-1 falls apart, while the graph of two steps along edges, A_H = B B^T with B = W' D_C^-1 A[C, :] D^-1/2,
does not. Two steps fold a bipartite structure: they link only nodes of one side. So A_H must be partitioned into more
than k regions, which the links of the whole graph then merge, as in `coreset_sc`. The one-step links of the lazy walk
are no remedy: the few edges of a sample weigh as much as all its paths.
"""

from math import ceil

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs import coreset as kernels
from graphclust.compiled.graphs.csr import ChosenRows
from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.runtime.blocks import entry_blocks, rows_in_blocks
from graphclust.coreset.by_blocks import KernelSource, copy_row_subset
from graphclust.coreset.sampling import CoresetSample, check_coreset
from graphclust.graph.container import Graph
from graphclust.objective.kernel import NormalizedCutKernel

MOST_NEIGHBORS = 1.5  # times the mean; on 5M nodes with hubs, all neighbors make six times the links, for nothing
MOST_VISITORS = 16  # on the same graph 32 make a quarter more links and no better clusters


def two_step_coreset_graph(kernel: NormalizedCutKernel, coreset: CoresetSample) -> Graph:
    """Links w'_x (D^-1 A D^-1 A D^-1)_xy w'_y between different coreset nodes, from their rows alone.

    Returns a weighted Graph of m nodes, symmetric up to round-off. It has no diagonal: in the square of a sampled
    matrix it outweighs the rest by one over the sampling rate. Hubs would make most of the links without more
    information. So a coreset node is linked through at most one and a half times the mean number of neighbors, and a
    node with more than 16 coreset neighbors links them in runs of 16; the weights are scaled up. Work and memory stay
    linear in the size of the coreset.

    >>> import networkx as nx
    >>> kernel = NormalizedCutKernel.of(nx.star_graph(3))
    >>> two_step_coreset_graph(kernel, CoresetSample(np.array([1, 2]), np.array([2.0, 2.0]))).to_scipy().toarray()
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    check_coreset(kernel, coreset)
    return link_coreset(kernel, coreset).with_sorted_rows()


def link_coreset(kernel: NormalizedCutKernel, coreset: CoresetSample) -> Graph:
    """`two_step_coreset_graph` with the neighbors in the order met."""
    rows = copy_row_subset(kernel.graph.rows, coreset.nodes, most_neighbors(kernel.graph))
    lengths = kernel.graph.indptr[coreset.nodes + 1] - kernel.graph.indptr[coreset.nodes]
    return _link(rows, kernel.degrees, coreset.weights / kernel.degrees[coreset.nodes], lengths)


def link_rows(source: KernelSource, rows: ChosenRows, weights: np.ndarray) -> Graph:
    """`link_coreset` from the rows of the coreset nodes; of other nodes, only the degrees of neighbors are read."""
    whole = Rows(rows.indptr, rows.indices, rows.weights)
    some = copy_row_subset(whole, np.arange(len(rows.nodes)), most_neighbors(source.graph))
    met, columns = np.unique(some.indices, return_inverse=True)
    compact = Rows(some.indptr, columns.astype(np.int32), some.weights)
    return _link(compact, source.terms(met).degrees, weights / rows.degrees, np.diff(rows.indptr))


def most_neighbors(graph: Graph) -> int:
    """The most neighbors through which a coreset node is linked."""
    return ceil(MOST_NEIGHBORS * graph.n_entries / max(int(np.count_nonzero(~graph.isolated)), 1))


def _link(rows: Rows, degrees: np.ndarray, scale: np.ndarray, lengths: np.ndarray) -> Graph:
    """Links between the nodes of some rows, which may be shortened; `lengths` are those of the whole rows.

    degrees : of all columns, in the numbering of the rows' entries.
    """
    m, unweighted = len(scale), len(rows.weights) == 0
    scale = scale * (lengths / np.maximum(np.diff(rows.indptr), 1))
    starts = np.zeros(len(degrees) + 1, np.int64)
    kernels.count_visits(rows.indices, starts)
    np.cumsum(starts, out=starts)
    visitors = np.empty(starts[-1], np.int32)
    visit_weights = np.empty(0 if unweighted else starts[-1])
    kernels.list_visits(rows, starts[:-1].copy(), visitors, visit_weights)

    blocks = entry_blocks(rows.indptr, 1 << 18)
    most_entries = np.add.reduceat(np.minimum(MOST_VISITORS * np.diff(rows.indptr), m), blocks[:-1])
    visits = kernels.Visits(starts, visitors, visit_weights, degrees)
    indptr, indices, weights = rows_in_blocks(
        kernels.shared_neighbors, blocks, most_entries, MOST_VISITORS, scale, rows, visits
    )
    link_sums, linked = np.zeros(m), np.diff(indptr) > 0
    if linked.any():
        link_sums[linked] = np.add.reduceat(weights, indptr[:-1][linked])
    return Graph(indptr, indices, weights, link_sums, np.zeros(m))


def two_step_factor(kernel: NormalizedCutKernel, coreset: CoresetSample) -> sparse.csr_array:
    """B = W' D_C^-1 A[C, :] D^-1/2, shape (m, n_nodes): B B^T is the two-step graph, diagonal included, never formed.

    B B^T = W' D_C^-1 A[C, :] D^-1 A[:, C] D_C^-1 W' counts paths of two edges: D includes the implied loops, A does
    not. The square of the kernel, with A + loops instead of A, has three more terms, of paths that stay at one end;
    with them the rows of a coreset of all nodes would sum to D, without them they sum to less. See the module.

    Its entries are those of the coreset's rows, however large a hub is. See `block_power_embedding`.

    >>> import networkx as nx
    >>> kernel = NormalizedCutKernel.of(nx.star_graph(3))
    >>> B = two_step_factor(kernel, CoresetSample(np.array([1, 2]), np.array([2.0, 2.0])))
    >>> (B @ B.T).toarray()
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    check_coreset(kernel, coreset)
    graph, nodes = kernel.graph, coreset.nodes
    rows = copy_row_subset(graph.rows, nodes)
    scale = np.repeat(coreset.weights / kernel.degrees[nodes], np.diff(rows.indptr))
    data = (scale if graph.weights is None else rows.weights * scale) / np.sqrt(kernel.degrees[rows.indices])
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=(len(nodes), graph.n_nodes))
