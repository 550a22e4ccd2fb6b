"""NestedMiniBatchKMeans: batches that keep their points and double, as an estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from graphclust.estimators.centroid_model import CentroidModel
from graphclust.estimators.k_means import starts
from graphclust.points.k_means.lloyd_iteration import KMeansResult
from graphclust.points.k_means.minibatch import nested_minibatch_kmeans

__all__ = ["NestedMiniBatchKMeans"]


@dataclass(eq=False, repr=False)
class NestedMiniBatchKMeans(CentroidModel):
    """k-means to a fixed point, as `KMeans`, and near its end far earlier: `graphclust.nested_minibatch_kmeans`.

    n_clusters, init, random_state : as for `KMeans`.
    batch_size : points of the first batch; it doubles until it holds all points.
    rho, max_iter : see `graphclust.nested_minibatch_kmeans`.

    There is no `partial_fit`: a batch keeps the points that it had, so that all must be at hand.

    Fitted: cluster_centers_, labels_, inertia_, n_iter_ (rounds), n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`.

    Source: see `graphclust.nested_minibatch_kmeans`.

    >>> model = NestedMiniBatchKMeans(2, batch_size=3, random_state=1).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 10.5]
    """

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = "k-means++"
    batch_size: int = 5000
    rho: float = 100.0
    max_iter: int = 1000
    random_state: Any = None

    def _cluster(self, X: Any, k: int, weights: np.ndarray, rng: np.random.Generator) -> KMeansResult:
        (init,) = starts(self.init, 1, X, k, rng)
        return nested_minibatch_kmeans(
            X, k, sample_weight=weights, init=init, batch_size=self.batch_size, rho=self.rho, max_iter=self.max_iter,
            rng=rng,
        )  # fmt: skip
