"""Weights that come as an array, on their way to a graph: what none can have is refused."""

import numpy as np

from graphclust.errors import GraphValidationError


def refuse_impossible(weights: np.ndarray, where: str) -> None:
    """Refuse negative weights and those that are not finite; `where` begins the sentence."""
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        raise GraphValidationError(f"{where}: a weight is {weights[wrong][0]}, expected finite weights >= 0")
