"""What kernel k-means asks of a kernel, and those that are matrices: dense, sparse, of a graph, heat on a graph.

Dhillon, Guan and Kulis 2007 for the kernel of a graph, Chung 1997 for heat.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ive

from graphclust.checks import Seed, as_array, as_number
from graphclust.compiled.graphs.csr import gather_entries
from graphclust.errors import GraphValidationError
from graphclust.graph.container import GraphLike
from graphclust.graph.matrices import as_canonical_csr, as_checked_csr
from graphclust.io.graph_input import as_graph
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.points.neighbors.graphs import knn_graph

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

    def add_sums(self, votes: sparse.csc_array, rows: np.ndarray, columns: Rows, sums: np.ndarray) -> None:
        """Add votes @ K[rows, columns] to sums; votes has shape (k, len(rows)), sums float64 (k, len(columns))."""
        per_block = max(1, min(len(rows), 2048))
        width = max(1, BLOCK_ENTRIES // per_block)
        for start in range(0, len(rows), per_block):
            chosen = rows[start : start + per_block]
            piece = votes[:, start : start + per_block].astype(self.dtype)
            for first in range(0, sums.shape[1], width):
                some = slice(first, min(first + width, sums.shape[1]))
                sums[:, some] += piece @ self.block(chosen, part(columns, some))

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


_SYMMETRIC = 1e-8  # relative to the largest entry
_HEAT_COLUMNS = 256
_HEAT_DENSE = 10_000  # nodes up to which all columns are kept


class MatrixKernel(Kernel):
    """A kernel of which a matrix K, shape (n, n), holds all entries."""

    K: Any

    def against(self, Y: Any, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Y : k(y, x) for every point x, dense or sparse, (m, n). k(y, y), which nobody knows, is given as 0."""
        Y = as_checked_csr(Y, "Y") if sparse.issparse(Y) else as_array(Y, "Y").astype(np.float64, copy=False)
        if Y.ndim != 2 or Y.shape[1] != self.n or not np.isfinite(Y.data if sparse.issparse(Y) else Y).all():
            raise GraphValidationError(f"Y has shape {Y.shape}, expected finite numbers, shape (m, {self.n})")
        some = Y[:, columns]
        return some.toarray() if sparse.issparse(some) else some, np.zeros(Y.shape[0])


class DenseKernel(MatrixKernel):
    """A symmetric matrix K, shape (n, n), float32 or float64; it need not be positive semi-definite.

    Raises GraphValidationError for a matrix that is not square, symmetric and finite, TypeError for no numbers.

    >>> DenseKernel([[2.0, 1.0], [1.0, 3.0]]).diagonal
    array([2., 3.])
    """

    def __init__(self, K: Any):
        array = as_array(K, "K")
        if array.dtype.kind not in "biuf":
            raise TypeError(f"K is {type(K).__name__} of dtype {array.dtype}, expected a matrix of real numbers")
        _check_square(array.shape)
        self.K = np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)
        self.n, self.dtype = len(self.K), self.K.dtype
        largest = max(abs(float(self.K.max())), abs(float(self.K.min())))
        if not np.isfinite(largest):
            raise GraphValidationError(f"K holds {largest}, expected finite numbers")
        rows = max(1, (1 << 22) // self.n)
        for first in range(0, self.n, rows):
            asymmetry = np.abs(self.K[first : first + rows] - self.K[:, first : first + rows].T).max()
            _check_symmetric(asymmetry, largest, 64 * float(np.finfo(self.dtype).eps))
        self.diagonal = self.K.diagonal().astype(np.float64)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        if isinstance(rows, slice) or isinstance(columns, slice):
            return self.K[rows, columns]
        return self.K[rows[:, None], columns]


class SparseKernel(MatrixKernel):
    """A symmetric SciPy sparse matrix K, shape (n, n); a missing entry is 0.

    weights : of the points, shape (n,), where K prescribes them: those of weight 0 are no points, and get label -1.

    Raises GraphValidationError for a matrix that is not square, symmetric and finite, TypeError for no sparse matrix.

    >>> SparseKernel(sparse.csr_array([[2.0, 1.0], [1.0, 0.0]])).block(np.array([1]), np.array([0, 1, 0]))
    array([[1., 0., 1.]])
    """

    def __init__(self, K: Any, weights: np.ndarray | None = None):
        if not sparse.issparse(K):
            raise TypeError(f"K is a {type(K).__name__}, expected a SciPy sparse matrix")
        _check_square(K.shape)
        self.K = as_canonical_csr(K, "K")
        if not np.isfinite(self.K.data).all():
            raise GraphValidationError("K holds numbers that are not finite, expected finite numbers")
        if self.K.nnz:
            _check_symmetric(abs(self.K - self.K.T).max(), np.abs(self.K.data).max())
        self.n, self.weights = self.K.shape[0], weights
        self.diagonal = self.K.diagonal()
        self._arrays = self.K.indptr.astype(np.int64), self.K.indices.astype(np.int32), self.K.data

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """As for every kernel; nothing of size n is made unless a slice of that size is asked for."""
        rows = np.arange(*rows.indices(self.n)) if isinstance(rows, slice) else rows
        columns = np.arange(*columns.indices(self.n)) if isinstance(columns, slice) else columns
        distinct, positions = np.unique(columns, return_inverse=True)
        entries = np.zeros((len(rows), len(distinct)))
        gather_entries(*self._arrays, np.asarray(rows, np.int64), distinct, entries)
        return entries if np.array_equal(distinct, columns) else entries[:, positions]

    def add_sums(self, votes: sparse.csc_array, rows: np.ndarray, columns: Rows, sums: np.ndarray) -> None:
        """As for every kernel; for all columns in time proportional to the entries of the rows."""
        if not isinstance(columns, slice) or sums.shape[1] < self.n:
            super().add_sums(votes, rows, columns, sums)
            return
        added = (votes @ self.K[rows]).tocoo()
        sums[added.row, added.col] += added.data


class GraphKernel(SparseKernel):
    """K = D^-1 A D^-1 with the degrees D as weights: kernel k-means then minimizes the normalized cut.

    G, loops, weight and errors : see `NormalizedCutKernel.of`. Isolated nodes are no points.

    Raises what `as_graph` and `NormalizedCutKernel.of` raise.

    Source: Dhillon, Guan & Kulis 2007, "Weighted graph cuts without eigenvectors", section 3.

    >>> import networkx as nx
    >>> kernel = GraphKernel(nx.path_graph(3))
    >>> kernel.weights, kernel.diagonal.round(4)
    (array([2., 3., 2.]), array([0.25  , 0.1111, 0.25  ]))
    """

    def __init__(self, G: GraphLike, loops: str = "implied", *, weight: str | None = "weight"):
        self.normalized = NormalizedCutKernel.of(G, loops, weight=weight)
        adjacency = self.normalized.graph.to_scipy()
        degrees = self.normalized.degrees
        inverse = sparse.diags_array(np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0))
        K = inverse @ adjacency @ inverse
        missing = sparse.diags_array(self.normalized.self_affinity - K.diagonal())
        super().__init__(sparse.csr_array(K + missing), degrees)


class HeatKernel(Kernel):
    """exp(-t L), L = I - D^-1/2 A D^-1/2, of a graph; t > 0.

    G, weight and errors : see `as_graph`.

    Up to 10,000 nodes the matrix is kept, dense; above that, columns are computed whenever entries are asked for, in
    time proportional to the graph's entries and memory proportional to n each.

    Raises what `as_graph` raises, ParameterError or TypeError for a `t` that is no positive number.

    Jourdan & Schwartzman 2024 print exp(-t D^-1/2 A D^-1/2), under which the most similar nodes are the farthest apart;
    this is Chung's kernel instead, e^-t exp(t D^-1/2 A D^-1/2).

    Source: Chung 1997, "Spectral graph theory", chapter 10; computed by the Chebyshev expansion of the exponential,
    exp(-t L) = e^-t (I_0(t) + 2 sum over d >= 1 of I_d(t) T_d(I - L)), I_d modified Bessel functions and T_d Chebyshev
    polynomials (Tal-Ezer & Kosloff 1984), in about 9 sqrt(t) products with the graph.

    >>> import networkx as nx
    >>> HeatKernel(nx.path_graph(2), 1.0).block(slice(None), slice(None)).round(4)
    array([[0.5677, 0.4323],
           [0.4323, 0.5677]])
    """

    def __init__(self, G: GraphLike, t: float = 1.0, *, weight: str | None = "weight"):
        graph = as_graph(G, weight=weight)
        self.t = as_number(t, "t", above=0.0)
        self.n = graph.n_nodes
        scale = np.divide(1.0, np.sqrt(graph.degrees), out=np.zeros(self.n), where=graph.degrees > 0)
        adjacency = sparse.diags_array(scale) @ graph.to_scipy() @ sparse.diags_array(scale)
        self._one_less_laplacian = sparse.csr_array(adjacency)
        self._coefficients = _heat_coefficients(self.t)
        self._kept: DenseKernel | None = None
        pieces = [np.arange(i, min(i + _HEAT_COLUMNS, self.n)) for i in range(0, self.n, _HEAT_COLUMNS)]
        if self.n <= _HEAT_DENSE:
            K = np.hstack([self._columns(some) for some in pieces])
            self._kept = DenseKernel((K + K.T) / 2)
            self.diagonal = self._kept.diagonal
        else:
            self.diagonal = np.concatenate([self._columns(some)[some, np.arange(len(some))] for some in pieces])

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        if self._kept is not None:
            return self._kept.block(rows, columns)
        if isinstance(rows, slice) or (not isinstance(columns, slice) and len(columns) < len(rows)):
            return self._columns(columns)[rows]
        return self._columns(rows)[columns].T

    def _columns(self, columns: Rows) -> np.ndarray:
        """Columns of the heat kernel: a series of Chebyshev polynomials, applied to unit vectors."""
        columns = np.arange(self.n)[columns]
        ends = np.zeros((self.n, len(columns)))
        ends[columns, np.arange(len(columns))] = 1.0
        # The eigenvalues lie in [-1, 1], where the polynomials stay within [-1, 1], and the coefficients are positive
        # and sum to 1: no rounding error is amplified.
        before, polynomial = ends, self._one_less_laplacian @ ends
        sums = self._coefficients[0] * ends
        for coefficient in self._coefficients[1:]:
            sums += coefficient * polynomial
            before, polynomial = polynomial, 2.0 * (self._one_less_laplacian @ polynomial) - before
        return sums


def _heat_coefficients(t: float) -> np.ndarray:
    """Of the Chebyshev expansion of exp(t (x - 1)) on [-1, 1], but for those that add less than rounding does."""
    degrees = np.arange(int(40 + 10 * np.sqrt(t)))
    coefficients = 2.0 * ive(degrees, t)  # e^-t I_d(t); decreasing, soon like exp(-d^2 / 2t)
    coefficients[0] /= 2.0
    n_left_out = np.count_nonzero(np.cumsum(coefficients[::-1]) < np.finfo(np.float64).eps / 4.0)
    return coefficients[: len(coefficients) - n_left_out]


def nearest_neighbor_kernel(X: Any, n_neighbors: int = 10, *, method: str = "exact", rng: Seed = None) -> SparseKernel:
    """D^-1 A D^-1 of the nearest-neighbor graph in which every point is also its own neighbor; all weigh alike.

    X, n_neighbors, method, rng : see `knn_graph`; neighborhood of either counts.

    Jourdan & Schwartzman 2024 do not say whether a point is its own neighbor; here it is, for without the diagonal
    squared distances of neighbors would be negative.

    Raises what `knn_graph` raises. Source: the k-nn kernel of Jourdan & Schwartzman 2024.

    >>> nearest_neighbor_kernel([[0.0], [1.0], [5.0], [6.0]], 1).diagonal
    array([0.25, 0.25, 0.25, 0.25])
    """
    neighbors = knn_graph(X, n_neighbors, method=method, rng=rng).to_scipy()
    return SparseKernel(GraphKernel(neighbors + sparse.eye_array(neighbors.shape[0]), loops="given").K)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise GraphValidationError(
            f"K has shape {shape}, expected (n, n), n >= 1; for points name a kernel other than 'precomputed'"
        )


def _check_symmetric(asymmetry: float, largest: float, rounding: float = 0.0) -> None:
    if not asymmetry <= max(_SYMMETRIC, rounding) * largest:
        raise GraphValidationError(
            f"K is not symmetric: an entry and its mirror differ by {asymmetry:g}, expected K = K.T; pass (K + K.T) / 2"
        )
