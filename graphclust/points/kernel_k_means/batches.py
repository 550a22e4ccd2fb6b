"""The steps that both mini-batch algorithms share: the first centers, the batches, and the rates of the centers."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from graphclust.checks import as_array, as_choice
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.points.kernel_k_means.kernel import Kernel
from graphclust.points.kernel_k_means.seeding import draw_seeds, warn_if_fewer_points
from graphclust.progress import Progress

RATES = ("sqrt", "count")


def initial_rows(
    kernel: Kernel, weights: np.ndarray, k: int, init: Any, rng: np.random.Generator, progress: Progress
) -> tuple[np.ndarray, int]:
    """The points that the centers start from, drawn, or given as k row numbers; how many distances were clipped."""
    if isinstance(init, str):
        as_choice(init, "init", ("kernel k-means++",))
        with progress.stage("seeding"):
            seeds = draw_seeds(kernel, weights, k, rng, progress)
        warn_if_fewer_points(len(seeds.rows), k, seeds.n_clipped)
        return seeds.rows, seeds.n_clipped
    rows = _as_rows(init, "init", kernel.n)
    if len(rows) != k:
        raise GraphValidationError(f"init has {len(rows)} rows, expected one a cluster: {k}")
    return rows, 0


def draw_batches(
    batches: Iterable[Any] | None, weights: np.ndarray, batch_size: int, max_iter: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """The given batches, or points drawn with repetition, in proportion to weight."""
    if batches is not None:
        yield from (_as_rows(batch, "batches", len(weights)) for batch in batches)
        return
    alike = (weights == weights[0]).all()
    running = np.cumsum(weights)
    last = int(np.searchsorted(running, running[-1]))
    for _ in range(max_iter):
        if alike:
            yield rng.integers(len(weights), size=batch_size)
        else:
            yield np.minimum(np.searchsorted(running, rng.random(batch_size) * running[-1], side="right"), last)


def shares(counts: np.ndarray, totals: np.ndarray, rate: str) -> np.ndarray:
    """The share of the way that each center moves to the mean of its `counts` points in the batch.

    totals : points of each center so far, those of this batch included.
    """
    if rate == "sqrt":
        return np.sqrt(counts / counts.sum())
    return np.divide(counts, totals, out=np.zeros(len(counts)), where=totals > 0)


def _as_rows(rows: Any, name: str, n: int) -> np.ndarray:
    array = as_array(rows, name)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}, expected row numbers")
    if array.ndim != 1 or len(array) == 0 or array.min() < 0 or array.max() >= n:
        raise ParameterError(f"{name} must hold row numbers in [0, {n}), in one dimension, at least one")
    return array.astype(np.int64)
