"""MiniBatchKMeans: batches drawn from the points, or given one by one, as an estimator."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from math import ceil
from typing import Any

import numpy as np

from graphclust.checks import as_weights, as_whole_number
from graphclust.errors import ConvergenceWarning, warn_caller
from graphclust.estimators.bases import as_listener, as_n_clusters, as_points, as_rng
from graphclust.estimators.k_means import CentroidModel, n_runs, starts
from graphclust.points.k_means.lloyd import initial_centroids, start_from_some
from graphclust.points.k_means.lloyd_iteration import KMeansResult, block_sums, nearest_centroids
from graphclust.points.k_means.minibatch import MiniBatch, minibatch_kmeans
from graphclust.points.k_means.points import as_points as dense_or_sparse
from graphclust.points.k_means.seeding import warn_if_fewer
from graphclust.progress import Progress

__all__ = ["MiniBatchKMeans"]

RUNS_FROM_CHANCE = 3  # as scikit-learn's n_init="auto" has it here


@dataclass(eq=False, repr=False)
class MiniBatchKMeans(CentroidModel):
    """k-means by mini-batches, as `graphclust.minibatch_kmeans` and `graphclust.MiniBatch` do it.

    n_clusters, init, random_state : as for `KMeans`.
    n_init : starts that are tried, each from other points; the batches begin at the one that fits the points of another
        draw best. "auto" is 1 for a seeding and 3 for a random start.
    init_size : points of such a draw; None for 3 batch_size. Never fewer than 3 n_clusters, with a RuntimeWarning where
        fewer than n_clusters are asked for.
    max_iter : passes over the points at most, in number; a batch of b of n points is b / n of one.
    batch_size : points of a batch, drawn with repetition; of fewer points, as many as there are.
    tol, max_no_improvement : `fit` stops when a batch moves the centroids by no more, as `graphclust.kmeans` takes it,
        where tol > 0; or after so many batches without a new lowest smoothed energy, None never.
    rate : see `graphclust.MiniBatch`; reassignment_ratio is its `starved`.
    verbose : print how far it is. compute_labels : for code that was written for scikit-learn; labels are always there.

    `partial_fit` learns from one batch; the first one has at least n_clusters points, of which the centroids start.
    While the points so far are fewer distinct ones there are fewer centroids, with a ConvergenceWarning, and later
    batches give more; `fit` warns likewise.

    Fitted: cluster_centers_, labels_ (after `partial_fit` of the last batch), inertia_, n_iter_ (passes), n_steps_
    (batches), n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`.

    Source: see `graphclust.minibatch_kmeans`.

    >>> model = MiniBatchKMeans(2, rate="count", random_state=1)
    >>> for batch in ([[0.0], [9.0]], [[1.0], [10.0]], [[2.0], [11.0]]):
    ...     _ = model.partial_fit(batch)
    >>> sorted(model.cluster_centers_.ravel().round(6).tolist()), model.n_steps_
    ([1.0, 10.0], 3)
    """

    _: KW_ONLY
    max_iter: int = 100
    batch_size: int = 1024
    verbose: int = 0
    compute_labels: bool = True
    tol: float = 0.0
    max_no_improvement: int | None = 10
    init_size: int | None = None
    n_init: int | str = "auto"
    reassignment_ratio: float = 0.01
    rate: str = "sqrt"

    def _cluster(self, X: Any, k: int, weights: np.ndarray, rng: np.random.Generator) -> KMeansResult:
        """Centroids by mini-batches, and the state from which `partial_fit` goes on."""
        n = X.shape[0]
        batch_size = min(as_whole_number(self.batch_size, "batch_size", at_least=1), n)
        n_batches = as_whole_number(self.max_iter, "max_iter", at_least=1) * n // batch_size
        start = self._start(X, k, weights, batch_size, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of fewer clusters than the start has; said below
            result = minibatch_kmeans(
                X, len(start), sample_weight=weights, init=start, batch_size=batch_size, rate=self.rate,
                starved=self.reassignment_ratio, max_iter=n_batches, patience=self.max_no_improvement, tol=self.tol,
                rng=rng, progress=as_listener(self.verbose),
            )  # fmt: skip
        warn_if_fewer(len(result.centroids), k)
        self._learner = self._learner_from(result.centroids, rng)
        self._learner.counts += np.bincount(result.labels, weights, minlength=len(result.centroids))
        return result

    def _start(self, X: Any, k: int, weights: np.ndarray, batch_size: int, rng: np.random.Generator) -> np.ndarray:
        """Of the starts that are tried the one with the least inertia over points drawn for it."""
        points = dense_or_sparse(X)
        size = 3 * batch_size if self.init_size is None else as_whole_number(self.init_size, "init_size", at_least=1)
        if self.init_size is not None and size < k:
            warn_caller(f"init_size={size} should be larger than n_clusters={k}, {3 * k} is taken", RuntimeWarning)
        size = min(points.n, max(size, 3 * k))
        runs = n_runs(self.n_init, self.init, from_chance=RUNS_FROM_CHANCE)
        tried = [
            start_from_some(points, weights, rng.choice(points.n, size, replace=False), k, init, rng)
            for init in starts(self.init, runs, X, k, rng)
        ]
        if len(tried) == 1:
            return tried[0]
        judges = rng.choice(np.flatnonzero(weights), min(size, np.count_nonzero(weights)), replace=False)
        return min(tried, key=lambda start: block_sums(X[judges], start, sample_weight=weights[judges]).inertia)

    def _keep(self, result: KMeansResult) -> None:
        super()._keep(result)
        self.n_steps_ = result.n_iter
        n = len(self.labels_)
        self.n_iter_ = ceil(self.n_steps_ * min(self.batch_size, n) / n)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchKMeans:
        """Learn from one batch X, shape (n_samples, n_features), dense or sparse.

        After `fit` it goes on from its centroids, each with the weight of the points that it was nearest to in the end.
        Where the points so far were fewer distinct ones than n_clusters, those of this batch give more centroids.
        """
        first = not hasattr(self, "cluster_centers_")
        X = as_points(self, X, reset=first)
        weights = as_weights(sample_weight, X.shape[0])
        points = dense_or_sparse(X)
        if first:
            rng = as_rng(self.random_state)
            n_seeds = as_n_clusters(self.n_clusters, X.shape[0])
            (init,) = starts(self.init, 1, X, n_seeds, rng)
            seeds = initial_centroids(points, weights, n_seeds, init, rng, Progress())
            self._learner = self._learner_from(seeds, rng)
        k = as_whole_number(self.n_clusters, "n_clusters", at_least=1)
        self._learner.add_centroids(points, weights, k)
        self._learner.partial_fit(X, weights)
        self.cluster_centers_ = self._learner.centroids.copy()
        self.n_steps_ = self._learner.n_batches
        self.labels_ = nearest_centroids(X, self.cluster_centers_)
        self.inertia_ = block_sums(X, self.cluster_centers_, sample_weight=weights).inertia
        warn_if_fewer(len(self.cluster_centers_), k)
        return self

    def _learner_from(self, centroids: np.ndarray, rng: np.random.Generator) -> MiniBatch:
        return MiniBatch(centroids, rate=self.rate, starved=self.reassignment_ratio, rng=rng)
