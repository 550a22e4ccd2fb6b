"""Graph: the light container that every algorithm reads, and `as_graph`, the one gate from anything to it.

The gate is the only place that looks at the whole graph before the quality measures do. It checks what it is given in
one streaming pass, so that no later loop needs to, and states what it found. SciPy forces one index type on indptr
and indices; ours are int64 and int32, which halves the memory of a graph of more than 2^31 entries.
"""

import os
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from graphclust.checks import as_choice
from graphclust.compiled import gate, subgraphs
from graphclust.compiled.blocks import entry_blocks, row_blocks, run_in_blocks
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError

if TYPE_CHECKING:
    import networkx

__all__ = ["Graph", "GraphLike", "as_graph"]

GraphLike = Any  # a networkx.Graph, SciPy sparse matrix or array, square ndarray, path, or Graph

SYMMETRY_TOLERANCE = 1e-8  # relative; rounding in a user's own symmetric formula, no more
_NO_WEIGHTS = np.empty(0)
_NO_WEIGHTS.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph as CSR rows: an edge is stored twice, a self-loop once, neighbours in increasing order.

    indptr : int64, shape (n_nodes + 1,).
    indices : int32, shape (n_entries,).
    weights : float64 > 0, shape (n_entries,); None when all are one.
    degrees : float64, shape (n_nodes,), the row sums; a self-loop counts once.
    loops : float64, shape (n_nodes,), the weight of each node's self-loop, 0 for none.
    nodes : the caller's names of the nodes in the order of the rows; None stands for 0..n_nodes-1.
    remarks : what was assumed or repaired on the way in, one sentence each.

    Make one with `as_graph`, which checks its input. The arrays are read-only views and may share memory
    with what the graph was made of: do not change that while the graph is in use.
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None
    degrees: np.ndarray
    loops: np.ndarray
    nodes: Sequence[Hashable] | None = None
    remarks: tuple[str, ...] = field(default=())

    def __post_init__(self):
        for name in ("indptr", "indices", "weights", "degrees", "loops"):
            array = getattr(self, name)
            if array is not None:
                view = array.view(np.ndarray)
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_entries(self) -> int:
        """Stored entries: twice the edges, once the loops."""
        return int(self.indptr[-1])

    @property
    def n_edges(self) -> int:
        """Undirected edges, self-loops included."""
        n_loops = int(np.count_nonzero(self.loops))
        return (self.n_entries - n_loops) // 2 + n_loops

    @cached_property
    def total_volume(self) -> float:
        """Sum of all degrees."""
        return float(self.degrees.sum())

    @cached_property
    def isolated(self) -> np.ndarray:
        """True for nodes of degree 0; shape (n_nodes,)."""
        return self.degrees == 0

    @property
    def weights_or_empty(self) -> np.ndarray:
        """The weights as compiled loops take them: an empty array stands for all ones."""
        return _NO_WEIGHTS if self.weights is None else self.weights

    @cached_property
    def components(self) -> np.ndarray:
        """Number of the connected component of each node, by first appearance; shape (n_nodes,).

        A few neighbours of every node are joined first; the remaining edges are then read only for the nodes
        outside the giant component (Sutton et al. 2018, Afforest).
        """
        parent = np.arange(self.n_nodes)
        blocks = row_blocks(self.n_nodes).tolist()
        for first, last in pairwise(blocks):
            gate.join_first_neighbours(first, last, 2, self.indptr, self.indices, parent)
        gate.flatten(parent)
        giant = np.bincount(parent, minlength=1).argmax()
        for first, last in pairwise(blocks):
            gate.join_remaining_neighbours(first, last, giant, 2, self.indptr, self.indices, parent)
        gate.flatten(parent)
        is_root = parent == np.arange(self.n_nodes)
        return (np.cumsum(is_root) - 1)[parent]

    @property
    def n_components(self) -> int:
        """Connected components, an isolated node being one of its own."""
        return int(self.components.max()) + 1

    def neighbors(self, node: int) -> np.ndarray:
        """Neighbours of a row, in increasing order, a self-loop included."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    def subgraph(self, nodes: np.ndarray) -> "Graph":
        """The graph between some nodes, in increasing order; reads only their rows. Names and remarks are left."""
        position = np.full(self.n_nodes, -1, np.int32)
        position[nodes] = np.arange(len(nodes), dtype=np.int32)
        indptr = np.zeros(len(nodes) + 1, np.int64)
        blocks = row_blocks(len(nodes), 1024)
        run_in_blocks(subgraphs.count_entries, blocks, nodes, self.indptr, self.indices, position, indptr)
        np.cumsum(indptr, out=indptr)
        indices = np.empty(indptr[-1], np.int32)
        weights = np.empty(0 if self.weights is None else indptr[-1])
        degrees, loops = np.zeros((2, len(nodes)))
        run_in_blocks(
            subgraphs.fill_entries, blocks, nodes, self.indptr, self.indices, self.weights_or_empty, position,
            indptr, indices, weights, degrees, loops,
        )  # fmt: skip
        return Graph(indptr, indices, None if self.weights is None else weights, degrees, loops)

    def to_scipy(self) -> sparse.csr_array:
        """The adjacency matrix; shares memory where SciPy's index types allow."""
        narrow = self.n_entries < 2**31
        indptr = self.indptr.astype(np.int32 if narrow else np.int64)
        weights = np.ones(self.n_entries) if self.weights is None else self.weights
        indices = self.indices if narrow else self.indices.astype(np.int64)
        return sparse.csr_array((weights, indices, indptr), shape=(self.n_nodes, self.n_nodes))

    def __repr__(self) -> str:
        weighted = "unweighted" if self.weights is None else "weighted"
        return f"Graph({self.n_nodes} nodes, {self.n_edges} edges, {weighted})"


def as_graph(G: GraphLike, *, weight: str | None = "weight", symmetrize: str | None = None) -> Graph:
    """Check a graph and bring it into the form that every algorithm here reads.

    G : networkx.Graph (any hashable nodes, parallel edges are summed), SciPy sparse matrix or array of any format,
        square ndarray, path of a graph file (see `graphclust.load_graph`), or a `Graph`, returned as it is.
    weight : edge attribute of a NetworkX graph that holds the weight; a missing one counts 1, None makes all 1.
    symmetrize : None refuses a directed graph; "max" or "sum" joins the two directions of each edge by that rule.

    Returns a `Graph`. G is never modified; a float64 CSR matrix in canonical order shares its arrays.

    Policies, each stated in `remarks` and in one `GraphWarning`: duplicate entries are summed (of boolean
    entries: collapsed), stored zeros are dropped, entries (i, j) and (j, i) that differ by less than 1e-8 of their
    size become their mean, nodes of degree 0 stay and are never labelled. Self-loops are kept and count once.

    Raises TypeError for what is no graph; GraphValidationError for a matrix that is not square, not symmetric,
    malformed, without nodes, with negative or non-finite weights, or with degrees out of floating-point range.

    >>> from scipy import sparse
    >>> as_graph(sparse.csr_array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    Graph(3 nodes, 2 edges, weighted)
    """
    if symmetrize is not None:
        as_choice(symmetrize, "symmetrize", ("max", "sum"))
    if isinstance(G, Graph):
        return G
    if isinstance(G, str | os.PathLike):
        from graphclust.io.load import load_graph

        return load_graph(G, symmetrize=symmetrize or "max")
    if sparse.issparse(G):
        graph = _from_scipy(G, symmetrize)
    elif isinstance(G, np.ndarray):
        if G.ndim != 2 or G.shape[0] != G.shape[1]:
            raise GraphValidationError(f"G has shape {G.shape}, expected a square adjacency matrix")
        graph = _from_scipy(sparse.csr_array(_as_float_weights(np.asarray(G))), symmetrize)
    elif hasattr(G, "is_directed") and hasattr(G, "adjacency"):
        graph = _from_networkx(G, weight, symmetrize)
    else:
        raise TypeError(
            f"G is a {type(G).__name__}, expected a networkx.Graph, a SciPy sparse matrix or array, a square "
            "numpy array, the path of a graph file, or a graphclust.Graph"
        )
    remarks = graph.remarks
    n_isolated = int(graph.isolated.sum())
    if n_isolated:
        remarks = (*remarks, f"{n_isolated} isolated nodes are labelled -1 and left out of quality")
        graph = Graph(graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, graph.nodes, remarks)
    if remarks:
        warnings.warn("; ".join(remarks), GraphWarning, stacklevel=_stacklevel())
    return graph


def graph_from_csr(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray | None,
    *,
    nodes: Sequence[Hashable] | None = None,
    remarks: tuple[str, ...] = (),
    symmetrize: str | None = None,
    pattern: bool = False,
) -> Graph:
    """Check raw CSR arrays and make a Graph of them; what `as_graph` does with a SciPy matrix, for readers of files.

    pattern : entries only say that an edge is there, so duplicates collapse to one instead of being summed.
    """
    n = len(indptr) - 1
    _check_shape(indptr, indices, weights, n)
    indptr = np.ascontiguousarray(indptr, dtype=np.int64)
    indices = indices[: indptr[-1]]
    if indices.dtype.newbyteorder("=") not in (np.int32, np.int64) or not indices.dtype.isnative:
        indices = indices.astype(np.int64)
    indices = _plain(indices)
    if weights is not None:
        weights = _plain(_as_float_weights(weights[: indptr[-1]]))

    degrees, loops = np.zeros(n), np.zeros(n)
    blocks = entry_blocks(indptr)
    faults, asymmetry = np.zeros((2, len(blocks) - 1), np.int64)
    weights_or_empty = _NO_WEIGHTS if weights is None else weights
    run_in_blocks(
        gate.check_rows, blocks, indptr, indices, weights_or_empty, weights_or_empty.view(np.uint64),
        degrees, loops, faults, asymmetry,
    )  # fmt: skip
    if faults.any():
        _refuse_bad_entries(blocks, indptr, indices, weights)
        matrix = _scipy_csr(indptr, indices, weights, n, copy=True)
        matrix.sum_duplicates()
        n_duplicates = len(indices) - matrix.nnz
        if n_duplicates:
            remarks = (*remarks, _remark_on_duplicates(n_duplicates, pattern))
        if pattern:
            matrix.data = (matrix.data > 0).astype(np.float64)
        matrix.eliminate_zeros()
        n_zeros = len(indices) - n_duplicates - matrix.nnz
        if n_zeros:
            remarks = (*remarks, f"{n_zeros} stored zeros were dropped")
        return _from_canonical(matrix, nodes, remarks, symmetrize)
    if asymmetry.sum() != 0:  # wraps around, as it should
        matrix, remark = _symmetrized(_scipy_csr(indptr, indices, weights, n), symmetrize)
        return _from_canonical(matrix, nodes, (*remarks, remark), None)
    _check_degrees(degrees)
    if indices.dtype != np.int32:
        narrow = np.empty(len(indices), np.int32)
        run_in_blocks(gate.narrow_indices, row_blocks(len(indices), 1 << 22), indices, narrow)
        indices = narrow
    return Graph(indptr, indices, weights, degrees, loops, nodes, remarks)


def _from_canonical(matrix: sparse.csr_array, nodes, remarks, symmetrize) -> Graph:
    weights = None if _all_ones(matrix.data) else matrix.data
    return graph_from_csr(matrix.indptr, matrix.indices, weights, nodes=nodes, remarks=remarks, symmetrize=symmetrize)


def _from_scipy(matrix, symmetrize: str | None) -> Graph:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphValidationError(f"G has shape {matrix.shape}, expected a square adjacency matrix")
    pattern = matrix.dtype == bool
    matrix, remarks = (matrix, ()) if matrix.format == "csr" else _as_csr(matrix, pattern)
    _check_shape(matrix.indptr, matrix.indices, matrix.data, matrix.shape[0])
    _as_float_weights(matrix.data[:0])  # refuses what are no numbers, even if all are one
    weights = None if _all_ones(matrix.data[: matrix.indptr[-1]]) else matrix.data
    return graph_from_csr(
        matrix.indptr, matrix.indices, weights, remarks=remarks, symmetrize=symmetrize, pattern=pattern
    )


def _as_csr(matrix, pattern: bool) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """A matrix of any other format; SciPy's own conversions trust the indices, and sum duplicates in narrow types."""
    shape = matrix.shape
    if matrix.format == "csc":
        _check_shape(matrix.indptr, matrix.indices, matrix.data, shape[1])
        n_stored = matrix.indptr[-1]
        data, indices = _as_float_weights(matrix.data[:n_stored]), matrix.indices[:n_stored]
        _check_range(indices, shape[0])
        return sparse.csc_array((data, indices, matrix.indptr), shape=shape).tocsr(), ()
    entries = matrix if matrix.format == "coo" else matrix.tocoo()
    row, column, data = entries.row, entries.col, _as_float_weights(entries.data)
    if matrix.format in ("bsr", "dia"):  # their zeros are padding, not something that was stored
        row, column, data = (array[data != 0] for array in (row, column, data))
    _check_range(row, shape[0])
    _check_range(column, shape[1])
    result = sparse.coo_array((data, (row, column)), shape=shape).tocsr()
    n_duplicates = len(data) - result.nnz
    if pattern:
        result.data = (result.data > 0).astype(np.float64)
    return result, (_remark_on_duplicates(n_duplicates, pattern),) if n_duplicates else ()


def _from_networkx(G: "networkx.Graph", weight: str | None, symmetrize: str | None) -> Graph:
    if G.is_directed() and symmetrize is None:
        raise GraphValidationError(
            f'G is a directed {type(G).__name__}, expected an undirected graph; pass symmetrize="sum" or "max", '
            "or G.to_undirected()"
        )
    import networkx

    nodes = list(G)
    if not nodes:
        raise GraphValidationError("G has 0 nodes, expected at least 1 node")
    try:
        matrix = networkx.to_scipy_sparse_array(G, nodelist=nodes, weight=weight, dtype=np.float64, format="csr")
    except (TypeError, ValueError) as problem:
        raise GraphValidationError(f"edge attribute {weight!r} does not hold numbers everywhere: {problem}") from None
    graph = _from_scipy(matrix, symmetrize)
    return Graph(graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, nodes, graph.remarks)


def _check_shape(indptr, indices, weights, n: int) -> None:
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
        raise GraphValidationError(f"indptr ends at {indptr[-1]}, but only {stored} entries are stored")


def _check_range(indices: np.ndarray, n: int) -> None:
    if len(indices) and not (indices.min() >= 0 and indices.max() < n):
        raise GraphValidationError(f"G has indices from {indices.min()} to {indices.max()}, expected them in [0, {n})")


def _remark_on_duplicates(n_duplicates: int, pattern: bool) -> str:
    return f"{n_duplicates} duplicate entries were {'collapsed' if pattern else 'summed'}"


def _as_float_weights(data: np.ndarray) -> np.ndarray:
    """Native float64; shares memory when it already is."""
    if data.dtype.kind == "c":
        raise TypeError(f"G holds {data.dtype} weights, expected real numbers; pass abs(G) or G.real")
    if data.dtype.kind not in "biuf":
        raise TypeError(f"G holds weights of dtype {data.dtype}, expected numbers; convert with G.astype(float)")
    with np.errstate(over="ignore"):  # a longer number too large for a float becomes infinite, and is refused as such
        return data.astype(np.float64, copy=False)


def _plain(array: np.ndarray) -> np.ndarray:
    """Contiguous, aligned and read-only, so that each compiled loop sees one type of array."""
    array = np.require(array.view(np.ndarray), requirements=["C", "A"]).view()
    array.flags.writeable = False
    return array


def _all_ones(data: np.ndarray) -> bool:
    others: list[int] = []

    def look(first: int, last: int, block: int) -> None:
        if not others and not (data[first:last] == 1).all():
            others.append(block)

    look(0, 1024, 0)
    run_in_blocks(look, row_blocks(len(data), 1 << 20))
    return not others


def _refuse_bad_entries(blocks: np.ndarray, indptr, indices, weights) -> None:
    """Name the first entry that no repair can help; what is left is zeros, duplicates and disorder."""
    n = len(indptr) - 1
    counts, examples = np.zeros((2, len(blocks) - 1, gate.N_FAULTS), np.int64)
    weights_or_empty = _NO_WEIGHTS if weights is None else weights
    run_in_blocks(gate.count_faults, blocks, indptr, indices, weights_or_empty, counts, examples)
    found = counts.sum(axis=0)
    for kind, complaint, remedy in (
        (gate.OUT_OF_RANGE, "column out of range", f"expected columns in [0, {n})"),
        (gate.NOT_FINITE, "non-finite weight", "expected finite weights >= 0; remove or replace these entries"),
        (gate.NEGATIVE, "negative weight", "expected weights >= 0; pass abs(G), or drop the negative entries"),
    ):
        if found[kind]:
            entry = examples[np.flatnonzero(counts[:, kind])[0], kind]
            row = int(np.searchsorted(indptr, entry, side="right")) - 1
            value = indices[entry] if kind == gate.OUT_OF_RANGE else weights[entry]
            raise GraphValidationError(
                f"G has {found[kind]} entries with {complaint}, the first {value} "
                f"at ({row}, {indices[entry]}); {remedy}"
            )


def _check_degrees(degrees: np.ndarray) -> None:
    # The kernel divides by products of two degrees: their squares must be within floating-point range.
    positive = degrees[degrees > 0]
    if len(positive) and not (positive.min() > 1e-140 and positive.max() < 1e140 and np.isfinite(degrees.sum())):
        raise GraphValidationError(
            f"degree overflow: degrees run from {positive.min():g} to {positive.max():g}, expected 1e-140 to 1e140; "
            "divide all weights by a common factor"
        )


def _scipy_csr(indptr, indices, weights, n: int, copy: bool = False) -> sparse.csr_array:
    data = np.ones(len(indices)) if weights is None else weights
    return sparse.csr_array((data, indices, indptr.astype(indices.dtype)), shape=(n, n), copy=copy)


def _symmetrized(matrix: sparse.csr_array, rule: str | None) -> tuple[sparse.csr_array, str]:
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
    worst = int(np.argmax(gap.data - SYMMETRY_TOLERANCE * np.asarray(size).ravel()))
    i, j = int(gap.row[worst]), int(gap.col[worst])
    if gap.data[worst] > SYMMETRY_TOLERANCE * max(matrix[i, j], matrix[j, i]):
        raise GraphValidationError(
            f"G is not symmetric: A[{i}, {j}]={matrix[i, j]:g}, A[{j}, {i}]={matrix[j, i]:g} "
            f"(and {gap.nnz // 2} such pairs); "
            'expected an undirected graph, or pass symmetrize="sum" or "max"'
        )
    mean = ((matrix + mirrored) * 0.5).tocsr()
    return mean, f"{gap.nnz // 2} pairs of entries (i, j), (j, i) differed by rounding and became their mean"


def _stacklevel() -> int:
    """Depth of the first frame outside this package, so that a warning points at the caller's line."""
    import sys

    depth, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("graphclust."):
        depth, frame = depth + 1, frame.f_back
    return depth
