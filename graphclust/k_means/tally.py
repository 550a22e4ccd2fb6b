"""What the points of a batch add up to, cluster by cluster, while labels change: one vote a point."""

import numpy as np

from graphclust.k_means.centroid_update import add_to_clusters, cluster_sums, renewed_centroids
from graphclust.k_means.points import Points


class Tally:
    """What the points of the batch add up to, each with the vote of its latest label.

    sums (k, d), masses (k,): sum of w x and of w by cluster; sq_lengths (k,): sum of w |x - center|^2.
    """

    def __init__(self, points: Points, order: np.ndarray, weights: np.ndarray, k: int, batch_size: int):
        self.points, self.order, self.weights, self.k = points, order, weights, k
        self.labels = np.full(points.n, -1)
        self.n_rows = 0
        first = weights[:batch_size] if weights[:batch_size].any() else np.ones(batch_size)
        sums, masses = cluster_sums(points, order[:batch_size], first, np.zeros(batch_size, np.int64), 1)
        self.center = (sums[0] / masses[0]).astype(points.dtype).astype(np.float64)
        self.row_sq_lengths = np.empty(points.n)
        self.sums, self.masses, self.sq_lengths = np.zeros((k, points.d)), np.zeros(k), np.zeros(k)
        self.touched, self.sq_between = np.ones(k, bool), np.zeros(k)

    def update(self, labels: np.ndarray) -> bool:
        """Take the labels of the first rows in `order`, perhaps more rows than before; False if none has changed."""
        entered = slice(self.n_rows, len(labels))
        self.row_sq_lengths[entered] = self.points.sq_lengths(self.order[entered], self.center)
        self.n_rows = len(labels)
        moved = np.flatnonzero(labels != self.labels[: len(labels)])
        left = moved[self.labels[moved] >= 0]
        positions = np.concatenate([left, moved])
        clusters = np.concatenate([self.labels[left], labels[moved]])
        votes = np.concatenate([-self.weights[left], self.weights[moved]])
        self._add(positions, clusters, votes)
        self.labels[moved] = labels[moved]
        return len(moved) > 0

    def recount(self, labels: np.ndarray) -> None:
        """The same from scratch, without what rounding has left from votes taken back."""
        self.sums[:], self.masses[:], self.sq_lengths[:] = 0.0, 0.0, 0.0
        self.labels[: len(labels)] = labels
        self.touched[:] = True
        self._add(np.arange(len(labels)), labels, self.weights[: len(labels)])

    def _add(self, positions: np.ndarray, clusters: np.ndarray, votes: np.ndarray) -> None:
        if len(positions) == 0:
            return
        self.touched[clusters] = True
        add_to_clusters(self.points, self.order[positions], votes, clusters, self.sums, self.masses)
        self.sq_lengths += np.bincount(clusters, votes * self.row_sq_lengths[positions], minlength=self.k)

    def variance(self) -> float:
        """Mean of w |x - mean of all|^2 over the batch."""
        mean = self.sums.sum(axis=0) / self.masses.sum()
        return float(self.sq_lengths.sum() / self.masses.sum() - ((mean - self.center) ** 2).sum())

    def renew(self, centroids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The clusters' means, where a cluster has no vote the centroid it had, and how far each one moved.

        Only clusters whose votes have changed since the last call are looked at: others have the means they had.
        Sets `counts` (k,), the points of positive weight, and `sq_errors` (k,), the sums of w |x - mean|^2.
        """
        self.counts = np.bincount(self.labels[: self.n_rows], self.weights[: self.n_rows] > 0.0, minlength=self.k)
        self.masses[self.counts == 0] = 0.0
        which = np.flatnonzero(self.touched)
        self.touched[:] = False
        means, moved = renewed_centroids(which, self.sums, self.masses, self.center, centroids, self.sq_between)
        sq_errors = np.maximum(self.sq_lengths - self.masses * self.sq_between, 0.0)
        self.sq_errors = np.where(self.counts > 0, sq_errors, 0.0)
        return means, moved

    def standard_errors(self, moved: np.ndarray) -> np.ndarray:
        """Estimated standard deviation of each centroid before it moved; infinite where one point or none speaks."""
        sq_errors = self.sq_errors + self.masses * moved**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.counts >= 2, np.sqrt(sq_errors / self.masses / (self.counts - 1)), np.inf)
