"""Slow twins of the coreset algorithms: dense matrices, straight from the formulas."""

import numpy as np


def dense_kernel(adjacency: np.ndarray, loops: str = "implied", shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """K and the weights W of a graph, K = D^-1 A D^-1 + shift D^-1 with the loops that the policy gives."""
    A = np.array(adjacency, dtype=float)
    if loops == "implied":
        for u in range(len(A)):
            neighbors = np.flatnonzero(A[u])
            if A[u, u] == 0 and len(neighbors):
                A[u, u] = A[u, neighbors].mean()
    d = A.sum(axis=1)
    inverse = np.array([1 / x if x > 0 else 0.0 for x in d])
    return A * np.outer(inverse, inverse) + np.diag(shift * inverse), d


def sq_distances_to(K: np.ndarray, seeds) -> np.ndarray:
    """max(0, min over seeds c of K_xx + K_cc - 2 K_xc) for every x; 0 for a seed itself."""
    diagonal = np.diag(K)
    distances = np.min([np.maximum(diagonal + K[c, c] - 2 * K[:, c], 0) for c in seeds], axis=0)
    distances[list(seeds)] = 0
    return distances


def d2_probabilities(K: np.ndarray, weights: np.ndarray, seeds) -> np.ndarray:
    masses = weights * sq_distances_to(K, seeds)
    return masses / masses.sum()


def least_self_affinity(K: np.ndarray, weights: np.ndarray) -> int:
    points = np.flatnonzero(weights > 0)
    return int(points[np.argmin(np.diag(K)[points])])


def importance_probabilities(K: np.ndarray, weights: np.ndarray, seeds, second_term: str) -> np.ndarray:
    masses = weights * sq_distances_to(K, seeds)
    first = masses / masses.sum()
    if second_term == "seed_weight":
        second = weights / sum(weights[c] for c in set(seeds))
    else:
        diagonal = np.diag(K)
        distances = np.array([np.maximum(diagonal + K[c, c] - 2 * K[:, c], 0) for c in seeds])
        for position, c in enumerate(seeds):
            distances[position, c] = -1  # a seed is its own nearest
        nearest = distances.argmin(axis=0)
        second = np.array(
            [weights[x] / weights[nearest == nearest[x]].sum() if weights[x] else 0 for x in range(len(K))]
        )
    return (first + second) / (first + second).sum()


def coreset_adjacency(K: np.ndarray, nodes, weights) -> np.ndarray:
    return np.diag(weights) @ K[np.ix_(nodes, nodes)] @ np.diag(weights)


def nearest_centroid(K: np.ndarray, nodes, weights, labels) -> np.ndarray:
    """argmin over non-empty clusters j of |c_j|^2 - 2 <x, c_j>, one explicit sum each, values of shape (n, k)."""
    values = np.full((len(K), max(labels) + 1), np.inf)
    for j in sorted(set(labels)):
        members = [i for i in range(len(nodes)) if labels[i] == j]
        total = sum(weights[i] for i in members)
        norm = sum(weights[a] * weights[b] * K[nodes[a], nodes[b]] for a in members for b in members) / total**2
        for x in range(len(K)):
            values[x, j] = norm - 2 * sum(weights[i] * K[x, nodes[i]] for i in members) / total
    return values


def kernel_k_means_cost(K: np.ndarray, weights: np.ndarray, labels) -> float:
    """sum over x of w_x Delta(x, centroid of x's cluster), every term expanded."""
    cost = 0.0
    for j in set(labels):
        members = np.flatnonzero(np.asarray(labels) == j)
        w = weights[members]
        mean = w / w.sum()
        inner = K[np.ix_(members, members)]
        cost += float(w @ (np.diag(inner) - 2 * inner @ mean + mean @ inner @ mean))
    return cost


def normalized_adjacency(A: np.ndarray) -> np.ndarray:
    d = A.sum(axis=1)
    scale = np.array([1 / np.sqrt(x) if x > 0 else 0.0 for x in d])
    return A * np.outer(scale, scale)
