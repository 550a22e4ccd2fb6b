"""The bounds that an exact assignment keeps between iterations, and the groups of centroids they are kept for.

Memory: for each point an upper and a lower bound (float64) and one lower bound a group (float32). A group is one
centroid, or about 24 where the points have few features, or more where the bounds would take more than a gibibyte.
"""

import numpy as np

from graphclust.compiled.blocks import run_in_blocks
from graphclust.compiled.bounded_assignment import assign_bounded
from graphclust.compiled.tiled_assignment import assign_in_tiles
from graphclust.k_means.points import point_blocks

_MOST_BYTES = 1 << 30
_FEW_FEATURES = 64
_GROUP_SIZE = 24


class BoundedAssignment:
    """Labels of the points of X by nearest centroid, and the bounds that make the next assignment cheap."""

    def __init__(self, X: np.ndarray, centroids: np.ndarray):
        n, d = X.shape
        k = len(centroids)
        self.X = X
        self.centroids = centroids
        self.boundaries = point_blocks(n, k * d)
        self.loop = assign_in_tiles if d < _FEW_FEATURES else assign_bounded
        n_groups = max(1, min(k // _GROUP_SIZE if d < _FEW_FEATURES else k, _MOST_BYTES // (4 * n)))
        self.group_of = group_centroids(centroids, n_groups)
        n_groups = self.group_of.max() + 1
        self.members = np.argsort(self.group_of, kind="stable")
        self.group_starts = np.append(0, np.cumsum(np.bincount(self.group_of)))
        self.drift = np.zeros(k)
        self.group_drift = np.zeros(n_groups + 1)
        self.labels = np.full(n, -1)
        self.upper = np.zeros(n)
        self.lower = np.zeros(n)
        self.group_lower = np.zeros((n, n_groups), np.float32)

    def assign(self) -> np.ndarray:
        """The label of each point, exact; an array that the next call changes."""
        absolute = 1e-6 * (self.group_drift[-1] + self.drift.max())
        rounding = np.array([(self.X.shape[1] + 16) * np.finfo(self.X.dtype).eps + 1e-6, absolute])
        run_in_blocks(
            self.loop, self.boundaries, self.X, self.centroids, self.members, self.group_starts, self.group_of,
            self.drift, self.group_drift, rounding, self.labels, self.upper, self.lower, self.group_lower,
        )  # fmt: skip
        return self.labels

    def move(self, centroids: np.ndarray) -> None:
        """Go on with these centroids."""
        moved = np.sqrt(((centroids.astype(np.float64) - self.centroids) ** 2).sum(axis=1)) * (1 + 1e-12)
        self.centroids = centroids
        self.drift += moved
        self.group_drift[:-1] += np.maximum.reduceat(moved[self.members], self.group_starts[:-1])
        self.group_drift[-1] += moved.max()


def group_centroids(centroids: np.ndarray, n_groups: int) -> np.ndarray:
    """Group of each centroid, none empty: a few rounds of k-means on the centroids, from the first n_groups."""
    if n_groups == len(centroids):
        return np.arange(n_groups)
    middle = centroids[:n_groups].copy()
    for _ in range(5):
        labels = BoundedAssignment(centroids, middle).assign()
        sizes = np.bincount(labels, minlength=n_groups)
        sums = np.zeros_like(middle)
        np.add.at(sums, labels, centroids)
        middle = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None].astype(middle.dtype), middle)
    return np.unique(labels, return_inverse=True)[1]
