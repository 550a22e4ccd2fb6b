"""Which way a large graph is made smaller: by joining nodes to regions, or by a coreset of them.

Each is tried for how well the graph shrinks by it. Of neighbors that are joined the entries fall together that their
rows have in common, the third sides of triangles: on trial some pairs are looked at. A coreset leaves so many nodes as
it needs for its links. Whether it shows the clusters is seen when it has been partitioned: where that is in doubt, see
`coreset_parents.is_doubtful`, the graphs of joined nodes are tried as well, and the likelier partition is kept.
"""

from __future__ import annotations

import numpy as np

from graphclust.graph.container import Graph
from graphclust.partition.coreset_parents import default_size, evenness
from graphclust.partition.engine import BUDGET

LEFT_BY_JOINING = 1 / 3  # of the nodes, or less: a coreset of more saves nothing
LITTLE_IN_COMMON = 0.1  # of a row and a neighbor's: where these are joined nearly all entries are left
VERY_DENSE = 200.0  # mean degree, in edges that count: the rows of a coreset reach every node, whatever is in common
PROBES = 2_000  # at LITTLE_IN_COMMON the standard error of the share is sqrt(0.1 * 0.9 / 2,000) = 0.007


def suits_a_coreset(graph: Graph, k: int, rng: np.random.Generator) -> bool:
    """Whether a graph is large, and a coreset shows its clusters in far less time than joined nodes do."""
    if graph.n_entries < BUDGET:
        return False
    that_count = int(graph.n_entries * evenness(graph.weights))
    if default_size(graph.n_nodes, that_count, k) > LEFT_BY_JOINING * graph.n_nodes:
        return False
    return that_count >= VERY_DENSE * graph.n_nodes or share_in_common(graph, rng) < LITTLE_IN_COMMON


def share_in_common(graph: Graph, rng: np.random.Generator) -> float:
    """Share of a node's neighbors that a neighbor has too: of random pairs of neighbors, how many are neighbors."""
    closed = 0
    for u, (one, other) in zip(rng.integers(graph.n_nodes, size=PROBES).tolist(), rng.random((PROBES, 2)), strict=True):
        row = graph.neighbors(u)
        if len(row):
            v, w = row[int(one * len(row))], row[int(other * len(row))]
            among = graph.neighbors(v)
            place = np.searchsorted(among, w)
            closed += v != w and place < len(among) and among[place] == w
    return closed / PROBES
