"""BackendGraph: an undirected NetworkX graph as rows, once for each edge attribute that a function asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.graph.from_csr import graph_from_csr
from graphclust.graph.matrices import as_float_weights
from graphclust.graph.networkx_rows import networkx_rows


class BackendGraph:
    """The adjacency matrices of a graph, by edge attribute; NetworkX caches it beside the graph it came from.

    nodes : in the order of the rows.
    matrices : edge attribute -> float64 CSR matrix with sorted rows; under None the number of parallel edges. A
        self-loop is one entry.
    """

    __networkx_backend__ = "graphclust"

    def __init__(
        self, nodes: Sequence[Hashable], matrices: dict[str | None, sparse.csr_array], is_multigraph: bool = False
    ) -> None:
        self.nodes = nodes
        self.matrices = matrices
        self._is_multigraph = is_multigraph
        self._graphs: dict[str | None, Graph] = {}

    @classmethod
    def from_networkx(cls, G: Any, attributes: Iterable[str]) -> BackendGraph:
        """The rows of an undirected networkx graph under some edge attributes, and without any."""
        names = [None, *attributes]
        try:
            matrices, nodes = networkx_rows(G, *names)
        except (TypeError, ValueError, OverflowError) as problem:
            raise NotImplementedError(f"an edge attribute of {names[1:]} does not hold numbers: {problem}") from None
        return cls(nodes, dict(zip(names, matrices, strict=True)), G.is_multigraph())

    def is_directed(self) -> bool:
        return False

    def is_multigraph(self) -> bool:
        return self._is_multigraph

    def number_of_nodes(self) -> int:
        return len(self.nodes)

    def number_of_edges(self) -> int:
        """Parallel edges and self-loops included."""
        pattern = self.matrices[None]
        return int(pattern.sum() + pattern.diagonal().sum()) // 2

    @property
    def has_edges(self) -> bool:
        return self.matrices[None].nnz > 0

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self.row_of

    @cached_property
    def row_of(self) -> dict[Hashable, int]:
        """Node -> its row."""
        return {node: row for row, node in enumerate(self.nodes)}

    def rows(self, weight: str | None) -> Graph:
        """The graph whose modularity is NetworkX's: a self-loop counts twice in its node's degree.

        Raises NotImplementedError, upon which NetworkX may take its own function, where weights are negative, not
        finite or unknown.
        """
        if weight not in self.matrices:
            known = [name for name in self.matrices if name is not None]
            raise NotImplementedError(f"weight={weight!r} was not converted, expected one of {known}, or None")
        if weight not in self._graphs:
            matrix = self.matrices[weight].copy()
            matrix.data[matrix.indices == np.repeat(np.arange(len(self)), np.diff(matrix.indptr))] *= 2.0
            weights = None if (matrix.data == 1.0).all() else as_float_weights(matrix.data)
            try:
                graph = graph_from_csr(matrix.indptr, matrix.indices, weights, nodes=self.nodes)
            except GraphValidationError as problem:
                raise NotImplementedError(str(problem)) from None
            self._graphs[weight] = graph
        return self._graphs[weight]

    def sets_of(self, labels: np.ndarray) -> list[set[Hashable]]:
        """The nodes of each label, in the order of their first nodes."""
        found: dict[int, set[Hashable]] = {}
        for node, label in zip(self.nodes, labels.tolist(), strict=True):
            found.setdefault(label, set()).add(node)
        return list(found.values())

    def to_networkx(self) -> Any:
        """The graph with the attributes that were converted; parallel edges share their sum equally."""
        import networkx

        G = (networkx.MultiGraph if self._is_multigraph else networkx.Graph)()
        G.add_nodes_from(self.nodes)
        pattern = sparse.triu(self.matrices[None], format="coo")
        names = [name for name in self.matrices if name is not None]
        upper = [sparse.triu(self.matrices[name], format="coo") for name in names]
        values = np.array([matrix.data for matrix in upper]).reshape(len(names), -1) / pattern.data
        for u, v, count, of_edge in zip(*pattern.coords, pattern.data, values.T, strict=True):
            attributes = dict(zip(names, of_edge.tolist(), strict=True))
            G.add_edges_from([(self.nodes[u], self.nodes[v], attributes)] * int(count))
        return G
