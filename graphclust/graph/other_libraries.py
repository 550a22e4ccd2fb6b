"""Graphs and matrices of other libraries, told by where their class comes from, so that none is imported for it."""

from collections.abc import Hashable
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphValidationError
from graphclust.graph.matrices import UNDIRECTED, as_float_weights, remedy_for_directions

LIBRARIES = (
    "igraph", "pandas", "polars", "pyarrow", "duckdb", "networkit", "graph_tool", "graphblas", "sparse", "anndata",
)  # fmt: skip
NAMES = ("name", "_nx_name")  # attributes of igraph's vertices: the usual one, and that of `Graph.from_networkx`
TABLES = ("pandas", "polars", "pyarrow", "duckdb")
Labeled = tuple[sparse.csr_array, list[Hashable] | None]


def origin(G: Any) -> str:
    """The library that defines the class of something, or a class that this derives from; "" for none known here."""
    roots = {base.__module__.split(".")[0].lstrip("_") for base in type(G).__mro__}
    return next((name for name in LIBRARIES if name in roots), "")


def from_igraph(G: Any, weight: str | None, symmetrize: str | None) -> Labeled:
    """The adjacency matrix of an igraph.Graph, parallel edges summed, and the vertices' names if those differ."""
    if G.is_directed() and symmetrize is None:
        raise GraphValidationError(f"G is a directed igraph.Graph, {UNDIRECTED}; {remedy_for_directions()}")
    ends = np.array(G.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
    matrix = _matrix_of(ends, _edge_weights(G, weight), G.vcount(), G.is_directed())
    return matrix, next(filter(_tell_apart, (G.vs[name] for name in NAMES if name in G.vs.attributes())), None)


def _tell_apart(names: list[Any]) -> bool:
    """Whether the values of an attribute can name the vertices: all of them hashable and different."""
    with suppress(TypeError):
        return len(set(names)) == len(names)
    return False


def _matrix_of(ends: np.ndarray, values: np.ndarray, n: int, is_directed: bool) -> sparse.csr_array:
    """The adjacency matrix of edges that are listed once, parallel ones summed."""
    if n == 0:
        raise GraphValidationError("G has 0 nodes, expected at least 1 node")
    if not is_directed:
        once = ends[0] != ends[1]  # a loop is one entry, any other edge two
        ends, values = np.hstack([ends, ends[::-1, once]]), np.concatenate([values, values[once]])
    return sparse.coo_array((values, tuple(ends)), shape=(n, n)).tocsr()


def from_networkit(G: Any, weight: str | None, symmetrize: str | None) -> Labeled:
    """The adjacency matrix of a networkit.Graph, parallel edges summed; nodes are named where some were removed."""
    if weight not in (None, "weight"):
        raise GraphValidationError(f"weight={weight!r}, expected 'weight' or None: a networkit.Graph holds one weight")
    if G.isDirected() and symmetrize is None:
        raise GraphValidationError(f"G is a directed networkit.Graph, {UNDIRECTED}; {remedy_for_directions()}")
    nodes = np.fromiter(G.iterNodes(), np.int64, G.numberOfNodes())
    edges = np.array(list(G.iterEdgesWeights()), np.float64).reshape(-1, 3).T  # ids are below 2^53
    ends = np.searchsorted(nodes, edges[:2].astype(np.int64))
    names = None if len(nodes) == G.upperNodeIdBound() else nodes.tolist()
    return _matrix_of(ends, edges[2], len(nodes), G.isDirected()), names


def from_graph_tool(G: Any, weight: str | None, symmetrize: str | None) -> Labeled:
    """The adjacency matrix of a graph_tool.Graph, parallel edges summed; vertices are named where some are filtered.

    weight : the name of an internal edge property map of numbers.
    """
    if G.is_directed() and symmetrize is None:
        raise GraphValidationError(f"G is a directed graph_tool.Graph, {UNDIRECTED}; {remedy_for_directions()}")
    known = {name for kind, name in G.properties if kind == "e"}
    if weight not in known | {None, "weight"}:
        raise GraphValidationError(
            f"no edge property of G is called {weight!r}, expected one of {sorted(known)}; weight=None makes all 1"
        )
    properties = [G.edge_properties[weight]] if weight in known else []
    edges = np.asarray(G.get_edges(properties), np.float64).reshape(-1, 2 + len(properties)).T
    nodes = np.sort(np.asarray(G.get_vertices(), np.int64))
    ends = np.searchsorted(nodes, edges[:2].astype(np.int64))
    values = edges[2] if properties else np.ones(edges.shape[1])
    names = None if np.array_equal(nodes, np.arange(len(nodes))) else nodes.tolist()
    return _matrix_of(ends, values, len(nodes), G.is_directed()), names


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
    if not G.index.dropna().is_unique:
        raise GraphValidationError("two rows of the table have one name, expected different ones")
    return sparse.csr_array(matrix), G.index.tolist()


def from_graphblas(G: Any) -> Labeled:
    """A graphblas.Matrix as SciPy has it."""
    rows, columns, values = G.to_coo()
    return sparse.coo_array((values, (rows.astype(np.int64), columns.astype(np.int64))), shape=G.shape).tocsr(), None
