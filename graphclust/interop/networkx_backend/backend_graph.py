"""BackendGraph, a NetworkX graph as rows, once for each edge attribute asked for, and its measures of partitions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from scipy import sparse

from graphclust.cached import cached_property
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph
from graphclust.graph.matrices import as_float_weights, graph_from_csr
from graphclust.graph.other_libraries import networkx_rows
from graphclust.io.kinds import as_layered
from graphclust.objective.cuts import cut_and_volume


class BackendGraph:
    """The adjacency matrices of a graph, by edge attribute; NetworkX caches it beside the graph it came from.

    nodes : in the order of the rows.
    matrices : edge attribute -> float64 CSR matrix with sorted rows; under None the number of parallel edges. A
        self-loop is one entry. Of a directed graph they hold arcs from row to column.
    """

    __networkx_backend__ = "graphclust"

    def __init__(
        self, nodes: Sequence[Hashable], matrices: dict[str | None, sparse.csr_array], is_multigraph: bool = False,
        is_directed: bool = False,
    ) -> None:  # fmt: skip
        self.nodes = nodes
        self.matrices = matrices
        self._is_multigraph, self._is_directed = is_multigraph, is_directed
        self._graphs: dict[str | None, Graph] = {}

    @classmethod
    def from_networkx(cls, G: Any, attributes: Iterable[str]) -> BackendGraph:
        """The rows of a networkx graph under some edge attributes, and without any."""
        names = [None, *attributes]
        try:
            matrices, nodes = networkx_rows(G, *names)
        except (TypeError, ValueError, OverflowError) as problem:
            raise NotImplementedError(f"an edge attribute of {names[1:]} does not hold numbers: {problem}") from None
        return cls(nodes, dict(zip(names, matrices, strict=True)), G.is_multigraph(), G.is_directed())

    def is_directed(self) -> bool:
        return self._is_directed

    def is_multigraph(self) -> bool:
        return self._is_multigraph

    def number_of_nodes(self) -> int:
        return len(self.nodes)

    def number_of_edges(self) -> int:
        """Parallel edges and self-loops included."""
        pattern = self.matrices[None]
        n_arcs = int(pattern.sum())
        return n_arcs if self._is_directed else (n_arcs + int(pattern.diagonal().sum())) // 2

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

    def _matrix(self, weight: str | None) -> sparse.csr_array:
        """A copy; NotImplementedError, upon which NetworkX may take its own function, for unknown weights."""
        if weight not in self.matrices:
            known = [name for name in self.matrices if name is not None]
            raise NotImplementedError(f"weight={weight!r} was not converted, expected one of {known}, or None")
        return self.matrices[weight].copy()

    def arcs(self, weight: str | None) -> LayeredGraph:
        """The directed graph, whose modularity is NetworkX's; raises as `rows` does."""
        try:
            return cast(LayeredGraph, as_layered(self._matrix(weight), "directed")).with_names(self.nodes)
        except GraphValidationError as problem:
            raise NotImplementedError(str(problem)) from None

    def rows(self, weight: str | None) -> Graph:
        """The undirected graph whose modularity is NetworkX's: a self-loop counts twice in its node's degree.

        Raises NotImplementedError, upon which NetworkX may take its own function, where weights are negative, not
        finite or unknown.
        """
        if weight not in self._graphs:
            matrix = self._matrix(weight)
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
        members: dict[int, set[Hashable]] = {}
        for node, label in zip(self.nodes, labels.tolist(), strict=True):
            members.setdefault(label, set()).add(node)
        return list(members.values())

    def to_networkx(self) -> Any:
        """The graph with the attributes that were converted; parallel edges share their sum equally."""
        import networkx

        kinds = ("Graph", "MultiGraph"), ("DiGraph", "MultiDiGraph")
        G = getattr(networkx, kinds[self._is_directed][self._is_multigraph])()
        G.add_nodes_from(self.nodes)
        part = sparse.coo_array if self._is_directed else partial(sparse.triu, format="coo")
        pattern = part(self.matrices[None])
        names = [name for name in self.matrices if name is not None]
        values = np.array([part(self.matrices[name]).data for name in names]).reshape(len(names), -1) / pattern.data
        for u, v, count, of_edge in zip(*pattern.coords, pattern.data, values.T, strict=True):
            attributes = dict(zip(names, of_edge.tolist(), strict=True))
            G.add_edges_from([(self.nodes[u], self.nodes[v], attributes)] * int(count))
        return G


def is_partition(G: BackendGraph, communities: Any) -> bool:
    """Whether every node is in exactly one of the communities."""
    communities = list(communities)
    covered = {node for members in communities for node in members if node in G}
    return len(G) == len(covered) == sum(len(members) for members in communities)


def modularity(G: BackendGraph, communities: Any, weight="weight", resolution=1) -> float:
    """NetworkX's modularity: self-loops count twice in the degrees, and once in each of a directed graph's."""
    communities = list(communities)
    if not is_partition(G, communities):
        from networkx.algorithms.community.quality import NotAPartition

        raise NotAPartition(G, communities)
    labels = labels_of(G, communities)
    if G.is_directed():
        return G.arcs(weight).modularity(labels, resolution)
    return labels_modularity(G.rows(weight), labels, resolution)


def intra_community_edges(G: BackendGraph, partition: Any) -> int:
    """The number of edges inside the communities, parallel edges and self-loops included."""
    return G.number_of_edges() - _edges_between(G, _labels_of_partition(G, partition))


def inter_community_edges(G: BackendGraph, partition: Any) -> int:
    """The number of edges between different communities; NotImplementedError for a multigraph."""
    if G.is_multigraph():
        raise NotImplementedError("NetworkX counts some parallel edges between communities, and others not")
    return _edges_between(G, _labels_of_partition(G, partition))


def inter_community_non_edges(G: BackendGraph, partition: Any) -> int:
    """The number of pairs of nodes in different communities that no edge links; raises as for edges."""
    partition = list(partition)
    n_edges = inter_community_edges(G, partition)
    return _pairs_between(labels_of(G, partition)) - n_edges


def partition_quality(G: BackendGraph, partition: Any) -> tuple[float, float]:
    """Coverage and performance, without weights; the performance of a multigraph is -1."""
    labels, n_edges = labels_of(G, partition), G.number_of_edges()
    n_between = _edges_between(G, labels)
    coverage = (n_edges - n_between) / n_edges
    if G.is_multigraph():
        return coverage, -1.0
    n_pairs = len(G) * (len(G) - 1) // 2
    return coverage, (n_edges - n_between + _pairs_between(labels) - n_between) / n_pairs


def _edges_between(G: BackendGraph, labels: np.ndarray) -> int:
    """The number of edges whose ends differ in their labels, parallel edges included."""
    pattern = G.matrices[None].tocoo()
    return int(pattern.data[labels[pattern.coords[0]] != labels[pattern.coords[1]]].sum()) // 2


def _pairs_between(labels: np.ndarray) -> int:
    """The number of pairs of nodes whose labels differ."""
    return (len(labels) ** 2 - sum(size**2 for size in np.bincount(labels).tolist())) // 2


def _labels_of_partition(G: BackendGraph, partition: Any) -> np.ndarray:
    """The community of each node; NotImplementedError for what is no partition, of which NetworkX counts something."""
    partition = list(partition)
    if not is_partition(G, partition):
        raise NotImplementedError("the communities overlap, leave nodes out or hold others: that is left to NetworkX")
    return labels_of(G, partition)


def labels_of(G: BackendGraph, communities: Iterable[Iterable[Hashable]]) -> np.ndarray:
    """The community of each node, int64, shape (n,), of communities that are a partition."""
    labels, row_of = np.empty(len(G), np.int64), G.row_of
    for c, members in enumerate(communities):
        labels[[row_of[node] for node in members]] = c
    return labels


def labels_modularity(graph: Graph, labels: np.ndarray, resolution: float) -> float:
    """Modularity of labels 0..k-1 on a graph whose self-loops count as its entries say."""
    share = 1.0 / graph.total_volume
    cut, volume = cut_and_volume(graph, labels, int(labels.max()) + 1)
    return float(((volume - cut) * share - resolution * (volume * share) ** 2).sum())
