"""Edges in tables of pandas or Polars and in lists: a column for each end and, where there is one, for the weights.

The rows are read as those of a file, so that a table gives the graph that it would give as CSV.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from graphclust.checks import as_choice, as_names
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError, amount, warn_caller
from graphclust.graph.container import Graph
from graphclust.io.edges import Edges, graph_from_edges
from graphclust.io.text.column_names import weight_among
from graphclust.io.weight_checks import refuse_impossible
from graphclust.progress import Progress

__all__ = ["graph_from_table"]


def graph_from_table(
    table: Any,
    source: str = "source",
    target: str = "target",
    weight: str | None = "weight",
    *,
    nodes: Sequence[Hashable] | None = None,
    symmetrize: str | None = "max",
) -> Graph:
    """The undirected graph of a table with an edge in each row.

    table : a DataFrame of pandas or Polars, a table of PyArrow, a relation of DuckDB, or anything with `columns` whose
        `table[name]` NumPy can read.
    source, target : the columns that hold the ends of the edges, of any hashable type.
    weight : the column of the weights, >= 0; None counts each edge 1. By default "weight", or a column whose name
        means the same in a file: "weights", "w" or "edge_weight" in any spelling, or "value", "score" or "strength",
        with a warning; where there is none each edge counts 1.
    nodes : all nodes in the order of the labels to come, those without edges included. By default those of the table,
        whole numbers in increasing order, others as they first appear.
    symmetrize : of an edge that is listed from both ends with unequal weights, see `load_graph`; equal ones are one.

    Returns a `Graph` whose `nodes` are the ids, unless they are 0..n-1 in order. Repeated rows are added up, or
    counted once without weights; what was joined or repaired is in `Graph.remarks` and in one `GraphWarning`.

    Raises GraphValidationError for a table without these columns or without rows, for ids that are missing or not among
    `nodes`, and for weights that are no finite numbers >= 0; TypeError for what has no columns.

    >>> import pandas
    >>> table = pandas.DataFrame({"from": ["ann", "bob"], "to": ["bob", "cid"], "calls": [3.0, 1.0]})
    >>> graph = graph_from_table(table, "from", "to", "calls", nodes=["ann", "bob", "cid"])
    >>> graph, graph.nodes
    (Graph(3 nodes, 2 edges, weighted), ['ann', 'bob', 'cid'])
    """
    if symmetrize is not None:
        as_choice(symmetrize, "symmetrize", ("max", "sum"))
    edges = edges_of_table(table, source, target, weight, nodes)
    graph, _ = graph_from_edges(edges, symmetrize, Progress())
    if edges.repairs:
        warn_caller("; ".join(edges.repairs), GraphWarning)
    return graph


def edges_of_table(
    table: Any, source: str, target: str, weight: str | None, nodes: Sequence[Hashable] | None = None
) -> Edges:
    """The rows of a table as edges; arguments and errors are those of `graph_from_table`."""
    if hasattr(table, "collect"):
        raise GraphValidationError("the table is a polars.LazyFrame, expected a DataFrame; pass table.collect()")
    if not hasattr(table, "columns"):
        raise TypeError(
            f"table is a {type(table).__name__}, expected a pandas or Polars DataFrame, or anything with columns"
        )
    columns = column_names(table)
    if hasattr(table, "fetchnumpy"):  # of DuckDB, which computes it here
        table = table.fetchnumpy()
    for name, argument in ((source, "source"), (target, "target"), (weight, "weight")):
        if name not in columns and name is not None and (name, argument) != ("weight", "weight"):
            indexed = name in getattr(getattr(table, "index", None), "names", ())
            raise GraphValidationError(
                f"{argument}={name!r} is no column of the table, expected one of {', '.join(map(repr, columns))}"
                + ("; pass table.reset_index(), whose columns it is among" if indexed else "")
            )
        if columns.count(name) > 1:
            raise GraphValidationError(f"{columns.count(name)} columns of the table are named {name!r}, expected one")
    ends = [_ids(table, name) for name in (source, target)]
    if len(ends[0]) == 0 and not nodes:
        raise GraphValidationError("the table has no rows, expected at least one edge")
    names, numbers = _number(ends[0], ends[1], nodes)
    weight, note = _weight_column(table, columns, (source, target), weight)
    weights = None
    if weight is not None:
        weights = _numbers(_column(table, weight))
        if weights.dtype.kind not in "biuf":
            raise GraphValidationError(
                f"column {weight!r} has dtype {weights.dtype}, expected numbers; convert them first"
            )
        weights = weights.astype(np.float64)
        refuse_impossible(weights, f"column {weight!r}")
    u, v = numbers.astype(np.int32).reshape(2, -1)
    in_order = names == list(range(len(names)))
    edges = Edges("the table", len(names), [(u, v, weights)], None if in_order else names)
    edges.details["weighted"] = weights is not None
    if note:
        (edges.remarks if weight is None else edges.repairs).append(note)
    return edges


def column_names(table: Any) -> list[Any]:
    """The names of a table's columns: PyArrow's `columns` are the columns themselves."""
    return list(getattr(table, "column_names", getattr(table, "columns", ())))


def graph_from_list(rows: Collection[Any], weight: str | None, symmetrize: str | None) -> Graph:
    """The graph of a list of edges: tuples (u, v), (u, v, weight) or (u, v, attributes), or dicts, a key a column."""
    listed = list(rows)
    if not listed:
        raise GraphValidationError(f"G is an empty {type(rows).__name__}, expected at least one edge")
    kinds = {type(row) if isinstance(row, tuple) else Mapping if isinstance(row, Mapping) else None for row in listed}
    if kinds == {Mapping}:
        keys = list(dict.fromkeys(key for row in listed for key in row))
        if not {"source", "target"} <= {*keys}:
            raise GraphValidationError(
                f"G is a {type(rows).__name__} of dicts with the keys {', '.join(map(repr, keys[:8]))}, expected "
                "'source' and 'target' among them; graph_from_table(pandas.DataFrame(G), ...) takes others"
            )
        return graph_from_table(_Rows(listed), weight=weight, symmetrize=symmetrize)
    lengths = {len(row) if isinstance(row, tuple) else 0 for row in listed}
    if lengths not in ({2}, {3}):
        odd = next((row for row in listed if not isinstance(row, tuple) or len(row) not in (2, 3)), None)
        found = "mixes pairs and triples" if odd is None else f"holds a {type(odd).__name__}, {str(odd)[:60]}"
        raise TypeError(
            f"G is a {type(rows).__name__} that {found}, expected a networkx.Graph, a matrix as numpy.array(G), or "
            "edges: all tuples (u, v), all (u, v, weight), or all dicts with the keys 'source' and 'target'"
            + ("; the graph alone is G[0]" if isinstance(rows, tuple) and isinstance(rows[0], Graph) else "")
        )
    for end in (end for row in listed for end in row[:2]):
        if not isinstance(end, Hashable) or end is None or end != end:  # nan is not itself
            raise GraphValidationError(f"G holds an edge that ends in {end!r}, expected names of nodes; leave it out")
    columns = dict(zip(("source", "target", "weight"), map(list, zip(*listed, strict=True)), strict=False))
    given: Any = columns.get("weight", [])
    if weight is None or not given:
        columns.pop("weight", None)
    elif all(isinstance(attributes, Mapping) for attributes in given):
        del columns["weight"]
        if any(weight in attributes for attributes in given):
            columns[weight] = [attributes.get(weight, 1.0) for attributes in given]
    elif odd := [row for row in listed if not _is_number(row[2])]:
        raise GraphValidationError(
            f"the third entry of the edge {odd[0]!r} is no number, expected numbers in (u, v, weight), or (u, v)"
        )
    if weight not in (None, "weight") and weight not in columns:
        raise ParameterError(
            f"weight={weight!r} is in no tuple of G, expected (u, v, {{{weight!r}: 1.0}}); leave it out where the "
            "third entry is the weight, or pass weight=None to make all weights 1"
        )
    return graph_from_table(_Rows.of_columns(columns), weight=weight, symmetrize=symmetrize)


class _Rows:
    """Dicts as a table: a column for each key, each of them in every row that is asked for it."""

    def __init__(self, rows: list[Mapping[Any, Any]]):
        self._rows = rows
        self.columns = list(dict.fromkeys(key for row in rows for key in row))

    @classmethod
    def of_columns(cls, columns: Mapping[str, list[Any]]) -> _Rows:
        return cls([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])

    def __getitem__(self, name: Any) -> np.ndarray:
        values = np.empty(len(self._rows), object)
        for place, row in enumerate(self._rows):
            if row.get(name) is None:
                raise GraphValidationError(f"G[{place}] has no {name!r}, expected one in each of its dicts")
            values[place] = row[name]
        return values


def _weight_column(
    table: Any, columns: list[Any], ends: tuple[str, str], weight: str | None
) -> tuple[str | None, str | None]:
    """The column of the weights, by its name, and what to say of the choice; None for no such column."""
    if weight != "weight" or weight in columns:
        return weight, None
    others = [name for name in columns if name not in ends]
    place, is_sure = weight_among([str(name) for name in others])
    numeric = [name for name in others if _numbers(np.asarray(table[name])).dtype.kind in "iuf"]
    if place is not None and (is_sure or others[place] in numeric):
        name = others[place]
        if is_sure:
            return name, None
        return name, f"column {name!r} was read as weights; pass weight={name!r} if it is, weight=None if it is not"
    if numeric:
        names = ", ".join(repr(name) for name in numeric[:5])
        return None, f"no column is named weight, each edge counts 1; numbers not used: {names}; weight= takes one"
    return None, None


def _numbers(values: np.ndarray) -> np.ndarray:
    """Numbers that came as objects, as tables with missing values hold them, as an array of numbers."""
    if values.dtype.kind != "O" or not all(map(_is_number, values)):
        return values
    try:
        return values.astype(np.float64)
    except OverflowError:
        raise GraphValidationError("a weight is a whole number that no float64 holds, expected weights") from None


def _is_number(value: Any) -> bool:
    """Whether a value counts as a weight: databases have decimal numbers too."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def _ids(table: Any, name: str) -> np.ndarray:
    """A column of ids; times stay what they are, for NumPy's own list of them would hold whole numbers."""
    values = _column(table, name)
    if values.dtype.kind not in "mM":
        return values
    ids = np.empty(len(values), object)
    ids[:] = list(table[name])
    return ids


def _column(table: Any, name: str | None) -> np.ndarray:
    """A column as an array without missing values."""
    series = table[name]
    missing = getattr(series, "isna", None) or getattr(series, "is_null", None)
    n_missing = int(np.ma.count_masked(series)) if missing is None else int(np.asarray(missing()).sum())
    if n_missing:
        raise GraphValidationError(
            f"column {name!r} has {amount(n_missing, 'missing value')}, expected one in each row; drop those rows"
        )
    return np.asarray(series)


def _number(
    sources: np.ndarray, targets: np.ndarray, nodes: Sequence[Hashable] | None
) -> tuple[list[Hashable], np.ndarray]:
    """The nodes, and the number of each end: those of all sources, then those of all targets."""
    common = np.result_type(sources, targets) if {sources.dtype.kind, targets.dtype.kind} <= set("iu") else None
    if nodes is None and common is not None and common.kind in "iu":  # of int64 and uint64 NumPy makes floats
        distinct, numbers = np.unique(np.concatenate([sources, targets]), return_inverse=True)
        return distinct.tolist(), numbers
    ends = [sources.tolist(), targets.tolist()]
    if nodes is None:
        number: dict[Hashable, int] = {}
        for pair in zip(*ends, strict=True):
            for end in pair:
                number.setdefault(end, len(number))
        if all(type(end) is int for end in number):
            number = {end: place for place, end in enumerate(sorted(number))}  # type: ignore[type-var]
    else:
        names = as_names(nodes)
        number = {name: place for place, name in enumerate(names)}
        if len(number) < len(names):
            raise GraphValidationError("nodes names a node twice, expected different ones")
    try:
        return list(number), np.array([number[end] for column in ends for end in column], np.int64)
    except KeyError as problem:
        raise GraphValidationError(f"the table has an edge of {problem.args[0]!r}, which is not in nodes") from None
