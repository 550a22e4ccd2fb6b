"""How good a clustering is: cuts and volumes of the clusters on the graph, agreement with other labels.

Definitions: normalised cut and conductance as in von Luxburg 2007, "A tutorial on spectral clustering"; modularity,
Newman 2006; adjusted Rand index, Hubert and Arabie 1985; the kernel k-means cost, Dhillon, Guan and Kulis 2007.
A self-loop counts once in a degree and never leaves a cluster. Nodes labeled -1 belong to no cluster: they are left
out, an edge to one leaves its cluster, and its degree is part of the total volume.
"""

from typing import Any

import numpy as np
from scipy import sparse

from graphclust.checks import as_labels, as_number
from graphclust.compiled.blocks import entry_blocks, run_in_blocks
from graphclust.compiled.cuts import leaving_weights
from graphclust.errors import GraphValidationError
from graphclust.graph import Graph, GraphLike, as_graph

__all__ = [
    "adjusted_rand_index",
    "conductance",
    "cut_and_volume",
    "kernel_k_means_cost",
    "modularity",
    "normalized_cut",
    "normalized_mutual_information",
    "volume",
]


def cut_and_volume(graph: Graph, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The weight of the edges that leave each cluster, and the sum of its degrees; floats of shape (k,) each.

    labels : int64 in [-1, k), shape (n_nodes,). One pass over the edges; the sums do not depend on the threads.
    """
    leaving = np.empty(graph.n_nodes)
    narrow = labels.astype(np.int32)  # half the cache for the random look-ups of the pass
    rows = graph.indptr, graph.indices, graph.weights_or_empty
    run_in_blocks(leaving_weights, entry_blocks(graph.indptr), *rows, narrow, leaving)
    return _sum_by_label(leaving, labels, k), _sum_by_label(graph.degrees, labels, k)


def volume(G: GraphLike, labels: Any) -> np.ndarray:
    """Volume of each cluster: the sum of its nodes' degrees.

    G : anything `as_graph` takes.
    labels : cluster of each node, ints >= 0, or -1 for none, shape (n_nodes,).
    Returns floats of shape (k,), where k is the highest label + 1; 0 for a label that no node has.
    Raises what `as_graph` raises, and GraphValidationError or TypeError for what are no labels of its nodes.

    >>> import networkx as nx
    >>> volume(nx.barbell_graph(3, 0), [0, 0, 0, 1, 1, 1])
    array([7., 7.])
    """
    graph, labels, k = _graph_and_labels(G, labels)
    return _sum_by_label(graph.degrees, labels, k)


def normalized_cut(G: GraphLike, labels: Any) -> float:
    """Normalised cut: the sum over clusters S of cut(S) / vol(S), between 0 and the number of clusters.

    G, labels, errors : see `volume`. Clusters without volume add nothing. Papers that average report this over k.

    >>> import networkx as nx
    >>> normalized_cut(nx.barbell_graph(3, 0), [0, 0, 0, 1, 1, 1])  # 1/7 + 1/7
    0.2857142857142857
    """
    cut, volume = cut_and_volume(*_graph_and_labels(G, labels))
    return float(_ratio(cut, volume).sum())


def conductance(G: GraphLike, labels: Any) -> np.ndarray:
    """Conductance of each cluster S: cut(S) / min(vol(S), vol(V - S)).

    G, labels, errors : see `volume`.
    Returns floats in [0, 1], shape (k,); 0 where no edge leaves the cluster.

    >>> import networkx as nx
    >>> conductance(nx.path_graph(4), [0, 1, 1, 1])
    array([1., 1.])
    """
    graph, labels, k = _graph_and_labels(G, labels)
    cut, volume = cut_and_volume(graph, labels, k)
    rest = np.maximum(graph.total_volume - volume, cut)  # never less, but for rounding
    return _ratio(cut, np.minimum(volume, rest))


def modularity(G: GraphLike, labels: Any) -> float:
    """Newman's modularity: the share of the volume inside clusters, less what the degrees alone would put there.

    The sum over clusters of inside(S) / vol(V) - (vol(S) / vol(V))^2, inside(S) being vol(S) - cut(S).
    G, labels, errors : see `volume`. On graphs without self-loops this is NetworkX's value.

    >>> import networkx as nx
    >>> round(modularity(nx.barbell_graph(3, 0), [0, 0, 0, 1, 1, 1]), 4)  # 6/7 - 1/2
    0.3571
    """
    graph, labels, k = _graph_and_labels(G, labels)
    if graph.total_volume == 0:
        return 0.0
    cut, volume = cut_and_volume(graph, labels, k)
    share = volume / graph.total_volume
    return float(((volume - cut) / graph.total_volume - share**2).sum())


def kernel_k_means_cost(G: GraphLike, labels: Any, *, shift: float = 0.0) -> float:
    """Weighted kernel k-means cost of a partition, for the kernel K = D^-1 A D^-1 + shift D^-1 and weights D.

    The sum over clusters S and nodes x in S of d(x) |phi(x) - c(S)|^2 in the kernel's feature space. For k clusters of
    positive volume that hold all n nodes it equals NCut + trace(D^-1 A) - k + shift (n - k) (Dhillon, Guan and Kulis
    2007, section 4), so costs compare only at equal k. Self-loops are taken as they are stored.
    G, labels, errors : see `volume`; nodes of degree 0 are left out. shift : a number >= 0.

    >>> import networkx as nx
    >>> round(kernel_k_means_cost(nx.barbell_graph(3, 0), [0, 0, 0, 1, 1, 1]), 4)  # 2/7 + 0 - 2
    -1.7143
    """
    shift = as_number(shift, "shift", at_least=0.0)
    graph, labels, k = _graph_and_labels(G, labels)
    clustered = (labels >= 0) & ~graph.isolated
    cut, volume = cut_and_volume(graph, labels, k)
    self_affinities = (graph.loops[clustered] / graph.degrees[clustered]).sum() + shift * np.count_nonzero(clustered)
    within = _ratio(volume - cut, volume).sum() + shift * np.count_nonzero(volume)
    return float(self_affinities - within)


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


def _graph_and_labels(G: GraphLike, labels: Any) -> tuple[Graph, np.ndarray, int]:
    graph = as_graph(G)
    labels = as_labels(labels, n_nodes=graph.n_nodes)
    return graph, labels, int(labels.max()) + 1


def _sum_by_label(values: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    return np.bincount(labels + 1, weights=values, minlength=k + 1)[1:]


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


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
