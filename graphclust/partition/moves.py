"""Move single nodes while that raises the objective; the change of each move is exact, so the value never falls."""

from __future__ import annotations

import numpy as np

from graphclust.compiled.graphs import moves as loops
from graphclust.compiled.graphs.objective import ClusterSums, Objective, value_of
from graphclust.compiled.runtime.blocks import entry_blocks, row_blocks, run_in_blocks
from graphclust.graph.container import Graph
from graphclust.objective.objective import Weighed
from graphclust.progress import Progress

MOST_SWEEPS = 1000  # each but the last raises the value; a handful is usual
MANY_MOVES = 1 << 14  # below, one after the other takes some hundredths of a second
MANY_SHARE = 1 / 16  # of the nodes; below, one after the other reads less than another look at all of them
ENTRIES_PER_STEP = 1 << 21  # some tenths of a second between two looks at the progress hook, and at Ctrl-C
MOVERS_PER_BLOCK = 1 << 14
FEW_ENTRIES = 1 / 6  # of all; of 5 million nodes as many take as long as a pass over all rows
SHRUNK = 0.001  # of what a cluster was: of less, what is left of a difference could be round-off
LIGHT_SHARE, LIGHTER = 1 / 64, 2.0  # of the mass at most, so that few nodes are beside them; than the others
NOBODY = np.empty(0, np.bool_)


def moved_until_stable(
    on: Weighed,
    labels: np.ndarray,
    k: int,
    objective: Objective,
    progress: Progress,
    most_sweeps: int = 1,
    few: float = 0.0,
    sums: ClusterSums | None = None,
) -> ClusterSums:
    """Move nodes in place, labels int32; returns the sums of the clusters after it.

    sums : of the clusters, where they are known already, as from a quotient graph; they are left as they are.

    While very many nodes would gain by a move, they move in rounds, all at once; then single nodes move, in sweeps. A
    sweep looks at all nodes once and then only at neighbors of moved nodes. Each move shifts the masses a little, for
    everyone; a further sweep finds the few nodes that this, and no neighbor, made movable. Sweeps end when one starts
    with no more than the share `few` of the nodes.

    The sums are kept while nodes move. Each look at all nodes makes them anew on the way, so that round-off never adds
    up; and so it is the only thing that reads all entries, but for the sums at the start.
    """
    graph = on.graph
    n = graph.n_nodes
    most_at_once = n
    known = sums is None
    if sums is None:
        stays, sums = summed(on, labels, k)
        progress.reads(graph, graph.n_entries)
    else:
        stays = np.empty(n)
    n_sweeps = 0
    while n_sweeps < most_sweeps and not progress.out_of_time():
        target, n_read = best_moves(on, labels, objective, stays, sums, known=known)
        progress.reads(graph, n_read)
        if not known:
            sums = sums_of(on, labels, stays, k)
        known = False
        movable = np.flatnonzero(target >= 0)
        if len(movable) == 0:
            break
        progress.step(n - len(movable), n)
        if max(MANY_MOVES, MANY_SHARE * n) <= len(movable) <= most_at_once:
            progress.reads(graph, entries_of_changes(graph, movable))
            after = moved_at_once(on, labels, objective, target, sums)
            if after is not None:
                made, sums = after
                known, stays = made is not None, stays if made is None else made
                most_at_once = len(movable) // 2
                continue
        move_in_turn(on, labels, objective, sums, queue_of(movable, n, k), progress)
        n_sweeps += 1
        if len(movable) <= few * n or n_sweeps == most_sweeps:
            break
    return sums


def queue_of(first: np.ndarray, n: int, k: int) -> loops.MoveQueue:
    """The queue in which the nodes `first` wait, of n nodes in k clusters."""
    nodes, queued = np.empty(n, np.int32), np.zeros(n, np.uint8)
    nodes[: len(first)] = first
    queued[first] = 1
    scratch = loops.Scratch(np.zeros(k), np.empty(k + 1, np.int32))
    return loops.MoveQueue(nodes, queued, np.array([0, len(first)]), scratch)


def move_in_turn(
    on: Weighed,
    labels: np.ndarray,
    objective: Objective,
    sums: ClusterSums,
    queue: loops.MoveQueue,
    progress: Progress,
) -> None:
    """Move the nodes that wait, and then the neighbors of moved nodes, in place until none of them gains; see the loop.

    labels, sums and queue are changed.
    """
    n, state = on.graph.n_nodes, queue.state
    while state[1] and not progress.out_of_time():
        budget = float(ENTRIES_PER_STEP)  # the loop is compiled for each type
        n_read = loops.move_nodes(budget, on.graph.rows, on.terms, objective, labels, sums, queue, None)
        progress.reads(on.graph, n_read)
        progress.step(n - int(state[1]), n)


def best_moves(
    on: Weighed,
    labels: np.ndarray,
    objective: Objective,
    stays: np.ndarray,
    sums: ClusterSums,
    turn: int = -1,
    *,
    known: bool = True,
) -> tuple[np.ndarray, int]:
    """The cluster that each node should move to as things stand, int32, shape (n_nodes,), -1 for nodes well placed.

    Returns the entries read, too.

    stays : weight that each node has to others of its cluster; with known=False it is written here, in the same pass.
    turn : -1 for all nodes, 0 or 1 for one half of them.
    """
    target = np.empty(on.graph.n_nodes, np.int32)
    blocks = entry_blocks(on.graph.indptr, 1 << 19)
    read = np.zeros(len(blocks) - 1, np.int64)
    now = loops.MoveRound(labels, sums, stays, known, bounds_of(on, labels, sums), turn, read)
    run_in_blocks(loops.choose_moves, blocks, on.graph.rows, on.terms, objective, now, target)
    return target, int(read.sum())


def bounds_of(on: Weighed, labels: np.ndarray, sums: ClusterSums) -> loops.Bounds:
    """By what nodes are ruled out. A light cluster is easily joined; so only its neighbors have to reckon with it."""
    used = sums.mass > 0
    of_all = least_of(sums, used)
    light = are_light(sums.mass, of_all[0])
    if light is None:
        return loops.Bounds(of_all, of_all, NOBODY)
    beside = np.zeros(on.graph.n_nodes, np.bool_)
    of_light = np.append(light, False)[labels]  # the last for nodes without a cluster
    loops.mark_neighbors(np.flatnonzero(of_light), on.graph.rows, beside)
    return loops.Bounds(of_all, least_of(sums, used & ~light), beside)


def are_light(mass: np.ndarray, least: float) -> np.ndarray | None:
    """Clusters that are much lighter than others and have a small share of the mass together, bool, shape (k,), if any.

    least : the least mass but 0. Clusters without any are light as well, but nobody is beside those.
    """
    most = LIGHT_SHARE * mass.sum()
    if least >= most:  # as in nearly all small graphs, which are looked at time and again
        return None
    masses = np.sort(mass)
    least_of_others = masses[np.searchsorted(np.cumsum(masses), most, side="right")]
    return mass < least_of_others / LIGHTER if least < least_of_others / LIGHTER else None


def least_of(sums: ClusterSums, which: np.ndarray) -> tuple[float, float]:
    """The least mass of some clusters, and the worst score per mass; see `most_from_joining`."""
    return sums.mass[which].min(initial=np.inf), -(sums.inside[which] / sums.mass[which]).min(initial=0.0)


def moved_at_once(
    on: Weighed, labels: np.ndarray, objective: Objective, target: np.ndarray, sums: ClusterSums
) -> tuple[np.ndarray | None, ClusterSums] | None:
    """Make all moves in place if that raises the value: what `sums_after` says of them, or None where it does not.

    No cluster is emptied.
    """
    movers = np.flatnonzero(target >= 0)
    movers = movers[moves_that_empty_none(labels[movers], target[movers], sums.size)]
    moved = labels.copy()
    moved[movers] = target[movers]
    after = sums_after(on, labels, moved, sums)
    if value_of(objective, after[1]) <= value_of(objective, sums):
        return None
    labels[:] = moved
    return after


def moves_that_empty_none(left: np.ndarray, joined: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Which of some moves between clusters of these sizes to make, so that none loses all of its nodes; bool.

    A node that stays is missing where it would have gone, so that others may have to stay for it.
    """
    made, k = np.ones(len(left), np.bool_), len(size)
    while True:
        after = size - np.bincount(left[made], minlength=k) + np.bincount(joined[made], minlength=k)
        emptied = (after == 0) & (size > 0)
        if not emptied.any():
            return made
        made &= ~emptied[left]


def sums_after(
    on: Weighed, labels: np.ndarray, moved: np.ndarray, sums: ClusterSums
) -> tuple[np.ndarray | None, ClusterSums]:
    """The sums of the clusters once their labels are those in `moved`; from what they are, unless many rows change.

    First comes the weight that each node then has to others of its cluster, shape (n_nodes,), where it is found too.
    """
    k = len(sums.size)
    movers = np.flatnonzero(moved != labels)
    if entries_of_changes(on.graph, movers) == on.graph.n_entries:
        return summed(on, moved, k)
    lost, won = changes = np.empty((2, len(movers)))
    blocks = row_blocks(len(movers), MOVERS_PER_BLOCK)
    run_in_blocks(loops.changes_inside, blocks, on.graph.rows, labels, moved, movers, changes)
    left, joined = labels[movers], moved[movers]
    own, mass = on.terms.loops[movers], on.terms.mass[movers]

    def changed(values: np.ndarray, less: np.ndarray, more: np.ndarray) -> np.ndarray:
        return values - np.bincount(left, less, minlength=k) + np.bincount(joined, more, minlength=k)

    size = sums.size - np.bincount(left, minlength=k) + np.bincount(joined, minlength=k)
    after = ClusterSums(changed(sums.inside, lost + own, won + own), changed(sums.mass, mass, mass), size)
    return summed(on, moved, k) if (after.mass < SHRUNK * sums.mass).any() else (None, after)


def moved_in_rounds(
    on: Weighed,
    labels: np.ndarray,
    k: int,
    objective: Objective,
    n_rounds: int,
    progress: Progress,
    at_least: int = 0,
    sums: ClusterSums | None = None,
) -> ClusterSums:
    """Move nodes in place, labels int32, all at once in each of n_rounds rounds: cheap, and well short of the end.

    The nodes take turns in two halves, or neighbors would change places for ever. Stops when the value does not rise.
    at_least : so many rounds are made even where time is up. sums : of the clusters, where they are known already.
    Returns those at the end.
    """
    graph = on.graph
    if sums is None:
        _, sums = summed(on, labels, k)
        progress.reads(graph, graph.n_entries)
    made = None
    for done in range(n_rounds):
        if done >= at_least and progress.out_of_time():
            break
        stays = np.empty(graph.n_nodes) if made is None else made
        target, n_read = best_moves(on, labels, objective, stays, sums, done % 2, known=made is not None)
        progress.reads(graph, n_read + entries_of_changes(graph, np.flatnonzero(target >= 0)))
        after = moved_at_once(on, labels, objective, target, sums)
        progress.step(done + 1, n_rounds)
        if after is None:
            break
        made, sums = after
    return sums


def entries_of(graph: Graph, nodes: np.ndarray) -> int:
    """How many entries the rows of some nodes have."""
    return int((graph.indptr[nodes + 1] - graph.indptr[nodes]).sum())


def entries_of_changes(graph: Graph, movers: np.ndarray) -> int:
    """How many entries the sums after a move of some nodes take: the movers' rows, or all where that is faster.

    Of each entry of a mover's row two labels are looked up, before and after; of all rows one, and the next look at all
    nodes knows what stays with them.
    """
    n_entries = entries_of(graph, movers)
    return n_entries if n_entries < FEW_ENTRIES * graph.n_entries else graph.n_entries


def summed(on: Weighed, labels: np.ndarray, k: int) -> tuple[np.ndarray, ClusterSums]:
    """Weight that each node has to others of its cluster, shape (n_nodes,), and the sums of the clusters."""
    stays = np.empty(on.graph.n_nodes)
    run_in_blocks(loops.staying_weights, entry_blocks(on.graph.indptr, 1 << 19), on.graph.rows, labels, stays)
    return stays, sums_of(on, labels, stays, k)


def sums_of(on: Weighed, labels: np.ndarray, stays: np.ndarray, k: int) -> ClusterSums:
    """Sums of the clusters from what stays with each node."""
    sums = ClusterSums(np.zeros(k), np.zeros(k), np.zeros(k, np.int64))
    loops.add_to_sums(labels, stays, on.terms, sums)
    return sums
