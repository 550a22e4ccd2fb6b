"""k clusters by the sizes of their nodes alone, as even as is found: for bounds that hardly leave a choice.

Source: Graham 1969, "Bounds on multiprocessing timing anomalies" (heaviest first); Karmarkar & Karp 1982, "The
differencing method of set partitioning".
"""

import heapq
from itertools import combinations

import numpy as np

from graphclust.compiled.graphs.levels import Level, Partition
from graphclust.engine.levels import Run, with_sums

MOST_DIFFERENCED = 1 << 8  # nodes: of more, those that come last fill what the others leave
ROUND_OFF = 1e-9  # of what two clusters hold: a division that is so much more even is worth nothing
MOST_DIVIDED = 14  # nodes of two clusters, all divisions of which are compared


def pack(level: Level, k: int, run: Run) -> Partition:
    """k clusters by size alone."""
    return with_sums(level, packed_labels(level.terms.size, k), k, run)


def packed_labels(size: np.ndarray, k: int) -> np.ndarray:
    """Labels of k clusters, all used: the more even ones of two rules, divided anew by pairs."""
    labels = _heaviest_first(size, k)
    if 1 < k < len(size) <= MOST_DIFFERENCED:
        labels = min(labels, _by_differences(size, k), key=lambda one: _unevenness(one, size, k))
        _divide_pairs(labels, size, k)
    return labels


def _unevenness(labels: np.ndarray, size: np.ndarray, k: int) -> tuple[int, float]:
    """How many clusters have no node, and by how much the heaviest cluster exceeds the lightest."""
    load = np.bincount(labels, size, minlength=k)
    return int((np.bincount(labels, minlength=k) == 0).sum()), float(load.max() - load.min())


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
