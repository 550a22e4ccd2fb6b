"""Graphs of nearest neighbours from points: exact by scikit-learn, approximate by Faiss.

A library only proposes candidates, six more than are asked for; their distances are then computed anew in float64, by
one formula, and of candidates at the same distance the lower index comes first. So neighbours do not hang on the last
bits of a matrix product. Which of more points at the last distance are candidates at all, as among many copies of one
point, is the library's choice. Weights
follow Zelnik-Manor and Perona 2004, "Self-tuning spectral clustering". The approximate search is the inverted file of
Jégou, Douze and Schmid 2011: points are sorted into lists by their nearest of some 2 sqrt(n) centroids, and a point is
compared with those of the few nearest lists.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.checks import Seed, as_choice, as_generator, as_whole_number
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.gate import as_graph
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["knn_graph", "nearest_neighbors"]

SPARE = 6  # candidates beside those asked for
LEAST_WEIGHT = 1e-12  # a neighbour that is far away on both scales stays a neighbour
_PRODUCTS = 1 << 36  # multiplications between two looks at the clock, a second or two
_COMPARED = 1 << 17  # entries of candidates' vectors that a thread compares at a time: they stay in its cache
_POINTS_PER_LIST = 50  # that the lists' centroids are trained on


def knn_graph(
    X: Any,
    n_neighbors: int = 10,
    *,
    method: str = "exact",
    symmetrize: str = "union",
    weights: str | None = None,
    n_probes: int = 16,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Graph:
    """Join each point with its nearest neighbours by Euclidean distance.

    X : points, shape (n, d), dense, finite. A point is never its own neighbour: the graph has no self-loops. Other
        points at the same place are neighbours like any others.
    n_neighbors : of each point, 1 <= n_neighbors < n.
    method : "exact" (needs scikit-learn) or "approximate" (needs Faiss, float32): pip install "graphclust[neighbors]".
    symmetrize : "union" joins two points if either is among the other's neighbours, "mutual" if both are, which may
        leave points isolated.
    weights : None counts each edge 1; "gaussian" gives exp(-d(i, j)^2 / (s_i s_j)), at least 1e-12, where s_i is
        the distance from i to its last neighbour.
    n_probes : how many lists the approximate search looks through; more find more of the true neighbours.

    Returns a `Graph`. Raises ImportError where the library is missing, GraphValidationError for points that are no
    finite numbers in two dimensions, ParameterError or TypeError for other arguments that cannot be used.

    Source: Zelnik-Manor & Perona 2004, section 2, for the weights; Jégou, Douze & Schmid 2011 for "approximate".

    >>> knn_graph([[0.0], [1.0], [3.0], [6.0]], 1).indices
    array([1, 0, 2, 1, 3, 2], dtype=int32)
    >>> knn_graph([[0.0], [1.0], [2.9], [3.0]], 1, symmetrize="mutual").n_edges
    2
    """
    as_choice(symmetrize, "symmetrize", ("union", "mutual"))
    if weights is not None:
        as_choice(weights, "weights", ("gaussian",))
    neighbors, distances = nearest_neighbors(
        X, n_neighbors, method=method, n_probes=n_probes, rng=rng, progress=progress
    )
    n, k = neighbors.shape
    values = np.ones(n * k) if weights is None else _gaussian(neighbors, distances).ravel()
    listed = sparse.csr_array((values, neighbors.ravel(), np.arange(n + 1) * k), shape=(n, n))
    listed.sort_indices()
    return as_graph(listed.maximum(listed.T) if symmetrize == "union" else listed.minimum(listed.T))


def nearest_neighbors(
    X: Any,
    n_neighbors: int = 10,
    *,
    method: str = "exact",
    n_probes: int = 16,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest neighbours of each point, itself left out, nearest first.

    Arguments as in `knn_graph`. Returns indices, int64, and distances, float64, both of shape (n, n_neighbors).

    Among neighbours at the same distance the lower index comes first. At the last place the lowest indices are taken
    where no more than n_neighbors + 6 points are as near as that; where more are, the library chooses among them.

    Raises what `knn_graph` raises. Source: see there.

    >>> nearest_neighbors([[0.0], [1.0], [3.0]], 2)[0].tolist()
    [[1, 2], [0, 2], [1, 0]]
    """
    as_choice(method, "method", ("exact", "approximate"))
    points = _as_points(X)
    n = len(points)
    k = as_whole_number(n_neighbors, "n_neighbors", at_least=1)
    if k >= n:
        raise ParameterError(f"n_neighbors={k} is out of range, expected fewer than the {n} points")
    n_probes = as_whole_number(n_probes, "n_probes", at_least=1)
    rng, progress = as_generator(rng), as_progress(progress)
    n_candidates = min(n, k + 1 + SPARE)
    with progress.stage("index of the points"):
        search = _exact_search(points) if method == "exact" else _approximate_search(points, n_probes, rng)
    with progress.stage("nearest neighbours"):
        return _refined(points, search, k, n_candidates, progress)


def _refined(points, search: Callable, k: int, n_candidates: int, progress: Progress):
    """The k nearest of all points, block by block; points for which too few were proposed ask the exact search."""
    n, d = points.shape
    neighbors, distances = np.empty((n, k), np.int64), np.empty((n, k))
    rows = max(1, min(2048, _PRODUCTS // (n * d)))
    for first, last in itertools.pairwise([*range(0, n, rows), n]):
        block = np.arange(first, last)
        neighbors[block], distances[block] = _nearest_of(points, block, search, k, n_candidates)
        progress.step(last, n)
    lacking = np.flatnonzero(np.isinf(distances[:, -1]))
    if len(lacking):
        search = _exact_search(points)
        for block in np.array_split(lacking, -(-len(lacking) // rows)):
            neighbors[block], distances[block] = _nearest_of(points, block, search, k, n_candidates)
    return neighbors, distances


def _nearest_of(points, block: np.ndarray, search: Callable, k: int, n_candidates: int):
    """The k nearest of the candidates of some points, and their distances, infinite where there are too few."""
    candidates = np.sort(search(points[block], n_candidates), axis=1)
    neighbors, distances = np.empty((len(block), k), np.int64), np.empty((len(block), k))

    def compare(first: int, last: int, _: int) -> None:
        queries, proposed = block[first:last, None], candidates[first:last]
        difference = points[proposed]
        difference -= points[queries]
        sq_distances = np.einsum("ijk,ijk->ij", difference, difference)
        sq_distances[(proposed < 0) | (proposed == queries)] = np.inf  # not found, or the point itself
        order = np.argsort(sq_distances, axis=1, kind="stable")[:, :k]
        neighbors[first:last] = np.take_along_axis(proposed, order, axis=1)
        distances[first:last] = np.sqrt(np.take_along_axis(sq_distances, order, axis=1))

    run_in_blocks(compare, row_blocks(len(block), max(1, _COMPARED // (n_candidates * points.shape[1]))))
    return neighbors, distances


def _as_points(X: Any) -> np.ndarray:
    if sparse.issparse(X):
        raise TypeError("X is a sparse matrix, expected dense points; pass X.toarray(), or reduce its dimension first")
    points = np.asarray(X)
    if points.dtype.kind not in "biuf":
        raise TypeError(f"X has dtype {points.dtype}, expected numbers")
    if points.ndim != 2 or points.shape[0] < 2 or points.shape[1] < 1:
        raise GraphValidationError(f"X has shape {points.shape}, expected (n, d) with n >= 2 points and d >= 1")
    points = np.ascontiguousarray(points, dtype=np.float64)
    if not np.isfinite(points).all():
        i, j = np.argwhere(~np.isfinite(points))[0].tolist()
        raise GraphValidationError(f"X[{i}, {j}] is {points[i, j]}, expected finite numbers")
    return points


def _exact_search(points: np.ndarray) -> Callable:
    try:
        from sklearn.neighbors import NearestNeighbors
    except ImportError:
        raise ImportError('exact neighbours need scikit-learn: pip install "graphclust[neighbors]"') from None
    centered = points - points.mean(axis=0)  # so that the products of a distance do not cancel far from the origin
    index = NearestNeighbors().fit(centered)
    offset = points.mean(axis=0)
    return lambda queries, n: index.kneighbors(queries - offset, n, return_distance=False)


def _approximate_search(points: np.ndarray, n_probes: int, rng: np.random.Generator) -> Callable:
    try:
        import faiss
    except ImportError:
        raise ImportError('approximate neighbours need Faiss: pip install "graphclust[neighbors]"') from None
    offset = points.mean(axis=0)
    centered = (points - offset).astype(np.float32)
    n, d = points.shape
    n_lists = max(1, min(round(2 * np.sqrt(n)), n // 40))
    coarse = faiss.IndexFlatL2(d)
    index = faiss.IndexIVFFlat(coarse, d, n_lists)
    index.cp.seed = int(rng.integers(2**31))
    index.cp.min_points_per_centroid = 1
    sample = np.sort(rng.choice(n, min(n, n_lists * _POINTS_PER_LIST), replace=False))
    index.train(centered[sample])
    for first in range(0, n, 1 << 16):
        index.add(centered[first : first + (1 << 16)])
    index.nprobe = min(n_probes, n_lists)
    return lambda queries, n: index.search((queries - offset).astype(np.float32), n)[1]


def _gaussian(neighbors: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """exp(-d^2 / (s_i s_j)), the same from both ends; a scale of 0, of a point among copies of it, becomes typical."""
    scales = distances[:, -1].copy()
    positive = scales[scales > 0]
    if len(positive) == 0:
        return np.ones(distances.shape)
    scales[scales == 0] = np.median(positive)
    return np.maximum(np.exp(-((distances / scales[:, None]) * (distances / scales[neighbors]))), LEAST_WEIGHT)
