"""Edges as an array of their ends beside the number of nodes, as PyTorch Geometric and DGL hold graphs."""

from typing import Any

import numpy as np

from graphclust.checks import as_choice
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.io.edges import Edges, joined
from graphclust.io.weight_checks import refuse_impossible


def is_edge_arrays(G: Any) -> bool:
    """Whether something is a pair of an array, of two rows or columns, and a whole number."""
    return (
        isinstance(G, tuple) and len(G) == 2 and len(getattr(G[0], "shape", ())) == 2
        and (hasattr(G[0], "__array__") or hasattr(G[0], "detach"))
        and not isinstance(G[1], bool) and isinstance(G[1], int | np.integer)
    )  # fmt: skip


def as_numpy(values: Any) -> np.ndarray:
    """An array of a tensor, wherever it lies, or of anything that NumPy takes."""
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def graph_from_edge_arrays(
    edge_index: Any, n_nodes: int, edge_weight: Any = None, symmetrize: str | None = "max"
) -> Graph:
    """The undirected graph of some edges between the nodes 0 to n_nodes - 1, joined as `load_graph` does.

    edge_index : the ends of the edges, whole numbers of shape (2, n_edges), or (n_edges, 2), an array or a tensor.
    edge_weight : numbers >= 0, shape (n_edges,), or None.

    >>> graph_from_edge_arrays(np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), 3)
    Graph(3 nodes, 2 edges, unweighted)
    """
    if symmetrize is not None:
        as_choice(symmetrize, "symmetrize", ("max", "sum"))
    return joined(edges_of_arrays(edge_index, n_nodes, edge_weight), symmetrize)


def edges_of_arrays(edge_index: Any, n_nodes: int, edge_weight: Any = None) -> Edges:
    """The edges in their directions; arguments and errors are those of `graph_from_edge_arrays`."""
    ends = as_numpy(edge_index)
    if ends.ndim != 2 or 2 not in ends.shape:
        raise GraphValidationError(f"edge_index has shape {ends.shape}, expected (2, n_edges)")
    if ends.size and ends.dtype.kind not in "iu":
        raise GraphValidationError(f"edge_index has dtype {ends.dtype}, expected whole numbers")
    ends = ends if ends.shape[0] == 2 else ends.T
    if ends.size and not (ends.min() >= 0 and ends.max() < n_nodes):
        found = f"edge_index holds the ends {ends.min()} to {ends.max()}"
        raise GraphValidationError(f"{found}, expected them in [0, {n_nodes}), as there are {n_nodes} nodes")
    if not 0 < n_nodes < 2**31:
        raise GraphValidationError(f"n_nodes={n_nodes}, expected 1 to 2^31 - 1")
    weights = None
    if edge_weight is not None:
        weights = as_numpy(edge_weight)
        if weights.shape != ends.shape[1:] or weights.dtype.kind not in "biuf":
            found = f"edge_weight has shape {weights.shape} and dtype {weights.dtype}"
            raise GraphValidationError(f"{found}, expected {ends.shape[1]} numbers")
        weights = weights.astype(np.float64)
        refuse_impossible(weights, "edge_weight")
    u, v = ends.astype(np.int32)
    edges = Edges("edge_index", int(n_nodes), [(u, v, weights)])
    edges.details["weighted"] = weights is not None
    return edges
