"""The two-step method over blocks of rows: on the threads of a process, or on a cluster. See `WholeGraph`.

It differs from the method in memory in two steps. The coreset is sampled in rounds, by `parallel_sampling`. And nodes
move in rounds: in each, all nodes that would gain move at once, but no more into a cluster than half of its mass, and
the sums of the clusters are made again. A round that lowers the value is undone, and in the next a node moves with half
the probability. The coreset and its regions are small, and are worked on in one place.
"""

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.coreset import Centroids
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import ClusterSums, value_of
from graphclust.compiled.graphs.row_subset import ChosenRows
from graphclust.coreset.label_extension import centroids_of_rows, labels_in_block
from graphclust.coreset.parallel_sampling import SampledCoreset, coreset_rows, count_points, sample_by_blocks
from graphclust.coreset.sampling import CoresetSample
from graphclust.engine.connectivity import REFINEMENTS
from graphclust.engine.engine import EFFORTS, partition_into
from graphclust.engine.levels import read_only_level, run_on
from graphclust.engine.overlay import number_used, pieces_of
from graphclust.engine.v_cycle import MIN_RELATIVE_CHANGE
from graphclust.errors import amount
from graphclust.graph.container import Graph
from graphclust.graph.executor import ByBlock, Engine, Whole, sum_in_order
from graphclust.objective.objective import CUT, Totals, weigh
from graphclust.partition.components import nodes_to_partition
from graphclust.progress import Progress
from graphclust.two_step import blockwise as steps
from graphclust.two_step.blockwise import GraphSource
from graphclust.two_step.in_memory import labels_of_regions
from graphclust.two_step.method import FIRST_REGIONS, Regions, Sampling, evenness, number_of_regions
from graphclust.two_step.shared_neighbors import link_rows

HASTY_ROUNDS = 2  # of moves once time is up: on a planted graph of 3M nodes 0.02 is right before them, 0.9 after
MOST_ROUNDS = 30  # of moves by one objective
VERY_FEW = 0.0001  # of the nodes: so few moves are not worth a round
MOST_MISSES = 3  # rounds that lower the value, since too many nodes moved; after each the share that moves is halved
GROWTH = 0.5  # of a cluster's mass in one round: nodes join independently, and would overfill small clusters
FURTHER = 1 << 40  # streams of the draws for further coresets begin here, beyond all others
MOVE_TURNS = 1 << 8  # turns of the draws for a sequence of rounds


Collect = Callable[[Engine, Partition], Partition]


class CoresetRegions(NamedTuple):
    """Regions of the coreset: the places of the nodes that have one, and their labels."""

    places: np.ndarray
    labels: np.ndarray


def bring_labels(engine: Engine, found: Partition) -> Partition:
    """The partition with the labels of all nodes in the memory of this process."""
    return found._replace(labels=engine.fetch(found.labels).astype(np.int64))


class InBlocks:
    """A `WholeGraph` whose rows and labels stay where the steps run.

    components : as `coreset_sc` takes it, for the graph of the coreset. key : of the draws. collect : brings a
    partition here, its labels as an int64 array.
    """

    def __init__(
        self,
        engine: Engine,
        n_entries: int,
        k: int,
        components: str,
        key: int,
        progress: Progress,
        collect: Collect = bring_labels,
    ):
        self.engine, self.components, self.key = engine, components, key
        self.rng, self.progress, self.collect = np.random.default_rng([key, 0]), progress, collect
        self.n_points = sum(engine.fetch(engine.each(count_points)))
        self.n_entries, self.k = n_entries, min(k, self.n_points)
        self.n_sequences = self.n_coresets = 0
        self._units: dict[str, Totals] = {}

    def totals(self, name: str) -> Totals:
        if name not in self._units:
            self._units[name] = self.engine.fetch(self.engine.once(units_of, name))
        return self._units[name]

    def regions(self, sampling: Sampling) -> Regions:
        """See `WholeGraph`."""
        engine, progress, key = self.engine, self.progress, self.next_key()
        n_seeds = ceil(sampling.oversampling * self.k)
        sample = sample_by_blocks(engine, n_seeds, sampling.size, "seed_weight", key, progress)
        nodes, node_weights = engine.fetch(sample.joined)
        coreset = CoresetSample(nodes, node_weights, sample.n_clipped, sample.entries_read)
        labels, links, n_missing = self.label_nodes(sample, key)
        remarks: tuple[str, ...] = ()
        if n_missing[-1]:
            remarks = (
                f"{amount(n_missing[-1], 'node lies', 'nodes lie')} too far from the coreset and joined the largest "
                "region, from where moves may have taken them",
            )
        labels, n_found = self.fetch_number(engine.once(number_labels, labels))
        if n_found < self.k:  # a coreset too small or too scattered to show k clusters
            labels, n_found = engine.once(whole_partition, self.k, key), self.k
        n_labeled = [len(nodes), *(self.n_points - missing for missing in n_missing)]
        return Regions(labels, n_found, coreset, links, n_labeled, remarks=remarks)

    def next_key(self) -> int:
        """The key of the draws of the next coreset; the first coreset has the key of all other draws."""
        self.n_coresets += 1
        return self.key if self.n_coresets == 1 else int(generator(self.key, FURTHER + self.n_coresets).integers(2**63))

    def label_nodes(self, sample: SampledCoreset, key: int) -> tuple[Whole, float, list[int]]:
        """The region of each node, the mean links of the coreset, and how many nodes had none after each step."""
        engine, progress = self.engine, self.progress
        with progress.stage("coreset graph"):
            rows, weights = coreset_rows(engine, sample), engine.once(second_of, sample.joined)
            small = engine.once(link_rows, rows, weights)
        with progress.stage("coreset partition"):
            regions = engine.once(coreset_regions, small, self.k, self.components, key)
            n_regions = engine.fetch(engine.once(number_of, regions))
        with progress.stage("labeling"):
            labels, n_missing = label_by_coreset(engine, rows, weights, regions, n_regions, progress)
        return labels, engine.fetch(engine.once(mean_links, small)), n_missing

    def fetch_number(self, numbered: Whole) -> tuple[Whole, int]:
        """Labels without gaps, and how many there are, of a pair of both."""
        return self.engine.once(first_of, numbered), self.engine.fetch(self.engine.once(second_of, numbered))

    def pieces(self, labels: Whole, regions: Whole) -> tuple[Whole, int]:
        return self.fetch_number(self.engine.once(pieces_in_one_place, labels, regions))

    def contract(self, labels: Whole, k: int, name: str) -> Level:
        links = self.engine.each(steps.links_in_block, labels, k)
        level = self.engine.fetch(self.engine.once(steps.level_of_links, links, self.sums(labels, k, name)))
        return read_only_level(*level)  # arrays from another process are writable

    def project(self, of_clusters: np.ndarray, labels: Whole) -> Whole:
        return self.engine.once(look_up, of_clusters, labels)

    def restrict(self, labels: Whole, clusters: Whole, k: int) -> np.ndarray:
        return self.engine.fetch(self.engine.once(labels_of_clusters, labels, clusters, k))

    def refine(self, labels: Whole, sums: ClusterSums | None, task: Task, name: str) -> Partition:
        """See `WholeGraph`; in rounds, each of which raises the value. The sums are made again, in block order."""
        return self.move_in_rounds(labels, task, name, HASTY_ROUNDS)

    def sums(self, labels: Whole, k: int, name: str) -> ClusterSums:
        """The sums of the clusters, added in block order."""
        parts = self.engine.fetch(self.engine.each(steps.cluster_sums, labels, k, name))
        return ClusterSums(*(sum_in_order(list(column)) for column in zip(*parts, strict=True)))

    def connect(self, found: Partition, task: Task, name: str) -> Partition:
        """See `WholeGraph`; the connected parts are found in one place, which reads a few entries of each row."""
        for _ in range(REFINEMENTS):
            connected = self.connect_once(found, task, name)
            if connected is found:
                return found
            found = self.move_in_rounds(connected.labels, task, name, 0)
        return self.connect_once(found, task, name)

    def connect_once(self, found: Partition, task: Task, name: str) -> Partition:
        """`connect` without moves of single nodes; the partition itself if nothing changes."""
        connected = self.engine.once(steps.connect_clusters, found.labels, found.sums, task, name)
        sums = self.engine.fetch(self.engine.once(steps.sums_of_connected, connected))
        return found if sums is None else Partition(self.engine.once(first_of, connected), sums)

    def bring_here(self, found: Partition) -> Partition:
        return self.collect(self.engine, found)

    def move_in_rounds(self, labels: Whole, task: Task, name: str, at_least: int) -> Partition:
        """The partition after rounds of moves, each of which raises the value.

        The rounds end when hardly any node would gain. In a round a cluster grows by half of its mass at most: a random
        sample of the nodes that would gain joins it. If more than half as many nodes as in the round before still would
        gain, neighbors are changing places, and from then on only half of the nodes move.

        at_least : so many rounds are made even if time is up.
        """
        engine, objective, k = self.engine, task.objective, task.k
        sums = self.sums(labels, k, name)
        turn = (self.n_sequences + 1) * MOVE_TURNS
        self.n_sequences += 1
        share, misses, waited = 1.0, 0, np.inf
        for done in range(MOST_ROUNDS):
            if done >= at_least and self.progress.out_of_time():
                break
            moves = engine.each(steps.moves_in_block, labels, sums, objective, name)
            movable, joining = (sum(counts) for counts in zip(*self.counts(moves), strict=True))
            if movable <= VERY_FEW * sums.size.sum():
                break
            if movable > waited / 2.0:
                share = min(share, 0.5)
            waited = movable
            shares = share * np.minimum(1.0, GROWTH * sums.mass / np.where(joining > 0.0, joining, 1.0))
            after = engine.once(steps.move_labels, labels, moves, sums.size, shares, self.key, turn + done)
            sums_after = self.sums(after, k, name)
            self.progress.step(done + 1, MOST_ROUNDS)
            if value_of(objective, sums_after) > value_of(objective, sums):
                labels, sums = after, sums_after
            elif misses < MOST_MISSES:
                share, misses = share / 2.0, misses + 1
            else:
                break
        return Partition(labels, sums)

    def counts(self, moves: ByBlock) -> list[tuple[int, np.ndarray]]:
        """How many nodes of each block would gain, and the mass that each cluster would."""
        return self.engine.fetch(self.engine.each(steps.count_moves, moves))


def label_by_coreset(
    engine: Engine, rows: Whole, weights: Whole, regions: Whole, n_regions: int, progress: Progress
) -> tuple[Whole, list[int]]:
    """The regions of all nodes, and how many nodes had none after each step."""
    centroids = engine.once(region_centroids, rows, weights, regions)
    labels = engine.once(join_labels, engine.each(labels_in_block, rows, centroids))
    n_missing: list[int] = []
    while True:
        changes = engine.each(steps.spread_labels_in_block, labels, n_regions)
        found, left = np.sum(engine.fetch(engine.each(steps.count_changes, changes)), axis=0).tolist()
        n_missing += [left] if n_missing else [found + left, left]
        if found == 0:
            break
        labels = engine.once(steps.change_labels, labels, changes)
        progress.step(found, found + left)
        if found <= MIN_RELATIVE_CHANGE * (found + left) or left == 0:
            break
    return (engine.once(labels_for_the_rest, labels) if n_missing[-1] else labels), n_missing


def coreset_regions(source: GraphSource, small: Graph, k: int, components: str, key: int) -> CoresetRegions:
    """Regions of the coreset, from its two-step graph; nodes without links and small components have none."""
    m = small.n_nodes
    linked = np.arange(0)
    if small.n_entries:
        which = "all" if components == "all" else "large"
        linked = np.flatnonzero(nodes_to_partition(small, FIRST_REGIONS * k, which, Progress()).nodes)
    part = small if len(linked) == m else small.subgraph(linked)
    n_regions = number_of_regions(k, len(linked))
    if n_regions == 0:
        return CoresetRegions(np.arange(m), np.arange(m) % k)
    found = labels_of_regions(part, n_regions, generator(key, n_regions), Progress())
    return CoresetRegions(linked, found.astype(np.int64))


def number_of(source: GraphSource, regions: CoresetRegions) -> int:
    """How many regions there are."""
    return int(regions.labels.max()) + 1


def region_centroids(source: GraphSource, rows: ChosenRows, weights: np.ndarray, regions: CoresetRegions) -> Centroids:
    """The centroids of the regions in kernel space."""
    return centroids_of_rows(source, rows, weights, regions.places, regions.labels)


def join_labels(source: GraphSource, parts: list[np.ndarray]) -> np.ndarray:
    """The labels of all nodes."""
    return np.concatenate(parts)


def labels_for_the_rest(source: GraphSource, labels: np.ndarray) -> np.ndarray:
    """Nodes with edges that have no label join the cluster of largest volume."""
    volumes = np.bincount(labels + 1, weights=source.graph.degrees)[1:]
    return np.where((labels < 0) & (source.graph.degrees > 0), np.int32(np.argmax(volumes)), labels)


def number_labels(source: GraphSource, labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Labels numbered without gaps, and how many there are; isolated nodes keep -1."""
    return number_used(labels, labels >= 0)


def pieces_in_one_place(source: GraphSource, labels: np.ndarray, regions: np.ndarray) -> tuple[np.ndarray, int]:
    """See `pieces_of`."""
    return pieces_of(source.graph.degrees, labels, regions)


def labels_of_clusters(source: GraphSource, labels: np.ndarray, clusters: np.ndarray, k: int) -> np.ndarray:
    """The label of each of k clusters of nodes that all have the same."""
    of_clusters = np.empty(k, np.int32)
    of_clusters[clusters[clusters >= 0]] = labels[clusters >= 0]
    return of_clusters


def units_of(source: GraphSource, name: str) -> Totals:
    """What the numbers of an objective are measured in; isolated nodes do not count."""
    graph = source.graph
    return Totals(graph.total_volume, float(source.weigh(name).terms.mass[graph.degrees > 0].sum()))


def mean_links(source: GraphSource, small: Graph) -> float:
    """Mean number of links of the coreset nodes that have any, times the `evenness` of the weights."""
    n_linked = int(np.count_nonzero(~small.isolated))
    return small.n_entries / max(n_linked, 1) * evenness(source.graph.weights)


def look_up(source: GraphSource, of_cluster: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The new label of each node's cluster; -1 stays."""
    return np.append(of_cluster, np.int32(-1))[labels]


def whole_partition(source: GraphSource, k: int, key: int) -> np.ndarray:
    """The partition of the whole graph in one place, for graphs that are too small or too scattered for a coreset."""
    connected = np.flatnonzero(source.graph.degrees > 0)
    run = run_on(weigh(source.graph.subgraph(connected), CUT.name), generator(key, 1))
    labels = np.full(source.graph.n_nodes, -1, np.int32)
    labels[connected] = partition_into(run.finest, k, CUT, EFFORTS["low"], run)[0].labels
    return labels


def first_of(source: GraphSource, pair: tuple) -> object:
    """The first of two values."""
    return pair[0]


def second_of(source: GraphSource, pair: tuple) -> object:
    """The second of two values."""
    return pair[1]


def generator(key: int, number: int) -> np.random.Generator:
    """The random generator of one stage that runs in one place."""
    return np.random.default_rng([key, number])
