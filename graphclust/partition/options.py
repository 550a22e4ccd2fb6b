"""The options of `coreset_sc`: the methods that have each, its allowed values, and its default.

None stands for not given. An option that is given, whatever its value, can decide the method.
"""

import numbers
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from graphclust.checks import as_choice, as_number, as_whole_number
from graphclust.coreset.paper import DEGREES, EMBEDDINGS
from graphclust.coreset.sampling import SAMPLINGS, SECOND_TERMS
from graphclust.errors import ParameterError
from graphclust.literals import Method
from graphclust.objective.kernel import LOOP_POLICIES
from graphclust.objective.objective import OBJECTIVES, as_resolution

BOUNDS = ("min_size", "max_size", "max_imbalance")
METHODS = ("auto", "multilevel", "two-step", "paper")
EFFORTS = ("low", "normal", "high")
COMPONENTS = ("large", "largest", "all")
PUBLISHED_OBJECTIVE = "normalized_cut"


class Option(NamedTuple):
    """The default of an option, the check `check(value, name)` that it has to pass, and the methods that have it."""

    default: Any
    check: Callable[[Any, str], Any]
    methods: tuple[str, ...]


def plain_number(value: Any) -> Any:
    """A number as Python's own int or float, which JSON can hold; any other value as it is.

    >>> import numpy as np
    >>> [plain_number(value) for value in (np.int64(5), np.float32(0.5), 2, "auto", None)]
    [5, 0.5, 2, 'auto', None]
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _as_resolution(value: Any, name: str) -> float | str:
    return value if isinstance(value, str) else as_resolution(value, name)


def _as_bound(value: Any, name: str) -> Any:
    as_number(value, name, above=0.0)
    return plain_number(value)  # 5 stays 5, for errors and the record


def _as_coreset_size(value: Any, name: str) -> int | float:
    return (
        as_number(value, name, above=0.0, below=1.0)
        if isinstance(value, float)
        else as_whole_number(value, name, at_least=1, why=", or a share of the nodes below 1")
    )


_OURS, _CORESETS, _PAPER, _MULTILEVEL = ("multilevel", "two-step"), ("two-step", "paper"), ("paper",), ("multilevel",)
OPTIONS = {
    "objective": Option("modularity", partial(as_choice, allowed=tuple(OBJECTIVES)), (*_OURS, "paper")),
    "resolution": Option("auto", _as_resolution, _OURS),
    "effort": Option("normal", partial(as_choice, allowed=EFFORTS), _OURS),
    "components": Option("large", partial(as_choice, allowed=COMPONENTS), _OURS),
    "min_size": Option(None, _as_bound, _MULTILEVEL),
    "max_size": Option(None, _as_bound, _MULTILEVEL),
    "max_imbalance": Option(None, partial(as_number, at_least=0.0), _MULTILEVEL),
    "coreset_size": Option(None, _as_coreset_size, _CORESETS),  # by default, the method's own rule
    "oversampling": Option(2.0, partial(as_number, above=0.0), _CORESETS),
    "sampling": Option("tree", partial(as_choice, allowed=SAMPLINGS), _CORESETS),
    "loops": Option("implied", partial(as_choice, allowed=LOOP_POLICIES), _PAPER),
    "shift": Option(0.0, partial(as_number, at_least=0.0), _PAPER),
    "second_term": Option("seed_weight", partial(as_choice, allowed=SECOND_TERMS), _PAPER),
    "rounds": Option(1, partial(as_whole_number, at_least=1), _PAPER),
    "embedding": Option("auto", partial(as_choice, allowed=EMBEDDINGS), _PAPER),
    "degrees": Option("row_sums", partial(as_choice, allowed=DEGREES), _PAPER),
}


def check_options(k: int, **options: Any) -> dict[str, Any]:
    """The options that are not None, checked."""
    given = {name: OPTIONS[name].check(value, name) for name, value in options.items() if value is not None}
    if "coreset_size" in given and not isinstance(given["coreset_size"], float):
        as_whole_number(given["coreset_size"], "coreset_size", at_least=k, why=", k")
    return given


def method_of_options(given: dict[str, Any]) -> Method | None:
    """The only method that has one of the given options, or None: paper, two-step (coresets) or multilevel (bounds)."""
    owners: tuple[tuple[Any, Method], ...] = (
        (_PAPER, "paper"), (_CORESETS, "two-step"), (_MULTILEVEL, "multilevel"),
    )  # fmt: skip
    for methods, method in owners:
        if any(OPTIONS[name].methods == methods for name in given):
            return method
    return None


def settings(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Every option as given, else its default; ParameterError for a given option that the method does not have."""
    for name, value in given.items():
        able = OPTIONS[name].methods
        if method not in able:
            raise ParameterError(
                f"{name}={value!r} is not an option of method {method!r}; leave it out, or take method "
                f"{' or '.join(map(repr, able))}"
            )
    chosen = {name: given.get(name, option.default) for name, option in OPTIONS.items()}
    if method == "paper":
        chosen["objective"] = given.get("objective", PUBLISHED_OBJECTIVE)
        if chosen["objective"] != PUBLISHED_OBJECTIVE:
            raise ParameterError(
                f"objective={chosen['objective']!r} is not what method 'paper' is made for, expected "
                f"{PUBLISHED_OBJECTIVE!r} or another method"
            )
    return chosen


def settings_of_method(options: dict[str, Any]) -> dict[str, Any]:
    """The settings of the method that was used, for the record; `options` holds "method" too."""
    method = options["method"]
    used = {name: options[name] for name, option in OPTIONS.items() if method in option.methods}
    return {"method": method} | {name: value for name, value in used.items() if name not in BOUNDS or value is not None}


def graph_settings(weight: str | None, symmetrize: str | None, time_budget: float | None) -> dict[str, Any]:
    """The other arguments on which labels depend, for the record, unless they are the defaults."""
    asked = {"weight": weight, "symmetrize": symmetrize, "time_budget": plain_number(time_budget)}
    return {name: value for name, value in asked.items() if value != ("weight" if name == "weight" else None)}
