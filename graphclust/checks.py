"""Convert an argument, or say what was expected; the words that arguments take, as types."""

import importlib
import numbers
import os
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from graphclust.errors import GraphValidationError, ParameterError

Word = TypeVar("Word", bound=str)
# What helps where k=None is not possible.
K_OF_GRAPH = "coreset_sc(G).k is the number that a graph shows"
K_OF_POINTS = "coreset_sc(knn_graph(X)).k is the number that the graph of nearest neighbors shows"
_AS_LOOPS_TAKE: tuple[Literal["C", "A", "W"], ...] = ("C", "A", "W")  # of labels and weights, to compile for one type
Seed = int | np.integer[Any] | np.random.Generator | None  # what `as_generator` takes
# The words that arguments take: a checker of types sees a wrong one before it is run.
AdditiveObjective = Literal["modularity", "constant_potts", "erdos_renyi"]
ObjectiveName = Literal["modularity", "normalized_cut", "ratio_cut", "constant_potts", "erdos_renyi"]
Method = Literal["auto", "multilevel", "two-step", "paper"]
Effort = Literal["low", "normal", "high"]
Small = Literal["unite", "apart"]
Components = Literal["large", "largest", "all"]
Leftover = Literal["apart", "alone"]
Kind = Literal["undirected", "directed", "bipartite", "signed"]


def as_array(values: Any, name: str) -> npt.NDArray[Any]:
    """`values` as a NumPy array; a TypeError for masked ones, whose mask NumPy would drop, and for an AnnData.

    A GraphValidationError for rows of different lengths.
    """
    if hasattr(values, "obsm") and hasattr(values, "obsp"):
        raise TypeError(f"{name} is an AnnData, expected an array; pass one of its own, such as {name}.obsm['X_pca']")
    rows = values if isinstance(values, list | tuple) else ()
    if isinstance(values, np.ma.MaskedArray) or any(isinstance(row, np.ma.MaskedArray) for row in rows):
        raise TypeError(
            f"{name} is a masked array, expected every entry to be given; leave masked rows out, or pass "
            f"{name}.filled(0) with the value that they should have"
        )
    try:
        return np.asarray(values)
    except ValueError:
        if not isinstance(values, list | tuple):
            raise
        raise GraphValidationError(
            f"{name} is a {type(values).__name__} of rows of different lengths, expected as many numbers in each"
        ) from None


def import_extra(module: str, needs: str, what: str) -> Any:
    """An optional package, or an ImportError; needs : as in "pictures need matplotlib". what : pip has to install."""
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise ImportError(f'{needs}: pip install "{what}"') from problem


def check_type(value: Any, kind: type | str, name: str, remedy: str) -> None:
    """Refuse a value of another type; the remedy says what makes one of this type.

    kind : the type, or its name for a module that the type's own module imports.
    """
    expected = kind if isinstance(kind, str) else kind.__name__
    if not (
        isinstance(value, kind) if isinstance(kind, type) else kind in [one.__name__ for one in type(value).__mro__]
    ):
        raise TypeError(f"{name} is a {type(value).__name__}, expected a {expected}: {remedy}")


def as_whole_number(
    value: Any, name: str, *, at_least: int, at_most: int | None = None, why: str = "", if_none: str = ""
) -> int:
    """`value` as an int within [at_least, at_most]; True, 2.5 and "3" are TypeErrors.

    if_none : what helps who passed None, as the functions that choose a number take it.
    """
    if value is None and if_none:
        raise TypeError(f"{name}=None is a NoneType, expected a whole number; {if_none}")
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r} is a {type(value).__name__}, expected a whole number")
    number = int(value)
    if number < at_least or (at_most is not None and number > at_most):
        allowed = f">= {at_least}" if at_most is None else f"between {at_least} and {at_most}"
        raise ParameterError(f"{name}={shorten(value)} is out of range, expected {allowed}{why}")
    return number


def as_number(
    value: Any, name: str, *, at_least: float = -np.inf, above: float = -np.inf, below: float = np.inf
) -> float:
    """`value` as a finite float with at_least <= value, above < value < below."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r} is a {type(value).__name__}, expected a number")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = np.inf
    if not (np.isfinite(number) and number >= at_least and above < number < below):
        bounds = ((">=", at_least), (">", above), ("<", below))
        allowed = ", ".join(f"{sign} {bound:g}" for sign, bound in bounds if np.isfinite(bound))
        raise ParameterError(f"{name}={shorten(value)} is out of range, expected a finite number {allowed}")
    return number


def shorten(value: Any) -> str:
    """A number as an error shows it, without most of its digits if it has very many."""
    digits = str(value)
    return digits if len(digits) <= 40 else f"{digits[:20]}... ({len(digits)} digits)"


def as_choice(value: Word, name: str, allowed: tuple[str, ...]) -> Word:
    """`value` if it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ParameterError(f"{name}={value!r} is unknown, expected one of {', '.join(map(repr, allowed))}")
    return value


def as_generator(rng: Seed, name: str = "rng") -> np.random.Generator:
    """A NumPy generator from None, a seed >= 0 or a generator, which is used as it is."""
    if isinstance(rng, bool | np.bool_ | float | str | np.random.RandomState):
        raise TypeError(f"{name}={rng!r} is a {type(rng).__name__}, expected None, a whole number or a numpy Generator")
    try:
        return np.random.default_rng(rng)
    except ValueError as problem:
        raise ParameterError(
            f"{name}={rng!r} cannot seed a generator ({problem}), expected a whole number >= 0"
        ) from None
    except TypeError:
        raise TypeError(
            f"{name} is a {type(rng).__name__}, expected None, a whole number or a numpy Generator"
        ) from None


def as_seeded(rng: Seed, name: str = "rng") -> tuple[np.random.Generator, int | str]:
    """A generator, as `as_generator` makes it, and for the record its seed, which is drawn where rng is None."""
    if rng is None:
        rng = int(np.random.SeedSequence().generate_state(1)[0])
    generator = as_generator(rng, name)
    if isinstance(rng, numbers.Integral):
        return generator, int(rng)
    return generator, f"a {type(rng).__name__} ({type(generator.bit_generator).__name__})"


def as_labels(labels: Any, n_nodes: int, name: str = "labels") -> npt.NDArray[np.int64]:
    """One label a node as an int64 array of shape (n_nodes,): -1 for none, otherwise a cluster's number."""
    array = as_array(labels, name)
    if array.shape != (n_nodes,):
        raise GraphValidationError(f"{name} has shape {array.shape}, expected one label per node: ({n_nodes},)")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}, expected whole numbers: a cluster's number, or -1 for none")
    if array.size and array.min() < -1:
        raise GraphValidationError(f"{name} holds {array.min()}, expected cluster numbers >= 0, or -1 for none")
    if not fits_numbers(array, n_nodes):
        raise GraphValidationError(
            f"{name} holds {array.max()}, far above the number of nodes; renumber the clusters from 0"
        )
    return np.require(array, np.int64, _AS_LOOPS_TAKE)


def as_names(nodes: Any) -> list[Any]:
    """Names of nodes as a list of Python's own objects; times stay times, which NumPy would turn into numbers."""
    if not isinstance(nodes, np.ndarray) or nodes.dtype.kind in "mM":
        return list(nodes)
    return nodes.tolist()


def refuse_swapped(path: Any, call: str, name: str = "path") -> None:
    """Refuse what is no path where one comes first, as the functions of other libraries have it second."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"{name} is a {type(path).__name__}, expected the path of a file: the call is {call}")


def fits_numbers(labels: np.ndarray, n_nodes: int) -> bool:
    """Whether arrays of the length of the highest label are no waste, so that labels may be places in them."""
    return not labels.size or int(labels.max()) < max(n_nodes, 1) * 4 + 1024


def as_weights(weights: Any, n: int, name: str = "sample_weight") -> npt.NDArray[np.float64]:
    """Weights >= 0, not all zero, as float64 of shape (n,); a number is that of every point, None means all ones."""
    if weights is None:
        return np.ones(n)
    array = as_array(weights, name)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {array.dtype}, expected numbers")
    array = np.full(n, array, np.float64) if array.ndim == 0 else np.require(array, np.float64, _AS_LOOPS_TAKE)
    if array.shape != (n,):
        raise GraphValidationError(f"{name} has shape {array.shape}, expected one weight per point: ({n},)")
    if not np.isfinite(array).all() or (array < 0).any():
        bad = np.flatnonzero(~(array >= 0) | ~np.isfinite(array))[0]
        raise GraphValidationError(f"{name}[{bad}] is {array[bad]}, expected finite weights >= 0")
    if not array.any():
        raise GraphValidationError(f"{name} is zero everywhere, expected a positive weight somewhere")
    with np.errstate(over="ignore"):
        total = array.sum()
    if not np.isfinite(total):
        raise GraphValidationError(
            f"{name} holds weights up to {array.max():.3g}, whose sum overflows; divide {name} by a power of ten"
        )
    return array
