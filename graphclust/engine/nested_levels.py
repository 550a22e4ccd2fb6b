"""Nested levels: partitions of which each is strictly inside the one before, all clusters of a level split at once.

Without the edges between clusters, one run of the engine partitions every cluster by itself, since it never joins what
no edge links. A cluster is judged by its own weight: each node's mass is scaled by its cluster's mass, so that one
penalty is the same resolution of modularity inside every cluster; of a graph with layers each mass by what its layer
holds there, see `LayeredGraph.alone`. Below the coarsest level no clusters are united that no edge links, whatever the
graph.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.engine.cluster_sizes import Sizes, join_small, parts_of_clusters, split_evenly
from graphclust.engine.connectivity import connect, leave_well_connected, without_cut_edges
from graphclust.engine.contraction import unite_ties
from graphclust.engine.engine import EFFORTS, partition_into_any_number, partition_signed
from graphclust.engine.levels import Run, level_of, number_used, run_on
from graphclust.engine.resolution import LOWEST, WIDE, natural_resolutions, task_at
from graphclust.engine.v_cycle import v_cycle
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph, without_negative
from graphclust.graph.node_order import in_order, node_names, node_order
from graphclust.objective.objective import OBJECTIVES, WeighedGraph, node_terms, weigh
from graphclust.progress import Progress
from graphclust.updates.warm_start import EarlierLevels, has_changed, restart_labels

USUAL = 1.0  # resolution
Labels = npt.NDArray[np.int32]
Keep = Callable[[Labels], Labels]  # what parts the clusters of a level before it is split further


class LevelOptions(NamedTuple):
    """The arguments of `hierarchy` that say which levels to make, checked; resolutions : of the levels, if known."""

    sizes: Sizes
    resolution: float | None
    levels: int | None
    objective: str
    effort: str
    resolutions: tuple[float, ...] = ()
    connectivity: Any = None
    layered: LayeredGraph | None = None


def whole(labels: Labels) -> Labels:
    """In place of what parts clusters: nothing does."""
    return labels


def levels_within_bound(
    graph: Graph, labels: Labels, wanted: LevelOptions, run: Run, earlier: EarlierLevels | None, keep: Keep
) -> Iterator[Labels]:
    """Levels below a first one, until no cluster is heavier than `sizes.most`.

    Each level splits every heavier cluster into the clusters that its subgraph shows at the resolution. Clusters that
    show none are split evenly on the last level, and once time is up all heavier ones are, unless there are levels that
    these are made from, `earlier`.
    """
    depth, sizes, resolution = 0, wanted.sizes, max(wanted.resolutions[0], USUAL)
    is_whole = np.zeros(graph.n_nodes, bool)  # whether the cluster of a node shows no parts
    while True:
        too_heavy = (sizes.of_clusters(labels) > sizes.most)[labels]
        nodes = np.flatnonzero(too_heavy & ~is_whole)
        if not len(nodes) or (earlier is None and run.progress.out_of_time()):
            break
        depth += 1
        own, parts = number_used(labels[nodes])[0], np.full(len(nodes), -1, np.int32)
        is_same = np.zeros(len(nodes), bool)
        if earlier is not None and depth + 1 < len(earlier.levels):  # on the last one parts may be even, in pieces
            is_same = ~has_changed(labels, earlier.levels[depth - 1], earlier.n_changed > 0)[labels[nodes]]
            parts[is_same] = number_used(earlier.levels[depth][nodes[is_same]])[0]
        others = nodes[~is_same]  # clusters that an update has not touched keep the parts that they had
        if len(others):
            part, clusters = _graph_of_clusters(graph, labels, others)
            # Deeper than the levels before: as in a fresh run.
            before = None if earlier is None or depth >= len(earlier.levels) else earlier.at(others)
            alone = None if wanted.layered is None else wanted.layered.alone(others, clusters, part)
            on, task = judge_alone(part, clusters, resolution, wanted.objective, alone)
            inside = clusters_inside(on, clusters, task, run, before, depth)
            inside = join_small(part.rows, inside, sizes.at(others)._replace(most=np.inf))
            parts[~is_same] = inside + (int(parts.max()) + 1)
        parts_of = np.zeros(int(own.max()) + 1, np.int64)  # how many clusters each of them was split into
        np.add.at(parts_of, own[np.unique(parts, return_index=True)[1]], 1)
        is_whole[nodes] = parts_of[own] == 1  # not tried again; split evenly in the end
        if parts_of.max() > 1:
            labels = keep(nest_clusters(labels, nodes, parts))
            yield labels
    nodes = np.flatnonzero(too_heavy)
    if len(nodes):
        parts = np.full(len(nodes), -1, np.int32)
        if earlier is not None and len(earlier.levels) > 1:
            parts = _parts_before(number_used(labels[nodes])[0], earlier, nodes, sizes.at(nodes))
        others = nodes[parts < 0]
        if len(others):
            part, own = _graph_of_clusters(without_negative(graph), labels, others)
            parts[parts < 0] = split_evenly(part, own, sizes.at(others)) + (int(parts.max()) + 1)
        yield keep(nest_clusters(labels, nodes, parts))


def finer_levels(
    on: WeighedGraph, labels: Labels, wanted: LevelOptions, run: Run, earlier: EarlierLevels | None, keep: Keep
) -> Iterator[Labels]:
    """Levels below a first one at increasing resolutions, each strictly inside the one before."""
    depth = 0
    for resolution in wanted.resolutions[1:]:
        if earlier is None and run.progress.out_of_time():
            return
        part, task = without_cut_edges(on.graph, labels), task_at(on, resolution, wanted.objective)
        before = None if earlier is None or depth + 1 >= len(earlier.levels) else earlier
        finer = clusters_inside(replace(on, graph=part), labels, task, run, before, depth + 1)
        finer = keep(join_small(part.rows, finer, wanted.sizes._replace(most=np.inf)))
        if finer.max() > labels.max():
            labels, depth = finer, depth + 1
            yield labels


def thin_levels(graph: Graph, levels: list[Labels], most: int, sizes: Sizes) -> list[Labels]:
    """At most `most` of some levels, with the coarsest and the finest; if that is 1, the finest.

    A disconnected cluster of the finest level is split into its parts inside the level that is now above it.
    """
    if len(levels) <= most:
        return levels
    kept = np.linspace(0, len(levels) - 1, most).round().astype(int).tolist() if most > 1 else [-1]  # evenly by depth
    *above, last = [levels[place] for place in kept]
    coarse = above[-1] if above else np.zeros(graph.n_nodes, np.int32)
    return [*above, parts_of_clusters(without_cut_edges(graph, coarse), last, sizes)]


def judge_alone(
    graph: Graph, labels: Labels, resolution: float, objective: str, alone: LayeredGraph | None = None
) -> tuple[WeighedGraph, Task]:
    """The terms and the task by which each cluster is judged as if it were the graph, at that resolution.

    graph : without edges between clusters. alone : the same where there are layers, as `LayeredGraph.alone` makes it.
    """
    if alone is not None:
        on = weigh(alone, objective)
        return on, task_at(on, resolution, objective)
    terms = weigh(graph, objective).terms
    mass = np.bincount(labels, weights=terms.mass)
    inside = np.bincount(labels, weights=graph.degrees)
    # Then a cluster's mass squared is its volume: the resolution is of the cluster alone.
    scaled = terms.mass * (np.sqrt(inside) / mass)[labels]
    on = WeighedGraph(graph, node_terms(terms.loops, scaled, graph.degrees))
    return on, Task(Objective(ADDITIVE, resolution, graph.total_volume / graph.n_nodes), 0)


def clusters_inside(
    on: WeighedGraph, labels: Labels, task: Task, run: Run, earlier: EarlierLevels | None = None, depth: int = 0
) -> Labels:
    """Clusters inside clusters, of a graph without edges between these; made from earlier ones, if there are any.

    Else two V-cycles make them: `partition_into_any_number` is a thousandth better, and takes twice as long.
    """
    run = replace(run, graph=on.graph, finest=level_of(on))
    if earlier is not None:
        return restart_labels(run, earlier.start(depth, labels), earlier.n_changed, task)
    clusters = v_cycle(run.finest, None, task, 2.0 * task.objective.penalty, run)
    clusters = v_cycle(run.finest, clusters, task, task.objective.penalty, run)
    return connect(run.finest, clusters, task, run).labels


def _parts_before(labels: Labels, earlier: EarlierLevels, nodes: npt.NDArray[np.int64], sizes: Sizes) -> Labels:
    """The earlier parts of unchanged clusters of some nodes, -1 for the nodes of others; earlier : of all nodes."""
    *_, above_of_all, below_of_all = earlier.levels
    above, below = above_of_all[nodes], below_of_all[nodes]
    k = int(labels.max()) + 1
    first = np.full(k, -1, np.int64)
    first[labels] = above
    members = np.bincount(above_of_all[above_of_all >= 0], minlength=int(above_of_all.max(initial=0)) + 1)
    differs = (above != first[labels]) | (above < 0) | (earlier.n_changed[nodes] > 0)
    # A cluster that has lost nodes, as well as one that has gained some.
    differs |= members[above] != np.bincount(labels)[labels]
    # One number for each pair, -1 included.
    pairs = labels.astype(np.int64) * (int(below.max(initial=0)) + 2) + below + 1
    before = np.unique(pairs, return_inverse=True)[1].astype(np.int32)
    differs |= sizes.of_clusters(before)[before] > sizes.most
    is_same = (np.bincount(labels, weights=differs) == 0)[labels]
    return np.where(is_same, before, np.int32(-1))


def nest_clusters(labels: Labels, nodes: npt.NDArray[np.int64], inside: Labels) -> Labels:
    """The partition in which some nodes, whole clusters of it, are clustered as found."""
    finer = labels.copy()
    finer[nodes] = inside + (int(labels.max()) + 1)
    return number_used(finer)[0]


def _graph_of_clusters(graph: Graph, labels: Labels, nodes: npt.NDArray[np.int64]) -> tuple[Graph, Labels]:
    """Whole clusters as a graph without edges between them, and their labels, numbered from 0."""
    own = number_used(labels[nodes])[0]
    return without_cut_edges(graph.subgraph(nodes), own), own


def make_levels(
    graph: Graph, wanted: LevelOptions, rng: np.random.Generator, progress: Progress, earlier: EarlierLevels | None
) -> tuple[list[Labels], tuple[float, ...]]:
    """Labels of each level, coarsest first, made from earlier ones if there are any; and the resolutions asked for."""
    order = node_order(graph)
    ordered = in_order(graph, order)
    layered = None if wanted.layered is None else wanted.layered.take(order, ordered, with_arcs=True)
    on = weigh(layered or ordered, wanted.objective)
    run = run_on(on, rng, progress)
    wanted = wanted._replace(sizes=wanted.sizes.at(order), layered=layered)
    with progress.stage("levels"):
        wanted = wanted._replace(resolutions=wanted.resolutions or _resolutions(on, wanted, run))
        levels = list(_levels(on, wanted, run, None if earlier is None else earlier.at(order)))
        if wanted.levels is not None:
            levels = thin_levels(ordered, levels, wanted.levels, wanted.sizes)
    labels = np.empty((len(levels), graph.n_nodes), np.int32)
    labels[:, order] = levels
    return list(labels), wanted.resolutions


def _resolutions(on: WeighedGraph, wanted: LevelOptions, run: Run) -> tuple[float, ...]:
    """The resolution of the coarsest level, and without a bound natural ones; increasing."""
    first = USUAL if wanted.resolution is None else wanted.resolution
    if not np.isinf(wanted.sizes.most) or run.progress.out_of_time():
        return (first,)
    if on.layers:  # as the combined weights show them, those above zero
        on = weigh(without_negative(on.graph), wanted.objective)
        run = run_on(on, run.rng, run.progress)
    spec = OBJECTIVES[wanted.objective]
    unit = spec.unit_of_resolution(on.totals)
    if wanted.layered is not None and wanted.layered.sides is not None and not spec.is_relative:
        unit *= on.graph.n_nodes**2 / float(np.prod(wanted.layered.sides))  # pairs of one node of each side
    natural = natural_resolutions(on, run, LOWEST if wanted.resolution is None else first / unit)
    kept = [value for value, width in natural if wanted.levels is not None or width >= WIDE]
    most = len(kept) if wanted.levels is None else wanted.levels - 1
    return tuple(sorted([first, *(value * unit for value in kept[:most])]))


def _levels(on: WeighedGraph, wanted: LevelOptions, run: Run, earlier: EarlierLevels | None) -> Iterator[Labels]:
    """The levels, coarsest first; each has more clusters than the one before."""
    sizes, layered = wanted.sizes, wanted.layered
    task = task_at(on, wanted.resolutions[0], wanted.objective)
    if earlier is None:
        find = partition_into_any_number if layered is None or layered.connected else partition_signed
        labels = unite_ties(run.finest, find(run.finest, task, EFFORTS[wanted.effort], run), task, run).labels
    else:
        may_part = layered is not None and not layered.connected
        labels = restart_labels(run, earlier.start(0), earlier.n_changed, task, may_part)
    keep = whole if wanted.connectivity is None else partial(_well_connected_or_alone, on.graph, wanted, run)
    labels = keep(join_small(on.graph.rows, labels, sizes._replace(most=np.inf)))
    if not np.isinf(sizes.most):
        yield labels
        yield from levels_within_bound(on.graph, labels, wanted, run, earlier, keep)
        return
    below = list(finer_levels(on, labels, wanted, run, earlier, keep))
    if labels.any() or not below:  # where there are finer ones, one cluster is no level
        yield labels
    yield from below


def _well_connected_or_alone(graph: Graph, wanted: LevelOptions, run: Run, labels: Labels) -> Labels:
    """Well-connected clusters inside those given, every other node alone."""
    size, least, _ = wanted.sizes
    connected, _ = leave_well_connected(graph, labels, wanted.connectivity, None, size, least, run, may_be_none=True)
    alone = connected < 0
    connected[alone] = int(connected.max()) + 1 + np.arange(np.count_nonzero(alone))
    return connected


def remark_on_coverage(levels: list[Labels]) -> str:
    """Which share of the nodes the well-connected clusters of levels hold; the other nodes are alone."""
    first, last = (float(np.mean(np.bincount(level)[level] > 1)) for level in (levels[0], levels[-1]))
    return f"well-connected clusters cover {first:.1%} of the nodes on the coarsest level, {last:.1%} on the finest"


def refuse_heavy_nodes(graph: Graph, sizes: Sizes) -> None:
    """ParameterError for a node that alone is above the bound."""
    heaviest = int(sizes.of_nodes.argmax())
    if sizes.of_nodes[heaviest] > sizes.most:
        raise ParameterError(
            f"node {node_names(graph)[heaviest]!r} alone weighs {sizes.of_nodes[heaviest]:g}, more than max_size="
            f"{sizes.most:g}, expected a larger max_size"
        )
