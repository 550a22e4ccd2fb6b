"""Clusters that are connected, and stay so: grown from nodes, and rebalanced by moves of pieces."""

import numpy as np

from graphclust.compiled.graphs import region_growing as loops
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.engine.levels import Run, with_sums
from graphclust.engine.settling import bound_all, shares_of


def balance_by_pieces(level: Level, found: Partition, task: Task, run: Run) -> Partition:
    """The partition after moves of pieces that keep its clusters connected, which may bring them within the bounds.

    Each move makes two clusters more even. It takes along what it would cut off, so that leaves follow their hub.
    """
    task = task._replace(most=min(task.most, float(level.terms.size.sum())))  # a difference to infinity is none
    bound, ballast = bound_all(shares_of(task, run), task)
    labels = found.labels.copy()
    loops.balance_connected(level, labels, bound, ballast)
    return with_sums(level, labels, task.k, run)


def grow_connected(level: Level, k: int, run: Run) -> Partition:
    """k connected clusters of a connected level, grown from random nodes by random links."""
    rows, n = level.rows, len(level.terms.size)
    labels = np.full(n, -1, np.int32)
    seeds = run.rng.permutation(n)[:k]
    labels[seeds] = np.arange(k)
    border = seeds.tolist()
    while border:
        u = border[i := int(run.rng.integers(len(border)))]
        free = [v for v in rows.indices[rows.indptr[u] : rows.indptr[u + 1]].tolist() if labels[v] < 0]
        if free:
            v = free[int(run.rng.integers(len(free)))]
            labels[v] = labels[u]
            border.append(v)
        else:
            border[i] = border[-1]
            border.pop()
    return with_sums(level, labels, k, run)
