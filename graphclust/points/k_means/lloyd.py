"""Exact weighted k-means by Lloyd's iteration (Lloyd 1982), seeded and the same bit for bit on any number of threads.

Assignment and update alternate until no label changes: each point is then nearest to its own centroid, and each
centroid is the mean of its points. No decision depends on a BLAS result.

Nested mini-batches (Newling and Fleuret 2016, Algorithm 5, `nmbatch`) grow by doubling and keep the points they had, so
that bounds on their distances are of use from early on. A point has one vote: when its label changes its old
contribution is taken back. The batch doubles when the centroids have settled on what it can tell. Seeds have no vote of
their own, so the end is a fixed point of Lloyd's iteration on all points.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_choice, as_generator, as_number, as_whole_number
from graphclust.errors import warn_caller
from graphclust.points.k_means.lloyd_iteration import Iteration, KMeansResult, ValidationCurve, grow_batch, lloyd
from graphclust.points.k_means.points import Points, as_centroids, as_weighted_points
from graphclust.points.k_means.seeding import (
    N_ROUNDS,
    OVERSAMPLING,
    centroids_of_candidates,
    draw_candidates,
    draw_seeds,
    greedy_candidates,
    warn_if_fewer,
)
from graphclust.progress import Progress, ProgressLike, as_progress

INITS = ("k-means++", "greedy k-means++", "k-means||", "random")


def initial_centroids(
    points: Points, weights: np.ndarray, k: int, init: Any, rng: np.random.Generator, progress: Progress
) -> np.ndarray:
    """Centroids (k', d) to start from: the given ones, or what the seeding named by `init` finds."""
    if not isinstance(init, str):
        return as_centroids(init, k, points)
    as_choice(init, "init", INITS)
    if init == "k-means||":
        drawn = draw_candidates(points, weights, k, OVERSAMPLING, N_ROUNDS, rng, progress)
        return centroids_of_candidates(*drawn, k, rng)
    exponent = 0.0 if init == "random" else 2.0
    n_candidates = greedy_candidates(k) if init == "greedy k-means++" else 1
    return points.rows(draw_seeds(points, weights, k, exponent, n_candidates, rng, progress))


def start_from_some(
    points: Points, weights: np.ndarray, rows: np.ndarray, k: int, init: Any, rng: np.random.Generator
) -> np.ndarray:
    """The same, where a seeding looks at these points alone, unless they hold fewer than k distinct ones of weight."""
    if isinstance(init, str):
        weighted = rows[weights[rows] > 0.0]
        if len(weighted) >= k:
            some = initial_centroids(points.take(weighted), weights[weighted], k, init, rng, Progress())
            if len(some) == k:
                return some
    return initial_centroids(points, weights, k, init, rng, Progress())


def kmeans(
    X: Any,
    k: int,
    *,
    sample_weight: npt.ArrayLike | None = None,
    init: Any = "k-means++",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 0.0,
    validation: Any = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> KMeansResult:
    """Cluster points into k parts of low inertia; the best of `n_init` runs of Lloyd's iteration.

    X : points, shape (n, d), dense or SciPy sparse, float32 or float64 (other numbers become float64).
    sample_weight : weights >= 0, shape (n,). A point of weight 2 counts as two; one of weight 0 only gets a label.
    init : "k-means++", "greedy k-means++", "k-means||", "random" (distinct points by weight) or centroids (k, d).
    n_init : runs, of which the one of least inertia is kept; from given centroids there is one.
    tol : 0 stops when no label changes, a fixed point; otherwise also when the centroids' summed squared
        movement is at most tol times the mean variance of a feature.

    validation : points, or a function of the centroids: the result's `validation` holds seconds and energy by update.

    A cluster that loses its last weighted point is moved to the point with the largest w |x - its mean|^2. Where
    fewer than k distinct points have a positive weight, a ConvergenceWarning says so and fewer clusters are made.
    The same `rng` seed gives the same result, bit for bit, on any number of threads; only where a few points are
    clustered before the loops are compiled may their sums differ from later ones by round-off.

    Memory beside the points: for each of them 4 k bytes of bounds (a gibibyte in all at most), a few hundred for labels
    and sums, and d more where dense features are bytes or nearly so, as in images.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Lloyd 1982, "Least squares quantization in PCM"; bounds in the manner of Elkan 2003 and Newling & Fleuret
    2016, Algorithm 1, which spare distances and change no label.

    >>> result = kmeans([[0.0], [1.0], [10.0], [11.0]], 2, rng=1)
    >>> result.inertia, sorted(result.centroids.ravel().tolist())
    (1.0, [0.5, 10.5])
    """
    rng = as_generator(rng)
    points, k, weights = as_weighted_points(X, k, sample_weight)
    n_init = as_whole_number(n_init, "n_init", at_least=1)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    tol = as_number(tol, "tol", at_least=0.0)
    progress = as_progress(progress)
    if n_init > 1 and not isinstance(init, str):
        warn_caller(f"n_init={n_init} with centroids as init: one run is made, as all would be alike", RuntimeWarning)
    best: KMeansResult | None = None
    with progress.interruptible(lambda running: _better(best, running)):
        for _ in range(n_init if isinstance(init, str) else 1):
            if best is not None and progress.out_of_time():
                break
            start = initial_centroids(points, weights, k, init, rng, progress)
            curve = ValidationCurve(validation, points.d)
            result = lloyd(Iteration(points, weights, max_iter, tol, curve, progress), start)
            best = _better(best, result)
    assert best is not None
    warn_if_fewer(len(best.centroids), k)
    return best


def _better(one: KMeansResult | None, other: KMeansResult) -> KMeansResult:
    """The one of lower inertia, the first where they are equal."""
    return other if one is None or other.inertia < one.inertia else one


def nested_minibatch_kmeans(
    X: Any,
    k: int,
    *,
    sample_weight: npt.ArrayLike | None = None,
    init: Any = "k-means++",
    batch_size: int = 5000,
    rho: float = 100.0,
    max_iter: int = 1000,
    validation: Any = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> KMeansResult:
    """Cluster many points into k parts: to a fixed point of Lloyd's iteration on all, and near its end far earlier.

    The fixed point is another than that of `kmeans`, of about the same inertia, not of a lower one in every case.

    X : points, shape (n, d), dense or SciPy sparse, float32 or float64.
    sample_weight : weights >= 0, shape (n,).
    init : "k-means++", "greedy k-means++", "k-means||" or "random", each on the first batch, or centroids (k, d).
    batch_size : points of the first batch, in a random order of all points; those of weight 0 come last.
    rho : how much smaller than its standard error each centroid's movement must be before the batch doubles. By
        default as in the paper; 1 comes within 1 % of the lowest energy in little more than half of the time on MNIST,
        in less than a third on documents, where its last energy is lower; on MNIST those do not differ (notebook 07).
    max_iter : rounds; the last one at the latest labels all points.
    validation : points, or a function of the centroids: the result's `validation` holds seconds and energy by round.

    The result's `history` holds the mean squared distance within the batch of each round. Memory as for `kmeans`.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Newling & Fleuret 2016, "Nested mini-batch k-means", Algorithm 5 (`nmbatch`), section 3.2 for the doubling.

    >>> result = nested_minibatch_kmeans([[0.0], [1.0], [10.0], [11.0]], 2, batch_size=3, rng=1)
    >>> result.inertia, sorted(result.centroids.ravel().tolist())
    (1.0, [0.5, 10.5])
    """
    rng, progress = as_generator(rng), as_progress(progress)
    points, k, weights = as_weighted_points(X, k, sample_weight)
    batch_size = min(as_whole_number(batch_size, "batch_size", at_least=1), points.n)
    rho = as_number(rho, "rho", above=0.0)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    given = Iteration(points, weights, max_iter, 0.0, ValidationCurve(validation, points.d), progress)
    order = nested_order(points.n, batch_size, rng, weights)
    init = start_from_some(points, weights, order[: max(batch_size, k)], k, init, rng)
    with progress.interruptible():
        result = grow_batch(given, init, order, batch_size, rho)
    warn_if_fewer(len(result.centroids), k)
    return result


def nested_order(n: int, batch_size: int, rng: np.random.Generator, weights: np.ndarray | None = None) -> np.ndarray:
    """All points in a random order, but ascending among those that enter together, so that memory is read forwards.

    Points of weight 0 come last: a batch without weight would have nothing to learn from.
    """
    order = rng.permutation(n)
    if weights is not None:
        order = order[np.argsort(weights[order] == 0.0, kind="stable")]
    start, end = 0, batch_size
    while start < n:
        order[start:end].sort()
        start, end = end, 2 * end
    return order
