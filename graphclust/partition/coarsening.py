"""Coarser and coarser quotient graphs, whose nodes are regions that hang together at a resolution.

On each level nodes move from singletons into the neighboring cluster that gains most by modularity at that resolution
(for objectives that count nodes: by the constant Potts model), as in the method of Louvain (Blondel et al. 2008). Such
regions come in every size that the graph has, and stop growing by themselves.
"""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs import joining as loops
from graphclust.compiled.graphs import small_levels
from graphclust.compiled.graphs.coarsening import number_clusters
from graphclust.compiled.graphs.joining import Joining
from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.objective.objective import Weighed, plain_objective
from graphclust.partition.budget import HARDLY_ANY
from graphclust.partition.moves import ENTRIES_PER_STEP
from graphclust.partition.reduction import Reduction, reduced
from graphclust.partition.small_graphs import is_small, level_of
from graphclust.progress import Progress

ONE_PART = np.zeros(1, np.int32)
REGIONS = (4, 8, 16)  # a cluster, for each of the starts: no one size suits all graphs
# Regions a cluster, for a tree that shows where k is natural and leaves the starts a choice. Where several partitions
# agree on more and smaller ones only, to merge these anew would be one more start.
ENOUGH = 12
UNSETTLED = 0.25  # of the nodes: while a pass moves more, another follows; two mostly, more where clusters are vague


def coarser(
    on: Weighed,
    resolution: float,
    enough: int,
    rng: np.random.Generator,
    progress: Progress,
    parts: np.ndarray | None = None,
    finest: float = 0.0,
) -> Reduction | None:
    """The graph reduced to regions, `enough` at least; None where hardly any nodes join.

    parts : int32, shape (n_nodes,); nodes of different parts are never joined. None: all are of one part.
    finest : a resolution for smaller groups, which is tried first where it is a higher one.
    """
    n = on.graph.n_nodes
    for at in ((finest, resolution) if finest > resolution else (resolution,)) if n > enough else ():
        region, n_regions = joined(on, at, parts, enough, rng, progress)
        if enough <= n_regions <= (1.0 - HARDLY_ANY) * n:
            return reduced(on, region, n_regions)
    return None


def joined(
    on: Weighed,
    resolution: float,
    parts: np.ndarray | None,
    enough: int,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[np.ndarray, int]:
    """Regions of nodes of one part (None: all are) that hang together, int32, and how many they are.

    enough : regions that are wanted. They only become fewer: where they are less, the pass ends there; one that is not
        the first is taken back, and of the first all that is said is that they are too few.
    """
    n, unsettled = on.graph.n_nodes, 1.0 if progress.out_of_time() else UNSETTLED
    if is_small(on.graph):
        region, pull = np.empty(n, np.int32), resolution * on.chance
        parts = ONE_PART if parts is None else parts
        n_regions, read = small_levels.join_at_once(level_of(on), pull, parts, enough, unsettled, draws_of(rng), region)
        progress.reads(on.graph, read)
        return region, n_regions
    rows = on.graph.rows if parts is None else rows_within(on.graph.rows, parts)
    objective, order = plain_objective(on, n, resolution), rng.permutation(n).astype(np.int32)
    region, state = np.arange(n, dtype=np.int32), np.array([n - enough, n])
    scratch = np.zeros(n), np.empty(n + 1, np.int32)
    joining = Joining(region, on.terms.mass.copy(), np.ones(n, np.int32), state, *scratch)
    step, done = max(1, ENTRIES_PER_STEP * n // on.graph.n_entries), 0
    while done == 0 or state[1] > unsettled * n:
        before, state[1] = region.copy(), 0
        for first in range(0, n, step):
            last = min(first + step, n)
            read = loops.join_in_turn(first, last, order, rows, on.terms, objective, joining)
            progress.reads(on.graph, read)
            progress.step(last, n)
        if state[0] < 0:
            region = before if done > 0 else region
            break
        done += 1
    return region, number_clusters(region, np.full(n, -1, np.int32))


def rows_within(rows: Rows, parts: np.ndarray) -> Rows:
    """The rows without what leads to nodes of other parts."""
    indptr = np.zeros(len(parts) + 1, np.int64)
    kept = Rows(indptr, np.empty(len(rows.indices), np.int32), np.empty(len(rows.weights)))
    loops.keep_within(rows, parts, kept)
    for values in kept:
        values.flags.writeable = False  # as those of a graph: another type would be compiled once more
    return kept
