"""well_connected: clusters of any origin in, clusters out that no few edges hold together."""

from typing import Any

import numpy as np

from graphclust.checks import AdditiveObjective, Leftover, Seed, as_choice, as_number, as_seeded
from graphclust.engine.connectivity import Connectivity, as_bar, connectivity_in_words, leave_well_connected
from graphclust.engine.levels import run_on
from graphclust.engine.resolution import task_at
from graphclust.graph.container import GraphLike
from graphclust.graph.node_order import in_order, in_rows, listing_order, node_order
from graphclust.objective.labels import LabelsLike, labels_on
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, weigh
from graphclust.partition.options import graph_settings, plain_number
from graphclust.progress import ProgressLike, as_progress
from graphclust.results.clustering import Clustering
from graphclust.results.from_labels import clustering_of, graph_to_cluster

LEFTOVER = ("apart", "alone")


def well_connected(
    G: GraphLike,
    labels: LabelsLike,
    *,
    connectivity: Connectivity = "log10",
    recluster: bool = True,
    min_size: int | None = None,
    cut_weight: bool = False,
    leftover: Leftover = "apart",
    objective: AdditiveObjective | None = None,
    resolution: float | None = None,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Part clusters of any origin until each is well-connected: no few edges part it.

    G, weight, symmetrize : as `communities` takes them.
    labels : clusters of any origin, as `cluster_volumes` takes them; nodes labeled -1 stay in no cluster.
    connectivity : what the minimum cut inside a cluster of n nodes has to be above: "log10" (default), which is log10 n
        and is called "well" too; a number >= 0, 0 for connected clusters, 1 for those that no single edge parts; or a
        function of n.
    recluster : whether both sides of a cut are partitioned anew before they are tested; else they are only cut.
    min_size : nodes that a cluster has at least; smaller ones are left over. Below two nodes there is no cluster.
    cut_weight : whether edges count their weights in a cut, instead of 1 each.
    leftover : "apart" (default) labels nodes without a well-connected cluster -1, "alone" makes each a cluster.
    objective, resolution : of the new partitions, as of `communities`. None: those of `labels`, if they are a result of
        `communities`; else modularity at 1.
    rng : None, a seed or a numpy Generator, for the new partitions.
    progress : as `communities` takes it.

    Returns a `Clustering` whose clusters lie inside those given. A cluster that is well-connected stays as it is. Of
    the others nodes are peeled off while the lowest inner degree is too low, then minimum cuts part them; all parts,
    and those that the peeled nodes make, are tested in turn. A remark says which share of the nodes is covered.
    Clusters are numbered by size.

    Raises ParameterError (connectivity below 0 or NaN, arguments out of range, no cluster left), GraphValidationError
    (labels of another graph), TypeError.

    Source: Park, Tabatabaee, Ramavarapu et al. 2024, "Well-connectedness and community detection", for the criterion
    and the Connectivity Modifier; with `recluster=False` it is their WCC.

    >>> import networkx as nx
    >>> lollipop = nx.lollipop_graph(12, 3)  # a clique of 12 nodes with a tail of 3
    >>> well_connected(lollipop, [0] * 15, min_size=4).labels
    array([ 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0, -1, -1, -1])
    """
    as_bar(connectivity, 2)
    least = 0.0 if min_size is None else as_number(min_size, "min_size", above=0.0)
    leftover = as_choice(leftover, "leftover", LEFTOVER)
    if objective is None and isinstance(labels, Clustering) and labels.objective in ADDITIVE_OBJECTIVES:
        made_for, resolution = labels.objective, labels.resolution if resolution is None else resolution
    else:
        made_for = as_choice("modularity" if objective is None else objective, "objective", ADDITIVE_OBJECTIVES)
    resolution = as_number(1.0 if resolution is None else resolution, "resolution", above=0.0)
    (rng, seed), progress = as_seeded(rng), as_progress(progress, None)
    graph = graph_to_cluster(G, 1, weight, symmetrize, progress)
    order = node_order(graph)
    given = labels_on(graph, labels)[order]
    ordered = in_order(graph, order)
    on = weigh(ordered, made_for)
    with progress.stage("well-connected"):
        run, task = run_on(on, rng, progress), task_at(on, resolution, made_for) if recluster else None
        parted, remark = leave_well_connected(
            ordered, given, connectivity, task, np.ones(len(given)), least, run, cut_weight,
            may_be_none=leftover == "alone",
        )  # fmt: skip
    if leftover == "alone":
        parted[parted < 0] = parted.max() + 1 + np.arange(np.count_nonzero(parted < 0))
    asked = plain_number(connectivity_in_words(connectivity))
    parameters: dict[str, Any] = {"connectivity": asked, "recluster": bool(recluster)}
    parameters |= {"min_size": plain_number(min_size), "cut_weight": bool(cut_weight), "leftover": leftover}
    return clustering_of(
        graph, int(parted.max()) + 1, in_rows(parted.astype(np.int64), order), [*graph.remarks, remark], progress,
        order=listing_order(graph), objective=made_for, resolution=resolution, seed=seed,
        parameters=parameters | graph_settings(weight, symmetrize, None),
    )  # fmt: skip
