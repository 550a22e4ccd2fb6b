"""Edits of a graph: edges are added, removed and reweighted, nodes added and removed; rows are spliced."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_names
from graphclust.compiled.graphs.csr_checks import sum_rows
from graphclust.compiled.graphs.objective import Rows, RowSums
from graphclust.compiled.graphs.row_splicing import NewEntries, find_entries, splice_entries
from graphclust.errors import EditError, GraphWarning, ParameterError, amount, warn_caller
from graphclust.graph.container import Graph
from graphclust.graph.from_csr import check_degrees
from graphclust.graph.node_order import node_names

LONG_NUMBER = 20  # digits, more than any number of nodes has
Edges = Iterable[tuple[Any, ...]] | npt.NDArray[Any] | None


class EditedGraph(NamedTuple):
    """A graph after edits, and what became of its nodes.

    before : the row that each node had before, -1 for new ones; int64, shape (n_nodes,).
    n_changed : how many edges of each node changed, those to removed nodes too; int64, shape (n_nodes,).
    rows : the row of each node in `changes`: the earlier row; new nodes follow after the earlier rows.
    changes : the edges that changed, each once or several times, and by how much.
    """

    graph: Graph
    before: npt.NDArray[np.int64]
    n_changed: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    changes: Changes


class Changes(NamedTuple):
    """Edges by the rows of their ends, each with a weight, 0 for none, or with a change of weight; (m,) each."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]


class Entries(NamedTuple):
    """Both entries of some edges in the order of the rows, (m,) each; a self-loop has one.

    edge : index of the edge. place : of the entry in the rows, or where it would be inserted. is_there : whether the
    entry exists.
    """

    row: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    edge: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    is_there: npt.NDArray[np.bool_]


def apply_edits(
    graph: Graph,
    added: Edges = None,
    removed: Edges = None,
    reweighted: Edges = None,
    removed_nodes: Iterable[Hashable] | None = None,
) -> EditedGraph:
    """The graph after edits; without remarks and file.

    added : edges (u, v) or (u, v, weight > 0) that are not there; a node that is not there comes about. removed : edges
        (u, v) that are. reweighted : edges (u, v, weight > 0) that are. Lists of tuples, or arrays of 2 or 3 columns.
        Each edge in one direction and once. Nodes are meant by name, or without names by row: a new node has the next
        row then.
    removed_nodes : nodes to leave out with their edges; those of a graph without names are named by their rows before.

    Raises EditError for an edge that is there already, is not there or is named twice, for a node that is not there,
    and for an added or reweighted edge of a node that is left out; ParameterError for a weight that is not > 0;
    GraphValidationError for weights out of proportion; TypeError for what are no edges.
    """
    given = {name: _as_edges(value, name, name != "removed") for name, value in
             (("added", added), ("removed", removed), ("reweighted", reweighted))}  # fmt: skip
    finder = _Nodes(graph)
    parts = {name: finder.changes(name, edges, name == "added") for name, edges in given.items()}
    wide, changes = _with_more_nodes(graph, finder), _concatenate(parts.values())
    entries = _entries_of(wide, changes)
    _refuse_wrong(wide, parts, changes, entries)
    made, by = _with_changes(wide, changes, entries), _differences(wide, changes, entries)
    n_changed = np.bincount(np.concatenate([changes.source, changes.target]), minlength=wide.n_nodes)
    rows = np.arange(wide.n_nodes)
    gone = finder.rows_of("removed_nodes", () if removed_nodes is None else removed_nodes)
    if len(gone):
        _refuse_edges_of_gone(wide, parts, gone)
        edges = _edges_of(made, gone)
        entries = _entries_of(made, edges)
        by = _concatenate([by, _differences(made, edges, entries)])
        rows = np.setdiff1d(rows, gone)
        n_changed = (n_changed + np.bincount(edges.target, minlength=wide.n_nodes))[rows]
        names = node_names(wide)
        made = without_rows(_with_changes(made, edges, entries), rows)
        made = replace(made, nodes=[names[row] for row in rows.tolist()])
    return EditedGraph(made, np.where(rows < graph.n_nodes, rows, -1), n_changed, rows, by)


def _concatenate(parts: Iterable[Changes]) -> Changes:
    return Changes(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _entries_of(graph: Graph, changes: Changes) -> Entries:
    source, target, _ = changes
    twice = np.flatnonzero(source != target)
    row, column = np.concatenate([source, target[twice]]), np.concatenate([target, source[twice]])
    order = np.argsort(row * graph.n_nodes + column)
    row, column, edge = row[order], column[order], np.concatenate([np.arange(len(source)), twice])[order]
    return Entries(row, column, edge, *places_of(graph, row, column))


def _differences(graph: Graph, changes: Changes, entries: Entries) -> Changes:
    """By how much the weight of each edge changes."""
    weight, there = changes.weight.copy(), entries.is_there
    weight[entries.edge[there]] -= 1.0 if graph.weights is None else graph.weights[entries.place[there]]
    return changes._replace(weight=weight)


def _edges_of(graph: Graph, nodes: npt.NDArray[np.int64]) -> Changes:
    """The edges of some nodes as changes to no weight, each once, from one of the nodes."""
    starts, lengths = graph.indptr[nodes], graph.indptr[nodes + 1] - graph.indptr[nodes]
    source = np.repeat(nodes, lengths)
    target = graph.indices[ranges(starts, lengths)].astype(np.int64)
    is_chosen = np.zeros(graph.n_nodes, bool)
    is_chosen[nodes] = True
    once = ~is_chosen[target] | (target >= source)
    return Changes(source[once], target[once], np.zeros(int(once.sum())))


def _with_changes(graph: Graph, changes: Changes, entries: Entries) -> Graph:
    """The graph in which edges have the weights of the changes, 0 for none."""
    if not len(entries.row):
        return graph
    w = changes.weight[entries.edge]
    gone, new = entries.is_there & (w == 0.0), ~entries.is_there & (w > 0.0)
    n_entries = graph.n_entries + int(np.count_nonzero(new)) - int(np.count_nonzero(gone))
    is_weighted = graph.weights is not None or not (w[w > 0.0] == 1.0).all()
    indices, of_entries = np.empty(n_entries, np.int32), np.empty(n_entries if is_weighted else 0)
    splice_entries(graph.rows, NewEntries(entries.place, entries.is_there, entries.column, w), indices, of_entries)
    weights = of_entries if is_weighted else None
    lengths = np.diff(graph.indptr) + np.bincount(entries.row[new], minlength=graph.n_nodes)
    lengths -= np.bincount(entries.row[gone], minlength=graph.n_nodes)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    degrees, loops = graph.degrees.copy(), graph.loops.copy()
    is_loop = changes.source == changes.target
    loops[changes.source[is_loop]] = changes.weight[is_loop]
    rows = entries.row[np.concatenate([[True], entries.row[1:] != entries.row[:-1]])]
    degrees[rows] = _row_sums(indptr, indices, weights, rows)
    check_degrees(degrees[rows])
    return Graph(indptr, indices, weights, degrees, loops, graph.nodes, node_weights=graph.node_weights)


def without_rows(graph: Graph, kept: npt.NDArray[np.int64]) -> Graph:
    """The graph of some nodes, in increasing order, if all others are isolated; without names."""
    number = np.zeros(graph.n_nodes, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    indptr = np.concatenate([graph.indptr[kept], graph.indptr[-1:]])
    of_nodes = None if graph.node_weights is None else graph.node_weights[kept]
    indices, degrees, loops = number[graph.indices], graph.degrees[kept], graph.loops[kept]
    return Graph(indptr, indices, graph.weights, degrees, loops, node_weights=of_nodes)


def places_of(
    graph: Graph, u: npt.NDArray[np.int64], v: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Where entries (u, v) stand or would stand, and whether they are there."""
    place, is_there = np.empty(len(u), np.int64), np.empty(len(u), np.bool_)
    find_entries(graph.rows, u, v, place, is_there)
    return place, is_there


def _row_sums(
    indptr: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float64] | None,
    rows: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Degrees of the nodes of some rows, as the gate sums them."""
    lengths = indptr[rows + 1] - indptr[rows]
    if weights is None:
        return lengths.astype(np.float64)
    places, sums = ranges(indptr[rows], lengths), RowSums(*np.zeros((2, len(rows))))
    sum_rows(0, len(rows), 0, Rows(np.append(0, np.cumsum(lengths)), indices[places], weights[places]), sums)
    return sums.degrees


def ranges(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Places start, start + 1, ... of several ranges, one after the other."""
    return np.arange(int(lengths.sum())) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)


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
        if isinstance(names, str) or not isinstance(names, Iterable):
            kind = type(names).__name__
            raise TypeError(f"{argument}={names!r} is a {kind}, expected a list of nodes, as [{names!r}]")
        return np.unique(self.rows(argument, list(names), False))

    def rows(self, argument: str, names: Sequence[Any] | npt.NDArray[Any], may_come: bool) -> npt.NDArray[np.int64]:
        """The rows of the nodes that an argument names; new ones get the rows after the last where they may come."""
        if self.row is None:
            try:
                rows = np.asarray(names if len(names) else np.empty(0, np.int64))
            except ValueError:  # of lists
                rows = np.empty(0, object)
            if rows.dtype.kind not in "iu" or rows.ndim != 1:
                raise TypeError(
                    f"{argument} names nodes by {rows.dtype}, expected whole numbers: the nodes have no names"
                )
            least, highest = (int(rows.min()), int(rows.max())) if len(rows) else (0, -1)
            most = self.end if not may_come else max(self.end, highest + 1)
            if least < 0 or highest >= most or most > self.end + 2 * len(rows):
                bad = least if least < 0 else highest
                new = f", or for new ones the next rows: {self.end}, {self.end + 1}, ..." if may_come else ""
                raise EditError(
                    f"{argument} names node {bad}, expected a row of the graph, which has {amount(self.n, 'node')}{new}"
                )
            self.end = most
            return rows.astype(np.int64)
        found = np.empty(len(names), np.int64)
        for place, name in enumerate(as_names(names)):
            try:
                row = self.row.get(name, -1)
            except TypeError:
                raise TypeError(f"{argument} names node {name!r}, a {type(name).__name__}; expected a name") from None
            if row < 0:
                if not may_come:
                    raise EditError(
                        f"{argument} names node {name!r}, which the graph does not have; {self._remedy(argument, name)}"
                    )
                if name is None or name != name:  # nan is not itself
                    raise ParameterError(f"{argument} holds an edge that ends in {name!r}, expected names of nodes")
                if (there := self._other_form(name)) is not None:
                    warn_caller(
                        f"{argument} names node {name!r}, a {type(name).__name__}, which comes about beside {there!r}, "
                        f"a {type(there).__name__}, that the graph has; expected names as the graph has them",
                        GraphWarning,
                    )
                row = self.row[name] = self.end
                self.new.append(name)
                self.end += 1
            found[place] = row
        return found

    def _other_form(self, name: Hashable) -> Hashable | None:
        """The name of a node that is the same number as text, or the other way round; None where there is none."""
        form: Hashable | None = None
        if isinstance(name, str):
            is_number = name.isascii() and name.removeprefix("-").isdigit() and len(name) < LONG_NUMBER
            form = int(name) if is_number else None
        elif isinstance(name, Integral):
            form = str(name)
        return form if form is not None and self.row is not None and form in self.row else None

    def _remedy(self, argument: str, name: Hashable) -> str:
        """What helps who names a node that is not there."""
        if (there := self._other_form(name)) is not None:
            return f"it has {there!r}, a {type(there).__name__}"
        return "added= takes edges of new nodes" if argument == "reweighted" else "leave it out"


def _with_more_nodes(graph: Graph, finder: _Nodes) -> Graph:
    """The graph with the new nodes, without edges yet; each weighs 1 where the nodes of the graph have weights."""
    more, of_nodes = finder.end - graph.n_nodes, graph.node_weights
    if not more:
        columns = graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, graph.nodes
        return Graph(*columns, node_weights=of_nodes)
    zeros = np.zeros(more)
    of_nodes = None if of_nodes is None else np.concatenate([of_nodes, np.ones(more)])
    nodes = None if graph.nodes is None else [*node_names(graph), *finder.new]
    indptr = np.concatenate([graph.indptr, np.full(more, graph.n_entries)])
    degrees, loops = np.concatenate([graph.degrees, zeros]), np.concatenate([graph.loops, zeros])
    return Graph(indptr, graph.indices, graph.weights, degrees, loops, nodes, node_weights=of_nodes)


def _refuse_other_forms(edges: Any, argument: str, form: str) -> None:
    """Refuse a table or a graph of edges, with the list that it holds."""
    for attribute, remedy in (("itertuples", "itertuples(index=False)"), ("adjacency", "edges")):
        if hasattr(edges, attribute):
            raise TypeError(
                f"{argument} is a {type(edges).__name__}, expected a list of {form}; pass [*{argument}.{remedy}]"
            )


def _as_edges(edges: Edges, argument: str, weighted: bool) -> tuple[Any, Any, npt.NDArray[np.float64]]:
    """Ends and weights; 0 stands for the weight of removed ones."""
    columns: list[Any]
    if edges is None:
        return [], [], np.empty(0)
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] not in ((2, 3) if weighted else (2,)):
            raise TypeError(f"{argument} has shape {edges.shape}, expected (m, 2)" + (" or (m, 3)" if weighted else ""))
        ends = edges[:, :2]
        if edges.dtype.kind == "f" and edges.shape[1] == 3:  # whose weights made floats of the rows
            if not (np.isfinite(ends) & (ends == np.floor(ends))).all():
                raise TypeError(f"{argument} names nodes by numbers that are not whole, expected rows of the graph")
            ends = ends.astype(np.int64)
        columns = [ends[:, 0], ends[:, 1], *([edges[:, 2]] if edges.shape[1] == 3 else [])]
    else:
        form = "(u, v) or (u, v, weight)" if weighted else "(u, v)"
        if isinstance(edges, Mapping) or not isinstance(edges, Iterable):
            raise TypeError(f"{argument} is a {type(edges).__name__}, expected a list of {form}")
        listed = list(edges)
        if not all(isinstance(edge, tuple | list) and len(edge) in ((2, 3) if weighted else (2,)) for edge in listed):
            _refuse_other_forms(edges, argument, form)
            raise TypeError(f"{argument} holds something else than edges, expected a list of {form}")
        if len({len(edge) for edge in listed}) > 1:
            raise TypeError(f"{argument} has weights on some edges only, expected them on all or on none")
        columns = [list(column) for column in zip(*listed, strict=True)] if listed else [[], []]
    if argument == "reweighted" and len(columns) == 2 and len(columns[0]):
        raise TypeError("reweighted has no weights, expected edges (u, v, weight)")
    if not weighted:
        return columns[0], columns[1], np.zeros(len(columns[0]))
    try:
        weight = np.ones(len(columns[0])) if len(columns) == 2 else np.asarray(columns[2], np.float64)
        if weight.ndim != 1:
            raise ValueError(weight.shape)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{argument} holds weights that are not numbers, expected finite numbers > 0") from None
    if not (np.isfinite(weight) & (weight > 0)).all():
        bad = weight[~(np.isfinite(weight) & (weight > 0))][0]
        raise ParameterError(
            f"{argument} holds the weight {bad:g}, expected finite numbers > 0; removed= takes edges away"
        )
    return columns[0], columns[1], weight


def _refuse_wrong(graph: Graph, parts: dict[str, Changes], changes: Changes, entries: Entries) -> None:
    """Edges that are edited twice, added ones that are there, and others that are not."""
    again = (entries.row[1:] == entries.row[:-1]) & (entries.column[1:] == entries.column[:-1])
    names = node_names(graph)

    def name_of(edge: int) -> str:
        return f"({names[int(changes.source[edge])]!r}, {names[int(changes.target[edge])]!r})"

    if again.any():
        edge = name_of(int(entries.edge[int(again.argmax())]))
        raise EditError(f"the edge {edge} is edited twice, expected each edge once")
    is_there = np.zeros(len(changes.source), bool)
    is_there[entries.edge] = entries.is_there
    first = 0
    for argument, part in parts.items():
        last = first + len(part.source)
        wrong = np.flatnonzero(is_there[first:last] == (argument == "added"))
        if len(wrong) and argument == "added":
            edge = name_of(int(wrong[0]))
            raise EditError(f"added holds the edge {edge}, which is there already; reweighted= changes its weight")
        if len(wrong):
            edge = name_of(first + int(wrong[0]))
            remedy = "leave it out" if argument == "removed" else "added= takes new edges"
            raise EditError(f"{argument} holds the edge {edge}, which the graph does not have; {remedy}")
        first = last


def _refuse_edges_of_gone(graph: Graph, parts: dict[str, Changes], gone: npt.NDArray[np.int64]) -> None:
    """Edges that are added or reweighted at nodes that are left out: the edit would come to nothing."""
    names = node_names(graph)
    for argument in ("added", "reweighted"):
        ends = np.stack(parts[argument][:2], axis=1)
        of_gone = np.isin(ends, gone)
        if of_gone.any():
            u, v = ends[int(of_gone.any(axis=1).argmax())].tolist()
            node = u if u in gone else v
            raise EditError(
                f"{argument} holds the edge ({names[u]!r}, {names[v]!r}), but removed_nodes leaves out {names[node]!r}"
                "; expected edges of nodes that stay"
            )
