"""Exact weighted k-means by Lloyd's iteration (Lloyd 1982), seeded and the same bit for bit on any number of threads.

Assignment and update alternate until no label changes: each point is then nearest to its own centroid, and each
centroid is the mean of its points. No decision depends on a BLAS result.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphclust.checks import as_choice, as_generator, as_number, as_weights, as_whole_number
from graphclust.k_means.bounds import BoundedAssignment
from graphclust.k_means.centroid_update import cluster_sums, own_sq_distances, updated_centroids
from graphclust.k_means.points import Points, as_centroids, as_cluster_count, as_points
from graphclust.k_means.seeding import draw_seeds, greedy_candidates, warn_if_fewer
from graphclust.progress import Progress, as_progress

INITS = ("k-means++", "greedy k-means++", "random")


@dataclass(frozen=True)
class KMeansResult:
    """What k-means found.

    centroids : shape (k', d), k' <= k, of the data's dtype; each has a point of positive weight nearest to it.
    labels : index of the nearest centroid of each point, ties to the lowest, shape (n,), int64.
    inertia : sum of w_i |x_i - its centroid|^2.
    n_iter : updates of the centroids that were made.
    history : inertia about the new means after each update, shape (n_iter,); never rises.
    """

    centroids: np.ndarray
    labels: np.ndarray
    inertia: float
    n_iter: int
    history: np.ndarray


def kmeans(
    X: Any,
    k: int,
    *,
    sample_weight: Any = None,
    init: Any = "k-means++",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 0.0,
    rng: Any = None,
    progress: Any = None,
) -> KMeansResult:
    """Cluster points into k parts of low inertia; the best of `n_init` runs of Lloyd's iteration.

    X : points, shape (n, d), dense or SciPy sparse, float32 or float64 (other numbers become float64).
    sample_weight : weights >= 0, shape (n,). A point of weight 2 counts as two; one of weight 0 only gets a label.
    init : "k-means++", "greedy k-means++", "random" (distinct points by weight) or centroids of shape (k, d).
    tol : 0 stops when no label changes, a fixed point; otherwise also when the centroids' summed squared
        movement is at most tol times the mean variance of a feature.

    A cluster that loses its last weighted point is moved to the point with the largest w |x - its mean|^2. Where
    fewer than k distinct points have a positive weight, a ConvergenceWarning says so and fewer clusters are made.
    The same `rng` seed gives the same result, bit for bit, on any number of threads.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    >>> result = kmeans([[0.0], [1.0], [10.0], [11.0]], 2, rng=1)
    >>> result.inertia, sorted(result.centroids.ravel().tolist())
    (1.0, [0.5, 10.5])
    """
    rng = as_generator(rng)
    points = as_points(X)
    k = as_cluster_count(k, points.n)
    weights = as_weights(sample_weight, points.n)
    n_init = as_whole_number(n_init, "n_init", at_least=1)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    tol = as_number(tol, "tol", at_least=0.0)
    progress = as_progress(progress)
    best = None
    for _ in range(n_init if isinstance(init, str) else 1):
        start = starting_centroids(points, weights, k, init, rng, progress)
        result = lloyd(points, weights, start, max_iter, tol, progress)
        if best is None or result.inertia < best.inertia:
            best = result
    warn_if_fewer(len(best.centroids), k)
    return best


def lloyd(
    points: Points, weights: np.ndarray, centroids: np.ndarray, max_iter: int, tol: float, progress: Progress
) -> KMeansResult:
    """Lloyd's iteration from the given centroids, to a fixed point, to `tol` or for `max_iter` updates."""
    rows = np.arange(points.n)
    total_mass = weights.sum()
    center = cluster_sums(points, rows, weights, np.zeros(points.n, np.int64), 1)[0][0] / total_mass
    spread = (weights * points.sq_lengths(rows, center)).sum()
    bounds = BoundedAssignment(points, centroids)
    labels = np.full(points.n, -1)
    history: list[float] = []
    settled = False
    while True:
        nearest = bounds.assign()
        if np.array_equal(nearest, labels):
            break
        labels[:] = nearest
        if settled or len(history) == max_iter:
            break
        old = bounds.centroids
        centroids, masses = updated_centroids(points, weights, labels, len(old))
        history.append(max(spread - (masses * ((centroids - center) ** 2).sum(axis=1)).sum(), 0.0))
        if len(centroids) == len(old):
            moved = bounds.move(centroids)
            settled = (moved**2).sum() <= tol * spread / (total_mass * points.d)
        else:
            bounds = BoundedAssignment(points, centroids)
        progress.step(len(history), max_iter)
    return finished(points, weights, bounds.centroids, labels, history)


def finished(
    points: Points, weights: np.ndarray, centroids: np.ndarray, labels: np.ndarray, history: list[float]
) -> KMeansResult:
    """The result for labels that are nearest to these centroids; a centroid without weighted points is left out."""
    occupied = np.bincount(labels, weights, minlength=len(centroids)) > 0.0
    if not occupied.all():
        centroids = np.ascontiguousarray(centroids[occupied])
        labels = BoundedAssignment(points, centroids).assign()
    inertia = float((weights * own_sq_distances(points, centroids, labels)).sum())
    return KMeansResult(centroids, labels, inertia, len(history), np.array(history))


def starting_centroids(
    points: Points, weights: np.ndarray, k: int, init: Any, rng: np.random.Generator, progress: Progress
) -> np.ndarray:
    """Centroids (k', d) to start from: the given ones, or points of the data chosen as `init` says."""
    if not isinstance(init, str):
        return as_centroids(init, k, points)
    as_choice(init, "init", INITS)
    exponent = 0.0 if init == "random" else 2.0
    n_candidates = greedy_candidates(k) if init == "greedy k-means++" else 1
    return points.rows(draw_seeds(points, weights, k, exponent, n_candidates, rng, progress))
