"""Natural resolutions: those in the middle of the widest ranges over which a dendrogram keeps its number of clusters.

Source: Weir, Emmons, Gibson, Taylor & Mucha 2017 (CHAMP) for the ranges; the dendrogram is that of Bonald et al. 2018.
"""

from math import log, sqrt

import numpy as np

from graphclust.compiled.graphs import agglomeration as loops
from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.engine.contraction import contract
from graphclust.engine.engine import FINEST
from graphclust.engine.levels import Run, room_for
from graphclust.engine.local_moving import find_regions
from graphclust.objective.objective import WeighedGraph, chance_objective
from graphclust.profile.resolution_profile import best_ranges

LOWEST, HIGHEST = 1.0 / 16.0, 16.0  # resolutions between which ranges are looked at
WIDE = log(2.0)  # of a range; random graphs have .2, planted groups .8 and more
FEWEST_NODES = 4  # of an average cluster


def natural_resolutions(on: WeighedGraph, run: Run, lowest: float = LOWEST) -> list[tuple[float, float]]:
    """Each natural resolution, in units of chance, and how wide its range is as a logarithm; the widest first.

    lowest : resolutions below it do not count; of one cluster, and of clusters that are tiny, no range does.
    """
    regions = find_regions(run.finest, FINEST * on.totals.chance, run)
    inside, squares = dendrogram_sums(on, regions, run)
    most = min(len(inside) - 1, on.graph.n_nodes // FEWEST_NODES)
    ranges = best_ranges(inside, squares * on.totals.chance)[2 : most + 1]
    low, high = np.maximum(ranges[:, 0], lowest), np.minimum(ranges[:, 1], HIGHEST)
    found = [(sqrt(a * b), log(b / a)) for a, b in zip(low.tolist(), high.tolist(), strict=True) if b > a]
    return sorted(found, key=lambda one: -one[1])


def dendrogram_sums(on: WeighedGraph, regions: Partition, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Weight inside and sum of squared masses of the partition into t clusters, at place t; nothing is at place 0."""
    level = contract(run.finest, regions, run).coarse
    n = len(level.terms.mass)
    gains, pairs = np.zeros(n), np.zeros((n, 2), np.int32)
    loops.agglomerate_into(level, Task(chance_objective(on.totals), 1), gains, pairs, room_for(level, n))
    inside, squares = np.zeros((2, n + 1))
    inside[n], squares[n] = level.terms.loops.sum(), (level.terms.mass**2).sum()
    mass = level.terms.mass.tolist()
    for t, gain, (a, b) in zip(range(n - 1, 0, -1), gains[:0:-1].tolist(), pairs[:0:-1].tolist(), strict=True):
        chance = 2.0 * mass[a] * mass[b]
        inside[t], squares[t] = inside[t + 1] + gain * chance, squares[t + 1] + chance
        mass[b] += mass[a]
    squares[0] = squares[1]  # with nothing inside: never the best
    inside[0] = -1.0
    return inside, squares
