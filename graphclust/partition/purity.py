"""Are clusters whole ones, or halves of one here and two in one there? Moves of single nodes never mend that."""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.objective.objective import Weighed, node_terms
from graphclust.partition.likelihood import implied_resolution
from graphclust.partition.merging import unions
from graphclust.partition.quotient import contracted
from graphclust.progress import Progress


def are_impure(on: Weighed, labels: np.ndarray, sums: ClusterSums, progress: Progress) -> bool:
    """Whether two clusters belong together at the resolution that all of them call for: mostly another is two then."""
    on, sums = in_plain_terms(on, labels, sums)
    return united_below(on, labels, len(sums.size), progress) > implied_resolution(on, sums)


def united_below(on: Weighed, labels: np.ndarray, k: int, progress: Progress) -> float:
    """The resolution below which two of k clusters are better united; no more than 0 where none are linked."""
    return float(unions(contracted(on, labels, k), progress, k)[k - 1])


def in_plain_terms(on: Weighed, labels: np.ndarray, sums: ClusterSums) -> tuple[Weighed, ClusterSums]:
    """A graph and the sums of clusters as likelihoods read them: all that is inside, where the ratio cut takes off."""
    taken_off = on.graph.loops - on.terms.loops
    if not taken_off.any():
        return on, sums
    of_clusters = np.bincount(np.maximum(labels, 0), weights=taken_off, minlength=len(sums.size))
    plain = Weighed(on.graph, node_terms(on.graph.loops, on.terms.mass, on.terms.degrees))
    return plain, sums._replace(inside=sums.inside + of_clusters)
