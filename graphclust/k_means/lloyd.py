"""Exact weighted k-means by Lloyd's iteration (Lloyd 1982), seeded and the same bit for bit on any number of threads.

Assignment and update alternate until no label changes: each point is then nearest to its own centroid, and each
centroid is the mean of its points. No decision depends on a BLAS result.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphclust.checks import as_choice, as_generator, as_number, as_weights, as_whole_number
from graphclust.compiled.blocks import row_blocks, run_in_blocks
from graphclust.compiled.centroid_update import group_rows, sum_chunks
from graphclust.compiled.point_distances import own_sq_distances
from graphclust.errors import GraphValidationError
from graphclust.k_means.bounds import BoundedAssignment
from graphclust.k_means.points import as_cluster_count, as_points, point_blocks
from graphclust.k_means.seeding import draw_seeds, greedy_candidates, warn_if_fewer
from graphclust.progress import Progress, as_progress

_CHUNK = 4096
_SMALL = 1 << 15
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

    X : points, shape (n, d), float32 or float64 (other numbers become float64).
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
    n, d = points.shape
    k = as_cluster_count(k, n)
    weights = as_weights(sample_weight, n)
    n_init = as_whole_number(n_init, "n_init", at_least=1)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    tol = as_number(tol, "tol", at_least=0.0)
    progress = as_progress(progress)
    if not isinstance(init, str):
        given = as_points(init, "init").astype(points.dtype)
        if given.shape != (k, d):
            raise GraphValidationError(f"init has shape {given.shape}, expected k centroids: ({k}, {d})")
        best = lloyd(points, weights, given, max_iter, tol, progress)
    else:
        as_choice(init, "init", INITS)
        exponent = 0.0 if init == "random" else 2.0
        n_candidates = greedy_candidates(k) if init == "greedy k-means++" else 1
        best = None
        for _ in range(n_init):
            seeds = draw_seeds(points, weights, k, exponent, n_candidates, rng, progress)
            result = lloyd(points, weights, points[seeds], max_iter, tol, progress)
            if best is None or result.inertia < best.inertia:
                best = result
    warn_if_fewer(len(best.centroids), k)
    return best


def lloyd(
    X: np.ndarray, weights: np.ndarray, centroids: np.ndarray, max_iter: int, tol: float, progress: Progress
) -> KMeansResult:
    """Lloyd's iteration from the given centroids, to a fixed point, to `tol` or for `max_iter` updates."""
    n, d = X.shape
    total_mass = weights.sum()
    center = cluster_sums(X, weights, np.zeros(n, np.int64), 1)[0][0] / total_mass
    spread = (weights * squared_lengths(X, center)).sum()
    bounds = BoundedAssignment(X, centroids)
    labels = np.full(n, -1)
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
        centroids, masses = updated_centroids(X, weights, labels, old)
        history.append(max(spread - (masses * squared_lengths(centroids, center)).sum(), 0.0))
        if len(centroids) == len(old):
            bounds.move(centroids)
            settled = ((centroids - old) ** 2).sum() <= tol * spread / (total_mass * d)
        else:
            bounds = BoundedAssignment(X, centroids)
        progress.step(len(history), max_iter)
    occupied = np.bincount(labels, weights, minlength=len(centroids)) > 0.0
    if not occupied.all():
        centroids = np.ascontiguousarray(centroids[occupied])
        labels = BoundedAssignment(X, centroids).assign()
    sq_distances = np.empty(n, X.dtype)
    run_in_blocks(own_sq_distances, point_blocks(n, d), X, centroids, labels, sq_distances)
    return KMeansResult(centroids, labels, float((weights * sq_distances).sum()), len(history), np.array(history))


def squared_lengths(X: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """|x - origin|^2 of each row, float64, without a copy of X as a whole."""
    lengths = np.empty(len(X))
    for start in range(0, len(X), _CHUNK):
        lengths[start : start + _CHUNK] = ((X[start : start + _CHUNK] - origin) ** 2).sum(axis=1)
    return lengths


def cluster_sums(X: np.ndarray, weights: np.ndarray, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Sum of w x (k, d) and of w (k,) over each cluster, float64; they depend on each cluster's members alone."""
    sizes = np.bincount(labels, minlength=k)
    first_rows = np.cumsum(sizes) - sizes
    order = np.empty(len(labels), np.int64)
    group_rows(labels, first_rows.copy(), order)
    n_chunks = -(-sizes // _CHUNK)
    ends = np.cumsum(n_chunks)
    chunk_cluster = np.repeat(np.arange(k), n_chunks)
    starts = first_rows[chunk_cluster] + _CHUNK * (np.arange(ends[-1]) - (ends - n_chunks)[chunk_cluster])
    stops = np.minimum(starts + _CHUNK, (first_rows + sizes)[chunk_cluster])
    chunk_sums = np.zeros((ends[-1], X.shape[1]))
    chunk_masses = np.zeros(ends[-1])
    chunks_per_block = max(1, min(len(starts) // 16, (1 << 16) // X.shape[1]))
    boundaries = row_blocks(len(starts), chunks_per_block if X.size > _SMALL else len(starts))
    run_in_blocks(sum_chunks, boundaries, X, weights, order, starts, stops, chunk_sums, chunk_masses)
    sums, masses = np.zeros((k, X.shape[1])), np.zeros(k)
    np.add.at(sums, chunk_cluster, chunk_sums)
    np.add.at(masses, chunk_cluster, chunk_masses)
    return sums, masses


def updated_centroids(
    X: np.ndarray, weights: np.ndarray, labels: np.ndarray, centroids: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means (k', d) and masses (k',) of the clusters; `labels` is changed where a cluster was empty.

    Each empty cluster takes the point with the largest w |x - its mean|^2. Where every other cluster is already one
    point and its copies, the empty clusters are dropped.
    """
    sums, masses = cluster_sums(X, weights, labels, len(centroids))
    for j in np.flatnonzero(masses == 0.0):
        farthest = _farthest_point(X, weights, labels, sums / np.where(masses > 0.0, masses, 1.0)[:, None])
        if farthest < 0:
            break
        labels[farthest] = j
        sums, masses = cluster_sums(X, weights, labels, len(centroids))
    kept = masses > 0.0
    if not kept.all():
        labels[:] = np.maximum(np.cumsum(kept)[labels] - 1, 0)
        sums, masses = sums[kept], masses[kept]
    return (sums / masses[:, None]).astype(X.dtype), masses


def _farthest_point(X: np.ndarray, weights: np.ndarray, labels: np.ndarray, means: np.ndarray) -> int:
    """The point with the largest w |x - its mean|^2 in a cluster of two or more distinct points; -1 for none."""
    costs = weights * ((X - means[labels]) ** 2).sum(axis=1)
    while costs.any():
        farthest = int(np.argmax(costs))
        members = np.flatnonzero((labels == labels[farthest]) & (weights > 0.0))
        if (X[members] != X[farthest]).any():
            return farthest
        costs[members] = 0.0  # copies of one point, whose mean is off by rounding
    return -1
