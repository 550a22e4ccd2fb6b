"""Steps of the engine as functions of their own: nodes are merged, nodes move, and given partitions are refined."""

import numpy as np
import numpy.typing as npt

from graphclust.checks import K_OF_GRAPH, Seed, as_generator, as_whole_number
from graphclust.engine.contraction import agglomerate
from graphclust.engine.engine import schedule_on
from graphclust.engine.levels import run_on, value, with_sums
from graphclust.engine.local_moving import refine
from graphclust.engine.resolution import dendrogram_of, schedule_for_k
from graphclust.engine.v_cycle import v_cycle
from graphclust.errors import ParameterError, amount
from graphclust.graph.container import Graph, GraphLike
from graphclust.io.graph_input import as_graph
from graphclust.objective.labels import LabelsLike, labels_on
from graphclust.objective.objective import WeighedGraph, as_objective_choice, node_terms, weigh
from graphclust.progress import ProgressLike, as_progress

MOST_ROUNDS = 8  # of V-cycles, each by every size of regions; the value settles after two or three


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

    Returns int64 labels, shape (n_nodes,), numbered by first appearance. A pair must be linked or, for the normalized
    and the ratio cut, include the cluster of most mass at the time. For these cuts, gains that differ by less than
    0.001 of what a cluster can be worth count as equal. On graphs with hubs, where merging would take too long, gains
    that differ by less than an eighth count as equal, whatever the objective. When no pair is linked any more, the
    lightest clusters are united.

    Raises ParameterError for isolated nodes and an impossible k.

    Source: Clauset, Newman & Moore 2004, "Finding community structure in very large networks".

    >>> import networkx as nx
    >>> merge_clusters(nx.barbell_graph(4, 0), 2)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    graph = graph_without_isolated_nodes(G, weight)
    k = as_whole_number(k, "k", at_least=1, at_most=graph.n_nodes, why=", the number of nodes", if_none=K_OF_GRAPH)
    choice = as_objective_choice(objective, resolution)
    run = run_on(weigh(graph, choice.name))
    schedule = schedule_for_k(choice, k, dendrogram_of(run.finest, run, k), run.totals)
    return agglomerate(run.finest, schedule.task, run).labels.astype(np.int64)


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
    labels : in any form that `cluster_volumes` takes; -1 for nodes to leave alone.
    objective, resolution : as `coreset_sc` takes them.
    rng : None, a seed or a numpy Generator, for the regions that resolution "auto" looks at; nothing else is random.

    Returns new labels, int64, shape (n_nodes,). Every cluster that had a node keeps at least one, none is added, and a
    move is made only if the value rises by more than rounding. Nodes wait in a queue, at first those that a move would
    help as things stand; a move queues the neighbors again.

    Raises what `as_graph` and `cluster_volumes` raise, and ParameterError for an unknown objective or resolution.

    >>> import networkx as nx
    >>> move_nodes(nx.barbell_graph(3, 0), np.array([0, 0, 1, 1, 1, 1]))
    array([0, 0, 0, 1, 1, 1])
    """
    choice = as_objective_choice(objective, resolution)
    graph, rng, progress = as_graph(G, weight=weight), as_generator(rng), as_progress(progress)
    given = labels_on(graph, labels)
    placed = np.flatnonzero((given >= 0) & ~graph.isolated)
    names, cluster = np.unique(given[placed], return_inverse=True)
    k = len(names)
    if k < 2:  # no other cluster to move to
        return given.astype(np.int64)
    part = graph if len(placed) == graph.n_nodes else graph.subgraph(placed)
    # Terms are those in the whole graph, so that links to other nodes count as links out of a cluster.
    terms = node_terms(*(values[placed] for values in weigh(graph, choice.name).terms))
    run = run_on(WeighedGraph(part, terms), rng, progress)

    def in_all(labels: np.ndarray) -> npt.NDArray[np.int64]:
        moved = given.astype(np.int64)
        moved[placed] = names[labels]
        return moved

    with progress.interruptible(in_all):
        task = schedule_on(run.finest, k, choice, run).task
        partition = with_sums(run.finest, cluster.astype(np.int32), k, run)
        before = None
        while before is None or (not np.array_equal(partition.labels, before) and not progress.out_of_time()):
            before = partition.labels
            progress.offer(partition.labels.copy)
            progress.step(0, 1)
            partition = refine(run.finest, partition, task, run)
        return in_all(partition.labels)


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
    labels : in any form that `cluster_volumes` takes; every label from 0 to k - 1 used.
    objective, resolution : as `coreset_sc` takes them.

    Returns new labels, int64, shape (n_nodes,), of as many clusters and no lower value. V-cycles inside the clusters
    merge their regions again where that is better, and nodes move on every level: for regions of three sizes, and again
    while the value rises.

    Raises ParameterError for labels with gaps, isolated nodes, an unknown objective or resolution.

    >>> import networkx as nx
    >>> refine_partition(nx.ring_of_cliques(3, 4), np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2]), rng=0)
    array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    """
    choice = as_objective_choice(objective, resolution)
    graph, rng, progress = graph_without_isolated_nodes(G, weight), as_generator(rng), as_progress(progress)
    cluster = labels_on(graph, labels)
    if (cluster < 0).any() or not np.bincount(cluster).all():
        raise ParameterError("labels must give every node a cluster, 0..k-1 with none empty")
    k, run = int(cluster.max()) + 1, run_on(weigh(graph, choice.name), rng, progress)
    level = run.finest
    with progress.interruptible(lambda labels: labels.astype(np.int64)):
        schedule = schedule_on(level, k, choice, run)
        partition = with_sums(level, cluster.astype(np.int32), k, run)
        for done in range(MOST_ROUNDS):
            before = value(partition, schedule.task)
            for penalty in schedule.penalties:
                progress.offer(partition.labels.copy)
                progress.step(done, MOST_ROUNDS)
                partition = v_cycle(level, partition, schedule.task, penalty, run)
            if value(partition, schedule.task) <= before or progress.out_of_time():
                break
    return partition.labels.astype(np.int64)


def graph_without_isolated_nodes(G: GraphLike, weight: str | None) -> Graph:
    """The graph, or an error if it has isolated nodes."""
    graph = as_graph(G, weight=weight)
    if graph.isolated.any():
        raise ParameterError(
            f"G has {amount(int(graph.isolated.sum()), 'isolated node')}, which no cut can place; leave them out"
        )
    return graph
