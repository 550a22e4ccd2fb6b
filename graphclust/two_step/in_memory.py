"""The two-step method on a graph in memory, or mapped: what the steps of `method.py` do to its nodes."""

from dataclasses import replace

import numpy as np

from graphclust.compiled.graphs.cluster_sums import choose_clusters
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.coreset.label_extension import extend_labels
from graphclust.coreset.options import Coreset
from graphclust.coreset.sampling import CoresetSample, construct_coreset
from graphclust.engine.connectivity import connect
from graphclust.engine.contraction import contract, is_estimate
from graphclust.engine.engine import EFFORTS, ONE_V_CYCLE, EffortCycles, partition_into
from graphclust.engine.levels import Run, number_used, read_only_level, run_on, with_one_more, with_sums, without_last
from graphclust.engine.local_moving import refine
from graphclust.engine.v_cycle import MIN_RELATIVE_CHANGE
from graphclust.graph.container import Graph
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.objective.objective import CUT, Totals, WeighedGraph, node_terms, weigh
from graphclust.partition.components import mask_nodes
from graphclust.progress import Progress
from graphclust.two_step.method import Regions, evenness, number_of_regions
from graphclust.two_step.shared_neighbors import link_coreset

CRUMB = 0.02  # of an average region's volume; a smaller piece is a few nodes that moved to another cluster
NODES_PER_BLOCK = 1 << 14  # a quarter of ROWS_PER_BLOCK: few nodes are left, and all threads should have some


class InMemory:
    """A `WholeGraph` in memory. Nodes that are not searched are in some cluster, without mass, until the end.

    searched : bool, shape (n_nodes,); whole components, so that no edge leads from a searched node to another one.
    """

    def __init__(self, graph: Graph, searched: np.ndarray, k: int, rng: np.random.Generator, progress: Progress):
        self.graph, self.searched = graph, searched
        self.k, self.rng, self.progress = k, rng, progress
        self.n_points, self.n_entries = int(np.count_nonzero(searched)), graph.n_entries
        self.all_searched = self.n_points == graph.n_nodes
        self._runs: dict[str, Run] = {}

    def run(self, name: str) -> Run:
        """A run over the graph with the terms of an objective."""
        if name not in self._runs:
            on = weigh(self.graph, name)
            aside = ~self.searched
            if on.terms.mass[aside].any() or on.terms.loops[aside].any():  # isolated nodes mostly have neither
                inside = self.graph.degrees - self.graph.loops  # subtracted, so that their weight inside is 0
                loops = np.where(self.searched, on.terms.loops, -inside)
                mass = np.where(self.searched, on.terms.mass, 0.0)
                on = WeighedGraph(self.graph, node_terms(loops, mass, on.terms.degrees))
            volume = float(self.graph.degrees[self.searched].sum())
            run = run_on(on, self.rng, self.progress)
            self._runs[name] = replace(run, totals=Totals(volume, on.totals.mass))
        return self._runs[name]

    def totals(self, name: str) -> Totals:
        return self.run(name).totals

    def regions(self, how: Coreset) -> Regions:
        """See `WholeGraph`."""
        graph, k, progress = mask_nodes(self.graph, self.searched), self.k, self.progress
        kernel = NormalizedCutKernel.of(graph)
        assert how.draws is not None
        coreset = construct_coreset(
            kernel, k, how.draws, oversampling=how.oversampling, sampling=how.sampling, rng=self.rng, progress=progress
        )
        with progress.stage("coreset graph"):
            n_read = int((graph.indptr[coreset.nodes + 1] - graph.indptr[coreset.nodes]).sum())
            progress.reads(self.graph, coreset.entries_read + n_read)
            small = link_coreset(kernel, coreset)
            linked = np.flatnonzero(~small.isolated)
            if len(linked) < len(coreset.nodes):
                small = small.subgraph(linked)
        links = small.n_entries / max(small.n_nodes, 1) * evenness(graph.weights)
        with progress.stage("coreset partition"):
            n_regions = number_of_regions(k, len(linked))
            if n_regions == 0:
                linked, regions = np.arange(len(coreset.nodes)), np.arange(len(coreset.nodes)) % k
            else:
                regions = cut_into(small, n_regions, ONE_V_CYCLE, self.rng, progress)
        del small  # of a large graph half a gigabyte
        with progress.stage("labeling"):
            labeled = CoresetSample(coreset.nodes[linked], coreset.weights[linked])
            extended, undecided, n_read = extend_labels(kernel, labeled, regions.astype(np.int64), met_only=True)
            progress.reads(self.graph, n_read)
            labels = extended.astype(np.int32)
            labels[undecided] = -1
            del extended, undecided, kernel  # arrays of n_nodes, no longer needed
            labels, n_labeled = spread_labels(graph, labels, int(regions.max()) + 1, MIN_RELATIVE_CHANGE, progress)
        out_of_reach = (labels < 0) & self.searched
        labels = np.where(labels < 0, labels.max(), labels)  # moves will place them
        labels, n_found = number_used(labels)
        counts = [len(labeled.nodes), *n_labeled]
        if n_found < k:  # a coreset too small or too scattered to show k clusters
            whole = partition_whole(self.graph, self.searched, k, self.rng, progress)
            labels, n_found = np.maximum(whole, 0), k
        return Regions(labels, n_found, coreset, links, counts, out_of_reach)

    def pieces(self, labels: np.ndarray, regions: np.ndarray) -> tuple[np.ndarray, int]:
        if self.all_searched:
            return pieces_of(self.graph.degrees, labels, regions)
        pieces, n_pieces = pieces_of(self.graph.degrees, np.where(self.searched, labels, np.int32(-1)), regions)
        return np.maximum(pieces, 0), n_pieces

    def contract(self, labels: np.ndarray, k: int, name: str) -> Level:
        """See `WholeGraph`; the weight inside is the volume less the weight that leaves, unless that is an estimate."""
        run = self.run(name)
        if is_estimate(self.n_entries, k):
            return contract(run.finest, with_sums(run.finest, labels, k, run), run).coarse
        terms, size = run.finest.terms, np.bincount(labels, minlength=k)
        mass, loops, degrees, own = (
            np.bincount(labels, values, k) for values in (terms.mass, terms.loops, self.graph.degrees, self.graph.loops)
        )
        sums = ClusterSums(np.zeros(k), mass, size)
        rows, coarse = contract(run.finest, Partition(labels, sums), run).coarse
        leaving = np.bincount(np.repeat(np.arange(k), np.diff(rows.indptr)), rows.weights, k)
        return read_only_level(rows, coarse._replace(loops=loops + (degrees - own) - leaving))

    def project(self, of_clusters: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return of_clusters[labels]

    def restrict(self, labels: np.ndarray, clusters: np.ndarray, k: int) -> np.ndarray:
        of_clusters = np.empty(k, np.int32)
        if self.all_searched:
            of_clusters[clusters] = labels
        else:
            of_clusters[clusters[self.searched]] = labels[self.searched]
        return of_clusters

    def refine(self, labels: np.ndarray, sums: ClusterSums | None, task: Task, name: str) -> Partition:
        run, once, k = self.run(name), self.progress.out_of_time(), self.k
        if self.all_searched:
            return refine(run.finest, self._with_sums(labels, sums, k, run), task, run, once=once)
        more = None if sums is None else with_one_more(sums)
        partition = self._with_sums(self._set_apart(labels), more, k + 1, run)
        return self._put_back(refine(run.finest, partition, task, run, once=once))

    def _set_apart(self, labels: np.ndarray) -> np.ndarray:
        """The labels with the nodes that are not searched in an extra cluster: no other consists of them alone."""
        return np.where(self.searched, labels, np.int32(self.k))

    def _put_back(self, partition: Partition) -> Partition:
        """The partition with the nodes that are not searched in the first cluster, and without the extra one."""
        return Partition(np.where(self.searched, partition.labels, np.int32(0)), without_last(partition.sums))

    def _with_sums(self, labels: np.ndarray, sums: ClusterSums | None, k: int, run: Run) -> Partition:
        if sums is None:
            return with_sums(run.finest, labels, k, run)
        return Partition(labels, sums._replace(size=np.bincount(labels, minlength=k)))

    def connect(self, partition: Partition, task: Task, name: str) -> Partition:
        run = self.run(name)
        if self.all_searched:
            return connect(run.finest, partition, task, run)
        apart = Partition(self._set_apart(partition.labels), with_one_more(partition.sums))
        return self._put_back(connect(run.finest, apart, task._replace(k=self.k + 1), run))

    def bring_here(self, partition: Partition) -> Partition:
        return partition._replace(labels=np.where(self.searched, partition.labels, -1).astype(np.int64))


def partition_whole(
    graph: Graph, searched: np.ndarray, k: int, rng: np.random.Generator, progress: Progress
) -> np.ndarray:
    """k clusters by the normalized cut, without a coreset, of the nodes that are searched; -1 for others."""
    labels = np.full(graph.n_nodes, -1, np.int32)
    labels[searched] = cut_into(graph.subgraph(np.flatnonzero(searched)), k, EFFORTS["low"], rng, progress)
    return labels


def cut_into(graph: Graph, k: int, effort: EffortCycles, rng: np.random.Generator, progress: Progress) -> np.ndarray:
    """k clusters of a whole graph by the normalized cut, such as regions of a coreset's."""
    run = run_on(weigh(graph, CUT.name), rng, progress)
    with progress.within(None):
        return partition_into(run.finest, k, CUT, effort, run)[0].labels


def spread_labels(
    graph: Graph, labels: np.ndarray, k: int, few: float, progress: Progress
) -> tuple[np.ndarray, list[int]]:
    """Labels after rounds in which every unlabeled node with edges takes the label to which it has most edge weight.

    Also returned: how many nodes with edges had a label at the start and after each round.

    labels : int32 in [-1, k), shape (n_nodes,). few : the last round is the one in which at most this share of the
    nodes without a label gets one. A round reads the rows of all nodes without a label.
    """
    labels = labels.copy()
    missing = np.flatnonzero((labels < 0) & ~graph.isolated)
    n_points = graph.n_nodes - int(np.count_nonzero(graph.isolated))
    n_labeled = [n_points - len(missing)]
    while len(missing):
        chosen = np.empty(len(missing), np.int32)
        progress.reads(graph, int((graph.indptr[missing + 1] - graph.indptr[missing]).sum()))
        blocks = row_blocks(len(missing), NODES_PER_BLOCK)
        run_in_blocks(choose_clusters, blocks, k, missing, graph.rows, labels, chosen)
        labels[missing] = chosen
        before, missing = len(missing), missing[chosen < 0]
        n_labeled.append(n_points - len(missing))
        progress.step(n_labeled[-1], n_points)
        if before - len(missing) <= few * before:
            break
    return labels, n_labeled


def pieces_of(volumes: np.ndarray, labels: np.ndarray, regions: np.ndarray) -> tuple[np.ndarray, int]:
    """The intersections of clusters and regions, int32, and how many there are; all crumbs of a cluster are one piece.

    volumes : of the nodes; a piece of less than CRUMB of an average region is a crumb. Nodes with label -1 have none.
    """
    taken = labels >= 0
    n_regions = int(regions.max()) + 1
    pieces, n_pieces = number_used(labels.astype(np.int64) * n_regions + regions, taken)
    of_piece = np.bincount(pieces[taken], weights=volumes[taken], minlength=n_pieces)
    is_crumb = of_piece < CRUMB * volumes[taken].sum() / n_regions
    return number_used(np.where(taken & is_crumb[pieces], n_pieces + labels, pieces), taken)
