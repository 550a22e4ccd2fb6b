"""Which columns of a table of edges hold the two ends and the weight: three rules for files, tables and lists alike.

1. Columns that the caller names.
2. Columns called source and target, from and to, or u and v, and one called weight.
3. The first two, if both hold names or both whole numbers; and the third for the weight, if it is the only other and
   holds numbers.

Where these do not decide, an error shows the first rows and the arguments to pass.
"""

import re
from collections.abc import Callable, Collection
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError, amount, caller_takes

Column = str | int | None
Kind = Literal["whole", "number", "text"]  # what a column holds

# Names of weights, as `plain_name` writes them. Those in doubt may be weights, and are read with a remark.
_SURE_WEIGHTS = frozenset({"weight", "weights", "w", "edgeweight"})
WEIGHT_NAMES = _SURE_WEIGHTS | {"score", "combinedscore", "value", "strength"}
# What both names have beside these words is the same: from_station and to_station.
_SOURCE = re.compile(r"(?:source|src|from)(.*)")
_TARGET = re.compile(r"(?:target|tgt|destination|dest|dst|to)(.*)")
_BEST_REST = ("", "id", "node", "nodeid", "name")  # of several such pairs, the first of these
_NUMBERED = {"", "index", "idx", "row", "rowid", "no", "nr", "number", "key", "uid", "edge", "edgeid", "link", "linkid"}
_OF_NODES = {"id", "node", "nodeid", "nodes", "name", "label", "vertex", "vertexid"}
_UNNAMED = re.compile(r"\s*(?:Unnamed: \d+)?\s*")  # the index that pandas or R writes before all other columns
_SHOWN = 60  # letters of a row in a message
_SHARED_LETTERS = 3  # with which two names of one kind begin or end


class Columns(NamedTuple):
    """The caller's choice of columns: names, places from 0, or None to let the table decide."""

    source: Column = None
    target: Column = None
    weight: Column = None
    header: bool | None = None


class Table(NamedTuple):
    """What is known of a table: names of its columns, None where there are none; what the column at a place holds."""

    names: list[str] | None
    n_columns: int
    kind: Callable[[int], Kind]
    rows: Callable[[], list[str]]  # the first ones, for a message
    path: str

    def columns(self) -> str:
        """The columns for a message."""
        if self.n_columns == 0:
            return "none"
        places = f"0 to {self.n_columns - 1}"
        if self.names is None:
            return f"the places {places}, since no line names the columns (header=True: the first line does)"
        shown = ", ".join(repr(name.strip()[:40]) for name in self.names[:20]) + ", ..." * (len(self.names) > 20)
        return f"{shown} (places {places})"

    def place(self, asked: Column, argument: str) -> int | None:
        """The place of the column that an argument names, exactly or, failing that, in plain letters."""
        if asked is None:
            return None
        places = [asked] if isinstance(asked, int) and asked < self.n_columns else []
        if isinstance(asked, str) and self.names is not None:
            places = [column for column, name in enumerate(self.names) if name.strip() == asked.strip()]
            plain = plain_name(asked)
            places = places or [column for column, name in enumerate(self.names) if plain_name(name) == plain]
        if len(places) != 1:
            what = "names two columns" if places else "is not a column"
            wrong = f"{self.path}: {argument}={asked!r} {what} of the table, expected one of {self.columns()}"
            raise GraphValidationError(wrong)
        return places[0]

    def refuse(self) -> NoReturn:
        """Refuse a table whose ends are not plain; a first column that names nodes is a hint at what it is."""
        hint = "looks like a table of nodes: " if self.names and names_nodes(self.names[0]) else ""
        shown = " | ".join(row[:_SHOWN] for row in self.rows()[:3])
        problem = f"{hint}no two of its columns are plainly the ends of an edge; name them by source= and target="
        raise GraphFormatError(f"{problem}; there are {self.columns()}; its first rows: {shown}", self.path)


class Choice(NamedTuple):
    """Places of the columns; sure: the weight was named, or its name means nothing else."""

    source: int
    target: int
    weight: int | None
    sure: bool = True


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


def plain_name(field: str) -> str:
    """The name in lower case, without spaces, dots, dashes, underscores and quotes."""
    return re.sub(r"[\s_.\-\"']+", "", field.lower())


def is_number(field: str) -> bool:
    """Whether a field of a table is a number as files write it: Python's 1_000 is none."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def is_plain_number(field: str) -> bool:
    """Whether a field is a number in the digits 0 to 9; Python reads those of other scripts too."""
    return field.isascii() and is_number(field)


def weight_among(names: list[str]) -> tuple[int | None, bool]:
    """The place of the weights by the names of the columns, and whether it is certain."""
    plain = [plain_name(name) for name in names]
    for known in (_SURE_WEIGHTS, WEIGHT_NAMES):
        for column, name in enumerate(plain):
            if name in known:
                return column, known is _SURE_WEIGHTS
    return None, False


def ends_by_name(names: list[str]) -> tuple[int, int] | None:
    """Places of the columns that are the ends by their names, None if there are none or several as good."""
    plain = [plain_name(name) for name in names]
    if "u" in plain and "v" in plain:
        return plain.index("u"), plain.index("v")
    places: list[dict[str, int]] = [{}, {}]
    for place, name in reversed(list(enumerate(plain))):
        for word, of_rest in zip((_SOURCE, _TARGET), places, strict=True):
            if match := word.fullmatch(name):
                of_rest[match[1]] = place
    pairs = {rest: (place, places[1][rest]) for rest, place in places[0].items() if rest in places[1]}
    best = next((pairs[rest] for rest in _BEST_REST if rest in pairs), None)
    return next(iter(pairs.values())) if best is None and len(pairs) == 1 else best


def names_nodes(name: str) -> bool:
    """Whether a first column of this name numbers rows or names nodes, and so is no end of an edge."""
    return plain_name(name) in _NUMBERED | _OF_NODES


def may_overlap(one: str, other: str) -> bool:
    """Whether columns of these names may hold nodes of one kind: customer_id and product_id do not."""
    if ends_by_name([one, other]) or ends_by_name([other, one]):
        return True
    one, other = (plain_name(name).removesuffix("id") for name in (one, other))
    size = _SHARED_LETTERS
    return min(len(one), len(other)) < size or one[:size] == other[:size] or one[-size:] == other[-size:]


def refuse_overlap(
    bipartite: bool | None, names: tuple[str, str], common: Callable[[], Collection[Any]], path: str
) -> None:
    """Refuse whole numbers, which are as good as no names, that columns of unlike names have in `common`."""
    if bipartite is not None or may_overlap(*names):
        return
    if shared := [one for one in common() if isinstance(one, int) or str(one).isdigit()]:
        one, other = (name[:_SHOWN] for name in names)
        two_kinds = 'kind="bipartite"' if caller_takes("kind") else "bipartite=True"
        raise GraphValidationError(
            f"{path}: columns {one!r} and {other!r} share {amount(len(shared), 'id')}, the first {min(shared)}, "
            f"which may name two kinds of nodes; pass {two_kinds} if they do, bipartite=False if an id is one node"
        )


def choose(asked: Columns, table: Table) -> Choice:
    """The columns of a table by the three rules; GraphFormatError, which shows the rows, where they do not decide."""
    names, n_columns, kind, *_ = table
    weight, sure = table.place(asked.weight, "weight"), True
    called = names or [""] * n_columns
    ends = ends_by_name(called)
    if asked.source is not None:
        source = table.place(asked.source, "source")
        target = table.place(asked.target, "target")
        assert source is not None and target is not None
        if source == target or weight in (source, target):
            wrong = f"source={asked.source!r}, target={asked.target!r} and weight={asked.weight!r} name a column twice"
            raise ParameterError(f"{wrong}, expected different ones of {table.columns()}")
        ends = source, target
    others = [column for column in range(n_columns) if column not in (ends or ())]
    if weight is None and asked.weight is None:
        place, sure = weight_among([called[column] for column in others])
        weight = None if place is None else others[place]
    others = [column for column in others if column != weight and not (names and _UNNAMED.fullmatch(names[column]))]
    if ends is not None and weight in ends:
        table.refuse()
    if ends is None:
        if len(others) < 2 or len(others) > 3 or (names is not None and names_nodes(names[others[0]])):
            table.refuse()
        ends, others = (others[0], others[1]), others[2:]
        kinds = {kind(end) for end in ends}
        if (
            "number" in kinds or (names is not None and len(kinds) > 1)  # what describes a node is of another kind
            or (others and (weight is not None or kind(others[0]) == "text"))
        ):  # fmt: skip
            table.refuse()
    if weight is None and len(others) == 1 and others[0] > max(ends) and not names_nodes(called[others[0]] or "w"):
        weight, sure = (others[0], False) if kind(others[0]) != "text" else (None, True)
    return Choice(*ends, weight, sure)


def describe_choice(
    choice: Choice, names: list[str] | None, n_columns: int, weights: str | None, remedy: str | None = None
) -> str:
    """What is to be said: that a column that is not called weight was read as weights, and which are not used."""
    called = [name.strip() for name in names] if names is not None else list(map(str, range(n_columns)))
    notes, weight = [], choice.weight
    if weight is not None and not choice.sure and weights is None:
        what = "the third column" if names is None and weight == 2 else f"column {called[weight][:_SHOWN]!r}"
        remedy = remedy or 'pass weights="file" if it is, weights="ignore" if it is not'
        notes.append(f"{what} was read as weights; {remedy}")
    if unused := [called[i] or repr("") for i in range(n_columns) if i not in choice[:3]]:
        plain = "; each edge counts 1 unless weight= names its weight" if weight is None and weights is None else ""
        notes.append(f"columns not used: {', '.join(unused)[:80]}{plain}")
    return "; ".join(notes)
