"""Mini-batch k-means (Sculley 2010): each step moves the centroids toward the means of a small random batch.

A centroid that b_j of the b points of a batch are nearest to moves by the share a of the way to their mean: a = b_j
over all it ever had (scikit-learn's rate, the running mean), or a = sqrt(b_j / b), which does not tend to 0
(Schwartzman 2023).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_choice, as_generator, as_number, as_whole_number
from graphclust.compiled.points.k_means import approach_means
from graphclust.errors import GraphValidationError
from graphclust.points.k_means.lloyd import start_from_some
from graphclust.points.k_means.lloyd_iteration import Iteration, KMeansResult, ValidationCurve, result_of_labels
from graphclust.points.k_means.points import Points, as_point_weights, as_points, as_weighted_points
from graphclust.points.k_means.seeding import warn_if_fewer
from graphclust.points.k_means.steps import assign_once, cluster_sums, nearest_and_sq_distances, own_sq_distances
from graphclust.progress import ProgressLike, as_progress

RATES = ("count", "sqrt")


class MiniBatch:
    """Centroids that learn from one batch at a time.

    centroids : shape (k, d); `counts` (k,) is the weight each has ever been nearest to.
    rate : "count" or "sqrt", see above. Of small batches "count" has less inertia: on three blobs 2 % of batches of 45
        points, .4 % of 256, nothing of 1,024.
    starved : a centroid with less than this share of the mean count is moved, every 10 batches, to a point of the
        batch drawn by squared distance, and its count becomes that share; 0 leaves it.

    Raises GraphValidationError, ParameterError or TypeError for centroids or parameters that cannot be used.

    Source: Sculley 2010, "Web-scale k-means clustering", Algorithm 1; the rate "sqrt" is that of Schwartzman 2023.

    >>> model = MiniBatch([[0.0], [8.0]], starved=0)
    >>> for batch in ([[1.0], [9.0]], [[3.0], [9.0]]):
    ...     _ = model.partial_fit(batch)
    >>> model.centroids.ravel().tolist(), model.counts.tolist()
    ([2.0, 9.0], [2.0, 2.0])
    """

    def __init__(self, centroids: Any, *, rate: str = "count", starved: float = 0.01, rng: Seed = None):
        start = as_points(centroids, "centroids")
        self.centroids = np.array(start.rows(np.arange(start.n)))
        self.rate = as_choice(rate, "rate", RATES)
        self.starved = as_number(starved, "starved", at_least=0.0, below=1.0)
        self.rng = as_generator(rng)
        self.counts = np.zeros(start.n)
        self.n_batches = 0

    def partial_fit(self, X: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """Learn from the points of one batch; returns their mean squared distance to the centroids before.

        Raises GraphValidationError or TypeError for points or weights that cannot be used.
        """
        points = as_points(X)
        if points.d != self.centroids.shape[1]:
            raise GraphValidationError(f"X has {points.d} features, expected {self.centroids.shape[1]}")
        return self.learn(points, as_point_weights(sample_weight, points))

    def learn(self, points: Points, weights: np.ndarray) -> float:
        """`partial_fit` without its checks."""
        k = len(self.centroids)
        labels, sq_distances = nearest_and_sq_distances(points, self.centroids)
        costs = weights * sq_distances
        sums, masses = cluster_sums(points, np.arange(points.n), weights, labels, k)
        self.n_batches += 1
        whole = float(masses.sum()) if self.rate == "sqrt" else 0.0
        approach_means(sums, masses, self.counts, whole, self.centroids)
        if self.starved > 0.0 and self.n_batches % 10 == 0:
            least = self.starved * self.counts.mean()
            starved = np.flatnonzero(self.counts < least)[: np.count_nonzero(costs)]
            if len(starved):
                rows = self.rng.choice(points.n, len(starved), replace=False, p=costs / costs.sum())
                self.centroids[starved], self.counts[starved] = points.rows(rows), least
        return float(costs.sum() / weights.sum())

    def add_centroids(self, points: Points, weights: np.ndarray, k: int) -> None:
        """Draw more centroids among these points, by squared distance, up to k or until each point lies on one."""
        while len(self.centroids) < k:
            centroids = np.ascontiguousarray(self.centroids, dtype=points.dtype)
            labels = assign_once(points, centroids)
            sq_distances = own_sq_distances(points, centroids, labels)
            round_off = (8 * np.finfo(points.dtype).eps) ** 2 * (centroids.astype(np.float64) ** 2).sum(axis=1)
            masses = np.where(sq_distances > round_off[labels], weights * sq_distances, 0.0)
            if not masses.any():
                break
            drawn = self.rng.choice(points.n, p=masses / masses.sum())
            self.centroids = np.vstack([self.centroids, points.rows(np.array([drawn]))])
            self.counts = np.append(self.counts, 0.0)

    def occupy(self, points: Points, weights: np.ndarray, k: int) -> None:
        """Replace centroids that no point is nearest to, until k have some or each point lies on a centroid."""
        for _ in range(k):
            labels = assign_once(points, np.ascontiguousarray(self.centroids, dtype=points.dtype))
            occupied = np.bincount(labels, weights, minlength=len(self.centroids)) > 0.0
            self.centroids, self.counts = self.centroids[occupied], self.counts[occupied]
            if len(self.centroids) == k:
                break
            self.add_centroids(points, weights, k)


def minibatch_kmeans(
    X: Any,
    k: int,
    *,
    sample_weight: npt.ArrayLike | None = None,
    init: Any = "k-means++",
    batch_size: int = 1024,
    rate: str = "sqrt",
    starved: float = 0.01,
    max_iter: int = 1000,
    tol: float = 0.0,
    patience: int | None = 10,
    validation: Any = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> KMeansResult:
    """Cluster points into k parts by mini-batches; see `nested_minibatch_kmeans` for points that are all at hand.

    That ends at a fixed point of Lloyd's iteration on all points; this ends near one, or not, by how batches fall.

    X : points, shape (n, d), dense or SciPy sparse, float32 or float64.
    sample_weight : weights >= 0, shape (n,): points are drawn in proportion and then count alike.
    init : "k-means++", "greedy k-means++", "k-means||" or "random", each on a few points, or centroids (k, d).
    batch_size : points drawn for a batch, with repetition.
    rate, starved : see `MiniBatch`.
    max_iter, patience : batches; stop when the smoothed energy of the batches has not fallen for `patience` of them.
    tol : stop also when a batch moves the centroids, in summed squares, by at most tol times the mean variance of a
        feature among those that a seeding looks at; 0 never does.
    validation : points, or a function of the centroids: the result's `validation` holds seconds and energy by batch.

    The result's labels are nearest to its centroids; `history` is the mean squared distance within each batch.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Sculley 2010, "Web-scale k-means clustering", Algorithm 1; the rate "sqrt" is that of Schwartzman 2023.

    >>> result = minibatch_kmeans([[0.0], [1.0], [10.0], [11.0]], 2, batch_size=20, rng=1)
    >>> bool(result.inertia < 1.1)
    True
    """
    rng = as_generator(rng)
    points, k, weights = as_weighted_points(X, k, sample_weight)
    batch_size = as_whole_number(batch_size, "batch_size", at_least=1, at_most=2**31 - 1)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    tol = as_number(tol, "tol", at_least=0.0)
    patience = max_iter if patience is None else as_whole_number(patience, "patience", at_least=1)
    progress = as_progress(progress)
    curve = ValidationCurve(validation, points.d)
    some = rng.choice(points.n, min(points.n, max(3 * k, batch_size)), replace=False)
    least = 0.0
    if tol > 0.0:
        sample = points.take(some)
        sums, _ = cluster_sums(sample, np.arange(sample.n), np.ones(sample.n), np.zeros(sample.n, np.int64), 1)
        least = tol * float(sample.sq_lengths(np.arange(sample.n), sums[0] / sample.n).mean()) / points.d
    init = start_from_some(points, weights, some, k, init, rng)
    model = MiniBatch(init, rate=rate, starved=starved, rng=rng)
    running, last = np.cumsum(weights), np.flatnonzero(weights)[-1]
    ones = np.ones(batch_size)
    history: list[float] = []
    smooth, lowest, since = np.inf, np.inf, 0
    curve.record(model.centroids)
    given = Iteration(points, weights, max_iter, tol, curve, progress)

    def so_far() -> KMeansResult:
        return result_of_labels(given, model.centroids, assign_once(points, model.centroids), history)

    with progress.interruptible():
        progress.offer(so_far)
        while len(history) < max_iter and since < patience and not (history and progress.out_of_time()):
            before = model.centroids.copy() if tol > 0.0 else None
            rows = np.searchsorted(running, rng.random(batch_size) * running[-1], side="right")
            energy = model.learn(points.take(np.minimum(rows, last)), ones)
            history.append(energy)
            curve.record(model.centroids)
            share = min(1.0, 2.0 * batch_size / (points.n + 1))
            smooth = energy if smooth == np.inf else (1.0 - share) * smooth + share * energy
            since = 0 if smooth < lowest else since + 1
            lowest = min(lowest, smooth)
            progress.step(len(history), max_iter)
            if before is not None and ((model.centroids - before) ** 2).sum() <= least:
                break
    model.occupy(points, weights, k)
    result = so_far()
    warn_if_fewer(len(result.centroids), k)
    return result
