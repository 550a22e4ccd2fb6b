"""SpectralClustering, of whole graphs, CoresetSpectralClustering, for large ones, and GraphClustering as estimators.

Where all points have an affinity, a kernel's or a given one, their graph has no self-loops, as in Ng, Jordan & Weiss
2001: how like itself a point is says nothing.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.metrics.pairwise import (
    PAIRWISE_KERNEL_FUNCTIONS,
    additive_chi2_kernel,
    euclidean_distances,
    manhattan_distances,
    pairwise_kernels,
    rbf_kernel,
)
from sklearn.utils.validation import check_is_fitted, check_non_negative, check_symmetric

from graphclust.checks import as_choice, as_number, as_whole_number
from graphclust.coreset.options import Coreset
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError, amount, warn_caller
from graphclust.estimators.bases import BaseEstimator, ClusterMixin, as_n_clusters, as_rng, validated
from graphclust.graph.container import Graph
from graphclust.graph.matrices import ROUND_OFF
from graphclust.io.graph_input import as_graph
from graphclust.io.kinds import as_layered
from graphclust.objective.cuts import modularity
from graphclust.partition.communities import communities
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.points.neighbors.graphs import knn_graph
from graphclust.points.neighbors.search import METHODS, SYNONYMS, nearest_neighbors
from graphclust.results.clustering import Clustering
from graphclust.spectral.whole_graph import spectral_clustering

__all__ = ["CoresetSpectralClustering", "GraphClustering", "SpectralClustering"]

SYMMETRIC = 1e-8  # relative to the largest entry
LEAST = 1e-140  # of a degree, see `check_degrees`
# Kernels exp(gamma e): e of all pairs of points, and what -e is called.
EXPONENTS: dict[str, Callable[[Any], np.ndarray]] = {
    "rbf": lambda X: -euclidean_distances(X, squared=True),
    "laplacian": lambda X: -manhattan_distances(X),
    "chi2": additive_chi2_kernel,
}
DISTANCES = {"rbf": "squared distance", "laplacian": "Manhattan distance", "chi2": "chi-squared distance"}


def graph_by_distance(X: Any, gamma: Any) -> Graph:
    """exp(-gamma |x - y|^2) between all points."""
    gamma = as_number(gamma, "gamma", above=0.0)
    if sparse.issparse(X):
        return graph_by_kernel(X, "rbf", {"gamma": gamma})
    sq_distances = pdist(X, "sqeuclidean")
    return _graph_by_exponents(squareform(-gamma * sq_distances), "rbf", gamma)


def graph_by_kernel(X: Any, kernel: Any, options: dict[str, Any]) -> Graph:
    """A kernel of scikit-learn's, or a function of two points, between all points."""
    if not callable(kernel) and kernel in EXPONENTS:
        gamma = as_number(options["gamma"], "gamma", above=0.0)
        exponents = gamma * EXPONENTS[kernel](X)
        return _graph_by_exponents(0.5 * (exponents + exponents.T), kernel, gamma)
    matrix = pairwise_kernels(X, metric=kernel, filter_params=True, **options)
    try:
        return graph_of_affinities(0.5 * (matrix + matrix.T))  # symmetric but for round-off
    except GraphValidationError as problem:
        raise GraphValidationError(
            f"affinity={kernel!r} makes no graph of these points, {problem}; here another affinity, other parameters "
            "of it or points of another scale can help"
        ) from None


def _graph_by_exponents(exponents: np.ndarray, kernel: str, gamma: float) -> Graph:
    """The exponential function of a matrix (n, n), which is overwritten; what is all but 0 is no edge."""
    n = len(exponents)
    suggestion = gamma / mean if (mean := -float(exponents.mean())) > 0.0 else gamma
    affinities = np.exp(exponents, out=exponents)
    affinities[affinities < LEAST] = 0.0
    np.fill_diagonal(affinities, 0.0)
    n_alone = n - int(np.count_nonzero(affinities.any(axis=1)))
    better = f"the inverse of the mean {DISTANCES[kernel]} between two points is gamma={suggestion:.3g}; or "
    far_off = (
        f"gamma={gamma:g} is far too large for these points: {amount(n_alone, 'has', 'have')} no affinity above "
        f"{LEAST:g} to any other of the {n:,}; {better if suggestion > 0.0 else ''}scale the points, as StandardScaler "
        "does"
    )
    if n_alone == n:
        raise ParameterError(far_off)
    return _graph_remarked(affinities, () if n_alone == 0 else (far_off,))


def graph_of_affinities(X: Any) -> Graph:
    """A matrix of affinities, copied: what is fitted must not change with the caller's."""
    matrix = _without_diagonal(X)
    try:
        graph = _graph_remarked(matrix)
    except GraphValidationError:  # of what is not symmetric, scikit-learn takes the mean, and warns beyond round-off
        largest = abs(matrix).max()
        tolerance = SYMMETRIC * largest if largest > 0.0 else SYMMETRIC
        matrix = check_symmetric(matrix, tol=tolerance, raise_warning=True)
        return as_graph(0.5 * (matrix + matrix.T))
    if matrix is not X:
        return graph
    weights = None if graph.weights is None else graph.weights.copy()
    return replace(graph, indptr=graph.indptr.copy(), indices=graph.indices.copy(), weights=weights)


def _graph_remarked(matrix: Any, more: tuple[str, ...] = ()) -> Graph:
    """The graph, with more remarks, in one warning with its own; that of round-off is a remark alone, as no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        graph = as_graph(matrix)
    said = [remark for remark in graph.remarks if ROUND_OFF not in remark] + [*more]
    if said:
        warn_caller("; ".join(said), GraphWarning)
    return replace(graph, remarks=(*graph.remarks, *more)) if more else graph


def _without_diagonal(matrix: Any) -> Any:
    """The same matrix where nothing is on its diagonal and it is sparse, a copy otherwise."""
    if not sparse.issparse(matrix):
        matrix = matrix.copy()
        np.fill_diagonal(matrix, 0.0)
        return matrix
    if not matrix.diagonal().any():
        return matrix
    entries = matrix.tocoo()
    kept = entries.row != entries.col
    return sparse.coo_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=matrix.shape).tocsr()


SPARSE_FORMATS = ("csr", "csc", "coo")
GIVEN = {"precomputed": "affinity", "precomputed_nearest_neighbors": "distance"}
OF_NEIGHBORS = ("nearest_neighbors", "precomputed_nearest_neighbors")
EIGEN_SOLVERS = ("arpack", "lobpcg", "amg")
METRICS = ("euclidean", "cosine", "manhattan")
KINDS = ("undirected", "directed", "signed")  # of square matrices
PREDICTIONS = 0  # seed of the approximate search for neighbors of new points: the same points get the same labels


class _GraphModel(ClusterMixin, BaseEstimator):
    """An estimator that makes a graph of its data and clusters that."""

    affinity: Any
    random_state: Any
    clustering_: Clustering

    _solve: ClassVar[Callable[..., Clustering]]  # the function, and which of the parameters are its options
    _options: ClassVar[tuple[str, ...]]

    @property
    def _takes_signs(self) -> bool:
        """Whether affinities may be below zero."""
        return getattr(self, "kind", None) == "signed"

    @abstractmethod
    def _graph(self, X: Any, rng: np.random.Generator) -> Graph:
        """The graph of the checked data by the affinity."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster points, (n_samples, n_features), or with affinity="precomputed" a graph, (n_samples, n_samples)."""
        X = self._check(X, ensure_min_samples=2)
        if self.affinity in GIVEN:
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"X should be a square {GIVEN[self.affinity]} matrix, got shape {X.shape}")
            if not self._takes_signs:
                check_non_negative(X, f"{type(self).__name__}, expected none with affinity={self.affinity!r}")
        rng = as_rng(self.random_state)
        graph = self._graph(X, rng)
        options = {name: getattr(self, name) for name in self._options}
        if hasattr(self, "n_clusters"):
            options["k"] = None if self.n_clusters is None else as_n_clusters(self.n_clusters, graph.n_nodes)
        self.clustering_ = self._solve(graph, rng=rng, **options)
        self.labels_ = self.clustering_.labels
        return self

    def _check(self, X: Any, **options: Any) -> Any:
        if isinstance(X, Graph) or hasattr(X, "adjacency"):
            matrix = "X.to_scipy()" if isinstance(X, Graph) else "networkx.to_scipy_sparse_array(X)"
            raise TypeError(f"X is a {type(X).__name__}, expected points, or {matrix} with affinity='precomputed'")
        return validated(self, X, accept_sparse=SPARSE_FORMATS, dtype=np.float64, **options)

    @property
    def affinity_matrix_(self) -> sparse.csr_array:
        """The graph that was clustered as CSR, (n_samples, n_samples); made of it when it is asked for."""
        if not hasattr(self, "clustering_"):
            raise AttributeError(f"this {type(self).__name__} has no affinity_matrix_ before it is fitted")
        return self.clustering_.graph.to_scipy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity in GIVEN
        tags.input_tags.positive_only = self.affinity in GIVEN and not self._takes_signs
        return tags


@dataclass(eq=False, repr=False)
class SpectralClustering(_GraphModel):
    """k-means on the top eigenvectors of a whole graph, in the place of `sklearn.cluster.SpectralClustering`.

    n_clusters : number of clusters; None takes the number that the graph shows, which clustering_ has remarks on.
    affinity : "rbf" for exp(-gamma |x - y|^2) between all points; "nearest_neighbors" for the graph in which each point
        is joined with its nearest ones, by 1 if both are so near to each other and by 1/2 if one is; "precomputed" for
        X as the matrix of a graph, symmetric, dense or sparse; "precomputed_nearest_neighbors" for X as distances,
        dense, or sparse with those that are known; another kernel that `sklearn.metrics.pairwise.pairwise_kernels`
        knows by name; or a function of two points. No entry may be negative; one of a point with itself does not count.
    n_neighbors : of a point and itself among them, as scikit-learn counts; of fewer points, all.
    gamma, degree, coef0, kernel_params : of the kernels.
    n_components, n_init, assign_labels : see `graphclust.spectral_clustering`.
    random_state : None, a whole number, a RandomState or a Generator; the same number gives the same labels.
    eigen_solver, eigen_tol, n_jobs, verbose : for code that was written for scikit-learn. The solver is chosen here,
        and its result checked, whatever the first two say; all threads work; nothing is printed.

    Fitted: labels_ (n_samples,), -1 for points without neighbors; affinity_matrix_, the graph as CSR; clustering_, a
    `graphclust.Clustering`; n_features_in_.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`.

    Source: Ng, Jordan & Weiss 2001, see `graphclust.spectral_clustering`.

    >>> model = SpectralClustering(2, random_state=1).fit([[0.0], [0.5], [1.0], [5.0], [5.5]])
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    """

    n_clusters: int | None = 8
    _: KW_ONLY
    eigen_solver: str | None = None
    n_components: int | None = None
    random_state: Any = None
    n_init: int = 10
    gamma: float = 1.0
    affinity: Any = "rbf"
    n_neighbors: int = 10
    eigen_tol: float | str = "auto"
    assign_labels: str = "kmeans"
    degree: float = 3
    coef0: float = 1
    kernel_params: dict[str, Any] | None = None
    n_jobs: int | None = None
    verbose: bool = False
    _solve = staticmethod(spectral_clustering)
    _options = ("n_components", "assign_labels", "n_init")

    def _graph(self, X: Any, rng: np.random.Generator) -> Graph:
        """The graph of affinities that the parameters describe."""
        if self.eigen_solver is not None:
            as_choice(self.eigen_solver, "eigen_solver", EIGEN_SOLVERS)
        if self.affinity in OF_NEIGHBORS:
            metric = "euclidean" if self.affinity == "nearest_neighbors" else "precomputed"
            n_neighbors = as_whole_number(self.n_neighbors, "n_neighbors", at_least=2)
            return knn_graph(X, min(n_neighbors, X.shape[0]) - 1, metric=metric, symmetrize="mean")
        if self.affinity == "rbf":
            return graph_by_distance(X, self.gamma)
        if self.affinity == "precomputed":
            return graph_of_affinities(X)
        options = dict(self.kernel_params or {})
        if not callable(self.affinity):
            as_choice(self.affinity, "affinity", (*OF_NEIGHBORS, "precomputed", *PAIRWISE_KERNEL_FUNCTIONS))
            options |= {name: getattr(self, name) for name in ("gamma", "degree", "coef0")}
        return graph_by_kernel(X, self.affinity, options)


@dataclass(eq=False, repr=False)
class NeighborGraphModel(_GraphModel):
    """An estimator that clusters a graph of nearest neighbors, of a kernel or as given, and places new points in it."""

    _: KW_ONLY
    affinity: str = "nearest_neighbors"
    n_neighbors: int = 10
    metric: str = "euclidean"
    neighbors_method: str = "auto"
    gamma: float = 1.0
    random_state: Any = None

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """The cluster of new points by their affinities to those that were fitted; shape (m,), -1 for those without.

        X : points, shape (m, n_features); with affinity="precomputed" their affinities >= 0 to the fitted points, shape
            (m, n_samples).

        A new point joins the cluster by which the objective gains most, see `graphclust.ClusterModel.predict`: each by
        itself, linked with its n_neighbors nearest among the fitted points, or by the kernel with all. Fitted points
        mostly get their labels_; a label that other links have moved can differ.

        Raises NotFittedError before `fit`, ValueError and TypeError for points that cannot be used.
        """
        check_is_fitted(self)
        X = self._check(X, reset=False)
        match self.affinity:
            case "nearest_neighbors":
                rows = self._links_to_neighbors(X)
            case "rbf":
                if sparse.issparse(X) or sparse.issparse(self._fitted_points):
                    rows = rbf_kernel(X, self._fitted_points, self.gamma)
                else:  # as the fitted points were linked
                    rows = np.exp(-self.gamma * cdist(X, self._fitted_points, "sqeuclidean"))
            case _:
                rows = X
        return self.clustering_.model().predict(rows)

    def _graph(self, X: Any, rng: np.random.Generator) -> Graph:
        """The graph of affinities that the parameters describe."""
        kind = as_choice(self.affinity, "affinity", ("nearest_neighbors", "rbf", "precomputed"))
        as_choice(self.neighbors_method, "neighbors_method", METHODS)
        metric = as_choice(self.metric, "metric", (*METRICS, *SYNONYMS))
        if kind == "precomputed":
            return graph_of_affinities(X)
        self._fitted_points = X
        if kind == "rbf":
            return graph_by_distance(X, self.gamma)
        n_neighbors = as_whole_number(self.n_neighbors, "n_neighbors", at_least=1)
        return knn_graph(X, min(n_neighbors, X.shape[0] - 1), metric=metric, method=self.neighbors_method, rng=rng)

    def score(self, X: Any, y: Any = None) -> float:
        """Modularity of the graph of these points, each where `predict` puts it: the larger the better."""
        labels, other = self.predict(X), copy(self)
        return modularity(other._graph(self._check(X, reset=False), np.random.default_rng(PREDICTIONS)), labels)

    def _links_to_neighbors(self, X: Any) -> sparse.csr_array:
        """A link of weight 1 from each new point to each of its nearest fitted ones, (m, n_samples)."""
        points = self._fitted_points
        if sparse.issparse(points) != sparse.issparse(X):
            X = X.toarray() if sparse.issparse(X) else sparse.csr_array(X)
        k = min(self.n_neighbors, points.shape[0])
        nearest, _ = nearest_neighbors(
            points, k, queries=X, metric=self.metric, method=self.neighbors_method, rng=PREDICTIONS
        )
        starts = np.arange(0, nearest.size + 1, k)
        return sparse.csr_array((np.ones(nearest.size), nearest.ravel(), starts), shape=(len(nearest), points.shape[0]))


@dataclass(eq=False, repr=False)
class CoresetSpectralClustering(NeighborGraphModel):
    """A graph, or the graph of the nearest neighbors of points, in exactly n_clusters parts: `graphclust.coreset_sc`.

    n_clusters, gamma, random_state : as for `SpectralClustering`; n_clusters=None takes the number that the graph
        shows, see `graphclust.cluster_path`.
    affinity : "nearest_neighbors" for the graph in which each point is joined with n_neighbors others, if there are so
        many, see `graphclust.knn_graph`; "rbf" or "precomputed" as for `SpectralClustering`.
    metric, neighbors_method : of the nearest neighbors, the `metric` and `method` of `graphclust.knn_graph`. "auto" is
        exact up to 2^36 multiplications, such as 33,000 points of 64 features, and approximate beyond where Faiss is
        there, the points are dense and the metric is "euclidean" or "cosine".
    method, objective, resolution, effort, components, coreset : see `graphclust.coreset_sc`. By default the
        clusters are those that people recognize; objective="normalized_cut" is what spectral clustering is for.
    min_size, max_size : bounds on the points of a cluster, see there.

    Fitted: labels_ (n_samples,), -1 for points without neighbors and those put aside, see `components` there;
    affinity_matrix_, the graph as CSR; clustering_, a `graphclust.Clustering`; n_features_in_. The points that were
    fitted are kept for `predict`, not copied.

    Raises ValueError and TypeError for data and parameters that cannot be used, by `fit`.

    Source: see `graphclust.coreset_sc`.

    >>> model = CoresetSpectralClustering(2, n_neighbors=2, random_state=1)
    >>> model.fit_predict([[0.0], [0.5], [1.0], [1.5], [5.0], [5.5], [6.0]])
    array([0, 0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.7], [9.0]])
    array([0, 1])
    """

    n_clusters: int | None = 8
    _: KW_ONLY
    method: str = "auto"
    objective: str | None = None
    resolution: float | str | None = None
    effort: str | None = None
    components: str | None = None
    coreset: Coreset | None = None
    min_size: float | None = None
    max_size: float | None = None
    _solve = staticmethod(coreset_sc)
    _options = ("method", "objective", "resolution", "effort", "components", "coreset", "min_size", "max_size")


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
    objective: str = "modularity"
    effort: str = "normal"
    components: str = "all"
    min_size: float | None = None
    max_size: float | None = None
    small: str = "unite"
    kind: str | None = None
    _solve = staticmethod(communities)
    _options = ("resolution", "objective", "effort", "components", "min_size", "max_size", "small")

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
