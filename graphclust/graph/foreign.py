"""Graphs and matrices of other libraries, told by where their class comes from, so that none is imported for it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphValidationError
from graphclust.graph.matrices import as_float_weights

Labeled = tuple[sparse.csr_array, list[Hashable] | None]


def origin(G: Any) -> str:
    """The library that defines the class of something, or a class that this derives from; "" for none known here."""
    roots = {base.__module__.split(".")[0] for base in type(G).__mro__}
    return next(
        (name for name in ("igraph", "pandas", "polars", "graphblas", "sparse", "anndata") if name in roots), ""
    )


def from_igraph(G: Any, weight: str | None, symmetrize: str | None) -> Labeled:
    """The adjacency matrix of an igraph.Graph, parallel edges summed, and the vertices' names if those are distinct."""
    if G.is_directed() and symmetrize is None:
        raise GraphValidationError(
            "G is a directed igraph.Graph, expected an undirected graph; pass G.as_undirected(), or "
            'as_graph(G, symmetrize="sum"), or "max"'
        )
    n = G.vcount()
    if n == 0:
        raise GraphValidationError("G has 0 nodes, expected at least 1 node")
    source, target = np.array(G.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
    values = _edge_weights(G, weight)
    if not G.is_directed():
        once = source != target  # a loop is one entry, any other edge two
        source, target = np.concatenate([source, target[once]]), np.concatenate([target, source[once]])
        values = np.concatenate([values, values[once]])
    matrix = sparse.coo_array((values, (source, target)), shape=(n, n)).tocsr()
    names = G.vs["name"] if "name" in G.vs.attributes() else None
    return matrix, names if names is not None and len(set(names)) == n else None


def _edge_weights(G: Any, weight: str | None) -> np.ndarray:
    """A missing weight counts 1, and so does each where no edge has any, unless that was asked for by name."""
    if weight is None or weight not in G.es.attributes():
        if weight not in (None, "weight"):
            raise GraphValidationError(
                f"no edge has the attribute {weight!r}, expected the name of one; weight=None makes all weights 1"
            )
        return np.ones(G.ecount())
    try:
        return np.array([1.0 if value is None else value for value in G.es[weight]], dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise GraphValidationError(f"edge attribute {weight!r} does not hold numbers everywhere: {problem}") from None


def is_adjacency_table(G: Any) -> bool:
    """Whether a pandas DataFrame has the same names for its rows and its columns, in one order."""
    return hasattr(G, "index") and hasattr(G, "columns") and G.index.equals(G.columns)


def from_pandas(G: Any) -> Labeled:
    """The entries of such a table, and the names of its rows."""
    matrix = G.sparse.to_coo() if hasattr(G, "sparse") else as_float_weights(G.to_numpy())
    names = G.index.tolist()
    if len(set(names)) < len(names):
        raise GraphValidationError("two rows of the table have one name, expected different ones")
    return sparse.csr_array(matrix), names


def from_graphblas(G: Any) -> Labeled:
    """A graphblas.Matrix as SciPy has it."""
    rows, columns, values = G.to_coo()
    return sparse.coo_array((values, (rows.astype(np.int64), columns.astype(np.int64))), shape=G.shape).tocsr(), None
