"""The graphs that the spectral estimators cluster where all points have an affinity: a kernel's, or given ones.

They have no self-loops, as in Ng, Jordan & Weiss 2001: how like itself a point is says nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_symmetric

from graphclust.checks import as_number
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.graph.gate import as_graph

SYMMETRIC = 1e-8  # relative to the largest entry


def graph_by_distance(X: Any, gamma: Any) -> Graph:
    """exp(-gamma |x - y|^2) between all points."""
    gamma = as_number(gamma, "gamma", above=0.0)
    if sparse.issparse(X):
        return graph_by_kernel(X, "rbf", {"gamma": gamma})
    return as_graph(squareform(np.exp(-gamma * pdist(X, "sqeuclidean"))))


def graph_by_kernel(X: Any, kernel: Any, options: dict[str, Any]) -> Graph:
    """A kernel of scikit-learn's, or a function of two points, between all points."""
    matrix = pairwise_kernels(X, metric=kernel, filter_params=True, **options)
    return graph_of_affinities(0.5 * (matrix + matrix.T))  # symmetric but for round-off


def graph_of_affinities(X: Any) -> Graph:
    """A matrix of affinities, copied: what is fitted must not change with the caller's."""
    matrix = _without_diagonal(X)
    try:
        graph = as_graph(matrix)
    except GraphValidationError:  # of what is not symmetric, scikit-learn takes the mean
        return as_graph(_symmetric(matrix))
    if matrix is not X:
        return graph
    weights = None if graph.weights is None else graph.weights.copy()
    return Graph(
        graph.indptr.copy(), graph.indices.copy(), weights, graph.degrees, graph.loops, remarks=graph.remarks
    )  # fmt: skip


def _symmetric(X: Any) -> Any:
    """The mean of the matrix and its mirror image, with a warning where that is more than round-off."""
    largest = abs(X).max()
    X = check_symmetric(X, tol=SYMMETRIC * largest if largest > 0.0 else SYMMETRIC, raise_warning=True)
    return 0.5 * (X + X.T)


def _without_diagonal(matrix: Any) -> Any:
    """The same matrix where nothing is on its diagonal and it is sparse, a copy otherwise."""
    if not sparse.issparse(matrix):
        matrix = matrix.copy()
        np.fill_diagonal(matrix, 0.0)
        return matrix
    if not matrix.diagonal().any():
        return matrix
    entries = matrix.tocoo()
    kept = entries.row != entries.col
    return sparse.coo_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=matrix.shape).tocsr()
