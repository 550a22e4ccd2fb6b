"""The overlay of partitions, whose clusters are their intersections, and the connected parts of clusters."""

from collections.abc import Sequence

import numpy as np

from graphclust.compiled.graphs.components import split_by_connection
from graphclust.compiled.graphs.contraction import overlay_pair
from graphclust.compiled.graphs.levels import Level, Partition
from graphclust.engine.levels import Run, with_sums

CRUMB = 0.02  # of an average region's volume; a smaller piece is a few nodes that moved to another cluster


def overlay(level: Level, partitions: Sequence[Partition], run: Run) -> Partition:
    """The partition into the sets of nodes that share a cluster in each of some partitions.

    Source: Ovelgönne & Geyer-Schulz 2012, "An ensemble learning strategy for graph clustering" (core groups).
    """
    labels, k = partitions[0].labels, len(partitions[0].sums.size)
    for other in partitions[1:]:
        pairs = np.empty(len(labels), np.int32)
        k = overlay_pair(labels, k, other.labels, len(other.sums.size), pairs)
        labels = pairs
    return with_sums(level, labels, k, run)


def split_disconnected(level: Level, found: Partition, run: Run) -> Partition:
    """The partition into the connected parts of all clusters; the same if all clusters are connected."""
    parts, n_parts = find_connected_parts(level, found, run)
    return found if n_parts == len(found.sums.size) else with_sums(level, parts, n_parts, run)


def find_connected_parts(level: Level, found: Partition, run: Run) -> tuple[np.ndarray, int]:
    """The connected part of its cluster that each node is in, int32, numbered by first node; and how many there are."""
    parts = np.empty(len(found.labels), np.int32)
    n_parts, n_read = split_by_connection(level.rows, found.labels, len(found.sums.size), parts)
    run.reads(level, n_read)
    return parts, n_parts


def pieces_of(volumes: np.ndarray, labels: np.ndarray, regions: np.ndarray) -> tuple[np.ndarray, int]:
    """The intersections of clusters and regions, int32, and how many there are; all crumbs of a cluster are one piece.

    volumes : of the nodes; a piece of less than CRUMB of an average region is a crumb. Nodes with label -1 have none.
    """
    taken = labels >= 0
    n_regions = int(regions.max()) + 1
    pieces, n_pieces = number_used(labels.astype(np.int64) * n_regions + regions, taken)
    of_piece = np.bincount(pieces[taken], weights=volumes[taken], minlength=n_pieces)
    is_crumb = of_piece < CRUMB * volumes[taken].sum() / n_regions
    return number_used(np.where(taken & is_crumb[pieces], n_pieces + labels, pieces), taken)


def number_used(labels: np.ndarray, taken: np.ndarray | None = None) -> tuple[np.ndarray, int]:
    """Labels >= 0 numbered without gaps, int32, -1 for nodes that are not taken; and how many are used."""
    of_taken = labels if taken is None or taken.all() else labels[taken]
    highest = int(of_taken.max(initial=-1))
    if highest > 8 * len(of_taken):  # a table of all numbers would take more bytes than the labels
        distinct, numbered = np.unique(of_taken, return_inverse=True)
        numbered, n_used = numbered.astype(np.int32), len(distinct)
    else:
        used = np.zeros(highest + 1, bool)
        used[of_taken] = True
        numbered, n_used = (np.cumsum(used, dtype=np.int32) - np.int32(1))[of_taken], int(np.count_nonzero(used))
    if of_taken is labels:
        return numbered, n_used
    found = np.full(len(labels), -1, np.int32)
    found[taken] = numbered
    return found, n_used
