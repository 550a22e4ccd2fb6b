"""Edits of directed, bipartite and signed graphs: their matrices are edited, and made into layers again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Number
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.errors import EditError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.from_csr import check_degrees
from graphclust.graph.layers import LayeredGraph, graph_of
from graphclust.graph.node_order import node_names
from graphclust.io.kinds import BUILD
from graphclust.updates.edit_arguments import NodeRows, Rows
from graphclust.updates.edits import EditedGraph, apply_edits

SIDES = ("row", "column")


class SideRows(NodeRows):
    """The rows of the nodes of a bipartite graph, whose edges are pairs of a row and a column.

    The ends of an edge are looked for on their own sides, by their names, or without what all names of a side begin
    with, as 1 for "customer:1". Where nodes have no names, they are the numbers of a row and a column.
    """

    def __init__(self, graph: Graph, layered: LayeredGraph):
        self.sides = layered.sides or (0, 0)
        self.is_numbered, self.columns = graph.nodes is None, SIDES if graph.nodes is None else layered.columns
        if graph.nodes is None:
            names = [f"{side}:{i}" for side, n in zip(SIDES, self.sides, strict=True) for i in range(n)]
            graph = replace(graph, nodes=names)
        super().__init__(graph)
        self.graph, self.names, self.side = graph, node_names(graph), np.repeat([0, 1], self.sides).tolist()

    def add(self, names: Iterable[Hashable] | None) -> None:
        """Nodes come about, each on the side that a mapping says."""
        if not isinstance(names, Mapping | None):
            raise TypeError(
                f"added_nodes is a {type(names).__name__}, expected a mapping from the nodes of a bipartite graph to "
                "their sides: 0 for a row, 1 for a column"
            )
        given = names or {}
        if odd := [side for side in given.values() if side not in (0, 1)]:
            raise ParameterError(f"added_nodes holds the side {odd[0]!r}, expected 0 for a row, 1 for a column")
        for side in (0, 1):
            super().add([self._whole("added_nodes", name, side) for name, of in given.items() if of == side])
            self.side += [side] * (self.end - len(self.side))

    def ends(self, argument: str, source: Any, target: Any, may_come: bool) -> tuple[Rows, Rows]:
        """The rows of both ends of edges, each on its side."""
        return self._on_side(argument, source, 0, may_come), self._on_side(argument, target, 1, may_come)

    def rows(self, argument: str, names: Sequence[Any] | npt.NDArray[Any], may_come: bool) -> Rows:
        """The same for nodes of either side."""
        if self.is_numbered:
            names = [self.names[int(u)] if isinstance(u, Integral) and 0 <= int(u) < self.n else u for u in names]
        return super().rows(argument, names, may_come)

    def _on_side(self, argument: str, names: Any, side: int, may_come: bool) -> Rows:
        """The rows of nodes of one side; EditError for one of the other."""
        whole = [self._whole(argument, name, side) for name in (names.tolist() if hasattr(names, "tolist") else names)]
        rows = self.rows(argument, whole, may_come)
        self.side += [side] * (self.end - len(self.side))
        for name, row in zip(whole, rows.tolist(), strict=True):
            if self.side[row] != side:
                raise EditError(
                    f"{argument} names node {name!r} as a {SIDES[side]}, and it is a {SIDES[1 - side]}; expected edges "
                    "(row, column) of a bipartite graph, each name on one side"
                )
        return rows

    def _whole(self, argument: str, name: Any, side: int) -> Any:
        """The name of a node as the graph has it."""
        if self.is_numbered and not isinstance(name, Integral):
            raise TypeError(
                f"{argument} names the {SIDES[side]} {name!r}, a {type(name).__name__}, expected a whole number: rows "
                "and columns have no names"
            )
        if self.columns is None or not isinstance(name, str | Number) or name != name or name in (self.row or {}):
            return name
        start = f"{self.columns[side]}:"
        return name if isinstance(name, str) and name.startswith(start) else f"{start}{name}"

    def in_order(self, edit: EditedGraph) -> tuple[Rows, tuple[int, int], list[Hashable] | None]:
        """The nodes of the edited graph, first rows, then columns; how many of either; their names if they have any."""
        names, side = node_names(edit.graph), np.array(self.side)[edit.rows]
        place = np.array([int(str(name).partition(":")[2]) for name in names]) if self.is_numbered else edit.rows
        order = np.lexsort((place, side))
        n_rows, n_columns = np.bincount(side, minlength=2).tolist()
        if self.is_numbered and len(side) == self.end:
            expected = np.concatenate([np.arange(n_rows), np.arange(n_columns)])
            if len(wrong := np.flatnonzero(place[order] != expected)):
                at = int(wrong[0])
                raise EditError(
                    f"added names {SIDES[int(side[order[at]])]} {place[order[at]]}, expected for new ones the next "
                    f"numbers: rows {self.sides[0]}, ..., columns {self.sides[1]}, ..."
                )
            return order, (n_rows, n_columns), None
        return order, (n_rows, n_columns), [names[row] for row in order.tolist()]


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
        order, (n_rows, _), nodes = finder.in_order(edit)
        matrix = matrix[order[:n_rows]][:, order[n_rows:]]
        of_nodes = None if edit.node_weight is None else edit.node_weight[order]
        edit = edit._replace(before=edit.before[order], n_changed=edit.n_changed[order], node_weight=of_nodes)
        columns = finder.columns if nodes is not None else None
    for axis in (0, 1):
        check_degrees((abs(matrix) if kind == "signed" else matrix).sum(axis=axis))
    made = replace(BUILD[kind](matrix), columns=columns).with_names(nodes)
    return edit._replace(graph=made.combined, layered=made)
