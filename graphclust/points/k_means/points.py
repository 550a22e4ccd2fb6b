"""The data of k-means, dense or sparse: what the algorithms ask of points, each answered by a compiled loop."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse

from graphclust.cached import cached_property
from graphclust.checks import K_OF_POINTS, as_array, as_weights, as_whole_number
from graphclust.compiled.points.bounded_assignment import Pairs, assign_bounded, assign_by_products
from graphclust.compiled.points.k_means import add_rows, approach, own_sq_distances, pair_sq_distances, sum_chunks
from graphclust.compiled.points.sparse_assignment import (
    Movers,
    SparsePairs,
    SparseRows,
    add_rows_sparse,
    approach_sparse,
    assign_sparse,
    own_sq_distances_sparse,
    sum_chunks_sparse,
)
from graphclust.compiled.points.tiled_assignment import assign_in_tiles
from graphclust.compiled.runtime.blocks import row_blocks
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.float_scaling import largest_size, times_power_of_two
from graphclust.graph.container import plain
from graphclust.graph.matrices import as_canonical_csr

# Work below which a second thread costs more than it saves, and above which a block would run for too long.
_SMALL_WORK = 1 << 19
_LARGEST_WORK = 1 << 31
_FEW_FEATURES = 64
_MANY_FEATURES = 512
_GROUP_SIZE = 48
_SLICE = 4096
_ENTRIES = 1 << 16
_FEW = 32


class PointsBase:
    """What dense and sparse points share: the matrix (n, d) whose rows they are, of float32 or float64."""

    values: np.ndarray

    def __init__(self, matrix: Any):
        self.matrix, self.dtype = matrix, matrix.dtype
        self.n, self.d = matrix.shape

    @cached_property
    def largest(self) -> float:
        return largest_size(self.values)

    def take(self, rows: np.ndarray | slice) -> Self:
        return type(self)(self.matrix[rows])

    def scale_by(self, exponent: int) -> Self:
        return type(self)(times_power_of_two(self.matrix, exponent))


class DensePoints(PointsBase):
    """The rows of a C-ordered array."""

    sum_loop: Callable[..., None] = staticmethod(sum_chunks)
    add_loop: Callable[..., None] = staticmethod(add_rows)
    own_loop: Callable[..., None] = staticmethod(own_sq_distances)
    approach_loop: Callable[..., None] = staticmethod(approach)

    def __init__(self, values: np.ndarray):
        super().__init__(plain(values))
        self.values = self.data = self.matrix  # as the loops take it
        self.work = self.d
        self.rounding = (self.d + 16) * float(np.finfo(self.dtype).eps) + 1e-6
        # Whether a row has features enough for several threads to share them.
        self.is_wide = self.d >= _MANY_FEATURES
        # The loop for points without bounds, if it is another one: it wants their products with the centroids.
        self.enter_loop = None if self.d < _FEW_FEATURES else assign_by_products

    def assignment(self, k: int) -> tuple[Callable[..., None], int]:
        """The loop that assigns to k centroids, and for how many groups of them it should keep bounds."""
        return (assign_in_tiles, max(1, k // _GROUP_SIZE)) if self.d < _FEW_FEATURES else (assign_bounded, k)

    def against(self, centroids: np.ndarray) -> Pairs:
        """Points and centroids as the loops take them."""
        return Pairs(self.values, centroids)

    def renew(self, against: Any, centroids: np.ndarray, moved: np.ndarray) -> Pairs:
        """The same for centroids of which some moved, from what it was for where they were."""
        return self.against(centroids)

    def movers(self, centroids: np.ndarray, moved: np.ndarray) -> tuple[()]:
        """What else the assignment takes: which centroids moved (k,) last; nothing here."""
        return ()

    def rows(self, rows: Any) -> np.ndarray:
        """These points as a dense array."""
        return self.values[rows]

    def rows_at_once(self, rows: np.ndarray) -> np.ndarray:
        """The same, without a copy where the rows follow each other."""
        return self.values[rows[0] : rows[-1] + 1] if (np.diff(rows) == 1).all() else self.values[rows]

    def differ(self, rows: np.ndarray, row: int) -> bool:
        """Whether one of these points is another than the point `row`."""
        return bool((self.values[rows] != self.values[row]).any())

    def sq_lengths(self, rows: np.ndarray, origin: np.ndarray) -> np.ndarray:
        """|x - origin|^2 of these points, float64."""
        lengths = np.empty(len(rows) + 3, self.dtype)
        padded = np.append(rows, (0, 0, 0))
        centroids = origin.astype(self.dtype)[None]
        for start in range(0, len(rows), _SLICE):
            n_pairs = min(_SLICE, len(rows) - start)
            chosen = np.zeros(n_pairs + 3, np.int64)
            pair_sq_distances(self.values, padded[start:], centroids, chosen, n_pairs, lengths[start:])
        return lengths[: len(rows)].astype(np.float64)


class SparsePoints(PointsBase):
    """The rows of a CSR matrix."""

    sum_loop: Callable[..., None] = staticmethod(sum_chunks_sparse)
    add_loop: Callable[..., None] = staticmethod(add_rows_sparse)
    own_loop: Callable[..., None] = staticmethod(own_sq_distances_sparse)
    approach_loop: Callable[..., None] = staticmethod(approach_sparse)
    enter_loop = None
    is_wide = False

    def __init__(self, matrix: Any):
        super().__init__(matrix)
        self.indptr = plain(matrix.indptr.astype(np.int64, copy=False))
        self.indices = plain(matrix.indices.astype(np.int32, copy=False))
        self.values = plain(matrix.data)
        self.sq_norms = np.zeros(self.n)
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            self.sq_norms[filled] = np.add.reduceat(self.values.astype(np.float64) ** 2, self.indptr[filled])
        self.data = SparseRows(self.indptr, self.indices, self.values)  # as the loops take it
        longest = int(np.diff(self.indptr).max())
        self.work = max(1, longest)
        self.rounding = (longest + 16) * float(np.finfo(self.dtype).eps) + 1e-6

    def assignment(self, k: int) -> tuple[Callable[..., None], int]:
        return assign_sparse, k

    def against(self, centroids: np.ndarray) -> SparsePairs:
        # Rows of whole SIMD registers, unless that would be mostly padding.
        width = -(-len(centroids) // 16) * 16 if len(centroids) >= 8 else len(centroids)
        transposed = np.zeros((self.d, width), centroids.dtype)
        transposed[:, : len(centroids)] = centroids.T
        return SparsePairs(self.data, self.sq_norms, transposed, sq_lengths(centroids))

    def renew(self, against: Any, centroids: np.ndarray, moved: np.ndarray) -> SparsePairs:
        """As for dense points; the arrays given are changed."""
        which = np.flatnonzero(moved)
        if 2 * len(which) > len(centroids):
            return self.against(centroids)
        for j in which:
            against.transposed[:, j] = centroids[j]
        against.centroid_sq_norms[which] = sq_lengths(centroids[which])
        return against

    def movers(self, centroids: np.ndarray, moved: np.ndarray) -> tuple[Movers]:
        """The centroids that moved, and those transposed (d, m or more); none where too many did for that to pay."""
        which = np.flatnonzero(moved)
        which = which[: len(which) if len(which) <= _FEW else 0]
        narrow = np.zeros((self.d, -(-len(which) // 8) * 8), centroids.dtype)
        narrow[:, : len(which)] = centroids[which].T
        return (Movers(which, narrow),)

    def rows(self, rows: Any) -> np.ndarray:
        return self.matrix[np.atleast_1d(rows)].toarray()

    def differ(self, rows: np.ndarray, row: int) -> bool:
        """As for dense points, in the memory of the rows' entries."""
        one, some = self.rows(row)[0], self.matrix[rows]
        n_filled = np.bincount(np.repeat(np.arange(len(rows)), np.diff(some.indptr)), some.data != 0, len(rows))
        return bool((some.data != one[some.indices]).any() or (n_filled != np.count_nonzero(one)).any())

    def sq_lengths(self, rows: np.ndarray, origin: np.ndarray) -> np.ndarray:
        return self.sq_norms[rows] - 2.0 * (self.matrix[rows] @ origin) + (origin**2).sum()


Points = DensePoints | SparsePoints


def sq_lengths(centroids: np.ndarray) -> np.ndarray:
    """|c|^2 of each row, float64."""
    return np.array([np.dot(row, row) for row in centroids.astype(np.float64)])


def as_points(X: Any, name: str = "X") -> Points:
    """Finite points, shape (n, d) with n and d >= 1, of float32 or float64; whole numbers become float64."""
    is_sparse = sparse.issparse(X)
    rows = X if is_sparse else as_array(X, name)
    if rows.dtype.kind not in "biuf":
        if is_sparse:
            raise TypeError(f"{name} has dtype {X.dtype}, expected real numbers")
        raise TypeError(f"{name} is {type(X).__name__} of dtype {rows.dtype}, expected a matrix of real numbers")
    if rows.ndim != 2 or 0 in rows.shape:
        raise GraphValidationError(f"{name} has shape {rows.shape}, expected (n_points, n_features), both >= 1")
    if is_sparse and X.shape[1] > np.iinfo(np.int32).max:
        raise GraphValidationError(f"{name} has {X.shape[1]} features, expected at most {np.iinfo(np.int32).max}")
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    points: Points
    if is_sparse:
        points = SparsePoints(as_canonical_csr(X, name, dtype))
    else:
        points = DensePoints(np.ascontiguousarray(rows, dtype))
    points.largest = _check_range(points.values, points.n, points.d, name)
    return points


def check_not_vanishing(largest: float, dtype: Any, name: str = "X") -> None:
    """Refuse points whose largest number is so small that squared distances between them would be 0."""
    precision = np.finfo(dtype)
    least = float(np.sqrt(precision.tiny / precision.eps))
    if 0.0 < largest < least:
        raise GraphValidationError(
            f"{name} holds no number above {largest:.3g} in size, expected some of at least {least:.3g} in {dtype}: "
            f"squared distances would vanish; multiply {name} by a power of ten"
        )


def as_point_weights(sample_weight: Any, points: Points) -> np.ndarray:
    """`as_weights` by which sums over all points neither overflow nor vanish."""
    weights = as_weights(sample_weight, points.n)
    precision = np.finfo(np.float64)
    with np.errstate(over="ignore"):
        most = 4.0 * points.d * weights.sum() * np.square(max(points.largest, 1.0))
    if not np.isfinite(most) or weights.max() < precision.tiny / precision.eps:
        what, remedy = ("vanish", "multiply") if np.isfinite(most) else ("overflow", "divide")
        raise GraphValidationError(
            f"sample_weight holds weights up to {weights.max():.3g}, by which sums over points as large as "
            f"{points.largest:.3g} {what}; {remedy} sample_weight by a power of ten"
        )
    return weights


def _check_range(values: np.ndarray, n: int, d: int, name: str) -> float:
    """The largest size of the values; refuse what is not finite, or has squared distances, or sums of n, that are not.

    Sums are taken in float64, where those of float32 have room.
    """
    n_summed = n if values.dtype == np.float64 else 1
    allowed, largest = float(np.sqrt(np.finfo(values.dtype).max / (8 * d) / n_summed)), 0.0
    flat = values.reshape(-1)
    for start in range(0, len(flat), _ENTRIES):
        piece = flat[start : start + _ENTRIES]
        lowest, highest = float(piece.min()), float(piece.max())
        if not (lowest > -allowed and highest < allowed):
            bad = piece[~(np.abs(piece) < allowed)][0]
            raise GraphValidationError(f"{name} holds {bad}, expected finite numbers below {allowed:.3g} in size")
        largest = max(largest, highest, -lowest)
    return largest


def as_cluster_count(k: Any, n_points: int, name: str = "k") -> int:
    """k as an int in [1, n_points]."""
    k = as_whole_number(k, name, at_least=1, if_none=K_OF_POINTS)
    if k > n_points:
        raise ParameterError(f"{name}={k} is more than the {n_points} points, expected {name} <= {n_points}")
    return k


def as_weighted_points(X: Any, k: Any, sample_weight: Any) -> tuple[Points, int, np.ndarray]:
    """What every k-means is given, checked: points to cluster, the number of clusters, and the points' weights."""
    points = as_points(X)
    check_not_vanishing(points.largest, points.dtype)
    return points, as_cluster_count(k, points.n), as_point_weights(sample_weight, points)


def as_centroids(init: Any, k: int, points: Points) -> np.ndarray:
    """Given centroids as a dense (k, d) array of the points' dtype."""
    given = as_points(init, "init")
    if (given.n, given.d) != (k, points.d):
        raise GraphValidationError(f"init has shape {(given.n, given.d)}, expected k centroids: ({k}, {points.d})")
    centroids = np.array(given.rows(np.arange(k)), dtype=points.dtype)
    _check_range(centroids, k, points.d, "init")
    return centroids


def point_blocks(n_points: int, work_per_point: int) -> np.ndarray:
    """Boundaries of blocks of rows, of a size that depends on the data alone; one block where the work is small."""
    if n_points * work_per_point <= _SMALL_WORK:
        return np.array([0, n_points])
    rows = min(max(2048, n_points // 32), 8192, max(64, _LARGEST_WORK // work_per_point))
    return row_blocks(n_points, rows // 64 * 64)
