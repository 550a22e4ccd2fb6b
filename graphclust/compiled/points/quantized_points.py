"""Points rounded to a byte a feature: distances within a known error, from a quarter of the memory and of the time.

A feature x is kept as the whole number of steps above the feature's lowest value, 0 to 255; centroids lie on a grid
sixteen times as fine. Products of such numbers are exact, so a distance is off by the two points' own errors at most.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.points.bounded_assignment import groups_in_reach, lowest_bound
from graphclust.compiled.runtime.loops import loop

FINER = 16
# As many products of a byte and of a centroid's 255 * 16 as an int32 surely holds.
_SLICE = 2048
_CHUNK = 128


class Grid(NamedTuple):
    """Whole steps / finer above lowest (d,), as far as 255 * finer; lowest and step have the dtype of the points.

    relative, absolute: what the rounding of numbers adds to the distance of a point from its place on the grid.
    """

    lowest: np.ndarray
    step: np.floating
    finer: int
    relative: float
    absolute: float


class Rounded(NamedTuple):
    """Points on a grid: codes (n, d), their squared lengths (n,), and how far from the points they may be (n,)."""

    codes: np.ndarray
    sq_lengths: np.ndarray
    errors: np.ndarray


@loop()
def round_points(first, last, block, X, grid, rounded):
    """Put the points on the grid."""
    lowest, step, finer, relative, absolute = grid
    codes, sq_lengths, errors = rounded
    zero = X.dtype.type(0)
    top = X.dtype.type(255 * finer)
    half = X.dtype.type(0.5)
    per_step = X.dtype.type(finer) / step
    for i in range(first, last):
        for l in range(X.shape[1]):
            steps = (X[i, l] - lowest[l]) * per_step
            steps = steps if steps > zero else zero
            codes[i, l] = np.int32((steps if steps < top else top) + half)
        sq_length = np.int64(0)
        for l in range(codes.shape[1]):
            sq_length += np.int64(codes[i, l]) * np.int64(codes[i, l])
        sq_lengths[i] = sq_length
        error = np.sqrt(np.float64(_sq_error(X, lowest, step / X.dtype.type(finer), codes, i)))
        errors[i] = error * (1.0 + relative) + absolute


@loop(fastmath={"reassoc", "nsz"})
def _sq_error(X, lowest, unit, codes, i):
    total = X[i, 0] - X[i, 0]
    for l in range(X.shape[1]):
        difference = (X[i, l] - lowest[l]) - unit * X.dtype.type(codes[i, l])
        total += difference * difference
    return total


@loop()
def _product_of_slices(x, y):
    # In int32, which numba would widen: the compiler has an instruction for pairs of such products.
    total = np.int32(0)
    for l in range(len(x)):
        total = np.int32(total + np.int32(np.int32(x[l]) * np.int32(y[l])))
    return total


@loop()
def steps_between(codes, sq_lengths, i, centroid_codes, centroid_sq_lengths, j):
    """Distance of rounded point i to rounded centroid j in steps of the centroids' grid."""
    product = np.int64(0)
    for start in range(0, codes.shape[1], _SLICE):
        product += _product_of_slices(codes[i, start : start + _SLICE], centroid_codes[j, start : start + _SLICE])
    return np.sqrt(FINER * FINER * sq_lengths[i] + centroid_sq_lengths[j] - 2.0 * FINER * product)


@loop()
def tighten_bounds(first, last, block, points, centroids, unit, drift, bounds):
    """The bounds of `assign_bounded` from rounded points, for those where they have become too weak to spare the point.

    Each centroid is a group. unit: the length of a step of the centroids' grid. Labels stay as they are.
    """
    codes, sq_lengths, errors = points
    centroid_codes, centroid_sq_lengths, centroid_errors = centroids
    moved, group_drift, rounding = drift
    _, labels, upper, lower, group_lower = bounds
    far = group_drift[-1] + rounding[1]
    longer = 1.0 + rounding[0]
    shorter = 1.0 - rounding[0]
    active = np.empty(_CHUNK + 1, np.int64)
    reach = np.empty(_CHUNK)
    near = np.empty(len(moved) + 1, np.int64)
    # One question at a time for a whole chunk: what the processor fetches for one point does not wait for another.
    for start in range(first, last, _CHUNK):
        n_weak = 0
        for i in range(start, min(start + _CHUNK, last)):
            active[n_weak] = i
            n_weak += 1 if lower[i] - far <= upper[i] + moved[labels[i]] else 0
        n_active = 0
        for i in active[:n_weak]:
            lower[i] = lowest_bound(i, group_lower, group_drift) + group_drift[-1]
            active[n_active] = i
            n_active += 1 if lower[i] - far <= upper[i] + moved[labels[i]] else 0
        for a in range(n_active):
            i = active[a]
            own = labels[i]
            distance = unit * steps_between(codes, sq_lengths, i, centroid_codes, centroid_sq_lengths, own)
            reach[a] = min((distance + errors[i] + centroid_errors[own]) * longer, upper[i] + moved[own])
            upper[i] = reach[a] - moved[own]
        for a in range(n_active):
            i = active[a]
            if lower[i] - far > reach[a]:
                continue
            n_near = groups_in_reach(i, reach[a] + rounding[1], group_lower, group_drift, near)
            for j in near[:n_near]:
                distance = unit * steps_between(codes, sq_lengths, i, centroid_codes, centroid_sq_lengths, j)
                bound = (distance - errors[i] - centroid_errors[j]) * shorter + group_drift[j]
                group_lower[i, j] = max(bound, group_lower[i, j])
            lower[i] = lowest_bound(i, group_lower, group_drift) + group_drift[-1]
