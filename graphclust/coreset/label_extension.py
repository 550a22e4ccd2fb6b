"""Label every node by the nearest coreset centroid in kernel space.

Jourdan et al. (2025), Algorithm 3, line 6. The inner product of a node with a centroid is non-zero only if the
centroid's cluster has a neighbor of the node, and K is symmetric. So the rows of the coreset nodes yield all inner
products, in O(n + volume of the coreset).
"""

from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.checks import as_labels
from graphclust.compiled.graphs.coreset import Assignment, Centroids, label_nodes
from graphclust.compiled.graphs.csr import ChosenRows
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.coreset.by_blocks import KernelSource, kernel_among, kernel_towards_block
from graphclust.coreset.sampling import CoresetSample, check_coreset
from graphclust.errors import GraphValidationError
from graphclust.objective.kernel import NormalizedCutKernel

N_BLOCKS = 8  # more would keep more threads busy, but each block searches every coreset row for its first node
LEAST_ROWS = 1 << 15  # of a block: fewer are not worth another search of the coreset's rows


def coreset_graph(kernel: NormalizedCutKernel, coreset: CoresetSample) -> sparse.csr_array:
    """Adjacency w'_x K_xy w'_y between the coreset nodes, diagonal included; shape (m, m), exactly symmetric.

    With the whole graph as coreset, weights D and shift 0 this is the adjacency matrix with its (implied) loops.

    Source: Jourdan et al. 2025, Algorithm 3, line 4.

    Raises GraphValidationError for nodes or weights that are no coreset of this graph.

    >>> import numpy as np
    >>> kernel = NormalizedCutKernel.of(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]]), loops="given")
    >>> coreset_graph(kernel, CoresetSample(np.arange(3), kernel.degrees)).toarray()
    array([[1., 1., 0.],
           [1., 1., 1.],
           [0., 1., 1.]])
    """
    check_coreset(kernel, coreset)
    rows = kernel.graph.subgraph(coreset.nodes).to_scipy()
    scale = coreset.weights / kernel.degrees[coreset.nodes]
    row_of = np.repeat(np.arange(len(coreset.nodes)), np.diff(rows.indptr))
    # The product of two scales commutes: symmetric to the bit.
    rows.data = rows.data * (scale[row_of] * scale[rows.indices])
    diagonal = coreset.weights**2 * kernel.self_affinity[coreset.nodes]
    off_diagonal = rows - sparse.dia_array((rows.diagonal()[None, :], [0]), shape=rows.shape)
    with_diagonal = (off_diagonal + sparse.dia_array((diagonal[None, :], [0]), shape=rows.shape)).tocsr()
    with_diagonal.eliminate_zeros()
    with_diagonal.sort_indices()
    return with_diagonal


class ExtendedLabels(NamedTuple):
    """Labels of all nodes from those of the coreset.

    labels : int64, shape (n_nodes,); -1 for isolated nodes.
    undecided : bool, shape (n_nodes,); True for nodes without a coreset neighbor: they all got the cluster whose
        centroid has the least norm, which says nothing about them.
    entries_read : entries of the graph's rows that were read.
    """

    labels: np.ndarray
    undecided: np.ndarray
    entries_read: int


def extend_labels(
    kernel: NormalizedCutKernel,
    coreset: CoresetSample,
    coreset_labels: np.ndarray,
    *,
    induced: sparse.csr_array | None = None,
    met_only: bool = False,
) -> ExtendedLabels:
    """Give every node the cluster j of least |c_j|^2 - 2 <x, c_j>, c_j being the weighted coreset centroids.

    coreset : its nodes increasing, each once, with edges; weights >= 0: a node of weight 0 is no member of its cluster.
    coreset_labels : cluster of each coreset node, shape (m,); clusters may be empty, and are then never chosen.
    induced : `coreset_graph(kernel, coreset)`, shape (m, m), to save making it again.
    met_only : whether a node with coreset neighbors gets one of their clusters. Else half of a sparse graph's nodes may
        get a cluster of very small norm to which they have no link.

    Returns `ExtendedLabels`. Raises GraphValidationError for a coreset, labels or an `induced` that do not fit,
    TypeError for labels that are no whole numbers, and for another kernel or coreset.

    Source: Jourdan et al. 2025, Algorithm 3, line 6; the centroid of a cluster as in Dhillon, Guan & Kulis 2007.

    >>> import networkx as nx
    >>> kernel = NormalizedCutKernel.of(nx.barbell_graph(4, 0))
    >>> extend_labels(kernel, CoresetSample(np.array([1, 6]), np.array([13.0, 13.0])), np.array([0, 1])).labels
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    check_coreset(kernel, coreset)
    labels = as_labels(coreset_labels, len(coreset.nodes), "coreset_labels")
    if len(labels) == 0 or labels.min() < 0:
        raise GraphValidationError("coreset_labels must give every coreset node a cluster >= 0, of at least one node")
    induced = coreset_graph(kernel, coreset) if induced is None else induced
    if (shape := getattr(induced, "shape", None)) != (len(labels), len(labels)):
        raise GraphValidationError(f"induced has shape {shape}, expected one row a node: {len(labels)}")
    centroids = centroids_of(coreset.weights, labels, induced)
    blocks = row_blocks(kernel.n_nodes, max(LEAST_ROWS, ceil(kernel.n_nodes / N_BLOCKS)))
    centroids = centroids._replace(members=coreset.nodes[centroids.members])
    assigned = _empty_assignment(kernel.n_nodes, len(blocks) - 1)
    run_in_blocks(label_nodes, blocks, kernel.graph.rows, kernel.terms(slice(None)), centroids, met_only, assigned)
    isolated = kernel.degrees == 0
    assigned.labels[isolated] = -1
    assigned.undecided[isolated] = False
    return ExtendedLabels(assigned.labels, assigned.undecided, int(assigned.entries_read.sum()))


def _empty_assignment(n_nodes: int, n_blocks: int) -> Assignment:
    return Assignment(np.empty(n_nodes, np.int64), np.empty(n_nodes, np.bool_), np.zeros(n_blocks, np.int64))


def centroids_of(weights: np.ndarray, labels: np.ndarray, induced: sparse.csr_array) -> Centroids:
    """The centroids of the clusters of a coreset, from its weights, labels and graph; members : their places in it."""
    n_clusters = int(labels.max()) + 1
    cluster_weights = np.bincount(labels, weights=weights, minlength=n_clusters)
    row_labels = np.repeat(labels, np.diff(induced.indptr))
    inside = row_labels == labels[induced.indices]
    sq_norms = np.bincount(row_labels[inside], weights=induced.data[inside], minlength=n_clusters)
    # Without weight, or with so little that its square vanishes, a cluster has no centroid and is not chosen.
    squares = cluster_weights**2
    sq_norms = np.divide(sq_norms, squares, out=np.full(n_clusters, np.inf), where=squares > 0.0)
    members = np.argsort(labels, kind="stable")
    members = members[weights[members] > 0.0]
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels[members], minlength=n_clusters))])
    return Centroids(members, weights[members], starts, cluster_weights, sq_norms)


def centroids_of_rows(
    source: KernelSource, rows: ChosenRows, weights: np.ndarray, places: np.ndarray, labels: np.ndarray
) -> Centroids:
    """`centroids_of` from the rows of the coreset nodes alone; labels : of the coreset nodes in these places."""
    induced = coreset_graph(kernel_among(rows, weights), CoresetSample(places, weights[places]))
    centroids = centroids_of(weights[places], labels, induced)
    return centroids._replace(members=places[centroids.members])


def labels_in_block(
    source: KernelSource, first: int, last: int, rows: ChosenRows, centroids: Centroids
) -> npt.NDArray[np.int32]:
    """`extend_labels` by clusters met only, for one block of nodes; -1 for isolated and undecided nodes."""
    kernel, numbers = kernel_towards_block(source, first, last, rows)
    n = last - first
    assigned = _empty_assignment(n, 1)
    centroids = centroids._replace(members=numbers[centroids.members])
    label_nodes(0, n, 0, kernel.graph.rows, kernel.terms(slice(None)), centroids, True, assigned)
    assigned.labels[assigned.undecided | (kernel.degrees[:n] == 0.0)] = -1
    return assigned.labels.astype(np.int32)
