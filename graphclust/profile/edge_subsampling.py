"""Edge subsampling: clusters that are found again without some of the edges are stable."""

import numpy as np

from graphclust.graph.container import Graph
from graphclust.graph.node_order import mix_words

FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
LEAST = 1e-140  # of a degree, as every graph has them: products of two are within floating-point range


def leave_out_edges(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """The graph without about that share of its edges; self-loops stay, nodes may become isolated.

    Edges lighter than the least degree that a graph may have are all left out.
    """
    rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    # A hash of the two ends decides, so that both entries of an edge share its fate.
    low, high = np.minimum(rows, graph.indices), np.maximum(rows, graph.indices)
    bits = low.astype(np.uint64) * np.uint64(FACTORS[0]) + high.astype(np.uint64) * np.uint64(FACTORS[1])
    bits += rng.integers(2**64, dtype=np.uint64)
    stays = mix_words(bits) >= np.uint64(share * 2.0**64)
    if graph.weights is not None:
        stays &= graph.weights > LEAST
    stays |= low == high
    indptr = np.concatenate([[0], np.cumsum(stays)])[graph.indptr]
    weights = None if graph.weights is None else graph.weights[stays]
    degrees = np.bincount(rows[stays], weights=weights, minlength=graph.n_nodes).astype(np.float64)
    return Graph(indptr, graph.indices[stays], weights, degrees, graph.loops)
