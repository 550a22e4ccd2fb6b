"""`as_graph`, the one gate from anything to a Graph: it checks what it is given, and states what it found."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from graphclust.checks import as_array, as_choice
from graphclust.errors import GraphValidationError, GraphWarning, warn_caller
from graphclust.graph.checked_rows import graph_from_csr
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.foreign import from_graphblas, from_igraph, from_pandas, is_adjacency_table, origin
from graphclust.graph.matrices import (
    SYMMETRY_TOLERANCE,
    all_ones,
    as_csr,
    as_float_weights,
    check_shape,
    remark_on_isolated,
    rounding,
)

if TYPE_CHECKING:
    import networkx

__all__ = ["as_graph"]


def as_graph(G: GraphLike, *, weight: str | None = "weight", symmetrize: str | None = None) -> Graph:
    """Check a graph and bring it into the form that every algorithm here reads.

    G : networkx.Graph or igraph.Graph (any hashable nodes, parallel edges are summed), SciPy sparse matrix or array of
        any format, square ndarray, pandas or Polars table of edges with columns "source" and "target" (for others see
        `graphclust.graph_from_table`), adjacency matrix as a pandas table of which rows and columns have the same
        names, path of a graph file (see `graphclust.load_graph`), PyData or GraphBLAS matrix, or a `Graph`, returned as
        it is.
    weight : edge attribute of a NetworkX or igraph graph, or column of a table or of a file, that holds the weight; a
        missing one counts 1. None makes all weights 1, those of a matrix or file as well.
    symmetrize : "max" or "sum" joins the two directions of each edge by that rule; None refuses a directed graph, but
        reads a file or a table as `load_graph` does by default, by "max".

    Returns a `Graph`. G is never modified; a float64 CSR matrix in canonical order shares its arrays.

    Policies, each stated in `remarks` and in one `GraphWarning`: duplicate entries are summed (of boolean
    entries: collapsed), stored zeros are dropped, entries (i, j) and (j, i) that differ by rounding (1e-8 of
    their size, 1e-6 in float32) become their mean, nodes of degree 0 stay and are never labelled. Self-loops are kept
    and count once.

    Raises TypeError for what is no graph; GraphValidationError for a matrix that is not square, not symmetric,
    malformed, without nodes, with negative or non-finite weights, or with degrees out of floating-point range; and
    for the name of a weight that no edge has.

    >>> from scipy import sparse
    >>> as_graph(sparse.csr_array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    Graph(3 nodes, 2 edges, weighted)
    """
    if symmetrize is not None:
        as_choice(symmetrize, "symmetrize", ("max", "sum"))
    if isinstance(G, Graph):
        return _unweighted(G) if weight is None else G
    if isinstance(G, str | os.PathLike):
        from graphclust.io.load import load_graph

        asked = None if weight == "weight" else weight
        return load_graph(G, symmetrize=symmetrize or "max", weights=None if weight else "ignore", weight=asked)
    if sparse.issparse(G):
        matrix: Any = G
        graph = _from_scipy(matrix, symmetrize, rounding(matrix.dtype))
        graph = _unweighted(graph) if weight is None else graph
    elif isinstance(G, np.ndarray):
        if G.ndim != 2 or G.shape[0] != G.shape[1]:
            raise GraphValidationError(f"G has shape {G.shape}, expected a square adjacency matrix")
        graph = _from_scipy(sparse.csr_array(as_float_weights(as_array(G, "G"))), symmetrize, rounding(G.dtype))
        graph = _unweighted(graph) if weight is None else graph
    elif hasattr(G, "is_directed") and hasattr(G, "adjacency"):
        graph = _from_networkx(G, weight, symmetrize)
    elif (library := origin(G)) in ("pandas", "polars") and _is_edge_table(G):
        from graphclust.io.tables import graph_from_table

        return graph_from_table(G, weight=weight, symmetrize=symmetrize or "max")
    elif library in ("igraph", "graphblas", "sparse") or (library == "pandas" and is_adjacency_table(G)):
        graph = _from_other(G, library, weight, symmetrize)
    else:
        module = "" if type(G).__module__ == "builtins" else type(G).__module__ + "."
        hint = "; pass it to cluster_anndata, or its obsp['connectivities']" if library == "anndata" else ""
        raise TypeError(
            f"G is a {module}{type(G).__name__}, expected a networkx.Graph, a SciPy sparse matrix or array, a square "
            "numpy array, an igraph.Graph, a pandas or Polars table with columns 'source' and 'target', the path of a "
            f"graph file, or a graphclust.Graph{hint}"
        )
    remarks = graph.remarks
    n_isolated = int(graph.isolated.sum())
    if n_isolated:
        remarks = (*remarks, remark_on_isolated(n_isolated))
        graph = Graph(graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, graph.nodes, remarks)
    if remarks:
        warn_caller("; ".join(remarks), GraphWarning)
    return graph


def _is_edge_table(G: Any) -> bool:
    """Whether a table has the two columns; one that is not computed yet is not asked, and is refused as a table."""
    return hasattr(G, "collect") or {"source", "target"} <= {*getattr(G, "columns", ())}


def _unweighted(graph: Graph) -> Graph:
    return graph_from_csr(graph.indptr, graph.indices, None, nodes=graph.nodes, remarks=graph.remarks)


def _from_scipy(matrix, symmetrize: str | None, tolerance: float) -> Graph:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphValidationError(f"G has shape {matrix.shape}, expected a square adjacency matrix")
    pattern = matrix.dtype == bool
    matrix, remarks = (matrix, ()) if matrix.format == "csr" else as_csr(matrix, pattern)
    check_shape(matrix.indptr, matrix.indices, matrix.data, matrix.shape[0])
    as_float_weights(matrix.data[:0])  # refuses what are no numbers, even if all are one
    weights = None if all_ones(matrix.data[: matrix.indptr[-1]]) else matrix.data
    return graph_from_csr(
        matrix.indptr, matrix.indices, weights,
        remarks=remarks, symmetrize=symmetrize, pattern=pattern, tolerance=tolerance,
    )  # fmt: skip


def _from_networkx(G: networkx.Graph, weight: str | None, symmetrize: str | None) -> Graph:
    if G.is_directed() and symmetrize is None:
        raise GraphValidationError(
            f'G is a directed {type(G).__name__}, expected an undirected graph; pass symmetrize="sum" or "max", '
            "or G.to_undirected()"
        )
    import networkx

    nodes = list(G)
    if not nodes:
        raise GraphValidationError("G has 0 nodes, expected at least 1 node")
    try:
        matrix = networkx.to_scipy_sparse_array(G, nodelist=nodes, weight=weight, dtype=np.float64, format="csr")
    except (TypeError, ValueError, OverflowError) as problem:
        raise GraphValidationError(f"edge attribute {weight!r} does not hold numbers everywhere: {problem}") from None
    graph = _from_scipy(matrix, symmetrize, SYMMETRY_TOLERANCE)
    if weight not in (None, "weight") and graph.weights is None and graph.n_edges:
        _refuse_unknown_attribute(G, weight)
    return Graph(graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, nodes, graph.remarks)


def _from_other(G: Any, library: str, weight: str | None, symmetrize: str | None) -> Graph:
    """Of igraph or a table, with the names of the nodes; or a matrix of PyData's sparse or of GraphBLAS."""
    nodes = None
    if library == "igraph":
        matrix, nodes = from_igraph(G, weight, symmetrize)
    elif library == "pandas":
        matrix, nodes = from_pandas(G)
    else:
        matrix, nodes = from_graphblas(G) if library == "graphblas" else (G.to_scipy_sparse(), None)
    graph = _from_scipy(matrix, symmetrize, rounding(matrix.dtype))
    graph = _unweighted(graph) if weight is None else graph
    return Graph(graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, nodes, graph.remarks)


def _refuse_unknown_attribute(G: networkx.Graph, weight: str) -> None:
    if not any(weight in attributes for *_, attributes in G.edges(data=True)):
        raise GraphValidationError(
            f"no edge has the attribute {weight!r}, expected the name of one; weight=None makes all weights 1"
        )
