"""Exact assignment that leaves out what bounds on the distances rule out.

Kept for each point: an upper bound on the distance to its own centroid, a lower bound on that to any other, and a
lower bound for each group of centroids (Elkan 2003 with one centroid a group, Ding et al. 2015 with more). A bound is
stored with the movement summed up to that moment, so that it need not be rewritten when centroids move (Newling and
Fleuret 2016), and a point whose bounds hold is not read. Every bound allows for the rounding of the distances.
"""

import numpy as np
from numba import njit

from graphclust.compiled.point_distances import sq_distance


# The least of several numbers is the same in any order, and none is NaN: with leave to say so it is found by SIMD.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def lowest_bound(i, group_lower, group_drift):
    """Lower bound on the distance of point i to any centroid but its own, from those of all groups."""
    lowest = np.inf
    for g in range(group_lower.shape[1]):
        bound = group_lower[i, g] - group_drift[g]
        lowest = bound if bound < lowest else lowest
    return lowest


@njit(cache=True, nogil=True)
def assign_bounded(
    first, last, block, X, centroids, order, members, group_starts, group_of, drift, group_drift, rounding, labels,
    upper, lower, group_lower,
):  # fmt: skip
    """Nearest centroid of each point X[order[i]], ties to the lowest index; one with label -1 has no bounds yet.

    members (k,), group_starts (n_groups + 1,): the centroids by group, ascending in each; group_of (k,) the inverse.
    drift (k,), group_drift (n_groups + 1,): summed movement, largest in the group, and last the largest of all.
    rounding: relative error of a distance, and absolute error of a bound plus its drift.
    labels, upper, lower (n,), group_lower (n, n_groups): by position in order; bounds minus or plus the drift then.
    """
    n_groups = len(group_starts) - 1
    longer = 1.0 + rounding[0]
    shorter = 1.0 - rounding[0]
    far = group_drift[n_groups] + rounding[1]
    for i in range(first, last):
        winner = labels[i]
        if winner >= 0:
            if lower[i] - far > upper[i] + drift[winner]:
                continue
            lower[i] = lowest_bound(i, group_lower, group_drift) + group_drift[n_groups]
            if lower[i] - far > upper[i] + drift[winner]:
                continue
        best = np.inf
        reach = np.inf
        runner_up = np.inf
        for g in range(-1 if winner >= 0 else 0, n_groups):
            if g >= 0 and group_lower[i, g] - group_drift[g] > reach + rounding[1]:
                continue
            nearest = np.inf
            second = np.inf
            closest = winner
            # One call computes every distance, first that to the own centroid, so that equal ones compare equal.
            for e in range(0 if g < 0 else group_starts[g], 1 if g < 0 else group_starts[g + 1]):
                j = winner if g < 0 else members[e]
                distance = np.float64(sq_distance(X, order[i], centroids, j))
                if distance < nearest:
                    second = nearest
                    nearest = distance
                    closest = j
                elif distance < second:
                    second = distance
            if g < 0:
                best = nearest
                reach = np.sqrt(best) * longer
                runner_up = group_lower[i, group_of[winner]]
                if lower[i] - far > reach:
                    break
                continue
            group_lower[i, g] = np.sqrt(nearest) * shorter + group_drift[g]
            if nearest < best or (nearest == best and closest <= winner):
                if winner >= 0 and group_of[winner] != g:
                    kept = np.sqrt(best) * shorter + group_drift[group_of[winner]]
                    group_lower[i, group_of[winner]] = min(kept, group_lower[i, group_of[winner]])
                best = nearest
                reach = np.sqrt(best) * longer
                winner = closest
                runner_up = np.sqrt(second) * shorter + group_drift[g]
        upper[i] = reach - drift[winner]
        if labels[i] >= 0 and lower[i] - far > reach:
            continue
        group_lower[i, group_of[winner]] = runner_up
        labels[i] = winner
        lower[i] = lowest_bound(i, group_lower, group_drift) + group_drift[n_groups]
