"""Hierarchical Leiden as graspologic and graspologic-native name it, with bounds that hold.

Change `from graspologic.partition import hierarchical_leiden`, or `graspologic_native.hierarchical_leiden`, to
`from graphclust.interop.graspologic import hierarchical_leiden`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from itertools import count
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_number, as_seeded, as_whole_number
from graphclust.engine.cluster_sizes import Sizes
from graphclust.engine.nested_levels import LevelOptions, make_levels
from graphclust.errors import GraphClustError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.node_order import node_names
from graphclust.progress import Progress
from graphclust.results.from_labels import graph_to_cluster
from graphclust.results.hierarchy import hierarchy_of
from graphclust.updates.warm_start import EarlierLevels

__all__ = ["HierarchicalCluster", "HierarchicalClusters", "hierarchical_leiden"]


class HierarchicalCluster(NamedTuple):
    """That a node is in a cluster on a level; `parent_cluster` is None on level 0."""

    node: Hashable
    cluster: int
    parent_cluster: int | None
    level: int
    is_final_cluster: bool


class HierarchicalClusters(list[HierarchicalCluster]):
    """The records, level by level."""

    def first_level_hierarchical_clustering(self) -> dict[Hashable, int]:
        """Node -> cluster on level 0."""
        return {one.node: one.cluster for one in self if one.level == 0}

    def final_level_hierarchical_clustering(self) -> dict[Hashable, int]:
        """Node -> the cluster that is not split further."""
        return {one.node: one.cluster for one in self if one.is_final_cluster}


def hierarchical_leiden(
    graph: Any = None,
    max_cluster_size: int = 1000,
    starting_communities: Mapping[Hashable, int] | None = None,
    extra_forced_iterations: int = 0,
    resolution: float = 1.0,
    randomness: float = 0.001,
    use_modularity: bool = True,
    random_seed: int | None = None,
    weight_attribute: str = "weight",
    is_weighted: bool | None = None,
    weight_default: float = 1.0,
    check_directed: bool = True,
    *,
    edges: Any = None,
    seed: int | None = None,
    iterations: int = 1,
    max_local_moving_iterations: int | None = None,
) -> HierarchicalClusters:
    """Nested clusters of at most `max_cluster_size` nodes, a record for each node and each cluster it is in.

    graph, edges : a NetworkX graph, a matrix or a list of edges (u, v, weight), under either name.
    max_cluster_size : a larger cluster is split on the next level, always.
    starting_communities : node -> community number: the first level is made from it. A node that it lacks is by itself,
        and one that the graph lacks is passed over.
    resolution : of the first level; use_modularity : True for modularity, False for the constant Potts model.
    random_seed, seed : the same seed gives the same records, in whatever order nodes with names and edges come.
    weight_attribute, is_weighted : the attribute of edges that holds weights; is_weighted=False counts each edge 1.
    check_directed : directed graphs are refused; False joins both directions of an edge by their sum.
    extra_forced_iterations, iterations, max_local_moving_iterations, randomness : taken and not needed.
    weight_default : 1, of edges without one.

    Clusters are numbered through all levels; isolated nodes are clusters by themselves. The method is that of
    `graphclust.hierarchy`, so the clusters are not those of Leiden's, and clusters of any seed are within the bound.

    Raises what `graphclust.hierarchy` raises, and ParameterError for a weight_default other than 1, two graphs or two
    seeds; TypeError for starting communities that are neither all numbers nor all names, and where True or False is
    expected.

    >>> triangle = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)]
    >>> found = hierarchical_leiden(edges=triangle, max_cluster_size=2, seed=1)
    >>> [(one.node, one.cluster, one.parent_cluster, one.is_final_cluster) for one in found][3:]
    [('a', 1, 0, True), ('b', 1, 0, True), ('c', 2, 0, True)]
    """
    G = _either_argument("graph", graph, "edges", edges)
    if G is None:
        raise ParameterError("graph=None, expected a graph or a list of edges")
    for name, flag in (("use_modularity", use_modularity), ("check_directed", check_directed)):
        if not isinstance(flag, bool | np.bool_):
            raise TypeError(f"{name}={flag!r} is a {type(flag).__name__}, expected True or False")
    if weight_default != 1.0:
        raise ParameterError(f"weight_default={weight_default} is not possible, expected 1.0; set the missing weights")
    most = as_whole_number(max_cluster_size, "max_cluster_size", at_least=1)
    resolution = as_number(resolution, "resolution", above=0.0)
    rng, used = as_seeded(
        _either_argument("random_seed", random_seed, "seed", seed), "seed" if random_seed is None else "random_seed"
    )
    weight = None if is_weighted is False else weight_attribute
    progress = Progress()
    try:
        own = graph_to_cluster(G, 1, weight, None if check_directed else "sum", progress)
    except (GraphClustError, TypeError) as problem:
        problem.args = (_with_own_arguments(str(problem)),)
        raise
    objective = "modularity" if use_modularity else "constant_potts"
    wanted = LevelOptions(Sizes(np.ones(own.n_nodes), 0.0, float(most)), resolution, None, objective, "low")
    earlier = None
    if starting_communities is not None:  # every cluster of these is opened
        earlier = EarlierLevels([_start(own, starting_communities)], np.diff(own.indptr))
    levels, resolutions = make_levels(own, wanted, rng, progress, earlier)
    nested = hierarchy_of(own, levels, objective=objective, resolutions=resolutions, max_size=float(most), seed=used)
    level: dict[int | None, int] = {None: -1}  # of each cluster: one below its parent's, which may stay whole for some
    records = []
    for one in nested.records():
        at = level.setdefault(one.cluster, level[one.parent] + 1)
        records.append(HierarchicalCluster(one.node, one.cluster, one.parent, at, one.is_leaf))
    return HierarchicalClusters(sorted(records, key=lambda one: one.level))


def _either_argument(name: str, value: Any, other_name: str, other: Any) -> Any:
    """The value of an argument that has two names, given under one of them."""
    if value is not None and other is not None:
        raise ParameterError(f"{name}= and {other_name}= were both given, expected one of them")
    return other if value is None else value


def _with_own_arguments(message: str) -> str:
    """The message with `weight` by the names that it has here; what else is in a call of `as_graph` stays."""
    words = {"weight=None": "is_weighted=False", "weight=": "weight_attribute=", "weight is": "weight_attribute is"}
    words["as_graph(G, weight=None)"] = words["weight=None"]
    named = r"as_graph\([^)]*\)|\bweight=None|\bweight=|^weight is"
    return re.sub(named, lambda name: words.get(name[0], name[0]), message)


def _start(graph: Graph, communities: Mapping[Hashable, int]) -> npt.NDArray[np.int64]:
    """Starting communities as labels 0, 1, ... of the nodes."""
    if not isinstance(communities, Mapping):
        expected = "expected a mapping from each node to its community's number"
        raise TypeError(f"starting_communities is a {type(communities).__name__}, {expected}")
    given = {node: communities[node] for node in node_names(graph) if node in communities}
    numbers = list(given.values())
    for node, number in given.items():
        kind = type(number).__name__
        if not isinstance(number, Real | str):
            raise TypeError(f"starting_communities[{node!r}]={number!r} is a {kind}, expected a community's number")
        if isinstance(number, str) != isinstance(numbers[0], str):
            raise TypeError(
                f"starting_communities[{node!r}]={number!r} is a {kind} and the first one, {numbers[0]!r}, a "
                f"{type(numbers[0]).__name__}; expected all to be numbers, or all names"
            )
        if number != number:  # NaN, which is in no community, not even that of another NaN
            raise ParameterError(f"starting_communities[{node!r}]={number!r}, expected a community's number")
    place = {number: i for i, number in enumerate(sorted({*numbers}))}
    alone = count(len(place))
    return np.array([place[given[v]] if v in given else next(alone) for v in node_names(graph)], np.int64)
