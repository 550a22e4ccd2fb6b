"""Sparse matrices and raw CSR arrays in, a checked Graph out: formats, types of number, duplicates, two directions.

One streaming pass checks what loops rely on, so that no later one needs to look again.
"""

import operator
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs import csr
from graphclust.compiled.graphs.objective import Rows, RowSums
from graphclust.compiled.runtime.blocks import entry_blocks, row_blocks, run_in_blocks
from graphclust.errors import (
    GraphValidationError,
    GraphWarning,
    IsolatedNodesWarning,
    ParameterError,
    amount,
    caller_takes,
    warn_caller,
)
from graphclust.graph.container import NO_WEIGHTS, Graph, plain, scipy_csr

SYMMETRY_TOLERANCE = 1e-8  # relative; rounding in a user's own symmetric formula, no more
UNDIRECTED = "expected an undirected graph"
ISOLATED = "no edge: each is a cluster, or in none (label -1) where k is given"  # in the remark on isolated nodes
ROUND_OFF = "differed by rounding"  # in the remark on entries that became their mean


def as_csr(matrix, pattern: bool) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """A matrix of any other format; SciPy's own conversions trust the indices, and sum duplicates in narrow types."""
    matrix = with_checked_arrays(matrix, "G")
    shape = matrix.shape
    if matrix.format == "csc":
        n_stored = matrix.indptr[-1]
        data, indices = as_float_weights(matrix.data[:n_stored]), matrix.indices[:n_stored]
        return sparse.csc_array((data, indices, matrix.indptr), shape=shape).tocsr(), ()
    entries = matrix if matrix.format == "coo" else matrix.tocoo()
    row, column, data = entries.row, entries.col, as_float_weights(entries.data)
    if matrix.format in ("bsr", "dia"):  # their zeros are padding, not something that was stored
        row, column, data = (array[data != 0] for array in (row, column, data))
    result = sparse.coo_array((data, (row, column)), shape=shape).tocsr()
    n_duplicates = len(data) - result.nnz
    if pattern:
        result.data = (result.data > 0).astype(np.float64)
    return result, (remark_on_duplicates(n_duplicates, pattern),) if n_duplicates else ()


def as_checked_csr(matrix: Any, name: str) -> sparse.csr_array:
    """A SciPy matrix of any format in CSR, no entry stored beyond the last row; shares its arrays where it is CSR.

    All code that follows the arrays of a caller's matrix, SciPy's too, takes them from here: a row start or an index
    out of range would lead out of the memory of the process.

    name : of the argument. Raises GraphValidationError for arrays that are damaged.
    """
    # A new matrix checks again that rows are sorted and without duplicates, and drops what follows the last row.
    return sparse.csr_array(with_checked_arrays(matrix, name).tocsr())


def as_canonical_csr(matrix: Any, name: str, dtype: type[np.floating] = np.float64) -> sparse.csr_array:
    """The same with numbers of that type, in order and without duplicates; the caller's matrix is left as it is."""
    canonical = as_checked_csr(matrix, name).astype(dtype, copy=False)
    if not canonical.has_canonical_format:
        canonical = canonical.copy()
        canonical.sum_duplicates()
    return canonical


def with_checked_arrays(matrix: Any, name: str) -> Any:
    """A SciPy matrix whose arrays a loop can walk; one of lists or of a dictionary comes back as CSR or COO.

    Raises GraphValidationError, with the name of the argument and what is wrong with the arrays.
    """
    if len(matrix.shape) != 2:
        raise GraphValidationError(f"{name} has shape {matrix.shape}, expected a matrix of two dimensions")
    if matrix.format in ("lil", "dok"):
        try:
            if matrix.format == "lil" and any(map(operator.ne, map(len, matrix.rows), map(len, matrix.data))):
                raise ValueError("a row has not as many columns as values")
            matrix = matrix.tocsr() if matrix.format == "lil" else matrix.tocoo()
        except (ValueError, IndexError) as problem:
            raise GraphValidationError(f"{name} is a damaged {matrix.format} matrix: {problem}") from None
    try:
        _check_arrays(matrix, name)
    except GraphValidationError as problem:
        raise GraphValidationError(f"{problem}; the arrays of the {matrix.format.upper()} matrix are damaged") from None
    if matrix.format == "bsr":  # SciPy converts no unsigned indices of these
        indices, indptr = (array.astype(np.int64) for array in (matrix.indices, matrix.indptr))
        return sparse.bsr_array((matrix.data, indices, indptr), shape=matrix.shape)
    return matrix


def _check_arrays(matrix: Any, name: str) -> None:
    """Refuse a matrix whose arrays do not fit each other or its shape, before SciPy reads beyond them."""
    n_rows, n_columns = matrix.shape
    if matrix.format == "coo":
        row, column = matrix.coords
        shapes = [array.shape for array in (row, column, matrix.data)]
        if shapes != [(len(row),)] * 3:
            raise GraphValidationError(f"{name}: row, col and data have shapes {shapes}, expected one length")
        check_range(row, n_rows, name)
        check_range(column, n_columns, name)
    elif matrix.format == "dia":
        if matrix.data.ndim != 2 or matrix.offsets.shape != (len(matrix.data),):
            shapes = [matrix.data.shape, matrix.offsets.shape]
            raise GraphValidationError(f"{name}: data and offsets have shapes {shapes}, expected an offset a row")
    else:
        values = matrix.data
        if matrix.format == "bsr":
            if values.ndim != 3 or 0 in values.shape[1:] or n_rows % values.shape[1] or n_columns % values.shape[2]:
                raise GraphValidationError(
                    f"{name}: data has shape {values.shape}, expected blocks that make up the matrix"
                )
            n_rows, n_columns = n_rows // values.shape[1], n_columns // values.shape[2]
            values = values[:, :1, :1].reshape(-1)
        if matrix.format == "csc":
            n_rows, n_columns = n_columns, n_rows
        check_rows(matrix.indptr, matrix.indices, values, n_rows, f"{name}: ")
        check_range(matrix.indices[: matrix.indptr[-1]], n_columns, name)


def check_shape(indptr, indices, weights, n: int) -> None:
    """Refuse arrays of a graph that no compiled loop could walk, and numbers of nodes that none can count."""
    if n < 1 or len(indptr) == 0:
        raise GraphValidationError("G has 0 nodes, expected at least 1 node")
    if n >= 2**31:
        raise ParameterError(f"G has {n} nodes, expected fewer than 2^31")
    check_rows(indptr, indices, weights, n)


def check_rows(indptr, indices, weights, n: int, where: str = "") -> None:
    """Refuse wrong dimensions, a decreasing or overlong indptr; what the indices are is left open."""
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise GraphValidationError(
                f"{where}{name} has dtype {array.dtype} and {array.ndim} dimensions, "
                "expected whole numbers in one dimension"
            )
    if weights is not None and weights.ndim != 1:
        raise GraphValidationError(f"{where}weights has {weights.ndim} dimensions, expected one weight per entry")
    if len(indptr) != n + 1 or indptr[0] != 0:
        start = f" from {indptr[0]} on" if len(indptr) else ""
        raise GraphValidationError(f"{where}indptr has {len(indptr)} numbers{start}, expected {n + 1} from 0 on")
    if len(decreasing := np.flatnonzero(indptr[1:] < indptr[:-1])):
        wrong = f"{where}indptr decreases after row {decreasing[0]}"
        raise GraphValidationError(f"{wrong}, expected non-decreasing row starts")
    stored = len(indices) if weights is None else min(len(indices), len(weights))
    if indptr[-1] > stored:
        raise GraphValidationError(
            f"{where}indptr ends at {indptr[-1]}, but only {amount(stored, 'entry is', 'entries are')} stored"
        )


def check_range(indices: np.ndarray, n: int, name: str) -> None:
    """Refuse indices that no row or column of a matrix of n has."""
    if len(indices) and not (indices.min() >= 0 and indices.max() < n):
        wrong = f"{name} has indices from {indices.min()} to {indices.max()}"
        raise GraphValidationError(f"{wrong}, expected them in [0, {n})")


def as_float_weights(data: np.ndarray) -> np.ndarray:
    """Native float64; shares memory when it already is."""
    if data.dtype.kind == "c":
        raise TypeError(f"G holds {data.dtype} weights, expected real numbers; pass abs(G) or G.real")
    if data.dtype.kind not in "biuf":
        raise TypeError(f"G holds weights of dtype {data.dtype}, expected numbers; convert with G.astype(float)")
    with np.errstate(over="ignore"):  # a longer number too large for a float becomes infinite, and is refused as such
        return data.astype(np.float64, copy=False)


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
    return f"{amount(n_duplicates, 'duplicate entry was', 'duplicate entries were')} {what_became}"


def remark_on_isolated(n_isolated: int) -> str:
    """What is said of nodes without edges."""
    return f"{amount(n_isolated, 'isolated node has', 'isolated nodes have')} {ISOLATED}"


def said_of_clusters(remarks: Iterable[str], isolated_are_some: bool) -> tuple[str, ...]:
    """Remarks on a graph as remarks on its clusters: isolated nodes are some of them, or in none."""
    known = "no edge: each is a cluster" if isolated_are_some else "no edge: in no cluster (label -1)"
    return tuple(remark.replace(ISOLATED, known) for remark in remarks)


def warn_of(graph: Graph, said: Sequence[str], where: str = "") -> None:
    """One warning of what was assumed or repaired of a graph, if there is anything to say; `where` begins it."""
    if said:
        is_isolated = list(said) == [remark_on_isolated(int(graph.isolated.sum()))]
        warn_caller(where + "; ".join(said), IsolatedNodesWarning if is_isolated else GraphWarning)


def rounding(dtype: np.dtype) -> float:
    """By what share of its size an entry of this type may differ from its mirror image."""
    return max(SYMMETRY_TOLERANCE, 8.0 * float(np.finfo(dtype).eps)) if dtype.kind == "f" else SYMMETRY_TOLERANCE


def remedy_for_directions() -> str:
    """What to do about directions, by an argument of the function that was called where it has one."""
    kind = 'pass kind="directed" to tell sources from targets; else ' if caller_takes("kind") else ""
    call = 'symmetrize="sum"' if caller_takes("symmetrize") else 'as_graph(G, symmetrize="sum")'
    return f'{kind}pass {call} to add up the weights of both directions, or "max" to keep the larger'


def remedy_for_signs() -> str:
    """What to do about negative weights, by an argument of the function that was called where it has one."""
    repel = 'pass kind="signed"' if caller_takes("kind") else "drop the negative entries"
    call = "weight=None" if caller_takes("weight") else "as_graph(G, weight=None)"
    return f"{repel} if they repel, or pass {call} if the pattern alone counts"


def join_directions(matrix: sparse.csr_array, rule: str | None, tolerance: float) -> tuple[sparse.csr_array, str]:
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
            f"(of {amount(gap.nnz // 2, 'pair that differs', 'pairs that differ')}); "
            f"{UNDIRECTED}; {remedy_for_directions()}"
        )
    mean = ((matrix + mirrored) * 0.5).tocsr()
    pairs = amount(gap.nnz // 2, "pair", "pairs")
    return mean, f"{pairs} of entries (i, j), (j, i) {ROUND_OFF} and became their mean"


LARGEST = 1e140  # of degrees: their products are still floats


def graph_from_csr(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray | None,
    *,
    nodes: Sequence[Hashable] | np.ndarray | None = None,
    remarks: tuple[str, ...] = (),
    symmetrize: str | None = None,
    pattern: bool = False,
    tolerance: float = SYMMETRY_TOLERANCE,
) -> Graph:
    """Check raw CSR arrays and make a Graph of them; what `as_graph` does with a SciPy matrix, for readers of files.

    pattern : entries only say that an edge is there, so duplicates collapse to one instead of being summed.
    tolerance : by what share of its size an entry may differ from its mirror image without being another.
    """
    n = len(indptr) - 1
    check_shape(indptr, indices, weights, n)
    indptr = plain(indptr.astype(np.int64, copy=False))
    indices = indices[: indptr[-1]]
    if indices.dtype.newbyteorder("=") not in (np.int32, np.int64) or not indices.dtype.isnative:
        indices = indices.astype(np.int64)
    indices = plain(indices)
    if weights is not None:
        weights = plain(as_float_weights(weights[: indptr[-1]]))

    sums = RowSums(np.zeros(n), np.zeros(n))
    blocks = entry_blocks(indptr)
    faults, asymmetry = np.zeros((2, len(blocks) - 1), np.int64)
    rows = Rows(indptr, indices, NO_WEIGHTS if weights is None else weights)
    run_in_blocks(csr.check_rows, blocks, rows, rows.weights.view(np.uint64), sums, faults, asymmetry)
    matrix = None
    if faults.any():
        _refuse_bad_entries(rows)
        matrix = scipy_csr(indptr, indices, weights, n, copy=True)
        matrix.sum_duplicates()
        if n_duplicates := len(indices) - matrix.nnz:
            remarks = (*remarks, remark_on_duplicates(n_duplicates, pattern))
        if pattern:
            matrix.data = (matrix.data > 0).astype(np.float64)
        matrix.eliminate_zeros()
        if n_zeros := len(indices) - n_duplicates - matrix.nnz:
            remarks = (*remarks, f"{amount(n_zeros, 'stored zero was', 'stored zeros were')} dropped")
    elif asymmetry.sum() != 0:  # wraps around, as it should
        matrix, remark = join_directions(scipy_csr(indptr, indices, weights, n), symmetrize, tolerance)
        remarks, symmetrize = (*remarks, remark), None
    if matrix is not None:
        return graph_from_csr(
            matrix.indptr, matrix.indices, None if all_ones(matrix.data) else matrix.data,
            nodes=nodes, remarks=remarks, symmetrize=symmetrize, tolerance=tolerance,
        )  # fmt: skip
    check_degrees(sums.degrees)
    if indices.dtype != np.int32:
        indices = plain(indices.astype(np.int32))
    return Graph(indptr, indices, weights, *sums, nodes, remarks)


def graph_of_checked_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray | None,
    nodes: Sequence[Hashable] | np.ndarray | None,
    remarks: tuple,
) -> Graph:
    """The Graph of int64 and int32 arrays that were built symmetric, in order and with positive weights."""
    n = len(indptr) - 1
    check_shape(indptr, indices, weights, n)
    sums = RowSums(*np.zeros((2, n)))
    indptr, indices = plain(indptr), plain(indices)
    weights = None if weights is None else plain(weights)
    rows = Rows(indptr, indices, NO_WEIGHTS if weights is None else weights)
    run_in_blocks(csr.sum_rows, entry_blocks(indptr), rows, sums)
    check_degrees(sums.degrees)
    return Graph(indptr, indices, weights, *sums, nodes, remarks)


def _refuse_bad_entries(rows: Rows) -> None:
    """Name the first entry that no repair can help; what is left is zeros, duplicates and disorder."""
    indptr, indices, weights = rows
    n = len(indptr) - 1
    for is_wrong, values, complaint, remedy in (
        (lambda: (indices < 0) | (indices >= n), indices, "column out of range", f"expected columns in [0, {n})"),
        (
            lambda: ~np.isfinite(weights), weights, "non-finite weight",
            "expected finite weights >= 0; remove or replace these entries",
        ),
        (lambda: weights < 0.0, weights, "negative weight", f"expected weights >= 0; {remedy_for_signs()}"),
    ):  # fmt: skip
        wrong = np.flatnonzero(is_wrong())
        if len(wrong):
            row = int(np.searchsorted(indptr, wrong[0], side="right")) - 1
            raise GraphValidationError(
                f"G has {amount(len(wrong), 'entry', 'entries')} with {complaint}, the first {values[wrong[0]]} "
                f"at ({row}, {indices[wrong[0]]}); {remedy}"
            )


def check_degrees(degrees: np.ndarray) -> None:
    """Refuse degrees that floating-point numbers cannot hold, or whose products they cannot."""
    # The kernel divides by products of two degrees: their squares must be within floating-point range.
    positive = degrees[degrees > 0]
    if len(positive) and not (positive.min() > 1e-140 and positive.max() < LARGEST and np.isfinite(degrees.sum())):
        raise GraphValidationError(
            f"degree overflow or underflow: degrees run from {positive.min():g} to {positive.max():g}, "
            "expected 1e-140 to 1e140; multiply all weights by one factor, or cut off those out of proportion"
        )
