"""Which way a large graph is made smaller: by joining nodes to regions, or by a coreset of them."""

from __future__ import annotations

import numpy as np

from graphclust.graph.container import Graph
from graphclust.partition.coreset_regions import evenness
from graphclust.partition.multilevel import BUDGET

# A graph this dense, in edges that count, that has few triangles hardly shrinks when neighbors are joined ...
LEAST_MEAN_DEGREE, FEW_TRIANGLES = 8.0, 0.1
VERY_DENSE = 200.0  # ... and in one of such a mean degree the rows of a coreset reach every node
PROBES = 2_000


def suits_a_coreset(graph: Graph, rng: np.random.Generator) -> bool:
    """Whether a graph is large, and a coreset shows its clusters in far less time than joined nodes do."""
    if graph.n_entries < BUDGET:
        return False
    mean_degree = graph.n_entries / graph.n_nodes * evenness(graph.weights)
    if mean_degree < LEAST_MEAN_DEGREE:
        return False
    return mean_degree >= VERY_DENSE or share_of_closed_pairs(graph, rng) < FEW_TRIANGLES


def share_of_closed_pairs(graph: Graph, rng: np.random.Generator) -> float:
    """Share of random pairs of neighbors of random nodes that are neighbors themselves."""
    closed = 0
    for u, (one, other) in zip(rng.integers(graph.n_nodes, size=PROBES).tolist(), rng.random((PROBES, 2)), strict=True):
        row = graph.neighbors(u)
        if len(row):
            v, w = row[int(one * len(row))], row[int(other * len(row))]
            among = graph.neighbors(v)
            place = np.searchsorted(among, w)
            closed += v != w and place < len(among) and among[place] == w
    return closed / PROBES
