"""Weights that come as an array, on their way to a graph: what none can have is refused."""

from collections.abc import Callable

import numpy as np

from graphclust.errors import GraphValidationError, caller_takes


def remedy_for_signs_in_files() -> str:
    """What to do about negative weights of a file."""
    repel = 'pass kind="signed" if they repel' if caller_takes("kind") else "drop edges that repel"
    others = 'pass weights="ignore" to count every entry as 1, or weights="abs" for their sizes'
    return f"{repel}; where signs mean no such thing, {others}"


def refuse_impossible(
    weights: np.ndarray, where: str, in_file: bool = False, place: Callable[[int], str] = "entry {}".format,
    signed: bool = False,
) -> None:  # fmt: skip
    """Refuse negative weights and those that are not finite; `where` begins the sentence.

    in_file : whether the argument `weights` of `load_graph` is a remedy.  place : where a weight stands.  signed :
    whether weights may be below zero.
    """
    wrong = np.flatnonzero(~(np.isfinite(weights) & (signed | (weights >= 0.0))))
    if len(wrong):
        remedy = f": {remedy_for_signs_in_files()}" if in_file else ""
        if caller_takes("kind") and weights[wrong[0]] < 0.0 and not in_file:
            remedy = '; pass kind="signed" if they repel'
        first = f"a weight is {weights[wrong[0]]} in {place(int(wrong[0]))}"
        others = f", the first of {len(wrong)} such weights" if len(wrong) > 1 else ""
        expected = "finite weights" if signed else "finite weights >= 0"
        raise GraphValidationError(f"{where}: {first}{others}, expected {expected}{remedy}")
