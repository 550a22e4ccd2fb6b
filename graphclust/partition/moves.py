"""Move single nodes while that lowers the normalised cut; the change of each move is exact, so it never rises."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs import moves as loops
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.gate import as_graph
from graphclust.objective.labels import LabelsLike, labels_on
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["move_nodes"]

MOST_SWEEPS = 1000  # each but the last lowers the cut; a handful is usual
MANY_MOVES = 1 << 14  # below, one after the other takes some hundredths of a second
ENTRIES_PER_STEP = 1 << 24  # some tenths of a second between two looks at the progress hook


def move_nodes(
    G: GraphLike, labels: LabelsLike, *, weight: str | None = "weight", progress: ProgressLike = None
) -> npt.NDArray[np.int64]:
    """Improve a partition by single-node moves until none lowers the normalised cut.

    G, weight : as `as_graph` takes them.
    labels : in any form that `volume` takes; -1 for nodes to leave alone.

    Returns new labels, int64, shape (n_nodes,). Every cluster that had a node keeps at least one, none is added, and a
    move is made only if the normalised cut falls by more than 1e-12. Nodes wait in a queue, at first those that a move
    would help as things stand; a move queues the neighbors again.

    >>> import networkx as nx
    >>> move_nodes(nx.barbell_graph(3, 0), np.array([0, 0, 1, 1, 1, 1]))
    array([0, 0, 0, 1, 1, 1])
    """
    graph = as_graph(G, weight=weight)
    improved = labels_on(graph, labels).astype(np.int32)
    improve(graph, improved, int(improved.max(initial=-1)) + 1, as_progress(progress), MOST_SWEEPS)
    return improved.astype(np.int64)


def improve(
    graph: Graph, labels: np.ndarray, k: int, progress: Progress, most_sweeps: int = 1, few: float = 0.0
) -> float:
    """Move nodes in place, labels int32; returns the normalised cut over the clusters that have a volume.

    While very many nodes would gain by a move, they move in rounds, all at once; then single nodes move, in sweeps. A
    sweep looks at all nodes once and then only at neighbors of moved nodes. Each move shifts the volumes a little, for
    everyone; a further sweep finds the few nodes that this, and no neighbor, made movable. Sweeps end when one starts
    with no more than the share `few` of the nodes.
    """
    rows = (graph.indptr, graph.indices, graph.weights_or_empty, graph.degrees)
    link, met = np.zeros(k), np.empty(k, np.int32)
    most_at_once = graph.n_nodes
    sums = None
    n_sweeps = 0
    while n_sweeps < most_sweeps:
        sums = sums or staying_inside_volume(graph, labels, k)
        target = best_moves(graph, labels, k, sums)
        queue = np.flatnonzero(target >= 0).astype(np.int32)
        n_movable = len(queue)
        if n_movable == 0:
            break
        progress.step(graph.n_nodes - n_movable, graph.n_nodes)
        if MANY_MOVES <= n_movable <= most_at_once:
            after = move_at_once(graph, labels, k, target, sums)
            if after is not None:
                sums, most_at_once = after, n_movable // 2
                continue
        _, inside, volume = sums
        sizes = np.bincount(labels[labels >= 0], minlength=k)
        queued = target >= 0
        ends = np.array([0, n_movable])
        queue.resize(graph.n_nodes)
        while ends[1]:
            loops.move_nodes(ENTRIES_PER_STEP, *rows, labels, inside, volume, sizes, queue, queued, ends, link, met)
            progress.step(graph.n_nodes - int(ends[1]), graph.n_nodes)
        if n_movable <= few * graph.n_nodes:
            break
        n_sweeps += 1
        if n_sweeps < most_sweeps:
            sums = None
    assert sums is not None
    return normalized_cut_of(*sums[1:])


def improve_in_rounds(graph: Graph, labels: np.ndarray, k: int, n_rounds: int, progress: Progress) -> None:
    """Move nodes in place, labels int32, all at once in each of n_rounds rounds: cheap, and well short of the end.

    The nodes take turns in two halves, or neighbors would change places for ever. Stops when the cut does not fall.
    """
    sums = staying_inside_volume(graph, labels, k)
    for done in range(n_rounds):
        after = move_at_once(graph, labels, k, best_moves(graph, labels, k, sums, done % 2), sums)
        progress.step(done + 1, n_rounds)
        if after is None:
            break
        sums = after


def best_moves(
    graph: Graph, labels: np.ndarray, k: int, sums: tuple[np.ndarray, np.ndarray, np.ndarray], turn: int = -1
) -> np.ndarray:
    """The cluster that each node should move to as things stand, int32, shape (n_nodes,); -1 for nodes well placed.

    turn : -1 for all nodes, 0 or 1 for one half of them.
    """
    stays, inside, volume = sums
    target = np.empty(graph.n_nodes, np.int32)
    run_in_blocks(
        loops.choose_moves, entry_blocks(graph.indptr, 1 << 19), graph.indptr, graph.indices, graph.weights_or_empty,
        graph.degrees, graph.loops, labels, stays, inside, volume, np.bincount(labels[labels >= 0], minlength=k),
        volume[volume > 0].min(initial=np.inf), turn, target,
    )  # fmt: skip
    return target


def move_at_once(
    graph: Graph, labels: np.ndarray, k: int, target: np.ndarray, sums: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Make all moves in place if that lowers the cut: the sums after it, or None. No cluster is emptied."""
    moved = np.where(target >= 0, target, labels)
    emptied = np.bincount(moved[moved >= 0], minlength=k) == 0
    if emptied.any():
        moved = np.where(emptied[labels] & (labels >= 0), labels, moved)
    after = staying_inside_volume(graph, moved, k)
    if normalized_cut_of(*after[1:]) >= normalized_cut_of(*sums[1:]):
        return None
    labels[:] = moved
    return after


def staying_inside_volume(graph: Graph, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight that each node has to its own cluster, shape (n_nodes,); its sum and the volume of each cluster, (k,)."""
    stays = np.empty(graph.n_nodes)
    blocks = entry_blocks(graph.indptr, 1 << 19)
    run_in_blocks(
        loops.staying_weights, blocks, graph.indptr, graph.indices, graph.weights_or_empty, labels, stays
    )  # fmt: skip
    shifted = labels + 1  # 0 for nodes without a cluster
    inside = np.bincount(shifted, weights=stays, minlength=k + 1)[1:]
    return stays, inside, np.bincount(shifted, weights=graph.degrees, minlength=k + 1)[1:]


def normalized_cut_of(inside: np.ndarray, volume: np.ndarray) -> float:
    """Sum over clusters of positive volume of 1 - inside / volume."""
    used = volume > 0
    return float((1.0 - inside[used] / volume[used]).sum())
