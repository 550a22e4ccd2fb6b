"""hierarchy: a graph in, nested levels of clusters out, down to a bound on their size."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphclust.checks import AdditiveObjective, Effort, Kind, Seed, as_choice, as_number, as_seeded, as_whole_number
from graphclust.engine.bounds import as_sizes, remarks_on_small, weights_in_words
from graphclust.engine.cluster_sizes import Sizes
from graphclust.engine.connectivity import Connectivity, as_bar, connectivity_in_words
from graphclust.engine.engine import EFFORTS
from graphclust.engine.nested_levels import LevelOptions, make_levels, refuse_heavy_nodes, remark_on_coverage
from graphclust.errors import ParameterError
from graphclust.graph.layers import LayeredGraph
from graphclust.graph.matrices import said_of_clusters
from graphclust.io.kinds import GraphsLike, as_layered
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, as_resolution, judged_by
from graphclust.partition.communities import ALONE
from graphclust.partition.memory_estimate import check_memory
from graphclust.partition.options import graph_settings, plain_number, settings_of_layers
from graphclust.progress import ProgressLike, as_progress
from graphclust.results.hierarchy import Hierarchy, hierarchy_of
from graphclust.updates.hierarchy_update import name_hierarchy
from graphclust.updates.start import ids_of_start, levels_from


def hierarchy(
    G: GraphsLike,
    *,
    max_size: float | None = None,
    min_size: float | None = None,
    resolution: float | None = None,
    levels: int | None = None,
    objective: AdditiveObjective = "modularity",
    node_weight: Any = None,
    kind: Kind | None = None,
    layer_weights: Sequence[float] | Mapping[Any, float] | None = None,
    normalize: bool = True,
    connectivity: Connectivity | None = None,
    start: Any = None,
    effort: Effort = "low",
    weight: str | None = "weight",
    symmetrize: str | None = None,
    time_budget: float | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Hierarchy:
    """Cluster a graph into nested levels, coarsest first.

    G, kind, layer_weights, normalize, weight, symmetrize : as `communities` takes them. Inside a cluster a layer's
        chance is what the layer holds there.
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
        Of undirected graphs only.
    effort : of the coarsest level, as of `communities`.
    time_budget : seconds, > 0, after which no finer level is looked for and nothing moves any more; clusters above
        `max_size` are then split evenly, and a remark says so.
    rng : None, a seed or a numpy Generator; the same seed gives the same levels, unless a time budget runs out, in
        whatever order nodes with names and their edges come.
    progress : as `communities` takes it; but levels are whole or not at all, so that Ctrl-C carries none.

    Returns a `Hierarchy`. Each level is strictly inside the one before it, and none repeats another. Clusters are
    connected, with one exception: nodes that inside the cluster above hang on one and the same node alone, and for
    which its part has no room, stand together; with weights below zero those of the coarsest level need not be
    connected. An isolated node is a cluster by itself, and so is every node of a graph without edges.

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
    objective = as_choice(objective, "objective", ADDITIVE_OBJECTIVES)
    effort = as_choice(effort, "effort", tuple(EFFORTS))
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
    (rng, seed), progress = as_seeded(rng), as_progress(progress, time_budget)
    with progress.stage("gate"):
        one = as_layered(
            G, kind, weight=weight, symmetrize=symmetrize, layer_weights=layer_weights, normalize=normalize
        )
    graph, layered = (one.combined, judged_by(one, objective)) if isinstance(one, LayeredGraph) else (one, None)
    if layered is not None:
        for name, value in (("start", start), ("connectivity", None if layered.connected else connectivity)):
            if value is not None:
                raise ParameterError(f"{name} is not for the levels of a {layered.kind} graph; leave it out")
    check_memory(graph)
    is_bounded = (max_size, min_size) != (None, None)
    sizes = Sizes(as_sizes(G, graph, node_weight if is_bounded or node_weight is not None else 1.0), least, most)
    refuse_heavy_nodes(graph, sizes)
    wanted = LevelOptions(sizes, resolution, levels, objective, effort, connectivity=connectivity, layered=layered)
    ids = None if start is None else ids_of_start(graph, start)
    earlier = None if ids is None else levels_from(graph, ids)
    nested, resolutions = make_levels(graph, wanted, rng, progress, earlier)
    remarks = [*said_of_clusters(graph.remarks, True), *([] if graph.n_entries else [ALONE])]
    if least:
        remarks += remarks_on_small(nested[-1], nested[-1], sizes.of_nodes, min_size)
    if connectivity is not None:
        remarks.append(remark_on_coverage(nested))
        asked["connectivity"] = plain_number(connectivity_in_words(connectivity))
    parameters = {**asked, "objective": objective, "effort": effort} | graph_settings(weight, symmetrize, time_budget)
    parameters |= settings_of_layers(one, layer_weights, normalize)
    if (counted := weights_in_words(node_weight, graph)) is not None and (is_bounded or counted != "file"):
        parameters["node_weight"] = counted
    made = hierarchy_of(
        graph, nested, objective=objective, resolutions=resolutions, max_size=asked["max_size"],
        min_size=asked["min_size"], node_sizes=None if (sizes.of_nodes == 1.0).all() else sizes.of_nodes,
        remarks=(*remarks, *progress.remarks), seconds=progress.seconds, parameters=parameters, seed=seed,
        layered=one if isinstance(one, LayeredGraph) else None,
    )  # fmt: skip
    return made if ids is None else name_hierarchy(made, ids)
