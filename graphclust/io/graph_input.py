"""`as_graph`, the one gate from anything to a Graph: it checks what it is given, and states what it found."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from graphclust.checks import as_array, as_choice
from graphclust.errors import GraphClustError, GraphValidationError, ParameterError, amount
from graphclust.graph import matrices
from graphclust.graph import other_libraries as libraries
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.layers import LayeredGraph

if TYPE_CHECKING:
    import networkx

    from graphclust.io.edges import Edges

__all__ = ["as_graph"]

GRAPHS = {
    "igraph": libraries.from_igraph, "networkit": libraries.from_networkit, "graph_tool": libraries.from_graph_tool
}  # fmt: skip


def as_graph(
    G: GraphLike, *, weight: str | None = "weight", symmetrize: str | None = None, missing: str = "error"
) -> Graph:
    """Check a graph and bring it into the form that every algorithm here reads.

    G : graph of NetworkX, igraph, networkit or graph-tool (any hashable nodes, parallel edges are summed), SciPy sparse
        matrix or array of any format, square ndarray, table of edges of pandas, Polars, PyArrow or DuckDB (whose
        columns are chosen as `graphclust.graph_from_table` does by default), list of edges (u, v) or (u, v, weight), or
        of dicts, a key a column, pair (edge_index, n) of whole numbers of shape (2, n_edges) and
        the number of nodes, as PyTorch Geometric has them, adjacency matrix as a pandas table of which rows and columns
        have the same names, path of a graph file (see `graphclust.load_graph`), PyData or GraphBLAS matrix, or a
        `Graph`, returned as it is.
    weight : edge attribute of a NetworkX or igraph graph, or column of a table or file, that holds the weight; an edge
        without it counts 1. None makes all weights 1, those of a matrix or file as well.
    symmetrize : what becomes of the two directions of an edge: "max" keeps the larger weight, "sum" adds both, equal
        ones too, so that an edge listed from both ends counts twice. A symmetric matrix is undirected and stays as it
        is. None refuses a directed graph, but reads a file, a table, a list of edges or a pair (edge_index, n) as
        `load_graph` does by default, by "max".
    missing : of a row of a table, a list or a file without an id, and of a node that is named NaN, NaT, None or
        pandas.NA, "drop" leaves it out, with a remark that counts them; "error" refuses the graph.

    Returns a `Graph`. G is never modified; a float64 CSR matrix in canonical order shares its arrays.

    Parallel edges of a NetworkX multigraph or an igraph.Graph are summed, each counting 1 where it has no weight;
    rows of a table, a list or a file that repeat an edge are summed if they have weights, and else count once.

    Policies, each stated in `remarks` and in one `GraphWarning`: duplicate entries are summed (of boolean
    entries: collapsed), stored zeros are dropped, entries (i, j) and (j, i) that differ by rounding (1e-8 of
    their size, 1e-6 in float32) become their mean, nodes of degree 0 stay: they have label -1 from `coreset_sc` and the
    spectral functions, are clusters by themselves in `communities` and `hierarchy`, and have a part in
    `balanced_partition`. Self-loops are kept and count once.

    Raises TypeError for what is no graph; GraphValidationError for a matrix that is not square, not symmetric,
    malformed, without nodes, with negative or non-finite weights, or with degrees out of floating-point range; and
    for the name of a weight that no edge has; ParameterError for one where edges have no names for it, as in a matrix.

    >>> from scipy import sparse
    >>> as_graph(sparse.csr_array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    Graph(3 nodes, 2 edges, weighted)
    """
    if symmetrize is not None:
        as_choice(symmetrize, "symmetrize", ("max", "sum"))
    as_choice(missing, "missing", ("error", "drop"))
    if callable(weight) or not isinstance(weight, Hashable):
        raise TypeError(f"weight is a {type(weight).__name__}, expected the name of an edge attribute, or None")
    if isinstance(G, Graph):
        refuse_name_of_weight(weight, "a Graph")
        return without_weights(G) if weight is None else G
    if isinstance(G, str | os.PathLike):
        from graphclust.io.load import load_graph

        column, weights = None if weight == "weight" else weight, "ignore" if weight is None else None
        with _naming(load_graph):
            return load_graph(G, symmetrize=symmetrize or "max", weights=weights, weight=column, missing=missing)
    library = libraries.origin(G)
    if sparse.issparse(G):
        refuse_name_of_weight(weight, "a matrix")
        matrix: Any = G
        graph = _from_scipy(matrix.astype(bool) if weight is None else G, symmetrize, matrices.rounding(matrix.dtype))
    elif isinstance(G, np.ndarray):
        refuse_name_of_weight(weight, "a matrix")
        if G.ndim != 2 or G.shape[0] != G.shape[1]:
            edges = "; edges as a list of tuples: [*map(tuple, G.tolist())]" if G.shape[1:] in ((2,), (3,)) else ""
            raise GraphValidationError(f"G has shape {G.shape}, expected a square adjacency matrix{edges}")
        dense = as_array(G, "G")
        rows = sparse.csr_array(dense.astype(bool) if weight is None else matrices.as_float_weights(dense))
        graph = _from_scipy(rows, symmetrize, matrices.rounding(G.dtype))
    elif hasattr(G, "is_directed") and hasattr(G, "adjacency"):
        _refuse_directions(G, type(G).__name__, symmetrize)
        matrix, names = matrix_of_networkx(G, weight, missing=missing)
        graph = replace(_from_scipy(matrix, symmetrize, is_directed=G.is_directed()), nodes=names)
    elif (listed := edges_in(G, weight, missing=missing)) is not None:
        from graphclust.io.edges import joined

        return joined(listed, symmetrize or "max")
    elif library in (*GRAPHS, "graphblas", "sparse") or (library == "pandas" and libraries.is_adjacency_table(G)):
        matrix, nodes, is_directed = matrix_of_other(G, library, weight, symmetrize, missing=missing)
        graph = _from_scipy(matrix, symmetrize, matrices.rounding(matrix.dtype), is_directed)
        graph = replace(without_weights(graph) if weight is None else graph, nodes=nodes)
    else:
        if hasattr(G, "point_weights") and hasattr(G, "graph"):
            raise TypeError(f"G is a {type(G).__name__}, expected a graph; pass that of the kernel, kernel.graph")
        if isinstance(G, LayeredGraph):
            problem = f"G is a {G.kind} LayeredGraph, {matrices.UNDIRECTED}"
            raise TypeError(f"{problem}; communities and modularity take other kinds")
        hint = "; a dict of neighbors as networkx.Graph(G)" if isinstance(G, Mapping) else ""
        if library == "anndata":
            hint = "; pass it to cluster_anndata, or its obsp['connectivities']"
        module = "" if type(G).__module__ == "builtins" else type(G).__module__ + "."
        raise TypeError(
            f"G is a {module}{type(G).__name__}, expected a networkx.Graph, a SciPy sparse matrix or array, a square "
            "numpy array, an igraph.Graph, a pandas or Polars table of edges, a list of "
            f"edges (u, v), the path of a graph file, or a graphclust.Graph{hint}"
        )
    graph = _without_missing_names(graph) if missing == "drop" else graph
    remarks = graph.remarks
    if n_isolated := int(graph.isolated.sum()):
        remarks = (*remarks, matrices.remark_on_isolated(n_isolated))
    told = [remark for remark in remarks if matrices.ROUND_OFF not in remark]  # which is no news of a kernel's matrix
    matrices.warn_of(graph, told)
    if weight == "weight" and (hasattr(G, "es") or hasattr(G, "adjacency")):
        remarks = (*remarks, *_unused_numbers(G))  # no fault of the graph, so without a warning
    return graph if remarks == graph.remarks else replace(graph, remarks=remarks)


def refuse_without_edges(graph: Graph) -> None:
    """GraphValidationError for a graph without edges."""
    if graph.n_entries == 0:
        remedy = "nothing can be cut; communities(G) makes each node a cluster"
        raise GraphValidationError(f"G has no edges, expected at least one: {remedy}")


def is_table(G: Any) -> bool:
    """Whether something of a library of tables is one of edges: no matrix, whose rows and columns have the same names.

    A table that is not computed yet is refused as a table.
    """
    is_matrix = hasattr(G, "index") and hasattr(G, "columns") and set(G.index) == set(G.columns) != set()
    return hasattr(G, "collect") or (hasattr(G, "columns") and not is_matrix)


def edges_in(G: Any, weight: str | None, *, missing: str = "error", **options: Any) -> Edges | None:
    """The edges of a table, a list of them or an array of their ends; None for what is none of these.

    options : of `edges_of_table`.
    """
    from graphclust.io.tables import edges_of_arrays, edges_of_table, graph_from_table, is_edge_arrays, table_of_list

    if is_edge_arrays(G):
        refuse_name_of_weight(weight, "an array of edges")
        return edges_of_arrays(*G)
    with _naming(graph_from_table):
        if isinstance(G, list | tuple | AbstractSet):
            G = table_of_list(G, weight, missing)
        elif not (libraries.origin(G) in libraries.TABLES and is_table(G)):
            return None
        return edges_of_table(G, weight=weight, missing=missing, **options)


@contextmanager
def _naming(function: Callable[..., Any]) -> Iterator[None]:
    """Errors name the arguments of a function as in a call of it: `weights="abs"` is its `f(path, ...)`.

    Those that `as_graph` takes itself stay as they are, and so does what is in a call already.
    """
    first, *others = inspect.signature(function).parameters
    names = "|".join(name for name in others if name not in ("weight", "symmetrize"))

    def as_call(match: re.Match[str]) -> str:
        return match[0] if match[1] is None else f"{function.__name__}({first}, {match[1]}={match[2] or '...'})"

    try:
        yield
    except GraphClustError as problem:
        named = rf"""\w\([^()]*\)|(?<![\w.])({names})=('[^']*'|"[^"]*"|True|False|None|)"""
        message = re.sub(named, as_call, str(problem))
        problem.args = (re.sub(rf"\ba larger ({names})\b", rf"\g<0> to {function.__name__}", message),)
        raise


def refuse_name_of_weight(weight: str | None, what: str) -> None:
    """Refuse the name of an attribute for what has no attributes; what : in words."""
    if weight not in (None, "weight"):
        wrong = f"weight={weight!r} names an attribute of edges, which {what} does not have; leave it out, or pass"
        raise ParameterError(f"{wrong} weight=None to make all weights 1")


def without_weights(graph: Graph) -> Graph:
    """The graph with every weight 1; what its nodes weigh stays."""
    plain = matrices.graph_from_csr(graph.indptr, graph.indices, None, nodes=graph.nodes, remarks=graph.remarks)
    return replace(plain, file=graph.file, node_weights=graph.node_weights)


def _from_scipy(
    matrix, symmetrize: str | None, tolerance: float = matrices.SYMMETRY_TOLERANCE, is_directed: bool = False
) -> Graph:
    """A graph from a square matrix, whose duplicates are summed and whose rounding is evened out.

    is_directed : whether entries (i, j) and (j, i) are two edges even where all of them are equal.
    """
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        wrong = f"G has shape {matrix.shape}, expected a square adjacency matrix; of a rectangular one rows and columns"
        raise GraphValidationError(f"{wrong} become nodes by scipy.sparse.block_array([[None, G], [G.T, None]])")
    pattern = matrix.dtype == bool
    matrix, remarks = (matrix, ()) if matrix.format == "csr" else matrices.as_csr(matrix, pattern)
    matrices.check_shape(matrix.indptr, matrix.indices, matrix.data, matrix.shape[0])
    matrices.as_float_weights(matrix.data[:0])  # refuses what are no numbers, even if all are one
    if is_directed and symmetrize == "sum":
        matrix, remark = matrices.join_directions(sparse.csr_array(matrix), symmetrize, tolerance)
        remarks = (*remarks, remark)
    weights = None if matrices.all_ones(matrix.data[: matrix.indptr[-1]]) else matrix.data
    return matrices.graph_from_csr(
        matrix.indptr, matrix.indices, weights,
        remarks=remarks, symmetrize=symmetrize, pattern=pattern, tolerance=tolerance,
    )  # fmt: skip


def matrix_of_networkx(
    G: networkx.Graph, weight: str | None, signed: bool = False, missing: str = "error"
) -> tuple[Any, Sequence[Hashable]]:
    """The float64 CSR adjacency matrix of a networkx graph, arcs from row to column, and the names of its rows.

    signed : whether weights may be below zero. missing : "error" refuses names that are missing.
    """
    if not len(G):
        raise GraphValidationError("G has 0 nodes, expected at least 1 node")
    if missing == "error":
        _refuse_missing_names(list(G), "G.remove_nodes_from([...])")
    try:
        (matrix,), nodes = libraries.networkx_rows(G, weight)
    except (TypeError, ValueError, OverflowError) as problem:
        raise GraphValidationError(f"edge attribute {weight!r} does not hold numbers everywhere: {problem}") from None
    if weight is not None and np.isnan(matrix.data).any():
        for u, v, value in G.edges(data=weight, default=1.0):
            if value is None:  # which NetworkX takes for NaN, and is neither a number nor the absence of one
                raise GraphValidationError(
                    f"edge ({u!r}, {v!r}) has None as {weight!r}, expected a number; remove the attribute where an "
                    "edge is to count 1, or pass as_graph(G, weight=None), in which all do"
                )
    refuse_impossible_weight(matrix, nodes, weight, signed)
    is_doubtful = (
        weight not in (None, "weight") and matrix.nnz and (G.is_multigraph() or matrices.all_ones(matrix.data))
    )
    if is_doubtful and not any(weight in attributes for *_, attributes in G.edges(data=True)):
        wrong = f"no edge has the attribute {weight!r}, expected the name of one; weight=None makes all weights 1"
        raise GraphValidationError(wrong)
    return matrix, nodes


def matrix_of_other(
    G: Any, library: str, weight: str | None, symmetrize: str | None, signed: bool = False, missing: str = "error"
) -> tuple[Any, list[Hashable] | None, bool]:
    """The adjacency matrix, the names of its rows if they have any, and whether the library says that it is directed.

    symmetrize : None refuses a graph that is. signed, missing : see `matrix_of_networkx`.
    """
    nodes, is_directed, remedy = None, library in GRAPHS and points(G), "G.delete_vertices([...])"
    if library not in GRAPHS:
        refuse_name_of_weight(weight, "a matrix")
    if library in GRAPHS:
        _refuse_directions(G, f"{library}.Graph", symmetrize)
        matrix, nodes = GRAPHS[library](G, weight)
        refuse_impossible_weight(matrix, nodes, weight, signed)
    elif library == "pandas":
        matrix, nodes = libraries.from_pandas(G)
        remedy = "G.loc[G.index.notna(), G.columns.notna()]"
    else:
        matrix, nodes = libraries.from_graphblas(G) if library == "graphblas" else (G.to_scipy_sparse(), None)
    if missing == "error":
        _refuse_missing_names(nodes, remedy)
    return matrix, nodes, is_directed


def points(G: Any) -> bool:
    """Whether a graph of NetworkX, igraph, networkit or graph-tool says that its edges have a direction."""
    return bool(G.isDirected() if hasattr(G, "isDirected") else hasattr(G, "is_directed") and G.is_directed())


def _refuse_directions(G: Any, what: str, symmetrize: str | None) -> None:
    """Refuse a graph whose edges have directions that nothing is to join; what : the type of G."""
    if symmetrize is None and points(G):
        problem = f"G is a directed {what}, {matrices.UNDIRECTED}"
        raise GraphValidationError(f"{problem}; {matrices.remedy_for_directions()}")


def _refuse_missing_names(nodes: Sequence[Hashable] | None, remedy: str) -> None:
    """Refuse NaN, None, NaT and pandas.NA as nodes: they stand for many ids that are missing."""
    wrong = _missing_names(nodes)
    if nodes is not None and wrong:
        first = wrong[0]
        raise GraphValidationError(
            f"G has {amount(len(wrong), 'node')} named {nodes[first]!r}, a missing id, the first at place {first}, "
            f'expected names: as_graph(G, missing="drop") leaves such nodes out, and so does {remedy}'
        )


def _without_missing_names(graph: Graph) -> Graph:
    """The graph of the nodes that have names."""
    wrong = _missing_names(graph.nodes)
    if graph.nodes is None or not wrong:
        return graph
    if len(wrong) == graph.n_nodes:
        raise GraphValidationError(f"G has {amount(len(wrong), 'node')}, all without a name, expected one with a name")
    said = f"{amount(len(wrong), 'node')} without an id left out, the first at place {wrong[0]}"
    kept = np.setdiff1d(np.arange(graph.n_nodes), wrong)
    part, names = graph.subgraph(kept), list(graph.nodes)
    weights = None if part.weights is None or matrices.all_ones(part.weights) else part.weights
    return replace(part, weights=weights, nodes=[names[row] for row in kept.tolist()], remarks=(*graph.remarks, said))


def _missing_names(nodes: Sequence[Hashable] | np.ndarray | None) -> list[int]:
    """The places of nodes whose names are missing."""
    from graphclust.io.tables import names_no_node

    if nodes is None or isinstance(nodes, np.ndarray) or {*map(type, nodes)} <= {int, str}:
        return []
    return [place for place, name in enumerate(nodes) if names_no_node(name)]


def refuse_impossible_weight(
    matrix: Any, nodes: Sequence[Hashable] | np.ndarray | None, weight: str | None, signed: bool = False
) -> None:
    """Refuse a weight that is not finite or, if not signed, negative, by the names of the edge's ends."""
    wrong = ~(np.isfinite(matrix.data) & (signed | (matrix.data >= 0.0)))
    if wrong.any():
        entries = matrix.tocoo()
        place = int(wrong.argmax())
        ends = (int(entries.row[place]), int(entries.col[place]))
        u, v = ends if nodes is None else (nodes[end] for end in ends)
        value = float(entries.data[place])
        fault = "non-finite" if signed or not value < 0.0 else "negative"
        expected = "finite weights" if signed else "finite weights >= 0"
        remedy = "correct it, or pass weight=None to count each edge 1"
        if fault == "negative":
            remedy = matrices.remedy_for_signs()
        seen = f"edge ({u!r}, {v!r}) has {value} as {weight!r}, {fault}"
        raise GraphValidationError(f"{seen}, expected {expected}; {remedy}")


def _unused_numbers(G: Any) -> tuple[str, ...]:
    """Where no edge has the default "weight", the remark on other numbers that the edges hold."""
    if hasattr(G, "es"):
        edges = [edge.attributes() for edge in G.es[:1]]
    else:
        edges = [attributes for *_, attributes in G.edges(data=True)]
    values = {name: value for attributes in edges for name, value in attributes.items()}
    names = [name for name, value in values.items() if isinstance(value, Real) and not isinstance(value, bool)]
    if "weight" in values or not names:
        return ()
    listed = ", ".join(map(repr, names[:5]))
    return (f"no edge has a 'weight', each counts 1; numbers not used: {listed}; weight= takes one",)
