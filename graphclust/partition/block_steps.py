"""What one block of rows does for a partition of the whole graph, as steps that `block_engine` runs anywhere.

Rows are numbered as in the whole graph, and labels are those of all nodes; of arrays of the length of the graph that a
loop writes to, only the part of the block is ever touched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs import coarsening
from graphclust.compiled.graphs import moves as loops
from graphclust.compiled.graphs.objective import ClusterSums, Objective
from graphclust.compiled.graphs.spreading import choose_clusters
from graphclust.compiled.runtime import counter_draws
from graphclust.compiled.runtime.blocks import MadeRows
from graphclust.graph.container import Graph
from graphclust.graph.kernel import KernelTerms, kernel_terms
from graphclust.objective.objective import Weighed, node_terms, weighed
from graphclust.partition.moves import bounds_of, moves_that_empty_none


class GraphSource:
    """A graph, in memory or mapped, and what follows from it, made when it is asked for."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self._weighed: dict[str, Weighed] = {}

    def terms(self, at: slice | np.ndarray) -> KernelTerms:
        """Degrees, self-affinities and point weights of some nodes, under implied loops."""
        return kernel_terms(self.graph, at, "implied", 0.0)

    def weighed(self, name: str) -> Weighed:
        """The terms of the nodes under an objective."""
        if name not in self._weighed:
            self._weighed[name] = weighed(self.graph, name)
        return self._weighed[name]


class Changes(NamedTuple):
    """Nodes of a block, their new labels, and how many nodes are still without one."""

    nodes: np.ndarray
    labels: np.ndarray
    n_left: int


class Standing(NamedTuple):
    """Weight that each node of a block has to others of its cluster, and what the block adds to the clusters' sums."""

    stays: np.ndarray
    sums: ClusterSums


class Bounded(NamedTuple):
    """The sums of all clusters, and by what nodes are ruled out that no move would help."""

    sums: ClusterSums
    bounds: loops.Bounds


class Moves(NamedTuple):
    """Nodes of a block that would gain by a move, where to, and the mass that would join each cluster."""

    nodes: np.ndarray
    labels: np.ndarray
    joining: np.ndarray


class BlockLinks(NamedTuple):
    """What the rows of a block add to the quotient graph of some clusters, as rows of it, and to its nodes' terms."""

    lengths: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    volumes: np.ndarray
    loops: np.ndarray
    mass: np.ndarray


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


def changed_labels(source: GraphSource, labels: np.ndarray, parts: list[Changes]) -> np.ndarray:
    """The labels after the changes of all blocks."""
    labels = labels.copy()
    for part in parts:
        labels[part.nodes] = part.labels
    return labels


def standing(source: GraphSource, first: int, last: int, labels: np.ndarray, k: int, name: str) -> Standing:
    """Where the nodes of a block stand under labels in [-1, k)."""
    terms, own = source.weighed(name).terms, labels[first:last]
    stays = np.empty(source.graph.n_nodes)
    loops.staying_weights(first, last, 0, source.graph.rows, labels, stays)
    stays = stays[first:last].copy()
    shifted = own + 1  # 0 for nodes without a cluster

    def by_cluster(values=None):
        return np.bincount(shifted, weights=values, minlength=k + 1)[1:]

    inside = by_cluster(stays + terms.loops[first:last])
    return Standing(stays, ClusterSums(inside, by_cluster(terms.mass[first:last]), by_cluster()))


def cluster_sums(source: GraphSource, first: int, last: int, part: Standing) -> ClusterSums:
    """What a block adds to the sums."""
    return part.sums


def bounded(source: GraphSource, labels: np.ndarray, sums: ClusterSums, name: str) -> Bounded:
    """The sums with their bounds, made in one place for all blocks."""
    return Bounded(sums, bounds_of(source.weighed(name), labels, sums))


def moves_in_block(
    source: GraphSource, first: int, last: int, labels: np.ndarray, part: Standing, whole: Bounded,
    objective: Objective, name: str,
) -> Moves:  # fmt: skip
    """The nodes that a move would help as things stand, and the best cluster of each."""
    sums, bounds = whole
    on, k = source.weighed(name), len(sums.mass)
    n = on.graph.n_nodes
    stays, target = np.empty(n), np.empty(n, np.int32)
    stays[first:last] = part.stays
    now = loops.MoveRound(labels, sums, stays, True, bounds, -1, np.zeros(1, np.int64))
    loops.choose_moves(first, last, 0, on.graph.rows, on.terms, objective, now, target)
    nodes = first + np.flatnonzero(target[first:last] >= 0)
    to = target[nodes]
    return Moves(nodes, to, np.bincount(to, weights=on.terms.mass[nodes], minlength=k))


def count_moves(source: GraphSource, first: int, last: int, moves: Moves) -> tuple[int, np.ndarray]:
    """How many nodes a move would help, and the mass that would join each cluster."""
    return len(moves.nodes), moves.joining


def moved_labels(
    source: GraphSource, labels: np.ndarray, parts: list[Moves], size: np.ndarray, shares: np.ndarray, key: int,
    turn: int,
) -> np.ndarray:  # fmt: skip
    """The labels after moves, each made with the share of its target as probability; no cluster is emptied."""
    nodes, to = (np.concatenate([getattr(part, name) for part in parts]) for name in ("nodes", "labels"))
    drawn = np.empty(len(nodes), np.bool_)
    counter_draws.draw_shares(key, turn, nodes, shares[to], drawn)
    nodes, to = nodes[drawn], to[drawn]
    made = moves_that_empty_none(labels[nodes], to, size)
    moved = labels.copy()
    moved[nodes[made]] = to[made]
    return moved


def links_in_block(source: GraphSource, first: int, last: int, labels: np.ndarray, k: int, name: str) -> BlockLinks:
    """The links of the nodes of a block to all clusters, by cluster; every node with edges has a label."""
    graph, terms, own = source.graph, source.weighed(name).terms, labels[first:last]
    members = np.argsort(own, kind="stable")[np.count_nonzero(own < 0) :]
    of_member = own[members]
    starts = np.concatenate([[0], np.cumsum(np.bincount(of_member, minlength=k))])
    row_lengths = np.diff(graph.indptr[first : last + 1])

    def by_cluster(values: np.ndarray) -> np.ndarray:
        return np.bincount(of_member, weights=values[members], minlength=k)

    most = int(np.minimum(by_cluster(row_lengths), k).sum())
    made, inner = MadeRows(np.zeros(k, np.int64), np.empty(most, np.int32), np.empty(most)), np.zeros(k)
    clusters = coarsening.Clusters(labels, starts, (first + members).astype(np.int32))
    n = coarsening.sum_links(0, k, 0, made, graph.rows, clusters, inner)
    part = slice(first, last)
    return BlockLinks(
        made.lengths, made.indices[:n].copy(), made.weights[:n].copy(), by_cluster(graph.degrees[part]),
        by_cluster(terms.loops[part] - graph.loops[part]), by_cluster(terms.mass[part]),
    )  # fmt: skip


def quotient_of_links(source: GraphSource, parts: list[BlockLinks], k: int) -> Weighed:
    """The quotient graph of k clusters and the terms of its nodes, from what all blocks add to it."""
    rows = np.concatenate([np.repeat(np.arange(k), part.lengths) for part in parts])
    columns = np.concatenate([part.indices for part in parts])
    entries = np.concatenate([part.weights for part in parts])
    matrix = sparse.coo_array((entries, (rows, columns)), shape=(k, k)).tocsr()
    inner, volumes, loops_beside, mass = matrix.diagonal(), *(
        sum(part[1:], part[0]) for part in zip(*(part[3:] for part in parts), strict=True)
    )  # fmt: skip
    graph = Graph(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, volumes, inner)
    return Weighed(graph, node_terms(inner + loops_beside, mass, volumes))
