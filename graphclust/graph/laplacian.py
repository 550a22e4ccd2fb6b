"""The normalized adjacency N = D^-1/2 A D^-1/2 of a graph as an operator; I - N is the normalized Laplacian."""

import numpy as np
from scipy.sparse.linalg import LinearOperator

from graphclust.compiled.graphs.lazy_walk import LazyWalk, step
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.graph.container import Graph

ENTRIES_PER_BLOCK = 1 << 16  # fewer than usual: small graphs are multiplied hundreds of times


class NormalizedAdjacency(LinearOperator):
    """N x without forming N; rows are computed independently, so the result does not depend on the threads.

    graph : the graph.
    degrees : float64, shape (n_nodes,); D, the row sums by default. A node of degree 0 has a zero row and column.
    """

    def __init__(self, graph: Graph, degrees: np.ndarray | None = None):
        super().__init__(np.float64, (graph.n_nodes, graph.n_nodes))
        self.graph = graph
        self.degrees = graph.degrees if degrees is None else degrees
        self.scale = np.divide(1.0, np.sqrt(self.degrees), out=np.zeros(graph.n_nodes), where=self.degrees > 0)
        self._blocks = entry_blocks(graph.indptr, ENTRIES_PER_BLOCK)

    def lazy_step(self, columns: np.ndarray, stay: float) -> np.ndarray:
        """stay x + (1 - stay) N x for each column x; shape (n_nodes, n_columns)."""
        out = np.empty_like(columns)
        walk, scaled = LazyWalk(stay, self.scale), self.scale[:, None] * columns
        run_in_blocks(step, self._blocks, self.graph.rows, walk, scaled, columns, out)
        return out

    def _matmat(self, columns: np.ndarray) -> np.ndarray:
        return self.lazy_step(np.ascontiguousarray(columns, dtype=np.float64), 0.0)

    def _matvec(self, column: np.ndarray) -> np.ndarray:
        return self._matmat(column.reshape(-1, 1)).ravel()

    def toarray(self) -> np.ndarray:
        """N as a dense matrix, symmetric to the bit."""
        return self.graph.to_scipy().toarray() * (self.scale[:, None] * self.scale[None, :])

    def _adjoint(self) -> "NormalizedAdjacency":
        return self
