"""The centroids from which an algorithm starts: given ones, or those of a seeding."""

from typing import Any

import numpy as np

from graphclust.checks import as_choice
from graphclust.points.k_means.parallel_seeding import N_ROUNDS, OVERSAMPLING, centroids_of_candidates, draw_candidates
from graphclust.points.k_means.points import Points, as_centroids
from graphclust.points.k_means.seeding import draw_seeds, greedy_candidates
from graphclust.progress import Progress

INITS = ("k-means++", "greedy k-means++", "k-means||", "random")


def initial_centroids(
    points: Points, weights: np.ndarray, k: int, init: Any, rng: np.random.Generator, progress: Progress
) -> np.ndarray:
    """Centroids (k', d) to start from: the given ones, or what the seeding named by `init` finds."""
    if not isinstance(init, str):
        return as_centroids(init, k, points)
    as_choice(init, "init", INITS)
    if init == "k-means||":
        rows, masses = draw_candidates(points, weights, k, OVERSAMPLING, N_ROUNDS, rng, progress)
        return centroids_of_candidates(points.rows(rows), masses, k, rng)
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
