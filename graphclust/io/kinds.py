"""Graphs of every kind as callers have them: directed, bipartite, signed, several at once or over time."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from scipy import sparse

from graphclust.checks import Kind, as_array, as_choice, as_names, as_number
from graphclust.errors import GraphValidationError, IsolatedNodesWarning, ParameterError, amount
from graphclust.graph import layers as build
from graphclust.graph import matrices
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.layers import LayeredGraph
from graphclust.graph.other_libraries import LIBRARIES, origin
from graphclust.io import graph_input as gate
from graphclust.io.columns import Columns
from graphclust.io.edges import Edges

__all__ = ["time_slices"]

KINDS: tuple[Kind, ...] = ("undirected", "directed", "bipartite", "signed")
LINKS = ("neighboring", "all")
# By which share the two entries of an edge of a signed graph may differ.
ROUNDING = matrices.rounding(np.dtype(np.float32))
SIDES = ("bipartite", "type")  # attributes of nodes that tell the sides: NetworkX's, and igraph's
BUILD: dict[str, Callable[[Any], LayeredGraph]] = {
    "undirected": build.undirected, "directed": build.directed, "bipartite": build.bipartite, "signed": build.signed,
}  # fmt: skip
DIRECTED = "the graph is directed, so clusters have a high directed modularity"
RECTANGULAR = "the matrix is rectangular: a bipartite graph, whose nodes are its rows, then its columns"
GraphsLike = GraphLike | LayeredGraph | Sequence[Any] | Mapping[Any, Any]


class Entries(NamedTuple):
    """What is known of a graph before its kind is.

    matrix : float64 CSR, the weight from row to column; of a bipartite graph from the one side to the other.
    nodes : the names of the rows, of a bipartite graph then those of the columns; None for 0, 1, 2, ...
    remarks : what was assumed. is_named : whether nodes without names are known by their numbers, as in a file, and not
    by their place, as in a matrix. lists_once : whether an edge without direction may be one entry. columns : as of
    `Edges`.
    """

    matrix: sparse.csr_array
    nodes: Sequence[Hashable] | np.ndarray | None = None
    remarks: Sequence[str] = ()
    is_named: bool = False
    lists_once: bool = False
    columns: tuple[str, str] | None = None


def as_layered(
    G: GraphsLike,
    kind: Kind | None = None,
    *,
    weight: str | None = "weight",
    symmetrize: str | None = None,
    layer_weights: Sequence[float] | Mapping[Any, float] | None = None,
    normalize: bool = True,
) -> Graph | LayeredGraph:
    """A graph of any kind, or several: a `Graph` if it is one undirected graph, else a `LayeredGraph`.

    G : anything `as_graph` takes, a rectangular matrix, or a list or dict of such graphs, which are layers.
    kind : "undirected", "directed", "bipartite" or "signed"; None is what the type of G says: a graph of NetworkX,
        igraph, networkit or graph-tool may be directed, a rectangular matrix is bipartite, all else undirected.
    weight, symmetrize : see `as_graph`; with `symmetrize` a directed graph becomes undirected.
    layer_weights, normalize : see `communities`.
    """
    if kind is not None:
        kind = as_choice(kind, "kind", KINDS)
    if isinstance(G, LayeredGraph):
        return G
    if _are_graphs(G):
        return _of_several(G, kind, weight, symmetrize, layer_weights, normalize)
    for name, value, default in (("layer_weights", layer_weights, None), ("normalize", normalize, True)):
        if value is not default:
            raise ParameterError(f"{name}={value!r} is for several graphs, expected G to be a list or dict of them")
    asked, one = kind, cast(Any, G)
    kind = kind or _kind_of(one, symmetrize)
    if kind == "undirected":
        return gate.as_graph(one, weight=weight, symmetrize=symmetrize)
    entries = _entries_of(one, kind, weight, symmetrize)
    remarks = [*entries.remarks, *({"directed": [DIRECTED], "bipartite": [RECTANGULAR]}[kind] if asked is None else [])]
    graph = replace(BUILD[kind](entries.matrix), columns=entries.columns)
    if n_isolated := int((np.diff(graph.combined.indptr) == 0).sum()):
        remarks.append(matrices.remark_on_isolated(n_isolated))
    return graph.with_names(entries.nodes, tuple(remarks))


def time_slices(
    graphs: Sequence[Any] | Mapping[Any, Any],
    coupling: float = 1.0,
    *,
    links: str = "neighboring",
    kind: Kind | None = None,
    weight: str | None = "weight",
    symmetrize: str | None = None,
) -> LayeredGraph:
    """The slices of a graph over time as one graph, whose nodes are the pairs (node, slice): for `communities`.

    graphs : a list of graphs in the order of time, or a dict from the names of the slices; see `communities` for what a
        graph is. Nodes are the same where their names are, or without names their numbers; a node that a slice does not
        hold has no copy there.
    coupling : a number >= 0, the weight of the link between the copies of a node in two slices.
    links : "neighboring" links each slice with the next, "all" each pair of slices.
    kind, weight, symmetrize : of each graph, see `communities`; there is no time in bipartite graphs.

    Returns a `LayeredGraph`.

    Raises what `communities` raises for graphs, and ParameterError for an impossible coupling or links.

    Source: Mucha, Richardson, Macon, Porter & Onnela, "Community structure in time-dependent, multiscale, and multiplex
    networks", Science 2010.

    >>> import networkx as nx
    >>> graph = time_slices({2023: nx.barbell_graph(4, 0), 2024: nx.barbell_graph(4, 0)}, 0.5)
    >>> graph.n_nodes, graph.combined.nodes[8]
    (16, (0, 2024))
    """
    coupling = as_number(coupling, "coupling", at_least=0.0)
    as_choice(links, "links", LINKS)
    if kind is not None:
        as_choice(kind, "kind", KINDS)
    if not _are_graphs(graphs):
        raise TypeError(f"graphs is a {type(graphs).__name__}, expected a list or dict of graphs")
    names, made, nodes, there, remarks = _aligned(graphs, kind, weight, symmetrize)
    whole = build.slices(made, coupling, links=links, names=[str(name) for name in names])
    kept = np.flatnonzero(np.concatenate(there))
    copies = [(nodes[i % len(nodes)], names[i // len(nodes)]) for i in kept.tolist()]
    if len(kept) < whole.n_nodes:
        combined = whole.combined.subgraph(kept)
        n_links = (whole.combined.degrees.sum() - combined.degrees.sum()) / coupling if coupling else 0.0
        whole = replace(whole.take(kept, combined, with_arcs=True), total=whole.total - n_links * coupling)
    return whole.with_names(copies, remarks)


def _of_several(
    G: Any, kind: Kind | None, weight: str | None, symmetrize: str | None, layer_weights: Any, normalize: bool
) -> LayeredGraph:
    """The layers of some graphs by their weights, once these are checked."""
    names, made, nodes, _, remarks = _aligned(G, kind, weight, symmetrize)
    if isinstance(layer_weights, Mapping):
        if set(layer_weights) != set(names):
            raise ParameterError(f"layer_weights names {[*layer_weights]}, expected the layers {names}")
        layer_weights = [layer_weights[name] for name in names]
    weights = np.ones(len(names)) if layer_weights is None else as_array(layer_weights, "layer_weights")
    if weights.shape != (len(names),) or weights.dtype.kind not in "iuf" or not np.isfinite(weights).all():
        raise ParameterError(f"layer_weights={layer_weights!r}, expected {len(names)} finite numbers, one a layer")
    if not weights.sum() > 0:
        hint = '; a graph whose weights below zero repel is kind="signed"' if weights.min() < 0 else ""
        raise ParameterError(f"layer_weights={layer_weights!r} sum to {weights.sum():g}, expected a sum > 0{hint}")
    several = build.several(made, weights.tolist(), normalize=normalize, names=[str(name) for name in names])
    return replace(several, parts=dict(zip(names, made, strict=True))).with_names(nodes, remarks)


def _aligned(
    G: Any, kind: Kind | None, weight: str | None, symmetrize: str | None
) -> tuple[list[Hashable], list[LayeredGraph], Sequence[Hashable], list[np.ndarray], tuple[str, ...]]:
    """The names of some graphs, the graphs on all of their nodes, the names of these, and which nodes each has."""
    names: list[Hashable] = list(G) if isinstance(G, Mapping) else list(range(len(G)))
    graphs = list(G.values()) if isinstance(G, Mapping) else G
    kinds = [kind or _kind_of(graph, symmetrize) for graph in graphs]
    if "bipartite" in kinds:
        raise ParameterError("several bipartite graphs are not served, expected layers of nodes of one kind")
    read = []
    for name, of_kind, graph in zip(names, kinds, graphs, strict=True):
        try:
            with warnings.catch_warnings():  # of nodes that are isolated in one layer there is nothing to say
                warnings.simplefilter("ignore", IsolatedNodesWarning)
                read.append(_entries_of(graph, of_kind, weight, symmetrize))
        except GraphValidationError as problem:
            problem.args = (f"layer {name!r}: {problem}",)
            raise
    if not any(one.is_named for one in read):
        sizes = [one.matrix.shape[0] for one in read]
        if len({*sizes}) > 1:
            other = next(i for i, size in enumerate(sizes) if size != sizes[0])
            raise GraphValidationError(
                f"layer {names[other]!r} has {sizes[other]} nodes and layer {names[0]!r} has {sizes[0]}, expected "
                "equally many, since the nodes of matrices have no names; graphs with names are aligned by them"
            )
        nodes: list[Hashable] | None = None
    elif not all(one.is_named for one in read):
        without = next(name for name, one in zip(names, read, strict=True) if not one.is_named)
        raise GraphValidationError(f"layer {without!r} has no names of nodes and others have, expected all to, or none")
    else:
        nodes = list(dict.fromkeys(node for one in read for node in _names(one)))
    n = read[0].matrix.shape[0] if nodes is None else len(nodes)
    row_of = {} if nodes is None else {node: row for row, node in enumerate(nodes)}
    made, there = [], []
    for of_kind, one in zip(kinds, read, strict=True):
        rows = np.arange(n) if nodes is None else np.array([row_of[node] for node in _names(one)])
        entries = one.matrix.tocoo()
        ends = tuple(rows[end] for end in entries.coords)
        made.append(BUILD[of_kind](sparse.coo_array((entries.data, ends), shape=(n, n)).tocsr()))
        there.append(np.isin(np.arange(n), rows))
    told = [[remark for remark in one.remarks if matrices.ISOLATED not in remark] for one in read]
    remarks = [f"layer {name!r}: {remark}" for name, those in zip(names, told, strict=True) for remark in those]
    return names, made, nodes or range(n), there, tuple(remarks)


def _names(entries: Entries) -> Sequence[Hashable]:
    return range(entries.matrix.shape[0]) if entries.nodes is None else as_names(entries.nodes)


def _are_graphs(G: Any) -> bool:
    """Whether something is a list of graphs, or a dict of them."""
    graphs = list(G.values()) if isinstance(G, Mapping) else G if isinstance(G, list) else []
    return len(graphs) > 0 and all(map(_is_graph, graphs))


def _is_graph(G: Any) -> bool:
    if sparse.issparse(G) or isinstance(G, Graph | Edges | str | os.PathLike) or hasattr(G, "adjacency"):
        return True
    return (isinstance(G, np.ndarray) and G.ndim == 2) or origin(G) in LIBRARIES


def _kind_of(G: Any, symmetrize: str | None) -> Kind:
    """The kind of a graph of which only its type speaks."""
    if gate.points(G):
        return "directed" if symmetrize is None else "undirected"
    is_matrix = sparse.issparse(G) or isinstance(G, np.ndarray)
    is_rectangular = is_matrix and len(G.shape) == 2 and G.shape[0] != G.shape[1] and 0 not in G.shape
    if is_rectangular and isinstance(G, np.ndarray) and G.shape[1] in (2, 3):
        problem = f"G has shape {G.shape}, a matrix between two sides or a list of edges"
        remedy = "pass kind='bipartite', or edges as a list of tuples: [*map(tuple, G.tolist())]"
        raise GraphValidationError(f"{problem}, expected to be told which: {remedy}")
    return "bipartite" if is_rectangular else "undirected"


def _entries_of(G: Any, kind: Kind, weight: str | None, symmetrize: str | None) -> Entries:
    """The weights of a graph of a kind, checked; signed and undirected ones are symmetric."""
    if kind == "undirected":
        graph = gate.as_graph(G, weight=weight, symmetrize=symmetrize)
        is_array = sparse.issparse(G) or isinstance(G, Graph | np.ndarray)
        is_named = graph.nodes is not None or graph.file is not None or not is_array
        return Entries(graph.to_scipy(), graph.nodes, graph.remarks, is_named)
    entries = _read(G, kind, weight)
    matrix = entries.matrix
    if kind != "bipartite" and matrix.shape[0] != matrix.shape[1]:
        remedy = 'pass kind="bipartite" if rows and columns are nodes of two kinds'
        raise GraphValidationError(f"G has shape {matrix.shape}, expected a square matrix; {remedy}")
    if 0 in matrix.shape or sum(matrix.shape) >= 2**31:
        raise GraphValidationError(f"G has shape {matrix.shape}, expected at least 1 node, and fewer than 2^31")
    nodes = None if kind == "bipartite" else entries.nodes
    gate.refuse_impossible_weight(matrix, nodes, weight, signed=kind == "signed")
    matrix.eliminate_zeros()
    if kind == "signed":
        matrix = _undirected_signs(matrix, symmetrize or ("max" if entries.lists_once else None))
    sizes = abs(matrix) if kind == "signed" else matrix
    for axis in (0, 1):
        matrices.check_degrees(sizes.sum(axis=axis))
    return entries._replace(matrix=matrix)


def _undirected_signs(matrix: sparse.csr_array, symmetrize: str | None) -> sparse.csr_array:
    """The matrix with both directions of each edge joined by the rule, those above zero and those below it apart."""
    gap = abs(matrix - matrix.T)
    if (gap - ROUNDING * abs(matrix).maximum(abs(matrix.T))).max() <= 0.0:
        return matrix if gap.nnz == 0 else ((matrix + matrix.T) * 0.5).tocsr()
    if symmetrize is None:
        raise GraphValidationError(
            'G is not symmetric, expected a signed graph without directions; pass symmetrize="sum" to add up the '
            'weights of both directions, or "max" to keep the larger, of weights below zero by themselves'
        )
    signs = (matrix.maximum(0.0).tocsr(), (-matrix).maximum(0.0).tocsr())
    above, below = (matrices.join_directions(part, symmetrize, ROUNDING)[0] for part in signs)
    return (above - below).tocsr()


def _read(G: Any, kind: Kind, weight: str | None) -> Entries:
    """The weights of a graph as its owner wrote them."""
    from graphclust.io.load import edges_of_file

    library, is_signed, sides = origin(G), kind == "signed", None
    policy, two_kinds = ("signed" if is_signed else None), (True if kind == "bipartite" else None)
    if isinstance(G, Edges):
        return entries_of_edges(G)
    if isinstance(G, str | os.PathLike):
        columns = Columns(weight=None if weight == "weight" else weight)
        return entries_of_edges(edges_of_file(G, "ignore" if weight is None else policy, two_kinds, columns=columns))
    if (edges := gate.edges_in(G, weight, bipartite=two_kinds, weights=policy)) is not None:
        return entries_of_edges(edges)
    if hasattr(G, "is_directed") and hasattr(G, "adjacency"):
        entries = Entries(*gate.matrix_of_networkx(G, weight, is_signed), is_named=True)
        attributes = [[side for _, side in G.nodes(data=name)] for name in SIDES]
        sides = next((of for of in attributes if any(side is not None for side in of)), None)
    elif library in (*gate.GRAPHS, "graphblas", "sparse", "pandas"):
        matrix, nodes, _ = gate.matrix_of_other(G, library, weight, "sum", is_signed)
        is_named = library in (*gate.GRAPHS, "pandas")
        entries = Entries(_plain(matrix, weight, library in gate.GRAPHS), nodes, is_named=is_named)
        sides = next((G.vs[name] for name in SIDES if library == "igraph" and name in G.vs.attributes()), None)
        if library in ("graphblas", "sparse"):
            return entries
    elif isinstance(G, Graph):
        gate.refuse_name_of_weight(weight, "a Graph")
        entries = Entries(_plain(G.to_scipy(), weight), G.nodes, is_named=G.nodes is not None)
    elif sparse.issparse(G) or isinstance(G, np.ndarray):
        gate.refuse_name_of_weight(weight, "a matrix")
        return Entries(_plain(G if sparse.issparse(G) else sparse.csr_array(as_array(G, "G")), weight))
    else:
        raise AssertionError(gate.as_graph(G))  # which refuses it
    return _between_sides(entries, sides) if two_kinds else entries


def _plain(matrix: Any, weight: str | None, has_weights: bool = False) -> sparse.csr_array:
    """A copy of a matrix as float64 CSR, duplicates summed; of booleans, or without weights, each entry is 1."""
    entries = matrices.with_checked_arrays(matrix, "G").tocoo()
    is_pattern = not has_weights and (weight is None or entries.data.dtype == bool)
    plain = sparse.coo_array((matrices.as_float_weights(entries.data), entries.coords), shape=entries.shape).tocsr()
    if is_pattern:
        plain.data = (plain.data != 0).astype(np.float64)
    return plain


def entries_of_edges(edges: Edges) -> Entries:
    """The entries of the edges of a file or a table; repeated ones are added, or without weights count once."""
    sources, targets = (np.concatenate([chunk[end] for chunk in edges.chunks]) for end in (0, 1))
    weighted = all(chunk[2] is not None for chunk in edges.chunks)
    values = np.concatenate([chunk[2] for chunk in edges.chunks]) if weighted else np.ones(len(sources))
    n_rows, n_columns = edges.n_nodes, edges.n_nodes
    if edges.n_sources is not None:
        n_rows, n_columns = edges.n_sources, edges.n_nodes - edges.n_sources
        targets = targets - n_rows
    matrix = sparse.coo_array((values, (sources, targets)), shape=(n_rows, n_columns)).tocsr()
    nodes, remarks = edges.nodes, [*edges.remarks, *edges.repairs]
    if not weighted:
        matrix.data[:] = 1.0
    if n_repeated := len(sources) - matrix.nnz:
        what_became = "added up" if weighted else "counted once"
        remarks.append(f"{amount(n_repeated, 'repeated entry was', 'repeated entries were')} {what_became}")
    if edges.symmetric == "stored once" and edges.n_sources is None:
        matrix = (matrix + matrix.T - sparse.diags_array(matrix.diagonal())).tocsr()
    if edges.gaps:  # the ids that no edge has are no nodes
        there = np.union1d(sources, targets)
        if len(there) < edges.n_nodes:
            matrix, nodes = matrix[there][:, there], there
    return Entries(matrix, nodes, remarks, True, edges.symmetric == "list", edges.columns)


def _between_sides(entries: Entries, sides: Sequence[Any] | None) -> Entries:
    """The entries from nodes of the side 0 to those of the side 1, in whichever direction they were; no other is."""
    nodes = _names(entries)
    if sides is None:
        wrong = "the nodes of G have no attribute 'bipartite' (of igraph 'type'), expected 0 or 1 for each"
        raise GraphValidationError(f"{wrong}; networkx.set_node_attributes(G, sides, 'bipartite') sets it")
    unknown = next((node for node, side in zip(nodes, sides, strict=True) if side not in (0, 1)), None)
    if unknown is not None:
        raise GraphValidationError(f"node {unknown!r} has no side, expected 0 or 1 as its attribute 'bipartite'")
    of_one = np.array([bool(side) for side in sides])
    row, column = entries.matrix.tocoo().coords
    within = np.flatnonzero(of_one[row] == of_one[column])
    if len(within):
        u, v = nodes[row[within[0]]], nodes[column[within[0]]]
        problem = f"edge ({u!r}, {v!r}) lies inside the side {int(of_one[row[within[0]]])}"
        remedy = 'correct the attribute, or leave kind="bipartite" out'
        raise GraphValidationError(f"{problem}, expected edges between the sides alone; {remedy}")
    zeros, ones = np.flatnonzero(~of_one), np.flatnonzero(of_one)
    matrix, backward = entries.matrix[zeros][:, ones], entries.matrix[ones][:, zeros].T.tocsr()
    is_twice = matrix.nnz == backward.nnz and (matrix != backward).nnz == 0  # as an undirected graph has its edges
    ordered = [nodes[node] for node in (*zeros.tolist(), *ones.tolist())]
    return entries._replace(matrix=matrix if is_twice else (matrix + backward).tocsr(), nodes=ordered)
