"""Squared Euclidean distances, as sums of (x - c)^2: no cancellation, and exactly 0 between equal points."""

from numba import njit


# The sum may be taken in any order: without that leave it cannot use SIMD (measured: 3 to 10 times slower for 32 to
# 784 features). The order is fixed when this is compiled, so results are the same on every run and thread.
@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def sq_distance(X, i, centroids, j):
    """|X[i] - centroids[j]|^2."""
    total = X[i, 0] - X[i, 0]
    for l in range(X.shape[1]):
        difference = X[i, l] - centroids[j, l]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def own_sq_distances(first, last, block, X, centroids, labels, sq_distances):
    """Squared distance of each row to the centroid of its label."""
    for i in range(first, last):
        sq_distances[i] = sq_distance(X, i, centroids, labels[i])
