"""What each method of `coreset_sc` hands back to it, and what a clustering keeps of a coreset."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.coreset.sampling import CoresetSample


@dataclass(frozen=True, eq=False)
class CoresetClustering:
    """The coreset a clustering came from.

    nodes : int64, shape (m,), rows of the graph, increasing.
    weights : float64, shape (m,).
    labels : int64, shape (m,), their clusters in the numbering of `Clustering.labels`: in the published algorithm those
        they had before the labels were extended, which may differ; otherwise the final ones.
    """

    nodes: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        return f"CoresetClustering(nodes={len(self.nodes)}, weight={self.weights.sum():.6g})"


@dataclass(frozen=True)
class Outcome:
    """Labels of all nodes of the graph that was clustered, and how they came about.

    decided : stage -> share of the nodes that got their first label there, for methods that label step by step.
    doubtful : whether a look at more of the graph is likely to find better clusters.
    remarks : what the reader of the labels should know, one sentence each.
    sums : of the clusters, by the terms of the objective, where the method has them and none was estimated.
    """

    labels: np.ndarray
    coreset: CoresetSample | None = None
    coreset_labels: np.ndarray | None = None
    undecided: np.ndarray | None = None
    entries_read: dict[str, int] = field(default_factory=dict)
    decided: dict[str, float] = field(default_factory=dict)
    doubtful: bool = False
    remarks: tuple[str, ...] = ()
    sums: ClusterSums | None = None

    def with_remark(self, remark: str) -> Outcome:
        return replace(self, remarks=(*self.remarks, remark))
