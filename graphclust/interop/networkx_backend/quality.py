"""NetworkX's measures of a partition, on a `BackendGraph`: its values, and its errors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from graphclust.graph.container import Graph
from graphclust.interop.networkx_backend.backend_graph import BackendGraph
from graphclust.objective.cuts import cut_and_volume


def is_partition(G: BackendGraph, communities: Any) -> bool:
    """Whether every node is in exactly one of the communities."""
    if not isinstance(communities, list):
        communities = list(communities)
    covered = {node for members in communities for node in members if node in G}
    return len(G) == len(covered) == sum(len(members) for members in communities)


def modularity(G: BackendGraph, communities: Any, weight="weight", resolution=1) -> float:
    """NetworkX's modularity: self-loops count twice in the degrees, and once in each of a directed graph's."""
    if not isinstance(communities, list):
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
    """The number of edges between different communities."""
    _refuse_multigraph(G)
    return _edges_between(G, _labels_of_partition(G, partition))


def inter_community_non_edges(G: BackendGraph, partition: Any) -> int:
    """The number of pairs of nodes in different communities that no edge links."""
    _refuse_multigraph(G)
    labels = _labels_of_partition(G, partition)
    return _pairs_between(labels) - _edges_between(G, labels)


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


def _refuse_multigraph(G: BackendGraph) -> None:
    """NotImplementedError, upon which NetworkX takes its own function."""
    if G.is_multigraph():
        raise NotImplementedError("NetworkX counts some parallel edges between communities, and others not")


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
