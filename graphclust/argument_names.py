"""A call with another library's name for an argument, such as random_state=, is told ours."""

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

# What scikit-learn, NetworkX, igraph and METIS call it, and what it is called here: the first that the function has.
OTHER_NAMES = {
    "rng": ("random_state", "seed", "random_seed", "generator"),
    "k": ("n_clusters", "num_clusters", "nclusters", "n_parts", "nparts", "n_components", "n_communities"),
    "n_seeds": ("n_clusters", "num_clusters", "k"),
    "n_clusters": ("k", "num_clusters", "n_components"),
    "random_state": ("rng", "seed", "random_seed", "generator"),
    "n_neighbors": ("k",),
    "max_imbalance": ("imbalance", "ufactor", "epsilon", "tolerance"),
    "resolution": ("gamma", "resolution_parameter"),
    "progress": ("verbose", "callback", "show_progress"),
}
# What a function cannot promise, and which one can.
ELSEWHERE = {
    "connectivity": "no method makes exactly k clusters and promises minimum cuts inside them; communities(G, "
    "connectivity=...) does for any number of clusters, and well_connected(G, labels) parts clusters of any origin",
}


def with_hints(function: Function) -> Function:
    """The same function, which names the argument that was meant when it is called with one that it does not have."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return function
    names = frozenset(parameters)
    by_place = [name for name, parameter in parameters.items() if parameter.kind is not parameter.KEYWORD_ONLY]
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters.values()):
        return function

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if len(args) > len(by_place):
            raise TypeError(_by_name_hint(function.__qualname__, by_place, len(args), [*parameters]))
        if not names.issuperset(options):
            raise TypeError(_hint(function.__qualname__, next(name for name in options if name not in names), names))
        return function(*args, **options)

    return cast(Function, call)


def _by_name_hint(function: str, by_place: list[str], n_given: int, names: list[str]) -> str:
    """The hint for a call with too many arguments by place: which go by place, and an example of one by name."""
    placed = [name for name in by_place if name != "self"]
    n_given -= len(by_place) - len(placed)
    others = [name for name in names if name not in by_place]
    call = f"{function.removesuffix('.__init__')}({', '.join(placed)}"
    more = f"; give the others by name, as {call}, {others[0]}=...)" if others else ""
    return f"{call}) takes {len(placed)} by place, and {n_given} were given{more}"


def _hint(function: str, given: str, names: frozenset[str]) -> str:
    if given in ELSEWHERE and "k" in names:
        return f"{function}() has no {given!r}: {ELSEWHERE[given]}"
    meant = [ours for ours, others in OTHER_NAMES.items() if given in others and ours in names]
    meant = meant or difflib.get_close_matches(given, sorted(names - {"self"}), 1)
    hint = f", did you mean {meant[0]!r}?" if meant else ""
    return f"{function.removesuffix('.__init__')}() got an unexpected keyword argument {given!r}{hint}"
