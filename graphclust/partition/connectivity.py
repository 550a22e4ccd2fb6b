"""Connected clusters: parts of a cluster that no edge links become clusters of their own, or join a neighbor."""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs.bounds import loads_of
from graphclust.compiled.graphs.levels import Goal, Level, Partition, Terms
from graphclust.compiled.graphs.objective import ClusterSums, Rows
from graphclust.objective.gains import gain_of_joining
from graphclust.partition.contraction import links_of_nodes
from graphclust.partition.levels import Run, with_sums
from graphclust.partition.local_moving import refine
from graphclust.partition.overlay import connected_parts, split_disconnected

REFINEMENTS = 2  # after which moves may have parted clusters anew; the parts that are left then just join neighbors


def connect(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The partition with connected clusters, as many as before where k is given and the graph allows it.

    Where k is free each part becomes a cluster: parts without a link gain by being apart, whatever the plain objective.
    Else all but the heaviest of a cluster join the cluster next to them that gains most, or loses least, by it; a part
    that is a component of the graph stays with its cluster.
    """
    for _ in range(REFINEMENTS):
        connected = connect_once(level, found, goal, run)
        if connected is found:
            return found
        found = refine(level, connected, goal, run)
    return connect_once(level, found, goal, run)


def connect_once(level: Level, found: Partition, goal: Goal, run: Run) -> Partition:
    """The same without moves of single nodes; of the rows, those of parts that may join a neighbor are read whole."""
    if goal.k == 0:
        return split_disconnected(level, found, run)
    parts, n = connected_parts(level, found, run)
    if n == len(found.sums.size):
        return found
    of_part = np.empty(n, np.int32)
    of_part[parts] = found.labels
    order = np.lexsort((np.arange(n), -np.bincount(parts, level.terms.mass, n)))
    home = order[np.unique(of_part[order], return_index=True)[1]]  # the heaviest part of each cluster
    nodes = np.flatnonzero(home[found.labels] != parts)
    lengths, indices, weights = links_of_nodes(level.rows, parts, n, nodes[np.argsort(parts[nodes], kind="stable")])
    run.reads(level, int((level.rows.indptr[nodes + 1] - level.rows.indptr[nodes]).sum()))
    if len(indices) == 0:  # components of the graph: nothing is next to them
        return found
    is_kept = lengths > 0
    is_kept[home] = True
    number = np.cumsum(is_kept, dtype=np.int32) - np.int32(1)
    number = number[np.where(is_kept, np.arange(n), home[of_part])]
    kept = with_sums(level, number[parts], int(np.count_nonzero(is_kept)), run)
    rows = Rows(np.concatenate([[0], np.cumsum(lengths[is_kept])]), number[indices], weights)
    terms = Terms(kept.sums.inside, kept.sums.mass, loads_of(level.terms.size, kept.labels, len(kept.sums.size)))
    joined = join_parts(Level(rows, terms), of_part[is_kept], goal)
    if joined is None:
        return found
    labels = joined.labels[kept.labels]
    return Partition(labels, joined.sums._replace(size=np.bincount(labels, minlength=goal.k)))


def join_parts(level: Level, of_part: np.ndarray, goal: Goal) -> Partition | None:
    """A partition of the parts of clusters, in which all but the heaviest of each cluster join a neighbor of theirs.

    of_part : the cluster that each part is of. None where nothing joins anything.
    """
    rows, (inside_of, mass_of, _) = level
    n, k = len(of_part), goal.k
    order = np.lexsort((np.arange(n), -mass_of))
    first = np.unique(of_part[order], return_index=True)[1]
    is_home = np.zeros(n, bool)
    is_home[order[first]] = True
    home = np.where(is_home, of_part, -1).astype(np.int64)
    of_homes = (np.where(is_home, values, 0.0) for values in (inside_of, mass_of))
    inside, mass = (np.bincount(of_part, values, minlength=k) for values in of_homes)
    waiting = [u for u in order.tolist() if not is_home[u]]
    while waiting:
        left = []
        for u in waiting:
            entries = slice(rows.indptr[u], rows.indptr[u + 1])
            near = home[rows.indices[entries]]
            link = np.bincount(near[near >= 0], weights=rows.weights[entries][near >= 0], minlength=k)
            to = np.flatnonzero(link)
            if len(to) == 0:
                left.append(u)
                continue
            gains = gain_of_joining(goal.objective, link[to], inside_of[u], mass_of[u], inside[to], mass[to])
            c = int(to[np.argmax(gains)])
            home[u] = c
            inside[c] += 2.0 * link[c] + inside_of[u]
            mass[c] += mass_of[u]
        if len(left) == len(waiting):
            break
        waiting = left
    for u in waiting:  # components of the graph: nothing is next to them
        home[u] = of_part[u]
        inside[of_part[u]] += inside_of[u]
        mass[of_part[u]] += mass_of[u]
    if len(waiting) == n - k:
        return None
    return Partition(home.astype(np.int32), ClusterSums(inside, mass, np.bincount(home, minlength=k)))
