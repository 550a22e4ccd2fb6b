"""k-means|| seeding (Bahmani et al. 2012; Algorithm 1.3 of the lecture notes): few rounds of many candidates each.

In a round each point becomes a candidate, independently, with probability min(1, l w |x - nearest candidate|^2 / cost).
The candidates, each weighted by the points nearest to it, are then clustered into k parts, which is cheap.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_number, as_whole_number
from graphclust.compiled.points.point_seeding import NearestSeeds, Reach, distances_to_seeds
from graphclust.compiled.runtime import counter_rng
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.graph.executor import ByBlock, Engine, InProcess, Whole, sum_in_order
from graphclust.points.k_means.lloyd_iteration import Iteration, ValidationCurve, lloyd
from graphclust.points.k_means.points import DensePoints, Points, as_weighted_points
from graphclust.points.k_means.sampling_rounds import sample_in_rounds
from graphclust.points.k_means.seeding import distances_without_seeds, draw_seeds, greedy_candidates, warn_if_fewer
from graphclust.progress import Progress, ProgressLike, as_progress

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
    """Squared distance to, and number of, the nearest candidate of each point of a block; sum of weight x distance."""

    sq_distances: np.ndarray
    nearest: np.ndarray
    mass: float


class DrawnPoints(NamedTuple):
    """Points drawn in a round: their rows among all points, and the points themselves, shape (m, d)."""

    rows: np.ndarray
    points: np.ndarray


def candidates_by_blocks(
    engine: Engine, parts: ByBlock, k: int, oversampling: float, n_rounds: int, key: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The candidates of n_rounds rounds, or more while they are fewer than k.

    Their rows, the points themselves, and the weight of the points nearest to each.
    """
    rounds = PointRounds(engine, parts, key)
    sample_in_rounds(rounds, oversampling * k * n_rounds, n_rounds, progress, at_least=k - 1)
    masses = engine.fetch(engine.each(nearest_masses, parts, rounds.distances, rounds.n_drawn))
    drawn = engine.fetch(rounds.drawn)
    return drawn.rows, drawn.points, sum_in_order(masses)


class PointRounds:
    """The rounds of k-means||, as `sample_in_rounds` takes them; the first candidate is drawn by weight alone."""

    def __init__(self, engine: Engine, parts: ByBlock, key: int):
        self.engine, self.parts, self.key = engine, parts, key
        totals = np.cumsum(engine.fetch(engine.each(total_weight, parts)))
        uniform = np.empty(1)
        counter_rng.fill_uniforms(key, FIRST_TURN, 0, uniform)
        target = min(uniform[0] * totals[-1], np.nextafter(totals[-1], 0.0))
        block = int(np.searchsorted(totals, target, side="right"))
        targets = [-1.0] * len(totals)
        targets[block] = target - (totals[block - 1] if block else 0.0)
        self.distances = engine.each(no_distances, parts)
        self.drawn, self.n_drawn = engine.once(no_candidates), 0
        self._approach(engine.each(draw_by_weight, parts, engine.by_block(targets)))

    def cost(self) -> float:
        return float(sum_in_order(self.engine.fetch(self.engine.each(mass_of, self.distances))))

    def draw(self, turn: int, factor: float) -> int:
        """Draw each point as a candidate with probability factor x mass, independently; returns how many were drawn."""
        before = self.n_drawn
        self._approach(self.engine.each(draw_by_mass, self.parts, self.distances, factor, self.key, turn))
        return self.n_drawn - before

    def _approach(self, drawn: ByBlock) -> None:
        engine = self.engine
        together: Whole = engine.once(join_draws, drawn)
        bounds = engine.once(bounds_to_candidates, self.drawn, together)
        self.distances = engine.each(approach_distances, self.parts, self.distances, together, bounds, self.n_drawn)
        self.drawn = engine.once(add_draws, self.drawn, together)
        self.n_drawn = engine.fetch(engine.once(count_drawn, self.drawn))


def total_weight(source: Any, first: int, last: int, part: Part) -> float:
    """The sum of the weights of a block, from the first to the last."""
    return float(np.cumsum(part.weights)[-1])


def no_distances(source: Any, first: int, last: int, part: Part) -> PointDistances:
    """Before there is a candidate."""
    return PointDistances(distances_without_seeds(part.weights), np.zeros(last - first, np.int64), np.inf)


def no_candidates(source: Any) -> DrawnPoints | None:
    """No candidates yet, of points whose number of features is not known yet."""
    return None


def draw_by_weight(source: Any, first: int, last: int, part: Part, target: float) -> DrawnPoints:
    """The point of a block at which its running weight exceeds the target; none where that is negative."""
    if target < 0.0:
        return DrawnPoints(np.empty(0, np.int64), part.points.rows(np.arange(0)))
    running = np.cumsum(part.weights)
    highest = np.searchsorted(running, running[-1])  # the last point of any weight
    row = np.minimum(np.searchsorted(running, [target], side="right"), highest)
    return DrawnPoints(first + row, part.points.rows(row))


def draw_by_mass(
    source: Any, first: int, last: int, part: Part, distances: PointDistances, factor: float, key: int, turn: int
) -> DrawnPoints:
    """The points of a block that are drawn, each independently."""
    drawn = np.empty(last - first, np.int64)
    n_drawn = counter_rng.draw_each(key, turn, first, factor, part.weights, distances.sq_distances, drawn)
    return DrawnPoints(first + drawn[:n_drawn], part.points.rows(drawn[:n_drawn]))


def join_draws(source: Any, parts: list[DrawnPoints]) -> DrawnPoints:
    """What all blocks drew."""
    return DrawnPoints(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def add_draws(source: Any, before: DrawnPoints | None, new: DrawnPoints) -> DrawnPoints:
    """All candidates so far."""
    return new if before is None else join_draws(source, [before, new])


def count_drawn(source: Any, drawn: DrawnPoints) -> int:
    """How many candidates there are."""
    return len(drawn.rows)


def bounds_to_candidates(
    source: Any, before: DrawnPoints | None, new: DrawnPoints
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For some new candidates at a time, their squared distances to the earlier ones, and each earlier one's least.

    Points that are much nearer to theirs need no look at the new ones.
    """
    n_before = 0 if before is None else len(before.rows)
    earlier = new.points[:0] if before is None else before.points
    bounds = []
    for some in candidate_slices(new):
        to_seeds = np.zeros((len(new.rows[some]), n_before + len(new.rows)))
        near = np.zeros(to_seeds.shape[1])
        distances_to_seeds(earlier, n_before, np.ascontiguousarray(new.points[some]), to_seeds, near)
        bounds.append((to_seeds, near))
    return bounds


def candidate_slices(new: DrawnPoints) -> list[slice]:
    """As many candidates at a time as fit into a cache."""
    most = 1 + _CACHED_BYTES // new.points.dtype.itemsize // new.points.shape[1]
    return [slice(start, start + most) for start in range(0, len(new.rows), most)]


def approach_distances(
    source: Any, first: int, last: int, part: Part, before: PointDistances, new: DrawnPoints,
    bounds: list[tuple[np.ndarray, np.ndarray]], n_before: int,
) -> PointDistances:  # fmt: skip
    """The distances after adding the new candidates."""
    points, weights = part
    nearest = NearestSeeds(before.nearest.copy(), before.sq_distances.copy())
    for some, (to_seeds, near) in zip(candidate_slices(new), bounds, strict=True):
        chosen = np.ascontiguousarray(new.points[some])
        gains = np.zeros((1, len(chosen)))
        reach, everyone = Reach(to_seeds, near, n_before + some.start), np.array([0, points.n])
        run_in_blocks(points.approach_loop, everyone, points.against(chosen), weights, reach, nearest, gains)
    return PointDistances(nearest.sq_distances, nearest.seeds, counter_rng.sum_masses(weights, nearest.sq_distances))


def mass_of(source: Any, first: int, last: int, distances: PointDistances) -> float:
    """The mass of a block."""
    return distances.mass


def nearest_masses(
    source: Any, first: int, last: int, part: Part, distances: PointDistances, n_candidates: int
) -> np.ndarray:
    """Weight of the points of a block that are nearest to each candidate."""
    return np.bincount(distances.nearest, part.weights, minlength=n_candidates)


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
    rows, masses = draw_candidates(points, weights, k, oversampling, n_rounds, rng, as_progress(progress))
    centroids = centroids_of_candidates(points.rows(rows), masses, k, rng)
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
    """Rows of the candidates, and the weight of the points nearest to each (ties to the first drawn)."""
    engine = InProcess(None, row_blocks(points.n, ROWS_PER_PART))
    parts = engine.by_block(
        [Part(points.take(slice(a, b)), weights[a:b]) for a, b in pairwise(engine.boundaries.tolist())]
    )
    key = int(rng.integers(2**63))
    rows, _, masses = candidates_by_blocks(engine, parts, k, oversampling, n_rounds, key, progress)
    return rows, masses
