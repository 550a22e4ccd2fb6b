"""What every kernel k-means begins with: the kernel and the weights that its arguments stand for, and seeds.

Kernel k-means++ is D²-sampling in feature space (Arthur and Vassilvitskii 2007; Jourdan et al. 2025, Algorithm 1).
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.checks import Seed, as_choice, as_generator, as_weights
from graphclust.errors import ConvergenceWarning, GraphValidationError, GraphWarning, ParameterError, warn_caller
from graphclust.graph.container import Graph
from graphclust.points.k_means.points import as_cluster_count
from graphclust.points.k_means.seeding import warn_if_fewer
from graphclust.points.kernel_k_means.matrix_kernels import (
    DenseKernel,
    GraphKernel,
    Kernel,
    SparseKernel,
    count_negative,
)
from graphclust.points.kernel_k_means.point_kernels import (
    CosineKernel,
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
)
from graphclust.progress import Progress, ProgressLike, as_progress

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
    is_kernel, is_graph = isinstance(K_or_X, Kernel), isinstance(K_or_X, Graph) or hasattr(K_or_X, "adjacency")
    if not is_kernel and (is_graph or kernel == "normalized cut"):
        return GraphKernel(K_or_X, weight=weight)
    if weight != "weight":
        raise ParameterError(
            f"weight={weight!r} names an attribute of edges, which a {type(K_or_X).__name__} does not have; leave it "
            "out, and give the weights of points as sample_weight"
        )
    if is_kernel:
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
    K_or_X: Any, k: Any, kernel: str, sample_weight: Any, weight: str | None, name: str = "k"
) -> tuple[Kernel, int, np.ndarray]:
    """What every kernel k-means is given, checked: the kernel, the number of clusters, and the points' weights."""
    chosen = as_kernel(K_or_X, kernel, sample_weight, weight)
    return chosen, as_cluster_count(k, chosen.n, name), point_weights(chosen, sample_weight)


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


_SLICE = 8192
_ROUND_OFF = 1e-12  # relative to the squared lengths of both points: a squared distance below this is none


class KernelSeeds(NamedTuple):
    """Seeds (s,), in the order drawn; of each point the squared distance to the nearest, clipped at 0, and its rank.

    n_clipped : how often a squared distance of a weighted point came out negative by more than rounding, the kernel
        being no positive semi-definite one, and became 0.
    """

    rows: np.ndarray
    sq_distances: np.ndarray
    nearest: np.ndarray
    n_clipped: int


def kernel_kmeans_plusplus(
    K_or_X: Any, n_seeds: int, *, kernel: str = "gaussian", sample_weight: npt.ArrayLike | None = None,
    weight: str | None = "weight", rng: Seed = None, progress: ProgressLike = None,
) -> KernelSeeds:  # fmt: skip
    """Draw seeds, each with probability proportional to weight x squared distance to those before; O(n n_seeds).

    The first is drawn by weight. K_or_X, kernel, sample_weight, weight : see `kernel_kmeans`. Fewer seeds, with a
    ConvergenceWarning, where all other points coincide with one, or where the kernel is indefinite and their squared
    distances, below 0, were taken for 0.

    Raises GraphValidationError, ParameterError or TypeError for data, weights or parameters that cannot be used.

    Source: Arthur & Vassilvitskii 2007, section 2.2, in feature space; Jourdan et al. 2025, Algorithm 1, which draws
    the first seed uniformly.

    >>> seeds = kernel_kmeans_plusplus([[0.0], [0.1], [9.0]], 2, kernel="linear", rng=1)
    >>> sorted(seeds.rows.tolist()) != [0, 1]
    True
    """
    rng = as_generator(rng)
    kernel_, n_seeds, weights = as_weighted_kernel(K_or_X, n_seeds, kernel, sample_weight, weight, "n_seeds")
    seeds = draw_seeds(kernel_, weights, n_seeds, rng, as_progress(progress))
    warn_if_fewer_points(len(seeds.rows), n_seeds, seeds.n_clipped)
    return seeds


def draw_seeds(
    kernel: Kernel, weights: np.ndarray, n_seeds: int, rng: np.random.Generator, progress: Progress
) -> KernelSeeds:
    """`kernel_kmeans_plusplus` without its checks."""
    rows = np.empty(n_seeds, np.int64)
    masses = weights
    sq_distances, nearest = np.full(kernel.n, np.inf), np.zeros(kernel.n, np.int64)
    lengths, eps = np.abs(kernel.diagonal), float(np.finfo(kernel.dtype).eps)
    n_clipped = 0
    for rank in range(n_seeds):
        cumulative, uniform = np.cumsum(masses), rng.random()
        drawn = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
        seed = rows[rank] = min(drawn, int(np.searchsorted(cumulative, cumulative[-1])))  # should a product round up
        for piece, to_seed in _sq_distances_to(kernel, seed):
            scale = lengths[piece] + lengths[seed]
            n_clipped += count_negative(to_seed[weights[piece] > 0.0], scale[weights[piece] > 0.0], kernel)
            to_seed[to_seed <= max(_ROUND_OFF, 8 * eps) * scale] = 0.0
            _approach(to_seed, rank, sq_distances[piece], nearest[piece])
        if sq_distances[seed] > 0.0:  # rounding
            sq_distances[seed], nearest[seed] = 0.0, rank
        masses = weights * sq_distances
        progress.step(rank + 1, n_seeds)
        if not masses.any():
            return KernelSeeds(rows[: rank + 1], sq_distances, nearest, n_clipped)
    return KernelSeeds(rows, sq_distances, nearest, n_clipped)


def nearest_seeds(kernel: Kernel, rows: np.ndarray) -> np.ndarray:
    """Rank of the nearest of these points for each point, ties to the lowest, a point being its own; shape (n,)."""
    sq_distances, nearest = np.full(kernel.n, np.inf), np.zeros(kernel.n, np.int64)
    for rank, seed in enumerate(rows):
        for piece, to_seed in _sq_distances_to(kernel, seed):
            _approach(to_seed, rank, sq_distances[piece], nearest[piece])
        if sq_distances[seed] > 0.0:  # rounding
            sq_distances[seed], nearest[seed] = 0.0, rank
    return nearest


def warn_if_fewer_points(n_found: int, k: int, n_clipped: int) -> None:
    """Say so where fewer points than asked for lie at a distance from each other, and why."""
    if n_clipped == 0:
        warn_if_fewer(n_found, k)
    elif n_found < k:
        warn_caller(
            f"k={k}, but only {n_found} points were found at positive squared distances; {n_clipped} came out negative "
            "and were taken for 0: the kernel is indefinite; add enough to its diagonal, in proportion to 1 / weight",
            ConvergenceWarning,
        )


def _sq_distances_to(kernel: Kernel, seed: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Squared distances of all points to one of them, as they come out of the kernel, piece by piece."""
    for first in range(0, kernel.n, _SLICE):
        piece = slice(first, min(first + _SLICE, kernel.n))
        products = kernel.block(np.array([seed]), piece)[0]
        yield piece, kernel.diagonal[piece] + kernel.diagonal[seed] - 2.0 * products


def _approach(to_seed: np.ndarray, rank: int, sq_distances: np.ndarray, nearest: np.ndarray) -> None:
    closer = to_seed < sq_distances
    sq_distances[closer] = to_seed[closer]
    nearest[closer] = rank
