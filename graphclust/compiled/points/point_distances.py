"""Squared Euclidean distances, as sums of (x - c)^2: no cancellation, and exactly 0 between equal points."""

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
