"""Spherical k-means: points and centroids on the unit sphere, each point with the centroid at the smallest angle.

The mean of a cluster is its normalized Euclidean mean, which makes Lloyd's iteration lower sum w |x - c|^2 =
sum w (2 - 2 cos angle), or the geodesic (Karcher) mean, which makes it lower sum w angle^2 (lecture notes 1.4). The
latter is a local mean where a cluster spans more than a half-circle; an update that would cost more is not made.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.checks import Seed, as_choice, as_generator, as_whole_number
from graphclust.errors import GraphValidationError
from graphclust.float_scaling import balance_rows
from graphclust.points.k_means.lloyd import initial_centroids
from graphclust.points.k_means.lloyd_iteration import KMeansResult, ValidationCurve
from graphclust.points.k_means.points import Points, as_cluster_count, as_point_weights, as_points
from graphclust.points.k_means.seeding import warn_if_fewer
from graphclust.points.k_means.steps import BoundedAssignment, cluster_sums, own_sq_distances, update_centroids
from graphclust.progress import ProgressLike, as_progress

MEANS = ("euclidean", "geodesic")
_MOST_STEPS = 50


class SphericalKMeansResult(KMeansResult):
    """A `KMeansResult` on the sphere: centroids of unit length, label -1 for rows of zeros, inertia in angles."""

    def _nearest(self, points: Points) -> np.ndarray:
        directions, lengths = directions_and_lengths(points)
        return np.where(lengths > 0.0, super()._nearest(directions), -1)


def spherical_kmeans(
    X: Any,
    k: int,
    *,
    mean: str = "euclidean",
    sample_weight: npt.ArrayLike | None = None,
    init: Any = "k-means++",
    max_iter: int = 300,
    validation: Any = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> SphericalKMeansResult:
    """Cluster the directions of points into k parts.

    X : points, shape (n, d), dense or SciPy sparse, float32 or float64. Only their directions count; a row of
        zeros has none: its label is -1 and it has no part in the inertia.
    mean : "euclidean" for the normalized mean, "geodesic" for a local mean by angle: a point where the cluster's summed
        squared angle is least nearby. A cluster keeps its centroid where the new one would cost more.
    sample_weight : weights >= 0, shape (n,).
    init : "k-means++", "greedy k-means++", "k-means||" or "random", on the directions, or centroids of shape (k, d).
    validation : points, or a function of the centroids: the result's `validation` holds seconds and energy by update.

    The result's centroids have unit length; its inertia is sum w (2 - 2 cos angle), or sum w angle^2 for the geodesic
    mean, and `history` is the inertia at each assignment, which never rises. Its `predict` takes points of any length.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Dhillon & Modha 2001 for the normalized mean; the lecture notes "Parallel k-means in theory and practice",
    section 1.4, for the geodesic one.

    >>> result = spherical_kmeans([[2.0, 0.0], [3.0, 0.1], [0.0, 1.0], [0.1, 5.0]], 2, rng=1)
    >>> bool(result.labels[0] == result.labels[1] != result.labels[2])
    True
    """
    rng = as_generator(rng)
    directions, lengths = directions_and_lengths(as_points(X))
    as_choice(mean, "mean", MEANS)
    k = as_cluster_count(k, directions.n)
    weights = np.where(lengths > 0.0, as_point_weights(sample_weight, directions), 0.0)
    if not weights.any():
        raise GraphValidationError(
            "X has only rows of zeros where the weight is positive, expected points with a direction"
        )
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    progress = as_progress(progress)
    curve = ValidationCurve(validation, directions.d)
    centroids = initial_centroids(directions, weights, k, init, rng, progress)
    if not centroids.any(axis=1).all():
        raise GraphValidationError("init holds a row of zeros, expected centroids with a direction")
    centroids = _unit(centroids)
    bounds = BoundedAssignment(directions, centroids)
    labels = np.full(directions.n, -1)
    history: list[float] = []
    curve.record(centroids)
    n_iter = 0

    def result_of(nearest: np.ndarray, centroids: np.ndarray, inertia: float) -> SphericalKMeansResult:
        labels = np.where(lengths > 0.0, nearest, -1)
        return SphericalKMeansResult(centroids, labels, inertia, n_iter, np.array(history), curve.table())

    with progress.interruptible():
        while True:
            nearest = bounds.assign()
            centroids = bounds.centroids
            history.append(float((weights * _sq_distances(directions, nearest, centroids, mean)).sum()))
            if np.array_equal(nearest, labels) or n_iter == max_iter or (n_iter and progress.out_of_time()):
                break
            progress.offer(partial(result_of, nearest.copy(), centroids, history[-1]))
            labels[:] = nearest
            means, _ = update_centroids(directions, weights, labels, len(centroids))
            if len(means) == len(centroids):
                # Where directions cancel out any centroid is as good: the cluster keeps its own.
                means = np.where(np.abs(means).max(axis=1, keepdims=True) > 0.0, means, centroids)
            means = _unit(means)
            if mean == "geodesic":
                means = _unit(geodesic_means(directions, weights, labels, means).astype(directions.dtype, copy=False))
                if len(means) == len(centroids):
                    sq_angles = (_sq_distances(directions, labels, each, mean) for each in (centroids, means))
                    before, after = (np.bincount(labels, weights * each, minlength=k) for each in sq_angles)
                    means = np.where((after <= before)[:, None], means, centroids)
            n_iter += 1
            if len(means) == len(centroids):
                bounds.move(means)
            else:
                bounds = BoundedAssignment(directions, means)
            curve.record(bounds.centroids)
            progress.step(n_iter, max_iter)
    warn_if_fewer(len(centroids), k)
    return replace(result_of(nearest, centroids, history[-1]), converged=np.array_equal(nearest, labels))


def geodesic_means(points: Points, weights: np.ndarray, labels: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """A local mean of each cluster: a point near the given unit centroid where the sum of w angle^2 is stationary.

    Within a quarter-circle of all points it is the point of the least sum; wider clusters can have several, and the
    steps may then lead to one of a larger sum than at the start.
    """
    centroids = centroids.astype(np.float64)
    for _ in range(_MOST_STEPS):
        angles = _angles(points, labels, centroids.astype(points.dtype))
        # x as seen from c: direction x - (x.c) c, length the angle; summed over the cluster and divided by its weight.
        stretched = weights / np.sinc(np.minimum(angles / np.pi, 0.999))
        sums, _ = cluster_sums(points, np.arange(points.n), stretched, labels, len(centroids))
        masses = np.bincount(labels, weights, minlength=len(centroids))
        tangents = sums - (sums * centroids).sum(axis=1, keepdims=True) * centroids
        tangents /= np.where(masses > 0.0, masses, 1.0)[:, None]
        steps = np.sqrt((tangents**2).sum(axis=1, keepdims=True))
        centroids = _unit(np.cos(steps) * centroids + np.sinc(steps / np.pi) * tangents)
        if steps.max() < 1e-12 + 4 * np.finfo(points.dtype).eps:
            break
    return centroids


def _angles(points: Points, labels: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    half_chords = np.sqrt(own_sq_distances(points, centroids, labels)) / 2.0
    return 2.0 * np.arcsin(np.minimum(half_chords, 1.0))


def _sq_distances(points: Points, labels: np.ndarray, centroids: np.ndarray, mean: str) -> np.ndarray:
    """Of each point to the centroid of its label, along the sphere or through it, as `mean` has it."""
    if mean == "geodesic":
        return _angles(points, labels, centroids) ** 2
    return own_sq_distances(points, centroids, labels)


def directions_and_lengths(points: Points) -> tuple[Points, np.ndarray]:
    """The points scaled to unit length, rows of zeros left as they are, and lengths that are 0 for these alone."""
    # Squares of numbers out of these bounds lose digits, of float32 too.
    rows, _ = balance_rows(points.matrix, 1e-12, 1e15)
    lengths = np.sqrt(type(points)(rows).sq_lengths(np.arange(points.n), np.zeros(points.d)))
    scale = (1.0 / np.where(lengths > 0.0, lengths, 1.0)).astype(points.dtype)
    is_sparse = sparse.issparse(rows)
    units = sparse.csr_array(sparse.diags_array(scale) @ rows) if is_sparse else rows * scale[:, None]
    return type(points)(units), lengths


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    return np.ascontiguousarray(vectors / np.where(lengths > 0.0, lengths, 1.0), dtype=vectors.dtype)
