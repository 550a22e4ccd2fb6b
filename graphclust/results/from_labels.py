"""From labels to a Clustering: the graph to cluster, clusters numbered by size, and remarks for the reader."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_whole_number
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.coreset.options import CoresetClustering
from graphclust.errors import ConvergenceWarning, ParameterError, amount, warn_caller
from graphclust.graph.container import Graph, GraphLike
from graphclust.io.graph_input import as_graph, refuse_without_edges
from graphclust.objective.cuts import sum_by_label
from graphclust.progress import Progress
from graphclust.results.clustering import Clustering
from graphclust.updates.clustering_update import keep_sums

DOMINANT = 0.9  # of the volume: such a cluster is worth a remark


def graph_to_cluster(
    G: GraphLike, k: Any, weight: str | None, symmetrize: str | None, progress: Progress, *, needs_edges: bool = True
) -> Graph:
    """The graph, if it has at least k nodes, and edges where these are needed."""
    k = as_whole_number(k, "k", at_least=1)
    with progress.stage("gate"):
        graph = as_graph(G, weight=weight, symmetrize=symmetrize)
    return large_enough(graph, k, needs_edges=needs_edges)


def large_enough(graph: Graph, k: int, *, needs_edges: bool = True) -> Graph:
    """The same graph; ParameterError if it has fewer than k nodes, or no edges where these are needed."""
    if k > graph.n_nodes:
        raise ParameterError(f"k={k} is more than the {graph.n_nodes} nodes of G, expected 1 <= k <= {graph.n_nodes}")
    if needs_edges:
        refuse_without_edges(graph)
    return graph


def clustering_of(
    graph: Graph, k: int, labels: npt.NDArray[np.int64], remarks: Iterable[str], progress: Progress,
    coreset: CoresetClustering | None = None, order: npt.NDArray[np.int64] | None = None,
    sums: ClusterSums | None = None,
    **account: Any,
) -> Clustering:  # fmt: skip
    """Number the clusters by size, on the coreset too, and add remarks for a reader of the labels.

    sums : of the clusters by the terms of the objective, where they are known: then no figure reads the edges again.
    order : of the nodes, in which the first of a cluster decides where sizes are equal; by default that of the rows.
    """
    number = numbering_by_size(labels, k, order)
    if not np.array_equal(number[:-1], np.arange(len(number) - 1)):  # else labels mapped from a file stay there
        labels = number[labels]
    if coreset is not None:
        coreset = replace(coreset, labels=number[coreset.labels])
    n_found = int(labels.max()) + 1
    remarks = [*remarks, *progress.remarks]
    if n_found < k:
        remarks.append(f"only {n_found} of k={k} clusters have nodes")
        warn_caller(remarks[-1], ConvergenceWarning)
    if n_loops := int(np.count_nonzero(graph.loops)):
        remarks.append(
            f"{amount(n_loops, 'self-loop')} counted once in degrees and modularity; NetworkX and igraph count twice, "
            'as modularity(G, labels, self_loops="twice") does'
        )
    volume = sum_by_label(graph.degrees, labels, n_found)
    largest = volume.max() / (graph.total_volume or 1.0)
    if k > 2 and n_found > 1 and largest > DOMINANT:
        remarks.append(
            f"one cluster holds {largest:.1%} of the volume: the rest are small pieces that hang on by few edges"
        )
    account |= {"coreset": coreset, "remarks": tuple(remarks), "seconds": progress.seconds}
    clustering = Clustering(labels, k, graph, **account)
    if sums is not None:
        inside = sums.inside[np.argsort(number[: len(sums.inside)])][:n_found]
        keep_sums(clustering, inside, volume)
    return clustering


def numbering_by_size(
    labels: npt.NDArray[np.int64], k: int, order: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.int64]:
    """New numbers for labels 0..k-1, by decreasing size, ties by their first node, empty ones last; and -1 for -1.

    order : of the nodes; by default that of the labels.
    """
    sizes = np.bincount(labels + 1, minlength=k + 1)[1:]
    first = np.full(len(sizes) + 1, len(labels))
    in_order = labels if order is None else labels[order]
    first[in_order[::-1]] = np.arange(len(labels))[::-1]  # of several values the last one stays
    number = np.full(len(sizes) + 1, -1, np.int64)
    number[np.lexsort((first[:-1], -sizes))] = np.arange(len(sizes))
    return number
