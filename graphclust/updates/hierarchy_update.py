"""A hierarchy after edits of its graph: levels made from the earlier ones, with their ids."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_seeded
from graphclust.compiled.graphs.overlay import split_by_connection
from graphclust.engine.bounds import remarks_on_new_nodes
from graphclust.engine.join_small_clusters import Sizes, join_small, without_gaps
from graphclust.engine.levels import run_on
from graphclust.engine.nested_levels import levels_within_bound
from graphclust.engine.overlay import number_used
from graphclust.engine.well_connected import remarks_on_connectivity
from graphclust.graph.container import Graph
from graphclust.objective.objective import weigh
from graphclust.partition.communities import goal_at
from graphclust.partition.hierarchy import USUAL, LevelOptions, make_levels, refuse_heavy_nodes
from graphclust.progress import Progress, ProgressLike, as_progress
from graphclust.results.hierarchy import hierarchy_of
from graphclust.results.label_matching import ClusterChange, changes_between, renumber
from graphclust.updates.edits import Edges, EditedGraph, apply_edits
from graphclust.updates.warm_start import EarlierLevels, has_changed, restart_labels

if TYPE_CHECKING:
    from graphclust.results.hierarchy import Hierarchy

Labels = npt.NDArray[np.int64]


def update_hierarchy(
    found: Hierarchy,
    added: Edges,
    removed: Edges,
    reweighted: Edges,
    removed_nodes: Iterable[Hashable] | None,
    rng: Seed,
    progress: ProgressLike,
) -> Hierarchy:
    """See `Hierarchy.update`."""
    progress = as_progress(progress, None)
    with progress.stage("edits"):
        edit = apply_edits(found.graph, added, removed, reweighted, removed_nodes)
    return remake_hierarchy(found, edit, rng, progress)


def remake_hierarchy(found: Hierarchy, edit: EditedGraph, rng: Seed, progress: ProgressLike) -> Hierarchy:
    """The hierarchy of the edited graph, made from the levels before; of the graph before nothing is asked."""
    (rng, seed), progress = as_seeded(rng), as_progress(progress, None)
    graph, before = edit.graph, edit.before
    of_nodes = np.ones(graph.n_nodes)
    if found.node_sizes is not None:
        of_nodes[before >= 0] = found.node_sizes[before[before >= 0]]
    sizes = Sizes(of_nodes, found.min_size or 0.0, found.max_size or np.inf)
    refuse_heavy_nodes(graph, sizes)
    options = {name: value for name, value in found.parameters.items() if name != "connectivity"}
    wanted = LevelOptions(sizes, None, options["levels"], found.objective, options["effort"], found.resolutions)
    earlier = EarlierLevels([np.where(before >= 0, labels[before], -1) for labels in found.levels], edit.n_changed)
    if found.max_size is None or wanted.levels is not None:
        levels, _ = make_levels(graph, wanted, rng, progress, earlier)
    else:
        with progress.stage("levels"):
            levels = _update_levels(graph, wanted, earlier, rng, progress)
    made = hierarchy_of(
        graph, levels, objective=found.objective, resolutions=found.resolutions, max_size=found.max_size,
        min_size=found.min_size, node_sizes=None if found.node_sizes is None else of_nodes,
        remarks=(
            *remarks_on_new_nodes(found.node_sizes, before), *remarks_on_connectivity(found.parameters),
            *progress.remarks,
        ), seconds=progress.seconds, parameters=options, seed=seed,
    )  # fmt: skip
    ids, n_ids = _match_ids(found, made, before)
    return replace(made, ids=ids, n_ids=n_ids, changes=_changes(found, made.levels, ids, before))


def _update_levels(
    graph: Graph, wanted: LevelOptions, earlier: EarlierLevels, rng: np.random.Generator, progress: Progress
) -> list[npt.NDArray[np.int32]]:
    """The levels, coarsest first; inside coarsest clusters without changes they stay as they are."""
    on, sizes = weigh(graph, wanted.objective), wanted.sizes
    run = run_on(on, rng, progress)
    first = wanted.resolutions[0]
    labels = restart_labels(run, earlier.start(0), earlier.n_changed, goal_at(on, first, wanted.objective))
    labels = join_small(graph.rows, labels, sizes._replace(most=np.inf))
    is_changed = has_changed(labels, earlier.levels[0], earlier.n_changed > 0)[labels]
    nodes = np.flatnonzero(is_changed)
    below: list[npt.NDArray[np.int32]] = []
    if len(nodes):
        own = without_gaps(labels[nodes])
        part, at, resolution = graph.subgraph(nodes), earlier.at(nodes), max(first, USUAL)
        below = list(levels_within_bound(part, own, resolution, wanted.objective, sizes.at(nodes), run, at))
        below.insert(0, own)
    found, last = [labels], max(len(below), 1 if is_changed.all() else len(earlier.levels)) - 1

    def on_level(depth: int, n_left: int = 0) -> npt.NDArray[np.int32]:
        """The clusters of a level; at most as deep as the last level but n_left."""
        wide = earlier.levels[max(min(depth, len(earlier.levels) - 1 - n_left), 0)].copy()
        if len(nodes):
            wide[nodes] = below[max(min(depth, len(below) - 1 - n_left), 0)] + (int(wide.max()) + 1)
        return number_used(wide)[0].astype(np.int32)

    finest = on_level(last)
    waits = _find_disconnected(graph, labels, finest)
    for depth in range(1, last + 1):
        finer = finest if depth == last else on_level(depth)
        if depth < last and waits.any():  # nodes that stand together do so on the last level
            finer = number_used(np.where(waits, on_level(depth, 1) + (int(finer.max()) + 1), finer))[0].astype(np.int32)
        if finer.max() > found[-1].max():
            found.append(finer)
    return found


def _find_disconnected(
    graph: Graph, coarsest: npt.NDArray[np.int32], finest: npt.NDArray[np.int32]
) -> npt.NDArray[np.bool_]:
    """Whether the coarsest cluster of each node holds a disconnected cluster of the finest level; (n,)."""
    k, parts = int(finest.max()) + 1, np.empty(graph.n_nodes, np.int32)
    split_by_connection(graph.rows, finest, k, parts)
    of_cluster = np.empty(k, np.int32)
    of_cluster[finest] = parts
    return np.isin(coarsest, coarsest[parts != of_cluster[finest]])


def _match_ids(old: Hierarchy, made: Hierarchy, before: Labels) -> tuple[tuple[Labels, ...], int]:
    """Ids of the clusters of each level; a cluster new on it takes the id of the earlier one that it overlaps most."""
    n_ids = max(int(ids.max()) + 1 for ids in old.ids) if old.n_ids is None else old.n_ids
    kept: list[Labels] = []
    given: list[int] = []
    for depth, labels in enumerate(made.levels):
        ids = np.full(len(made.ids[depth]), -1, np.int64)
        if depth:
            whole = np.isin(made.ids[depth], made.ids[depth - 1])
            ids[whole] = kept[-1][made.parents[depth][whole]]
        level = min(depth, len(old.levels) - 1)
        earlier = np.where(before >= 0, old.ids[level][old.levels[level][before]], -1)
        earlier[np.isin(earlier, given)] = -1
        is_new = ids[labels] < 0
        ids[labels[is_new]] = renumber(earlier[is_new], without_gaps(labels[is_new]).astype(np.int64), first_new=n_ids)
        n_ids = max(n_ids, int(ids.max()) + 1)
        given += ids.tolist()
        kept.append(ids)
    return tuple(kept), n_ids


def _changes(
    old: Hierarchy, levels: Sequence[Labels], ids: Sequence[Labels], before: Labels
) -> tuple[ClusterChange, ...]:
    """What became of the clusters of all levels; a cluster on several levels is told of on the first one."""
    found: dict[ClusterChange, None] = {}
    both, told = np.intersect1d(np.concatenate(old.ids), np.concatenate(ids)), np.empty(0, np.int64)
    for depth in range(max(len(old.levels), len(levels))):
        level, now = min(depth, len(old.levels) - 1), min(depth, len(levels) - 1)
        old_ids, own = old.ids[level], ids[now]
        stay = np.intersect1d(old_ids, own)
        elsewhere = np.setdiff1d(both, stay)  # clusters before and after, but not on one level
        left_out = np.union1d(told, elsewhere)
        for change in changes_between(old_ids[old.levels[level]], own[levels[now]], before, left_out):
            found.setdefault(change)
        told = np.union1d(told, np.setdiff1d(np.concatenate([old_ids, own]), elsewhere))
    return tuple(found)
