"""What the estimators with centroids have in common: nearest centroids, distances to them, scores."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from graphclust.checks import as_weights
from graphclust.estimators.arguments import as_n_clusters, as_points, as_rng
from graphclust.estimators.bases import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from graphclust.points.k_means.blocks import block_sums, distances_to_centroids, nearest_centroids
from graphclust.points.k_means.lloyd_iteration import KMeansResult


class CentroidModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """An estimator that a function of the k-means family fits."""

    n_clusters: Any
    random_state: Any

    @abstractmethod
    def _cluster(self, X: Any, k: int, weights: np.ndarray, rng: np.random.Generator) -> KMeansResult:
        """Call the function."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the points X, shape (n_samples, n_features), dense or sparse; a point of weight 2 counts as two."""
        X = as_points(self, X, reset=True)
        k = as_n_clusters(self.n_clusters, X.shape[0])
        weights = as_weights(sample_weight, X.shape[0])
        self._keep(self._cluster(X, k, weights, as_rng(self.random_state)))
        return self

    def _keep(self, result: KMeansResult) -> None:
        self.cluster_centers_ = result.centroids
        self.labels_ = result.labels
        self.inertia_ = result.inertia
        self.n_iter_ = result.n_iter

    def predict(self, X: Any) -> np.ndarray:
        """Index of the nearest centroid of each point, ties to the lowest; int64, shape (n_samples,)."""
        return nearest_centroids(self._as_fitted(X), self.cluster_centers_)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """`fit`, then labels_."""
        return self.fit(X, y, sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """`fit`, then `transform` of the same points."""
        return self.fit(X, y, sample_weight).transform(X)

    def transform(self, X: Any) -> np.ndarray:
        """Distance of each point to each centroid, shape (n_samples, number of clusters)."""
        return distances_to_centroids(self._as_fitted(X), self.cluster_centers_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of these points: the larger the better."""
        X = self._as_fitted(X)
        return -block_sums(X, self.cluster_centers_, sample_weight=sample_weight).inertia

    def _as_fitted(self, X: Any) -> Any:
        """The points, checked to have the features that `fit` saw."""
        check_is_fitted(self)
        return as_points(self, X, reset=False)

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
