"""Nested levels: partitions of which each is strictly inside the one before, all clusters of a level split at once.

Edges between clusters are left out and nothing ever joins what no edge does, so one run of the engine over what is left
partitions every cluster by itself. A cluster is judged by its own weight: each node's mass is scaled by that of its
cluster, so that one pull is the resolution of modularity inside every one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs import v_cycle as loops
from graphclust.compiled.graphs.levels import Goal, Partition
from graphclust.compiled.graphs.objective import PLAIN, Objective
from graphclust.graph.container import Graph
from graphclust.objective.objective import Weighed, node_terms, weighed
from graphclust.partition.communities import goal_at
from graphclust.partition.engine import REGION_SIZES, connect, v_cycle
from graphclust.partition.even_split import parted, split_evenly
from graphclust.partition.levels import Run, level_of
from graphclust.partition.sibling_joins import Sizes, join_small

Labels = npt.NDArray[np.int32]


def without_cut_edges(graph: Graph, labels: Labels) -> Graph:
    """The graph without the edges between different clusters."""
    rows = loops.rows_within(level_of(weighed(graph, "modularity")), labels).rows
    n, n_entries = graph.n_nodes, int(rows.indptr[-1])
    weights = None if graph.weights is None else rows.weights[:n_entries]
    row = np.repeat(np.arange(n), np.diff(rows.indptr))
    degrees = np.bincount(row, weights=weights, minlength=n).astype(np.float64)
    return Graph(rows.indptr, rows.indices[:n_entries], weights, degrees, graph.loops)


def bounded_levels(
    graph: Graph, labels: Labels, resolution: float, objective: str, sizes: Sizes, run: Run
) -> Iterator[Labels]:
    """Levels below a first one, until no cluster is heavier than `sizes.most`.

    On each, every heavier cluster is split into the clusters that its own subgraph shows at the resolution. Those that
    show none wait for the last level, which splits them evenly.
    """
    is_whole = np.zeros(graph.n_nodes, bool)  # whether the cluster of a node shows no parts
    while True:
        too_heavy = (sizes.of_clusters(labels) > sizes.most)[labels]
        nodes = np.flatnonzero(too_heavy & ~is_whole)
        if not len(nodes):
            break
        part, own = _inside_clusters(graph, labels, nodes)
        found = clusters_inside(part, own, resolution, objective, run)
        found = join_small(part, found, sizes.at(nodes)._replace(most=np.inf))
        parts_of = np.zeros(int(own.max()) + 1, np.int64)
        np.add.at(parts_of, own[np.unique(found, return_index=True)[1]], 1)
        is_whole[nodes] = parts_of[own] == 1
        if parts_of.max() > 1:
            labels = nested_in(labels, nodes, found)
            yield labels
    nodes = np.flatnonzero(too_heavy)
    if len(nodes):
        part, own = _inside_clusters(graph, labels, nodes)
        yield nested_in(labels, nodes, split_evenly(part, own, sizes.at(nodes)))


def finer_levels(
    on: Weighed,
    labels: Labels,
    resolutions: Sequence[float],
    objective: str,
    sizes: Sizes,
    run: Run,
) -> Iterator[Labels]:
    """Levels below a first one at increasing resolutions, each inside the one before; none that repeats it."""
    for resolution in resolutions:
        part = without_cut_edges(on.graph, labels)
        found = _quickly(Weighed(part, on.terms), goal_at(on, resolution, objective), run).labels
        found = join_small(part, found, sizes._replace(most=np.inf))
        if found.max() > labels.max():
            labels = found
            yield labels


def thinned(graph: Graph, levels: list[Labels], most: int, sizes: Sizes) -> list[Labels]:
    """At most so many of some levels, the coarsest and the finest among them, or of one the finest.

    Nodes of the finest that stood together are parted where they do not hang together inside what is now above.
    """
    if len(levels) <= most:
        return levels
    kept = np.linspace(0, len(levels) - 1, most).round().astype(int).tolist() if most > 1 else [-1]
    *above, last = [levels[place] for place in kept]
    coarse = above[-1] if above else np.zeros(graph.n_nodes, np.int32)
    return [*above, parted(without_cut_edges(graph, coarse), last, sizes)]


def clusters_inside(graph: Graph, labels: Labels, resolution: float, objective: str, run: Run) -> Labels:
    """What each cluster shows when it is clustered alone. graph : without edges between clusters."""
    terms = weighed(graph, objective).terms
    mass = np.bincount(labels, weights=terms.mass)
    inside = np.bincount(labels, weights=graph.degrees)
    scaled = terms.mass * (np.sqrt(inside) / mass)[labels]
    on = Weighed(graph, node_terms(terms.loops, scaled, graph.degrees))
    goal = Goal(Objective(PLAIN, resolution, graph.total_volume / graph.n_nodes), 0)
    return _quickly(on, goal, run).labels


def _quickly(on: Weighed, goal: Goal, run: Run) -> Partition:
    """A partition after two V-cycles: that of `engine.partition` is a thousandth better, and takes twice as long."""
    run = replace(run, graph=on.graph, finest=level_of(on))
    found = v_cycle(run.finest, None, goal, REGION_SIZES[1], run)
    found = v_cycle(run.finest, found, goal, REGION_SIZES[0], run)
    return connect(run.finest, found, goal, run)


def nested_in(labels: Labels, nodes: npt.NDArray[np.int64], found: Labels) -> Labels:
    """The partition in which some nodes, whole clusters of it, are clustered as found."""
    finer = labels.copy()
    finer[nodes] = found + (int(labels.max()) + 1)
    return np.unique(finer, return_inverse=True)[1].astype(np.int32)


def _inside_clusters(graph: Graph, labels: Labels, nodes: npt.NDArray[np.int64]) -> tuple[Graph, Labels]:
    """Whole clusters as a graph without edges between them, and their labels, numbered from 0."""
    own = np.unique(labels[nodes], return_inverse=True)[1].astype(np.int32)
    return without_cut_edges(graph.subgraph(nodes), own), own
