"""The graph that the spectral estimators cluster: of points by their neighbours or a kernel, or a given matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.validation import check_symmetric, validate_data

from graphclust.checks import as_choice, as_number, as_whole_number
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.graph.gate import as_graph
from graphclust.neighbors.graphs import knn_graph

AFFINITIES = ("nearest_neighbors", "rbf", "precomputed")
SYMMETRIC = 1e-8  # relative to the largest entry


def affinity_graph(estimator: Any, X: Any) -> Graph:
    """The graph of X by the estimator's affinity, n_neighbors and gamma; without self-loops, as in Ng et al. 2001."""
    affinity = as_choice(estimator.affinity, "affinity", AFFINITIES)
    formats = ["csr", "csc", "coo"] if affinity != "rbf" else False
    X = validate_data(estimator, X, accept_sparse=formats, dtype=np.float64, ensure_min_samples=2)
    if affinity == "nearest_neighbors":
        n_neighbors = as_whole_number(estimator.n_neighbors, "n_neighbors", at_least=1)
        return knn_graph(X, min(n_neighbors, X.shape[0] - 1))
    if affinity == "rbf":
        gamma = as_number(estimator.gamma, "gamma", above=0.0)
        return as_graph(squareform(np.exp(-gamma * pdist(X, "sqeuclidean"))))
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"X should be a square affinity matrix, got shape {X.shape}")
    matrix = _without_diagonal(X)
    try:
        return as_graph(matrix)
    except GraphValidationError:  # of what is not symmetric, scikit-learn takes the mean
        return as_graph(_symmetric(matrix))


def _symmetric(X: Any) -> Any:
    """The mean of the matrix and its mirror image, with a warning where that is more than round-off."""
    largest = abs(X).max()
    X = check_symmetric(X, tol=SYMMETRIC * largest if largest > 0.0 else SYMMETRIC, raise_warning=True)
    return 0.5 * (X + X.T)


def _without_diagonal(matrix: Any) -> Any:
    """A copy: what is fitted must not change with the caller's matrix. How like itself a point is says nothing."""
    if not sparse.issparse(matrix):
        matrix = matrix.copy()
        np.fill_diagonal(matrix, 0.0)
        return matrix
    if not matrix.diagonal().any():
        return matrix.copy()
    entries = matrix.tocoo()
    kept = entries.row != entries.col
    return sparse.coo_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=matrix.shape).tocsr()
