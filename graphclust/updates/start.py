"""Where a clustering begins that is made from labels of any origin, and the names that its clusters keep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.engine.connectivity import connect
from graphclust.engine.engine import SPARE_ENTRIES
from graphclust.engine.levels import Run, n_entries, with_sums
from graphclust.engine.local_moving import refine
from graphclust.engine.overlay import number_used
from graphclust.engine.v_cycle import v_cycle
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.objective.labels import labels_of_some, number_labels
from graphclust.results.label_matching import as_ids, list_changes, number_ids, overlap_of, renumber
from graphclust.updates.level_names import name_levels
from graphclust.updates.warm_start import EarlierLevels

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering
    from graphclust.results.hierarchy import Hierarchy

Labels = npt.NDArray[np.int64]


def ids_of_start(graph: Graph, start: Any) -> Labels:
    """The number of the cluster that each node begins in, int64, shape (n_nodes,), -1 for none; see `communities`."""
    if hasattr(start, "ids") and hasattr(start, "nodes"):
        coarsest = (start.levels[0], start.ids[0]) if hasattr(start, "levels") else (start.labels, start.ids)
        start = dict(zip(start.nodes, np.append(coarsest[1], -1)[coarsest[0]].tolist(), strict=True))
    labels, n = labels_of_some(graph, start, "start"), graph.n_nodes
    if labels.shape != (n,):
        raise GraphValidationError(f"start has shape {labels.shape}, expected a label for each of the {n} nodes")
    return as_ids(labels if labels.dtype.kind in "iu" else number_labels(labels, len(labels), "start"), "start")


def partition_from(ids: Labels, task: Task, run: Run, may_part: bool = False) -> Partition:
    """The partition of the finest level that is made from clusters with these ids, by moves and a V-cycle inside them.

    Nodes without an id begin alone, and so do those of clusters above `task.most`. may_part : whether clusters need not
    be connected.
    """
    labels, level = number_ids(ids)[1].astype(np.int64), run.finest
    if level.terms.size is not None:
        labels[(np.bincount(labels + 1, level.terms.size) > task.most)[labels + 1]] = -1
    alone = np.flatnonzero(labels < 0)
    labels[alone] = len(labels) + np.arange(len(alone))
    own, k = number_used(labels)
    found = with_sums(level, own, k, run)
    if n_entries(level) <= SPARE_ENTRIES:  # on larger levels the V-cycle's own moves are enough
        found = refine(level, found, task, run)
    found = v_cycle(level, found, task, task.objective.penalty, run)
    return found if may_part else connect(level, found, task, run)


def levels_from(graph: Graph, ids: Labels) -> EarlierLevels:
    """The same as the coarsest of earlier levels."""
    return EarlierLevels([number_ids(ids)[1].astype(np.int64)], np.maximum(np.diff(graph.indptr), 1))


def name_clusters(found: Clustering, ids: Labels) -> Clustering:
    """The clustering with the ids that nodes began with, by largest overlap, and what became of these clusters."""
    named, first_new = renumber(ids, found.labels), int(ids.max(initial=-1)) + 1
    own = np.empty(found.n_clusters + 1, np.int64)  # the last for nodes in no cluster
    own[found.labels] = named
    own = own[:-1]
    old_ids, old = number_ids(ids)
    overlap, order = overlap_of(old, len(old_ids), found.labels, len(own)), np.argsort(own)
    log = list_changes(overlap[order], old_ids, own[order], np.bincount(old[old >= 0]), found.sizes[order])
    later = replace(found, stable_ids=own, n_ids=max(first_new, int(own.max()) + 1), change_log=log)
    vars(later).update({name: value for name, value in vars(found).items() if name not in vars(later)})
    return later


def name_hierarchy(found: Hierarchy, ids: Labels) -> Hierarchy:
    """The same of a hierarchy."""
    old_ids, labels = number_ids(ids)
    labels = labels.astype(np.int64)
    before = replace(found, levels=(labels[labels >= 0],), ids=(old_ids,))
    return name_levels(before, found, EarlierLevels([labels], labels))
