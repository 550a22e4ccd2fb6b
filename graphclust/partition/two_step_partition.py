"""Cluster a large graph from a coreset linked by shared neighbours, then mend the partition on the whole graph.

1. A coreset of a few per cent of the nodes, and its two-step graph: O(entries of the coreset's rows).
2. That small graph is partitioned into several times k pieces, so that no cluster is missed.
3. Every node with a coreset neighbour takes the nearest centroid in kernel space; the rest follow along the edges.
4. The quotient graph of the pieces, exact on the whole graph, is partitioned into k clusters.
5. Single-node moves with the exact change of the normalised cut.

Where coreset nodes have few links the pieces are not pure enough for that. Then there are a thousand of them; those are
merged into 5 k on the whole graph, and nodes move between these in a few rounds, before the k clusters are made.
"""

from math import ceil

import numpy as np

from graphclust.coreset.label_extension import extend_labels
from graphclust.coreset.outcome import Outcome
from graphclust.coreset.sampling import Coreset, construct_coreset
from graphclust.coreset.spreading import spread_labels
from graphclust.coreset.two_step import link_coreset
from graphclust.graph.container import Graph
from graphclust.graph.kernel import NormalizedCutKernel
from graphclust.partition.moves import improve, improve_in_rounds
from graphclust.partition.multilevel import partition
from graphclust.partition.quotient import contract
from graphclust.progress import Progress

PIECES_PER_CLUSTER = 5
WELL_COVERED, FEW_LINKS = 2.0, 30.0  # coreset neighbours of a node; links of a coreset node
MANY_PIECES = 1_000
NODES_PER_PIECE = 12
COVERAGE = 0.8  # expected coreset neighbours of a node
NODES_PER_CLUSTER = 20
SPREADING_ROUNDS = 4
PIECE_ROUNDS = 4
MENDING_SWEEPS = 3
FEW = 0.001
LEAST_SIGNAL = 6.5
LEAST_CORESET_NODES = 2


def default_size(n_nodes: int, n_entries: int, k: int) -> int:
    """So many nodes that an average node has 0.8 coreset neighbours, and 20 a cluster.

    Up to 10,000, rather so many that it has three: small clusters then show even where sizes are very unequal.
    """
    for_one_neighbor = n_nodes * n_nodes / max(n_entries, 1)
    size = max(COVERAGE * for_one_neighbor, min(3 * for_one_neighbor, 10_000), NODES_PER_CLUSTER * k)
    return min(n_nodes, ceil(size))


def by_shared_neighbors(
    kernel: NormalizedCutKernel,
    k: int,
    size: int,
    oversampling: float,
    sampling: str,
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
) -> Outcome:
    """The steps above on a connected-enough kernel; k is at most the number of its points."""
    graph = kernel.graph
    coreset = construct_coreset(
        kernel, k, size, oversampling=oversampling, sampling=sampling, rng=rng, progress=progress
    )
    with progress.stage("coreset graph"):
        small = link_coreset(kernel, coreset)
        linked = np.flatnonzero(~small.isolated)
        if len(linked) < len(coreset.nodes):
            small = small.subgraph(linked)
    mean_links = small.n_entries / max(small.n_nodes, 1)
    covered = len(coreset.nodes) * graph.n_entries / graph.n_nodes**2
    thin = covered < WELL_COVERED and mean_links < FEW_LINKS
    few = PIECES_PER_CLUSTER * k
    many = max(few, MANY_PIECES) if thin else few
    n_pieces = max(min(k, len(linked)), min(many, len(linked) // NODES_PER_PIECE))
    if n_pieces == 0:
        linked, pieces = np.arange(len(coreset.nodes)), np.arange(len(coreset.nodes)) % k
    else:
        with progress.stage("coreset partition"):
            pieces = partition(small, n_pieces, 0.5 * effort, rng, progress).astype(np.int64)

    with progress.stage("labelling"):
        labelled = Coreset(coreset.nodes[linked], coreset.weights[linked])
        labels, undecided, _ = extend_labels(kernel, labelled, pieces)
        labels = np.where(undecided, -1, labels).astype(np.int32)
        spread = spread_labels(graph, labels, int(pieces.max()) + 1, SPREADING_ROUNDS, progress)
        labels = spread.labels
        out_of_reach = labels < 0
        labels[out_of_reach] = 0  # farther from the coreset than the rounds reach: moves will place them
    with progress.stage("merging"):
        if thin:
            labels, n_found = merge_pieces(graph, labels, few, effort, rng, progress)
            improve_in_rounds(graph, labels, n_found, PIECE_ROUNDS, progress)
        labels, n_found = merge_pieces(graph, labels, k, effort, rng, progress)
        if n_found < k:  # a coreset too small or too scattered to show k clusters
            labels = partition(graph, k, effort, rng, progress)
    with progress.stage("mending"):
        normalized_cut = improve(graph, labels, k, progress, MENDING_SWEEPS, FEW)

    n = graph.n_nodes
    counts = [len(labelled.nodes), *spread.n_labelled]
    names = ["coreset", "coreset neighbour", *(f"round {i}" for i in range(1, len(counts) - 1))]
    decided = {name: (count - before) / n for name, count, before in zip(names, counts, [0, *counts], strict=False)}
    coreset_labels = labels[coreset.nodes].astype(np.int64)
    doubtful = is_doubtful(normalized_cut, k, mean_links * evenness(graph.weights), coreset_labels)
    return Outcome(labels.astype(np.int64), coreset, coreset_labels, out_of_reach, {}, decided, doubtful)


def merge_pieces(
    graph: Graph, labels: np.ndarray, n_clusters: int, effort: float, rng: np.random.Generator, progress: Progress
) -> tuple[np.ndarray, int]:
    """Merge the clusters of int32 labels into n_clusters by their links in the whole graph; labels, and how many."""
    used = np.bincount(labels) > 0
    n_used = int(used.sum())
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    if n_used > n_clusters:
        quotient = contract(graph, number[labels], n_used)
        number = partition(quotient, n_clusters, effort, rng, progress)[number]
    return number[labels], min(n_used, n_clusters)


def evenness(weights: np.ndarray | None) -> float:
    """The share of edges that would do as well if their weights were equal: (sum w)^2 / (n sum w^2)."""
    return 1.0 if weights is None else float(weights.sum() ** 2 / (len(weights) * np.square(weights).sum()))


def is_doubtful(normalized_cut: float, k: int, mean_links: float, coreset_labels: np.ndarray) -> bool:
    """Whether the coreset can have missed clusters that the whole graph shows.

    A step of the walk keeps the share stays = (1 - cut - 1/k) / (1 - 1/k) of what it knows about the cluster, two steps
    keep stays^2. Of a graph in which a node has c links that keep the share s, clusters can be learnt only if c s^2 > 1
    (Kesten & Stigum 1966; Decelle et al. 2011); greedy merging was seen to need 6.5. Where too much was
    lost the cut found is larger, and so the doubt. Of a cluster that few coreset nodes fell into, others like
    it may have had none.
    """
    stays = 1.0 if k == 1 else (1.0 - normalized_cut / k - 1.0 / k) / (1.0 - 1.0 / k)
    fewest = np.bincount(coreset_labels, minlength=k).min()
    return stays <= 0.0 or mean_links * stays**4 < LEAST_SIGNAL or fewest < LEAST_CORESET_NODES
