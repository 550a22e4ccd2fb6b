"""Tiny components use up no clusters: they are left out of the search and put into the largest cluster afterwards.

Any component is a perfect cluster of cut 0, so that the plain objective spends its k clusters on crumbs.
"""

from dataclasses import replace

import numpy as np

from graphclust.coreset.outcome import Outcome
from graphclust.errors import counted
from graphclust.graph.container import Graph
from graphclust.progress import Progress

SMALL_COMPONENT = 0.02  # of an average cluster's volume


def searched_nodes(graph: Graph, k: int, components: str, remarks: list[str], progress: Progress) -> np.ndarray:
    """True for nodes to partition, (n_nodes,): with edges, in components that are not tiny, but k of them at least."""
    connected = ~graph.isolated
    progress.reads(graph, graph.n_entries)
    component_of = graph.components
    volumes = np.bincount(component_of, weights=graph.degrees)
    n_components = int(np.count_nonzero(volumes))
    if n_components > 1:
        remarks.append(f"the nodes with edges form {n_components} components")
    if components == "all" or n_components == 1:
        return connected
    large = volumes >= SMALL_COMPONENT * graph.total_volume / k
    searched = large[component_of] & connected
    n_searched = int(np.count_nonzero(searched))
    if n_searched == int(np.count_nonzero(connected)) or n_searched < k:
        return connected
    n_tiny = n_components - int(np.count_nonzero(large))
    made = "a cluster of it" if n_tiny == 1 else "clusters of them"
    remarks.append(f'{counted(n_tiny, "tiny component")} joined the largest cluster; components="all" makes {made}')
    return searched


def masked(graph: Graph, searched: np.ndarray) -> Graph:
    """The graph on the same rows, in which all other nodes count as isolated: they have no degree, and no loop.

    No entry is copied. The other nodes must be whole components: their rows are still there, and lead to each other.
    """
    if np.array_equal(searched, ~graph.isolated):
        return graph
    degrees, loops = np.where(searched, graph.degrees, 0.0), np.where(searched, graph.loops, 0.0)
    return Graph(graph.indptr, graph.indices, graph.weights, degrees, loops)


def in_all_nodes(searched: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels of the nodes that were searched for all nodes; -1 for the rest."""
    if len(labels) == len(searched):
        return labels
    found = np.full(len(searched), -1, labels.dtype)
    found[searched] = labels
    return found


def put_back(graph: Graph, searched: np.ndarray, outcome: Outcome) -> Outcome:
    """The outcome in which the nodes with edges that were not searched are in the cluster of largest volume."""
    rest = ~graph.isolated & ~searched
    if not rest.any():
        return outcome
    labels, undecided = outcome.labels.copy(), outcome.undecided
    labels[rest] = np.bincount(labels[searched], weights=graph.degrees[searched]).argmax()
    if undecided is not None:
        undecided = undecided | rest
    return replace(outcome, labels=labels, undecided=undecided)
