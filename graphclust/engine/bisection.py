"""k equal parts from nothing: down to a level of few nodes, and back with more and more parts.

Local moving joins nodes to regions of a few nodes, whose sizes are bounded; remaining singletons with the same neighbor
share a region. So levels shrink even if most nodes are leaves of hubs. The coarsest level is cut in two, and a finer
level doubles the parts as soon as it has nodes enough for them. Parts are bisected by a V-cycle of their own: they are
coarsened, grown into halves several times, of which the best are taken, and refined on the way back.

Source: bisection on every level, Gottesbüren et al. 2021, "Deep multilevel graph partitioning" (KaMinPar).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.region_growing import grow_halves, join_singletons
from graphclust.compiled.graphs.v_cycle import rows_within
from graphclust.engine.contraction import Contraction, coarsest, contractions, restricted
from graphclust.engine.levels import Run, Shares, penalty_of_level, with_sums
from graphclust.engine.local_moving import find_regions
from graphclust.engine.settling import settle_parts, shares_of

HEAVIEST = 0.15  # of an average cluster: no region is larger, so that clusters can be balanced ...
GROWTH = 8.0  # ... but coarse levels, which have fewer clusters, allow so many nodes of average size
JOINED = 4.0  # nodes of average size in a region of singletons
HARDLY_SHRINKS = 0.5  # of the nodes: singletons are joined if regions leave more
MOST_LEFT = 0.95  # of the nodes: a contraction that leaves more is not made
COARSEST = 20  # nodes to which a part is coarsened before it is bisected
TRIES = 8  # bisections of each part, of which the best is taken


class Parts(NamedTuple):
    """A partition on its way to k clusters; how many clusters each part will be bisected into, and their shares."""

    partition: Partition
    counts: np.ndarray
    shares: Shares

    def settle(self, level: Level, task: Task, run: Run, relaxed: bool, in_rounds: bool = True) -> Parts:
        """The parts settled, as `settle_parts` does it."""
        return self._replace(partition=settle_parts(level, self.partition, self.shares, task, run, relaxed, in_rounds))

    def halves(self, partition: Partition, shares: Shares) -> Parts:
        """The parts after every one of more than one cluster was cut in two; shares : of all k clusters."""
        second = self.counts // 2
        counts = np.stack([self.counts - second, second], 1).ravel()
        counts = counts[counts > 0]
        first = np.cumsum(counts) - counts
        return Parts(partition, counts, Shares(*(np.add.reduceat(each, first) for each in shares)))


def new_parts(level: Level, task: Task, run: Run) -> Partition:
    """k parts from nothing."""
    shares, nodes_per_part = shares_of(task, run), run.thoroughness.nodes_per_part
    steps = small_regions(level, None, 2 * nodes_per_part, task.k, GROWTH, run)
    here = coarsest(level, steps)
    whole = with_sums(here, np.zeros(len(here.terms.mass), np.int32), 1, run)
    parts = Parts(whole, np.array([task.k]), Shares(*(each.sum(keepdims=True) for each in shares)))
    for depth in range(len(steps), -1, -1):
        relaxed = depth > 0
        if depth < len(steps):
            here, parts = steps[depth].fine, parts._replace(partition=steps[depth].project(parts.partition))
        affordable = len(here.terms.mass) // nodes_per_part if relaxed else np.inf  # parts
        while parts.counts.max() > 1 and 2 * len(parts.counts) <= affordable:
            parts = _bisect(here, parts.settle(here, task, run, relaxed), shares, task, run, relaxed)
        parts = parts.settle(here, task, run, relaxed)
    return parts.partition


def small_regions(
    level: Level, within: np.ndarray | None, least: int, k: int, growth: float, run: Run
) -> list[Contraction]:
    """Contractions to regions of a few nodes inside parts, until `least` nodes are left or levels hardly shrink.

    growth : of nodes of average size, which a region may hold at least; k : parts that the level is to have.
    """
    total = float(level.terms.size.sum())

    def regions_of(level: Level, within: np.ndarray | None) -> Partition | None:
        """Regions of one level inside parts; None if levels end."""
        n = len(level.terms.mass)
        if n <= least:
            return None
        inner, mean = level if within is None else rows_within(level, within), total / n
        most = max(HEAVIEST * total / k, growth * mean)
        regions = find_regions(inner, penalty_of_level(level), run, most)
        if len(regions.sums.size) > HARDLY_SHRINKS * n:
            labels, parts = regions.labels.copy(), np.zeros(n, np.int32) if within is None else within
            n_regions = join_singletons(inner.rows, level.terms.size, parts, labels, min(most, JOINED * mean))
            regions = with_sums(level, labels, n_regions, run)
        return regions if len(regions.sums.size) <= MOST_LEFT * n else None

    return contractions(level, regions_of, run, within)


def _bisect(level: Level, parts: Parts, shares: Shares, task: Task, run: Run, relaxed: bool) -> Parts:
    """Every part of more than one cluster in two halves, by a V-cycle inside all parts at once."""
    partition, inner = parts.partition, rows_within(level, parts.partition.labels)
    n_halves = 2 * len(parts.counts)
    steps = small_regions(inner, partition.labels, COARSEST * n_halves, n_halves, GROWTH, run)
    coarse = parts._replace(partition=restricted(steps, partition))
    halves = _grow(coarsest(inner, steps), coarse, shares, task, run, relaxed or bool(steps))
    for depth in range(len(steps) - 1, -1, -1):
        halves = halves._replace(partition=steps[depth].project(halves.partition))
        halves = halves.settle(steps[depth].fine, task, run, relaxed or depth > 0)
    return halves._replace(partition=with_sums(level, halves.partition.labels, len(halves.counts), run))


def _grow(inner: Level, parts: Parts, shares: Shares, task: Task, run: Run, relaxed: bool) -> Parts:
    """Every part of several clusters in two halves, of several tries those that cut least; no edge leaves a part."""
    partition, counts = parts.partition, parts.counts
    halves = parts.halves(partition, shares)
    is_cut = counts > 1
    first = np.cumsum(1 + is_cut) - 1 - is_cut  # the number of the first half of each part
    load = np.bincount(partition.labels, inner.terms.size, minlength=len(counts))
    target = np.where(is_cut, load * (halves.shares.target[first + is_cut] / parts.shares.target), 0.0)
    number = np.stack([first, first + is_cut], 1).ravel().astype(np.int32)
    best, least = partition.labels, np.full(len(counts), np.inf)
    source = np.repeat(np.arange(len(best)), np.diff(inner.rows.indptr))
    other, weights = (values[: len(source)] for values in (inner.rows.indices, inner.rows.weights))
    n_tries = 2 if run.progress.out_of_time() else TRIES
    for i in range(n_tries):  # every other one without rounds of moves, which on few nodes all come to the same
        order = run.rng.permutation(len(partition.labels))
        grown = grow_halves(inner.rows, inner.terms.size, partition.labels, target, order)
        made = halves._replace(partition=with_sums(inner, number[grown], len(halves.counts), run))
        labels = made.settle(inner, task, run, relaxed, i % 2 == 0).partition.labels
        is_between = labels[source] != labels[other]
        weight = is_between * weights if len(weights) else is_between
        cut = np.bincount(partition.labels[source], weight, minlength=len(counts))  # twice that inside each part
        best = np.where((cut < least)[partition.labels], labels, best)
        least = np.minimum(cut, least)
    return halves._replace(partition=with_sums(inner, best, len(halves.counts), run))
