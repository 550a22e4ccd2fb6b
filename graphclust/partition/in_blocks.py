"""The steps of `coreset_regions` over blocks of rows: on the threads of a process, or on a cluster.

The steps are the same as in memory but for two. The coreset is sampled in rounds, by `parallel_sampling`. And nodes
move in rounds too: those that would gain move all at once, but no more into a cluster than half of its mass, and the
sums of the clusters are made again; where that lowers the value, the round is taken back, and in the next each of them
moves with half the probability only. What is as small as the coreset or its regions is worked on in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.chosen_rows import ChosenRows
from graphclust.compiled.graphs.label_extension import Centroids
from graphclust.compiled.graphs.objective import ClusterSums, Objective, value_of
from graphclust.coreset.label_extension import centroids_of_rows, labels_in_block
from graphclust.coreset.parallel_sampling import SampledCoreset, coreset_rows, count_points, sample_by_blocks
from graphclust.coreset.sampling import Coreset
from graphclust.coreset.two_step import link_rows
from graphclust.errors import counted
from graphclust.graph.block_engine import ByBlock, Engine, Whole, summed_in_order
from graphclust.graph.container import Graph
from graphclust.objective.objective import CUT, Aim, Weighed, weighed
from graphclust.partition import block_steps as steps
from graphclust.partition import healing
from graphclust.partition.block_steps import GraphSource
from graphclust.partition.budget import HARDLY_ANY
from graphclust.partition.components import searched_nodes
from graphclust.partition.coreset_regions import HASTY_ROUNDS, REGIONS_PER_CLUSTER, evenness, number_of_regions
from graphclust.partition.cycles import Assigned
from graphclust.partition.moves import MOST_SWEEPS
from graphclust.partition.multilevel import SINGLE_START, partitioned
from graphclust.partition.pieces import common_pieces, merged_anew
from graphclust.partition.purity import are_impure
from graphclust.partition.reduction import used_labels
from graphclust.partition.resolution import Goal, implied_goal
from graphclust.partition.whole_graph import Anew, Labels, Merged, Parted, Sampling
from graphclust.progress import Progress

MOST_ROUNDS = 30  # of moves by one objective
VERY_FEW = 0.0001  # of the nodes: not worth a round any more
MOST_MISSES = 3  # rounds that do harm, since too many moved at once; half the share moves in the next
GROWTH = 0.5  # of a cluster in one round: nobody sees who else joins, and small clusters would draw in far too much
MOVE_TURNS = 1 << 8  # turns of the draws for a sequence of rounds


Collect = Callable[[Engine, Whole], np.ndarray]


class CoresetRegions(NamedTuple):
    """Regions of the coreset: the places of the nodes that have one, and their labels."""

    places: np.ndarray
    labels: np.ndarray


def brought_here(engine: Engine, labels: Whole) -> np.ndarray:
    """The labels of all nodes in the memory of this process."""
    return engine.fetch(labels).astype(np.int64)


class InBlocks:
    """A `WholeGraph` whose rows and labels stay where the steps run.

    components : as `coreset_sc` takes it, for the graph of the coreset. key : of the draws. collect : brings the labels
    here, as an int64 array.
    """

    def __init__(
        self,
        engine: Engine,
        k: int,
        effort: float,
        components: str,
        key: int,
        progress: Progress,
        collect: Collect = brought_here,
    ):
        self.engine, self.effort, self.components, self.key = engine, effort, components, key
        self.progress, self.collect = progress, collect
        self.n_points = sum(engine.fetch(engine.each(count_points)))
        self.k = min(k, self.n_points)
        self.n_sequences = 0

    def merged(self, sampling: Sampling) -> Merged:
        """See `WholeGraph`."""
        engine, progress = self.engine, self.progress
        n_seeds = ceil(sampling.oversampling * self.k)
        sample = sample_by_blocks(engine, n_seeds, sampling.size, "seed_weight", self.key, progress)
        nodes, node_weights = engine.fetch(sample.joined)
        coreset = Coreset(nodes, node_weights, sample.n_clipped, sample.entries_read)
        labels, links, n_missing = self.labelled_by(sample)
        remarks: tuple[str, ...] = ()
        if n_missing[-1]:
            remarks = (
                f"{counted(n_missing[-1], 'node lies', 'nodes lie')} too far from the coreset and joined the largest "
                "region, from where moves may have taken them",
            )
        with progress.stage("merging"):
            labels, n_found = self.fetched_number(engine.once(used_labels_of_connected, labels))
            if n_found < self.k:  # a coreset too small or too scattered to show k clusters
                labels, n_found = engine.once(whole_partition, self.k, self.effort, self.key), self.k
            fragments = labels
            if n_found > self.k:
                of_regions = engine.once(quotient_partition, self.quotient(labels, n_found, CUT.name), self.k, self.key)
                labels = engine.once(looked_up, of_regions, labels)
        n_labeled = [len(nodes), *(self.n_points - missing for missing in n_missing)]
        return Merged(Parted(labels, None), fragments, False, coreset, links, n_labeled, remarks=remarks)

    def labelled_by(self, sample: SampledCoreset) -> tuple[Whole, float, list[int]]:
        """The region of each node, the mean links of the coreset, and how many nodes had none after each step."""
        engine, progress = self.engine, self.progress
        with progress.stage("coreset graph"):
            rows, weights = coreset_rows(engine, sample), engine.once(second_of, sample.joined)
            small = engine.once(link_rows, rows, weights)
        with progress.stage("coreset partition"):
            regions = engine.once(coreset_regions, small, self.k, self.components, self.key)
            n_regions = engine.fetch(engine.once(number_of, regions))
        with progress.stage("labelling"):
            labels, n_missing = labelled(engine, rows, weights, regions, n_regions, progress)
        return labels, engine.fetch(engine.once(mean_links, small)), n_missing

    def fetched_number(self, numbered: Whole) -> tuple[Whole, int]:
        """Labels without gaps, and how many there are, of a pair of both."""
        return self.engine.once(first_of, numbered), self.engine.fetch(self.engine.once(second_of, numbered))

    def quotient(self, labels: Whole, n_clusters: int, name: str) -> Whole:
        """The quotient graph of the clusters."""
        links = self.engine.each(steps.links_in_block, labels, n_clusters, name)
        return self.engine.once(steps.quotient_of_links, links, n_clusters)

    def moved(self, found: Parted, objective: Objective, name: str, most_sweeps: int = MOST_SWEEPS) -> Parted:
        """See `WholeGraph`; in rounds, each of which raises the value, whatever most_sweeps."""
        return self.moved_in_rounds(found.labels, objective, name, 0)

    def moved_hastily(self, found: Parted, objective: Objective, name: str) -> Parted:
        """See `WholeGraph`."""
        return self.moved_in_rounds(found.labels, objective, name, HASTY_ROUNDS)

    def sums(self, labels: Labels, name: str) -> ClusterSums:
        """See `WholeGraph`."""
        return self.standing(labels, name)[1]

    def are_clearly_pure(self, found: Parted, name: str) -> bool:
        """See `WholeGraph`; for certain, by the quotient graph of the clusters."""
        quotient = self.quotient(found.labels, self.k, name)
        own = np.arange(self.k, dtype=np.int32)
        return not self.engine.fetch(self.engine.once(clusters_are_impure, quotient, own, found.sums))

    def pieces(self, found: Parted, fragments: Labels, name: str) -> PiecesInBlocks:
        """See `WholeGraph`."""
        pieces, n_pieces = self.fetched_number(self.engine.once(pieces_of_connected, found.labels, fragments))
        return PiecesInBlocks(self, pieces, self.quotient(pieces, n_pieces, name), found)

    def is_better(self, aim: Aim, objective: Objective, found: Parted, than: Parted) -> bool:
        """See `WholeGraph`."""
        return self.engine.fetch(self.engine.once(is_better_of_two, aim, objective, *found, *than))

    def implied_goal(self, aim: Aim, sums: ClusterSums) -> Goal:
        """See `WholeGraph`."""
        return self.engine.fetch(self.engine.once(goal_of_sums, aim, self.k, sums))

    def labels_at(self, labels: Labels, nodes: np.ndarray) -> np.ndarray:
        """See `WholeGraph`."""
        return self.engine.fetch(self.engine.once(labels_of, labels, nodes))

    def brought_here(self, labels: Labels) -> np.ndarray:
        """See `WholeGraph`."""
        return self.collect(self.engine, labels)

    def moved_in_rounds(self, labels: Whole, objective: Objective, name: str, at_least: int) -> Parted:
        """The partition after rounds of moves, each of which raises the value.

        The rounds end when hardly any node would gain. In each a cluster grows by half of its mass at most, by what is
        drawn of those that would join it; and only half of those move where more than half as many as before would
        gain again, since neighbors change places then.

        at_least : so many rounds are made even where time is up.
        """
        engine = self.engine
        part, sums = self.standing(labels, name)
        turn = (self.n_sequences + 1) * MOVE_TURNS
        self.n_sequences += 1
        share, misses, waited = 1.0, 0, np.inf
        for done in range(MOST_ROUNDS):
            if done >= at_least and self.progress.out_of_time():
                break
            bounded = engine.once(steps.bounded, labels, sums, name)
            moves = engine.each(steps.moves_in_block, labels, part, bounded, objective, name)
            movable, joining = (sum(counts) for counts in zip(*self.counts(moves), strict=True))
            if movable <= VERY_FEW * sums.size.sum():
                break
            if movable > waited / 2.0:
                share = min(share, 0.5)
            waited = movable
            shares = share * np.minimum(1.0, GROWTH * sums.mass / np.where(joining > 0.0, joining, 1.0))
            after = engine.once(steps.moved_labels, labels, moves, sums.size, shares, self.key, turn + done)
            part_after, sums_after = self.standing(after, name)
            self.progress.step(done + 1, MOST_ROUNDS)
            if value_of(objective, sums_after) > value_of(objective, sums):
                labels, part, sums = after, part_after, sums_after
            elif misses < MOST_MISSES:
                share, misses = share / 2.0, misses + 1
            else:
                break
        return Parted(labels, sums)

    def counts(self, moves: ByBlock) -> list[tuple[int, np.ndarray]]:
        """How many nodes of each block would gain, and the mass that each cluster would."""
        return self.engine.fetch(self.engine.each(steps.count_moves, moves))

    def standing(self, labels: Whole, name: str) -> tuple[ByBlock, ClusterSums]:
        """Where all nodes stand, and the sums of the clusters, added in block order."""
        part = self.engine.each(steps.standing, labels, self.k, name)
        sums = self.engine.fetch(self.engine.each(steps.cluster_sums, part))
        return part, ClusterSums(*(summed_in_order(list(column)) for column in zip(*sums, strict=True)))


class PiecesInBlocks:
    """See `Pieces`."""

    def __init__(self, whole: InBlocks, pieces: Whole, quotient: Whole, found: Parted):
        self.whole, self.pieces, self.quotient, self.sums = whole, pieces, quotient, found.sums
        self.of_piece = whole.engine.once(clusters_of_pieces, quotient, pieces, found.labels)

    def are_impure(self) -> bool:
        """See `Pieces`."""
        engine = self.whole.engine
        return engine.fetch(engine.once(clusters_are_impure, self.quotient, self.of_piece, self.sums))

    def merged_anew(self, aim: Aim) -> Anew:
        """See `Pieces`."""
        whole, engine = self.whole, self.whole.engine
        anew = engine.once(pieces_merged_anew, self.quotient, self.of_piece, whole.k, aim, whole.effort, whole.key)
        labels = engine.once(looked_up, engine.once(first_of, anew), self.pieces)
        return Anew(Parted(labels, None), *engine.fetch(engine.once(second_of, anew)))


def labelled(
    engine: Engine, rows: Whole, weights: Whole, regions: Whole, n_regions: int, progress: Progress
) -> tuple[Whole, list[int]]:
    """The regions carried to all nodes, and how many had none after each step."""
    centroids = engine.once(region_centroids, rows, weights, regions)
    labels = engine.once(joined_labels, engine.each(labels_in_block, rows, centroids))
    n_missing: list[int] = []
    while True:
        changes = engine.each(steps.spread_labels_in_block, labels, n_regions)
        found, left = np.sum(engine.fetch(engine.each(steps.count_changes, changes)), axis=0).tolist()
        n_missing += [left] if n_missing else [found + left, left]
        if found == 0:
            break
        labels = engine.once(steps.changed_labels, labels, changes)
        progress.step(found, found + left)
        if found <= HARDLY_ANY * (found + left) or left == 0:
            break
    return (engine.once(labels_for_the_rest, labels) if n_missing[-1] else labels), n_missing


def coreset_regions(source: GraphSource, small: Graph, k: int, components: str, key: int) -> CoresetRegions:
    """Regions of the coreset, from its two-step graph; nodes without links, and components not worth one, have none."""
    m = small.n_nodes
    linked = np.arange(0)
    if small.n_entries:
        which = "all" if components == "all" else "large"
        linked = np.flatnonzero(searched_nodes(small, REGIONS_PER_CLUSTER * k, which, [], Progress()))
    part = small if len(linked) == m else small.subgraph(linked)
    n_regions = number_of_regions(k, len(linked))
    if n_regions == 0:
        return CoresetRegions(np.arange(m), np.arange(m) % k)
    found = partitioned(weighed(part, CUT.name), n_regions, CUT, SINGLE_START, generator(key, n_regions), Progress())
    return CoresetRegions(linked, found.labels.astype(np.int64))


def number_of(source: GraphSource, regions: CoresetRegions) -> int:
    """How many regions there are."""
    return int(regions.labels.max()) + 1


def region_centroids(source: GraphSource, rows: ChosenRows, weights: np.ndarray, regions: CoresetRegions) -> Centroids:
    """The centroids of the regions in kernel space."""
    return centroids_of_rows(source, rows, weights, regions.places, regions.labels)


def joined_labels(source: GraphSource, parts: list[np.ndarray]) -> np.ndarray:
    """The labels of all nodes."""
    return np.concatenate(parts)


def labels_for_the_rest(source: GraphSource, labels: np.ndarray) -> np.ndarray:
    """Nodes with edges that have no label join the cluster of largest volume."""
    volumes = np.bincount(labels + 1, weights=source.graph.degrees)[1:]
    return np.where((labels < 0) & (source.graph.degrees > 0), np.int32(np.argmax(volumes)), labels)


def used_labels_of_connected(source: GraphSource, labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Labels without gaps, and how many they are; isolated nodes keep -1."""
    return with_isolated(labels, *used_labels(labels[labels >= 0]))


def pieces_of_connected(source: GraphSource, labels: np.ndarray, fragments: np.ndarray) -> tuple[np.ndarray, int]:
    """What each cluster has of each fragment, see `common_pieces`; isolated nodes have -1."""
    connected = labels >= 0
    degrees = source.graph.degrees[connected]
    return with_isolated(labels, *common_pieces(degrees, labels[connected], fragments[connected]))


def with_isolated(labels: np.ndarray, of_connected: np.ndarray, n: int) -> tuple[np.ndarray, int]:
    """The new labels of the nodes that have one, in their places, and n."""
    found = np.full(len(labels), -1, np.int32)
    found[labels >= 0] = of_connected
    return found, n


def quotient_partition(source: GraphSource, quotient: Weighed, k: int, key: int) -> np.ndarray:
    """The clusters of a quotient graph merged into k by the normalised cut."""
    return partitioned(quotient, k, CUT, SINGLE_START, generator(key, k), Progress()).labels


def pieces_merged_anew(
    source: GraphSource, quotient: Weighed, of_piece: np.ndarray, k: int, aim: Aim, effort: float, key: int
) -> tuple[np.ndarray, tuple[Goal, bool]]:
    """The cluster of each piece by another aim; that aim's goal, and whether two of the clusters belong together."""
    found, goal = merged_anew(aim, quotient, of_piece, k, effort, generator(key, 0), Progress())
    return found.labels, (goal, are_impure(quotient, *found))


def clusters_of_pieces(source: GraphSource, quotient: Weighed, pieces: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The cluster that each piece is of, int32."""
    of_piece = np.empty(quotient.graph.n_nodes, np.int32)
    connected = labels >= 0
    of_piece[pieces[connected]] = labels[connected]
    return of_piece


def clusters_are_impure(source: GraphSource, quotient: Weighed, of_piece: np.ndarray, sums: ClusterSums) -> bool:
    """Whether two clusters that are made of these pieces belong together."""
    return are_impure(quotient, of_piece, sums)


def is_better_of_two(
    source: GraphSource,
    aim: Aim,
    objective: Objective,
    labels: np.ndarray,
    sums: ClusterSums,
    labels_before: np.ndarray,
    sums_before: ClusterSums,
) -> bool:
    """Whether one of two partitions is the better, see `healing.is_better`."""
    found, before = Assigned(labels, sums), Assigned(labels_before, sums_before)
    return healing.is_better(aim, source.weighed(aim.name), objective, found, before)


def mean_links(source: GraphSource, small: Graph) -> float:
    """Mean links of the coreset nodes that have any, as far as they count."""
    n_linked = int(np.count_nonzero(~small.isolated))
    return small.n_entries / max(n_linked, 1) * evenness(source.graph.weights)


def goal_of_sums(source: GraphSource, aim: Aim, k: int, sums: ClusterSums) -> Goal:
    """The goal of an aim from the clusters alone, where there is no time for more."""
    return implied_goal(aim, source.weighed(aim.name), k, sums)


def looked_up(source: GraphSource, of_cluster: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The new label of each node's cluster; -1 stays."""
    return np.append(of_cluster, np.int32(-1))[labels]


def whole_partition(source: GraphSource, k: int, effort: float, key: int) -> np.ndarray:
    """The partition of the whole graph in one place, for graphs that are too small or too scattered for a coreset."""
    connected = np.flatnonzero(source.graph.degrees > 0)
    part = weighed(source.graph.subgraph(connected), CUT.name)
    labels = np.full(source.graph.n_nodes, -1, np.int32)
    labels[connected] = partitioned(part, k, CUT, effort, generator(key, 1), Progress()).labels
    return labels


def labels_of(source: GraphSource, labels: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The labels of some nodes."""
    return labels[nodes].astype(np.int64)


def first_of(source: GraphSource, pair: tuple) -> object:
    """The first of two values."""
    return pair[0]


def second_of(source: GraphSource, pair: tuple) -> object:
    """The second of two values."""
    return pair[1]


def generator(key: int, number: int) -> np.random.Generator:
    """The random numbers of one stage that is worked on in one place."""
    return np.random.default_rng([key, number])
