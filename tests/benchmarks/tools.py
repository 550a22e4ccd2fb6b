"""The tools that are compared, each called as tool.run(matrix, k, seed), and what is measured of them.

Leiden, Louvain, METIS, scikit-learn and coreset-sc are imported where they are called. What converts the matrix into a
tool's own form is not held against its time; our gate is held against ours.
"""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from graphclust import adjusted_rand_index, coreset_sc, normalized_cut, normalized_mutual_information

MOST_BISECTIONS = 20  # runs of Leiden that somebody in want of k parts has patience for
LARGEST_WEIGHT_SUM = 1e9  # METIS adds whole numbers of 32 bits


def timed(
    function: Callable, *given: Any, clock: Callable[[], float] = time.perf_counter, **options: Any
) -> tuple[float, Any]:
    """The seconds that a call takes, and what it returns."""
    start = clock()
    result = function(*given, **options)
    return clock() - start, result


class Tool(NamedTuple):
    """What the tables call it, and from (matrix, k, seed) the call that is timed, which returns labels."""

    name: str
    prepare: Callable[[sparse.csr_matrix, int, int], Callable[[], Any]]

    def run(self, matrix: sparse.csr_matrix, k: int, seed: int) -> tuple[np.ndarray, float]:
        """Labels and seconds."""
        seconds, labels = timed(self.prepare(matrix, k, seed))
        return np.asarray(labels), seconds


def ours(name: str = "graphclust", **options) -> Tool:
    """coreset_sc with some options."""
    return Tool(name, lambda matrix, k, seed: lambda: coreset_sc(matrix, k, rng=seed, **options).labels)


def as_igraph(matrix):
    """igraph's form of the graph, and its weights; None where all are 1, as modularity is quicker then."""
    import igraph

    upper = sparse.triu(matrix, 1).tocoo()
    weights = None if (upper.data == 1).all() else upper.data.tolist()
    return igraph.Graph(n=matrix.shape[0], edges=np.c_[upper.row, upper.col]), weights


def leiden(n_iterations: int = 2) -> Tool:
    """igraph's, by modularity at resolution 1; -1 iterations are until nothing changes."""

    def prepare(matrix, k, seed):
        graph, weights = as_igraph(matrix)
        random.seed(seed)
        options = {"objective_function": "modularity", "weights": weights, "n_iterations": n_iterations}
        return lambda: graph.community_leiden(**options).membership

    return Tool("Leiden", prepare)


def _leiden_at_k(matrix, k, seed):
    """The resolution bisected on a logarithmic scale until k parts come out; all runs count, the closest is kept."""
    graph, weights = as_igraph(matrix)
    random.seed(seed)

    def bisect():
        low, high = 1e-3, 1e3
        closest = None
        for _ in range(MOST_BISECTIONS):
            resolution = (low * high) ** 0.5
            found = graph.community_leiden(
                objective_function="modularity", weights=weights, resolution=resolution, n_iterations=2
            )
            n_found = len(found)
            if closest is None or abs(n_found - k) < abs(len(closest) - k):
                closest = found
            if n_found == k:
                break
            low, high = (resolution, high) if n_found < k else (low, resolution)
        return closest.membership

    return bisect


def _louvain(matrix, k, seed):
    from sknetwork.clustering import Louvain

    return lambda: Louvain(random_state=seed).fit_predict(matrix)


def _metis(matrix, k, seed):
    import pymetis

    weights = None
    if not (matrix.data == 1).all():
        scale = min(1000.0, LARGEST_WEIGHT_SUM / matrix.data.sum())
        weights = np.maximum(1, np.rint(matrix.data * scale)).astype(int)
    rows = pymetis.CSRAdjacency(adj_starts=matrix.indptr, adjacent=matrix.indices)
    return lambda: pymetis.part_graph(k, adjacency=rows, eweights=weights, options=pymetis.Options(seed=seed))[1]


def sklearn_spectral(eigen_solver: str | None = None) -> Tool:
    """SpectralClustering; its own default solver is arpack."""

    def prepare(matrix, k, seed):
        from sklearn.cluster import SpectralClustering

        model = SpectralClustering(k, affinity="precomputed", eigen_solver=eigen_solver, random_state=seed)
        return lambda: model.fit_predict(matrix)

    return Tool("scikit-learn" if eigen_solver is None else f"scikit-learn, {eigen_solver}", prepare)


def _coreset_sc_rust(matrix, k, seed):
    from coreset_sc import CoresetSpectralClustering

    looped = sparse.csr_matrix(matrix + sparse.eye_array(matrix.shape[0], format="csr"))
    model = CoresetSpectralClustering(k, coreset_ratio=0.01, ignore_warnings=True)
    return lambda: model.fit(looped).labels_.astype(np.int64)


DEFAULT = ours()
SMALLEST_CUT = ours("graphclust, normalized_cut", objective="normalized_cut")
LEIDEN = leiden()
LEIDEN_AT_K = Tool("Leiden at k", _leiden_at_k)
LOUVAIN = Tool("Louvain", _louvain)
METIS = Tool("METIS", _metis)
CORESET_SC = Tool("coreset-sc", _coreset_sc_rust)


class Measured(NamedTuple):
    """Medians over the seeds; `cut` is the mean over the parts found, agreement is NaN where no class is known.

    spread, ari_spread : of the cut, in per cent of its median, and of the ARI; see `spread_over_seeds`.
    """

    seconds: float
    cut: float
    ari: float
    nmi: float
    parts: float
    spread: float
    ari_spread: float


def spread_over_seeds(values: Sequence[float]) -> float:
    """Half the range of a value over the seeds: how far it may be off the middle by chance; NaN for a single one."""
    return float(np.ptp(values)) / 2.0 if len(values) > 1 else np.nan


def percent(part: float, of: float) -> str:
    """A share in per cent as a cell, blank where there is none."""
    return "" if np.isnan(part) or of == 0.0 else f"{100.0 * part / abs(of):.2f}"


def measure(tool: Tool, matrix, k: int, truth: np.ndarray, repeats: int) -> Measured:
    """Medians over the seeds 0, 1, ...; nodes whose class is unknown (-1) do not count in the agreement."""
    known = truth >= 0
    runs = []
    for seed in range(repeats):
        labels, seconds = tool.run(matrix, k, seed)
        parts = len(np.unique(labels))
        agreement = (np.nan, np.nan)
        if known.any():
            pair = labels[known], truth[known]
            agreement = adjusted_rand_index(*pair), normalized_mutual_information(*pair)
        runs.append((seconds, normalized_cut(matrix, labels) / parts, *agreement, parts))
    middle = Measured(*np.median(runs, axis=0), np.nan, np.nan)
    _, cuts, aris, *_ = zip(*runs, strict=True)
    return middle._replace(spread=spread_over_seeds(cuts), ari_spread=spread_over_seeds(aris))


HEADER = ["graph", "k", "tool", "seconds", "times ours", "NCut/k", "ARI", "spread of NCut, %"]


def compare(
    name: str, matrix, k: int, truth: np.ndarray, tools: Sequence[Tool], repeats: int, once: Sequence[Tool] = ()
) -> list[list[str]]:
    """A row of HEADER for each tool, times as multiples of the first one's; the tools in `once` run once.

    The spread is half the range of the cut over the seeds.
    Where a tool found another number of parts than k its cut is not comparable and stands in brackets.
    """
    rows: list[list[str]] = []
    first: Measured | None = None
    for tool in tools:
        found = measure(tool, matrix, k, truth, 1 if tool in once else repeats)
        first = first or found
        cut = f"{found.cut:.4f}" if found.parts == k else f"({found.cut:.4f}, {found.parts:.0f} parts)"
        ari = "" if np.isnan(found.ari) else f"{found.ari:.4f}"
        times, spread = f"{found.seconds / first.seconds:.1f}", percent(found.spread, found.cut)
        rows.append([name, str(k), tool.name, f"{found.seconds:.3f}", times, cut, ari, spread])
        print(*rows[-1], flush=True)
    return rows
