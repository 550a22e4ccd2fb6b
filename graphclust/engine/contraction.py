"""Contraction of a level, whose clusters become the nodes of a coarser one, and agglomeration of nodes pair by pair.

A graph that is larger than memory is read in the order of the file. Up to some thousand clusters, one pass sums the
weights between all of them in a table. For more clusters neither the table nor a list of the linked pairs would fit:
the weights are estimated from runs of rows, spread over the file.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from graphclust.compiled.graphs import agglomeration as merging
from graphclust.compiled.graphs import contraction as loops
from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms, loads_of
from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.runtime.blocks import MadeRows, entry_blocks, rows_in_blocks, run_in_blocks
from graphclust.engine.levels import Run, is_small, n_entries, read_only_level

NO_GAINS, NO_PAIRS = np.empty(0), np.empty((0, 2), np.int32)
ROUND_OFF = 1e-12  # of the weight between two clusters
ENTRIES_PER_LOOK = 1 << 21  # some tenths of a second between two looks at the progress hook, and at Ctrl-C
ENTRIES_PER_BLOCK = 1 << 21  # a block has scratch of the size of the coarse level
STREAMED = 1 << 28  # entries from which a graph is read in order
MOST_IN_A_TABLE = 6_144  # clusters: 300 MB a lane
LANES = 2  # halves of the rows that are summed side by side, each into a table of its own
ENTRIES_PER_STEP = 1 << 24  # of a lane, between two moments at which Ctrl-C is heard
# Entries of a sample: an eighth of the smallest graph that is sampled. Consecutive rows of a run: long runs are read
# faster, short ones come from more places of the file.
SAMPLED, RUN = 1 << 25, 64
ESTIMATED = (
    f"weights between more than {MOST_IN_A_TABLE:,} regions may have been estimated from a sample of the graph's rows, "
    "so that the merging of regions is not exact; moves of single nodes are"
)
FindRegions = Callable[[Level, np.ndarray | None], Partition | None]  # of a level whose nodes have these parts


class Contraction(NamedTuple):
    """A level, the region of each of its nodes, and the level of the regions."""

    fine: Level
    regions: Partition
    coarse: Level

    def project(self, partition: Partition) -> Partition:
        """A partition of the regions as one of the nodes; the sizes are still those of the regions."""
        return Partition(partition.labels[self.regions.labels], partition.sums)

    def restrict(self, partition: Partition) -> Partition:
        """A partition of the nodes, none of which parts a region, as one of the regions."""
        labels = np.empty(len(self.regions.sums.size), np.int32)
        labels[self.regions.labels] = partition.labels
        return Partition(labels, partition.sums)


def contractions(
    level: Level, find: FindRegions, run: Run, within: np.ndarray | None = None, skipped: float = np.inf
) -> list[Contraction]:
    """Contractions of a level, of the next one, and so on, to regions inside parts, until `find` makes none.

    within : the part of each node, if there are any.
    skipped : a level that holds more than this share of the entries of the level before is not kept.
    """
    steps: list[Contraction] = []
    while (regions := find(level, within)) is not None:
        # Such a level costs nearly what the finer one does: its regions are put on that one directly.
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


def restricted(steps: Sequence[Contraction], partition: Partition) -> Partition:
    """A partition of the nodes, none of which parts a region, as one of the last contraction's regions."""
    for step in steps:
        partition = step.restrict(partition)
    return partition


def contract(level: Level, regions: Partition, run: Run) -> Contraction:
    """The level of the regions; the links of a very large level are summed in the order of its rows, or estimated."""
    k = len(regions.sums.size)
    run.reads(level, n_entries(level))
    if is_small(level):
        return Contraction(level, regions, read_only_level(*loops.contract(level, regions)))
    if n_entries(level) >= STREAMED and run.graph is not None and not level.terms.layers:
        made = links_in_order(level.rows, regions.labels, k, run.graph.degrees)
    else:
        made = links_of_clusters(level.rows, regions.labels, k, level.terms.layers)
    size = loads_of(level.terms.size, regions.labels, k)
    terms = Terms(regions.sums.inside, regions.sums.mass, size, level.terms.layers)
    return Contraction(level, regions, read_only_level(made, terms))


def links_of_nodes(
    rows: Rows, labels: np.ndarray, k: int, nodes: np.ndarray, layers: tuple[np.ndarray, ...] = ()
) -> MadeRows:
    """The links that some nodes, sorted by cluster, add between k clusters, from their rows; labels : of all nodes."""
    of_node = labels[nodes]
    starts = np.concatenate([[0], np.cumsum(np.bincount(of_node, minlength=k))])
    lengths = np.bincount(of_node, weights=rows.indptr[nodes + 1] - rows.indptr[nodes], minlength=k)
    most = int(np.minimum(lengths, k).sum()) + 1
    made = MadeRows(np.zeros(k, np.int64), np.empty(most, np.int32), np.empty(most))
    n = loops.link_clusters(0, k, 0, made, rows, loops.Members(labels, starts, nodes.astype(np.int32), layers))
    return MadeRows(made.lengths, made.indices[:n].copy(), made.weights[:n].copy())


def links_of_clusters(rows: Rows, labels: np.ndarray, k: int, layers: tuple[np.ndarray, ...] = ()) -> Rows:
    """The links between k clusters, without links inside a cluster; in blocks, on all threads."""
    starts, nodes, entries = loops.group_members(labels, rows.indptr, k)
    blocks = entry_blocks(entries, ENTRIES_PER_BLOCK)
    most_entries = np.add.reduceat(np.minimum(np.diff(entries), k), blocks[:-1]) + 1
    members = loops.Members(labels, starts, nodes, layers)
    return Rows(*rows_in_blocks(loops.link_clusters, blocks, most_entries, rows, members))


def rows_of_entries(row: np.ndarray, column: np.ndarray, weights: np.ndarray, n: int) -> Rows:
    """Rows of n nodes from entries; the weights of equal entries are summed."""
    links = sparse.coo_array((weights, (row, column)), shape=(n, n)).tocsr()
    return Rows(links.indptr.astype(np.int64), links.indices.astype(np.int32), links.data)


def is_estimate(n_entries: int, k: int) -> bool:
    """Whether the links between k clusters are estimated from a sample of the rows."""
    return n_entries >= max(STREAMED, SAMPLED + 1) and k > MOST_IN_A_TABLE


def links_in_order(rows: Rows, labels: np.ndarray, k: int, degrees: np.ndarray) -> Rows:
    """The links between k clusters in one pass over the rows; degrees : by which a sample of the rows is scaled."""
    if is_estimate(len(rows.indices), k):
        links = _estimate(rows, labels, np.bincount(labels, weights=degrees, minlength=k))
    else:
        links = sparse.csr_array(_table(rows, labels, k))
    between = sparse.csr_array(links - sparse.dia_array((links.diagonal()[None, :], [0]), shape=links.shape))
    between.eliminate_zeros()
    between.sort_indices()
    return Rows(between.indptr.astype(np.int64), between.indices.astype(np.int32), between.data)


def _table(rows: Rows, labels: np.ndarray, k: int) -> np.ndarray:
    """Weight between any two clusters, (k, k)."""
    n_entries, n = len(rows.indices), len(labels)
    links = np.zeros((LANES, k, k))
    lanes = np.unique(np.searchsorted(rows.indptr, n_entries * np.arange(LANES) // LANES))
    lanes = np.append(lanes[lanes < n], n)
    n_parts = 1 + n_entries // (LANES * ENTRIES_PER_STEP)
    for part in range(n_parts):
        run_in_blocks(loops.add_links, lanes, part, n_parts, rows, labels, links)
    for lane in range(1, LANES):
        links[0] += links[lane]
    return links[0]


def _estimate(rows: Rows, labels: np.ndarray, volumes: np.ndarray) -> sparse.csr_array:
    """Weight between clusters in runs of rows, scaled up to the volumes."""
    k, n_entries = len(volumes), len(rows.indices)
    starts = np.arange(0, len(labels), RUN)[:: -(-n_entries // SAMPLED)]
    ends = np.minimum(starts + RUN, len(labels))
    keys = np.empty(int((rows.indptr[ends] - rows.indptr[starts]).sum()), np.int64)
    weights, place = [rows.weights[:0]], 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):  # of each entry own cluster k + the other's
        entries, lengths = slice(rows.indptr[start], rows.indptr[end]), np.diff(rows.indptr[start : end + 1])
        own, other = np.repeat(labels[start:end].astype(np.int64), lengths), labels[rows.indices[entries]]
        keys[place : place + len(own)] = own * k + other
        weights.append(rows.weights[entries])
        place += len(own)
    sums: np.ndarray
    if len(rows.weights):
        order = np.argsort(keys, kind="stable")
        keys, first = np.unique(keys[order], return_index=True)
        sums = np.add.reduceat(np.concatenate(weights)[order], first)
    else:
        keys, sums = np.unique(keys, return_counts=True)
    seen = sparse.csr_array((sums.astype(np.float64), (keys // k, keys % k)), shape=(k, k))
    read = np.asarray(seen.sum(axis=1)).ravel()
    scale = np.divide(volumes, 2.0 * read, out=np.zeros(k), where=read > 0)
    scaled = sparse.dia_array((scale[None, :], [0]), shape=(k, k)) @ seen
    return sparse.csr_array(scaled + scaled.T)


def unite_ties(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition after unions of linked clusters that lose nothing beyond round-off: as good, with fewer clusters.

    A union within ROUND_OFF of a tie gains at a penalty that is lower by ROUND_OFF. Nothing is united where the links
    between clusters are estimates.
    """
    k, objective = len(partition.sums.size), task.objective
    if k == 1 or is_estimate(n_entries(level), k):
        return partition
    step = contract(level, partition, run)
    lower = task._replace(objective=objective._replace(penalty=objective.penalty * (1.0 - ROUND_OFF)), least=0.0)
    united = agglomerate(step.coarse, lower, run)
    return partition if len(united.sums.size) == k else step.project(united)


def agglomerate(
    level: Level, task: Task, run: Run, gains: np.ndarray = NO_GAINS, pairs: np.ndarray = NO_PAIRS
) -> Partition:
    """The nodes merged into `task.k` clusters; if that is 0, while a union gains.

    gains : if of shape (n,), gains[t] becomes the gain of the union that leaves t clusters, for linked pairs.
    pairs : if of shape (n, 2), pairs[t] becomes the two clusters of that union, each named by one of its nodes: the
        one that ends, and the one that goes on under its name.
    """
    n = len(level.terms.mass)
    if is_small(level):
        return merging.agglomerate(level, task, gains, pairs)
    chains, merger = merging.chains_of(level.rows), merging.merger_of(level.terms, task, gains, pairs)
    while not merging.merge_pairs(ENTRIES_PER_LOOK, task.k, task.objective, chains, merger):
        run.progress.step(n - int(merger.state[2]), n - task.k)
    return merging.partition_of(merger)
