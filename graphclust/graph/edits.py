"""Edits of a graph: edges added, removed and given other weights, nodes that come and go; rows are spliced."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_names
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.node_order import node_names

Edges = Iterable[tuple[Any, ...]] | npt.NDArray[Any] | None


class Edited(NamedTuple):
    """A graph after edits, and what became of its nodes.

    before : the row that each node had before, -1 for new ones; int64, shape (n_nodes,).
    n_changed : how many edges of each node changed; int64, shape (n_nodes,). A neighbor that is gone counts.
    """

    graph: Graph
    before: npt.NDArray[np.int64]
    n_changed: npt.NDArray[np.int64]


class Changes(NamedTuple):
    """Edges as rows of their ends and the weights that they are to have, 0 for none; (m,) each."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]


def edited(
    graph: Graph,
    added: Edges = None,
    removed: Edges = None,
    reweighted: Edges = None,
    removed_nodes: Iterable[Hashable] | None = None,
) -> Edited:
    """The graph after edits; without remarks and file.

    added : edges (u, v) or (u, v, weight > 0) that are not there; a node that is not there comes about. removed : edges
        (u, v) that are. reweighted : edges (u, v, weight > 0) that are. Lists of tuples, or arrays of 2 or 3 columns.
        Each edge in one direction and once. Nodes are meant by name, or without names by row: a new node has the next
        row then.
    removed_nodes : nodes to leave out with their edges; those of a graph without names are named by their rows before.

    Raises ParameterError for an edge that is there already, is not there or is named twice, for a node that is not
    there, and for a weight that is not > 0; TypeError for what are no edges.
    """
    rows = {name: _as_edges(value, name, name != "removed") for name, value in
            (("added", added), ("removed", removed), ("reweighted", reweighted))}  # fmt: skip
    finder = _Nodes(graph)
    parts = {name: finder.changes(name, edges, name == "added") for name, edges in rows.items()}
    n = graph.n_nodes
    wide = _with_more_nodes(graph, finder)
    _refuse_repeated(parts, wide)
    for name, part in parts.items():
        _refuse_wrong(wide, part, name)
    changes = Changes(*(np.concatenate(values) for values in zip(*parts.values(), strict=True)))
    n_changed = np.bincount(np.concatenate([changes.source, changes.target]), minlength=wide.n_nodes)
    spliced = with_changes(wide, changes) if len(changes.source) else wide
    before = np.where(np.arange(wide.n_nodes) < n, np.arange(wide.n_nodes), -1)
    gone = finder.rows_of("removed_nodes", removed_nodes or ())
    if len(gone):
        for node in gone.tolist():
            n_changed[spliced.neighbors(node)] += 1
        kept = np.setdiff1d(np.arange(wide.n_nodes), gone)
        names = node_names(wide)
        spliced = replace(spliced.subgraph(kept), nodes=[names[place] for place in kept.tolist()])
        before, n_changed = before[kept], n_changed[kept]
    return Edited(spliced, before, n_changed)


def with_changes(graph: Graph, changes: Changes) -> Graph:
    """The graph in which edges have the weights of the changes; each edge stands there once."""
    loop = changes.source == changes.target
    u = np.concatenate([changes.source, changes.target[~loop]])
    v = np.concatenate([changes.target, changes.source[~loop]])
    w = np.concatenate([changes.weight, changes.weight[~loop]])
    order = np.lexsort((v, u))
    u, v, w = u[order], v[order], w[order]
    place, is_there = places_of(graph, u, v)
    weights = graph.weights
    if weights is None and not (w[w > 0] == 1.0).all():
        weights = np.ones(graph.n_entries)
    elif weights is not None:
        weights = weights.copy()
    if weights is not None:
        weights[place[is_there]] = w[is_there]
    gone, new = place[is_there & (w == 0.0)], ~is_there & (w > 0.0)
    at = place[new] - np.searchsorted(gone, place[new])
    indices = np.insert(np.delete(graph.indices, gone), at, v[new].astype(np.int32))
    lengths = np.diff(graph.indptr) + np.bincount(u[new], minlength=graph.n_nodes)
    lengths -= np.bincount(u[is_there & (w == 0.0)], minlength=graph.n_nodes)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    if weights is not None:
        weights = np.insert(np.delete(weights, gone), at, w[new])
    degrees, loops = graph.degrees.copy(), graph.loops.copy()
    loops[changes.source[loop]] = changes.weight[loop]
    rows = np.unique(u)
    degrees[rows] = _row_sums(indptr, weights, rows)
    return Graph(indptr, indices, weights, degrees, loops, graph.nodes)


def places_of(
    graph: Graph, u: npt.NDArray[np.int64], v: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Where entries (u, v) stand or would stand, and whether they are there; binary searches side by side."""
    low, high = graph.indptr[u], graph.indptr[u + 1]
    end = high.copy()
    while (low < high).any():
        middle = (low + high) // 2
        is_below = (low < high) & (graph.indices[np.minimum(middle, max(graph.n_entries - 1, 0))] < v)
        high = np.where((low < high) & ~is_below, middle, high)
        low = np.where(is_below, middle + 1, low)
    is_there = low < end
    is_there[is_there] = graph.indices[low[is_there]] == v[is_there]
    return low, is_there


def _row_sums(
    indptr: npt.NDArray[np.int64], weights: npt.NDArray[np.float64] | None, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    lengths = indptr[rows + 1] - indptr[rows]
    if weights is None:
        return lengths.astype(np.float64)
    group = np.repeat(np.arange(len(rows)), lengths)
    within = np.arange(len(group)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.bincount(group, weights=weights[indptr[rows][group] + within], minlength=len(rows)).astype(np.float64)


class _Nodes:
    """The rows of nodes by name; new names get the next rows."""

    def __init__(self, graph: Graph):
        self.n = graph.n_nodes
        self.row = None if graph.nodes is None else {name: row for row, name in enumerate(node_names(graph))}
        self.new: list[Hashable] = []
        self.end = graph.n_nodes

    def changes(self, argument: str, edges: tuple[Any, Any, npt.NDArray[np.float64]], may_come: bool) -> Changes:
        source, target, weight = edges
        return Changes(self.rows(argument, source, may_come), self.rows(argument, target, may_come), weight)

    def rows_of(self, argument: str, names: Iterable[Hashable]) -> npt.NDArray[np.int64]:
        return np.unique(self.rows(argument, list(names), False))

    def rows(self, argument: str, names: Sequence[Any] | npt.NDArray[Any], may_come: bool) -> npt.NDArray[np.int64]:
        if self.row is None:
            rows = np.asarray(names if len(names) else np.empty(0, np.int64))
            if rows.dtype.kind not in "iu":
                raise TypeError(
                    f"{argument} names nodes by {rows.dtype}, expected whole numbers: the nodes have no names"
                )
            most = self.end if not may_come else max(self.end, int(rows.max(initial=-1)) + 1)
            if len(rows) and (rows.min() < 0 or rows.max() >= most or most > self.end + 2 * len(rows)):
                bad = rows[(rows < 0) | (rows >= self.end)][0]
                raise ParameterError(f"{argument} names node {bad}, expected one of the {self.n} nodes of the graph")
            self.end = most
            return rows.astype(np.int64)
        found = np.empty(len(names), np.int64)
        for place, name in enumerate(as_names(names)):
            row = self.row.get(name, -1)
            if row < 0:
                if not may_come:
                    raise ParameterError(f"{argument} names node {name!r}, which the graph does not have")
                row = self.row[name] = self.end
                self.new.append(name)
                self.end += 1
            found[place] = row
        return found


def _with_more_nodes(graph: Graph, finder: _Nodes) -> Graph:
    """The graph with the new nodes, without edges yet."""
    more = finder.end - graph.n_nodes
    if not more:
        return Graph(graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, graph.nodes)
    zeros = np.zeros(more)
    nodes = None if graph.nodes is None else [*node_names(graph), *finder.new]
    indptr = np.concatenate([graph.indptr, np.full(more, graph.n_entries)])
    degrees, loops = np.concatenate([graph.degrees, zeros]), np.concatenate([graph.loops, zeros])
    return Graph(indptr, graph.indices, graph.weights, degrees, loops, nodes)


def _as_edges(edges: Edges, argument: str, weighted: bool) -> tuple[Any, Any, npt.NDArray[np.float64]]:
    """Ends and weights; 0 stands for the weight of removed ones."""
    columns: list[Any]
    if edges is None:
        return [], [], np.empty(0)
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] not in ((2, 3) if weighted else (2,)):
            raise TypeError(f"{argument} has shape {edges.shape}, expected (m, 2)" + (" or (m, 3)" if weighted else ""))
        ends = edges[:, :2] if edges.dtype.kind in "iu" or edges.shape[1] == 2 else edges[:, :2].astype(np.int64)
        columns = [ends[:, 0], ends[:, 1], *([edges[:, 2]] if edges.shape[1] == 3 else [])]
    else:
        listed = list(edges)
        if not all(isinstance(edge, tuple | list) and len(edge) in ((2, 3) if weighted else (2,)) for edge in listed):
            form = "(u, v) or (u, v, weight)" if weighted else "(u, v)"
            raise TypeError(f"{argument} holds something else than edges {form}, expected a list of those")
        if len({len(edge) for edge in listed}) > 1:
            raise TypeError(f"{argument} has weights on some edges only, expected them on all or on none")
        columns = [list(column) for column in zip(*listed, strict=True)] if listed else [[], []]
    if argument == "reweighted" and len(columns) == 2 and len(columns[0]):
        raise TypeError("reweighted has no weights, expected edges (u, v, weight)")
    if not weighted:
        return columns[0], columns[1], np.zeros(len(columns[0]))
    weight = np.ones(len(columns[0])) if len(columns) == 2 else np.asarray(columns[2], np.float64)
    if not (np.isfinite(weight) & (weight > 0)).all():
        bad = weight[~(np.isfinite(weight) & (weight > 0))][0]
        raise ParameterError(
            f"{argument} holds the weight {bad:g}, expected finite numbers > 0; removed= takes edges away"
        )
    return columns[0], columns[1], weight


def _refuse_repeated(parts: dict[str, Changes], graph: Graph) -> None:
    ends = [np.sort(np.stack([part.source, part.target], axis=1), axis=1) for part in parts.values()]
    key = np.concatenate(ends) @ np.array([graph.n_nodes, 1])
    distinct, counts = np.unique(key, return_counts=True)
    if (counts > 1).any():
        u, v = divmod(int(distinct[counts > 1][0]), graph.n_nodes)
        names = node_names(graph)
        raise ParameterError(f"the edge ({names[u]!r}, {names[v]!r}) is edited twice, expected each edge once")


def _refuse_wrong(graph: Graph, part: Changes, argument: str) -> None:
    """Added edges that are there, and others that are not."""
    is_there = places_of(graph, part.source, part.target)[1]
    wrong = np.flatnonzero(is_there if argument == "added" else ~is_there)
    if len(wrong):
        names = node_names(graph)
        edge = f"({names[int(part.source[wrong[0]])]!r}, {names[int(part.target[wrong[0]])]!r})"
        if argument == "added":
            raise ParameterError(f"added holds the edge {edge}, which is there already; reweighted= changes its weight")
        raise GraphValidationError(f"{argument} holds the edge {edge}, which the graph does not have")
