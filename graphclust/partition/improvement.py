"""Better partitions from ones at hand: nodes move, regions move, clusters are split and joined."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_generator
from graphclust.errors import ParameterError
from graphclust.graph.container import GraphLike
from graphclust.graph.gate import as_graph
from graphclust.objective.labels import LabelsLike, labels_on
from graphclust.objective.objective import Aim, Weighed, as_aim, weighed
from graphclust.partition.cycles import Search, assigned, in_cycles
from graphclust.partition.merging import graph_without_isolated_nodes
from graphclust.partition.moves import MOST_SWEEPS, moved_until_stable
from graphclust.partition.multilevel import goal_on, regions
from graphclust.partition.resolution import Goal
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["move_nodes", "refine_partition"]


def move_nodes(
    G: GraphLike,
    labels: LabelsLike,
    *,
    objective: str = "modularity",
    resolution: float | str | None = None,
    weight: str | None = "weight",
    rng: Seed = 0,
    progress: ProgressLike = None,
) -> npt.NDArray[np.int64]:
    """Improve a partition by single-node moves until none raises the objective.

    G, weight : as `as_graph` takes them.
    labels : in any form that `volume` takes; -1 for nodes to leave alone.
    objective, resolution : as `coreset_sc` takes them.
    rng : None, a seed or a numpy Generator, for the regions that resolution "auto" looks at; nothing else is random.

    Returns new labels, int64, shape (n_nodes,). Every cluster that had a node keeps at least one, none is added, and a
    move is made only if the value rises by more than rounding. Nodes wait in a queue, at first those that a move would
    help as things stand; a move queues the neighbors again.

    Raises what `as_graph` and `volume` raise, and ParameterError for an unknown objective or resolution.

    >>> import networkx as nx
    >>> move_nodes(nx.barbell_graph(3, 0), np.array([0, 0, 1, 1, 1, 1]))
    array([0, 0, 0, 1, 1, 1])
    """
    aim = as_aim(objective, resolution)
    graph, rng, progress = as_graph(G, weight=weight), as_generator(rng), as_progress(progress)
    moved = labels_on(graph, labels).astype(np.int32)
    k = int(moved.max(initial=-1)) + 1
    if k > 1:
        on = weighed(graph, aim.name)
        goal, _ = goal_for(aim, on, k, rng, progress)
        with progress.interruptible():
            progress.offer(lambda: moved.astype(np.int64))
            moved_until_stable(on, moved, k, goal.objective, progress, MOST_SWEEPS)
    return moved.astype(np.int64)


def refine_partition(
    G: GraphLike,
    labels: LabelsLike,
    *,
    objective: str = "modularity",
    resolution: float | str | None = None,
    weight: str | None = "weight",
    rng: Seed = None,
    progress: ProgressLike = None,
) -> npt.NDArray[np.int64]:
    """Improve a partition from anywhere: regions move, a cluster that is two is split, two that are one are joined.

    G, weight : as `as_graph` takes them, without isolated nodes.
    labels : in any form that `volume` takes; every label from 0 to k - 1 used.
    objective, resolution : as `coreset_sc` takes them.

    Returns new labels, int64, shape (n_nodes,), of as many clusters and no lower value. The graph is coarsened within
    the clusters, the regions are merged anew where that is better, and nodes move on every level on the way back: for
    regions of three sizes, for cuts of four, two at a time, and from the first again while much is gained.

    Raises ParameterError for labels with gaps, isolated nodes, an unknown objective or resolution.

    >>> import networkx as nx
    >>> refine_partition(nx.ring_of_cliques(3, 4), np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2]), rng=0)
    array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    """
    aim = as_aim(objective, resolution)
    graph, rng, progress = graph_without_isolated_nodes(G, weight), as_generator(rng), as_progress(progress)
    cluster = labels_on(graph, labels)
    if (cluster < 0).any() or not np.bincount(cluster).all():
        raise ParameterError("labels must give every node a cluster, 0..k-1 with none empty")
    k, on = int(cluster.max()) + 1, weighed(graph, aim.name)
    goal, resolutions = goal_for(aim, on, k, rng, progress)
    with progress.interruptible(lambda labels: labels.astype(np.int64)):
        given = assigned(on, cluster.astype(np.int32), k)
        refined = in_cycles(on, given, Search(k, goal.objective, resolutions, 1.0, rng, progress), each=True)
    return refined.labels.astype(np.int64)


def goal_for(aim: Aim, on: Weighed, k: int, rng: np.random.Generator, progress: Progress) -> tuple[Goal, list[float]]:
    """The goal for k clusters of a graph, and the resolutions of regions of several sizes."""
    return goal_on(aim, regions(on, k, aim, rng, progress)[1], k, progress)[:2]
