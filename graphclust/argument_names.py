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
    "progress": ("verbose", "callback", "show_progress"),
}


def with_hints(function: Function) -> Function:
    """The same function, which names the argument that was meant when it is called with one that it does not have."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return function
    names = frozenset(parameters)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if not names.issuperset(options):
            raise TypeError(_hint(function.__qualname__, next(name for name in options if name not in names), names))
        return function(*args, **options)

    return cast(Function, call)


def _hint(function: str, given: str, names: frozenset[str]) -> str:
    meant = [ours for ours, others in OTHER_NAMES.items() if given in others and ours in names]
    meant = meant or difflib.get_close_matches(given, sorted(names - {"self"}), 1)
    hint = f", did you mean {meant[0]!r}?" if meant else ""
    return f"{function.removesuffix('.__init__')}() got an unexpected keyword argument {given!r}{hint}"
