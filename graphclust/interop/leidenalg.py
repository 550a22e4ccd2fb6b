"""leidenalg's calls, by one change of the import; leidenalg itself is not needed.

import graphclust.interop.leidenalg as la  # was import leidenalg as la
partition = la.find_partition(graph, la.ModularityVertexPartition)
partition.membership, partition.quality()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from graphclust.checks import as_array, as_number, as_weights
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.graph import layers as build
from graphclust.graph.layers import Layer, LayeredGraph
from graphclust.graph.other_libraries import origin
from graphclust.interop.seeds import as_rng
from graphclust.objective.labels import number_labels
from graphclust.partition.communities import communities

__all__ = [
    "CPMVertexPartition", "ModularityVertexPartition", "Optimiser", "RBConfigurationVertexPartition", "find_partition",
    "find_partition_multiplex",
]  # fmt: skip

ALL_COMMS, ALL_NEIGH_COMMS, RAND_COMM, RAND_NEIGH_COMM = range(1, 5)  # of Optimiser.consider_comms, as leidenalg's
NEXT_TO_NONE = 1e-100  # the resolution of Potts models at 0: whatever is linked is one cluster


class VertexPartition:
    """A partition of an igraph.Graph; its membership, its quality, and all that igraph's VertexClustering has.

    graph : igraph.Graph. initial_membership : a cluster for each vertex; by default each is one by itself.
    weights : the name of an edge attribute, or a number for each edge; None counts each 1.
    """

    is_share: ClassVar[bool] = False  # whether the quality is divided by all weight
    membership: list[int]

    def __init__(
        self, graph: Any, initial_membership: Any = None, weights: Any = None, resolution_parameter: float = 1.0
    ):
        self._take(graph, initial_membership, weights, resolution_parameter, None)

    def _take(self, graph: Any, membership: Any, weights: Any, resolution: Any, masses: Any) -> None:
        """masses : of the nodes in a Potts model; None for their degrees."""
        resolution = as_number(resolution, "resolution_parameter", at_least=0.0)
        n, m = as_igraph(graph).vcount(), graph.ecount()
        values = np.ones(m) if weights is None else graph.es[weights] if isinstance(weights, str) else weights
        values = as_array(values, "weights").astype(np.float64)
        if values.shape != (m,) or not np.isfinite(values).all() or (masses is None and (values < 0).any()):
            raise GraphValidationError(
                f"weights has shape {values.shape}, expected a finite number for each of {m} edges, and none below "
                'zero but for CPMVertexPartition; graphclust.communities(G, kind="signed") is for edges that repel'
            )
        ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2).T
        matrix = sparse.coo_array((values, tuple(ends)), shape=(n, n)).tocsr()
        if not graph.is_directed():
            matrix = (matrix + matrix.T).tocsr()  # a self-loop counts twice, as in igraph
        made = build.directed(matrix) if graph.is_directed() else build.undirected(matrix)
        layers = [layer.times(resolution) for layer in made.layers]
        if masses is not None:
            layers = [Layer("nodes", masses, masses, resolution)]
        self.layered: LayeredGraph = replace(made, layers=tuple(layers), connected=not (values < 0).any())
        self.graph, self.resolution_parameter, self.node_sizes, self.weights = graph, resolution, masses, values
        self.set_membership(range(n) if membership is None else membership)

    def set_membership(self, membership: Any) -> None:
        """Put each vertex into the cluster of this number."""
        self.membership = number_labels(np.array(membership), self.graph.vcount(), "membership").tolist()

    def quality(self) -> float:
        """What was optimized, by leidenalg's conventions: of modularity a share of all weight, else a weight."""
        score = float(self.layered.scores(np.array(self.membership)).sum())
        return score / (self.layered.total or 1.0) if self.is_share else score

    def move_node(self, v: int, new_comm: int) -> None:
        """Put one vertex into another cluster."""
        self.membership[v] = new_comm

    def diff_move(self, v: int, new_comm: int) -> float:
        """What the quality would gain if a vertex were in another cluster; all edges are read for it."""
        own, before = self.membership[v], self.quality()
        self.move_node(v, new_comm)
        gain = self.quality() - before
        self.move_node(v, own)
        return gain

    def total_weight_in_comm(self, comm: int) -> float:
        """The weight of the edges inside a cluster."""
        labels = np.where(np.array(self.membership) == comm, 0, -1)
        inside = replace(self.layered, layers=()).scores(labels).sum()
        return float(inside) / (1.0 if self.graph.is_directed() else 2.0)

    def total_weight_in_all_comms(self) -> float:
        """The weight of the edges inside clusters."""
        return sum(map(self.total_weight_in_comm, {*self.membership}))

    def as_clustering(self) -> Any:
        """The partition as an igraph.VertexClustering."""
        import igraph

        return igraph.VertexClustering(self.graph, self.membership, modularity_params={"weights": self.weights})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "membership" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.as_clustering(), name)

    def __len__(self) -> int:
        return len(self.as_clustering())

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.as_clustering())

    def __getitem__(self, cluster: int) -> list[int]:
        return self.as_clustering()[cluster]


class ModularityVertexPartition(VertexPartition):
    """Modularity; of a directed graph the directed one."""

    is_share = True


class RBConfigurationVertexPartition(VertexPartition):
    """Modularity at a resolution, times all weight; see `VertexPartition`."""


class CPMVertexPartition(VertexPartition):
    """The constant Potts model; weights may be below zero. node_sizes : what each vertex counts, or an attribute."""

    def __init__(
        self, graph: Any, initial_membership: Any = None, weights: Any = None, node_sizes: Any = None,
        resolution_parameter: float = 1.0,
    ):  # fmt: skip
        n = as_igraph(graph).vcount()
        sizes = graph.vs[node_sizes] if isinstance(node_sizes, str) else node_sizes
        masses = np.ones(n) if sizes is None else as_weights(np.array(sizes), n, "node_sizes")
        self._take(graph, initial_membership, weights, resolution_parameter, masses)

    def quality(self) -> float:
        """Weight inside less resolution times the pairs of nodes inside, with themselves if there are self-loops."""
        per_node = 0 if self.graph.is_directed() else -1
        of_themselves = per_node if any(self.graph.is_loop()) else 1
        return super().quality() + of_themselves * self.resolution_parameter * float(self.node_sizes.sum())


TYPES = {one.__name__: one for one in (ModularityVertexPartition, RBConfigurationVertexPartition, CPMVertexPartition)}


class Optimiser:
    """leidenalg's optimizer: partitions are optimized in place, and the gain in quality is returned.

    max_comm_size : most vertices of a cluster, or most of their `node_sizes`; 0 for any number. consider_comms : taken
    for the sake of calls that set it.
    """

    def __init__(self, max_comm_size: int = 0, seed: Any = None) -> None:
        self.max_comm_size, self.consider_comms, self._seed = max_comm_size, ALL_NEIGH_COMMS, seed

    def set_rng_seed(self, seed: Any) -> None:
        """Take a seed: a whole number, or None."""
        self._seed = seed

    def optimise_partition(self, partition: VertexPartition, n_iterations: int = 2) -> float:
        """Improve a partition; it stays as it is where nothing better is found."""
        return self.optimise_partition_multiplex([partition], None, n_iterations)

    def optimise_partition_multiplex(
        self, partitions: Sequence[VertexPartition], layer_weights: Any = None, n_iterations: int = 2
    ) -> float:
        """Improve a partition of several graphs on the same vertices: the weighted sum of the qualities.

        n_iterations : taken for the sake of calls that give it; moves end when none gains.
        """
        first = partitions[0]
        weights = as_array([1.0] * len(partitions) if layer_weights is None else layer_weights, "layer_weights")
        if weights.shape != (len(partitions),) or not np.isfinite(weights).all():
            raise ParameterError(f"layer_weights={layer_weights!r}, expected {len(partitions)} finite numbers")
        if {one.graph.vcount() for one in partitions} != {first.graph.vcount()}:
            raise GraphValidationError("the graphs differ in their numbers of vertices, expected the same vertices")
        before = [one.quality() for one in partitions]
        earlier = [one.membership for one in partitions]
        membership = self._search(partitions, weights.astype(np.float64))
        for one in partitions:
            one.set_membership(membership)
        gain = float(weights @ [one.quality() - was for one, was in zip(partitions, before, strict=True)])
        if gain < 0.0:
            for one, before_it in zip(partitions, earlier, strict=True):
                one.set_membership(before_it)
        return max(gain, 0.0)

    def _search(self, partitions: Sequence[VertexPartition], weights: np.ndarray) -> np.ndarray:
        """The best labels of the vertices; of one undirected graph by the plain engine, which is the quickest."""
        first, options = partitions[0], dict[str, Any](rng=as_rng(self._seed, "seed"))
        if self.max_comm_size:
            options |= {"max_size": self.max_comm_size, "node_weight": first.node_sizes}
        is_plain = first.layered.kind == "undirected" and first.layered.connected
        unit = first.node_sizes is None or (first.node_sizes == 1.0).all()
        if len(partitions) == 1 and is_plain and unit:
            at = first.resolution_parameter or NEXT_TO_NONE
            options["objective"] = "modularity" if first.node_sizes is None else "constant_potts"
            return communities(first.layered.combined, resolution=at, **options).labels
        layered = build.several([one.layered for one in partitions], weights.tolist(), normalize=first.is_share)
        layered = replace(layered, total=abs(layered.total) or 1.0)  # weights below zero may add up to nothing
        return communities(layered, **options).labels


def find_partition(
    graph: Any, partition_type: Any, initial_membership: Any = None, weights: Any = None, n_iterations: int = 2,
    max_comm_size: int = 0, seed: Any = None, **kwargs: Any,
) -> VertexPartition:  # fmt: skip
    """Find communities of an igraph.Graph: the arguments and the results of `leidenalg.find_partition`.

    graph : igraph.Graph, directed or not.
    partition_type : ModularityVertexPartition, RBConfigurationVertexPartition or CPMVertexPartition, of this module or
        leidenalg's.
    initial_membership : of the vertices; if no better partition is found, it is the result.
    weights : the name of an edge attribute, or a number >= 0 for each edge; None counts each 1.
    n_iterations : taken for the sake of calls that give it; moves end when none gains.
    max_comm_size : most vertices of a cluster; 0 for any number.
    seed : a whole number; None is a new one each time.
    kwargs : of the type: resolution_parameter, and of the constant Potts model node_sizes.

    Returns a partition with `membership`, `quality()`, and what igraph's VertexClustering has.
    Raises TypeError for what is no igraph.Graph, GraphValidationError for other weights, ParameterError for another
    type of partition.

    >>> import igraph
    >>> partition = find_partition(igraph.Graph.Famous("Zachary"), ModularityVertexPartition, seed=0)
    >>> len(partition), round(partition.quality(), 4)
    (4, 0.4198)
    """
    partition = _type_of(partition_type)(graph, initial_membership, weights, **kwargs)
    Optimiser(max_comm_size, seed).optimise_partition(partition, n_iterations)
    return partition


def find_partition_multiplex(
    graphs: Sequence[Any], partition_type: Any, layer_weights: Any = None, n_iterations: int = 2,
    max_comm_size: int = 0, seed: Any = None, **kwargs: Any,
) -> tuple[list[int], float]:  # fmt: skip
    """Find the communities of several igraph.Graphs on the same vertices, as `leidenalg.find_partition_multiplex` does.

    layer_weights : of the graphs' qualities, by default 1 each. For the other arguments, see `find_partition`.

    Returns the membership, and by how much the weighted sum of the qualities exceeds that of single vertices.

    >>> import igraph
    >>> rings = [igraph.Graph.Ring(12), igraph.Graph.Ring(12)]
    >>> membership, gain = find_partition_multiplex(rings, ModularityVertexPartition, seed=0)
    >>> len(set(membership)), round(gain, 3)
    (3, 1.0)
    """
    partitions = [_type_of(partition_type)(graph, **kwargs) for graph in graphs]
    gain = Optimiser(max_comm_size, seed).optimise_partition_multiplex(partitions, layer_weights, n_iterations)
    return partitions[0].membership, gain


def as_igraph(graph: Any) -> Any:
    """The igraph.Graph; TypeError for anything else."""
    if origin(graph) != "igraph":
        raise TypeError(f"graph is a {type(graph).__name__}, expected an igraph.Graph")
    return graph


def _type_of(partition_type: Any) -> Any:
    """The class here that has the name of leidenalg's."""
    name = getattr(partition_type, "__name__", partition_type)
    if name not in TYPES:
        raise ParameterError(f"partition_type {name!r} is not served, expected one of {[*TYPES]}")
    return TYPES[name]
