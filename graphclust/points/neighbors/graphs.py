"""Graphs of nearest neighbors, of points or of lists of neighbors that another library found, and weights by distance.

Zelnik-Manor and Perona 2004, "Self-tuning spectral clustering", section 2. McInnes, Healy and Melville 2018, "UMAP:
uniform manifold approximation and projection", Algorithms 2 and 3.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.checks import Seed, as_array, as_choice
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.float_scaling import exponent_beyond, largest_size, times_power_of_two
from graphclust.graph.container import Graph
from graphclust.io.graph_input import as_graph
from graphclust.points.neighbors.search import nearest_neighbors
from graphclust.progress import ProgressLike

WEIGHTS = ("gaussian", "umap")
RULES = ("union", "mutual", "mean")
LEAST_WEIGHT = 1e-12  # a neighbor that is far away on both scales stays a neighbor
# umap-learn's own: halvings, how near to its aim a sum has to come, the least scale as a share of the mean distance.
_HALVINGS, _TOLERANCE, _LEAST_SCALE = 64, 1e-5, 1e-3


def knn_graph(
    X: Any,
    n_neighbors: int = 10,
    *,
    metric: str = "euclidean",
    method: str = "exact",
    symmetrize: str = "union",
    weights: str | None = None,
    n_probes: int = 16,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Graph:
    """Join each point with its nearest neighbors.

    X : points, shape (n, d), dense or SciPy sparse, finite. A point is never its own neighbor: the graph has no
        self-loops. Other points at the same place are neighbors like any others.
    n_neighbors : of each point, 1 <= n_neighbors < n.
    metric : "euclidean" (or "l2"), "cosine" or "manhattan" (or "l1", "cityblock"); or "precomputed": X holds distances
        >= 0, shape (n, n), in a sparse matrix those that are known, at least n_neighbors in each row beside its
        diagonal.
    method : "exact" (needs scikit-learn, but for precomputed distances) or "approximate" (needs Faiss, float32; dense
        points, "euclidean" or "cosine"): pip install "graphclust[neighbors]". "auto" is approximate where it can be and
        n^2 d exceeds 2^36, as for 33,000 points of 64 dimensions.
    symmetrize : "union" joins two points if either is among the other's neighbors, "mutual" if both are, which may
        leave points isolated; "mean" takes the mean weight of both directions, half of one where only one is listed.
    weights : None counts each edge 1; "gaussian" gives exp(-d(i, j)^2 / (s_i s_j)), at least 1e-12, where s_i is
        the distance from i to its last neighbor; "umap" the connectivities of UMAP, as scanpy has them too, whose own
        n_neighbors counts the point itself and is one more.
    n_probes : how many lists the approximate search looks through; more find more of the true neighbors.

    Returns a `Graph`. Raises ImportError where the library is missing, GraphValidationError for points that are no
    finite numbers in two dimensions, ParameterError or TypeError for other arguments that cannot be used.

    Source: Zelnik-Manor & Perona 2004, section 2, and McInnes, Healy & Melville 2018 for the weights; Jégou, Douze &
    Schmid 2011 for "approximate".

    >>> knn_graph([[0.0], [1.0], [3.0], [6.0]], 1).indices
    array([1, 0, 2, 1, 3, 2], dtype=int32)
    >>> knn_graph([[0.0], [1.0], [2.9], [3.0]], 1, symmetrize="mutual").n_edges
    2
    """
    _check_rules(symmetrize, weights)
    neighbors, distances = nearest_neighbors(
        X, n_neighbors, metric=metric, method=method, n_probes=n_probes, rng=rng, progress=progress
    )
    return graph_from_neighbors(neighbors, distances, symmetrize=symmetrize, weights=weights)


def graph_from_neighbors(
    indices: npt.ArrayLike,
    distances: npt.ArrayLike | None = None,
    *,
    symmetrize: str = "union",
    weights: str | None = None,
) -> Graph:
    """The graph of lists of neighbors, such as UMAP's `knn_indices` and `knn_dists`, PyNNDescent's or Faiss's.

    indices : neighbors of each point, whole numbers in [0, n), -1 for none, shape (n, m). The point itself may be among
        them; it is left out.
    distances : to these, >= 0, same shape; only weights ask for them.
    symmetrize, weights : see `knn_graph`. Of UMAP's strengths a and b from both ends the union is a + b - a b, the
        mutual one a b; of others the larger or the smaller counts.

    Returns a `Graph`. Raises GraphValidationError for arrays that are no such lists, ParameterError for other arguments
    that cannot be used.

    Source: see `knn_graph`.

    >>> graph_from_neighbors([[0, 1], [1, 2], [2, 1]]).to_scipy().toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    _check_rules(symmetrize, weights)
    neighbors = as_array(indices, "indices")
    n = len(neighbors) if neighbors.ndim else 0
    if neighbors.ndim != 2 or neighbors.dtype.kind not in "iu" or neighbors.shape[1] < 1:
        raise GraphValidationError(
            f"indices has shape {neighbors.shape} and dtype {neighbors.dtype}, expected whole numbers, shape (n, m)"
        )
    neighbors = neighbors.astype(np.int64)
    if n and (neighbors.min() < -1 or neighbors.max() >= n):
        raise GraphValidationError(f"indices lie in [{neighbors.min()}, {neighbors.max()}], expected [0, {n}), or -1")
    itself = neighbors == np.arange(n)[:, None]
    given = (neighbors >= 0) & ~itself
    values = np.ones(neighbors.shape)
    if weights is not None:
        apart = _as_distances(distances, weights, given)
        if weights == "gaussian":
            values = gaussian(neighbors, apart)
        else:
            values = membership(apart, given, neighbors.shape[1] - itself.sum(axis=1))
    rows = np.repeat(np.arange(n), given.sum(axis=1))
    listed = sparse.coo_array((values[given], (rows, neighbors[given])), shape=(n, n)).tocsr()
    if listed.nnz < len(rows):
        raise GraphValidationError("indices name a neighbor twice in a row, expected different ones")
    return as_graph(_symmetrize(listed, symmetrize, weights == "umap"))


def _check_rules(symmetrize: str, weights: str | None) -> None:
    as_choice(symmetrize, "symmetrize", RULES)
    if weights is not None:
        as_choice(weights, "weights", WEIGHTS)


def _as_distances(distances: npt.ArrayLike | None, weights: str, given: np.ndarray) -> np.ndarray:
    """Finite ones, with 0 where no neighbor is."""
    if distances is None:
        raise ParameterError(f"weights={weights!r} needs the distances to the neighbors, expected distances=")
    apart = as_array(distances, "distances").astype(np.float64, copy=False)
    if apart.shape != given.shape:
        raise GraphValidationError(f"distances has shape {apart.shape}, expected that of indices, {given.shape}")
    apart = np.where(given, apart, 0.0)
    if not (np.isfinite(apart).all() and (apart >= 0.0).all()):
        raise GraphValidationError("distances holds negative numbers or some that are not finite, expected >= 0")
    return apart


def _symmetrize(listed: sparse.csr_array, symmetrize: str, fuzzy: bool) -> sparse.csr_array:
    mirrored = listed.T.tocsr()
    if symmetrize == "mean":
        return (0.5 * (listed + mirrored)).tocsr()
    if fuzzy:
        both = listed.multiply(mirrored).tocsr()
        return (listed + mirrored - both).tocsr() if symmetrize == "union" else both
    return listed.maximum(mirrored) if symmetrize == "union" else listed.minimum(mirrored)


def gaussian(neighbors: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """exp(-d^2 / (s_i s_j)), the same from both ends; distances are 0 where there is no neighbor.

    The scale s_i is the distance to the last one; one of 0, of a point among copies of it, becomes typical.
    """
    scales = distances.max(axis=1)
    positive = scales[scales > 0]
    if len(positive) == 0:
        return np.ones(distances.shape)
    scales[scales == 0] = np.median(positive)
    return np.maximum(np.exp(-((distances / scales[:, None]) * (distances / scales[neighbors]))), LEAST_WEIGHT)


def membership(distances: np.ndarray, given: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """UMAP's strength of each neighbor, in (0, 1]: 1 for the nearest, then exp(-(d - nearest) / scale).

    The scale makes a point's strengths add up to log2 of how many neighbors were asked for, the point itself being one.

    given : bool, (n, m), where there is a neighbor; distances are 0 elsewhere. counts : (n,), how many were asked for,
        the point itself not being one.
    """
    exponent = exponent_beyond(largest_size(distances), 1e-6, 1e6)  # the bisection begins at 1
    distances = times_power_of_two(distances, -exponent)
    far = np.where(distances > 0.0, distances, np.inf).min(axis=1)
    nearest = np.where(np.isfinite(far), far, 0.0)
    beyond = np.where(given, np.maximum(distances - nearest[:, None], 0.0), np.inf)
    scales = _scales(beyond, np.log2(counts + 1.0))
    sums = distances.sum(axis=1)
    means = np.where(nearest > 0.0, sums / (counts + 1.0), sums.sum() / (counts + 1.0).sum())
    scales = np.maximum(scales, _LEAST_SCALE * means)
    with np.errstate(divide="ignore", invalid="ignore"):
        strengths = np.where(beyond > 0.0, np.exp(-beyond / scales[:, None]), 1.0)
    return np.maximum(strengths, LEAST_WEIGHT)


def _scales(beyond: np.ndarray, aims: np.ndarray) -> np.ndarray:
    """For each row the scale s at which exp(-beyond / s) adds up to its aim, by bisection."""
    n = len(aims)
    low, high, scales = np.zeros(n), np.full(n, np.inf), np.ones(n)
    for _ in range(_HALVINGS):
        sums = np.exp(-beyond / scales[:, None]).sum(axis=1)
        open_ = np.abs(sums - aims) >= _TOLERANCE
        if not open_.any():
            break
        too_large = open_ & (sums > aims)
        too_small = open_ & ~too_large
        high[too_large], low[too_small] = scales[too_large], scales[too_small]
        scales = np.where(open_, np.where(np.isinf(high), 2.0 * scales, (low + high) / 2.0), scales)
    return scales
