"""The partition of `coreset_regions`, made of steps over blocks of rows: on the threads of a process, or on a cluster.

The steps are the same but for two. The coreset is sampled in rounds, by `parallel_sampling`. And nodes move in rounds
too: those that would gain move all at once, but no more into a cluster than half of its mass, and the sums of the
clusters are made again; where that lowers the value, the round is taken back, and in the next each of them moves with
half the probability only. What is as small as the coreset or its regions is worked on in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.chosen_rows import ChosenRows
from graphclust.compiled.graphs.label_extension import Centroids
from graphclust.compiled.graphs.objective import RATIO, ClusterSums, Objective, value_of
from graphclust.coreset.label_extension import centroids_of_rows, labels_in_block
from graphclust.coreset.outcome import Outcome
from graphclust.coreset.parallel_sampling import coreset_rows, sample_by_blocks
from graphclust.coreset.sampling import Coreset
from graphclust.coreset.two_step import link_rows
from graphclust.errors import counted
from graphclust.graph.block_engine import ByBlock, Engine, Whole, summed_in_order
from graphclust.graph.container import Graph
from graphclust.objective.objective import BY_DEGREE, CUT, MODULARITY, Aim, Weighed, weighed
from graphclust.partition import block_steps as steps
from graphclust.partition.block_steps import GraphSource
from graphclust.partition.budget import HARDLY_ANY
from graphclust.partition.coreset_regions import (
    HASTY_ROUNDS,
    IN_DOUBT,
    Sampling,
    evenness,
    is_doubtful,
    number_of_regions,
)
from graphclust.partition.cycles import Assigned
from graphclust.partition.healing import is_better
from graphclust.partition.multilevel import SINGLE_START, partitioned
from graphclust.partition.purity import are_impure
from graphclust.partition.resolution import Goal
from graphclust.partition.small_components import searched_nodes
from graphclust.partition.turning import common_pieces, implied_goal, merged_anew, used_labels
from graphclust.progress import Progress

CUT_GOAL = Goal(Objective(RATIO, 0.0, 1.0), None, None)
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


def by_blocks(
    engine: Engine,
    n_points: int,
    k: int,
    aim: Aim,
    sampling: Sampling,
    effort: float,
    components: str,
    key: int,
    progress: Progress,
    collect: Collect,
) -> tuple[Goal, Outcome]:
    """Partition a graph into k clusters; n_points is the number of its nodes that have edges, at least k.

    collect : brings the labels here, as an int64 array.
    """
    n_seeds = ceil(sampling.oversampling * k)
    sample = sample_by_blocks(engine, n_seeds, sampling.size, "seed_weight", key, progress)
    nodes, node_weights = engine.fetch(sample.joined)
    coreset = Coreset(nodes, node_weights, sample.n_clipped, sample.entries_read)
    with progress.stage("coreset graph"):
        rows, weights = coreset_rows(engine, sample), engine.once(second_of, sample.joined)
        small = engine.once(link_rows, rows, weights)
    with progress.stage("coreset partition"):
        regions = engine.once(coreset_regions, small, k, components, key)
        n_regions = engine.fetch(engine.once(number_of, regions))
    with progress.stage("labelling"):
        labels, n_missing = labelled(engine, rows, weights, regions, n_regions, progress)
    remarks: tuple[str, ...] = ()
    if n_missing[-1]:
        remarks = (
            f"{counted(n_missing[-1], 'node lies', 'nodes lie')} too far from the coreset and joined the largest "
            "region, from where moves may have taken them",
        )
    with progress.stage("merging"):
        work = Work(engine, key, progress)
        labels, n_found = work.renumbered(labels)
        if n_found < k:  # a coreset too small or too scattered to show k clusters
            labels, n_found = engine.once(whole_partition, k, effort, key), k
        fragments = labels
        if n_found > k:
            labels = work.partitioned(labels, n_found, k)
    with progress.stage("mending"):
        goal = CUT_GOAL
        labels, sums = work.moved(labels, k, goal.objective, CUT.name, HASTY_ROUNDS)
        leaving, impure = 1.0 - value_of(goal.objective, sums) / k, False
        if aim.name not in BY_DEGREE:
            _, sums = work.standing(labels, k, aim.name)
        if aim == CUT and not progress.out_of_time() and work.are_impure(labels, sums):
            labels, impure = work.healed(labels, sums, fragments, k, effort)
        elif aim != CUT and progress.out_of_time():
            goal = engine.fetch(engine.once(goal_of_sums, aim, k, sums))
        elif aim != CUT:
            labels, goal, impure = work.turned(labels, sums, fragments, k, aim, effort)
        coreset_labels = engine.fetch(engine.once(labels_at, labels, sample.joined))
        if impure or engine.fetch(engine.once(coreset_is_doubtful, small, leaving, k)):
            remarks += (IN_DOUBT,)

    counts = [len(coreset.nodes), *(n_points - missing for missing in n_missing)]
    names = ["coreset", "coreset neighbor", *(f"round {i}" for i in range(1, len(counts) - 1))]
    decided = {name: (n - before) / n_points for name, n, before in zip(names, counts, [0, *counts], strict=False)}
    found = collect(engine, labels)
    return goal, Outcome(found, coreset, coreset_labels, None, {}, decided, remarks=remarks)


def brought_here(engine: Engine, labels: Whole) -> np.ndarray:
    """The labels of all nodes in the memory of this process."""
    return engine.fetch(labels).astype(np.int64)


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


class Work:
    """What is done to the labels of a graph, which stay where the steps run."""

    def __init__(self, engine: Engine, key: int, progress: Progress):
        self.engine, self.key, self.progress = engine, key, progress
        self.n_sequences = 0

    def renumbered(self, labels: Whole) -> tuple[Whole, int]:
        """The labels without gaps, and how many there are."""
        found = self.engine.once(used_labels_of_connected, labels)
        return self.engine.once(first_of, found), self.engine.fetch(self.engine.once(second_of, found))

    def quotient(self, labels: Whole, n_clusters: int, name: str) -> Whole:
        """The quotient graph of the clusters."""
        links = self.engine.each(steps.links_in_block, labels, n_clusters, name)
        return self.engine.once(steps.quotient_of_links, links, n_clusters)

    def partitioned(self, labels: Whole, n_clusters: int, k: int) -> Whole:
        """The clusters merged into k by the normalised cut."""
        quotient = self.quotient(labels, n_clusters, CUT.name)
        return self.engine.once(looked_up, self.engine.once(quotient_partition, quotient, k, self.key), labels)

    def turned(
        self, labels: Whole, sums: ClusterSums, fragments: Whole, k: int, aim: Aim, effort: float
    ) -> tuple[Whole, Goal, bool]:
        """The partition turned to another aim, see `turning.turned`; sums are of the clusters as they are."""
        engine, goal = self.engine, None
        pieces, quotient, impure = self.pieces(labels, sums, fragments, aim)
        if impure:  # pieces are purer once nodes have moved by both aims
            labels, sums, _ = self.moved_by_implied(labels, sums, k, aim)
            pieces, quotient, impure = self.pieces(labels, sums, fragments, aim)
        while True:  # each time the clusters are likelier, or it ends
            merged = engine.once(pieces_merged_anew, quotient, pieces, labels, k, aim, effort, self.key)
            tried = engine.fetch(engine.once(second_of, merged))
            after = engine.once(looked_up, engine.once(first_of, merged), pieces)
            after, sums_after = self.moved(after, k, tried.objective, aim.name)
            if impure:
                after_and_before = after, sums_after, labels, sums
                if not engine.fetch(engine.once(is_better_of_two, aim, tried.objective, *after_and_before)):
                    break
            labels, goal, sums = after, tried, sums_after
            if not impure or self.progress.out_of_time():
                break
            pieces, quotient, impure = self.pieces(labels, sums, fragments, aim)
            if not impure:
                break
        if goal is None:
            labels, sums, goal = self.moved_by_implied(labels, sums, k, aim)
        return labels, goal, impure

    def pieces(self, labels: Whole, sums: ClusterSums, fragments: Whole, aim: Aim) -> tuple[Whole, Whole, bool]:
        """What each cluster has of each fragment, the quotient graph of that, and whether the clusters are impure."""
        engine = self.engine
        found = engine.once(pieces_of_connected, labels, fragments)
        pieces, n_pieces = engine.once(first_of, found), engine.fetch(engine.once(second_of, found))
        quotient = self.quotient(pieces, n_pieces, aim.name)
        return pieces, quotient, engine.fetch(engine.once(pieces_are_impure, quotient, pieces, labels, sums))

    def moved_by_implied(self, labels: Whole, sums: ClusterSums, k: int, aim: Aim) -> tuple[Whole, ClusterSums, Goal]:
        """Labels after moves by another aim, at the resolution that the clusters call for, their sums, and the goal."""
        goal = self.engine.fetch(self.engine.once(goal_of_sums, aim, k, sums))
        return *self.moved(labels, k, goal.objective, aim.name), goal

    def are_impure(self, labels: Whole, sums: ClusterSums) -> bool:
        """Whether two clusters of a cut belong together, see `purity`."""
        quotient = self.quotient(labels, len(sums.size), CUT.name)
        return self.engine.fetch(self.engine.once(pieces_are_impure, quotient, labels, labels, sums))

    def healed(self, labels: Whole, sums: ClusterSums, fragments: Whole, k: int, effort: float) -> tuple[Whole, bool]:
        """Impure clusters of a cut merged anew by modularity, if that makes it smaller, and whether they still are."""
        after, _, impure = self.turned(labels, sums, fragments, k, MODULARITY, effort)
        after, sums_after = self.moved(after, k, CUT_GOAL.objective, CUT.name)
        better = value_of(CUT_GOAL.objective, sums_after) >= value_of(CUT_GOAL.objective, sums)
        return after if better else labels, impure

    def moved(
        self, labels: Whole, k: int, objective: Objective, name: str, at_least: int = 0
    ) -> tuple[Whole, ClusterSums]:
        """Labels after rounds of moves, each of which raises the value, and their sums.

        The rounds end when hardly any node would gain. In each a cluster grows by half of its mass at most, by what is
        drawn of those that would join it; and only half of those move where more than half as many as before would
        gain again, since neighbors change places then.

        at_least : so many rounds are made even where time is up.
        """
        engine = self.engine
        part, sums = self.standing(labels, k, name)
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
            part_after, sums_after = self.standing(after, k, name)
            self.progress.step(done + 1, MOST_ROUNDS)
            if value_of(objective, sums_after) > value_of(objective, sums):
                labels, part, sums = after, part_after, sums_after
            elif misses < MOST_MISSES:
                share, misses = share / 2.0, misses + 1
            else:
                break
        return labels, sums

    def counts(self, moves: ByBlock) -> list[tuple[int, np.ndarray]]:
        """How many nodes of each block would gain, and the mass that each cluster would."""
        return self.engine.fetch(self.engine.each(steps.count_moves, moves))

    def standing(self, labels: Whole, k: int, name: str) -> tuple[ByBlock, ClusterSums]:
        """Where all nodes stand, and the sums of the clusters, added in block order."""
        part = self.engine.each(steps.standing, labels, k, name)
        sums = self.engine.fetch(self.engine.each(steps.cluster_sums, part))
        return part, ClusterSums(*(summed_in_order(list(column)) for column in zip(*sums, strict=True)))


def coreset_regions(source: GraphSource, small: Graph, k: int, components: str, key: int) -> CoresetRegions:
    """Regions of the coreset, from its two-step graph; nodes without links, and tiny components of it, have none."""
    m = small.n_nodes
    linked = np.arange(0)
    if small.n_entries:
        linked = np.flatnonzero(searched_nodes(small, k, components, [], Progress()))
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
    source: GraphSource, quotient: Weighed, pieces: np.ndarray, labels: np.ndarray, k: int, aim: Aim, effort: float,
    key: int,
) -> tuple[np.ndarray, Goal]:  # fmt: skip
    """The cluster of each piece by another aim, and that aim's goal."""
    of_piece = clusters_of_pieces(quotient, pieces, labels)
    found, goal = merged_anew(aim, quotient, of_piece, k, effort, generator(key, 0), Progress())
    return found.labels, goal


def clusters_of_pieces(quotient: Weighed, pieces: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The cluster that each piece is of, int32."""
    of_piece = np.empty(quotient.graph.n_nodes, np.int32)
    connected = labels >= 0
    of_piece[pieces[connected]] = labels[connected]
    return of_piece


def pieces_are_impure(
    source: GraphSource, quotient: Weighed, pieces: np.ndarray, labels: np.ndarray, sums: ClusterSums
) -> bool:
    """Whether two clusters that are made of these pieces belong together."""
    return are_impure(quotient, clusters_of_pieces(quotient, pieces, labels), sums)


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
    return is_better(aim, source.weighed(aim.name), objective, found, before)


def coreset_is_doubtful(source: GraphSource, small: Graph, leaving: float, k: int) -> bool:
    """Whether a coreset linked like this can have missed clusters, see `coreset_regions.is_doubtful`."""
    n_linked = int(np.count_nonzero(~small.isolated))
    return is_doubtful(leaving, k, small.n_entries / max(n_linked, 1) * evenness(source.graph.weights))


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


def labels_at(source: GraphSource, labels: np.ndarray, coreset: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The labels of the coreset nodes."""
    return labels[coreset[0]].astype(np.int64)


def first_of(source: GraphSource, pair: tuple) -> object:
    """The first of two values."""
    return pair[0]


def second_of(source: GraphSource, pair: tuple) -> object:
    """The second of two values."""
    return pair[1]


def generator(key: int, number: int) -> np.random.Generator:
    """The random numbers of one stage that is worked on in one place."""
    return np.random.default_rng([key, number])
