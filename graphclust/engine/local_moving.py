"""Local moving over a level of any size: regions from singletons, and the refinement of a partition.

A small level takes one compiled call. On a large one the nodes of a batch choose on all threads, and between batches
there is a look at progress, a time budget and Ctrl-C. The labels are those of one thread.
"""

import numpy as np

from graphclust.compiled.graphs import local_moving as loops
from graphclust.compiled.graphs.choosing import Look, Scratch, look_at_some, look_up_clusters, may_move, note_choice
from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import Objective
from graphclust.compiled.runtime.blocks import map_blocks, n_threads, row_blocks, run_in_blocks, thread_blocks
from graphclust.engine.levels import Run, is_small

ROUNDS = 2  # of moves that make regions
UNSETTLED = 0.1  # of the nodes: while a round moves more, another follows where regions are to settle
OPENED_PER_NODE = 2  # new clusters for which there is room, for each node that waits
WORTH_THREADS = 1 << 21  # entries of a round: with fewer, threads spend as long waiting for each other as they save
CHUNK = 1 << 14  # entries, at least, that a thread takes at a time: a call from Python costs as much as a thousand
CHUNKS_PER_THREAD = 4  # so that threads end together
LONG_ROW = 1 << 17  # entries of a row that threads share: one takes some milliseconds, a call a hundredth of that


def find_regions(
    level: Level, penalty: float, run: Run, most: float = np.inf, fewest: int = 1, *, settles: bool = False
) -> Partition:
    """Regions of nodes that hang together, by local moving from singletons at the penalty of an additive objective.

    most : what a region may hold of the sizes of nodes, where the level has any. fewest : as soon as no more regions
    than these are left, no two are joined any more. settles : whether rounds go on until one moves few nodes. Links
    that are no part of a cluster mix regions of two or three nodes, of which there are many after two rounds: with a
    quarter of the links, 11 % of all nodes are in a wrong region then, and .1 % once regions are settled.
    """
    n = len(level.terms.mass)
    n_rounds, key = 1 if run.progress.out_of_time() else ROUNDS, run.key()
    if is_small(level) and not settles:
        made, read = loops.find_regions(level, penalty, fewest, most, n_rounds, key)
        run.reads(level, read)
        return made
    objective, state, moving = loops.start_of_regions(level.terms, penalty, fewest, most)
    mover, n_done = Mover(level, objective, state, moving, run), 0
    while mover.n_clusters > fewest and (n_done < n_rounds or (settles and mover.n_moved > UNSETTLED * n)):
        if not settles:
            moving.waits[:n] = loops.WAITS
        this = mover.play_round(key, to_the_end=True)
        if settles:
            mover.mark_neighbors(this)
        n_done, key = n_done + 1, loops.next_key(key)
        if run.progress.out_of_time():
            break
    return loops.without_gaps(state.labels, state.sums)


def refine(
    level: Level, partition: Partition, task: Task, run: Run, *, once: bool = False, nodes: np.ndarray | None = None
) -> Partition:
    """The partition after local moving until no node that waits gains by a move.

    If k is free, a cluster may vanish and a node may become a cluster; else all clusters stay and keep their numbers.
    once : each node is looked at once, even when time is up.
    nodes : the nodes that wait at the start, increasing, by default all; others wait after a neighbor's move.
    """
    n, k = len(level.terms.mass), len(partition.sums.size)
    if run.progress.out_of_time() and not once:
        return partition._replace(sums=partition.sums._replace(size=np.bincount(partition.labels, minlength=k)))
    if is_small(level) and not once and nodes is None:
        made, read = loops.refine(level, partition, task)
        run.reads(level, read)
        return made
    most = n if nodes is None else min(n, k + OPENED_PER_NODE * len(nodes))
    state, moving = loops.start_of_refinement(level, partition, task, k if task.k else most)
    mover, key = Mover(level, task.objective, state, moving, run), 0
    if nodes is not None:
        moving.waits[:] = loops.IDLE
        moving.waits[nodes] = loops.WAITS
    while True:
        this = mover.play_round(key, to_the_end=once)
        if once or mover.n_moved == 0 or run.progress.out_of_time():
            break
        mover.mark_neighbors(this)
        key = loops.next_key(key)
    labels, sums, _ = state
    return Partition(labels, sums) if task.k else loops.without_gaps(labels, sums)


class Mover:
    """The rounds of moves over one partition, on all threads where a round reads many entries."""

    def __init__(self, level: Level, objective: Objective, state: loops.State, moving: loops.Moving, run: Run):
        self.level, self.objective, self.state, self.moving, self.run = level, objective, state, moving, run
        self.free_scratch = [loops.scratch_for(len(state.sums.size))]  # of threads that choose nothing now

    @property
    def n_moved(self) -> int:
        return int(self.moving.counts[loops.N_MOVED])

    @property
    def n_clusters(self) -> int:
        return len(self.state.sums.size) - int(self.moving.counts[loops.N_EMPTY])

    def play_round(self, key: int, to_the_end: bool) -> loops.Round:
        """One round; to_the_end : even when time is up."""
        level, run, moving = self.level, self.run, self.moving
        this = loops.next_round(moving.waits, level.rows.indptr, key)
        choices, n_batches = loops.room_for_choices(this), len(this.starts) - 1
        moving.counts[loops.N_MOVED] = 0
        if this.entries[-1] <= WORTH_THREADS:
            scratch = self.free_scratch[0]
            loops.play_batches(level, self.objective, self.state, this, choices, moving, scratch)
            run.reads(level, int(this.entries[-1]))
            return this
        chunks, long_rows = self._chunks_of(this)
        for b in range(n_batches):
            if run.progress.out_of_time() and not to_the_end:
                break
            batch = loops.batch_at.py_func(this, b)  # views: plain Python makes them in less than a call takes
            self.choose(batch, choices, chunks[b], long_rows[b])
            loops.make_moves(level, self.objective, self.state, batch, choices, moving)
            run.reads(level, int(batch.entries[-1] - batch.entries[0]))
            run.progress.step(b + 1, n_batches)
        return this

    def _chunks_of(self, this: loops.Round) -> tuple[list[np.ndarray], list[list[int]]]:
        """Boundaries of chunks of about equal numbers of entries, in each batch, and the nodes of long rows there.

        One thread takes whole batches, and long rows with them. A row longer than a chunk is the last of one.
        """
        starts, entries = this.starts, this.entries
        n_batches = len(starts) - 1
        if n_threads() == 1:
            return [np.array([0, starts[b + 1] - starts[b]]) for b in range(n_batches)], [[]] * n_batches
        # Several for each thread, so that a slow one holds up no others.
        chunk = max(CHUNK, int(entries[-1]) // (n_batches * CHUNKS_PER_THREAD * n_threads()))
        by_entries = np.searchsorted(entries, np.arange(0, entries[-1], chunk))
        bounds = np.unique(np.concatenate([starts, by_entries]))
        last = bounds[1:] - 1
        long = last[entries[last + 1] - entries[last] > LONG_ROW]
        bounds = np.union1d(bounds, long)
        places, held = np.searchsorted(bounds, starts), np.searchsorted(long, starts)
        return (
            [bounds[places[b] : places[b + 1] + 1] - starts[b] for b in range(n_batches)],
            [(long[held[b] : held[b + 1]] - starts[b]).tolist() for b in range(n_batches)],
        )

    def choose(self, batch: loops.Batch, choices: loops.Choices, chunks: np.ndarray, long_rows: list[int]) -> None:
        """The nodes of a batch choose, chunk by chunk, and then those of long rows."""

        def choose(first: int, last: int, block: int) -> None:
            if first not in long_rows:
                scratch = self._take_scratch()
                loops.choose_moves(first, last, self.level, self.objective, self.state, batch, choices, scratch)
                self.free_scratch.append(scratch)

        run_in_blocks(choose, chunks)
        for i in long_rows:
            self._choose_together(i, batch, choices)

    def _choose_together(self, i: int, batch: loops.Batch, choices: loops.Choices) -> None:
        """Node i of a batch chooses, by all threads."""
        level, state, u = self.level, self.state, int(batch.nodes[i])
        choices.target[i], choices.n_earlier[i] = -1, 0
        if not may_move(u, state):
            return
        n_entries, k = int(batch.entries[i + 1] - batch.entries[i]), len(state.sums.size)
        clusters = np.empty(n_entries, np.int32)
        run_in_blocks(look_up_clusters, row_blocks(n_entries, CHUNK), u, level.rows, state.labels, clusters)

        def look(first: int, last: int, block: int) -> Look:
            to_range = np.flatnonzero(((clusters >= first) & (clusters < last)) | (clusters == state.labels[u]))
            scratch = self._take_scratch()
            seen = look_at_some(to_range, u, level, self.objective, state, clusters, scratch)
            self.free_scratch.append(scratch)
            return seen

        looks = map_blocks(look, thread_blocks(k))
        best = max(looks, key=lambda seen: (seen.most, -seen.best))  # as one thread breaks ties: the lowest cluster
        # Better alone than with any cluster of any range.
        best = best._replace(is_best_alone=all(seen.is_best_alone for seen in looks))
        note_choice(i, best, level.rows, state.labels, batch, choices)

    def _take_scratch(self) -> Scratch:
        return self.free_scratch.pop() if self.free_scratch else loops.scratch_for(len(self.state.sums.size))

    def mark_neighbors(self, this: loops.Round) -> None:
        """The neighbors of nodes that moved in a round wait."""
        blocks = row_blocks(self.n_moved, 1 << 13)
        run_in_blocks(loops.mark_neighbors, blocks, self.level.rows, self.state.labels, this, self.moving)
