"""communities: cluster a graph at a resolution, which decides the number of clusters.

A call goes through these rooms:

1. `as_layered` (`io/kinds.py`) reads the graph: a `Graph`, or a `LayeredGraph` where it is directed, bipartite, signed
   or several; `weigh` (`objective/objective.py`) gives its nodes the masses by which the objective reckons with chance.
2. `Search.without_minimum`: the engine's `partition_into_any_number` (steps: `engine/engine.py`), within `max_size`.
   Weights below zero take `partition_signed` beside it, a `start` takes `partition_from_start` (`updates/start.py`).
3. `Search.with_minimum`: clusters below `min_size` are united or left apart (`engine/bounds.py`), or wait for step 4.
4. `Search.clustering`: with `connectivity`, `leave_well_connected` (`engine/connectivity.py`) parts clusters and leaves
   out those below `min_size`; `clustering_of` (`results/from_labels.py`) numbers the others by size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphclust.checks import AdditiveObjective, Components, Effort, Kind, Seed, Small, as_choice, as_seeded
from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.engine.bounds import (
    NodeWeight,
    as_bounds,
    as_sizes,
    leave_apart,
    meet_minimum,
    remarks_on_small,
    weights_in_words,
)
from graphclust.engine.connectivity import (
    Connectivity,
    as_bar,
    connect,
    connectivity_in_words,
    leave_well_connected,
    split_disconnected,
)
from graphclust.engine.contraction import is_estimate, unite_ties
from graphclust.engine.engine import (
    EFFORTS,
    TO_THE_END,
    EffortCycles,
    partition_into_any_number,
    partition_signed,
)
from graphclust.engine.levels import Run, run_on, with_sums
from graphclust.engine.resolution import task_at
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph
from graphclust.graph.matrices import said_of_clusters
from graphclust.graph.node_order import in_order, listing_order, node_order
from graphclust.io.kinds import GraphsLike, as_layered
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, as_resolution, judged_by, weigh, weigh_layers
from graphclust.partition.components import nodes_to_partition
from graphclust.partition.memory_estimate import check_memory
from graphclust.partition.options import INTERRUPTED, graph_settings, plain_number, settings_of_layers
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.results.clustering import Clustering
from graphclust.results.from_labels import clustering_of, numbering_by_size
from graphclust.updates.clustering_update import name_clusters
from graphclust.updates.start import Labels, ids_of_start, partition_from_start

ALONE = "G has no edges: each node is a cluster by itself"
PARTED = "not all clusters are connected, which the bounds do not let them be: {} parts"
MAY_PART = "clusters of a graph with weights below zero need not be connected: they have {} parts"


def communities(
    G: GraphsLike,
    *,
    kind: Kind | None = None,
    resolution: float | Sequence[float] = 1.0,
    objective: AdditiveObjective = "modularity",
    effort: Effort = "normal",
    components: Components = "all",
    min_size: float | None = None,
    max_size: float | None = None,
    small: Small = "unite",
    node_weight: NodeWeight = None,
    layer_weights: Sequence[float] | Mapping[Any, float] | None = None,
    normalize: bool = True,
    connectivity: Connectivity | None = None,
    start: Any = None,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    time_budget: float | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Cluster a graph at a resolution; the number of clusters follows from it.

    G : networkx.Graph, SciPy sparse matrix or array, ndarray, table, path of a graph file, or Graph; see `as_graph` for
        these, for `weight`, `symmetrize` and what is assumed or repaired. Or a list or dict of graphs on the same
        nodes, which are layers of one: nodes are the same where their names are, or without names their places, and
        have no edges in a layer that lacks them. Or slices over time, see `time_slices`.
    kind : "undirected", with weights >= 0; "directed", from source to target or row to column; "bipartite": a matrix
        from its rows to its columns, a table of two columns whose ids stay apart, or a graph whose nodes have the
        attribute "bipartite", 0 or 1 (of igraph "type"); "signed", whose weights below zero repel. Each has the
        modularity of its kind, see `graphclust.graph.layers`. None: a graph of NetworkX, igraph, networkit or
        graph-tool is directed if it says so and `symmetrize` is not given, a rectangular matrix bipartite, all else
        undirected.
    resolution : > 0, one, or one for each of several graphs; higher ones make more and smaller clusters. Of modularity
        1 is the usual one; of the constant Potts model it is a density: the mean weight between two nodes is above it
        inside clusters, and below it between them.
    objective : "modularity" (default) compares the weight inside a cluster with what chance would put there, by the
        degrees of its nodes; "constant_potts" with the resolution times the square of their number; "erdos_renyi" is
        that at the resolution times the mean weight between two different nodes.
    effort : "low", "normal" (default) or "high", which takes some six times as long and comes close to the best
        partition known. The best of what was tried is returned.
    components : "all" (default), or "largest": the nodes of the others are in no cluster, and have label -1.
    min_size, max_size : > 0, what a cluster may hold, in nodes, or in what they weigh. Clusters of less than `min_size`
        are united with the neighbor that they share most weight with; those that hold half of it take nodes of others
        instead, if a union would lose more; where no neighbor has room, nodes are given and taken. Components of less,
        such as isolated nodes, stay as they are. Remarks say what was united.
    small : "unite" (default), or "apart": clusters of less than `min_size` are left out, and their nodes have label -1.
    node_weight : of each node, > 0, which the bounds then count: an array of shape (n_nodes,), a mapping or a pandas
        Series by the nodes' names, or the name of a node attribute of a networkx.Graph or igraph.Graph. By default each
        node weighs what its METIS file says, else 1.
    layer_weights : of several graphs, what each counts: numbers with a sum > 0, by default 1 each; or by their names.
    normalize : of several graphs, whether all count alike but for their weights; False: each edge does.
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
    no other choice or weights are below zero, which a remark then says. An isolated node is a cluster by itself, as in
    other tools for communities, and so is every node of a graph without edges; `coreset_sc`, which makes exactly k,
    labels it -1.

    Raises ParameterError (resolution, objective, effort, components or time_budget impossible, or bounds that no
    partition can meet), TypeError (of the wrong type), GraphValidationError (no graph to cluster, wrong weights).

    Source: Newman & Girvan 2004 and Reichardt & Bornholdt 2006 for modularity by degrees and by pairs, Traag, Van
    Dooren & Nesterov 2011 for the constant Potts model; the method is that of `graphclust.engine.engine`.

    >>> import networkx as nx
    >>> clustering = communities(nx.karate_club_graph(), weight=None, rng=0)
    >>> clustering.k, round(clustering.modularity, 4)
    (4, 0.4198)
    """
    at: Any = resolution
    are_several = isinstance(at, Sequence | np.ndarray) and not isinstance(at, str)
    at = [as_resolution(one) for one in at] if are_several else as_resolution(at)
    objective = as_choice(objective, "objective", ADDITIVE_OBJECTIVES)
    effort = as_choice(effort, "effort", tuple(EFFORTS))
    components = as_choice(components, "components", ("all", "largest"))
    if as_choice(small, "small", ("unite", "apart")) == "apart" and min_size is None:
        raise ParameterError("small='apart' leaves out clusters of less than min_size, expected min_size too")
    (rng, seed), progress = as_seeded(rng), as_progress(progress, time_budget)
    with progress.stage("gate"):
        one = as_layered(
            G, kind, weight=weight, symmetrize=symmetrize, layer_weights=layer_weights, normalize=normalize
        )
    layered = one if isinstance(one, LayeredGraph) else None
    graph = one.combined if isinstance(one, LayeredGraph) else one
    if isinstance(at, list):
        if len(at) != (n_layers := 1 if layered is None else len(layered.layers)):
            raise ParameterError(
                f"resolution={resolution!r} has {len(at)} numbers, expected one, or {n_layers}, one a layer"
            )
        at = at[0] if layered is None else at
    check_memory(graph)
    nodes, part, remarks = _part_to_search(graph, components, progress)
    weighed, may_part = weigh(part, objective), False
    if layered is not None:
        judged = judged_by(layered, objective).take(nodes, part)
        weighed, may_part = weigh_layers(judged, at), not judged.connected
        if may_part and connectivity is not None:
            raise ParameterError(f"connectivity={connectivity!r} is not for a {layered.kind} graph, expected None")
    is_bounded = min_size is not None or max_size is not None
    sizes = as_sizes(G, graph, node_weight if is_bounded or node_weight is not None else 1.0)
    bounds = as_bounds(sizes[nodes], min_size, max_size) if is_bounded else None
    parameters: dict[str, Any] = {"resolution": at, "objective": objective, "effort": effort, "components": components}
    if connectivity is not None:
        as_bar(connectivity, 2)
        parameters["connectivity"] = plain_number(connectivity_in_words(connectivity))
    asked = {"min_size": min_size, "max_size": max_size, "node_weight": weights_in_words(node_weight, graph)}
    parameters |= {name: plain_number(value) for name, value in asked.items() if value is not None and is_bounded}
    parameters |= {"small": small} if small == "apart" else {}
    parameters |= graph_settings(weight, symmetrize, time_budget)
    parameters |= settings_of_layers(one, layer_weights, normalize)
    ids = None if start is None else ids_of_start(graph, start)
    task = task_at(weighed, at if layered is None else 1.0, objective)
    if bounds is not None:
        task = task._replace(least=bounds.least, most=bounds.most)
    run = run_on(weighed, rng, progress, None if bounds is None else bounds.size)
    search = Search(
        graph, layered, nodes, part, remarks, run, task, may_part, sizes, min_size, small, connectivity, ids,
        parameters, seed,
    )  # fmt: skip
    with progress.interruptible(search.best_so_far), progress.stage("partition"):
        before = search.without_minimum(EFFORTS[effort] if time_budget is None else TO_THE_END)
        after, remarks = search.with_minimum(before)
    sums = None if layered is not None or is_estimate(part.n_entries, part.n_nodes) else after.sums
    return search.clustering(after.labels, remarks, sums, None if before is after else before.labels)


@dataclass(frozen=True)
class Search:
    """What `communities` searches and how, all of it checked.

    nodes : those that take part, in the order of the nodes of `part`, the graph between them. task : with the bounds,
    on `run`. may_part : whether clusters need not be connected. sizes : of all nodes. ids : of clusters to start from,
    if any.
    """

    graph: Graph
    layered: LayeredGraph | None
    nodes: np.ndarray
    part: Graph
    remarks: tuple[str, ...]
    run: Run
    task: Task
    may_part: bool
    sizes: np.ndarray
    min_size: float | None
    small: Small
    connectivity: Connectivity | None
    ids: Labels | None
    parameters: dict[str, Any]
    seed: int | str

    @property
    def deals_with_small(self) -> bool:
        return self.task.least > 0.0 and self.connectivity is None

    def without_minimum(self, effort: EffortCycles) -> Partition:
        """The best partition found, without a lower bound on what clusters hold."""
        run, free = self.run, self.task._replace(least=0.0)
        if self.ids is None:
            begun = (partition_signed if self.may_part else partition_into_any_number)(run.finest, free, effort, run)
        else:
            begun = partition_from_start(self.ids[self.nodes], free, run, self.may_part)
        return unite_ties(run.finest, begun, free, run)

    def without_small(self, clusters: Partition, run: Run) -> Partition:
        """Clusters below the lower bound united with others, or left apart, unless `connectivity` is asked for."""
        if not self.deals_with_small:
            return clusters
        return (leave_apart if self.small == "apart" else meet_minimum)(run.finest, clusters, self.task, run)

    def with_minimum(self, clusters: Partition) -> tuple[Partition, tuple[str, ...]]:
        """The partition within its bounds, and what to remark, also on clusters that are not connected."""
        run, remarks = self.run, self.remarks
        bounded = self.without_small(clusters, run)
        if self.may_part or (self.deals_with_small and self.small != "apart"):
            n_parts = len(split_disconnected(run.finest, bounded, run).sums.size)
            if n_parts > len(bounded.sums.size):
                remarks = (*remarks, (MAY_PART if self.may_part else PARTED).format(n_parts))
        return bounded, remarks

    def clustering(
        self, labels: np.ndarray, remarks: tuple[str, ...], sums: ClusterSums | None = None,
        before: np.ndarray | None = None,
    ) -> Clustering:  # fmt: skip
        """The result with these labels for the nodes that took part, and -1 for the others.

        before : labels before small clusters were dealt with, if that changed any.
        """
        graph, progress, size = self.graph, self.run.progress, self.sizes[self.nodes]
        if self.connectivity is not None:
            with progress.stage("well-connected"):
                labels, remark = leave_well_connected(
                    self.part, labels, self.connectivity, self.task, size, self.task.least, self.run
                )
            remarks, sums = (*remarks, remark), None
        of_all, k, listed = np.full(graph.n_nodes, -1, np.int64), int(labels.max()) + 1, listing_order(graph)
        of_all[self.nodes] = labels
        if before is not None:
            after = numbering_by_size(of_all, k, listed)[labels]
            remarks = (*remarks, *remarks_on_small(before, after, size, self.min_size))
        at = self.parameters["resolution"]
        made = clustering_of(
            graph, k, of_all, remarks, progress, order=listed, objective=self.parameters["objective"],
            resolution=None if isinstance(at, list) else at, layered=self.layered, entries_read=progress.entries_read,
            parameters=self.parameters, seed=self.seed, sums=sums,
            node_sizes=None if (self.sizes == 1.0).all() else self.sizes,
        )  # fmt: skip
        return made if self.ids is None else name_clusters(made, self.ids)

    def best_so_far(self, labels: np.ndarray) -> Clustering:
        """The result when Ctrl-C stops the search: clusters that are connected, and none that is too small."""
        own = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        if self.deals_with_small:
            quiet = replace(self.run, progress=Progress())
            clusters = with_sums(quiet.finest, own, int(own.max()) + 1, quiet)
            own = self.without_small(connect(quiet.finest, clusters, self.task, quiet), quiet).labels
        return self.clustering(own, (*self.remarks, INTERRUPTED))


def _part_to_search(graph: Graph, components: str, progress: Progress) -> tuple[np.ndarray, Graph, tuple[str, ...]]:
    """The nodes that take part, in canonical order, their graph, and remarks."""
    order = node_order(graph)
    ordered = in_order(graph, order)
    progress.watch(ordered)
    if not graph.n_entries:
        return order, ordered, (*said_of_clusters(graph.remarks, True), ALONE)
    if components == "all":
        return order, ordered, said_of_clusters(graph.remarks, True)
    searched = nodes_to_partition(ordered, 1, components, progress)
    part = ordered if searched.nodes.all() else ordered.subgraph(np.flatnonzero(searched.nodes))
    return order[searched.nodes], part, searched.remarks_after(graph.remarks)
