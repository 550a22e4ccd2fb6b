"""One step of distance seeding: what candidates would gain, and what a new seed changes.

A point whose nearest seed is s cannot get closer to a candidate c with |c - s| >= 2 |x - s|, so it is not read.
"""

import numpy as np
from numba import njit

from graphclust.compiled.point_distances import sq_distance

# The test is made in rounded numbers; near equality the distance is computed.
_SLACK = 4.0 * (1.0 + 1e-4)


@njit(cache=True, nogil=True)
def approach(first, last, block, X, candidates, weights, to_seeds, new_seed, nearest_seed, sq_distances, gains):
    """gains (n_blocks, n_candidates): by how much each candidate would lower the sum of w |x - nearest seed|^2.

    With new_seed >= 0 the candidates become the seeds from that number on: nearest_seed and sq_distances (n,) change.
    to_seeds (n_candidates, n_seeds): squared distances of the candidates to the seeds, or less.
    """
    for i in range(first, last):
        if weights[i] == 0.0:
            continue
        reach = _SLACK * sq_distances[i]
        for c in range(len(candidates)):
            if to_seeds[c, nearest_seed[i]] >= reach:
                continue
            distance = sq_distance(candidates, c, X, i)
            if distance < sq_distances[i]:
                gains[block, c] += weights[i] * (sq_distances[i] - distance)
                if new_seed >= 0:
                    sq_distances[i] = distance
                    nearest_seed[i] = new_seed + c


@njit(cache=True, nogil=True)
def distances_to_seeds(seeds, n_seeds, candidates, to_seeds):
    """Squared distances (n_candidates, n_seeds) of the candidates to the first n_seeds seeds."""
    for c in range(len(candidates)):
        for s in range(n_seeds):
            to_seeds[c, s] = sq_distance(candidates, c, seeds, s)


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
