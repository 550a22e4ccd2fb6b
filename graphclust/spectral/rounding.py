"""From k eigenvectors to k clusters without k-means: rotate the vectors until each stands for one cluster.

k orthonormal vectors with piecewise constant rows are a rotation of the indicators of k clusters. Products of many rows
are taken by NumPy's own sums, not by BLAS, whose last bits depend on its threads.
"""

import numpy as np
from scipy.linalg import qr, svd

ROUNDS = 30  # at most; from a dozen on labels of a planted graph no longer change


def by_pivoted_qr(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels of the rows, shape (n, k): by the rotation that turns k rows far apart, found by a pivoted QR, into axes.

    Source: Damle, Minden & Ying 2019, Algorithm 1.

    >>> by_pivoted_qr(np.array([[1.0, 0.1], [1.0, 0.1], [0.1, -1.0]]), np.random.default_rng()).tolist()
    [0, 0, 1]
    """
    pivots = qr(vectors.T, mode="r", pivoting=True)[1][: vectors.shape[1]]
    return np.abs(_rotate(vectors, _nearest_rotation(vectors[pivots].T))).argmax(axis=1)


def by_discretizing(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels of unit rows, shape (n, k): labels and the rotation that fits them best are found in turn.

    Source: Yu & Shi 2003, "Multiclass spectral clustering", section 4.

    >>> by_discretizing(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), np.random.default_rng(0)).tolist()
    [1, 0, 0]
    """
    n, k = vectors.shape
    rows = [int(rng.integers(n))]
    likeness = np.zeros(n)
    while len(rows) < k:  # the next is the one least like all rows taken
        likeness += np.abs(np.einsum("ij,j->i", vectors, vectors[rows[-1]]))
        rows.append(int(likeness.argmin()))
    labels = _rotate(vectors, vectors[rows].T).argmax(axis=1)
    for _ in range(ROUNDS):
        sums = np.stack([np.bincount(labels, column, minlength=k) for column in vectors.T])
        before, labels = labels, _rotate(vectors, _nearest_rotation(sums)).argmax(axis=1)
        if np.array_equal(labels, before):
            break
    return labels


def _nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """The orthogonal matrix closest to this one, shape (k, k)."""
    left, _, right = svd(matrix)
    return left @ right


def _rotate(vectors: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    return np.einsum("ij,jk->ik", vectors, rotation)


ROUNDINGS = {"cluster_qr": by_pivoted_qr, "discretize": by_discretizing}
