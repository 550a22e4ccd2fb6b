"""Squared distances by tiles of points: the points of a tile lie side by side, so that one instruction serves several.

Every distance is a sum of (x - c)^2 in one written order, so `sq_distance_in_order` gives the same bits for one point.
"""

from graphclust.compiled.runtime.loops import loop

TILE = 64
# A row of the tile is a little longer: rows a power of two apart would share a few cache lines.
TILE_STRIDE = TILE + 8


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
