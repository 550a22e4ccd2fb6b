"""How well two labelings agree, from how many nodes have each pair of labels.

Of pairs of nodes: the adjusted Rand index. Of information: the mutual information divided by a mean of the entropies,
and adjusted by what it is on average where the same clusters hold other nodes; V-measure; variation of information. Of
single nodes: element-centric similarity.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from graphclust.checks import as_choice, as_number
from graphclust.errors import GraphValidationError
from graphclust.objective.labels import LabelsLike, align_labels

AVERAGES: dict[str, Callable[[float, float], float]] = {
    "arithmetic": lambda one, other: (one + other) / 2,
    "geometric": lambda one, other: (one * other) ** 0.5,
    "min": min,
    "max": max,
}


def adjusted_rand_index(labels: LabelsLike, other: LabelsLike) -> float:
    """Adjusted Rand index of two labelings (Hubert and Arabie 1985): 1 for equal ones, about 0 for unrelated ones.

    labels, other : one label a node, shape (n,) each: whole numbers, where nodes labeled -1 in either are left out, or
        names of classes; or a `Clustering`, a mapping from nodes, or communities, see `cluster_volumes`. Labelings
        that name their nodes are compared by name, and then both have to name them. Two pandas Series are compared by
        their indices, unless one of them is indexed by 0, 1, 2, ... and the other is not.
    Raises GraphValidationError where the nodes or lengths differ, an index holds a node twice or no node is labeled in
    both, TypeError for no labels and for one labeling that names its nodes beside one that does not.

    Source: Hubert and Arabie, "Comparing partitions", Journal of Classification 1985.

    >>> adjusted_rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    counts, of_first, of_second = joint_sizes(labels, other)
    n = int(counts.sum())
    # Ordered pairs of nodes that are together: in both labelings, in the first, in the second. Exact whole numbers.
    both, first, second = (int((sizes * sizes).sum()) - n for sizes in (counts.data, of_first, of_second))
    if first + second == 2 * both:
        return 1.0
    pairs = n * (n - 1)
    return 2 * (both * pairs - first * second) / ((first + second) * pairs - 2 * first * second)


def normalized_mutual_information(labels: LabelsLike, other: LabelsLike, *, average: str = "arithmetic") -> float:
    """Mutual information of two labelings over a mean of their entropies, between 0 and 1.

    labels, other : see `adjusted_rand_index`. Two labelings of one cluster each agree: 1.
    average : "arithmetic", "geometric", "min" or "max" of the two entropies.
    Raises what `adjusted_rand_index` raises; ParameterError for an unknown average.

    Source: Vinh, Epps and Bailey, "Information theoretic measures for clusterings comparison", JMLR 2010 (NMI_sum,
    NMI_sqrt, NMI_min, NMI_max).

    >>> normalized_mutual_information([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    """
    mean = AVERAGES[as_choice(average, "average", tuple(AVERAGES))]
    counts, *sizes = joint_sizes(labels, other)
    one, two = (_entropy(of_each) for of_each in sizes)
    if one == two == 0:
        return 1.0
    return float(np.clip(_mutual_information(counts, *sizes) / mean(one, two), 0.0, 1.0)) if one * two > 0 else 0.0


def adjusted_mutual_information(labels: LabelsLike, other: LabelsLike, *, average: str = "arithmetic") -> float:
    """Mutual information beyond chance over its largest value: 1 for equal labelings, about 0 for unrelated ones.

    (I - E) / (mean of the entropies - E), E being the mean of I over all ways to exchange the nodes. It says of many
    small clusters what `normalized_mutual_information` does not: how much of I chance would give.

    labels, other, average : see `normalized_mutual_information`. Where either labeling is one cluster, or each node a
        cluster, and the other is not the same: 0, but with average="min" and clusters of one node 1.
    Raises what `normalized_mutual_information` raises.

    Source: Vinh, Epps and Bailey, "Information theoretic measures for clusterings comparison", JMLR 2010 (AMI).

    >>> adjusted_mutual_information([0, 0, 1, 1], [5, 5, 3, 3]), adjusted_mutual_information([0, 0, 1, 1], [0, 1, 2, 3])
    (1.0, 0.0)
    """
    mean = AVERAGES[as_choice(average, "average", tuple(AVERAGES))]
    counts, *sizes = joint_sizes(labels, other)
    n = int(counts.sum())
    n_clusters = [int(np.count_nonzero(of_each)) for of_each in sizes]
    if n_clusters[0] == n_clusters[1] == counts.nnz:
        return 1.0
    if 1 in n_clusters:
        return 0.0
    if n in n_clusters:  # every exchange of nodes gives the same labelings: I and E are equal, and 0 / 0 for the least
        return float(average == "min")
    chance = _mean_information_by_chance(n, *sizes)
    most = mean(*(_entropy(of_each) for of_each in sizes))
    return float((_mutual_information(counts, *sizes) - chance) / (most - chance))


def v_measure(classes: LabelsLike, labels: LabelsLike, *, beta: float = 1.0) -> float:
    """Weighted harmonic mean of homogeneity and completeness, between 0 and 1.

    Homogeneity is the share of the classes' entropy that the labels explain, 1 where no cluster holds two classes;
    completeness is the share of the labels' entropy that the classes explain, 1 where no class is in two clusters.

    classes, labels : the known labeling and the one that is judged, each as in `adjusted_rand_index`.
    beta : >= 0; above 1 completeness counts more, below 1 homogeneity. With 1 the value is that of
        `normalized_mutual_information`.
    Raises what `adjusted_rand_index` raises; ParameterError for an impossible beta.

    Source: Rosenberg and Hirschberg, "V-measure: a conditional entropy-based external cluster evaluation measure",
    EMNLP-CoNLL 2007.

    >>> round(v_measure([0, 0, 1, 1], [0, 0, 1, 2]), 4), round(v_measure([0, 0, 1, 1], [0, 0, 1, 2], beta=0.0), 4)
    (0.8, 1.0)
    """
    beta = as_number(beta, "beta", at_least=0.0)
    counts, *sizes = joint_sizes(classes, labels)
    shared = _mutual_information(counts, *sizes)
    homogeneity, completeness = (
        float(np.clip(shared / entropy, 0.0, 1.0)) if entropy > 0 else 1.0 for entropy in map(_entropy, sizes)
    )
    if homogeneity * completeness == 0.0:
        return 0.0
    return (1.0 + beta) * homogeneity * completeness / (beta * homogeneity + completeness)


def variation_of_information(labels: LabelsLike, other: LabelsLike) -> float:
    """The information in either labeling that is not in the other, in nats: 0 for equal ones, at most log n.

    labels, other : see `adjusted_rand_index`. It is a metric: the triangle inequality holds.
    Raises what `adjusted_rand_index` raises.

    Source: Meila, "Comparing clusterings: an information based distance", Journal of Multivariate Analysis 2007.

    >>> variation_of_information([0, 0, 1, 1], [5, 5, 3, 3]), round(variation_of_information([0, 0, 1, 1], [0] * 4), 4)
    (0.0, 0.6931)
    """
    counts, of_first, of_second = joint_sizes(labels, other)
    share = counts.data / counts.data.sum()
    missing = np.log(of_first[counts.row] / counts.data) + np.log(of_second[counts.col] / counts.data)
    return float(share @ missing)


def element_centric_similarity(labels: LabelsLike, other: LabelsLike) -> float:
    """Mean over nodes of how alike the clusters are that hold it, between 0 and 1 for equal labelings.

    Of a node whose clusters have s and t nodes, n of them shared, that is n / max(s, t): 1 less half the distance
    between the personalized PageRank of the node in the one labeling and in the other, whatever their damping.

    labels, other : see `adjusted_rand_index`. Raises what that raises.

    Source: Gates, Wood, Hetrick and Ahn, "Element-centric clustering comparison unifies overlaps and hierarchy",
    Scientific Reports 2019.

    >>> element_centric_similarity([0, 0, 1, 1], [1, 1, 0, 0]), element_centric_similarity([0, 0, 1, 1], [0, 0, 0, 0])
    (1.0, 0.5)
    """
    counts, of_first, of_second = joint_sizes(labels, other)
    larger = np.maximum(of_first[counts.row], of_second[counts.col])
    return float((counts.data * (counts.data / larger)).sum() / counts.data.sum())


def _entropy(sizes: np.ndarray) -> float:
    share = sizes[sizes > 0] / sizes.sum()
    return float(-(share * np.log(share)).sum())


def _mutual_information(counts: sparse.coo_array, of_first: np.ndarray, of_second: np.ndarray) -> float:
    n = counts.sum()
    chance = of_first[counts.row] / n * of_second[counts.col]
    return float((counts.data / n * np.log(counts.data / chance)).sum())


def _mean_information_by_chance(n: int, of_first: np.ndarray, of_second: np.ndarray) -> float:
    """Mean of the mutual information over all labelings with these sizes: the overlaps are hypergeometric."""
    from scipy.special import gammaln  # takes a third of the package's import, and few calls come here

    total = 0.0
    firsts, seconds = (np.unique(sizes[sizes > 0], return_counts=True) for sizes in (of_first, of_second))
    for a, n_first in zip(*firsts, strict=True):
        for b, n_second in zip(*seconds, strict=True):
            overlap = np.arange(max(1, a + b - n), min(a, b) + 1)
            outside = gammaln([a + 1, b + 1, n - a + 1, n - b + 1]).sum() - gammaln(n + 1)
            within = gammaln([overlap + 1, a - overlap + 1, b - overlap + 1, n - a - b + overlap + 1]).sum(axis=0)
            information = overlap / n * np.log(overlap / (a / n * b))
            total += float(n_first * n_second * (np.exp(outside - within) @ information))
    return total


def joint_sizes(labels: LabelsLike, other: LabelsLike) -> tuple[sparse.coo_array, np.ndarray, np.ndarray]:
    """How many nodes have each pair of labels, and how many each label of the first and of the second labeling."""
    labels, other = align_labels(labels, other)
    labeled = (labels >= 0) & (other >= 0)
    if not labeled.any():
        raise GraphValidationError("no node has a label >= 0 in both labelings, expected at least one")
    pairs = labels[labeled], other[labeled]
    counts = sparse.coo_array((np.ones(len(pairs[0]), np.int64), pairs))
    counts.sum_duplicates()
    return counts, np.bincount(pairs[0]), np.bincount(pairs[1])
