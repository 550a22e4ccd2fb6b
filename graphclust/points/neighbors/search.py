"""The nearest neighbors of each point: exact by scikit-learn, approximate by Faiss.

A library only proposes candidates, six more than are asked for; their distances are then computed again in float64, by
one formula, and of candidates at the same distance the lower index comes first. So neighbors do not hang on the last
bits of a matrix product. Which of more points at the last distance are candidates at all, as among many copies of one
point, is the library's choice. The approximate search is the inverted file of Jégou, Douze and Schmid 2011: points are
sorted into lists by their nearest of some 2 sqrt(n) centroids, and a point is compared with those of the few nearest
lists.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm
from scipy.spatial.distance import cdist

from graphclust.checks import Seed, as_array, as_choice, as_generator, as_whole_number, import_extra
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.float_scaling import balance_rows, exponent_beyond, largest_size, times_power_of_two
from graphclust.graph.matrices import as_canonical_csr
from graphclust.progress import Progress, ProgressLike, as_progress

METRICS = ("euclidean", "cosine", "manhattan", "precomputed")
SYNONYMS = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}  # as scikit-learn has them
METHODS = ("exact", "approximate", "auto")
MUCH_WORK = 1 << 36  # multiplications above which "auto" is approximate
SPARE = 6  # candidates beside those asked for
_PRODUCTS = 1 << 36  # multiplications between two looks at the clock, a second or two
_COMPARED = 1 << 17  # entries of candidates' vectors that a thread compares at a time: they stay in its cache
_POINTS_PER_LIST = 50  # that the lists' centroids are trained on
_SHARE = 1e-6  # of a squared distance: an error below that changes no neighbor worth the name
_ONE_DIRECTION = 1e-30  # what rounding leaves of the squared distance between unit vectors of one direction
_ENTRIES = 1 << 24  # of given distances that are sorted at a time
_DISTANCES = 1 << 22  # from some queries to all points, that are held at a time


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
    metric = SYNONYMS.get(as_choice(metric, "metric", (*METRICS, *SYNONYMS)), metric)
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
    can_approximate = metric in ("euclidean", "cosine") and not sparse.issparse(points)
    if method == "auto":
        is_much = points.shape[0] * others.shape[0] * width(points) > MUCH_WORK
        is_apt = is_much and can_approximate and find_spec("faiss") is not None
        method = "approximate" if is_apt else "exact"
    if method == "approximate" and not can_approximate:
        kind = "sparse" if sparse.issparse(points) else "dense"
        raise ParameterError(
            f'method="approximate" is for dense points by metric="euclidean" or "cosine", not for {kind} ones by '
            f'{metric!r}; expected method="exact", or points of fewer dimensions, as TruncatedSVD makes them'
        )
    if metric == "precomputed":
        with progress.stage("nearest neighbors"):
            return _nearest_by_distances(others, k, "X" if among_themselves else "queries", among_themselves)
    if sparse.issparse(points) != sparse.issparse(others):
        raise TypeError("X and queries are dense and sparse, expected both dense or both SciPy sparse")
    points, others, exponent = prepare(points, others, metric)
    n_candidates = min(n, k + 1 + SPARE)
    with progress.stage("index of the points"):
        if method == "exact":
            search, others_to_try = _exact_search(points, metric), [_search_by_differences]
        else:
            search = _approximate_search(points, n_probes, rng)
            others_to_try = [_exact_search, _search_by_differences]
    with progress.stage("nearest neighbors"):
        task = Task(points, others, among_themselves, metric, k, n_candidates)
        neighbors, distances = _refine(task, search, others_to_try, progress)
    if exponent != 0:
        with np.errstate(over="ignore"):
            distances = np.ldexp(distances, exponent)
        if not np.isfinite(distances).all():
            raise GraphValidationError("X holds points whose distances are not finite; divide X by a power of ten")
    return neighbors, distances


class Task(NamedTuple):
    """Which neighbors are wanted: the k nearest points of each of the others, by a metric, among n_candidates."""

    points: Any
    others: Any
    among_themselves: bool
    metric: str
    k: int
    n_candidates: int


class Search(NamedTuple):
    """How candidates are found.

    propose : the n nearest points of each query, or -1 for one that was not found, shape (m, n).
    errors : how far off the squared distances may be by which it orders the points near each query, shape (m,); None
        where it takes differences of vectors, which lose nothing.
    """

    propose: Callable[[Any, int], np.ndarray]
    errors: Callable[[Any], np.ndarray] | None = None


def prepare(points: Any, others: Any, metric: str) -> tuple[Any, Any, int]:
    """Points and others scaled for the distances, and the exponent of two to scale the distances back."""
    if metric != "cosine":  # over 2^e, for which squares and their sums neither vanish nor overflow; e is mostly 0
        exponent = exponent_beyond(max(largest_size(points), largest_size(others)), 1e-100, 1e100)
        if exponent == 0:
            return points, others, 0
        scaled = times_power_of_two(points, -exponent)
        return scaled, scaled if others is points else times_power_of_two(others, -exponent), exponent
    if others is points:
        units = of_unit_length(points)
        return units, units, 0
    stack = sparse.vstack if sparse.issparse(points) else np.vstack
    units = of_unit_length(stack([points, others]))
    units = units.tocsr() if sparse.issparse(units) else units
    return units[: points.shape[0]], units[points.shape[0] :], 0


def _refine(task: Task, search: Search, others_to_try: list[Callable[..., Search]], progress: Progress):
    """The k nearest of each, block by block; points that a search leaves open take the next one."""
    n, n_points = task.others.shape[0], task.points.shape[0]
    neighbors, distances = np.empty((n, task.k), np.int64), np.empty((n, task.k))
    rows = max(1, min(2048, _PRODUCTS // (n_points * width(task.points))))
    left = np.arange(n)
    while True:
        is_open = np.zeros(len(left), bool)
        for first in range(0, len(left), rows):
            block = left[first : first + rows]
            nearest = _nearest_of(task, block, search)
            neighbors[block], distances[block], is_open[first : first + rows] = nearest
            progress.step(n - len(left) + first + len(block), n)
        left = left[is_open]
        if len(left) == 0:
            return neighbors, distances
        search, others_to_try = others_to_try[0](task.points, task.metric), others_to_try[1:]


def _nearest_of(task: Task, block: np.ndarray, search: Search):
    """The k nearest of the candidates of some of the others, their distances, and whether others may be nearer.

    Distances are infinite where there are too few candidates.
    """
    points, others, among_themselves, metric, k, n_candidates = task
    candidates = np.sort(search.propose(others[block], n_candidates), axis=1)
    neighbors, distances = np.empty((len(block), k), np.int64), np.empty((len(block), k))
    farthest = np.empty(len(block))

    def compare(first: int, last: int, _: int) -> None:
        proposed = candidates[first:last]
        values = distances_to(points, others[block[first:last]], proposed, metric)
        values[proposed < 0] = np.inf  # not found
        farthest[first:last] = values.max(axis=1)
        if among_themselves:
            values[proposed == block[first:last, None]] = np.inf
        order = np.argsort(values, axis=1, kind="stable")[:, :k]
        neighbors[first:last] = np.take_along_axis(proposed, order, axis=1)
        distances[first:last] = np.take_along_axis(values, order, axis=1)

    run_in_blocks(compare, row_blocks(len(block), max(1, _COMPARED // (n_candidates * width(points)))))
    last = distances[:, -1]
    is_open = np.isinf(last)
    if search.errors is not None and n_candidates < points.shape[0]:
        errors = search.errors(others[block])
        least = _ONE_DIRECTION if metric == "cosine" else 0.0
        is_open |= (errors > _SHARE * last) & (farthest - last <= 2.0 * errors) & (last > least)
    if metric == "cosine":  # of unit vectors 1 - u.v = |u - v|^2 / 2
        distances /= 2.0
    elif metric == "euclidean":
        np.sqrt(distances, out=distances)
    return neighbors, distances, is_open


def _exact_search(points: Any, metric: str) -> Search:
    """Exact neighbors by scikit-learn: exact but for rounding where it takes |x|^2 + |y|^2 - 2 x.y as distances."""
    sklearn = import_extra("sklearn.neighbors", "exact neighbors need scikit-learn", "graphclust[neighbors]")
    name = "manhattan" if metric == "manhattan" else "euclidean"
    is_sparse = sparse.issparse(points)
    # Dense points are centered, so that the products of a distance do not cancel far from the origin.
    offset = None if is_sparse else points.mean(axis=0)

    def center(vectors: Any) -> Any:
        return vectors if is_sparse else vectors - offset

    def propose(queries: Any, n: int) -> np.ndarray:
        return index.kneighbors(center(queries), n, return_distance=False)

    def errors(queries: Any) -> np.ndarray:
        """What the products of a query with points as long as itself may lose of squared distances."""
        squares = queries.multiply(queries) if is_sparse else (queries - offset) ** 2
        n_terms = int(np.diff(points.indptr).max()) if is_sparse else points.shape[1]
        part = 8.0 * (n_terms + 8) * float(np.finfo(np.float64).eps)
        return part * np.asarray(squares.sum(axis=1)).ravel()

    index = sklearn.NearestNeighbors(metric=name, algorithm="brute" if is_sparse else "auto").fit(center(points))
    takes_products = metric != "manhattan" and index._fit_method == "brute"  # trees take differences
    return Search(propose, errors if takes_products else None)


def _search_by_differences(points: Any, metric: str) -> Search:
    """Neighbors by |x - y|^2, of all points: slow, and exact however far from each other and the origin they are."""

    def propose(queries: Any, n: int) -> np.ndarray:
        """The n nearest of each query, some queries at a time."""
        nearest = np.empty((queries.shape[0], n), np.int64)
        n_points = points.shape[0]
        rows = 1 if sparse.issparse(points) else max(1, _DISTANCES // n_points)
        for first in range(0, len(nearest), rows):
            some = queries[first : first + rows]
            if sparse.issparse(points):
                values = distances_to(points, some, np.arange(n_points)[None], metric)
            else:
                values = cdist(some, points, "cityblock" if metric == "manhattan" else "sqeuclidean")
            nearest[first : first + rows] = np.argpartition(values, n - 1, axis=1)[:, :n]
        return nearest

    return Search(propose)


def _approximate_search(points: np.ndarray, n_probes: int, rng: np.random.Generator) -> Search:
    """Approximate neighbors by inverted lists of Faiss, of which some are searched."""
    faiss = import_extra("faiss", "approximate neighbors need Faiss", "graphclust[neighbors]")
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
    return Search(lambda queries, n: index.search(np.ldexp(queries - offset, exponent).astype(np.float32), n)[1])


def as_points(X: Any, name: str = "X", at_least: int = 2) -> Any:
    """Finite points (n, d), d >= 1, as a C-ordered float64 array, or as CSR with summed duplicates."""
    given_as_matrix = sparse.issparse(X)
    points = X if given_as_matrix else as_array(X, name)
    if points.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {points.dtype}, expected numbers")
    if points.ndim != 2 or points.shape[0] < at_least or points.shape[1] < 1:
        raise GraphValidationError(
            f"{name} has shape {points.shape}, expected (n, d) with n >= {at_least} points and d >= 1"
        )
    if given_as_matrix:
        points = as_canonical_csr(points, name)
        values = points.data
    else:
        points = values = np.ascontiguousarray(points, dtype=np.float64)
    if not np.isfinite(values).all():
        where = f"a stored entry of {name}"
        if not given_as_matrix:
            where = "{}[{}, {}]".format(name, *np.argwhere(~np.isfinite(points))[0])
        raise GraphValidationError(f"{where} is {values[~np.isfinite(values)][0]}, expected finite numbers")
    return points


def of_unit_length(points: Any) -> Any:
    """The points' directions; points of length 0 together get one of their own, at right angles to all."""
    points, _ = balance_rows(points, 1e-100, 1e100)
    lengths = sparse_norm(points, axis=1) if sparse.issparse(points) else np.linalg.norm(points, axis=1)
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    units = sparse.csr_array(sparse.diags_array(scale) @ points) if sparse.issparse(points) else points * scale[:, None]
    without = (lengths == 0.0).astype(np.float64)[:, None]
    if not without.any():
        return units
    if sparse.issparse(units):
        return sparse.hstack([units, sparse.csr_array(without)], format="csr")
    return np.hstack([units, without])


def width(points: Any) -> int:
    """Numbers that stand for a point, on average in a sparse matrix."""
    return max(1, points.nnz // points.shape[0]) if sparse.issparse(points) else points.shape[1]


def distances_to(points: Any, queries: Any, candidates: np.ndarray, metric: str) -> np.ndarray:
    """Distances of queries (m, d) to their candidates among the points, by number (m, c).

    Of "euclidean" and "cosine" they are still unfinished.
    """
    if sparse.issparse(points):
        apart = points[candidates.ravel()] - queries[np.repeat(np.arange(len(candidates)), candidates.shape[1])]
        sums = abs(apart).sum(axis=1) if metric == "manhattan" else apart.multiply(apart).sum(axis=1)
        return np.asarray(sums).reshape(candidates.shape)
    difference = points[candidates]
    difference -= queries[:, None]
    if metric == "manhattan":
        return np.abs(difference, out=difference).sum(axis=2)
    return np.einsum("ijk,ijk->ij", difference, difference)


def _nearest_by_distances(distances: Any, k: int, name: str, among_themselves: bool) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of each point by its row, ties to the lower index; in a sparse matrix what is missing is far.

    among_themselves : whether column i is the point of row i, which is none of its own neighbors.
    """
    if among_themselves and distances.shape[0] != distances.shape[1]:
        raise GraphValidationError(f"{name} has shape {distances.shape}, expected a square matrix of distances")
    values = distances.data if sparse.issparse(distances) else distances
    if values.size and values.min() < 0.0:
        raise GraphValidationError(f"{name} holds the distance {values.min()}, expected distances >= 0")
    n = distances.shape[0]
    if sparse.issparse(distances):
        rows = np.repeat(np.arange(n), np.diff(distances.indptr))
        others = rows != distances.indices if among_themselves else np.ones(len(rows), bool)
        rows, columns, values = rows[others], distances.indices[others], values[others]
        counts = np.bincount(rows, minlength=n)
        if counts.min() < k:
            raise GraphValidationError(
                f"{name} holds {counts.min()} distances of point {counts.argmin()} to others, expected at least "
                f"n_neighbors={k}"
            )
        order = np.lexsort((columns, values, rows))
        chosen = order[(np.cumsum(counts) - counts)[:, None] + np.arange(k)]
        return columns[chosen].astype(np.int64), values[chosen]
    neighbors, nearest = np.empty((n, k), np.int64), np.empty((n, k))
    height = max(1, _ENTRIES // distances.shape[1])
    for first in range(0, n, height):
        block = distances[first : first + height].copy()
        if among_themselves:
            block[np.arange(len(block)), np.arange(first, first + len(block))] = np.inf
        order = np.argsort(block, axis=1, kind="stable")[:, :k]
        neighbors[first : first + height] = order
        nearest[first : first + height] = np.take_along_axis(block, order, axis=1)
    return neighbors, nearest
