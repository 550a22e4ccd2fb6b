"""Where k-means starts: k points of the data, drawn by their distance to those drawn before.

D^a seeding draws the next seed with probability proportional to w |x - nearest seed|^a: a = 0 is uniform, a = 2 is
k-means++ (Arthur and Vassilvitskii 2007; expected cost <= 8 (ln k + 2) times the lowest), a = infinity is
furthest-first. The greedy form draws several candidates and keeps the one that lowers the cost most.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import K_OF_POINTS, Seed, as_generator, as_number, as_whole_number
from graphclust.compiled.points.point_seeding import (
    DrawnSeeds,
    NearestSeeds,
    Reach,
    RunningMasses,
    adopt_at_once,
    distances_to_seeds,
    find_rows,
    sum_masses,
)
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.errors import ConvergenceWarning, amount, warn_caller
from graphclust.points.k_means.points import DensePoints, Points, as_weighted_points
from graphclust.progress import Progress, ProgressLike, as_progress

ROWS = 4096


def distance_seeding(
    X: Any,
    k: int,
    *,
    exponent: float = 2.0,
    n_candidates: int = 1,
    sample_weight: npt.ArrayLike | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> np.ndarray:
    """Rows of k distinct points drawn by D^a seeding, in the order drawn; shape (k,), int64.

    X : points, shape (n, d), dense or SciPy sparse, float32 or float64.
    exponent : a >= 0, or numpy.inf for furthest-first (ties to the lowest row).
    n_candidates : points drawn for each seed after the first, of which the one that lowers the sum of
        w |x - nearest seed|^2 most is kept (ties to the first drawn).
    sample_weight : weights >= 0, shape (n,); a point of weight 0 is never drawn.

    Fewer than k distinct points of positive weight: a ConvergenceWarning, and only so many rows.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Arthur & Vassilvitskii 2007, sections 2.2 and 5 (other exponents); Gonzalez 1985 for furthest-first.

    >>> distance_seeding([[0.0], [1.0], [10.0]], 2, exponent=float("inf"), rng=1)
    array([1, 2])
    """
    points, k, weights = as_weighted_points(X, k, sample_weight)
    if exponent != np.inf:
        exponent = as_number(exponent, "exponent", at_least=0.0)
    n_candidates = as_whole_number(n_candidates, "n_candidates", at_least=1)
    rng = as_generator(rng)
    rows = draw_seeds(points, weights, k, exponent, n_candidates, rng, as_progress(progress))
    warn_if_fewer(len(rows), k)
    return rows


def kmeans_plusplus(
    X: Any, k: int, *, greedy: bool = False, sample_weight: npt.ArrayLike | None = None, rng: Seed = None
) -> np.ndarray:
    """Rows of k distinct points drawn by k-means++: `distance_seeding` with exponent 2; shape (k,), int64.

    greedy : keep the best of 2 + floor(ln k) candidates for each seed: better starts for more time.

    Raises GraphValidationError, ParameterError or TypeError as `distance_seeding` does.

    Source: Arthur & Vassilvitskii 2007, "k-means++: the advantages of careful seeding", section 2.2; the greedy form is
    that of their own code.

    >>> kmeans_plusplus([[0.0], [0.0], [9.0], [9.0]], 2, rng=1)
    array([2, 1])
    """
    k = as_whole_number(k, "k", at_least=1, if_none=K_OF_POINTS)
    n_candidates = greedy_candidates(k) if greedy else 1
    return distance_seeding(X, k, n_candidates=n_candidates, sample_weight=sample_weight, rng=rng)


def greedy_candidates(k: int) -> int:
    """How many candidates greedy k-means++ draws for each seed."""
    return 2 + int(np.log(k))


def warn_if_fewer(n_found: int, k: int) -> None:
    """Say so where there are fewer distinct points than clusters asked for."""
    if n_found < k:
        warn_caller(
            f"k={k}, but only {amount(n_found, 'distinct point')} of positive weight to make clusters of",
            ConvergenceWarning,
        )


def draw_seeds(
    points: Points, weights: np.ndarray, k: int, exponent: float, n_candidates: int, rng: np.random.Generator,
    progress: Progress,
) -> np.ndarray:  # fmt: skip
    """`distance_seeding` without its checks; returns fewer rows where there are fewer distinct points."""
    boundaries = row_blocks(points.n, ROWS)
    seeds = np.empty((k, points.d), points.dtype)
    to_seeds, near = np.zeros((n_candidates, k)), np.zeros(k)
    sq_distances = distances_without_seeds(weights)
    nearest = NearestSeeds(np.zeros(points.n, np.int64), sq_distances)
    gains = np.zeros((len(boundaries) - 1, n_candidates))
    drawn_seeds = DrawnSeeds(seeds, to_seeds, near, gains)

    def gains_of(candidates: np.ndarray, n_seeds: int, new_seed: int) -> np.ndarray:
        gains[:] = 0.0
        chosen = points.rows(candidates)
        distances_to_seeds(seeds, n_seeds, chosen, to_seeds, near)
        reach = Reach(to_seeds, near, new_seed)
        run_in_blocks(points.approach_loop, boundaries, points.against(chosen), weights, reach, nearest, gains)
        return gains.sum(axis=0)

    def adopt(candidates: np.ndarray, n_seeds: int) -> int:
        """The row of the best candidate, which becomes seed number n_seeds."""
        if len(gains) == 1 and isinstance(points, DensePoints):  # as below, in one call
            return candidates[adopt_at_once(points.values, candidates, n_seeds, weights, nearest, drawn_seeds)]
        best = 0 if len(candidates) == 1 else int(np.argmax(gains_of(candidates, n_seeds, -1)))
        row = candidates[best : best + 1]
        gains_of(row, n_seeds, n_seeds)
        seeds[n_seeds] = points.rows(row)[0]
        return row[0]

    rows = np.empty(k, np.int64)
    for n_seeds in range(k):
        if n_seeds == 0:
            drawn = draw_rows(weights, sq_distances, 0.0, boundaries, rng.random(1))
        elif exponent == np.inf:
            drawn = np.array([np.argmax(sq_distances)])
            drawn = drawn[sq_distances[drawn] > 0.0]
        else:
            drawn = draw_rows(weights, sq_distances, exponent / 2.0, boundaries, rng.random(n_candidates))
        if len(drawn) == 0:
            return rows[:n_seeds]
        rows[n_seeds] = adopt(drawn, n_seeds)
        progress.step(n_seeds + 1, k)
    return rows


def distances_without_seeds(weights: np.ndarray) -> np.ndarray:
    """Squared distances before there is a seed: infinite; 0, as at a seed, where no weight is and none can be drawn."""
    return np.where(weights > 0.0, np.inf, 0.0)


def draw_rows(
    weights: np.ndarray, sq_distances: np.ndarray, half_power: float, boundaries: np.ndarray, uniforms: np.ndarray
) -> np.ndarray:
    """A row for each uniform in [0, 1), by the mass w (squared distance)^half_power; none where all of it is 0."""
    masses = RunningMasses(np.empty(len(weights)), np.empty(len(boundaries) - 1))
    scale = 1.0 if half_power in (0.0, 1.0) else float(sq_distances.max())  # a high power would overflow
    run_in_blocks(sum_masses, boundaries, weights, sq_distances, half_power, scale, masses)
    rows = np.empty(len(uniforms) if masses.totals.any() else 0, np.int64)
    find_rows(uniforms[: len(rows)], boundaries, masses, rows)
    return rows
