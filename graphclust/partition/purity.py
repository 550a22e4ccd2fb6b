"""Are clusters whole ones, or halves of one here and two in one there? Moves of single nodes never mend that."""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs.merging import most_beyond_chance
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.objective.objective import Weighed, node_terms
from graphclust.partition import streamed_quotient
from graphclust.partition.likelihood import implied_resolution
from graphclust.partition.quotient import contracted, links_of
from graphclust.progress import Progress

EVERY = 16  # nodes: of so many one is looked at
ENOUGH, CLEARLY = 10, 0.25  # of 10 rows that are expected two or less are drawn three times in 1,000


def are_impure(on: Weighed, labels: np.ndarray, sums: ClusterSums) -> bool:
    """Whether two clusters belong together at the resolution that all of them call for: mostly another is two then."""
    on, sums = in_plain_terms(on, labels, sums)
    return united_below(on, labels, len(sums.size)) > implied_resolution(on, sums)


def are_clearly_pure(on: Weighed, labels: np.ndarray, sums: ClusterSums, progress: Progress) -> bool:
    """Whether a sixteenth of the rows rules out that two clusters belong together; False where it cannot tell.

    Two that just do have a link of weight T, of which 2 T / 16 is expected in such rows, and halves of one cluster have
    several times that. Where it is as much as ENOUGH average rows hold, no pair that shows less than a quarter of it
    belongs together. With weights a few edges may make up a link, so that nothing is ruled out.
    """
    graph, k = on.graph, len(sums.size)
    if graph.weights is not None or k == 1 or streamed_quotient.is_estimate(graph, k):
        return False
    on, sums = in_plain_terms(on, labels, sums)
    threshold = implied_resolution(on, sums) * on.chance
    lightest = np.partition(sums.mass, 1)[:2]
    average_row = graph.total_volume / int(sums.size.sum())
    if 2.0 / EVERY * threshold * lightest.prod() < ENOUGH * average_row:
        return False
    nodes = np.arange(0, graph.n_nodes - EVERY + 1, EVERY)
    nodes += np.random.default_rng(0).integers(EVERY, size=len(nodes))
    nodes = nodes[labels[nodes] >= 0]
    progress.reads(graph, int((graph.indptr[nodes + 1] - graph.indptr[nodes]).sum()))
    half = links_of(graph, nodes, labels, k)
    links = (half + half.T).tocoo()
    apart = links.row != links.col
    chance = sums.mass[links.row[apart]] * sums.mass[links.col[apart]]
    return bool((links.data[apart] < CLEARLY * 2.0 / EVERY * threshold * chance).all())


def united_below(on: Weighed, labels: np.ndarray, k: int) -> float:
    """The resolution below which two of k clusters are better united; no more than 0 where none are linked."""
    quotient = contracted(on, labels, k)
    return float(most_beyond_chance(quotient.graph.rows, quotient.terms.mass)) / quotient.chance


def in_plain_terms(on: Weighed, labels: np.ndarray, sums: ClusterSums) -> tuple[Weighed, ClusterSums]:
    """A graph and the sums of clusters as likelihoods read them: all that is inside, where the ratio cut takes off."""
    taken_off = on.graph.loops - on.terms.loops
    if not taken_off.any():
        return on, sums
    of_clusters = np.bincount(np.maximum(labels, 0), weights=taken_off, minlength=len(sums.size))
    plain = Weighed(on.graph, node_terms(on.graph.loops, on.terms.mass, on.terms.degrees))
    return plain, sums._replace(inside=sums.inside + of_clusters)
