"""The clusters of a clustering as a table, a row each."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphclust.objective.cuts import cut_and_volume, sum_by_label

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering

MEMBERS = 4  # nodes of highest degree that are named


class ClusterRow(NamedTuple):
    """A cluster: its label, nodes and volume, and how well it holds together.

    density : mean weight between two of its nodes; without weights the share of pairs that are linked; 0 for one node.
    conductance, minimum_cut : as `Clustering.conductance` and `Clustering.min_cuts`. members : of highest degree, four.
    """

    cluster: int
    nodes: int
    volume: float
    density: float
    conductance: float
    minimum_cut: float
    members: tuple[Hashable, ...]


def table_of(clustering: Clustering) -> list[ClusterRow]:
    """A row for each cluster, in the order of the labels."""
    sizes, volume, k = clustering.sizes, clustering.volume, clustering.n_clusters
    cut = cut_and_volume(clustering.graph, clustering.labels, k)[0]
    inside = volume - cut - sum_by_label(clustering.graph.loops, clustering.labels, k)
    density = inside / np.maximum(sizes * (sizes - 1), 1)
    columns = (sizes, volume, density, clustering.conductance, clustering.min_cuts)
    rows = zip(*(values.tolist() for values in columns), leading_nodes(clustering, k), strict=True)
    return [ClusterRow(c, *row) for c, row in enumerate(rows)]


def leading_nodes(clustering: Clustering, n_clusters: int) -> list[tuple[Hashable, ...]]:
    """The nodes of highest degree of the first clusters."""
    order = np.lexsort((-clustering.graph.degrees, clustering.labels))
    ends = np.count_nonzero(clustering.labels < 0) + np.cumsum(clustering.sizes)
    starts, nodes = ends - clustering.sizes, clustering.nodes
    return [
        tuple(nodes[row] for row in order[starts[c] : min(ends[c], starts[c] + MEMBERS)].tolist())
        for c in range(n_clusters)
    ]
