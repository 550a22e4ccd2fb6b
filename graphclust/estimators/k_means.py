"""k-means as estimators: KMeans, SphericalKMeans, NestedMiniBatchKMeans, and MiniBatchKMeans."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from math import ceil
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from graphclust.checks import as_choice, as_weights, as_whole_number
from graphclust.errors import ConvergenceWarning, warn_caller
from graphclust.estimators.bases import PointModel, as_listener, as_n_clusters, as_points, as_rng
from graphclust.points.k_means.lloyd import initial_centroids, kmeans, nested_minibatch_kmeans, start_from_some
from graphclust.points.k_means.lloyd_iteration import (
    KMeansResult,
    block_sums,
    distances_to_centroids,
    nearest_centroids,
)
from graphclust.points.k_means.minibatch import MiniBatch, minibatch_kmeans
from graphclust.points.k_means.points import as_points as dense_or_sparse
from graphclust.points.k_means.seeding import warn_if_fewer
from graphclust.points.k_means.spherical import directions_and_lengths, spherical_kmeans
from graphclust.progress import Progress

__all__ = ["KMeans", "MiniBatchKMeans", "NestedMiniBatchKMeans", "SphericalKMeans"]

ALGORITHMS = ("lloyd", "elkan")
# Theirs and our names; their k-means++ tries several candidates for each seed and keeps the best.
SEEDINGS = {"k-means++": "greedy k-means++", "k-means||": "k-means||", "random": "random"}
RUNS_FROM_CHANCE = 10  # where the start is no seeding, as scikit-learn's n_init="auto" has it
BATCH_RUNS_FROM_CHANCE = 3  # the same of mini-batches


@dataclass(eq=False, repr=False)
class CentroidModel(PointModel):
    """An estimator that a function of the k-means family fits, with the parameters that all of them have."""

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = "k-means++"
    random_state: Any = None

    _solve: ClassVar[Callable[..., KMeansResult]]  # the function, and which of the parameters are its options
    _options: ClassVar[tuple[str, ...]]

    def _cluster(self, X: Any, k: int, weights: np.ndarray, rng: np.random.Generator) -> KMeansResult:
        """Call the function."""
        (init,) = starts(self.init, 1, X, k, rng)
        options = {name: getattr(self, name) for name in self._options}
        return self._solve(X, k, sample_weight=weights, init=init, rng=rng, **options)

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


@dataclass(eq=False, repr=False)
class KMeans(CentroidModel):
    """k-means, as `graphclust.kmeans` does it, in the place of `sklearn.cluster.KMeans`.

    n_clusters : number of clusters, and of centroids.
    init : "k-means++", in the greedy form that scikit-learn has under this name, "k-means||", "random", centroids of
        shape (n_clusters, n_features), or a function of (X, n_clusters, random_state) that gives such.
    n_init : runs, of which the one of least inertia is kept; "auto" is 1 for a seeding and 10 for a random start.
    max_iter, tol : see `graphclust.kmeans`; tol=0 goes on to a fixed point.
    random_state : None, a whole number, a RandomState or a Generator; the same number gives the same result, bit for
        bit, on any number of threads.
    verbose : print how far it is.
    algorithm, copy_x : for code that was written for scikit-learn. Both its algorithms, "lloyd" and "elkan", end where
        this one does, which keeps bounds where that pays; X is never modified.

    Fitted: cluster_centers_ (n_clusters, n_features), labels_ (n_samples,), inertia_, n_iter_ (with the iteration that
    found nothing to change, as scikit-learn counts), n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`. Warns with ConvergenceWarning
    where fewer than n_clusters distinct points have a weight; there are as many centroids then. A RuntimeWarning where
    n_init asks for several runs from given centroids, which would be one and the same.

    Source: see `graphclust.kmeans`.

    >>> model = KMeans(2, random_state=1).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> model.inertia_, sorted(model.cluster_centers_.ravel().tolist()), model.transform([[2.0]]).min().item()
    (1.0, [0.5, 10.5], 1.5)
    """

    _: KW_ONLY
    n_init: int | str = "auto"
    max_iter: int = 300
    tol: float = 1e-4
    verbose: int = 0
    copy_x: bool = True
    algorithm: str = "lloyd"

    def _cluster(self, X: Any, k: int, weights: np.ndarray, rng: np.random.Generator) -> KMeansResult:
        """The best of the runs."""
        as_choice(self.algorithm, "algorithm", ALGORITHMS)
        options: dict[str, Any] = {"sample_weight": weights, "max_iter": self.max_iter, "tol": self.tol, "rng": rng}
        results = [
            kmeans(X, k, init=init, progress=as_listener(self.verbose), **options)
            for init in starts(self.init, n_runs(self.n_init, self.init), X, k, rng)
        ]
        return min(results, key=lambda result: result.inertia)

    def _keep(self, result: KMeansResult) -> None:
        super()._keep(result)
        self.n_iter_ += result.converged


def n_runs(n_init: Any, init: Any, *, from_chance: int = RUNS_FROM_CHANCE) -> int:
    """How many runs the parameters ask for; from given centroids one, with a warning if that is fewer."""
    given = not (callable(init) or isinstance(init, str))
    if isinstance(n_init, str):
        as_choice(n_init, "n_init", ("auto",))
        return from_chance if callable(init) or (not given and init == "random") else 1
    runs = as_whole_number(n_init, "n_init", at_least=1)
    if given and runs > 1:
        # Beginning with scikit-learn's words, so that filters written for them hold.
        warn_caller(
            f"Explicit initial center position passed: performing only one init instead of n_init={n_init}, as all "
            "runs would be alike",
            RuntimeWarning,
        )
    return 1 if given else runs


def starts(init: Any, runs: int, X: Any, k: int, rng: np.random.Generator) -> list[Any]:
    """What each run starts from, as `graphclust.kmeans` takes it."""
    if not callable(init):
        return [SEEDINGS[as_choice(init, "init", tuple(SEEDINGS))] if isinstance(init, str) else init] * runs
    drawn = [np.random.RandomState(int(rng.integers(2**31))) for _ in range(runs)]
    return [np.asarray(init(X, k, random_state=random_state)) for random_state in drawn]


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

    _: KW_ONLY
    batch_size: int = 5000
    rho: float = 100.0
    max_iter: int = 1000
    _solve = staticmethod(nested_minibatch_kmeans)
    _options = ("batch_size", "rho", "max_iter")


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

    _: KW_ONLY
    mean: str = "euclidean"
    max_iter: int = 300
    _solve = staticmethod(spherical_kmeans)
    _options = ("mean", "max_iter")

    def predict(self, X: Any) -> np.ndarray:
        """The centroid at the smallest angle of each point, -1 for a row of zeros; int64, shape (n_samples,)."""
        directions, lengths = directions_and_lengths(dense_or_sparse(self._as_fitted(X)))
        return np.where(lengths > 0.0, nearest_centroids(directions, self.cluster_centers_), -1)

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
        runs = n_runs(self.n_init, self.init, from_chance=BATCH_RUNS_FROM_CHANCE)
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
