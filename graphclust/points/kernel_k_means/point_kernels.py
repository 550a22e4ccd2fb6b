"""Kernels of vectors, whose entries are computed when they are asked for; BLAS does the inner products.

Wang, Gittens and Mahoney 2019 for the width of the Gaussian: the mean squared distance between the points.
"""

import math
from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import cdist

from graphclust.cached import cached_property
from graphclust.checks import as_number, as_weights, as_whole_number
from graphclust.compiled.points.gaussian_sums import COLUMNS, FEATURES, ROWS, Scaled, Spans, Votes, add_gaussian_sums
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.errors import GraphValidationError
from graphclust.float_scaling import balance_rows, exponent_beyond, largest_size, times_power_of_two
from graphclust.points.k_means.points import DensePoints, as_points, check_not_vanishing
from graphclust.points.kernel_k_means.matrix_kernels import BLOCK_ENTRIES, Kernel, Rows, part

_SLICE = 4096
_LARGEST_ERROR = 1e-3  # of an exponent, so relative to an entry
_FAR = 1000.0  # spreads from zero: products there still tell distances to 1e-9


class PointKernel(Kernel):
    """A kernel of the points X, shape (n, d), dense; entries have the dtype of X, whole numbers count as float64.

    squares : whether the entries are made of squared lengths, which vanish where all points are too small.
    """

    squares = True

    def __init__(self, X: Any):
        self.X = _dense(X, "X", self.squares)
        self.n, self.dtype = len(self.X), self.X.dtype

    @cached_property
    def diagonal(self) -> np.ndarray:  # type: ignore[override]
        return self.self_affinities(self.X)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        return self.entries(self.X[rows], self.X[columns])

    def against(self, Y: Any, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As for every kernel; Y has shape (m, d)."""
        Y = self._new(Y)
        return self.entries(Y, self.X[columns]), self.self_affinities(Y)

    def _new(self, Y: Any) -> np.ndarray:
        """New points, checked, as the kernel holds its own."""
        Y = _dense(Y, "Y").astype(self.dtype, copy=False)
        if Y.shape[1] != self.X.shape[1]:
            raise GraphValidationError(f"Y has {Y.shape[1]} features, expected {self.X.shape[1]}")
        return Y

    @abstractmethod
    def entries(self, Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """k(y, z) of two sets of vectors."""

    def self_affinities(self, Y: np.ndarray) -> np.ndarray:
        """k(y, y), float64."""
        return np.ones(len(Y))


class GaussianKernel(PointKernel):
    """exp(-|x - y|^2 / kappa).

    kappa : > 0, 1 / gamma of scikit-learn's "rbf", or twice a variance. None takes the mean squared distance over all
        ordered pairs of points, a point with itself included, where a point of sample_weight 2 counts as two.

    float32 points of which one is some hundred widths, sqrt(kappa), from their mean become float64.

    Raises GraphValidationError, ParameterError or TypeError for points, weights or a kappa that cannot be used.

    Source: Wang, Gittens & Mahoney 2019 for the width.

    >>> GaussianKernel([[0.0], [1.0]], kappa=1.0).block(np.array([0]), np.array([0, 1])).round(4)
    array([[1.    , 0.3679]])
    """

    def __init__(self, X: Any, kappa: float | None = None, *, sample_weight: npt.ArrayLike | None = None):
        super().__init__(X)
        self.origin = self.X.mean(axis=0, dtype=np.float64)
        pieces = [slice(i, i + _SLICE) for i in range(0, self.n, _SLICE)]
        if kappa is None:
            weights, exponent = _shares(sample_weight, self.n), exponent_beyond(largest_size(self.X), 1e-100, 1e100)
            if (weights != weights[0]).any():
                self.origin = sum(weights[some] @ self.X[some] for some in pieces) / weights.sum()
            offsets = ((weights[some], np.ldexp(self.X[some] - self.origin, -exponent)) for some in pieces)
            spread = float(sum((of @ offset**2).sum() for of, offset in offsets))
            kappa = float(np.ldexp(2.0 * spread / weights.sum(), 2 * exponent)) or 1.0
        self.kappa = as_number(kappa, "kappa", above=0.0)
        farthest = max(float(((self.X[some] - self.origin) ** 2).sum(axis=1).max()) for some in pieces)
        if farthest * float(np.finfo(self.dtype).eps) > _LARGEST_ERROR * self.kappa:
            self.X, self.dtype = self.X.astype(np.float64, copy=False), np.dtype(np.float64)
        # Products leave too little even of float64 where points are some million widths from their mean.
        self.by_differences = farthest * float(np.finfo(np.float64).eps) > _LARGEST_ERROR * self.kappa

    def entries(self, Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """k(y, z), from one product, or from differences where `by_differences` says so."""
        if self.by_differences:
            return np.exp(cdist(Y, Z, "sqeuclidean") / -self.kappa)
        # One product gives the exponent: (2 y, -|y|^2, 1) . (z, 1, -|z|^2), all over kappa.
        left = np.empty((len(Y), Y.shape[1] + 2), self.dtype)
        right = np.empty((len(Z), Z.shape[1] + 2), self.dtype)
        scale = 1.0 / np.sqrt(self.kappa)
        for points, out in ((Y, left), (Z, right)):
            np.multiply(points - self.origin.astype(self.dtype), scale, out=out[:, :-2])
        left[:, -2] = -np.einsum("ij,ij->i", left[:, :-2], left[:, :-2])
        right[:, -1] = -np.einsum("ij,ij->i", right[:, :-2], right[:, :-2])
        left[:, :-2] *= 2.0
        left[:, -1] = right[:, -2] = 1.0
        exponents = left @ right.T
        return np.exp(np.minimum(exponents, 0.0, out=exponents), out=exponents)

    def add_sums(self, votes: sparse.csc_array, rows: np.ndarray, columns: Rows, sums: np.ndarray) -> None:
        """As for every kernel; the entries are never stored."""
        if self.by_differences:
            super().add_sums(votes, rows, columns, sums)
            return
        height = max(COLUMNS, BLOCK_ENTRIES // max(self.X.shape[1], 512) // COLUMNS * COLUMNS)
        for start in range(0, len(rows), height):
            chosen = rows[start : start + height]
            left = self._scale(self.X.take(chosen, axis=0), ROWS)
            left.points[:] *= 2.0
            ends = votes.indptr[start : start + len(chosen) + 1]
            for first in range(0, sums.shape[1], 4 * height):
                some = slice(first, min(first + 4 * height, sums.shape[1]))
                piece = part(columns, some)
                points = self.X[piece] if isinstance(piece, slice) else self.X.take(piece, axis=0)
                right = self._scale(points, 1)
                tiles = row_blocks(len(right.points), COLUMNS)
                spans = Spans(np.zeros(len(tiles), np.int64), np.full(len(tiles), len(left.points)))
                own = Votes(_pad(ends, len(left.points)), votes.indices, votes.data)
                run_in_blocks(add_gaussian_sums, tiles, right, left, spans, own, sums[:, some])

    def mean_sq_norms(self, rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """As for every kernel; a tile of columns meets the rows of its own groups alone."""
        if self.by_differences:
            return super().mean_sq_norms(rows, sizes)
        right = self._scale(self.X.take(rows, axis=0), ROWS)
        left = right._replace(points=2.0 * right.points)
        owners, weights = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), np.repeat(1.0 / sizes, sizes)
        ends = np.cumsum(sizes)
        tiles = row_blocks(len(rows), COLUMNS)
        first_rows = (ends - sizes)[owners[tiles[:-1]]] // ROWS * ROWS
        last_rows = -(-ends[owners[tiles[1:] - 1]] // ROWS) * ROWS
        sums = np.zeros((len(sizes), len(rows)))
        votes = Votes(_pad(np.arange(len(rows) + 1), len(right.points)), owners, weights)
        run_in_blocks(add_gaussian_sums, tiles, right, left, Spans(first_rows, last_rows), votes, sums)
        return np.bincount(owners, sums[owners, np.arange(len(rows))] * weights)

    def _scale(self, points: np.ndarray, multiple: int) -> Scaled:
        """z and -|z|^2 for which k is 2^(2 y.z - |y|^2 - |z|^2), with rows and columns of zeros to fill multiples."""
        n, d = points.shape
        scaled = np.zeros((n + -n % multiple, d + -d % FEATURES), self.dtype)
        np.subtract(points, self.origin.astype(self.dtype), out=scaled[:n, :d])
        scaled[:n, :d] *= np.sqrt(np.log2(math.e) / self.kappa)
        return Scaled(scaled, -np.einsum("ij,ij->i", scaled, scaled))


class LaplacianKernel(PointKernel):
    """exp(-|x - y|_1 / kappa).

    kappa : > 0; None takes the mean of |x - y|_1 over all ordered pairs of points, a point with itself included, where
        a point of sample_weight 2 counts as two.

    Raises GraphValidationError, ParameterError or TypeError for points, weights or a kappa that cannot be used.

    >>> LaplacianKernel([[0.0], [2.0]], kappa=2.0).block(np.array([0]), np.array([0, 1])).round(4)
    array([[1.    , 0.3679]])
    """

    squares = False

    def __init__(self, X: Any, kappa: float | None = None, *, sample_weight: npt.ArrayLike | None = None):
        super().__init__(X)
        if kappa is None:
            kappa = _mean_absolute_distance(self.X, _shares(sample_weight, self.n)) or 1.0
        self.kappa = as_number(kappa, "kappa", above=0.0)

    def entries(self, Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return np.exp(cdist(Y, Z, "cityblock") / -self.kappa).astype(self.dtype, copy=False)


class PolynomialKernel(PointKernel):
    """(scale x.y + offset)^degree; with degree 1, scale 1 and offset 0 kernel k-means is ordinary k-means.

    With degree 1 the points become float64: the entries are then squared lengths from the origin, of which distances
    far from it are small differences, and these the points themselves still tell.

    degree : whole number >= 1. scale : > 0, None takes 1 / d. offset : any number; below 0 the kernel is indefinite.

    Raises GraphValidationError, ParameterError or TypeError for points or parameters that cannot be used.

    >>> PolynomialKernel([[1.0], [2.0]], degree=2, scale=1.0).block(np.array([0]), np.array([0, 1]))
    array([[4., 9.]])
    """

    def __init__(self, X: Any, degree: int = 3, scale: float | None = None, offset: float = 1.0):
        super().__init__(X)
        self.degree = as_whole_number(degree, "degree", at_least=1)
        if self.degree == 1:
            self.X, self.dtype = self.X.astype(np.float64, copy=False), np.dtype(np.float64)
        self.scale = 1.0 / self.X.shape[1] if scale is None else as_number(scale, "scale", above=0.0)
        self.offset = as_number(offset, "offset")
        with np.errstate(over="ignore"):
            longest = np.einsum("ij,ij->i", self.X, self.X, dtype=np.float64).max()
            most = (self.scale * longest + abs(self.offset)) ** self.degree
        if not most <= np.finfo(self.dtype).max:
            raise GraphValidationError(
                f"X holds numbers up to {largest_size(self.X):.3g} in size, of which a kernel of degree {self.degree} "
                f"overflows in {self.dtype}; divide X by a power of ten, or pass a smaller scale"
            )

    def entries(self, Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
        products = Y @ Z.T
        products *= self.scale
        products += self.offset
        return products**self.degree

    def self_affinities(self, Y: np.ndarray) -> np.ndarray:
        return (self.scale * np.einsum("ij,ij->i", Y, Y, dtype=np.float64) + self.offset) ** self.degree


class LinearKernel(PolynomialKernel):
    """(x - origin).(y - origin) of points in float64: kernel k-means with it is ordinary k-means.

    Distances do not depend on the origin, but products around a far one round them away. The origin is zero for points
    within 1,000 times their spread of it, else the mean of the points, rounded to a power of two up to their spread, by
    which whole numbers stay whole.

    Raises GraphValidationError or TypeError for points that cannot be used.

    >>> LinearKernel([[1e9], [1e9 + 2.0]]).block(np.array([0]), np.array([0, 1]))
    array([[ 1., -1.]])
    """

    def __init__(self, X: Any):
        super().__init__(X, degree=1, scale=1.0, offset=0.0)
        mean = self.X.mean(axis=0)
        spread = max(float((self.X.max(axis=0) - mean).max()), float((mean - self.X.min(axis=0)).max()))
        self.origin = np.zeros_like(mean)
        if np.abs(mean).max() > _FAR * spread > 0.0:
            unit = math.ldexp(1.0, math.frexp(spread)[1] - 1)
            self.origin = unit * np.rint(mean / unit)
            self.X = self.X - self.origin

    def _new(self, Y: Any) -> np.ndarray:
        return super()._new(Y) - self.origin


class CosineKernel(PointKernel):
    """x.y / (|x| |y|); 0 with a point of length 0.

    Raises GraphValidationError or TypeError for points that cannot be used.

    >>> CosineKernel([[3.0, 4.0], [2.0, 0.0]]).block(np.array([0]), np.array([0, 1]))
    array([[1. , 0.6]])
    """

    squares = False

    def entries(self, Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return _unit(Y) @ _unit(Z).T

    def self_affinities(self, Y: np.ndarray) -> np.ndarray:
        return np.any(Y, axis=1).astype(np.float64)


def _pad(starts: np.ndarray, n_rows: int) -> np.ndarray:
    """Where the votes of each of n_rows rows start and the last ones end; int64; rows beyond those given have none."""
    padded = np.full(n_rows + 1, starts[-1], np.int64)
    padded[: len(starts)] = starts
    return padded


def _shares(sample_weight: Any, n: int) -> np.ndarray:
    """`as_weights` over a power of two by which their sum is in range."""
    weights = as_weights(sample_weight, n)
    return times_power_of_two(weights, -exponent_beyond(largest_size(weights), 1e-100, 1e100))


def _mean_absolute_distance(X: np.ndarray, weights: np.ndarray) -> float:
    """Mean of |x - y|_1 over all pairs, a point of weight 2 counting as two."""
    total = 0.0
    for feature in X.T:
        order = np.argsort(feature, kind="stable")
        mass = weights[order]
        below = np.cumsum(mass) - mass
        above = weights.sum() - below - mass
        total += 2.0 * float((mass * (below - above)) @ feature[order])
    return total / float(weights.sum()) ** 2


def _unit(vectors: np.ndarray) -> np.ndarray:
    vectors, _ = balance_rows(vectors, 1e-12, 1e15)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0.0)


def _dense(X: Any, name: str, squares: bool = False) -> np.ndarray:
    points = as_points(X, name)
    if squares:
        check_not_vanishing(points.largest, points.dtype, name)
    if not isinstance(points, DensePoints):
        raise TypeError(f"{name} is sparse, expected dense points; a sparse kernel matrix needs kernel='precomputed'")
    return points.values
