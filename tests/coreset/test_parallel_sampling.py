"""Sampling in rounds, block by block: what is drawn depends on the node alone, and is what the formula says."""

import itertools

import networkx as nx
import numpy as np
import pytest
from graphs import make

import graphclust
from graphclust.compiled.runtime import blocks, random_numbers
from graphclust.compiled.runtime.blocks import coarse_blocks, map_blocks, row_blocks
from graphclust.coreset import by_blocks as steps
from graphclust.coreset.label_extension import centroids_of_rows, extend_labels, labels_in_block
from graphclust.coreset.sampling import CoresetSample, Seeds, construct_coreset, sampling_probabilities
from graphclust.graph.executor import Engine, sum_in_order
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.points.k_means.seeding import sample_in_rounds
from graphclust.progress import Progress
from graphclust.two_step import shared_neighbors
from graphclust.two_step.shared_neighbors import link_coreset, link_rows

# Interpreted loops warn of what wraps round.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning")

BOUNDARIES = [[0, 60], [0, 1, 2, 30, 60], list(range(61))]


@pytest.fixture(scope="module")
def kernel():
    """60 nodes, of which 7 and 20 have no edges, with weights and some loops."""
    graph = nx.gnp_random_graph(60, 0.12, seed=3)
    rng = np.random.default_rng(17)
    graph.remove_edges_from([*graph.edges(7), *graph.edges(20)])
    graph.add_edges_from([(3, 3), (11, 11)])
    for _, _, edge in graph.edges(data=True):
        edge["weight"] = float(rng.integers(1, 6))
    with pytest.warns(graphclust.GraphWarning):
        return NormalizedCutKernel.of(graph)


class SeenRounds(steps.SeedingRounds):
    """Keeps the nodes of the seeds, in the order of their ranks."""

    def _approach(self, rows):
        self.nodes = [*getattr(self, "nodes", []), *rows.value.nodes.tolist()]
        super()._approach(rows)


def seeding(kernel, boundaries, key, n_seeds, n_rounds=3):
    rounds = SeenRounds(Engine(kernel, np.array(boundaries)), key)
    sample_in_rounds(rounds, n_seeds, n_rounds, Progress())
    return rounds


def joined(rounds):
    parts = rounds.engine.fetch(rounds.distances)
    return np.concatenate([part.sq_distances for part in parts]), np.concatenate([part.nearest for part in parts])


def test_draws_are_uniform_and_of_different_turns_independent():
    draws = np.empty((3, 40_000))
    for turn in range(3):
        random_numbers.fill_uniforms(2**63 - 5, turn, 0, draws[turn])
    assert (draws >= 0).all() and (draws < 1).all()
    counts = np.array([np.histogram(row, 50, (0, 1))[0] for row in draws])
    assert (((counts - 800.0) ** 2 / 800.0).sum(axis=1) < 100).all()  # 49 degrees of freedom
    correlations = np.corrcoef([*draws, np.roll(draws[0], 1)])
    assert np.abs(correlations - np.eye(4)).max() < 5 / 200


def test_a_draw_depends_on_its_number_alone():
    whole, part = np.empty(100), np.empty(40)
    random_numbers.fill_uniforms(5, 1, 0, whole)
    random_numbers.fill_uniforms(5, 1, 30, part)
    assert (whole[30:70] == part).all()


@pytest.mark.parametrize("boundaries", BOUNDARIES)
def test_the_distances_are_those_of_the_formula(kernel, boundaries):
    rounds = seeding(kernel, boundaries, 11, 12)
    sq_distances, nearest = joined(rounds)
    K = np.zeros((60, 60))
    for u in range(60):
        neighbors, affinities = kernel.row(u)
        K[u, neighbors] = affinities
    np.fill_diagonal(K, kernel.self_affinity)
    points = kernel.points
    seeds = rounds.nodes
    assert len(set(seeds)) == rounds.n_seeds > 5
    assert seeds[0] == points[np.argmin(kernel.self_affinity[points])]
    expected = np.maximum(kernel.self_affinity[:, None] + kernel.self_affinity[seeds] - 2 * K[:, seeds], 0)
    expected[seeds, np.arange(len(seeds))] = 0
    np.testing.assert_allclose(sq_distances[points], expected.min(axis=1)[points], atol=1e-15)
    np.testing.assert_allclose(expected[points, nearest[points]], sq_distances[points], atol=1e-15)
    assert rounds.cost() == pytest.approx((kernel.point_weights * sq_distances).sum())


def test_any_blocks_draw_the_same(kernel):
    found = [joined(seeding(kernel, boundaries, 23, 15)) for boundaries in BOUNDARIES]
    for one, other in itertools.pairwise(found):
        assert (one[0] == other[0]).all() and (one[1] == other[1]).all()


def test_each_node_is_drawn_in_proportion_to_its_mass(kernel):
    """Against the probabilities of a round, computed without blocks; not those of the degrees alone."""
    engine = Engine(kernel, np.array(BOUNDARIES[1]))
    rounds = steps.SeedingRounds(engine, 0)
    sq_distances, _ = joined(rounds)
    mass = kernel.point_weights * sq_distances
    factor = 20.0 / rounds.cost()
    drawn = np.zeros(60)
    n_runs = 4000
    for key in range(n_runs):
        for rows in engine.fetch(engine.each(steps.draw_independent_rows, rounds.distances, factor, key, 0)):
            drawn[rows.nodes] += 1

    def worst(probabilities):
        certain = probabilities == 0
        assert (drawn[certain] == 0).all()
        spread = np.sqrt(probabilities * (1 - probabilities) * n_runs)[~certain]
        return np.abs((drawn - probabilities * n_runs)[~certain] / np.maximum(spread, 0.5)).max()

    assert worst(np.minimum(1.0, factor * mass)) < 5
    assert worst(np.where(mass > 0, 20.0 * kernel.degrees / kernel.degrees[mass > 0].sum(), 0)) > 5


@pytest.mark.parametrize("second_term", ["seed_weight", "voronoi"])
def test_importance_sampling_has_the_published_probabilities(kernel, second_term):
    rounds = seeding(kernel, BOUNDARIES[1], 31, 10)
    sq_distances, nearest = joined(rounds)
    sums = rounds.sums(second_term)
    shares = np.concatenate(rounds.engine.fetch(rounds.engine.each(steps.sensitivities, rounds.distances, sums)))
    seeds = Seeds(np.array(rounds.nodes), sq_distances, nearest, 0, 0)
    expected = sampling_probabilities(kernel, seeds, second_term=second_term)
    np.testing.assert_allclose(shares / shares.sum(), expected, rtol=1e-12)


def test_draws_within_a_block_follow_the_shares(kernel):
    rounds = seeding(kernel, BOUNDARIES[0], 31, 10)
    sums = rounds.sums("seed_weight")
    [state] = rounds.engine.fetch(rounds.distances)
    shares = steps.sensitivities(kernel, 0, 60, state, sums)
    probabilities = shares / shares.sum()
    size = 40_000
    nodes, weights = steps.draw_by_importance(kernel, 0, 60, state, size, sums, float(shares.sum()), size, 5)
    counts = np.zeros(60)
    counts[nodes] = np.round(weights * probabilities[nodes] * size / kernel.point_weights[nodes])
    assert counts.sum() == size
    points = probabilities > 0
    expected = size * probabilities[points]
    assert ((counts[points] - expected) ** 2 / expected).sum() < 110  # 57 of freedom


def test_coresets_of_the_two_ways_are_alike():
    kernel = NormalizedCutKernel.of(make("block model"))
    sums = {way: [] for way in ("tree", "parallel")}
    for seed in range(40):
        for way, found in sums.items():
            coreset = construct_coreset(kernel, 3, 30, sampling=way, rng=seed)
            assert len(coreset.nodes) <= 30 and (np.diff(coreset.nodes) > 0).all() and (coreset.weights > 0).all()
            found.append(coreset.weights.sum())
    volume = kernel.point_weights.sum()
    for found in sums.values():
        assert np.mean(found) == pytest.approx(volume, abs=5 * np.std(found) / np.sqrt(40))


def test_nodes_without_weight_are_never_drawn():
    inner = NormalizedCutKernel.of(make("block model"))
    weights = np.where(np.arange(inner.n_nodes) % 3 == 0, 0.0, 2.0)
    restricted = inner.restrict_kernel(np.arange(inner.n_nodes), weights)
    for seed in range(20):
        nodes = construct_coreset(restricted, 2, 12, sampling="parallel", rng=seed).nodes
        assert (nodes % 3 > 0).all()


@pytest.mark.parametrize("boundaries", BOUNDARIES)
def test_links_and_labels_from_the_rows_of_the_coreset_are_those_of_the_graph(kernel, boundaries, monkeypatch):
    coreset = construct_coreset(kernel, 3, 25, rng=2)
    engine = Engine(kernel, np.array(boundaries))
    monkeypatch.setattr(shared_neighbors, "MOST_NEIGHBORS", 0.5)  # so that long rows are linked in part
    of_blocks = np.split(coreset.nodes, np.searchsorted(coreset.nodes, boundaries[1:-1]))
    rows = steps.coreset_rows(engine, steps.SampledCoreset(engine.by_block([(n, n) for n in of_blocks]), None, 0, 0))
    linked, expected = engine.fetch(engine.once(link_rows, rows, coreset.weights)), link_coreset(kernel, coreset)
    assert (linked.indices == expected.indices).all() and (linked.weights == expected.weights).all()

    places = np.arange(len(coreset.nodes))[::2]
    labels = np.arange(len(places)) % 4
    centroids = engine.once(centroids_of_rows, rows, coreset.weights, places, labels)
    found = np.concatenate(engine.fetch(engine.each(labels_in_block, rows, centroids)))
    members = CoresetSample(coreset.nodes[places], coreset.weights[places])
    extended = extend_labels(kernel, members, labels, met_only=True)
    assert (found == np.where(extended.undecided, -1, extended.labels)).all()
    assert len(set(found.tolist())) == 5


@pytest.mark.parametrize("degrees", [[0, 0, 0], [3] * 50_000, [100_000, 0, 1, 1], [0] * 70_000 + [5] * 10])
def test_coarse_blocks_are_few_and_cover_every_row(degrees):
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    boundaries = coarse_blocks(indptr)
    assert boundaries[0] == 0 and boundaries[-1] == len(degrees) and (np.diff(boundaries) > 0).all()
    assert len(boundaries) <= 2 * blocks.COARSE_BLOCKS + 2


def test_map_blocks_keeps_the_order_of_the_blocks():
    assert map_blocks(lambda first, last, block: (first, last, block), row_blocks(23, 10)) == [
        (0, 10, 0),
        (10, 20, 1),
        (20, 23, 2),
    ]
    assert sum_in_order([1e16, 1.0, -1e16]) == 0.0
