"""Coresets given by hand: weights of zero, nodes that cannot be, sizes and weights of what is drawn."""

from functools import partial

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from graphs import make, make_graph
from reference import algorithms as reference

from graphclust.coreset.label_extension import coreset_graph, extend_labels
from graphclust.coreset.sampling import (
    CoresetSample,
    Seeds,
    _round_sizes,
    construct_coreset,
    d2_seeding,
    importance_sample,
    sampling_probabilities,
)
from graphclust.errors import GraphValidationError
from graphclust.objective.kernel import NormalizedCutKernel


@for_each("name", ["karate", "hub", "power-law blocks", "isolates"])
@for_each("share", [0.1, 0.5, 0.9])
def test_nodes_of_weight_zero_are_no_members_of_their_cluster(name, share):
    """The labels are those of the coreset without them, and of the dense formula."""
    kernel = NormalizedCutKernel.of(make_graph(name))
    rng = np.random.default_rng(round(10 * share))
    weights = kernel.degrees[kernel.points] * rng.uniform(0.5, 2.0, len(kernel.points))
    weights[rng.random(len(weights)) < share] = 0.0
    weights[0] = 1.0
    coreset = CoresetSample(kernel.points, weights)
    labels = rng.integers(0, 4, len(weights))
    labels[0] = 3
    kept = weights > 0.0
    found = extend_labels(kernel, coreset, labels)
    expected = extend_labels(kernel, CoresetSample(coreset.nodes[kept], weights[kept]), labels[kept])
    assert (found.labels == expected.labels).all()
    assert (found.undecided == expected.undecided).all()
    K, _ = reference.dense_kernel(make(name).toarray())
    values = reference.nearest_centroid(K, coreset.nodes[kept], weights[kept], labels[kept])
    points = kernel.points
    chosen = values[points, found.labels[points]]
    assert chosen == pytest.approx(values[points].min(axis=1), rel=1e-9, abs=1e-12 * np.abs(values[points]).max())


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e-160])
def test_weights_so_small_that_products_vanish_stay_within_the_arrays(weight):
    """A product that is rounded to 0 still says that its node was met, once."""
    kernel = NormalizedCutKernel.of(nx.complete_graph(200))
    weights = np.full(200, weight)
    weights[0] = 1.0
    found = extend_labels(kernel, CoresetSample(np.arange(200), weights), np.arange(200) % 2)
    assert set(found.labels) <= {0, 1} and not found.undecided.any()


@for_each(
    ("nodes", "weights", "said"),
    [
        ([0, 1, 2], [0.0, 0.0, 0.0], "zero everywhere"),
        ([0, 1, 2], [1.0, -1.0, 1.0], r"coreset.weights\[1\] is -1.0"),
        ([0, 1, 2], [1.0, 1.0, np.nan], r"coreset.weights\[2\] is nan"),
        ([0, 1, 2], [1.0, np.inf, 1.0], r"coreset.weights\[1\] is inf"),
        ([0, 1, 2], [1.0, 1.0], r"weights of shape \(2,\)"),
        ([-1, 1, 2], [1.0, 1.0, 1.0], r"increase within \[0, 9\)"),
        ([0, 1, 9], [1.0, 1.0, 1.0], r"increase within \[0, 9\)"),
        ([0, 2, 2], [1.0, 1.0, 1.0], "each node once"),
        ([2, 1, 0], [1.0, 1.0, 1.0], "sort them"),
        ([0.0, 1.0, 2.0], [1.0, 1.0, 1.0], "dtype float64"),
        ([0, 1, 8], [1.0, 1.0, 1.0], "holds 8, which has no edges"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*isolated")
def test_what_is_no_coreset_is_refused(nodes, weights, said):
    graph = nx.path_graph(8)
    graph.add_node(8)
    kernel = NormalizedCutKernel.of(graph)
    coreset = CoresetSample(np.array(nodes), np.array(weights))
    for take in (partial(extend_labels, coreset_labels=np.zeros(3, int)), coreset_graph):
        refuses(GraphValidationError, said, take, kernel, coreset)


def test_an_induced_graph_of_another_coreset_is_refused():
    kernel = NormalizedCutKernel.of(nx.path_graph(8))
    other = coreset_graph(kernel, CoresetSample(np.arange(4), np.ones(4)))
    with pytest.raises(GraphValidationError, match=r"induced has shape \(4, 4\)"):
        extend_labels(kernel, CoresetSample(np.arange(3), np.ones(3)), np.zeros(3, int), induced=other)


@pytest.mark.filterwarnings("ignore:only .* seeds were drawn")
@for_each("second_term", ["seed_weight", "voronoi"])
@for_each("rounds", [2, 3, 4, 7])
def test_the_last_round_has_as_many_draws_as_asked_for(rounds, second_term):
    kernel = NormalizedCutKernel.of(nx.barabasi_albert_graph(60, 3, seed=2))
    sizes = [
        len(construct_coreset(kernel, 2, 12, rounds=rounds, second_term=second_term, rng=seed).nodes)
        for seed in range(60)
    ]
    assert max(sizes) <= 12 and min(sizes) >= 2


@for_each("rounds", [2, 3, 4])
@for_each(("n", "size"), [(10**6, 2000), (10**5, 700), (10**9, 50)])
def test_sizes_of_rounds_follow_algorithm_4(n, size, rounds):
    """|X_i| in proportion to eps_i^-2 log|X_(i-1)| with eps_i = (log^(i) n)^(-1/4), so eps_i^-2 = sqrt(log^(i) n)."""
    sizes = _round_sizes(n, size, rounds)
    iterated, previous, scales = float(n), float(n), []
    for found in sizes:
        iterated = max(np.log(iterated), 1.0)
        scales.append(found / (np.sqrt(iterated) * np.log(previous)))
        previous = found
    assert len(sizes) == rounds and sizes[-1] == size
    assert scales == pytest.approx([scales[-1]] * rounds, rel=1.5 / size)


@pytest.mark.filterwarnings("ignore:.*isolated")
@pytest.mark.parametrize("size", [5, 40, 300])
def test_a_uniform_sample_weighs_each_draw_alike(size):
    """Draws x n / size times the node's weight, n the nodes that have edges: the draws add up to `size`."""
    graph = nx.barabasi_albert_graph(400, 2, seed=4)
    graph.add_nodes_from(range(400, 1000))
    kernel = NormalizedCutKernel.of(graph)
    coreset = construct_coreset(kernel, 2, size, sampling="uniform", rng=8)
    draws = coreset.weights / kernel.point_weights[coreset.nodes] * size / 400
    assert draws == pytest.approx(np.round(draws), abs=1e-9) and round(draws.sum()) == size
    assert (draws > 0.5).all() and (kernel.degrees[coreset.nodes] > 0).all()
    assert size < 40 or draws.max() > 1.5


def test_a_seed_that_was_drawn_twice_weighs_once():
    """The tree's uniform draw may hit its first node again: both are one seed in the weight of all seeds."""
    kernel = NormalizedCutKernel.of(nx.path_graph(3))  # weights 2, 3, 2
    seeds = Seeds(np.array([0, 0, 1]), np.array([0.0, 0.0, 1.0]), np.array([1, 2, 2]), 0, 0)
    sensitivity = np.array([2 / 5, 3 / 5, 1 + 2 / 5])
    assert sampling_probabilities(kernel, seeds) == pytest.approx(sensitivity / sensitivity.sum())
    coreset = importance_sample(kernel, seeds, 10, rng=1)
    draws = coreset.weights * sensitivity[coreset.nodes] / sensitivity.sum() * 10 / kernel.degrees[coreset.nodes]
    assert round(draws.sum(), 9) == 10


def test_a_coreset_is_shown_in_one_line():
    assert (
        repr(CoresetSample(np.arange(5000), np.full(5000, 2.0)))
        == "CoresetSample(nodes=5000, weight=10000, n_clipped=0)"
    )


@for_each("seed", range(4))
def test_probabilities_bound_the_share_of_a_node_in_any_cost(seed):
    """By brute force over the centers of all bisections.

    With seeds of alpha times the least cost, the share is at most 8 alpha times the terms before they are made to sum
    to 1: Bachem, Lucic & Krause 2017, "Practical coreset constructions for machine learning", lemma 2.
    """
    rng, n = np.random.default_rng(seed), 9
    A = np.triu(rng.random((n, n)) < 0.4, 1) * rng.choice([0.01, 1.0, 30.0], (n, n))
    A += A.T + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    A += np.diag(A.sum(axis=1))  # so that distances are those of points
    K, weights = reference.dense_kernel(A)
    kernel = NormalizedCutKernel.of(A)
    seeds = d2_seeding(kernel, 2, rng=seed)
    second = np.arange(1, 1 << (n - 1))[:, None] >> np.arange(n) & 1
    means = weights * np.stack([second, 1 - second], axis=1)
    means /= means.sum(axis=2, keepdims=True)
    sq_distances = np.diag(K) + ((means @ K) * means).sum(axis=2)[:, :, None] - 2.0 * (means @ K)
    masses = weights * np.maximum(sq_distances.min(axis=1), 0.0)
    costs = masses.sum(axis=1)
    shares = (masses / costs[:, None]).max(axis=0)
    alpha = max((weights * seeds.sq_distances).sum() / costs.min(), 1.0)
    found = sampling_probabilities(kernel, seeds, second_term="voronoi")
    assert (shares <= 8.0 * alpha * (1 + len(np.unique(seeds.nearest))) * found).all()
