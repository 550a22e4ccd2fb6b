"""Rebalancing of connected clusters by moves that keep them connected: of nodes, by tabu search, or of pieces."""

import numpy as np

from graphclust.compiled.graphs import region_growing as loops
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.engine.levels import Run, with_sums
from graphclust.engine.settling import bound_all, shares_of

WORK, STEP = 1 << 22, 1 << 12  # entries that all steps may read, a tenth of a second, and what a step costs at least
TABU = 0.1  # share of the nodes, the ones that moved last, that may not move


def balance_connected(level: Level, found: Partition, task: Task, run: Run) -> Partition:
    """The partition after moves that keep its clusters connected, until all are within the bounds or work is used up.

    Each step makes the move of a border node to a neighboring cluster that brings the clusters nearest to their bounds,
    and then to equal sizes. A node that has just moved may not move for a while: so the search leaves local optima.

    Source: Glover 1989, "Tabu search".
    """
    rows, size = level.rows, level.terms.size
    n, labels, k = len(size), found.labels.copy(), len(found.sums.size)
    node = np.repeat(np.arange(n), np.diff(rows.indptr))
    neighbor = rows.indices[: len(node)]
    load, n_nodes = np.bincount(labels, size, minlength=k), np.bincount(labels, minlength=k)
    waits_until = np.zeros(n, np.int64)
    n_looks, most_looks, step = 0, WORK // (STEP + len(node)), 0
    while n_looks < most_looks:
        step += 1
        outside = _outside(load, task)
        if not outside.any():
            break
        crosses = np.flatnonzero((labels[node] != labels[neighbor]) & (waits_until[node] <= step))
        u, own, to = node[crosses], labels[node[crosses]], labels[neighbor[crosses]]
        less, more = load[own] - size[u], load[to] + size[u]
        change = _outside(less, task) + _outside(more, task) - outside[own] - outside[to]
        evenness = size[u] * (more - load[own])
        for i in np.lexsort((run.rng.random(len(u)), evenness, change)).tolist():
            n_looks += 1
            if n_nodes[own[i]] > 1 and _is_connected_without(level, int(u[i]), labels):
                load[own[i]], load[to[i]] = less[i], more[i]
                n_nodes[own[i]] -= 1
                n_nodes[to[i]] += 1
                labels[u[i]], waits_until[u[i]] = to[i], step + 2 + int(TABU * n)
                break
        else:
            break
    return with_sums(level, labels, k, run)


def balance_by_pieces(level: Level, found: Partition, task: Task, run: Run) -> Partition:
    """The partition after moves of pieces that keep its clusters connected, which may bring them within the bounds.

    Each move makes two clusters more even. It takes along what it would cut off, so that leaves follow their hub.
    """
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


def _outside(load: np.ndarray, task: Task) -> np.ndarray:
    """By how much clusters hold too much, or too little."""
    return np.maximum(load - task.most, 0.0) + np.maximum(task.least - load, 0.0)


def _is_connected_without(level: Level, u: int, labels: np.ndarray) -> bool:
    """Whether the other nodes of the cluster of u, which is connected, stay so without it."""
    rows, own = level.rows, labels[u]
    near = [v for v in rows.indices[rows.indptr[u] : rows.indptr[u + 1]].tolist() if v != u and labels[v] == own]
    if len(near) < 2:
        return True
    seen, front, wanted = {u, near[0]}, [near[0]], set(near[1:])
    while front and wanted:
        v = front.pop()
        for w in rows.indices[rows.indptr[v] : rows.indptr[v + 1]].tolist():
            if labels[w] == own and w not in seen:
                seen.add(w)
                wanted.discard(w)
                front.append(w)
    return not wanted
