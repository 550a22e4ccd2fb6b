"""Partition a large graph from a coreset linked by shared neighbors, then mend the partition on the whole graph.

1. A coreset of a few per cent of the nodes, and its two-step graph: O(entries of the coreset's rows).
2. That small graph is partitioned into 2 k regions, so that few clusters are missed.
3. Every node with coreset neighbors takes the nearest centroid in kernel space of the regions that those are in; the
   rest follow along the edges.
4. From here on as wherever a graph is reduced: the quotient graph of the regions, exact on the whole graph, is
   partitioned into k clusters, by the normalised cut, and these are those of the nodes.
5. Single nodes move, and for another objective they move again by it, at a resolution at which these clusters are
   natural ones.

Where two of the clusters still belong together, and so others are two, the regions were too impure. Nodes move by
modularity, or by the other objective, too; what the clusters then have of each region is purer, is merged anew by it,
and nodes move again; so they do where the quotient graph was an estimate.

When time is up the coreset's own graph decides which regions are one cluster, and two rounds of moves, of half of the
nodes each, are all that is mended: without them most nodes of a graph with few coreset neighbors would be misplaced.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil

import numpy as np

from graphclust.compiled.runtime.blocks import row_blocks
from graphclust.coreset.outcome import Outcome
from graphclust.objective.objective import Aim
from graphclust.partition import streamed_quotient
from graphclust.partition.coarsening import ENOUGH
from graphclust.partition.healing import Partition
from graphclust.partition.moves import MANY_MOVES
from graphclust.partition.turning import mended
from graphclust.partition.whole_graph import Sampling, WholeGraph

REGIONS_PER_CLUSTER = 2  # what merging leaves impure is merged anew; more cost more, and show no more
LINKS = 20.0  # by shared neighbors, of a coreset node: with fewer, sparse clusters and small ones are missed
NODES_PER_CLUSTER = ENOUGH * REGIONS_PER_CLUSTER  # of the coreset, which is parted into so many regions
HASTY_ROUNDS = 2  # of moves by half of the nodes: of a planted graph of 3M nodes 0.02 is right before, 0.9 after
LEAST_SIGNAL = 4.5
WEIGHTS_AT_A_TIME = 1 << 24
IN_DOUBT = (
    "the coreset may be too small to show the clusters of this graph: a larger coreset_size or another method may find "
    "better ones"
)


def default_size(n_nodes: int, n_entries: int, k: int) -> int:
    """So many nodes that each shares LINKS neighbors with others, on average, and NODES_PER_CLUSTER a cluster.

    As long as they are a small graph, rather so many that an average node has three coreset neighbors: then clusters
    show even where sizes are very unequal.
    """
    mean_degree = max(n_entries, 1) / n_nodes
    by_links, by_neighbors = LINKS * n_nodes / mean_degree**2, 3.0 * n_nodes / mean_degree
    return min(n_nodes, ceil(max(by_links, min(by_neighbors, MANY_MOVES), NODES_PER_CLUSTER * k)))


def by_coreset(whole: WholeGraph, aim: Aim, sampling: Sampling) -> tuple[Partition, Outcome]:
    """The steps above, for the nodes that have edges; isolated nodes have the label -1."""
    merged = whole.merged(sampling)
    with whole.progress.stage("mending"):
        found, leaving, impure = mended(whole, merged, aim)
        coreset_labels = whole.labels_at(found.labels, merged.coreset.nodes)
    counts = merged.n_labeled
    names = ["coreset", "coreset neighbor", *(f"round {i}" for i in range(1, len(counts) - 1))]
    decided = {
        name: (count - before) / whole.n_points
        for name, count, before in zip(names, counts, [0, *counts], strict=False)
    }
    remarks = (*merged.remarks, streamed_quotient.ESTIMATED) if merged.estimated else merged.remarks
    labels = whole.brought_here(found.labels)
    outcome = Outcome(
        labels.astype(np.int64, copy=False), merged.coreset, coreset_labels, merged.out_of_reach, {}, decided,
        is_doubtful(leaving, whole.k, merged.links) or impure, remarks,
    )  # fmt: skip
    return found._replace(labels=labels), outcome


def number_of_regions(k: int, n_linked: int) -> int:
    """How many regions to part a coreset of n_linked nodes into."""
    return max(min(k, n_linked), REGIONS_PER_CLUSTER * min(k, n_linked // NODES_PER_CLUSTER))


def evenness(weights: np.ndarray | None) -> float:
    """The share of edges that would do as well if their weights were equal: (sum w)^2 / (n sum w^2)."""
    if weights is None:
        return 1.0
    total = squares = 0.0
    for first, last in pairwise(row_blocks(len(weights), WEIGHTS_AT_A_TIME).tolist()):
        total += float(weights[first:last].sum())
        squares += float(np.square(weights[first:last]).sum())
    return total**2 / (len(weights) * squares)


def is_doubtful(leaving: float, k: int, mean_links: float) -> bool:
    """Whether the coreset can have missed clusters that the whole graph shows.

    leaving : share of the volume that leaves a cluster, on average: the normalised cut over k.

    A step of the walk keeps the share stays = (1 - leaving - 1/k) / (1 - 1/k) of what it knows about the cluster, two
    steps keep stays^2. Of a graph in which a node has c links that keep the share s, clusters can be learnt only if
    c s^2 > 1 (Kesten & Stigum 1966; Decelle et al. 2011); on planted graphs of 60 blocks all were found at 5.2, and not
    always at 3.9. Where too much was lost the cut found is larger, and so the doubt.
    """
    stays = 1.0 if k == 1 else (1.0 - leaving - 1.0 / k) / (1.0 - 1.0 / k)
    return stays <= 0.0 or mean_links * stays**4 < LEAST_SIGNAL
