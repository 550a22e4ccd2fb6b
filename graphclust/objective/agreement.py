"""How well two labelings agree: adjusted Rand index (Hubert and Arabie 1985), normalised mutual information."""

from typing import Any

import numpy as np
from scipy import sparse

from graphclust.checks import as_labels
from graphclust.errors import GraphValidationError

__all__ = ["adjusted_rand_index", "normalized_mutual_information"]


def adjusted_rand_index(labels: Any, other: Any) -> float:
    """Adjusted Rand index of two labelings (Hubert and Arabie 1985): 1 for equal ones, about 0 for unrelated ones.

    labels, other : whole numbers, shape (n,) each, where nodes labeled -1 in either are left out; or names of classes.
    Raises GraphValidationError where the lengths differ or no node is labeled in both, TypeError for no labels.

    >>> adjusted_rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    counts, of_first, of_second = _joint_sizes(labels, other)
    n = int(counts.sum())
    # Ordered pairs of nodes that are together: in both labelings, in the first, in the second. Exact whole numbers.
    both, first, second = (int((sizes * sizes).sum()) - n for sizes in (counts.data, of_first, of_second))
    if first + second == 2 * both:
        return 1.0
    pairs = n * (n - 1)
    return 2 * (both * pairs - first * second) / ((first + second) * pairs - 2 * first * second)


def normalized_mutual_information(labels: Any, other: Any) -> float:
    """Mutual information of two labelings over the arithmetic mean of their entropies, between 0 and 1.

    labels, other, errors : see `adjusted_rand_index`. Two labelings of one cluster each agree: 1.

    >>> normalized_mutual_information([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    """
    counts, of_first, of_second = _joint_sizes(labels, other)
    n = counts.sum()
    entropies = [-(sizes / n * np.log(sizes / n)).sum() for sizes in (of_first[of_first > 0], of_second[of_second > 0])]
    if sum(entropies) == 0:
        return 1.0
    chance = of_first[counts.row] / n * of_second[counts.col]
    information = (counts.data / n * np.log(counts.data / chance)).sum()
    return float(np.clip(2 * information / sum(entropies), 0.0, 1.0))


def _numbered(labels: Any, n: int, name: str) -> np.ndarray:
    """Labels as `as_labels` takes them; names of classes are numbered in alphabetical order."""
    array = np.asarray(labels)
    if array.ndim == 1 and array.dtype.kind in "USOb":
        try:
            array = np.unique(array, return_inverse=True)[1]
        except TypeError:
            raise TypeError(f"{name} mixes types, expected whole numbers or names, and none missing") from None
    return as_labels(array, n, name)


def _joint_sizes(labels: Any, other: Any) -> tuple[sparse.coo_array, np.ndarray, np.ndarray]:
    """How many nodes have each pair of labels, and how many each label of the first and of the second labeling."""
    labels = _numbered(labels, np.size(labels), "labels")
    other = _numbered(other, len(labels), "other")
    labeled = (labels >= 0) & (other >= 0)
    if not labeled.any():
        raise GraphValidationError("no node has a label >= 0 in both labelings, expected at least one")
    pairs = labels[labeled], other[labeled]
    counts = sparse.coo_array((np.ones(len(pairs[0]), np.int64), pairs))
    counts.sum_duplicates()
    return counts, np.bincount(pairs[0]), np.bincount(pairs[1])
