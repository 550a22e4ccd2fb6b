"""Partitions made from earlier ones: clusters stay as they are unless a change raises the value.

1. Clusters with many changed edges are opened: the engine partitions them again, with all other clusters as single
   nodes.
2. Nodes with changed edges, and neighbors of nodes that changed their cluster, move.
3. Disconnected parts of clusters are separated.

Only the rows of these nodes are read, so that the time grows with the number of changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms
from graphclust.compiled.graphs.objective import ClusterSums, Rows
from graphclust.engine.connectivity import connect, find_connected_parts, join_parts
from graphclust.engine.contraction import Contraction, contract, links_of_nodes
from graphclust.engine.engine import EFFORTS, FEW, SPARE_ENTRIES, number_to_spare, search, unite_any, with_all_pairs
from graphclust.engine.family_tree import evolve
from graphclust.engine.levels import Run, is_small, n_entries, number_used, read_only_level, with_sums
from graphclust.engine.local_moving import refine
from graphclust.engine.resolution import schedule_for_any_number
from graphclust.engine.v_cycle import first_v_cycle, v_cycle
from graphclust.graph.container import Graph
from graphclust.results.label_matching import find_unchanged, overlap_of
from graphclust.updates.edits import ranges

Labels = npt.NDArray[np.int32]
SHARE = 1.0  # of the entries of a cluster: so many changes open it once on average; 0.5 is as good and a tenth slower
SHARE_OF_SMALL = 0.05  # the same on a level of up to SPARE_ENTRIES, on which the work takes milliseconds
SHARE_OF_ALL = 0.05  # of all entries, for all clusters at once and new partitions, on a level of one compiled call


class EarlierLevels(NamedTuple):
    """The levels before edits.

    levels : labels of the nodes on each level, -1 for new nodes; shape (n,) each, coarsest first.
    n_changed : how many edges of each node changed, shape (n,).
    """

    levels: Sequence[npt.NDArray[np.int64]]
    n_changed: npt.NDArray[np.int64]

    def at(self, nodes: npt.NDArray[np.int64]) -> EarlierLevels:
        """The same of some of the nodes."""
        return EarlierLevels([labels[nodes] for labels in self.levels], self.n_changed[nodes])

    def start(self, depth: int, inside: Labels | None = None) -> Labels:
        """Labels 0, 1, ... of a level, intersected with the clusters `inside`; each new node is a cluster by itself."""
        if depth >= len(self.levels):
            return np.zeros(len(self.n_changed), np.int32) if inside is None else inside
        labels = self.levels[depth].copy()
        is_new = labels < 0
        labels[is_new] = int(labels.max(initial=-1)) + 1 + np.arange(np.count_nonzero(is_new))
        if inside is not None:
            labels = labels + inside.astype(np.int64) * (int(labels.max()) + 1)
        return number_used(labels)[0].astype(np.int32)


def restart(
    level: Level, partition: Partition, n_changed: npt.NDArray[np.int64], task: Task, run: Run,
    waits: npt.NDArray[np.bool_] | None = None, may_part: npt.NDArray[np.bool_] | None = None,
) -> Partition:  # fmt: skip
    """A partition of a level from an earlier one, after so many edges of each node changed; the value does not fall.

    waits : which nodes may gain by a move; by default those with changes. may_part : bool, shape (n,); each cluster
    that may be disconnected has one of these nodes; by default any cluster may be.

    A cluster is opened with a probability equal to the share of its entries that changed, over `SHARE`. So earlier
    edits need not be recorded: many small edits open a cluster as often as a large one. So are all on a level of one
    compiled call, by the share of all entries over `SHARE_OF_ALL`, and beside them there are new partitions: unions and
    splits of several clusters are not found from one.
    """
    k, before = len(partition.sums.size), partition.labels
    nodes = np.flatnonzero(n_changed)
    changed = np.bincount(partition.labels[nodes], weights=n_changed[nodes], minlength=k)
    entries = np.bincount(partition.labels, weights=np.diff(level.rows.indptr), minlength=k)
    is_few = n_entries(level) <= SPARE_ENTRIES
    share = SHARE_OF_SMALL if is_few else SHARE
    is_open = changed > share * entries * run.rng.random(k)
    whole, draw = changed.sum() / max(SHARE_OF_ALL * entries.sum(), 1.0), run.rng.random()
    opens_all = bool(is_small(level) and waits is not None and draw < whole < 1.0)  # not inside the clusters of a level
    is_open |= opens_all
    partition, moved = repartition(level, partition, is_open, task, run)
    waits = n_changed > 0 if waits is None else waits.copy()
    mark_neighbors(level, moved, waits)
    partition = refine(level, partition, task, run, nodes=None if is_few else np.flatnonzero(waits))
    is_full = is_few and task.most < np.inf and bool(waits.any())  # few moves are left where clusters are full
    if not task.k and (is_full or opens_all):
        n_new = max(number_to_spare(level, SPARE_ENTRIES), 0 if is_full else 1)
        partition = evolve(level, partition, schedule_for_any_number(task), n_new, run)
    if level.terms.layers:  # the caller connects
        return partition
    return connect_near(
        level, partition, task, run, None if may_part is None else has_changed(partition.labels, before, may_part)
    )


def search_from(
    partition: Partition, n_changed: npt.NDArray[np.int64], task: Task, run: Run,
    waits: npt.NDArray[np.bool_] | None = None, may_part: bool = False,
) -> Partition:  # fmt: skip
    """`restart` on a graph with layers; on a small one there are new partitions beside it, as of one that is new.

    may_part : whether clusters need not be connected.
    """
    level = with_all_pairs(run.finest) if may_part and (task.k or len(partition.labels) <= FEW) else run.finest
    if n_entries(run.finest) > SPARE_ENTRIES:
        partition = restart(level, partition, n_changed, task, run, waits)
    else:
        cycles = EFFORTS["normal"].asked if task.k else EFFORTS["normal"].free
        schedule, pool = schedule_for_any_number(task), [refine(level, partition, task, run)]
        tries = [partial(first_v_cycle, level, schedule, turn) for turn in range(cycles.first)]
        partition, _ = search(level, [], pool, tries, schedule, cycles, 0, run)
    if not may_part:
        return connect(level, partition, task, run)
    return partition if task.k else unite_any(level, partition, task, run)


def restart_labels(
    run: Run, labels: Labels, n_changed: npt.NDArray[np.int64], task: Task, may_part: bool = False
) -> Labels:
    """`restart` on the finest level, or `search_from` of a graph with layers, from labels 0..k-1, all used."""
    partition = with_sums(run.finest, labels, int(labels.max()) + 1, run)
    if task.objective.layers:
        return search_from(partition, n_changed, task, run, may_part=may_part).labels
    return restart(run.finest, partition, n_changed, task, run).labels


def repartition(
    level: Level, partition: Partition, is_open: npt.NDArray[np.bool_], task: Task, run: Run
) -> tuple[Partition, npt.NDArray[np.int64]]:
    """The partition after a V-cycle in which each closed cluster is a single node; and the nodes that it moved.

    is_open : which clusters are open, shape (k,).
    """
    nodes = np.flatnonzero(is_open[partition.labels])
    if not len(nodes):
        return partition, nodes
    penalty = task.objective.penalty or run.totals.chance * task.k / 2.0  # small regions, for a ratio
    if is_open.all():
        return v_cycle(level, refine(level, partition, task, run), task, penalty, run), nodes
    if n_entries(level) <= SPARE_ENTRIES or level.terms.layers:
        n_closed = int(np.count_nonzero(~is_open))
        regions = (np.cumsum(~is_open, dtype=np.int32) - np.int32(1))[partition.labels]
        regions[nodes] = n_closed + np.arange(len(nodes), dtype=np.int32)
        step = contract(level, with_sums(level, regions, n_closed + len(nodes), run), run)
    else:
        step = take_out(level, partition, nodes, np.arange(len(nodes)), run)
    before = step.restrict(partition)
    after = v_cycle(step.coarse, refine(step.coarse, before, task, run), task, penalty, run)
    moved = find_moved(before, after)
    return step.project(after), nodes[moved[step.regions.labels[nodes]]]


def find_moved(before: Partition, after: Partition) -> npt.NDArray[np.bool_]:
    """Whether each node left its cluster: it is in another one than most members of the earlier cluster; shape (n,)."""
    pairs = overlap_of(after.labels, len(after.sums.size), before.labels, len(before.sums.size)).tocoo()
    order = np.lexsort((pairs.data, pairs.row))
    most = order[np.append(np.diff(pairs.row[order]) > 0, True)]
    follows = pairs.col[most]
    return follows[before.labels] != after.labels


def take_out(
    level: Level, partition: Partition, nodes: npt.NDArray[np.int64], regions: npt.NDArray[np.int64], run: Run
) -> Contraction:
    """The level in which some nodes are taken out of their clusters into regions, and the rest of each is one node.

    regions : of each of the nodes, 0, 1, ... without gaps, each inside one cluster. Links between the rests of two
    clusters are left out: only the rows of the nodes are read.
    """
    labels, sums, terms = partition.labels, partition.sums, level.terms
    k, n_regions = len(sums.size), int(regions.max()) + 1
    size = np.bincount(labels, minlength=k) - np.bincount(labels[nodes], minlength=k)
    rest, cluster_of_region = size > 0, np.empty(n_regions, np.int64)
    cluster_of_region[regions] = labels[nodes]
    n_rests = int(np.count_nonzero(rest))
    cluster_of, k_all = np.concatenate([np.flatnonzero(rest), cluster_of_region]), n_rests + n_regions
    of_node = (np.cumsum(rest, dtype=np.int32) - np.int32(1))[labels]
    of_node[nodes] = n_rests + regions
    lengths, other, weights = links_of_nodes(level.rows, of_node, k_all, nodes[np.argsort(regions, kind="stable")])
    run.reads(level, int(np.diff(level.rows.indptr)[nodes].sum()))
    of_regions = np.repeat(cluster_of_region, lengths[n_rests:])
    stays = cluster_of[other] == of_regions
    is_twice = 1.0 + (other[stays] < n_rests)  # those to a rest are stored in its rows too
    loops = np.bincount(regions, terms.loops[nodes]) + _weight_inside(level.rows, nodes, of_node, regions)
    lost = np.bincount(of_regions[stays], weights[stays] * is_twice, k) + np.bincount(cluster_of_region, loops, k)
    mass = np.bincount(regions, terms.mass[nodes])
    inside = np.concatenate([(sums.inside - lost)[rest], loops])
    mass = np.concatenate([(sums.mass - np.bincount(cluster_of_region, mass, k))[rest], mass])
    load = None if terms.size is None else np.bincount(of_node, terms.size, k_all)
    made = Partition(of_node, ClusterSums(inside, mass, np.concatenate([size[rest], np.bincount(regions)])))
    links = _add_rows_of_rests(n_rests, lengths[n_rests:], other, weights)
    return Contraction(level, made, read_only_level(links, Terms(inside, mass, load)))


def _weight_inside(
    rows: Rows, nodes: npt.NDArray[np.int64], of_node: Labels, regions: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The weight inside each region, both ways, without loops of nodes."""
    n_regions = int(regions.max()) + 1
    if n_regions == len(nodes):
        return np.zeros(n_regions)
    lengths = np.diff(rows.indptr)[nodes]
    place, source = ranges(rows.indptr[nodes], lengths), np.repeat(nodes, lengths)
    target = rows.indices[place]
    inner = (of_node[source] == of_node[target]) & (source != target)
    weights = rows.weights[place[inner]] if len(rows.weights) else None
    return np.bincount(np.repeat(regions, lengths)[inner], weights, n_regions).astype(np.float64)


def _add_rows_of_rests(
    n_rests: int, lengths: npt.NDArray[np.int64], other: Labels, weights: npt.NDArray[np.float64]
) -> Rows:
    """Rows of rests and regions, from those of the regions."""
    from scipy import sparse

    region, to_rest = np.repeat(np.arange(len(lengths)), lengths), np.flatnonzero(other < n_rests)
    starts = np.concatenate([[0], np.cumsum(np.bincount(region[to_rest], minlength=len(lengths)))])
    back = sparse.csr_array((weights[to_rest], other[to_rest], starts), shape=(len(lengths), n_rests)).tocsc()
    indptr = np.concatenate([back.indptr, back.indptr[-1] + np.cumsum(lengths)]).astype(np.int64)
    indices = np.concatenate([back.indices + n_rests, other]).astype(np.int32)
    return Rows(indptr, indices, np.concatenate([back.data, weights]))


def mark_neighbors(level: Level, nodes: npt.NDArray[np.int64], marks: npt.NDArray[np.bool_]) -> None:
    """Mark some nodes and their neighbors."""
    rows = level.rows
    marks[nodes] = True
    marks[rows.indices[ranges(rows.indptr[nodes], np.diff(rows.indptr)[nodes])]] = True


def has_changed(
    labels: npt.NDArray[np.integer], before: npt.NDArray[np.integer], marks: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Whether each cluster has a marked node, or differs from every cluster before; label -1 is for none."""
    changed = find_unchanged(before, int(before.max(initial=-1)) + 1, labels, int(labels.max()) + 1) < 0
    changed[labels[marks]] = True
    return changed


def parts_of_some(
    level: Level, partition: Partition, taken: npt.NDArray[np.bool_], run: Run
) -> tuple[npt.NDArray[np.int32], int]:
    """`find_connected_parts` if all clusters but those `taken`, bool (k,), are connected: their rows are not read.

    A pass over all rows looks at a few entries of each node: it is taken where the rows of these clusters hold more.
    """
    nodes, (indptr, indices, _) = np.flatnonzero(taken[partition.labels]), level.rows
    n_read = int((indptr[nodes + 1] - indptr[nodes]).sum())
    if n_read > len(partition.labels):
        return find_connected_parts(level, partition, run)
    parts, n_whole = (np.cumsum(~taken, dtype=np.int32) - np.int32(1))[partition.labels], int(np.count_nonzero(~taken))
    if not len(nodes):
        return parts, n_whole
    run.reads(level, n_read)
    inner = Graph(indptr, indices, None, level.terms.mass, level.terms.loops).subgraph(nodes)
    own = Partition(number_used(partition.labels[nodes])[0], partition.sums)
    inside, n_inside = find_connected_parts(read_only_level(inner.rows, level.terms), own, run)
    parts[nodes] = np.int32(n_whole) + inside
    return parts, n_whole + n_inside


def connect_near(
    level: Level, partition: Partition, task: Task, run: Run, may_part: npt.NDArray[np.bool_] | None = None
) -> Partition:
    """`connect` for a partition with few disconnected clusters: only the rows of the small parts are read.

    may_part : which clusters may be disconnected, bool, shape (k,); by default any.
    """
    for refines_left in (True, False):
        if may_part is None or not refines_left:
            parts, n_parts = find_connected_parts(level, partition, run)
        else:
            parts, n_parts = parts_of_some(level, partition, may_part, run)
        if n_parts == len(partition.sums.size):
            break
        mass, of_part = np.bincount(parts, level.terms.mass, n_parts), np.empty(n_parts, np.int64)
        of_part[parts] = partition.labels
        order = np.lexsort((-mass, of_part))
        is_small = np.ones(n_parts, bool)
        is_small[order[np.diff(of_part[order], prepend=-1) > 0]] = False
        nodes = np.flatnonzero(is_small[parts])
        step = take_out(level, partition, nodes, (np.cumsum(is_small) - 1)[parts[nodes]], run)
        apart = Partition(np.arange(n_parts, dtype=np.int32), step.regions.sums)
        is_home = np.arange(n_parts) < n_parts - np.count_nonzero(is_small)  # the rests come first
        joined = join_parts(step.coarse, is_home, step.restrict(partition).labels, task) if task.k else apart
        if joined is None:
            break
        labels = step.project(joined).labels
        size = np.bincount(labels, minlength=len(joined.sums.size))
        partition = Partition(labels, joined.sums._replace(size=size))
        if refines_left:
            waits = np.zeros(len(partition.labels), bool)
            mark_neighbors(level, nodes, waits)
            partition = refine(level, partition, task, run, nodes=np.flatnonzero(waits))
    return partition
