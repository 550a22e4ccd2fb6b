"""Weights that come as an array, on their way to a graph: what none can have is refused."""

import numpy as np

from graphclust.errors import GraphValidationError


def refuse_impossible(weights: np.ndarray, where: str, in_file: bool = False) -> None:
    """Refuse negative weights and those that are not finite; `where` begins the sentence.

    in_file : whether the argument `weights` of `load_graph` is a remedy.
    """
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        remedy = (
            ': pass weights="abs" for their sizes, or weights="ignore" to count every entry as 1' if in_file else ""
        )
        raise GraphValidationError(f"{where}: a weight is {weights[wrong][0]}, expected finite weights >= 0{remedy}")
