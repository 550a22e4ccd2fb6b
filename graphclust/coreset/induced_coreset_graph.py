"""The coreset graph: A_H = W' K(V', V') W', the graph whose spectral clustering clusters the coreset.

Jourdan et al. (2025), Algorithm 3, line 4. Only the rows of coreset nodes are read.
"""

import numpy as np
from scipy import sparse

from graphclust.coreset.sampling import CoresetSample, check_coreset
from graphclust.objective.kernel import NormalizedCutKernel


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
    rows.data = rows.data * (
        scale[row_of] * scale[rows.indices]
    )  # the product of two scales commutes: symmetric to the bit
    diagonal = coreset.weights**2 * kernel.self_affinity[coreset.nodes]
    off_diagonal = rows - sparse.dia_array((rows.diagonal()[None, :], [0]), shape=rows.shape)
    with_diagonal = (off_diagonal + sparse.dia_array((diagonal[None, :], [0]), shape=rows.shape)).tocsr()
    with_diagonal.eliminate_zeros()
    with_diagonal.sort_indices()
    return with_diagonal
