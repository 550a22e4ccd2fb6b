"""Spectral clustering of a whole graph, without a coreset: the baselines, exact and fast."""

from __future__ import annotations

import warnings

import numpy as np

from graphclust.checks import Seed, as_generator
from graphclust.errors import ConvergenceWarning
from graphclust.graph.container import Graph, GraphLike
from graphclust.k_means.lloyd import kmeans
from graphclust.partition.clustering import Clustering, clustering_of, graph_to_cluster
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.spectral.embedding import fast_spectral_embedding, spectral_embedding

__all__ = ["fast_spectral_clustering", "spectral_clustering"]

N_INIT = 3


def spectral_clustering(
    G: GraphLike,
    k: int,
    *,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Cluster a graph by k-means on its k top eigenvectors, with unit rows (Ng, Jordan & Weiss 2001).

    The exact method, for graphs of up to some ten thousand nodes and few clusters: the eigenvectors cost at least
    O(k x entries + k^2 n). Arguments, result and errors as in `coreset_sc`.

    >>> import networkx as nx
    >>> spectral_clustering(nx.barbell_graph(4, 0), 2, rng=0).communities()
    [{0, 1, 2, 3}, {4, 5, 6, 7}]
    """
    rng, progress = as_generator(rng), as_progress(progress)
    graph = graph_to_cluster(G, k, weight, symmetrize, progress)
    with progress.stage("embedding"):
        points = spectral_embedding(graph, k, rng=rng)
    return _clustered(graph, k, points, "spectral", rng, progress)


def fast_spectral_clustering(
    G: GraphLike,
    k: int,
    *,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Cluster a graph by k-means on O(log k) random columns after O(log(n/k)) steps of the lazy walk.

    Source: Macgregor, "Fast and simple spectral clustering in theory and practice", NeurIPS 2023. Arguments, result and
    errors as in `coreset_sc`.

    >>> import networkx as nx
    >>> fast_spectral_clustering(nx.barbell_graph(4, 0), 2, rng=0).sizes
    array([4, 4])
    """
    rng, progress = as_generator(rng), as_progress(progress)
    graph = graph_to_cluster(G, k, weight, symmetrize, progress)
    with progress.stage("embedding"):
        points = fast_spectral_embedding(graph, k, rng=rng, progress=progress)
    return _clustered(graph, k, points, "fast spectral", rng, progress)


def _clustered(graph: Graph, k: int, points: np.ndarray, method: str, rng, progress: Progress) -> Clustering:
    """k-means on the rows of the nodes that have edges."""
    connected = np.flatnonzero(~graph.isolated)
    with progress.stage("k-means"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said once, of the graph, at the end
        found = kmeans(
            points[connected],
            min(k, len(connected)),
            sample_weight=graph.degrees[connected],
            init="greedy k-means++",
            n_init=N_INIT,
            rng=rng,
            progress=progress,
        )
    labels = np.full(graph.n_nodes, -1, np.int64)
    labels[connected] = found.labels
    return clustering_of(graph, k, labels, list(graph.remarks), progress, parameters={"method": method})
