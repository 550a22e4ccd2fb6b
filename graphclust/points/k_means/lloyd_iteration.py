"""Lloyd's iteration: on all points, or on a batch that doubles until it holds them all; its result and its curve.

And its steps for data in several places: sums of a block, labels of a block.
"""

import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.errors import GraphValidationError
from graphclust.points.k_means.points import Points, as_centroids, as_point_weights, as_points
from graphclust.points.k_means.steps import (
    BoundedAssignment,
    Tally,
    assign_once,
    cluster_sums,
    inertia_of,
    nearest_and_sq_distances,
    own_sq_distances,
    update_centroids,
)
from graphclust.progress import Progress


@dataclass(frozen=True, eq=False)
class KMeansResult:
    """What k-means found.

    centroids : shape (k', d), k' <= k, of the data's dtype; each has a point of positive weight nearest to it.
    labels : index of the nearest centroid of each point, ties to the lowest, shape (n,), int64.
    inertia : sum of w_i |x_i - its centroid|^2.
    n_iter : updates of the centroids that were made.
    history : mean of w |x - its cluster's mean|^2 at each update, shape (n_iter,); it never rises on all points.
    validation : seconds and energy at the start and after each update, shape (n_iter + 1, 2); None if not asked for.
    converged : whether it ended because an assignment of all points changed no label; False for mini-batches.
    """

    centroids: np.ndarray
    labels: np.ndarray
    inertia: float
    n_iter: int
    history: np.ndarray
    validation: np.ndarray | None = None
    converged: bool = False

    def __repr__(self) -> str:
        k, d = self.centroids.shape
        inertia = f"inertia={self.inertia:.6g}, n_iter={self.n_iter}"
        return f"{type(self).__name__}(k={k}, n={len(self.labels)}, d={d}, {inertia})"

    def predict(self, X: Any) -> np.ndarray:
        """Index of the nearest centroid of each point, new or old, ties to the lowest; shape (m,), int64.

        X : points, shape (m, d), dense or SciPy sparse. Those that were clustered get the labels they have.

        Raises GraphValidationError or TypeError for points that cannot be used or have another number of features.

        >>> from graphclust import kmeans
        >>> kmeans([[0.0], [1.0], [10.0]], 2, init=[[0.0], [9.0]]).predict([[8.0], [2.0]])
        array([1, 0])
        """
        points = as_points(X)
        if points.d != self.centroids.shape[1]:
            raise GraphValidationError(f"X has {points.d} features, expected {self.centroids.shape[1]} as clustered")
        return self._nearest(points)

    def _nearest(self, points: Points) -> np.ndarray:
        return assign_once(points, np.ascontiguousarray(self.centroids, dtype=points.dtype))


class ValidationCurve:
    """Records (seconds so far, energy) of centroids; the clock stands still while the energy is computed.

    validation : points, whose mean squared distance to the nearest centroid is the energy, or a function of the
        centroids (k, d) that returns the energy; with None nothing is recorded.
    """

    def __init__(self, validation: Any, n_features: int):
        self.energy_of = validation
        if not (callable(validation) or validation is None):
            points = as_points(validation, "validation")
            if points.d != n_features:
                raise GraphValidationError(f"validation has {points.d} features, expected {n_features}")
            self.energy_of = lambda centroids: nearest_and_sq_distances(points, centroids)[1].mean()
        self.records: list[tuple[float, float]] = []
        self.seconds = 0.0
        self.started = time.perf_counter()

    def record(self, centroids: np.ndarray) -> None:
        if self.energy_of is None:
            return
        self.seconds += time.perf_counter() - self.started
        self.records.append((self.seconds, float(self.energy_of(centroids))))
        self.started = time.perf_counter()

    def table(self) -> np.ndarray | None:
        """The records as an array of shape (n_records, 2), or None if there was nothing to validate with."""
        return None if self.energy_of is None else np.array(self.records).reshape(-1, 2)


class Iteration(NamedTuple):
    """What an iteration is given: the points and their weights, when it ends, and who looks on."""

    points: Points
    weights: np.ndarray
    max_iter: int
    tol: float
    curve: ValidationCurve
    progress: Progress


def lloyd(given: Iteration, centroids: np.ndarray) -> KMeansResult:
    """Lloyd's iteration from the given centroids, to a fixed point, to `tol` or for `max_iter` updates."""
    n = given.points.n
    return grow_batch(given, centroids, np.arange(n), n, np.inf)


def grow_batch(given: Iteration, centroids: np.ndarray, order: np.ndarray, batch_size: int, rho: float) -> KMeansResult:
    """Lloyd's iteration on the first points in `order`, twice as many whenever the centroids have settled on those.

    They have when each centroid's standard error is more than `rho` times its last movement, or it has not moved: that
    of copies of one point has no standard error either. Sums are kept up to date by the points whose label changed; at
    the end they are taken afresh, so that the end is a fixed point.
    """
    points, weights, max_iter, tol, curve, progress = given
    k = len(centroids)
    bounds = BoundedAssignment(points, centroids, order)
    tally = Tally(points, order, weights[order], k, batch_size)
    history: list[float] = []
    labels = np.empty(points.n, np.int64)
    n_rows = batch_size
    settled = converged = False
    curve.record(centroids)

    def so_far() -> KMeansResult:
        return result_of_labels(given, bounds.centroids, assign_once(points, bounds.centroids), history)

    progress.offer(so_far)
    while True:
        whole = tally.n_rows == points.n
        changed = tally.update(bounds.assign(n_rows))
        if settled or len(history) == max_iter or (history and progress.out_of_time()):
            labels[order] = bounds.assign()
            break
        final = whole and not changed
        centroids, moved = tally.renew(bounds.centroids)
        if final or (n_rows == points.n and (tally.counts == 0).any()):
            labels[order] = bounds.labels
            centroids, _ = update_centroids(points, weights, labels, k)
            if len(centroids) < k:
                return lloyd(given, centroids)
            tally.recount(labels[order])
            tally.renew(centroids)
            moved = bounds.move(centroids)
            if final and np.array_equal(bounds.assign(), labels[order]):
                converged = True
                break
        else:
            bounds.move(centroids, moved)
        history.append(float(tally.sq_errors.sum() / tally.masses.sum()))
        curve.record(centroids)
        progress.step(len(history), max_iter)
        if n_rows == points.n:
            settled = tol > 0.0 and (moved**2).sum() <= tol * tally.variance() / points.d
        elif ((moved == 0.0) | (tally.standard_errors(moved) > rho * moved)).all():
            n_rows = min(2 * n_rows, points.n)
    return replace(result_of_labels(given, bounds.centroids, labels, history), converged=converged)


def result_of_labels(given: Iteration, centroids: np.ndarray, labels: np.ndarray, history: list[float]) -> KMeansResult:
    """The result for labels that are nearest to these centroids; a centroid without weighted points is left out."""
    points, weights = given.points, given.weights
    occupied = np.bincount(labels, weights, minlength=len(centroids)) > 0.0
    if not occupied.all():
        centroids = np.ascontiguousarray(centroids[occupied])
        labels = assign_once(points, centroids)
    inertia = inertia_of(points, weights, centroids, labels)
    return KMeansResult(centroids, labels, inertia, len(history), np.array(history), given.curve.table())


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
