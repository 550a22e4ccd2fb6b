"""Edits of a graph: edges are added, removed and reweighted, nodes added, removed and weighed; rows are spliced."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.csr import NewEntries, find_entries, splice_entries, sum_rows
from graphclust.compiled.graphs.objective import Rows, RowSums
from graphclust.errors import EditError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph, graph_of
from graphclust.graph.matrices import check_degrees
from graphclust.graph.node_order import node_names
from graphclust.io.kinds import BUILD
from graphclust.updates.edit_arguments import Edges, NodeRows, SideRows, as_edges, as_list, as_node_weights

WRONG_EDGE = {
    "added": "is there already; reweighted= changes its weight",
    "removed": "the graph does not have; leave it out",
    "reweighted": "the graph does not have; added= takes new edges",
}


class EditedGraph(NamedTuple):
    """A graph after edits, and what became of its nodes.

    before : the row that each node had before, -1 for new ones; int64, shape (n_nodes,).
    n_changed : how many edges of each node changed, those to removed nodes too; int64, shape (n_nodes,).
    rows : the row of each node in `changes`: the earlier row; new nodes follow after the earlier rows.
    changes : the edges that changed, each once or several times, and by how much.
    node_weight : what the edits say that each node weighs, 0 for nothing, float64, shape (n_nodes,); None: of none.
    layered : the graph with its layers, where it has any.
    """

    graph: Graph
    before: npt.NDArray[np.int64]
    n_changed: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    changes: Changes
    node_weight: npt.NDArray[np.float64] | None = None
    layered: LayeredGraph | None = None

    def carry(self, values: npt.NDArray[Any], new: Any) -> npt.NDArray[Any]:
        """Values of the nodes before as those of the nodes now, some value for new ones."""
        n = len(self.before) - len(values)
        if n >= 0 and np.array_equal(self.before[: len(values)], np.arange(len(values))):  # no node is gone
            return values if n == 0 else np.concatenate([values, np.full(n, new, values.dtype)])
        return np.where(self.before >= 0, values[self.before], new)

    def carry_sizes(self, sizes: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
        """What each node counts for now, from what each did before, None for 1; a new one 1 where nothing is said."""
        if sizes is None and self.node_weight is None:
            return None
        carried = np.ones(len(self.before)) if sizes is None else self.carry(sizes, 1.0)
        return carried if self.node_weight is None else np.where(self.node_weight > 0.0, self.node_weight, carried)


class Changes(NamedTuple):
    """Edges by the rows of their ends, each with a weight, 0 for none, or with a change of weight; (m,) each."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]


class Entries(NamedTuple):
    """The entries of some edges in the order of the rows, (m,) each: both of an edge, one of a self-loop or an arc.

    edge : index of the edge. place : of the entry in the rows, or where it would be inserted. is_there : whether the
    entry exists.
    """

    row: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    edge: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    is_there: npt.NDArray[np.bool_]


def apply_edits(
    graph: Graph, added: Edges = None, removed: Edges = None, reweighted: Edges = None,
    added_nodes: Iterable[Hashable] | None = None, removed_nodes: Iterable[Hashable] | None = None,
    node_weight: Any = None,
    *, kind: str = "undirected", finder: NodeRows | None = None,
) -> EditedGraph:  # fmt: skip
    """The graph after edits, without remarks and file; see `Clustering.update` for these and what they raise.

    Nodes of `added_nodes` come before those that `added` names; `removed_nodes` of a graph without names are named by
    their rows before.
    kind : of "directed" and "bipartite" graphs the rows hold arcs, from row to column; of "signed" ones weights may be
        below zero. finder : of the nodes, where edges do not just name rows of the graph.

    Raises GraphValidationError for weights out of proportion, too.
    """
    finder, one_way = finder or NodeRows(graph), kind in ("directed", "bipartite")
    finder.add(added_nodes)
    given = {"added": added, "removed": removed, "reweighted": reweighted}
    parts = {}
    for argument, edges in given.items():
        source, target, weight = as_edges(edges, argument, argument != "removed", kind == "signed")
        parts[argument] = Changes(*finder.ends(argument, source, target, argument == "added"), weight)
    wide, changes = _with_more_nodes(graph, finder), _concatenate(parts.values())
    entries = _entries_of(wide, changes, one_way)
    _refuse_wrong(wide, parts, changes, entries)
    made, by = _with_changes(wide, changes, entries), _differences(wide, changes, entries)
    n_changed = np.bincount(np.concatenate([changes.source, changes.target]), minlength=wide.n_nodes)
    rows = np.arange(wide.n_nodes)
    gone = np.unique(finder.rows("removed_nodes", as_list("removed_nodes", removed_nodes), False))
    names, weights = as_node_weights(node_weight)
    weighed, of_nodes = finder.rows("node_weight", names, False), None
    if len(weighed):
        of_nodes = np.zeros(wide.n_nodes)
        of_nodes[weighed] = weights
    if len(gone) == wide.n_nodes:
        raise EditError("removed_nodes leaves out all nodes, expected at least one to stay")
    if len(gone):
        _refuse_edits_of_gone(wide, parts, gone, graph.n_nodes, weighed)
        edges = _edges_of(made, gone, one_way)
        entries = _entries_of(made, edges, one_way)
        by = _concatenate([by, _differences(made, edges, entries)])
        rows = np.setdiff1d(rows, gone)
        n_changed = (n_changed + np.bincount(np.concatenate(edges[:2]), minlength=wide.n_nodes))[rows]
        made = without_rows(_with_changes(made, edges, entries), rows)
        stays = np.ones(wide.n_nodes, bool)
        stays[gone] = False
        made = replace(made, nodes=[*compress(node_names(wide), stays.tolist())])
        of_nodes = None if of_nodes is None else of_nodes[rows]
    if of_nodes is not None and made.node_weights is not None:
        made = replace(made, node_weights=np.where(of_nodes > 0.0, of_nodes, made.node_weights))
    if not len(gone):
        finder.keep_for(made)
    return EditedGraph(made, np.where(rows < graph.n_nodes, rows, -1), n_changed, rows, by, of_nodes)


def _concatenate(parts: Iterable[Changes]) -> Changes:
    return Changes(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _entries_of(graph: Graph, changes: Changes, one_way: bool) -> Entries:
    source, target, _ = changes
    twice = np.flatnonzero((source != target) & (not one_way))
    row, column = np.concatenate([source, target[twice]]), np.concatenate([target, source[twice]])
    order = np.argsort(row * graph.n_nodes + column)
    row, column, edge = row[order], column[order], np.concatenate([np.arange(len(source)), twice])[order]
    return Entries(row, column, edge, *places_of(graph, row, column))


def _differences(graph: Graph, changes: Changes, entries: Entries) -> Changes:
    """By how much the weight of each edge changes."""
    weight, there = changes.weight.copy(), entries.is_there
    weight[entries.edge[there]] -= 1.0 if graph.weights is None else graph.weights[entries.place[there]]
    return changes._replace(weight=weight)


def _edges_of(graph: Graph, nodes: npt.NDArray[np.int64], one_way: bool) -> Changes:
    """The edges of some nodes as changes to no weight, each once, from one of the nodes; all arcs from and to them."""
    if one_way:
        row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        taken = np.flatnonzero(np.isin(row, nodes) | np.isin(graph.indices, nodes))
        return Changes(row[taken], graph.indices[taken].astype(np.int64), np.zeros(len(taken)))
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
    gone, new = entries.is_there & (w == 0.0), ~entries.is_there & (w != 0.0)
    n_entries = graph.n_entries + int(np.count_nonzero(new)) - int(np.count_nonzero(gone))
    is_weighted = graph.weights is not None or not (w[w != 0.0] == 1.0).all()
    indices, of_entries = np.empty(n_entries, np.int32), np.empty(n_entries if is_weighted else 0)
    splice_entries(graph.rows, NewEntries(entries.place, entries.is_there, entries.column, w), indices, of_entries)
    weights = of_entries if is_weighted else None
    lengths = np.diff(graph.indptr) + np.bincount(entries.row[new], minlength=graph.n_nodes)
    lengths -= np.bincount(entries.row[gone], minlength=graph.n_nodes)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    degrees, loops = graph.degrees.copy(), graph.loops.copy()
    is_loop = changes.source == changes.target
    loops[changes.source[is_loop]] = changes.weight[is_loop]
    rows = entries.row[np.diff(entries.row, prepend=-1) > 0]
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


def _with_more_nodes(graph: Graph, finder: NodeRows) -> Graph:
    """The graph with the new nodes, without edges yet; each weighs 1 where the nodes of the graph have weights."""
    more, of_nodes = finder.end - graph.n_nodes, graph.node_weights
    if not more:
        return replace(graph, remarks=(), file=None)
    zeros = np.zeros(more)
    of_nodes = None if of_nodes is None else np.concatenate([of_nodes, np.ones(more)])
    nodes = None if graph.nodes is None else [*node_names(graph), *finder.new]
    indptr = np.concatenate([graph.indptr, np.full(more, graph.n_entries)])
    degrees, loops = np.concatenate([graph.degrees, zeros]), np.concatenate([graph.loops, zeros])
    return Graph(indptr, graph.indices, graph.weights, degrees, loops, nodes, node_weights=of_nodes)


def _refuse_wrong(graph: Graph, parts: dict[str, Changes], changes: Changes, entries: Entries) -> None:
    """Edges that are edited twice, added ones that are there, and others that are not."""
    again = (entries.row[1:] == entries.row[:-1]) & (entries.column[1:] == entries.column[:-1])

    def name_of(edge: int) -> str:
        names = node_names(graph)
        return f"({names[int(changes.source[edge])]!r}, {names[int(changes.target[edge])]!r})"

    if again.any():
        edge = name_of(int(entries.edge[int(again.argmax())]))
        raise EditError(f"the edge {edge} is edited twice, expected each edge once")
    is_there = np.zeros(len(changes.source), bool)
    is_there[entries.edge] = entries.is_there
    first = 0
    for argument, part in parts.items():
        last = first + len(part.source)
        wrong = first + np.flatnonzero(is_there[first:last] == (argument == "added"))
        if len(wrong):
            raise EditError(f"{argument} holds the edge {name_of(int(wrong[0]))}, which {WRONG_EDGE[argument]}")
        first = last


def _refuse_edits_of_gone(
    graph: Graph, parts: dict[str, Changes], gone: npt.NDArray[np.int64], n_before: int, weighed: npt.NDArray[np.int64]
) -> None:
    """Edits of nodes that are left out, and nodes that come and go at once: the edit would come to nothing."""
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
    for argument, rows in (("added_nodes", gone[gone >= n_before]), ("node_weight", weighed[np.isin(weighed, gone)])):
        if len(rows):
            node = names[int(rows[0])]
            raise EditError(f"{argument} names node {node!r}, which removed_nodes leaves out; expected nodes that stay")


def edit_layers(layered: LayeredGraph, *edits: Any) -> EditedGraph:
    """The edited graph of the same kind, and what became of its nodes; see `apply_edits`.

    Edges of a directed graph are arcs (source, target), those of a bipartite one pairs (row, column), and weights of a
    signed one may be below zero. All of its matrix is read.
    """
    kind = layered.kind
    if kind not in BUILD:
        raise ParameterError(
            f"update is for a single graph, and the graph is {kind}; communities(G, start=clustering) clusters changed "
            "graphs from these clusters, and hierarchy(G) makes levels of them"
        )
    graph, finder = layered.combined, None
    if kind != "signed":
        graph = replace(graph_of(layered.layers[0].arcs), nodes=graph.nodes)
    if kind == "bipartite":
        finder = SideRows(graph, layered)
        graph = finder.graph
    edit = apply_edits(graph, *edits, kind=kind, finder=finder)
    matrix, nodes, columns = edit.graph.to_scipy(), edit.graph.nodes, layered.columns
    if finder is not None:
        order, n_rows, nodes = finder.in_order(edit.graph, edit.rows)
        matrix = matrix[order[:n_rows]][:, order[n_rows:]]
        of_nodes = None if edit.node_weight is None else edit.node_weight[order]
        edit = edit._replace(before=edit.before[order], n_changed=edit.n_changed[order], node_weight=of_nodes)
        columns = finder.columns if nodes is not None else None
    for axis in (0, 1):
        check_degrees((abs(matrix) if kind == "signed" else matrix).sum(axis=axis))
    made = replace(BUILD[kind](matrix), columns=columns).with_names(nodes)
    return edit._replace(graph=made.combined, layered=made)
