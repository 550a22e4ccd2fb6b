"""D²-sampling in the feature space of a normalized-cut kernel, with the tree and without it."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.sampling_tree import draw, set_mass
from graphclust.compiled.runtime.loops import loop

# Positions in `tally`.
ENTRIES_READ, CLIPPED = range(2)
ROUND_OFF = 1e-12  # relative; a squared distance further below zero is the kernel's fault, and is counted


class KernelTerms(NamedTuple):
    """The d, the diagonal of K and the weights W of some nodes, float64, one each."""

    degrees: np.ndarray
    self_affinity: np.ndarray
    point_weights: np.ndarray


class SeedDistances(NamedTuple):
    """Squared distance of some nodes to their nearest seed, and its rank; what was read and clipped, by position."""

    sq_distances: np.ndarray
    nearest: np.ndarray
    tally: np.ndarray


@loop()
def sq_distance(own_affinity, seed_affinity, affinity, tally):
    """K_xx + K_yy - 2 K_xy, or 0 where that is negative."""
    distance = own_affinity + seed_affinity - 2.0 * affinity
    if distance < 0.0:
        if distance < -ROUND_OFF * (own_affinity + seed_affinity):
            tally[CLIPPED] += 1
        return 0.0
    return distance


@loop()
def sq_distance_to_seed(x, seed, affinity, self_affinity, tally):
    return sq_distance(self_affinity[x], self_affinity[seed], affinity, tally)


@loop()
def add_seed(rank, seed, rows, terms, tree, distances):
    """Only a new seed and its neighbors can get closer: all others share no entry of K with it."""
    indptr, indices, weights = rows
    degrees, self_affinity, point_weights = terms
    sq_distances, nearest, tally = distances
    sq_distances[seed] = 0.0
    nearest[seed] = rank
    set_mass(tree, seed, 0.0)
    tally[ENTRIES_READ] += indptr[seed + 1] - indptr[seed]
    for e in range(indptr[seed], indptr[seed + 1]):
        x = indices[e]
        if x == seed:
            continue
        weight = weights[e] if len(weights) > 0 else 1.0
        affinity = weight / (degrees[x] * degrees[seed])
        distance = sq_distance_to_seed(x, seed, affinity, self_affinity, tally)
        if distance < sq_distances[x]:
            sq_distances[x] = distance
            nearest[x] = rank
            set_mass(tree, x, point_weights[x] * distance)


@loop()
def draw_seeds(first, last, uniforms, rows, terms, tree, distances, seeds):
    """Seeds number first..last-1, one for each uniform; returns how many there are when the mass is used up."""
    for rank in range(first, last):
        if not tree[0] > 0.0:
            return rank
        seeds[rank] = draw(tree, uniforms[rank])
        add_seed(rank, seeds[rank], rows, terms, tree, distances)
    return last


@loop()
def update_all_distances(rank, seed, rows, terms, affinity, distances):
    """The baseline's step: compare every node's distance to the new seed; `affinity` (n,) is zero, and left so."""
    indptr, indices, weights = rows
    degrees, self_affinity, _ = terms
    sq_distances, nearest, tally = distances
    for e in range(indptr[seed], indptr[seed + 1]):
        weight = weights[e] if len(weights) > 0 else 1.0
        affinity[indices[e]] = weight / (degrees[indices[e]] * degrees[seed])
    tally[ENTRIES_READ] += indptr[seed + 1] - indptr[seed]
    for x in range(len(sq_distances)):
        distance = 0.0 if x == seed else sq_distance_to_seed(x, seed, affinity[x], self_affinity, tally)
        if distance < sq_distances[x]:
            sq_distances[x] = distance
            nearest[x] = rank
    for e in range(indptr[seed], indptr[seed + 1]):
        affinity[indices[e]] = 0.0


@loop()
def draw_by_scan(point_weights, sq_distances, uniform):
    """Node whose share of the total mass contains `uniform`, found by summing twice; -1 when the total is 0."""
    total = 0.0
    for x in range(len(sq_distances)):
        total += point_weights[x] * sq_distances[x]
    if not total > 0.0:
        return -1
    target = uniform * total
    running = 0.0
    chosen = -1
    for x in range(len(sq_distances)):
        mass = point_weights[x] * sq_distances[x]
        if mass > 0.0:
            chosen = x
            running += mass
            if running > target:
                break
    return chosen
