"""Mini-batch kernel k-means: each step moves the centers toward the means of a random batch.

"Mini-batch kernel k-means", Algorithms 1 and 2. In the first the inner products of all points with the centers follow
by recursion, so a step costs O(n (b + k)). In the second, the truncated form, no step sees all points: a center is a
combination of its latest batch means alone. Of two means of one cluster the inner product is known from when the later
one was assigned, so a step only computes the kernel between the new batch and the points of the centers.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.checks import Seed, as_array, as_choice, as_generator, as_number, as_whole_number
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.points.kernel_k_means.full_batch import KernelCenters, KernelKMeansResult, label_points
from graphclust.points.kernel_k_means.matrix_kernels import Kernel
from graphclust.points.kernel_k_means.seeding import as_weighted_kernel, draw_seeds, warn_if_fewer_points
from graphclust.progress import Progress, ProgressLike, as_progress

RATES = ("sqrt", "count")


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
    given = (K_or_X, k, kernel, sample_weight, weight, init, batch_size, rate, max_iter, tol, batches, rng)
    return _cluster(_CentersOfAll, *given, as_progress(progress))


def truncated_kernel_kmeans(
    K_or_X: Any,
    k: int,
    *,
    kernel: str = "gaussian",
    sample_weight: npt.ArrayLike | None = None,
    weight: str | None = "weight",
    init: Any = "kernel k-means++",
    batch_size: int = 1024,
    tau: int = 50,
    rate: str = "sqrt",
    renormalize: bool = True,
    max_iter: int = 200,
    tol: float | None = None,
    batches: Iterable[Any] | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> KernelKMeansResult:
    """Cluster points into k parts in the feature space of a kernel by mini-batches that soon are forgotten.

    A batch costs at most O(k (tau + batch_size)^2). Between the choice of the first centers and the final labels
    nothing of size n is read or written.

    tau : a center keeps the shortest run of its latest batch means that hold at least `tau` points together, so fewer
        than tau + batch_size points. As long as no mean has been dropped it keeps the point it started from as well.
        Old means hold a center back while it still moves, and steady it later. On four data sets (100 iterations,
        b = 1024, rate "sqrt") ARI and NMI at 50 are within 0.01 of their values at 200, which takes 1.2 to 1.9 times
        as long.
    renormalize : divide the coefficients that were kept by their sum. The paper's algorithm does not, and its centers
        shrink toward 0, each by a factor of its own.
    All else : see `minibatch_kernel_kmeans`, which it equals for tau large enough.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Jourdan & Schwartzman 2024, "Mini-batch kernel k-means", Algorithm 2; the rate "sqrt" is that of
    Schwartzman 2023.

    >>> points = [[0.0], [1.0], [10.0], [11.0]]
    >>> result = truncated_kernel_kmeans(points, 2, kernel="linear", batch_size=8, tau=5, max_iter=20, rng=1)
    >>> bool(result.labels[0] == result.labels[1] != result.labels[2])
    True
    """
    windows = partial(_Windows, tau=as_whole_number(tau, "tau", at_least=1), renormalize=renormalize)
    given = (K_or_X, k, kernel, sample_weight, weight, init, batch_size, rate, max_iter, tol, batches, rng)
    return _cluster(windows, *given, as_progress(progress))


def _cluster(
    start: Callable[[Kernel, np.ndarray, Progress], "_CentersOfAll | _Windows"], K_or_X: Any, k: Any, kernel: str,
    sample_weight: Any, weight: str | None, init: Any, batch_size: Any, rate: str, max_iter: Any, tol: Any,
    batches: Iterable[Any] | None, rng: Seed, progress: Progress,
) -> KernelKMeansResult:  # fmt: skip
    """Both algorithms, which differ in how centers are kept; arguments as in `minibatch_kernel_kmeans`."""
    rng = as_generator(rng)
    kernel_, k, weights = as_weighted_kernel(K_or_X, k, kernel, sample_weight, weight)
    batch_size = as_whole_number(batch_size, "batch_size", at_least=1, at_most=2**31 - 1)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    tol = -np.inf if tol is None else as_number(tol, "tol", at_least=0.0)
    as_choice(rate, "rate", RATES)
    if isinstance(init, str):
        as_choice(init, "init", ("kernel k-means++",))
        with progress.stage("seeding"):
            seeds, _, _, n_clipped = draw_seeds(kernel_, weights, k, rng, progress)
        warn_if_fewer_points(len(seeds), k, n_clipped)
    else:
        seeds, n_clipped = _as_rows(init, "init", kernel_.n), 0
        if len(seeds) != k:
            raise GraphValidationError(f"init has {len(seeds)} rows, expected one a cluster: {k}")
    totals = np.zeros(len(seeds))
    history: list[float] = []
    with progress.interruptible(), progress.stage("kernel k-means"):
        learner = start(kernel_, seeds, progress)
        for batch in draw_batches(batches, weights, batch_size, max_iter, rng):
            to_centers = learner.sq_distances(batch)
            labels = to_centers.argmin(axis=0)
            history.append(float((kernel_.diagonal[batch] + to_centers.min(axis=0)).mean()))
            counts = np.bincount(labels, minlength=len(seeds))
            totals += counts
            learner.learn(batch, labels, counts, shares(counts, totals, rate))
            progress.step(len(history), max_iter)
            if tol > -np.inf:
                now = (kernel_.diagonal[batch] + learner.sq_distances(batch).min(axis=0)).mean()
                if history[-1] - now < tol:
                    break
            if len(history) == max_iter or progress.out_of_time():
                break
    return label_points(*learner.assign(), weights, history, n_clipped)


class _CentersOfAll:
    """Centers as the inner products of all points with them, and the steps that led to these."""

    def __init__(self, kernel: Kernel, seeds: np.ndarray, progress: Progress):
        k = len(seeds)
        self.kernel, self.progress = kernel, progress
        self.inner = np.zeros((k, kernel.n))
        kernel.add_sums(sparse.eye_array(k, format="csc"), seeds, slice(None), self.inner)
        self.sq_norms = kernel.diagonal[seeds]
        self.steps: list[tuple[np.ndarray, ...]] = [(seeds, np.arange(k), np.ones(k), np.ones(k))]
        self._offer()

    def _offer(self) -> None:
        """After 0, 1, 2, 4, ... steps: a step that is interrupted spoils the products."""
        if (len(self.steps) - 1).bit_count() < 2:
            self.progress.offer(self.sq_distances(slice(None)).argmin(axis=0).copy)

    def sq_distances(self, batch: np.ndarray | slice) -> np.ndarray:
        """|c_j|^2 - 2 <x, c_j>, shape (k, b), of the points x of a batch."""
        return self.sq_norms[:, None] - 2.0 * self.inner[:, batch]

    def learn(self, batch: np.ndarray, labels: np.ndarray, counts: np.ndarray, share: np.ndarray) -> None:
        """Move each center by its share to the mean of its points in the batch of which distances were last asked."""
        inner, shape = self.inner, (len(share), len(batch))
        votes = sparse.csc_array((share[labels] / counts[labels], (labels, np.arange(len(batch)))), shape=shape)
        before = _means(inner[labels, batch], labels, counts)
        inner *= (1.0 - share)[:, None]
        self.kernel.add_sums(votes, batch, slice(None), inner)
        after = _means(inner[labels, batch], labels, counts)
        # <c', c'> = (1-a) <c, c'> + a <mean, c'>, and <c, c'> = (1-a) <c, c> + a <c, mean>.
        self.sq_norms = (1.0 - share) ** 2 * self.sq_norms + share * (1.0 - share) * before + share * after
        self.steps.append((batch, labels, share, counts))
        self._offer()

    def assign(self) -> tuple[KernelCenters, np.ndarray, np.ndarray]:
        """The centers, of each point the nearest, and the squared distance to it."""
        # A point of step l has the coefficient a_l / b_l times the product of (1 - a) of later steps.
        kept, values = np.ones(len(self.sq_norms)), []
        for _, labels, share, counts in reversed(self.steps):
            values.append((kept * share)[labels] / counts[labels])
            kept = kept * (1.0 - share)
        clusters = np.concatenate([labels for _, labels, *_ in self.steps])
        centers = _combine(self.kernel, [batch for batch, *_ in self.steps], values[::-1], clusters, self.sq_norms)
        centers.coefficients.eliminate_zeros()
        to_centers = self.sq_distances(slice(None))
        return centers, to_centers.argmin(axis=0), self.kernel.diagonal + to_centers.min(axis=0)


def _means(values: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    sums = np.bincount(labels, values, minlength=len(counts))
    return np.divide(sums, counts, out=np.zeros(len(counts)), where=counts > 0)


def _combine(
    kernel: Kernel, rows: list[np.ndarray], values: list[np.ndarray], clusters: np.ndarray, sq_norms: np.ndarray
) -> KernelCenters:
    """Centers of points, each with its coefficient and its center."""
    points, positions = np.unique(np.concatenate(rows), return_inverse=True)
    entries = np.concatenate(values), (clusters, positions)
    return KernelCenters(kernel, points, sparse.csr_array(entries, shape=(len(sq_norms), len(points))), sq_norms)


class _Windows:
    """Centers as windows of batch means, which see no other points than those of batches."""

    def __init__(self, kernel: Kernel, seeds: np.ndarray, progress: Progress, tau: int, renormalize: bool):
        self.kernel, self.progress = kernel, progress
        self.clusters = [Window(seed, float(kernel.diagonal[seed]), tau, renormalize) for seed in seeds]

    def sq_distances(self, batch: np.ndarray) -> np.ndarray:
        """|c_j|^2 - 2 <x, c_j>, shape (k, b), of the points x of a batch, by the products of all means with them."""
        means = [rows for cluster in self.clusters for rows in cluster.rows]
        sizes = np.array([len(rows) for rows in means])
        # Of few points the draws are mostly repetitions: each is met once.
        rows, places = np.unique(np.concatenate(means), return_inverse=True)
        points, places_in_batch = np.unique(batch, return_inverse=True)
        entries = np.repeat(1.0 / sizes, sizes), (np.repeat(np.arange(len(means)), sizes), places)
        votes = sparse.csc_array(entries, shape=(len(means), len(rows)))
        of_means = np.zeros((len(means), len(points)))
        self.kernel.add_sums(votes, rows, points, of_means)
        ends = np.cumsum([len(cluster.rows) for cluster in self.clusters])
        # Inner products of each cluster's means with the points of the batch.
        self.products = np.split(of_means[:, places_in_batch], ends[:-1])
        of_clusters = zip(self.clusters, self.products, strict=True)
        return np.stack([cluster.sq_norm - 2.0 * (cluster.scaled @ products) for cluster, products in of_clusters])

    def learn(self, batch: np.ndarray, labels: np.ndarray, counts: np.ndarray, share: np.ndarray) -> None:
        order = np.argsort(labels, kind="stable")
        met = np.flatnonzero(counts)
        members = np.split(order, np.cumsum(counts[met])[:-1])
        sq_norms = self.kernel.mean_sq_norms(batch[order], counts[met])
        for j, chosen, sq_norm in zip(met, members, sq_norms, strict=True):
            own = self.products[j].take(chosen, axis=1)
            self.clusters[j].learn(batch[chosen], share[j], own.sum(axis=1) / len(chosen), sq_norm)

    def assign(self) -> tuple[KernelCenters, np.ndarray, np.ndarray]:
        sizes = [np.array([len(rows) for rows in cluster.rows]) for cluster in self.clusters]
        values = [np.repeat(c.scaled / s, s) for c, s in zip(self.clusters, sizes, strict=True)]
        labels = np.repeat(np.arange(len(sizes)), [s.sum() for s in sizes])
        drawn = [rows for cluster in self.clusters for rows in cluster.rows]
        centers = _combine(self.kernel, drawn, values, labels, np.array([c.sq_norm for c in self.clusters]))
        with self.progress.stage("labels"):
            return centers, *centers.assign(self.progress)


class Window:
    """A center: the point it started from and its latest batch means, oldest first.

    rows : the points of each mean; the first is the starting point alone while `has_start`. coefficients : shape (q,),
    scaled : as they count, shape (q,). gram : inner products of the means, (q, q). sq_norm : |c|^2.
    """

    def __init__(self, seed: int, self_affinity: float, tau: int, renormalize: bool):
        self.tau, self.renormalize = tau, renormalize
        self.rows = [np.array([seed])]
        self.has_start = True
        self.coefficients = self.scaled = np.ones(1)
        self.gram = np.array([[self_affinity]])
        self.sq_norm = self_affinity

    def learn(self, rows: np.ndarray, share: float, cross: np.ndarray, within: float) -> None:
        """Go by `share` toward the mean of these rows; cross : its products with the old means; within : |mean|^2."""
        q = len(self.rows)
        gram = np.empty((q + 1, q + 1))
        gram[:q, :q], gram[q, :q], gram[:q, q], gram[q, q] = self.gram, cross, cross, within
        coefficients = np.empty(q + 1)
        coefficients[:q], coefficients[q] = self.coefficients * (1.0 - share), share
        self.rows.append(rows)
        first = self._start_of_run()
        if first > 0:
            self.has_start = False
            del self.rows[:first]
            gram, coefficients = gram[first:, first:], coefficients[first:]
        self.gram, self.coefficients = gram, coefficients
        self.scaled = coefficients / coefficients.sum() if self.renormalize else coefficients
        self.sq_norm = float(self.scaled @ gram @ self.scaled)

    def _start_of_run(self) -> int:
        """Where the shortest run of the latest means with tau points begins; 0 if that drops no mean."""
        held = 0
        for first in range(len(self.rows) - 1, int(self.has_start), -1):
            held += len(self.rows[first])
            if held >= self.tau:
                return first
        return 0
