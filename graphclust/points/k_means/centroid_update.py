"""The update step: cluster sums in an order that depends on the members alone, means, and clusters that lost all."""

import numpy as np

from graphclust.compiled.points.k_means import (
    Chunks,
    Polled,
    Renewed,
    Totals,
    Voters,
    Votes,
    change_votes,
    group_rows,
    renew_centroids,
)
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks, thread_blocks
from graphclust.points.k_means.points import DensePoints, Points, point_blocks

_CHUNK = 4096
_CANCELED = 1e-6  # of the squared lengths: distances below hold fewer than ten digits
_SMALL = 1 << 18


def cluster_sums(
    points: Points, rows: np.ndarray, weights: np.ndarray, labels: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sum of w x (k, d) and of w (k,) over each cluster of these rows, float64; weights and labels are by row given."""
    sums, masses = np.zeros((k, points.d)), np.zeros(k)
    add_to_clusters(points, rows, weights, labels, sums, masses)
    return sums, masses


def add_to_clusters(
    points: Points, rows: np.ndarray, weights: np.ndarray, labels: np.ndarray, sums: np.ndarray, masses: np.ndarray
) -> None:
    """Add w x of these rows to sums (k, d) and w to masses (k,), by label."""
    k = len(sums)
    if points.is_wide or len(rows) * points.work <= _SMALL:
        # Features do not depend on each other: however they are shared out, the sums are the same.
        boundaries = thread_blocks(points.d) if points.is_wide else np.array([0, points.d])
        run_in_blocks(points.add_loop, boundaries, points.data, rows, weights, labels, sums)
        masses += np.bincount(labels, weights, minlength=k)
        return
    sizes = np.bincount(labels, minlength=k)
    first_rows = np.cumsum(sizes) - sizes
    order = np.empty(len(labels), np.int64)
    group_rows(labels, first_rows.copy(), order)
    n_chunks = -(-sizes // _CHUNK)
    ends = np.cumsum(n_chunks)
    chunk_cluster = np.repeat(np.arange(k), n_chunks)
    starts = first_rows[chunk_cluster] + _CHUNK * (np.arange(ends[-1]) - (ends - n_chunks)[chunk_cluster])
    stops = np.minimum(starts + _CHUNK, (first_rows + sizes)[chunk_cluster])
    chunk_sums, chunk_masses = np.zeros((len(starts), points.d)), np.zeros(len(starts))
    boundaries = row_blocks(len(starts), min(1 + len(starts) // 16, 1 + (1 << 28) // (_CHUNK * points.work)))
    chunks = Chunks(rows, weights, order, starts, stops)
    run_in_blocks(points.sum_loop, boundaries, points.data, chunks, chunk_sums, chunk_masses)
    for chunk, j in enumerate(chunk_cluster):
        sums[j] += chunk_sums[chunk]
        masses[j] += chunk_masses[chunk]


def own_sq_distances(points: Points, centroids: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Squared distance of each point to the centroid of its label, float64."""
    sq_distances = np.empty(points.n)
    boundaries = point_blocks(points.n, points.work)
    run_in_blocks(points.own_loop, boundaries, points.against(centroids), labels, sq_distances)
    return sq_distances


def inertia_of(points: Points, weights: np.ndarray, centroids: np.ndarray, labels: np.ndarray) -> float:
    """Sum of w |x - its centroid|^2, of sparse points without the loss of digits where that is far below w |x|^2."""
    inertia = float((weights * own_sq_distances(points, centroids, labels)).sum())
    if isinstance(points, DensePoints) or inertia >= _CANCELED * float(weights @ points.sq_norms):
        return inertia
    inertia, ends = 0.0, np.cumsum(np.bincount(labels, minlength=len(centroids)))
    for members, center in zip(np.split(np.argsort(labels, kind="stable"), ends[:-1]), centroids, strict=True):
        rows, center = points.matrix[members], center.astype(np.float64)
        entry_weights = np.repeat(weights[members], np.diff(rows.indptr))
        inertia += float(entry_weights @ (rows.data - center[rows.indices]) ** 2)
        lack = weights[members].sum() - np.bincount(rows.indices, entry_weights, points.d)
        some_lack = np.bincount(rows.indices, minlength=points.d) < len(members)
        inertia += float(lack[some_lack] @ center[some_lack] ** 2)
    return inertia


def update_centroids(points: Points, weights: np.ndarray, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Means (k', d) and masses (k',) of the clusters; `labels` is changed where a cluster was empty.

    Each empty cluster takes the point with the largest w |x - its mean|^2. Where every other cluster is already one
    point and its copies, the empty clusters are dropped.
    """
    rows = np.arange(points.n)
    sums, masses = cluster_sums(points, rows, weights, labels, k)
    for j in np.flatnonzero(masses == 0.0):
        means = (sums / np.where(masses > 0.0, masses, 1.0)[:, None]).astype(points.dtype)
        farthest = _farthest_point(points, weights, labels, means)
        if farthest < 0:
            break
        labels[farthest] = j
        sums, masses = cluster_sums(points, rows, weights, labels, k)
    kept = masses > 0.0
    if not kept.all():
        labels[:] = np.maximum(np.cumsum(kept)[labels] - 1, 0)
        sums, masses = sums[kept], masses[kept]
    return (sums / masses[:, None]).astype(points.dtype), masses


def _farthest_point(points: Points, weights: np.ndarray, labels: np.ndarray, means: np.ndarray) -> int:
    """The point with the largest w |x - its mean|^2 in a cluster of two or more distinct points; -1 for none."""
    costs = weights * own_sq_distances(points, means, labels)
    while costs.any():
        farthest = int(np.argmax(costs))
        members = np.flatnonzero((labels == labels[farthest]) & (weights > 0.0))
        if points.differ(members, farthest):
            return farthest
        costs[members] = 0.0  # copies of one point, whose mean is off by rounding
    return -1


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
