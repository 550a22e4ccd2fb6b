"""Merge clusters greedily by an objective, and read off the resolution at which a number of clusters is natural."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_whole_number
from graphclust.compiled.graphs import merging as loops
from graphclust.compiled.graphs import small_levels
from graphclust.compiled.graphs.objective import ClusterSums, Objective
from graphclust.errors import ParameterError, counted
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.gate import as_graph
from graphclust.objective.objective import Weighed, as_aim, chance_objective, weighed
from graphclust.partition.resolution import goal_of
from graphclust.partition.small_graphs import is_small, level_of, room_for
from graphclust.progress import Progress

__all__ = ["merge_clusters"]

ENTRIES_PER_STEP = 1 << 21  # as in moves
NO_TRACE, NO_PAIRS = np.empty(0), np.empty((0, 2), np.int32)


def merge_clusters(
    G: GraphLike,
    k: int,
    *,
    objective: str = "modularity",
    resolution: float | str | None = None,
    weight: str | None = "weight",
) -> npt.NDArray[np.int64]:
    """Merge nodes into k clusters, one pair at a time, each time a pair whose union raises the objective most.

    G, weight : as `as_graph` takes them, without isolated nodes, typically a `quotient_graph`; k : 1 <= k <= n_nodes.
    objective, resolution : as `coreset_sc` takes them.

    Returns int64 labels, shape (n_nodes,), numbered by first appearance. A pair must be linked or, for the normalised
    and the ratio cut, include the cluster of most mass at the time; of pairs whose gains differ by less than 0.001 of
    what a cluster can be worth either may be taken there. Where no pair is linked any more the lightest are united.

    Raises ParameterError for isolated nodes and an impossible k.

    >>> import networkx as nx
    >>> merge_clusters(nx.barbell_graph(4, 0), 2)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    graph = graph_without_isolated_nodes(G, weight)
    k = as_whole_number(k, "k", at_least=1, at_most=graph.n_nodes, why=", the number of nodes")
    aim, progress = as_aim(objective, resolution), Progress()
    on = weighed(graph, aim.name)
    goal = goal_of(aim, on, k, unions(on, progress, k))
    return merged(on, k, goal.objective, progress)[0].astype(np.int64)


def graph_without_isolated_nodes(G: GraphLike, weight: str | None) -> Graph:
    """The graph, or an error if it has isolated nodes."""
    graph = as_graph(G, weight=weight)
    if graph.isolated.any():
        raise ParameterError(
            f"G has {counted(int(graph.isolated.sum()), 'isolated node')}, which no cut can place; leave such out"
        )
    return graph


def merged(
    on: Weighed,
    k: int,
    objective: Objective,
    progress: Progress,
    trace: np.ndarray = NO_TRACE,
    pairs: np.ndarray = NO_PAIRS,
) -> tuple[np.ndarray, ClusterSums]:
    """Merge nodes pair by pair into k clusters: int32 labels, and the sums of the clusters.

    trace : when of shape (n_nodes,), trace[t] becomes the gain of the union that leaves t clusters, for linked pairs.
    pairs : when of shape (n_nodes, 2), pairs[t] becomes the two clusters of that union, each named by one of its nodes:
        the one that ends, and the one that goes on under its name.
    """
    graph, n = on.graph, on.graph.n_nodes
    if is_small(graph):
        found = room_for(n, min(k, n))
        small_levels.merge_at_once(level_of(on), k, objective, trace, pairs, found)
        return found.labels, found.sums
    links = np.ones(graph.n_entries) if graph.weights is None else graph.weights.copy()
    chains = loops.Chains(graph.indptr, graph.indices.copy(), links, np.empty(n, loops.LIST))
    clusters = np.zeros(n, loops.CLUSTER)
    clusters["inside"], clusters["mass"] = on.terms.loops, on.terms.mass
    heap = np.empty(2 * n + 16), np.empty(2 * n + 16, np.int32)
    labels, roots = np.empty((2, n), np.int32)
    state = np.zeros(4, np.int64)
    merger = loops.Merger(clusters, *heap, roots, state, trace, pairs)
    while not loops.merge_pairs(ENTRIES_PER_STEP, k, objective, chains, merger):
        progress.step(n - int(state[2]), n - k)
    roots = roots[: loops.number_roots(clusters, np.full(n, -1, np.int32), labels, roots)]
    left = clusters[roots]
    return labels, ClusterSums(left["inside"].copy(), left["mass"].copy(), np.bincount(labels, minlength=len(roots)))


def unions(on: Weighed, progress: Progress, k: int = 2) -> np.ndarray:
    """The resolution below which each union of the tree pays; shape (n_nodes,), entry t for the one that leaves t.

    The tree unites, time and again, the two clusters whose links exceed chance most (Bonald et al. 2018). That ratio
    never rises from union to union, so between entry k and entry k - 1 lie the resolutions at which k clusters are
    natural: no two of them are linked more than chance at that resolution. Minus infinity where nothing is linked, and
    below k - 1, where the tree is not followed any more.
    """
    return united(on, max(k - 1, 1), progress)[0]


def united(on: Weighed, k: int, progress: Progress) -> tuple[np.ndarray, np.ndarray, ClusterSums]:
    """The `unions` that leave k clusters, the int32 labels of these, and their sums."""
    trace = np.full(on.graph.n_nodes, -np.inf)
    labels, sums = merged(on, k, chance_objective(on), progress, trace)
    return trace / on.chance, labels, sums
