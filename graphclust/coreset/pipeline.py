"""coreset_sc: a graph and k in, a clustering out; one line a stage.

Coreset spectral clustering (Jourdan, Schwartzman, Macgregor & Sun, ICLR 2025, Algorithm 3): weighted kernel k-means with
K = D^-1 A D^-1, W = D has the normalised cut as its objective, so a coreset for the one is clustered as a small graph for
the other, and its centroids label every node.
"""

import warnings
from math import ceil
from typing import Any

import numpy as np

from graphclust.checks import as_choice, as_generator, as_whole_number
from graphclust.clustering import Clustering, CoresetClustering, numbered_by_size
from graphclust.coreset.induced_graph import coreset_graph
from graphclust.coreset.label_extension import extend_labels
from graphclust.coreset.sampling import Coreset, construct_coreset
from graphclust.errors import ConvergenceWarning, ParameterError
from graphclust.graph import GraphLike, as_graph
from graphclust.graph_kernel import NormalizedCutKernel
from graphclust.k_means.lloyd import kmeans
from graphclust.progress import as_progress
from graphclust.spectral.embedding import fast_spectral_embedding, spectral_embedding

__all__ = ["cluster_coreset", "coreset_sc"]

METHODS = ("paper",)
EMBEDDINGS = ("auto", "eigsh", "power")
FEW_CLUSTERS = 64  # up to here exact eigenvectors are cheap


def coreset_sc(
    G: GraphLike,
    k: int,
    *,
    coreset_size: int | None = None,
    oversampling: float = 2.0,
    loops: str = "implied",
    shift: float = 0.0,
    sampling: str = "tree",
    second_term: str = "seed_weight",
    rounds: int = 1,
    embedding: str = "auto",
    degrees: str = "row_sums",
    method: str = "paper",
    weight: str | None = "weight",
    symmetrize: str | None = None,
    rng: Any = None,
    progress: Any = None,
) -> Clustering:
    """Cluster a graph into k parts of small normalised cut by clustering a coreset of its nodes.

    G : networkx.Graph, SciPy sparse matrix or array, square ndarray, path of a graph file, or Graph; undirected, weights
        >= 0. See `as_graph` for `weight`, `symmetrize` and what is assumed or repaired.
    k : number of clusters, 1 <= k <= number of nodes.
    coreset_size : draws of the importance sample, k <= coreset_size; by default a twentieth of the nodes, and at least
        1,000 and 20 k. From the number of nodes on, the coreset is the whole graph.
    oversampling : seeds of D²-sampling, as a multiple of k.
    loops, shift : the diagonal of the kernel, see `NormalizedCutKernel`; implied loops never count in the quality.
    sampling : "tree" or "naive" D²-sampling, see `d2_seeding`.
    second_term, rounds : of the importance sampling, see `sampling_probabilities` and `construct_coreset`.
    embedding : of the coreset graph, "eigsh" (exact) or "power" (fast); "auto" takes eigsh up to 64 clusters.
    degrees : of the coreset graph, its "row_sums", or the coreset "weights" that equal them in expectation.
    method : "paper", the published algorithm.
    rng : None, a seed or a numpy Generator; the same seed gives the same labels for any number of threads.
    progress : a function `progress(stage, done, total)`; an exception it raises stops the work.

    Returns a `Clustering`; isolated nodes are labelled -1. After the gate only rows of sampled nodes are read.

    Raises ParameterError (k, coreset_size ... out of range), TypeError (of the wrong type), GraphValidationError (no
    graph to cluster), ConvergenceError. Warns with ConvergenceWarning when fewer than k clusters come out.

    Source: Jourdan et al. 2025, Algorithm 3. Its Theorem 1 bounds the kernel k-means cost, for a positive semi-definite
    K; cost = NCut + trace(D^-1 A) - k + shift (n - k), so with a shift it says little about the normalised cut.

    >>> import networkx as nx
    >>> clustering = coreset_sc(nx.barbell_graph(5, 0), 2, rng=0)
    >>> clustering.communities()
    [{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}]
    >>> round(clustering.normalized_cut, 3)
    0.095
    """
    rng, progress = as_generator(rng), as_progress(progress)
    as_choice(method, "method", METHODS)
    k = as_whole_number(k, "k", at_least=1)
    if coreset_size is not None:
        coreset_size = as_whole_number(coreset_size, "coreset_size", at_least=k, why=", k")

    with progress.stage("gate"):
        graph = as_graph(G, weight=weight, symmetrize=symmetrize)
        if k > graph.n_nodes:
            raise ParameterError(
                f"k={k} is more than the {graph.n_nodes} nodes of G, expected 1 <= k <= {graph.n_nodes}"
            )
        kernel = NormalizedCutKernel.of(graph, loops, shift)
    size = default_coreset_size(graph.n_nodes, k) if coreset_size is None else coreset_size

    coreset = construct_coreset(
        kernel, k, size, oversampling=oversampling, sampling=sampling, second_term=second_term, rounds=rounds,
        rng=rng, progress=progress,
    )  # fmt: skip
    with progress.stage("coreset graph"):
        induced = coreset_graph(kernel, coreset)
    coreset_labels = cluster_coreset(
        induced, k, coreset.weights, embedding=embedding, degrees=degrees, rng=rng, progress=progress
    )
    with progress.stage("labelling"):
        labels, undecided, labelling_reads = extend_labels(kernel, coreset, coreset_labels, induced=induced)

    labels = numbered_by_size(labels)
    remarks = list(graph.remarks)
    n_found = int(labels.max()) + 1
    if n_found < k:
        remarks.append(f"only {n_found} of k={k} clusters have nodes")
        warnings.warn(remarks[-1], ConvergenceWarning, stacklevel=2)
    if loops == "implied" and (graph.loops == 0).any():
        remarks.append("nodes without a self-loop were given one of their mean edge weight, except in the quality")
    if coreset.n_clipped:
        remarks.append(
            f"{coreset.n_clipped} negative squared distances became 0: K is indefinite; a shift would mend it"
        )
    return Clustering(
        labels, k, graph,
        CoresetClustering(coreset.nodes, coreset.weights, coreset_labels),
        undecided,
        tuple(remarks),
        progress.seconds,
        {
            "sampling": coreset.entries_read,
            "coreset graph": int(np.diff(graph.indptr)[coreset.nodes].sum()),
            "labelling": labelling_reads,
        },
        {"method": method, "coreset_size": size, "oversampling": oversampling, "loops": loops, "shift": shift,
         "sampling": sampling, "second_term": second_term, "rounds": rounds, "embedding": embedding, "degrees": degrees},
    )  # fmt: skip


def default_coreset_size(n_nodes: int, k: int) -> int:
    """A twentieth of the nodes, but at least 1,000 and 20 a cluster, and no more than there are."""
    return min(n_nodes, max(1_000, 20 * k, ceil(n_nodes / 20)))


def cluster_coreset(
    induced: Any,
    k: int,
    weights: np.ndarray,
    *,
    embedding: str = "auto",
    degrees: str = "row_sums",
    rng: Any = None,
    progress: Any = None,
) -> np.ndarray:
    """Labels of the coreset nodes: spectral clustering of the coreset graph into k parts.

    induced : the coreset graph, shape (m, m), see `coreset_graph`; weights : of the coreset nodes, shape (m,).
    The rest as in `coreset_sc`. Returns int64, shape (m,); with fewer than k distinct embedded points, fewer clusters.

    >>> import networkx as nx
    >>> kernel = NormalizedCutKernel.of(nx.barbell_graph(4, 0))
    >>> whole = Coreset(np.arange(8), kernel.degrees)
    >>> len(set(cluster_coreset(coreset_graph(kernel, whole), 2, whole.weights, rng=0)[:4]))
    1
    """
    as_choice(embedding, "embedding", EMBEDDINGS)
    as_choice(degrees, "degrees", ("row_sums", "weights"))
    rng, progress = as_generator(rng), as_progress(progress)
    d = weights if degrees == "weights" else None
    with progress.stage("embedding"):
        if embedding == "eigsh" or (embedding == "auto" and k <= FEW_CLUSTERS):
            points = spectral_embedding(induced, min(k, induced.shape[0]), degrees=d, rng=rng)
        else:
            points = fast_spectral_embedding(induced, min(k, induced.shape[0]), degrees=d, rng=rng, progress=progress)
    with progress.stage("k-means"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer clusters are reported by the caller
        return kmeans(points, min(k, len(points)), sample_weight=weights, rng=rng, progress=progress).labels
