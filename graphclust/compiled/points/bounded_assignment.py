"""Exact assignment that leaves out what bounds on the distances rule out.

Kept for each point: an upper bound on the distance to its own centroid, a lower bound on that to any other, and a
lower bound for each group of centroids (Elkan 2003 with one centroid a group, Ding et al. 2015 with more). A bound is
stored with the movement summed up to that moment, so that it need not be rewritten when centroids move (Newling and
Fleuret 2016), and a point whose bounds hold is not read. Every bound allows for the rounding of the distances.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.points.k_means import pair_sq_distances, sq_length
from graphclust.compiled.runtime.loops import loop

_CHUNK = 128
_MORE = 1.0 + 1e-12  # times a movement, which is rounded
_SLACK = 1e-6  # times the drift: what rounding may have taken from a bound plus its drift, or added to it


class Pairs(NamedTuple):
    """Points (n, d) and centroids (k, d) of one dtype."""

    X: np.ndarray
    centroids: np.ndarray


class Entering(NamedTuple):
    """Points that have no bounds yet: X[i - offset] is point i, and products[i - offset] (k,) its X.c."""

    X: np.ndarray
    centroids: np.ndarray
    products: np.ndarray
    centroid_sq_norms: np.ndarray
    offset: int


class Groups(NamedTuple):
    """Centroids by group: members (k,), ascending in each; starts (n_groups + 1,); of_centroid (k,), the inverse."""

    members: np.ndarray
    starts: np.ndarray
    of_centroid: np.ndarray


class Drift(NamedTuple):
    """How far centroids have moved, summed up: each (k,); largest in each group, and last of all (n_groups + 1,).

    rounding: relative error of a distance, and absolute error of a bound plus its drift.
    """

    of_centroid: np.ndarray
    of_group: np.ndarray
    rounding: np.ndarray


class Bounds(NamedTuple):
    """Of the points by position in order (n,), X[order[i]]: labels (n,), and bounds minus or plus the drift then.

    upper, lower (n,), group_lower (n, n_groups): on the distances to the own centroid, to any other, to each group.
    """

    order: np.ndarray
    labels: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    group_lower: np.ndarray


@loop()
def add_movement(moved, groups, summed, drift):
    """Add how far centroids have moved (k,) to the drift; summed (n_groups + 1,): that of the groups in float64."""
    members, group_starts, _ = groups
    n_groups = len(group_starts) - 1
    farthest = 0.0
    farthest_ever = 0.0
    for g in range(n_groups):
        farthest_of_group = 0.0
        for e in range(group_starts[g], group_starts[g + 1]):
            j = members[e]
            drift.of_centroid[j] += moved[j] * _MORE
            farthest_of_group = max(farthest_of_group, moved[j])
            farthest_ever = max(farthest_ever, drift.of_centroid[j])
        summed[g] += farthest_of_group * _MORE
        drift.of_group[g] = summed[g]
        farthest = max(farthest, farthest_of_group)
    summed[n_groups] += farthest * _MORE
    drift.of_group[n_groups] = summed[n_groups]
    drift.rounding[1] = _SLACK * (summed[n_groups] + farthest_ever)


# The bits of float32 order like the numbers, the negative ones apart, of which any is a bound: for the least of
# integers the compiler has a SIMD instruction that it does not use for numbers (measured: four times faster).
@loop()
def lowest_bound(i, group_lower, group_drift):
    """Lower bound on the distance of point i to any centroid but its own, from those of all groups."""
    lowest = np.float32(np.inf).view(np.int32)
    for g in range(group_lower.shape[1]):
        bound = np.float32(group_lower[i, g] - group_drift[g]).view(np.int32)
        lowest = bound if bound < lowest else lowest
    return np.int32(lowest).view(np.float32)


@loop()
def label_point(i, winner, nearest, sq_distances, error, groups, drift, bounds):
    """Label and bounds of point i, nearest to its winner, from its squared distances (k,), each within error."""
    bounds.labels[i] = winner
    bounds.upper[i] = np.sqrt(nearest + 3.0 * error) - drift.of_centroid[winner]
    sq_distances[winner] = np.inf
    group_starts, group_drift, group_lower = groups.starts, drift.of_group, bounds.group_lower
    n_groups = len(group_starts) - 1
    if n_groups == len(sq_distances):
        for j in range(n_groups):
            sq_distance = sq_distances[j] - error
            group_lower[i, j] = np.sqrt(sq_distance if sq_distance > 0.0 else 0.0) + group_drift[j]
    else:
        for g in range(n_groups):
            nearest = np.inf
            for e in range(group_starts[g], group_starts[g + 1]):
                j = groups.members[e]
                nearest = sq_distances[j] if sq_distances[j] < nearest else nearest
            group_lower[i, g] = np.sqrt(max(nearest - error, 0.0)) + group_drift[g]
    bounds.lower[i] = lowest_bound(i, group_lower, group_drift) + group_drift[n_groups]


@loop()
def assign_by_products(first, last, block, entering, groups, drift, bounds):
    """As `assign_bounded`, for points without bounds.

    What rounding leaves open is decided by `pair_sq_distances`; products that differ by rounding change no label.
    """
    X, centroids, products, centroid_sq_norms, offset = entering
    k = len(centroids)
    longest = centroid_sq_norms.max()
    sq_distances = np.empty(k)
    rows = np.empty(k + 3, np.int64)
    chosen = np.empty(k + 3, np.int64)
    exact = np.empty(k + 3, X.dtype)
    for i in range(first, last):
        length = np.float64(sq_length(X, i - offset))
        error = drift.rounding[0] * (length + longest)
        for j in range(k):
            sq_distances[j] = length + centroid_sq_norms[j] - 2.0 * products[i - offset, j]
        nearest, n_open = nearest_and_open(sq_distances, error)
        winner = 0
        if n_open == 1:
            while sq_distances[winner] > nearest:
                winner += 1
        else:
            n_open = 0
            for j in range(k):
                rows[n_open] = i - offset
                chosen[n_open] = j
                n_open += 1 if sq_distances[j] <= nearest + 2.0 * error else 0
            pair_sq_distances(X, rows, centroids, chosen, n_open, exact)
            best = 0
            for p in range(1, n_open):
                best = p if exact[p] < exact[best] else best
            winner = chosen[best]
        label_point(i, winner, nearest, sq_distances, error, groups, drift, bounds)


@loop()
def nearest_and_open(sq_distances, error):
    """The least squared distance, 0 if it is negative, and how many are no more than twice the error from it."""
    least = np.float64(np.inf).view(np.int64)
    for j in range(len(sq_distances)):
        bits = np.float64(sq_distances[j] if sq_distances[j] > 0.0 else 0.0).view(np.int64)
        least = bits if bits < least else least
    nearest = np.int64(least).view(np.float64)
    n_open = 0
    for j in range(len(sq_distances)):
        n_open += 1 if sq_distances[j] <= nearest + 2.0 * error else 0
    return nearest, n_open


@loop()
def assign_bounded(first, last, block, pairs, groups, drift, bounds):
    """Nearest centroid of each point X[order[i]], ties to the lowest index; bounds on them are brought up to date."""
    X, centroids = pairs
    members, group_starts, _ = groups
    moved, group_drift, rounding = drift
    order, labels, upper, lower, group_lower = bounds
    k = len(centroids)
    n_groups = len(group_starts) - 1
    longer = 1.0 + rounding[0]
    far = group_drift[n_groups] + rounding[1]
    active = np.empty(_CHUNK, np.int64)
    best = np.empty(_CHUNK + 3, X.dtype)
    n_most = _CHUNK + k
    rows = np.empty(n_most + 3, np.int64)
    chosen = np.empty(n_most + 3, np.int64)
    sq_distances = np.empty(n_most + 3, X.dtype)
    n_near = np.empty(_CHUNK, np.int64)
    near_groups = np.empty(_CHUNK + n_groups + 1, np.int64)
    i = first
    while i < last:
        n_active = 0
        while i < last and n_active < _CHUNK:
            j = labels[i]
            if lower[i] - far <= upper[i] + moved[j]:
                lower[i] = lowest_bound(i, group_lower, group_drift) + group_drift[n_groups]
                if lower[i] - far <= upper[i] + moved[j]:
                    active[n_active] = i
                    rows[n_active] = order[i]
                    chosen[n_active] = j
                    n_active += 1
            i += 1
        if n_active == 0:
            break
        pair_sq_distances(X, rows, centroids, chosen, n_active, best)
        begin = 0
        n_pairs = 0
        n_listed = 0
        for a in range(n_active):
            position = active[a]
            j = labels[position]
            reach = np.sqrt(np.float64(best[a])) * longer
            upper[position] = reach - moved[j]
            n_near[a] = 0
            if lower[position] - far <= reach:
                reach += rounding[1]
                n_near[a] = groups_in_reach(position, reach, group_lower, group_drift, near_groups[n_listed:])
                for g in near_groups[n_listed : n_listed + n_near[a]]:
                    for e in range(group_starts[g], group_starts[g + 1]):
                        rows[n_pairs] = order[position]
                        chosen[n_pairs] = members[e]
                        n_pairs += 1
                n_listed += n_near[a]
            if n_pairs < _CHUNK and a < n_active - 1:
                continue
            pair_sq_distances(X, rows, centroids, chosen, n_pairs, sq_distances)
            p = 0
            n_listed = 0
            for b in range(begin, a + 1):
                if n_near[b] > 0:
                    near = near_groups[n_listed : n_listed + n_near[b]]
                    p = _settle(active[b], np.float64(best[b]), p, sq_distances, near, groups, drift, bounds)
                    n_listed += n_near[b]
            begin = a + 1
            n_pairs = 0
            n_listed = 0


@loop()
def groups_in_reach(i, reach, group_lower, group_drift, near_groups):
    """How many groups of centroids may be within reach of position i; near_groups (n_groups + 1,): which, ascending."""
    n_near = 0
    for g in range(group_lower.shape[1]):
        n_near += 1 if group_lower[i, g] - group_drift[g] <= reach else 0
    n_listed = 0
    g = 0
    while n_listed < n_near:
        near_groups[n_listed] = g
        n_listed += 1 if group_lower[i, g] - group_drift[g] <= reach else 0
        g += 1
    return n_near


@loop()
def _settle(i, best, p, sq_distances, near_groups, groups, drift, bounds):
    """Label and bounds of position i, at squared distance best of its own centroid, from those to all in near_groups.

    sq_distances: theirs from the p-th on; returns where the next position's start.
    """
    members, group_starts, group_of = groups
    moved, group_drift, rounding = drift
    _, labels, upper, lower, group_lower = bounds
    longer = 1.0 + rounding[0]
    shorter = 1.0 - rounding[0]
    winner = labels[i]
    runner_up = group_lower[i, group_of[winner]]
    for g in near_groups:
        nearest = np.inf
        second = np.inf
        closest = winner
        for e in range(group_starts[g], group_starts[g + 1]):
            distance = np.float64(sq_distances[p])
            p += 1
            if distance < nearest:
                second = nearest
                nearest = distance
                closest = members[e]
            elif distance < second:
                second = distance
        group_lower[i, g] = np.sqrt(nearest) * shorter + group_drift[g]
        if nearest < best or (nearest == best and closest <= winner):
            if group_of[winner] != g:
                kept = np.sqrt(best) * shorter + group_drift[group_of[winner]]
                group_lower[i, group_of[winner]] = min(kept, group_lower[i, group_of[winner]])
            best = nearest
            winner = closest
            runner_up = np.sqrt(second) * shorter + group_drift[g]
    upper[i] = np.sqrt(best) * longer - moved[winner]
    group_lower[i, group_of[winner]] = runner_up
    labels[i] = winner
    lower[i] = lowest_bound(i, group_lower, group_drift) + group_drift[-1]
    return p
