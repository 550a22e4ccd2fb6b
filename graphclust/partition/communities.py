"""communities: cluster a graph at a resolution, which decides the number of clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphclust.checks import Seed, as_choice, as_seeded
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.engine.agglomeration import unite_ties
from graphclust.engine.bounds import (
    NodeWeight,
    as_bounds,
    as_sizes,
    leave_apart,
    meet_minimum,
    remarks_on_small,
    weights_in_words,
)
from graphclust.engine.connectivity import connect
from graphclust.engine.engine import EFFORTS, TO_THE_END, partition
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.overlay import split_disconnected
from graphclust.engine.resolution import goal_at
from graphclust.engine.sequential_contraction import is_estimate
from graphclust.engine.well_connected import Connectivity, as_bar, connectivity_in_words, leave_well_connected
from graphclust.errors import ParameterError
from graphclust.graph.container import GraphLike
from graphclust.graph.node_order import in_order, listing_order, node_order
from graphclust.literals import Components, Effort, PlainObjective, Small
from graphclust.objective.objective import PLAIN_OBJECTIVES, as_resolution, weigh
from graphclust.partition.components import nodes_to_partition
from graphclust.partition.memory_estimate import check_memory
from graphclust.partition.options import graph_settings, plain_number
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.results.clustering import Clustering
from graphclust.results.from_labels import clustering_of, graph_to_cluster, numbering_by_size
from graphclust.updates.start import ids_of_start, name_clusters, partition_from

__all__ = ["communities"]

COMPONENTS, SMALL = ("all", "largest"), ("unite", "apart")
ALONE = "G has no edges: each node is a cluster by itself"


def communities(
    G: GraphLike,
    *,
    resolution: float = 1.0,
    objective: PlainObjective = "modularity",
    effort: Effort = "normal",
    components: Components = "all",
    min_size: float | None = None,
    max_size: float | None = None,
    small: Small = "unite",
    node_weight: NodeWeight = None,
    connectivity: Connectivity | None = None,
    start: Any = None,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    time_budget: float | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Cluster a graph at a resolution; the number of clusters follows from it.

    G : networkx.Graph, SciPy sparse matrix or array, square ndarray, path of a graph file, or Graph; undirected,
        weights >= 0. See `as_graph` for `weight`, `symmetrize` and what is assumed or repaired.
    resolution : > 0; higher ones make more and smaller clusters. Of modularity 1 is the usual one; of the constant
        Potts model it is a density: the mean weight between two nodes is above it inside clusters, and below it between
        them.
    objective : "modularity" (default) compares the weight inside a cluster with what chance would put there, by the
        degrees of its nodes; "constant_potts" with the resolution times the square of their number, "erdos_renyi" with
        that times the mean weight between two different nodes.
    effort : "low", "normal" (default) or "high", which takes some six times as long and comes close to the best
        partition known. The best of what was tried is returned.
    components : "all" (default), or "largest": the nodes of the others are in no cluster, and have label -1.
    min_size, max_size : > 0, what a cluster may hold, in nodes, or in what they weigh. Clusters of less than `min_size`
        are united with the neighbor that they share most weight with; where none has room, nodes go to or come from
        others. Components of less, such as isolated nodes, stay as they are. Remarks say what was united.
    small : "unite" (default), or "apart": clusters of less than `min_size` are left out, and their nodes have label -1.
    node_weight : of each node, > 0, which the bounds then count: an array of shape (n_nodes,), a mapping or a pandas
        Series by the nodes' names, or the name of a node attribute of a networkx.Graph or igraph.Graph. By default each
        node weighs what its METIS file says, else 1.
    connectivity : what the minimum cut inside a cluster of n nodes is above: "well", which is log10 n, a number >= 0 or
        a function of n, as `well_connected` takes it; clusters are parted until it is, and nodes in no such cluster
        have label -1. A remark tells the coverage. `min_size` then leaves smaller clusters out. None: no such promise.
    start : where to begin: labels of any origin, as `adjusted_rand_index` takes them, or a Clustering or a Hierarchy,
        whose coarsest level counts. Nodes that it does not name begin alone. Clusters keep the numbers, or the `ids`,
        that they had there by largest overlap, and `changes` says what became of them. It takes a part of the time of
        a clustering from nothing, for which `effort` does not count, and without bounds the value does not fall.
    time_budget : seconds, > 0. They are used to the end while anything is gained, whatever the effort; a first
        partition is always made.
    rng : None, a seed or a numpy Generator; the same seed gives the same labels for any number of threads, unless there
        is a time budget. In whatever order nodes with names and their edges come, each node has the same label.
    progress : True for a bar where there is a terminal, or a function `progress(stage, done, total)`; an exception it
        raises stops the work. Ctrl-C raises `Interrupted`, whose `best` is a Clustering, once there is one.

    Returns a `Clustering` whose `k` is the number of clusters found. Every cluster is connected, unless a bound leaves
    no other choice, which a remark then says. An isolated node is a cluster by itself, as in other tools for
    communities, and so is every node of a graph without edges; `coreset_sc`, which makes exactly k, labels it -1.

    Raises ParameterError (resolution, objective, effort, components or time_budget impossible, or bounds that no
    partition can meet), TypeError (of the wrong type), GraphValidationError (no graph to cluster, wrong weights).

    Source: Newman & Girvan 2004 and Reichardt & Bornholdt 2006 for modularity of both kinds, Traag, Van Dooren &
    Nesterov 2011 for the constant Potts model; the method is that of `graphclust.engine.engine`.

    >>> import networkx as nx
    >>> clustering = communities(nx.karate_club_graph(), weight=None, rng=0)
    >>> clustering.k, round(clustering.modularity, 4)
    (4, 0.4198)
    """
    resolution = as_resolution(resolution)
    objective = as_choice(objective, "objective", PLAIN_OBJECTIVES)
    effort = as_choice(effort, "effort", tuple(EFFORTS))
    components = as_choice(components, "components", COMPONENTS)
    if as_choice(small, "small", SMALL) == "apart" and min_size is None:
        raise ParameterError("small='apart' leaves out clusters of less than min_size, expected min_size too")
    (rng, seed), progress = as_seeded(rng), as_progress(progress, time_budget)
    graph = graph_to_cluster(G, 1, weight, symmetrize, progress, needs_edges=False)
    check_memory(graph)
    order = node_order(graph)
    ordered = in_order(graph, order)
    progress.watch(ordered)
    remarks = list(graph.remarks)
    taken = np.ones(graph.n_nodes, bool)
    if not graph.n_entries:
        remarks.append(ALONE)
    elif components == "largest":
        searched = nodes_to_partition(ordered, 1, components, progress)
        taken, remarks = searched.nodes, [*searched.remarks_after(remarks)]
    part = ordered if taken.all() else ordered.subgraph(np.flatnonzero(taken))
    on = weigh(part, objective)
    is_bounded = min_size is not None or max_size is not None
    sizes = as_sizes(G, graph, node_weight if is_bounded or node_weight is not None else 1.0)
    size = sizes[order[taken]]
    bounds = as_bounds(size, min_size, max_size) if is_bounded else None
    if connectivity is not None:
        as_bar(connectivity, 2)
    parameters: dict[str, Any] = {"resolution": resolution, "objective": objective}
    parameters |= {"effort": effort, "components": components}
    if connectivity is not None:
        parameters["connectivity"] = plain_number(connectivity_in_words(connectivity))
    asked = {"min_size": min_size, "max_size": max_size, "node_weight": weights_in_words(node_weight, graph)}
    parameters |= {name: plain_number(value) for name, value in asked.items() if value is not None and is_bounded}
    parameters |= {"small": small} if small == "apart" else {}
    ids = None if start is None else ids_of_start(graph, start)
    deal_with_small = leave_apart if small == "apart" else meet_minimum
    parameters |= graph_settings(weight, symmetrize, time_budget)

    def clustering_with(
        labels: np.ndarray, said: list[str], sums: ClusterSums | None = None, before: np.ndarray | None = None
    ) -> Clustering:
        """The result with these labels for the nodes that took part, and -1 for the others.

        before : labels before small clusters were dealt with, if that changed any.
        """
        if connectivity is not None:
            least = 0.0 if bounds is None else bounds.least
            with progress.stage("well-connected"):
                labels, remark = leave_well_connected(part, labels, connectivity, goal, size, least, run)
            said, sums = [*said, remark], None
        found, k, listed = np.full(graph.n_nodes, -1, np.int64), int(labels.max()) + 1, listing_order(graph)
        found[order[taken]] = labels
        if before is not None:
            said = [*said, *remarks_on_small(before, numbering_by_size(found, k, listed)[labels], size, min_size)]
        made = clustering_of(
            graph, k, found, said, progress, order=listed, objective=objective, resolution=resolution,
            entries_read=progress.entries_read, parameters=parameters, seed=seed, sums=sums,
            node_sizes=None if (sizes == 1.0).all() else sizes,
        )  # fmt: skip
        return made if ids is None else name_clusters(made, ids)

    def best_so_far(labels: np.ndarray) -> Clustering:
        said = "interrupted: these are the best labels so far, more time may find better ones"
        own = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        if goal.least > 0.0 and connectivity is None:
            quiet = replace(run, progress=Progress())
            found = connect(run.finest, with_sums(run.finest, own, int(own.max()) + 1, quiet), goal, quiet)
            own = deal_with_small(run.finest, found, goal, quiet).labels
        return clustering_with(own, [*remarks, said])

    with progress.interruptible(best_so_far), progress.stage("partition"):
        chosen = EFFORTS[effort] if time_budget is None else TO_THE_END
        run = run_on(on, rng, progress, None if bounds is None else bounds.size)
        goal = goal_at(on, resolution, objective)
        if bounds is not None:
            goal = goal._replace(least=bounds.least, most=bounds.most)
        free = goal._replace(least=0.0)
        begun = (
            partition(run.finest, free, chosen, run) if ids is None else partition_from(ids[order[taken]], free, run)
        )
        before = found = unite_ties(run.finest, begun, free, run)
        if bounds is not None and bounds.least > 0.0 and connectivity is None:
            found = deal_with_small(run.finest, found, goal, run)
            n_parts = 0 if small == "apart" else len(split_disconnected(run.finest, found, run).sums.size)
            if n_parts > len(found.sums.size):
                remarks.append(f"not all clusters are connected, which the bounds do not let them be: {n_parts} parts")
    sums = None if is_estimate(part.n_entries, part.n_nodes) else found.sums
    return clustering_with(found.labels, remarks, sums, None if before is found else before.labels)
