"""k-means|| seeding (Bahmani et al. 2012; Algorithm 1.3 of the lecture notes): few rounds of many candidates each.

In a round each point becomes a candidate, independently, with probability min(1, l w |x - nearest candidate|^2 / cost).
The candidates, each weighted by the points nearest to it, are then clustered into k parts, which is cheap.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_number, as_whole_number
from graphclust.compiled.runtime.blocks import row_blocks
from graphclust.graph.executor import InProcess
from graphclust.points.k_means.candidates import Part, candidates_by_blocks
from graphclust.points.k_means.energy_curve import ValidationCurve
from graphclust.points.k_means.lloyd_iteration import lloyd
from graphclust.points.k_means.points import (
    DensePoints,
    Points,
    as_cluster_count,
    as_point_weights,
    as_points_to_cluster,
)
from graphclust.points.k_means.seeding import draw_seeds, greedy_candidates, warn_if_fewer
from graphclust.progress import Progress, ProgressLike, as_progress

OVERSAMPLING = 0.5
N_ROUNDS = 5
ROWS_PER_PART = 1 << 14


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
    points = as_points_to_cluster(X)
    k = as_cluster_count(k, points.n)
    weights = as_point_weights(sample_weight, points)
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
    return centroids_of_candidates(points.rows(rows), masses, k, rng)


def centroids_of_candidates(candidates: np.ndarray, masses: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Weighted candidates clustered into k, or as many as they are."""
    points = DensePoints(np.ascontiguousarray(candidates))
    seeds = draw_seeds(points, masses, min(k, points.n), 2.0, greedy_candidates(k), rng, Progress())
    curve = ValidationCurve(None, points.d)
    return lloyd(points, masses, points.rows(seeds), 100, 0.0, curve, Progress()).centroids


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
    engine = InProcess(None, row_blocks(points.n, ROWS_PER_PART))
    parts = engine.by_block(
        [Part(points.take(slice(a, b)), weights[a:b]) for a, b in pairwise(engine.boundaries.tolist())]
    )
    found = candidates_by_blocks(engine, parts, k, oversampling, n_rounds, int(rng.integers(2**63)), progress)
    return found.rows, found.masses
