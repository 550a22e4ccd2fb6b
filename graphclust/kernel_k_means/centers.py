"""Centres in feature space, each a combination of some points; labels of all points by them; the family's result."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.kernel_k_means.kernel import BLOCK_ENTRIES, Kernel, gamma
from graphclust.progress import Progress

__all__ = ["KernelCenters", "KernelKMeansResult"]

NEGATIVE = 1e-9  # relative to the longest point: a squared distance further below zero is the kernel's fault


@dataclass(frozen=True, eq=False)
class KernelCenters:
    """c_j = sum over points of coefficient x phi(point).

    rows : int64, shape (s,), the points that the centres are made of.
    coefficients : shape (k, s), CSR. sq_norms : shape (k,), |c_j|^2; infinite where a cluster is empty.
    """

    kernel: Kernel
    rows: np.ndarray
    coefficients: sparse.csr_array
    sq_norms: np.ndarray

    def nearest(self, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
        """Of each of the kernel's points the nearest centre, ties to the lowest, and the squared distance to it."""
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
        entries, self_affinities = self.kernel.against(Y, self.rows)
        inner = (self.coefficients @ entries.T.astype(np.float64)).T
        return self_affinities[:, None] + self.sq_norms - 2.0 * inner


@dataclass(frozen=True, eq=False)
class KernelKMeansResult:
    """What kernel k-means found.

    labels : int64, shape (n,), in [0, k); -1 for what the kernel says is no point, such as an isolated node.
    cost : sum of w |phi(x) - its centre|^2. On graphs, when the centres are the clusters' means, it is the normalised
        cut but for a constant.
    n_iter : updates of the centres. history : the cost (of a batch, its mean) at each, shape (n_iter,).
    gamma : sqrt(max k(x, x)).
    n_negative : points whose squared distance to their centre is below zero by more than rounding, which no positive
        semi-definite kernel gives.
    proposed_shift : s for which K + s W^-1, W the weights, is positive semi-definite; every partition into k parts then
        costs s (n - k) more. 0 where no distance was negative, None where it was not sought.
    centers : the centres.
    """

    labels: np.ndarray
    cost: float
    n_iter: int
    history: np.ndarray
    gamma: float
    n_negative: int
    proposed_shift: float | None
    centers: KernelCenters

    def predict(self, Y: Any) -> np.ndarray:
        """The nearest centre of each new point: vectors (m, d), or for a precomputed K its rows k(y, x), (m, n)."""
        return self.centers.sq_distances_to(Y).argmin(axis=1)


def count_negative(sq_distances: np.ndarray, kernel: Kernel) -> int:
    """How many squared distances are negative by more than rounding."""
    eps = max(NEGATIVE, 64 * float(np.finfo(kernel.dtype).eps))
    return int(np.count_nonzero(sq_distances < -eps * np.abs(kernel.diagonal).max()))


def centers_of(kernel: Kernel, weights: np.ndarray, labels: np.ndarray, sq_norms: np.ndarray) -> KernelCenters:
    """The means of clusters given by labels."""
    k = len(sq_norms)
    rows = np.flatnonzero(weights > 0.0)
    masses = np.bincount(labels, weights, minlength=k)
    coefficients = weights[rows] / masses[labels[rows]]
    entries = (coefficients, (labels[rows], np.arange(len(rows))))
    return KernelCenters(kernel, rows, sparse.csr_array(entries, shape=(k, len(rows))), sq_norms)


def labelled(
    centers: KernelCenters, labels: np.ndarray, sq_distances: np.ndarray, weights: np.ndarray, history: list[float]
) -> KernelKMeansResult:
    """The result for centres that have been learned, of which every point has the nearest."""
    kernel = centers.kernel
    cost = float((weights * sq_distances).sum())
    n_negative = count_negative(sq_distances[weights > 0.0], kernel)
    if kernel.weights is not None:
        labels[kernel.weights == 0.0] = -1
    shift = None if n_negative else 0.0
    return KernelKMeansResult(labels, cost, len(history), np.array(history), gamma(kernel), n_negative, shift, centers)
