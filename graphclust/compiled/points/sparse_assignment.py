"""Assignment, sums and distances for the rows of a CSR matrix; |x - c|^2 as |x|^2 - 2 x.c + |c|^2.

A row meets all centroids at once: centroids lie transposed (d, k or more), so one entry serves k products. Where
rounding cannot tell the two best apart they are recomputed in double precision.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.points.bounded_assignment import label_point, lowest_bound, nearest_and_open
from graphclust.compiled.runtime.loops import loop


class SparseRows(NamedTuple):
    """Points as the rows of a CSR matrix (n, d)."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray


class SparsePairs(NamedTuple):
    """Points and their |x|^2 (n,), and centroids, transposed (d, k or more), with their |c|^2 (k,)."""

    rows: SparseRows
    sq_norms: np.ndarray
    transposed: np.ndarray
    centroid_sq_norms: np.ndarray


class Movers(NamedTuple):
    """The few centroids that moved most, and where they are, transposed (d, as many or more)."""

    which: np.ndarray
    narrow: np.ndarray


@loop()
def _product(start, stop, indices, values, transposed, j):
    """x.c_j in double precision, in the order of the row's entries."""
    total = 0.0
    for e in range(start, stop):
        total += np.float64(values[e]) * np.float64(transposed[indices[e], j])
    return total


@loop()
def _products(start, stop, indices, values, transposed, sums):
    """sums (width,): the products of a row with all columns of `transposed` (d, width)."""
    for j in range(len(sums)):
        sums[j] = 0.0
    fours = stop - (stop - start) % 4
    for e in range(start, fours, 4):
        a, b, c, d = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
        x, y, z, w = values[e], values[e + 1], values[e + 2], values[e + 3]
        for j in range(len(sums)):
            sums[j] += (x * transposed[a, j] + y * transposed[b, j]) + (z * transposed[c, j] + w * transposed[d, j])
    for e in range(fours, stop):
        for j in range(len(sums)):
            sums[j] += values[e] * transposed[indices[e], j]


@loop()
def assign_sparse(first, last, block, pairs, few, groups, drift, bounds):
    """As `assign_bounded`; rounding[0] is relative to |x|^2 + |c|^2.

    few: the centroids that moved most, if each is a group. Where bounds fail, distances to those alone often show that
    the label stays; where they do not, a row meets all centroids.
    """
    (indptr, indices, values), sq_norms, transposed, centroid_sq_norms = pairs
    movers, narrow = few
    moved, group_drift, rounding = drift
    order, labels, upper, lower, group_lower = bounds
    k = len(centroid_sq_norms)
    n_groups = len(groups.starts) - 1
    far = group_drift[n_groups] + rounding[1]
    sums = np.empty(transposed.shape[1], transposed.dtype)
    few_sums = np.empty(narrow.shape[1], transposed.dtype)
    sq_distances = np.empty(k)
    longest = centroid_sq_norms.max()
    for position in range(first, last):
        i = order[position]
        start = indptr[i]
        stop = indptr[i + 1]
        error = rounding[0] * (sq_norms[i] + longest)
        own = labels[position]
        if own >= 0:
            if lower[position] - far > upper[position] + moved[own]:
                continue
            lower[position] = lowest_bound(position, group_lower, group_drift) + group_drift[n_groups]
            if lower[position] - far > upper[position] + moved[own]:
                continue
            if len(movers) > 0:
                _products(start, stop, indices, values, narrow, few_sums)
                for m in range(len(movers)):
                    j = movers[m]
                    distance = sq_norms[i] + centroid_sq_norms[j] - 2.0 * few_sums[m]
                    if j == own:
                        upper[position] = np.sqrt(max(distance + error, 0.0)) - moved[own]
                    else:
                        group_lower[position, j] = np.sqrt(max(distance - error, 0.0)) + group_drift[j]
                lower[position] = lowest_bound(position, group_lower, group_drift) + group_drift[n_groups]
                if lower[position] - far > upper[position] + moved[own]:
                    continue
        _products(start, stop, indices, values, transposed, sums)
        for j in range(k):
            sq_distances[j] = sq_norms[i] + centroid_sq_norms[j] - 2.0 * sums[j]
        nearest, n_open = nearest_and_open(sq_distances, error)
        winner = 0
        if n_open == 1:
            while sq_distances[winner] > nearest:
                winner += 1
        else:
            closest = np.inf
            for j in range(k):
                if sq_distances[j] <= nearest + 2.0 * error:
                    product = _product(start, stop, indices, values, transposed, j)
                    exact = sq_norms[i] + centroid_sq_norms[j] - 2.0 * product
                    if exact < closest:
                        closest = exact
                        winner = j
        label_point(position, winner, nearest, sq_distances, error, groups, drift, bounds)


@loop()
def own_sq_distances_sparse(first, last, block, pairs, labels, sq_distances):
    (indptr, indices, values), sq_norms, transposed, centroid_sq_norms = pairs
    for i in range(first, last):
        product = _product(indptr[i], indptr[i + 1], indices, values, transposed, labels[i])
        sq_distances[i] = max(sq_norms[i] + centroid_sq_norms[labels[i]] - 2.0 * product, 0.0)


@loop()
def sum_chunks_sparse(first, last, block, points, chunks, sums, masses):
    """As `sum_chunks`, for the rows of a CSR matrix."""
    indptr, indices, values = points
    rows, weights, order, starts, ends = chunks
    for chunk in range(first, last):
        for position in range(starts[chunk], ends[chunk]):
            i = rows[order[position]]
            w = weights[order[position]]
            masses[chunk] += w
            for e in range(indptr[i], indptr[i + 1]):
                sums[chunk, indices[e]] += w * values[e]


@loop()
def add_rows_sparse(first, last, block, points, rows, weights, labels, sums):
    """As `add_rows`, for the rows of a CSR matrix and all features."""
    indptr, indices, values = points
    for position in range(len(rows)):
        j = labels[position]
        for e in range(indptr[rows[position]], indptr[rows[position] + 1]):
            sums[j, indices[e]] += weights[position] * values[e]


@loop()
def approach_sparse(first, last, block, pairs, weights, reach, nearest, gains):
    """As `approach`, for the rows of a CSR matrix; the candidates lie transposed (d, n_candidates)."""
    (indptr, indices, values), sq_norms, transposed, candidate_sq_norms = pairs
    to_seeds, near, new_seed = reach
    nearest_seed, sq_distances = nearest
    for i in range(first, last):
        if near[nearest_seed[i]] >= 4.0004 * sq_distances[i] or weights[i] == 0.0:
            continue
        for c in range(len(candidate_sq_norms)):
            if to_seeds[c, nearest_seed[i]] >= 4.0004 * sq_distances[i]:
                continue
            length = sq_norms[i] + candidate_sq_norms[c]
            distance = length - 2.0 * _product(indptr[i], indptr[i + 1], indices, values, transposed, c)
            if distance <= 1e-14 * length:
                distance = 0.0
            if distance < sq_distances[i]:
                gains[block, c] += weights[i] * (sq_distances[i] - distance)
                if new_seed >= 0:
                    sq_distances[i] = distance
                    nearest_seed[i] = new_seed + c
