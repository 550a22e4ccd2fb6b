"""Partitions made from earlier ones: what there is stays, unless something else is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Goal, Level, Partition
from graphclust.partition.connectivity import connect
from graphclust.partition.contraction import contract
from graphclust.partition.engine import v_cycle
from graphclust.partition.levels import Run, with_sums
from graphclust.partition.local_moving import refine

Labels = npt.NDArray[np.int32]
SHARE = 0.05  # of the entries of a cluster: by so many changes it may have fallen apart


class Earlier(NamedTuple):
    """What there was before edits.

    levels : labels of the nodes on each level, -1 for new nodes; shape (n,) each, coarsest first.
    n_changed : how many edges of each node changed, shape (n,).
    """

    levels: Sequence[npt.NDArray[np.int64]]
    n_changed: npt.NDArray[np.int64]

    def at(self, nodes: npt.NDArray[np.int64]) -> Earlier:
        """The same of some of the nodes."""
        return Earlier([labels[nodes] for labels in self.levels], self.n_changed[nodes])

    def start(self, depth: int, inside: Labels | None = None) -> Labels:
        """Labels 0, 1, ... of a level, parted by the clusters `inside`; each new node is a cluster by itself."""
        if depth >= len(self.levels):
            return np.zeros(len(self.n_changed), np.int32) if inside is None else inside
        labels = self.levels[depth].copy()
        is_new = labels < 0
        labels[is_new] = int(labels.max(initial=-1)) + 1 + np.arange(np.count_nonzero(is_new))
        if inside is not None:
            labels = labels + inside.astype(np.int64) * (int(labels.max()) + 1)
        return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def restarted(level: Level, labels: Labels, n_changed: npt.NDArray[np.int64], goal: Goal, run: Run) -> Partition:
    """A partition of a level from labels 0..k-1, all used, after so many edges of each node changed.

    A cluster is opened with a chance that makes it one while `SHARE` of its entries change. So no account of earlier
    edits is needed: many small ones open a cluster as often as a large one.
    """
    changed = np.bincount(labels, weights=n_changed)
    entries = np.bincount(labels, weights=np.diff(level.rows.indptr))
    return reopened(level, labels, changed > SHARE * entries * run.rng.random(len(changed)), goal, run)


def reopened(level: Level, labels: Labels, is_open: npt.NDArray[np.bool_], goal: Goal, run: Run) -> Partition:
    """A partition made anew where clusters are open; the others stay whole while those are, then single nodes move.

    is_open : shape (k,). Each other cluster is one node, so that the work is on the open. The value does not fall.
    """
    k, n_whole = len(is_open), int(np.count_nonzero(~is_open))
    found = with_sums(level, labels, k, run)
    if n_whole < k:
        regions = (np.cumsum(~is_open) - 1)[labels].astype(np.int32)
        nodes = np.flatnonzero(is_open[labels])
        regions[nodes] = n_whole + np.arange(len(nodes), dtype=np.int32)
        step = contract(level, with_sums(level, regions, n_whole + len(nodes), run), run)
        start = refine(step.coarse, step.restrict(found), goal, run)
        pull = goal.objective.pull or run.units.chance * goal.k / 2.0  # small regions, for a ratio
        found = step.project(v_cycle(step.coarse, start, goal, pull, run))
    found = refine(level, found, goal, run)
    return connect(level, found, goal, run)
