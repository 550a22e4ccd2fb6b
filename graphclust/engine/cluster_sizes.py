"""Clusters of the right size: small ones join a neighbor, large ones are split evenly, k are packed by size alone.

Clusters that are packed are as even as is found, for bounds that hardly leave a choice.

Source: Graham 1969, "Bounds on multiprocessing timing anomalies" (heaviest first); Karmarkar & Karp 1982, "The
differencing method of set partitioning".
"""

from __future__ import annotations

import heapq
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.components import split_by_connection
from graphclust.compiled.graphs.contraction import Members
from graphclust.compiled.graphs.levels import Level, Partition
from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.graphs.region_growing import grow_parts
from graphclust.engine.levels import Run, number_used, with_sums
from graphclust.graph.container import Graph

MOST_DIFFERENCED = 1 << 8  # nodes: of more, those that come last fill what the others leave
ROUND_OFF = 1e-9  # of what two clusters hold: a division that is so much more even is worth nothing
MOST_DIVIDED = 14  # nodes of two clusters, all divisions of which are compared


class Sizes(NamedTuple):
    """The weight of each node, float64, shape (n,), and the least and the most that a cluster may weigh."""

    of_nodes: npt.NDArray[np.float64]
    least: float
    most: float

    def of_clusters(self, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        return np.bincount(labels, weights=self.of_nodes).astype(np.float64)

    def at(self, nodes: npt.NDArray[np.int64]) -> Sizes:
        return self._replace(of_nodes=self.of_nodes[nodes])


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
    taken = is_small[row] & (row != column)  # a large cluster joins none, so its ties are not listed
    weights = rows.weights[: len(row)][taken] if len(rows.weights) else np.ones(int(taken.sum()))
    ties: dict[int, list[tuple[int, float]]] = {c: [] for c in np.flatnonzero(is_small).tolist()}
    for a, b, w in zip(row[taken].tolist(), column[taken].tolist(), weights.tolist(), strict=True):
        ties[a].append((b, w))
    part_of, heavy = list(range(k)), weight.tolist()
    waiting = [(heavy[c], c) for c in ties]
    heapq.heapify(waiting)
    while waiting:
        size, a = heapq.heappop(waiting)
        if part_of[a] != a or size != heavy[a]:  # it joined another, or has grown: an older entry
            continue
        tied: dict[int, float] = {}
        for b, w in ties[a]:
            root = _root(part_of, b)
            if root != a and heavy[root] + size <= sizes.most:
                tied[root] = tied.get(root, 0.0) + w
        if not tied:
            continue
        to = max(tied, key=lambda root: (tied[root], -root))  # of equals the lowest, so that the graph decides
        part_of[a] = to
        heavy[to] += size
        if to in ties:  # the union may be small too, and inherits the ties
            ties[to] += ties[a]
            if heavy[to] < sizes.least:
                heapq.heappush(waiting, (heavy[to], to))
    return number_used(np.array([_root(part_of, c) for c in range(k)])[labels])[0]


def _root(part_of: list[int], a: int) -> int:
    while part_of[a] != a:
        part_of[a] = part_of[part_of[a]]
        a = part_of[a]
    return a


def split_evenly(graph: Graph, labels: npt.NDArray[np.int32], sizes: Sizes) -> npt.NDArray[np.int32]:
    """Parts of all clusters, none heavier than `sizes.most`, numbered from 0.

    graph : without edges between clusters. Parts are connected, with one exception: leaves of one node for which its
    part has no room form a part together.
    """
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    members = Members(labels, starts, np.argsort(labels, kind="stable").astype(np.int32))
    parts = np.empty(len(labels), np.int32)
    grow_parts(graph.rows, members, sizes.of_nodes, float(sizes.most), parts)
    parts = _unite_leaves(graph, parts, sizes)
    return join_small(graph.rows, parts, sizes._replace(least=max(sizes.least, sizes.most / 2)))


def parts_of_clusters(graph: Graph, labels: npt.NDArray[np.int32], sizes: Sizes) -> npt.NDArray[np.int32]:
    """The connected parts of all clusters, no edge of the graph leaving those above; leaves of a node are one part."""
    parts = np.empty(len(labels), np.int32)
    split_by_connection(graph.rows, labels, int(labels.max()) + 1, parts)
    return _unite_leaves(graph, parts, sizes)


def _unite_leaves(graph: Graph, parts: npt.NDArray[np.int32], sizes: Sizes) -> npt.NDArray[np.int32]:
    """The parts, with single leaves of one node united evenly, as far as the bound allows."""
    hangs = (np.diff(graph.indptr) == 1) & (np.bincount(parts)[parts] == 1)
    nodes = np.flatnonzero(hangs)
    hub = graph.indices[graph.indptr[nodes]]
    nodes, hub = nodes[hub != nodes], hub[hub != nodes]
    nodes = nodes[np.argsort(hub, kind="stable")]
    first = np.flatnonzero(np.diff(np.sort(hub), prepend=-1))
    parts = parts.copy()
    for group in np.split(nodes, first[1:]):
        weights = sizes.of_nodes[group]
        # As few parts as the bound allows, all about even.
        share = weights.sum() / np.ceil(weights.sum() / sizes.most) if len(group) else 0.0
        leader, held = -1, np.inf
        for u, weight in zip(group.tolist(), weights.tolist(), strict=True):
            if held >= share or held + weight > sizes.most:
                leader, held = u, 0.0
            parts[u] = parts[leader]
            held += weight
    return number_used(parts)[0]


def pack(level: Level, k: int, run: Run) -> Partition:
    """k clusters by size alone."""
    return with_sums(level, packed_labels(level.terms.size, k), k, run)


def packed_labels(size: np.ndarray, k: int) -> np.ndarray:
    """Labels of k clusters, all used: the more even ones of two rules, divided anew by pairs."""
    labels = _heaviest_first(size, k)
    if 1 < k < len(size) <= MOST_DIFFERENCED:
        labels = min(
            labels,
            _by_differences(size, k),
            key=lambda one: (-len(np.unique(one)), np.ptp(np.bincount(one, size, minlength=k))),
        )
        _divide_pairs(labels, size, k)
    return labels


def _heaviest_first(size: np.ndarray, k: int) -> np.ndarray:
    """The heaviest remaining node always joins the cluster that holds least, of several the one with fewest nodes."""
    labels, heap = np.empty(len(size), np.int32), [(0.0, 0, c) for c in range(k)]
    for u in np.argsort(-size, kind="stable"):
        load, n_nodes, c = heap[0]
        labels[u] = c
        heapq.heapreplace(heap, (load + float(size[u]), n_nodes + 1, c))
    return labels


def _by_differences(size: np.ndarray, k: int) -> np.ndarray:
    """Of partitions of a node each, the two that are least even are united again and again, light clusters with heavy.

    A partition is k clusters in ascending order: what each holds beyond the lightest, and its nodes.
    """
    empty: list[tuple[float, list[int]]] = [(0.0, [])] * (k - 1)
    heap = [(-w, u, [*empty, (w, [u])]) for u, w in enumerate(size.tolist())]
    heapq.heapify(heap)
    while len(heap) > 1:
        (_, _, one), (_, u, other) = heapq.heappop(heap), heap[0]
        united = sorted((a + b, nodes + more) for (a, nodes), (b, more) in zip(one, reversed(other), strict=True))
        least = united[0][0]
        united = [(load - least, nodes) for load, nodes in united]
        heapq.heapreplace(heap, (-united[-1][0], u, united))
    labels = np.empty(len(size), np.int32)
    for c, (_, nodes) in enumerate(heap[0][2]):
        labels[nodes] = c
    return labels


def _divide_pairs(labels: np.ndarray, size: np.ndarray, k: int) -> None:
    """Divide the nodes of two clusters between them as evenly as can be, until that helps no two clusters of few."""
    gains, load = True, np.bincount(labels, size, minlength=k)
    while gains:
        gains = False
        for a, b in combinations(range(k), 2):
            nodes = np.flatnonzero((labels == a) | (labels == b))
            if len(nodes) > MOST_DIVIDED or load[a] == load[b]:
                continue
            is_in_a = np.arange(1, 1 << (len(nodes) - 1))[:, None] >> np.arange(len(nodes)) & 1  # the last is in b
            both = load[a] + load[b]
            uneven = np.abs(2.0 * (is_in_a @ size[nodes]) - both)
            if uneven.min() + ROUND_OFF * both < abs(load[a] - load[b]):
                labels[nodes] = np.where(is_in_a[uneven.argmin()], a, b)
                load, gains = np.bincount(labels, size, minlength=k), True
