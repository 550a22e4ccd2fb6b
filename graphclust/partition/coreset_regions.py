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
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.objective import ClusterSums, value_of
from graphclust.compiled.runtime.blocks import row_blocks
from graphclust.coreset.label_extension import extend_labels
from graphclust.coreset.outcome import Outcome
from graphclust.coreset.sampling import Coreset, construct_coreset
from graphclust.coreset.spreading import spread_labels
from graphclust.coreset.two_step import link_coreset
from graphclust.graph.container import Graph
from graphclust.graph.kernel import NormalizedCutKernel
from graphclust.objective.objective import BY_DEGREE, CUT, Aim, Weighed, node_terms, ratio_objective, weighed
from graphclust.partition import streamed_quotient
from graphclust.partition.budget import HARDLY_ANY
from graphclust.partition.cycles import Assigned
from graphclust.partition.healing import Partition
from graphclust.partition.merging import merged
from graphclust.partition.moves import MANY_MOVES, entries_of, moved_in_rounds, moved_until_stable, summed
from graphclust.partition.multilevel import ENOUGH, SINGLE_START, partitioned
from graphclust.partition.quotient import contracted
from graphclust.partition.reduction import reduced, taken
from graphclust.partition.resolution import NO_UNIONS, goal_of
from graphclust.partition.small_components import in_all_nodes
from graphclust.partition.turning import implied_goal, purified, turned, used_labels
from graphclust.progress import Progress

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


class Sampling(NamedTuple):
    """How the coreset is drawn, see `construct_coreset`."""

    size: int
    oversampling: float
    method: str


def default_size(n_nodes: int, n_entries: int, k: int) -> int:
    """So many nodes that each shares LINKS neighbors with others, on average, and NODES_PER_CLUSTER a cluster.

    As long as they are a small graph, rather so many that an average node has three coreset neighbors: then clusters
    show even where sizes are very unequal.
    """
    mean_degree = max(n_entries, 1) / n_nodes
    by_links, by_neighbors = LINKS * n_nodes / mean_degree**2, 3.0 * n_nodes / mean_degree
    return min(n_nodes, ceil(max(by_links, min(by_neighbors, MANY_MOVES), NODES_PER_CLUSTER * k)))


class Shown(NamedTuple):
    """What a coreset shows of a graph.

    labels : int32, shape (n_nodes,), the region of each node; out_of_reach : bool, shape (n_nodes,), True for nodes
    farther from the coreset than labels spread. coreset : what was drawn; links : mean links of its nodes, n_labeled :
    how many nodes had a label from the coreset, from its neighbors, and after each round.
    linked, regions : places of the coreset nodes that were parted, and the region of each. united : the cluster of each
    region, int32, by the coreset's graph alone, for when time is up; it is made only where there is a time budget.
    """

    labels: np.ndarray
    out_of_reach: np.ndarray
    coreset: Coreset
    links: float
    n_labeled: list[int]
    linked: np.ndarray
    regions: np.ndarray
    united: np.ndarray | None


class Merged(NamedTuple):
    """Regions merged into clusters: int32 labels of the nodes, the fragments that those were made of, and their sums.

    sums : None where they are not known.
    """

    labels: np.ndarray
    fragments: np.ndarray
    sums: ClusterSums | None


def by_shared_neighbors(
    on: Weighed,
    k: int,
    aim: Aim,
    sampling: Sampling,
    effort: float,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Partition, Outcome]:
    """The steps above, for the nodes that have edges; k is at most their number. Isolated nodes have the label -1."""
    graph = on.graph
    n = _number_of_points(graph)
    shown = shown_by_coreset(graph, k, sampling, rng, progress)
    by_cut = weighed(graph, CUT.name)
    estimated = streamed_quotient.is_estimate(graph, int(shown.labels.max()) + 1)
    with progress.stage("merging"):
        labels, fragments, sums = merged_regions(by_cut, shown, k, effort, rng, progress)
    with progress.stage("mending"):
        progress.offer(labels.copy)
        goal, impure = goal_of(CUT, by_cut, k, NO_UNIONS), False
        if late := progress.out_of_time():
            sums = moved_in_rounds(by_cut, labels, k, goal.objective, HASTY_ROUNDS, progress, HASTY_ROUNDS, sums)
        else:
            sums = moved_until_stable(by_cut, labels, k, goal.objective, progress, sums=sums)
        leaving = 1.0 - value_of(goal.objective, sums) / k
        if aim.name not in BY_DEGREE:
            _, sums = summed(on, labels, k)
            progress.reads(graph, graph.n_entries)
        found = Assigned(labels, sums)
        if late:
            goal = goal if aim == CUT else implied_goal(aim, on, k, sums)
        elif aim == CUT:
            found, impure = purified(on, found, fragments, goal, estimated, effort, rng, progress)
        else:
            by_aim, impure = turned(aim, on, found, fragments, k, estimated, effort, rng, progress)
            found, goal = Assigned(by_aim.labels, by_aim.sums), by_aim.goal
        labels, sums = found

    counts = shown.n_labeled
    names = ["coreset", "coreset neighbor", *(f"round {i}" for i in range(1, len(counts) - 1))]
    decided = {name: (count - before) / n for name, count, before in zip(names, counts, [0, *counts], strict=False)}
    coreset_labels = labels[shown.coreset.nodes].astype(np.int64)
    doubtful = is_doubtful(leaving, k, shown.links * evenness(graph.weights))
    outcome = Outcome(
        labels.astype(np.int64), shown.coreset, coreset_labels, shown.out_of_reach, {}, decided,
        doubtful or impure, (streamed_quotient.ESTIMATED,) if estimated else (),
    )  # fmt: skip
    return Partition(labels, sums, goal), outcome


def shown_by_coreset(graph: Graph, k: int, sampling: Sampling, rng: np.random.Generator, progress: Progress) -> Shown:
    """Steps 1 to 3: a region for every node, at least k of them where the coreset has as many linked nodes."""
    kernel = NormalizedCutKernel.of(graph)
    coreset = construct_coreset(
        kernel, k, sampling.size, oversampling=sampling.oversampling, sampling=sampling.method, rng=rng,
        progress=progress,
    )  # fmt: skip
    with progress.stage("coreset graph"):
        progress.reads(graph, coreset.entries_read + entries_of(graph, coreset.nodes))
        small = link_coreset(kernel, coreset)
        linked = np.flatnonzero(~small.isolated)
        if len(linked) < len(coreset.nodes):
            small = small.subgraph(linked)
    links = small.n_entries / max(small.n_nodes, 1)
    united = None
    n_regions = number_of_regions(k, len(linked))
    if n_regions == 0:
        linked, found = np.arange(len(coreset.nodes)), np.arange(len(coreset.nodes)) % k
    else:
        with progress.stage("coreset partition"), progress.within(None):
            if progress.out_of_time():
                n_regions = min(n_regions, k)
            found = partitioned(weighed(small, CUT.name), n_regions, CUT, SINGLE_START, rng, progress).labels
            if progress.time_budget is not None and n_regions >= k:
                quotient = contracted(weighed(small, CUT.name), found, n_regions)
                united, _ = merged(quotient, k, ratio_objective(quotient), progress)
    del small  # of a large graph half a gigabyte
    with progress.stage("labelling"):
        labelled = Coreset(coreset.nodes[linked], coreset.weights[linked])
        extended, undecided, n_read = extend_labels(kernel, labelled, found.astype(np.int64), met_only=True)
        progress.reads(graph, n_read)
        labels = extended.astype(np.int32)
        labels[undecided] = -1
        del extended, undecided, kernel  # of the size of the nodes, as all that is given back early here
        spread = spread_labels(graph, labels, int(found.max()) + 1, HARDLY_ANY, progress)
    out_of_reach = (spread.labels < 0) & ~graph.isolated
    spread.labels[out_of_reach] = 0  # moves will place them
    counts = [len(labelled.nodes), *spread.n_labelled]
    return Shown(spread.labels, out_of_reach, coreset, links, counts, linked, found, united)


def number_of_regions(k: int, n_linked: int) -> int:
    """How many regions to part a coreset of n_linked nodes into."""
    return max(min(k, n_linked), REGIONS_PER_CLUSTER * min(k, n_linked // NODES_PER_CLUSTER))


def merged_regions(
    by_cut: Weighed, shown: Shown, k: int, effort: float, rng: np.random.Generator, progress: Progress
) -> Merged:
    """Step 4: the regions that a coreset shows merged into k clusters by the normalised cut."""
    graph, labels = by_cut.graph, shown.labels
    if shown.united is not None and progress.out_of_time():
        labels = taken(shown.united, labels)
        labels[shown.coreset.nodes[shown.linked]] = shown.united[shown.regions]  # so that none is without a node
    fragments, n_found = used_labels(labels)
    if n_found < k:  # a coreset too small or too scattered to show k clusters
        nodes, part = without_isolated_nodes(by_cut)
        with progress.within(lambda labels: in_all_nodes(~graph.isolated, labels)):
            fragments[nodes], n_found = partitioned(part, k, CUT, effort, rng, progress).labels, k
    if n_found == k:
        return Merged(fragments.copy(), fragments, None)
    reduction = reduced(by_cut, fragments, n_found)
    progress.reads(graph, graph.n_entries)
    with progress.within(reduction.prolonged):
        of_fragments = partitioned(reduction.small, k, CUT, SINGLE_START, rng, progress)
        labels = reduction.prolonged(of_fragments.labels)
    return Merged(labels, fragments, reduction.sums(of_fragments.sums, labels))


def without_isolated_nodes(on: Weighed) -> tuple[np.ndarray, Weighed]:
    """The nodes that have edges, and the graph between them."""
    nodes = np.flatnonzero(~on.graph.isolated)
    if len(nodes) == on.graph.n_nodes:
        return nodes, on
    terms = node_terms(on.terms.loops[nodes], on.terms.mass[nodes], on.terms.degrees[nodes])
    return nodes, Weighed(on.graph.subgraph(nodes), terms)


def evenness(weights: np.ndarray | None) -> float:
    """The share of edges that would do as well if their weights were equal: (sum w)^2 / (n sum w^2)."""
    if weights is None:
        return 1.0
    total = squares = 0.0
    for first, last in pairwise(row_blocks(len(weights), WEIGHTS_AT_A_TIME).tolist()):
        total += float(weights[first:last].sum())
        squares += float(np.square(weights[first:last]).sum())
    return total**2 / (len(weights) * squares)


def _number_of_points(graph: Graph) -> int:
    return graph.n_nodes - int(np.count_nonzero(graph.isolated))


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
