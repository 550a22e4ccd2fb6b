"""Partition a graph by normalised cut through a series of coarser graphs.

Nodes join neighbours into small clusters, the clusters become the nodes of a quotient graph, and so on until some
hundred nodes a part remain. There the clusters are merged pair by pair, best union first, and on the way back single
nodes move on every level: a move of a coarse node moves many fine nodes at once, which is how local optima
of the fine graph are left. The scheme is that of Dhillon, Guan & Kulis 2007 (Graclus) and of METIS; the joining,
merging and moving are all by the exact normalised cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator, as_number, as_whole_number
from graphclust.compiled.graphs import coarsening
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph, GraphLike
from graphclust.objective.labels import LabelsLike, labels_on
from graphclust.partition.merging import graph_without_isolated_nodes, merged
from graphclust.partition.moves import improve, normalized_cut_of, staying_inside_volume
from graphclust.partition.quotient import contract
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["multilevel_partition", "refine_partition"]

# The restarts differ in how coarse they go before clusters are merged, in coarse nodes a cluster.
COARSENESS = (100, 4, 25, 6)
PIECES = 0.3  # of the coarse nodes a cluster: none may be larger, or it could not be told apart
LEAST_SHRINKAGE = 0.95
SHARED = 6  # the restarts begin at the first level of a sixth of the entries
NODES_PER_JOIN = 1 << 18
ENTRIES_OF_A_CHEAP_LEVEL = 30_000
FREE_ENTRIES, FREE_ENTRIES_OF_A_SMALL_GRAPH = 120_000, 450_000
SHARE_OF_RESTARTS = 0.7  # of the entries of the fine levels
RESTARTS_PER_CYCLE = 4
DEEP = 4
FINE_CYCLES, WORTHWHILE = 4, 0.01  # cycles of the whole graph, while each lowers the cut by a hundredth
HIGH_EFFORT = 2.0


@dataclass(frozen=True)
class Level:
    """A graph, and for each of its nodes the node of the next coarser graph."""

    graph: Graph
    coarse: np.ndarray


def multilevel_partition(
    G: GraphLike,
    k: int,
    *,
    effort: float = 1.0,
    weight: str | None = "weight",
    rng: Seed = None,
    progress: ProgressLike = None,
) -> npt.NDArray[np.int64]:
    """Labels of a partition into k clusters of small normalised cut.

    G, weight : as `as_graph` takes them, without isolated nodes; k : 1 <= k <= n_nodes.
    effort : > 0; how often the coarse part of the work is done again, from other random choices, to keep the best: by
        default about as often as costs no more than the fine part.

    Returns int64, shape (n_nodes,), every label from 0 to k - 1 used.

    >>> import networkx as nx
    >>> multilevel_partition(nx.barbell_graph(4, 0), 2, rng=0)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    graph, rng, progress = graph_without_isolated_nodes(G, weight), as_generator(rng), as_progress(progress)
    k = as_whole_number(k, "k", at_least=1, at_most=graph.n_nodes, why=", the number of nodes")
    effort = as_number(effort, "effort", above=0.0)
    return polished_partition(graph, k, effort, rng, progress).astype(np.int64)


def refine_partition(
    G: GraphLike,
    labels: LabelsLike,
    *,
    weight: str | None = "weight",
    rng: Seed = None,
    progress: ProgressLike = None,
) -> npt.NDArray[np.int64]:
    """Improve a partition from anywhere: regions move, a cluster that is two is split, two that are one are joined.

    G, weight : as `as_graph` takes them, without isolated nodes.
    labels : in any form that `volume` takes; every label from 0 to k - 1 used.

    Returns new labels, int64, shape (n_nodes,), of as many clusters and no larger normalised cut. The graph is
    coarsened within the clusters, the regions are merged anew where that is better, and nodes move on every level on
    the way back; again while that lowers the cut by a hundredth, four times at most.

    Raises ParameterError for labels with gaps and for isolated nodes.

    >>> import networkx as nx
    >>> refine_partition(nx.ring_of_cliques(3, 4), np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2]), rng=0)
    array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    """
    graph, rng, progress = graph_without_isolated_nodes(G, weight), as_generator(rng), as_progress(progress)
    cluster = labels_on(graph, labels)
    if (cluster < 0).any() or not np.bincount(cluster).all():
        raise ParameterError("labels must give every node a cluster, 0..k-1 with none empty")
    return in_cycles(graph, cluster.astype(np.int32), int(cluster.max()) + 1, rng, progress).astype(np.int64)


def in_cycles(graph: Graph, labels: np.ndarray, k: int, rng: np.random.Generator, progress: Progress) -> np.ndarray:
    """`refine_partition` on checked arguments; int32 labels."""
    cut = normalized_cut_of(*staying_inside_volume(graph, labels, k)[1:])
    for _ in range(FINE_CYCLES):
        labels = cycle(graph, labels, k, rng, progress)
        before, cut = cut, normalized_cut_of(*staying_inside_volume(graph, labels, k)[1:])
        if cut > (1.0 - WORTHWHILE) * before:
            break
    return labels


def polished_partition(graph: Graph, k: int, effort: float, rng: np.random.Generator, progress: Progress) -> np.ndarray:
    """`multilevel_partition` on checked arguments; int32 labels.

    Where weights differ, joining follows the heaviest edges and errs more often; so weighted graphs, and any at high
    effort, are coarsened again within the clusters that were found.
    """
    labels = partition(graph, k, effort, rng, progress)
    if graph.weights is None and effort < HIGH_EFFORT:
        return labels
    return in_cycles(graph, labels, k, rng, progress)


def partition(graph: Graph, k: int, effort: float, rng: np.random.Generator, progress: Progress) -> np.ndarray:
    """One pass from fine to coarse and back; int32 labels."""
    shared_entries = max(graph.n_entries // SHARED, ENTRIES_OF_A_CHEAP_LEVEL)
    levels, coarsest = coarsen(graph, k, COARSENESS[0], shared_entries, rng, progress)
    free, most = (FREE_ENTRIES_OF_A_SMALL_GRAPH, 30) if coarsest is graph else (FREE_ENTRIES, 8)
    affordable = SHARE_OF_RESTARTS * effort * max(graph.n_entries, free) / max(coarsest.n_entries, 1)
    n_restarts = int(np.clip(affordable, 1, max(1, most * effort)))
    best, least_cut = np.empty(0, np.int32), np.inf
    for restart in range(n_restarts):
        more_levels, core = coarsen(coarsest, k, COARSENESS[restart % len(COARSENESS)], 0, rng, progress)
        labels = merged(core, k, progress)
        cut = improve(core, labels, k, progress)
        for level in reversed(more_levels):
            labels = labels[level.coarse]
            cut = improve(level.graph, labels, k, progress)
        if cut < least_cut:
            best, least_cut = labels, cut
    for _ in range(n_restarts // RESTARTS_PER_CYCLE):
        best = cycle(coarsest, best, k, rng, progress)
    for level in reversed(levels):
        best = best[level.coarse]
        improve(level.graph, best, k, progress)
    return best


def cycle(graph: Graph, labels: np.ndarray, k: int, rng: np.random.Generator, progress: Progress) -> np.ndarray:
    """Coarsen within the clusters, and move nodes on every level on the way back: whole regions move; never worse.

    The coarsest nodes, a few regions of each cluster, are also merged anew into k: that splits a cluster which is two
    and joins two which are one, the local optimum that no moves leave.
    """
    levels, core = coarsen(graph, k, DEEP, 0, rng, progress, labels)
    to_core = np.arange(graph.n_nodes)
    for level in levels:
        to_core = level.coarse[to_core]
    moved = np.empty(core.n_nodes, np.int32)
    moved[to_core] = labels
    cut = improve(core, moved, k, progress)
    anew = merged(core, k, progress)
    if improve(core, anew, k, progress) < cut:
        moved = anew
    for level in reversed(levels):
        moved = moved[level.coarse]
        improve(level.graph, moved, k, progress)
    return moved


def coarsen(
    graph: Graph,
    k: int,
    coarseness: int,
    enough_entries: int,
    rng: np.random.Generator,
    progress: Progress,
    part: np.ndarray | None = None,
) -> tuple[list[Level], Graph]:
    """Levels from fine to coarse and the graph they end in, of coarseness x k nodes or enough_entries entries.

    part : int32, shape (n_nodes,); nodes of different parts are never joined.
    """
    part = np.zeros(graph.n_nodes, np.int32) if part is None else part
    n_coarse = max(coarseness * k, 2 * coarseness)
    largest_volume = graph.total_volume / (PIECES * n_coarse)
    levels: list[Level] = []
    while graph.n_nodes > n_coarse and graph.n_entries > enough_entries:
        coarse, n_clusters = join_neighbors(graph, part, largest_volume, rng, progress)
        if n_clusters > LEAST_SHRINKAGE * graph.n_nodes:
            break
        levels.append(Level(graph, coarse))
        part_of_fine, part = part, np.empty(n_clusters, np.int32)
        part[coarse] = part_of_fine
        graph = contract(graph, coarse, n_clusters)
    return levels, graph


def join_neighbors(
    graph: Graph, part: np.ndarray, largest_volume: float, rng: np.random.Generator, progress: Progress
) -> tuple[np.ndarray, int]:
    """One sweep in random order in which nodes join clusters within their part; int32 clusters, and how many."""
    n = graph.n_nodes
    order = rng.permutation(n).astype(np.int32)
    cluster, volume = np.arange(n, dtype=np.int32), graph.degrees.copy()
    link, met = np.zeros(n), np.empty(n, np.int32)
    for start in range(0, n, NODES_PER_JOIN):
        coarsening.join_neighbours(
            order[start : start + NODES_PER_JOIN], graph.indptr, graph.indices, graph.weights_or_empty, graph.degrees,
            part, largest_volume, cluster, volume, link, met,
        )  # fmt: skip
        progress.step(min(start + NODES_PER_JOIN, n), n)
    return cluster, coarsening.number_clusters(cluster, np.full(n, -1, np.int32))
