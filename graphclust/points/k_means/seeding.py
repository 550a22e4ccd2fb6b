"""Where k-means starts: k points of the data, or centroids of many drawn at once.

D^a seeding draws the next seed with probability proportional to w |x - nearest seed|^a: a = 0 is uniform, a = 2 is
k-means++ (Arthur and Vassilvitskii 2007; expected cost <= 8 (ln k + 2) times the lowest), a = infinity is
furthest-first. The greedy form draws several candidates and keeps the one that lowers the cost most.

k-means|| (Bahmani et al. 2012; Algorithm 1.3 of the lecture notes) takes few rounds of many candidates each: a point
becomes one, independently, with probability min(1, l w |x - nearest candidate|^2 / cost). The candidates, each weighted
by the points nearest to it, are then clustered into k parts, which is cheap.
"""

from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from graphclust.checks import K_OF_POINTS, Seed, as_generator, as_number, as_whole_number
from graphclust.compiled.points.k_means import (
    NearestSeeds,
    Reach,
    adopt_at_once,
    distances_to_seeds,
    find_rows,
    sum_masses,
)
from graphclust.compiled.runtime import random_numbers
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.errors import ConvergenceWarning, amount, warn_caller
from graphclust.graph.executor import ByBlock, Engine, sum_in_order
from graphclust.points.k_means.lloyd_iteration import Iteration, ValidationCurve, lloyd
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
    # Infinite before there is a seed; 0, as at a seed, where no weight is and none can be drawn.
    sq_distances = np.where(weights > 0.0, np.inf, 0.0)
    nearest = NearestSeeds(np.zeros(points.n, np.int64), sq_distances)
    gains = np.zeros((len(boundaries) - 1, n_candidates))

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
            reach = Reach(to_seeds, near, n_seeds)
            return candidates[adopt_at_once(points.values, candidates, seeds, weights, reach, nearest, gains)]
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


def draw_rows(
    weights: np.ndarray, sq_distances: np.ndarray, half_power: float, boundaries: np.ndarray, uniforms: np.ndarray
) -> np.ndarray:
    """A row for each uniform in [0, 1), by the mass w (squared distance)^half_power; none where all of it is 0."""
    masses = np.empty(len(weights)), np.empty(len(boundaries) - 1)
    scale = 1.0 if half_power in (0.0, 1.0) else float(sq_distances.max())  # a high power would overflow
    run_in_blocks(sum_masses, boundaries, weights, sq_distances, half_power, scale, masses)
    rows = np.empty(len(uniforms) if masses[1].any() else 0, np.int64)
    find_rows(uniforms[: len(rows)], boundaries, masses, rows)
    return rows


class Rounds(Protocol):
    """Points that lie somewhere, and how far each is from the candidates so far."""

    def cost(self) -> float: ...

    def draw(self, turn: int, factor: float) -> int: ...


def sample_in_rounds(rounds: Rounds, n_wanted: float, n_rounds: int, progress: Progress, *, at_least: int = 0) -> None:
    """About n_wanted candidates in n_rounds rounds, an equal share in each.

    In a round a point of mass m is drawn with probability min(1, l m / cost), where l is that share. Rounds end
    when all the cost is gone. While there are fewer than `at_least`, further ones are made, with a share of 1 or more,
    so that two of three find a candidate.
    """
    n_drawn, turn, share = 0, 0, n_wanted / n_rounds
    while turn < n_rounds or n_drawn < at_least:
        share = share if turn < n_rounds else max(share, 1.0)
        cost = rounds.cost()
        progress.step(min(turn, n_rounds), n_rounds)
        if not cost > 0.0:
            return
        n_drawn += rounds.draw(turn, share / cost)
        turn += 1
    rounds.cost()


FIRST_TURN = 1 << 16  # the turns of a key below are those of the rounds
_CACHED_BYTES = 1 << 17
OVERSAMPLING = 0.5
N_ROUNDS = 5
ROWS_PER_PART = 1 << 14


class Part(NamedTuple):
    """The points of a block, and their weights."""

    points: Points
    weights: np.ndarray


class PointDistances(NamedTuple):
    """Squared distance to, and number of, the nearest candidate of each point of a block; sum of weight x distance.

    It is added from the first point to the last. Before there is a candidate it is the sum of the weights.
    """

    sq_distances: np.ndarray
    nearest: np.ndarray
    mass: float


class Candidates(NamedTuple):
    """The points (m, d) drawn so far, and the latest of them in batches that fit into a cache.

    Of each batch the points, the number of the first, their squared distances to the earlier ones, and each earlier
    one's least: points that are much nearer to theirs need no look at the batch.
    """

    points: np.ndarray
    batches: list[tuple[np.ndarray, int, np.ndarray, np.ndarray]]


def candidates_by_blocks(
    engine: Engine, parts: ByBlock, k: int, oversampling: float, n_rounds: int, key: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """The candidates of n_rounds rounds, or of more while they are too few, and the weight of the nearest to each."""
    rounds = PointRounds(engine, parts, key)
    sample_in_rounds(rounds, oversampling * k * n_rounds, n_rounds, progress, at_least=k - 1)
    masses = engine.fetch(engine.each(nearest_masses, parts, rounds.distances, rounds.n_drawn))
    return engine.fetch(rounds.candidates).points, sum_in_order(masses)


class PointRounds:
    """The rounds of k-means||, as `sample_in_rounds` takes them; the first candidate is drawn by weight alone."""

    def __init__(self, engine: Engine, parts: ByBlock, key: int):
        self.engine, self.parts, self.key = engine, parts, key
        self.distances = engine.each(no_distances, parts)
        totals = np.cumsum(engine.fetch(engine.each(mass_of, self.distances)))
        uniform = np.empty(1)
        random_numbers.fill_uniforms(key, FIRST_TURN, 0, uniform)
        target = min(uniform[0] * totals[-1], np.nextafter(totals[-1], 0.0))
        block = int(np.searchsorted(totals, target, side="right"))
        targets = [-1.0] * len(totals)
        targets[block] = target - (totals[block - 1] if block else 0.0)
        self.candidates: Any = None  # a Whole, once some are drawn
        self._approach(engine.each(draw_by_weight, parts, engine.by_block(targets)))

    def cost(self) -> float:
        return float(sum_in_order(self.engine.fetch(self.engine.each(mass_of, self.distances))))

    def draw(self, turn: int, factor: float) -> int:
        """Draw each point as a candidate with probability factor x mass, independently; returns how many were drawn."""
        before = self.n_drawn
        self._approach(self.engine.each(draw_by_mass, self.parts, self.distances, factor, self.key, turn))
        return self.n_drawn - before

    def _approach(self, drawn: ByBlock) -> None:
        self.candidates = self.engine.once(add_draws, self.candidates, drawn)
        self.distances = self.engine.each(approach_distances, self.parts, self.distances, self.candidates)
        self.n_drawn = self.engine.fetch(self.engine.once(count_candidates, self.candidates))


def no_distances(source: Any, first: int, last: int, part: Part) -> PointDistances:
    """Before there is a candidate: as in `draw_seeds`."""
    sq_distances = np.where(part.weights > 0.0, np.inf, 0.0)
    return PointDistances(sq_distances, np.zeros(last - first, np.int64), float(np.cumsum(part.weights)[-1]))


def draw_by_weight(source: Any, first: int, last: int, part: Part, target: float) -> np.ndarray:
    """The point of a block at which its running weight exceeds the target; none where that is negative."""
    if target < 0.0:
        return part.points.rows(np.arange(0))
    running = np.cumsum(part.weights)
    highest = np.searchsorted(running, running[-1])  # the last point of any weight
    return part.points.rows(np.minimum(np.searchsorted(running, [target], side="right"), highest))


def draw_by_mass(
    source: Any, first: int, last: int, part: Part, distances: PointDistances, factor: float, key: int, turn: int
) -> np.ndarray:
    """The points of a block that are drawn, each independently."""
    drawn = np.empty(last - first, np.int64)
    n_drawn = random_numbers.draw_each(key, turn, first, factor, part.weights, distances.sq_distances, drawn)
    return part.points.rows(drawn[:n_drawn])


def add_draws(source: Any, before: Candidates | None, draws: list[np.ndarray]) -> Candidates:
    """All candidates so far, with those that were drawn of all blocks."""
    points = np.concatenate(draws if before is None else [before.points, *draws])
    n_before, n = 0 if before is None else len(before.points), len(points)
    most, batches = 1 + _CACHED_BYTES // points.dtype.itemsize // points.shape[1], []
    for rank in range(n_before, n, most):
        chosen = np.ascontiguousarray(points[rank : rank + most])
        to_seeds, near = np.zeros((len(chosen), n)), np.zeros(n)
        distances_to_seeds(points[:n_before], n_before, chosen, to_seeds, near)
        batches.append((chosen, rank, to_seeds, near))
    return Candidates(points, batches)


def count_candidates(source: Any, candidates: Candidates) -> int:
    return len(candidates.points)


def approach_distances(
    source: Any, first: int, last: int, part: Part, before: PointDistances, candidates: Candidates
) -> PointDistances:
    """The distances after adding the latest candidates."""
    points, weights = part
    nearest, everyone = NearestSeeds(before.nearest.copy(), before.sq_distances.copy()), np.array([0, points.n])
    for chosen, rank, to_seeds, near in candidates.batches:
        reach, gains = Reach(to_seeds, near, rank), np.zeros((1, len(chosen)))
        run_in_blocks(points.approach_loop, everyone, points.against(chosen), weights, reach, nearest, gains)
    return PointDistances(nearest.sq_distances, nearest.seeds, float(np.cumsum(weights * nearest.sq_distances)[-1]))


def mass_of(source: Any, first: int, last: int, distances: PointDistances) -> float:
    return distances.mass


def nearest_masses(source: Any, first: int, last: int, part: Part, distances: PointDistances, n: int) -> np.ndarray:
    """Weight of the points of a block that are nearest to each of n candidates."""
    return np.bincount(distances.nearest, part.weights, minlength=n)


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
    points, k, weights = as_weighted_points(X, k, sample_weight)
    oversampling = as_number(oversampling, "oversampling", above=0.0)
    n_rounds = as_whole_number(n_rounds, "n_rounds", at_least=1)
    drawn = draw_candidates(points, weights, k, oversampling, n_rounds, rng, as_progress(progress))
    centroids = centroids_of_candidates(*drawn, k, rng)
    warn_if_fewer(len(centroids), k)
    return centroids


def centroids_of_candidates(candidates: np.ndarray, masses: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Weighted candidates clustered into k, or as many as they are."""
    points = DensePoints(np.ascontiguousarray(candidates))
    seeds = draw_seeds(points, masses, min(k, points.n), 2.0, greedy_candidates(k), rng, Progress())
    given = Iteration(points, masses, 100, 0.0, ValidationCurve(None, points.d), Progress())
    return lloyd(given, points.rows(seeds)).centroids


def draw_candidates(
    points: Points, weights: np.ndarray, k: int, oversampling: float, n_rounds: int, rng: np.random.Generator,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The candidates (m, d), and the weight of the points nearest to each (ties to the first drawn)."""
    engine = Engine(None, row_blocks(points.n, ROWS_PER_PART))
    blocks = pairwise(engine.boundaries.tolist())
    parts = engine.by_block([Part(points.take(slice(a, b)), weights[a:b]) for a, b in blocks])
    return candidates_by_blocks(engine, parts, k, oversampling, n_rounds, int(rng.integers(2**63)), progress)
