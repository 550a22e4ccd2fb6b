"""Connected clusters: parts of a cluster that no edge links become clusters of their own, or join a neighbor."""

import numpy as np

from graphclust.compiled.graphs.components import split_by_connection
from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms, loads_of
from graphclust.compiled.graphs.objective import ClusterSums, Rows
from graphclust.engine.contraction import agglomerate, contract, links_of_nodes
from graphclust.engine.levels import Run, heaviness, mass_by_cluster, number_used, with_sums
from graphclust.engine.local_moving import refine
from graphclust.objective.objective import chance_objective, gain_of_joining

REFINEMENTS = 2  # the moves of each may disconnect clusters again; after the last, parts join a neighbor for good


def connect(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition with connected clusters, as many as before if k is given and the graph allows it.

    If k is free, each connected part becomes a cluster, which raises any additive objective. Else the heaviest part of
    a cluster stays, and each other part joins the neighboring cluster that gains most, or loses least, by it; a part
    that is a component of the graph stays with its cluster, unless each component can be one.
    """
    partition = part_components(level, partition, task, run)
    for _ in range(REFINEMENTS):
        connected = connect_once(level, partition, task, run)
        if connected is partition:
            return partition
        partition = refine(level, connected, task, run)
    return connect_once(level, partition, task, run)


def part_components(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """The partition without clusters that unite components, where sizes have no bounds and each of these can be one.

    As many clusters that edges link are united instead, by their excess, as in a dendrogram. Nodes without mass count
    as one component.
    """
    if task.k == 0 or level.terms.size is not None or run.graph is None or run.graph.n_components == 1:
        return partition
    component = np.where(heaviness(level) > 0.0, run.graph.components + 1, 0).astype(np.int64)
    if number_used(component)[1] > task.k:
        return partition
    parts, n = number_used(partition.labels * (component.max() + 1) + component)
    if n == len(partition.sums.size):
        return partition
    step = contract(level, with_sums(level, parts, n, run), run)
    united = agglomerate(step.coarse, Task(chance_objective(run.totals), task.k), run)
    return refine(level, step.project(united), task, run)


def connect_once(level: Level, partition: Partition, task: Task, run: Run) -> Partition:
    """`connect` without moves of single nodes; only the rows of parts that may join a neighbor are read whole."""
    if task.k == 0:
        return split_disconnected(level, partition, run)
    parts, n = find_connected_parts(level, partition, run)
    if n == len(partition.sums.size):
        return partition
    of_part = np.empty(n, np.int32)
    of_part[parts] = partition.labels
    order = np.lexsort((np.arange(n), -np.bincount(parts, heaviness(level), n)))
    home = order[np.unique(of_part[order], return_index=True)[1]]  # the heaviest part of each cluster
    nodes = np.flatnonzero(home[partition.labels] != parts)
    by_part = nodes[np.argsort(parts[nodes], kind="stable")]
    lengths, indices, weights = links_of_nodes(level.rows, parts, n, by_part, level.terms.layers)
    run.reads(level, int((level.rows.indptr[nodes + 1] - level.rows.indptr[nodes]).sum()))
    if len(indices) == 0:  # all parts are components of the graph
        return partition
    is_kept = lengths > 0
    is_kept[home] = True
    number = np.cumsum(is_kept, dtype=np.int32) - np.int32(1)
    number = number[np.where(is_kept, np.arange(n), home[of_part])]
    kept = with_sums(level, number[parts], int(np.count_nonzero(is_kept)), run)
    rows = Rows(np.concatenate([[0], np.cumsum(lengths[is_kept])]), number[indices], weights)
    load = loads_of(level.terms.size, kept.labels, len(kept.sums.size))
    terms = Terms(kept.sums.inside, kept.sums.mass, load, level.terms.layers)
    is_home = np.zeros(len(kept.sums.size), bool)
    is_home[number[home]] = True
    joined = join_parts(Level(rows, terms), is_home, of_part[is_kept], task)
    if joined is None:
        return partition
    labels = joined.labels[kept.labels]
    return Partition(labels, joined.sums._replace(size=np.bincount(labels, minlength=task.k)))


def join_parts(level: Level, is_home: np.ndarray, of_part: np.ndarray, task: Task) -> Partition | None:
    """A partition of the parts of clusters: the home of each cluster stays, the other parts join a neighbor.

    Heavy parts come first, and join the cluster that gains most, or loses least. If they have sizes, none leaves a
    cluster that would hold too little without it, nor joins one that would hold too much.

    is_home : whether a part is the home of its cluster. of_part : the cluster of each part. None if no part joins any.
    """
    rows, (inside_of, mass_of, size, layers) = level
    k, home = task.k, np.where(is_home, of_part, -1).astype(np.int64)
    inside = np.bincount(of_part[is_home], inside_of[is_home], minlength=k)
    mass = mass_by_cluster(of_part[is_home], mass_of[is_home], k)
    load = np.zeros(k) if size is None else np.bincount(of_part, size, minlength=k)
    waiting = [u for u in np.lexsort((np.arange(len(home)), -heaviness(level))).tolist() if not is_home[u]]
    while waiting:
        left = []
        for u in waiting:
            own, w = int(of_part[u]), 0.0 if size is None else float(size[u])
            entries = slice(rows.indptr[u], rows.indptr[u + 1])
            near = home[rows.indices[entries]]
            link = np.bincount(near[near >= 0], weights=rows.weights[entries][near >= 0], minlength=k)
            to, may_leave = np.flatnonzero(link), load[own] - w >= task.least
            to = to[(to == own) | (may_leave & (load[to] + w <= task.most))]
            if len(to) == 0:
                left.append(u)
                continue
            terms = inside_of[u], mass_of[u]
            gains = [gain_of_joining(task.objective, link[c], *terms, inside[c], mass[c], layers=layers) for c in to]
            c = int(to[np.argmax(gains)])
            home[u] = c
            inside[c] += 2.0 * link[c] + inside_of[u]
            mass[c] += mass_of[u]
            load[c] += w
            load[own] -= w
        if len(left) == len(waiting):
            break
        waiting = left
    alone = np.flatnonzero(home < 0)  # components of the graph, or parts for which no neighbor has room
    if len(alone) == len(of_part) - k:
        return None
    home[alone] = of_part[alone]
    np.add.at(inside, of_part[alone], inside_of[alone])
    np.add.at(mass, of_part[alone], mass_of[alone])
    return Partition(home.astype(np.int32), ClusterSums(inside, mass, np.bincount(home, minlength=k)))


def split_disconnected(level: Level, partition: Partition, run: Run) -> Partition:
    """The partition into the connected parts of all clusters; the same if all clusters are connected."""
    parts, n_parts = find_connected_parts(level, partition, run)
    return partition if n_parts == len(partition.sums.size) else with_sums(level, parts, n_parts, run)


def find_connected_parts(level: Level, partition: Partition, run: Run) -> tuple[np.ndarray, int]:
    """The connected part of its cluster that each node is in, int32, numbered by first node; and how many there are."""
    parts = np.empty(len(partition.labels), np.int32)
    n_parts, n_read = split_by_connection(level.rows, partition.labels, len(partition.sums.size), parts)
    run.reads(level, n_read)
    return parts, n_parts
