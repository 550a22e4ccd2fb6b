"""Seeds as NetworkX, scanpy and scikit-learn take them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from graphclust.checks import as_generator


def as_rng(seed: Any, name: str = "seed") -> Any:
    """What our functions take as `rng`: of a RandomState, a random.Random or either module a number is drawn.

    A number stays one, for the record; None and Generators stay too. TypeError, by the name of the argument, else.
    """
    if isinstance(seed, np.random.RandomState) or seed is np.random:
        return int(seed.randint(np.iinfo(np.int32).max))
    if hasattr(seed, "randrange"):
        return seed.randrange(2**31)
    generator = as_generator(seed, name)
    return seed if seed is None or isinstance(seed, Integral) else generator
