"""The kernel and the weights that the arguments stand for, and a check of k."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.checks import as_choice, as_weights
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError, warn_caller
from graphclust.graph.container import Graph
from graphclust.points.k_means.points import as_cluster_count
from graphclust.points.kernel_k_means.kernel import Kernel
from graphclust.points.kernel_k_means.matrix_kernels import DenseKernel, GraphKernel, SparseKernel
from graphclust.points.kernel_k_means.point_kernels import (
    CosineKernel,
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
)

NAMED: dict[str, Callable[[Any], Kernel]] = {
    "polynomial": PolynomialKernel, "linear": LinearKernel, "cosine": CosineKernel,
    "precomputed": lambda K: SparseKernel(K) if sparse.issparse(K) else DenseKernel(K), "normalized cut": GraphKernel,
}  # fmt: skip
# Kernels of a width, which by default is that of the weighted points.
WITH_WIDTH: dict[str, Callable[..., Kernel]] = {"gaussian": GaussianKernel, "laplacian": LaplacianKernel}


def as_kernel(K_or_X: Any, kernel: str, sample_weight: Any, weight: str | None = "weight") -> Kernel:
    """A kernel as it is; that of a `Graph` or NetworkX graph; otherwise the named one of a matrix or of points."""
    as_choice(kernel, "kernel", (*WITH_WIDTH, *NAMED))
    if hasattr(K_or_X, "point_weights"):
        raise TypeError(
            f"K_or_X is a {type(K_or_X).__name__}, expected points, a matrix, a graph or a kernel such as GraphKernel; "
            "pass its graph, K_or_X.graph"
        )
    if not isinstance(K_or_X, Kernel):
        of_graph = isinstance(K_or_X, Graph) or hasattr(K_or_X, "adjacency")
        if of_graph or kernel == "normalized cut":
            return GraphKernel(K_or_X, weight=weight)
    if weight != "weight":
        raise ParameterError(
            f"weight={weight!r} names an attribute of edges, which a {type(K_or_X).__name__} does not have; leave it "
            "out, and give the weights of points as sample_weight"
        )
    if isinstance(K_or_X, Kernel):
        return K_or_X
    if kernel != "precomputed" and _looks_like_a_kernel(K_or_X):
        warn_caller(
            f"K_or_X is a symmetric matrix of {len(K_or_X)} rows and was taken for points; pass "
            "kernel='precomputed' if it holds the kernel",
            GraphWarning,
        )
    if kernel in WITH_WIDTH:
        return WITH_WIDTH[kernel](K_or_X, sample_weight=sample_weight)
    return NAMED[kernel](K_or_X)


def _looks_like_a_kernel(X: Any) -> bool:
    """Whether a matrix is square and symmetric, as points of more than two features are by accident only."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[0] != X.shape[1] or len(X) < 3:
        return False
    return X.dtype.kind in "iuf" and bool(np.allclose(X, X.T, equal_nan=True))


def as_weighted_kernel(
    K_or_X: Any, k: Any, kernel: str, sample_weight: Any, weight: str | None
) -> tuple[Kernel, int, np.ndarray]:
    """What every kernel k-means is given, checked: the kernel, the number of clusters, and the points' weights."""
    found = as_kernel(K_or_X, kernel, sample_weight, weight)
    return found, as_cluster_count(k, found.n), point_weights(found, sample_weight)


def point_weights(kernel: Kernel, sample_weight: Any) -> np.ndarray:
    """The given weights, or those that the kernel prescribes, or ones; 0 where the kernel says there is no point."""
    if sample_weight is None and kernel.weights is not None:
        return kernel.weights
    weights = as_weights(sample_weight, kernel.n)
    precision = np.finfo(np.float64)
    if weights.max() < np.sqrt(precision.tiny / precision.eps):
        raise GraphValidationError(
            f"sample_weight holds weights up to {weights.max():.3g}, whose squares vanish; multiply by a power of ten"
        )
    with np.errstate(over="ignore"):
        most = np.abs(kernel.diagonal).max() * weights.sum() * weights.sum()
    if not np.isfinite(most):
        raise GraphValidationError(
            f"the kernel holds k(x, x) up to {np.abs(kernel.diagonal).max():.3g}, whose weighted sums over {kernel.n} "
            "points overflow; divide the matrix, the points or sample_weight by a power of ten"
        )
    return weights if kernel.weights is None else np.where(kernel.weights > 0.0, weights, 0.0)
