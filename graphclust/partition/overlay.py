"""Overlay: what all of several partitions have in one cluster, and the connected parts of clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphclust.compiled.graphs import overlay as loops
from graphclust.compiled.graphs.levels import Level, Partition
from graphclust.partition.levels import Run, n_entries, with_sums


def overlay(level: Level, partitions: Sequence[Partition], run: Run) -> Partition:
    """The partition whose clusters are what all of some partitions have in one cluster.

    Source: Ovelgönne & Geyer-Schulz 2012, "An ensemble learning strategy for graph clustering" (core groups).
    """
    labels, k = partitions[0].labels, len(partitions[0].sums.size)
    for other in partitions[1:]:
        pairs = np.empty(len(labels), np.int32)
        k = loops.overlay_pair(labels, k, other.labels, len(other.sums.size), pairs)
        labels = pairs
    return with_sums(level, labels, k, run)


def split_disconnected(level: Level, found: Partition, run: Run) -> Partition:
    """The partition in which every connected part of a cluster is one by itself; the same where all are connected."""
    parts = np.empty(len(found.labels), np.int32)
    n_parts = loops.split_by_connection(level.rows, found.labels, parts)
    run.reads(level, n_entries(level))
    return found if n_parts == len(found.sums.size) else with_sums(level, parts, n_parts, run)
