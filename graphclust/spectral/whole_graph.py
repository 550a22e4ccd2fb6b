"""Spectral clustering of a whole graph, without a coreset: the baselines, exact and fast.

Instead of k-means, k orthonormal vectors with piecewise constant rows can be rotated into the indicators of k clusters.
Products of many rows are taken by NumPy's own sums, not by BLAS, whose last bits depend on its threads.
"""

import warnings
from typing import Any

import numpy as np
from scipy.linalg import qr, svd

from graphclust.checks import Seed, as_choice, as_seeded, as_whole_number
from graphclust.errors import ConvergenceWarning, GraphWarning, ParameterError, warn_caller
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.matrices import said_of_clusters
from graphclust.partition.components import labels_of_all_nodes
from graphclust.partition.options import graph_settings
from graphclust.points.k_means.lloyd import kmeans
from graphclust.points.k_means.lloyd_iteration import KMeansResult
from graphclust.profile.path_builder import choose_k
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.results.clustering import Clustering
from graphclust.results.from_labels import clustering_of, graph_to_cluster
from graphclust.spectral.embedding import spectral_embedding, walk_columns

ROUNDS = 30  # at most; from a dozen on labels of a planted graph no longer change
N_INIT = 3
# Planted blocks that are found have 0.8 to 1.8 eigenvectors a cluster left, k-NN graphs of moons, circles and digits 2
# to 10, small dense graphs of many classes, where the walk ends with one or two of them, 0.05 to 0.25.
LEFT_TIMES, LEFT_SHARE = 2.0, 4.0


def by_pivoted_qr(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels of the rows, shape (n, k): by the rotation that turns k rows far apart, found by a pivoted QR, into axes.

    Source: Damle, Minden & Ying 2019, Algorithm 1.

    >>> by_pivoted_qr(np.array([[1.0, 0.1], [1.0, 0.1], [0.1, -1.0]]), np.random.default_rng()).tolist()
    [0, 0, 1]
    """
    pivots = qr(vectors.T, mode="r", pivoting=True)[1][: vectors.shape[1]]
    return np.abs(_rotate(vectors, _nearest_rotation(vectors[pivots].T))).argmax(axis=1)


def by_discretizing(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels of unit rows, shape (n, k): labels and the rotation that fits them best are found in turn.

    Source: Yu & Shi 2003, "Multiclass spectral clustering", section 4.

    >>> by_discretizing(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), np.random.default_rng(0)).tolist()
    [1, 0, 0]
    """
    n, k = vectors.shape
    rows = [int(rng.integers(n))]
    likeness = np.zeros(n)
    while len(rows) < k:  # the next is the one least like all rows taken
        likeness += np.abs(np.einsum("ij,j->i", vectors, vectors[rows[-1]]))
        rows.append(int(likeness.argmin()))
    labels = _rotate(vectors, vectors[rows].T).argmax(axis=1)
    for _ in range(ROUNDS):
        sums = np.stack([np.bincount(labels, column, minlength=k) for column in vectors.T])
        before, labels = labels, _rotate(vectors, _nearest_rotation(sums)).argmax(axis=1)
        if np.array_equal(labels, before):
            break
    return labels


def _nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """The orthogonal matrix closest to this one, shape (k, k)."""
    left, _, right = svd(matrix)
    return left @ right


def _rotate(vectors: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    return np.einsum("ij,jk->ik", vectors, rotation)


ROUNDINGS = {"cluster_qr": by_pivoted_qr, "discretize": by_discretizing}


def spectral_clustering(
    G: GraphLike,
    k: int | None = None,
    *,
    n_components: int | None = None,
    assign_labels: str = "kmeans",
    n_init: int = 3,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Cluster a graph by k-means on its k top eigenvectors, with unit rows (Ng, Jordan & Weiss 2001).

    The exact method, for graphs of up to some ten thousand nodes and few clusters: the eigenvectors cost at least
    O(k x entries + k^2 n). Other arguments, result and errors as in `coreset_sc`.

    k : number of clusters; None takes what `cluster_path(G, components="all").suggest()` says, as no component is put
        aside here, and a remark says why.
    n_components : how many eigenvectors; None for k.
    assign_labels : "kmeans", the best of `n_init` runs; "discretize" turns the eigenvectors until they come closest to
        marks of clusters; "cluster_qr" does so once, from nodes far apart, and draws nothing. These two make as many
        clusters as there are eigenvectors.

    Raises ConvergenceError when the eigenvectors do not converge, see `spectral_embedding`; ParameterError (k,
    n_components, assign_labels, n_init), GraphValidationError (no graph to cluster), TypeError.

    Source: Ng, Jordan & Weiss, "On spectral clustering: analysis and an algorithm", NIPS 2001; Yu & Shi, "Multiclass
    spectral clustering", ICCV 2003; Damle, Minden & Ying, "Simple, direct and efficient multi-way spectral clustering",
    Information and Inference 2019.

    >>> import networkx as nx
    >>> spectral_clustering(nx.barbell_graph(4, 0), 2, rng=0).communities()
    [{0, 1, 2, 3}, {4, 5, 6, 7}]
    """
    (rng, seed), progress = as_seeded(rng), as_progress(progress)
    graph, k, remarks = _to_cluster(G, k, weight, symmetrize, progress)
    as_choice(assign_labels, "assign_labels", ("kmeans", *ROUNDINGS))
    n_init = as_whole_number(n_init, "n_init", at_least=1)
    if n_components is None:
        n_components = k
    n_components = as_whole_number(n_components, "n_components", at_least=1, at_most=graph.n_nodes)
    if assign_labels != "kmeans" and n_components > k:
        raise ParameterError(
            f"n_components={n_components} with assign_labels={assign_labels!r}, expected at most k={k}, a cluster each"
        )
    settings = {"n_components": n_components, "assign_labels": assign_labels}
    settings |= {"n_init": n_init} if assign_labels == "kmeans" else {}
    account = _account("spectral", weight, symmetrize, seed, **settings)
    rows = "degree" if assign_labels == "cluster_qr" else "unit"
    with progress.stage("embedding"):
        points = spectral_embedding(graph, n_components, rows=rows, rng=rng)
    if assign_labels == "kmeans":
        return _cluster(graph, k, points, n_init, remarks, rng, progress, account)
    linked = ~graph.isolated
    with progress.stage(assign_labels):
        own = ROUNDINGS[assign_labels](points[linked, : np.count_nonzero(linked)], rng)
    labels = labels_of_all_nodes(linked, own.astype(np.int64))
    return clustering_of(graph, k, labels, remarks, progress, **account)


def fast_spectral_clustering(
    G: GraphLike,
    k: int | None = None,
    *,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Cluster a graph by k-means on O(log k) random columns after O(log(n/k)) steps of the lazy walk.

    Source: Macgregor, "Fast and simple spectral clustering in theory and practice", NeurIPS 2023. Arguments, result and
    errors as in `coreset_sc`, k as in `spectral_clustering`; where the budget of a `Progress` runs out the walk ends
    early.

    Raises ParameterError (k), GraphValidationError (no graph to cluster), TypeError. Warns with GraphWarning, and a
    remark, when the walk turns out far too short or too long to tell k clusters apart.

    >>> import networkx as nx
    >>> fast_spectral_clustering(nx.barbell_graph(4, 0), 2, rng=0).sizes
    array([4, 4])
    """
    (rng, seed), progress = as_seeded(rng), as_progress(progress)
    graph, k, remarks = _to_cluster(G, k, weight, symmetrize, progress)
    with progress.stage("embedding"):
        points, n_left = walk_columns(graph, k, rng=rng, progress=progress)
    if not k / LEFT_SHARE <= n_left <= LEFT_TIMES * k and k > 1 and not progress.cut_short:
        remarks.append(
            f"the walk's columns mix about {n_left:.0f} eigenvectors where {k} would tell k={k} clusters apart: its "
            "length does not suit this graph, and the labels may be worth little; coreset_sc or spectral_clustering "
            "would help, or fast_spectral_embedding with other n_steps"
        )
        warn_caller(remarks[-1], GraphWarning)
    account = _account("fast spectral", weight, symmetrize, seed)
    return _cluster(graph, k, points, N_INIT, remarks, rng, progress, account)


def _to_cluster(
    G: GraphLike, k: int | None, weight: str | None, symmetrize: str | None, progress: Progress
) -> tuple[Graph, int, list[str]]:
    """The graph, the number of clusters, which the graph shows where it is not given, and what there is to remark."""
    graph = graph_to_cluster(G, 1 if k is None else k, weight, symmetrize, progress)
    remarks = [*said_of_clusters(graph.remarks, False)]
    if k is None:
        k, said = choose_k(graph, "modularity", "all", progress)
        remarks.append(said)
    return graph, int(k), remarks


def _account(
    method: str, weight: str | None, symmetrize: str | None, seed: int | str, **settings: Any
) -> dict[str, Any]:
    return {"parameters": {"method": method, **settings, **graph_settings(weight, symmetrize, None)}, "seed": seed}


def _cluster(
    graph: Graph, k: int, points: np.ndarray, n_init: int, remarks: list[str], rng, progress: Progress,
    account: dict[str, Any],
) -> Clustering:  # fmt: skip
    """k-means on the rows of the nodes that have edges."""
    linked = ~graph.isolated

    def result_of(result: KMeansResult, *more: str) -> Clustering:
        labels = labels_of_all_nodes(linked, result.labels)
        return clustering_of(graph, k, labels, [*remarks, *more], progress, **account)

    interrupted = "interrupted: these are the best labels so far"
    with (
        progress.interruptible(lambda result: result_of(result, interrupted)),
        progress.stage("k-means"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)  # said once, of the graph, at the end
        result = kmeans(
            points[linked], min(k, int(np.count_nonzero(linked))), sample_weight=graph.degrees[linked],
            init="greedy k-means++", n_init=n_init, rng=rng, progress=progress,
        )  # fmt: skip
    return result_of(result)
