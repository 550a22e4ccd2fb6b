"""The assignment of `bounded_assignment` for few features: points that need a group of centroids share a tile.

With few features a distance is too short a sum to fill an instruction; here one instruction serves several points.
"""

import numpy as np

from graphclust.compiled.points.bounded_assignment import lowest_bound
from graphclust.compiled.points.point_tiles import TILE, TILE_STRIDE, load_tile, sq_distance_in_order, tile_sq_distances
from graphclust.compiled.runtime.loops import loop

_CHUNK = 1024


@loop()
def assign_in_tiles(first, last, block, pairs, groups, drift, bounds):
    """As `assign_bounded`, with the same arguments."""
    X, centroids = pairs
    members, group_starts, group_of = groups
    moved, group_drift, rounding = drift
    order, labels, upper, lower, group_lower = bounds
    n_groups = len(group_starts) - 1
    longer = 1.0 + rounding[0]
    shorter = 1.0 - rounding[0]
    far = group_drift[n_groups] + rounding[1]
    active = np.empty(_CHUNK, np.int64)
    best = np.empty(_CHUNK, X.dtype)
    reach = np.empty(_CHUNK)
    winner = np.empty(_CHUNK, np.int64)
    runner_up = np.empty(_CHUNK)
    tile = np.empty((X.shape[1], TILE_STRIDE), X.dtype)
    rows = np.empty(TILE, np.int64)
    slots = np.empty(TILE, np.int64)
    distances = np.empty(TILE, X.dtype)
    nearest = np.empty(TILE, X.dtype)
    second = np.empty(TILE, X.dtype)
    closest = np.empty(TILE, np.int32)
    for start in range(first, last, _CHUNK):
        n_active = 0
        for i in range(start, min(start + _CHUNK, last)):
            j = labels[i]
            best[n_active] = np.inf
            reach[n_active] = np.inf
            runner_up[n_active] = np.inf
            if j >= 0:
                if lower[i] - far > upper[i] + moved[j]:
                    continue
                lower[i] = lowest_bound(i, group_lower, group_drift) + group_drift[n_groups]
                if lower[i] - far > upper[i] + moved[j]:
                    continue
                if n_groups == 1:
                    # The tile has the point's own centroid too: to ask about that one first saves less than it costs.
                    j = -1
                else:
                    best[n_active] = sq_distance_in_order(X, order[i], centroids, j)
                    reach[n_active] = np.sqrt(best[n_active]) * longer
                    upper[i] = reach[n_active] - moved[j]
                    if lower[i] - far > reach[n_active]:
                        continue
                    runner_up[n_active] = group_lower[i, group_of[j]]
            winner[n_active] = j
            active[n_active] = i
            n_active += 1
        for g in range(n_groups):
            n_rows = 0
            for r in range(n_active):
                i = active[r]
                if group_lower[i, g] - group_drift[g] <= reach[r] + rounding[1]:
                    rows[n_rows] = order[i]
                    slots[n_rows] = r
                    n_rows += 1
                if n_rows < TILE and (n_rows == 0 or r < n_active - 1):
                    continue
                load_tile(X, rows, n_rows, tile)
                for t in range(TILE):
                    nearest[t] = np.inf
                    second[t] = np.inf
                    closest[t] = -1
                for e in range(group_starts[g], group_starts[g + 1]):
                    j = np.int32(members[e])
                    tile_sq_distances(tile, centroids, j, distances)
                    for t in range(TILE):
                        loser = distances[t] if distances[t] > nearest[t] else nearest[t]
                        second[t] = loser if loser < second[t] else second[t]
                        closest[t] = j if distances[t] < nearest[t] else closest[t]
                        nearest[t] = distances[t] if distances[t] < nearest[t] else nearest[t]
                for t in range(n_rows):
                    r_t = slots[t]
                    i = active[r_t]
                    old = winner[r_t]
                    group_lower[i, g] = np.sqrt(nearest[t]) * shorter + group_drift[g]
                    if nearest[t] < best[r_t] or (nearest[t] == best[r_t] and closest[t] <= old):
                        if old >= 0 and group_of[old] != g:
                            kept = np.sqrt(best[r_t]) * shorter + group_drift[group_of[old]]
                            group_lower[i, group_of[old]] = min(kept, group_lower[i, group_of[old]])
                        best[r_t] = nearest[t]
                        reach[r_t] = np.sqrt(nearest[t]) * longer
                        winner[r_t] = closest[t]
                        runner_up[r_t] = np.sqrt(second[t]) * shorter + group_drift[g]
                n_rows = 0
        for r in range(n_active):
            i = active[r]
            j = winner[r]
            group_lower[i, group_of[j]] = runner_up[r]
            labels[i] = j
            upper[i] = reach[r] - moved[j]
            lower[i] = lowest_bound(i, group_lower, group_drift) + group_drift[n_groups]
