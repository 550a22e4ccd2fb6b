"""Small graphs as compiled steps take them whole: to prepare a loop over blocks would take longer than to run it."""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs import small_levels
from graphclust.compiled.graphs.objective import ClusterSums, NodeTerms, Rows
from graphclust.compiled.graphs.small_levels import Assigned, Level
from graphclust.graph.container import Graph
from graphclust.objective.objective import Weighed, node_terms

AT_ONCE = 1 << 19  # entries: a cycle over so many takes some hundredths of a second, in which nothing else is looked at


def is_small(graph: Graph) -> bool:
    """Whether steps over the graph are made in one call, where nodes move in turn, however many they are."""
    return graph.n_entries <= AT_ONCE


def level_of(on: Weighed) -> Level:
    """A small graph as compiled steps take it."""
    return Level(on.graph.rows, on.terms, on.graph.loops)


def quotient_of(on: Weighed, cluster: np.ndarray, k: int) -> Weighed:
    """The quotient graph of a small one."""
    most = min(on.graph.n_entries, k * k)
    rows = Rows(np.empty(k + 1, np.int64), np.empty(most, np.int32), np.empty(most))
    own, mass, degrees, loops = np.empty((4, k))
    quotient = Level(rows, NodeTerms(own, mass, degrees), loops)
    n_entries = small_levels.contract_at_once(level_of(on), cluster, k, quotient)
    graph = Graph(rows.indptr, rows.indices[:n_entries].copy(), rows.weights[:n_entries].copy(), degrees, loops)
    return Weighed(graph, node_terms(own, mass, graph.degrees))


def room_for(n: int, k: int) -> Assigned:
    """Labels of n nodes in k clusters, and their sums, to be written to."""
    return Assigned(np.empty(n, np.int32), ClusterSums(np.empty(k), np.empty(k), np.empty(k, np.int64)))
