"""The published algorithm, stage by stage: coreset, coreset graph, its spectral clustering, label extension.

Coreset spectral clustering (Jourdan, Schwartzman, Macgregor & Sun, ICLR 2025, Algorithm 3): weighted kernel k-means
with K = D^-1 A D^-1, W = D has the normalised cut as its objective, so a coreset for the one is clustered as a small
graph for the other, and its centroids label every node.
"""

from __future__ import annotations

import warnings
from math import ceil
from typing import Any

import numpy as np

from graphclust.checks import Seed, as_choice, as_generator
from graphclust.coreset.induced_graph import coreset_graph
from graphclust.coreset.label_extension import extend_labels
from graphclust.coreset.outcome import Outcome
from graphclust.coreset.sampling import construct_coreset
from graphclust.errors import ConvergenceWarning
from graphclust.graph.kernel import NormalizedCutKernel
from graphclust.k_means.lloyd import kmeans
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.spectral.embedding import fast_spectral_embedding, spectral_embedding

__all__ = ["cluster_coreset"]

EMBEDDINGS = ("auto", "eigsh", "power")
DEGREES = ("row_sums", "weights")
N_INIT = 10
FEW_CLUSTERS = 64  # up to here exact eigenvectors are cheap


def default_size(n_nodes: int, k: int) -> int:
    """Draws of the importance sample: a twentieth of the nodes, at least 1,000 and 20 a cluster."""
    return min(n_nodes, max(1_000, 20 * k, ceil(n_nodes / 20)))


def by_the_paper(
    kernel: NormalizedCutKernel,
    k: int,
    size: int,
    options: dict[str, Any],
    rng: np.random.Generator,
    progress: Progress,
) -> Outcome:
    """Algorithm 3 of the paper on a kernel; after the gate only rows of sampled nodes are read."""
    sampling = {name: options[name] for name in ("oversampling", "sampling", "second_term", "rounds")}
    coreset = construct_coreset(kernel, k, size, **sampling, rng=rng, progress=progress)
    with progress.stage("coreset graph"):
        induced = coreset_graph(kernel, coreset)
    coreset_labels = cluster_coreset(
        induced,
        k,
        coreset.weights,
        embedding=options["embedding"],
        degrees=options["degrees"],
        rng=rng,
        progress=progress,
    )
    with progress.stage("labelling"):
        labels, undecided, labelling_reads = extend_labels(kernel, coreset, coreset_labels, induced=induced)
    row_lengths = np.diff(kernel.graph.indptr)[coreset.nodes]
    entries_read = {
        "sampling": coreset.entries_read,
        "coreset graph": int(row_lengths.sum()),
        "labelling": labelling_reads,
    }
    return Outcome(labels, coreset, coreset_labels, undecided, entries_read)


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

    >>> import networkx as nx
    >>> from graphclust.coreset.sampling import Coreset
    >>> kernel = NormalizedCutKernel.of(nx.barbell_graph(4, 0))
    >>> whole = Coreset(np.arange(8), kernel.degrees)
    >>> len(set(cluster_coreset(coreset_graph(kernel, whole), 2, whole.weights, rng=0)[:4]))
    1
    """
    # Imported here, for their linear algebra takes half of the time that the package takes to be imported.

    as_choice(embedding, "embedding", EMBEDDINGS)
    as_choice(degrees, "degrees", DEGREES)
    rng, progress = as_generator(rng), as_progress(progress)
    d = weights if degrees == "weights" else None
    k = min(k, induced.shape[0])
    with progress.stage("embedding"):
        if embedding == "eigsh" or (embedding == "auto" and k <= FEW_CLUSTERS):
            points = spectral_embedding(induced, k, degrees=d, rng=rng)
        else:
            points = fast_spectral_embedding(induced, k, degrees=d, rng=rng, progress=progress)
    with progress.stage("k-means"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer clusters are reported by the caller
        return kmeans(
            points, k, sample_weight=weights, init="greedy k-means++", n_init=N_INIT, rng=rng, progress=progress
        ).labels
