"""How good a clustering is on its graph: cuts and volumes of the clusters, modularity, the kernel k-means cost.

A self-loop counts once in a degree and never leaves a cluster. Nodes labeled -1 belong to no cluster: they are left
out, an edge to one leaves its cluster, and its degree is part of the total volume.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from graphclust.checks import Kind, as_choice, as_number
from graphclust.compiled.graphs.cluster_sums import weights_to_others
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.errors import ParameterError
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.layers import LayeredGraph
from graphclust.io.graph_input import as_graph
from graphclust.io.kinds import GraphsLike, as_layered
from graphclust.objective.labels import LabelsLike, labels_on


def cut_and_volume(
    graph: Graph, labels: npt.NDArray[np.int64], k: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The weight of the edges that leave each cluster, and its volume, (k,) each; the same on any number of threads."""
    leaving = np.empty(graph.n_nodes)
    narrow = labels.astype(np.int32)  # half the cache for the random look-ups of the pass
    run_in_blocks(weights_to_others, entry_blocks(graph.indptr), graph.rows, narrow, leaving)
    return sum_by_label(leaving, labels, k), sum_by_label(graph.degrees, labels, k)


def links_to_others(
    graph: Graph, labels: npt.NDArray[np.int64], k: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The nodes that have neighbors in other clusters, once for each of these clusters; and the clusters."""
    met, k = [np.empty(0, np.int64)], max(k, 1)
    for first, last in pairwise(entry_blocks(graph.indptr).tolist()):
        ends = graph.indptr[first : last + 1]
        source = np.repeat(np.arange(first, last), np.diff(ends))
        other = labels[graph.indices[ends[0] : ends[-1]]]
        is_cut = (other != labels[source]) & (other >= 0) & (labels[source] >= 0)
        met.append(np.unique(source[is_cut] * k + other[is_cut]))
    pairs = np.concatenate(met)
    return pairs // k, pairs % k


def cluster_volumes(
    G: GraphLike, labels: LabelsLike, *, weight: str | None = "weight", symmetrize: str | None = None
) -> npt.NDArray[np.float64]:
    """Volume of each cluster: the sum of its nodes' degrees.

    G : anything `as_graph` takes.
    labels : one label a node in the order of G, an array, list or Series of shape (n_nodes,): whole numbers >= 0, or
        -1 for none; or names of classes. Or a `Clustering`; a mapping from every node to its label, such as
        `as_dict()`; or `communities()`, any collection of sets that hold every node once.
    weight, symmetrize : of a graph with attributes, and of a directed one, as `as_graph` takes them; give them as they
        were given when G was clustered.

    Returns floats, shape (k,), where k is the highest label + 1, and 0 for a label that no node has. Communities are in
    their order. Names of classes, and numbers far above the nodes, are in increasing order.

    Raises what `as_graph` raises; GraphValidationError for a wrong number of labels, for labels below -1, and for nodes
    that are missing, unknown or in two communities; TypeError for what are no labels, such as floats.

    Source: von Luxburg, "A tutorial on spectral clustering", Statistics and Computing 2007, section 2.

    >>> import networkx as nx
    >>> cluster_volumes(nx.barbell_graph(3, 0), [0, 0, 0, 1, 1, 1])
    array([7., 7.])
    >>> cluster_volumes(nx.path_graph(4), [{0}, {1, 2, 3}])
    array([1., 5.])
    """
    graph, labels, k = _graph_and_labels(G, labels, weight, symmetrize)
    return sum_by_label(graph.degrees, labels, k)


def normalized_cut(
    G: GraphLike, labels: LabelsLike, *, weight: str | None = "weight", symmetrize: str | None = None
) -> float:
    """Normalized cut: the sum over clusters S of cut(S) / vol(S), between 0 and the number of clusters.

    G, labels, weight, symmetrize : see `cluster_volumes`. Clusters without volume add nothing. Papers that average
    report this over k.
    Raises what `cluster_volumes` raises.

    Source: Shi and Malik, "Normalized cuts and image segmentation", IEEE PAMI 2000; for k clusters, von Luxburg 2007.

    >>> import networkx as nx
    >>> normalized_cut(nx.barbell_graph(3, 0), [0, 0, 0, 1, 1, 1])  # 1/7 + 1/7
    0.2857142857142857
    """
    cut, volume = cut_and_volume(*_graph_and_labels(G, labels, weight, symmetrize))
    return float(_ratio(cut, volume).sum())


def edge_cut(
    G: GraphLike, labels: LabelsLike, *, weight: str | None = "weight", symmetrize: str | None = None
) -> float:
    """Edge cut: the weight of the edges whose ends have different labels; METIS's own objective.

    G, labels, weight, symmetrize : see `cluster_volumes`. The nodes labeled -1 count as one more part.
    Raises what `cluster_volumes` raises.

    >>> import networkx as nx
    >>> edge_cut(nx.grid_2d_graph(4, 4), [0] * 8 + [1] * 8)
    4.0
    """
    graph, labels, k = _graph_and_labels(G, labels, weight, symmetrize)
    cut, _ = cut_and_volume(graph, labels + 1, k + 1)
    return float(cut.sum()) / 2.0


def conductance(
    G: GraphLike, labels: LabelsLike, *, weight: str | None = "weight", symmetrize: str | None = None
) -> npt.NDArray[np.float64]:
    """Conductance of each cluster S: cut(S) / min(vol(S), vol(V - S)).

    G, labels, weight, symmetrize : see `cluster_volumes`.
    Returns floats in [0, 1], shape (k,), clusters as in `cluster_volumes`; 0 where no edge leaves the cluster.
    Raises what `cluster_volumes` raises.

    Source: Kannan, Vempala and Vetta, "On clusterings: good, bad and spectral", Journal of the ACM 2004.

    >>> import networkx as nx
    >>> conductance(nx.path_graph(4), [0, 1, 1, 1])
    array([1., 1.])
    """
    graph, labels, k = _graph_and_labels(G, labels, weight, symmetrize)
    cut, volume = cut_and_volume(graph, labels, k)
    rest = np.maximum(graph.total_volume - volume, cut)  # never less, but for rounding
    return _ratio(cut, np.minimum(volume, rest))


def modularity(
    G: GraphsLike,
    labels: LabelsLike,
    *,
    kind: Kind | None = None,
    resolution: float | Sequence[float] = 1.0,
    self_loops: str = "once",
    layer_weights: Sequence[float] | Mapping[Any, float] | None = None,
    normalize: bool = True,
    weight: str | None = "weight",
    symmetrize: str | None = None,
) -> float:
    """Modularity: the share of the volume inside clusters, less what the degrees alone would put there.

    The sum over clusters of inside(S) / vol(V) - resolution (vol(S) / vol(V))^2, inside(S) being vol(S) - cut(S).

    G, labels, weight, symmetrize : see `cluster_volumes`. The labels of a bipartite graph are those of its rows, then
        those of its columns.
    kind : "undirected", "directed", "bipartite" or "signed", whose modularities are Newman's, that of Leicht & Newman,
        Barber's, and that of Gomez, Jensen & Arenas. None: a graph of NetworkX, igraph, networkit or graph-tool may be
        directed, a rectangular matrix is bipartite, all else undirected. G may also be a list or dict of graphs, whose
        modularities are averaged.
    layer_weights, normalize : of several graphs, what each counts (1), and whether all count alike but for that, or
        each by its total weight.
    resolution : a number >= 0, or one for each layer; the larger, the smaller are the clusters of greatest modularity.
    self_loops : how often a self-loop counts in its node's degree, and so inside its cluster. "once", as in all of this
        package, for the diagonal of an adjacency matrix: a `quotient_graph`, whose loops hold each inner edge in both
        directions, has the modularity of the graph. "twice", as in NetworkX and igraph, for a list of edges, and for a
        quotient graph whose loops hold each inner edge once, as `networkx.quotient_graph` makes them. For undirected
        graphs alone: in a directed one a loop counts once in either degree, everywhere.
    Returns a float, 0 for a graph without edges.
    Raises what `cluster_volumes` raises; ParameterError for an impossible resolution and another word for self_loops.

    Source: Newman, "Modularity and community structure in networks", PNAS 2006; the resolution, Reichardt and
    Bornholdt, "Statistical mechanics of community detection", Physical Review E 2006; for the other kinds, see
    `graphclust.graph.layers`.

    >>> import networkx as nx
    >>> round(modularity(nx.barbell_graph(3, 0), [0, 0, 0, 1, 1, 1]), 4)  # 6/7 - 1/2
    0.3571
    >>> loop = nx.Graph([(0, 1), (1, 1)])  # 1/3 - (2/3)^2 - (1/3)^2, and 2/4 - (3/4)^2 - (1/4)^2
    >>> round(modularity(loop, [0, 1]), 4), modularity(loop, [0, 1], self_loops="twice")
    (-0.2222, -0.125)
    >>> modularity(nx.DiGraph([(0, 1), (2, 1)]), [0, 0, 1])  # 1/2 - (1/2)(2/2) - 0
    0.0
    """
    as_choice(self_loops, "self_loops", ("once", "twice"))
    graph = as_layered(
        G, kind, weight=weight, symmetrize=symmetrize, layer_weights=layer_weights, normalize=normalize
    )  # fmt: skip
    if isinstance(graph, LayeredGraph):
        if self_loops == "twice":
            raise ParameterError(f"self_loops='twice' is for an undirected graph, and G is {graph.kind}; leave it out")
        at = as_resolutions(resolution, len(graph.layers))
        return graph.modularity(labels_on(graph.combined, labels), at)
    resolution = as_number(resolution, "resolution", at_least=0.0)
    graph, labels, k = _graph_and_labels(graph, labels, "weight", None)
    cut, volume = cut_and_volume(graph, labels, k)
    total = graph.total_volume
    if self_loops == "twice":
        volume, total = volume + sum_by_label(graph.loops, labels, k), total + float(graph.loops.sum())
    return modularity_of_sums(cut, volume, total, resolution)


def as_resolutions(resolution: Any, n_layers: int) -> float | list[float]:
    """A resolution >= 0, or one for each layer."""
    if not isinstance(resolution, Sequence | np.ndarray):
        return as_number(resolution, "resolution", at_least=0.0)
    if len(resolution) != n_layers:
        raise ParameterError(f"resolution has {len(resolution)} numbers, expected one, or one for each of {n_layers}")
    return [as_number(one, f"resolution[{i}]", at_least=0.0) for i, one in enumerate(resolution)]


def modularity_of_sums(
    cut: npt.NDArray[np.float64], volume: npt.NDArray[np.float64], total: float, resolution: float = 1.0
) -> float:
    """Modularity from the cut and the volume of each cluster and the volume of the graph; 0 if that is 0."""
    total = total or 1.0
    return float(((volume - cut) / total - resolution * (volume / total) ** 2).sum())


def kernel_k_means_cost(
    G: GraphLike,
    labels: LabelsLike,
    *,
    shift: float = 0.0,
    weight: str | None = "weight",
    symmetrize: str | None = None,
) -> float:
    """Weighted kernel k-means cost of a partition, for the kernel K = D^-1 A D^-1 + shift D^-1 and weights D.

    The sum over clusters S and nodes x in S of d(x) |phi(x) - c(S)|^2 in the kernel's feature space. For k clusters of
    positive volume that hold all n nodes it equals NCut + trace(D^-1 A) - k + shift (n - k), so costs compare only at
    equal k. Self-loops are taken as they are stored: `kernel_kmeans` of a graph counts the implied loops of
    `NormalizedCutKernel.of` as well, and reports another value for the same partition.

    G, labels, weight, symmetrize : see `cluster_volumes`; nodes of degree 0 are left out.
    shift : a number >= 0.
    Raises what `cluster_volumes` raises; ParameterError for an impossible shift.

    Source: Dhillon, Guan and Kulis, "Weighted graph cuts without eigenvectors", IEEE PAMI 2007, section 4.

    >>> import networkx as nx
    >>> round(kernel_k_means_cost(nx.barbell_graph(3, 0), [0, 0, 0, 1, 1, 1]), 4)  # 2/7 + 0 - 2
    -1.7143
    """
    shift = as_number(shift, "shift", at_least=0.0)
    graph, labels, k = _graph_and_labels(G, labels, weight, symmetrize)
    clustered = (labels >= 0) & ~graph.isolated
    cut, volume = cut_and_volume(graph, labels, k)
    self_affinities = (graph.loops[clustered] / graph.degrees[clustered]).sum() + shift * np.count_nonzero(clustered)
    within = _ratio(volume - cut, volume).sum() + shift * np.count_nonzero(volume)
    return float(self_affinities - within)


def _graph_and_labels(
    G: GraphLike, labels: LabelsLike, weight: str | None, symmetrize: str | None
) -> tuple[Graph, npt.NDArray[np.int64], int]:
    graph = as_graph(G, weight=weight, symmetrize=symmetrize)
    numbers = labels_on(graph, labels)
    return graph, numbers, int(numbers.max()) + 1


def sum_by_label(values: npt.NDArray[np.float64], labels: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.float64]:
    """The sum of the values of the nodes of each cluster, shape (k,); label -1 is for no cluster."""
    sums: np.ndarray = np.bincount(labels + 1, weights=values, minlength=k + 1)
    return sums[1:]


def _ratio(numerator: npt.NDArray[np.float64], denominator: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
