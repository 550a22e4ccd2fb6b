"""hierarchy: a graph in, nested levels of clusters out, down to a bound on their size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_choice, as_number, as_seeded, as_whole_number
from graphclust.engine.agglomeration import unite_ties
from graphclust.engine.bounds import as_sizes, remarks_on_small
from graphclust.engine.engine import EFFORTS, partition
from graphclust.engine.join_small_clusters import Sizes, join_small
from graphclust.engine.levels import Run, run_on
from graphclust.engine.natural_resolutions import LOWEST, WIDE, natural_resolutions
from graphclust.engine.nested_levels import finer_levels, levels_within_bound, thin_levels
from graphclust.engine.resolution import goal_at
from graphclust.engine.well_connected import Connectivity, as_bar, connectivity_in_words, leave_well_connected
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.node_order import in_order, node_names, node_order
from graphclust.literals import Effort, PlainObjective
from graphclust.objective.objective import PLAIN_OBJECTIVES, WeighedGraph, as_resolution, weigh
from graphclust.partition.communities import ALONE
from graphclust.partition.memory_estimate import check_memory
from graphclust.partition.options import graph_settings, plain_number
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.results.from_labels import graph_to_cluster
from graphclust.results.hierarchy import Hierarchy, hierarchy_of
from graphclust.updates.start import ids_of_start, levels_from, name_hierarchy
from graphclust.updates.warm_start import EarlierLevels, restart_labels

__all__ = ["hierarchy"]

USUAL = 1.0  # resolution
Labels = npt.NDArray[np.int32]


def hierarchy(
    G: GraphLike,
    *,
    max_size: float | None = None,
    min_size: float | None = None,
    resolution: float | None = None,
    levels: int | None = None,
    objective: PlainObjective = "modularity",
    node_weight: Any = None,
    connectivity: Connectivity | None = None,
    start: Any = None,
    effort: Effort = "low",
    weight: str | None = "weight",
    symmetrize: str | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Hierarchy:
    """Cluster a graph into nested levels, coarsest first.

    G, weight, symmetrize : as `communities` takes them.
    max_size : the most that a cluster of the finest level holds, >= 1. Each level splits the clusters that hold more
        into those that they show when clustered alone; where nothing shows, the last level splits them evenly along
        their weakest connections. None: there is no bound.
    min_size : >= 1; clusters that hold less are joined to the sibling that they share most weight with, where there is
        one and `max_size` allows it; a remark counts the others.
    resolution : > 0, at which the coarsest level is that of `communities`. None: 1 where there is a `max_size`; without
        one the levels are those at 1 and at the natural resolutions, over the widest ranges of which the number of
        clusters of a dendrogram stays.
    levels : at most so many, >= 1; coarser ones are left out, and the finest is always within the bound.
    objective : "modularity" (default), "constant_potts" or "erdos_renyi", as of `communities`.
    node_weight : what each node counts for in sizes, > 0: an array of shape (n_nodes,), a mapping or a pandas Series by
        the nodes' names, or the name of an attribute of the nodes of a NetworkX or igraph graph. None: what a METIS
        file says where there is a bound, else 1.
    connectivity : what the minimum cut inside a cluster of n nodes is above on every level, as of `communities`: from
        the top down, clusters are parted until it is. Nodes in no such cluster of `min_size` are alone, on all levels
        below too; a remark tells the coverage.
    start : labels of the coarsest level to begin with, as of `communities`; its clusters keep their numbers or `ids`.
    effort : of the coarsest level, as of `communities`.
    rng : None, a seed or a numpy Generator; the same seed gives the same levels, in whatever order nodes with names and
        their edges come.
    progress : as `communities` takes it; but levels are whole or not at all, so that Ctrl-C carries none.

    Returns a `Hierarchy`. Each level is strictly inside the one before it, and none repeats another. Clusters are
    connected, with one exception: nodes that inside the cluster above hang on one and the same node alone, and for
    which its part has no room, stand together. An isolated node is a cluster by itself, and so is every node of a
    graph without edges.

    Raises ParameterError (an argument out of range; a node that alone weighs more than `max_size`, or is without the
    attribute), TypeError (of the wrong type), GraphValidationError (no graph to cluster, weights of nodes that do not
    fit it or are not > 0).

    Source: Blondel et al. 2008 for modularity inside clusters, level by level; the method is that of
    `graphclust.engine.engine` and `graphclust.engine.nested_levels`.

    >>> import networkx as nx
    >>> found = hierarchy(nx.ring_of_cliques(8, 5), max_size=5, resolution=0.3, rng=0)
    >>> [len(parents) for parents in found.parents]
    [4, 8]
    """
    objective, effort = as_choice(objective, "objective", PLAIN_OBJECTIVES), as_choice(effort, "effort", tuple(EFFORTS))
    given = {"max_size": max_size, "min_size": min_size, "resolution": resolution, "levels": levels}
    asked = {name: plain_number(value) for name, value in given.items()}
    for name in ("max_size", "min_size"):
        asked[name] = asked[name] if asked[name] is None else as_number(asked[name], name, at_least=1.0)
    most, least = asked["max_size"] or np.inf, asked["min_size"] or 0.0
    if least > most:
        raise ParameterError(f"min_size={min_size} is above max_size={max_size}, expected at most that")
    resolution = None if resolution is None else as_resolution(resolution)
    levels = None if levels is None else as_whole_number(levels, "levels", at_least=1)
    if connectivity is not None:
        as_bar(connectivity, 2)
    (rng, seed), progress = as_seeded(rng), as_progress(progress, None)
    graph = graph_to_cluster(G, 1, weight, symmetrize, progress, needs_edges=False)
    check_memory(graph)
    is_bounded = (max_size, min_size) != (None, None)
    sizes = Sizes(as_sizes(G, graph, node_weight if is_bounded or node_weight is not None else 1.0), least, most)
    refuse_heavy_nodes(graph, sizes)
    wanted = LevelOptions(sizes, resolution, levels, objective, effort, connectivity=connectivity)
    ids = None if start is None else ids_of_start(graph, start)
    earlier = None if ids is None else levels_from(graph, ids)
    found, resolutions = make_levels(graph, wanted, rng, progress, earlier)
    remarks = [*graph.remarks, *([] if graph.n_entries else [ALONE])]
    if least:
        remarks += remarks_on_small(found[-1], found[-1], sizes.of_nodes, min_size)
    if connectivity is not None:
        first, last = (float(np.mean(np.bincount(level)[level] > 1)) for level in (found[0], found[-1]))
        remarks.append(
            f"well-connected clusters cover {first:.1%} of the nodes on the coarsest level, {last:.1%} on the finest"
        )
        asked["connectivity"] = plain_number(connectivity_in_words(connectivity))
    parameters = {**asked, "objective": objective, "effort": effort} | graph_settings(weight, symmetrize, None)
    if node_weight is not None:
        parameters["node_weight"] = node_weight if isinstance(node_weight, str) else "an array"
    elif is_bounded and graph.node_weights is not None:
        parameters["node_weight"] = "file"
    made = hierarchy_of(
        graph, found, objective=objective, resolutions=resolutions, max_size=asked["max_size"],
        min_size=asked["min_size"], node_sizes=None if (sizes.of_nodes == 1.0).all() else sizes.of_nodes,
        remarks=(*remarks, *progress.remarks), seconds=progress.seconds, parameters=parameters, seed=seed,
    )  # fmt: skip
    return made if ids is None else name_hierarchy(made, ids)


class LevelOptions(NamedTuple):
    """The arguments of `hierarchy` that say which levels to make, checked; resolutions : of the levels, if known."""

    sizes: Sizes
    resolution: float | None
    levels: int | None
    objective: str
    effort: str
    resolutions: tuple[float, ...] = ()
    connectivity: Any = None


def make_levels(
    graph: Graph,
    wanted: LevelOptions,
    rng: np.random.Generator,
    progress: Progress,
    earlier: EarlierLevels | None = None,
) -> tuple[list[Labels], tuple[float, ...]]:
    """Labels of each level, coarsest first, in the order of the nodes; and the resolutions that were asked for.

    earlier : levels that these are made from.
    """
    order = node_order(graph)
    ordered = in_order(graph, order)
    on = weigh(ordered, wanted.objective)
    run = run_on(on, rng, progress)
    wanted = wanted._replace(sizes=wanted.sizes.at(order))
    with progress.stage("levels"):
        resolutions = wanted.resolutions or _resolutions(on, wanted, run)
        earlier = None if earlier is None else earlier.at(order)
        found = list(_levels(on, wanted, resolutions, run, earlier))
        if wanted.levels is not None:
            found = thin_levels(ordered, found, wanted.levels, wanted.sizes)
    labels = np.empty((len(found), graph.n_nodes), np.int32)
    labels[:, order] = found
    return list(labels), resolutions


def _resolutions(on: WeighedGraph, wanted: LevelOptions, run: Run) -> tuple[float, ...]:
    """The resolution of the coarsest level, and without a bound natural ones; increasing."""
    first = USUAL if wanted.resolution is None else wanted.resolution
    if not np.isinf(wanted.sizes.most) or run.progress.out_of_time():
        return (first,)
    natural = natural_resolutions(on, run, LOWEST if wanted.resolution is None else first)
    if wanted.levels is None:
        return tuple(sorted([first, *(value for value, width in natural if width >= WIDE)]))
    return tuple(sorted([first, *(value for value, _ in natural[: wanted.levels - 1])]))


def _levels(
    on: WeighedGraph, wanted: LevelOptions, resolutions: tuple[float, ...], run: Run, earlier: EarlierLevels | None
) -> Iterator[Labels]:
    """The levels, coarsest first; each has more clusters than the one before."""
    sizes, objective = wanted.sizes, wanted.objective
    first, *finer = resolutions
    goal = goal_at(on, first, objective)
    if earlier is None:
        labels = unite_ties(run.finest, partition(run.finest, goal, EFFORTS[wanted.effort], run), goal, run).labels
    else:
        labels = restart_labels(run, earlier.start(0), earlier.n_changed, goal)
    keep = partial(_well_connected_or_alone, on.graph, wanted, run) if wanted.connectivity is not None else None
    labels = join_small(on.graph.rows, labels, sizes._replace(most=np.inf))
    labels = labels if keep is None else keep(labels)
    if not np.isinf(sizes.most):
        yield labels
        yield from levels_within_bound(on.graph, labels, max(first, USUAL), objective, sizes, run, earlier, keep)
        return
    below = list(finer_levels(on, labels, finer, objective, sizes, run, earlier, keep))
    if labels.any() or not below:  # where there are finer ones, one cluster is no level
        yield labels
    yield from below


def _well_connected_or_alone(graph: Graph, wanted: LevelOptions, run: Run, labels: Labels) -> Labels:
    """Well-connected clusters inside those given, every other node alone."""
    size, least, _ = wanted.sizes
    found, _ = leave_well_connected(graph, labels, wanted.connectivity, None, size, least, run, may_be_none=True)
    alone = found < 0
    found[alone] = int(found.max()) + 1 + np.arange(np.count_nonzero(alone))
    return found


def refuse_heavy_nodes(graph: Graph, sizes: Sizes) -> None:
    """ParameterError for a node that alone is above the bound."""
    heaviest = int(sizes.of_nodes.argmax())
    if sizes.of_nodes[heaviest] > sizes.most:
        raise ParameterError(
            f"node {node_names(graph)[heaviest]!r} alone weighs {sizes.of_nodes[heaviest]:g}, more than max_size="
            f"{sizes.most:g}, expected a larger max_size"
        )
