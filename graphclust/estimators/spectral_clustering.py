"""SpectralClustering, of whole graphs, and CoresetSpectralClustering, for large ones, as estimators."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin

from graphclust.checks import as_choice
from graphclust.estimators.affinities import affinity_graph
from graphclust.estimators.arguments import as_n_clusters, as_rng
from graphclust.graph.container import Graph
from graphclust.partition.clustering import Clustering
from graphclust.partition.pipeline import coreset_sc
from graphclust.spectral.whole_graph import spectral_clustering

__all__ = ["CoresetSpectralClustering", "SpectralClustering"]

EIGEN_SOLVERS = ("arpack", "lobpcg", "amg")


class _GraphModel(ClusterMixin, BaseEstimator):
    """An estimator that makes a graph of its data and clusters that."""

    n_clusters: Any
    affinity: Any
    random_state: Any
    clustering_: Clustering

    @abstractmethod
    def _cluster(self, graph: Graph, k: int, rng: np.random.Generator) -> Clustering:
        """Call the function."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Cluster points, (n_samples, n_features), or with affinity="precomputed" a graph, (n_samples, n_samples)."""
        graph = affinity_graph(self, X)
        k = as_n_clusters(self.n_clusters, graph.n_nodes)
        self.clustering_ = self._cluster(graph, k, as_rng(self.random_state))
        self.labels_ = self.clustering_.labels
        return self

    @property
    def affinity_matrix_(self) -> sparse.csr_array:
        """The graph that was clustered as CSR, (n_samples, n_samples); made of it when it is asked for."""
        if not hasattr(self, "clustering_"):
            raise AttributeError(f"this {type(self).__name__} has no affinity_matrix_ before it is fitted")
        return self.clustering_.graph.to_scipy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.affinity != "rbf"
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags


class SpectralClustering(_GraphModel):
    """k-means on the top eigenvectors of a whole graph, in the place of `sklearn.cluster.SpectralClustering`.

    n_clusters : number of clusters.
    affinity : "rbf" for exp(-gamma |x - y|^2) between all points; "nearest_neighbors" for the graph in which each point
        is joined with the nearest others, if there are so many, see `graphclust.knn_graph`; "precomputed" for X as the
        matrix of a graph, symmetric, dense or sparse. An entry of the matrix with itself does not count.
    n_neighbors, gamma : of the affinity.
    random_state : None, a whole number, a RandomState or a Generator; the same number gives the same labels.
    eigen_solver, assign_labels, verbose : for code that was written for scikit-learn. The solver is chosen here, and
        its result checked, whatever the first says; labels come from "kmeans" alone; nothing is printed.

    Fitted: labels_ (n_samples,), -1 for points without neighbours; affinity_matrix_, the graph as CSR; clustering_, a
    `graphclust.Clustering`; n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`.

    Source: Ng, Jordan & Weiss 2001, see `graphclust.spectral_clustering`.

    >>> model = SpectralClustering(2, random_state=1).fit([[0.0], [0.5], [1.0], [5.0], [5.5]])
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: str | None = None,
        random_state: Any = None,
        gamma: float = 1.0,
        affinity: str = "rbf",
        n_neighbors: int = 10,
        assign_labels: str = "kmeans",
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.random_state = random_state
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.assign_labels = assign_labels
        self.verbose = verbose

    def _cluster(self, graph: Graph, k: int, rng: np.random.Generator) -> Clustering:
        as_choice(self.assign_labels, "assign_labels", ("kmeans",))
        if self.eigen_solver is not None:
            as_choice(self.eigen_solver, "eigen_solver", EIGEN_SOLVERS)
        return spectral_clustering(graph, k, rng=rng)


class CoresetSpectralClustering(_GraphModel):
    """A graph, or the graph of the nearest neighbours of points, in exactly n_clusters parts: `graphclust.coreset_sc`.

    n_clusters, affinity, n_neighbors, gamma, random_state : as for `SpectralClustering`; of points the affinity is
        "nearest_neighbors" unless another is asked for.
    method, objective, resolution, effort, components, coreset_size : see `graphclust.coreset_sc`. By default the
        clusters are those that people recognise; objective="normalized_cut" is what spectral clustering is for.

    Fitted: labels_ (n_samples,), -1 for points without neighbours; affinity_matrix_, the graph as CSR; clustering_, a
    `graphclust.Clustering`; n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`.

    Source: see `graphclust.coreset_sc`.

    >>> model = CoresetSpectralClustering(2, n_neighbors=2, random_state=1)
    >>> model.fit_predict([[0.0], [0.5], [1.0], [1.5], [5.0], [5.5], [6.0]])
    array([0, 0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 10,
        gamma: float = 1.0,
        method: str = "auto",
        objective: str | None = None,
        resolution: float | str | None = None,
        effort: str | None = None,
        components: str | None = None,
        coreset_size: int | None = None,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.method = method
        self.objective = objective
        self.resolution = resolution
        self.effort = effort
        self.components = components
        self.coreset_size = coreset_size
        self.random_state = random_state

    def _cluster(self, graph: Graph, k: int, rng: np.random.Generator) -> Clustering:
        names = ("method", "objective", "resolution", "effort", "components", "coreset_size")
        return coreset_sc(graph, k, rng=rng, **{name: getattr(self, name) for name in names})
