"""A clustering after edits of its graph: only nodes near the edits move, all others keep their labels."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

import graphclust
from graphclust.checks import Seed
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import ADDITIVE, ClusterSums, Objective
from graphclust.engine.bounds import NO_ROOM, as_bounds, leave_apart, meet_minimum, most_of_equal_parts, shares_of_parts
from graphclust.engine.connectivity import can_promise, leave_well_connected, remarks_on_connectivity
from graphclust.engine.levels import Run, Shares, run_on, with_sizes_as_masses
from graphclust.engine.resolution import objective_of, task_at
from graphclust.engine.settling import balance, is_within, settle
from graphclust.errors import GraphValidationError, ParameterError, amount
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph
from graphclust.objective.objective import (
    OBJECTIVE_SPECS,
    ObjectiveChoice,
    Totals,
    WeighedGraph,
    judged_by,
    weigh,
    weigh_layers,
)
from graphclust.progress import Progress, ProgressLike
from graphclust.results.label_matching import carry_ids, number_ids
from graphclust.updates.edits import EditedGraph, without_rows
from graphclust.updates.start import Start, start_from, start_labels
from graphclust.updates.warm_start import has_changed, restart, search_from

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering
    from graphclust.results.hierarchy import Hierarchy

Labels = npt.NDArray[np.int64]


class Requirements(NamedTuple):
    """What a clustering is made for.

    k : the number of clusters, 0 for as many as the resolution makes. sizes : of the nodes, None without bounds on the
    sizes of clusters. least, most : what a cluster may hold. shares : of parts whose bounds differ.
    """

    k: int
    sizes: npt.NDArray[np.float64] | None
    least: float
    most: float
    shares: Shares | None = None


def remake_clustering(
    clustering: Clustering, edit: EditedGraph, rng: np.random.Generator, seed: Any, progress: Progress,
    looked_at: npt.NDArray[np.bool_] | None = None,
) -> Clustering:  # fmt: skip
    """The clustering of the edited graph, made from the clustering before.

    looked_at : bool, shape (n_nodes,), where edges may have changed that the edit does not list, the nodes that may
        gain by a move; the earlier graph is not used then.
    """
    with progress.stage("partition"):
        labels, sums = partition_again(clustering, edit, looked_at, rng, progress)
    k, coverage = len(sums.size), None
    if keeps_cuts := can_promise(clustering.parameters):
        with progress.stage("well-connected"):
            labels, coverage = _test_changed(clustering, edit, labels, rng, progress)
        k = int(labels.max()) + 1
    with progress.stage("ids"):
        named = _keep_ids(clustering, edit, labels, k)
    account = named | account_of(clustering, edit, seed, progress, coverage)
    made = replace(clustering, **account, coreset=None, undecided=None, decided={}, entries_read=progress.entries_read)
    if keeps_cuts:
        return made
    if edit.layered is None:
        keep_sums_of(made, labels, sums)
    if looked_at is not None:  # of other edges than those that are known
        return made
    first = value_of_clustering(clustering) if clustering.first_value is None else clustering.first_value
    return _but_for(made, first_value=first, remarks=(*made.remarks, *remarks_on_drift(first, made)))


def _test_changed(
    clustering: Clustering, edit: EditedGraph, labels: Labels, rng: np.random.Generator, progress: Progress
) -> tuple[Labels, str]:
    """Well-connected clusters, of which those are tested that have other nodes or other edges than before."""
    asked, graph, wanted = clustering.parameters, edit.graph, _requirements_of(clustering, edit)
    taken = np.flatnonzero(labels >= 0)
    own, before = labels[taken], edit.carry(clustering.labels, -1)[taken]
    tested = np.zeros(graph.n_nodes, np.bool_)
    tested[taken] = has_changed(own, before, edit.n_changed[taken] > 0)[own]
    on = _weigh_part(clustering, edit, graph)
    run, is_alone = run_on(on, rng, progress, wanted.sizes), asked.get("leftover") == "alone"
    parted, remark = leave_well_connected(
        graph, labels, asked["connectivity"], _task(clustering, on, wanted) if asked.get("recluster", True) else None,
        np.ones(graph.n_nodes) if wanted.sizes is None else wanted.sizes, wanted.least, run,
        asked.get("cut_weight", False), may_be_none=is_alone, tested=tested,
    )  # fmt: skip
    if is_alone:
        parted[parted < 0] = parted.max() + 1 + np.arange(np.count_nonzero(parted < 0))
    return parted.astype(np.int64), remark


def account_of(
    before: Clustering | Hierarchy, edit: EditedGraph, seed: Any, progress: Progress, coverage: str | None
) -> dict[str, Any]:
    """What the result of an update says beside its clusters.

    coverage : a remark, where minimum cuts are promised again; None where they are not any more, if they were.
    """
    said, parameters = [coverage], before.parameters
    if coverage is None:
        said = [*remarks_on_connectivity(parameters)]
        parameters = {name: value for name, value in parameters.items() if name != "connectivity"}
    is_told = False if edit.node_weight is None else edit.node_weight > 0.0
    n_new = int(np.count_nonzero((edit.before < 0) & ~np.asarray(is_told)))
    if before.node_sizes is not None and n_new:
        counts = amount(n_new, "new node counts", "new nodes count")
        said.insert(0, f"{counts} 1 in the bounds, as an update knows no node_weight of what is new")
    return {
        "graph": edit.graph, "layered": edit.layered, "node_sizes": edit.carry_sizes(before.node_sizes), "seed": seed,
        "parameters": parameters, "remarks": (*said, *progress.remarks), "seconds": progress.seconds,
    }  # fmt: skip


def partition_again(
    clustering: Clustering, edit: EditedGraph, looked_at: npt.NDArray[np.bool_] | None, rng: np.random.Generator,
    progress: Progress,
) -> tuple[Labels, ClusterSums]:  # fmt: skip
    """Labels 0, 1, ... of all nodes, -1 for none, and the sums of the clusters; see `remake_clustering`."""
    graph, wanted = edit.graph, _requirements_of(clustering, edit)
    kept = edit.carry(clustering.labels, -1)
    taken = (kept >= 0) | (edit.n_changed > 0)
    has_isolated = not wanted.k or clustering.objective == "edge_cut" or "cut" in clustering.parameters
    taken = taken | (edit.before < 0) if has_isolated else taken & ~graph.isolated
    # A component that was put aside stays aside, unless an edge now links it to clusters.
    is_aside = (kept < 0) & (edit.before >= 0) & ~graph.isolated
    is_apart, keeps_cuts = clustering.parameters.get("small") == "apart", can_promise(clustering.parameters)
    is_all = clustering.parameters.get("components") == "all"
    if is_apart and is_all:
        taken[:] = True
    elif not keeps_cuts and not is_all and (is_aside if looked_at is not None else is_aside & taken).any():
        of, is_kept = graph.components, kept >= 0
        taken = np.where(np.isin(of, of[is_aside]), np.isin(of, of[is_kept]), taken)
    if wanted.k > (n_taken := int(np.count_nonzero(taken))):
        words = ("node is left", "nodes are left") if has_isolated else ("node has edges", "nodes have edges")
        raise ParameterError(f"after the edits {amount(n_taken, *words)}, fewer than k={wanted.k}")
    nodes, part = np.flatnonzero(taken), graph
    if not taken.all():  # if the others are isolated, no row is read
        part = without_rows(graph, nodes) if graph.isolated[~taken].all() else graph.subgraph(nodes)
    at = slice(None) if len(nodes) == len(kept) else nodes  # of all nodes nothing is copied
    on = _weigh_part(clustering, edit, part, nodes)
    if on.totals.mass == 0.0 and not part.n_entries and not taken.all():
        raise GraphValidationError(
            "after the edits no edge is left in the component that was clustered, expected at least one; cluster the "
            "changed graph"
        )
    progress.watch(part)
    sizes = None if wanted.sizes is None else wanted.sizes[nodes]
    run = replace(run_on(on, rng, progress, sizes), shares=wanted.shares)
    if clustering.objective == "edge_cut" and sizes is not None:
        run = with_sizes_as_masses(run, sizes)  # of equal parts
    labels = start_labels(part, _without_full(kept, edit, wanted)[at], clustering.n_clusters, wanted.k)
    kept, n_changed = kept[at], edit.n_changed[at]
    start = start_from(clustering, edit, nodes, kept, labels, run, looked_at, is_free=not wanted.k)
    task = _task(clustering, on, wanted)
    if keeps_cuts:  # what is then too small is left out
        task = task._replace(least=0.0)
    sought = task._replace(least=0.0) if is_apart else task
    partition = _improve(run, start, n_changed, clustering.objective, sought, edit.layered)
    if is_apart:
        partition = leave_apart(run.finest, partition, task, run)
    labels = np.full(graph.n_nodes, -1, np.int64)
    labels[at] = partition.labels
    return labels, partition.sums


def _without_full(kept: Labels, edit: EditedGraph, wanted: Requirements) -> Labels:
    """Labels from before; nodes of new weight that their clusters have no room for have none, unless k is given."""
    if edit.node_weight is None or wanted.sizes is None or wanted.k:
        return kept
    load = np.bincount(kept + 1, wanted.sizes)
    return np.where((edit.node_weight > 0.0) & (load > wanted.most)[kept + 1], -1, kept)


def _improve(
    run: Run, start: Start, n_changed: Labels, objective: str, task: Task, layered: LayeredGraph | None
) -> Partition:
    """The partition after local search from the start, and within the bounds of the task."""
    level, partition = run.finest, start.partition
    if objective == "edge_cut":
        partition = settle(level, partition, task, run)
        loose = run if run.shares is None else replace(run, shares=run.shares._replace(least=0.0 * run.shares.least))
        if not is_within(level, partition, task._replace(least=0.0), loose):
            raise ParameterError(f"after the edits {NO_ROOM}: partition the changed graph")
        return partition
    fitted = _fit(level, partition, task, run)
    if layered is None:
        may_part = start.may_part if fitted is partition else None
        partition = restart(level, fitted, n_changed, task, run, start.waits, may_part)
    else:
        free = task if task.k else task._replace(least=0.0)
        partition = search_from(fitted, n_changed, free, run, start.waits, may_part=not layered.connected)
    return (meet_minimum if task.least > 0.0 and not task.k else _fit)(level, partition, task, run)


def _fit(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition into k clusters with none outside the bounds of the task; the same where there are none."""
    if level.terms.size is None or not task.k:
        return partition
    fitted, fits = balance(level, partition, task, run)
    if not fits:
        raise ParameterError(f"after the edits {NO_ROOM}: cluster the changed graph within other bounds")
    return fitted


def _weigh_part(clustering: Clustering, edit: EditedGraph, part: Graph, nodes: Labels | None = None) -> WeighedGraph:
    """The terms of some nodes of the edited graph, or all, under the objective; part : the graph of these nodes."""
    if edit.layered is None:
        return weigh(part, clustering.objective)
    judged = judged_by(edit.layered, clustering.objective)
    at: Any = clustering.parameters.get("resolution") if clustering.resolution is None else 1.0
    if np.ndim(at) and len(at) != len(judged.layers):
        raise ParameterError(
            f"resolution={at!r} has {len(at)} numbers, one a layer, and after the edits the graph has "
            f"{amount(len(judged.layers), 'layer')}; cluster the changed graph"
        )
    return weigh_layers(judged if nodes is None else judged.take(nodes, part), at)


def _requirements_of(clustering: Clustering, edit: EditedGraph) -> Requirements:
    """The number and the bounds that the clustering was made for, with the sizes of the present nodes."""
    asked, objective = clustering.parameters, clustering.objective
    k = clustering.k if objective == "edge_cut" or "method" in asked or "cut" in asked else 0
    min_size, max_size, max_imbalance = (asked.get(name) for name in ("min_size", "max_size", "max_imbalance"))
    if "cut" in asked or (min_size, max_size, max_imbalance) == (None, None, None):
        return Requirements(k, None, 0.0, np.inf)
    sizes = edit.carry_sizes(clustering.node_sizes)
    sizes = np.ones(edit.graph.n_nodes) if sizes is None else sizes
    if max_imbalance is not None:
        if objective == "edge_cut":
            targets = np.array(asked.get("target_weights", np.ones(k)))
            shares = shares_of_parts(sizes, targets, max_imbalance, asked.get("min_imbalance", max_imbalance))
            bounds = float(shares.least.min()), float(shares.most.max())
            return Requirements(k, sizes, *bounds, shares if "target_weights" in asked else None)
        max_size = most_of_equal_parts(sizes, k, max_imbalance)
    return Requirements(k, *as_bounds(sizes, min_size, max_size))


def _task(clustering: Clustering, on: WeighedGraph, wanted: Requirements) -> Task:
    """The task that the clustering was made for, on the present graph."""
    k, _, least, most, _ = wanted
    objective, resolution = clustering.objective, 1.0 if clustering.resolution is None else clustering.resolution
    if objective == "edge_cut":
        return Task(Objective(ADDITIVE, 0.0, on.graph.total_volume / on.graph.n_nodes), k, least, most)
    if not k:
        return task_at(on, resolution, objective)._replace(least=least, most=most)
    return Task(objective_of(ObjectiveChoice(objective, float(resolution)), k, 1.0, on.totals)[0], k, least, most)


def _keep_ids(clustering: Clustering, edit: EditedGraph, labels: Labels, k: int) -> dict[str, Any]:
    """Labels and ids, kept from the earlier cluster of largest overlap, and what became of the earlier clusters.

    Clusters keep their label but for the last, which fill gaps.
    """
    ids, n_ids = clustering.ids, clustering.n_ids or len(clustering.ids)
    before = edit.carry(clustering.labels, -1)
    new_ids, n_ids, log = carry_ids(before, ids, clustering.sizes, labels, k, n_ids)
    id_of, stays = np.full(k, -1, np.int64), np.flatnonzero(np.isin(ids[:k], new_ids))
    id_of[stays] = ids[stays]
    id_of[id_of < 0] = np.setdiff1d(new_ids, id_of)
    place = np.argsort(id_of)
    number = np.append(place[np.searchsorted(id_of[place], new_ids)], -1)
    return {"labels": number[labels], "k": k, "stable_ids": id_of, "n_ids": n_ids, "change_log": log}


# Sums that moves kept lose about 1e-16 of the heaviest node that passed through. With weights a cut is trusted where it
# is more than the first share of its cluster's volume and more than the second of the graph's.
ROUND_OFF, ROUND_OFF_OF_ALL = 1e-6, 1e-10


def keep_sums(clustering: Clustering, inside: npt.NDArray[Any], volume: npt.NDArray[Any]) -> None:
    """Keep sums of the clusters that moves have summed, so that no figure of quality reads the edges.

    inside : by the terms of the objective. Where round-off may be all there is of a cut, nothing is kept.
    """
    graph, cut = clustering.graph, OBJECTIVE_SPECS[clustering.objective].inside(inside, volume)
    least = np.maximum(ROUND_OFF * volume, ROUND_OFF_OF_ALL * graph.total_volume)
    if graph.weights is None or ((cut > least) | (volume == 0.0)).all():
        vars(clustering)["_cut_and_volume"] = cut, volume


def keep_sums_of(clustering: Clustering, labels: npt.NDArray[np.integer], sums: ClusterSums) -> None:
    """`keep_sums`, from those of a partition with other labels."""
    k = len(sums.size)
    number = np.empty(k + 1, np.int64)
    number[labels] = clustering.labels  # the last is that of nodes in no cluster
    inside = np.empty(k)
    inside[number[:k]] = sums.inside
    volume = np.bincount(clustering.labels + 1, clustering.graph.degrees, k + 1)[1:]
    keep_sums(clustering, inside, volume)


def name_clusters(clustering: Clustering, ids: Labels) -> Clustering:
    """The clustering with the ids that nodes began with, by largest overlap, and what became of these clusters."""
    old_ids, old = number_ids(ids)
    sizes, n_ids = np.bincount(old[old >= 0]), int(ids.max(initial=-1)) + 1
    own, n_ids, log = carry_ids(old, old_ids, sizes, clustering.labels, clustering.n_clusters, n_ids)
    return _but_for(clustering, stable_ids=own, n_ids=n_ids, change_log=log)


def _but_for(clustering: Clustering, **fields: Any) -> Clustering:
    """The clustering with other fields, and the figures that are known of it."""
    later = replace(clustering, **fields)
    vars(later).update({name: value for name, value in vars(clustering).items() if name not in vars(later)})
    return later


WORTH_A_REMARK = 0.002  # of the value: as much as two seeds may differ in on graphs without clear clusters
# Settings that a graph has heeded.
OF_THE_GRAPH = ("weight", "symmetrize", "node_weight", "kind", "layer_weights", "normalize")


class Drift(NamedTuple):
    """A clustering beside one of the same graph from nothing; `Clustering.drift` makes it.

    value, fresh_value : of the clustering and of the fresh one: modularity, or another objective over the graph's
        volume; of cuts the negative, so that more is better.
    lost : what is missing of `fresh_value`, as a share of it; below 0 if the clustering is the better one.
    fresh : the clustering from nothing.
    """

    value: float
    fresh_value: float
    lost: float
    fresh: Clustering


def drift_of(clustering: Clustering, rng: Seed, progress: ProgressLike) -> Drift:
    """See `Clustering.drift`."""
    asked, door = clustering.parameters, "communities"
    if "cut" in asked:
        raise ParameterError(f"the clustering is a cut of a hierarchy, expected hierarchy(G).cut({clustering.k}) anew")
    if "method" in asked or clustering.objective == "edge_cut":
        door = "coreset_sc" if "method" in asked else "balanced_partition"
    make: Any = getattr(graphclust, door)
    takes = inspect.signature(make).parameters
    options = {name: asked[name] for name in takes if name in asked and name not in OF_THE_GRAPH}
    options |= {"k": clustering.k} if "k" in takes else {}
    options |= {} if clustering.node_sizes is None else {"node_weight": clustering.node_sizes}
    fresh = make(clustering.layered or clustering.graph, **options, rng=rng, progress=progress)
    value, fresh_value = value_of_clustering(clustering), value_of_clustering(fresh)
    return Drift(value, fresh_value, (fresh_value - value) / (abs(fresh_value) or 1.0), fresh)


def value_of_clustering(clustering: Clustering) -> float:
    """The value as `Drift` has it, from the sums of the clusters; of a graph with layers its edges are read."""
    if clustering.layered is not None:
        at = clustering.parameters.get("resolution") if clustering.resolution is None else clustering.resolution
        return judged_by(clustering.layered, clustering.objective).modularity(clustering.labels, at or 1.0)
    made_of, volume = OBJECTIVE_SPECS[clustering.objective], clustering.graph.total_volume or 1.0
    if clustering.objective == "edge_cut":
        return -2.0 * clustering.edge_cut / volume
    inside, mass, _ = clustering.sums
    if made_of.is_ratio:
        return float(((inside if made_of.less_degree else inside - mass)[mass > 0.0] / mass[mass > 0.0]).sum())
    chance = made_of.chance(Totals(volume, volume if made_of.by_degree else float(mass.sum())))
    return float(inside.sum() - (clustering.resolution or 1.0) * chance * (mass**2).sum()) / volume


def remarks_on_drift(value_before: float, clustering: Clustering) -> tuple[str, ...]:
    """That more was lost since the last clustering from nothing, of that value, than seeds differ in."""
    if clustering.layered is None and "_cut_and_volume" not in vars(clustering):
        return ()  # no edge is read for it
    value = value_of_clustering(clustering)
    if value_before - value <= WORTH_A_REMARK * abs(value_before):
        return ()
    name = clustering.objective.replace("_", " ")
    return (f"{name} has gone from {value_before:.4f} to {value:.4f} since the graph was clustered from nothing; "
            "drift() says whether a fresh clustering has more",)  # fmt: skip
