"""Means of clusters: rows summed one after the other, or grouped by label and in chunks that depend on the labels."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import loop


class Chunks(NamedTuple):
    """Runs of points of one cluster: chunk c has the points rows[order[starts[c] : ends[c]]], weights alike."""

    rows: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


class Totals(NamedTuple):
    """Of each cluster, the sums of w x (k, d), of w and of w |x - center|^2 (k,), and its points of weight (k,)."""

    sums: np.ndarray
    masses: np.ndarray
    sq_lengths: np.ndarray
    counts: np.ndarray


class Renewed(NamedTuple):
    """New centroids (k, d), how far each one moved (k,), and the sums of w |x - its centroid|^2 (k,)."""

    centroids: np.ndarray
    moved: np.ndarray
    sq_errors: np.ndarray


@loop()
def group_rows(labels, ends, order):
    """order (n,): the rows by cluster, ascending within each; ends (k,): on entry where each cluster starts."""
    for i in range(len(labels)):
        j = labels[i]
        order[ends[j]] = i
        ends[j] += 1


@loop()
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


@loop()
def add_rows(first, last, block, X, rows, weights, labels, sums):
    """Add features first..last-1 of w x of each row given to its cluster's sums (k, d), in the order given."""
    for position in range(len(rows)):
        x = X[rows[position], first:last]
        total = sums[labels[position], first:last]
        for l in range(len(x)):
            total[l] += weights[position] * x[l]


@loop()
def approach_means(sums, masses, counts, whole, centroids):
    """Move centroids (k, d) part of the way to their means in a batch, and add its masses (k,) to counts (k,).

    The part is sqrt(mass / whole), where whole is the mass of the batch; with 0 it is mass / count.
    """
    for j in range(len(masses)):
        if masses[j] > 0.0:
            counts[j] += masses[j]
            share = np.sqrt(masses[j] / whole) if whole > 0.0 else masses[j] / counts[j]
            for l in range(sums.shape[1]):
                centroids[j, l] += share * (sums[j, l] / masses[j] - centroids[j, l])


@loop()
def renew_centroids(first, last, block, which, totals, center, old, renewed):
    """For those in `which`: means, or the old centroid where no point is, whose mass becomes 0 but for rounding too."""
    sums, masses, sq_lengths, counts = totals
    new, moved_by, sq_errors = renewed
    for j in which[first:last]:
        if counts[j] == 0.0:
            masses[j] = 0.0
        moved = 0.0
        between = 0.0
        for l in range(sums.shape[1]):
            new[j, l] = sums[j, l] / masses[j] if masses[j] > 0.0 else old[j, l]
            step = np.float64(new[j, l]) - old[j, l]
            moved += step * step
            step = new[j, l] - center[l]
            between += step * step
        moved_by[j] = np.sqrt(moved)
        sq_errors[j] = max(sq_lengths[j] - masses[j] * between, 0.0) if counts[j] > 0.0 else 0.0


class Voters(NamedTuple):
    """Of points by position, (n,) each: row, weight, w |x - center|^2 without the w, and the label of the last vote."""

    order: np.ndarray
    weights: np.ndarray
    sq_lengths: np.ndarray
    labels: np.ndarray


class Votes(NamedTuple):
    """Rows of points, and what weight each adds to which cluster; (2 n,): there is room for two votes a point."""

    rows: np.ndarray
    weights: np.ndarray
    clusters: np.ndarray


class Polled(NamedTuple):
    """By cluster, (k,): its points of positive weight, its sum of w |x - center|^2, and whether its votes changed."""

    counts: np.ndarray
    sq_lengths: np.ndarray
    touched: np.ndarray


@loop()
def change_votes(labels, voters, polled, votes):
    """Note the votes that change when the first points get these labels, those taken back first; returns how many.

    A label of -1 is that of a point without a vote. Labels and what is polled are brought up to date.
    """
    n_votes = 0
    brought = np.zeros(len(polled.counts))
    for taken_back in (True, False):
        for i in range(len(labels)):
            if labels[i] == voters.labels[i]:
                continue
            j = voters.labels[i] if taken_back else labels[i]
            if j >= 0:
                weight = -voters.weights[i] if taken_back else voters.weights[i]
                votes.rows[n_votes], votes.weights[n_votes], votes.clusters[n_votes] = voters.order[i], weight, j
                n_votes += 1
                brought[j] += weight * voters.sq_lengths[i]
                polled.touched[j] = True
                if weight != 0.0:
                    polled.counts[j] += -1.0 if taken_back else 1.0
            if not taken_back:
                voters.labels[i] = labels[i]
    for j in range(len(brought)):
        polled.sq_lengths[j] += brought[j]
    return n_votes
