"""coreset_sc: exactly k clusters, of the whole graph, through a coreset, or by the published method."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import cast

import numpy as np

from graphclust.checks import Seed, as_choice, as_seeded, as_whole_number
from graphclust.compiled.graphs.levels import Partition
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.compiled.runtime.blocks import coarse_blocks
from graphclust.coreset import paper
from graphclust.coreset.outcome import Outcome
from graphclust.engine import sequential_contraction
from graphclust.engine.bounds import NodeWeight, as_sizes, k_within, weights_in_words
from graphclust.engine.connectivity import connect
from graphclust.engine.engine import EFFORTS, TO_THE_END, Effort, improve, partition_into
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.likelihood import is_likelier_labeling
from graphclust.engine.resolution import Plan, remarks_on
from graphclust.engine.within_bounds import clusters_within
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.executor import Engine, InProcess
from graphclust.graph.node_order import in_order, in_rows, listing_order, node_order
from graphclust.literals import Components, Method, Objective, ObjectiveOrEdgeCut
from graphclust.literals import Effort as EffortWord
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.objective.objective import DEFINITIONS, Aim, as_aim, weigh
from graphclust.partition.balanced_partition import edge_cut_partition
from graphclust.partition.components import labels_of_all_nodes, mask_nodes, nodes_to_partition
from graphclust.partition.memory_estimate import check_memory
from graphclust.partition.options import (
    BOUNDS,
    METHODS,
    check_options,
    graph_settings,
    method_of_options,
    settings,
    settings_of_method,
)
from graphclust.profile.unknown_k import choose_k
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.results.clustering import Clustering, CoresetClustering
from graphclust.results.from_labels import clustering_of, graph_to_cluster
from graphclust.two_step.blockwise import GraphSource
from graphclust.two_step.executors import Collect, InBlocks, bring_labels
from graphclust.two_step.in_memory import InMemory
from graphclust.two_step.method import IN_DOUBT, default_size, partition_by_coreset
from graphclust.two_step.method_selection import suits_a_coreset
from graphclust.two_step.whole_graph import Sampling

__all__ = ["coreset_sc"]


def coreset_sc(
    G: GraphLike,
    k: int | None = None,
    *,
    method: Method = "auto",
    objective: ObjectiveOrEdgeCut | None = None,
    resolution: float | str | None = None,
    effort: EffortWord | None = None,
    components: Components | None = None,
    coreset_size: float | None = None,
    oversampling: float | None = None,
    sampling: str | None = None,
    loops: str | None = None,
    shift: float | None = None,
    second_term: str | None = None,
    rounds: int | None = None,
    embedding: str | None = None,
    degrees: str | None = None,
    min_size: float | None = None,
    max_size: float | None = None,
    max_imbalance: float | None = None,
    node_weight: NodeWeight = None,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    time_budget: float | None = None,
    memory_limit: int | None = None,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> Clustering:
    """Cluster a graph into exactly k parts.

    By default the whole graph is partitioned, without a coreset or eigenvectors. A coreset is used on graphs of more
    than four million entries that have few triangles or are very dense; eigenvectors by method="paper" alone.

    G : networkx.Graph, SciPy sparse matrix or array, square ndarray, path of a graph file, or Graph; undirected,
        weights >= 0. See `as_graph` for `weight`, `symmetrize` and what is assumed or repaired.
    k : number of clusters, 1 <= k <= number of nodes. None takes what `cluster_path(...).suggest()` says, for the time
        of some 10 to 20 clusterings; a remark says why and, if the graph shows no number clearly, which others it may
        be.
    method : "auto" takes the best of the next two for the graph.
        "multilevel" partitions coarser and coarser quotient graphs.
        "two-step" clusters a coreset whose nodes are linked by shared neighbors, labels all nodes from it and
        improves the partition on the whole graph. "auto" takes it for the graphs named above, and when `coreset_size`,
        `oversampling` or `sampling` is given.
        "paper" is the published algorithm; how its spectral clustering rounds the coreset's eigenvectors is a choice of
        this package: rows of unit length, the coreset's weights, the best of ten starts of k-means. After the gate it
        reads only rows of sampled nodes, so that a graph from `open_store` is clustered without any pass over its
        edges. It needs a coreset whose nodes have some 5
        neighbors in it; nodes without any are `undecided`. "auto" takes it when one of its own options is given: loops,
        shift, second_term, rounds, embedding, degrees.
    The options from here on have None for not given; giving one asks for a method that has it, whatever its value.
    objective : "modularity" (default), at the resolution where k is the natural number of clusters, so that it pays to
        unite two of k + 1 clusters, but not two of k: what agrees best with the groups that people recognize.
        "normalized_cut" for the smallest normalized cut, which on many real graphs takes off small groups that hang on
        by few edges; the objective of "paper" and of spectral clustering.
        "ratio_cut" and "constant_potts" are their twins that count nodes where those count degrees.
    resolution : "auto" (default) matches k, or a number > 0: of modularity 1 is the usual one, of the constant Potts
        model a density: the mean weight between two nodes is above it inside clusters, and below it between them.
        Higher ones favor smaller clusters.
    effort : "low", "normal" (default) or "high": how much is tried again from other random choices, the best being
        kept. "high" takes some 4 times as long as "normal", on some graphs up to 14 times. "two-step" tries nothing
        again, but "high" adds V-cycles on the whole graph.
    components : "large" (default) leaves connected components out of the search that are worth less than a cluster of
        the others: their nodes are in no cluster, see `Clustering.aside`, and a remark counts them. "largest" leaves
        out all but the largest; "all" searches everything, and any component is a perfect cluster of the cuts.
    coreset_size : draws of the importance sample, >= k, or a share of the nodes below 1. By default so many that each
        of them shares some 20 neighbors with others, at least 24 k; for "paper" a twentieth of the nodes, at least
        1,000 and 20 k. From the number of nodes on, the coreset is the whole graph.
    oversampling : seeds of D²-sampling, as a multiple of k; 2 by default.
    sampling : "tree" (default) or "naive" D²-sampling, see `d2_seeding`; "parallel", see `construct_coreset`, with
        which "two-step" works in steps over blocks of rows, as it does on a cluster of machines; or "uniform", a
        baseline without importance sampling.
    loops, shift : the diagonal of the kernel, "implied" and 0 by default, see `NormalizedCutKernel`; implied loops
        never count in the quality.
    second_term, rounds : of the importance sampling, "seed_weight" and 1 by default, see `sampling_probabilities` and
        `construct_coreset`.
    embedding : of the coreset graph, "eigsh" (exact) or "power" (fast); "auto" (default) takes eigsh up to 64 clusters.
    degrees : D of the normalized coreset graph D^-1/2 A_H D^-1/2: the "row_sums" of A_H (default), as in the authors'
        code, or the coreset's "weights", as Algorithm 3 prints. They are equal in expectation alone.
    min_size, max_size : > 0, what a cluster may hold, in nodes, or in what they weigh: no cluster is outside, and there
        are still exactly k. For "multilevel" only, which "auto" then takes.
    max_imbalance : >= 0, in the place of max_size: no cluster holds more than (1 + max_imbalance) times the average
        one, rounded up: 0.03 is three per cent. Objective "edge_cut", which has it by default, cuts the least edge
        weight into such parts; it takes no option but node_weight and effort, see `balanced_partition`.
    node_weight : of each node, > 0, which those bounds then count: an array of shape (n_nodes,), a mapping or a pandas
        Series by the nodes' names, or the name of a node attribute of a networkx.Graph or igraph.Graph. By default each
        node weighs what its METIS file says, else 1.
    time_budget : seconds, > 0. They are used to the end while anything is gained, whatever the effort; then the best so
        far is returned, and a remark says so. A first partition into k clusters is always made.
    memory_limit : most bytes to take beside the graph, as `estimate_memory` reckons them before the work starts; None
        is what the machine has, or the process may have. Objective "edge_cut" has none.
    rng : None, a seed or a numpy Generator; the same seed gives the same labels for any number of threads, as long as
        no time budget runs out.
    progress : True for a bar where there is a terminal, or a function `progress(stage, done, total)`; an exception it
        raises stops the work. Ctrl-C raises `Interrupted`, whose `best` is a Clustering, once there is one.

    Returns a `Clustering`; isolated nodes, and those put aside, are labeled -1, but have a part with "edge_cut". Its
    figures of quality come from the sums that the method made; for "paper" they take a pass over the edges, when one is
    first asked for or printed.

    Raises ParameterError (k, coreset_size ... out of range, an option that the method does not have), TypeError (of the
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
    if objective == "edge_cut":
        return edge_cut_partition(
            G, k, method=method, objective=objective, resolution=resolution, effort=effort, components=components,
            coreset_size=coreset_size, oversampling=oversampling, sampling=sampling, loops=loops, shift=shift,
            second_term=second_term, rounds=rounds, embedding=embedding, degrees=degrees, min_size=min_size,
            max_size=max_size, max_imbalance=max_imbalance, node_weight=node_weight, weight=weight,
            symmetrize=symmetrize, time_budget=time_budget, memory_limit=memory_limit, rng=rng, progress=progress,
        )  # fmt: skip
    (rng, seed), progress = as_seeded(rng), as_progress(progress, time_budget)
    k_given = None if k is None else as_whole_number(k, "k", at_least=1)
    if memory_limit is not None:
        memory_limit = as_whole_number(memory_limit, "memory_limit", at_least=1)
    method = as_choice(method, "method", METHODS)
    if objective is not None:
        as_choice(objective, "objective", tuple(DEFINITIONS))
    given = check_options(
        k_given or 1, objective=objective, resolution=resolution, effort=effort, components=components,
        coreset_size=coreset_size, oversampling=oversampling, sampling=sampling, loops=loops, shift=shift,
        second_term=second_term, rounds=rounds, embedding=embedding, degrees=degrees, min_size=min_size,
        max_size=max_size, max_imbalance=max_imbalance,
    )  # fmt: skip
    is_bounded = any(name in given for name in BOUNDS)
    if node_weight is not None and not is_bounded:
        raise ParameterError("node_weight is what bounds count, expected min_size, max_size or max_imbalance too")
    if method == "auto":
        method = method_of_options(given) or "auto"
    if method != "auto":
        settings(method, given)  # an option too many is refused before the graph is read
    aim = as_aim(given.get("objective", "modularity"), given.get("resolution"))
    graph = graph_to_cluster(G, k_given or 1, weight, symmetrize, progress)
    remarks = list(graph.remarks)
    k = choose_k(graph, cast(Objective, aim.name), given, remarks, progress) if k_given is None else k_given
    size = as_sizes(G, graph, node_weight) if is_bounded else None
    if size is not None and k_given is None and k != (k := k_within(size, k, min_size, max_size)):
        remarks.append(f"the bounds do not allow that many clusters, the nearest number that they do is {k}")
    chosen_here = method == "auto"
    if chosen_here:
        with progress.stage("method"):
            method = "two-step" if suits_a_coreset(graph, k, rng) else "multilevel"
    options = {"method": method, **settings(method, given)}
    if isinstance(options["coreset_size"], float):
        options["coreset_size"] = max(k, ceil(options["coreset_size"] * graph.n_nodes))
    asked = graph_settings(weight, symmetrize, time_budget)
    if is_bounded and (said := weights_in_words(node_weight, graph)) is not None:
        asked["node_weight"] = said
    remedy = "pass a larger memory_limit, a smaller coreset_size or another method"
    check_memory(graph, k, method, options["coreset_size"], memory_limit, remedy)
    as_it_is = method == "paper" or options["sampling"] == "parallel"  # these read rows of a store as they lie
    order = np.arange(graph.n_nodes) if as_it_is else node_order(graph)
    ordered, plan = in_order(graph, order), None
    progress.watch(ordered)

    def best_so_far(labels: np.ndarray) -> Clustering:
        said = [*remarks, "interrupted: these are the best labels so far, more time may find better ones"]
        found = {"objective": options["objective"], "parameters": settings_of_method(options) | asked, "seed": seed}
        found["resolution"] = _stated_resolution(graph, options["objective"], aim.resolution)
        return clustering_of(graph, k, in_rows(labels.astype(np.int64), order), said, progress, **found)

    with progress.interruptible(best_so_far):
        if options["method"] == "paper":
            outcome = _run_paper_method(ordered, k, options, remarks, rng, progress)
        elif options["method"] == "two-step" and options["sampling"] == "parallel":
            plan, outcome = _by_blocks(ordered, k, aim, options, remarks, rng, progress)
            remarks += outcome.remarks
        elif size is not None:
            plan, outcome = clusters_within(ordered, k, aim, options, size[order], remarks, rng, progress)
            remarks += outcome.remarks
        else:
            plan, outcome = _partition_nodes(ordered, k, aim, options, remarks, chosen_here, rng, progress)
    if k_given is None and plan is not None:  # the remark on the suggested k says enough
        remarks = [remark for remark in remarks if remark not in remarks_on(plan)]

    return clustering_of(
        graph,
        k,
        in_rows(outcome.labels, order),
        remarks,
        progress,
        _coreset_in_rows(outcome, order),
        listing_order(graph),
        objective=options["objective"],
        resolution=None if plan is None else plan.resolution,
        undecided=None if outcome.undecided is None else in_rows(outcome.undecided, order),
        entries_read=outcome.entries_read or progress.entries_read,
        decided=outcome.decided,
        parameters=settings_of_method(options) | asked,
        seed=seed,
        sums=outcome.sums,
        node_sizes=None if size is None or (size == 1.0).all() else size,
    )


def _stated_resolution(graph: Graph, objective: str, given: float | str | None) -> float | None:
    """The resolution of interrupted labels: the one given, or the usual one; None if the objective has none."""
    made_of = DEFINITIONS[objective]
    if made_of.is_ratio:
        return None
    return given if isinstance(given, float) else made_of.unit_of_resolution(weigh(graph, objective).units)


def _coreset_in_rows(outcome: Outcome, order: np.ndarray) -> CoresetClustering | None:
    """The coreset of an outcome by rows of the graph, increasing."""
    if outcome.coreset is None or outcome.coreset_labels is None:
        return None
    nodes = order[outcome.coreset.nodes]
    place = np.argsort(nodes)
    return CoresetClustering(nodes[place], outcome.coreset.weights[place], outcome.coreset_labels[place])


def _run_paper_method(graph, k, options, remarks: list[str], rng, progress: Progress) -> Outcome:
    """The partition of the paper's algorithm, with remarks on what it assumed."""
    if options["coreset_size"] is None:
        options["coreset_size"] = paper.default_size(graph.n_nodes, k)
    kernel = NormalizedCutKernel.of(graph, options["loops"], options["shift"])
    with progress.within(None):  # what is clustered on the way is the coreset
        outcome = paper.partition_by_paper(kernel, k, options["coreset_size"], options, rng, progress)
    remarks += outcome.remarks
    if options["loops"] == "implied" and (graph.loops == 0).any():
        remarks.append("nodes without a self-loop were given one of their mean edge weight, except in the quality")
    n_clipped = 0 if outcome.coreset is None else outcome.coreset.n_clipped
    if n_clipped:
        remarks.append(f"{n_clipped} negative squared distances became 0: K is indefinite; a shift would mend it")
    return outcome


def _by_blocks(
    graph: Graph, k: int, aim: Aim, options, remarks: list[str], rng, progress: Progress
) -> tuple[Plan, Outcome]:
    """The two-step method in steps over blocks, which run on the threads of this process."""
    with progress.stage("components"):
        graph = mask_nodes(graph, nodes_to_partition(graph, k, options["components"], remarks, progress))
    engine = InProcess(GraphSource(graph), coarse_blocks(graph.indptr))
    return partition_by_blocks(engine, graph.n_entries, k, aim, options, rng, progress)


def partition_by_blocks(
    engine: Engine, n_entries: int, k: int, aim: Aim, options, rng, progress: Progress, collect: Collect = bring_labels
) -> tuple[Plan, Outcome]:
    """The two-step method in steps over blocks, wherever an engine runs them."""
    whole = InBlocks(engine, n_entries, k, options["components"], int(rng.integers(2**63)), progress, collect)
    if options["coreset_size"] is None:
        options["coreset_size"] = default_size(whole.n_points, n_entries, whole.k)
    size = max(whole.k, options["coreset_size"])
    plan, outcome = partition_by_coreset(whole, aim, Sampling(size, options["oversampling"], options["sampling"]))
    return plan, outcome.with_remark(IN_DOUBT) if outcome.doubtful else outcome


def _partition_nodes(
    graph: Graph, k: int, aim: Aim, options, remarks: list[str], chosen_here: bool, rng, progress: Progress
) -> tuple[Plan, Outcome]:
    """The multilevel or the two-step method, on the nodes with edges in the components that take part.

    chosen_here : whether the caller left the choice of the method open; if a coreset is then in doubt, multilevel is
    tried as well.
    """
    with progress.stage("components"):
        searched = nodes_to_partition(graph, k, options["components"], remarks, progress)
    n_searched = int(np.count_nonzero(searched))
    effort = EFFORTS[options["effort"]] if progress.time_budget is None else TO_THE_END
    k = min(k, n_searched)
    with progress.within(lambda labels: labels_of_all_nodes(searched, labels)):
        if options["method"] == "multilevel":
            plan, outcome = _multilevel(graph, searched, k, aim, effort, rng, progress)
        else:
            if options["coreset_size"] is None:
                options["coreset_size"] = default_size(n_searched, graph.n_entries, k)
            size = max(k, min(options["coreset_size"], n_searched))
            sampling = Sampling(size, options["oversampling"], options["sampling"])
            plan, outcome = partition_by_coreset(
                InMemory(graph, searched, k, rng, progress), aim, sampling, is_final=not chosen_here
            )
            if options["effort"] == "high":
                outcome = _refine_on_nodes(graph, searched, aim, plan, outcome, rng, progress)
            if outcome.doubtful and not chosen_here:
                remarks.append(IN_DOUBT)
            elif outcome.doubtful and not progress.out_of_time():
                other_plan, other = _multilevel(graph, searched, k, aim, effort, rng, progress)
                labels, than = (one.labels[searched].astype(np.int32) for one in (other, outcome))
                if is_likelier_labeling(_part(graph, searched), aim.definition.twin, labels, than):
                    options["method"], plan, outcome = "multilevel", other_plan, other
                    remarks.append("a coreset could not show the clusters of this graph; its coarser graphs did")
    remarks += outcome.remarks
    return plan, outcome


def _part(graph: Graph, searched: np.ndarray) -> Graph:
    """The graph of the nodes that are searched."""
    return graph if searched.all() else graph.subgraph(np.flatnonzero(searched))


def _refine_on_nodes(
    graph: Graph, searched: np.ndarray, aim: Aim, plan: Plan, outcome: Outcome, rng: np.random.Generator,
    progress: Progress,
) -> Outcome:  # fmt: skip
    """The partition of the two-step method after V-cycles on the whole graph."""
    part = _part(graph, searched)
    run = run_on(weigh(part, aim.name), rng, progress)
    progress.watch(part)
    with progress.stage("refining"), progress.within(lambda labels: labels_of_all_nodes(searched, labels)):
        shown = with_sums(run.finest, outcome.labels[searched].astype(np.int32), plan.goal.k, run)
        found = connect(run.finest, improve(run.finest, shown, plan, run), plan.goal, run)
    labels, sums = labels_of_all_nodes(searched, found.labels.astype(np.int64)), _sums_if_exact(part, found)
    assert outcome.coreset is not None
    return replace(outcome, labels=labels, coreset_labels=labels[outcome.coreset.nodes], sums=sums)


def _sums_if_exact(part: Graph, found: Partition) -> ClusterSums | None:
    """The sums of clusters made on a graph; None if links may have been estimated on the way."""
    return None if sequential_contraction.is_estimate(part.n_entries, part.n_nodes) else found.sums


def _multilevel(
    graph: Graph, searched: np.ndarray, k: int, aim: Aim, effort: Effort, rng: np.random.Generator, progress: Progress
) -> tuple[Plan, Outcome]:
    """The multilevel engine on the nodes that are searched."""
    part = _part(graph, searched)
    run = run_on(weigh(part, aim.name), rng, progress)
    progress.watch(part)
    with progress.stage("partition"), progress.within(lambda labels: labels_of_all_nodes(searched, labels)):
        found, plan = partition_into(run.finest, k, aim, effort, run)
    labels, sums = labels_of_all_nodes(searched, found.labels.astype(np.int64)), _sums_if_exact(part, found)
    remarks = (*((sequential_contraction.ESTIMATED,) if sums is None else ()), *remarks_on(plan))
    return plan, Outcome(labels, remarks=remarks, sums=sums)
