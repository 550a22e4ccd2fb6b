"""The published algorithm, stage by stage: coreset, coreset graph, its spectral clustering, label extension.

Coreset spectral clustering (Jourdan, Schwartzman, Macgregor & Sun, ICLR 2025, Algorithm 3). Weighted kernel k-means
with K = D^-1 A D^-1, W = D minimizes the normalized cut. So a coreset for kernel k-means is clustered as a small graph
by its normalized cut, and its centroids label every node.
"""

import warnings
from math import ceil
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.checks import K_OF_GRAPH, Seed, as_choice, as_generator, as_weights, as_whole_number
from graphclust.coreset.label_extension import coreset_graph, extend_labels
from graphclust.coreset.options import DEGREES, EMBEDDINGS, Coreset, Outcome
from graphclust.coreset.sampling import construct_coreset
from graphclust.errors import ConvergenceWarning, GraphWarning, warn_caller
from graphclust.graph.matrices import graph_from_csr
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.progress import Progress, ProgressLike, as_progress

N_INIT = 10  # as of scikit-learn's SpectralClustering; the points are those of the coreset, so a run is quick
FEW_CLUSTERS = 64  # up to here exact eigenvectors are cheap
# On graphs whose planted or annotated clusters are found, all nodes are decided and coreset nodes have 5 coreset
# neighbors or more; where nothing is found, at least 9 % are undecided, or coreset nodes have 2.2 neighbors or fewer.
MANY_UNDECIDED, FEW_LINKS = 0.05, 3.0


def published_size(n_nodes: int, k: int) -> int:
    """Draws of the importance sample: a twentieth of the nodes, at least 1,000 and 20 a cluster."""
    return min(n_nodes, max(1_000, 20 * k, ceil(n_nodes / 20)))


def partition_by_paper(
    kernel: NormalizedCutKernel, k: int, how: Coreset, rng: np.random.Generator, progress: Progress
) -> Outcome:
    """Algorithm 3 of the paper on a kernel; after the gate only rows of sampled nodes are read.

    how : with a number of draws as its size, and the loops and the shift that the kernel was made with.
    """
    assert how.draws is not None
    coreset = construct_coreset(
        kernel, k, how.draws, oversampling=how.oversampling, sampling=how.sampling, second_term=how.second_term,
        rounds=how.rounds, rng=rng, progress=progress,
    )  # fmt: skip
    with progress.stage("coreset graph"):
        induced = coreset_graph(kernel, coreset)
    coreset_labels, empty = _labels_and_empty_share(
        induced, k, coreset.weights, how.embedding, how.degrees, rng, progress
    )
    with progress.stage("labeling"):
        labels, undecided, labeling_reads = extend_labels(kernel, coreset, coreset_labels, induced=induced)
    n_entries = int(np.diff(kernel.graph.indptr)[coreset.nodes].sum())
    entries_read = {"sampling": coreset.entries_read, "coreset graph": n_entries, "labeling": labeling_reads}
    doubts = _doubts(kernel, induced, undecided, empty)
    remarks: list[str] = []
    if doubts:
        remarks.append(
            f"{' and '.join(doubts)}: such a coreset says little about the clusters; a larger coreset would help, "
            'or method="auto"'
        )
        warn_caller(remarks[0], GraphWarning)
    if how.loops == "implied" and (kernel.graph.loops == 0).any():
        remarks.append("nodes without a self-loop were given one of their mean edge weight, except in the quality")
    if n_clipped := coreset.n_clipped:
        remarks.append(f"{n_clipped} negative squared distances became 0: K is indefinite; a shift would mend it")
    return Outcome(labels, coreset, coreset_labels, undecided, entries_read, remarks=tuple(remarks))


def _doubts(kernel: NormalizedCutKernel, induced: sparse.csr_array, undecided: np.ndarray, empty: float) -> list[str]:
    """Figures of a run that show its labels to be worth little, in words."""
    doubts = []
    n_coreset, n_points = induced.shape[0], len(kernel.points)
    if undecided.sum() > MANY_UNDECIDED * n_points:
        doubts.append(f"{undecided.sum() / n_points:.0%} of the nodes have no neighbor in the coreset")
    links = (induced.nnz - np.count_nonzero(induced.diagonal())) / n_coreset
    if n_coreset < n_points and links < FEW_LINKS:
        doubts.append(f"nodes of the coreset have {links:.1f} neighbors in it on average")
    if n_coreset < n_points and empty > MANY_UNDECIDED:
        doubts.append(f"{empty:.0%} of the coreset lie outside the k largest components of its graph")
    return doubts


def cluster_coreset(
    induced: Any,
    k: int,
    weights: np.ndarray,
    *,
    embedding: str = "auto",
    degrees: str = "row_sums",
    rng: Seed = None,
    progress: ProgressLike = None,
) -> np.ndarray:
    """Labels of the coreset nodes: spectral clustering of the coreset graph into k parts.

    induced : the coreset graph, shape (m, m), see `coreset_graph`; weights : of the coreset nodes, shape (m,).
    The rest as in `coreset_sc`. Returns int64, shape (m,); with fewer than k distinct embedded points, fewer clusters.

    Raises ParameterError (k, embedding, degrees), ConvergenceError as `spectral_embedding` does, TypeError.

    Source: Jourdan et al. 2025, Algorithm 3, line 5.

    >>> import networkx as nx
    >>> from graphclust.coreset.sampling import CoresetSample
    >>> kernel = NormalizedCutKernel.of(nx.barbell_graph(4, 0))
    >>> whole = CoresetSample(np.arange(8), kernel.degrees)
    >>> len(set(cluster_coreset(coreset_graph(kernel, whole), 2, whole.weights, rng=0)[:4]))
    1
    """
    if not isinstance(induced, np.ndarray | sparse.sparray | sparse.spmatrix):
        raise TypeError(
            f"induced is a {type(induced).__name__}, expected a matrix: coreset_graph(kernel, coreset) makes it"
        )
    k = as_whole_number(k, "k", at_least=1, if_none=K_OF_GRAPH)
    as_choice(embedding, "embedding", EMBEDDINGS)
    as_choice(degrees, "degrees", DEGREES)
    rng, progress = as_generator(rng), as_progress(progress)
    weights = as_weights(weights, induced.shape[0], "weights")
    return _labels_and_empty_share(induced, k, weights, embedding, degrees, rng, progress)[0]


def _labels_and_empty_share(
    induced: Any, k: int, weights: np.ndarray, embedding: str, degrees: str, rng: np.random.Generator,
    progress: Progress,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Labels of the coreset nodes, and the share of them that the embedding leaves at the origin."""
    # Imported here, for their linear algebra takes half of the time that the package takes to be imported.
    from graphclust.points.k_means.lloyd import kmeans
    from graphclust.spectral.embedding import fast_spectral_embedding, spectral_embedding

    d = weights if degrees == "weights" else None
    k = min(k, induced.shape[0])
    # A coreset node without links to others is no cause for a warning about the user's graph.
    ours = isinstance(induced, sparse.csr_array)
    graph = graph_from_csr(induced.indptr, induced.indices, induced.data) if ours else induced
    with progress.stage("embedding"):
        if embedding == "eigsh" or (embedding == "auto" and k <= FEW_CLUSTERS):
            points = spectral_embedding(graph, k, degrees=d, rng=rng)
        else:
            points = fast_spectral_embedding(graph, k, degrees=d, rng=rng, progress=progress)
    with progress.stage("k-means"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer clusters are reported by the caller
        labels = kmeans(
            points, k, sample_weight=weights, init="greedy k-means++", n_init=N_INIT, rng=rng, progress=progress
        ).labels
    return labels, float((~points.any(axis=1)).mean())
