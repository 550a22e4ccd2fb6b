"""One cycle over a small graph in one call: down to regions, which are merged into clusters, and back with moves.

The same as `partition.cycles.cycle` does level by level, in the same order.
"""

import numpy as np
from numba import njit

from graphclust.compiled.graphs.objective import ClusterSums, value_of
from graphclust.compiled.graphs.small_levels import (
    Assigned,
    climb_from,
    contract_clusters,
    join_nodes,
    merge_nodes,
    move_until_stable,
    write,
)

NOTHING = Assigned(np.empty(0, np.int32), ClusterSums(np.empty(0), np.empty(0), np.empty(0, np.int64)))


@njit(cache=True, nogil=True)
def cycle_at_once(level, found, k, objective, coarsening, settled, draws, better):
    """`_cycle`, to labels and sums that are there, see `small_levels`; returns the entries read."""
    made, n_read = _cycle(level, found, k, objective, coarsening, settled, draws)
    write(made, better)
    return n_read


@njit(cache=True, nogil=True)
def _cycle(level, found, k, objective, coarsening, settled, draws):
    """The better of the partition found, if any, and one merged anew; and the entries read of the rows of the graph.

    settled : whether no node gains by a move in the partition found.
    """
    levels, regions = [level], [found.labels]  # of the finest level there are none below
    has_found = len(found.labels) > 0
    parts = found.labels if has_found else np.zeros(1, np.int32)
    pull = max(coarsening.finest, coarsening.pull)
    no_trace, no_pairs = np.empty(0), np.empty((0, 2), np.int32)
    n_read = 0
    while len(level.loops) > coarsening.enough:
        region, n_regions, read = join_nodes(level, pull, parts, coarsening.enough, coarsening.unsettled, draws)
        n_read += read if len(levels) == 1 else 0
        if coarsening.enough <= n_regions <= coarsening.least_shrinkage * len(region):
            level = contract_clusters(level, region, n_regions)
            levels.append(level)
            regions.append(region)
            parts = _of_regions(parts, region, n_regions) if has_found else parts
        elif pull == coarsening.pull:
            break
        pull = coarsening.pull
    best, read = move_until_stable(level, merge_nodes(level, k, objective, no_trace, no_pairs), k, objective)
    if has_found:
        kept, read_again = move_until_stable(level, Assigned(parts, found.sums), k, objective)
        best = kept if value_of(objective, kept.sums) >= value_of(objective, best.sums) else best
        read += read_again
    n_read += read if len(levels) == 1 else 0
    for depth in range(len(levels) - 2, -1, -1):
        if coarsening.patience.share > 0.0:
            best, _ = climb_from(levels[depth + 1], best, objective, coarsening.patience)
        labels = _of_nodes(best.labels, regions[depth + 1])
        if depth == 0 and settled and _are_equal(labels, found.labels):
            return found, n_read
        best, read = move_until_stable(levels[depth], Assigned(labels, best.sums), k, objective)
        n_read += read if depth == 0 else 0
    return best, n_read


@njit(cache=True, nogil=True)
def _of_regions(labels, region, n_regions):
    """The labels of regions whose nodes all have the same."""
    of_region = np.empty(n_regions, np.int32)
    for u in range(len(region)):
        of_region[region[u]] = labels[u]
    return of_region


@njit(cache=True, nogil=True)
def _of_nodes(labels, region):
    """The labels of nodes by those of their regions."""
    of_node = np.empty(len(region), np.int32)
    for u in range(len(region)):
        of_node[u] = labels[region[u]]
    return of_node


@njit(cache=True, nogil=True)
def _are_equal(labels, others):
    n_equal = 0
    for u in range(len(labels)):
        n_equal += labels[u] == others[u]
    return n_equal == len(labels)
