"""k-means|| seeding (Bahmani et al. 2012; Algorithm 1.3 of the lecture notes): few rounds of many candidates each.

In a round each point becomes a candidate, independently, with probability min(1, l w |x - nearest candidate|^2 / cost).
The candidates, each weighted by the points nearest to it, are then clustered into k parts, which is cheap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_number, as_weights, as_whole_number
from graphclust.compiled.points.point_seeding import distances_to_seeds
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.k_means.iteration import lloyd
from graphclust.k_means.points import DensePoints, Points, as_cluster_count, as_points
from graphclust.k_means.seeding import ROWS, draw_rows, draw_seeds, greedy_candidates, unseeded, warn_if_fewer
from graphclust.k_means.validation import ValidationCurve
from graphclust.progress import Progress, ProgressLike, as_progress

OVERSAMPLING = 0.5
N_ROUNDS = 5
_CACHED_BYTES = 1 << 17


def kmeans_parallel(
    X: Any,
    k: int,
    *,
    oversampling: float = OVERSAMPLING,
    n_rounds: int = N_ROUNDS,
    sample_weight: npt.ArrayLike | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> np.ndarray:
    """k centroids to start from, by k-means||; shape (k, d).

    X : points, shape (n, d), dense or SciPy sparse, float32 or float64.
    oversampling : candidates expected in a round, as a multiple of k (l / k in the paper).
    n_rounds : rounds; more are made while there are fewer than k candidates.
    sample_weight : weights >= 0, shape (n,); a point of weight 0 is never a candidate.

    The centroids are means of candidates: weighted greedy k-means++ and Lloyd's iteration on the candidates alone.
    Fewer than k distinct points of positive weight: a ConvergenceWarning, and only so many centroids.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Bahmani, Moseley, Vattani, Kumar & Vassilvitskii 2012, "Scalable k-means++", Algorithm 2.

    >>> sorted(kmeans_parallel([[0.0], [0.0], [9.0], [9.0]], 2, rng=1).ravel().tolist())
    [0.0, 9.0]
    """
    rng = as_generator(rng)
    points = as_points(X)
    k = as_cluster_count(k, points.n)
    weights = as_weights(sample_weight, points.n)
    oversampling = as_number(oversampling, "oversampling", above=0.0)
    n_rounds = as_whole_number(n_rounds, "n_rounds", at_least=1)
    centroids = parallel_centroids(points, weights, k, oversampling, n_rounds, rng, as_progress(progress))
    warn_if_fewer(len(centroids), k)
    return centroids


def parallel_centroids(
    points: Points,
    weights: np.ndarray,
    k: int,
    oversampling: float,
    n_rounds: int,
    rng: np.random.Generator,
    progress: Progress,
) -> np.ndarray:
    """`kmeans_parallel` without its checks."""
    rows, masses = draw_candidates(points, weights, k, oversampling, n_rounds, rng, progress)
    candidates = DensePoints(points.rows(rows))
    seeds = draw_seeds(candidates, masses, min(k, len(rows)), 2.0, greedy_candidates(k), rng, Progress())
    curve = ValidationCurve(None, points.d)
    return lloyd(candidates, masses, candidates.rows(seeds), 100, 0.0, curve, Progress()).centroids


def draw_candidates(
    points: Points,
    weights: np.ndarray,
    k: int,
    oversampling: float,
    n_rounds: int,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the candidates, and the weight of the points nearest to each (ties to the first drawn)."""
    boundaries = row_blocks(points.n, ROWS)
    nearest = np.zeros(points.n, np.int64)
    sq_distances = unseeded(weights)
    gains = np.zeros((len(boundaries) - 1, 1 + _CACHED_BYTES // points.dtype.itemsize // points.d))
    candidates = np.empty((0, points.d), points.dtype)
    drawn = draw_rows(weights, sq_distances, 0.0, boundaries, rng.random(1))
    rows = drawn[:0]
    for done in range(n_rounds + k):
        chosen = points.rows(drawn)
        for start in range(0, len(drawn), gains.shape[1]):
            part = chosen[start : start + gains.shape[1]]
            to_seeds = np.zeros((len(part), len(rows) + len(drawn)))
            near = np.zeros(to_seeds.shape[1])
            distances_to_seeds(candidates, len(rows), part, to_seeds, near)
            run_in_blocks(
                points.approach_loop, boundaries, *points.against(part), weights, to_seeds, near,
                len(rows) + start, nearest, sq_distances, gains,
            )  # fmt: skip
        candidates = np.concatenate([candidates, chosen])
        rows = np.concatenate([rows, drawn])
        progress.step(min(done, n_rounds), n_rounds)
        mass = sq_distances * weights
        cost = mass.sum()
        if cost == 0.0 or (done >= n_rounds and len(rows) >= k):
            break
        drawn = np.flatnonzero(rng.random(points.n) * cost < oversampling * k * mass)
    return rows, np.bincount(nearest, weights, minlength=len(rows))
