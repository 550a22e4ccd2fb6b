"""How well two labelings agree: adjusted Rand index (Hubert and Arabie 1985), normalised mutual information."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from graphclust.errors import GraphValidationError
from graphclust.objective.labels import LabelsLike, aligned

__all__ = ["adjusted_rand_index", "normalized_mutual_information"]


def adjusted_rand_index(labels: LabelsLike, other: LabelsLike) -> float:
    """Adjusted Rand index of two labelings (Hubert and Arabie 1985): 1 for equal ones, about 0 for unrelated ones.

    labels, other : one label a node, shape (n,) each: whole numbers, where nodes labeled -1 in either are left out, or
        names of classes; or a `Clustering`, a mapping from nodes, or communities, see `volume`. Labelings that name
        their nodes are compared by name, and then both have to; so are two Series of pandas by their indices,
        unless one of them is indexed by 0, 1, 2, ... and the other is not.
    Raises GraphValidationError where the nodes or lengths differ, an index holds a node twice or no node is labeled in
    both, TypeError for no labels and for one labeling that names its nodes beside one that does not.

    Source: Hubert and Arabie, "Comparing partitions", Journal of Classification 1985.

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


def normalized_mutual_information(labels: LabelsLike, other: LabelsLike) -> float:
    """Mutual information of two labelings over the arithmetic mean of their entropies, between 0 and 1.

    labels, other : see `adjusted_rand_index`. Two labelings of one cluster each agree: 1.
    Raises what `adjusted_rand_index` raises.

    Source: Vinh, Epps and Bailey, "Information theoretic measures for clusterings comparison", JMLR 2010 (NMI_sum).

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


def _joint_sizes(labels: LabelsLike, other: LabelsLike) -> tuple[sparse.coo_array, np.ndarray, np.ndarray]:
    """How many nodes have each pair of labels, and how many each label of the first and of the second labeling."""
    labels, other = aligned(labels, other)
    labeled = (labels >= 0) & (other >= 0)
    if not labeled.any():
        raise GraphValidationError("no node has a label >= 0 in both labelings, expected at least one")
    pairs = labels[labeled], other[labeled]
    counts = sparse.coo_array((np.ones(len(pairs[0]), np.int64), pairs))
    counts.sum_duplicates()
    return counts, np.bincount(pairs[0]), np.bincount(pairs[1])
