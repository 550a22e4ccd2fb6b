"""Means of clusters: rows summed one after the other, or grouped by label and in chunks that depend on the labels."""

from typing import NamedTuple

import numpy as np
from numba import njit


class Chunks(NamedTuple):
    """Runs of points of one cluster: chunk c has the points rows[order[starts[c] : ends[c]]], weights alike."""

    rows: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


class Totals(NamedTuple):
    """Sums of w x over each cluster (k, d), and of w (k,)."""

    sums: np.ndarray
    masses: np.ndarray


class Renewed(NamedTuple):
    """New centroids (k, d), and their squared distances (k,) from the old ones and from a center."""

    centroids: np.ndarray
    sq_moved: np.ndarray
    sq_between: np.ndarray


@njit(cache=True, nogil=True)
def group_rows(labels, ends, order):
    """order (n,): the rows by cluster, ascending within each; ends (k,): on entry where each cluster starts."""
    for i in range(len(labels)):
        j = labels[i]
        order[ends[j]] = i
        ends[j] += 1


@njit(cache=True, nogil=True)
def sum_chunks(first, last, block, X, chunks, sums, masses):
    """sums (n_chunks, d) of w x and masses (n_chunks,) of w over each chunk."""
    rows, weights, order, starts, ends = chunks
    for chunk in range(first, last):
        for position in range(starts[chunk], ends[chunk]):
            i = rows[order[position]]
            w = weights[order[position]]
            masses[chunk] += w
            for l in range(X.shape[1]):
                sums[chunk, l] += w * X[i, l]


@njit(cache=True, nogil=True)
def add_rows(first, last, block, X, rows, weights, labels, sums):
    """Add features first..last-1 of w x of each row given to its cluster's sums (k, d), in the order given."""
    for position in range(len(rows)):
        x = X[rows[position], first:last]
        total = sums[labels[position], first:last]
        for l in range(len(x)):
            total[l] += weights[position] * x[l]


@njit(cache=True, nogil=True)
def renew_centroids(first, last, block, which, totals, center, old, renewed):
    """For those in `which`: means, or the old centroid where no mass is, and how far they are from old and center."""
    sums, masses = totals
    new, sq_moved, sq_between = renewed
    for j in which[first:last]:
        moved = 0.0
        between = 0.0
        for l in range(sums.shape[1]):
            new[j, l] = sums[j, l] / masses[j] if masses[j] > 0.0 else old[j, l]
            step = np.float64(new[j, l]) - old[j, l]
            moved += step * step
            step = new[j, l] - center[l]
            between += step * step
        sq_moved[j] = moved
        sq_between[j] = between
