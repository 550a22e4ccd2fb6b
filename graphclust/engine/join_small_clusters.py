"""Union of small clusters with the neighbor to which they have most weight: of communities, levels and even parts."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.objective import Rows
from graphclust.engine.overlay import number_used


class Sizes(NamedTuple):
    """The weight of each node, float64, shape (n,), and the least and the most that a cluster may weigh."""

    of_nodes: npt.NDArray[np.float64]
    least: float
    most: float

    def of_clusters(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        return np.bincount(labels, weights=self.of_nodes).astype(np.float64)

    def at(self, nodes: npt.NDArray[np.int64]) -> Sizes:
        return self._replace(of_nodes=self.of_nodes[nodes])


def without_gaps(labels: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """Labels >= 0 numbered 0, 1, ... in their order."""
    return number_used(labels)[0]


def join_small(rows: Rows, labels: npt.NDArray[np.int32], sizes: Sizes) -> npt.NDArray[np.int32]:
    """The partition after each cluster lighter than `sizes.least` joined the one that it shares most weight with.

    rows : of a graph, without edges between clusters that may not be united. The lightest cluster joins first, and only
    if the union is not above `sizes.most`.
    """
    weight = sizes.of_clusters(labels)
    k, is_small = len(weight), weight < sizes.least
    if not is_small.any():
        return labels
    row = np.repeat(labels, np.diff(rows.indptr))
    column = labels[rows.indices[: len(row)]]
    taken = is_small[row] & (row != column)
    weights = rows.weights[: len(row)][taken] if len(rows.weights) else np.ones(int(taken.sum()))
    ties: dict[int, list[tuple[int, float]]] = {c: [] for c in np.flatnonzero(is_small).tolist()}
    for a, b, w in zip(row[taken].tolist(), column[taken].tolist(), weights.tolist(), strict=True):
        ties[a].append((b, w))
    part_of, heavy = list(range(k)), weight.tolist()
    waiting = [(heavy[c], c) for c in ties]
    heapify(waiting)
    while waiting:
        size, a = heappop(waiting)
        if part_of[a] != a or size != heavy[a]:
            continue
        tied: dict[int, float] = {}
        for b, w in ties[a]:
            root = _root(part_of, b)
            if root != a and heavy[root] + size <= sizes.most:
                tied[root] = tied.get(root, 0.0) + w
        if not tied:
            continue
        to = max(tied, key=lambda root: (tied[root], -root))
        part_of[a] = to
        heavy[to] += size
        if to in ties:
            ties[to] += ties[a]
            if heavy[to] < sizes.least:
                heappush(waiting, (heavy[to], to))
    joined = np.array([_root(part_of, c) for c in range(k)])[labels]
    return without_gaps(joined)


def _root(part_of: list[int], a: int) -> int:
    while part_of[a] != a:
        part_of[a] = part_of[part_of[a]]
        a = part_of[a]
    return a
