"""Truncated mini-batch kernel k-means: a center remembers the latest batches alone, and no step sees all points.

"Mini-batch kernel k-means", Algorithm 2. A center is a combination of batch means. Of two means of one cluster the
inner product is known from when the later one was assigned, so a step only computes the kernel between the new batch
and the points of the centers.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.checks import Seed, as_choice, as_generator, as_number, as_whole_number
from graphclust.points.kernel_k_means.centers import KernelCenters, KernelKMeansResult, label_points
from graphclust.points.kernel_k_means.choice import as_weighted_kernel
from graphclust.points.kernel_k_means.kernel import Kernel
from graphclust.points.kernel_k_means.minibatch import RATES, draw_batches, initial_rows, shares
from graphclust.progress import Progress, ProgressLike, as_progress


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
    rng, progress = as_generator(rng), as_progress(progress)
    kernel_, k, weights = as_weighted_kernel(K_or_X, k, kernel, sample_weight, weight)
    batch_size = as_whole_number(batch_size, "batch_size", at_least=1, at_most=2**31 - 1)
    tau = as_whole_number(tau, "tau", at_least=1)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    tol = -np.inf if tol is None else as_number(tol, "tol", at_least=0.0)
    as_choice(rate, "rate", RATES)
    seeds, n_clipped = initial_rows(kernel_, weights, k, init, rng, progress)
    clusters = [Window(seed, float(kernel_.diagonal[seed]), tau, renormalize) for seed in seeds]
    totals = np.zeros(len(seeds))
    history: list[float] = []
    with progress.stage("kernel k-means"):
        for batch in draw_batches(batches, weights, batch_size, max_iter, rng):
            products = _products_of_means(kernel_, [rows for cluster in clusters for rows in cluster.rows], batch)
            to_centers = _relative_sq_distances(clusters, products)
            labels = to_centers.argmin(axis=0)
            history.append(float((kernel_.diagonal[batch] + to_centers.min(axis=0)).mean()))
            counts = np.bincount(labels, minlength=len(seeds))
            totals += counts
            _learn(kernel_, clusters, products, batch, labels, counts, shares(counts, totals, rate))
            progress.step(len(history), max_iter)
            if tol > -np.inf:
                products = _products_of_means(kernel_, [rows for cluster in clusters for rows in cluster.rows], batch)
                now = (kernel_.diagonal[batch] + _relative_sq_distances(clusters, products).min(axis=0)).mean()
                if history[-1] - now < tol:
                    break
            if len(history) == max_iter or progress.out_of_time():
                break
    centers = _combinations(kernel_, clusters)
    with progress.stage("labels"):
        nearest, sq_distances = centers.assign(progress)
    return replace(label_points(centers, nearest, sq_distances, weights, history), n_clipped=n_clipped)


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


def _products_of_means(kernel: Kernel, means: list[np.ndarray], batch: np.ndarray) -> np.ndarray:
    """Inner products of the means of these rows with the points of the batch, shape (len(means), b)."""
    sizes = np.array([len(rows) for rows in means])
    # Of few points the draws are mostly repetitions: each is met once.
    rows, places = np.unique(np.concatenate(means), return_inverse=True)
    points, places_in_batch = np.unique(batch, return_inverse=True)
    entries = np.repeat(1.0 / sizes, sizes), (np.repeat(np.arange(len(means)), sizes), places)
    products = np.zeros((len(means), len(points)))
    kernel.add_sums(sparse.csc_array(entries, shape=(len(means), len(rows))), rows, points, products, Progress())
    return products[:, places_in_batch]


def _relative_sq_distances(clusters: list[Window], products: np.ndarray) -> np.ndarray:
    """|c_j|^2 - 2 <x, c_j>, shape (k, b), from the products of all their means with the points x of a batch."""
    to_centers = np.empty((len(clusters), products.shape[1]))
    ends = np.cumsum([len(cluster.rows) for cluster in clusters])
    for cluster, last, inner in zip(clusters, ends, to_centers, strict=True):
        np.dot(cluster.scaled, products[last - len(cluster.rows) : last], out=inner)
    to_centers *= -2.0
    to_centers += np.array([cluster.sq_norm for cluster in clusters])[:, None]
    return to_centers


def _learn(
    kernel: Kernel, clusters: list[Window], products: np.ndarray, batch: np.ndarray, labels: np.ndarray,
    counts: np.ndarray, share: np.ndarray,
) -> None:  # fmt: skip
    """Move every center that has points in the batch; products : of all means with the points of the batch."""
    order = np.argsort(labels, kind="stable")
    met = np.flatnonzero(counts)
    members = np.split(order, np.cumsum(counts[met])[:-1])
    sq_norms = kernel.mean_sq_norms(batch[order], counts[met])
    ends = np.cumsum([len(cluster.rows) for cluster in clusters])
    for j, chosen, sq_norm in zip(met, members, sq_norms, strict=True):
        cluster = clusters[j]
        own = products[ends[j] - len(cluster.rows) : ends[j]].take(chosen, axis=1)
        cluster.learn(batch[chosen], share[j], own.sum(axis=1) / len(chosen), sq_norm)


def _combinations(kernel: Kernel, clusters: list[Window]) -> KernelCenters:
    sizes = [np.array([len(rows) for rows in cluster.rows]) for cluster in clusters]
    values = np.concatenate([np.repeat(c.scaled / s, s) for c, s in zip(clusters, sizes, strict=True)])
    labels = np.repeat(np.arange(len(clusters)), [s.sum() for s in sizes])
    drawn = np.concatenate([rows for cluster in clusters for rows in cluster.rows])
    rows, positions = np.unique(drawn, return_inverse=True)
    combined = sparse.csr_array((values, (labels, positions)), shape=(len(clusters), len(rows)))
    return KernelCenters(kernel, rows, combined, np.array([cluster.sq_norm for cluster in clusters]))
