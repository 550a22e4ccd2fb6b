"""Merge clusters greedily by the normalised cut."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_whole_number
from graphclust.compiled.graphs import merging as loops
from graphclust.errors import ParameterError, counted
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.gate import as_graph
from graphclust.progress import Progress

__all__ = ["merge_clusters"]

ENTRIES_PER_STEP = 1 << 24


def merge_clusters(G: GraphLike, k: int, *, weight: str | None = "weight") -> npt.NDArray[np.int64]:
    """Merge nodes into k clusters, one pair at a time, each time a pair whose union lowers the normalised cut most.

    G, weight : as `as_graph` takes them, without isolated nodes, typically a `quotient_graph`; k : 1 <= k <= n_nodes.

    Returns int64 labels, shape (n_nodes,), numbered by first appearance. A pair must be linked or include the cluster
    of most volume at the time; of pairs whose gains differ by less than 0.001 either may be taken.

    Raises ParameterError for isolated nodes and an impossible k.

    >>> import networkx as nx
    >>> merge_clusters(nx.barbell_graph(4, 0), 2)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    graph = graph_without_isolated_nodes(G, weight)
    k = as_whole_number(k, "k", at_least=1, at_most=graph.n_nodes, why=", the number of nodes")
    return merged(graph, k, Progress()).astype(np.int64)


def graph_without_isolated_nodes(G: GraphLike, weight: str | None) -> Graph:
    """The graph, or an error if it has isolated nodes."""
    graph = as_graph(G, weight=weight)
    if graph.isolated.any():
        raise ParameterError(
            f"G has {counted(int(graph.isolated.sum()), 'isolated node')}, which no cut can place; leave such out"
        )
    return graph


def merged(graph: Graph, k: int, progress: Progress) -> np.ndarray:
    """`merge_clusters` on checked arguments; int32 labels."""
    n = graph.n_nodes
    links = np.ones(graph.n_entries) if graph.weights is None else graph.weights.copy()
    following, tail, merged_into, met, labels = np.empty((5, n), np.int32)
    state = np.zeros(3, np.int64)
    arrays = (
        graph.indptr, graph.indices.copy(), links, graph.loops.copy(), graph.degrees.copy(), np.empty(n, np.int64),
        following, tail, merged_into, np.zeros(n), met, np.empty(n), np.empty(2 * n + 16),
        np.empty(2 * n + 16, np.int32), state,
    )  # fmt: skip
    loops.start_merging(*arrays)
    while state[2] > k:
        loops.merge_pairs(ENTRIES_PER_STEP, k, *arrays)
        progress.step(n - int(state[2]), n - k)
    loops.number_roots(merged_into, np.full(n, -1, np.int32), labels)
    return labels
