"""A smaller graph in the place of a graph, and the way back: reduce, partition what is small, prolong, improve.

Regions become the nodes of the quotient graph, of which every partition is one of the graph with the same value. What
finds the regions makes no difference: nodes that were joined to their neighbors (`coarsening`), a coreset by whose
regions all nodes were labelled (`in_memory`), or what clusters have of such regions (`pieces`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.objective.objective import Weighed
from graphclust.partition import streamed_quotient
from graphclust.partition.quotient import contracted


class Reduction(NamedTuple):
    """A graph, the region of each of its nodes, int32, -1 for nodes that are left out, and the graph of the regions."""

    on: Weighed
    region: np.ndarray
    small: Weighed

    def prolonged(self, labels: np.ndarray) -> np.ndarray:
        """Labels of the regions as those of the nodes; -1 for nodes that are left out."""
        return taken(labels, self.region)

    def restricted(self, labels: np.ndarray) -> np.ndarray:
        """Labels of the nodes as those of the regions, in each of which all have the same."""
        of_regions = np.empty(self.small.graph.n_nodes + 1, np.int32)  # the last for nodes that are left out
        of_regions[self.region] = labels
        return of_regions[:-1]

    def sums(self, sums: ClusterSums, labels: np.ndarray) -> ClusterSums | None:
        """The sums of clusters of regions as those of the nodes, without a look at the graph; None where they are
        not known, the graph of the regions being an estimate.

        labels : of the nodes.
        """
        if streamed_quotient.is_estimate(self.on.graph, self.small.graph.n_nodes):
            return None
        size = np.bincount(labels[labels >= 0] if labels.min() < 0 else labels, minlength=len(sums.size))
        return sums._replace(size=size)


def reduced(on: Weighed, region: np.ndarray, n_regions: int) -> Reduction:
    """A graph reduced to its regions."""
    return Reduction(on, region, contracted(on, region, n_regions))


def prolonged_through(reductions: list[Reduction], labels: np.ndarray) -> np.ndarray:
    """Labels of the smallest of several graphs, each reduced to the next, as those of the largest."""
    for reduction in reversed(reductions):
        labels = reduction.prolonged(labels)
    return labels


def taken(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The values at some places, and -1 where a place is negative."""
    if places.min(initial=0) >= 0:
        return values[places]
    found = values[np.maximum(places, 0)]
    found[places < 0] = -1
    return found


def used_labels(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Labels >= 0 renumbered without gaps as int32, negative ones as -1, and how many are not negative."""
    highest = int(labels.max())
    if highest > 8 * len(labels):
        distinct = np.unique(labels)
        distinct = distinct[distinct >= 0]
        numbered = np.searchsorted(distinct, labels).astype(np.int32)
        numbered[labels < 0] = -1
        return numbered, len(distinct)
    used = np.zeros(highest + 1, bool)
    used[labels if labels.min() >= 0 else labels[labels >= 0]] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return taken(number, labels), int(used.sum())
