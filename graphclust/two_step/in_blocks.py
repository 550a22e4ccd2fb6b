"""The two-step method over blocks of rows: on the threads of a process, or on a cluster. See `WholeGraph`.

It differs from the method in memory in two steps. The coreset is sampled in rounds, by `coreset/by_blocks.py`. And
nodes move in rounds: in each, all nodes that would gain move at once, but no more into a cluster than half of its mass,
and the sums of the clusters are made again. A round that lowers the value is undone, and in the next a node moves with
half the probability. The coreset and its regions are small, and are worked on in one place.

What one block of rows does are functions that an `Engine` runs anywhere. Rows are numbered as in the whole graph, and
labels are those of all nodes; of arrays of the length of the graph that a loop writes to, only the part of the block is
ever touched.
"""

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs import cluster_sums as sums_loops
from graphclust.compiled.graphs.choosing import Rules, State, choose_alone
from graphclust.compiled.graphs.cluster_sums import choose_clusters
from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms
from graphclust.compiled.graphs.objective import ClusterSums, Objective, value_of
from graphclust.compiled.runtime import random_numbers
from graphclust.compiled.runtime.blocks import MadeRows
from graphclust.coreset.by_blocks import SampledCoreset, coreset_rows, count_points, sample_by_blocks
from graphclust.coreset.label_extension import centroids_of_rows, labels_in_block
from graphclust.coreset.options import Coreset, Outcome
from graphclust.coreset.sampling import CoresetSample
from graphclust.engine.connectivity import REFINEMENTS, connect_once
from graphclust.engine.contraction import links_of_nodes, rows_of_entries
from graphclust.engine.engine import ONE_V_CYCLE
from graphclust.engine.levels import number_used, read_only_level, run_on, with_one_more, without_last
from graphclust.engine.resolution import Schedule
from graphclust.engine.v_cycle import MIN_RELATIVE_CHANGE
from graphclust.errors import amount
from graphclust.graph.container import Graph
from graphclust.graph.executor import Engine, Whole, sum_in_order
from graphclust.objective.kernel import KernelTerms, kernel_terms
from graphclust.objective.objective import ObjectiveChoice, Totals, WeighedGraph, weigh
from graphclust.partition.components import nodes_to_partition
from graphclust.progress import Progress
from graphclust.two_step.in_memory import cut_into, partition_whole, pieces_of
from graphclust.two_step.method import (
    FIRST_REGIONS,
    IN_DOUBT,
    Regions,
    default_size,
    evenness,
    number_of_regions,
    partition_by_coreset,
)
from graphclust.two_step.shared_neighbors import link_rows

HASTY_ROUNDS = 2  # of moves once time is up: on a planted graph of 3M nodes 0.02 is right before them, 0.9 after
MOST_ROUNDS = 30  # of moves by one objective
VERY_FEW = 0.0001  # of the nodes: so few moves are not worth a round
MOST_MISSES = 3  # rounds that lower the value, since too many nodes moved; after each the share that moves is halved
GROWTH = 0.5  # of a cluster's mass in one round: nodes join independently, and would overfill small clusters
FURTHER = 1 << 40  # streams of the draws for further coresets begin here, beyond all others
MOVE_TURNS = 1 << 8  # turns of the draws for a sequence of rounds


Collect = Callable[[Engine, Partition], Partition]


class GraphSource:
    """A graph, in memory or mapped, and what follows from it, made when it is asked for."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self._weighed: dict[str, WeighedGraph] = {}

    def terms(self, at: slice | np.ndarray) -> KernelTerms:
        """Degrees, self-affinities and point weights of some nodes, under implied loops."""
        return kernel_terms(self.graph, at, "implied", 0.0)

    def weigh(self, name: str) -> WeighedGraph:
        if name not in self._weighed:
            self._weighed[name] = weigh(self.graph, name)
        return self._weighed[name]


class Changes(NamedTuple):
    """Nodes of a block, their new labels, and how many nodes are still without one."""

    nodes: np.ndarray
    labels: np.ndarray
    n_left: int


class Moves(NamedTuple):
    """Nodes of a block that would gain by a move, where to, and the mass that would join each cluster."""

    nodes: np.ndarray
    labels: np.ndarray
    joining: np.ndarray


def bring_labels(engine: Engine, partition: Partition) -> Partition:
    """The partition with the labels of all nodes in the memory of this process."""
    return partition._replace(labels=engine.fetch(partition.labels).astype(np.int64))


def partition_in_blocks(
    engine: Engine, n_entries: int, k: int, choice: ObjectiveChoice, components: str, how: Coreset,
    rng: np.random.Generator, progress: Progress, collect: Collect = bring_labels,
) -> tuple[Schedule, Outcome, Coreset]:  # fmt: skip
    """The two-step method in steps over blocks, wherever an engine runs them; and the coreset with its size."""
    whole = InBlocks(engine, n_entries, k, components, int(rng.integers(2**63)), progress, collect)
    size = how.draws or default_size(whole.n_points, n_entries, whole.k)
    schedule, outcome = partition_by_coreset(whole, choice, replace(how, size=max(whole.k, size)))
    outcome = replace(outcome, remarks=(*outcome.remarks, *([IN_DOUBT] if outcome.doubtful else [])))
    return schedule, outcome, replace(how, size=size)


class InBlocks:
    """A `WholeGraph` whose rows and labels stay where the steps run.

    components : as `coreset_sc` takes it, for the graph of the coreset. key : of the draws. collect : brings a
    partition here, its labels as an int64 array.
    """

    def __init__(
        self, engine: Engine, n_entries: int, k: int, components: str, key: int, progress: Progress, collect: Collect
    ):
        self.engine, self.components, self.key = engine, components, key
        self.rng, self.progress, self.collect = np.random.default_rng([key, 0]), progress, collect
        self.n_points = sum(engine.fetch(engine.each(count_points)))
        self.n_entries, self.k = n_entries, min(k, self.n_points)
        self.n_sequences = self.n_coresets = 0
        self._totals: dict[str, Totals] = {}

    def totals(self, name: str) -> Totals:
        if name not in self._totals:
            self._totals[name] = self.engine.fetch(self.engine.once(totals_of, name))
        return self._totals[name]

    def regions(self, how: Coreset) -> Regions:
        """See `WholeGraph`."""
        engine, progress, key = self.engine, self.progress, self.key
        self.n_coresets += 1
        if self.n_coresets > 1:  # the first coreset has the key of all other draws
            key = int(np.random.default_rng([key, FURTHER + self.n_coresets]).integers(2**63))
        n_seeds = ceil(how.oversampling * self.k)
        assert how.draws is not None
        sample = sample_by_blocks(engine, n_seeds, how.draws, "seed_weight", key, progress)
        nodes, node_weights = engine.fetch(sample.joined)
        coreset = CoresetSample(nodes, node_weights, sample.n_clipped, sample.entries_read)
        labels, links, n_missing = self.label_nodes(sample, key)
        remarks: tuple[str, ...] = ()
        if n_missing[-1]:
            remarks = (
                f"{amount(n_missing[-1], 'node lies', 'nodes lie')} too far from the coreset and joined the largest "
                "region, from where moves may have taken them",
            )
        labels, n_found = self.numbered(lambda source, labels: number_used(labels, labels >= 0), labels)
        if n_found < self.k:  # a coreset too small or too scattered to show k clusters
            labels, n_found = engine.once(whole_partition, self.k, key), self.k
        n_labeled = [len(nodes), *(self.n_points - missing for missing in n_missing)]
        return Regions(labels, n_found, coreset, links, n_labeled, remarks=remarks)

    def label_nodes(self, sample: SampledCoreset, key: int) -> tuple[Whole, float, list[int]]:
        """The region of each node, the mean links of the coreset, and how many nodes had none after each step."""
        engine, progress = self.engine, self.progress
        with progress.stage("coreset graph"):
            rows, weights = coreset_rows(engine, sample), engine.once(lambda source, joined: joined[1], sample.joined)
            small = engine.once(link_rows, rows, weights)
        with progress.stage("coreset partition"):
            regions = engine.once(coreset_regions, small, self.k, self.components, key)
            n_regions = engine.fetch(engine.once(lambda source, regions: int(regions[1].max()) + 1, regions))
        with progress.stage("labeling"):
            centroids = engine.once(
                lambda source, rows, weights, of: centroids_of_rows(source, rows, weights, *of), rows, weights, regions
            )
            in_blocks = engine.each(labels_in_block, rows, centroids)
            labels = engine.once(lambda source, parts: np.concatenate(parts), in_blocks)
            n_missing: list[int] = []
            while True:
                changes = engine.each(spread_labels_in_block, labels, n_regions)
                counts = engine.each(lambda source, first, last, of: (len(of.nodes), of.n_left), changes)
                labeled, left = np.sum(engine.fetch(counts), axis=0).tolist()
                n_missing += [left] if n_missing else [labeled + left, left]
                if labeled == 0:
                    break
                labels = engine.once(change_labels, labels, changes)
                progress.step(labeled, labeled + left)
                if labeled <= MIN_RELATIVE_CHANGE * (labeled + left) or left == 0:
                    break
            labels = engine.once(labels_for_the_rest, labels) if n_missing[-1] else labels
        return labels, engine.fetch(engine.once(mean_links, small)), n_missing

    def numbered(self, function: Callable[..., tuple[np.ndarray, int]], *labels: Whole) -> tuple[Whole, int]:
        """What a function of labels of all nodes gives: labels without gaps, and how many there are."""
        pair = self.engine.once(function, *labels)
        numbers, n_used = (self.engine.once(lambda source, pair, i=i: pair[i], pair) for i in range(2))
        return numbers, self.engine.fetch(n_used)

    def pieces(self, labels: Whole, regions: Whole) -> tuple[Whole, int]:
        return self.numbered(lambda source, *of: pieces_of(source.graph.degrees, *of), labels, regions)

    def contract(self, labels: Whole, k: int, name: str) -> Level:
        links = self.engine.each(links_in_block, labels, k)
        level = self.engine.fetch(self.engine.once(level_of_links, links, self.sums(labels, k, name)))
        return read_only_level(*level)  # arrays from another process are writable

    def project(self, of_clusters: np.ndarray, labels: Whole) -> Whole:
        """See `WholeGraph`; -1 stays."""
        return self.engine.once(lambda source, new, old: np.append(new, np.int32(-1))[old], of_clusters, labels)

    def restrict(self, labels: Whole, clusters: Whole, k: int) -> np.ndarray:
        return self.engine.fetch(self.engine.once(labels_of_clusters, labels, clusters, k))

    def refine(self, labels: Whole, sums: ClusterSums | None, task: Task, name: str) -> Partition:
        """See `WholeGraph`; in rounds, each of which raises the value. The sums are made again, in block order."""
        return self.move_in_rounds(labels, task, name, HASTY_ROUNDS)

    def sums(self, labels: Whole, k: int, name: str) -> ClusterSums:
        """The sums of the clusters, added in block order."""
        parts = self.engine.fetch(self.engine.each(cluster_sums, labels, k, name))
        return ClusterSums(*(sum_in_order(list(column)) for column in zip(*parts, strict=True)))

    def connect(self, partition: Partition, task: Task, name: str) -> Partition:
        """See `WholeGraph`; the connected parts are found in one place, which reads a few entries of each row."""
        for _ in range(REFINEMENTS):
            connected = self.connect_once(partition, task, name)
            if connected is partition:
                return partition
            partition = self.move_in_rounds(connected.labels, task, name, 0)
        return self.connect_once(partition, task, name)

    def connect_once(self, partition: Partition, task: Task, name: str) -> Partition:
        """`connect` without moves of single nodes; the partition itself if nothing changes."""
        connected = self.engine.once(connect_clusters, partition.labels, partition.sums, task, name)
        sums = self.engine.fetch(self.engine.once(lambda source, clusters: clusters and clusters.sums, connected))
        if sums is None:
            return partition
        return Partition(self.engine.once(lambda source, clusters: clusters.labels, connected), sums)

    def bring_here(self, partition: Partition) -> Partition:
        return self.collect(self.engine, partition)

    def move_in_rounds(self, labels: Whole, task: Task, name: str, at_least: int) -> Partition:
        """The partition after rounds of moves, each of which raises the value, until hardly any node would gain.

        If more than half as many nodes as in the round before still would gain, neighbors are changing places, and from
        then on only half of the nodes move. at_least : so many rounds are made even if time is up.
        """
        engine, objective, k = self.engine, task.objective, task.k
        sums = self.sums(labels, k, name)
        turn = (self.n_sequences + 1) * MOVE_TURNS
        self.n_sequences += 1
        share, misses, waited = 1.0, 0, np.inf
        for done in range(MOST_ROUNDS):
            if done >= at_least and self.progress.out_of_time():
                break
            moves = engine.each(moves_in_block, labels, sums, objective, name)
            counts = engine.each(lambda source, first, last, of: (len(of.nodes), of.joining), moves)
            movable, joining = (sum(of_blocks) for of_blocks in zip(*engine.fetch(counts), strict=True))
            if movable <= VERY_FEW * sums.size.sum():
                break
            if movable > waited / 2.0:
                share = min(share, 0.5)
            waited = movable
            shares = share * np.minimum(1.0, GROWTH * sums.mass / np.where(joining > 0.0, joining, 1.0))
            after = engine.once(move_labels, labels, moves, sums.size, shares, self.key, turn + done)
            sums_after = self.sums(after, k, name)
            self.progress.step(done + 1, MOST_ROUNDS)
            if value_of(objective, sums_after) > value_of(objective, sums):
                labels, sums = after, sums_after
            elif misses < MOST_MISSES:
                share, misses = share / 2.0, misses + 1
            else:
                break
        return Partition(labels, sums)


def spread_labels_in_block(source: GraphSource, first: int, last: int, labels: np.ndarray, k: int) -> Changes:
    """Every node without a label takes the one that it has most edge weight to, if any."""
    graph = source.graph
    missing = first + np.flatnonzero((labels[first:last] < 0) & (graph.degrees[first:last] > 0))
    chosen = np.empty(len(missing), np.int32)
    choose_clusters(0, len(missing), 0, k, missing, graph.rows, labels, chosen)
    is_met = chosen >= 0
    return Changes(missing[is_met], chosen[is_met], int(np.count_nonzero(~is_met)))


def change_labels(source: GraphSource, labels: np.ndarray, parts: list[Changes]) -> np.ndarray:
    """The labels after the changes of all blocks."""
    labels = labels.copy()
    for part in parts:
        labels[part.nodes] = part.labels
    return labels


def cluster_sums(source: GraphSource, first: int, last: int, labels: np.ndarray, k: int, name: str) -> ClusterSums:
    """What the nodes of a block add to the sums of the clusters, under labels in [-1, k)."""
    terms, own = source.weigh(name).terms, labels[first:last]
    stays = np.empty(source.graph.n_nodes)
    sums_loops.weights_to_own(first, last, 0, source.graph.rows, labels, stays)
    shifted = own + 1  # 0 for nodes without a cluster

    def by_cluster(values=None):
        return np.bincount(shifted, weights=values, minlength=k + 1)[1:]

    inside = by_cluster(stays[first:last] + terms.loops[first:last])
    return ClusterSums(inside, by_cluster(terms.mass[first:last]), by_cluster())


def moves_in_block(
    source: GraphSource, first: int, last: int, labels: np.ndarray, sums: ClusterSums, objective: Objective, name: str
) -> Moves:
    """The nodes that a move would help as things stand, and the best cluster of each."""
    on, rows = source.weigh(name), source.graph.rows
    level, now = Level(rows, Terms(on.terms.loops, on.terms.mass)), State(labels, sums, Rules(len(sums.size), False))
    target = choose_alone(level, objective, now, np.arange(first, last, dtype=np.int32))
    chosen = np.flatnonzero(target >= 0)
    nodes, to = first + chosen, target[chosen]
    return Moves(nodes, to, np.bincount(to, weights=on.terms.mass[nodes], minlength=len(sums.mass)))


def move_labels(
    source: GraphSource, labels: np.ndarray, parts: list[Moves], size: np.ndarray, shares: np.ndarray, key: int,
    turn: int,
) -> np.ndarray:  # fmt: skip
    """The labels after moves, each made with the share of its target as probability; no cluster is emptied."""
    nodes, to = (np.concatenate([getattr(part, name) for part in parts]) for name in ("nodes", "labels"))
    drawn = np.empty(len(nodes), np.bool_)
    random_numbers.draw_shares(key, turn, nodes, shares[to], drawn)
    nodes, to = nodes[drawn], to[drawn]
    made = moves_that_empty_none(labels[nodes], to, size)
    moved = labels.copy()
    moved[nodes[made]] = to[made]
    return moved


def moves_that_empty_none(left: np.ndarray, joined: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Which of some moves between clusters of these sizes to make, so that none loses all of its nodes; bool.

    A node that stays is missing where it would have gone, so that others may have to stay for it.
    """
    made, k = np.ones(len(left), np.bool_), len(size)
    while True:
        after = size - np.bincount(left[made], minlength=k) + np.bincount(joined[made], minlength=k)
        emptied = (after == 0) & (size > 0)
        if not emptied.any():
            return made
        made &= ~emptied[left]


def connect_clusters(
    source: GraphSource, labels: np.ndarray, sums: ClusterSums, task: Task, name: str
) -> Partition | None:
    """The partition with connected clusters, before nodes move; None where they are. Rows are read in their order.

    Nodes with label -1 are whole components: together they are one cluster more for the time being.
    """
    run, is_out = run_on(source.weigh(name)), labels < 0
    partition = Partition(labels, sums)
    if is_out.any():
        partition = Partition(np.where(is_out, np.int32(task.k), labels), with_one_more(sums))
        task = task._replace(k=task.k + 1)
    connected = connect_once(run.finest, partition, task, run)
    if connected is partition:
        return None
    if not is_out.any():
        return connected
    return Partition(np.where(is_out, np.int32(-1), connected.labels), without_last(connected.sums))


def links_in_block(source: GraphSource, first: int, last: int, labels: np.ndarray, k: int) -> MadeRows:
    """The links of the nodes of a block to all clusters, by cluster; every node with edges has a label."""
    own = labels[first:last]
    nodes = first + np.argsort(own, kind="stable")[np.count_nonzero(own < 0) :]
    return links_of_nodes(source.graph.rows, labels, k, nodes)


def level_of_links(source: GraphSource, parts: list[MadeRows], sums: ClusterSums) -> Level:
    """The level of the clusters with these sums, from the links of all blocks."""
    k = len(sums.mass)
    rows = np.concatenate([np.repeat(np.arange(k), part.lengths) for part in parts])
    columns = np.concatenate([part.indices for part in parts])
    entries = np.concatenate([part.weights for part in parts])
    return Level(rows_of_entries(rows, columns, entries, k), Terms(sums.inside, sums.mass))


def coreset_regions(
    source: GraphSource, small: Graph, k: int, components: str, key: int
) -> tuple[np.ndarray, np.ndarray]:
    """The places of the coreset's nodes that have links, but for small components, and their regions."""
    m = small.n_nodes
    linked = np.arange(0)
    if small.n_entries:
        which = "all" if components == "all" else "large"
        linked = np.flatnonzero(nodes_to_partition(small, FIRST_REGIONS * k, which, Progress()).nodes)
    part = small if len(linked) == m else small.subgraph(linked)
    n_regions = number_of_regions(k, len(linked))
    if n_regions == 0:
        return np.arange(m), np.arange(m) % k
    regions = cut_into(part, n_regions, ONE_V_CYCLE, np.random.default_rng([key, n_regions]), Progress())
    return linked, regions.astype(np.int64)


def labels_for_the_rest(source: GraphSource, labels: np.ndarray) -> np.ndarray:
    """Nodes with edges that have no label join the cluster of largest volume."""
    volumes = np.bincount(labels + 1, weights=source.graph.degrees)[1:]
    return np.where((labels < 0) & (source.graph.degrees > 0), np.int32(np.argmax(volumes)), labels)


def labels_of_clusters(source: GraphSource, labels: np.ndarray, clusters: np.ndarray, k: int) -> np.ndarray:
    """The label of each of k clusters of nodes that all have the same."""
    of_clusters = np.empty(k, np.int32)
    of_clusters[clusters[clusters >= 0]] = labels[clusters >= 0]
    return of_clusters


def totals_of(source: GraphSource, name: str) -> Totals:
    """The totals of an objective; isolated nodes do not count."""
    graph = source.graph
    return Totals(graph.total_volume, float(source.weigh(name).terms.mass[graph.degrees > 0].sum()))


def mean_links(source: GraphSource, small: Graph) -> float:
    """Mean number of links of the coreset nodes that have any, times the `evenness` of the weights."""
    n_linked = int(np.count_nonzero(~small.isolated))
    return small.n_entries / max(n_linked, 1) * evenness(source.graph.weights)


def whole_partition(source: GraphSource, k: int, key: int) -> np.ndarray:
    """The partition of the whole graph in one place, for graphs that are too small or too scattered for a coreset."""
    return partition_whole(source.graph, source.graph.degrees > 0, k, np.random.default_rng([key, 1]), Progress())
