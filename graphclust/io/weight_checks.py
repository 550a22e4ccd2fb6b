"""Weights that come as an array, on their way to a graph: what none can have is refused."""

from collections.abc import Callable

import numpy as np

from graphclust.errors import GraphValidationError

FOR_SIGNS_IN_FILES = (
    'drop edges that repel; where signs mean no such thing, pass weights="ignore" to count every entry as 1, or '
    'weights="abs" for their sizes'
)


def refuse_impossible(
    weights: np.ndarray, where: str, in_file: bool = False, place: Callable[[int], str] = "entry {}".format
) -> None:
    """Refuse negative weights and those that are not finite; `where` begins the sentence.

    in_file : whether the argument `weights` of `load_graph` is a remedy.  place : where a weight stands.
    """
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(wrong):
        remedy = f": {FOR_SIGNS_IN_FILES}" if in_file else ""
        first = f"a weight is {weights[wrong[0]]} in {place(int(wrong[0]))}"
        others = f", the first of {len(wrong)} such weights" if len(wrong) > 1 else ""
        raise GraphValidationError(f"{where}: {first}{others}, expected finite weights >= 0{remedy}")
