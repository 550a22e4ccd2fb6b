"""Where a search begins that is given labels: those of any origin, or those of a clustering whose graph was edited.

After edits the sums of the clusters follow from the earlier ones, so that no edge that stays is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.engine.connectivity import connect
from graphclust.engine.engine import SPARE_ENTRIES
from graphclust.engine.levels import Run, n_entries, number_used, with_sums
from graphclust.engine.local_moving import refine
from graphclust.engine.v_cycle import v_cycle
from graphclust.errors import GraphValidationError
from graphclust.graph.container import Graph
from graphclust.objective.labels import labels_of_some, number_labels
from graphclust.objective.objective import OBJECTIVE_SPECS
from graphclust.results.label_matching import as_ids, number_ids
from graphclust.updates.edits import EditedGraph, places_of, ranges
from graphclust.updates.warm_start import EarlierLevels

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering

Labels = npt.NDArray[np.int64]


def ids_of_start(graph: Graph, start: Any) -> Labels:
    """The number of the cluster that each node begins in, int64, shape (n_nodes,), -1 for none; see `communities`."""
    if hasattr(start, "ids") and hasattr(start, "nodes"):
        coarsest = (start.levels[0], start.ids[0]) if hasattr(start, "levels") else (start.labels, start.ids)
        start = dict(zip(start.nodes, np.append(coarsest[1], -1)[coarsest[0]].tolist(), strict=True))
    labels, n = labels_of_some(graph, start, "start"), graph.n_nodes
    if labels.shape != (n,):
        raise GraphValidationError(f"start has shape {labels.shape}, expected a label for each of the {n} nodes")
    return as_ids(labels if labels.dtype.kind in "iu" else number_labels(labels, len(labels), "start"), "start")


def partition_from_start(ids: Labels, task: Task, run: Run, may_part: bool = False) -> Partition:
    """The partition of the finest level that is made from clusters with these ids, by moves and a V-cycle inside them.

    Nodes without an id begin alone, and so do those of clusters above `task.most`. may_part : whether clusters need not
    be connected.
    """
    labels, level = number_ids(ids)[1].astype(np.int64), run.finest
    if level.terms.size is not None:
        labels[(np.bincount(labels + 1, level.terms.size) > task.most)[labels + 1]] = -1
    alone = np.flatnonzero(labels < 0)
    labels[alone] = len(labels) + np.arange(len(alone))
    own, k = number_used(labels)
    partition = with_sums(level, own, k, run)
    if n_entries(level) <= SPARE_ENTRIES:  # on larger levels the V-cycle's own moves are enough
        partition = refine(level, partition, task, run)
    partition = v_cycle(level, partition, task, task.objective.penalty, run)
    return partition if may_part else connect(level, partition, task, run)


def levels_from(graph: Graph, ids: Labels) -> EarlierLevels:
    """The same as the coarsest of earlier levels."""
    return EarlierLevels([number_ids(ids)[1].astype(np.int64)], np.maximum(np.diff(graph.indptr), 1))


LEAST_LEFT = 1e-3  # of the volume of a cluster: of its cut a difference then keeps some twelve digits


def start_labels(graph: Graph, kept: Labels, n_before: int, k: int) -> Labels:
    """Labels of all nodes; a node without one becomes a cluster or, if k is given, joins its neighbors' cluster."""
    alone, labels = np.flatnonzero(kept < 0), kept.copy()
    if not k:
        labels[alone] = n_before + np.arange(len(alone))
        return labels
    while len(alone):
        choices = _nearest_clusters(graph, labels, alone)
        if choices.max() < 0:
            choices[:] = int(np.bincount(labels[labels >= 0], minlength=1).argmin())
        labels[alone] = choices
        alone = alone[choices < 0]
    sizes = np.bincount(labels, minlength=k)
    empty = np.flatnonzero(sizes == 0).tolist()
    while empty:  # an empty cluster gets a node of the largest one
        largest = np.flatnonzero(labels == sizes.argmax())
        taken = largest[: min(len(empty), len(largest) - 1)]
        labels[taken] = [empty.pop() for _ in taken]
        sizes = np.bincount(labels, minlength=k)
    return labels


def _nearest_clusters(graph: Graph, labels: Labels, nodes: npt.NDArray[np.int64]) -> Labels:
    """The cluster to which each of some nodes has most weight, the first of several, -1 for none."""
    starts, lengths = graph.indptr[nodes], graph.indptr[nodes + 1] - graph.indptr[nodes]
    place, which = ranges(starts, lengths), np.repeat(np.arange(len(nodes)), lengths)
    near = labels[graph.indices[place]]
    weights = np.ones(len(place)) if graph.weights is None else graph.weights[place]
    width = int(labels.max(initial=0)) + 1
    keys, inverse = np.unique((which * width + near)[near >= 0], return_inverse=True)
    order = np.lexsort((-keys, np.bincount(inverse, weights[near >= 0], len(keys))))
    nearest = np.full(len(nodes), -1, np.int64)
    nearest[keys[order] // width] = keys[order] % width  # of several the last one stays
    return nearest


class Start(NamedTuple):
    """A partition to begin with, and which nodes may gain by a move, bool, shape (n,).

    may_part : bool, shape (n,); each cluster that the edits may have disconnected has one of these nodes. None for all.
    """

    partition: Partition
    waits: npt.NDArray[np.bool_]
    may_part: npt.NDArray[np.bool_] | None = None


def start_from(
    clustering: Clustering, edit: EditedGraph, nodes: Labels, before: Labels, labels: Labels, run: Run,
    looked_at: npt.NDArray[np.bool_] | None = None, *, is_free: bool = True,
) -> Start:  # fmt: skip
    """The start from labels of some nodes of the edited graph, numbered without gaps, and the sums of the clusters.

    before : the labels that these nodes had, -1 for none. is_free : whether clusters were connected; where k is given,
    one may hold a component of its own, which a new edge links to another cluster.

    The sums follow from the earlier sums and the changed edges, and only nodes that lost weight to their cluster or won
    weight to another may gain. If nodes that had edges have changed their cluster, a pass over the rows makes the sums,
    and all nodes with changed edges may gain; so if a cluster lost nearly all of its weight, since its sums would be
    little but round-off. If edges changed that are not listed, the nodes `looked_at` may gain.
    """
    (own, k), has_changed = number_used(labels), edit.n_changed[nodes] > 0
    if looked_at is not None or edit.layered is not None:
        waits = has_changed | (before != labels) if looked_at is None else looked_at[nodes]
        return Start(with_sums(run.finest, own, k, run), waits)
    graph = run.graph or edit.graph.subgraph(nodes)
    volume, size = np.bincount(own, graph.degrees, k), np.bincount(own, minlength=k)
    label_of = np.empty(k, np.int64)
    label_of[own] = labels
    volume_before = np.append(clustering.volume, 0.0)[np.minimum(label_of, clustering.n_clusters)]
    is_lost = (volume < LEAST_LEFT * volume_before) & (volume > 0.0)
    has_moved = before != labels
    needs_sums = has_moved & ((before >= 0) | (size[own] > 1))  # a node that is alone, as before, left no cluster
    left = edit.before[nodes[needs_sums]]
    if is_lost.any() or clustering.graph.degrees[left[left >= 0]].any():
        return Start(with_sums(run.finest, own, k, run), has_changed | has_moved)
    cut, waits, may_part = _cuts_after(clustering, edit, nodes, labels, graph, is_free)
    cut = np.where(volume > 0.0, cut[label_of], 0.0)
    alone = np.flatnonzero(size[own] == 1)
    cut[own[alone]] = graph.degrees[alone] - graph.loops[alone]
    made_of = OBJECTIVE_SPECS[clustering.objective]
    inside = made_of.inside(cut, volume)
    mass = volume.copy() if made_of.by_degree else np.bincount(own, run.finest.terms.mass, k)
    is_new = edit.before[nodes] < 0
    return Start(Partition(own, ClusterSums(inside, mass, size)), waits | is_new, may_part | is_new)


def _cuts_after(
    clustering: Clustering, edit: EditedGraph, nodes: Labels, labels: Labels, graph: Graph, is_free: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The cut of each cluster after the edits, in which removed nodes still count.

    Which nodes lost weight to their cluster, or won weight to another; and of each cluster that the edits may have
    disconnected one node: it lost a node, or an edge between two that no other of its nodes links.

    graph : between the nodes.
    """
    source, target, weight = edit.changes
    n_before, rows = len(clustering.labels), edit.rows[nodes]
    n_rows = 1 + max(int(values.max(initial=n_before - 1)) for values in (rows, source, target))
    cluster, waits, may_part = np.full(n_rows, -1, np.int64), *np.zeros((2, n_rows), np.bool_)
    cluster[:n_before] = clustering.labels
    cluster[rows] = labels
    cut = np.zeros(max(int(labels.max()) + 1, clustering.n_clusters) + 1)  # the last is for nodes in no cluster
    inside = clustering.sums.inside  # as a model holds it: an update of that rounds as one of the clustering does
    cut[: clustering.n_clusters] = OBJECTIVE_SPECS[clustering.objective].inside(inside, clustering.volume)
    crosses = cluster[source] != cluster[target]
    loosens = crosses == (weight > 0.0)
    for ends in (source, target):
        waits[ends[loosens]] = True
        of = cluster[ends[crosses]]
        cut += np.bincount(np.where(of < 0, len(cut) - 1, of), weight[crosses], len(cut))
    u, v = source[loosens & ~crosses], target[loosens & ~crosses]
    at = np.searchsorted(rows, u), np.searchsorted(rows, v)
    stay = (np.append(rows, -1)[at[0]] == u) & (np.append(rows, -1)[at[1]] == v)
    linked = np.zeros(len(u), np.bool_)
    linked[stay] = _share_neighbors(graph, labels, at[0][stay], at[1][stay])
    may_part[u[~linked]] = may_part[v[~linked]] = True
    if not is_free:
        may_part[source[crosses]] = may_part[target[crosses]] = True
    return cut[:-1], waits[rows], may_part[rows]


def _share_neighbors(graph: Graph, labels: Labels, u: Labels, v: Labels) -> npt.NDArray[np.bool_]:
    """Whether pairs of nodes of one cluster are neighbors or have one in it in common; none where there are many."""
    shared, starts, ends = np.zeros(len(u), np.bool_), graph.indptr[:-1], graph.indptr[1:]
    u, v = np.where(ends[u] - starts[u] <= ends[v] - starts[v], (u, v), (v, u))
    lengths = ends[u] - starts[u]
    if 8 * lengths.sum() > graph.n_nodes:  # to check all clusters takes less than so many searches
        return shared
    pair, near = np.repeat(np.arange(len(u)), lengths), graph.indices[ranges(starts[u], lengths)]
    _, is_there = places_of(graph, v[pair], near.astype(np.int64))
    shared[pair[(is_there | (near == v[pair])) & (labels[near] == labels[u][pair])]] = True
    return shared
