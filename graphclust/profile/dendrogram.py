"""From a partition into many clusters down to one cluster, union by union, with the partition into every k between.

Clusters are united in the order of their excess over chance, as in the dendrogram of Bonald et al. 2018. Now and then
regions, small groups of nodes, move between the clusters at the resolution at which the present k is natural: these
moves correct unions that turn out to be wrong. When time is up, nothing moves.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphclust.compiled.graphs.levels import Level, Partition, Task
from graphclust.compiled.graphs.objective import CHANCE, RATIO, Objective
from graphclust.engine.contraction import agglomerate, contract
from graphclust.engine.levels import Run, with_sums
from graphclust.engine.local_moving import refine
from graphclust.engine.resolution import FLOOR, objective_of
from graphclust.objective.objective import ObjectiveChoice, chance_objective

# Clusters up to which regions move after each union, since these partitions decide which k is suggested; and above, the
# share of the clusters after whose unions they move: else the cost grows with the square of k.
EVERY, STRIDE = 50, 0.04


class LevelStats(NamedTuple):
    """What is known of the partition into k clusters.

    inside : share of the graph's weight inside clusters, as the objective counts it. squares : sum of the squares of
    the clusters' shares of the mass. sizes : nodes of each cluster, decreasing. united : the place in `sizes` of the
    cluster that the union leading to this partition made, or None.
    """

    inside: float
    squares: float
    score: float
    normalized_cut: float
    modularity: float
    sizes: npt.NDArray[np.int64]
    united: int | None


class Descent(NamedTuple):
    """Partitions of the regions into `top` clusters, top - 1, ..., 1, each cluster with a name from 0 to top - 1.

    stops : k -> names of the regions' clusters, int32, for the k where regions moved.
    unions : int64, shape (top, 2); row t holds the names of the cluster that ends and of the one that goes on in the
    union that leaves t clusters; row 0 is not used. excess : shape (top,), the links of each over those of chance.
    figures : k -> LevelStats.
    """

    stops: dict[int, npt.NDArray[np.int32]]
    unions: npt.NDArray[np.int64]
    excess: npt.NDArray[np.float64]
    figures: dict[int, LevelStats]

    def names(self, k: int) -> npt.NDArray[np.int32]:
        """The name of the cluster of each region, in the partition into k."""
        start = min(stop for stop in self.stops if stop >= k)
        renamed = np.arange(len(self.unions), dtype=np.int32)
        for t in range(start - 1, k - 1, -1):
            ended, enlarged = self.unions[t]
            renamed[renamed == ended] = enlarged
        return renamed[self.stops[start]]

    def labels(self, k: int) -> npt.NDArray[np.int32]:
        """Names as labels from 0 to k - 1, in the order of the names."""
        return np.unique(self.names(k), return_inverse=True)[1].astype(np.int32)


class Nodes(NamedTuple):
    """The volume and the number of nodes of each region; and the volume of the nodes in no region."""

    volume: npt.NDArray[np.float64]
    n_nodes: npt.NDArray[np.int64]
    aside: float


class Clusters:
    """The sums of the remaining clusters, from which the figures of a partition follow."""

    def __init__(self, choice: ObjectiveChoice, partition: Partition, nodes: Nodes, run: Run):
        k = len(partition.sums.size)
        self.total_volume, self.aside = run.totals.volume, nodes.aside
        self.inside, self.mass = partition.sums.inside.copy(), partition.sums.mass.copy()
        self.volume = np.bincount(partition.labels, weights=nodes.volume, minlength=k)
        self.sizes = np.bincount(partition.labels, weights=nodes.n_nodes, minlength=k).astype(np.int64)
        self.counts_loops_off = choice.spec.less_degree  # inside is then minus the cut
        self.left = np.ones(k, bool)

    def link(self, objective: Objective, gain: float, a: int, b: int) -> float:
        """The weight between two clusters, from the gain of their union, which is minus infinity for unlinked ones."""
        if gain == -np.inf:
            return 0.0
        if objective.kind == CHANCE:
            return float(gain * self.mass[a] * self.mass[b])
        if objective.kind == RATIO:
            apart = self.inside[a] / self.mass[a] + self.inside[b] / self.mass[b]
            return float((gain + apart) * (self.mass[a] + self.mass[b]) - self.inside[a] - self.inside[b]) / 2.0
        return float(gain / 2.0 + objective.penalty * self.mass[a] * self.mass[b])

    def unite(self, a: int, b: int, link: float) -> None:
        self.inside[b] += self.inside[a] + 2.0 * link
        for sums in (self.mass, self.volume, self.sizes):
            sums[b] += sums[a]
        self.left[a] = False

    def figures(self, united: int | None) -> LevelStats:
        """The figures of the present partition; nodes put aside are in no cluster, but count in the graph's volume."""
        inside, mass, volume, sizes = (
            values[self.left] for values in (self.inside, self.mass, self.volume, self.sizes)
        )
        # Rounding may leave a little of either sign where nothing is cut.
        cut = np.maximum(-inside if self.counts_loops_off else volume - inside, 0.0) * (len(inside) > 1)
        order = np.arange(len(self.left))[self.left]
        whole = float(volume.sum()) + self.aside
        by_size = np.lexsort((order, -sizes))
        return LevelStats(
            float(inside.sum()) / self.total_volume,
            float(np.square(mass / mass.sum()).sum()),
            float((inside / mass).sum()),
            float((cut / volume).sum()),
            float(((volume - cut) / whole - np.square(volume / whole)).sum()),
            sizes[by_size],
            None if united is None else int(np.flatnonzero(order[by_size] == united)[0]),
        )


def descend(level: Level, partition: Partition, choice: ObjectiveChoice, nodes: Nodes, run: Run) -> Descent:
    """All partitions from the one given down to one cluster; level : of the regions; nodes : of each."""
    top, progress = len(partition.sums.size), run.progress
    descent = Descent({}, np.zeros((top, 2), np.int64), np.zeros(top), {})
    names, k, excess, united = np.arange(top), top, np.inf, None
    while True:
        clusters = Clusters(choice, partition, nodes, run)
        descent.stops[k] = names[partition.labels].astype(np.int32)
        descent.figures[k] = clusters.figures(united)
        progress.step(top - k, top)
        if k == 1:
            return descent
        stop = k - 1 if k <= EVERY + 1 else max(EVERY, k - max(1, int(k * STRIDE)))
        if progress.out_of_time():
            stop = 1  # all unions at once
        order = chance_objective(run.totals)
        if choice.is_ratio or isinstance(choice.resolution, float) or excess <= FLOOR:
            # Below the floor unions of least loss are chosen: else small groups that hang on by few edges would remain.
            order = objective_of(choice, stop, FLOOR, run.totals)[0]
        beyond = max(stop - 1, 1)  # one further union shows down to which resolution `stop` clusters are natural
        gains, pairs = np.full(k, -np.inf), np.zeros((k, 2), np.int32)
        agglomerate(contract(level, partition, run).coarse, Task(order, beyond), run, gains, pairs)
        group = np.arange(k)
        excess_beyond = 0.0
        for t in range(k - 1, beyond - 1, -1):
            a, b = pairs[t].tolist()
            link = clusters.link(order, float(gains[t]), a, b)
            excess_beyond = link / float(clusters.mass[a] * clusters.mass[b]) / run.totals.chance
            if t < stop:
                break
            excess = descent.excess[t] = excess_beyond
            descent.unions[t] = names[a], names[b]
            clusters.unite(a, b, link)
            group[group == a] = b
            if t > stop:
                descent.figures[t] = clusters.figures(b)
        numbers, renumbered = np.flatnonzero(clusters.left), np.cumsum(clusters.left, dtype=np.int32) - np.int32(1)
        united = int(np.flatnonzero(numbers == pairs[stop, 1])[0])
        names, k = names[numbers], stop
        partition = with_sums(level, renumbered[group[partition.labels]], k, run)
        middle = float(np.sqrt(max(excess, 0.0) * max(excess_beyond, 0.0)))
        if k > 1:
            task = Task(objective_of(choice, k, middle, run.totals)[0], k)
            partition = refine(level, partition, task, run)
