"""Mini-batch kernel k-means: each step moves the centers toward the means of a random batch.

"Mini-batch kernel k-means", Algorithm 1. The inner products of all points with the centers follow by recursion, so a
step costs O(n (b + k)); the truncated form does without them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.checks import Seed, as_array, as_choice, as_generator, as_number, as_whole_number
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.points.kernel_k_means.centers import KernelCenters, KernelKMeansResult, label_points
from graphclust.points.kernel_k_means.choice import as_weighted_kernel
from graphclust.points.kernel_k_means.kernel import Kernel
from graphclust.points.kernel_k_means.seeding import draw_seeds, warn_if_fewer_points
from graphclust.progress import Progress, ProgressLike, as_progress

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


def minibatch_kernel_kmeans(
    K_or_X: Any,
    k: int,
    *,
    kernel: str = "gaussian",
    sample_weight: npt.ArrayLike | None = None,
    weight: str | None = "weight",
    init: Any = "kernel k-means++",
    batch_size: int = 1024,
    rate: str = "sqrt",
    max_iter: int = 200,
    tol: float | None = None,
    batches: Iterable[Any] | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> KernelKMeansResult:
    """Cluster points into k parts in the feature space of a kernel by mini-batches; O(n (batch_size + k)) a batch.

    K_or_X, kernel, weight : see `kernel_kmeans`. sample_weight : points are drawn in proportion, and then count alike.
    init : "kernel k-means++", or k row numbers, of the points that the centers start from.
    batch_size : points drawn for a batch, with repetition; may exceed n.
    rate : how far a center with b_j of the b points of a batch goes toward their mean: "sqrt" for sqrt(b_j / b)
        (Schwartzman 2023), "count" for b_j over all it ever had (scikit-learn). One without points stays.
    max_iter, tol : batches; stop when one lowers its own mean squared distance by less than `tol`, >= 0; None never.
    batches : row numbers of each batch, instead of drawing them; max_iter still holds.

    The labels are the nearest centers, the cost is for these centers; a cluster may have no point in the end.
    `history` is the mean squared distance within each batch before the step.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Jourdan & Schwartzman 2024, "Mini-batch kernel k-means", Algorithm 1; rates of
    Schwartzman 2023 and Sculley 2010.

    >>> result = minibatch_kernel_kmeans([[0.0], [1.0], [10.0], [11.0]], 2, kernel="linear", max_iter=20, rng=1)
    >>> bool(result.labels[0] == result.labels[1] != result.labels[2])
    True
    """
    rng, progress = as_generator(rng), as_progress(progress)
    kernel_, k, weights = as_weighted_kernel(K_or_X, k, kernel, sample_weight, weight)
    batch_size = as_whole_number(batch_size, "batch_size", at_least=1, at_most=2**31 - 1)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    tol = -np.inf if tol is None else as_number(tol, "tol", at_least=0.0)
    as_choice(rate, "rate", RATES)
    seeds, n_clipped = initial_rows(kernel_, weights, k, init, rng, progress)
    k = len(seeds)
    inner = np.zeros((k, kernel_.n))
    kernel_.add_sums(sparse.eye_array(k, format="csc"), seeds, slice(None), inner, Progress())
    sq_norms = kernel_.diagonal[seeds]
    totals = np.zeros(k)
    steps: list[tuple[np.ndarray, ...]] = [(seeds, np.arange(k), np.ones(k), np.ones(k))]
    history: list[float] = []
    with progress.interruptible(), progress.stage("kernel k-means"):
        for batch in draw_batches(batches, weights, batch_size, max_iter, rng):
            if len(history).bit_count() < 2:  # after 0, 1, 2, 4, ... rounds: a round that is interrupted spoils `inner`
                progress.offer((sq_norms[:, None] - 2.0 * inner).argmin(axis=0).copy)
            to_centers = sq_norms[:, None] - 2.0 * inner[:, batch]
            labels = to_centers.argmin(axis=0)
            history.append(float((kernel_.diagonal[batch] + to_centers.min(axis=0)).mean()))
            counts = np.bincount(labels, minlength=k)
            totals += counts
            share = shares(counts, totals, rate)
            votes = sparse.csc_array(
                (share[labels] / counts[labels], (labels, np.arange(len(batch)))), shape=(k, len(batch))
            )
            before = _means(inner[labels, batch], labels, counts)
            inner *= (1.0 - share)[:, None]
            kernel_.add_sums(votes, batch, slice(None), inner, Progress())
            after = _means(inner[labels, batch], labels, counts)
            # <c', c'> = (1-a) <c, c'> + a <mean, c'>, and <c, c'> = (1-a) <c, c> + a <c, mean>.
            sq_norms = (1.0 - share) ** 2 * sq_norms + share * (1.0 - share) * before + share * after
            steps.append((batch, labels, share, counts))
            progress.step(len(history), max_iter)
            if tol > -np.inf:
                now = (kernel_.diagonal[batch] + (sq_norms[:, None] - 2.0 * inner[:, batch]).min(axis=0)).mean()
                if history[-1] - now < tol:
                    break
            if len(history) == max_iter or progress.out_of_time():
                break
    to_centers = sq_norms[:, None] - 2.0 * inner
    centers = KernelCenters(kernel_, *_combinations(steps, k), sq_norms)
    nearest = to_centers.argmin(axis=0)
    result = label_points(centers, nearest, kernel_.diagonal + to_centers.min(axis=0), weights, history)
    return replace(result, n_clipped=n_clipped)


def _means(values: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    sums = np.bincount(labels, values, minlength=len(counts))
    return np.divide(sums, counts, out=np.zeros(len(counts)), where=counts > 0)


def _combinations(steps: list[tuple], k: int) -> tuple[np.ndarray, sparse.csr_array]:
    """The points that the centers are made of, and the coefficients: a_l / b_l x product of (1 - a) of later steps."""
    kept = np.ones(k)
    values = []
    for _, labels, share, counts in reversed(steps):
        values.append((kept * share)[labels] / counts[labels])
        kept = kept * (1.0 - share)
    rows, positions = np.unique(np.concatenate([batch for batch, *_ in steps]), return_inverse=True)
    entries = np.concatenate(values[::-1]), (np.concatenate([labels for _, labels, *_ in steps]), positions)
    combined = sparse.csr_array(entries, shape=(k, len(rows)))
    combined.eliminate_zeros()
    return rows, combined
