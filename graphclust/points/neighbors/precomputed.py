"""Nearest neighbors from given distances: a full matrix, or a sparse one of the known distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphValidationError

_ENTRIES = 1 << 24  # of the matrix that are sorted at a time


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
