"""Slow dense twins of the quality measures: the formulas, term by term, on small graphs."""

import numpy as np


def cut_and_volume(A: np.ndarray, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    cut, volume = np.zeros(k), np.zeros(k)
    for i in range(len(A)):
        for j in range(len(A)):
            if labels[i] >= 0:
                volume[labels[i]] += A[i, j]
                cut[labels[i]] += A[i, j] * (labels[i] != labels[j])
    return cut, volume


def modularity(A: np.ndarray, labels: np.ndarray) -> float:
    """Sum over pairs in one cluster of A_ij / vol - d_i d_j / vol^2."""
    degrees, total = A.sum(axis=1), A.sum()
    together = (labels[:, None] == labels) & (labels >= 0)[:, None]
    return float(((A / total - np.outer(degrees, degrees) / total**2) * together).sum())


def kernel_k_means_cost(A: np.ndarray, labels: np.ndarray, shift: float) -> float:
    """Distances to centroids in feature space, through the dense kernel matrix; nodes of degree 0 left out."""
    keep = A.sum(axis=1) > 0
    A, labels = A[np.ix_(keep, keep)], labels[keep]
    d = A.sum(axis=1)
    K = A / np.outer(d, d) + shift * np.diag(1 / d)
    cost = 0.0
    for cluster in np.unique(labels[labels >= 0]):
        inside = np.flatnonzero(labels == cluster)
        w = d[inside] / d[inside].sum()
        for x in inside:
            cost += d[x] * (K[x, x] - 2 * w @ K[inside, x] + w @ K[np.ix_(inside, inside)] @ w)
    return cost
