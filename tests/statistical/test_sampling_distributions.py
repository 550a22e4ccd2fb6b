"""Do samplers, seedings and mini-batches draw as they say? Each test has a broken variant that it must reject."""

import networkx as nx
import numpy as np
import pytest
from reference import algorithms as reference
from scipy import stats

import graphclust as gc
from graphclust import block_sums, distance_seeding, minibatch_kmeans
from graphclust.coreset.sampling import _draw_by_scan, _draw_by_tree
from graphclust.points.k_means.points import as_points
from graphclust.points.k_means.seeding import draw_candidates
from graphclust.progress import Progress

DRAWS, POINT_DRAWS = 20_000, 5_000
LEAST_P = 1e-6


@pytest.fixture(scope="module")
def uneven():
    """A loop-free graph of 40 nodes with degrees from 1 to about 20, and its dense kernel."""
    graph = nx.barabasi_albert_graph(34, 3, seed=9)
    graph.add_edges_from((0, leaf) for leaf in range(34, 40))
    return gc.NormalizedCutKernel.of(graph), *reference.dense_kernel(nx.to_numpy_array(graph))


def p_value(drawn: np.ndarray, probabilities: np.ndarray) -> float:
    """Chi-square of how often each node was drawn; nodes expected fewer than five times are taken together."""
    assert (probabilities[drawn] > 0).all(), "a node of probability 0 was drawn"
    observed = np.bincount(drawn, minlength=len(probabilities)).astype(float)
    expected = probabilities * len(drawn)
    rare = expected < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0
    return stats.chisquare(observed[kept], expected[kept] * observed.sum() / expected.sum()).pvalue


def third_draws(kernel, method, n_seeds):
    """Pairs (seeds before, seed drawn) over many runs."""
    rng = np.random.default_rng(5501)
    return [tuple(gc.d2_seeding(kernel, n_seeds, method=method, rng=rng).nodes) for _ in range(DRAWS)]


@pytest.mark.parametrize(("method", "n_seeds"), [("tree", 2), ("naive", 2)])
def test_d2_sampling_draws_from_the_exact_distribution(uneven, method, n_seeds):
    kernel, K, weights = uneven
    runs = third_draws(kernel, method, n_seeds)
    first = np.array([run[-2] for run in runs])
    assert p_value(first, np.full(40, 1 / 40)) > LEAST_P
    x_star = [runs[0][0]] if method == "tree" else []
    expected = np.mean([reference.d2_probabilities(K, weights, [*x_star, x]) for x in range(40)], axis=0)
    drawn = np.array([run[-1] for run in runs])
    assert p_value(drawn, expected) > LEAST_P

    # Broken variants: weights forgotten, the first uniform draw not updated for, self-affinities forgotten.
    ones = np.ones(40)
    forgot_weights = np.mean([reference.d2_probabilities(K, ones, [*x_star, x]) for x in range(40)], axis=0)
    assert p_value(drawn, np.where(expected > 0, np.maximum(forgot_weights, 1e-12), 0)) < LEAST_P
    no_diagonal = np.abs(K - np.diag(np.diag(K)))
    forgot_diagonal = no_diagonal.sum(axis=1) * weights
    assert p_value(drawn, forgot_diagonal / forgot_diagonal.sum()) < LEAST_P
    # Forgetting the update for the first draw would draw it again about once in forty times.
    assert (drawn != first).all()


def test_d2_sampling_given_the_seeds_before(uneven):
    kernel, K, weights = uneven
    runs = third_draws(kernel, "tree", 3)
    x_star = runs[0][0]
    second_most_common = max(range(40), key=lambda x: sum(run[2] == x for run in runs))
    chosen = [run for run in runs if run[2] == second_most_common]
    assert len(chosen) > 800
    by_first: dict[int, int] = {}
    for run in chosen:
        by_first[run[1]] = by_first.get(run[1], 0) + 1
    expected = sum(
        count * reference.d2_probabilities(K, weights, [x_star, first, second_most_common])
        for first, count in by_first.items()
    ) / len(chosen)
    assert p_value(np.array([run[3] for run in chosen]), expected) > LEAST_P


def least_p_of_one_distribution(one: np.ndarray, other: np.ndarray) -> float:
    """Chi-square that two samples of sequences (n, 3) agree, in each place and in each two that follow each other."""
    p_values = []
    for codes in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [40, 1, 0], [0, 40, 1]):
        counts = np.array([np.bincount(sample @ codes, minlength=1600) for sample in (one, other)])
        rare = counts.sum(axis=0) < 10
        table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
        p_values.append(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)
    return min(p_values)


def test_tree_and_scan_agree_on_the_whole_sequence(uneven):
    """From the same start both draw the same joint distribution of the three seeds that follow."""
    kernel, K, weights = uneven
    x_star = reference.least_self_affinity(K, weights)
    rng = np.random.default_rng(9102)

    def triples(draw_all, kernel, start, first_drawn):
        drawn = [draw_all(kernel, start, rng.random(3), gc.Progress()).nodes for _ in range(DRAWS // 2)]
        return np.array(drawn)[:, first_drawn:]

    by_tree = triples(_draw_by_tree, kernel, x_star, 2)  # its first uniform draw hits x* again
    assert least_p_of_one_distribution(by_tree, triples(_draw_by_scan, kernel, x_star, 1)) > LEAST_P
    # Broken variants: another start; weights forgotten.
    other = int(np.argmax(np.diag(K)))
    assert least_p_of_one_distribution(by_tree, triples(_draw_by_scan, kernel, other, 1)) < LEAST_P
    alike = gc.NormalizedCutKernel(kernel.graph, kernel.degrees, kernel.self_affinity, np.ones(40))
    assert least_p_of_one_distribution(by_tree, triples(_draw_by_scan, alike, x_star, 1)) < LEAST_P


@pytest.mark.parametrize("second_term", ["seed_weight", "voronoi"])
def test_importance_sampling_draws_from_the_exact_distribution(uneven, second_term):
    kernel, K, weights = uneven
    seeds = gc.d2_seeding(kernel, 4, rng=77)
    expected = reference.importance_probabilities(K, weights, seeds.nodes, second_term)
    np.testing.assert_allclose(gc.sampling_probabilities(kernel, seeds, second_term=second_term), expected, rtol=1e-11)
    rng = np.random.default_rng(313)
    drawn = []
    for _ in range(400):
        coreset = gc.importance_sample(kernel, seeds, 50, second_term=second_term, rng=rng)
        counts = coreset.weights * expected[coreset.nodes] * 50 / weights[coreset.nodes]
        np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
        drawn.append(np.repeat(coreset.nodes, np.round(counts).astype(int)))
    drawn = np.concatenate(drawn)
    assert len(drawn) == DRAWS
    assert p_value(drawn, expected) > LEAST_P
    other = "voronoi" if second_term == "seed_weight" else "seed_weight"
    assert p_value(drawn, reference.importance_probabilities(K, weights, seeds.nodes, other)) < LEAST_P
    only_first = expected * 0 + reference.d2_probabilities(K, weights, seeds.nodes)
    assert p_value(drawn, np.where(only_first > 0, only_first, 1e-9)) < LEAST_P


def coreset_costs(kernel, K, seeds, weights_of, n_coresets=4000, size=25):
    """Cost of a fixed set of centers on many coresets, the centers being three nodes' feature vectors."""
    rng = np.random.default_rng(8088)
    centers = [0, 7, 21]
    distances = np.min([np.diag(K) + K[c, c] - 2 * K[:, c] for c in centers], axis=0)
    costs = []
    for _ in range(n_coresets):
        coreset = gc.importance_sample(kernel, seeds, size, rng=rng)
        costs.append(float(weights_of(coreset) @ distances[coreset.nodes]))
    return np.array(costs), distances


def z_score(costs: np.ndarray, exact: float) -> float:
    return float((costs.mean() - exact) / (costs.std() / np.sqrt(len(costs))))


def test_coreset_cost_and_total_weight_are_unbiased(uneven):
    kernel, K, weights = uneven
    seeds = gc.d2_seeding(kernel, 4, rng=12)
    costs, distances = coreset_costs(kernel, K, seeds, lambda coreset: coreset.weights)
    assert abs(z_score(costs, float(weights @ distances))) < 5

    # Broken variant: a node drawn twice is kept once, with the weight of one draw.
    probabilities = gc.sampling_probabilities(kernel, seeds)
    once, _ = coreset_costs(kernel, K, seeds, lambda c: weights[c.nodes] / (probabilities[c.nodes] * 25))
    assert abs(z_score(once, float(weights @ distances))) > 20

    rng = np.random.default_rng(31)
    totals = np.array([gc.importance_sample(kernel, seeds, 25, rng=rng).weights.sum() for _ in range(4000)])
    assert abs(z_score(totals, float(weights.sum()))) < 5


@pytest.mark.slow
def test_iterated_coresets_are_unbiased_too(uneven):
    kernel, K, weights = uneven
    distances = np.diag(K) + K[3, 3] - 2 * K[:, 3]
    rng = np.random.default_rng(404)
    costs = []
    for _ in range(3000):
        coreset = gc.construct_coreset(kernel, 2, 10, rounds=2, rng=rng)
        costs.append(float(coreset.weights @ distances[coreset.nodes]))
    assert abs(z_score(np.array(costs), float(weights @ distances))) < 5


def test_error_of_a_coreset_falls_with_the_root_of_its_size(uneven):
    kernel, K, weights = uneven
    seeds = gc.d2_seeding(kernel, 4, rng=12)
    sizes = [100, 400, 1600, 6400]
    errors = []
    for size in sizes:
        costs, distances = coreset_costs(kernel, K, seeds, lambda c: c.weights, n_coresets=300, size=size)
        errors.append(np.abs(costs / float(weights @ distances) - 1).mean())
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.65 < slope < -0.35


def test_tiny_sensitivities_give_finite_weights():
    kernel = gc.NormalizedCutKernel.of(nx.path_graph(5))
    seeds = gc.Seeds(np.array([0]), np.full(5, 1e-300), np.zeros(5, int), 0, 0)
    coreset = gc.importance_sample(kernel, seeds, 1000, rng=0)
    assert isinstance(coreset, gc.CoresetSample)
    assert np.isfinite(coreset.weights).all()
    assert coreset.weights.sum() == pytest.approx(kernel.point_weights.sum(), rel=0.2)


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(77)
    return rng.standard_normal((9, 2)), rng.integers(1, 5, 9).astype(float)


def second_seed(X, weights, exponent, second_weights=None):
    """Probability of each point as second seed, over all first ones."""
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    mass = np.where(distances > 0, distances, 0.0) ** exponent * (distances > 0)
    mass = mass * (weights if second_weights is None else second_weights)
    return (weights / weights.sum()) @ (mass / mass.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_seeds_are_drawn_by_their_distance(small, exponent):
    X, weights = small
    rng = np.random.default_rng(9001)
    seeds = np.array(
        [distance_seeding(X, 2, exponent=exponent, sample_weight=weights, rng=rng) for _ in range(POINT_DRAWS)]
    )
    assert p_value(seeds[:, 0], weights / weights.sum()) > LEAST_P
    assert p_value(seeds[:, 1], second_seed(X, weights, exponent)) > LEAST_P
    assert p_value(seeds[:, 0], np.full(9, 1 / 9)) < LEAST_P
    assert p_value(seeds[:, 1], second_seed(X, weights, exponent + 1.0)) < LEAST_P
    assert p_value(seeds[:, 1], second_seed(X, weights, exponent, np.ones(9))) < LEAST_P


@pytest.mark.slow
def test_candidates_of_a_round_are_independent_with_the_stated_probability(small):
    X, weights = small
    points, rng = as_points(X), np.random.default_rng(9002)
    included = np.zeros((POINT_DRAWS, 9), bool)
    for run in range(POINT_DRAWS):
        drawn, masses = draw_candidates(points, weights, 1, 2.0, 1, rng, Progress())
        assert masses.sum() == weights.sum()
        included[run] = (X[:, None] == drawn[1:]).all(axis=2).any(axis=1)
    mass = weights * ((X[:, None] - X) ** 2).sum(axis=2)
    each = np.minimum(1.0, 2.0 * mass / mass.sum(axis=1, keepdims=True))
    expected = (weights / weights.sum()) @ each

    def worst(probabilities):
        return np.abs(
            (included.mean(axis=0) - probabilities) / np.sqrt(probabilities * (1 - probabilities) / POINT_DRAWS)
        ).max()

    assert worst(expected) < 5
    unweighted = ((X[:, None] - X) ** 2).sum(axis=2)
    assert (
        worst((weights / weights.sum()) @ np.minimum(1.0, 2.0 * unweighted / unweighted.sum(axis=1, keepdims=True))) > 5
    )


def test_the_expected_cost_of_k_means_plus_plus_is_bounded_where_uniform_seeding_is_not():
    rng = np.random.default_rng(9003)
    k = 10
    far = 1000.0 * np.stack([np.cos(np.arange(9.0)), np.sin(np.arange(9.0))], axis=1)
    X = np.concatenate([rng.standard_normal((600, 2)), far])
    lowest = ((X[:600] - X[:600].mean(axis=0)) ** 2).sum()
    bound = 8 * (np.log(k) + 2) * lowest

    def cost(exponent):
        runs = [block_sums(X, X[distance_seeding(X, k, exponent=exponent, rng=rng)]).inertia for _ in range(60)]
        return np.mean(runs)

    assert cost(2.0) <= bound
    assert cost(0.0) > bound


def test_weights_of_a_mini_batch_are_repetition_in_distribution():
    X = np.array([[0.0], [1.0], [5.0]])
    weights = np.array([1, 1, 4])
    rng = np.random.default_rng(9004)

    def centroids(points, sample_weight):
        options = {"init": [[0.0]], "batch_size": 20, "max_iter": 1, "starved": 0, "rng": rng}
        return [minibatch_kmeans(points, 1, sample_weight=sample_weight, **options).centroids[0, 0] for _ in range(300)]

    weighted = centroids(X, weights)
    assert stats.ks_2samp(weighted, centroids(np.repeat(X, weights, axis=0), None)).pvalue > LEAST_P
    assert stats.ks_2samp(weighted, centroids(X, None)).pvalue < LEAST_P
