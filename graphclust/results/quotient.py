"""The quotient graph of a partition: its clusters as nodes, the weight between two clusters as their edge.

Cuts, volumes and so the normalized cut of any partition that keeps the clusters whole are the same on both graphs.
"""

from typing import Any

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs.levels import Terms
from graphclust.engine.contraction import contract, is_estimate
from graphclust.engine.levels import run_on, with_sums
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.io.graph_input import as_graph
from graphclust.objective.labels import LabelsLike, labels_on
from graphclust.objective.objective import CUT, OBJECTIVE_SPECS, Totals, weigh


def quotient_graph(G: Any, labels: LabelsLike | None = None, *, weight: str | None = "weight") -> Graph:
    """The graph of the clusters of a partition, made in one pass over the edges.

    G, weight : as `as_graph` takes them; or a `Clustering` alone, for its own graph and labels.
    labels : in any form that `cluster_volumes` takes; every label from 0 to k - 1 used.

    Returns a weighted Graph of k nodes whose degrees are the clusters' volumes; what stays inside a cluster is its
    self-loop, each inner edge counted in both directions.

    >>> import networkx as nx
    >>> quotient_graph(nx.barbell_graph(3, 0), np.array([0, 0, 0, 1, 1, 1])).loops
    array([6., 6.])
    """
    if labels is None:
        if not (hasattr(G, "graph") and hasattr(G, "labels")):
            raise TypeError(f"labels=None beside a {type(G).__name__}, expected a label of each node, or a Clustering")
        G, labels = G.graph, G.labels
    graph = as_graph(G, weight=weight)
    cluster = labels_on(graph, labels)
    sizes = np.bincount(cluster[cluster >= 0])
    if (cluster < 0).any() or not sizes.all():
        raise GraphValidationError("labels must give every node a cluster, numbered 0..k-1 with none empty")
    return contract_graph(graph, cluster.astype(np.int32), len(sizes))


def contract_graph(graph: Graph, labels: np.ndarray, k: int) -> Graph:
    """`quotient_graph` for int32 labels 0..k-1 of all nodes, each of them used."""
    between, terms = _contract(graph, labels, k)
    loops, volumes = terms.loops, terms.mass
    if is_estimate(graph.n_entries, k):  # what is not seen to leave a cluster stays, so that volumes are right
        leaving = np.asarray(between.sum(axis=1)).ravel()
        loops = np.maximum(volumes - leaving, 0.0)
        volumes = leaving + loops
    # Where only round-off is left inside a cluster, it is 0.
    links = sparse.csr_array(between + sparse.dia_array((loops[None, :], [0]), shape=(k, k)))
    links.eliminate_zeros()
    links.sort_indices()
    return Graph(links.indptr.astype(np.int64), links.indices.astype(np.int32), links.data, volumes, loops)


def weights_between(graph: Graph, labels: np.ndarray, k: int) -> sparse.csr_array:
    """The weight between two clusters, shape (k, k), with nothing on the diagonal; labels -1 are left out."""
    if (labels < 0).any():
        kept = np.flatnonzero(labels >= 0)
        graph, labels = graph.subgraph(kept), labels[kept]
    return _contract(graph, labels.astype(np.int32), k)[0]


def highest_excess(graph: Graph, labels: np.ndarray, mass: np.ndarray, objective: str) -> float:
    """The weight between two clusters over what the objective expects there at resolution 1, the most of all pairs.

    mass : of each cluster.
    """
    between = weights_between(graph, labels, len(mass)).tocoo()
    totals = Totals(float(graph.degrees[labels >= 0].sum()), float(mass.sum()))
    chance = OBJECTIVE_SPECS[objective].chance(totals)
    return float((between.data / (mass[between.row] * mass[between.col] * chance)).max(initial=0.0))


def _contract(graph: Graph, labels: np.ndarray, k: int) -> tuple[sparse.csr_array, Terms]:
    """The weight between two clusters, shape (k, k), with nothing on the diagonal, and what each cluster is made of."""
    run = run_on(weigh(graph, CUT.name))
    rows, terms = contract(run.finest, with_sums(run.finest, labels, k, run), run).coarse
    return sparse.csr_array((rows.weights, rows.indices, rows.indptr), shape=(k, k)), terms
