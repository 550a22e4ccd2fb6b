"""Clusters without structure, split evenly along their weakest connections into parts within a bound."""

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.contraction import Members
from graphclust.compiled.graphs.overlay import split_by_connection
from graphclust.compiled.graphs.region_growing import grow_parts
from graphclust.engine.join_small_clusters import Sizes, join_small, without_gaps
from graphclust.graph.container import Graph


def split_evenly(graph: Graph, labels: npt.NDArray[np.int32], sizes: Sizes) -> npt.NDArray[np.int32]:
    """Parts of all clusters, none heavier than `sizes.most`, numbered from 0.

    graph : without edges between clusters. Parts are connected, with one exception: leaves of one node for which its
    part has no room form a part together.
    """
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    members = Members(labels, starts, np.argsort(labels, kind="stable").astype(np.int32))
    parts = np.empty(len(labels), np.int32)
    grow_parts(graph.rows, members, sizes.of_nodes, float(sizes.most), parts)
    parts = _unite_leaves(graph, parts, sizes)
    return join_small(graph.rows, parts, sizes._replace(least=max(sizes.least, sizes.most / 2)))


def parts_of_clusters(graph: Graph, labels: npt.NDArray[np.int32], sizes: Sizes) -> npt.NDArray[np.int32]:
    """The connected parts of all clusters; single leaves of one node form a part together.

    graph : without edges between the clusters of the level above.
    """
    parts = np.empty(len(labels), np.int32)
    split_by_connection(graph.rows, labels, int(labels.max()) + 1, parts)
    return _unite_leaves(graph, parts, sizes)


def _unite_leaves(graph: Graph, parts: npt.NDArray[np.int32], sizes: Sizes) -> npt.NDArray[np.int32]:
    """The parts, with single leaves of one node united evenly, as far as the bound allows."""
    hangs = (np.diff(graph.indptr) == 1) & (np.bincount(parts)[parts] == 1)
    nodes = np.flatnonzero(hangs)
    hub = graph.indices[graph.indptr[nodes]]
    nodes, hub = nodes[hub != nodes], hub[hub != nodes]
    nodes = nodes[np.argsort(hub, kind="stable")]
    first = np.flatnonzero(np.diff(np.sort(hub), prepend=-1))
    parts = parts.copy()
    for group in np.split(nodes, first[1:]):
        weights = sizes.of_nodes[group]
        share = weights.sum() / np.ceil(weights.sum() / sizes.most) if len(group) else 0.0
        leader, held = -1, np.inf
        for u, weight in zip(group.tolist(), weights.tolist(), strict=True):
            if held >= share or held + weight > sizes.most:
                leader, held = u, 0.0
            parts[u] = parts[leader]
            held += weight
    return without_gaps(parts)
