"""The operations that the two-step method needs of the whole graph, in memory or block by block."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.coreset.sampling import CoresetSample
from graphclust.objective.objective import Totals
from graphclust.progress import Progress

Labels = Any  # of all nodes, int32, -1 for nodes that are left out; or a handle to such labels elsewhere


class Sampling(NamedTuple):
    """How the coreset is drawn, see `construct_coreset`."""

    size: int
    oversampling: float
    method: str


class Regions(NamedTuple):
    """A region for every node, from a coreset, and facts about the coreset.

    labels, k : the region of each node; all from 0 to k - 1 are used. coreset : the one drawn. links : mean number of
    links of its nodes, times the `evenness` of the weights. n_labeled : how many nodes had a label from the coreset,
    from its neighbors, and after each round. out_of_reach : bool, shape (n_nodes,), True for nodes farther from the
    coreset than labels spread; None if that is not known node by node.
    """

    labels: Labels
    k: int
    coreset: CoresetSample
    links: float
    n_labeled: list[int]
    out_of_reach: np.ndarray | None = None
    remarks: tuple[str, ...] = ()


class WholeGraph(Protocol):
    """A graph that is to be partitioned into k clusters; labels given to it are never changed in place.

    n_points : how many nodes take part. n_entries : of the rows. name, of the methods : the objective whose terms
    count.
    """

    k: int
    n_points: int
    n_entries: int
    rng: np.random.Generator
    progress: Progress

    def totals(self, name: str) -> Totals:
        """The units of an objective."""

    def regions(self, sampling: Sampling) -> Regions:
        """A coreset, its regions, and all nodes labeled by them."""

    def pieces(self, labels: Labels, regions: Labels) -> tuple[Labels, int]:
        """The intersections of clusters and regions, see `overlay.pieces_of`, and how many there are."""

    def contract(self, labels: Labels, k: int, name: str) -> Level:
        """The level whose nodes are the k clusters."""

    def project(self, of_clusters: np.ndarray, labels: Labels) -> Labels:
        """A label of each cluster as one of its nodes."""

    def restrict(self, labels: Labels, clusters: Labels, k: int) -> np.ndarray:
        """The label of each of k clusters, int32; all nodes of a cluster have the same label."""

    def refine(self, labels: Labels, sums: ClusterSums | None, task: Task, name: str) -> Partition:
        """The partition after moves of single nodes; once time is up, after a minimum of moves.

        sums : of the clusters, if known; their sizes are counted again.
        """

    def connect(self, found: Partition, task: Task, name: str) -> Partition:
        """The partition with connected clusters, see `connectivity.connect`."""

    def bring_here(self, found: Partition) -> Partition:
        """The partition with the labels of all nodes at hand, int64."""
