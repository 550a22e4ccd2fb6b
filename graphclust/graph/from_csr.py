"""Raw CSR arrays in, a checked Graph out: one streaming pass, so that no later loop needs to look again."""

from collections.abc import Hashable, Sequence

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs import csr_checks
from graphclust.compiled.graphs.objective import Rows, RowSums
from graphclust.compiled.runtime.blocks import entry_blocks, row_blocks, run_in_blocks
from graphclust.errors import GraphValidationError, amount
from graphclust.graph.container import NO_WEIGHTS, Graph
from graphclust.graph.matrices import (
    SYMMETRY_TOLERANCE,
    all_ones,
    as_float_weights,
    check_shape,
    join_directions,
    plain,
    remark_on_duplicates,
    remedy_for_signs,
    scipy_csr,
)

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
    run_in_blocks(csr_checks.check_rows, blocks, rows, rows.weights.view(np.uint64), sums, faults, asymmetry)
    if faults.any():
        _refuse_bad_entries(blocks, rows)
        matrix = scipy_csr(indptr, indices, weights, n, copy=True)
        matrix.sum_duplicates()
        n_duplicates = len(indices) - matrix.nnz
        if n_duplicates:
            remarks = (*remarks, remark_on_duplicates(n_duplicates, pattern))
        if pattern:
            matrix.data = (matrix.data > 0).astype(np.float64)
        matrix.eliminate_zeros()
        n_zeros = len(indices) - n_duplicates - matrix.nnz
        if n_zeros:
            remarks = (*remarks, f"{amount(n_zeros, 'stored zero was', 'stored zeros were')} dropped")
        return _from_canonical(matrix, nodes, remarks, symmetrize, tolerance)
    if asymmetry.sum() != 0:  # wraps around, as it should
        matrix, remark = join_directions(scipy_csr(indptr, indices, weights, n), symmetrize, tolerance)
        return _from_canonical(matrix, nodes, (*remarks, remark), None, tolerance)
    check_degrees(sums.degrees)
    if indices.dtype != np.int32:
        narrow = np.empty(len(indices), np.int32)
        run_in_blocks(_copy, row_blocks(len(indices), 1 << 22), indices, narrow)
        indices = narrow
    return Graph(indptr, indices, weights, *sums, nodes, remarks)


def _copy(first: int, last: int, _: int, values: np.ndarray, target: np.ndarray) -> None:
    target[first:last] = values[first:last]


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
    run_in_blocks(csr_checks.sum_rows, entry_blocks(indptr), rows, sums)
    check_degrees(sums.degrees)
    return Graph(indptr, indices, weights, *sums, nodes, remarks)


def _from_canonical(matrix: sparse.csr_array, nodes, remarks, symmetrize, tolerance) -> Graph:
    weights = None if all_ones(matrix.data) else matrix.data
    return graph_from_csr(
        matrix.indptr, matrix.indices, weights,
        nodes=nodes, remarks=remarks, symmetrize=symmetrize, tolerance=tolerance,
    )  # fmt: skip


def _refuse_bad_entries(blocks: np.ndarray, rows: Rows) -> None:
    """Name the first entry that no repair can help; what is left is zeros, duplicates and disorder."""
    indptr, indices, weights = rows
    n = len(indptr) - 1
    counts, examples = np.zeros((2, len(blocks) - 1, csr_checks.N_FAULTS), np.int64)
    run_in_blocks(csr_checks.count_faults, blocks, rows, counts, examples)
    found = counts.sum(axis=0)
    for kind, complaint, remedy in (
        (csr_checks.OUT_OF_RANGE, "column out of range", f"expected columns in [0, {n})"),
        (csr_checks.NOT_FINITE, "non-finite weight", "expected finite weights >= 0; remove or replace these entries"),
        (csr_checks.NEGATIVE, "negative weight", f"expected weights >= 0; {remedy_for_signs()}"),
    ):
        if found[kind]:
            entry = examples[np.flatnonzero(counts[:, kind])[0], kind]
            row = int(np.searchsorted(indptr, entry, side="right")) - 1
            value = indices[entry] if kind == csr_checks.OUT_OF_RANGE else weights[entry]
            raise GraphValidationError(
                f"G has {amount(found[kind], 'entry', 'entries')} with {complaint}, the first {value} "
                f"at ({row}, {indices[entry]}); {remedy}"
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
