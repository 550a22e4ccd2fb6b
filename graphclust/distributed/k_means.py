"""Lloyd's k-means and k-means|| over the chunks of a Dask array."""

from itertools import chain
from typing import Any

import numpy as np

from graphclust.checks import Seed, as_choice, as_generator, as_number, as_whole_number
from graphclust.distributed.engine import DaskEngine, check_client, import_extra
from graphclust.errors import GraphValidationError
from graphclust.graph.executor import ByBlock, Engine, sum_in_order
from graphclust.points.k_means.lloyd_iteration import BlockSums, KMeansResult, block_sums, nearest_centroids
from graphclust.points.k_means.points import as_cluster_count, as_points, check_not_vanishing
from graphclust.points.k_means.seeding import (
    N_ROUNDS,
    OVERSAMPLING,
    Part,
    candidates_by_blocks,
    centroids_of_candidates,
    warn_if_fewer,
)
from graphclust.points.k_means.steps import nearest_and_sq_distances
from graphclust.progress import Progress, ProgressLike, as_progress

INIT = "k-means||"


def kmeans(
    X: Any,
    k: int,
    *,
    client: Any,
    init: Any = INIT,
    max_iter: int = 300,
    patience: float = 60.0,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> KMeansResult:
    """Cluster the rows of a Dask array into k parts of low inertia: k-means|| and Lloyd's iteration, chunk by chunk.

    X : dask.array of float32 or float64, shape (n, d), of known chunk sizes; chunks may be empty, or SciPy's sparse.
    client : an open `dask.distributed.Client`; none is ever started here.
    init : "k-means||" or centroids, shape (k, d).
    max_iter : updates of the centroids at most; they end when none changes any more.
    patience : as in `coreset_sc`. The rest is as in `kmeans`.

    The same chunks and `rng` give the same result on any number of workers, for what the chunks add up to is added in
    their order. A cluster that loses all its points is moved to the point that is farthest from its centroid. Fewer
    than k distinct points: a ConvergenceWarning, and fewer clusters.

    Raises ImportError without the extra "dask", TypeError for what is no Dask array, GraphValidationError for data and
    centroids that cannot be used, ParameterError, and what `coreset_sc` raises where the cluster fails.

    Source: Lloyd 1982; Bahmani et al. 2012, "Scalable k-means++", Algorithm 2.
    """
    import_extra("distributed")
    check_client(client)
    if isinstance(init, str):
        as_choice(init, "init", (INIT,))
    max_iter = as_whole_number(max_iter, "max_iter", at_least=1)
    rng, progress = as_generator(rng), as_progress(progress)
    engine, parts = _parts(X, client, as_number(patience, "patience", above=0.0))
    k = as_cluster_count(k, int(engine.boundaries[-1]))
    sizes = engine.fetch(engine.each(size_and_dtype, parts))
    check_not_vanishing(max(largest for largest, _ in sizes), sizes[0][1])
    if isinstance(init, str):
        with progress.stage("seeding"):
            key = int(rng.integers(2**63))
            drawn = candidates_by_blocks(engine, parts, k, OVERSAMPLING, N_ROUNDS, key, progress)
            centroids = centroids_of_candidates(*drawn, k, rng)
        warn_if_fewer(len(centroids), k)
    else:
        given = as_points(init, "init")
        centroids = given.rows(np.arange(given.n))
        if centroids.shape != (k, X.shape[1]):
            raise GraphValidationError(f"init has shape {centroids.shape}, expected {(k, X.shape[1])}: k centroids")
    with progress.stage("k-means"):
        return _lloyd(engine, parts, centroids.astype(np.result_type(X.dtype, np.float32)), max_iter, progress)


def _parts(X: Any, client: Any, patience: float) -> tuple[DaskEngine, ByBlock]:
    """An engine whose blocks are the chunks that have rows, and the points of each."""
    if not type(X).__module__.startswith("dask.array"):
        raise TypeError(
            f"X is a {type(X).__name__}, expected a dask.array; for data in memory there is graphclust.kmeans"
        )
    if X.ndim != 2 or 0 in X.shape:
        raise GraphValidationError(f"X has shape {X.shape}, expected (n_points, n_features), both >= 1")
    if np.isnan(X.shape).any():
        raise GraphValidationError("X has chunks of unknown size; call X.compute_chunk_sizes() first")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    sizes = np.array(X.chunks[0])
    chunks = client.compute([chunk for chunk, size in zip(X.to_delayed().ravel(), sizes, strict=True) if size > 0])
    sizes = sizes[sizes > 0]
    engine = DaskEngine(client, None, np.concatenate([[0], np.cumsum(sizes)]), len(sizes), patience)
    return engine, engine.each(part_of, ByBlock([[chunk] for chunk in chunks]))


def _lloyd(engine: Engine, parts: ByBlock, centroids: np.ndarray, max_iter: int, progress: Progress) -> KMeansResult:
    """Lloyd's iterations, with sums made by the workers; an empty cluster takes the farthest point."""
    history: list[float] = []
    n = int(engine.boundaries[-1])
    while True:
        of_blocks = engine.fetch(engine.each(sums_in_block, parts, engine.once(same_centroids, centroids)))
        sums = BlockSums(*(sum_in_order(list(column)) for column in zip(*of_blocks, strict=True)))
        if len(history) == max_iter:
            break
        empty = np.flatnonzero(sums.masses == 0)
        means = sums.sums / np.where(sums.masses > 0, sums.masses, 1.0)[:, None]
        if len(empty):
            of_blocks = engine.fetch(engine.each(farthest_points, parts, centroids, len(empty)))
            farthest = sorted(chain.from_iterable(of_blocks), key=lambda point: (-point[0], point[1]))
            for j, (_, _, point) in zip(empty, farthest, strict=False):
                means[j] = point
        renewed = means.astype(centroids.dtype)
        if np.array_equal(renewed, centroids):
            break
        history.append(sums.inertia / n)
        progress.step(len(history), max_iter)
        centroids = renewed
    labels = np.concatenate(engine.fetch(engine.each(labels_of, parts, centroids)))
    converged = len(history) < max_iter
    return KMeansResult(centroids, labels, sums.inertia, len(history), np.array(history), converged=converged)


def same_centroids(source: Any, centroids: np.ndarray) -> np.ndarray:
    """The centroids, sent once; workers have them from each other."""
    return centroids


def size_and_dtype(source: Any, first: int, last: int, part: Part) -> tuple[float, np.dtype[Any]]:
    """The largest absolute value in a block, and the type of its numbers."""
    return part.points.largest, part.points.dtype


def part_of(source: Any, first: int, last: int, chunk: Any) -> Part:
    """The points of a chunk, checked, all of weight 1."""
    points = as_points(chunk)
    if points.n != last - first:
        raise GraphValidationError(
            f"X has a chunk of {points.n} rows where its chunk sizes say {last - first}; of blocks that have changed "
            "their length, name the new chunks= in map_blocks"
        )
    return Part(points, np.ones(last - first))


def sums_in_block(source: Any, first: int, last: int, part: Part, centroids: np.ndarray) -> BlockSums:
    """What a block adds to each cluster, see `block_sums`."""
    return block_sums(part.points, centroids)


def labels_of(source: Any, first: int, last: int, part: Part, centroids: np.ndarray) -> np.ndarray:
    """The nearest centroid of each point of a block."""
    return nearest_centroids(part.points, centroids)


def farthest_points(
    source: Any, first: int, last: int, part: Part, centroids: np.ndarray, n: int
) -> list[tuple[float, int, np.ndarray]]:
    """Squared distance to the nearest centroid, row and features of the n points of a block that are farthest."""
    _, sq_distances = nearest_and_sq_distances(part.points, centroids)
    rows = np.argsort(-sq_distances, kind="stable")[:n]
    points = part.points.rows(rows)
    return [(float(sq_distances[row]), first + int(row), point) for row, point in zip(rows, points, strict=True)]
