"""Do the seedings and mini-batches draw as they say? Each test is paired with a variant that it must reject."""

import numpy as np
import pytest
from scipy import stats

from graphclust import block_sums, distance_seeding, minibatch_kmeans
from graphclust.points.k_means.points import as_points
from graphclust.points.k_means.seeding import draw_candidates
from graphclust.progress import Progress

DRAWS = 5_000
LEAST_P = 1e-6


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(77)
    return rng.standard_normal((9, 2)), rng.integers(1, 5, 9).astype(float)


def p_value(drawn, probabilities):
    observed = np.bincount(drawn, minlength=len(probabilities))
    return stats.chisquare(observed, probabilities * len(drawn)).pvalue


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
    seeds = np.array([distance_seeding(X, 2, exponent=exponent, sample_weight=weights, rng=rng) for _ in range(DRAWS)])
    assert p_value(seeds[:, 0], weights / weights.sum()) > LEAST_P
    assert p_value(seeds[:, 1], second_seed(X, weights, exponent)) > LEAST_P
    assert p_value(seeds[:, 0], np.full(9, 1 / 9)) < LEAST_P
    assert p_value(seeds[:, 1], second_seed(X, weights, exponent + 1.0)) < LEAST_P
    assert p_value(seeds[:, 1], second_seed(X, weights, exponent, np.ones(9))) < LEAST_P


@pytest.mark.slow
def test_candidates_of_a_round_are_independent_with_the_stated_probability(small):
    X, weights = small
    points, rng = as_points(X), np.random.default_rng(9002)
    included = np.zeros((DRAWS, 9), bool)
    for run in range(DRAWS):
        rows, masses = draw_candidates(points, weights, 1, 2.0, 1, rng, Progress())
        assert masses.sum() == weights.sum()
        included[run, rows[1:]] = True
    mass = weights * ((X[:, None] - X) ** 2).sum(axis=2)
    each = np.minimum(1.0, 2.0 * mass / mass.sum(axis=1, keepdims=True))
    expected = (weights / weights.sum()) @ each

    def worst(probabilities):
        return np.abs(
            (included.mean(axis=0) - probabilities) / np.sqrt(probabilities * (1 - probabilities) / DRAWS)
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
