"""Contraction of a level: its clusters become the nodes of a coarser level, and partitions go both ways."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs import contraction as loops
from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms, loads_of
from graphclust.compiled.graphs.objective import RATIO, Rows
from graphclust.compiled.runtime.blocks import MadeRows, entry_blocks, rows_in_blocks
from graphclust.engine import sequential_contraction as in_order
from graphclust.engine.levels import Run, is_small, n_entries, read_only_level, with_sums

ENTRIES_PER_BLOCK = 1 << 21  # a block has scratch of the size of the coarse level


class Contraction(NamedTuple):
    """A level, the region of each of its nodes, and the level of the regions."""

    fine: Level
    regions: Partition
    coarse: Level

    def project(self, found: Partition) -> Partition:
        """A partition of the regions as one of the nodes; the sizes are still those of the regions."""
        return Partition(found.labels[self.regions.labels], found.sums)

    def restrict(self, found: Partition) -> Partition:
        """A partition of the nodes, none of which parts a region, as one of the regions."""
        labels = np.empty(len(self.regions.sums.size), np.int32)
        labels[self.regions.labels] = found.labels
        return Partition(labels, found.sums)


def contractions(
    level: Level,
    find: Callable[[Level, np.ndarray | None], Partition | None],
    run: Run,
    within: np.ndarray | None = None,
    skipped: float = np.inf,
) -> list[Contraction]:
    """Contractions of a level, of the next one, and so on, to regions inside parts, until `find` makes none.

    find : makes regions of a level whose nodes have these parts. within : the part of each node, if there are any.
    skipped : a level that holds more than this share of the entries of the level before is not kept.
    """
    steps: list[Contraction] = []
    while (regions := find(level, within)) is not None:
        if steps and n_entries(level) > skipped * n_entries(steps[-1].fine):
            last = steps.pop()
            regions_of_fine, fine = Partition(regions.labels[last.regions.labels], regions.sums), last.fine
            del last, level  # before the next level is made: both would be held at a time
            steps.append(contract(fine, regions_of_fine, run))
        else:
            steps.append(contract(level, regions, run))
        if within is not None:
            coarse = np.empty(len(regions.sums.size), np.int32)
            coarse[regions.labels] = within
            within = coarse
        level = steps[-1].coarse
    return steps


def coarsest(level: Level, steps: Sequence[Contraction]) -> Level:
    """The level that contractions of a level end with."""
    return steps[-1].coarse if steps else level


def restricted(steps: Sequence[Contraction], found: Partition) -> Partition:
    """A partition of the nodes, none of which parts a region, as one of the last contraction's regions."""
    for step in steps:
        found = step.restrict(found)
    return found


def contract(level: Level, regions: Partition, run: Run) -> Contraction:
    """The level of the regions: links between two regions add up, the weight inside a region is part of its terms.

    The links of a very large level are summed in the order of its rows, and may be an estimate.
    """
    k = len(regions.sums.size)
    if is_small(level):
        most = min(n_entries(level), k * k)
        made = Rows(np.empty(k + 1, np.int64), np.empty(most, np.int32), np.empty(most))
        size = loops.contract_into(level, regions, made)
        made = Rows(made.indptr, made.indices[:size].copy(), made.weights[:size].copy())
    elif n_entries(level) >= in_order.STREAMED and run.graph is not None and not level.terms.layers:
        made = in_order.links_in_order(level.rows, regions.labels, k, run.graph.degrees)
    else:
        made = links_of_clusters(level.rows, regions.labels, k, level.terms.layers)
    run.reads(level, n_entries(level))
    size = loads_of(level.terms.size, regions.labels, k)
    terms = Terms(regions.sums.inside, regions.sums.mass, size, level.terms.layers)
    return Contraction(level, regions, read_only_level(made, terms))


def project(step: Contraction, found: Partition, task: Task, run: Run) -> Partition:
    """A partition of the regions as one of the nodes.

    Moves for a ratio need the weight inside clusters: it is summed again where links were estimated.
    """
    projected, n_regions = step.project(found), len(step.regions.sums.size)
    if task.objective.kind == RATIO and in_order.is_estimate(n_entries(step.fine), n_regions):
        return with_sums(step.fine, projected.labels, len(projected.sums.size), run)
    return projected


def links_of_nodes(
    rows: Rows, labels: np.ndarray, k: int, nodes: np.ndarray, layers: tuple[np.ndarray, ...] = ()
) -> MadeRows:
    """The links that some nodes, sorted by cluster, add between k clusters, without links inside a cluster.

    labels : int32, of all nodes. layers : as `Objective` has them. Only the rows of the nodes are read.
    """
    of_node = labels[nodes]
    starts = np.concatenate([[0], np.cumsum(np.bincount(of_node, minlength=k))])
    lengths = np.bincount(of_node, weights=rows.indptr[nodes + 1] - rows.indptr[nodes], minlength=k)
    most = int(np.minimum(lengths, k).sum()) + 1
    made = MadeRows(np.zeros(k, np.int64), np.empty(most, np.int32), np.empty(most))
    n = loops.link_clusters(0, k, 0, made, rows, loops.Members(labels, starts, nodes.astype(np.int32), layers))
    return MadeRows(made.lengths, made.indices[:n].copy(), made.weights[:n].copy())


def links_of_clusters(rows: Rows, labels: np.ndarray, k: int, layers: tuple[np.ndarray, ...] = ()) -> Rows:
    """The links between k clusters, without links inside a cluster; in blocks, on all threads.

    layers : as `Objective` has them.
    """
    starts, entries = np.zeros((2, k + 1), np.int64)
    nodes = np.empty(len(labels), np.int32)
    loops.group_members(labels, rows.indptr, starts, entries, nodes)
    blocks = entry_blocks(entries, ENTRIES_PER_BLOCK)
    most_entries = np.add.reduceat(np.minimum(np.diff(entries), k), blocks[:-1]) + 1
    members = loops.Members(labels, starts, nodes, layers)
    return Rows(*rows_in_blocks(loops.link_clusters, blocks, most_entries, rows, members))


def rows_of_entries(row: np.ndarray, column: np.ndarray, weights: np.ndarray, n: int) -> Rows:
    """Rows of n nodes from entries; the weights of equal entries are summed."""
    links = sparse.coo_array((weights, (row, column)), shape=(n, n)).tocsr()
    return Rows(links.indptr.astype(np.int64), links.indices.astype(np.int32), links.data)
