"""Levels of the multilevel engine, and what a run of it carries from step to step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from graphclust.checks import Seed, as_generator
from graphclust.compiled.graphs import cluster_sums as loops
from graphclust.compiled.graphs.levels import Level, Partition, Task, Terms
from graphclust.compiled.graphs.objective import ClusterSums, Rows, value_of
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.graph.container import Graph
from graphclust.objective.objective import Totals, WeighedGraph, read_only_view
from graphclust.progress import Progress

REGION = 3.0  # nodes in a region, about, whose penalty suits a level
AT_ONCE = 1 << 19  # entries: a step over so many takes some milliseconds, and need not look at the clock on the way


class Shares(NamedTuple):
    """What each of k parts is to hold, and the least and the most that it may hold; float64, (k,) each."""

    target: np.ndarray
    least: np.ndarray
    most: np.ndarray


class Thoroughness(NamedTuple):
    """How thoroughly equal parts are made.

    rounds_in_vain : of Jet's moves, which end these. searches : rounds of local searches, each from every border node,
    at most. nodes_per_part : that a level needs before a part of it is bisected.
    """

    rounds_in_vain: int = 12
    searches: int = 3
    nodes_per_part: int = 400


THOROUGH, LESS_THOROUGH = Thoroughness(), Thoroughness(3, 1, 100)


@dataclass(frozen=True)
class Run:
    """What every step of a run is given: randomness, progress, and what the numbers of the objective are measured in.

    graph : whose reads are counted, those of its level `finest`; None where that is a contracted graph.
    shares : of k parts whose bounds differ, instead of those of the task; None if all have the same.
    """

    graph: Graph | None
    finest: Level
    totals: Totals
    rng: np.random.Generator
    progress: Progress
    shares: Shares | None = None
    thoroughness: Thoroughness = THOROUGH

    def reads(self, level: Level, n_entries: int) -> None:
        """Count entries that were read of the user's graph; coarser levels are not counted."""
        if level is self.finest and self.graph is not None:
            self.progress.reads(self.graph, n_entries)

    def key(self) -> int:
        """A random key of 32 bits, from which loops draw who is in which batch."""
        return int(self.rng.integers(1 << 32))

    def spawn(self, n: int) -> list[Run]:
        """Runs of independent randomness, for steps side by side."""
        return [replace(self, rng=rng) for rng in self.rng.spawn(n)]


def run_on(on: WeighedGraph, rng: Seed = 0, progress: Progress | None = None, size: np.ndarray | None = None) -> Run:
    """A run over a graph; size : of each node, where clusters have bounds."""
    return Run(on.graph, level_of(on, size), on.totals, as_generator(rng), progress or Progress())


def with_sizes_as_masses(run: Run, size: np.ndarray) -> Run:
    """The run over the level whose nodes' masses are their sizes, for parts of equal size; size : float64, (n,).

    Masses are measured by the power of two that is about their mean, since loops take products of them.
    """
    mass = np.ldexp(size, -np.frexp(size.mean())[1])  # exact: only the exponents change
    level = read_only_level(run.finest.rows, Terms(run.finest.terms.loops, mass, size))
    return replace(run, finest=level, totals=Totals(run.totals.volume, float(mass.sum())))


def level_of(on: WeighedGraph, size: np.ndarray | None = None) -> Level:
    """A graph and the terms of its nodes as a level, not copied; size : of each node, where clusters have bounds."""
    size = None if size is None else read_only_view(size)
    return Level(on.graph.rows, Terms(on.terms.loops, on.terms.mass, size, on.layers))


def n_entries(level: Level) -> int:
    """Stored entries of the rows."""
    return len(level.rows.indices)


def mean_weight(level: Level) -> float:
    """The mean weight of the entries in use: rows within parts have unused room at the end."""
    weights = level.rows.weights[: level.rows.indptr[-1]]
    return float(weights.mean()) if len(weights) else 1.0


def at_nodes(terms: Terms, nodes: np.ndarray) -> Terms:
    """What some of the nodes add to their clusters."""
    return terms._replace(
        loops=terms.loops[nodes], mass=terms.mass[nodes], size=None if terms.size is None else terms.size[nodes]
    )


def heaviness(level: Level) -> np.ndarray:
    """The mass of each node, or the sum of the sizes of its masses where it has several; float64, (n,)."""
    mass = level.terms.mass
    return mass if mass.ndim == 1 else np.abs(mass).sum(axis=1)


def square_of_mean_mass(level: Level) -> float:
    """What chance puts between two average nodes, at a penalty of 1."""
    mean = level.terms.mass.mean(axis=0)
    return float(np.abs(level.terms.layers[0]) @ mean**2) if level.terms.layers else float(mean) ** 2


def penalty_of_level(level: Level) -> float:
    """The penalty at which regions are of about REGION nodes: an average link joins a node to a region of so many."""
    return mean_weight(level) / (REGION * square_of_mean_mass(level))


def is_small(level: Level) -> bool:
    """Whether a step runs over the level in one compiled call."""
    return n_entries(level) <= AT_ONCE


def value(partition: Partition, task: Task) -> float:
    """The sum of the scores of the clusters."""
    return float(value_of(task.objective, partition.sums))


def no_sums(level: Level, k: int) -> ClusterSums:
    """Sums of k clusters of a level, all zero."""
    return ClusterSums(np.zeros(k), np.zeros((k, *level.terms.mass.shape[1:])), np.zeros(k, np.int64))


def with_sums(level: Level, labels: np.ndarray, k: int, run: Run) -> Partition:
    """Labels 0..k-1, int32, with the sums of their clusters, by a pass over the rows."""
    run.reads(level, n_entries(level))
    return Partition(labels, stays_and_sums(level, labels, k)[1])


def with_one_more(sums: ClusterSums) -> ClusterSums:
    """The sums with those of one more cluster, which holds nothing that counts."""
    return ClusterSums(*(np.append(values, values.dtype.type(0)) for values in sums))


def without_last(sums: ClusterSums) -> ClusterSums:
    """The sums of all clusters but the last."""
    return ClusterSums(*(values[:-1] for values in sums))


def stays_and_sums(level: Level, labels: np.ndarray, k: int) -> tuple[np.ndarray, ClusterSums]:
    """The weight of each node to others of its cluster, and the sums of the clusters; label -1 is for no cluster."""
    stays, sums = np.empty(len(labels)), no_sums(level, k)
    blocks = entry_blocks(level.rows.indptr, 1 << 19)  # of some milliseconds, as AT_ONCE says
    run_in_blocks(loops.weights_to_own, blocks, level.rows, labels, stays)
    loops.add_to_sums(labels, stays, level.terms, sums)
    return stays, sums


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
    whole = np.full(len(labels), -1, np.int32)
    whole[taken] = numbered
    return whole, n_used


def read_only_level(rows: Rows, terms: Terms) -> Level:
    """A level of arrays that loops take as they take those of a graph: another type would be compiled once more."""
    size = None if terms.size is None else read_only_view(terms.size)
    mass, layers = read_only_view(terms.mass), terms.layers
    return Level(Rows(*map(read_only_view, rows)), Terms(read_only_view(terms.loops), mass, size, layers))
