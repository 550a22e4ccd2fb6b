"""A V-cycle over a level: down through contractions of regions, merged at the top, and back with refinement."""

import numpy as np

from graphclust.compiled.graphs.agglomeration import agglomerate
from graphclust.compiled.graphs.contraction import contract
from graphclust.compiled.graphs.levels import Level, Partition
from graphclust.compiled.graphs.local_moving import find_regions, next_key, refine
from graphclust.compiled.graphs.objective import Rows, value_of
from graphclust.compiled.runtime.loops import UNCOUNTED, loop, read_only
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors


@loop(**UNCOUNTED)
def keep_within(rows, parts, kept):
    """Copy the entries of each row that lead to nodes of the same part, into rows that have room for all.

    So regions stay inside parts, and no pass reads entries between parts.
    """
    n, weighted, n_kept = len(parts), len(rows.weights) > 0, 0
    for u in range(n):
        if n > CACHED and u + AHEAD < n:
            ask_for_neighbors(parts, rows, u + AHEAD)
        part = parts[u]
        for e in range(rows.indptr[u], rows.indptr[u + 1]):
            v = np.uint32(rows.indices[e])
            kept.indices[np.uint64(n_kept)] = v  # counted only where it stays: a branch is unpredictable
            if weighted:
                kept.weights[np.uint64(n_kept)] = rows.weights[e]
            n_kept += parts[v] == part
        kept.indptr[u + 1] = n_kept


@loop()
def rows_within(level, parts):
    """The level without the edges between different parts."""
    rows, n = level.rows, len(parts)
    kept = Rows(np.zeros(n + 1, np.int64), np.empty(len(rows.indices), np.int32), np.empty(len(rows.weights)))
    keep_within(rows, parts, kept)
    return Level(Rows(read_only(kept.indptr), read_only(kept.indices), read_only(kept.weights)), level.terms)


@loop()
def restrict(labels, regions):
    of_regions = np.empty(len(regions.sums.size), np.int32)
    for u in range(len(labels)):
        of_regions[regions.labels[u]] = labels[u]
    return of_regions


@loop()
def project(partition, regions):
    labels = np.empty(len(regions.labels), np.int32)
    for u in range(len(labels)):
        labels[u] = partition.labels[regions.labels[u]]
    return Partition(labels, partition.sums)


@loop()
def v_cycle(level, partition, task, penalty, n_rounds, largest_share, key):
    """The better of a partition, if one is given, and a new one merged within its clusters; and the entries read.

    partition : of no nodes where there is none. penalty : of the additive objective that joins nodes to regions, in so
    many rounds. largest_share : a contraction that leaves a larger share of the nodes is not made. Entries are counted
    of the level given.
    """
    levels, steps, parts = [level], [partition], partition.labels
    is_given, n_read = len(partition.labels) > 0, 0
    while True:
        within = rows_within(level, parts) if is_given else level
        key = next_key(key)
        regions, read = find_regions(within, penalty, 1, task.most, n_rounds, key)
        n_read += read if len(levels) == 1 else 0
        n_regions = len(regions.sums.size)
        # Too little is gained by one more level, or k clusters could not be made of it.
        if n_regions > largest_share * len(regions.labels) or n_regions < task.k:
            break
        parts = restrict(parts, regions) if is_given else parts
        level = contract(level, regions)
        levels.append(level)
        steps.append(regions)
    merged = agglomerate(level, task, np.empty(0), np.empty((0, 2), np.int32))
    best, read = refine(level, merged, task)
    if is_given:
        kept, _ = refine(level, Partition(parts, partition.sums), task)
        # In doubt what was found before.
        best = kept if value_of(task.objective, kept.sums) >= value_of(task.objective, best.sums) else best
    for depth in range(len(levels) - 2, -1, -1):
        best, read = refine(levels[depth], project(best, steps[depth + 1]), task)
    return best, n_read + read + len(levels[0].rows.indices)
