"""What the points of a batch add up to, cluster by cluster, while labels change: one vote a point."""

import numpy as np

from graphclust.compiled.points.centroid_update import Renewed, Totals, renew_centroids
from graphclust.compiled.points.label_changes import Polled, Voters, Votes, change_votes
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.points.k_means.centroid_update import add_to_clusters, cluster_sums
from graphclust.points.k_means.points import Points

_SMALL = 1 << 18


class Tally:
    """What the points of the batch add up to, each with the vote of its latest label.

    sums (k, d), masses (k,): sum of w x and of w by cluster; sq_lengths (k,): sum of w |x - center|^2.
    counts (k,): the points of positive weight; sq_errors (k,): sum of w |x - mean|^2, as of the last `renew`.
    """

    def __init__(self, points: Points, order: np.ndarray, weights: np.ndarray, k: int, batch_size: int):
        self.points, self.order = points, order
        self.n_rows = 0
        first = weights[:batch_size] if weights[:batch_size].any() else np.ones(batch_size)
        sums, masses = cluster_sums(points, order[:batch_size], first, np.zeros(batch_size, np.int64), 1)
        self.center = (sums[0] / masses[0]).astype(points.dtype).astype(np.float64)
        self.labels = np.full(points.n, -1)
        self.row_sq_lengths = np.empty(points.n)
        self.sums, self.masses, self.sq_lengths = np.zeros((k, points.d)), np.zeros(k), np.zeros(k)
        self.counts, self.touched, self.sq_errors = np.zeros(k), np.ones(k, bool), np.zeros(k)
        # As the loops take them.
        self._voters = Voters(order, weights, self.row_sq_lengths, self.labels)
        self._votes = Votes(*(np.empty(2 * points.n, dtype) for dtype in (np.int64, np.float64, np.int64)))
        self._polled = Polled(self.counts, self.sq_lengths, self.touched)
        self._totals = Totals(self.sums, self.masses, self.sq_lengths, self.counts)

    def update(self, labels: np.ndarray) -> bool:
        """Take the labels of the first rows in `order`, perhaps more rows than before; False if none has changed."""
        if len(labels) > self.n_rows:
            entered = slice(self.n_rows, len(labels))
            self.row_sq_lengths[entered] = self.points.sq_lengths(self.order[entered], self.center)
            self.n_rows = len(labels)
        n_votes = change_votes(labels, self._voters, self._polled, self._votes)
        if n_votes:
            rows, weights, clusters = (array[:n_votes] for array in self._votes)
            add_to_clusters(self.points, rows, weights, clusters, self.sums, self.masses)
        return n_votes > 0

    def recount(self, labels: np.ndarray) -> None:
        """The same from scratch, without what rounding has left from votes taken back."""
        self.sums[:], self.masses[:], self.sq_lengths[:], self.counts[:] = 0.0, 0.0, 0.0, 0.0
        self.labels[: len(labels)] = -1
        self.touched[:] = True
        self.update(labels)

    def variance(self) -> float:
        """Mean of w |x - mean of all|^2 over the batch."""
        mass = self.masses.sum()
        mean = self.sums.sum(axis=0) / mass
        return float(self.sq_lengths.sum() / mass - ((mean - self.center) ** 2).sum())

    def renew(self, centroids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The clusters' means, where a cluster has no vote the centroid it had, and how far each one moved.

        Only clusters whose votes have changed since the last call are looked at: others have the means they had.
        """
        which = np.flatnonzero(self.touched)
        self.touched[:] = False
        k = len(centroids)
        renewed = Renewed(centroids.copy(), np.zeros(k), self.sq_errors)
        boundaries = row_blocks(len(which), k if centroids.size <= _SMALL else 1 + k // 16)
        run_in_blocks(renew_centroids, boundaries, which, self._totals, self.center, centroids, renewed)
        return renewed.centroids, renewed.moved

    def standard_errors(self, moved: np.ndarray) -> np.ndarray:
        """Estimated standard deviation of each centroid before it moved; infinite where one point or none speaks."""
        sq_errors = self.sq_errors + self.masses * moved**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.counts >= 2, np.sqrt(sq_errors / self.masses / (self.counts - 1)), np.inf)
