"""Method selection: a large graph is coarsened by local moving, or sampled by a coreset.

The choice depends on how much either shrinks the graph. Joining two neighbors saves the entries that their rows have in
common, the third sides of triangles, whose share is estimated from random pairs. A coreset has as many nodes as it
needs for its links. Whether it shows the clusters is known once it has been partitioned: if that is in doubt, see
`two_step.method.is_doubtful`, the graph is coarsened as well, and the likelier partition is kept.
"""

from __future__ import annotations

import numpy as np

from graphclust.engine.v_cycle import BUDGET
from graphclust.graph.container import Graph
from graphclust.two_step.method import default_size, evenness

LEFT_BY_JOINING = 1 / 3  # local moving leaves at most this share of the nodes; a coreset of more saves nothing
LITTLE_IN_COMMON = 0.1  # if neighbors share less than this of their entries, joining them leaves nearly all entries
VERY_DENSE = 200.0  # mean degree, in effective edges, from which the rows of a coreset reach every node
PROBES = 2_000  # at LITTLE_IN_COMMON the standard error of the share is sqrt(0.1 * 0.9 / 2,000) = 0.007


def suits_a_coreset(graph: Graph, k: int, rng: np.random.Generator) -> bool:
    """Whether a graph is large, and a coreset shows its clusters in far less time than coarsening does."""
    if graph.n_entries < BUDGET:
        return False
    that_count = int(graph.n_entries * evenness(graph.weights))
    if default_size(graph.n_nodes, that_count, k) > LEFT_BY_JOINING * graph.n_nodes:
        return False
    return that_count >= VERY_DENSE * graph.n_nodes or share_in_common(graph, rng) < LITTLE_IN_COMMON


def share_in_common(graph: Graph, rng: np.random.Generator) -> float:
    """The share of random pairs of a node's neighbors that are neighbors themselves."""
    closed = 0
    for u, (one, other) in zip(rng.integers(graph.n_nodes, size=PROBES).tolist(), rng.random((PROBES, 2)), strict=True):
        row = graph.neighbors(u)
        if len(row):
            v, w = row[int(one * len(row))], row[int(other * len(row))]
            among = graph.neighbors(v)
            place = np.searchsorted(among, w)
            closed += v != w and place < len(among) and among[place] == w
    return closed / PROBES
