"""Tiny components use up no clusters: they are left out of the search and put into the largest cluster afterwards.

Any component is a perfect cluster of cut 0, so that the plain objective spends its k clusters on crumbs.
"""

import numpy as np

from graphclust.coreset.outcome import Outcome
from graphclust.errors import counted
from graphclust.graph.container import Graph

SMALL_COMPONENT = 0.02  # of an average cluster's volume


def searched_nodes(graph: Graph, k: int, components: str, remarks: list[str]) -> np.ndarray | None:
    """Nodes to partition, increasing: those with edges, in components that are not tiny, but k of them at least.

    None where those are all nodes.
    """
    connected = np.flatnonzero(~graph.isolated) if graph.isolated.any() else None
    component_of = graph.components
    volumes = np.bincount(component_of, weights=graph.degrees)
    n_components = int(np.count_nonzero(volumes))
    if n_components > 1:
        remarks.append(f"the nodes with edges form {n_components} components")
    if components == "all" or n_components == 1:
        return connected
    large = volumes >= SMALL_COMPONENT * graph.total_volume / k
    searched = np.flatnonzero(large[component_of])
    n_connected = graph.n_nodes if connected is None else len(connected)
    if len(searched) == n_connected or len(searched) < k:
        return connected
    n_tiny = n_components - int(np.count_nonzero(large))
    made = "a cluster of it" if n_tiny == 1 else "clusters of them"
    remarks.append(f'{counted(n_tiny, "tiny component")} joined the largest cluster; components="all" makes {made}')
    return searched


def put_back(graph: Graph, kept: np.ndarray, outcome: Outcome) -> Outcome:
    """The outcome of the subgraph on the nodes `kept`, for all nodes: the rest joins the cluster of largest volume."""
    labels = np.full(graph.n_nodes, -1, np.int64)
    labels[~graph.isolated] = np.bincount(outcome.labels, weights=graph.degrees[kept]).argmax()
    labels[kept] = outcome.labels
    undecided, coreset = outcome.undecided, outcome.coreset
    if undecided is not None:
        undecided = ~graph.isolated
        undecided[kept] = outcome.undecided
    if coreset is not None:
        coreset = type(coreset)(kept[coreset.nodes], coreset.weights, coreset.n_clipped, coreset.entries_read)
    return Outcome(labels, coreset, outcome.coreset_labels, undecided, outcome.entries_read, outcome.decided)
