"""Centers in feature space, each a combination of some points; labels of all points by them; the family's result."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.checks import as_array
from graphclust.graph.matrices import as_checked_csr
from graphclust.points.kernel_k_means.matrix_kernels import BLOCK_ENTRIES, Kernel, count_negative, gamma
from graphclust.progress import Progress


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
            kernel.add_sums(coefficients, self.rows, chosen, inner, Progress())
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


def centers_of(kernel: Kernel, weights: np.ndarray, labels: np.ndarray, sq_norms: np.ndarray) -> KernelCenters:
    """The means of clusters given by labels."""
    k = len(sq_norms)
    rows = np.flatnonzero(weights > 0.0)
    masses = np.bincount(labels, weights, minlength=k)
    coefficients = weights[rows] / masses[labels[rows]]
    entries = (coefficients, (labels[rows], np.arange(len(rows))))
    return KernelCenters(kernel, rows, sparse.csr_array(entries, shape=(k, len(rows))), sq_norms)


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
