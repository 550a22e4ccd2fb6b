"""The methods of `coreset_sc`, each from a graph and the options that it has to labels of all nodes."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from graphclust.checks import Effort
from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.compiled.runtime.blocks import coarse_blocks
from graphclust.coreset import paper
from graphclust.coreset.options import Coreset
from graphclust.coreset.outcome import Outcome
from graphclust.engine import sequential_contraction
from graphclust.engine.bounds import Bounds, as_bounds_of_k, refuse_small_components
from graphclust.engine.connectivity import connect
from graphclust.engine.engine import EFFORTS, TO_THE_END, improve, partition_into
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.likelihood import is_likelier_labeling
from graphclust.engine.resolution import Schedule, objective_of, remarks_on, schedule_for_any_number
from graphclust.engine.unlinked_clusters import partition_any, with_all_pairs
from graphclust.engine.within_bounds import partition_within, remark_on_parts
from graphclust.graph.container import Graph
from graphclust.graph.executor import Engine, InProcess
from graphclust.graph.layers import LayeredGraph
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.objective.objective import ObjectiveChoice, weigh
from graphclust.partition.components import labels_of_all_nodes, mask_nodes
from graphclust.partition.options import Options
from graphclust.progress import Progress
from graphclust.two_step.blockwise import GraphSource
from graphclust.two_step.executors import Collect, InBlocks, bring_labels
from graphclust.two_step.in_memory import InMemory
from graphclust.two_step.method import IN_DOUBT, Sampling, default_size, partition_by_coreset


class Made(NamedTuple):
    """The labels that a method made, its schedule, None for "paper", and the options as they were used."""

    outcome: Outcome
    schedule: Schedule | None
    options: Options


def run_method(
    graph: Graph, searched: np.ndarray, k: int, options: Options, size: np.ndarray | None, is_settled: bool,
    rng: np.random.Generator, progress: Progress, layered: LayeredGraph | None = None,
) -> Made:  # fmt: skip
    """Have the method of the options cluster the nodes that are searched; the others have label -1.

    searched : bool, shape (n_nodes,), nodes with edges in whole components. size : of each node, float64, (n_nodes,),
    where clusters have bounds. is_settled : whether the caller chose the method; if not, and a coreset is in doubt, the
    multilevel method is tried as well. layered : the graph where it has layers, which are for this method only.
    """
    choice, effort, coreset = options.choice, options.effort, options.coreset
    if options.method == "paper":
        outcome, coreset = by_paper(graph, k, coreset, rng, progress)
        return Made(outcome, None, replace(options, coreset=coreset))
    if options.method == "two-step" and coreset.sampling == "parallel":
        engine = InProcess(GraphSource(mask_nodes(graph, searched)), coarse_blocks(graph.indptr))
        schedule, outcome, coreset = by_blocks(
            engine, graph.n_entries, k, choice, options.components, coreset, rng, progress
        )
        return Made(outcome, schedule, replace(options, coreset=coreset))
    n_searched = int(np.count_nonzero(searched))
    k = min(k, n_searched)
    with progress.within(lambda labels: labels_of_all_nodes(searched, labels)):
        if options.method == "multilevel":
            part, bounds = part_of(graph, searched), None
            if size is not None:
                n_aside = int(np.count_nonzero(~graph.isolated)) - n_searched
                bounds = as_bounds_of_k(size[searched], k, options.min_size, options.max_size, None, n_aside)
                if bounds.least > 0.0 and options.components != "all":
                    refuse_small_components(part, size[searched], options.min_size)
            judged = part if layered is None else layered.take(np.flatnonzero(searched), part)
            schedule, outcome = by_engine(judged, k, choice, effort, rng, progress, bounds)
        else:
            coreset = replace(coreset, size=coreset.draws or default_size(n_searched, graph.n_entries, k))
            options = replace(options, coreset=coreset)
            size_drawn = max(k, min(coreset.draws or 0, n_searched))
            sampling = Sampling(size_drawn, coreset.oversampling, coreset.sampling)
            whole = InMemory(graph, searched, k, rng, progress)
            schedule, outcome = partition_by_coreset(whole, choice, sampling, is_final=is_settled)
            if effort == "high":
                outcome = refine_on_nodes(part_of(graph, searched), searched, choice, schedule, outcome, rng, progress)
            if outcome.doubtful and is_settled:
                outcome = replace(outcome, remarks=(IN_DOUBT, *outcome.remarks))
            elif outcome.doubtful and not progress.out_of_time():
                part = part_of(graph, searched)
                other_plan, other = by_engine(part, k, choice, effort, rng, progress)
                labels, than = other.labels.astype(np.int32), outcome.labels[searched].astype(np.int32)
                if is_likelier_labeling(part, choice.spec.additive, labels, than):
                    options, schedule = replace(options, method="multilevel"), other_plan
                    said = "a coreset could not show the clusters of this graph; its coarser graphs did"
                    outcome = replace(other, remarks=(said, *other.remarks))
    return Made(replace(outcome, labels=labels_of_all_nodes(searched, outcome.labels)), schedule, options)


def part_of(graph: Graph, searched: np.ndarray) -> Graph:
    """The graph of the nodes that are searched."""
    return graph if searched.all() else graph.subgraph(np.flatnonzero(searched))


def by_paper(
    graph: Graph, k: int, coreset: Coreset, rng: np.random.Generator, progress: Progress
) -> tuple[Outcome, Coreset]:
    """The published algorithm, and the coreset with the size that it took."""
    size = coreset.draws or paper.default_size(graph.n_nodes, k)
    kernel = NormalizedCutKernel.of(graph, coreset.loops, coreset.shift)
    with progress.within(None):  # what is clustered on the way is the coreset
        outcome = paper.partition_by_paper(kernel, k, size, coreset, rng, progress)
    remarks = list(outcome.remarks)
    if coreset.loops == "implied" and (graph.loops == 0).any():
        remarks.append("nodes without a self-loop were given one of their mean edge weight, except in the quality")
    n_clipped = 0 if outcome.coreset is None else outcome.coreset.n_clipped
    if n_clipped:
        remarks.append(f"{n_clipped} negative squared distances became 0: K is indefinite; a shift would mend it")
    return replace(outcome, remarks=tuple(remarks)), replace(coreset, size=size)


def by_blocks(
    engine: Engine, n_entries: int, k: int, choice: ObjectiveChoice, components: str, coreset: Coreset, rng:
    np.random.Generator, progress: Progress, collect: Collect = bring_labels,
) -> tuple[Schedule, Outcome, Coreset]:  # fmt: skip
    """The two-step method in steps over blocks, wherever an engine runs them; and the coreset with its size."""
    whole = InBlocks(engine, n_entries, k, components, int(rng.integers(2**63)), progress, collect)
    size = coreset.draws or default_size(whole.n_points, n_entries, whole.k)
    sampling = Sampling(max(whole.k, size), coreset.oversampling, coreset.sampling)
    schedule, outcome = partition_by_coreset(whole, choice, sampling)
    outcome = outcome.with_remark(IN_DOUBT) if outcome.doubtful else outcome
    return schedule, outcome, replace(coreset, size=size)


def by_engine(
    part: Graph | LayeredGraph, k: int, choice: ObjectiveChoice, effort: Effort, rng: np.random.Generator,
    progress: Progress, bounds: Bounds | None = None,
) -> tuple[Schedule, Outcome]:  # fmt: skip
    """The multilevel method, whose clusters keep bounds if there are any."""
    on = weigh(part, choice.name)
    run = run_on(on, rng, progress, None if bounds is None else bounds.size)
    may_part = isinstance(part, LayeredGraph) and not part.connected and choice.name == "modularity"
    chosen = EFFORTS[effort]
    if progress.time_budget is not None:
        chosen = TO_THE_END if bounds is None else EFFORTS["normal"]._replace(descent=np.inf)
    level = with_all_pairs(run.finest) if may_part else run.finest

    def find() -> tuple[Partition, Schedule]:
        if not may_part:
            return partition_into(level, k, choice, chosen, run)
        objective, resolution = objective_of(choice, k, 1.0, run.totals)  # no resolution matches k
        schedule = schedule_for_any_number(Task(objective, k))._replace(resolution=resolution)
        return partition_any(run.finest, schedule.task, chosen, run), schedule

    progress.watch(on.graph)
    with progress.stage("partition"):
        if bounds is None:
            found, schedule = find()
            return schedule, _outcome(on.graph, found, remarks_on(schedule))
        found, schedule = partition_within(level, find, bounds, chosen, run)
        remarks = () if may_part else remark_on_parts(found, run)
        made = _outcome(on.graph, found, ())
        return schedule, replace(made, remarks=(*remarks, *made.remarks), sums=None)


def refine_on_nodes(
    part: Graph, searched: np.ndarray, choice: ObjectiveChoice, schedule: Schedule, outcome: Outcome, rng:
    np.random.Generator, progress: Progress,
) -> Outcome:  # fmt: skip
    """The partition of the two-step method after V-cycles on the whole graph."""
    run = run_on(weigh(part, choice.name), rng, progress)
    progress.watch(part)
    with progress.stage("refining"):
        shown = with_sums(run.finest, outcome.labels[searched].astype(np.int32), schedule.task.k, run)
        found = connect(run.finest, improve(run.finest, shown, schedule, run), schedule.task, run)
    labels = labels_of_all_nodes(searched, found.labels.astype(np.int64))
    assert outcome.coreset is not None
    return replace(
        outcome, labels=labels, coreset_labels=labels[outcome.coreset.nodes], sums=_sums_if_exact(part, found)
    )


def _outcome(part: Graph, found: Partition, remarks: tuple[str, ...]) -> Outcome:
    """What the engine made, with a remark if links were estimated."""
    sums = _sums_if_exact(part, found)
    estimated = () if sums is not None else (sequential_contraction.ESTIMATED,)
    return Outcome(found.labels.astype(np.int64), remarks=(*estimated, *remarks), sums=sums)


def _sums_if_exact(part: Graph, found: Partition) -> ClusterSums | None:
    """The sums of clusters made on a graph; None if links may have been estimated on the way."""
    return None if sequential_contraction.is_estimate(part.n_entries, part.n_nodes) else found.sums
