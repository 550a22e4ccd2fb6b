"""SphericalKMeans: k-means on directions as an estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from graphclust.checks import as_weights
from graphclust.estimators.centroid_model import CentroidModel
from graphclust.estimators.k_means import starts
from graphclust.points.k_means.blocks import distances_to_centroids
from graphclust.points.k_means.lloyd_iteration import KMeansResult
from graphclust.points.k_means.points import as_points as dense_or_sparse
from graphclust.points.k_means.spherical import SphericalKMeansResult, directions_and_lengths, spherical_kmeans

__all__ = ["SphericalKMeans"]


@dataclass(eq=False, repr=False)
class SphericalKMeans(CentroidModel):
    """k-means on the directions of points, such as texts: `graphclust.spherical_kmeans`.

    n_clusters, init, random_state : as for `KMeans`.
    mean : "euclidean" for the normalized mean, "geodesic" for a local mean by angle.
    max_iter : updates at most.

    `transform` gives distances on the sphere: |x / |x| - c|, or with mean="geodesic" the angle; `score` is minus the
    sum of their squares. Rows of zeros have no direction: label -1, distance 1 or a right angle, no part in the score.

    Fitted: cluster_centers_ of unit length, labels_, inertia_, n_iter_, n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`.

    Source: see `graphclust.spherical_kmeans`.

    >>> model = SphericalKMeans(2, random_state=1).fit([[2.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> model.labels_[3], model.predict([[9.0, 1.0]])[0] == model.labels_[0]
    (np.int64(-1), np.True_)
    """

    n_clusters: int = 8
    _: KW_ONLY
    mean: str = "euclidean"
    init: Any = "k-means++"
    max_iter: int = 300
    random_state: Any = None

    def _cluster(self, X: Any, k: int, weights: np.ndarray, rng: np.random.Generator) -> KMeansResult:
        (init,) = starts(self.init, 1, X, k, rng)
        return spherical_kmeans(
            X, k, mean=self.mean, sample_weight=weights, init=init, max_iter=self.max_iter, rng=rng
        )  # fmt: skip

    def predict(self, X: Any) -> np.ndarray:
        """The centroid at the smallest angle of each point, -1 for a row of zeros; int64, shape (n_samples,)."""
        X = self._as_fitted(X)
        found = SphericalKMeansResult(self.cluster_centers_, self.labels_, self.inertia_, self.n_iter_, np.empty(0))
        return found.predict(X)

    def transform(self, X: Any) -> np.ndarray:
        """Distance on the sphere of each point to each centroid, shape (n_samples, number of clusters)."""
        directions, lengths = directions_and_lengths(dense_or_sparse(self._as_fitted(X)))
        chords = distances_to_centroids(directions, self.cluster_centers_)
        if self.mean == "euclidean":
            return chords
        angles = 2.0 * np.arcsin(np.minimum(chords / 2.0, 1.0))
        return np.where((lengths > 0.0)[:, None], angles, np.asarray(np.pi / 2.0, angles.dtype))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of the squared distances on the sphere of these points: the larger the better."""
        X = self._as_fitted(X)
        _, lengths = directions_and_lengths(dense_or_sparse(X))
        weights = np.where(lengths > 0.0, as_weights(sample_weight, len(lengths)), 0.0)
        return -float((weights * np.asarray(self.transform(X)).min(axis=1) ** 2).sum())
