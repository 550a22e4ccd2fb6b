"""save_store: write any graph to a folder from which `open_store` maps it."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np

from graphclust.checks import refuse_swapped
from graphclust.compiled.runtime.blocks import row_blocks
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph, GraphLike
from graphclust.io.graph_input import as_graph
from graphclust.io.store.store import COPIED, map_store
from graphclust.io.store.store_files import (
    check_store_target,
    new_store,
)

__all__ = ["save_store"]


def save_store(path: str | os.PathLike[str], G: GraphLike, *, overwrite: bool = False) -> Graph:
    """Write a graph to a folder from which `open_store` maps it; it appears whole or not at all.

    G : anything `as_graph` takes; names of nodes must be whole numbers below 2^63 or texts.

    Returns the graph as it is opened again. Raises GraphValidationError for other names, FileExistsError unless
    `overwrite` may replace a store, FileNotFoundError (no such folder), and OSError, with the store's name and its
    size, where there is no room for it; then nothing is left behind.

    >>> import networkx as nx, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_store(f"{folder}/path.store", nx.path_graph(4))
    Graph(4 nodes, 3 edges, unweighted)
    """
    refuse_swapped(path, "save_store(path, G)")
    graph = as_graph(G)
    name = check_store_target(path, overwrite)
    ids, names = _split_names(graph)
    arrays: dict[str, np.ndarray] = {"indptr": graph.indptr, "indices": graph.indices, "degrees": graph.degrees}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    if graph.loops.any():
        arrays["loops"] = graph.loops
    if graph.node_weights is not None:
        arrays["node_weights"] = graph.node_weights
    if ids is not None:
        arrays["nodes"] = ids
    with new_store(name, {array: len(values) for array, values in arrays.items()}, overwrite) as store:
        for array, values in arrays.items():
            for first, last in pairwise(row_blocks(len(values), COPIED).tolist()):
                store.arrays[array][first:last] = values[first:last]
        if names is not None:
            store.write_names(names)
        store.header["remarks"] = list(graph.remarks)
    return map_store(name)


def _split_names(graph: Graph) -> tuple[np.ndarray | None, list[str] | None]:
    """The names of the nodes as numbers or as texts."""
    if graph.nodes is None:
        return None, None
    nodes = graph.nodes
    if all(isinstance(name, str) for name in nodes):
        return None, list(map(str, nodes))
    is_whole = isinstance(nodes, np.ndarray) and nodes.dtype.kind in "iu"
    if is_whole or all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in nodes):
        names = np.asarray(nodes)
        if names.dtype.kind == "i" or (names.dtype.kind == "u" and names.max() < 2**63):
            return names.astype(np.int64), None
    raise GraphValidationError(
        "the nodes of G are named by other things than whole numbers below 2^63 or texts, which a store cannot hold; "
        "number them first"
    )
