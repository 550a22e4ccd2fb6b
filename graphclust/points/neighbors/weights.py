"""Weights of neighbors by their distances: Gaussians with a scale for each point, and UMAP's fuzzy sets.

Zelnik-Manor and Perona 2004, "Self-tuning spectral clustering", section 2. McInnes, Healy and Melville 2018, "UMAP:
uniform manifold approximation and projection", Algorithms 2 and 3.
"""

from __future__ import annotations

import numpy as np

from graphclust.float_scaling import exponent_beyond, largest_size, times_power_of_two

LEAST_WEIGHT = 1e-12  # a neighbor that is far away on both scales stays a neighbor
# umap-learn's own: halvings, how near to its aim a sum has to come, the least scale as a share of the mean distance.
_HALVINGS, _TOLERANCE, _LEAST_SCALE = 64, 1e-5, 1e-3


def gaussian(neighbors: np.ndarray, distances: np.ndarray, given: np.ndarray) -> np.ndarray:
    """exp(-d^2 / (s_i s_j)), the same from both ends; a scale of 0, of a point among copies of it, becomes typical.

    given : bool, (n, m), where there is a neighbor; s_i is the distance to the last of them.
    """
    scales = np.where(given, distances, 0.0).max(axis=1)
    positive = scales[scales > 0]
    if len(positive) == 0:
        return np.ones(distances.shape)
    scales[scales == 0] = np.median(positive)
    return np.maximum(np.exp(-((distances / scales[:, None]) * (distances / scales[neighbors]))), LEAST_WEIGHT)


def membership(distances: np.ndarray, given: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """UMAP's strength of each neighbor, in (0, 1]: 1 for the nearest, then exp(-(d - nearest) / scale).

    The scale makes a point's strengths add up to log2 of how many neighbors were asked for, the point itself being one.

    given : bool, (n, m), where there is a neighbor. counts : (n,), how many were asked for, the point itself not being
        one.
    """
    exponent = exponent_beyond(largest_size(distances), 1e-6, 1e6)  # the bisection begins at 1
    distances = times_power_of_two(distances, -exponent)
    far = np.where(given & (distances > 0.0), distances, np.inf).min(axis=1)
    nearest = np.where(np.isfinite(far), far, 0.0)
    beyond = np.where(given, np.maximum(distances - nearest[:, None], 0.0), np.inf)
    scales = _scales(beyond, np.log2(counts + 1.0))
    sums = np.where(given, distances, 0.0).sum(axis=1)
    means = np.where(nearest > 0.0, sums / (counts + 1.0), sums.sum() / (counts + 1.0).sum())
    scales = np.maximum(scales, _LEAST_SCALE * means)
    with np.errstate(divide="ignore", invalid="ignore"):
        strengths = np.where(beyond > 0.0, np.exp(-beyond / scales[:, None]), 1.0)
    return np.maximum(strengths, LEAST_WEIGHT)


def _scales(beyond: np.ndarray, aims: np.ndarray) -> np.ndarray:
    """For each row the scale s at which exp(-beyond / s) adds up to its aim, by bisection."""
    n = len(aims)
    low, high, scales = np.zeros(n), np.full(n, np.inf), np.ones(n)
    for _ in range(_HALVINGS):
        sums = np.exp(-beyond / scales[:, None]).sum(axis=1)
        open_ = np.abs(sums - aims) >= _TOLERANCE
        if not open_.any():
            break
        too_large = open_ & (sums > aims)
        too_small = open_ & ~too_large
        high[too_large] = scales[too_large]
        low[too_small] = scales[too_small]
        unbounded = too_small & np.isinf(high)
        halved = (too_large | too_small) & ~unbounded
        scales[unbounded] *= 2.0
        scales[halved] = (low[halved] + high[halved]) / 2.0
    return scales
