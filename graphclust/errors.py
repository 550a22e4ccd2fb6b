"""The exceptions and warnings that graphclust raises.

Each also derives from the built-in class a caller would expect, so that `except ValueError` works. A message names
the argument, the value seen, what was expected and what to do. A wrong *type* is a plain `TypeError`.
"""

import logging
import sys
import types
import warnings
from typing import Any

_MOST_LETTERS = 2000  # of a message

__all__ = [
    "ConvergenceError", "ConvergenceWarning", "DownloadError", "EditError", "GraphClustError", "GraphFormatError",
    "GraphValidationError", "GraphWarning", "IntegrityError", "Interrupted", "ParameterError", "ResourceLimitError",
    "UnsafeArchiveError",
]  # fmt: skip

log = logging.getLogger("graphclust")
log.addHandler(logging.NullHandler())  # where nobody asks for the log a warning is shown once, by Python's warnings


class GraphClustError(Exception):
    """Base class of every error that graphclust raises on purpose.

    Names of files and nodes that a message quotes cannot steer the terminal it is printed to, nor fill it.
    """

    def __str__(self) -> str:
        return for_people(super().__str__())


class GraphFormatError(GraphClustError, ValueError):
    """A file is not what it claims to be; `path` and `line` (1-based, or None) say where."""

    def __init__(self, message: str, path: str | None = None, line: int | None = None):
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(where + message)
        self.path = path
        self.line = line


class UnsafeArchiveError(GraphFormatError):
    """An archive has members that would lie outside it, or that are links or devices: nothing of it is read."""


class GraphValidationError(GraphClustError, ValueError):
    """The input is no graph that can be clustered: not square, not symmetric, negative or non-finite weights ..."""


class ParameterError(GraphClustError, ValueError):
    """An argument has the right type and an impossible value."""


class EditError(ParameterError, GraphValidationError):
    """An edit does not fit the graph: a node or an edge is not there, is there already, or is named twice."""


class ResourceLimitError(GraphClustError, MemoryError):
    """The work would need more memory than allowed; raised before the memory is asked for."""


class DownloadError(GraphClustError, OSError):
    """A data set could not be fetched; the message has the address, and where a file may be put by hand."""


class IntegrityError(DownloadError):
    """What arrived, or what the cache holds, is not the file that was expected; it was removed."""


class ConvergenceError(GraphClustError, RuntimeError):
    """An iterative method did not converge and its fallbacks did not either."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after a first result was at hand.

    best : what the interrupted function would have returned, as far as it had come: complete and valid. Of kernel
        k-means, whose centers take long to make, it is the labels alone.

    Code that does not use `best` sees an ordinary KeyboardInterrupt.

    >>> try:
    ...     raise Interrupted([0, 0, 1])
    ... except KeyboardInterrupt as stop:
    ...     print(stop.best if isinstance(stop, Interrupted) else "nothing yet")
    [0, 0, 1]
    """

    def __init__(self, best: Any):
        super().__init__("the attribute `best` of this exception holds the best result so far")
        self.best = best


class GraphWarning(UserWarning):
    """Something about the graph was assumed or repaired: isolated nodes, summed duplicates, dropped zeros ..."""


class IsolatedNodesWarning(GraphWarning):
    """Nodes without edges are all that there is to say; for callers to whom those are nodes as all others."""


class _OwnWarning(UserWarning):
    """What `ConvergenceWarning` derives from by itself: Python exchanges no built-in class among the bases."""


class ConvergenceWarning(_OwnWarning):
    """A method stopped with less than was asked for, for example fewer distinct points than clusters.

    Where scikit-learn is loaded it derives from scikit-learn's, so that a filter for that one holds for this one too.
    """


def derive_from_scikit_learns() -> None:
    """Give `ConvergenceWarning` scikit-learn's as its base, if scikit-learn is loaded; it is not imported for that."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "ConvergenceWarning", None)
    if theirs is not None:
        ConvergenceWarning.__bases__ = (theirs,)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package from which it was called, and in the log unless a filter ignores it."""
    derive_from_scikit_learns()
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("graphclust."):
        depth, frame = depth + 1, frame.f_back
    sentence = for_people(message)
    matching = (action for action, text, kind, *_ in warnings.filters if issubclass(category, kind) and (
        text is None or text.match(sentence)))  # fmt: skip
    if next(matching, "default") != "ignore":
        log.warning(sentence)
    warnings.warn(sentence, category, stacklevel=depth)


def caller_takes(argument: str) -> bool:
    """Whether the function of this package that was called from outside has an argument of this name."""
    frame: types.FrameType | None = sys._getframe(1)
    arguments: tuple[str, ...] = ()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("graphclust."):
        code, frame = frame.f_code, frame.f_back
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] or arguments  # not those of a wrapper
    return argument in arguments


def for_people(message: str) -> str:
    """A message whose quotes steer no terminal, and are not longer than a screen: its beginning and its end stay."""
    if len(message) > _MOST_LETTERS:
        message = f"{message[: 3 * _MOST_LETTERS // 4]} ... {message[-_MOST_LETTERS // 4 :]}"
    return escape_controls(message, keep="\n\t")


def escape_controls(text: str, keep: str = "") -> str:
    r"""Text for people to read: what would steer a terminal, or show nothing, as an escape; but what is to be kept.

    >>> print(escape_controls("karate\x1b[31m\n"))
    karate\x1b[31m\n
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in keep else ascii(letter)[1:-1] for letter in text)


def quote(text: bytes, most: int = 80) -> str:
    """A piece of a file for a message, not longer than a line."""
    words = escape_controls(text[:most].decode("utf-8", "backslashreplace"))
    return words + "..." if len(text) > most else words


def in_mebibytes(n_bytes: int) -> str:
    """A size in memory as text: whole MiB, or below one of them the bytes themselves."""
    return amount(n_bytes, "byte") if n_bytes < 1 << 20 else f"{n_bytes >> 20} MiB"


def amount(n: int, one: str, many: str | None = None) -> str:
    """The number before what it counts, as in "1 node is" and "2 nodes are"; by default with an s for more."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
