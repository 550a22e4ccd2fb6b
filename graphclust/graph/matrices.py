"""Sparse matrices as they come, on their way into a Graph: formats, types of number, duplicates, two directions."""

import numpy as np
from scipy import sparse

from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.errors import GraphValidationError, ParameterError, counted

MANY_ENTRIES = 2**31  # more than int32 counts
SYMMETRY_TOLERANCE = 1e-8  # relative; rounding in a user's own symmetric formula, no more
ROUND_OFF = "differed by rounding"  # in the remark on entries that became their mean


def as_csr(matrix, pattern: bool) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """A matrix of any other format; SciPy's own conversions trust the indices, and sum duplicates in narrow types."""
    shape = matrix.shape
    if matrix.format == "csc":
        check_shape(matrix.indptr, matrix.indices, matrix.data, shape[1])
        n_stored = matrix.indptr[-1]
        data, indices = as_float_weights(matrix.data[:n_stored]), matrix.indices[:n_stored]
        check_range(indices, shape[0])
        return sparse.csc_array((data, indices, matrix.indptr), shape=shape).tocsr(), ()
    entries = matrix if matrix.format == "coo" else matrix.tocoo()
    row, column, data = entries.row, entries.col, as_float_weights(entries.data)
    if matrix.format in ("bsr", "dia"):  # their zeros are padding, not something that was stored
        row, column, data = (array[data != 0] for array in (row, column, data))
    check_range(row, shape[0])
    check_range(column, shape[1])
    result = sparse.coo_array((data, (row, column)), shape=shape).tocsr()
    n_duplicates = len(data) - result.nnz
    if pattern:
        result.data = (result.data > 0).astype(np.float64)
    return result, (remark_on_duplicates(n_duplicates, pattern),) if n_duplicates else ()


def check_shape(indptr, indices, weights, n: int) -> None:
    """Refuse arrays that no compiled loop could walk: wrong dimensions, a decreasing or overlong indptr."""
    if n < 1 or len(indptr) == 0:
        raise GraphValidationError("G has 0 nodes, expected at least 1 node")
    if n >= 2**31:
        raise ParameterError(f"G has {n} nodes, expected fewer than 2^31")
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind != "i":
            raise GraphValidationError(
                f"{name} has dtype {array.dtype} and {array.ndim} dimensions, "
                "expected signed whole numbers in one dimension"
            )
    if weights is not None and weights.ndim != 1:
        raise GraphValidationError(f"weights has {weights.ndim} dimensions, expected one weight per entry")
    if len(indptr) != n + 1 or indptr[0] != 0:
        raise GraphValidationError(f"indptr has {len(indptr)} numbers from {indptr[0]} on, expected {n + 1} from 0 on")
    decreasing = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(decreasing):
        raise GraphValidationError(f"indptr decreases after row {decreasing[0]}, expected non-decreasing row starts")
    stored = len(indices) if weights is None else min(len(indices), len(weights))
    if indptr[-1] > stored:
        raise GraphValidationError(
            f"indptr ends at {indptr[-1]}, but only {counted(stored, 'entry is', 'entries are')} stored"
        )


def check_range(indices: np.ndarray, n: int) -> None:
    """Refuse indices that no row or column of a matrix of n has."""
    if len(indices) and not (indices.min() >= 0 and indices.max() < n):
        raise GraphValidationError(f"G has indices from {indices.min()} to {indices.max()}, expected them in [0, {n})")


def as_float_weights(data: np.ndarray) -> np.ndarray:
    """Native float64; shares memory when it already is."""
    if data.dtype.kind == "c":
        raise TypeError(f"G holds {data.dtype} weights, expected real numbers; pass abs(G) or G.real")
    if data.dtype.kind not in "biuf":
        raise TypeError(f"G holds weights of dtype {data.dtype}, expected numbers; convert with G.astype(float)")
    with np.errstate(over="ignore"):  # a longer number too large for a float becomes infinite, and is refused as such
        return data.astype(np.float64, copy=False)


def plain(array: np.ndarray) -> np.ndarray:
    """Contiguous, aligned and read-only, so that each compiled loop sees one type of array."""
    array = np.require(array.view(np.ndarray), requirements=["C", "A"]).view()
    array.flags.writeable = False
    return array


def all_ones(data: np.ndarray) -> bool:
    """Whether every entry is 1; looks no further than a block with another."""
    others: list[int] = []

    def look(first: int, last: int, block: int) -> None:
        if not others and not (data[first:last] == 1).all():
            others.append(block)

    look(0, 1024, 0)
    run_in_blocks(look, row_blocks(len(data), 1 << 20))
    return not others


def remark_on_duplicates(n_duplicates: int, pattern: bool) -> str:
    """What is said of entries that were given more than once."""
    what_became = "collapsed" if pattern else "summed"
    return f"{counted(n_duplicates, 'duplicate entry was', 'duplicate entries were')} {what_became}"


def remark_on_isolated(n_isolated: int) -> str:
    """What is said of nodes without edges."""
    return f"{counted(n_isolated, 'isolated node is', 'isolated nodes are')} labelled -1 and left out of quality"


def scipy_csr(indptr, indices, weights, n: int, copy: bool = False) -> sparse.csr_array:
    """The SciPy matrix of a graph's arrays; without weights all entries are 1."""
    data = np.ones(len(indices)) if weights is None else weights
    if len(indices) >= MANY_ENTRIES:  # SciPy counts entries in the type of the indices
        indices = indices.astype(np.int64, copy=False)
    return sparse.csr_array((data, indices, indptr.astype(indices.dtype)), shape=(n, n), copy=copy)


def rounding(dtype: np.dtype) -> float:
    """By what share of its size an entry of this type may differ from its mirror image."""
    return max(SYMMETRY_TOLERANCE, 8.0 * float(np.finfo(dtype).eps)) if dtype.kind == "f" else SYMMETRY_TOLERANCE


def symmetrized(matrix: sparse.csr_array, rule: str | None, tolerance: float) -> tuple[sparse.csr_array, str]:
    """Join both directions of each edge by the rule; without one, only where they differ by rounding."""
    mirrored = matrix.T.tocsr()
    if rule == "max":
        return matrix.maximum(mirrored).tocsr(), "the graph was directed; each edge keeps the larger of its two weights"
    if rule == "sum":
        doubled_loops = sparse.dia_array((matrix.diagonal()[None, :], [0]), shape=matrix.shape)
        joined = (matrix + mirrored - doubled_loops).tocsr()
        joined.eliminate_zeros()
        return joined, "the graph was directed; each edge has the sum of its two weights"
    gap = abs(matrix - mirrored).tocoo()
    size = matrix.maximum(mirrored).tocsr()[gap.row, gap.col]
    worst = int(np.argmax(gap.data - tolerance * np.asarray(size).ravel()))
    i, j = int(gap.row[worst]), int(gap.col[worst])
    if gap.data[worst] > tolerance * max(matrix[i, j], matrix[j, i]):
        raise GraphValidationError(
            f"G is not symmetric: A[{i}, {j}]={matrix[i, j]:.9g}, A[{j}, {i}]={matrix[j, i]:.9g} "
            f"(of {counted(gap.nnz // 2, 'pair that differs', 'pairs that differ')}); "
            'expected an undirected graph, or pass symmetrize="sum" or "max"'
        )
    mean = ((matrix + mirrored) * 0.5).tocsr()
    pairs = counted(gap.nnz // 2, "pair", "pairs")
    return mean, f"{pairs} of entries (i, j), (j, i) {ROUND_OFF} and became their mean"
