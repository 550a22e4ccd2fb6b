"""Coarser and coarser quotient graphs, whose nodes are regions that hang together at a resolution.

On each level nodes move from singletons into the neighboring cluster that gains most by modularity at that resolution
(for objectives that count nodes: by the constant Potts model), as in the method of Louvain (Blondel et al. 2008). Such
regions come in every size that the graph has, and stop growing by themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs import coarsening as loops
from graphclust.compiled.graphs import small_levels
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.objective.objective import Weighed, plain_objective
from graphclust.partition.budget import HARDLY_ANY
from graphclust.partition.moves import move_in_turn, queue_of
from graphclust.partition.quotient import contracted
from graphclust.partition.small_graphs import is_small, level_of
from graphclust.progress import Progress

ONE_PART = np.zeros(1, np.int32)
PASSES = 2  # over the entries of a level; unfinished regions differ from start to start, which is worth more


class Level(NamedTuple):
    """A graph, and for each of its nodes the node of the next coarser graph, int32."""

    on: Weighed
    coarse: np.ndarray


def coarser(
    on: Weighed,
    resolution: float,
    enough: int,
    rng: np.random.Generator,
    progress: Progress,
    parts: np.ndarray | None = None,
    finest: float = 0.0,
) -> tuple[np.ndarray, Weighed] | None:
    """The region of each node, int32, and the graph of the regions, `enough` at least; None where hardly any join.

    parts : int32, shape (n_nodes,); nodes of different parts are never joined. None: all are of one part.
    finest : a resolution for smaller groups, which is tried first where it is a higher one.
    """
    n = on.graph.n_nodes
    for at in ((finest, resolution) if finest > resolution else (resolution,)) if n > enough else ():
        coarse, n_coarse = joined(on, at, parts, enough, rng, progress)
        if enough <= n_coarse <= (1.0 - HARDLY_ANY) * n:
            return coarse, contracted(on, coarse, n_coarse)
    return None


def joined(
    on: Weighed,
    resolution: float,
    parts: np.ndarray | None,
    enough: int,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[np.ndarray, int]:
    """Clusters of nodes of one part (None: all are) that hang together, int32, and how many they are.

    enough : clusters that are wanted. They only become fewer: where they are less, the pass ends there; a second one
        is taken back, and of a first all that is said is that they are too few.
    """
    n, passes = on.graph.n_nodes, 1 if progress.out_of_time() else PASSES
    objective, parts = plain_objective(on, n, resolution), ONE_PART if parts is None else parts
    if is_small(on.graph):
        region = np.empty(n, np.int32)
        n_regions, read = small_levels.join_at_once(
            level_of(on), objective.pull, parts, enough, passes, draws_of(rng), region
        )
        progress.reads(on.graph, read)
        return region, n_regions
    cluster = np.arange(n, dtype=np.int32)
    sums = ClusterSums(on.terms.loops.copy(), on.terms.mass.copy(), np.ones(n, np.int64))
    queue = queue_of(rng.permutation(n), n, n, n - enough)
    for done in range(passes):
        before = cluster.copy()
        move_in_turn(on, cluster, objective, sums, queue, progress, parts, on.graph.n_entries)
        if queue.state[2] < 0:
            if done > 0:
                cluster = before
            break
    return cluster, loops.number_clusters(cluster, np.full(n, -1, np.int32))
