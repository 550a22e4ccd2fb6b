"""Distances between points, dense or sparse, by one formula each: what a library proposed is measured anew here."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm

from graphclust.checks import as_choice
from graphclust.errors import GraphValidationError
from graphclust.graph.matrices import checked_csr

METRICS = ("euclidean", "cosine", "manhattan", "precomputed")
SYNONYMS = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}  # as scikit-learn has them


def as_metric(metric: str) -> str:
    """The metric's own name, for that or another one it goes by; ParameterError for what is no metric."""
    as_choice(metric, "metric", (*METRICS, *SYNONYMS))
    return SYNONYMS.get(metric, metric)


def as_points(X: Any) -> Any:
    """Finite points (n, d), n >= 2, d >= 1, as a C-ordered float64 array, or as CSR with summed duplicates."""
    given_as_matrix = sparse.issparse(X)
    points = X if given_as_matrix else np.asarray(X)
    if points.dtype.kind not in "biuf":
        raise TypeError(f"X has dtype {points.dtype}, expected numbers")
    if points.ndim != 2 or points.shape[0] < 2 or points.shape[1] < 1:
        raise GraphValidationError(f"X has shape {points.shape}, expected (n, d) with n >= 2 points and d >= 1")
    if given_as_matrix:
        points = checked_csr(points, "X").astype(np.float64, copy=False)
        if not points.has_canonical_format:
            points = points.copy()  # of a caller's matrix nothing is changed
            points.sum_duplicates()
        values = points.data
    else:
        points = values = np.ascontiguousarray(points, dtype=np.float64)
    if not np.isfinite(values).all():
        where = "a stored entry of X" if given_as_matrix else "X[{}, {}]".format(*np.argwhere(~np.isfinite(points))[0])
        raise GraphValidationError(f"{where} is {values[~np.isfinite(values)][0]}, expected finite numbers")
    return points


def prepared(points: Any, metric: str) -> Any:
    """The points as the distances take them: for "cosine" of unit length.

    A point of length 0 has no direction: it gets one of its own, at right angles to all, together with its like.
    """
    if metric != "cosine":
        return points
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


def distances_to(points: Any, queries: np.ndarray, candidates: np.ndarray, metric: str) -> np.ndarray:
    """Distances of points (m,), by number, to their candidates (m, c); of "euclidean" and "cosine" still unfinished."""
    if sparse.issparse(points):
        apart = points[candidates.ravel()] - points[np.repeat(queries, candidates.shape[1])]
        sums = abs(apart).sum(axis=1) if metric == "manhattan" else apart.multiply(apart).sum(axis=1)
        return np.asarray(sums).reshape(candidates.shape)
    difference = points[candidates]
    difference -= points[queries[:, None]]
    if metric == "manhattan":
        return np.abs(difference, out=difference).sum(axis=2)
    return np.einsum("ijk,ijk->ij", difference, difference)


def finished(values: np.ndarray, metric: str) -> np.ndarray:
    """The distances, from what `distances_to` gives; of unit vectors 1 - u.v = |u - v|^2 / 2."""
    if metric == "cosine":
        return values / 2.0
    return values if metric == "manhattan" else np.sqrt(values)
