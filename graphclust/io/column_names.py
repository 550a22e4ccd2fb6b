"""The names that tables of edges give their columns."""

import re

_SOURCES = {"source", "src", "from", "fromnodeid", "fromnode", "fromid", "sourceid", "sourcenode"}
_TARGETS = {"target", "dst", "to", "tonodeid", "tonode", "toid", "targetid", "targetnode"}
_WEIGHTS = {"weight", "weights", "w", "edgeweight"}
_MAYBE_WEIGHTS = {"score", "combinedscore", "value", "strength"}
# Names of columns, but of nodes in small examples as well: node1 and node2, gene a and gene b.
_NUMBERED = re.compile(r"(node|id|name|vertex|gene|protein|user|person|item|entity|interactor|author|word)(1|2|a|b)")
_OTHERS = {"1": "2", "a": "b"}


def plain_name(field: str) -> str:
    """A name without what different writers write differently."""
    return re.sub(r"[\s_.\-\"']+", "", field.lower())


def name_both_ends(names: list[str]) -> bool:
    """Whether one of the names can only mean where an edge starts, and another where it ends."""
    return not _SOURCES.isdisjoint(names) and not _TARGETS.isdisjoint(names)


def may_name_both_ends(first: str, second: str) -> bool:
    """Whether the two would do as names of columns, though nodes may be called the same."""
    if (first, second) == ("u", "v"):
        return True
    one, other = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(second)
    return one is not None and other is not None and one[1] == other[1] and _OTHERS.get(one[2]) == other[2]


def columns_by_name(names: list[str]) -> tuple[int, int, int | None, bool]:
    """Where source, target and weight stand, and whether the last is sure; the first two columns by default."""
    source, target = _first_of(_SOURCES, names), _first_of(_TARGETS, names)
    if source is None or target is None:
        source, target = 0, 1
    return source, target, *weight_among(names)


def weight_among(names: list[str]) -> tuple[int | None, bool]:
    """Where the weights stand, by the names, and whether that is sure."""
    plain = [plain_name(name) for name in names]
    sure = _first_of(_WEIGHTS, plain)
    return (_first_of(_MAYBE_WEIGHTS, plain), False) if sure is None else (sure, True)


def _first_of(known: set[str], names: list[str]) -> int | None:
    return next((column for column, name in enumerate(names) if name in known), None)
