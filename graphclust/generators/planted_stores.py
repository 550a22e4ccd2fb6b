"""Planted graphs of any size written straight to a store, as fast as the disk takes them.

`planted_partition` needs its graph in memory. Here every row follows from its number, so that rows are written one
after the other and nothing is ever sorted; nodes are named at random, so that neither names nor the order of the
neighbors show the blocks.
"""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np

from graphclust.checks import Seed, as_generator, as_whole_number
from graphclust.compiled.graphs import hashed_sbm as loops
from graphclust.compiled.runtime.blocks import row_blocks, run_in_blocks
from graphclust.errors import ParameterError
from graphclust.generators.planted_graphs import PlantedGraph
from graphclust.io.store.store import open_store
from graphclust.io.store.store_files import new_store
from graphclust.progress import ProgressLike, as_progress

__all__ = ["planted_store"]

ENTRIES_PER_STEP = 1 << 24  # some tenths of a second between two looks at the progress hook
ENTRIES_PER_BLOCK = 1 << 19


def planted_store(
    path: str | os.PathLike[str],
    n_blocks: int,
    block_size: int,
    inside_degree: int,
    outside_degree: int,
    *,
    overwrite: bool = False,
    rng: Seed = None,
    progress: ProgressLike = None,
) -> PlantedGraph:
    """Write a graph of equal blocks, in which every node has as many neighbors, to a store, and open it.

    n_blocks : even, >= 2.  block_size : nodes of each block.
    inside_degree : neighbors of each node in its own block, even; a block is a circulant with random offsets.
    outside_degree : neighbors of each node in other blocks, at most block_size: each is the partner of the node in an
        involution that pairs blocks differently for every pair of places.

    Returns a `PlantedGraph(graph, labels)` with the graph mapped; labels are int64, shape (n_nodes,). The same `rng`
    makes the same files on any number of threads. An easy case for clustering, as all nodes are alike; see
    `planted_partition` with a degree_exponent for a harder one.

    Raises ParameterError for degrees that blocks of this size cannot have, and what `save_store` raises.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph, labels = planted_store(f"{folder}/g", 4, 25, inside_degree=6, outside_degree=2, rng=0)
    ...     graph, np.bincount(labels).tolist()
    (Graph(100 nodes, 400 edges, unweighted), [25, 25, 25, 25])
    """
    rng, progress = as_generator(rng), as_progress(progress)
    n_blocks = as_whole_number(n_blocks, "n_blocks", at_least=2)
    size = as_whole_number(block_size, "block_size", at_least=1)
    inside = as_whole_number(inside_degree, "inside_degree", at_least=0)
    outside = as_whole_number(outside_degree, "outside_degree", at_least=0, at_most=size, why=", block_size")
    n, length = n_blocks * size, inside + outside
    if n_blocks % 2 or inside % 2:
        raise ParameterError(f"n_blocks={n_blocks} and inside_degree={inside} must both be even")
    if inside > size - 1 - (size % 2 == 0):
        raise ParameterError(f"inside_degree={inside} is more than blocks of {size} nodes can give; raise block_size")
    if n >= 2**31 or length == 0:
        raise ParameterError(
            f"n_blocks={n_blocks} of block_size={size} are {n} nodes, of inside_degree + outside_degree = {length} "
            "neighbors; expected fewer than 2^31 nodes, and at least one neighbor"
        )
    offsets = 1 + rng.permutation((size - 1) // 2)[: inside // 2]
    turns = rng.permutation(size)[:outside]
    keys = _keys(n, rng)
    plan = loops.Plan(n_blocks, size, offsets, turns, keys, rng.integers(2**64, dtype=np.uint64))
    rows_per_step, rows = max(1, ENTRIES_PER_STEP // length), max(1, ENTRIES_PER_BLOCK // length)
    with new_store(path, {"indptr": n + 1, "indices": n * length, "degrees": n}, overwrite) as store:
        arrays = store.arrays
        with progress.stage("writing the rows"):
            for first, last in pairwise(row_blocks(n, rows_per_step).tolist()):
                arrays["indptr"][first : last + 1] = np.arange(first, last + 1) * length
                arrays["degrees"][first:last] = length
                blocks = first + row_blocks(last - first, rows)
                run_in_blocks(loops.write_rows, blocks, plan, arrays["indices"])
                progress.step(last, n)
        del arrays
    labels = np.empty(n, np.int64)
    run_in_blocks(loops.positions, row_blocks(n), n, keys, labels)
    labels //= size
    return PlantedGraph(open_store(path, verify="fast"), labels)


def _keys(n: int, rng: np.random.Generator) -> np.ndarray:
    """What names the nodes: a mask of as many bits as they need, half of that, and odd factors with their inverses."""
    n_bits = max(int(n - 1).bit_length(), 2)
    factors = rng.integers(2**64, size=loops.ROUNDS, dtype=np.uint64) | np.uint64(1)
    pairs = [(int(factor), pow(int(factor), -1, 2**64)) for factor in factors]
    words = [2**n_bits - 1, (n_bits + 1) // 2, *(word for pair in pairs for word in pair)]
    return np.array(words, np.uint64)
