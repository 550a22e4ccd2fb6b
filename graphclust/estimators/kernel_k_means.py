"""KernelKMeans: k-means in the feature space of a kernel, by any of four solvers, as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from graphclust.checks import as_choice, as_number, as_weights, as_whole_number
from graphclust.estimators.bases import PointModel, as_n_clusters, as_points, as_rng, validated
from graphclust.points.kernel_k_means.coreset import coreset_kernel_kmeans
from graphclust.points.kernel_k_means.full_batch import KernelKMeansResult, kernel_kmeans
from graphclust.points.kernel_k_means.matrix_kernels import DenseKernel, Kernel, SparseKernel
from graphclust.points.kernel_k_means.minibatch import minibatch_kernel_kmeans, truncated_kernel_kmeans
from graphclust.points.kernel_k_means.point_kernels import (
    CosineKernel,
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PointKernel,
    PolynomialKernel,
)

__all__ = ["KernelKMeans"]

# Each solver's function, and which of the estimator's parameters are its options.
SOLVERS: dict[str, tuple[Callable[..., KernelKMeansResult], tuple[str, ...]]] = {
    "full": (kernel_kmeans, ("max_iter", "shift")),
    "minibatch": (minibatch_kernel_kmeans, ("max_iter", "batch_size", "rate")),
    "truncated": (truncated_kernel_kmeans, ("max_iter", "batch_size", "rate", "tau")),
    "coreset": (coreset_kernel_kmeans, ("max_iter", "coreset_size")),
}
ROWS = 64  # at a time: all pairs are computed, and only the diagonal is used
KERNELS = ("rbf", "laplacian", "polynomial", "poly", "linear", "cosine", "sigmoid", "chi2", "precomputed")
CORESET_SHARE, CORESET_TIMES = 20, 20  # a twentieth of the points, and at least 20 a cluster, as in `coreset_sc`


def _of_points(estimator: Any) -> bool:
    if estimator.kernel == "precomputed":
        raise AttributeError('with kernel="precomputed" the length of a new point in feature space is not known')
    return True


@dataclass(eq=False, repr=False)
class KernelKMeans(PointModel):
    """Kernel k-means by `graphclust.kernel_kmeans` and its relatives.

    n_clusters : number of clusters.
    kernel : "rbf", "laplacian", "polynomial" or "poly", "linear", "cosine", "sigmoid" or "chi2" of points, a function
        k(x, y) of two points, or "precomputed": X is then the matrix of kernel entries between the points, (n_samples,
        n_samples), dense or sparse, and for `predict` those between new points and these, (n_new, n_samples).
    gamma : of "rbf", exp(-gamma |x - y|^2), of "laplacian", exp(-gamma |x - y|_1), and of "polynomial",
        (gamma x.y + coef0)^degree. None takes the inverse of the mean distance, squared for "rbf", over all
        ordered pairs of points by their weights, a point with itself included; 1 / n_features for "polynomial" and
        "sigmoid", tanh(gamma x.y + coef0); 1 for "chi2".
    degree, coef0 : of "polynomial"; coef0 of "sigmoid" too.
    solver : "full" (all points in each iteration), "minibatch", "truncated" (mini-batches that are soon forgotten, for
        many points), "coreset" (weighted points in place of all).
    n_init : runs, of which the one of least inertia is kept.
    max_iter : updates, or batches.
    batch_size, rate : of "minibatch" and "truncated"; tau : of "truncated"; coreset_size : of "coreset", None takes a
        twentieth of the points, at least 20 for each cluster; shift : of "full", for kernels that are not positive
        semi-definite. See the functions.
    random_state : as for `KMeans`.

    `transform` gives the distance in feature space to each center, `score` minus the sum of the squared ones to the
    nearest; neither is there with kernel="precomputed", which does not tell how long a new point is.

    Fitted: labels_, inertia_ (the sum of w |phi(x) - its center|^2), n_iter_, centers_ (a `graphclust.KernelCenters`),
    n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`.

    Source: see `graphclust.kernel_kmeans`.

    >>> model = KernelKMeans(2, kernel="linear", random_state=1).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> round(model.inertia_, 6), (model.predict([[2.0]]) == model.labels_[:1]).item()
    (1.0, True)
    """

    n_clusters: int = 8
    _: KW_ONLY
    kernel: Any = "rbf"
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    solver: str = "full"
    n_init: int = 1
    max_iter: int = 300
    batch_size: int = 1024
    rate: str = "sqrt"
    tau: int = 50
    coreset_size: int | None = None
    shift: float = 0.0
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelKMeans:
        """Cluster the points X, shape (n_samples, n_features), or the points of a kernel matrix."""
        if not callable(self.kernel):
            as_choice(self.kernel, "kernel", KERNELS)
        as_choice(self.solver, "solver", tuple(SOLVERS))
        X = self._check(X, reset=True)
        k = as_n_clusters(self.n_clusters, X.shape[0])
        solve, names = SOLVERS[self.solver]
        options = {name: getattr(self, name) for name in names}
        if self.solver == "coreset" and self.coreset_size is None:
            options["coreset_size"] = max(k, min(max(X.shape[0] // CORESET_SHARE, CORESET_TIMES * k), X.shape[0]))
        kernel, rng = self._kernel_of(X, sample_weight), as_rng(self.random_state)
        runs = [
            solve(kernel, k, sample_weight=sample_weight, rng=rng, **options)
            for _ in range(as_whole_number(self.n_init, "n_init", at_least=1))
        ]
        result = min(runs, key=lambda result: result.cost)
        self.centers_ = result.centers
        self.labels_ = result.labels
        self.inertia_ = result.cost
        self.n_iter_ = max(1, result.n_iter)  # the round that found nothing to change, where it is the first
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The nearest center of each point, ties to the lowest; int64, shape (n_samples,)."""
        return self._sq_distances(X).argmin(axis=1)

    def transform(self, X: Any) -> np.ndarray:
        """Distance in feature space of each point to each center, shape (n_samples, n_clusters)."""
        return np.sqrt(np.maximum(self._sq_distances(X), 0.0))

    @available_if(_of_points)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of the squared distances to the nearest centers: the larger the better."""
        sq_distances = self._sq_distances(X).min(axis=1)
        return -float((as_weights(sample_weight, len(sq_distances)) * sq_distances).sum())

    def _sq_distances(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self.centers_.sq_distances_to(self._check(X, reset=False))

    def _check(self, X: Any, *, reset: bool) -> Any:
        if self.kernel != "precomputed":
            return as_points(self, X, reset=reset, accept_sparse=False)
        X = validated(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)
        if reset and X.shape[0] != X.shape[1]:
            raise ValueError(f"X should be a square kernel matrix, got shape {X.shape}")
        return X

    def _kernel_of(self, X: Any, weights: Any) -> Kernel:
        """The kernel that the parameters of the estimator name."""
        gamma = None if self.gamma is None else as_number(self.gamma, "gamma", above=0.0)
        width = None if gamma is None else 1.0 / gamma
        match self.kernel:
            case "rbf":
                return GaussianKernel(X, width, sample_weight=weights)
            case "laplacian":
                return LaplacianKernel(X, width, sample_weight=weights)
            case "polynomial" | "poly":
                return PolynomialKernel(X, self.degree, gamma, self.coef0)
            case "linear":
                return LinearKernel(X)
            case "cosine":
                return CosineKernel(X)
            case "sigmoid" | "chi2":
                options = {"coef0": self.coef0} | ({} if gamma is None else {"gamma": gamma})
                return PairwiseKernel(X, self.kernel, **options)
        if callable(self.kernel):
            return PairwiseKernel(X, self.kernel)
        return SparseKernel(X) if sparse.issparse(X) else DenseKernel(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.centers_.sq_norms)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = []
        return tags


# Only now: what makes `set_output` work has put a method of its own in the place of the one above.
KernelKMeans.transform = available_if(_of_points)(KernelKMeans.transform)  # type: ignore[method-assign]
KernelKMeans.fit_transform = available_if(_of_points)(KernelKMeans.fit_transform)  # type: ignore[method-assign]


class PairwiseKernel(PointKernel):
    """What `sklearn.metrics.pairwise.pairwise_kernels` computes and we do not; metric : its name there, or k(x, y)."""

    def __init__(self, X: Any, metric: Any, **options: Any):
        super().__init__(X)
        self.metric, self.options = metric, options

    def entries(self, Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
        Y, Z = (np.require(rows, requirements="W") for rows in (Y, Z))  # some of scikit-learn's take no other arrays
        matrix = pairwise_kernels(Y, Z, metric=self.metric, filter_params=True, **self.options)
        return np.asarray(matrix, dtype=self.dtype)

    def self_affinities(self, Y: np.ndarray) -> np.ndarray:
        if callable(self.metric):
            return np.array([self.metric(point, point) for point in Y], np.float64)
        pieces = [Y[first : first + ROWS] for first in range(0, len(Y), ROWS)]
        return np.concatenate([self.entries(piece, piece).diagonal() for piece in pieces]).astype(np.float64)
