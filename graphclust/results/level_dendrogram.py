"""The dendrogram that passes through nested levels: on each, clusters of one cluster above are united pair by pair."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs import agglomeration as loops
from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.graphs.v_cycle import rows_within
from graphclust.engine.contraction import contract
from graphclust.engine.levels import room_for, run_on, with_sums
from graphclust.graph.container import Graph
from graphclust.graph.node_order import in_order, node_order
from graphclust.objective.objective import chance_objective, weigh

Labels = npt.NDArray[np.int64]


def linkage_of(graph: Graph, levels: Sequence[Labels]) -> npt.NDArray[np.float64]:
    """Unions in SciPy's form, shape (n_nodes - 1, 4), through all levels, the coarsest first.

    The unions inside the clusters of the finest level have distance 1, those inside the level above it 2, and so on.
    Of equal unions the first in the order of `node_order` comes first, in whatever order the nodes came.
    """
    n, order = graph.n_nodes, node_order(graph)
    on = weigh(in_order(graph, order), "modularity")
    run = run_on(on)
    rows = np.empty((n - 1, 4))
    number, size, made = order, np.ones(2 * n - 1), n  # of each cluster so far
    current = np.arange(n, dtype=np.int32)
    ordered = [labels[order] for labels in reversed(levels)]
    for height, target in enumerate([*ordered, np.zeros(n, np.int64)], start=1):
        k = len(number)
        above = np.empty(k, np.int32)
        above[current] = target
        level = contract(run.finest, with_sums(run.finest, current, k, run), run).coarse
        level = rows_within(level, above)
        pairs = np.full((k, 2), -1, np.int32)
        loops.agglomerate_into(level, Task(chance_objective(run.totals), 0), np.zeros(k), pairs, room_for(level, k))
        roots = np.ones(k, bool)
        linked = pairs[::-1][pairs[::-1, 0] >= 0]
        roots[linked[:, 0]] = False
        rest = np.flatnonzero(roots)
        rest = rest[np.argsort(above[rest], kind="stable")]
        apart = np.flatnonzero(above[rest[1:]] == above[rest[:-1]])  # no edge joins these: in turn to the one before
        unlinked = np.stack([rest[apart], rest[apart + 1]], axis=1)
        for ended, enlarged in [*linked.tolist(), *unlinked.tolist()]:
            a, b = sorted((number[ended], number[enlarged]))
            size[made] = size[a] + size[b]
            rows[made - n] = a, b, height, size[made]
            number[enlarged] = made
            made += 1
        merged = np.zeros(int(target.max()) + 1, number.dtype)
        np.maximum.at(merged, above, number)  # the last union of a cluster has the highest number
        number, current = merged, target.astype(np.int32)
    return rows


def cut(linkage: npt.NDArray[np.float64], k: int) -> Labels:
    """Labels 0..k-1 after all but the last k - 1 unions of a linkage."""
    n = len(linkage) + 1
    top = np.arange(2 * n - 1)
    for row in range(n - k - 1, -1, -1):
        top[linkage[row, :2].astype(np.int64)] = top[n + row]
    return np.unique(top[:n], return_inverse=True)[1]
