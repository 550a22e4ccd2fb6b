"""Slow twins of the objectives: dense matrices, sums over pairs of nodes, straight from the definitions."""

import functools

import numpy as np


@functools.cache
def partitions(n: int) -> np.ndarray:
    """All partitions of n nodes, as labels in the order of their first nodes; (n_partitions, n)."""
    labels = [[0]]
    for _ in range(n - 1):
        labels = [[*one, c] for one in labels for c in range(max(one) + 2)]
    return np.array(labels)


def value(A: np.ndarray, labels: np.ndarray, name: str, resolution: float | None) -> float:
    """The objective of a partition, the larger the better; nodes of label -1 are in no cluster."""
    clusters = np.unique(labels[labels >= 0])
    return sum(worth(A, np.flatnonzero(labels == c), name, resolution) for c in clusters)


def worth(A: np.ndarray, members: np.ndarray, name: str, resolution: float | None) -> float:
    """What one cluster adds; KeyError for an objective that is not defined here."""
    return float(WORTH[name](A, members, resolution))


def inside_and_volume(A: np.ndarray, members: np.ndarray) -> tuple[float, float]:
    return A[np.ix_(members, members)].sum(), A[members].sum()


def normalized_cut(A: np.ndarray, members: np.ndarray, resolution: None) -> float:
    """1 - cut / vol."""
    inside, volume = inside_and_volume(A, members)
    return 1.0 - (volume - inside) / volume


def ratio_cut(A: np.ndarray, members: np.ndarray, resolution: None) -> float:
    """- cut / size."""
    inside, volume = inside_and_volume(A, members)
    return -(volume - inside) / len(members)


def modularity(A: np.ndarray, members: np.ndarray, resolution: float) -> float:
    """The sum over ordered pairs of A_ij - g d_i d_j / vol(V), vol(V) times the usual one."""
    inside, volume = inside_and_volume(A, members)
    return inside - resolution * volume**2 / A.sum()


def constant_potts(A: np.ndarray, members: np.ndarray, resolution: float) -> float:
    """The sum over ordered pairs, of a node with itself too, of A_ij - g."""
    return inside_and_volume(A, members)[0] - resolution * len(members) ** 2


def erdos_renyi(A: np.ndarray, members: np.ndarray, resolution: float) -> float:
    """The same with g vol(V) / n (n - 1) in the place of g: the mean weight between two different nodes."""
    n_pairs = len(A) * (len(A) - 1)  # a single node has no pair, and no chance
    return constant_potts(A, members, resolution * A.sum() / n_pairs if n_pairs else 0.0)


WORTH = {one.__name__: one for one in (normalized_cut, ratio_cut, modularity, constant_potts, erdos_renyi)}


def moved(labels: np.ndarray, u: int, c: int) -> np.ndarray:
    """The partition after node u has gone to cluster c."""
    after = labels.copy()
    after[u] = c
    return after


def united(labels: np.ndarray, a: int, b: int) -> np.ndarray:
    """The partition in which clusters a and b are one."""
    return np.where(labels == a, b, labels)


def best_move(A: np.ndarray, labels: np.ndarray, u: int, name: str, resolution: float | None) -> tuple[int, float]:
    """The neighboring cluster that the value gains most from when u goes there, and the gain; -1 where none gains.

    The last node of a cluster stays.
    """
    best, most = -1, 0.0
    if labels[u] < 0 or np.count_nonzero(labels == labels[u]) == 1:
        return best, most
    for c in np.unique(labels[A[u] > 0]):
        if c >= 0 and c != labels[u]:
            two = np.where((labels == labels[u]) | (labels == c), labels, -1)  # the others stay what they are worth
            gain = value(A, moved(two, u, c), name, resolution) - value(A, two, name, resolution)
            if gain > most:
                best, most = int(c), gain
    return best, most


def gains_of_unions(A: np.ndarray, labels: np.ndarray, name: str, resolution: float | None) -> np.ndarray:
    """Entry (a, b): the change of the value when clusters a and b become one; minus infinity on the diagonal."""
    members = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]
    alone = [worth(A, of, name, resolution) for of in members]
    gains = np.full((len(members), len(members)), -np.inf)
    for a in range(len(members)):
        for b in range(a):
            together = np.append(members[a], members[b])
            gains[a, b] = gains[b, a] = worth(A, together, name, resolution) - alone[a] - alone[b]
    return gains


def excess_over_chance(A: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """V E_ab / (vol_a vol_b) for every two clusters; 0 on the diagonal."""
    member = np.eye(labels.max() + 1)[labels]
    links = member.T @ A @ member
    np.fill_diagonal(links, 0.0)
    volume = member.T @ A.sum(axis=1)
    return A.sum() * links / np.outer(volume, volume)
