"""Graph: the light container that every algorithm reads.

SciPy forces one index type on indptr and indices; ours are int64 and int32, which halves the memory of a graph of more
than 2^31 entries.
"""

import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.cached import cached_property
from graphclust.compiled.graphs import components, csr
from graphclust.compiled.graphs.objective import Rows, RowSums
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.html_table import html_table

MANY_ENTRIES = 2**31  # more than int32 counts
NO_WEIGHTS = np.empty(0)
NO_WEIGHTS.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph as CSR rows: an edge is stored twice, a self-loop once, neighbors in increasing order.

    indptr : int64, shape (n_nodes + 1,).
    indices : int32, shape (n_entries,).
    weights : float64 > 0, shape (n_entries,); None when all are one.
    degrees : float64, shape (n_nodes,), the row sums; a self-loop counts once.
    loops : float64, shape (n_nodes,), the weight of each node's self-loop, 0 for none.
    nodes : the caller's names of the nodes in the order of the rows; None stands for 0..n_nodes-1.
    remarks : what was assumed or repaired on the way in, one sentence each.
    file : the path or name that `load_graph` was given, or the store, or None.
    node_weights : float64 >= 0, shape (n_nodes,), what a METIS file says that each node weighs, or None. Bounds on
        cluster sizes count them.

    Make one with `as_graph`, which checks its input. The arrays are read-only views and may share memory
    with what the graph was made of: do not change that while the graph is in use.

    >>> from graphclust.io.graph_input import as_graph
    >>> graph = as_graph(np.array([[2.0, 3, 0], [3, 0, 1], [0, 1, 0]]))
    >>> graph.indptr, graph.indices, graph.weights
    (array([0, 2, 4, 5]), array([0, 1, 0, 2, 1], dtype=int32), array([2., 3., 3., 1., 1.]))
    >>> graph.degrees, graph.loops, graph.n_edges
    (array([5., 4., 1.]), array([2., 0., 0.]), 3)
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64] | None
    degrees: npt.NDArray[np.float64]
    loops: npt.NDArray[np.float64]
    nodes: Sequence[Hashable] | npt.NDArray[Any] | None = None
    remarks: tuple[str, ...] = field(default=())
    file: str | None = field(default=None, kw_only=True)
    node_weights: npt.NDArray[np.float64] | None = field(default=None, kw_only=True)

    def __post_init__(self):
        for name in ("indptr", "indices", "weights", "degrees", "loops", "node_weights"):
            array = getattr(self, name)
            if array is not None:
                view = array.view(np.ndarray)
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the arrays of a copy read-only as well: pickle creates writable ones."""
        self.__dict__.update(state)
        self.__post_init__()

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
    def isolated(self) -> npt.NDArray[np.bool_]:
        """True for nodes without edges; shape (n_nodes,)."""
        return np.diff(self.indptr) == 0

    @property
    def weights_or_empty(self) -> npt.NDArray[np.float64]:
        """The weights as compiled loops take them: an empty array stands for all ones."""
        return NO_WEIGHTS if self.weights is None else self.weights

    @cached_property
    def rows(self) -> Rows:
        """indptr, indices and weights as compiled loops take them."""
        return Rows(self.indptr, self.indices, self.weights_or_empty)

    @cached_property
    def components(self) -> npt.NDArray[np.int32]:
        """Number of the connected component of each node, by first appearance; shape (n_nodes,).

        A few neighbors of every node are joined first; the remaining edges are then read only for the nodes
        outside the giant component (Sutton et al. 2018, Afforest).
        """
        parent = np.arange(self.n_nodes, dtype=np.int32)
        blocks = row_blocks(self.n_nodes).tolist()
        for first, last in pairwise(blocks):
            components.join_first_neighbors(first, last, 2, self.indptr, self.indices, parent)
        components.flatten(parent)
        sizes = np.bincount(parent, minlength=1)
        giant = sizes.argmax()
        if sizes[giant] == self.n_nodes:
            return np.zeros(self.n_nodes, np.int32)
        for first, last in pairwise(blocks):
            components.join_remaining_neighbors(first, last, giant, 2, self.indptr, self.indices, parent)
        components.flatten(parent)
        is_root = parent == np.arange(self.n_nodes, dtype=np.int32)
        return (np.cumsum(is_root, dtype=np.int32) - np.int32(1))[parent]

    @property
    def n_components(self) -> int:
        """Connected components, an isolated node being one of its own."""
        return int(self.components.max()) + 1

    def neighbors(self, node: int) -> npt.NDArray[np.int32]:
        """Neighbors of a row, in increasing order, a self-loop included."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    def subgraph(self, nodes: np.ndarray) -> "Graph":
        """The graph between some nodes, in increasing order; reads only their rows. Names and remarks are left."""
        position = np.full(self.n_nodes, -1, np.int32)
        position[nodes] = np.arange(len(nodes), dtype=np.int32)
        indptr = np.zeros(len(nodes) + 1, np.int64)
        blocks = row_blocks(len(nodes), 1024)  # few rows, since those of hubs may be long
        run_in_blocks(csr.count_entries, blocks, nodes, self.rows, position, indptr)
        np.cumsum(indptr, out=indptr)
        indices = np.empty(indptr[-1], np.int32)
        weights = np.empty(0 if self.weights is None else indptr[-1])
        sums = RowSums(*np.zeros((2, len(nodes))))
        rows = Rows(indptr, indices, weights)
        run_in_blocks(csr.fill_entries, blocks, nodes, self.rows, position, rows, sums)
        return Graph(indptr, indices, None if self.weights is None else weights, *sums)

    def to_scipy(self) -> sparse.csr_array:
        """The adjacency matrix; shares memory where SciPy's index types allow."""
        return scipy_csr(self.indptr, self.indices, self.weights, self.n_nodes)

    def with_sorted_rows(self) -> "Graph":
        """The same graph with the neighbors of each node in increasing order, where a loop left them in another."""
        matrix = scipy_csr(self.indptr, self.indices, self.weights, self.n_nodes, copy=True)
        matrix.sort_indices()
        return replace(
            self, indices=plain(matrix.indices), weights=None if self.weights is None else plain(matrix.data)
        )

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes, names and weights included, and edges; remarks may differ."""
        if not isinstance(other, Graph):
            return NotImplemented
        node_weights: tuple[Any, Any] = self.node_weights, other.node_weights
        return (
            np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.weights_or_empty, other.weights_or_empty)
            and np.array_equal(*node_weights)
            and (self.nodes is None) == (other.nodes is None)
            and list(() if self.nodes is None else self.nodes) == list(() if other.nodes is None else other.nodes)
        )

    def __repr__(self) -> str:
        weighted = "unweighted" if self.weights is None else "weighted"
        return f"Graph({self.n_nodes} nodes, {self.n_edges} edges, {weighted})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        n_loops, n_isolated = int(np.count_nonzero(self.loops)), int(self.isolated.sum())
        rows: list[tuple[str, object]] = [("nodes", f"{self.n_nodes:,}"), ("edges", f"{self.n_edges:,}")]
        kinds = [kind for kind, values in (("edges", self.weights), ("nodes", self.node_weights)) if values is not None]
        rows.append(("weights", f"on the {' and '.join(kinds)}" if kinds else "none"))
        rows += [(name, f"{n:,}") for name, n in (("self-loops", n_loops), ("isolated nodes", n_isolated)) if n]
        rows += [] if self.file is None else [("file", self.file)]
        return html_table("Graph", rows, self.remarks)


def plain(array: np.ndarray) -> np.ndarray:
    """Contiguous, aligned and read-only, so that each compiled loop sees one type of array."""
    array = np.require(array.view(np.ndarray), requirements=["C", "A"]).view()
    array.flags.writeable = False
    return array


def scipy_csr(indptr, indices, weights, n: int, copy: bool = False) -> sparse.csr_array:
    """The SciPy matrix of a graph's arrays; without weights all entries are 1."""
    data = np.ones(len(indices)) if weights is None else weights
    if len(indices) >= MANY_ENTRIES:  # SciPy counts entries in the type of the indices
        indices = indices.astype(np.int64, copy=False)
    return sparse.csr_array((data, indices, indptr.astype(indices.dtype)), shape=(n, n), copy=copy)


class NetworkXGraph(Protocol):
    """What tells a NetworkX graph, which is never imported for it."""

    def is_directed(self) -> bool: ...

    def adjacency(self) -> Iterator[Any]: ...


class SparseMatrix(Protocol):
    """What tells a SciPy sparse matrix or array, for checkers that know SciPy."""

    @property
    def nnz(self) -> int: ...

    def tocsr(self) -> Any: ...


class IGraph(Protocol):
    """What tells an igraph.Graph."""

    def vcount(self) -> int: ...

    def get_edgelist(self) -> Any: ...


class Table(Protocol):
    """What tells a pandas or Polars table of edges."""

    @property
    def columns(self) -> Any: ...

    def __getitem__(self, name: Any, /) -> Any: ...


EdgeList = Sequence[tuple[Any, ...]] | Sequence[Mapping[str, Any]]
GraphLike = Graph | NetworkXGraph | IGraph | Table | SparseMatrix | EdgeList | npt.NDArray[Any] | str | os.PathLike[str]
