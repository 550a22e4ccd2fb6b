"""NetworkX's measures of a partition, on a `BackendGraph`: its values, and its errors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from graphclust.graph.container import Graph
from graphclust.nx_backend.backend_graph import BackendGraph
from graphclust.objective.cuts import cut_and_volume


def is_partition(G: BackendGraph, communities: Any) -> bool:
    """Whether every node is in exactly one of the communities."""
    if not isinstance(communities, list):
        communities = list(communities)
    covered = {node for members in communities for node in members if node in G}
    return len(G) == len(covered) == sum(len(members) for members in communities)


def modularity(G: BackendGraph, communities: Any, weight="weight", resolution=1) -> float:
    """NetworkX's modularity: self-loops count twice in the degrees."""
    if not isinstance(communities, list):
        communities = list(communities)
    if not is_partition(G, communities):
        from networkx.algorithms.community.quality import NotAPartition

        raise NotAPartition(G, communities)
    return labels_modularity(G.rows(weight), labels_of(G, communities), resolution)


def partition_quality(G: BackendGraph, partition: Any) -> tuple[float, float]:
    """Coverage and performance, without weights; the performance of a multigraph is -1."""
    labels, pattern = labels_of(G, partition), G.matrices[None].tocoo()
    sizes = np.bincount(labels).tolist()
    is_inside = labels[pattern.coords[0]] == labels[pattern.coords[1]]
    n_edges = G.number_of_edges()
    n_inside = n_edges - int(pattern.data[~is_inside].sum()) // 2
    coverage = n_inside / n_edges
    if G.is_multigraph():
        return coverage, -1.0
    n_pairs = len(G) * (len(G) - 1) // 2
    n_between = (len(G) ** 2 - sum(size**2 for size in sizes)) // 2
    return coverage, (n_inside + n_between - (n_edges - n_inside)) / n_pairs


def labels_of(G: BackendGraph, communities: Iterable[Iterable[Hashable]]) -> np.ndarray:
    """The community of each node, int64, shape (n,)."""
    labels, row_of = np.empty(len(G), np.int64), G.row_of
    for c, members in enumerate(communities):
        labels[[row_of[node] for node in members]] = c
    return labels


def labels_modularity(graph: Graph, labels: np.ndarray, resolution: float) -> float:
    """Modularity of labels 0..k-1 on a graph whose self-loops count as its entries say."""
    share = 1.0 / graph.total_volume
    cut, volume = cut_and_volume(graph, labels, int(labels.max()) + 1)
    return float(((volume - cut) * share - resolution * (volume * share) ** 2).sum())
