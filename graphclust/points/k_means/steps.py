"""The two steps of an iteration: the nearest centroid of each point, by bounds kept from before, and the means.

The assignment keeps for each point an upper and a lower bound (float64) and one lower bound for a group of centroids
(float32). A group is one centroid, or about 48 where the points have few features, or more where the bounds would take
more than a gibibyte. Dense points whose features are bytes, or nearly so, are kept as bytes too: a quarter of what they
take as float32. Points far beyond the range of float32 are copied and compared times a power of two, which changes no
label.

The update adds up clusters in an order that depends on the members alone, and fills those that lost all points.
"""

import numpy as np

from graphclust.compiled.points.bounded_assignment import Bounds, Drift, Entering, Groups, add_movement
from graphclust.compiled.points.k_means import Chunks, Totals, Voters, Votes, change_votes, group_rows, renew_centroids
from graphclust.compiled.points.quantized_points import FINER, Grid, Rounded, round_points, tighten_bounds
from graphclust.compiled.runtime.blocks import map_blocks, row_blocks, run_in_blocks, thread_blocks
from graphclust.float_scaling import exponent_beyond, largest_size, times_power_of_two
from graphclust.points.k_means.points import DensePoints, Points, point_blocks, sq_lengths

_ROWS = 512
_MOST_BYTES = 1 << 30
_ROWS_MULTIPLIED = 1024
# How much of a distance rounding to bytes may change: from about one part in a hundred on it cost more than it saved.
_LARGEST_ERROR = 0.005
# Of the largest number: bounds on distances 1e-8 times as long, and sums of 1e8 movements, are far inside float32.
_SMALLEST, _LARGEST = 1e-20, 1e28


class RoundedPoints:
    """Up to n points of d features of one dtype: n * d bytes, and how far from each point its bytes may be.

    The steps are the 255th part of the widest feature's range over the points that enter first. Later ones may lie
    outside: that is part of their error.
    """

    def __init__(self, n: int, d: int):
        self.points = Rounded(np.empty((n, d), np.uint8), np.empty(n), np.empty(n))

    def choose_steps(self, values: np.ndarray, rows: np.ndarray) -> None:
        """Take the steps from these rows of values."""

        def ranges(first: int, last: int, block: int) -> tuple[np.ndarray, np.ndarray]:
            some = values[rows[first:last]]
            return some.min(axis=0), some.max(axis=0)

        lowest, highest = zip(*map_blocks(ranges, row_blocks(len(rows), _ROWS)), strict=True)
        self.lowest = np.min(lowest, axis=0)
        step = (np.max(highest, axis=0) - self.lowest).max() / values.dtype.type(255)
        # Without a range, or with one whose inverse would not be finite, every step is as good as another.
        self.step = step if step > 1000 * np.finfo(step.dtype).tiny else values.dtype.type(1)
        # What the rounding of numbers may add to an error: a part of it, and four roundings of 255 steps a feature.
        d, precision = values.shape[1], float(np.finfo(step.dtype).eps)
        self.margins = (d + 16) * precision, np.sqrt(d) * 4.0 * 255.0 * precision * float(self.step)

    def enter(self, points: np.ndarray, start: int) -> None:
        """Round these points: they are the start-th and those after it."""
        rows = slice(start, start + len(points))
        self._round(points, 1, Rounded(*(array[rows] for array in self.points)))

    def against(self, centroids: np.ndarray) -> tuple[Rounded, Rounded, float]:
        """The points and the centroids, both rounded, and the length of a step of the centroids'."""
        k, d = centroids.shape
        rounded = Rounded(np.empty((k, d), np.int16), np.empty(k), np.empty(k))
        self._round(centroids, FINER, rounded)
        return self.points, rounded, float(self.step) / FINER

    def _round(self, points: np.ndarray, finer: int, rounded: Rounded) -> None:
        grid = Grid(self.lowest, self.step, finer, *self.margins)
        run_in_blocks(round_points, row_blocks(len(points), _ROWS), points, grid, rounded)


class BoundedAssignment:
    """Labels of points by nearest centroid, and the bounds that make the next assignment cheap.

    order : the points, by row; labels and bounds are by position in it. The first n_positions can be assigned alone.
    """

    def __init__(
        self, points: Points, centroids: np.ndarray, order: np.ndarray | None = None, most_groups: int | None = None
    ):
        k = len(centroids)
        self.exponent = -exponent_beyond(max(points.largest, largest_size(centroids)), _SMALLEST, _LARGEST)
        self.points = points if self.exponent == 0 else points.scale_by(self.exponent)
        self.centroids = centroids
        self.order = np.arange(points.n) if order is None else order
        n = len(self.order)
        self.loop, n_groups = points.assignment(k)
        n_groups = max(1, min(n_groups, most_groups or k, _MOST_BYTES // (4 * n)))
        group = group_centroids(self.scaled_centroids, n_groups)
        self.groups = Groups(np.argsort(group, kind="stable"), np.append(0, np.cumsum(np.bincount(group))), group)
        n_groups = len(self.groups.starts) - 1
        self.against = self.points.against(self.scaled_centroids)
        self.moved = np.zeros(k)
        self.group_drift = np.zeros(n_groups + 1)
        self.drift = Drift(np.zeros(k), np.zeros(n_groups + 1, np.float32), np.array([points.rounding, 0.0]))
        self.n_bounded = 0
        self.labels = np.full(n, -1)
        group_lower = np.zeros((n, n_groups), np.float32)
        self.bounds = Bounds(self.order, self.labels, np.zeros(n), np.zeros(n), group_lower)
        rounds = points.enter_loop is not None and 1 < k == n_groups
        self.rounded = RoundedPoints(n, points.d) if rounds else None

    @property
    def scaled_centroids(self) -> np.ndarray:
        """The centroids on the scale of `points`."""
        return self.centroids if self.exponent == 0 else times_power_of_two(self.centroids, self.exponent)

    def assign(self, n_positions: int | None = None) -> np.ndarray:
        """The label of each point, exact; a view that the next call changes."""
        n_positions = len(self.order) if n_positions is None else n_positions
        groups, drift, bounds = self.groups, self.drift, self.bounds
        each_is_a_group = len(groups.starts) > len(self.centroids)
        movers = self.points.movers(self.scaled_centroids, self.moved if each_is_a_group else np.zeros(len(self.moved)))
        n_bounded = min(self.n_bounded, n_positions) if self.points.enter_loop is not None else n_positions
        boundaries = point_blocks(n_bounded, len(self.centroids) * self.points.work)
        if self.rounded is not None and n_bounded > 0:
            run_in_blocks(tighten_bounds, boundaries, *self.rounded.against(self.scaled_centroids), drift, bounds)
        if n_bounded < n_positions:
            self._enter(n_bounded, n_positions)
        run_in_blocks(self.loop, boundaries, self.against, *movers, groups, drift, bounds)
        return self.labels[:n_positions]

    def _enter(self, first: int, last: int) -> None:
        """Label positions first to last - 1, which have no bounds yet."""
        centroids = self.scaled_centroids
        sq_norms = sq_lengths(centroids)
        if self.rounded is not None and first == 0:
            self.rounded.choose_steps(self.points.values, self.order[:last])
        for start in range(first, last, _ROWS_MULTIPLIED):
            stop = min(start + _ROWS_MULTIPLIED, last)
            rows = self.points.rows_at_once(self.order[start:stop])  # type: ignore[union-attr]  # dense ones only
            products = rows @ centroids.T
            boundaries = start + row_blocks(stop - start, _ROWS_MULTIPLIED // 4)
            entering = Entering(rows, centroids, products, sq_norms, start)
            run_in_blocks(self.points.enter_loop, boundaries, entering, self.groups, self.drift, self.bounds)
            if self.rounded is not None:
                self.rounded.enter(rows, start)
                errors, distances = self.rounded.points.errors[:stop], self.bounds.upper[:stop]
                if start == 0 and errors.mean() > _LARGEST_ERROR * distances.mean():
                    self.rounded = None
        self.n_bounded = last

    def move(self, centroids: np.ndarray, moved: np.ndarray | None = None) -> np.ndarray:
        """Go on with these centroids; returns how far each one moved, which need not be computed if it is known."""
        if moved is None:
            moved = np.sqrt(((centroids.astype(np.float64) - self.centroids) ** 2).sum(axis=1))
        self.centroids, self.moved = centroids, np.ldexp(moved, self.exponent)
        self.against = self.points.renew(self.against, self.scaled_centroids, self.moved)
        add_movement(self.moved, self.groups, self.group_drift, self.drift)
        return moved


def assign_once(points: Points, centroids: np.ndarray) -> np.ndarray:
    """The label of each point by nearest centroid, ties to the lowest, with no bounds worth keeping."""
    return BoundedAssignment(points, centroids, most_groups=1).assign()


def nearest_and_sq_distances(points: Points, centroids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The label of each point by nearest centroid, given in any dtype, and its squared distance to that."""
    centroids = np.ascontiguousarray(centroids, dtype=points.dtype)
    labels = assign_once(points, centroids)
    return labels, own_sq_distances(points, centroids, labels)


def group_centroids(centroids: np.ndarray, n_groups: int) -> np.ndarray:
    """Group of each centroid, none empty: a few rounds of k-means on the centroids, from the first n_groups."""
    if n_groups == 1:
        return np.zeros(len(centroids), np.int64)
    if n_groups == len(centroids):
        return np.arange(n_groups)
    middle = centroids[:n_groups].copy()
    for _ in range(5):
        labels = assign_once(DensePoints(centroids), middle)
        sizes = np.bincount(labels, minlength=n_groups)
        sums = np.zeros_like(middle)
        np.add.at(sums, labels, centroids)
        middle = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None].astype(middle.dtype), middle)
    return np.unique(labels, return_inverse=True)[1]


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
    """What the points of the batch add up to, each with the vote of its latest label: the `Totals` of the clusters."""

    def __init__(self, points: Points, order: np.ndarray, weights: np.ndarray, k: int, batch_size: int):
        self.points, self.order = points, order
        self.n_rows = 0
        first = weights[:batch_size] if weights[:batch_size].any() else np.ones(batch_size)
        sums, masses = cluster_sums(points, order[:batch_size], first, np.zeros(batch_size, np.int64), 1)
        self.center = (sums[0] / masses[0]).astype(points.dtype).astype(np.float64)
        self.labels = np.full(points.n, -1)
        self.row_sq_lengths = np.empty(points.n)
        # As the loops take them.
        self._voters = Voters(order, weights, self.row_sq_lengths, self.labels)
        self._votes = Votes(*(np.empty(2 * points.n, dtype) for dtype in (np.int64, np.float64, np.int64)))
        self.sums, self.touched = np.zeros((k, points.d)), np.ones(k, bool)
        self.masses, self.sq_lengths, self.counts, self.sq_errors = np.zeros((4, k))
        self._totals = Totals(self.sums, self.masses, self.sq_lengths, self.counts, self.touched, self.sq_errors)

    def update(self, labels: np.ndarray) -> bool:
        """Take the labels of the first rows in `order`, perhaps more rows than before; False if none has changed."""
        if len(labels) > self.n_rows:
            entered = slice(self.n_rows, len(labels))
            self.row_sq_lengths[entered] = self.points.sq_lengths(self.order[entered], self.center)
            self.n_rows = len(labels)
        n_votes = change_votes(labels, self._voters, self._totals, self._votes)
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
        means, moved = centroids.copy(), np.zeros(k)
        boundaries = row_blocks(len(which), k if centroids.size <= _SMALL else 1 + k // 16)
        run_in_blocks(renew_centroids, boundaries, which, self._totals, self.center, means, moved)
        return means, moved

    def standard_errors(self, moved: np.ndarray) -> np.ndarray:
        """Estimated standard deviation of each centroid before it moved; infinite where one point or none speaks."""
        sq_errors = self.sq_errors + self.masses * moved**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.counts >= 2, np.sqrt(sq_errors / self.masses / (self.counts - 1)), np.inf)
