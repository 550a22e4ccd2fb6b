"""What each method of `coreset_sc` hands back to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from graphclust.coreset.sampling import Coreset


@dataclass(frozen=True)
class Outcome:
    """Labels of all nodes of the graph that was clustered, and how they came about.

    decided : stage -> share of the nodes that got their first label there, for methods that label step by step.
    doubtful : whether a look at more of the graph is likely to find better clusters.
    remarks : what the reader of the labels should know, one sentence each.
    """

    labels: np.ndarray
    coreset: Coreset | None = None
    coreset_labels: np.ndarray | None = None
    undecided: np.ndarray | None = None
    entries_read: dict[str, int] = field(default_factory=dict)
    decided: dict[str, float] = field(default_factory=dict)
    doubtful: bool = False
    remarks: tuple[str, ...] = ()

    def with_remark(self, remark: str) -> Outcome:
        """The same with one more remark."""
        return replace(self, remarks=(*self.remarks, remark))
