"""The assignment of `bounded_assignment` for few features: points that need a group of centroids share a tile.

With few features a distance is too short a sum to fill an instruction; here one instruction serves several points.
Every distance is a sum of (x - c)^2 in one written order, so `sq_distance_in_order` gives the same bits for one point.
"""

import numpy as np

from graphclust.compiled.points.bounded_assignment import lowest_bound
from graphclust.compiled.runtime.loops import loop

TILE = 64
# A row of the tile is a little longer: rows a power of two apart would share a few cache lines.
TILE_STRIDE = TILE + 8
_CHUNK = 1024


@loop()
def load_tile(X, rows, n_rows, tile):
    """Copy the given rows of X into the first columns of tile (d, TILE_STRIDE); other columns repeat the last row."""
    for t in range(TILE):
        i = rows[min(t, n_rows - 1)]
        for l in range(X.shape[1]):
            tile[l, t] = X[i, l]


@loop()
def tile_sq_distances(tile, centroids, j, sq_distances):
    """Squared distances (TILE,) of the tile's points to centroid j."""
    d = tile.shape[0]
    for t in range(TILE):
        sq_distances[t] = 0.0
    whole = d - d % 4
    for l in range(0, whole, 4):
        c0 = centroids[j, l]
        c1 = centroids[j, l + 1]
        c2 = centroids[j, l + 2]
        c3 = centroids[j, l + 3]
        for t in range(TILE):
            e0 = tile[l, t] - c0
            e1 = tile[l + 1, t] - c1
            e2 = tile[l + 2, t] - c2
            e3 = tile[l + 3, t] - c3
            sq_distances[t] += (e0 * e0 + e1 * e1) + (e2 * e2 + e3 * e3)
    for l in range(whole, d):
        c0 = centroids[j, l]
        for t in range(TILE):
            e0 = tile[l, t] - c0
            sq_distances[t] += e0 * e0


@loop()
def sq_distance_in_order(X, i, centroids, j):
    """The same number for one point."""
    total = X[i, 0] - X[i, 0]
    whole = X.shape[1] - X.shape[1] % 4
    for l in range(0, whole, 4):
        e0 = X[i, l] - centroids[j, l]
        e1 = X[i, l + 1] - centroids[j, l + 1]
        e2 = X[i, l + 2] - centroids[j, l + 2]
        e3 = X[i, l + 3] - centroids[j, l + 3]
        total += (e0 * e0 + e1 * e1) + (e2 * e2 + e3 * e3)
    for l in range(whole, X.shape[1]):
        e0 = X[i, l] - centroids[j, l]
        total += e0 * e0
    return total


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
