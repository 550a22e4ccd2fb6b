"""What carries labels when it is interrupted, and can end early: each function, as a call that takes a progress."""

from collections.abc import Callable
from functools import cache
from typing import Any

import networkx as nx
import numpy as np

import graphclust

PLANTED = graphclust.planted_partition(20, 200, 12, 2, rng=518).graph
POINTS = np.random.default_rng(2209).normal(size=(400, 3)) + np.arange(400)[:, None] % 7
FEW = graphclust.planted_partition(8, 60, 8, 2, rng=3).graph
DIRECTED = nx.gnp_random_graph(120, 0.1, seed=1, directed=True)
CRUMBS = nx.disjoint_union(nx.from_scipy_sparse_array(FEW.to_scipy()), nx.path_graph(2))
START = np.arange(PLANTED.n_nodes) % 5

CLUSTERERS: dict[str, Callable[[Any], Any]] = {
    "spectral": lambda p: graphclust.spectral_clustering(PLANTED, 5, rng=0, progress=p),
    "fast spectral": lambda p: graphclust.fast_spectral_clustering(PLANTED, 5, rng=0, progress=p),
    "refine_partition": lambda p: graphclust.refine_partition(PLANTED, START, rng=0, progress=p),
    "move_nodes": lambda p: graphclust.move_nodes(PLANTED, START, progress=p),
    "kmeans": lambda p: graphclust.kmeans(POINTS, 5, n_init=3, rng=0, progress=p),
    "minibatch_kmeans": lambda p: graphclust.minibatch_kmeans(POINTS, 5, batch_size=50, rng=0, progress=p),
    "nested": lambda p: graphclust.nested_minibatch_kmeans(POINTS, 5, batch_size=50, rng=0, progress=p),
    "spherical_kmeans": lambda p: graphclust.spherical_kmeans(POINTS, 5, rng=0, progress=p),
    "kernel_kmeans": lambda p: graphclust.kernel_kmeans(POINTS, 5, kernel="linear", rng=0, progress=p),
    "minibatch_kernel_kmeans": lambda p: graphclust.minibatch_kernel_kmeans(
        POINTS, 5, kernel="linear", max_iter=20, rng=0, progress=p
    ),
}
OF_GRAPHS: dict[str, Callable[[], Any]] = {
    "coreset_sc": lambda: graphclust.coreset_sc(PLANTED, 5, rng=0),
    "two-step": lambda: graphclust.coreset_sc(PLANTED, 5, method="two-step", rng=0),
    "blocks": lambda: graphclust.coreset_sc(FEW, 5, coreset=graphclust.Coreset(sampling="parallel"), rng=0),
    "high effort": lambda: graphclust.coreset_sc(FEW, 8, effort="high", rng=0),
    "crumbs": lambda: graphclust.coreset_sc(CRUMBS, 8, method="two-step", effort="high", rng=0),
    "directed": lambda: graphclust.coreset_sc(DIRECTED, 4, rng=0),
    "communities": lambda: graphclust.communities(CRUMBS, rng=0),
    "communities within bounds": lambda: graphclust.communities(FEW, max_size=40, min_size=5, rng=0),
    "coreset_sc within bounds": lambda: graphclust.coreset_sc(FEW, 6, max_size=90, min_size=70, effort="high", rng=0),
    "balanced_partition": lambda: graphclust.balanced_partition(FEW, 8, effort="high", rng=0),
    "a path": lambda: clustering_of_path(),
    "a path within bounds": lambda: clustering_of_path(min_size=155, max_size=165),
}
SIZES = {
    "communities within bounds": (5, 40), "coreset_sc within bounds": (70, 90), "balanced_partition": (1, 62),
    "a path within bounds": (155, 165),
}  # fmt: skip


@cache
def path(**bounds: Any) -> graphclust.ClusterPath:
    return graphclust.cluster_path(FEW, [3], rng=0, **bounds)


def clustering_of_path(**bounds: Any) -> graphclust.Clustering:
    path(**bounds)._clusterings.clear()  # or it is made once
    return path(**bounds).clustering(3)


def labels_of(result: Any) -> np.ndarray:
    return result if isinstance(result, np.ndarray) else result.labels
