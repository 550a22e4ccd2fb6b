"""The coreset of a graph that lies in many places: rows that travel, and its sampling block by block.

A few rounds replace drawing the seeds one after the other (k-means||, Bahmani et al. 2012, in the sparse feature space
of Jourdan et al. 2025). In a round every node is drawn independently, in proportion to its mass, by the counter
(key, round, node); then only the rows of the drawn nodes go to all blocks. That suffices, since x*, the node of least
self-affinity, is the first seed: a later seed is nearer than x* only to its neighbors.
"""

from typing import NamedTuple, Protocol

import numpy as np

from graphclust.compiled.graphs import csr as loops
from graphclust.compiled.graphs.coreset import CLIPPED, ENTRIES_READ, SeedDistances, approach_seeds
from graphclust.compiled.graphs.csr import ChosenRows
from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.runtime import random_numbers
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.errors import GraphClustError
from graphclust.graph.container import Graph
from graphclust.graph.executor import ByBlock, Engine, Whole, sum_in_order
from graphclust.objective.kernel import KernelTerms, NormalizedCutKernel
from graphclust.points.k_means.seeding import sample_in_rounds
from graphclust.progress import Progress

N_ROUNDS = 5  # as in the experiments of Bahmani et al. 2012; each is a pass over all blocks
IMPORTANCE_TURNS = 1 << 16  # the turns of a key below are those of the rounds
NO_MASS = "the masses of D²-sampling are all 0: K has a zero diagonal; use implied loops or a shift > 0"


class KernelSource(Protocol):
    """A graph and the terms of its kernel: a `NormalizedCutKernel`, or a `GraphSource`."""

    @property
    def graph(self) -> Graph: ...

    def terms(self, at: slice | np.ndarray) -> KernelTerms: ...


def rows_of(source: KernelSource, nodes: np.ndarray) -> ChosenRows:
    """The rows of some nodes, in increasing order."""
    terms = source.terms(nodes)
    return ChosenRows(nodes, *copy_row_subset(source.graph.rows, nodes), terms.degrees, terms.self_affinity)


def copy_row_subset(rows: Rows, nodes: np.ndarray, most: int | None = None) -> Rows:
    """The rows of some nodes, one after the other; of more than `most` entries so many, evenly from the whole row."""
    lengths = rows.indptr[nodes + 1] - rows.indptr[nodes]
    indptr = np.concatenate([[0], np.cumsum(lengths if most is None else np.minimum(lengths, most))])
    chosen = Rows(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1] if len(rows.weights) else 0))
    run_in_blocks(loops.copy_rows, entry_blocks(indptr), nodes, rows, chosen)
    return chosen


def concatenate_rows(source: KernelSource, parts: list[ChosenRows]) -> ChosenRows:
    """The rows of several blocks, one after the other."""
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    nodes, _, indices, weights, degrees, self_affinity = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return ChosenRows(nodes, indptr, indices, weights, degrees, self_affinity)


def kernel_among(rows: ChosenRows, point_weights: np.ndarray) -> NormalizedCutKernel:
    """The kernel between the chosen nodes themselves, numbered by their places, with these point weights."""
    places = np.searchsorted(rows.nodes, rows.indices)
    inside = np.append(rows.nodes, -1)[places] == rows.indices
    counts = np.concatenate([[0], np.cumsum(inside)])
    indptr = counts[rows.indptr]
    weights = rows.weights[inside] if len(rows.weights) else None
    indices = places[inside].astype(np.int32)
    graph = Graph(indptr, indices, weights, rows.degrees, np.zeros(len(rows.nodes)))
    return NormalizedCutKernel(graph, rows.degrees, rows.self_affinity, point_weights)


def kernel_towards_block(
    source: KernelSource, first: int, last: int, rows: ChosenRows
) -> tuple[NormalizedCutKernel, np.ndarray]:
    """The kernel between the nodes first..last-1 and the chosen nodes, and the numbers of the chosen nodes in it.

    Nodes of the block are numbered from 0, chosen ones that lie elsewhere follow. Only chosen nodes have rows.
    """
    n, m = last - first, len(rows.nodes)
    own = slice(*np.searchsorted(rows.nodes, [first, last]))
    numbers = n + np.arange(m)
    numbers[own] = rows.nodes[own] - first
    starts, ends = np.empty((2, m), np.int64)
    loops.bound_columns(first, last, rows, starts, ends)
    order = np.argsort(numbers, kind="stable")
    lengths = np.zeros(n + m, np.int64)
    lengths[numbers] = ends - starts
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    taken = np.repeat(starts[order] - indptr[numbers[order]], lengths[numbers[order]]) + np.arange(indptr[-1])
    weights = rows.weights[taken] if len(rows.weights) else None
    own_terms = source.terms(slice(first, last))
    degrees = np.concatenate([own_terms.degrees, rows.degrees])
    self_affinity = np.concatenate([own_terms.self_affinity, rows.self_affinity])
    graph = Graph(indptr, rows.indices[taken] - np.int32(first), weights, degrees, np.zeros(n + m))
    return NormalizedCutKernel(graph, degrees, self_affinity, degrees), numbers


class Distances(NamedTuple):
    """The distances of the nodes of a block to the seeds so far.

    sq_distances, nearest : squared distance to, and rank of, the nearest seed.
    mass : sum of weight x distance, added from the first node to the last.
    tally : entries read and distances clipped so far, int64.
    """

    sq_distances: np.ndarray
    nearest: np.ndarray
    mass: float
    tally: np.ndarray


class SeedSums(NamedTuple):
    """What the sampling probabilities need beside a node's own distance.

    cost : total mass.  seed_weight : total weight of the seeds.  volumes : weight of the nodes nearest to each seed, or
    None where that is not asked for.
    """

    cost: float
    seed_weight: float
    volumes: np.ndarray | None


class SampledCoreset(NamedTuple):
    """Nodes and weights of a coreset, a pair of arrays, by block and joined, and the account of `CoresetSample`."""

    parts: ByBlock
    joined: Whole
    n_clipped: int
    entries_read: int


def sample_by_blocks(
    engine: Engine, n_seeds: int, size: int, second_term: str, key: int, progress: Progress
) -> SampledCoreset:
    """A coreset of `size` draws; all points, with their own weights, where there are no more than that."""
    if sum(engine.fetch(engine.each(count_points))) <= size:
        parts = engine.each(all_points)
        return SampledCoreset(parts, engine.once(join_sample, parts), 0, 0)
    with progress.stage("D²-sampling"):
        rounds = SeedingRounds(engine, key)
        sample_in_rounds(rounds, n_seeds, N_ROUNDS, progress)
        distances, sums = rounds.distances, rounds.sums(second_term)
    with progress.stage("importance sampling"):
        totals = np.array(engine.fetch(engine.each(total_sensitivity, distances, sums)))
        total = float(sum_in_order(totals.tolist()))
        counts = np.random.default_rng([key, size]).multinomial(size, totals / totals.sum())
        in_blocks = engine.by_block(counts.tolist())
        parts = engine.each(draw_by_importance, distances, in_blocks, sums, total, size, key)
    joined = engine.once(join_sample, parts)
    return SampledCoreset(parts, joined, int(rounds.tally[CLIPPED]), int(rounds.tally[ENTRIES_READ]))


class SeedingRounds:
    """The rounds of D²-sampling on a graph, as `sample_in_rounds` takes them."""

    def __init__(self, engine: Engine, key: int):
        self.engine, self.key = engine, key
        least = min(engine.fetch(engine.each(least_affinity)))
        self.distances = engine.each(distances_at_first, least[0])
        self.seed_weight, self.n_seeds = 0.0, 0
        if not self.cost() > 0.0:
            raise GraphClustError(NO_MASS)
        self._approach(engine.once(rows_of, np.array([least[1]])))

    def cost(self) -> float:
        """The total mass, which no later round raises."""
        of_blocks = self.engine.each(lambda source, first, last, own: (own.mass, own.tally), self.distances)
        masses, tallies = zip(*self.engine.fetch(of_blocks), strict=True)
        self.tally = sum(tallies)
        self.latest_cost = float(sum_in_order(list(masses)))
        return self.latest_cost

    def draw(self, turn: int, factor: float) -> int:
        """Draw each node as a seed with probability factor x mass, independently; returns how many were drawn."""
        drawn = self.engine.each(draw_independent_rows, self.distances, factor, self.key, turn)
        before = self.n_seeds
        self._approach(self.engine.once(concatenate_rows, drawn))
        return self.n_seeds - before

    def _approach(self, rows: Whole) -> None:
        of_seeds = self.engine.once(lambda source, rows: source.terms(rows.nodes).point_weights, rows)
        weights = self.engine.fetch(of_seeds)
        self.distances = self.engine.each(approach_distances, self.distances, rows, self.n_seeds)
        self.n_seeds, self.seed_weight = self.n_seeds + len(weights), self.seed_weight + float(weights.sum())

    def sums(self, second_term: str) -> SeedSums:
        """What follows from all rounds."""
        volumes = None
        if second_term == "voronoi":
            volumes = sum_in_order(self.engine.fetch(self.engine.each(seed_volumes, self.distances, self.n_seeds)))
        return SeedSums(self.latest_cost, self.seed_weight, volumes)


def count_points(source: KernelSource, first: int, last: int) -> int:
    """Nodes of positive weight."""
    return int(np.count_nonzero(source.terms(slice(first, last)).point_weights))


def all_points(source: KernelSource, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes of positive weight, and their weights."""
    weights = source.terms(slice(first, last)).point_weights
    points = np.flatnonzero(weights > 0)
    return first + points, weights[points]


def least_affinity(source: KernelSource, first: int, last: int) -> tuple[float, int]:
    """The least K_xx among the points of a block, and its node; infinity where there is no point."""
    terms = source.terms(slice(first, last))
    points = np.flatnonzero(terms.point_weights > 0)
    if len(points) == 0:
        return np.inf, -1
    place = points[np.argmin(terms.self_affinity[points])]
    return float(terms.self_affinity[place]), first + int(place)


def distances_at_first(source: KernelSource, first: int, last: int, least: float) -> Distances:
    """The distances to x*, which shares no entry of K with a node: K_xx + K_x*x*."""
    terms = source.terms(slice(first, last))
    sq_distances = terms.self_affinity + least
    mass = float(np.cumsum(terms.point_weights * sq_distances)[-1])
    return Distances(sq_distances, np.zeros(last - first, np.int64), mass, np.zeros(2, np.int64))


def approach_distances(
    source: KernelSource, first: int, last: int, before: Distances, rows: ChosenRows, rank: int
) -> Distances:
    """The distances after adding the seeds with these rows, of ranks from `rank` on."""
    terms = source.terms(slice(first, last))
    after = SeedDistances(before.sq_distances.copy(), before.nearest.copy(), before.tally.copy())
    approach_seeds(first, last, rank, rows, terms, after)
    mass = float(np.cumsum(terms.point_weights * after.sq_distances)[-1])
    return Distances(after.sq_distances, after.nearest, mass, after.tally)


def draw_independent_rows(
    source: KernelSource, first: int, last: int, distances: Distances, factor: float, key: int, turn: int
) -> ChosenRows:
    """The rows of the nodes of a block that are drawn, each independently."""
    drawn = np.empty(last - first, np.int64)
    weights = source.terms(slice(first, last)).point_weights
    n_drawn = random_numbers.draw_each(key, turn, first, factor, weights, distances.sq_distances, drawn)
    return rows_of(source, first + drawn[:n_drawn])


def seed_volumes(source: KernelSource, first: int, last: int, distances: Distances, n_seeds: int) -> np.ndarray:
    """Weight of the nodes of a block that are nearest to each seed."""
    weights = source.terms(slice(first, last)).point_weights
    return np.bincount(distances.nearest, weights, minlength=n_seeds)


def sensitivities(source: KernelSource, first: int, last: int, distances: Distances, sums: SeedSums) -> np.ndarray:
    """The sampling probabilities of the nodes of a block up to a factor, see `sampling_probabilities`."""
    weights = source.terms(slice(first, last)).point_weights
    return sensitivities_of(weights, distances.sq_distances, distances.nearest, sums)


def sensitivities_of(weights: np.ndarray, sq_distances: np.ndarray, nearest: np.ndarray, sums: SeedSums) -> np.ndarray:
    """The sampling probabilities of nodes up to a factor; one array for all the steps, since it may be long."""
    sensitivity = weights * sq_distances
    if sums.cost > 0.0:
        sensitivity /= sums.cost
    if sums.volumes is None:
        sensitivity += weights / sums.seed_weight
    else:
        sensitivity += np.divide(weights, sums.volumes[nearest], out=np.zeros(len(weights)), where=weights > 0.0)
    return sensitivity


def total_sensitivity(source: KernelSource, first: int, last: int, distances: Distances, sums: SeedSums) -> float:
    """Their sum over a block, from the first to the last."""
    return float(np.cumsum(sensitivities(source, first, last, distances, sums))[-1])


def draw_by_importance(
    source: KernelSource, first: int, last: int, distances: Distances, n: int, sums: SeedSums, total: float, size: int,
    key: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """n draws among the nodes of a block: distinct nodes, increasing, and weights c w / (p size) for c draws."""
    shares = sensitivities(source, first, last, distances, sums)
    uniforms = np.empty(n)
    random_numbers.fill_uniforms(key, IMPORTANCE_TURNS + first, 0, uniforms)
    places, counts = draw_in_proportion(shares, uniforms)
    weights = source.terms(first + places).point_weights
    return first + places, counts * weights / (shares[places] / total * size)


def draw_in_proportion(masses: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places that draws in proportion to masses hit, each once, increasing, and how often."""
    cumulative = np.cumsum(masses)
    drawn = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    last = np.searchsorted(cumulative, cumulative[-1])  # the last that can be drawn, should a product round up
    return np.unique(np.minimum(drawn, last), return_counts=True)


def join_sample(source: KernelSource, parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the whole coreset."""
    nodes, weights = zip(*parts, strict=True)
    return np.concatenate(nodes), np.concatenate(weights)


def coreset_rows(engine: Engine, sample: SampledCoreset) -> Whole:
    """The rows of all coreset nodes, gathered."""
    of_blocks = engine.each(lambda source, first, last, part: rows_of(source, part[0]), sample.parts)
    return engine.once(concatenate_rows, of_blocks)
