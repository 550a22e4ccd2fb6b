"""Exact weighted k-means by Lloyd's iteration (Lloyd 1982), seeded and the same bit for bit on any number of threads.

Assignment and update alternate until no label changes: each point is then nearest to its own centroid, and each
centroid is the mean of its points. No decision depends on a BLAS result.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphclust.checks import as_choice, as_generator, as_number, as_weights, as_whole_number
from graphclust.k_means.bounds import BoundedAssignment
from graphclust.k_means.centroid_update import own_sq_distances, updated_centroids
from graphclust.k_means.points import Points, as_centroids, as_cluster_count, as_points
from graphclust.k_means.seeding import draw_seeds, greedy_candidates, warn_if_fewer
from graphclust.k_means.tally import Tally
from graphclust.k_means.validation import ValidationCurve
from graphclust.progress import Progress, as_progress

INITS = ("k-means++", "greedy k-means++", "random")


@dataclass(frozen=True)
class KMeansResult:
    """What k-means found.

    centroids : shape (k', d), k' <= k, of the data's dtype; each has a point of positive weight nearest to it.
    labels : index of the nearest centroid of each point, ties to the lowest, shape (n,), int64.
    inertia : sum of w_i |x_i - its centroid|^2.
    n_iter : updates of the centroids that were made.
    history : mean of w |x - its cluster's mean|^2 at each update, shape (n_iter,); it never rises on all points.
    validation : seconds and energy at the start and after each update, shape (n_iter + 1, 2); None if not asked for.
    """

    centroids: np.ndarray
    labels: np.ndarray
    inertia: float
    n_iter: int
    history: np.ndarray
    validation: np.ndarray | None = None


def kmeans(
    X: Any,
    k: int,
    *,
    sample_weight: Any = None,
    init: Any = "k-means++",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 0.0,
    validation: Any = None,
    rng: Any = None,
    progress: Any = None,
) -> KMeansResult:
    """Cluster points into k parts of low inertia; the best of `n_init` runs of Lloyd's iteration.

    X : points, shape (n, d), dense or SciPy sparse, float32 or float64 (other numbers become float64).
    sample_weight : weights >= 0, shape (n,). A point of weight 2 counts as two; one of weight 0 only gets a label.
    init : "k-means++", "greedy k-means++", "random" (distinct points by weight) or centroids of shape (k, d).
    tol : 0 stops when no label changes, a fixed point; otherwise also when the centroids' summed squared
        movement is at most tol times the mean variance of a feature.

    validation : points, or a function of the centroids: the result's `validation` holds seconds and energy by update.

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
        result = lloyd(points, weights, start, max_iter, tol, ValidationCurve(validation, points.d), progress)
        if best is None or result.inertia < best.inertia:
            best = result
    warn_if_fewer(len(best.centroids), k)
    return best


def lloyd(
    points: Points,
    weights: np.ndarray,
    centroids: np.ndarray,
    max_iter: int,
    tol: float,
    curve: ValidationCurve,
    progress: Progress,
) -> KMeansResult:
    """Lloyd's iteration from the given centroids, to a fixed point, to `tol` or for `max_iter` updates."""
    order = np.arange(points.n)
    return grow_batch(points, weights, centroids, order, points.n, np.inf, max_iter, tol, curve, progress)


def grow_batch(
    points: Points,
    weights: np.ndarray,
    centroids: np.ndarray,
    order: np.ndarray,
    batch_size: int,
    rho: float,
    max_iter: int,
    tol: float,
    curve: ValidationCurve,
    progress: Progress,
) -> KMeansResult:
    """Lloyd's iteration on the first points in `order`, twice as many whenever the centroids have settled on those.

    They have when each centroid's standard error is more than `rho` times its last movement. Sums are kept up to date
    by the points whose label changed; at the end they are taken afresh, so that the end is a fixed point.
    """
    k = len(centroids)
    bounds = BoundedAssignment(points, centroids, order)
    tally = Tally(points, order, weights[order], k, batch_size)
    history: list[float] = []
    labels = np.empty(points.n, np.int64)
    n_rows = batch_size
    settled = False
    curve.record(centroids)
    while True:
        whole = tally.n_rows == points.n
        changed = tally.update(bounds.assign(n_rows))
        if settled or len(history) == max_iter:
            labels[order] = bounds.assign()
            break
        final = whole and not changed
        if final or (n_rows == points.n and (tally.counts() == 0).any()):
            labels[order] = bounds.labels
            centroids, _ = updated_centroids(points, weights, labels, k)
            if len(centroids) < k:
                return lloyd(points, weights, centroids, max_iter, tol, curve, progress)
            tally.recount(labels[order])
            moved = bounds.move(centroids)
            if final and np.array_equal(bounds.assign(), labels[order]):
                break
        else:
            centroids = tally.means(bounds.centroids)
            moved = bounds.move(centroids)
        sq_errors = tally.sq_errors(centroids)
        history.append(float(sq_errors.sum() / tally.masses.sum()))
        curve.record(centroids)
        progress.step(len(history), max_iter)
        if n_rows == points.n:
            settled = (moved**2).sum() <= tol * tally.variance() / points.d and tol > 0.0
        elif (tally.standard_errors(sq_errors + tally.masses * moved**2) > rho * moved).all():
            n_rows = min(2 * n_rows, points.n)
            tally.recount(tally.labels[: tally.n_rows].copy())
    return finished(points, weights, bounds.centroids, labels, history, curve)


def finished(
    points: Points,
    weights: np.ndarray,
    centroids: np.ndarray,
    labels: np.ndarray,
    history: list[float],
    curve: ValidationCurve,
) -> KMeansResult:
    """The result for labels that are nearest to these centroids; a centroid without weighted points is left out."""
    occupied = np.bincount(labels, weights, minlength=len(centroids)) > 0.0
    if not occupied.all():
        centroids = np.ascontiguousarray(centroids[occupied])
        labels = BoundedAssignment(points, centroids).assign()
    inertia = float((weights * own_sq_distances(points, centroids, labels)).sum())
    return KMeansResult(centroids, labels, inertia, len(history), np.array(history), curve.table())


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
