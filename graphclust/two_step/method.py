"""The two-step method: a large graph is contracted to regions that come from a coreset, linked by shared neighbors.

`suits_a_coreset` says which graphs `coreset_sc` takes it for, `partition_by_coreset` makes the steps. What they do to
the nodes of the graph is the business of a `WholeGraph`: `InMemory` (`in_memory.py`) or `InBlocks` (`in_blocks.py`).

1. A coreset of a few per cent of the nodes (`coreset/sampling.py`), and the graph of its shared neighbors
   (`shared_neighbors.py`): O(entries of the coreset's rows).
2. This small graph is partitioned into 2 k regions, so that few clusters are missed.
3. Every node with coreset neighbors joins one of their regions, the one of nearest centroid in kernel space; the other
   nodes follow along the edges. So every node has a region. Steps 1 to 3 are `WholeGraph.regions`.
4. The graph is contracted to its regions, the engine partitions these into k clusters by the normalized cut, and nodes
   move.
5. The intersection of a cluster and a region is purer than the region. The graph is contracted to these pieces, the
   engine partitions them by the objective, starting from the clusters found, and nodes move; this is repeated while the
   edges become likelier: `part_pieces`.

A time budget buys further coresets (`improve_to_the_end`): the intersections of clusters and new regions are merged
within the clusters.
"""

from functools import partial
from itertools import pairwise
from math import ceil
from typing import Any, NamedTuple, Protocol

import numpy as np

from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.compiled.runtime.blocks import row_blocks
from graphclust.coreset.options import Coreset, Outcome
from graphclust.coreset.sampling import CoresetSample
from graphclust.engine.contraction import ESTIMATED, is_estimate
from graphclust.engine.engine import ONE_V_CYCLE, improve, partition_into, schedule_on
from graphclust.engine.family_tree import VALUE_RTOL
from graphclust.engine.levels import Run, value, with_sums
from graphclust.engine.likelihood import log_likelihood, resolution_of_clusters
from graphclust.engine.resolution import Schedule, remarks_on
from graphclust.engine.v_cycle import BUDGET
from graphclust.graph.container import Graph
from graphclust.objective.objective import CUT, MODULARITY, ObjectiveChoice, Totals, ratio_objective
from graphclust.progress import Progress

Labels = Any  # of all nodes, int32, -1 for nodes that are left out; or a handle to such labels elsewhere
FIRST_REGIONS = 2  # per cluster: more regions cost more, and show no more clusters
LINKS = 20.0  # of a coreset node, by shared neighbors: with fewer, sparse clusters and small ones are missed
NODES_PER_REGION = 12  # of the coreset: the engine misses clusters of which it sees fewer nodes
MANY_NODES = 1 << 14  # of a coreset that takes some hundredths of a second
SETTLED = 1e-4  # relative change of the likelihood in a round, below which the rounds end
CORESETS_IN_VAIN = 64  # coresets without a gain, after which the search ends before a time budget does
ZERO_LIKELIHOOD = 1e-6  # of the volume: a likelihood so small is zero up to round-off
LEAST_SIGNAL = 4.5  # at 5.2 all planted clusters were found, at 3.9 not always: see `is_doubtful`
WEIGHTS_AT_A_TIME = 1 << 24  # their squares take 128 MB
IN_DOUBT = (
    "the coreset may be too small to show the clusters of this graph: a larger coreset or another method may find "
    "better ones"
)
LEFT_BY_JOINING = 1 / 3  # local moving leaves at most this share of the nodes; a coreset of more saves nothing
LITTLE_IN_COMMON = 0.1  # if neighbors share less than this of their entries, joining them leaves nearly all entries
VERY_DENSE = 200.0  # mean degree, in effective edges, from which the rows of a coreset reach every node
PROBES = 2_000  # at LITTLE_IN_COMMON the standard error of the share is sqrt(0.1 * 0.9 / 2,000) = 0.007


class Regions(NamedTuple):
    """A region for every node, from a coreset, and facts about the coreset.

    labels, k : the region of each node; all from 0 to k - 1 are used. coreset : the one drawn. links : mean number of
    links of its nodes, times the `evenness` of the weights. n_labeled : how many nodes had a label from the coreset,
    from its neighbors, and after each round. out_of_reach : bool, shape (n_nodes,), True for nodes farther from the
    coreset than labels spread; None if that is not known node by node.
    """

    labels: Labels
    k: int
    coreset: CoresetSample
    links: float
    n_labeled: list[int]
    out_of_reach: np.ndarray | None = None
    remarks: tuple[str, ...] = ()


class WholeGraph(Protocol):
    """A graph that is to be partitioned into k clusters; labels given to it are never changed in place.

    n_points : how many nodes take part. n_entries : of the rows. name, of the methods : the objective whose terms
    count.
    """

    k: int
    n_points: int
    n_entries: int
    rng: np.random.Generator
    progress: Progress

    def totals(self, name: str) -> Totals:
        """The volume and the mass of all nodes, by an objective."""

    def regions(self, how: Coreset) -> Regions:
        """A coreset, its regions, and all nodes labeled by them."""

    def pieces(self, labels: Labels, regions: Labels) -> tuple[Labels, int]:
        """The intersections of clusters and regions, see `pieces_of`, and how many there are."""

    def contract(self, labels: Labels, k: int, name: str) -> Level:
        """The level whose nodes are the k clusters."""

    def project(self, of_clusters: np.ndarray, labels: Labels) -> Labels:
        """A label of each cluster as one of its nodes."""

    def restrict(self, labels: Labels, clusters: Labels, k: int) -> np.ndarray:
        """The label of each of k clusters, int32; all nodes of a cluster have the same label."""

    def refine(self, labels: Labels, sums: ClusterSums | None, task: Task, name: str) -> Partition:
        """The partition after moves of single nodes; once time is up, after a minimum of moves.

        sums : of the clusters, if known; their sizes are counted again.
        """

    def connect(self, partition: Partition, task: Task, name: str) -> Partition:
        """The partition with connected clusters, see `connectivity.connect`."""

    def bring_here(self, partition: Partition) -> Partition:
        """The partition with the labels of all nodes at hand, int64."""


def default_size(n_nodes: int, n_entries: int, k: int) -> int:
    """The coreset size at which a coreset node has LINKS links on average, and a region NODES_PER_REGION nodes.

    Up to MANY_NODES it is at least so large that an average node has three coreset neighbors: then clusters show even
    if their sizes are very unequal.
    """
    mean_degree = max(n_entries, 1) / n_nodes
    by_links, by_neighbors = LINKS * n_nodes / mean_degree**2, 3.0 * n_nodes / mean_degree
    by_regions = NODES_PER_REGION * FIRST_REGIONS * k
    return min(n_nodes, ceil(max(by_links, min(by_neighbors, MANY_NODES), by_regions)))


def partition_by_coreset(
    whole: WholeGraph, choice: ObjectiveChoice, how: Coreset, *, is_final: bool = True
) -> tuple[Schedule, Outcome]:
    """The steps above; nodes that are left out have the label -1. A time budget is used to its end.

    how : how the coreset is drawn, with a number of draws as its size.
    is_final : if False, the rest of a time budget is left to the caller if the coreset may have missed clusters.
    """
    regions = whole.regions(how)
    with whole.progress.stage("merging"):
        run = run_on_clusters(whole, regions.labels, regions.k, CUT.name)
        with whole.progress.within(None):
            merged, _ = partition_into(run.finest, whole.k, CUT, ONE_V_CYCLE, run)
        labels = whole.project(merged.labels, regions.labels)
        whole.progress.offer(partial(_labels_here, whole, Partition(labels, merged.sums)))
    with whole.progress.stage("refining"):
        cut = Task(ratio_objective(whole.totals(CUT.name)), whole.k)
        partition = whole.refine(labels, sums_if_exact(whole, merged, regions.k), cut, CUT.name)
        leaving = 1.0 - float((partition.sums.inside / partition.sums.mass).mean())
        partition, schedule = part_pieces(whole, partition.labels, regions, choice)
        partition = whole.connect(partition, schedule.task, choice.name)
    doubtful = is_doubtful(leaving, whole.k, regions.links)
    if whole.progress.time_budget is not None and (is_final or not doubtful):
        partition = improve_to_the_end(whole, partition, choice, schedule, how)
    with whole.progress.stage("refining"):
        partition = whole.bring_here(partition)
    counts = regions.n_labeled
    names = ["coreset", "coreset neighbor", *(f"round {i}" for i in range(1, len(counts) - 1))]
    decided = {
        name: (count - before) / whole.n_points
        for name, count, before in zip(names, counts, [0, *counts], strict=False)
    }
    estimated = is_estimate(whole.n_entries, regions.k)
    remarks = (*regions.remarks, *((ESTIMATED,) if estimated else ()), *remarks_on(schedule))
    return schedule, Outcome(
        partition.labels, regions.coreset, partition.labels[regions.coreset.nodes], regions.out_of_reach, {}, decided,
        doubtful, remarks, partition.sums,
    )  # fmt: skip


def part_pieces(
    whole: WholeGraph, labels: Labels, regions: Regions, choice: ObjectiveChoice, most_rounds: float = np.inf
) -> tuple[Partition, Schedule]:
    """The partition after rounds in which pieces are partitioned again and nodes move, while the edges become likelier.

    Where no resolution is given, pieces are partitioned at the one at which k is natural while that gains, then at the
    one that the clusters imply, and so on in turn: if regions hold nodes of many clusters, neither is right. For the
    cuts, modularity partitions the pieces, since the smallest cut of impure pieces separates only few of them. If
    modularity keeps the clusters of a cut as they are, there is no round.
    """
    by = MODULARITY if choice.is_ratio else choice
    best: tuple[Partition, Schedule] | None = None
    n_rounds, in_vain, as_called_for = 0, 0, False
    while in_vain < 2 and n_rounds < most_rounds and not (n_rounds and whole.progress.out_of_time()):
        whole.progress.step(n_rounds, n_rounds + 1)
        pieces, n_pieces = whole.pieces(labels, regions.labels)
        run = run_on_clusters(whole, pieces, n_pieces, by.name)
        kept = with_sums(run.finest, whole.restrict(labels, pieces, n_pieces), whole.k, run)
        schedule = schedule_on(run.finest, whole.k, by, run)
        if as_called_for:
            schedule = schedule.at(by, resolution_of_clusters(run.totals, kept.sums), run.totals)
        with whole.progress.within(None):
            better = improve(run.finest, kept, schedule, run)
        before = log_likelihood(run.totals, kept.sums)
        if choice.is_ratio and best is None and is_settled(before, better, run):
            best = Partition(labels, kept.sums), schedule
            break
        sums = sums_if_exact(whole, better, n_pieces)
        partition = whole.refine(whole.project(better.labels, pieces), sums, schedule.task, by.name)
        after = log_likelihood(run.totals, partition.sums)
        if after > before or best is None:
            best, labels = (partition, schedule), partition.labels
        n_rounds, in_vain = n_rounds + 1, 0 if after > before else in_vain + 1
        as_called_for ^= in_vain > 0
        if is_settled(before, partition, run):
            break
        del run, pieces, partition  # of a large graph a fifth of a gigabyte, while the next round makes its own
    assert best is not None
    if choice.is_ratio:
        task, known = Task(ratio_objective(whole.totals(choice.name)), whole.k), choice.spec.by_degree
        partition = whole.refine(best[0].labels, best[0].sums if known else None, task, choice.name)
        return partition, Schedule(task, best[1].penalties, None)
    return best


def improve_to_the_end(
    whole: WholeGraph, partition: Partition, choice: ObjectiveChoice, schedule: Schedule, how: Coreset
) -> Partition:
    """The best partition when time is up, or after so many coresets in vain.

    Each coreset has its own regions. The intersections of clusters and regions are merged within the clusters, and
    nodes move; the result is kept if the value rises. More time only adds coresets, so it never lowers the value.
    """
    in_vain = 0
    while in_vain < CORESETS_IN_VAIN and whole.k > 1 and not whole.progress.out_of_time():
        whole.progress.offer(partial(_labels_here, whole, partition))
        with whole.progress.within(None):
            regions = whole.regions(how)
        with whole.progress.stage("refining"):
            pieces, n_pieces = whole.pieces(partition.labels, regions.labels)
            run = run_on_clusters(whole, pieces, n_pieces, choice.name)
            kept = with_sums(run.finest, whole.restrict(partition.labels, pieces, n_pieces), whole.k, run)
            with whole.progress.within(None):
                better = improve(run.finest, kept, schedule, run)
            sums = sums_if_exact(whole, better, n_pieces)
            tried = whole.refine(whole.project(better.labels, pieces), sums, schedule.task, choice.name)
            tried = whole.connect(tried, schedule.task, choice.name)
        before = value(partition, schedule.task)
        if value(tried, schedule.task) > before + VALUE_RTOL * abs(before):
            partition, in_vain = tried, 0
        else:
            in_vain += 1
    return partition


def _labels_here(whole: WholeGraph, partition: Partition) -> np.ndarray:
    return whole.bring_here(partition).labels


def is_settled(before: float, after: Partition, run: Run) -> bool:
    """Whether the likelihood of the edges by a partition is hardly another than it was before."""
    change = abs(log_likelihood(run.totals, after.sums) - before)
    return change <= SETTLED * max(abs(before), ZERO_LIKELIHOOD * run.totals.volume)


def sums_if_exact(whole: WholeGraph, partition: Partition, n: int) -> ClusterSums | None:
    """The sums of clusters of a graph contracted to n; None where its links were estimated."""
    return None if is_estimate(whole.n_entries, n) else partition.sums


def run_on_clusters(whole: WholeGraph, labels: Labels, k: int, name: str) -> Run:
    """A run over the graph contracted to k clusters."""
    return Run(None, whole.contract(labels, k, name), whole.totals(name), whole.rng, whole.progress)


def number_of_regions(k: int, n_linked: int) -> int:
    """How many regions to part a coreset of n_linked nodes into."""
    return max(min(k, n_linked), FIRST_REGIONS * min(k, n_linked // (NODES_PER_REGION * FIRST_REGIONS)))


def evenness(weights: np.ndarray | None) -> float:
    """The effective share of the edges, 1 if all weights are equal: (sum w)^2 / (n sum w^2)."""
    if weights is None:
        return 1.0
    total = squares = 0.0
    for first, last in pairwise(row_blocks(len(weights), WEIGHTS_AT_A_TIME).tolist()):
        total += float(weights[first:last].sum())
        squares += float(np.square(weights[first:last]).sum())
    return total**2 / (len(weights) * squares)


def is_doubtful(leaving: float, k: int, mean_links: float) -> bool:
    """Whether the coreset can have missed clusters that the whole graph shows.

    leaving : share of the volume that leaves a cluster, on average: the normalized cut over k.

    A step of the random walk keeps the share stays = (1 - leaving - 1/k) / (1 - 1/k) of the information about the
    cluster, two steps keep stays^2. If a node has c links that keep the share s, clusters can be learned only if
    c s^2 > 1 (Kesten & Stigum 1966; Decelle et al. 2011); on planted graphs of 60 blocks all were found at 5.2, and not
    always at 3.9. If clusters were missed, the cut found is larger, which lowers `stays`.
    """
    stays = 1.0 if k == 1 else (1.0 - leaving - 1.0 / k) / (1.0 - 1.0 / k)
    return stays <= 0.0 or mean_links * stays**4 < LEAST_SIGNAL


def suits_a_coreset(graph: Graph, k: int, rng: np.random.Generator) -> bool:
    """Whether a graph is large, and a coreset shows its clusters in far less time than coarsening does.

    Joining two neighbors saves the entries that their rows have in common, the third sides of triangles, whose share is
    estimated from random pairs. A coreset has as many nodes as it needs for its links.
    """
    if graph.n_entries < BUDGET:
        return False
    that_count = int(graph.n_entries * evenness(graph.weights))
    if default_size(graph.n_nodes, that_count, k) > LEFT_BY_JOINING * graph.n_nodes:
        return False
    return that_count >= VERY_DENSE * graph.n_nodes or share_in_common(graph, rng) < LITTLE_IN_COMMON


def share_in_common(graph: Graph, rng: np.random.Generator) -> float:
    """The share of random pairs of a node's neighbors that are neighbors themselves."""
    closed = 0
    for u, (one, other) in zip(rng.integers(graph.n_nodes, size=PROBES).tolist(), rng.random((PROBES, 2)), strict=True):
        row = graph.neighbors(u)
        if len(row):
            v, w = row[int(one * len(row))], row[int(other * len(row))]
            among = graph.neighbors(v)
            place = np.searchsorted(among, w)
            closed += v != w and place < len(among) and among[place] == w
    return closed / PROBES
