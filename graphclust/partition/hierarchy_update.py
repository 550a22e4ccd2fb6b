"""A hierarchy after edits of its graph: levels made from the earlier ones, whose ids stay."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphclust.checks import Seed, as_seeded
from graphclust.errors import GraphValidationError
from graphclust.graph.edits import Edges, edited
from graphclust.partition.hierarchy import Wanted, make_levels, refuse_heavy_nodes
from graphclust.partition.label_matching import ClusterChange, changes_between, renumbered
from graphclust.partition.nested_clusters import hierarchy_of
from graphclust.partition.sibling_joins import Sizes
from graphclust.partition.warm_start import Earlier
from graphclust.progress import ProgressLike, as_progress

if TYPE_CHECKING:
    from graphclust.partition.nested_clusters import Hierarchy

Labels = npt.NDArray[np.int64]


def updated(
    found: Hierarchy,
    added: Edges,
    removed: Edges,
    reweighted: Edges,
    removed_nodes: Iterable[Hashable] | None,
    rng: Seed,
    progress: ProgressLike,
) -> Hierarchy:
    """See `Hierarchy.update`."""
    (rng, seed), progress = as_seeded(rng), as_progress(progress, None)
    with progress.stage("edits"):
        edit = edited(found.graph, added, removed, reweighted, removed_nodes)
    graph, before = edit.graph, edit.before
    if graph.n_entries == 0:
        raise GraphValidationError("no edges are left after the edits, expected at least one")
    of_nodes = np.ones(graph.n_nodes)
    if found.node_sizes is not None:
        of_nodes[before >= 0] = found.node_sizes[before[before >= 0]]
    sizes = Sizes(of_nodes, found.min_size or 0.0, found.max_size or np.inf)
    refuse_heavy_nodes(graph, sizes)
    options = found.parameters
    wanted = Wanted(sizes, None, options["levels"], found.objective, options["effort"], found.resolutions)
    earlier = Earlier([np.where(before >= 0, labels[before], -1) for labels in found.levels], edit.n_changed)
    levels, _ = make_levels(graph, wanted, rng, progress, earlier)
    made = hierarchy_of(
        graph, levels, objective=found.objective, resolutions=found.resolutions, max_size=found.max_size,
        min_size=found.min_size, node_sizes=None if found.node_sizes is None else of_nodes,
        seconds=progress.seconds, parameters=options, seed=seed,
    )  # fmt: skip
    ids, n_ids = _kept_ids(found, made, before)
    return replace(made, ids=ids, n_ids=n_ids, changes=_changes(found, made.levels, ids, before))


def _kept_ids(old: Hierarchy, made: Hierarchy, before: Labels) -> tuple[tuple[Labels, ...], int]:
    """Ids of the clusters of each level: those that are new on it have that of the earlier one they overlap most."""
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
        ids[labels[is_new]] = renumbered(
            earlier[is_new], np.unique(labels[is_new], return_inverse=True)[1], first_new=n_ids
        )
        n_ids = max(n_ids, int(ids.max()) + 1)
        given += ids.tolist()
        kept.append(ids)
    return tuple(kept), n_ids


def _changes(
    old: Hierarchy, levels: Sequence[Labels], ids: Sequence[Labels], before: Labels
) -> tuple[ClusterChange, ...]:
    """What became of the clusters of each level; each change once."""
    told: dict[ClusterChange, None] = {}
    for depth, (labels, own) in enumerate(zip(levels, ids, strict=True)):
        level = min(depth, len(old.levels) - 1)
        for change in changes_between(old.ids[level][old.levels[level]], own[labels], before):
            told.setdefault(change)
    return tuple(told)
