"""One step of distance seeding: what candidates would gain, and what a new seed changes.

A point whose nearest seed is s cannot get closer to a candidate c with |c - s| >= 2 |x - s|, so it is not read.
"""

import numpy as np
from numba import njit

from graphclust.compiled.point_tiles import TILE, load_tile, tile_sq_distances

# The test is made in rounded numbers; near equality the distance is computed.
_SLACK = 4.0 * (1.0 + 1e-5)


@njit(cache=True, nogil=True)
def distances_to_seeds(seed_tiles, n_seeds, candidates, to_seeds):
    """Squared distances (n_candidates, n_seeds) of the candidates to the seeds in seed_tiles (n_tiles, d, TILE)."""
    distances = np.empty(TILE, candidates.dtype)
    for tile in range((n_seeds + TILE - 1) // TILE):
        for c in range(len(candidates)):
            tile_sq_distances(seed_tiles[tile], candidates, c, distances)
            for t in range(min(TILE, n_seeds - tile * TILE)):
                to_seeds[c, tile * TILE + t] = distances[t]


@njit(cache=True, nogil=True)
def approach(first, last, block, X, weights, candidates, to_seeds, new_seed, nearest_seed, sq_distances, gains, unread):
    """gains (n_blocks, n_candidates): by how much each candidate would lower the sum of w |x - nearest seed|^2.

    With new_seed >= 0 the first candidate becomes that seed: nearest_seed and sq_distances (n,) are updated.
    unread (1,) is True on the first step, when there is no distance to compare with.
    """
    n_candidates = len(candidates)
    tile = np.empty((X.shape[1], TILE), X.dtype)
    rows = np.empty(TILE, np.int64)
    distances = np.empty(TILE, X.dtype)
    n_rows = 0
    for i in range(first, last):
        if weights[i] > 0.0:
            reach = _SLACK * sq_distances[i]
            for c in range(n_candidates):
                if unread[0] or to_seeds[c, nearest_seed[i]] < reach:
                    rows[n_rows] = i
                    n_rows += 1
                    break
        if n_rows == TILE or (i == last - 1 and n_rows > 0):
            load_tile(X, rows, n_rows, tile)
            for c in range(n_candidates):
                tile_sq_distances(tile, candidates, c, distances)
                for t in range(n_rows):
                    r = rows[t]
                    if distances[t] < sq_distances[r]:
                        gains[block, c] += weights[r] * (sq_distances[r] - distances[t])
                        if new_seed >= 0 and c == 0:
                            sq_distances[r] = distances[t]
                            nearest_seed[r] = new_seed
            n_rows = 0


@njit(cache=True, nogil=True)
def sum_masses(first, last, block, weights, sq_distances, half_power, masses, block_masses):
    """masses (n,) = w |x - nearest seed|^(2 half_power), 0 where x is a seed; block_masses their sums."""
    total = 0.0
    for i in range(first, last):
        mass = 0.0
        if sq_distances[i] > 0.0:
            if half_power == 1.0:
                mass = weights[i] * sq_distances[i]
            elif half_power == 0.0:
                mass = weights[i]
            else:
                mass = weights[i] * np.float64(sq_distances[i]) ** half_power
        masses[i] = mass
        total += mass
    block_masses[block] = total
