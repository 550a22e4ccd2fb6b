"""Kernel k-means++: D²-sampling in feature space (Arthur and Vassilvitskii 2007; Jourdan et al. 2025, Algorithm 1)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_whole_number
from graphclust.errors import ConvergenceWarning, warn_caller
from graphclust.points.k_means.seeding import warn_if_fewer
from graphclust.points.kernel_k_means.choice import as_weighted_kernel
from graphclust.points.kernel_k_means.kernel import Kernel, count_negative
from graphclust.progress import Progress, ProgressLike, as_progress

_SLICE = 8192
_ROUND_OFF = 1e-12  # relative to the squared lengths of both points: a squared distance below this is none


class KernelSeeds(NamedTuple):
    """Seeds (s,), in the order drawn; of each point the squared distance to the nearest, clipped at 0, and its rank.

    n_clipped : how often a squared distance of a weighted point came out negative by more than rounding, the kernel
        being no positive semi-definite one, and became 0.
    """

    rows: np.ndarray
    sq_distances: np.ndarray
    nearest: np.ndarray
    n_clipped: int


def kernel_kmeans_plusplus(
    K_or_X: Any, n_seeds: int, *, kernel: str = "gaussian", sample_weight: npt.ArrayLike | None = None,
    weight: str | None = "weight", rng: Seed = None, progress: ProgressLike = None,
) -> KernelSeeds:  # fmt: skip
    """Draw seeds, each with probability proportional to weight x squared distance to those before; O(n n_seeds).

    The first is drawn by weight. K_or_X, kernel, sample_weight, weight : see `kernel_kmeans`. Fewer seeds, with a
    ConvergenceWarning, where all other points coincide with one, or where the kernel is indefinite and their squared
    distances, below 0, were taken for 0.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Arthur & Vassilvitskii 2007, section 2.2, in feature space; Jourdan et al. 2025, Algorithm 1, which draws
    the first seed uniformly.

    >>> seeds = kernel_kmeans_plusplus([[0.0], [0.1], [9.0]], 2, kernel="linear", rng=1)
    >>> sorted(seeds.rows.tolist()) != [0, 1]
    True
    """
    rng = as_generator(rng)
    n_seeds = as_whole_number(n_seeds, "n_seeds", at_least=1)
    kernel_, n_seeds, weights = as_weighted_kernel(K_or_X, n_seeds, kernel, sample_weight, weight)
    seeds = draw_seeds(kernel_, weights, n_seeds, rng, as_progress(progress))
    warn_if_fewer_points(len(seeds.rows), n_seeds, seeds.n_clipped)
    return seeds


def draw_seeds(
    kernel: Kernel, weights: np.ndarray, n_seeds: int, rng: np.random.Generator, progress: Progress
) -> KernelSeeds:
    """`kernel_kmeans_plusplus` without its checks."""
    rows = np.empty(n_seeds, np.int64)
    masses = weights
    sq_distances, nearest = np.full(kernel.n, np.inf), np.zeros(kernel.n, np.int64)
    lengths, eps = np.abs(kernel.diagonal), float(np.finfo(kernel.dtype).eps)
    n_clipped = 0
    for rank in range(n_seeds):
        seed = rows[rank] = _draw(masses, rng.random())
        for piece, to_seed in _sq_distances_to(kernel, seed):
            scale = lengths[piece] + lengths[seed]
            n_clipped += count_negative(to_seed[weights[piece] > 0.0], scale[weights[piece] > 0.0], kernel)
            to_seed[to_seed <= max(_ROUND_OFF, 8 * eps) * scale] = 0.0
            _approach(to_seed, rank, sq_distances[piece], nearest[piece])
        if sq_distances[seed] > 0.0:  # rounding
            sq_distances[seed], nearest[seed] = 0.0, rank
        masses = weights * sq_distances
        progress.step(rank + 1, n_seeds)
        if not masses.any():
            return KernelSeeds(rows[: rank + 1], sq_distances, nearest, n_clipped)
    return KernelSeeds(rows, sq_distances, nearest, n_clipped)


def nearest_seeds(kernel: Kernel, rows: np.ndarray) -> np.ndarray:
    """Rank of the nearest of these points for each point, ties to the lowest, a point being its own; shape (n,)."""
    sq_distances, nearest = np.full(kernel.n, np.inf), np.zeros(kernel.n, np.int64)
    for rank, seed in enumerate(rows):
        for piece, to_seed in _sq_distances_to(kernel, seed):
            _approach(to_seed, rank, sq_distances[piece], nearest[piece])
        if sq_distances[seed] > 0.0:  # rounding
            sq_distances[seed], nearest[seed] = 0.0, rank
    return nearest


def warn_if_fewer_points(n_found: int, k: int, n_clipped: int) -> None:
    """Say so where fewer points than asked for lie at a distance from each other, and why."""
    if n_clipped == 0:
        warn_if_fewer(n_found, k)
    elif n_found < k:
        warn_caller(
            f"k={k}, but only {n_found} points were found at positive squared distances; {n_clipped} came out negative "
            "and were taken for 0: the kernel is indefinite; add enough to its diagonal, in proportion to 1 / weight",
            ConvergenceWarning,
        )


def _draw(masses: np.ndarray, uniform: float) -> int:
    cumulative = np.cumsum(masses)
    drawn = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
    return min(drawn, int(np.searchsorted(cumulative, cumulative[-1])))  # should a product round up


def _sq_distances_to(kernel: Kernel, seed: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Squared distances of all points to one of them, as they come out of the kernel, piece by piece."""
    for first in range(0, kernel.n, _SLICE):
        piece = slice(first, min(first + _SLICE, kernel.n))
        products = kernel.block(np.array([seed]), piece)[0]
        yield piece, kernel.diagonal[piece] + kernel.diagonal[seed] - 2.0 * products


def _approach(to_seed: np.ndarray, rank: int, sq_distances: np.ndarray, nearest: np.ndarray) -> None:
    closer = to_seed < sq_distances
    sq_distances[closer] = to_seed[closer]
    nearest[closer] = rank
