"""coreset_sc: exactly k clusters of a graph, by one of three methods. Despite the name, the default uses no coreset.

A call goes through five rooms:

1. What was asked. `as_options` (`options.py`) checks the options, `as_layered` (`io/kinds.py`) reads the graph; where k
   is not given, `choose_k` (`profile/path_builder.py`) suggests one.
2. The method. A `coreset`, bounds or layers settle what "auto" is before; else it is "two-step" where `suits_a_coreset`
   (`two_step/method.py`) finds a large graph that a coreset shows in less time, and "multilevel" anywhere else.
3. The components, unless "paper". `nodes_to_partition` (`components.py`) leaves out those not worth one of k clusters.
4. The partition of the nodes that are left, `run_method` below:
   "multilevel": `partition_multilevel`, which calls `partition_into` (`engine/engine.py`, whose docstring tells the six
       steps); within bounds on sizes through `partition_within` (`engine/within_bounds.py`).
   "two-step": `partition_in_memory`, which calls `partition_by_coreset` (`two_step/method.py`, five steps). If its
       coreset is in doubt and nobody asked for it, "multilevel" is tried too, and the likelier partition returned.
       `Coreset(sampling="parallel")` runs the same steps by `partition_in_blocks` (`two_step/in_blocks.py`).
   "paper": `partition_by_paper` (`coreset/paper.py`), the only one that computes eigenvectors.
5. The result. `clustering_of` (`results/from_labels.py`) numbers the clusters by size and makes a `Clustering`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphclust.checks import Components, Effort, Kind, Method, ObjectiveName, Seed, as_seeded, as_whole_number
from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.compiled.runtime.blocks import coarse_blocks
from graphclust.coreset.options import Coreset, Outcome
from graphclust.coreset.paper import partition_by_paper, published_size
from graphclust.engine.bounds import (
    Bounds,
    NodeWeight,
    as_bounds_of_k,
    as_sizes,
    k_within,
    refuse_small_components,
    weights_in_words,
)
from graphclust.engine.connectivity import connect
from graphclust.engine.contraction import ESTIMATED, is_estimate
from graphclust.engine.engine import EFFORTS, TO_THE_END, improve, partition_into, partition_signed, with_all_pairs
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.likelihood import is_likelier_labeling
from graphclust.engine.resolution import Schedule, objective_of, remarks_on, schedule_for_any_number
from graphclust.engine.within_bounds import partition_within, remark_on_parts
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.executor import Engine
from graphclust.graph.layers import LayeredGraph, graph_of
from graphclust.graph.matrices import said_of_clusters
from graphclust.graph.node_order import in_order, in_rows, listing_order, node_order
from graphclust.io.kinds import GraphsLike, as_layered
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.objective.objective import ObjectiveChoice, judged_by, weigh
from graphclust.partition.components import join_lightest, labels_of_all_nodes, mask_nodes, nodes_to_partition
from graphclust.partition.memory_estimate import check_memory
from graphclust.partition.options import INTERRUPTED, Options, as_options, graph_settings, naming_new_arguments
from graphclust.profile.path_builder import choose_k
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.results.clustering import Clustering, CoresetClustering
from graphclust.results.from_labels import clustering_of, large_enough
from graphclust.two_step.in_blocks import GraphSource, partition_in_blocks
from graphclust.two_step.in_memory import InMemory
from graphclust.two_step.method import IN_DOUBT, default_size, partition_by_coreset, suits_a_coreset

LESS_MEMORY = "pass a larger memory_limit, a smaller Coreset(size=...) or another method"


@naming_new_arguments
def coreset_sc(
    G: GraphsLike,
    k: int | None = None,
    *,
    kind: Kind | None = None,
    method: Method = "auto",
    objective: ObjectiveName | None = None,
    resolution: float | str | None = None,
    effort: Effort | None = None,
    components: Components | None = None,
    coreset: Coreset | None = None,
    min_size: float | None = None,
    max_size: float | None = None,
    node_weight: NodeWeight = None,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    time_budget: float | None = None,
    memory_limit: int | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Cluster a graph into exactly k parts.

    By default the whole graph is partitioned, without a coreset or eigenvectors: nodes are joined to regions, regions
    are merged into k clusters at the resolution that suits k, and nodes move on every level on the way back. A coreset
    is used where one is asked for, and on graphs of more than four million entries that have few triangles or are very
    dense, if a third of the nodes or fewer make one; in doubt the likelier of both results is taken. Eigenvectors are
    used by method="paper" alone, the published algorithm that the function is named after.

    G : networkx.Graph, SciPy sparse matrix or array, ndarray, path of a graph file, or Graph, or several of them; see
        `as_graph` for `weight`, `symmetrize` and what is assumed or repaired.
    kind : "undirected", "directed", "bipartite" or "signed", and what None is, see `communities`. What is not
        undirected has the method "multilevel" and the objectives "modularity" and "constant_potts"; clusters of signed
        graphs are united by gain until k are left, at resolution 1 where none is given.
    k : number of clusters, 1 <= k <= number of nodes. None takes what `cluster_path(...).suggest()` says, for the time
        of some 10 to 20 clusterings; a remark says why and, if the graph shows no number clearly, which others it may
        be.
    method : "auto" takes one of the next two, by the rule above.
        "multilevel" partitions coarser and coarser quotient graphs.
        "two-step" clusters a coreset whose nodes are linked by shared neighbors, labels all nodes from it and
        improves the partition on the whole graph. "auto" takes it for the graphs named above, and when a `coreset`
        without fields of "paper" is given.
        "paper" is the published algorithm; how its spectral clustering rounds the coreset's eigenvectors is a choice of
        this package: rows of unit length, the coreset's weights, the best of ten starts of k-means. After the gate it
        reads only rows of sampled nodes, so that a graph from `open_store` is clustered without any pass over its
        edges. It needs a coreset whose nodes have some 5 neighbors in it; nodes without any are `undecided`.
    The options from here to `max_size` have None for not given; giving one asks for a method that has it.
    objective : "modularity" (default), at the resolution where k is the natural number of clusters, so that it pays to
        unite two of k + 1 clusters, but not two of k: what agrees best with the groups that people recognize.
        "normalized_cut" for the smallest normalized cut, which on many real graphs takes off small groups that hang on
        by few edges; the objective of "paper" and of spectral clustering.
        "ratio_cut" and "constant_potts" are their counterparts that count nodes where those count degrees, and
        "erdos_renyi" is the latter at a multiple of the mean weight between two nodes.
    resolution : "auto" (default) matches k, or a number > 0: of modularity 1 is the usual one, of the constant Potts
        model a density: the mean weight between two nodes is above it inside clusters, and below it between them.
        Higher ones favor smaller clusters.
    effort : "low", "normal" (default) or "high": how much is tried again from other random choices, the best being
        kept. "high" takes some 4 times as long as "normal", on some graphs up to 14 times. "two-step" tries nothing
        again, but "high" adds V-cycles on the whole graph, unless the coreset's sampling is "parallel".
    components : "large" (default) leaves connected components out of the search that are worth less than a cluster of
        the others: their nodes are in no cluster, see `Clustering.aside`, and a remark counts them. "largest" leaves
        out all but the largest; "all" searches everything, and any component is a perfect cluster of the cuts.
    coreset : a `Coreset`, which says how large the coreset of "two-step" or "paper" is, how it is drawn and, for
        "paper", which "auto" takes where a field of its own differs from the default, how it is clustered.
    min_size, max_size : > 0, what a cluster may hold, in nodes, or in what they weigh: no cluster is outside, and there
        are still exactly k. For "multilevel" only, which "auto" then takes. Equal parts are `balanced_partition`'s.
    node_weight : of each node, > 0, which those bounds then count: an array of shape (n_nodes,), a mapping or a pandas
        Series by the nodes' names, or the name of a node attribute of a networkx.Graph or igraph.Graph. By default each
        node weighs what its METIS file says, else 1.
    time_budget : seconds, > 0. They are used to the end while anything is gained, whatever the effort; then the best so
        far is returned, and a remark says so. A first partition into k clusters is always made.
    memory_limit : most bytes to take beside the graph, as `estimate_memory` reckons them before the work starts; None
        is what the machine has, or the process may have.
    rng : None, a seed or a numpy Generator; the same seed gives the same labels for any number of threads, as long as
        no time budget runs out.
    progress : True for a bar where there is a terminal, or a function `progress(stage, done, total)`; an exception it
        raises stops the work. Ctrl-C raises `Interrupted`, whose `best` is a Clustering, once there is one.

    Returns a `Clustering`; isolated nodes, and those put aside, are labeled -1. Its figures of quality come from the
    sums that the method made; for "paper" they take a pass over the edges, when one is first asked for or printed.

    Raises ParameterError (k, a size ... out of range, an option that the method does not have), TypeError (of the
    wrong type), GraphValidationError (no graph to cluster), ResourceLimitError, ConvergenceError. Warns with
    ConvergenceWarning when fewer than k clusters come out.

    Source of "paper": Jourdan et al. 2025, Algorithm 3. Its Theorem 1 bounds the kernel k-means cost, for a positive
    semi-definite K; cost = NCut + trace(D^-1 A) - k + shift (n - k), so with a shift it says little about the cut.

    >>> import networkx as nx
    >>> clustering = coreset_sc(nx.barbell_graph(5, 0), 2, rng=0)
    >>> clustering.communities()
    [{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}]
    >>> round(clustering.normalized_cut, 3)
    0.095
    """
    (rng, seed), progress = as_seeded(rng), as_progress(progress, time_budget)
    k = None if k is None else as_whole_number(k, "k", at_least=1)
    if memory_limit is not None:
        memory_limit = as_whole_number(memory_limit, "memory_limit", at_least=1)
    options = as_options(
        method, objective=objective, resolution=resolution, effort=effort, components=components, coreset=coreset,
        min_size=min_size, max_size=max_size,
    )  # fmt: skip
    if node_weight is not None and not options.is_bounded:
        raise ParameterError("node_weight is what bounds count, expected min_size or max_size too")
    asked = graph_settings(weight, symmetrize, time_budget) | ({} if kind is None else {"kind": kind})
    with progress.stage("gate"):
        one = as_layered(G, kind, weight=weight, symmetrize=symmetrize)
    layered = one if isinstance(one, LayeredGraph) else None
    if layered is not None:
        options = _options_of_layers(layered, k, options)
    graph = large_enough(one.combined if isinstance(one, LayeredGraph) else one, k or 1)
    size = as_sizes(G, graph, node_weight) if options.is_bounded else None
    if size is not None and (counted := weights_in_words(node_weight, graph)) is not None:
        asked["node_weight"] = counted
    remarks, is_suggested = [*graph.remarks], k is None
    if k is None:
        k, why = choose_k(graph, options.choice.name, options.components, progress)
        remarks.append(why)
        if size is not None and k != (k := k_within(size, k, min_size, max_size)):
            remarks.append(f"the bounds do not allow that many clusters, the nearest number that they do is {k}")
    return _cluster(graph, k, options, size, remarks, asked, memory_limit, (rng, seed), progress, layered, is_suggested)


def _cluster(
    graph: Graph, k: int, options: Options, size: np.ndarray | None, remarks: Sequence[str], asked: dict[str, Any],
    memory_limit: int | None, draws: tuple[np.random.Generator, int | str], progress: Progress,
    layered: LayeredGraph | None, is_suggested: bool,
) -> Clustering:  # fmt: skip
    """Steps 2 to 5 of the module: exactly k clusters of a checked graph; layered : the same with its layers, if any.

    size : of each node, where clusters have bounds. asked : for the record, beside the options. is_suggested : whether
    a remark says why k was taken; then none says that the resolution is the lowest.
    """
    rng, seed = draws
    is_chosen = options.method != "auto"
    options = options.with_draws(k, graph.n_nodes)
    if not is_chosen:
        with progress.stage("method"):
            options = replace(options, method="two-step" if suits_a_coreset(graph, k, rng) else "multilevel")
    check_memory(graph, k, options.method, options.coreset.draws, memory_limit, LESS_MEMORY)
    as_it_is = options.method == "paper" or options.coreset.sampling == "parallel"  # these read rows of a store
    order = np.arange(graph.n_nodes) if as_it_is else node_order(graph)
    ordered = in_order(graph, order)
    progress.watch(ordered)
    searched, left, remarks = ~ordered.isolated, None, said_of_clusters(remarks, False)
    if options.method != "paper":
        with progress.stage("components"):
            has_signs = layered is not None and bool((ordered.weights_or_empty < 0.0).any())
            unsigned = graph_of(abs(ordered.to_scipy())) if has_signs else ordered
            taking_part = nodes_to_partition(unsigned, k, options.components, progress)
        searched, remarks = taking_part.nodes, taking_part.remarks_after(remarks)
        if taking_part.first is not None and not options.choice.is_ratio and size is None:
            searched, left = taking_part.first, searched & ~taking_part.first

    def clustering_with(outcome: Outcome, remarks: Sequence[str], resolution: float | None) -> Clustering:
        return clustering_of(
            graph, k, in_rows(outcome.labels, order), remarks, progress, _coreset_in_rows(outcome, order),
            listing_order(graph), sums=outcome.sums if layered is None else None, objective=options.choice.name,
            resolution=resolution, undecided=None if outcome.undecided is None else in_rows(outcome.undecided, order),
            entries_read=outcome.entries_read or progress.entries_read, decided=outcome.decided,
            parameters=options.record | asked, seed=seed, layered=layered,
            node_sizes=None if size is None or (size == 1.0).all() else size,
        )  # fmt: skip

    def best_so_far(labels: np.ndarray) -> Clustering:
        stated = _stated_resolution(graph, options.choice)
        return clustering_with(Outcome(labels.astype(np.int64)), (*remarks, INTERRUPTED), stated)

    with progress.interruptible(best_so_far):
        sizes = None if size is None else size[order]
        judged = None if layered is None else judged_by(layered, options.choice.name).take(order, ordered)
        schedule, outcome, options = run_method(ordered, searched, k, options, sizes, is_chosen, rng, progress, judged)
    if left is not None:
        mass = np.where(options.choice.spec.by_degree, unsigned.degrees, 1.0)
        outcome = replace(outcome, labels=join_lightest(unsigned, outcome.labels, left, mass), sums=None)
    remarks = (*remarks, *outcome.remarks)
    if is_suggested and schedule is not None:
        remarks = tuple(remark for remark in remarks if remark not in remarks_on(schedule))
    return clustering_with(outcome, remarks, None if schedule is None else schedule.resolution)


def run_method(
    graph: Graph, searched: np.ndarray, k: int, options: Options, size: np.ndarray | None, is_chosen: bool,
    rng: np.random.Generator, progress: Progress, layered: LayeredGraph | None = None,
) -> tuple[Schedule | None, Outcome, Options]:  # fmt: skip
    """The schedule of the method, what it makes of the nodes that are searched, and the options that it used.

    searched : bool, shape (n_nodes,), nodes with edges in whole components. size : of each node, float64, (n_nodes,),
    where clusters have bounds. is_chosen : whether the caller chose the method; if not, and a coreset is in doubt, the
    multilevel method is tried as well. layered : the graph where it has layers, which are for this method only.
    """
    coreset, n_searched = options.coreset, int(np.count_nonzero(searched))
    if options.method == "paper":
        coreset = replace(coreset, size=coreset.draws or published_size(graph.n_nodes, k))
        kernel = NormalizedCutKernel.of(graph, coreset.loops, coreset.shift)
        with progress.within(None):  # what is clustered on the way is the coreset
            return None, partition_by_paper(kernel, k, coreset, rng, progress), replace(options, coreset=coreset)
    if options.method == "two-step" and coreset.sampling == "parallel":
        engine = Engine(GraphSource(mask_nodes(graph, searched)), coarse_blocks(graph.indptr))
        schedule, outcome, coreset = partition_in_blocks(
            engine, graph.n_entries, k, options.choice, options.components, coreset, rng, progress
        )
        return schedule, outcome, replace(options, coreset=coreset)
    k = min(k, n_searched)
    with progress.within(lambda labels: labels_of_all_nodes(searched, labels)):
        if options.method == "two-step":
            schedule, outcome, options = partition_in_memory(graph, searched, k, options, is_chosen, rng, progress)
        else:
            part, bounds = part_of(graph, searched), None
            if size is not None:
                n_aside = int(np.count_nonzero(~graph.isolated)) - n_searched
                bounds = as_bounds_of_k(size[searched], k, options.min_size, options.max_size, None, n_aside)
                if bounds.least > 0.0 and options.components != "all":
                    refuse_small_components(part, size[searched], options.min_size)
            judged = part if layered is None else layered.take(np.flatnonzero(searched), part)
            schedule, outcome = partition_multilevel(judged, k, options, rng, progress, bounds)
    return schedule, replace(outcome, labels=labels_of_all_nodes(searched, outcome.labels)), options


def partition_multilevel(
    part: Graph | LayeredGraph, k: int, options: Options, rng: np.random.Generator, progress: Progress,
    bounds: Bounds | None = None,
) -> tuple[Schedule, Outcome]:  # fmt: skip
    """The multilevel method, within bounds if there are any; `partition_into` in `engine/engine.py` is its search."""
    choice = options.choice
    on = weigh(part, choice.name)
    run = run_on(on, rng, progress, None if bounds is None else bounds.size)
    may_part = isinstance(part, LayeredGraph) and not part.connected and choice.name == "modularity"
    chosen = EFFORTS[options.effort]
    if progress.time_budget is not None:
        chosen = TO_THE_END if bounds is None else EFFORTS["normal"]._replace(descent=np.inf)
    level = with_all_pairs(run.finest) if may_part else run.finest

    def find() -> tuple[Partition, Schedule]:
        if not may_part:
            return partition_into(level, k, choice, chosen, run)
        objective, resolution = objective_of(choice, k, 1.0, run.totals)  # no resolution matches k
        schedule = schedule_for_any_number(Task(objective, k))._replace(resolution=resolution)
        return partition_signed(run.finest, schedule.task, chosen, run), schedule

    progress.watch(on.graph)
    with progress.stage("partition"):
        if bounds is None:
            partition, schedule = find()
            said = remarks_on(schedule)
        else:
            partition, schedule = partition_within(level, find, bounds, chosen, run)
            said = () if may_part else tuple(remark_on_parts(partition, run))
    is_estimated = is_estimate(on.graph.n_entries, on.graph.n_nodes)
    remarks = (ESTIMATED, *said) if is_estimated else said
    sums = None if is_estimated or bounds is not None else partition.sums
    return schedule, Outcome(partition.labels.astype(np.int64), remarks=remarks, sums=sums)


def partition_in_memory(
    graph: Graph, searched: np.ndarray, k: int, options: Options, is_chosen: bool, rng: np.random.Generator,
    progress: Progress,
) -> tuple[Schedule, Outcome, Options]:  # fmt: skip
    """The two-step method on a graph in memory; if the caller did not choose it, the likelier of two results."""
    choice, n_searched, draws = options.choice, int(np.count_nonzero(searched)), options.coreset.draws
    how = replace(options.coreset, size=draws or default_size(n_searched, graph.n_entries, k))
    options = replace(options, coreset=how)
    whole = InMemory(graph, searched, k, rng, progress)
    drawn = replace(how, size=max(k, min(how.draws or 0, n_searched)))
    schedule, outcome = partition_by_coreset(whole, choice, drawn, is_final=is_chosen)
    if options.effort == "high":
        outcome = refine_on_nodes(part_of(graph, searched), searched, choice, schedule, outcome, rng, progress)
    if outcome.doubtful and is_chosen:
        outcome = replace(outcome, remarks=(IN_DOUBT, *outcome.remarks))
    elif outcome.doubtful and not progress.out_of_time():
        part = part_of(graph, searched)
        other_schedule, other = partition_multilevel(part, k, options, rng, progress)
        labels, than = other.labels.astype(np.int32), outcome.labels[searched].astype(np.int32)
        if is_likelier_labeling(part, choice.spec.additive, labels, than):
            said = "a coreset could not show the clusters of this graph; its coarser graphs did"
            outcome = replace(other, remarks=(said, *other.remarks))
            return other_schedule, outcome, replace(options, method="multilevel")
    return schedule, outcome, options


def refine_on_nodes(
    part: Graph, searched: np.ndarray, choice: ObjectiveChoice, schedule: Schedule, outcome: Outcome, rng:
    np.random.Generator, progress: Progress,
) -> Outcome:  # fmt: skip
    """The partition of the two-step method after V-cycles on the whole graph."""
    run = run_on(weigh(part, choice.name), rng, progress)
    progress.watch(part)
    with progress.stage("refining"):
        shown = with_sums(run.finest, outcome.labels[searched].astype(np.int32), schedule.task.k, run)
        partition = connect(run.finest, improve(run.finest, shown, schedule, run), schedule.task, run)
    labels = labels_of_all_nodes(searched, partition.labels.astype(np.int64))
    sums = None if is_estimate(part.n_entries, part.n_nodes) else partition.sums
    assert outcome.coreset is not None
    return replace(outcome, labels=labels, coreset_labels=labels[outcome.coreset.nodes], sums=sums)


def part_of(graph: Graph, searched: np.ndarray) -> Graph:
    """The graph of the nodes that are searched."""
    return graph if searched.all() else graph.subgraph(np.flatnonzero(searched))


def _options_of_layers(layered: LayeredGraph, k: int | None, options: Options) -> Options:
    """The options for a graph with layers; ParameterError for those that undirected graphs alone have."""
    kind = f"undirected graphs alone, and G is {layered.kind}"
    instead = "leave it out" + (', or pass symmetrize="sum"' if layered.kind == "directed" else "")
    if k is None:
        raise ParameterError(
            f"k=None takes a number that is suggested for {kind}; expected k as a number, or communities(G), which "
            "finds one by its resolution"
        )
    if options.method not in ("auto", "multilevel"):
        raise ParameterError(f"method={options.method!r} is for {kind}; {instead}")
    judged_by(layered, options.choice.name)
    return replace(options, method="multilevel")


def _stated_resolution(graph: Graph, choice: ObjectiveChoice) -> float | None:
    """The resolution of interrupted labels: the one given, or the usual one; None if the objective has none."""
    if choice.is_ratio:
        return None
    if isinstance(choice.resolution, float):
        return choice.resolution
    return choice.spec.unit_of_resolution(weigh(graph, choice.name).totals)


def _coreset_in_rows(outcome: Outcome, order: np.ndarray) -> CoresetClustering | None:
    """The coreset of an outcome by rows of the graph, increasing."""
    if outcome.coreset is None or outcome.coreset_labels is None:
        return None
    nodes = order[outcome.coreset.nodes]
    place = np.argsort(nodes)
    return CoresetClustering(nodes[place], outcome.coreset.weights[place], outcome.coreset_labels[place])
