"""Distances between points, dense or sparse, by one formula each; and neighbors by distances that are given."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm

from graphclust.checks import as_array, as_choice
from graphclust.errors import GraphValidationError
from graphclust.float_scaling import balance_rows, exponent_beyond, largest_size, times_power_of_two
from graphclust.graph.matrices import as_checked_csr

METRICS = ("euclidean", "cosine", "manhattan", "precomputed")
SYNONYMS = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}  # as scikit-learn has them
_ENTRIES = 1 << 24  # of the matrix that are sorted at a time


def as_metric(metric: str) -> str:
    """The metric's name, from that or a synonym; ParameterError for an unknown one."""
    as_choice(metric, "metric", (*METRICS, *SYNONYMS))
    return SYNONYMS.get(metric, metric)


def as_points(X: Any, name: str = "X", at_least: int = 2) -> Any:
    """Finite points (n, d), d >= 1, as a C-ordered float64 array, or as CSR with summed duplicates."""
    given_as_matrix = sparse.issparse(X)
    points = X if given_as_matrix else as_array(X, name)
    if points.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {points.dtype}, expected numbers")
    if points.ndim != 2 or points.shape[0] < at_least or points.shape[1] < 1:
        raise GraphValidationError(
            f"{name} has shape {points.shape}, expected (n, d) with n >= {at_least} points and d >= 1"
        )
    if given_as_matrix:
        points = as_checked_csr(points, "X").astype(np.float64, copy=False)
        if not points.has_canonical_format:
            points = points.copy()  # of a caller's matrix nothing is changed
            points.sum_duplicates()
        values = points.data
    else:
        points = values = np.ascontiguousarray(points, dtype=np.float64)
    if not np.isfinite(values).all():
        where = f"a stored entry of {name}"
        if not given_as_matrix:
            where = "{}[{}, {}]".format(name, *np.argwhere(~np.isfinite(points))[0])
        raise GraphValidationError(f"{where} is {values[~np.isfinite(values)][0]}, expected finite numbers")
    return points


def on_one_scale(points: Any, others: Any) -> tuple[Any, Any, int]:
    """Both over 2^e, and e, for which squares and their sums neither vanish nor overflow; e is mostly 0."""
    exponent = exponent_beyond(max(largest_size(points), largest_size(others)), 1e-100, 1e100)
    if exponent == 0:
        return points, others, 0
    scaled = times_power_of_two(points, -exponent)
    return scaled, scaled if others is points else times_power_of_two(others, -exponent), exponent


def of_unit_length(points: Any) -> Any:
    """The points' directions; points of length 0 together get one of their own, at right angles to all."""
    points, _ = balance_rows(points, 1e-100, 1e100)
    lengths = sparse_norm(points, axis=1) if sparse.issparse(points) else np.linalg.norm(points, axis=1)
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    units = sparse.csr_array(sparse.diags_array(scale) @ points) if sparse.issparse(points) else points * scale[:, None]
    without = (lengths == 0.0).astype(np.float64)[:, None]
    if not without.any():
        return units
    if sparse.issparse(units):
        return sparse.hstack([units, sparse.csr_array(without)], format="csr")
    return np.hstack([units, without])


def width(points: Any) -> int:
    """Numbers that stand for a point, on average in a sparse matrix."""
    return max(1, points.nnz // points.shape[0]) if sparse.issparse(points) else points.shape[1]


def distances_to(points: Any, queries: Any, candidates: np.ndarray, metric: str) -> np.ndarray:
    """Distances of queries (m, d) to their candidates among the points, by number (m, c).

    Of "euclidean" and "cosine" they are still unfinished.
    """
    if sparse.issparse(points):
        apart = points[candidates.ravel()] - queries[np.repeat(np.arange(len(candidates)), candidates.shape[1])]
        sums = abs(apart).sum(axis=1) if metric == "manhattan" else apart.multiply(apart).sum(axis=1)
        return np.asarray(sums).reshape(candidates.shape)
    difference = points[candidates]
    difference -= queries[:, None]
    if metric == "manhattan":
        return np.abs(difference, out=difference).sum(axis=2)
    return np.einsum("ijk,ijk->ij", difference, difference)


def finish_distances(values: np.ndarray, metric: str) -> np.ndarray:
    """The distances, from what `distances_to` gives; of unit vectors 1 - u.v = |u - v|^2 / 2."""
    if metric == "cosine":
        return values / 2.0
    return values if metric == "manhattan" else np.sqrt(values)


def nearest_by_distances(distances: Any, k: int, name: str, among_themselves: bool) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of each point by its row, ties to the lower index; in a sparse matrix what is missing is far.

    among_themselves : whether column i is the point of row i, which is none of its own neighbors.
    """
    if among_themselves and distances.shape[0] != distances.shape[1]:
        raise GraphValidationError(f"{name} has shape {distances.shape}, expected a square matrix of distances")
    values = distances.data if sparse.issparse(distances) else distances
    if values.size and values.min() < 0.0:
        raise GraphValidationError(f"{name} holds the distance {values.min()}, expected distances >= 0")
    if sparse.issparse(distances):
        return _of_sparse(distances, k, name, among_themselves)
    return _of_dense(distances, k, among_themselves)


def _of_dense(distances: np.ndarray, k: int, among_themselves: bool) -> tuple[np.ndarray, np.ndarray]:
    """Neighbors and distances from a full matrix, some rows at a time."""
    n = len(distances)
    neighbors, found = np.empty((n, k), np.int64), np.empty((n, k))
    rows = max(1, _ENTRIES // distances.shape[1])
    for first in range(0, n, rows):
        block = distances[first : first + rows].copy()
        if among_themselves:
            block[np.arange(len(block)), np.arange(first, first + len(block))] = np.inf
        order = np.argsort(block, axis=1, kind="stable")[:, :k]
        neighbors[first : first + rows] = order
        found[first : first + rows] = np.take_along_axis(block, order, axis=1)
    return neighbors, found


def _of_sparse(distances: sparse.csr_array, k: int, name: str, among_themselves: bool) -> tuple[np.ndarray, np.ndarray]:
    """Neighbors and distances from the entries of a sparse matrix, at least k a row."""
    n = distances.shape[0]
    rows = np.repeat(np.arange(n), np.diff(distances.indptr))
    others = rows != distances.indices if among_themselves else np.ones(len(rows), bool)
    rows, columns, values = rows[others], distances.indices[others], distances.data[others]
    counts = np.bincount(rows, minlength=n)
    if counts.min() < k:
        raise GraphValidationError(
            f"{name} holds {counts.min()} distances of point {counts.argmin()} to others, expected at least "
            f"n_neighbors={k}"
        )
    order = np.lexsort((columns, values, rows))
    starts = np.cumsum(counts) - counts
    chosen = order[starts[:, None] + np.arange(k)]
    return columns[chosen].astype(np.int64), values[chosen]
