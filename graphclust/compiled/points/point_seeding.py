"""One step of distance seeding: what candidates would gain, and what a new seed changes.

A point whose nearest seed is s cannot get closer to a candidate c with |c - s| >= 2 |x - s|, so it is not read.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.points.point_distances import sq_distance
from graphclust.compiled.runtime.loops import loop

# The test is made in rounded numbers; near equality the distance is computed.
_SLACK = 4.0 * (1.0 + 1e-4)


class Reach(NamedTuple):
    """How far candidates are from the seeds: squared distances or less (n_candidates, n_seeds), the least of each seed.

    With new_seed >= 0 the candidates become the seeds from that number on.
    """

    to_seeds: np.ndarray
    near: np.ndarray
    new_seed: int


class NearestSeeds(NamedTuple):
    """The nearest seed of each point, and the squared distance to it; shape (n,) each."""

    seeds: np.ndarray
    sq_distances: np.ndarray


class DrawnSeeds(NamedTuple):
    """Seeds (k, d), and room for what is asked of candidates: their `Reach`, and gains (n_blocks, n_candidates)."""

    seeds: np.ndarray
    to_seeds: np.ndarray
    near: np.ndarray
    gains: np.ndarray


class RunningMasses(NamedTuple):
    """Sums of masses within each block, row by row (n,), and what they come to (n_blocks,)."""

    running: np.ndarray
    totals: np.ndarray


@loop()
def approach(first, last, block, pairs, weights, reach, nearest, gains):
    """gains (n_blocks, n_candidates): by how much each candidate would lower the sum of w |x - nearest seed|^2.

    Where candidates become seeds the nearest ones change.
    """
    X, candidates = pairs
    to_seeds, near, new_seed = reach
    nearest_seed, sq_distances = nearest
    for i in range(first, last):
        if near[nearest_seed[i]] >= _SLACK * sq_distances[i] or weights[i] == 0.0:
            continue
        for c in range(len(candidates)):
            if to_seeds[c, nearest_seed[i]] >= _SLACK * sq_distances[i]:
                continue
            distance = sq_distance(candidates, c, X, i)
            if distance < sq_distances[i]:
                gains[block, c] += weights[i] * (sq_distances[i] - distance)
                if new_seed >= 0:
                    sq_distances[i] = distance
                    nearest_seed[i] = new_seed + c


@loop()
def distances_to_seeds(seeds, n_seeds, candidates, to_seeds, near):
    """Squared distances (n_candidates, n_seeds) of the candidates to the first n_seeds seeds, and the least of each."""
    for s in range(n_seeds):
        near[s] = np.inf
        for c in range(len(candidates)):
            to_seeds[c, s] = sq_distance(candidates, c, seeds, s)
            near[s] = min(near[s], to_seeds[c, s])


@loop()
def adopt_at_once(X, rows, n_seeds, weights, nearest, drawn):
    """Make the best of the candidates X[rows] seed number n_seeds, all in one block; returns its place among them.

    The best lowers the cost most, the first of them where several do.
    """
    seeds, to_seeds, near, gains = drawn
    first, last = np.int64(0), np.int64(len(X))
    candidates = np.empty((len(rows), X.shape[1]), X.dtype)
    for c in range(len(rows)):
        for l in range(X.shape[1]):
            candidates[c, l] = X[rows[c], l]
    best = 0
    if len(rows) > 1:
        distances_to_seeds(seeds, n_seeds, candidates, to_seeds, near)
        for c in range(len(rows)):
            gains[0, c] = 0.0
        approach(first, last, first, (X, candidates), weights, (to_seeds, near, np.int64(-1)), nearest, gains)
        for c in range(len(rows)):
            best = c if gains[0, c] > gains[0, best] else best
    candidates = candidates[best : best + 1]
    distances_to_seeds(seeds, n_seeds, candidates, to_seeds, near)
    approach(first, last, first, (X, candidates), weights, (to_seeds, near, n_seeds), nearest, gains)
    for l in range(X.shape[1]):
        seeds[n_seeds, l] = candidates[0, l]
    return best


@loop()
def sum_masses(first, last, block, weights, sq_distances, half_power, scale, masses):
    """Sums within the block of w (|x - nearest seed|^2 / scale)^half_power, 0 where x is a seed."""
    running, totals = masses
    total = 0.0
    for i in range(first, last):
        if sq_distances[i] > 0.0:
            if half_power == 1.0:
                total += weights[i] * sq_distances[i]
            elif half_power == 0.0:
                total += weights[i]
            else:
                total += weights[i] * (sq_distances[i] / scale) ** half_power
        running[i] = total
    totals[block] = total


@loop()
def find_rows(uniforms, boundaries, masses, rows):
    """The rows whose share of the total mass contains each uniform in [0, 1); a row of mass 0 is never found."""
    running, totals = masses
    everything = totals.sum()
    for u in range(len(uniforms)):
        target = uniforms[u] * everything
        block = 0
        while target >= totals[block] and totals[block + 1 :].any():
            target -= totals[block]
            block += 1
        low = boundaries[block]
        high = boundaries[block + 1] - 1
        # Rounding may leave a target beyond the total: the last row of positive mass ends the block's total.
        target = min(target, totals[block] * (1.0 - 1e-16))
        while low < high:
            middle = (low + high) // 2
            if running[middle] > target:
                high = middle
            else:
                low = middle + 1
        rows[u] = low
