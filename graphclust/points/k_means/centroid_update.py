"""The update step: cluster sums in an order that depends on the members alone, means, and clusters that lost all."""

import numpy as np

from graphclust.compiled.points.centroid_update import Chunks, group_rows
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks, thread_blocks
from graphclust.points.k_means.points import DensePoints, Points, point_blocks

_CHUNK = 4096
_SMALL = 1 << 18
_CANCELED = 1e-6  # of the squared lengths: distances below hold fewer than ten digits


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
