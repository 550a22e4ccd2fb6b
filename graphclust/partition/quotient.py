"""The quotient graph of a partition: its clusters as nodes, the weight between two clusters as their edge.

Cuts, volumes and so the normalised cut of any partition that keeps the clusters whole are the same on both graphs.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs import coarsening
from graphclust.compiled.runtime.blocks import MadeRows, entry_blocks, rows_in_blocks
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.gate import as_graph
from graphclust.objective.labels import LabelsLike, labels_on
from graphclust.objective.objective import Weighed, node_terms
from graphclust.partition import streamed_quotient
from graphclust.partition.small_graphs import is_small, quotient_of

__all__ = ["quotient_graph"]

ENTRIES_PER_BLOCK = 1 << 21  # a block has its own scratch of the size of the quotient


def quotient_graph(G: GraphLike, labels: LabelsLike, *, weight: str | None = "weight") -> Graph:
    """The graph of the clusters of a partition, made in one pass over the edges.

    G, weight : as `as_graph` takes them.
    labels : in any form that `volume` takes; every label from 0 to k - 1 used.

    Returns a weighted Graph of k nodes whose degrees are the clusters' volumes; what stays inside a cluster is its
    self-loop, each inner edge counted in both directions.

    >>> import networkx as nx
    >>> quotient_graph(nx.barbell_graph(3, 0), np.array([0, 0, 0, 1, 1, 1])).loops
    array([6., 6.])
    """
    graph = as_graph(G, weight=weight)
    cluster = labels_on(graph, labels)
    sizes = np.bincount(cluster[cluster >= 0])
    if (cluster < 0).any() or not sizes.all():
        raise GraphValidationError("labels must give every node a cluster, numbered 0..k-1 with none empty")
    return contract(graph, cluster.astype(np.int32), len(sizes)).with_sorted_rows()


def contract(graph: Graph, cluster: np.ndarray, n_clusters: int) -> Graph:
    """`quotient_graph` for int32 labels that are known to be right, and with the neighbors in any fixed order.

    Nodes of label -1, which have no edge to others, are left out.
    """
    if graph.n_entries >= streamed_quotient.STREAMED:
        return streamed_quotient.contract_in_order(graph, cluster, n_clusters)
    left_out = int(cluster.min(initial=0) < 0)  # a group before the others, which is passed over
    starts, entries = np.zeros((2, n_clusters + left_out + 1), np.int64)
    members = np.empty(graph.n_nodes, np.int32)
    coarsening.group_members(cluster + np.int32(1) if left_out else cluster, graph.indptr, starts, entries, members)
    volumes = _summed(graph.degrees, cluster, n_clusters)
    clusters = coarsening.Clusters(cluster, starts[left_out:], members)
    rows, loops = _links(graph, clusters, entries[left_out:])
    return Graph(*rows, volumes, loops)


def links_of(graph: Graph, nodes: np.ndarray, cluster: np.ndarray, n_clusters: int) -> sparse.csr_array:
    """The weight between some nodes of each cluster and all nodes of each; increasing, and of labels >= 0."""
    if graph.n_entries >= streamed_quotient.STREAMED:
        return streamed_quotient.links_in_order(graph, nodes, cluster, n_clusters)
    members = nodes[np.argsort(cluster[nodes], kind="stable")].astype(np.int32)
    starts = np.searchsorted(cluster[members], np.arange(n_clusters + 1))
    entries = np.concatenate([[0], np.cumsum(graph.indptr[members + 1] - graph.indptr[members])])[starts]
    (indptr, indices, weights), _ = _links(graph, coarsening.Clusters(cluster, starts, members), entries)
    return sparse.csr_array((weights, indices, indptr), shape=(n_clusters, n_clusters))


def _links(graph: Graph, clusters: coarsening.Clusters, entries: np.ndarray) -> tuple[MadeRows, np.ndarray]:
    """The rows of a quotient graph and its loops; the members of cluster c have entries[c + 1] - entries[c] entries."""
    n_clusters = len(entries) - 1
    counted = coarsening.is_counted(n_clusters, entries[-1] - entries[0], graph.weights is not None)
    loop = coarsening.count_links if counted else coarsening.sum_links
    blocks = entry_blocks(entries, ENTRIES_PER_BLOCK)
    most_entries = np.add.reduceat(np.minimum(np.diff(entries), n_clusters), blocks[:-1])
    loops = np.zeros(n_clusters)
    return MadeRows(*rows_in_blocks(loop, blocks, most_entries, graph.rows, clusters, loops)), loops


def contracted(on: Weighed, cluster: np.ndarray, n_clusters: int) -> Weighed:
    """The quotient graph of int32 labels, with the sums of its clusters' terms: every partition of it has its value."""
    if is_small(on.graph) and int(cluster.min()) >= 0:
        return quotient_of(on, cluster, n_clusters)
    quotient = contract(on.graph, cluster, n_clusters)
    loops, mass = quotient.loops, quotient.degrees
    # What stays inside a cluster is its loop; the rest of a node's own share adds up.
    if not np.may_share_memory(on.terms.loops, on.graph.loops):
        loops = loops + _summed(on.terms.loops - on.graph.loops, cluster, n_clusters)
    if not np.may_share_memory(on.terms.mass, on.graph.degrees):
        mass = _summed(on.terms.mass, cluster, n_clusters)
    return Weighed(quotient, node_terms(loops, mass, quotient.degrees))


def _summed(values: np.ndarray, cluster: np.ndarray, n_clusters: int) -> np.ndarray:
    """The values of the nodes summed by cluster; what is left out brings nothing, and so may count in the first."""
    of_cluster = np.maximum(cluster, 0) if cluster.min(initial=0) < 0 else cluster
    sums: np.ndarray = np.bincount(of_cluster, weights=values, minlength=n_clusters)
    return sums
