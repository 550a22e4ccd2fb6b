"""Which way to make a large graph smaller, found by trying: nodes joined to regions, or a coreset of them.

Where neighbors share neighbors, as in nearly all real graphs, joining leaves a fraction of the entries, and regions
that are good by themselves. Where they do not, as in sparse planted graphs, few edges become one: the next level is
about as large as the last, and its regions are what chance put together.
"""

from __future__ import annotations

import numpy as np

from graphclust.graph.container import Graph
from graphclust.objective.objective import weighed
from graphclust.partition.coarsening import joined
from graphclust.partition.moves import MANY_MOVES
from graphclust.partition.multilevel import BUDGET, first_resolution
from graphclust.partition.quotient import contracted
from graphclust.progress import Progress

BLOCK = MANY_MOVES - 1  # nodes that are joined: the most that take a single call
MOST_LEFT = 0.4  # of the entries between them; sparse planted graphs keep 0.43 to 0.8, real ones and meshes 0 to 0.33
VERY_DENSE = 200.0  # mean degree from which the rows of a coreset reach every node, and joining reads far more rows


def suits_a_coreset(graph: Graph, k: int, rng: np.random.Generator) -> bool:
    """Whether a graph is large, and a coreset shows its k clusters better or in far less time than joined nodes do."""
    if graph.n_entries < BUDGET:
        return False
    return graph.n_entries >= VERY_DENSE * graph.n_nodes or share_left(graph, k, rng) > MOST_LEFT


def share_left(graph: Graph, k: int, rng: np.random.Generator) -> float:
    """The share of the entries that is left between the regions of a block of nodes that hang together."""
    part = graph.subgraph(nodes_around(graph, BLOCK, rng))
    if part.n_entries == 0:
        return 0.0
    on = weighed(part, "modularity")
    # In the part a node has fewer neighbors, and chance a larger share: what counts is the resolution of the whole.
    resolution = first_resolution(k) * weighed(graph, "modularity").chance / on.chance
    regions = contracted(on, *joined(on, resolution, None, 1, rng, Progress())).graph
    return (regions.n_entries - np.count_nonzero(regions.loops)) / part.n_entries


def nodes_around(graph: Graph, n: int, rng: np.random.Generator) -> np.ndarray:
    """As many nodes, increasing: a random one that has edges and those closest to it, then those around another."""
    met = np.zeros(graph.n_nodes, np.bool_)
    left = min(n, graph.n_nodes)
    for start in rng.integers(graph.n_nodes, size=n).tolist():
        front = np.array([] if met[start] or graph.degrees[start] == 0.0 else [start], np.int64)
        while left and len(front):
            front = front[:left]
            met[front] = True
            left -= len(front)
            around = np.unique(np.concatenate([graph.neighbors(u)[:n] for u in front.tolist()]))
            front = around[~met[around]]
    return np.flatnonzero(met)
