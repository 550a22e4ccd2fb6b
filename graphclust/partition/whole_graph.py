"""What the method of coresets asks of the whole graph, whether that is in memory or works block by block.

Whoever writes a step of the method against this writes it once; `in_memory` and `in_blocks` are the two that answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from graphclust.compiled.graphs.objective import RATIO, ClusterSums, Objective
from graphclust.coreset.sampling import Coreset
from graphclust.objective.objective import Aim
from graphclust.partition.moves import MOST_SWEEPS
from graphclust.partition.resolution import Goal
from graphclust.progress import Progress

BY_RATIO = Objective(RATIO, 0.0, 1.0)
Labels = Any  # of all nodes, int32, -1 for isolated ones; or what stands for them where they are


class Sampling(NamedTuple):
    """How the coreset is drawn, see `construct_coreset`."""

    size: int
    oversampling: float
    method: str


class Parted(NamedTuple):
    """Labels of all nodes and the sums of their clusters, `ClusterSums`; None before nodes moved, if not known."""

    labels: Labels
    sums: Any


class Merged(NamedTuple):
    """Clusters merged from the regions that a coreset shows, and what is known of those.

    fragments : the regions, as labels. estimated : whether their quotient graph was made of a sample.
    coreset : what was drawn; links : mean links of its nodes, as far as they count. n_labeled : how many nodes had a
    label from the coreset, from its neighbors, and after each round. out_of_reach : bool, shape (n_nodes,), True for
    nodes farther from the coreset than labels spread, where that is known node by node.
    """

    found: Parted
    fragments: Labels
    estimated: bool
    coreset: Coreset
    links: float
    n_labeled: list[int]
    out_of_reach: np.ndarray | None = None
    remarks: tuple[str, ...] = ()


class Anew(NamedTuple):
    """Clusters of pieces that were merged anew, what they were made for, and whether two of them belong together."""

    found: Parted
    goal: Goal
    impure: bool


class Pieces(Protocol):
    """What each of some clusters has of each fragment, and the quotient graph of that."""

    def are_impure(self) -> bool:
        """Whether two of the clusters belong together, see `purity`."""

    def merged_anew(self, aim: Aim) -> Anew:
        """The pieces merged by another aim, see `pieces.merged_anew`."""


class WholeGraph(Protocol):
    """A graph that is to be parted into k clusters; labels that it was given are never changed in place.

    name : of the objective whose terms count. n_points : how many nodes have edges.
    """

    k: int
    n_points: int
    progress: Progress

    def merged(self, sampling: Sampling) -> Merged:
        """A coreset, its regions, all nodes labelled by them, and the regions merged by the normalised cut."""

    def moved(self, found: Parted, objective: Objective, name: str, most_sweeps: int = MOST_SWEEPS) -> Parted:
        """The partition after moves of single nodes, until hardly any would gain.

        most_sweeps : over all nodes, where they move one after the other.
        """

    def moved_hastily(self, found: Parted, objective: Objective, name: str) -> Parted:
        """The partition after a few rounds of moves, which are made even where time is up."""

    def sums(self, labels: Labels, name: str) -> ClusterSums:
        """The sums of the clusters."""

    def are_clearly_pure(self, found: Parted, name: str) -> bool:
        """Whether no two clusters belong together, as far as that shows at a glance."""

    def pieces(self, found: Parted, fragments: Labels, name: str) -> Pieces:
        """What each cluster has of each fragment."""

    def is_better(self, aim: Aim, objective: Objective, found: Parted, than: Parted) -> bool:
        """Whether one of two partitions is the better, see `healing.is_better`."""

    def implied_goal(self, aim: Aim, sums: ClusterSums) -> Goal:
        """The goal at the resolution that clusters with these sums call for, see `resolution.implied_goal`."""

    def labels_at(self, labels: Labels, nodes: np.ndarray) -> np.ndarray:
        """The labels of some nodes, int64."""

    def brought_here(self, labels: Labels) -> np.ndarray:
        """The labels of all nodes."""
