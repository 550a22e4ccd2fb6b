"""leidenalg's partitions of directed, bipartite, signed graphs and of several, by the modularity of the kind."""

from typing import Any

import numpy as np
from scipy import sparse


def igraph_of(matrix: Any, directed: bool = False) -> Any:
    import igraph

    entries = sparse.coo_array(matrix if directed else sparse.triu(matrix))
    graph = igraph.Graph(n=matrix.shape[0], edges=np.stack(entries.coords, axis=1).tolist(), directed=directed)
    graph.es["weight"] = entries.data.tolist()
    return graph


def parts_of(kind: str | None, G: Any) -> tuple[Any, list[float]]:
    """What makes leidenalg's partitions of the graph, all of whose nodes are alone; and the weights of the layers."""
    import leidenalg

    modularity = leidenalg.ModularityVertexPartition
    if kind == "directed":
        graph = igraph_of(G, directed=True)
        return lambda: [modularity(graph, weights="weight")], [1.0]
    if kind == "bipartite":
        graph = igraph_of(sparse.block_array([[None, G], [G.T, None]]))
        graph.vs["type"] = [0] * G.shape[0] + [1] * G.shape[1]
        options = {"types": "type", "weights": "weight", "degree_as_node_size": True}
        parted = leidenalg.CPMVertexPartition.Bipartite
        return lambda: list(parted(graph, resolution_parameter_01=1 / G.sum(), **options)), [1.0, -1.0, -1.0]
    parts = G if kind is None else [G.maximum(0), (-G).maximum(0)]
    graphs = [igraph_of(part) for part in parts]
    total = sum(part.sum() for part in parts)
    weights = [1.0] * len(parts) if kind is None else [parts[0].sum() / total, -parts[1].sum() / total]
    return lambda: [modularity(graph, weights="weight") for graph in graphs], weights


def optimized(parts: list, weights: list[float], seed: int) -> list:
    """The same once nothing changes."""
    import leidenalg

    optimiser = leidenalg.Optimiser()
    optimiser.set_rng_seed(seed)
    optimiser.optimise_partition_multiplex(parts, layer_weights=weights, n_iterations=-1)
    return parts
