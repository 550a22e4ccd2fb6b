"""Which columns of a table hold the two ends and the weight of an edge, by the caller's names or the table's."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError
from graphclust.io.text.column_names import (
    find_ends,
    is_number,
    is_of_an_edge,
    is_table_of_nodes,
    means_weight,
    plain_name,
    weight_among,
)

Column = str | int | None
_WHOLE = re.compile(r"-?[0-9]+")


class Columns(NamedTuple):
    """The caller's choice of columns: names, places from 0, or None to let the file decide."""

    source: Column = None
    target: Column = None
    weight: Column = None
    header: bool | None = None

    @property
    def are_named(self) -> bool:
        """Whether a column is asked for by its name."""
        return any(isinstance(column, str) for column in self[:3])


class Choice(NamedTuple):
    """Places of the columns; sure: the weight's name means nothing else; two kinds: the ends' names differ in kind."""

    source: int
    target: int
    weight: int | None
    sure: bool = True
    two_kinds: bool = False


def as_columns(source: Any, target: Any, weight: Any, header: Any) -> Columns:
    """The arguments of these names, checked; ParameterError for what names no column."""
    places: list[Column] = []
    for name, value in (("source", source), ("target", target), ("weight", weight)):
        if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0:
            value = int(value)
        elif value is not None and not isinstance(value, str):
            raise ParameterError(f"{name}={value!r}, expected the name of a column, or its place from 0")
        places.append(value)
    if header is not None and not isinstance(header, bool):
        raise ParameterError(f"header={header!r}, expected True, False or None")
    if (source is None) != (target is None):
        given, other = ("source", "target") if target is None else ("target", "source")
        raise ParameterError(f"{given}= is given and {other}= is not, expected both ends of an edge, or none")
    source, target, weight = places
    return Columns(source, target, weight, header)


def choose(
    asked: Columns, names: list[str] | None, n_columns: int, rows: Callable[[], list[list[str]]], path: str
) -> Choice:
    """The columns of a table whose first rows are `rows()`; names is None without a header.

    Raises, with the columns found, GraphValidationError for a column that is not there, GraphFormatError where no pair
    is plainly the two ends.
    """
    weight = _place(asked.weight, "weight", names, n_columns, path)
    sure = True
    if asked.weight is None and names is not None:
        weight, sure = weight_among(names)
    elif asked.weight is None and n_columns == 3:
        weight, sure = 2, False
    if asked.source is not None:
        source = _place(asked.source, "source", names, n_columns, path)
        target = _place(asked.target, "target", names, n_columns, path)
        assert source is not None and target is not None
        if asked.weight is None and (weight in (source, target) or names is None):
            is_behind = names is None and n_columns == 3 and max(source, target) == 1  # elsewhere it is no weight
            weight, sure = (2 if is_behind else None), False
        if source == target or weight in (source, target):
            raise ParameterError(
                f"source={asked.source!r}, target={asked.target!r} and weight={asked.weight!r} name a column twice, "
                f"expected different ones of {columns_found(names, n_columns)}"
            )
        return Choice(source, target, weight, sure)
    if names is not None:
        return _ends_by_name(names, weight, sure, rows, path)
    others = [column for column in range(n_columns) if column != weight]
    if len(others) != 2:
        refuse_columns(names, n_columns, path)
    return Choice(others[0], others[1], weight, sure)


def _ends_by_name(
    names: list[str], weight: int | None, sure: bool, rows: Callable[[], list[list[str]]], path: str
) -> Choice:
    """The columns of the two ends by their names, or by the rows if several fit; refused if these do not decide."""
    pairs = [pair for pair in find_ends(names) if weight not in pair]
    if len(pairs) == 1:
        return Choice(*pairs[0], weight, sure)
    if is_table_of_nodes(names):
        refuse_columns(names, len(names), path, "looks like a table of nodes: ")
    ends = [
        column
        for column, name in enumerate(names)
        if column != weight and not means_weight(name) and (len(names) == 2 or not is_of_an_edge(name))
    ]
    ids = [column for column in ends if names[column].strip().lower().endswith("id")]
    if len(ends) > 2 and len(ids) == 2:
        ends = ids
    if len(ends) > 2:  # the two whose values are of one kind, where those of all others are of another
        sample = rows()
        kinds = [_kind([row[column] for row in sample if column < len(row)]) for column in ends]
        first = kinds[0]
        if first != "number" and kinds[1] == first and first not in kinds[2:]:
            ends = ends[:2]
    if len(ends) != 2 or len(pairs) > 1:
        refuse_columns(names, len(names), path)
    return Choice(ends[0], ends[1], weight, sure, two_kinds=True)


def _kind(values: list[str]) -> str:
    """What a column holds: whole numbers, numbers, or text."""
    if all(map(_WHOLE.fullmatch, values)):
        return "whole"
    return "number" if all(map(is_number, values)) else "text"


def _place(asked: Column, argument: str, names: list[str] | None, n_columns: int, path: str) -> int | None:
    """The place of the column that an argument names, exactly or, failing that, in plain letters."""
    if asked is None:
        return None
    found = [asked] if isinstance(asked, int) and asked < n_columns else []
    if isinstance(asked, str) and names is not None:
        found = [column for column, name in enumerate(names) if name.strip() == asked.strip()]
        found = found or [column for column, name in enumerate(names) if plain_name(name) == plain_name(asked)]
    if len(found) != 1:
        what = "names two columns" if found else "is no column"
        raise GraphValidationError(
            f"{path}: {argument}={asked!r} {what} of the file, expected one of {columns_found(names, n_columns)}"
        )
    return found[0]


def columns_found(names: list[str] | None, n_columns: int) -> str:
    """The columns of a table for a message."""
    places = f"0 to {n_columns - 1}"
    if names is None:
        return f"the places {places}, since no line names the columns (header=True: the first line does)"
    shown = ", ".join(repr(name.strip()[:40]) for name in names[:20]) + ", ..." * (len(names) > 20)
    return f"{shown} (places {places})"


def refuse_columns(names: list[str] | None, n_columns: int, path: str, but: str = "") -> NoReturn:
    """Refuse a table whose ends are not plain; `but` says what it looks like."""
    raise GraphFormatError(
        f"{but}no two of its columns are plainly the ends of an edge; name them by source= and target=; "
        f"there are {columns_found(names, n_columns)}",
        path,
    )
