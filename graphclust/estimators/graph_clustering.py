"""GraphClustering: clusters at a resolution, their number free, as an estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from graphclust.checks import as_choice
from graphclust.estimators.spectral_clustering import NeighborGraphModel
from graphclust.graph.container import Graph
from graphclust.io.kinds import as_layered
from graphclust.partition.communities import communities
from graphclust.results.clustering import Clustering

__all__ = ["GraphClustering"]

KINDS = ("undirected", "directed", "signed")  # of square matrices


@dataclass(eq=False, repr=False)
class GraphClustering(NeighborGraphModel):
    """A graph, or the graph of the nearest neighbors of points, clustered at a resolution: `graphclust.communities`.

    resolution, objective, effort, components, min_size, max_size, small : see `graphclust.communities`.
    kind : "directed" or "signed", with affinity="precomputed" and arcs from row to column, or entries below zero, see
        there; None or "undirected" for a symmetric matrix of entries >= 0.
    affinity, n_neighbors, metric, neighbors_method, gamma, random_state : as for `CoresetSpectralClustering`.

    Fitted: labels_ (n_samples,), a point without neighbors being a cluster by itself, and -1 for
    those that components="largest" or small="apart" leave out; n_clusters_, how many were found;
    affinity_matrix_, the graph as CSR; clustering_, a `graphclust.Clustering`; n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`.

    Source: see `graphclust.communities`.

    >>> model = GraphClustering(n_neighbors=2, random_state=1)
    >>> model.fit_predict([[0.0], [0.5], [1.0], [1.5], [5.0], [5.5], [6.0]])
    array([0, 0, 0, 0, 1, 1, 1])
    >>> model.n_clusters_
    2
    """

    resolution: float = 1.0
    _: KW_ONLY
    affinity: str = "nearest_neighbors"
    n_neighbors: int = 10
    metric: str = "euclidean"
    neighbors_method: str = "auto"
    gamma: float = 1.0
    objective: str = "modularity"
    effort: str = "normal"
    components: str = "all"
    min_size: float | None = None
    max_size: float | None = None
    small: str = "unite"
    kind: str | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> GraphClustering:
        """Cluster points, (n_samples, n_features), or with affinity="precomputed" a graph, (n_samples, n_samples)."""
        super().fit(X)
        self.n_clusters_ = self.clustering_.k
        return self

    def _graph(self, X: Any, rng: np.random.Generator) -> Any:
        if as_choice(self.kind or "undirected", "kind", KINDS) == "undirected":
            return super()._graph(X, rng)
        if self.affinity != "precomputed":
            raise ValueError(f"kind={self.kind!r} is for affinity='precomputed', and affinity is {self.affinity!r}")
        return as_layered(X, "signed" if self.kind == "signed" else "directed")

    def _cluster(self, graph: Graph, rng: np.random.Generator) -> Clustering:
        names = ("resolution", "objective", "effort", "components", "min_size", "max_size", "small")
        return communities(graph, rng=rng, **{name: getattr(self, name) for name in names})
