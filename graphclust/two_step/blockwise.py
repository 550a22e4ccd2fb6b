"""What one block of rows does for a partition of the whole graph, as steps that an `Engine` runs anywhere.

Rows are numbered as in the whole graph, and labels are those of all nodes; of arrays of the length of the graph that a
loop writes to, only the part of the block is ever touched.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs import cluster_sums as sums_loops
from graphclust.compiled.graphs.choosing import Rules, State, choose_alone
from graphclust.compiled.graphs.cluster_sums import choose_clusters
from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms
from graphclust.compiled.graphs.objective import ClusterSums, Objective
from graphclust.compiled.runtime import random_numbers
from graphclust.compiled.runtime.blocks import MadeRows
from graphclust.engine.connectivity import connect_once
from graphclust.engine.contraction import links_of_nodes, rows_of_entries
from graphclust.engine.levels import run_on, with_one_more, without_last
from graphclust.graph.container import Graph
from graphclust.objective.kernel import KernelTerms, kernel_terms
from graphclust.objective.objective import WeighedGraph, weigh


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


def spread_labels_in_block(source: GraphSource, first: int, last: int, labels: np.ndarray, k: int) -> Changes:
    """Every node without a label takes the one that it has most edge weight to, if any."""
    graph = source.graph
    missing = first + np.flatnonzero((labels[first:last] < 0) & (graph.degrees[first:last] > 0))
    chosen = np.empty(len(missing), np.int32)
    choose_clusters(0, len(missing), 0, k, missing, graph.rows, labels, chosen)
    found = chosen >= 0
    return Changes(missing[found], chosen[found], int(np.count_nonzero(~found)))


def count_changes(source: GraphSource, first: int, last: int, changes: Changes) -> tuple[int, int]:
    """How many nodes got a label, and how many are still without."""
    return len(changes.nodes), changes.n_left


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


def count_moves(source: GraphSource, first: int, last: int, moves: Moves) -> tuple[int, np.ndarray]:
    """How many nodes a move would help, and the mass that would join each cluster."""
    return len(moves.nodes), moves.joining


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
    found = Partition(labels, sums)
    if is_out.any():
        found = Partition(np.where(is_out, np.int32(task.k), labels), with_one_more(sums))
        task = task._replace(k=task.k + 1)
    connected = connect_once(run.finest, found, task, run)
    if connected is found:
        return None
    if not is_out.any():
        return connected
    return Partition(np.where(is_out, np.int32(-1), connected.labels), without_last(connected.sums))


def sums_of_connected(source: GraphSource, connected: Partition | None) -> ClusterSums | None:
    """The sums, where there are others than before."""
    return None if connected is None else connected.sums


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
