"""Graphs and matrices of other libraries, told by where their class comes from, so that none is imported for it.

The rows of a NetworkX graph are read from its dicts: one pass for the ends, one for each attribute.
"""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, compress
from math import fsum, inf
from operator import methodcaller
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.errors import GraphValidationError
from graphclust.graph.matrices import as_float_weights

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


def from_igraph(G: Any, weight: str | None) -> Labeled:
    """The adjacency matrix of an igraph.Graph, parallel edges summed, and the vertices' names if those differ."""
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


def from_networkit(G: Any, weight: str | None) -> Labeled:
    """The adjacency matrix of a networkit.Graph, parallel edges summed; nodes are named where some were removed."""
    if weight not in (None, "weight"):
        raise GraphValidationError(f"weight={weight!r}, expected 'weight' or None: a networkit.Graph holds one weight")
    nodes = np.fromiter(G.iterNodes(), np.int64, G.numberOfNodes())
    edges = np.array(list(G.iterEdgesWeights()), np.float64).reshape(-1, 3).T  # ids are below 2^53
    ends = np.searchsorted(nodes, edges[:2].astype(np.int64))
    names = None if len(nodes) == G.upperNodeIdBound() else nodes.tolist()
    return _matrix_of(ends, edges[2], len(nodes), G.isDirected()), names


def from_graph_tool(G: Any, weight: str | None) -> Labeled:
    """The adjacency matrix of a graph_tool.Graph, parallel edges summed; vertices are named where some are filtered.

    weight : the name of an internal edge property map of numbers.
    """
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


def networkx_rows(G: Any, *weights: str | None) -> tuple[list[sparse.csr_array], Sequence[Hashable]]:
    """The adjacency matrix of a networkx graph under each edge attribute, and its nodes in their order.

    weights : edge attributes; an edge without one counts 1, and with None all do. Of parallel edges they are summed.

    Matrices are float64 CSR with sorted rows, of which a self-loop is one entry; they share their indices.

    Raises TypeError, ValueError or OverflowError where an attribute is no number; None becomes NaN.
    """
    nodes, adjacency = list(G), [neighbors for _, neighbors in G.adjacency()]
    n = len(nodes)
    sizes = np.fromiter(map(len, adjacency), np.int64, n)
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    ends = _rows_of_ends(nodes, adjacency, int(indptr[-1]))
    if len(ends) < np.iinfo(ends.dtype).max:
        indptr = indptr.astype(ends.dtype)  # else SciPy makes all of them wide
    order = sparse.csr_array((np.arange(len(ends)), ends, indptr), shape=(n, n))
    if G.is_directed():
        order.sort_indices()
        is_read, places = np.ones(len(ends), bool), order.data
    else:  # both entries of an edge have the same attributes: they are read once, which halves the waits for memory
        is_read = np.repeat(np.arange(n, dtype=ends.dtype), sizes) <= ends
        mirrored = order.tocsc().T  # with sorted rows, in less time than sorting takes
        order = mirrored.tocsc().T
        places = np.where(is_read[order.data], order.data, mirrored.data)
    matrices = []
    for weight in weights:
        values = _values(adjacency, weight, G.is_multigraph(), is_read)[places]
        matrices.append(sparse.csr_array((values, order.indices, order.indptr), shape=(n, n)))
    return matrices, nodes


def _rows_of_ends(nodes: list[Hashable], adjacency: list[Any], n_entries: int) -> np.ndarray:
    """The row of each neighbor, int32, in the order of the dicts."""
    n, ends = len(nodes), chain.from_iterable(adjacency)
    if n and {*map(type, nodes)} == {int}:
        numbers = np.array(nodes, object)
        low, high = numbers.min(), numbers.max()
        if low >= 0 and high < 4 * n + 1000:  # a table is read several times as fast as a dict
            row_of = np.empty(high + 1, np.int32)
            row_of[numbers.astype(np.int64)] = np.arange(n, dtype=np.int32)
            return row_of[np.fromiter(ends, np.int64, n_entries)]
    number = {node: row for row, node in enumerate(nodes)}
    return np.array(list(map(number.__getitem__, ends)), np.int32)


def _values(adjacency: list[Any], weight: str | None, is_multigraph: bool, is_read: np.ndarray) -> np.ndarray:
    """What each entry holds, in the order of the dicts; any number for an entry that is not to be read."""
    chosen, values = is_read.tobytes(), np.ones(len(is_read))

    def edges() -> Iterator[Any]:
        # One row at a time: to hold all edges would have Python's collector look through the whole graph.
        return compress(chain.from_iterable(map(methodcaller("values"), adjacency)), chosen)

    if is_multigraph and weight is None:
        values[is_read] = np.array(list(map(len, edges())), np.float64)
    elif is_multigraph:
        values[is_read] = np.array([_sum([one.get(weight, 1.0) for one in edge.values()]) for edge in edges()])
    elif weight is not None and any(edges()):  # else no edge has any attribute
        values[is_read] = _attributes(np.fromiter(edges(), object, np.count_nonzero(is_read)), weight)
    return values


def _sum(weights: list[Any]) -> float:
    """The sum of the weights of parallel edges, the same in any order."""
    total = float(np.sum(weights, dtype=np.float64))
    return fsum(weights) if len(weights) > 2 and abs(total) < inf else total


def _attributes(edges: np.ndarray, weight: str) -> np.ndarray:
    """What the dicts of edges hold under a name, 1 where they do not.

    They are read in the order of their addresses, near that in which they were made: 11 times as fast where rows have
    another order, since a dict and what it holds lie together.
    """
    order = np.argsort(np.frombuffer(edges, np.intp))
    values = np.empty(len(edges))
    values[order] = np.array([attributes.get(weight, 1.0) for attributes in edges[order].tolist()], np.float64)
    return values
