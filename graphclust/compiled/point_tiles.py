"""Squared distances by tiles of points: the points of a tile lie side by side, so one instruction serves several.

Every distance is the sum of (x - c)^2 in one fixed order, in pairs of pairs of features: no cancellation, and the
same bits for any block, thread or caller.
"""

import numpy as np
from numba import njit

TILE = 64


@njit(cache=True, nogil=True)
def load_tile(X, rows, n_rows, tile):
    """Copy the given rows of X into the first columns of tile (d, TILE); the other columns repeat the last row."""
    for t in range(TILE):
        i = rows[min(t, n_rows - 1)]
        for l in range(X.shape[1]):
            tile[l, t] = X[i, l]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def assign_rows(first, last, block, X, centroids, labels, sq_distances):
    """Nearest centroid of each row, ties to the lowest index, and the squared distance to it."""
    tile = np.empty((X.shape[1], TILE), X.dtype)
    rows = np.empty(TILE, np.int64)
    distances = np.empty(TILE, X.dtype)
    nearest = np.empty(TILE, X.dtype)
    winner = np.empty(TILE, np.int64)
    for start in range(first, last, TILE):
        n_rows = min(TILE, last - start)
        for t in range(n_rows):
            rows[t] = start + t
        load_tile(X, rows, n_rows, tile)
        nearest[:] = np.inf
        winner[:] = 0
        for j in range(len(centroids)):
            tile_sq_distances(tile, centroids, j, distances)
            for t in range(TILE):
                winner[t] = j if distances[t] < nearest[t] else winner[t]
                nearest[t] = distances[t] if distances[t] < nearest[t] else nearest[t]
        for t in range(n_rows):
            labels[start + t] = winner[t]
            sq_distances[start + t] = nearest[t]
