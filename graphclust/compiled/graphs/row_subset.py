"""The rows of some nodes by themselves, as they travel between the parts of a graph, and what a block makes of them."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.seeding import ENTRIES_READ, sq_distance
from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.splitmix64 import mix_bits


class ChosenRows(NamedTuple):
    """Rows of some nodes, in increasing order, with their degrees and the diagonal of K.

    Row i has the neighbors indices[indptr[i]:indptr[i + 1]], by their numbers in the whole graph; empty weights stand
    for all ones.
    """

    nodes: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    degrees: np.ndarray
    self_affinity: np.ndarray


@loop()
def first_at_least(indices, start, end, node):
    """Position of the first entry >= node in an increasing row."""
    while start < end:
        middle = (start + end) // 2
        if indices[middle] < node:
            start = middle + 1
        else:
            end = middle
    return start


@loop()
def approach_seeds(first, last, rank, seeds, terms, distances):
    """New seeds, of ranks from `rank` on, come near to their neighbors among the nodes first..last-1, to nobody else.

    terms and distances are those of the nodes of the block.
    """
    degrees, self_affinity, _ = terms
    sq_distances, nearest, tally = distances
    weighted = len(seeds.weights) > 0
    for i in range(len(seeds.nodes)):
        seed = seeds.nodes[i]
        if first <= seed < last:
            sq_distances[seed - first] = 0.0
            nearest[seed - first] = rank + i
        for e in range(first_at_least(seeds.indices, seeds.indptr[i], seeds.indptr[i + 1], first), seeds.indptr[i + 1]):
            x = seeds.indices[e] - first
            if x >= last - first:
                break
            tally[ENTRIES_READ] += 1
            if x + first == seed:
                continue
            affinity = (seeds.weights[e] if weighted else 1.0) / (degrees[x] * seeds.degrees[i])
            distance = sq_distance(self_affinity[x], seeds.self_affinity[i], affinity, tally)
            if distance < sq_distances[x]:
                sq_distances[x] = distance
                nearest[x] = rank + i


@loop()
def copy_rows(first, last, block, nodes, rows, chosen):
    """Rows nodes[first], ..., nodes[last - 1] go to the indices and weights of `chosen`, as far as its indptr has room.

    Of a longer row one entry goes for each of as many runs of its entries, drawn by a hash of its first neighbor.
    """
    for i in range(first, last):
        start, free = rows.indptr[nodes[i]], chosen.indptr[i]
        length, room = rows.indptr[nodes[i] + 1] - start, chosen.indptr[i + 1] - free
        for j in range(room):
            e = start + j
            if room < length:
                e = start + j * length // room
                run = start + (j + 1) * length // room - e
                e += np.int64(mix_bits(np.uint64(rows.indices[start]) + np.uint64(j)) % np.uint64(run))
            chosen.indices[free + j] = rows.indices[e]
            if len(rows.weights) > 0:
                chosen.weights[free + j] = rows.weights[e]


@loop()
def bound_columns(first, last, rows, starts, ends):
    """Where the entries of the columns first..last-1 start and end in each row."""
    for i in range(len(rows.nodes)):
        starts[i] = first_at_least(rows.indices, rows.indptr[i], rows.indptr[i + 1], first)
        ends[i] = first_at_least(rows.indices, starts[i], rows.indptr[i + 1], last)
