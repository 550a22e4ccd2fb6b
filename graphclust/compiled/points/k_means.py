"""The steps of k-means beside the assignment: distances, seeding, and the means of clusters.

Squared Euclidean distances are sums of (x - c)^2: no cancellation, and exactly 0 between equal points.

A step of distance seeding asks what candidates would gain, and what a new seed changes. A point whose nearest seed is s
cannot get closer to a candidate c with |c - s| >= 2 |x - s|, so it is not read.

Rows are summed one after the other, or grouped by label and in chunks that depend on the labels.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import loop


# The sum may be taken in any order: without that leave it cannot use SIMD (measured: 3 to 10 times slower for 32 to
# 784 features). The order is fixed when this is compiled, so results are the same on every run and thread.
@loop(fastmath={"reassoc", "nsz"})
def sq_distance(X, i, centroids, j):
    """|X[i] - centroids[j]|^2."""
    total = X[i, 0] - X[i, 0]
    for l in range(X.shape[1]):
        difference = X[i, l] - centroids[j, l]
        total += difference * difference
    return total


@loop(fastmath={"reassoc", "nsz"})
def _four_sq_distances(X, rows, centroids, chosen):
    """Squared distances of four points to a centroid each: four sums at once hide the time of an addition."""
    i0, i1, i2, i3 = rows
    j0, j1, j2, j3 = chosen
    zero = X[i0, 0] - X[i0, 0]
    total0, total1, total2, total3 = zero, zero, zero, zero
    for l in range(X.shape[1]):
        difference = X[i0, l] - centroids[j0, l]
        total0 += difference * difference
        difference = X[i1, l] - centroids[j1, l]
        total1 += difference * difference
        difference = X[i2, l] - centroids[j2, l]
        total2 += difference * difference
        difference = X[i3, l] - centroids[j3, l]
        total3 += difference * difference
    return total0, total1, total2, total3


@loop()
def pair_sq_distances(X, rows, centroids, chosen, n_pairs, sq_distances):
    """|X[rows[p]] - centroids[chosen[p]]|^2 of n_pairs pairs, four at a time, so that memory answers four at once.

    The arrays have room for three pairs more, which are overwritten. Equal pairs get equal bits, wherever they stand.
    """
    for p in range(n_pairs, -(-n_pairs // 4) * 4):
        rows[p] = rows[n_pairs - 1]
        chosen[p] = chosen[n_pairs - 1]
    for p in range(0, n_pairs, 4):
        four_rows = rows[p], rows[p + 1], rows[p + 2], rows[p + 3]
        four_chosen = chosen[p], chosen[p + 1], chosen[p + 2], chosen[p + 3]
        four = _four_sq_distances(X, four_rows, centroids, four_chosen)
        sq_distances[p] = four[0]
        sq_distances[p + 1] = four[1]
        sq_distances[p + 2] = four[2]
        sq_distances[p + 3] = four[3]


@loop(fastmath={"reassoc", "nsz"})
def sq_length(X, i):
    """|X[i]|^2."""
    total = X[i, 0] - X[i, 0]
    for l in range(X.shape[1]):
        total += X[i, l] * X[i, l]
    return total


@loop()
def own_sq_distances(first, last, block, pairs, labels, sq_distances):
    X, centroids = pairs
    for i in range(first, last):
        sq_distances[i] = sq_distance(X, i, centroids, labels[i])


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
def adopt_at_once(X, rows, seeds, weights, reach, nearest, gains):
    """Make the best of the candidates X[rows] the new seed of `reach`, all in one block; returns its place among them.

    The best lowers the cost most, the first of them where several do. What `reach` and gains hold is overwritten.
    """
    to_seeds, near, n_seeds = reach
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
    """Sums of w (|x - nearest seed|^2 / scale)^half_power, 0 where x is a seed.

    masses : the sums within the block, row by row (n,), and what they come to (n_blocks,).
    """
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


class Chunks(NamedTuple):
    """Runs of points of one cluster: chunk c has the points rows[order[starts[c] : ends[c]]], weights alike."""

    rows: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


class Totals(NamedTuple):
    """Of each cluster, the sums of w x (k, d), of w and of w |x - center|^2 (k,), and its points of weight (k,).

    touched (k,): whether its votes have changed since its centroid was last renewed; sq_errors (k,): sum of
    w |x - its centroid|^2 at that time.
    """

    sums: np.ndarray
    masses: np.ndarray
    sq_lengths: np.ndarray
    counts: np.ndarray
    touched: np.ndarray
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
def renew_centroids(first, last, block, which, totals, center, centroids, moved_by):
    """Move those in `which` to the mean of their points, and note how far (k,); one without points stays.

    The mass of one without points is rounding, and becomes 0.
    """
    sums, masses, sq_lengths, counts, _, sq_errors = totals
    for j in which[first:last]:
        if counts[j] == 0.0:
            masses[j] = 0.0
        moved = 0.0
        between = 0.0
        for l in range(sums.shape[1]):
            old = np.float64(centroids[j, l])
            if masses[j] > 0.0:
                centroids[j, l] = sums[j, l] / masses[j]
            step = centroids[j, l] - old
            moved += step * step
            step = centroids[j, l] - center[l]
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


@loop()
def change_votes(labels, voters, totals, votes):
    """Note the votes that change when the first points get these labels, those taken back first; returns how many.

    A label of -1 is that of a point without a vote. Labels, counts and squared lengths are brought up to date.
    """
    n_votes = 0
    brought = np.zeros(len(totals.counts))
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
                totals.touched[j] = True
                if weight != 0.0:
                    totals.counts[j] += -1.0 if taken_back else 1.0
            if not taken_back:
                voters.labels[i] = labels[i]
    for j in range(len(brought)):
        totals.sq_lengths[j] += brought[j]
    return n_votes
