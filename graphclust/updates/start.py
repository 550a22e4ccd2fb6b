"""Where a clustering begins that is made from labels of any origin, and the names that its clusters keep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.engine.connectivity import connect
from graphclust.engine.engine import SPARE_ENTRIES
from graphclust.engine.join_small_clusters import without_gaps
from graphclust.engine.levels import Run, n_entries, with_sums
from graphclust.engine.local_moving import refine
from graphclust.engine.overlay import number_used
from graphclust.engine.v_cycle import v_cycle
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.objective.labels import labels_of_some, number_labels
from graphclust.results.label_matching import (
    ChangeLog,
    Told,
    as_ids,
    find_unchanged,
    list_changes,
    number_ids,
    overlap_of,
    renumber,
)
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


def name_levels(old: Hierarchy, made: Hierarchy, earlier: EarlierLevels) -> Hierarchy:
    """The hierarchy with ids of the one before, and what became of its clusters.

    earlier : the levels of the one before, for the nodes of the new one.
    """
    after = _After(old, made, earlier)
    ids, n_ids = after.match_ids()
    later = replace(made, ids=ids, n_ids=n_ids, change_log=after.changes(ids))
    vars(later)["coarsest"] = made.coarsest  # with the sums of its clusters, where they are known
    return later


class _After:
    """Ids of the clusters of an updated hierarchy, and what became of those before."""

    def __init__(self, old: Hierarchy, made: Hierarchy, earlier: EarlierLevels):
        self.old, self.made, self.known = old, made, np.unique(np.concatenate(old.ids))
        self.pairs = []  # of levels, and the earlier cluster of the same nodes as each new one
        for depth in range(max(len(old.levels), len(made.levels))):
            level, now = min(depth, len(old.levels) - 1), min(depth, len(made.levels) - 1)
            before, labels = earlier.levels[level], made.levels[now]
            unchanged = find_unchanged(before, len(old.ids[level]), labels, len(made.ids[now]))
            self.pairs.append((level, now, before, labels, unchanged))

    def match_ids(self) -> tuple[tuple[Labels, ...], int]:
        """Ids of the clusters of each level; one that is new on it takes that of the earlier one it overlaps most."""
        n_ids, made, known = self.old.n_ids or int(self.known[-1]) + 1, self.made, self.known
        kept: list[Labels] = []
        is_given = np.zeros(len(known), bool)
        for level, depth, before, labels, unchanged in self.pairs[: len(made.levels)]:
            ids, old_ids = np.full(len(unchanged), -1, np.int64), self.old.ids[level]
            if depth:
                whole = np.isin(made.ids[depth], made.ids[depth - 1])
                ids[whole] = kept[-1][made.parents[depth][whole]]
            is_gone = is_given[np.searchsorted(known, old_ids)]
            stays = (ids < 0) & (unchanged >= 0) & ~is_gone[unchanged]
            ids[stays] = old_ids[unchanged[stays]]
            rest = np.flatnonzero((ids < 0)[labels])
            if len(rest):
                earlier = np.append(np.where(is_gone, -1, old_ids), -1)[before[rest]]
                ids[labels[rest]] = renumber(earlier, without_gaps(labels[rest]).astype(np.int64), first_new=n_ids)
            n_ids = max(n_ids, int(ids.max()) + 1)
            is_given[np.searchsorted(known, ids[ids <= known[-1]])] = True
            kept.append(ids)
        return tuple(kept), n_ids

    def changes(self, ids: tuple[Labels, ...]) -> ChangeLog:
        """What became of the clusters of all levels; a cluster on several levels is told of on the first one."""
        found: list[Told] = []
        known = np.union1d(self.known, np.concatenate(ids))
        is_told, was, lives = np.zeros((3, len(known)), bool)
        was[np.searchsorted(known, self.known)] = True
        lives[np.searchsorted(known, np.concatenate(ids))] = True
        for level, now, before, labels, unchanged in self.pairs:
            old_ids, own, sizes = self.old.ids[level], ids[now], np.bincount(labels)
            old_sizes = np.bincount(self.old.levels[level])
            same = (unchanged >= 0) & (old_ids[unchanged] == own) & (old_sizes[unchanged] == sizes)
            same &= is_told[np.searchsorted(known, own)]
            rows, columns = np.flatnonzero(~same), np.ones(len(old_ids), bool)
            columns[unchanged[same]] = False
            rows, columns = rows[np.argsort(own[rows])], np.flatnonzero(columns)
            columns = columns[np.argsort(old_ids[columns])]
            if not len(rows) and not len(columns):
                continue
            before_ids, after_ids = old_ids[columns], own[rows]
            both = np.concatenate([before_ids, after_ids])
            at = np.searchsorted(known, both)
            is_elsewhere = was[at] & lives[at] & ~np.isin(both, np.intersect1d(old_ids, own))  # not on one level
            overlap = overlap_of(before, len(old_ids), labels, len(own), unchanged)[rows][:, columns]
            told = both[is_told[at] | is_elsewhere]
            found += list_changes(overlap, before_ids, after_ids, old_sizes[columns], sizes[rows], told).levels
            is_told[at[~is_elsewhere]] = True
        return ChangeLog(tuple(found))
