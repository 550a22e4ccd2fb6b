"""A hierarchy after edits of its graph: levels made from the earlier ones, and the ids that their clusters keep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.components import split_by_connection
from graphclust.engine.cluster_sizes import Sizes, join_small
from graphclust.engine.connectivity import can_promise
from graphclust.engine.levels import number_used, run_on
from graphclust.engine.nested_levels import (
    LevelOptions,
    levels_within_bound,
    make_levels,
    refuse_heavy_nodes,
    remark_on_coverage,
    whole,
)
from graphclust.graph.container import Graph
from graphclust.objective.objective import judged_by, weigh
from graphclust.progress import Progress
from graphclust.results.hierarchy import hierarchy_of
from graphclust.results.label_matching import (
    ChangeLog,
    Told,
    find_unchanged,
    list_changes,
    number_ids,
    overlap_of,
    renumber,
)
from graphclust.updates.clustering_update import account_of, keep_sums_of, partition_again
from graphclust.updates.edits import EditedGraph
from graphclust.updates.warm_start import EarlierLevels, has_changed

if TYPE_CHECKING:
    from graphclust.results.hierarchy import Hierarchy

Labels = npt.NDArray[np.int64]
# An old and a new level, the labels of the nodes on both, and the earlier cluster of the same nodes as each new one.
Pair = tuple[int, int, Labels, Labels, Labels]


def remake_hierarchy(
    hierarchy: Hierarchy, edit: EditedGraph, rng: np.random.Generator, seed: Any, progress: Progress,
    looked_at: npt.NDArray[np.bool_] | None = None,
) -> Hierarchy:  # fmt: skip
    """The hierarchy of the edited graph, made from the levels before; see `remake_clustering`."""
    graph, of_nodes, asked = edit.graph, edit.carry_sizes(hierarchy.node_sizes), hierarchy.parameters
    most, least = hierarchy.max_size or np.inf, hierarchy.min_size or 0.0
    sizes = Sizes(np.ones(graph.n_nodes) if of_nodes is None else of_nodes, least, most)
    refuse_heavy_nodes(graph, sizes)
    keeps_cuts = can_promise(asked)
    wanted = LevelOptions(
        sizes, None, asked["levels"], hierarchy.objective, asked["effort"], hierarchy.resolutions,
        asked.get("connectivity") if keeps_cuts else None,
        None if edit.layered is None else judged_by(edit.layered, hierarchy.objective),
    )  # fmt: skip
    n_changed = edit.n_changed if edit.node_weight is None else np.maximum(edit.n_changed, edit.node_weight > 0.0)
    earlier = EarlierLevels([edit.carry(labels, -1) for labels in hierarchy.levels], n_changed)
    if hierarchy.max_size is None or wanted.levels is not None or keeps_cuts or edit.layered is not None:
        levels, _ = make_levels(graph, wanted, rng, progress, earlier)
        sums = None
    else:
        with progress.stage("levels"):
            first, sums = partition_again(hierarchy.coarsest, edit, looked_at, rng, progress)
            labels = join_small(graph.rows, first.astype(np.int32), sizes._replace(most=np.inf))
            levels = _update_levels(graph, wanted, earlier, labels, rng, progress)
            sums = sums if labels.max() == first.max() else None
    account = account_of(hierarchy, edit, seed, progress, remark_on_coverage(levels) if keeps_cuts else None)
    with progress.stage("ids"):
        made = hierarchy_of(
            levels=levels, objective=hierarchy.objective, resolutions=hierarchy.resolutions,
            max_size=hierarchy.max_size, min_size=hierarchy.min_size, **account,
        )  # fmt: skip
        if sums is not None:
            keep_sums_of(made.coarsest, levels[0], sums)
        return name_levels(hierarchy, made, earlier)


def _update_levels(
    graph: Graph, wanted: LevelOptions, earlier: EarlierLevels, labels: npt.NDArray[np.int32], rng: np.random.Generator,
    progress: Progress,
) -> list[npt.NDArray[np.int32]]:  # fmt: skip
    """The levels below the coarsest and itself, coarsest first; they stay inside its clusters without changes."""
    is_changed = has_changed(labels, earlier.levels[0], earlier.n_changed > 0)[labels]
    nodes = np.flatnonzero(is_changed)
    below: list[npt.NDArray[np.int32]] = []
    if len(nodes):
        own = number_used(labels[nodes])[0]
        part, at = graph.subgraph(nodes), earlier.at(nodes)
        run = run_on(weigh(part, wanted.objective), rng, progress)
        inside = wanted._replace(sizes=wanted.sizes.at(nodes), layered=None)
        below = list(levels_within_bound(part, own, inside, run, at, whole))
        below.insert(0, own)
    made, n_earlier = [labels], 1 if is_changed.all() else len(earlier.levels)
    last = max(len(below), n_earlier) - 1

    def on_level(depth: int, n_left: int = 0) -> npt.NDArray[np.int32]:
        """The clusters of a level; at most as deep as the last level but n_left."""
        wide = earlier.levels[max(min(depth, len(earlier.levels) - 1 - n_left), 0)].copy()
        if len(nodes):
            wide[nodes] = below[max(min(depth, len(below) - 1 - n_left), 0)] + (int(wide.max()) + 1)
        return number_used(wide)[0].astype(np.int32)

    finest = on_level(last)
    deepest = (below, nodes), (earlier.levels[:n_earlier], np.flatnonzero(~is_changed))
    less_deep = [of for levels, of in deepest if len(levels) <= last and len(of)]
    waits = _find_disconnected(graph, labels, finest, np.concatenate(less_deep)) if less_deep else np.zeros(1, bool)
    for depth in range(1, last + 1):
        finer = finest if depth == last else on_level(depth)
        if depth < last and waits.any():  # nodes that stand together do so on the last level
            finer = number_used(np.where(waits, on_level(depth, 1) + (int(finer.max()) + 1), finer))[0].astype(np.int32)
        if finer.max() > made[-1].max():
            made.append(finer)
    return made


def _find_disconnected(
    graph: Graph, coarsest: npt.NDArray[np.int32], finest: npt.NDArray[np.int32], nodes: Labels
) -> npt.NDArray[np.bool_]:
    """Whether the coarsest cluster of each node holds a disconnected cluster of the finest level; (n_nodes,).

    nodes : of whole coarsest clusters, the others hold none.
    """
    labels, k = number_used(finest[nodes])
    parts, of_cluster = np.empty(len(nodes), np.int32), np.empty(k, np.int32)
    split_by_connection(graph.subgraph(nodes).rows, labels, k, parts)
    of_cluster[labels] = parts
    holds = np.zeros(int(coarsest.max()) + 1, bool)
    holds[coarsest[nodes[parts != of_cluster[labels]]]] = True
    return holds[coarsest]


def name_hierarchy(hierarchy: Hierarchy, ids: Labels) -> Hierarchy:
    """The same of a hierarchy."""
    old_ids, labels = number_ids(ids)
    labels = labels.astype(np.int64)
    before = replace(hierarchy, levels=(labels[labels >= 0],), ids=(old_ids,))
    return name_levels(before, hierarchy, EarlierLevels([labels], labels))


def name_levels(old: Hierarchy, made: Hierarchy, earlier: EarlierLevels) -> Hierarchy:
    """The hierarchy with ids of the one before, and what became of its clusters.

    earlier : the levels of the one before, for the nodes of the new one.
    """
    pairs: list[Pair] = []
    for depth in range(max(len(old.levels), len(made.levels))):
        level, now = min(depth, len(old.levels) - 1), min(depth, len(made.levels) - 1)
        before, labels = earlier.levels[level], made.levels[now]
        unchanged = find_unchanged(before, len(old.ids[level]), labels, len(made.ids[now]))
        pairs.append((level, now, before, labels, unchanged))
    known = np.unique(np.concatenate(old.ids))
    ids, n_ids = _match_ids(old, made, known, pairs)
    later = replace(made, ids=ids, n_ids=n_ids, change_log=_list_changes(old, known, ids, pairs))
    vars(later)["coarsest"] = made.coarsest  # with the sums of its clusters, where they are known
    return later


def _match_ids(old: Hierarchy, made: Hierarchy, known: Labels, pairs: list[Pair]) -> tuple[tuple[Labels, ...], int]:
    """Ids of the clusters of each level; one that is new on it takes that of the earlier one it overlaps most."""
    n_ids = old.n_ids or int(known[-1]) + 1
    kept: list[Labels] = []
    is_given = np.zeros(len(known), bool)
    for level, depth, before, labels, unchanged in pairs[: len(made.levels)]:
        ids, old_ids = np.full(len(unchanged), -1, np.int64), old.ids[level]
        if depth:
            whole = np.isin(made.ids[depth], made.ids[depth - 1])
            ids[whole] = kept[-1][made.parents[depth][whole]]
        is_gone = is_given[np.searchsorted(known, old_ids)]
        stays = (ids < 0) & (unchanged >= 0) & ~is_gone[unchanged]
        ids[stays] = old_ids[unchanged[stays]]
        rest = np.flatnonzero((ids < 0)[labels])
        if len(rest):
            earlier = np.append(np.where(is_gone, -1, old_ids), -1)[before[rest]]
            ids[labels[rest]] = renumber(earlier, number_used(labels[rest])[0].astype(np.int64), first_new=n_ids)
        n_ids = max(n_ids, int(ids.max()) + 1)
        is_given[np.searchsorted(known, ids[ids <= known[-1]])] = True
        kept.append(ids)
    return tuple(kept), n_ids


def _list_changes(old: Hierarchy, known: Labels, ids: tuple[Labels, ...], pairs: list[Pair]) -> ChangeLog:
    """What became of the clusters of all levels; a cluster on several levels is told of on the first one."""
    log: list[Told] = []
    every = np.union1d(known, np.concatenate(ids))
    is_told, was, lives = np.zeros((3, len(every)), bool)
    was[np.searchsorted(every, known)] = True
    lives[np.searchsorted(every, np.concatenate(ids))] = True
    for level, now, before, labels, unchanged in pairs:
        old_ids, own, sizes = old.ids[level], ids[now], np.bincount(labels)
        old_sizes = np.bincount(old.levels[level])
        same = (unchanged >= 0) & (old_ids[unchanged] == own) & (old_sizes[unchanged] == sizes)
        same &= is_told[np.searchsorted(every, own)]
        rows, columns = np.flatnonzero(~same), np.ones(len(old_ids), bool)
        columns[unchanged[same]] = False
        rows, columns = rows[np.argsort(own[rows])], np.flatnonzero(columns)
        columns = columns[np.argsort(old_ids[columns])]
        if not len(rows) and not len(columns):
            continue
        before_ids, after_ids = old_ids[columns], own[rows]
        both = np.concatenate([before_ids, after_ids])
        at = np.searchsorted(every, both)
        is_elsewhere = was[at] & lives[at] & ~np.isin(both, np.intersect1d(old_ids, own))  # not on one level
        overlap = overlap_of(before, len(old_ids), labels, len(own), unchanged)[rows][:, columns]
        told = both[is_told[at] | is_elsewhere]
        log += list_changes(overlap, before_ids, after_ids, old_sizes[columns], sizes[rows], told).levels
        is_told[at[~is_elsewhere]] = True
    return ChangeLog(tuple(log))
