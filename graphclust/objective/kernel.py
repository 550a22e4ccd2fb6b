"""NormalizedCutKernel: the kernel whose weighted k-means cost is the normalized cut, seen through the graph's rows.

K = D^-1 A D^-1 + shift D^-1 with point weights W = D (Dhillon, Guan & Kulis 2007). K is never formed: an entry is
K_xy = A_xy / (d_x d_y), read from the row of x or of y, and the diagonal is kept as one array.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from graphclust.checks import as_choice, as_number, check_type
from graphclust.compiled.graphs.coreset import KernelTerms
from graphclust.compiled.runtime.blocks import row_blocks
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph, GraphLike
from graphclust.io.graph_input import as_graph, refuse_without_edges

LOOP_POLICIES = ("implied", "given")
NODES_AT_A_TIME = 1 << 20  # so that what is needed in between takes no memory to speak of


@dataclass(frozen=True, eq=False)
class NormalizedCutKernel:
    """K and W of a graph; make one with `NormalizedCutKernel.of`.

    graph : the rows.
    degrees : float64, shape (n_nodes,), the d in K_xy = A_xy / (d_x d_y), implied loops included.
    self_affinity : float64, shape (n_nodes,), the diagonal of K, implied loops and shift included.
    point_weights : float64, shape (n_nodes,), W; the degrees, or the weights of a coreset when the kernel is
        restricted to one. A node of weight 0 is no point.
    """

    graph: Graph
    degrees: np.ndarray
    self_affinity: np.ndarray
    point_weights: np.ndarray

    def __repr__(self) -> str:
        return f"NormalizedCutKernel({self.graph!r}, weight={self.point_weights.sum():.6g})"

    @classmethod
    def of(
        cls, G: GraphLike, loops: str = "implied", shift: float = 0.0, *, weight: str | None = "weight"
    ) -> NormalizedCutKernel:
        """The kernel of a graph.

        G, weight : a graph as `as_graph` takes it; the edge attribute of a NetworkX graph, None for all ones.
        loops : "implied" gives each node without a self-loop one of the mean weight of its edges, counted in `degrees`
            but never in any reported quality: without loops K has a zero diagonal and squared distances
            K_xx + K_yy - 2 K_xy are negative, so that D²-sampling has no distribution. On unweighted graphs neighbors
            then lie (1/d_x - 1/d_y)^2 apart. "given" takes the loops that are there.
        shift : s >= 0; adds s D^-1. K is positive semi-definite for s = 1 at the latest, all k-partitions keep their
            order, but distances then hardly depend on the edges.

        Raises what `as_graph` does, GraphValidationError when there are no edges, and ParameterError for an impossible
        shift, or loops="given" with shift 0 on a graph without self-loops.

        Source: Dhillon, Guan & Kulis 2007, "Weighted Graph Cuts without Eigenvectors".

        >>> import numpy as np
        >>> NormalizedCutKernel.of(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])).degrees
        array([2., 3., 2.])
        """
        as_choice(loops, "loops", LOOP_POLICIES)
        shift = as_number(shift, "shift", at_least=0.0)
        graph = as_graph(G, weight=weight)
        refuse_without_edges(graph)
        if loops == "given" and shift == 0.0 and not graph.loops.any():
            raise ParameterError(
                'loops="given" with shift=0 leaves a zero diagonal on a graph without self-loops, where no distances '
                'exist; pass loops="implied" or a shift > 0'
            )
        n = graph.n_nodes
        self_affinity = np.empty(n)
        degrees = np.empty(n) if loops == "implied" else graph.degrees
        for first, last in pairwise(row_blocks(n, NODES_AT_A_TIME).tolist()):
            terms = kernel_terms(graph, slice(first, last), loops, shift)
            self_affinity[first:last] = terms.self_affinity
            if loops == "implied":
                degrees[first:last] = terms.degrees
        return cls(graph, degrees, self_affinity, degrees)

    @property
    def n_nodes(self) -> int:
        return self.graph.n_nodes

    @property
    def points(self) -> np.ndarray:
        """Nodes of positive weight: those that can be sampled."""
        return np.flatnonzero(self.point_weights > 0)

    def row(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Neighbors of a node, itself left out, and its affinities K_xy to them."""
        graph = self.graph
        start, end = graph.indptr[node], graph.indptr[node + 1]
        neighbors = graph.indices[start:end]
        weights = np.ones(end - start) if graph.weights is None else graph.weights[start:end]
        other = neighbors != node
        neighbors = neighbors[other]
        return neighbors, weights[other] / (self.degrees[node] * self.degrees[neighbors])

    def terms(self, at: slice | np.ndarray) -> KernelTerms:
        """Degrees, self-affinities and point weights of some nodes."""
        return KernelTerms(self.degrees[at], self.self_affinity[at], self.point_weights[at])

    def restrict_kernel(self, nodes: np.ndarray, weights: np.ndarray) -> NormalizedCutKernel:
        """The same kernel between some nodes only (increasing), with other point weights, both of shape (m,)."""
        return NormalizedCutKernel(self.graph.subgraph(nodes), self.degrees[nodes], self.self_affinity[nodes], weights)


def check_kernel(kernel: NormalizedCutKernel) -> None:
    """Raise TypeError for what is no kernel, such as a graph; an object with the same attributes is one."""
    if hasattr(kernel, "block") and not hasattr(kernel, "point_weights"):
        raise TypeError(
            f"kernel is a {type(kernel).__name__}, expected a NormalizedCutKernel, that of a graph; for a kernel of "
            "points take coreset_kernel_kmeans, or kernel_kmeans_plusplus for seeds"
        )
    if not hasattr(kernel, "point_weights"):
        check_type(kernel, NormalizedCutKernel, "kernel", "NormalizedCutKernel.of(G) makes one of a graph")


def kernel_terms(graph: Graph, at: slice | np.ndarray, loop_policy: str, shift: float) -> KernelTerms:
    """The terms of some nodes, which follow from the node alone; see `NormalizedCutKernel.of`."""
    loops, degrees = graph.loops[at], graph.degrees[at]
    if loop_policy == "implied":
        row_length = graph.indptr[1:][at] - graph.indptr[:-1][at]
        without = (loops == 0) & (row_length > 0)
        mean_weight = np.divide(degrees, row_length, out=np.zeros(len(degrees)), where=without)
        loop_weights = loops + mean_weight
        degrees = degrees + mean_weight
    else:
        loop_weights = loops
    inverse = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
    self_affinity = loop_weights * inverse * inverse + shift * inverse
    return KernelTerms(degrees, self_affinity, degrees)
