"""The nearest neighbors of each point: exact by scikit-learn, approximate by Faiss.

A library only proposes candidates, six more than are asked for; their distances are then computed again in float64, by
one formula, and of candidates at the same distance the lower index comes first. So neighbors do not hang on the last
bits of a matrix product. Which of more points at the last distance are candidates at all, as among many copies of one
point, is the library's choice. The approximate search is the inverted file of Jégou, Douze and Schmid 2011: points are
sorted into lists by their nearest of some 2 sqrt(n) centroids, and a point is compared with those of the few nearest
lists.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from graphclust.checks import Seed, as_choice, as_generator, as_whole_number
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.neighbors.metrics import (
    as_metric,
    as_points,
    distances_to,
    finished,
    of_unit_length,
    on_one_scale,
    width,
)
from graphclust.neighbors.precomputed import nearest_by_distances
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.scales import exponent_beyond, largest_size

__all__ = ["nearest_neighbors"]

METHODS = ("exact", "approximate", "auto")
MUCH_WORK = 1 << 36  # multiplications above which "auto" is approximate
SPARE = 6  # candidates beside those asked for
_PRODUCTS = 1 << 36  # multiplications between two looks at the clock, a second or two
_COMPARED = 1 << 17  # entries of candidates' vectors that a thread compares at a time: they stay in its cache
_POINTS_PER_LIST = 50  # that the lists' centroids are trained on


def nearest_neighbors(
    X: Any,
    n_neighbors: int = 10,
    *,
    queries: Any = None,
    metric: str = "euclidean",
    method: str = "exact",
    n_probes: int = 16,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest neighbors of each point, itself left out, nearest first; or those of other points.

    queries : points, shape (m, d), whose neighbors among X are wanted, up to all n; with metric="precomputed" their
        distances to X, shape (m, n). By default the points X themselves.
    Other arguments as in `knn_graph`. Returns indices into X, int64, and distances, float64, both of shape
    (n, n_neighbors), or (m, n_neighbors) for queries.

    Among neighbors at the same distance the lower index comes first. At the last place the lowest indices are taken
    where no more than n_neighbors + 6 points are as near as that; where more are, the library chooses among them.
    Powers of two as factors of all points change no neighbor of the exact method.

    Raises what `knn_graph` raises. Source: see there.

    >>> nearest_neighbors([[0.0], [1.0], [3.0]], 2)[0].tolist()
    [[1, 2], [0, 2], [1, 0]]
    >>> nearest_neighbors([[0.0], [1.0], [3.0]], 1, queries=[[2.5]])
    (array([[2]]), array([[0.5]]))
    """
    as_choice(method, "method", METHODS)
    metric = as_metric(metric)
    points, among_themselves = as_points(X), queries is None
    others = points if among_themselves else as_points(queries, "queries", at_least=1)
    if others.shape[1] != points.shape[0 if metric == "precomputed" and not among_themselves else 1]:
        wanted = f"(m, {points.shape[0]}), the distances to X" if metric == "precomputed" else f"(m, {points.shape[1]})"
        raise GraphValidationError(f"queries has shape {others.shape}, expected {wanted}")
    n = points.shape[0]
    k = as_whole_number(n_neighbors, "n_neighbors", at_least=1)
    if k >= n + (not among_themselves):
        allowed = f"fewer than the {n} points" if among_themselves else f"at most the {n} points"
        raise ParameterError(f"n_neighbors={k} is out of range, expected {allowed}")
    n_probes = as_whole_number(n_probes, "n_probes", at_least=1)
    rng, progress = as_generator(rng), as_progress(progress)
    if method == "auto":
        method = _method_for(points, others, metric)
    if method == "approximate" and not _is_dense_angle_or_length(points, metric):
        kind = "sparse" if sparse.issparse(points) else "dense"
        raise ParameterError(
            f'method="approximate" is for dense points by metric="euclidean" or "cosine", not for {kind} ones by '
            f'{metric!r}; expected method="exact", or points of fewer dimensions, as TruncatedSVD makes them'
        )
    if metric == "precomputed":
        with progress.stage("nearest neighbors"):
            return nearest_by_distances(others, k, "X" if among_themselves else "queries", among_themselves)
    if sparse.issparse(points) != sparse.issparse(others):
        raise TypeError("X and queries are dense and sparse, expected both dense or both SciPy sparse")
    points, others, exponent = prepared(points, others, metric)
    n_candidates = min(n, k + 1 + SPARE)
    with progress.stage("index of the points"):
        search = _exact_search(points, metric) if method == "exact" else _approximate_search(points, n_probes, rng)
    with progress.stage("nearest neighbors"):
        found = Task(points, others, among_themselves, metric, k, n_candidates)
        neighbors, distances = _refine(found, search, progress)
    return neighbors, _rescale(distances, exponent)


class Task(NamedTuple):
    """Which neighbors are wanted: the k nearest points of each of the others, by a metric, among n_candidates."""

    points: Any
    others: Any
    among_themselves: bool
    metric: str
    k: int
    n_candidates: int


def prepared(points: Any, others: Any, metric: str) -> tuple[Any, Any, int]:
    """Points and others scaled for the distances, and the exponent of two to scale the distances back."""
    if metric != "cosine":
        return on_one_scale(points, others)
    if others is points:
        units = of_unit_length(points)
        return units, units, 0
    stack = sparse.vstack if sparse.issparse(points) else np.vstack
    units = of_unit_length(stack([points, others]))
    units = units.tocsr() if sparse.issparse(units) else units
    return units[: points.shape[0]], units[points.shape[0] :], 0


def _rescale(distances: np.ndarray, exponent: int) -> np.ndarray:
    if exponent == 0:
        return distances
    with np.errstate(over="ignore"):
        distances = np.ldexp(distances, exponent)
    if not np.isfinite(distances).all():
        raise GraphValidationError("X holds points whose distances are not finite; divide X by a power of ten")
    return distances


def _is_dense_angle_or_length(points: Any, metric: str) -> bool:
    return metric in ("euclidean", "cosine") and not sparse.issparse(points)


def _method_for(points: Any, others: Any, metric: str) -> str:
    """The approximate method where there is much to compare, it can be used and Faiss is there."""
    work = points.shape[0] * others.shape[0] * width(points)
    if work <= MUCH_WORK or not _is_dense_angle_or_length(points, metric):
        return "exact"
    return "exact" if find_spec("faiss") is None else "approximate"


def _refine(task: Task, search: Callable, progress: Progress):
    """The k nearest of each, block by block; a point with too few candidates takes the exact search."""
    n, n_points = task.others.shape[0], task.points.shape[0]
    neighbors, distances = np.empty((n, task.k), np.int64), np.empty((n, task.k))
    rows = max(1, min(2048, _PRODUCTS // (n_points * width(task.points))))
    for first, last in itertools.pairwise([*range(0, n, rows), n]):
        block = np.arange(first, last)
        neighbors[block], distances[block] = _nearest_of(task, block, search)
        progress.step(last, n)
    lacking = np.flatnonzero(np.isinf(distances[:, -1]))
    if len(lacking):
        search = _exact_search(task.points, task.metric)
        for block in np.array_split(lacking, -(-len(lacking) // rows)):
            neighbors[block], distances[block] = _nearest_of(task, block, search)
    return neighbors, distances


def _nearest_of(task: Task, block: np.ndarray, search: Callable):
    """The k nearest of the candidates of some of the others, and their distances, infinite where there are too few."""
    points, others, among_themselves, metric, k, n_candidates = task
    candidates = np.sort(search(others[block], n_candidates), axis=1)
    neighbors, distances = np.empty((len(block), k), np.int64), np.empty((len(block), k))

    def compare(first: int, last: int, _: int) -> None:
        proposed = candidates[first:last]
        values = distances_to(points, others[block[first:last]], proposed, metric)
        values[proposed < 0] = np.inf  # not found
        if among_themselves:
            values[proposed == block[first:last, None]] = np.inf
        order = np.argsort(values, axis=1, kind="stable")[:, :k]
        neighbors[first:last] = np.take_along_axis(proposed, order, axis=1)
        distances[first:last] = finished(np.take_along_axis(values, order, axis=1), metric)

    run_in_blocks(compare, row_blocks(len(block), max(1, _COMPARED // (n_candidates * width(points)))))
    return neighbors, distances


def _exact_search(points: Any, metric: str) -> Callable:
    """A function that finds exact neighbors, by scikit-learn."""
    try:
        from sklearn.neighbors import NearestNeighbors
    except ImportError:
        raise ImportError('exact neighbors need scikit-learn: pip install "graphclust[neighbors]"') from None
    if sparse.issparse(points):
        index = NearestNeighbors(metric="manhattan" if metric == "manhattan" else "euclidean", algorithm="brute")
        index.fit(points)
        return lambda queries, n: index.kneighbors(queries, n, return_distance=False)
    offset = points.mean(axis=0)  # so that the products of a distance do not cancel far from the origin
    index = NearestNeighbors(metric="manhattan" if metric == "manhattan" else "euclidean").fit(points - offset)
    return lambda queries, n: index.kneighbors(queries - offset, n, return_distance=False)


def _approximate_search(points: np.ndarray, n_probes: int, rng: np.random.Generator) -> Callable:
    """A function that finds approximate neighbors, by inverted lists of Faiss, of which some are searched."""
    try:
        import faiss
    except ImportError:
        raise ImportError('approximate neighbors need Faiss: pip install "graphclust[neighbors]"') from None
    offset = points.mean(axis=0)
    centered = points - offset
    exponent = -exponent_beyond(largest_size(centered), 1e-10, 1e15)  # within which float32 has squares
    centered = np.ldexp(centered, exponent).astype(np.float32)
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
    return lambda queries, n: index.search(np.ldexp(queries - offset, exponent).astype(np.float32), n)[1]
