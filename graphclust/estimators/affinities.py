"""The graphs that the spectral estimators cluster where all points have an affinity: a kernel's, or given ones.

They have no self-loops, as in Ng, Jordan & Weiss 2001: how like itself a point is says nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import additive_chi2_kernel, euclidean_distances, manhattan_distances, pairwise_kernels
from sklearn.utils.validation import check_symmetric

from graphclust.checks import as_number
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError, amount, warn_caller
from graphclust.graph.container import Graph
from graphclust.graph.matrices import ROUND_OFF
from graphclust.io.graph_input import as_graph

SYMMETRIC = 1e-8  # relative to the largest entry
LEAST = 1e-140  # of a degree, see `check_degrees`
# Kernels exp(gamma e): e of all pairs of points, and what -e is called.
EXPONENTS: dict[str, Callable[[Any], np.ndarray]] = {
    "rbf": lambda X: -euclidean_distances(X, squared=True),
    "laplacian": lambda X: -manhattan_distances(X),
    "chi2": additive_chi2_kernel,
}
DISTANCES = {"rbf": "squared distance", "laplacian": "Manhattan distance", "chi2": "chi-squared distance"}


def graph_by_distance(X: Any, gamma: Any) -> Graph:
    """exp(-gamma |x - y|^2) between all points."""
    gamma = as_number(gamma, "gamma", above=0.0)
    if sparse.issparse(X):
        return graph_by_kernel(X, "rbf", {"gamma": gamma})
    sq_distances = pdist(X, "sqeuclidean")
    return _graph_by_exponents(squareform(-gamma * sq_distances), "rbf", gamma)


def graph_by_kernel(X: Any, kernel: Any, options: dict[str, Any]) -> Graph:
    """A kernel of scikit-learn's, or a function of two points, between all points."""
    if not callable(kernel) and kernel in EXPONENTS:
        gamma = as_number(options["gamma"], "gamma", above=0.0)
        exponents = gamma * EXPONENTS[kernel](X)
        return _graph_by_exponents(0.5 * (exponents + exponents.T), kernel, gamma)
    matrix = pairwise_kernels(X, metric=kernel, filter_params=True, **options)
    try:
        return graph_of_affinities(0.5 * (matrix + matrix.T))  # symmetric but for round-off
    except GraphValidationError as problem:
        raise GraphValidationError(
            f"affinity={kernel!r} makes no graph of these points, {problem}; here another affinity, other parameters "
            "of it or points of another scale can help"
        ) from None


def _graph_by_exponents(exponents: np.ndarray, kernel: str, gamma: float) -> Graph:
    """The exponential function of a matrix (n, n), which is overwritten; what is all but 0 is no edge."""
    n = len(exponents)
    suggestion = gamma / mean if (mean := -float(exponents.mean())) > 0.0 else gamma
    affinities = np.exp(exponents, out=exponents)
    affinities[affinities < LEAST] = 0.0
    np.fill_diagonal(affinities, 0.0)
    n_alone = n - int(np.count_nonzero(affinities.any(axis=1)))
    better = f"the inverse of the mean {DISTANCES[kernel]} between two points is gamma={suggestion:.3g}; or "
    far_off = (
        f"gamma={gamma:g} is far too large for these points: {amount(n_alone, 'has', 'have')} no affinity above "
        f"{LEAST:g} to any other of the {n:,}; {better if suggestion > 0.0 else ''}scale the points, as StandardScaler "
        "does"
    )
    if n_alone == n:
        raise ParameterError(far_off)
    return _graph_remarked(affinities, () if n_alone == 0 else (far_off,))


def graph_of_affinities(X: Any) -> Graph:
    """A matrix of affinities, copied: what is fitted must not change with the caller's."""
    matrix = _without_diagonal(X)
    try:
        graph = _graph_remarked(matrix)
    except GraphValidationError:  # of what is not symmetric, scikit-learn takes the mean
        return as_graph(_symmetric(matrix))
    if matrix is not X:
        return graph
    weights = None if graph.weights is None else graph.weights.copy()
    return Graph(
        graph.indptr.copy(), graph.indices.copy(), weights, graph.degrees, graph.loops, remarks=graph.remarks
    )  # fmt: skip


def _graph_remarked(matrix: Any, more: tuple[str, ...] = ()) -> Graph:
    """The graph, with more remarks, in one warning with its own; that of round-off is a remark alone, as no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        graph = as_graph(matrix)
    said = [remark for remark in graph.remarks if ROUND_OFF not in remark] + [*more]
    if said:
        warn_caller("; ".join(said), GraphWarning)
    return replace(graph, remarks=(*graph.remarks, *more)) if more else graph


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
