"""The steps of `coreset_regions` on a graph in memory: its nodes labelled by the regions of a coreset, and mended."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.objective import ClusterSums, Objective
from graphclust.coreset.label_extension import extend_labels
from graphclust.coreset.sampling import Coreset, construct_coreset
from graphclust.coreset.spreading import spread_labels
from graphclust.coreset.two_step import link_coreset
from graphclust.graph.container import Graph
from graphclust.graph.kernel import NormalizedCutKernel
from graphclust.objective.objective import BY_DEGREE, CUT, Aim, Weighed, node_terms, ratio_objective, weighed
from graphclust.partition import healing, streamed_quotient
from graphclust.partition.budget import HARDLY_ANY
from graphclust.partition.components import in_all_nodes
from graphclust.partition.coreset_regions import HASTY_ROUNDS, evenness, number_of_regions
from graphclust.partition.cycles import Assigned
from graphclust.partition.merging import merged
from graphclust.partition.moves import MOST_SWEEPS, entries_of, moved_in_rounds, moved_until_stable, summed
from graphclust.partition.multilevel import SINGLE_START, partitioned
from graphclust.partition.pieces import common_pieces, merged_anew
from graphclust.partition.purity import are_clearly_pure, are_impure
from graphclust.partition.quotient import contracted
from graphclust.partition.reduction import Reduction, reduced, taken, used_labels
from graphclust.partition.resolution import Goal, implied_goal
from graphclust.partition.whole_graph import Anew, Labels, Merged, Parted, Sampling
from graphclust.progress import Progress


class Shown(NamedTuple):
    """What a coreset shows of a graph.

    labels : int32, shape (n_nodes,), the region of each node; out_of_reach : bool, shape (n_nodes,), True for nodes
    farther from the coreset than labels spread. coreset : what was drawn; links, n_labeled : see `Merged`.
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


class InMemory:
    """A `WholeGraph` in memory, weighed for the aim that the clusters are wanted for."""

    def __init__(self, on: Weighed, k: int, effort: float, rng: np.random.Generator, progress: Progress):
        self.on, self.by_degree = on, weighed(on.graph, CUT.name)
        self.k, self.effort, self.rng, self.progress = k, effort, rng, progress
        self.n_points = on.graph.n_nodes - int(np.count_nonzero(on.graph.isolated))

    def weighed(self, name: str) -> Weighed:
        """The graph with the terms of an objective."""
        return self.by_degree if name in BY_DEGREE else self.on

    def merged(self, sampling: Sampling) -> Merged:
        """See `WholeGraph`."""
        shown = shown_by_coreset(self.on.graph, self.k, sampling, self.rng, self.progress)
        with self.progress.stage("merging"):
            found, fragments = merged_regions(self.by_degree, shown, self.k, self.effort, self.rng, self.progress)
            self.progress.offer(found.labels.copy)
        estimated = streamed_quotient.is_estimate(self.on.graph, int(shown.labels.max()) + 1)
        return Merged(
            found, fragments, estimated, shown.coreset, shown.links, shown.n_labeled, out_of_reach=shown.out_of_reach
        )

    def moved(self, found: Parted, objective: Objective, name: str, most_sweeps: int = MOST_SWEEPS) -> Parted:
        """See `WholeGraph`."""
        labels = found.labels.copy()
        sums = moved_until_stable(
            self.weighed(name), labels, self.k, objective, self.progress, most_sweeps, HARDLY_ANY, found.sums
        )
        return Parted(labels, sums)

    def moved_hastily(self, found: Parted, objective: Objective, name: str) -> Parted:
        """See `WholeGraph`; half of the nodes in each round."""
        labels = found.labels.copy()
        sums = moved_in_rounds(
            self.weighed(name), labels, self.k, objective, HASTY_ROUNDS, self.progress, HASTY_ROUNDS, found.sums
        )
        return Parted(labels, sums)

    def sums(self, labels: Labels, name: str) -> ClusterSums:
        """See `WholeGraph`."""
        self.progress.reads(self.on.graph, self.on.graph.n_entries)
        return summed(self.weighed(name), labels, self.k)[1]

    def are_clearly_pure(self, found: Parted, name: str) -> bool:
        """See `WholeGraph`; by a sample of the rows."""
        return are_clearly_pure(self.weighed(name), *found, self.progress)

    def pieces(self, found: Parted, fragments: Labels, name: str) -> PiecesInMemory:
        """See `WholeGraph`."""
        on = self.weighed(name)
        reduction = reduced(on, *common_pieces(on.terms.degrees, found.labels, fragments))
        self.progress.reads(on.graph, on.graph.n_entries)
        return PiecesInMemory(self, reduction, found)

    def is_better(self, aim: Aim, objective: Objective, found: Parted, than: Parted) -> bool:
        """See `WholeGraph`."""
        return healing.is_better(aim, self.weighed(aim.name), objective, Assigned(*found), Assigned(*than))

    def implied_goal(self, aim: Aim, sums: ClusterSums) -> Goal:
        """See `WholeGraph`."""
        return implied_goal(aim, self.weighed(aim.name), self.k, sums)

    def labels_at(self, labels: Labels, nodes: np.ndarray) -> np.ndarray:
        """See `WholeGraph`."""
        return labels[nodes].astype(np.int64)

    def brought_here(self, labels: Labels) -> np.ndarray:
        """See `WholeGraph`; they are here."""
        return labels


class PiecesInMemory:
    """See `Pieces`."""

    def __init__(self, whole: InMemory, reduction: Reduction, found: Parted):
        self.whole, self.reduction, self.sums = whole, reduction, found.sums
        self.of_piece = reduction.restricted(found.labels)

    def are_impure(self) -> bool:
        """See `Pieces`."""
        return are_impure(self.reduction.small, self.of_piece, self.sums)

    def merged_anew(self, aim: Aim) -> Anew:
        """See `Pieces`."""
        whole, reduction = self.whole, self.reduction
        with whole.progress.within(reduction.prolonged):
            found, goal = merged_anew(
                aim, reduction.small, self.of_piece, whole.k, whole.effort, whole.rng, whole.progress
            )
        labels = reduction.prolonged(found.labels)
        sums = reduction.sums(found.sums, labels)
        return Anew(Parted(labels, sums), goal, are_impure(reduction.small, *found))


def shown_by_coreset(graph: Graph, k: int, sampling: Sampling, rng: np.random.Generator, progress: Progress) -> Shown:
    """A region for every node, at least k of them where the coreset has as many linked nodes."""
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
    links = small.n_entries / max(small.n_nodes, 1) * evenness(graph.weights)
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


def merged_regions(
    by_cut: Weighed, shown: Shown, k: int, effort: float, rng: np.random.Generator, progress: Progress
) -> tuple[Parted, np.ndarray]:
    """The regions that a coreset shows merged into k clusters by the normalised cut, and those regions as labels."""
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
        return Parted(fragments, None), fragments
    reduction = reduced(by_cut, fragments, n_found)
    progress.reads(graph, graph.n_entries)
    with progress.within(reduction.prolonged):
        of_fragments = partitioned(reduction.small, k, CUT, SINGLE_START, rng, progress)
        labels = reduction.prolonged(of_fragments.labels)
    return Parted(labels, reduction.sums(of_fragments.sums, labels)), fragments


def without_isolated_nodes(on: Weighed) -> tuple[np.ndarray, Weighed]:
    """The nodes that have edges, and the graph between them."""
    nodes = np.flatnonzero(~on.graph.isolated)
    if len(nodes) == on.graph.n_nodes:
        return nodes, on
    terms = node_terms(on.terms.loops[nodes], on.terms.mass[nodes], on.terms.degrees[nodes])
    return nodes, Weighed(on.graph.subgraph(nodes), terms)
