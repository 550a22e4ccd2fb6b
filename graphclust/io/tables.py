"""Edges in tables of pandas or Polars, in lists, and in arrays of their ends as PyTorch Geometric and DGL hold them.

The rows of a table are read as those of a file, so that a table gives the graph that it would give as CSV.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from graphclust.checks import as_choice, as_names
from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError, amount
from graphclust.graph.container import Graph
from graphclust.io.columns import Kind, Table, as_columns, choose, describe_choice, refuse_overlap
from graphclust.io.edges import DUPLICATES, Edges, joined, keep_kinds_apart, refuse_impossible

__all__ = ["graph_from_table"]

SMALL_TABLE = 1 << 20  # numbers that a table may always have, however few the ids are


def graph_from_table(
    table: Any,
    source: Hashable = None,
    target: Hashable = None,
    weight: Hashable = "weight",
    *,
    nodes: Sequence[Hashable] | None = None,
    symmetrize: str | None = "max",
    bipartite: bool | None = None,
    missing: str = "error",
    duplicates: str = "sum",
) -> Graph:
    """The undirected graph of a table with an edge in each row.

    table : a DataFrame of pandas or Polars, a table of PyArrow, a relation of DuckDB, or anything with `columns` whose
        `table[name]` NumPy can read.
    source, target : the columns that hold the ends of the edges, of any hashable type. By default those called source
        and target, from and to, or u and v, else the first two.
    weight : the column of the weights, >= 0; None counts each edge 1. By default one called weight, weights, w or
        edge_weight; else one called score, value or strength, or the only other one if it holds numbers and follows
        the ends, with a warning; where there is none each edge counts 1.
    nodes : all nodes in the order of the labels to come, those without edges included. By default those of the table,
        whole numbers in increasing order, others as they first appear.
    symmetrize : of an edge that is listed from both ends with unequal weights, see `load_graph`; equal ones are one.
    bipartite : True makes an id in both columns two nodes, named "column:id", those of the sources numbered first;
        False makes it one. None does that too, but refuses whole numbers that columns of unlike names share.
    missing : of a row without an id, "drop" leaves it out, with a remark that counts them; "error" refuses the table.
    duplicates : of rows that repeat an edge, "sum" adds the weights (without weights they count once), "max" keeps the
        largest, "error" refuses the table.

    Returns a `Graph` whose `nodes` are the ids, unless they are 0..n-1 in order. What was joined, left out or repaired
    is in `Graph.remarks` and in one `GraphWarning`.

    Raises GraphFormatError for a table in which no two columns are plainly the ends, GraphValidationError for one
    without these columns or without rows, for ids that are missing or not among `nodes`, and for weights that are no
    finite numbers >= 0; TypeError for what has no columns.

    >>> import pandas
    >>> table = pandas.DataFrame({"from": ["ann", "bob"], "to": ["bob", "cid"], "calls": [3.0, 1.0]})
    >>> graph = graph_from_table(table, weight="calls", nodes=["ann", "bob", "cid"])
    >>> graph, graph.nodes
    (Graph(3 nodes, 2 edges, weighted), ['ann', 'bob', 'cid'])
    """
    if symmetrize is not None:
        as_choice(symmetrize, "symmetrize", ("max", "sum"))
    as_choice(missing, "missing", ("error", "drop"))
    as_choice(duplicates, "duplicates", DUPLICATES)
    edges = edges_of_table(table, source, target, weight, nodes, bipartite=bipartite, missing=missing)
    return joined(edges, symmetrize, duplicates)


def edges_of_table(
    table: Any, source: Hashable = None, target: Hashable = None, weight: Hashable = "weight",
    nodes: Sequence[Hashable] | None = None, *, bipartite: bool | None = None, missing: str = "error",
    path: str | None = None, weights: str | None = None,
) -> Edges:  # fmt: skip
    """The rows of a table as edges; arguments and errors are those of `graph_from_table`.

    path : of the file that holds the table. weights : as `load_graph` takes them, or "signed" for weights below zero.
    """
    path, in_file = path or "the table", path is not None
    if hasattr(table, "collect"):
        raise GraphValidationError("the table is a polars.LazyFrame, expected a DataFrame; pass table.collect()")
    if not hasattr(table, "columns"):
        expected = "expected a pandas or Polars DataFrame, or anything with columns"
        raise TypeError(f"table is a {type(table).__name__}, {expected}")
    # PyArrow's `columns` are the columns themselves.
    columns = list(getattr(table, "column_names", table.columns))
    if hasattr(table, "fetchnumpy"):  # of DuckDB, which computes it here
        table = table.fetchnumpy()
    named = {"source": source, "target": target, "weight": None if weight == "weight" else weight}
    places = [_place(table, columns, name, argument) for argument, name in named.items()]
    asked = as_columns(places[0], places[1], places[2], None)
    names = [str(name) for name in columns]

    def rows() -> list[str]:
        first = [[str(value) for value in np.asarray(table[name])[:3].tolist()] for name in columns[:20]]
        return [", ".join(names[:20]), *map(", ".join, zip(*first, strict=True))]

    def kind(place: int) -> Kind:
        return _kind(np.asarray(table[columns[place]]))

    try:
        choice = choose(asked, Table(names, len(columns), kind, rows, path))
    except GraphFormatError as problem:
        if any(getattr(getattr(table, "index", None), "names", ())):
            problem.args = (f"{problem}; pass table.reset_index() for the columns of its index",)
        raise
    source, target = columns[choice.source], columns[choice.target]
    counts_one = weight is None or weights == "ignore"
    weight = None if weight is None or choice.weight is None else columns[choice.weight]
    for name in (source, target, weight):
        if columns.count(name) > 1:
            raise GraphValidationError(f"{columns.count(name)} columns of {path} are named {name!r}, expected one")
    ends, kept, lacking = _ends(table, (source, target), missing, path)
    if len(ends[0]) == 0 and not nodes:
        raise GraphValidationError(f"{path} has no rows, expected at least one edge")
    given = None
    if weight is not None and not counts_one:
        if n_missing := int(_missing(table[weight]).sum()):
            wrong = f"{path}: column {weight!r} has {amount(n_missing, 'missing value')}, expected a weight in each row"
            remedy = 'weights="ignore"' if in_file else "weight=None"
            raise GraphValidationError(f"{wrong}; {remedy} counts each edge 1")
        given = _numbers(np.asarray(table[weight]))[kept]
        rows_kept = np.arange(len(table[weight]))[kept]

        def place(edge: int) -> str:
            u, v = (side[edge : edge + 1].tolist()[0] for side in ends)
            return f"row {rows_kept[edge]}, the edge ({u!r}, {v!r})"

        if given.dtype.kind not in "biuf":
            odd = next((i for i, value in enumerate(given.tolist()) if not _is_number(value)), 0)
            wrong = f"{path}: column {weight!r} has dtype {given.dtype}, expected numbers"
            raise GraphValidationError(f"{wrong}; convert them first, as {given[odd]!r} in {place(odd)}")
        given = np.abs(given.astype(np.float64)) if weights == "abs" else given.astype(np.float64)
        refuse_impossible(given, f"{path}: column {weight!r}", in_file, place, signed=weights == "signed")
    try:
        edges = _named_edges(ends, given, nodes, (str(source), str(target)), bipartite, path)
    except TypeError as problem:
        wrong = f"{path}: columns {source!r} and {target!r} hold what names no node: {problem}"
        raise GraphValidationError(f"{wrong}; expected texts or numbers") from None
    if lacking:
        edges.repairs.append(lacking)
    remark = None if in_file else f"pass weight={weight!r} if it is, weight=None if it is not"
    if note := describe_choice(choice, names, len(columns), "ignore" if counts_one else weights, remark):
        is_doubtful = weight is not None and not choice.sure
        (edges.repairs if in_file or is_doubtful else edges.remarks).append(note)
    return edges


def _place(table: Any, columns: list[Any], name: Hashable, argument: str) -> int | None:
    """The place of a column that the caller names."""
    if name is None or name in columns:
        return None if name is None else columns.index(name)
    indexed = name in getattr(getattr(table, "index", None), "names", ())
    raise GraphValidationError(
        f"{argument}={name!r} is not a column of the table, expected one of {', '.join(map(repr, columns[:20]))}"
        + ("; pass table.reset_index(), whose columns it is among" if indexed else "")
    )


def _ends(table: Any, names: tuple[Any, Any], missing: str, path: str) -> tuple[list[np.ndarray], Any, str]:
    """The ids of both columns, the rows that have both, and what is to say of the others."""
    lacks = _missing(table[names[0]]), _missing(table[names[1]])
    either = lacks[0] | lacks[1]
    if not either.any():
        return [_ids(table, name) for name in names], slice(None), ""
    row = int(either.argmax())
    name = names[0] if lacks[0][row] else names[1]
    n_missing = int(either.sum())
    if missing == "error":
        problem = f"{amount(n_missing, 'row lacks', 'rows lack')} an id, the first in row {row} of column {name!r}"
        raise GraphValidationError(f'{path}: {problem}; expected two in each: missing="drop" leaves these rows out')
    kept = ~either
    said = f"{amount(n_missing, 'row')} without an id left out, the first row {row}"
    ids = [_ids(table, name)[kept] for name in names]
    whole = [side.dtype.kind == "f" and (side == np.rint(side)).all() for side in ids]
    return [side.astype(np.int64) if is_whole else side for side, is_whole in zip(ids, whole, strict=True)], kept, said


def _named_edges(
    ends: list[np.ndarray], weights: np.ndarray | None, nodes: Sequence[Hashable] | None, columns: tuple[str, str],
    bipartite: bool | None, path: str,
) -> Edges:  # fmt: skip
    """The edges between ids, which become nodes of one kind or of two."""
    if bipartite:
        if nodes is not None:
            raise ParameterError("nodes names nodes of one kind, and bipartite=True makes two; leave one of them out")
        sides = [_number(side, side, None) for side in ends]
        u, v = (numbers[: len(ends[0])].astype(np.int32) for _, numbers in sides)
        return keep_kinds_apart(path, [(u, v, weights)], [names for names, _ in sides], columns)
    refuse_overlap(bipartite, columns, lambda: {*ends[0].tolist()} & {*ends[1].tolist()}, path)
    names, numbers = _number(ends[0], ends[1], nodes)
    u, v = numbers.astype(np.int32).reshape(2, -1)
    in_order = names == list(range(len(names)))
    return Edges(path, len(names), [(u, v, weights)], None if in_order else names)


def table_of_list(rows: Collection[Any], weight: str | None, missing: str = "error") -> _Columns:
    """The table of a list of edges: tuples (u, v), (u, v, weight) or (u, v, attributes), or dicts, a key a column.

    missing : "error" refuses tuples without an end.
    """
    listed = list(rows)
    if not listed:
        raise GraphValidationError(f"G is an empty {type(rows).__name__}, expected at least one edge")
    if all(isinstance(row, Mapping) for row in listed):
        keys = dict.fromkeys(key for row in listed for key in row)
        return _Columns({key: [row.get(key) for row in listed] for key in keys})
    lengths = {len(row) if isinstance(row, tuple) else 0 for row in listed}
    if lengths not in ({2}, {3}):
        odd = next((row for row in listed if not isinstance(row, tuple) or len(row) not in (2, 3)), None)
        problem = "mixes pairs and triples" if odd is None else f"holds a {type(odd).__name__}, {str(odd)[:60]}"
        raise TypeError(
            f"G is a {type(rows).__name__} that {problem}, expected a networkx.Graph, a matrix as numpy.array(G), or "
            "edges: all tuples (u, v), all (u, v, weight), or all dicts with the keys 'source' and 'target'"
            + ("; the graph alone is G[0]" if isinstance(rows, tuple) and isinstance(rows[0], Graph) else "")
        )
    wrong = [(place, end) for place, row in enumerate(listed) for end in row[:2] if names_no_node(end)]
    if wrong and missing == "error":
        raise GraphValidationError(
            f"G has {amount(len(wrong), 'end of an edge that names', 'ends of edges that name')} no node, the first "
            f'{wrong[0][1]!r} in G[{wrong[0][0]}], expected names; as_graph(G, missing="drop") leaves such edges out'
        )
    columns = dict(zip(("source", "target", "weight"), map(list, zip(*listed, strict=True)), strict=False))
    given: Any = columns.get("weight", [])
    if weight is None or not given:
        columns.pop("weight", None)
    elif all(isinstance(attributes, Mapping) for attributes in given):
        del columns["weight"]
        if any(weight in attributes for attributes in given):
            columns[weight] = [attributes.get(weight, 1.0) for attributes in given]
    elif odd := [row for row in listed if not _is_number(row[2])]:
        expected = "expected numbers in (u, v, weight), or (u, v)"
        raise GraphValidationError(f"the third entry of the edge {odd[0]!r} is not a number, {expected}")
    if weight not in (None, "weight") and weight not in columns:
        remedy = "leave it out where the third entry is the weight, or pass weight=None to make all weights 1"
        raise ParameterError(f"weight={weight!r} is in no tuple of G, expected (u, v, {{{weight!r}: 1.0}}); {remedy}")
    return _Columns(columns)


class _Columns(dict[Any, Any]):
    """Values of any kind as the columns of a table."""

    columns = property(list)

    def __getitem__(self, name: Any) -> np.ndarray:
        values = super().__getitem__(name)
        return np.fromiter(values, object, len(values))


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
    values = np.asarray(table[name])
    if values.dtype.kind not in "mM":
        return values
    ids = np.empty(len(values), object)
    ids[:] = list(table[name])
    return ids


def _missing(series: Any) -> np.ndarray:
    """Of each value of a column, whether it is missing: NaN, None, NaT, pandas.NA, or masked."""
    values, look = np.asarray(series), getattr(series, "isna", None) or getattr(series, "is_null", None)
    is_missing = np.ma.getmaskarray(series) if look is None else np.asarray(look(), bool)
    if values.dtype.kind in "fmM":
        return is_missing | (values != values)
    if values.dtype.kind == "O" and look is None:
        return is_missing | np.array([value is None or _is_nan(value) for value in values.tolist()], bool)
    return is_missing


def _is_nan(value: Any) -> bool:
    """Whether a value is not itself, as NaN and NaT are, or does not know, as pandas.NA does."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return isinstance(value, Hashable)


def names_no_node(name: Any) -> bool:
    """Whether a value cannot name a node: None, NaN, NaT, pandas.NA, or what cannot be hashed."""
    return name is None or not isinstance(name, Hashable) or _is_nan(name)


def _kind(values: np.ndarray) -> Kind:
    """What a column holds, missing values aside."""
    if values.dtype.kind == "O":
        there = [value for value in values.tolist() if not names_no_node(value)]
        if all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in there):
            return "whole"
        return "number" if all(map(_is_number, there)) else "text"
    if values.dtype.kind == "f":
        there = values[~np.isnan(values)]  # whole numbers with missing ones come as floats
        return "whole" if len(there) < len(values) and (there == np.rint(there)).all() else "number"
    return "whole" if values.dtype.kind in "iu" else "text"


def _ranked(ids: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """The whole numbers that there are in increasing order, and the place of each id among them."""
    if ids.min(initial=0) < 0 or ids.max(initial=0) >= max(2 * len(ids), SMALL_TABLE):
        distinct, numbers = np.unique(ids, return_inverse=True)
        return distinct.tolist(), numbers
    is_there = np.zeros(int(ids.max(initial=0)) + 1, bool)  # looked up, not sorted: 1 s for 13 M rows, which took 12 s
    is_there[ids] = True
    return np.flatnonzero(is_there).tolist(), (np.cumsum(is_there) - 1)[ids]


def _number(sources: np.ndarray, targets: np.ndarray, nodes: Sequence[Hashable] | None) -> tuple[list, np.ndarray]:
    """The nodes, and the number of each end: those of all sources, then those of all targets."""
    common = np.result_type(sources, targets) if {sources.dtype.kind, targets.dtype.kind} <= set("iu") else None
    if nodes is None and common is not None and common.kind in "iu":  # of int64 and uint64 NumPy makes floats
        return _ranked(np.concatenate([sources, targets]))
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


def is_edge_arrays(G: Any) -> bool:
    """Whether something is a pair of an array, of two rows or columns, and a whole number."""
    return (
        isinstance(G, tuple) and len(G) == 2 and len(getattr(G[0], "shape", ())) == 2
        and (hasattr(G[0], "__array__") or hasattr(G[0], "detach"))
        and not isinstance(G[1], bool) and isinstance(G[1], int | np.integer)
    )  # fmt: skip


def as_numpy(values: Any) -> np.ndarray:
    """An array of a tensor, wherever it lies, or of anything that NumPy takes."""
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def edges_of_arrays(edge_index: Any, n_nodes: int, edge_weight: Any = None) -> Edges:
    """The edges between the nodes 0 to n_nodes - 1, in their directions.

    edge_index : the ends of the edges, whole numbers of shape (2, n_edges), or (n_edges, 2), an array or a tensor.
    edge_weight : numbers >= 0, shape (n_edges,), or None.

    >>> joined(edges_of_arrays(np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), 3), "max")
    Graph(3 nodes, 2 edges, unweighted)
    """
    ends = as_numpy(edge_index)
    if ends.ndim != 2 or 2 not in ends.shape:
        raise GraphValidationError(f"edge_index has shape {ends.shape}, expected (2, n_edges)")
    if ends.size and ends.dtype.kind not in "iu":
        raise GraphValidationError(f"edge_index has dtype {ends.dtype}, expected whole numbers")
    ends = ends if ends.shape[0] == 2 else ends.T
    if ends.size and not (ends.min() >= 0 and ends.max() < n_nodes):
        problem = f"edge_index holds the ends {ends.min()} to {ends.max()}"
        raise GraphValidationError(f"{problem}, expected them in [0, {n_nodes}), as there are {n_nodes} nodes")
    if not 0 < n_nodes < 2**31:
        raise GraphValidationError(f"n_nodes={n_nodes}, expected 1 to 2^31 - 1")
    weights = None
    if edge_weight is not None:
        weights = as_numpy(edge_weight)
        if weights.shape != ends.shape[1:] or weights.dtype.kind not in "biuf":
            problem = f"edge_weight has shape {weights.shape} and dtype {weights.dtype}"
            raise GraphValidationError(f"{problem}, expected {ends.shape[1]} numbers")
        weights = weights.astype(np.float64)
        refuse_impossible(weights, "edge_weight")
    u, v = ends.astype(np.int32)
    return Edges("edge_index", int(n_nodes), [(u, v, weights)])
