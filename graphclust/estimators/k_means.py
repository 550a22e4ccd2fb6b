"""KMeans, SphericalKMeans and NestedMiniBatchKMeans: the exact members of the family as estimators."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from graphclust.checks import as_choice, as_weights, as_whole_number
from graphclust.errors import warn_caller
from graphclust.estimators.bases import PointModel, as_listener, as_n_clusters, as_points, as_rng
from graphclust.points.k_means.lloyd import kmeans, nested_minibatch_kmeans
from graphclust.points.k_means.lloyd_iteration import (
    KMeansResult,
    block_sums,
    distances_to_centroids,
    nearest_centroids,
)
from graphclust.points.k_means.points import as_points as dense_or_sparse
from graphclust.points.k_means.spherical import SphericalKMeansResult, directions_and_lengths, spherical_kmeans

__all__ = ["KMeans", "NestedMiniBatchKMeans", "SphericalKMeans"]

ALGORITHMS = ("lloyd", "elkan")
# Theirs and our names; their k-means++ tries several candidates for each seed and keeps the best.
SEEDINGS = {"k-means++": "greedy k-means++", "k-means||": "k-means||", "random": "random"}
RUNS_FROM_CHANCE = 10  # where the start is no seeding, as scikit-learn's n_init="auto" has it


@dataclass(eq=False, repr=False)
class CentroidModel(PointModel):
    """An estimator that a function of the k-means family fits, with the parameters that all of them have."""

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = "k-means++"
    random_state: Any = None

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
        runs = n_runs(self.n_init, self.init)
        found: list[KMeansResult] = []
        for init in starts(self.init, runs, X, k, rng):
            result = kmeans(
                X, k, sample_weight=weights, init=init, max_iter=self.max_iter, tol=self.tol, rng=rng,
                progress=as_listener(self.verbose),
            )  # fmt: skip
            found.append(result)
        return min(found, key=lambda result: result.inertia)

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

    def _cluster(self, X: Any, k: int, weights: np.ndarray, rng: np.random.Generator) -> KMeansResult:
        (init,) = starts(self.init, 1, X, k, rng)
        return nested_minibatch_kmeans(
            X, k, sample_weight=weights, init=init, batch_size=self.batch_size, rho=self.rho, max_iter=self.max_iter,
            rng=rng,
        )  # fmt: skip


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
