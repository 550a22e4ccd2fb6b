"""The coreset, drawn or by hand, its graph and the extension of its labels, against dense twins; how good it is."""

import os
import warnings
from functools import partial

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from coresets import some_coreset
from graphs import all_graphs, make, make_graph, poisoned_except
from reference import algorithms as reference

from graphclust import Coreset
from graphclust.coreset.label_extension import coreset_graph, extend_labels
from graphclust.coreset.sampling import (
    SAMPLINGS,
    CoresetSample,
    Seeds,
    _round_sizes,
    construct_coreset,
    d2_seeding,
    importance_sample,
    sampling_probabilities,
)
from graphclust.errors import ConvergenceWarning, GraphValidationError, ParameterError
from graphclust.generators import planted_partition
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.cuts import kernel_k_means_cost, normalized_cut
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.points.kernel_k_means.coreset import coreset_kernel_kmeans
from graphclust.results.coreset_quality import compare_coresets, coreset_quality, cost_on_all, cost_on_coreset

WITH_EDGES = [name for name in all_graphs() if name not in ("one node", "no edges")]


@for_each("name", WITH_EDGES)
@for_each("shift", [0.0, 0.5])
def test_coreset_graph_equals_the_dense_formula_and_is_symmetric_to_the_bit(name, shift):
    matrix = make(name)
    kernel = NormalizedCutKernel.of(make_graph(name), shift=shift)
    K, _ = reference.dense_kernel(matrix.toarray(), shift=shift)
    coreset = some_coreset(kernel, 5)
    found = coreset_graph(kernel, coreset)
    expected = reference.coreset_adjacency(K, coreset.nodes, coreset.weights)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12)
    assert (found.toarray() == found.toarray().T).all()
    assert found.has_canonical_format


@for_each("name", WITH_EDGES)
def test_the_whole_graph_as_coreset_gives_the_graph_with_its_loops_back(name):
    kernel = NormalizedCutKernel.of(make_graph(name))
    K, weights = reference.dense_kernel(make(name).toarray())
    points = kernel.points
    found = coreset_graph(kernel, CoresetSample(points, kernel.point_weights[points]))
    with_loops = np.diag(weights) @ K @ np.diag(weights)
    np.testing.assert_allclose(found.toarray(), with_loops[np.ix_(points, points)], rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), kernel.degrees[points], rtol=1e-12)


@for_each("name", WITH_EDGES)
@for_each("seed", [518, 2209])
@for_each("met_only", [False, True])
def test_labels_equal_dense_weighted_kernel_k_means_assignment(name, seed, met_only):
    kernel = NormalizedCutKernel.of(make_graph(name))
    K, _ = reference.dense_kernel(make(name).toarray())
    coreset = some_coreset(kernel, seed)
    k = min(4, len(coreset.nodes))
    coreset_labels = np.random.default_rng(seed).permutation(np.arange(len(coreset.nodes)) % k)
    values = reference.nearest_centroid(K, coreset.nodes, coreset.weights, coreset_labels)
    found = extend_labels(kernel, coreset, coreset_labels, met_only=met_only)
    points = kernel.points
    scale = np.abs(values[points]).max(axis=1)
    if met_only:
        met = np.stack([K[:, coreset.nodes[coreset_labels == j]].any(axis=1) for j in range(k)], axis=1)
        values[~met & met.any(axis=1)[:, None]] = np.inf
    chosen = values[points, found.labels[points]]
    assert (chosen <= values[points].min(axis=1) + 1e-11 * scale).all()
    clear = np.sort(values[points], axis=1)[:, :2]
    by_a_margin = clear[:, 0] < clear[:, -1] - 1e-9 * scale
    assert (found.labels[points] == values[points].argmin(axis=1))[by_a_margin].all()
    assert (found.labels[kernel.degrees == 0] == -1).all()
    touched = np.abs(K[:, coreset.nodes]).sum(axis=1) > 0
    assert (found.undecided == ~touched & (kernel.degrees > 0)).all()


def test_labels_on_very_unequal_degrees_look_degrees_up_by_node():
    """A hub of degree 200 beside a ring: norms that took a neighbor's degree by its position would go wrong."""
    kernel = NormalizedCutKernel.of(make_graph("hub"))
    K, _ = reference.dense_kernel(make("hub").toarray())
    coreset = CoresetSample(np.arange(0, 201, 3), kernel.degrees[::3] * 3)
    labels = np.arange(len(coreset.nodes)) * 3 // 68
    values = reference.nearest_centroid(K, coreset.nodes, coreset.weights, labels)
    found = extend_labels(kernel, coreset, labels)
    assert len(set(found.labels)) == 3
    np.testing.assert_allclose(values[np.arange(201), found.labels], values.min(axis=1), rtol=1e-12)


def test_empty_clusters_are_never_chosen_and_ties_go_to_the_lower_cluster():
    kernel = NormalizedCutKernel.of(nx.path_graph(7))
    coreset = CoresetSample(np.array([1, 5]), np.array([3.0, 3.0]))
    found = extend_labels(kernel, coreset, np.array([3, 1]))
    assert found.labels.tolist() == [3, 3, 3, 1, 1, 1, 1]  # node 3 meets neither: equal norms, lower cluster
    assert found.undecided.tolist() == [False, False, False, True, False, False, False]


def test_only_rows_of_the_coreset_are_read():
    graph = make_graph("power-law blocks")
    kernel = NormalizedCutKernel.of(graph)
    coreset = some_coreset(kernel, 3, share=0.2)
    labels = np.arange(len(coreset.nodes)) % 5
    found = extend_labels(kernel, coreset, labels)
    assert found.entries_read == np.diff(graph.indptr)[coreset.nodes].sum()
    poisoned = NormalizedCutKernel(
        poisoned_except(graph, coreset.nodes), kernel.degrees, kernel.self_affinity, kernel.point_weights
    )
    assert (extend_labels(poisoned, coreset, labels).labels == found.labels).all()
    assert (coreset_graph(poisoned, coreset) != coreset_graph(kernel, coreset)).nnz == 0


def test_permuting_the_nodes_permutes_the_labels():
    matrix = make("power-law blocks")
    order = np.random.default_rng(6).permutation(matrix.shape[0])
    place = np.argsort(order)
    kernel = NormalizedCutKernel.of(make_graph("power-law blocks"))
    permuted = NormalizedCutKernel.of(matrix[order][:, order])
    coreset = some_coreset(kernel, 8)
    labels = np.arange(len(coreset.nodes)) % 3
    by_new_place = np.argsort(place[coreset.nodes])
    moved = CoresetSample(place[coreset.nodes][by_new_place], coreset.weights[by_new_place])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = extend_labels(kernel, coreset, labels)
        other = extend_labels(permuted, moved, labels[by_new_place])
    assert (other.labels == one.labels[order]).mean() > 0.999  # sums in another order may break a tie otherwise


@for_each("shift", [0.0, 0.25])
@for_each("name", ["some loops", "weighted", "karate", "looped block model", "power-law blocks"])
def test_cost_is_the_normalized_cut_but_for_a_constant(name, shift):
    """cost = NCut + trace(D^-1 A) - k + s (n - k), for partitions into exactly k clusters."""
    A = make(name).toarray()
    K, weights = reference.dense_kernel(A, loops="given", shift=shift)
    rng = np.random.default_rng(29)
    for k in (1, 2, 5):
        labels = rng.permutation(np.arange(len(A)) % k)
        cost = reference.kernel_k_means_cost(K, weights, labels)
        constant = (np.diag(A) / A.sum(axis=1)).sum() - k + shift * (len(A) - k)
        assert cost == pytest.approx(normalized_cut(make_graph(name), labels) + constant, rel=1e-10, abs=1e-10)
        assert cost == pytest.approx(kernel_k_means_cost(make_graph(name), labels, shift=shift), rel=1e-10, abs=1e-10)


def test_a_coreset_of_every_node_is_exact():
    kernel = NormalizedCutKernel.of(make_graph("isolates"))
    for sampling in SAMPLINGS:
        coreset = construct_coreset(kernel, 2, 5, sampling=sampling, rng=0)
        assert coreset.nodes.tolist() == [1, 2, 4, 5, 6]
        assert (coreset.weights == kernel.degrees[coreset.nodes]).all()


OTHER = {"sampling": "parallel", "second_term": "voronoi"}


@for_each(("how", "least"), [*(({"sampling": one}, 31) for one in ("tree", "naive", "parallel")), (OTHER, 1)])
@for_each("rounds", [1, 2, 3])
def test_coresets_are_sorted_distinct_and_no_larger_than_asked(how, least, rounds):
    kernel = NormalizedCutKernel.of(make_graph("power-law blocks"))
    coreset = construct_coreset(kernel, 5, 60, rounds=rounds, rng=13, **how)
    assert least <= len(coreset.nodes) <= 60
    assert (np.diff(coreset.nodes) > 0).all()
    assert (coreset.weights > 0).all()
    assert (kernel.degrees[coreset.nodes] > 0).all()


def test_impossible_coreset_arguments_are_named():
    kernel = NormalizedCutKernel.of(nx.path_graph(9))
    refuses(ParameterError, "size=2 is less than k=3", construct_coreset, kernel, 3, 2)
    refuses(ParameterError, "oversampling", construct_coreset, kernel, 3, 5, oversampling=0)
    refuses(ParameterError, "second_term", construct_coreset, kernel, 3, 5, second_term="uniform")
    with pytest.raises(GraphValidationError, match="coreset_labels"):
        extend_labels(kernel, CoresetSample(np.array([0]), np.ones(1)), np.array([-1]))
    with pytest.raises(GraphValidationError, match="coreset_labels has shape"):
        extend_labels(kernel, CoresetSample(np.array([0]), np.ones(1)), np.array([0, 1]))


def test_a_clique_has_fewer_distinct_points_than_seeds():
    kernel = NormalizedCutKernel.of(nx.complete_graph(30))
    with pytest.warns(ConvergenceWarning, match="coincide"):
        coreset = construct_coreset(kernel, 4, 12, rng=0)
    assert np.isfinite(coreset.weights).all()


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.parametrize(
    ("planted", "size", "helps"),
    [
        ((4, 150, 60, 2), 150, False),
        ((3, 150, 40, 3), 240, False),
        ((3, 150, 40, 3), 45, True),  # too few to be sure of each node
        ((5, 200, 12, 2), 250, True),  # below what shows any clusters, and twice is not yet enough either
    ],
)
def test_the_verdict_on_a_coreset_is_true(planted, size, helps):
    graph, labels = planted_partition(*planted, rng=0)
    found = coreset_sc(graph, planted[0], method="paper", coreset=Coreset(size=size, embedding="eigsh"), rng=0)
    quality = coreset_quality(found, rng=0)
    assert quality.larger_helps == helps and quality.size == size < quality.larger_size
    assert ("would help" in str(quality)) == helps == ("hardly" not in str(quality))

    def agreement(size):
        how = {"method": "paper", "coreset": Coreset(size=size)}
        again = (coreset_sc(graph, planted[0], rng=seed, **how) for seed in range(3))
        return np.mean([adjusted_rand_index(one.labels, labels) for one in again])

    gain = agreement(quality.larger_size) - agreement(size)
    assert gain > 0.01 if helps else gain < 0.01
    assert quality.cost_on_coreset < quality.cost_on_all


@pytest.mark.parametrize("loops", ["implied", "given"])
def test_on_the_whole_graph_both_costs_are_the_same(loops):
    graph = nx.karate_club_graph()
    graph.add_edges_from((u, u) for u in range(0, 34, 3))
    kernel = NormalizedCutKernel.of(graph, loops)
    labels = np.arange(34) % 3
    whole = CoresetSample(np.arange(34), kernel.degrees)
    loops_of = kernel.degrees - kernel.graph.degrees + kernel.graph.loops
    A = kernel.graph.to_scipy().toarray()
    A[np.arange(34), np.arange(34)] = loops_of
    expected = sum(1.0 - A[np.ix_(labels == c, labels == c)].sum() / A[labels == c].sum() for c in range(3))
    assert cost_on_all(kernel, labels) == pytest.approx(expected)
    assert cost_on_coreset(kernel, whole, labels) == pytest.approx(expected)


@pytest.mark.parametrize("max_iter", [1, 2, 300])
def test_cost_on_a_coreset_is_that_of_its_points_about_the_means_of_their_last_clusters(max_iter):
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(60, 2)), rng.random(60)
    found = coreset_kernel_kmeans(
        points, 3, coreset_size=60, kernel="linear", sample_weight=weights, max_iter=max_iter, rng=2
    )
    labels = found.centers.coefficients.tocsc().indices  # of the coreset, each point being part of one center
    means = [np.average(points[labels == c], axis=0, weights=weights[labels == c]) for c in range(3)]
    expected = (weights * ((points - np.array(means)[labels]) ** 2).sum(axis=1)).sum()
    assert found.cost_on_coreset == pytest.approx(expected, rel=1e-12)


def test_figures_of_coresets_that_are_made_up():
    labels = np.arange(10) % 2
    costs = {10: 2.0, 20: 1.99, 80: 1.0}

    quality = compare_coresets(lambda size: (labels, 0.5, costs[size]), 10, 1000, 3)
    assert not quality.larger_helps and quality.larger_size == 20 and quality.agreement == 1.0
    turn = iter(range(100))

    def changing(size):
        return np.roll(np.arange(10) // 5, next(turn)), 0.5, costs[size]

    quality = compare_coresets(changing, 10, 1000, 3)
    assert quality.larger_helps and quality.larger_size == 80 and quality.costs_of_larger.tolist() == [1.0] * 3
    whole = compare_coresets(lambda size: (labels, 2.0, costs[size]), 10, 10, 2)
    assert not whole.larger_helps and whole.larger_size == 10 and whole.spread == 0.0
    assert compare_coresets(lambda size: (labels, 2.0, costs[size]), 10, 20, 2).larger_size == 20


def test_what_has_no_coreset_to_judge():
    with pytest.raises(ParameterError, match="made by method 'multilevel', expected 'paper'"):
        coreset_quality(coreset_sc(nx.karate_club_graph(), 2, rng=0))
    found = coreset_sc(nx.karate_club_graph(), 2, method="paper", rng=0)
    refuses(ParameterError, "n_repeats=1", coreset_quality, found, n_repeats=1)


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


@for_each("rounds", [1, 2, 3, 4])
@for_each(("n", "size"), [(10**6, 2000), (10**5, 700), (10**9, 50)])
def test_sizes_of_rounds_follow_algorithm_4(n, size, rounds):
    """|X_i| in proportion to eps_i^-2 log|X_(i-1)| with eps_i = (log^(i) n)^(-1/4), so eps_i^-2 = sqrt(log^(i) n)."""
    sizes = _round_sizes(n, size, rounds)
    iterated, previous, scales = float(n), float(n), []
    for found in sizes:
        iterated = max(np.log(iterated), 1.0)
        scales.append(found / (np.sqrt(iterated) * np.log(previous)))
        previous = found
    assert len(sizes) == rounds and sizes[-1] == size and (np.diff([n, *sizes]) < 0).all()
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
    sample = CoresetSample(np.arange(5000), np.full(5000, 2.0))
    assert repr(sample) == "CoresetSample(nodes=5000, weight=10000, n_clipped=0)"


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
