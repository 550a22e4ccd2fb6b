"""Graph: the light container that every algorithm reads, and `as_graph`, the one gate from anything to it.

The gate is the only place that looks at the whole graph before the quality measures do. It checks what it is given in
one streaming pass, so that no later loop needs to, and states what it found. SciPy forces one index type on indptr
and indices; ours are int64 and int32, which halves the memory of a graph of more than 2^31 entries.
"""

import os
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
from graphclust.errors import GraphValidationError, GraphWarning, warn_caller
from graphclust.matrix_input import (
    SYMMETRY_TOLERANCE,
    all_ones,
    as_csr,
    as_float_weights,
    check_shape,
    plain,
    remark_on_duplicates,
    rounding,
    scipy_csr,
    symmetrized,
)

if TYPE_CHECKING:
    import networkx

__all__ = ["Graph", "GraphLike", "as_graph"]

GraphLike = Any  # a networkx.Graph, SciPy sparse matrix or array, square ndarray, path, or Graph

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

    def with_sorted_rows(self) -> "Graph":
        """The same graph with the neighbors of each node in increasing order, where a loop left them in another."""
        matrix = scipy_csr(self.indptr, self.indices, self.weights, self.n_nodes, copy=True)
        matrix.sort_indices()
        weights = None if self.weights is None else plain(matrix.data)
        return Graph(
            self.indptr, plain(matrix.indices), weights, self.degrees, self.loops, self.nodes, self.remarks
        )  # fmt: skip

    def __repr__(self) -> str:
        weighted = "unweighted" if self.weights is None else "weighted"
        return f"Graph({self.n_nodes} nodes, {self.n_edges} edges, {weighted})"


def as_graph(G: GraphLike, *, weight: str | None = "weight", symmetrize: str | None = None) -> Graph:
    """Check a graph and bring it into the form that every algorithm here reads.

    G : networkx.Graph (any hashable nodes, parallel edges are summed), SciPy sparse matrix or array of any format,
        square ndarray, path of a graph file (see `graphclust.load_graph`), or a `Graph`, returned as it is.
    weight : edge attribute of a NetworkX graph that holds the weight; a missing one counts 1. None makes all weights 1,
        those of a matrix or file as well.
    symmetrize : "max" or "sum" joins the two directions of each edge by that rule; None refuses a directed graph, but
        reads a file as `load_graph` does by default, by "max".

    Returns a `Graph`. G is never modified; a float64 CSR matrix in canonical order shares its arrays.

    Policies, each stated in `remarks` and in one `GraphWarning`: duplicate entries are summed (of boolean
    entries: collapsed), stored zeros are dropped, entries (i, j) and (j, i) that differ by rounding (1e-8 of
    their size, 1e-6 in float32) become their mean, nodes of degree 0 stay and are never labelled. Self-loops are kept
    and count once.

    Raises TypeError for what is no graph; GraphValidationError for a matrix that is not square, not symmetric,
    malformed, without nodes, with negative or non-finite weights, or with degrees out of floating-point range; and
    for the name of a weight that no edge has.

    >>> from scipy import sparse
    >>> as_graph(sparse.csr_array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    Graph(3 nodes, 2 edges, weighted)
    """
    if symmetrize is not None:
        as_choice(symmetrize, "symmetrize", ("max", "sum"))
    if isinstance(G, Graph):
        return _unweighted(G) if weight is None else G
    if isinstance(G, str | os.PathLike):
        from graphclust.io.load import load_graph

        return load_graph(G, symmetrize=symmetrize or "max", weights="ignore" if weight is None else None)
    if sparse.issparse(G):
        graph = _from_scipy(G, symmetrize, rounding(G.dtype))
        graph = _unweighted(graph) if weight is None else graph
    elif isinstance(G, np.ndarray):
        if isinstance(G, np.ma.MaskedArray):
            raise TypeError("G is a masked array, expected every entry to be given; pass G.filled(0)")
        if G.ndim != 2 or G.shape[0] != G.shape[1]:
            raise GraphValidationError(f"G has shape {G.shape}, expected a square adjacency matrix")
        graph = _from_scipy(sparse.csr_array(as_float_weights(np.asarray(G))), symmetrize, rounding(G.dtype))
        graph = _unweighted(graph) if weight is None else graph
    elif hasattr(G, "is_directed") and hasattr(G, "adjacency"):
        graph = _from_networkx(G, weight, symmetrize)
    else:
        module = "" if type(G).__module__ == "builtins" else type(G).__module__ + "."
        raise TypeError(
            f"G is a {module}{type(G).__name__}, expected a networkx.Graph, a SciPy sparse matrix or array, a square "
            "numpy array, the path of a graph file, or a graphclust.Graph"
        )
    remarks = graph.remarks
    n_isolated = int(graph.isolated.sum())
    if n_isolated:
        remarks = (*remarks, f"{n_isolated} isolated nodes are labelled -1 and left out of quality")
        graph = Graph(graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, graph.nodes, remarks)
    if remarks:
        warn_caller("; ".join(remarks), GraphWarning)
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
    tolerance: float = SYMMETRY_TOLERANCE,
) -> Graph:
    """Check raw CSR arrays and make a Graph of them; what `as_graph` does with a SciPy matrix, for readers of files.

    pattern : entries only say that an edge is there, so duplicates collapse to one instead of being summed.
    tolerance : by what share of its size an entry may differ from its mirror image without being another.
    """
    n = len(indptr) - 1
    check_shape(indptr, indices, weights, n)
    indptr = np.ascontiguousarray(indptr, dtype=np.int64)
    indices = indices[: indptr[-1]]
    if indices.dtype.newbyteorder("=") not in (np.int32, np.int64) or not indices.dtype.isnative:
        indices = indices.astype(np.int64)
    indices = plain(indices)
    if weights is not None:
        weights = plain(as_float_weights(weights[: indptr[-1]]))

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
            remarks = (*remarks, f"{n_zeros} stored zeros were dropped")
        return _from_canonical(matrix, nodes, remarks, symmetrize, tolerance)
    if asymmetry.sum() != 0:  # wraps around, as it should
        matrix, remark = symmetrized(scipy_csr(indptr, indices, weights, n), symmetrize, tolerance)
        return _from_canonical(matrix, nodes, (*remarks, remark), None, tolerance)
    _check_degrees(degrees)
    if indices.dtype != np.int32:
        narrow = np.empty(len(indices), np.int32)
        run_in_blocks(gate.narrow_indices, row_blocks(len(indices), 1 << 22), indices, narrow)
        indices = narrow
    return Graph(indptr, indices, weights, degrees, loops, nodes, remarks)


def graph_of_checked_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray | None,
    nodes: Sequence[Hashable] | None,
    remarks: tuple,
) -> Graph:
    """The Graph of int64 and int32 arrays that were built symmetric, in order and with positive weights."""
    n = len(indptr) - 1
    check_shape(indptr, indices, weights, n)
    degrees, loops = np.zeros((2, n))
    indices = plain(indices)
    weights = None if weights is None else plain(weights)
    weights_or_empty = _NO_WEIGHTS if weights is None else weights
    run_in_blocks(gate.sum_rows, entry_blocks(indptr), indptr, indices, weights_or_empty, degrees, loops)
    _check_degrees(degrees)
    return Graph(indptr, indices, weights, degrees, loops, nodes, remarks)


def _from_canonical(matrix: sparse.csr_array, nodes, remarks, symmetrize, tolerance) -> Graph:
    weights = None if all_ones(matrix.data) else matrix.data
    return graph_from_csr(
        matrix.indptr, matrix.indices, weights,
        nodes=nodes, remarks=remarks, symmetrize=symmetrize, tolerance=tolerance,
    )  # fmt: skip


def _unweighted(graph: Graph) -> Graph:
    return graph_from_csr(graph.indptr, graph.indices, None, nodes=graph.nodes, remarks=graph.remarks)


def _from_scipy(matrix, symmetrize: str | None, tolerance: float) -> Graph:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphValidationError(f"G has shape {matrix.shape}, expected a square adjacency matrix")
    pattern = matrix.dtype == bool
    matrix, remarks = (matrix, ()) if matrix.format == "csr" else as_csr(matrix, pattern)
    check_shape(matrix.indptr, matrix.indices, matrix.data, matrix.shape[0])
    as_float_weights(matrix.data[:0])  # refuses what are no numbers, even if all are one
    weights = None if all_ones(matrix.data[: matrix.indptr[-1]]) else matrix.data
    return graph_from_csr(
        matrix.indptr, matrix.indices, weights,
        remarks=remarks, symmetrize=symmetrize, pattern=pattern, tolerance=tolerance,
    )  # fmt: skip


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
    graph = _from_scipy(matrix, symmetrize, SYMMETRY_TOLERANCE)
    if weight not in (None, "weight") and graph.weights is None and graph.n_edges:
        _refuse_unknown_attribute(G, weight)
    return Graph(graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, nodes, graph.remarks)


def _refuse_unknown_attribute(G: "networkx.Graph", weight: str) -> None:
    if not any(weight in attributes for *_, attributes in G.edges(data=True)):
        raise GraphValidationError(
            f"no edge has the attribute {weight!r}, expected the name of one; weight=None makes all weights 1"
        )


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
            f"degree overflow or underflow: degrees run from {positive.min():g} to {positive.max():g}, "
            "expected 1e-140 to 1e140; multiply all weights by one factor, or cut off those out of proportion"
        )
