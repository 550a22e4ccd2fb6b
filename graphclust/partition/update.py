"""A clustering after edits of its graph: what changed is worked on, what did not keeps its label."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_seeded
from graphclust.compiled.graphs.levels import Goal
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.edits import Edges, edited
from graphclust.objective.objective import OBJECTIVES, Weighed, plain_objective, ratio_objective, weighed
from graphclust.partition.communities import goal_at
from graphclust.partition.label_matching import changes_between, renumbered
from graphclust.partition.levels import run_on
from graphclust.partition.warm_start import Earlier, restarted
from graphclust.progress import ProgressLike, as_progress

if TYPE_CHECKING:
    from graphclust.partition.clustering import Clustering

Labels = npt.NDArray[np.int64]


def updated(
    clustering: Clustering,
    added: Edges,
    removed: Edges,
    reweighted: Edges,
    removed_nodes: Iterable[Hashable] | None,
    rng: Seed,
    progress: ProgressLike,
) -> Clustering:
    """See `Clustering.update`."""
    for name in ("min_size", "max_size", "max_imbalance"):
        if clustering.parameters.get(name) is not None:
            raise ParameterError(
                f"the clustering was made with {name}={clustering.parameters[name]!r}, which an update would not keep; "
                "cluster the changed graph anew, or update a hierarchy, which keeps its bounds"
            )
    (rng, seed), progress = as_seeded(rng), as_progress(progress, None)
    with progress.stage("edits"):
        edit = edited(clustering.graph, added, removed, reweighted, removed_nodes)
    graph, is_free = edit.graph, "method" not in clustering.parameters
    if graph.n_entries == 0:
        raise GraphValidationError("no edges are left after the edits, expected at least one")
    kept = np.where(edit.before >= 0, clustering.labels[edit.before], -1)
    taken = (kept >= 0) | (edit.n_changed > 0)
    if not is_free:
        taken &= ~graph.isolated
        if clustering.k > np.count_nonzero(taken):
            raise ParameterError(
                f"after the edits {np.count_nonzero(taken)} nodes have edges, fewer than k={clustering.k}"
            )
    nodes = np.flatnonzero(taken)
    part = graph if taken.all() else graph.subgraph(nodes)
    on = weighed(part, clustering.objective)
    run = run_on(on, rng, progress)
    with progress.stage("partition"):
        earlier = Earlier([kept[nodes]], edit.n_changed[nodes])
        start = earlier.start(0) if is_free else _exactly_k(part, kept[nodes], clustering.k)
        found = restarted(run.finest, start, earlier.n_changed, _goal(on, clustering, is_free), run).labels
    labels = np.full(graph.n_nodes, -1, np.int64)
    labels[nodes] = found
    ids = clustering.ids
    old_ids = np.where(clustering.labels >= 0, ids[clustering.labels], -1)
    ids_before = np.where(edit.before >= 0, old_ids[edit.before], -1)
    n_ids = clustering.n_clusters if clustering.n_ids is None else clustering.n_ids
    new_ids = renumbered(ids_before, labels, first_new=n_ids)
    labels, id_of = _labels_for(new_ids, ids)
    return replace(
        clustering, labels=labels, k=len(id_of), graph=graph, stable_ids=id_of,
        n_ids=max(n_ids, int(new_ids.max()) + 1), coreset=None, undecided=None,
        remarks=(), seconds=progress.seconds, entries_read={}, decided={}, seed=seed,
        changes=changes_between(old_ids, new_ids, edit.before),
    )  # fmt: skip


def _goal(on: Weighed, clustering: Clustering, is_free: bool) -> Goal:
    """What the clustering was made for, on the graph as it is now."""
    resolution = 1.0 if clustering.resolution is None else clustering.resolution
    if is_free:
        return goal_at(on, resolution, clustering.objective)
    made_of = OBJECTIVES[clustering.objective]
    if made_of.is_ratio:
        return Goal(ratio_objective(on.units), clustering.k)
    at = resolution / made_of.unit_of_resolution(on.units)
    return Goal(plain_objective(on.units, clustering.k, at), clustering.k)


def _exactly_k(graph: Graph, labels: Labels, k: int) -> npt.NDArray[np.int32]:
    """Labels 0..k-1 of all nodes, those without one where their neighbors are."""
    labels = labels.copy()
    alone = np.flatnonzero(labels < 0)
    while len(alone):
        choices = [_most_tied(graph, labels, node) for node in alone.tolist()]
        if max(choices) < 0:
            labels[alone] = int(np.bincount(labels[labels >= 0], minlength=1).argmin())
        labels[alone] = np.where(labels[alone] < 0, choices, labels[alone])
        alone = np.flatnonzero(labels < 0)
    labels = np.unique(labels, return_inverse=True)[1]
    while (missing := k - (int(labels.max()) + 1)) > 0:  # of a cluster that is gone another is made of single nodes
        largest = np.flatnonzero(labels == np.bincount(labels).argmax())
        labels[largest[: min(missing, len(largest) - 1)]] = labels.max() + 1 + np.arange(min(missing, len(largest) - 1))
    return labels.astype(np.int32)


def _most_tied(graph: Graph, labels: Labels, node: int) -> int:
    """The cluster that a node shares most weight with, -1 for none."""
    entries = slice(int(graph.indptr[node]), int(graph.indptr[node + 1]))
    near = labels[graph.indices[entries]]
    weights = np.ones(len(near)) if graph.weights is None else graph.weights[entries]
    ties = np.bincount(near[near >= 0], weights=weights[near >= 0])
    return int(ties.argmax()) if len(ties) else -1


def _labels_for(new_ids: Labels, ids_before: Labels) -> tuple[Labels, Labels]:
    """Labels 0..k-1 for ids, and the id of each: clusters keep their label but for the last, which fill gaps."""
    present = np.unique(new_ids[new_ids >= 0])
    k = len(present)
    label_of = {int(one): label for label, one in enumerate(ids_before.tolist())}
    placed = np.full(k, -1, np.int64)
    waiting = []
    for one in present.tolist():
        label = label_of.get(one, k)
        if label < k:
            placed[label] = one
        else:
            waiting.append(one)
    placed[placed < 0] = waiting
    order = np.argsort(placed)
    labels = np.where(new_ids >= 0, order[np.searchsorted(placed[order], new_ids)], -1) if k else new_ids
    return labels, placed
