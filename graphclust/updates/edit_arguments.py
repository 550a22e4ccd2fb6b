"""Edits as a caller states them: edges as lists, arrays or tables, and nodes by name, as rows of the graph."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Number
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_names
from graphclust.errors import EditError, GraphWarning, ParameterError, amount, warn_caller
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph
from graphclust.graph.node_order import node_names
from graphclust.io.tables import edges_of_table

SIDES = ("row", "column")
LONG_NUMBER = 20  # digits, more than any number of nodes has
Rows = npt.NDArray[np.int64]
Edges = Iterable[tuple[Any, ...]] | npt.NDArray[Any] | Any | None


def _columns_of(table: Any, weighted: bool, signed: bool) -> list[Any]:
    """The ends of the edges of a table, and their weights if it has some, chosen as `graph_from_table` does."""
    if hasattr(table, "__len__") and not len(table):
        return [[], []]
    weights = "signed" if signed else None
    edges = edges_of_table(table, weight="weight" if weighted else None, bipartite=False, weights=weights)
    ((source, target, weight),) = edges.chunks
    ends = [[edges.name(node) for node in side.tolist()] for side in (source, target)]
    return [*ends, *([] if weight is None else [weight])]


def as_edges(
    edges: Edges, argument: str, weighted: bool, signed: bool = False
) -> tuple[Any, Any, npt.NDArray[np.float64]]:
    """Ends and weights; 0 stands for the weight of removed ones. signed : whether weights may be below zero."""
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
    elif hasattr(edges, "columns"):
        columns = _columns_of(edges, weighted, signed)
    else:
        form = "(u, v) or (u, v, weight)" if weighted else "(u, v)"
        if isinstance(edges, Mapping) or not isinstance(edges, Iterable):
            raise TypeError(f"{argument} is a {type(edges).__name__}, expected a list of {form}")
        listed = list(edges)
        if not all(isinstance(edge, tuple | list) and len(edge) in ((2, 3) if weighted else (2,)) for edge in listed):
            hint = f"; pass {argument}.edges" if hasattr(edges, "adjacency") else ""
            raise TypeError(f"{argument} holds something else than edges, expected a list of {form}{hint}")
        if len({len(edge) for edge in listed}) > 1:
            raise TypeError(f"{argument} has weights on some edges only, expected them on all or on none")
        columns = [list(column) for column in zip(*listed, strict=True)] if listed else [[], []]
    if argument == "reweighted" and len(columns) == 2 and len(columns[0]):
        raise TypeError("reweighted has no weights, expected edges (u, v, weight)")
    if not weighted:
        return columns[0], columns[1], np.zeros(len(columns[0]))
    expected = "finite numbers" + (" other than 0" if signed else " > 0")
    try:
        weight = np.ones(len(columns[0])) if len(columns) == 2 else np.asarray(columns[2], np.float64)
        if weight.ndim != 1:
            raise ValueError(weight.shape)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{argument} holds weights that are not numbers, expected {expected}") from None
    fits = np.isfinite(weight) & ((weight != 0) if signed else (weight > 0))
    if not fits.all():
        bad = weight[~fits][0]
        raise ParameterError(f"{argument} holds the weight {bad:g}, expected {expected}; removed= takes edges away")
    return columns[0], columns[1], weight


def as_node_weights(node_weight: Any) -> tuple[list[Any], npt.NDArray[np.float64]]:
    """Nodes, and what they weigh, of a mapping or a pandas Series."""
    if node_weight is None:
        return [], np.empty(0)
    if not hasattr(node_weight, "items"):
        kind = type(node_weight).__name__
        raise TypeError(f"node_weight is a {kind}, expected a mapping or a pandas Series from nodes to what they weigh")
    pairs = [*node_weight.items()]
    try:
        weights = np.array([float(weight) for _, weight in pairs], np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError("node_weight holds weights that are not numbers, expected finite numbers > 0") from None
    if not (np.isfinite(weights) & (weights > 0.0)).all():
        node, bad = next(pair for pair, w in zip(pairs, weights.tolist(), strict=True) if not 0.0 < w < np.inf)
        raise ParameterError(f"node_weight holds {bad!r} for node {node!r}, expected finite numbers > 0")
    return [node for node, _ in pairs], weights


class NodeRows:
    """The rows of nodes by name; new names get the next rows."""

    def __init__(self, graph: Graph):
        self.n = self.end = graph.n_nodes
        held = vars(graph)  # an edited graph has the rows from the one before, so that names are looked at once
        if graph.nodes is not None and "_row_of_name" not in held:
            held["_row_of_name"] = {name: row for row, name in enumerate(node_names(graph))}
        self.row: dict[Hashable, int] | None = held.get("_row_of_name")
        self.new: dict[Hashable, int] = {}

    def keep_for(self, graph: Graph) -> None:
        """Leave the rows of all names with a graph, for its next edits."""
        if self.row is not None:
            vars(graph)["_row_of_name"] = self.row | self.new if self.new else self.row

    def add(self, names: Iterable[Hashable] | None) -> None:
        """Nodes that are not there come about."""
        listed = as_list("added_nodes", names)
        rows = self.rows("added_nodes", listed, True)
        for name, row in zip(listed, rows.tolist(), strict=True):
            if row < self.n:
                raise EditError(f"added_nodes names node {name!r}, which is there already; leave it out")
        if len({*rows.tolist()}) < len(rows):
            raise EditError("added_nodes names a node twice, expected each node once")

    def ends(self, argument: str, source: Any, target: Any, may_come: bool) -> tuple[Rows, Rows]:
        """The rows of both ends of edges."""
        return self.rows(argument, source, may_come), self.rows(argument, target, may_come)

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
        rows = np.empty(len(names), np.int64)
        for place, name in enumerate(as_names(names)):
            try:
                row = self.row.get(name, -1)
                row = self.new.get(name, -1) if row < 0 else row
            except TypeError:
                raise TypeError(f"{argument} names node {name!r}, a {type(name).__name__}; expected a name") from None
            if row < 0:
                there = self._other_form(name)
                if not may_come:
                    remedy = "added= takes edges of new nodes" if argument == "reweighted" else "leave it out"
                    if there is not None:
                        remedy = f"it has {there!r}, a {type(there).__name__}"
                    raise EditError(f"{argument} names node {name!r}, which the graph does not have; {remedy}")
                if name is None or name != name:  # nan is not itself
                    what = name if argument == "added_nodes" else f"an edge that ends in {name!r}"
                    raise ParameterError(f"{argument} holds {what}, expected names of nodes")
                if there is not None:
                    warn_caller(
                        f"{argument} names node {name!r}, a {type(name).__name__}, which comes about beside {there!r}, "
                        f"a {type(there).__name__}, that the graph has; expected names as the graph has them",
                        GraphWarning,
                    )
                row = self.new[name] = self.end
                self.end += 1
            rows[place] = row
        return rows

    def _other_form(self, name: Hashable) -> Hashable | None:
        """The name of a node that is the same number as text, or the other way round; None where there is none."""
        form: Hashable | None = None
        if isinstance(name, str):
            is_number = name.isascii() and name.removeprefix("-").isdigit() and len(name) < LONG_NUMBER
            form = int(name) if is_number else None
        elif isinstance(name, Integral):
            form = str(name)
        return form if form is not None and self.row is not None and (form in self.row or form in self.new) else None


def as_list(argument: str, names: Iterable[Hashable] | None) -> list[Any]:
    if isinstance(names, str) or not isinstance(names, Iterable | None):
        kind = type(names).__name__
        raise TypeError(f"{argument}={names!r} is a {kind}, expected a list of nodes, as [{names!r}]")
    return [] if names is None else list(names)


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

    def in_order(self, graph: Graph, rows: Rows) -> tuple[Rows, int, list[Hashable] | None]:
        """The nodes of the edited graph, first rows, then columns; how many rows; the nodes' names if they have any.

        rows : of the nodes, as `EditedGraph` has them.
        """
        names, side = node_names(graph), np.array(self.side)[rows]
        place = np.array([int(str(name).partition(":")[2]) for name in names]) if self.is_numbered else rows
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
            return order, n_rows, None
        return order, n_rows, [names[row] for row in order.tolist()]
