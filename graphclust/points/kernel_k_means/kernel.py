"""What kernel k-means asks of a kernel: entries between any points when they are needed, and the diagonal."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.progress import Progress

Rows = np.ndarray | slice

BLOCK_ENTRIES = 1 << 22  # of the kernel that are held at a time
NEGATIVE = 1e-9  # relative to the squared lengths: a squared distance further below zero is the kernel's fault


class Kernel(ABC):
    """A symmetric kernel between n points.

    n : how many points. diagonal : float64, shape (n,), k(x, x). dtype : of the entries.
    weights : float64, shape (n,), the weights of the points where the kernel prescribes them, otherwise None.
    """

    n: int
    dtype: np.dtype = np.dtype(np.float64)
    diagonal: np.ndarray
    weights: np.ndarray | None = None

    @abstractmethod
    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Entries k(x, y), x in rows and y in columns, each an index array (repetitions allowed) or a slice."""

    def against(self, Y: Any, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Entries between new points Y and some of the kernel's (m, len(columns)), and k(y, y) of each new one (m,)."""
        raise TypeError(f"{type(self).__name__} knows no other points than its own, expected a kernel of vectors")

    def add_sums(
        self, votes: sparse.csc_array, rows: np.ndarray, columns: Rows, sums: np.ndarray, progress: Progress
    ) -> None:
        """Add votes @ K[rows, columns] to sums; votes has shape (k, len(rows)), sums float64 (k, len(columns))."""
        per_block = max(1, min(len(rows), 2048))
        width = max(1, BLOCK_ENTRIES // per_block)
        starts = range(0, len(rows), per_block)
        for i, start in enumerate(starts):
            chosen = rows[start : start + per_block]
            piece = votes[:, start : start + per_block].astype(self.dtype)
            for first in range(0, sums.shape[1], width):
                some = slice(first, min(first + width, sums.shape[1]))
                sums[:, some] += piece @ self.block(chosen, part(columns, some))
            progress.step(i + 1, len(starts))

    def mean_sq_norms(self, rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """|mean|^2 of groups of points that stand in rows one after the other; sizes >= 1, shape (q,)."""
        sq_norms = np.empty(len(sizes))
        for j, group in enumerate(np.split(rows, np.cumsum(sizes)[:-1])):
            points, times = np.unique(group, return_counts=True)  # of few points the draws are mostly repetitions
            sq_norms[j] = times @ self.block(points, points).astype(np.float64, copy=False) @ times / len(group) ** 2
        return sq_norms


def part(columns: Rows, some: slice) -> Rows:
    """columns[some], for a slice of step 1 as well."""
    if not isinstance(columns, slice):
        return columns[some]
    start = columns.start or 0
    return slice(start + some.start, start + some.stop)


class RestrictedKernel(Kernel):
    """The same kernel between some points only."""

    def __init__(self, kernel: Kernel, rows: np.ndarray):
        self.kernel, self.rows, self.n, self.dtype = kernel, rows, len(rows), kernel.dtype
        self.diagonal = kernel.diagonal[rows]

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        return self.kernel.block(self.rows[rows], self.rows[columns])


def gamma(kernel: Kernel) -> float:
    """sqrt(max k(x, x)), the length of the longest point in feature space."""
    return float(np.sqrt(max(kernel.diagonal.max(), 0.0)))


def count_negative(sq_distances: np.ndarray, sq_lengths: np.ndarray, kernel: Kernel) -> int:
    """How many squared distances are below zero by more than rounding of the squared lengths they are made of."""
    eps = max(NEGATIVE, 64 * float(np.finfo(kernel.dtype).eps))
    return int(np.count_nonzero(sq_distances < -eps * sq_lengths))
