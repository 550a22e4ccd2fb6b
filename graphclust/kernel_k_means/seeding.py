"""Kernel k-means++: D²-sampling in feature space (Arthur and Vassilvitskii 2007; Jourdan et al. 2025, Algorithm 1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_whole_number
from graphclust.k_means.points import as_cluster_count
from graphclust.k_means.seeding import warn_if_fewer
from graphclust.kernel_k_means.choice import as_kernel, point_weights
from graphclust.kernel_k_means.kernel import Kernel
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["KernelSeeds", "kernel_kmeans_plusplus"]

_SLICE = 8192
_ROUND_OFF = 1e-12  # relative to the longest point: a squared distance below this is none


class KernelSeeds(NamedTuple):
    """Seeds (s,), in the order drawn; of each point the squared distance to the nearest, clipped at 0, and its rank."""

    rows: np.ndarray
    sq_distances: np.ndarray
    nearest: np.ndarray


def kernel_kmeans_plusplus(
    K_or_X: Any, n_seeds: int, *, kernel: str = "gaussian", sample_weight: npt.ArrayLike | None = None,
    weight: str | None = "weight", rng: Seed = None, progress: ProgressLike = None,
) -> KernelSeeds:  # fmt: skip
    """Draw seeds, each with probability proportional to weight x squared distance to those before; O(n n_seeds).

    The first is drawn by weight. K_or_X, kernel, sample_weight, weight : see `kernel_kmeans`. Fewer seeds, with a
    ConvergenceWarning, where all other points coincide with one.

    >>> seeds = kernel_kmeans_plusplus([[0.0], [0.1], [9.0]], 2, kernel="linear", rng=1)
    >>> sorted(seeds.rows.tolist()) != [0, 1]
    True
    """
    rng = as_generator(rng)
    kernel_ = as_kernel(K_or_X, kernel, weight)
    n_seeds = as_cluster_count(as_whole_number(n_seeds, "n_seeds", at_least=1), kernel_.n)
    seeds = draw_seeds(kernel_, point_weights(kernel_, sample_weight), n_seeds, rng, as_progress(progress))
    warn_if_fewer(len(seeds.rows), n_seeds)
    return seeds


def draw_seeds(
    kernel: Kernel, weights: np.ndarray, n_seeds: int, rng: np.random.Generator, progress: Progress
) -> KernelSeeds:
    """`kernel_kmeans_plusplus` without its checks."""
    rows = np.empty(n_seeds, np.int64)
    masses = weights
    sq_distances, nearest = np.full(kernel.n, np.inf), np.zeros(kernel.n, np.int64)
    least = _ROUND_OFF * max(float(np.abs(kernel.diagonal).max()), np.finfo(np.float64).tiny)
    for rank in range(n_seeds):
        rows[rank] = _draw(masses, rng.random())
        _approach(kernel, rows, rank, sq_distances, nearest)
        sq_distances[sq_distances <= least] = 0.0
        masses = weights * sq_distances
        progress.step(rank + 1, n_seeds)
        if not masses.any():
            return KernelSeeds(rows[: rank + 1], sq_distances, nearest)
    return KernelSeeds(rows, sq_distances, nearest)


def nearest_seeds(kernel: Kernel, rows: np.ndarray) -> np.ndarray:
    """Rank of the nearest of these points for each point, ties to the lowest; shape (n,)."""
    sq_distances, nearest = np.full(kernel.n, np.inf), np.zeros(kernel.n, np.int64)
    for rank in range(len(rows)):
        _approach(kernel, rows, rank, sq_distances, nearest)
    return nearest


def _draw(masses: np.ndarray, uniform: float) -> int:
    cumulative = np.cumsum(masses)
    drawn = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
    return min(drawn, int(np.searchsorted(cumulative, cumulative[-1])))  # should a product round up


def _approach(kernel: Kernel, rows: np.ndarray, rank: int, sq_distances: np.ndarray, nearest: np.ndarray) -> None:
    seed = rows[rank]
    for first in range(0, kernel.n, _SLICE):
        piece = slice(first, min(first + _SLICE, kernel.n))
        to_seed = kernel.diagonal[piece] + kernel.diagonal[seed] - 2.0 * kernel.block(rows[rank : rank + 1], piece)[0]
        closer = to_seed < sq_distances[piece]
        sq_distances[piece][closer] = to_seed[closer]
        nearest[piece][closer] = rank
    if sq_distances[seed] > 0.0:  # rounding
        sq_distances[seed], nearest[seed] = 0.0, rank
