"""The options of `coreset_sc`, checked and with defaults filled in; and which method has which."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import wraps
from math import ceil
from typing import Any, TypeVar, cast

from graphclust.checks import Components, Effort, Method, as_choice, as_number, check_type
from graphclust.coreset.options import Coreset
from graphclust.engine.engine import EFFORTS
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.layers import LayeredGraph
from graphclust.objective.objective import OBJECTIVES, ObjectiveChoice, as_objective_choice

Function = TypeVar("Function", bound=Callable[..., Any])
METHODS = ("auto", "multilevel", "two-step", "paper")
COMPONENTS = ("large", "largest", "all")
PUBLISHED_OBJECTIVE = "normalized_cut"
INTERRUPTED = "interrupted: these are the best labels so far, more time may find better ones"
# The methods that have an option; every method has an objective.
METHODS_WITH = {
    "resolution": ("multilevel", "two-step"),
    "effort": ("multilevel", "two-step"),
    "components": ("multilevel", "two-step"),
    "coreset": ("two-step", "paper"),
    "min_size": ("multilevel",),
    "max_size": ("multilevel",),
}
# What `coreset_sc` does not take, or not any more, and what has it.
NEW_ARGUMENTS = {
    "coreset_size": "it is coreset=Coreset(size=...)",
    "max_imbalance": "balanced_partition(G, k, max_imbalance=...) makes equal parts; max_size=... bounds clusters",
    "connectivity": "no method makes exactly k clusters and promises minimum cuts inside them; communities(G, "
    "connectivity=...) does for any number of clusters, and well_connected(G, labels) parts clusters of any origin",
} | {
    name: f"it is coreset=Coreset({name}=...)"
    for name in ("oversampling", "sampling", "loops", "shift", "second_term", "rounds", "embedding", "degrees")
}
DRAWING = ("size", "oversampling", "sampling")  # of a `Coreset`; only method "paper" has the other fields


@dataclass(frozen=True)
class Options:
    """What a call of `coreset_sc` asks for; method "auto" only where the graph is to decide.

    min_size, max_size : None for no bound.
    """

    method: Method
    choice: ObjectiveChoice
    effort: Effort
    components: Components
    coreset: Coreset
    min_size: float | None
    max_size: float | None

    @property
    def is_bounded(self) -> bool:
        return (self.min_size, self.max_size) != (None, None)

    @property
    def record(self) -> dict[str, Any]:
        """What the method used, as JSON can hold it."""
        used: dict[str, Any] = {"method": self.method, "objective": self.choice.name}
        if self.method != "paper":
            used |= {"resolution": self.choice.resolution, "effort": self.effort, "components": self.components}
        if self.method != "multilevel":
            fields = asdict(self.coreset)
            used["coreset"] = fields if self.method == "paper" else {name: fields[name] for name in DRAWING}
        bounds = {"min_size": self.min_size, "max_size": self.max_size}
        return used | {name: bound for name, bound in bounds.items() if bound is not None}

    def with_draws(self, k: int, n_nodes: int) -> Options:
        """The same for k clusters of n_nodes nodes, of which the coreset's size may be a share."""
        size = self.coreset.size
        if isinstance(size, float):
            size = max(k, ceil(size * n_nodes))
        elif size is not None and size < k:
            raise ParameterError(f"coreset={self.coreset} is smaller than k={k}, expected Coreset(size=...) >= k")
        return replace(self, coreset=replace(self.coreset, size=size))


def as_options(method: Method = "auto", **asked: Any) -> Options:
    """The options of a call by name, None for not given; ParameterError for one that the method does not have."""
    given = {name: value for name, value in asked.items() if value is not None}
    objective, coreset = given.get("objective"), given.get("coreset")
    as_choice(method, "method", METHODS)
    if objective == "edge_cut":
        raise ParameterError("objective='edge_cut' is not one of coreset_sc; balanced_partition(G, k) cuts few edges")
    allowed = {"objective": tuple(OBJECTIVES), "effort": tuple(EFFORTS), "components": COMPONENTS}
    for name, words in allowed.items():
        if name in given:
            as_choice(given[name], name, words)
    if coreset is not None:
        check_type(coreset, Coreset, "coreset", "Coreset(size=0.05) makes one")
    choice = as_objective_choice(objective or "modularity", given.get("resolution"))
    bounds = [name for name in ("min_size", "max_size") if name in given]
    for name in bounds:
        as_number(given[name], name, above=0.0)
    published = {} if coreset is None else {name: v for name, v in coreset.given().items() if name not in DRAWING}
    if method == "auto" and coreset is not None:
        method = "paper" if published else "two-step"
    elif method == "auto" and bounds:
        method = "multilevel"
    for name, able in METHODS_WITH.items():
        if name in given and method not in ("auto", *able):
            raise _not_an_option(f"{name}={given[name]!r}", method, able)
    if method == "paper":
        if objective not in (None, PUBLISHED_OBJECTIVE):
            raise ParameterError(
                f"objective={objective!r} is not what method 'paper' is made for, expected {PUBLISHED_OBJECTIVE!r} or "
                "another method"
            )
        choice = as_objective_choice(PUBLISHED_OBJECTIVE, None)
    elif published:
        name, value = next(iter(published.items()))
        raise _not_an_option(f"{name}={value!r}", method, ("paper",))
    return Options(
        method, choice, given.get("effort", "normal"), given.get("components", "large"), coreset or Coreset(),
        plain_number(given.get("min_size")), plain_number(given.get("max_size")),
    )  # fmt: skip


def naming_new_arguments(function: Function) -> Function:
    """The same function, whose TypeError for an argument of `NEW_ARGUMENTS` says what takes its place."""

    @wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        for name in given:
            if name in NEW_ARGUMENTS:
                called = function.__qualname__.removesuffix(".__init__")
                raise TypeError(f"{called}() has no {name!r}: {NEW_ARGUMENTS[name]}")
        return function(*args, **given)

    return cast(Function, call)


def _not_an_option(given: str, method: str, able: tuple[str, ...]) -> ParameterError:
    return ParameterError(
        f"{given} is not an option of method {method!r}; leave it out, or take method {' or '.join(map(repr, able))}"
    )


def plain_number(value: Any) -> Any:
    """A number as Python's own int or float, which JSON can hold; any other value as it is.

    >>> import numpy as np
    >>> [plain_number(value) for value in (np.int64(5), np.float32(0.5), 2, "auto", None)]
    [5, 0.5, 2, 'auto', None]
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def settings_of_layers(G: Graph | LayeredGraph, layer_weights: Any, normalize: bool) -> dict[str, Any]:
    """The kind of a graph with layers, and what these count, for the record."""
    asked: dict[str, Any] = {"kind": G.kind} if isinstance(G, LayeredGraph) else {}
    if layer_weights is not None or not normalize:
        values = layer_weights.items() if isinstance(layer_weights, Mapping) else enumerate(layer_weights or [])
        asked |= {"layer_weights": {str(name): float(w) for name, w in values} or None, "normalize": normalize}
    return asked


def graph_settings(weight: str | None, symmetrize: str | None, time_budget: float | None) -> dict[str, Any]:
    """The other arguments on which labels depend, for the record, unless they are the defaults."""
    asked = {"weight": weight, "symmetrize": symmetrize, "time_budget": plain_number(time_budget)}
    return {name: value for name, value in asked.items() if value != ("weight" if name == "weight" else None)}
