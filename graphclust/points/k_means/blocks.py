"""The steps of a k-means iteration for data in several places: sums of a block, and labels of a block."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.points.k_means.bounds import assign_once
from graphclust.points.k_means.centroid_update import cluster_sums, own_sq_distances
from graphclust.points.k_means.points import Points, as_centroids, as_point_weights, as_points


class BlockSums(NamedTuple):
    """Sum of w x (k, d), of w (k,) and of w |x - c|^2 over the points of a block; add them block by block, in order."""

    sums: np.ndarray
    masses: np.ndarray
    inertia: float


def block_sums(X: Any, centroids: Any, *, sample_weight: npt.ArrayLike | None = None) -> BlockSums:
    """What the points X (n, d) of one block add to each cluster of the nearest centroid (k, d), ties to the lowest.

    The means of the next iteration are the summed `sums` over the summed `masses` of all blocks.

    Raises GraphValidationError or TypeError for points, centroids or weights that cannot be used.

    Source: one iteration of Lloyd 1982; the lecture notes "Parallel k-means in theory and practice", section 1.1.

    >>> block_sums([[1.0], [2.0], [9.0]], [[0.0], [9.0]])
    BlockSums(sums=array([[3.],
           [9.]]), masses=array([2., 1.]), inertia=5.0)
    """
    points, given, labels = _assign(X, centroids)
    weights = as_point_weights(sample_weight, points)
    sums, masses = cluster_sums(points, np.arange(points.n), weights, labels, len(given))
    return BlockSums(sums, masses, float((weights * own_sq_distances(points, given, labels)).sum()))


def nearest_centroids(X: Any, centroids: Any) -> np.ndarray:
    """Index of the nearest centroid (k, d) of each point (n, d), ties to the lowest; shape (n,), int64.

    Raises GraphValidationError or TypeError for points or centroids that cannot be used.

    Source: the assignment step of Lloyd 1982.

    >>> nearest_centroids([[1.0], [8.0]], [[0.0], [9.0]])
    array([0, 1])
    """
    return _assign(X, centroids)[2]


def distances_to_centroids(X: Any, centroids: np.ndarray) -> np.ndarray:
    """Distance of each point (n, d) to each centroid (k, d), shape (n, k), of the points' dtype."""
    points = X if isinstance(X, Points) else as_points(X)
    compared = np.ascontiguousarray(centroids, dtype=points.dtype)
    distances = np.empty((points.n, len(compared)), points.dtype)
    for j in range(len(compared)):
        of_one = own_sq_distances(points, compared[j : j + 1], np.zeros(points.n, np.int64))
        np.sqrt(of_one, out=distances[:, j], casting="same_kind")
    return distances


def _assign(X: Any, centroids: Any) -> tuple[Points, np.ndarray, np.ndarray]:
    points = X if isinstance(X, Points) else as_points(X)
    given = as_centroids(centroids, as_points(centroids, "centroids").n, points)
    return points, given, assign_once(points, given)
