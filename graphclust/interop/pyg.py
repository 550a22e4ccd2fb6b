"""PyTorch Geometric's and DGL's graphs: partitions of an `edge_index`; torch is imported only for its own tensors.

from graphclust.interop.pyg import partition
parts = partition(data.edge_index, data.num_nodes, 32)  # in place of METIS's, a part of each node
"""

from __future__ import annotations

import heapq
import warnings
from typing import Any

import numpy as np

from graphclust.checks import as_whole_number
from graphclust.errors import IsolatedNodesWarning
from graphclust.io.edges import joined
from graphclust.io.tables import edges_of_arrays
from graphclust.partition.balanced_partition import balanced_partition
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.profile.path_builder import warn_if_unclear

__all__ = ["partition"]


def partition(
    edge_index: Any, n_nodes: int, k: int | None, *, edge_weight: Any = None, random_state: Any = 0, **options: Any
) -> Any:
    """The part of each node, 0 to k - 1: few edges lie between two parts.

    edge_index : whole numbers of shape (2, n_edges), the ends of the edges, a torch tensor or an array. An edge may
        come once or in both directions, as PyG has it; repeated edges are added up, or count once without weights.
    n_nodes : number of nodes; the ends are below it.
    k : number of parts, exactly, of equal size up to `max_imbalance`, as METIS makes them; with another objective they
        differ in size where the graph does. None takes the number that the graph shows, and warns if it is not clear.
    edge_weight : numbers >= 0, shape (n_edges,), or None.
    random_state : None, a seed or a numpy Generator.
    options : of `graphclust.balanced_partition`; of `graphclust.coreset_sc`, if there is an objective among them, or if
        k is None, whose objective then is "normalized_cut" by default.

    Returns int64 of shape (n_nodes,), a tensor on the device of edge_index where that is one. Of equal parts nodes
    without edges are members as all others. Else they, and components that `components` of `coreset_sc` puts aside, go
    whole to the smallest parts, the largest first.

    Raises GraphValidationError for an edge_index or weights of another shape and for ends out of range, and what
    these functions raise.

    >>> partition(np.array([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]]), 6, 2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedNodesWarning)
        n_nodes = as_whole_number(n_nodes, "n_nodes", at_least=1)
        graph = joined(edges_of_arrays(edge_index, n_nodes, edge_weight), "max")
    options = {"rng": random_state} | options
    if k is not None and "objective" not in options:
        clustering = balanced_partition(graph, k, **options)
    else:
        clustering = coreset_sc(graph, k, **{"objective": "normalized_cut"} | options)
    warn_if_unclear(clustering.remarks)
    labels = clustering.labels.copy()
    if (labels < 0).any():
        fill_smallest(labels, clustering.graph.components, clustering.k)
    return edge_index.new_tensor(labels) if hasattr(edge_index, "new_tensor") else labels


def fill_smallest(labels: np.ndarray, components: np.ndarray, k: int) -> None:
    """Give the nodes of label -1 parts among 0 to k - 1, in place: each component whole to the smallest by then."""
    aside = np.flatnonzero(labels < 0)
    _, member_of, sizes = np.unique(components[aside], return_inverse=True, return_counts=True)
    part_of = np.empty(len(sizes), np.int64)
    parts = [(size, part) for part, size in enumerate(np.bincount(labels[labels >= 0], minlength=k).tolist())]
    heapq.heapify(parts)
    for one in np.argsort(-sizes, kind="stable").tolist():
        size, part_of[one] = parts[0]
        heapq.heapreplace(parts, (size + int(sizes[one]), parts[0][1]))
    labels[aside] = part_of[member_of]
