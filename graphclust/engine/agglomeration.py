"""Agglomeration of a level: nodes merged pair by pair into k clusters, or until no union gains."""

import numpy as np
import numpy.typing as npt

from graphclust.checks import K_OF_GRAPH, as_whole_number
from graphclust.compiled.graphs import agglomeration as loops
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.merging import merge_pairs
from graphclust.engine.contraction import contract
from graphclust.engine.levels import Run, is_small, n_entries, partition_in, room_for, run_on
from graphclust.engine.sequential_contraction import is_estimate
from graphclust.errors import ParameterError, amount
from graphclust.graph.container import Graph, GraphLike
from graphclust.io.graph_input import as_graph
from graphclust.objective.objective import as_objective_choice, weigh

NO_GAINS, NO_PAIRS = np.empty(0), np.empty((0, 2), np.int32)
ROUND_OFF = 1e-12  # of the weight between two clusters
ENTRIES_PER_STEP = 1 << 21  # some tenths of a second between two looks at the progress hook, and at Ctrl-C


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
    from graphclust.engine.resolution import dendrogram_of, plan_for_k

    graph = graph_without_isolated_nodes(G, weight)
    k = as_whole_number(k, "k", at_least=1, at_most=graph.n_nodes, why=", the number of nodes", if_none=K_OF_GRAPH)
    choice = as_objective_choice(objective, resolution)
    run = run_on(weigh(graph, choice.name))
    schedule = plan_for_k(choice, k, dendrogram_of(run.finest, run, k), run.totals)
    return agglomerate(run.finest, schedule.task, run).labels.astype(np.int64)


def graph_without_isolated_nodes(G: GraphLike, weight: str | None) -> Graph:
    """The graph, or an error if it has isolated nodes."""
    graph = as_graph(G, weight=weight)
    if graph.isolated.any():
        raise ParameterError(
            f"G has {amount(int(graph.isolated.sum()), 'isolated node')}, which no cut can place; leave them out"
        )
    return graph


def unite_ties(level: Level, found: Partition, task: Task, run: Run) -> Partition:
    """The partition after unions of linked clusters that lose nothing beyond round-off: as good, with fewer clusters.

    A union within ROUND_OFF of a tie gains at a penalty that is lower by ROUND_OFF. Nothing is united where the links
    between clusters are estimates.
    """
    k, objective = len(found.sums.size), task.objective
    if k == 1 or is_estimate(n_entries(level), k):
        return found
    step = contract(level, found, run)
    lower = task._replace(objective=objective._replace(penalty=objective.penalty * (1.0 - ROUND_OFF)), least=0.0)
    united = agglomerate(step.coarse, lower, run)
    return found if len(united.sums.size) == k else step.project(united)


def agglomerate(
    level: Level, task: Task, run: Run, gains: np.ndarray = NO_GAINS, pairs: np.ndarray = NO_PAIRS
) -> Partition:
    """The nodes merged into `task.k` clusters; if that is 0, while a union gains.

    gains : if of shape (n,), gains[t] becomes the gain of the union that leaves t clusters, for linked pairs.
    pairs : if of shape (n, 2), pairs[t] becomes the two clusters of that union, each named by one of its nodes: the
        one that ends, and the one that goes on under its name.
    """
    n = len(level.terms.mass)
    if is_small(level):
        room = room_for(level, n)
        return partition_in(room, loops.agglomerate_into(level, task, gains, pairs, room))
    chains, merger = loops.chains_of(level.rows), loops.merger_of(level.terms, task, gains, pairs)
    while not merge_pairs(ENTRIES_PER_STEP, task.k, task.objective, chains, merger):
        run.progress.step(n - int(merger.state[2]), n - task.k)
    return loops.partition_of(merger)
