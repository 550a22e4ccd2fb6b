"""Points around k centers of a normal distribution."""

import numpy as np


def blobs(n, d, k, seed, spread=0.5):
    """Float64, shape (n, d)."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((k, d))[rng.integers(0, k, n)] + spread * rng.standard_normal((n, d))
