"""The nearest neighbors of each point: exact by scikit-learn, approximate by Faiss.

A library only proposes candidates, six more than are asked for; their distances are then computed anew in float64, by
one formula, and of candidates at the same distance the lower index comes first. So neighbours do not hang on the last
bits of a matrix product. Which of more points at the last distance are candidates at all, as among many copies of one
point, is the library's choice. The approximate search is the inverted file of Jégou, Douze and Schmid 2011: points are
sorted into lists by their nearest of some 2 sqrt(n) centroids, and a point is compared with those of the few nearest
lists.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.checks import Seed, as_choice, as_generator, as_whole_number
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.errors import ParameterError
from graphclust.neighbors.metrics import as_metric, as_points, distances_to, finished, prepared, width
from graphclust.neighbors.precomputed import nearest_by_distances
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["nearest_neighbors"]

SPARE = 6  # candidates beside those asked for
_PRODUCTS = 1 << 36  # multiplications between two looks at the clock, a second or two
_COMPARED = 1 << 17  # entries of candidates' vectors that a thread compares at a time: they stay in its cache
_POINTS_PER_LIST = 50  # that the lists' centroids are trained on


def nearest_neighbors(
    X: Any,
    n_neighbors: int = 10,
    *,
    metric: str = "euclidean",
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
    metric = as_metric(metric)
    points = as_points(X)
    n = points.shape[0]
    k = as_whole_number(n_neighbors, "n_neighbors", at_least=1)
    if k >= n:
        raise ParameterError(f"n_neighbors={k} is out of range, expected fewer than the {n} points")
    n_probes = as_whole_number(n_probes, "n_probes", at_least=1)
    rng, progress = as_generator(rng), as_progress(progress)
    if method == "approximate" and (metric not in ("euclidean", "cosine") or sparse.issparse(points)):
        kind = "sparse" if sparse.issparse(points) else "dense"
        raise ParameterError(
            f'method="approximate" is for dense points by metric="euclidean" or "cosine", not for {kind} ones by '
            f'{metric!r}; expected method="exact", or points of fewer dimensions, as TruncatedSVD makes them'
        )
    if metric == "precomputed":
        with progress.stage("nearest neighbours"):
            return nearest_by_distances(points, k)
    points = prepared(points, metric)
    n_candidates = min(n, k + 1 + SPARE)
    with progress.stage("index of the points"):
        search = _exact_search(points, metric) if method == "exact" else _approximate_search(points, n_probes, rng)
    with progress.stage("nearest neighbours"):
        return _refined(points, search, metric, k, n_candidates, progress)


def _refined(points, search: Callable, metric: str, k: int, n_candidates: int, progress: Progress):
    """The k nearest of all points, block by block; points for which too few were proposed ask the exact search."""
    n = points.shape[0]
    neighbors, distances = np.empty((n, k), np.int64), np.empty((n, k))
    rows = max(1, min(2048, _PRODUCTS // (n * width(points))))
    for first, last in itertools.pairwise([*range(0, n, rows), n]):
        block = np.arange(first, last)
        neighbors[block], distances[block] = _nearest_of(points, block, search, metric, k, n_candidates)
        progress.step(last, n)
    lacking = np.flatnonzero(np.isinf(distances[:, -1]))
    if len(lacking):
        search = _exact_search(points, metric)
        for block in np.array_split(lacking, -(-len(lacking) // rows)):
            neighbors[block], distances[block] = _nearest_of(points, block, search, metric, k, n_candidates)
    return neighbors, distances


def _nearest_of(points, block: np.ndarray, search: Callable, metric: str, k: int, n_candidates: int):
    """The k nearest of the candidates of some points, and their distances, infinite where there are too few."""
    candidates = np.sort(search(points[block], n_candidates), axis=1)
    neighbors, distances = np.empty((len(block), k), np.int64), np.empty((len(block), k))

    def compare(first: int, last: int, _: int) -> None:
        queries, proposed = block[first:last], candidates[first:last]
        values = distances_to(points, queries, proposed, metric)
        values[(proposed < 0) | (proposed == queries[:, None])] = np.inf  # not found, or the point itself
        order = np.argsort(values, axis=1, kind="stable")[:, :k]
        neighbors[first:last] = np.take_along_axis(proposed, order, axis=1)
        distances[first:last] = finished(np.take_along_axis(values, order, axis=1), metric)

    run_in_blocks(compare, row_blocks(len(block), max(1, _COMPARED // (n_candidates * width(points)))))
    return neighbors, distances


def _exact_search(points: Any, metric: str) -> Callable:
    try:
        from sklearn.neighbors import NearestNeighbors
    except ImportError:
        raise ImportError('exact neighbours need scikit-learn: pip install "graphclust[neighbors]"') from None
    if sparse.issparse(points):
        index = NearestNeighbors(metric="manhattan" if metric == "manhattan" else "euclidean", algorithm="brute")
        index.fit(points)
        return lambda queries, n: index.kneighbors(queries, n, return_distance=False)
    offset = points.mean(axis=0)  # so that the products of a distance do not cancel far from the origin
    index = NearestNeighbors(metric="manhattan" if metric == "manhattan" else "euclidean").fit(points - offset)
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
