"""The ids that clusters of levels keep from earlier levels, and what became of the earlier clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphclust.engine.join_small_clusters import without_gaps
from graphclust.results.label_matching import ChangeLog, Told, find_unchanged, list_changes, overlap_of, renumber
from graphclust.updates.warm_start import EarlierLevels

if TYPE_CHECKING:
    from graphclust.results.hierarchy import Hierarchy

Labels = npt.NDArray[np.int64]


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
