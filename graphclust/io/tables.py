"""Edge tables of pandas or Polars: a column for each end of the edges and, where there is one, for their weights.

The rows are read as those of a file, so that a table gives the graph that it would give as CSV.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from graphclust.checks import as_choice
from graphclust.errors import GraphValidationError, GraphWarning, counted, warn_caller
from graphclust.graph.container import Graph
from graphclust.io.edges import Edges, graph_from_edges
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

    table : a pandas or Polars DataFrame, or anything with `columns` whose `table[name]` NumPy can read.
    source, target : the columns that hold the ends of the edges, of any hashable type.
    weight : the column of the weights, >= 0; None counts each edge 1, and so does "weight" where no column has it.
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
    if hasattr(table, "collect"):
        raise GraphValidationError("the table is a polars.LazyFrame, expected a DataFrame; pass table.collect()")
    if not hasattr(table, "columns"):
        raise TypeError(
            f"table is a {type(table).__name__}, expected a pandas or Polars DataFrame, or anything with columns"
        )
    columns = list(table.columns)
    for name, argument in ((source, "source"), (target, "target"), (weight, "weight")):
        if name not in columns and name is not None and (name, argument) != ("weight", "weight"):
            raise GraphValidationError(
                f"{argument}={name!r} is no column of the table, expected one of {', '.join(map(repr, columns))}"
            )
        if columns.count(name) > 1:
            raise GraphValidationError(f"{columns.count(name)} columns of the table are named {name!r}, expected one")
    ends = [_column(table, name) for name in (source, target)]
    if len(ends[0]) == 0 and not nodes:
        raise GraphValidationError("the table has no rows, expected at least one edge")
    names, numbers = _numbered(ends[0], ends[1], nodes)
    weights = None
    if weight in columns:
        weights = _column(table, weight)
        if weights.dtype.kind not in "biuf":
            raise GraphValidationError(f"column {weight!r} has dtype {weights.dtype}, expected numbers")
        weights = weights.astype(np.float64)
        refuse_impossible(weights, f"column {weight!r}")
    u, v = numbers.astype(np.int32).reshape(2, -1)
    in_order = names == list(range(len(names)))
    edges = Edges("the table", len(names), [(u, v, weights)], None if in_order else names)
    edges.details["weighted"] = weights is not None
    graph, _ = graph_from_edges(edges, symmetrize, Progress())
    if edges.repairs:
        warn_caller("; ".join(edges.repairs), GraphWarning)
    return graph


def _column(table: Any, name: str | None) -> np.ndarray:
    """A column as an array without missing values."""
    series = table[name]
    missing = getattr(series, "isna", None) or getattr(series, "is_null", None)
    n_missing = 0 if missing is None else int(np.asarray(missing()).sum())
    if n_missing:
        raise GraphValidationError(
            f"column {name!r} has {counted(n_missing, 'missing value')}, expected one in each row; drop those rows"
        )
    return np.asarray(series)


def _numbered(
    sources: np.ndarray, targets: np.ndarray, nodes: Sequence[Hashable] | None
) -> tuple[list[Hashable], np.ndarray]:
    """The nodes, and the number of each end: those of all sources, then those of all targets."""
    if nodes is None and sources.dtype.kind in "iu" and targets.dtype.kind in "iu":
        distinct, numbers = np.unique(np.concatenate([sources, targets]), return_inverse=True)
        return distinct.tolist(), numbers
    ends = [sources.tolist(), targets.tolist()]
    if nodes is None:
        number: dict[Hashable, int] = {}
        for pair in zip(*ends, strict=True):
            for end in pair:
                number.setdefault(end, len(number))
    else:
        names = nodes.tolist() if isinstance(nodes, np.ndarray) else list(nodes)
        number = {name: place for place, name in enumerate(names)}
        if len(number) < len(names):
            raise GraphValidationError("nodes names a node twice, expected different ones")
    try:
        return list(number), np.array([number[end] for column in ends for end in column], np.int64)
    except KeyError as problem:
        raise GraphValidationError(f"the table has an edge of {problem.args[0]!r}, which is not in nodes") from None
