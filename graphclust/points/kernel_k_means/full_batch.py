"""Centers in feature space, the family's result, and weighted kernel k-means on all points.

That is Lloyd's iteration in feature space (Dhillon, Guan & Kulis 2007, Algorithm 1). The sums F_jx = sum of w_y k(x, y)
over y in cluster j are kept from one iteration to the next: a point whose label did not change costs nothing.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from graphclust.checks import Seed, as_array, as_choice, as_generator, as_labels, as_number, as_whole_number
from graphclust.errors import GraphValidationError
from graphclust.graph.matrices import as_checked_csr
from graphclust.points.kernel_k_means.matrix_kernels import BLOCK_ENTRIES, Kernel, count_negative, gamma
from graphclust.points.kernel_k_means.seeding import as_weighted_kernel, draw_seeds, nearest_seeds, warn_if_fewer_points
from graphclust.progress import Progress, ProgressLike, as_progress


@dataclass(frozen=True, eq=False)
class KernelCenters:
    """c_j = sum over points of coefficient x phi(point).

    rows : int64, shape (s,), the points that the centers are made of.
    coefficients : shape (k, s), CSR. sq_norms : shape (k,), |c_j|^2; infinite where a cluster is empty.
    """

    kernel: Kernel
    rows: np.ndarray
    coefficients: sparse.csr_array
    sq_norms: np.ndarray

    def __repr__(self) -> str:
        return f"KernelCenters({len(self.sq_norms)} of {len(self.rows)} points, {type(self.kernel).__name__})"

    def assign(self, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
        """Of each of the kernel's points the nearest center, ties to the lowest, and the squared distance to it."""
        kernel = self.kernel
        labels, sq_distances = np.empty(kernel.n, np.int64), np.empty(kernel.n)
        width = max(1, BLOCK_ENTRIES // len(self.rows))
        coefficients = self.coefficients.tocsc()
        for first in range(0, kernel.n, width):
            chosen = slice(first, min(first + width, kernel.n))
            inner = np.zeros((len(self.sq_norms), chosen.stop - first))
            kernel.add_sums(coefficients, self.rows, chosen, inner)
            to_centers = self.sq_norms[:, None] - 2.0 * inner
            labels[chosen] = to_centers.argmin(axis=0)
            sq_distances[chosen] = kernel.diagonal[chosen] + to_centers.min(axis=0)
            progress.step(chosen.stop, kernel.n)
        return labels, sq_distances

    def sq_distances_to(self, Y: Any) -> np.ndarray:
        """|phi(y) - c_j|^2 of new points, shape (m, k)."""
        Y = as_checked_csr(Y, "Y") if sparse.issparse(Y) else as_array(Y, "Y")
        height = max(1, BLOCK_ENTRIES // len(self.rows))
        pieces = [Y]
        if Y.ndim == 2 and Y.shape[0] > height:  # entries of many points at a time would fill the memory
            pieces = [Y[first : first + height] for first in range(0, Y.shape[0], height)]
        blocks = []
        for piece in pieces:
            entries, self_affinities = self.kernel.against(piece, self.rows)
            inner = (self.coefficients @ entries.T.astype(np.float64)).T
            blocks.append(self_affinities[:, None] + self.sq_norms - 2.0 * inner)
        return np.vstack(blocks)


@dataclass(frozen=True, eq=False)
class KernelKMeansResult:
    """What kernel k-means found.

    labels : int64, shape (n,), in [0, k); -1 for what the kernel says is no point, such as an isolated node.
    cost : sum of w |phi(x) - its center|^2. On graphs, when the centers are the clusters' means, it is the normalized
        cut but for a constant.
    n_iter : updates of the centers. history : the cost (of a batch, its mean) at each, shape (n_iter,).
    gamma : sqrt(max k(x, x)); by kernel="linear" that of x less a point near their mean, where the points are more than
        1,000 times their spread from zero.
    n_negative : points whose squared distance to their center is below zero by more than rounding, which no positive
        semi-definite kernel gives.
    proposed_shift : s for which K + s W^-1, W the weights, is positive semi-definite; every partition into k parts then
        costs s (n - k) more. 0 where no distance was negative, None where it was not sought.
    centers : the centers.
    n_clipped : how many squared distances below zero became 0 while seeds were drawn (see `KernelSeeds`).
    cost_on_coreset : the weighted cost of the coreset's points at their last labels; None where no coreset was drawn.
    """

    labels: np.ndarray
    cost: float
    n_iter: int
    history: np.ndarray
    gamma: float
    n_negative: int
    proposed_shift: float | None
    centers: KernelCenters
    n_clipped: int = 0
    cost_on_coreset: float | None = None

    def __repr__(self) -> str:
        return (
            f"KernelKMeansResult(k={len(self.centers.sq_norms)}, n={len(self.labels)}, cost={self.cost:.6g}, "
            f"n_iter={self.n_iter}, n_negative={self.n_negative}, n_clipped={self.n_clipped})"
        )

    def predict(self, Y: Any) -> np.ndarray:
        """The nearest center of each new point, ties to the lowest; shape (m,), int64.

        Y : vectors (m, d), or for a matrix K or a graph the rows k(y, x) for all points x, (m, n), dense or sparse.

        Raises GraphValidationError for points of another shape or not finite, TypeError where the kernel knows no other
        points than its own.

        >>> from graphclust import kernel_kmeans
        >>> kernel_kmeans([[0.0], [1.0], [9.0]], 2, kernel="linear", init=[0, 0, 1]).predict([[8.0], [2.0]])
        array([1, 0])
        """
        return self.centers.sq_distances_to(Y).argmin(axis=1)


def label_points(
    centers: KernelCenters, labels: np.ndarray, sq_distances: np.ndarray, weights: np.ndarray, history: list[float],
    n_clipped: int, cost_on_coreset: float | None = None,
) -> KernelKMeansResult:  # fmt: skip
    """The result for learned centers: every point gets the nearest one."""
    kernel = centers.kernel
    cost = float((weights * sq_distances).sum())
    scale = np.abs(kernel.diagonal) + np.abs(centers.sq_norms[labels])
    n_negative = count_negative(sq_distances[weights > 0.0], scale[weights > 0.0], kernel)
    if kernel.weights is not None:
        labels[kernel.weights == 0.0] = -1
    return KernelKMeansResult(
        labels, cost, len(history), np.array(history), gamma(kernel), n_negative, None if n_negative else 0.0, centers,
        n_clipped, cost_on_coreset,
    )  # fmt: skip


# A point leaves its cluster only for one nearer by more than this, relative to the squared lengths that rounding feeds
# on: its own, and the mean ones of both clusters. Another point may be as long or as light as it likes.
_TIE = 1e-12
_FEW_POINTS = 64  # whose eigenvalues are found by a dense method


def kernel_kmeans(
    K_or_X: Any,
    k: int,
    *,
    kernel: str = "gaussian",
    sample_weight: npt.ArrayLike | None = None,
    weight: str | None = "weight",
    init: Any = "kernel k-means++",
    max_iter: int = 300,
    incremental: bool = True,
    shift: float = 0.0,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> KernelKMeansResult:
    """Cluster points into k parts in the feature space of a kernel; k(x, x) may be anything.

    K_or_X : points (n, d), or with kernel="precomputed" a symmetric matrix (n, n), dense or SciPy sparse; a `Graph` or
        NetworkX graph, for which it minimizes the normalized cut; or a kernel object such as `GaussianKernel(X, 2.0)`.
    kernel : "gaussian", "laplacian", "polynomial", "linear", "cosine", "precomputed", or "normalized cut" for an
        adjacency matrix. Has to be one of these words also when K_or_X is a graph or a kernel object, but is not used.
    sample_weight : weights >= 0, shape (n,); by default ones, on graphs the degrees.
    weight : edge attribute of a NetworkX graph, None for all ones, see `as_graph`; for graphs only.
    init : "kernel k-means++", or labels in [0, k), shape (n,), to start from.
    max_iter : updates at most. It ends earlier when no label changes.
    incremental : False sums over all points again in every iteration: the same result but for rounding, and slow.
    shift : s >= 0, iterate with K + s W^-1, for kernels that are not positive semi-definite: it orders all k-partitions
        as K does, and makes points stay where they are. The reported cost is that of K.

    A cluster that lost all its points takes the one with the largest w |phi(x) - its mean|^2; where there is none, it
    stays empty, with a ConvergenceWarning. The memory is 8 n k bytes and a few MB; a kernel of points is never stored.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Dhillon, Guan & Kulis 2007, "Weighted graph cuts without eigenvectors", Algorithm 1, and the shift by which
    they make K positive semi-definite; seeds by Arthur & Vassilvitskii 2007.

    >>> result = kernel_kmeans([[0.0], [1.0], [10.0], [11.0]], 2, kernel="linear", rng=1)
    >>> result.cost, bool(result.labels[0] == result.labels[1] != result.labels[2])
    (1.0, True)
    """
    rng, progress = as_generator(rng), as_progress(progress)
    kernel_, k, weights = as_weighted_kernel(K_or_X, k, kernel, sample_weight, weight)
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    shift = as_number(shift, "shift", at_least=0.0)
    if isinstance(init, str):
        as_choice(init, "init", ("kernel k-means++",))
        with progress.stage("seeding"):
            seeds = draw_seeds(kernel_, weights, k, rng, progress)
            labels = nearest_seeds(kernel_, seeds.rows)
        n_clipped = seeds.n_clipped
    else:
        n_clipped = 0
        labels = as_labels(init, kernel_.n, "init").copy()
        if labels.min() < 0 or labels.max() >= k:
            raise GraphValidationError(
                f"init holds labels from {labels.min()} to {labels.max()}, expected them in [0, k) = [0, {k})"
            )
    result = iterate(Partition(kernel_, weights, labels, k, shift), max_iter, incremental, progress)
    warn_if_fewer_points(int(np.isfinite(result.centers.sq_norms).sum()), k, n_clipped)
    return replace(result, n_clipped=n_clipped)


class Partition:
    """Labels, masses s_j and sums F_jx = sum of w_y k(x, y) over y in cluster j; points of weight 0 have no vote."""

    def __init__(self, kernel: Kernel, weights: np.ndarray, labels: np.ndarray, k: int, shift: float):
        self.kernel, self.weights, self.labels, self.k, self.shift = kernel, weights, labels, k, shift
        self.sums = np.zeros((k, kernel.n))
        self.tie = max(_TIE, 8 * float(np.finfo(kernel.dtype).eps))

    def sum_afresh(self) -> None:
        self.sums[:] = 0.0
        voters = np.flatnonzero(self.weights > 0.0)
        voters = voters[np.argsort(self.labels[voters], kind="stable")]  # rows that vote alike are added up together
        votes = (self.weights[voters], (self.labels[voters], np.arange(len(voters))))
        shape = (self.k, len(voters))
        self.kernel.add_sums(sparse.csc_array(votes, shape=shape), voters, slice(None), self.sums)
        self._weigh()

    def move(self, changed: np.ndarray, to: np.ndarray, *, add: bool = True) -> None:
        """Give these points other labels; F follows unless `add` is False."""
        voters = np.flatnonzero(self.weights[changed] > 0.0)
        if add and len(voters):
            rows = changed[voters]
            places = np.arange(len(rows))
            signed = np.concatenate([self.weights[rows], -self.weights[rows]])
            clusters = np.concatenate([to[voters], self.labels[rows]])
            votes = sparse.csc_array((signed, (clusters, np.tile(places, 2))), shape=(self.k, len(rows)))
            self.kernel.add_sums(votes, rows, slice(None), self.sums)
        self.labels[changed] = to
        self._weigh()

    def _weigh(self) -> None:
        self.masses = np.bincount(self.labels, self.weights, minlength=self.k)
        self.sums[self.masses == 0.0] = 0.0  # what rounding left

    def own_sums(self) -> np.ndarray:
        """F of each point with its own cluster, shape (n,)."""
        return self.sums[self.labels, np.arange(self.kernel.n)]

    def sq_norms(self) -> np.ndarray:
        """|c_j|^2 for K, shape (k,); 0 for an empty cluster."""
        within = np.bincount(self.labels, self.weights * self.own_sums(), minlength=self.k)
        return np.divide(within, self.masses**2, out=np.zeros(self.k), where=self.masses > 0.0)

    def mean_sq_lengths(self) -> np.ndarray:
        """What numbers about each cluster are made of, (k,): its mean |k(x, x)|, |c_j|^2, and what the shift adds.

        An inner product with the mean is by Cauchy and Schwarz no longer than half of that and of |k(x, x)| together.
        """
        totals = np.bincount(self.labels, self.weights * np.abs(self.kernel.diagonal), minlength=self.k)
        means = np.divide(totals + 3.0 * self.shift, self.masses, out=np.zeros(self.k), where=self.masses > 0.0)
        return means + np.abs(self.sq_norms())

    def own_sq_distances(self) -> np.ndarray:
        """|phi(x) - mean of its cluster|^2 for K, shape (n,)."""
        masses = self.masses[self.labels]
        inner = np.divide(self.own_sums(), masses, out=np.zeros(self.kernel.n), where=masses > 0.0)
        return self.kernel.diagonal + self.sq_norms()[self.labels] - 2.0 * inner

    def relative_sq_distances(self) -> np.ndarray:
        """|c_j|^2 - 2 <x, c_j> for K + shift W^-1, shape (k, n); infinite for empty clusters."""
        inverse = np.divide(1.0, self.masses, out=np.zeros(self.k), where=self.masses > 0.0)
        to_means = self.sums * (-2.0 * inverse)[:, None]
        to_means += (self.sq_norms() + self.shift * inverse)[:, None]
        voters = np.flatnonzero(self.weights > 0.0)
        to_means[self.labels[voters], voters] -= 2.0 * self.shift * inverse[self.labels[voters]]
        to_means[self.masses == 0.0] = np.inf
        return to_means

    def cost(self) -> float:
        """sum of w |phi(x) - mean of its cluster|^2 for K."""
        return float((self.weights * self.kernel.diagonal).sum() - (self.sq_norms() * self.masses).sum())

    def fill_empty_clusters(self) -> None:
        """Give each empty cluster the costliest point of a cluster that has more than one, as long as there is one."""
        for j in np.flatnonzero(self.masses == 0.0):
            company = np.bincount(self.labels, self.weights > 0.0, minlength=self.k) >= 2
            sq_distances = self.own_sq_distances()
            rounding = self.tie * (np.abs(self.kernel.diagonal) + self.mean_sq_lengths()[self.labels])
            costs = np.where(company[self.labels] & (sq_distances > rounding), self.weights * sq_distances, 0.0)
            dearest = int(np.argmax(costs))
            if costs[dearest] == 0.0:
                break
            self.move(np.array([dearest]), np.array([j]))


def iterate(partition: Partition, max_iter: int, incremental: bool, progress: Progress) -> KernelKMeansResult:
    """`kernel_kmeans` from a partition, whose labels are changed."""
    kernel, weights, labels = partition.kernel, partition.weights, partition.labels
    lengths, points = np.abs(kernel.diagonal), np.arange(kernel.n)
    history: list[float] = []
    with progress.interruptible(), progress.stage("kernel k-means"):
        progress.offer(labels.copy)
        partition.sum_afresh()
        while True:
            partition.fill_empty_clusters()
            to_means = partition.relative_sq_distances()
            nearest = to_means.argmin(axis=0)
            typical = partition.mean_sq_lengths()
            ties = partition.tie * (lengths + typical[labels] + typical[nearest])
            changed = np.flatnonzero(to_means[nearest, points] < to_means[labels, points] - ties)
            if len(changed) == 0 or len(history) == max_iter or (history and progress.out_of_time()):
                break
            history.append(partition.cost())
            partition.move(changed, nearest[changed], add=incremental)
            if not incremental:
                partition.sum_afresh()
            progress.step(len(history), max_iter)
    rows = np.flatnonzero(weights > 0.0)
    scale = lengths + partition.mean_sq_lengths()[labels]
    n_negative = count_negative(partition.own_sq_distances()[rows], scale[rows], kernel)
    proposed = definite_shift(kernel, weights) if n_negative else 0.0
    entries = (weights[rows] / partition.masses[labels[rows]], (labels[rows], np.arange(len(rows))))
    coefficients = sparse.csr_array(entries, shape=(partition.k, len(rows)))
    centers = KernelCenters(kernel, rows, coefficients, np.where(partition.masses > 0.0, partition.sq_norms(), np.inf))
    reported = labels if kernel.weights is None else np.where(kernel.weights > 0.0, labels, -1)
    return KernelKMeansResult(
        reported, partition.cost(), len(history), np.array(history), gamma(kernel), n_negative, proposed, centers
    )


def definite_shift(kernel: Kernel, weights: np.ndarray) -> float:
    """The least s, rounded up by 2 %, for which K + s W^-1 is positive semi-definite: -lambda_min(W^1/2 K W^1/2)."""
    rows = np.flatnonzero(weights > 0.0)
    roots = np.sqrt(weights[rows])
    if len(rows) <= _FEW_POINTS:
        lowest = np.linalg.eigvalsh(roots[:, None] * kernel.block(rows, rows) * roots).min()
    else:
        everything = np.arange(kernel.n)

        def product(vector: np.ndarray) -> np.ndarray:
            scaled = np.zeros(kernel.n)
            scaled[rows] = roots * vector.ravel()
            out = np.zeros((1, kernel.n))
            kernel.add_sums(sparse.csc_array(scaled[None, :]), everything, slice(None), out)
            return roots * out[0, rows]

        operator = LinearOperator((len(rows), len(rows)), product, dtype=np.float64)
        start = np.cos(np.arange(len(rows)))
        lowest = eigsh(operator, 1, which="SA", v0=start, tol=1e-3, return_eigenvectors=False)[0]
    return float(max(0.0, -1.02 * lowest))
