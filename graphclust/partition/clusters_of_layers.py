"""Exactly k clusters of a directed, bipartite or signed graph, or of several: what `coreset_sc` does with layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphclust.compiled.graphs.levels import Task
from graphclust.engine.engine import EFFORTS, TO_THE_END, partition_into
from graphclust.engine.levels import run_on
from graphclust.engine.resolution import objective_of, remarks_on
from graphclust.engine.unlinked_clusters import partition_any
from graphclust.errors import ParameterError
from graphclust.graph.layers import LayeredGraph
from graphclust.graph.node_order import in_order, in_rows, listing_order, node_order
from graphclust.objective.objective import weigh_layers
from graphclust.partition.components import labels_of_all_nodes
from graphclust.partition.memory_estimate import check_memory
from graphclust.partition.options import Options
from graphclust.progress import Progress
from graphclust.results.clustering import Clustering
from graphclust.results.from_labels import clustering_of, large_enough

INTERRUPTED = "interrupted: these are the best labels so far, more time may find better ones"


def clusters_of_layers(
    layered: LayeredGraph,
    k: int | None,
    options: Options,
    asked: dict[str, Any],
    draws: tuple[np.random.Generator, int | str],
    progress: Progress,
) -> Clustering:
    """Exactly k clusters by the multilevel engine, of the nodes with edges; the others have label -1.

    asked : for the record, beside the options. With a layer of negative penalty clusters need not be connected, and no
    resolution matches k: it is 1 where none is given.

    Raises ParameterError for what undirected graphs alone have.
    """
    k = _checked(layered, k, options)
    choice, graph = options.choice, large_enough(layered.combined, k)
    check_memory(graph, k, "multilevel")
    order = node_order(graph)
    has_edges = np.diff(graph.indptr)[order] > 0
    part = layered.take(order[has_edges], in_order(graph, order).subgraph(np.flatnonzero(has_edges)))
    n_made, remarks = min(k, part.n_nodes), list(graph.remarks)
    progress.watch(part.combined)
    effort = EFFORTS[options.effort] if progress.time_budget is None else TO_THE_END

    def clustering_with(labels: np.ndarray, remarks: list[str], resolution: float | None) -> Clustering:
        record = options.record | {"method": "multilevel", "components": "all"}
        return clustering_of(
            graph, k, in_rows(labels_of_all_nodes(has_edges, labels.astype(np.int64)), order), remarks, progress,
            order=listing_order(graph), objective=choice.name, resolution=resolution, layered=layered,
            entries_read=progress.entries_read, parameters=record | asked, seed=draws[1],
        )  # fmt: skip

    def best_so_far(labels: np.ndarray) -> Clustering:
        return clustering_with(labels, [*remarks, INTERRUPTED], None)

    run = run_on(weigh_layers(part, choice.name), draws[0], progress)
    with progress.interruptible(best_so_far), progress.stage("partition"):
        if part.connected or choice.name != "modularity":
            found, schedule = partition_into(run.finest, n_made, choice, effort, run)
            resolution, remarks = schedule.resolution, [*remarks, *remarks_on(schedule)]
        else:
            objective, resolution = objective_of(choice, n_made, 1.0, run.totals)
            found = partition_any(run.finest, Task(objective, n_made), effort, run)
    return clustering_with(found.labels, remarks, resolution)


def _checked(layered: LayeredGraph, k: int | None, options: Options) -> int:
    """The number of clusters; ParameterError for an option that undirected graphs alone have."""
    kind = f"undirected graphs alone, and G is {layered.kind}"
    instead = "leave it out" + (', or pass symmetrize="sum"' if layered.kind == "directed" else "")
    if k is None:
        raise ParameterError(
            f"k=None takes a number that is suggested for {kind}; expected k as a number, or communities(G), which "
            "finds one by its resolution"
        )
    if options.is_bounded:
        raise ParameterError(
            f"min_size and max_size with k are for {kind}; {instead}, or bound the clusters of communities(G, ...)"
        )
    for name, value, able in (
        ("method", options.method, ("auto", "multilevel")), ("components", options.components, ("large", "all")),
    ):  # fmt: skip
        if value not in able:
            raise ParameterError(f"{name}={value!r} is for {kind}; {instead}")
    return k
