"""Sort the edges of a file by counting and join their directions: the steps of `compiled.text.edges_to_csr`, in slices.

A slice is one half of the edges in their present order. Two threads work on both slices at once, one thread on one
after the other, with the same result.
"""

import itertools

import numpy as np

from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.compiled.text import edges_to_csr
from graphclust.progress import Progress

SLICES = 2  # each takes 8 bytes a node
STEP = 1 << 21  # edges of a slice between two looks at the clock
COUNT_HIGHER, PLACE_HIGHER, COUNT_LOWER, PLACE_LOWER, JOIN, WRITE, N_PHASES = range(7)
NO_WEIGHTS = np.empty(0)

Chunks = list[tuple[np.ndarray, np.ndarray, np.ndarray]]


def in_slices(loop, steps: list, common: tuple, own: tuple, progress: Progress, phase: int) -> None:
    """Call loop(*piece, *common, *own[:, s]) for the pieces of each slice s, the slices at the same time."""

    def work(s: int, _last: int, _slice: int, step: tuple) -> None:
        for piece in step[s]:
            loop(*piece, *common, *(array[s] for array in own))

    for i, step in enumerate(steps):
        run_in_blocks(work, np.arange(SLICES + 1), step)
        progress.step(phase * len(steps) + i + 1, N_PHASES * len(steps))


def chunk_steps(chunks: Chunks, n_entries: int) -> list:
    """Chunks of edges in steps, the pieces of each slice of a step; the chunk in the middle is cut in two."""
    slices: list[list] = [[[]] for _ in range(SLICES)]
    n_done = n_in_step = 0
    for chunk in chunks:
        while len(chunk[0]):
            s = min(n_done * SLICES // n_entries, SLICES - 1)
            n_here = min(len(chunk[0]), -(-(s + 1) * n_entries // SLICES) - n_done)
            n_in_step = n_in_step + n_here if slices[s][-1] else n_here
            slices[s][-1].append(tuple(part[:n_here] for part in chunk))
            if n_in_step >= STEP:
                slices[s].append([])
            chunk = tuple(part[n_here:] for part in chunk)  # type: ignore[assignment]
            n_done += n_here
    return list(itertools.zip_longest(*slices, fillvalue=[]))


def row_steps(starts: np.ndarray) -> list:
    """Rows first..last-1 in steps, a piece for each slice, all of about equally many entries."""
    n_steps = 1 + int(starts[-1]) // (SLICES * STEP)
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], SLICES * n_steps + 1)).tolist()
    cuts[0], cuts[-1] = 0, len(starts) - 1
    pieces = [[piece] for piece in itertools.pairwise(cuts)]
    return list(zip(*(pieces[s * n_steps : (s + 1) * n_steps] for s in range(SLICES)), strict=True))


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Where the buckets of `counts` (n_slices, n) start, (n + 1,); the counts become the starts of each slice."""
    n = counts.shape[1]
    starts = np.zeros(n + 1, np.int64)
    for first, last in itertools.pairwise(row_blocks(n, 1 << 24).tolist()):
        edges_to_csr.starts_of(first, last, counts, starts)
    return starts


def by_higher_end(chunks: Chunks, n: int, weighted: bool, gaps: bool, progress: Progress):
    """Edges as keys, and their weights, in the order of their higher ends, whose edges begin at `starts` (n + 1,).

    Where there are `gaps`, only ids that an edge has become nodes: they are the last of what is returned, or None.
    """
    n_entries = sum(len(u) for u, _, _ in chunks)
    cursor, lower = np.zeros((SLICES, n), np.int64), np.zeros(n, np.bool_)
    steps = chunk_steps(chunks, n_entries)
    ends = [tuple([piece[:2] for piece in part] for part in step) for step in steps]
    in_slices(edges_to_csr.count_higher_ends, ends, (lower,), (cursor,), progress, COUNT_HIGHER)
    ids, ranks = None, np.empty(0, np.int32)
    if gaps:
        present = lower | (cursor > 0).any(axis=0)
        if not present.all():
            ids, ranks = np.flatnonzero(present), np.cumsum(present, dtype=np.int32) - np.int32(1)
            cursor = cursor[:, ids]
    starts = starts_of(cursor)
    keys, key_weights = np.empty(n_entries, np.uint32), np.empty(n_entries) if weighted else NO_WEIGHTS
    common = (ranks, keys, key_weights)
    in_slices(edges_to_csr.place_by_higher_end, steps, common, (cursor,), progress, PLACE_HIGHER)
    return starts, keys, key_weights, ids


def by_lower_end(starts: np.ndarray, keys: np.ndarray, key_weights: np.ndarray, progress: Progress):
    """The same edges in the order of their lower ends, and of one lower end in that of their higher ends."""
    cursor = np.zeros((SLICES, len(starts) - 1), np.int64)
    steps = row_steps(starts)
    in_slices(edges_to_csr.count_lower_ends, steps, (starts, keys), (cursor,), progress, COUNT_LOWER)
    sorted_starts = starts_of(cursor)
    sorted_keys, sorted_weights = np.empty_like(keys), np.empty_like(key_weights)
    common = (starts, keys, key_weights, sorted_keys, sorted_weights)
    in_slices(edges_to_csr.place_by_lower_end, steps, common, (cursor,), progress, PLACE_LOWER)
    return sorted_starts, sorted_keys, sorted_weights
