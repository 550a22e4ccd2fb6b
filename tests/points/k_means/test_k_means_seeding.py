"""Seeding of k-means: points without weight, distances spared by the triangle inequality, the greedy choice."""

import numpy as np
import pytest
from blobs import blobs
from cases import for_each
from scipy import sparse

from graphclust import block_sums, distance_seeding, kmeans, kmeans_parallel, kmeans_plusplus, spherical_kmeans
from graphclust.points.k_means import seeding as seeding_module
from graphclust.points.k_means.points import as_points
from graphclust.points.k_means.seeding import draw_candidates
from graphclust.progress import Progress

EXPONENTS = [0.0, 0.5, 1.0, 2.0, 7.0, np.inf]


def far_blobs(seed, n=3000, k=30):
    """Thirty small clusters far apart, about a hundred points each."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 100, size=(k, 2))[rng.integers(0, k, n)] + rng.standard_normal((n, 2))


@for_each("as_given", [np.asarray, sparse.csr_array])
@for_each("n_candidates", [1, 3])
@for_each("exponent", EXPONENTS)
def test_points_of_weight_zero_change_no_draw(exponent, n_candidates, as_given):
    X = blobs(300, 3, 5, 61)
    weights = np.random.default_rng(61).integers(0, 3, 300).astype(float)
    weights[[0, 299]] = 0.0
    kept = np.flatnonzero(weights)
    for seed in range(5):
        options = {"exponent": exponent, "n_candidates": n_candidates, "rng": seed}
        with_all = distance_seeding(as_given(X), 12, sample_weight=weights, **options)
        without = distance_seeding(as_given(X[kept]), 12, sample_weight=weights[kept], **options)
        assert (with_all == kept[without]).all() and len(set(without)) == 12


@for_each("exponent", EXPONENTS)
def test_points_of_weight_zero_are_never_drawn_even_where_few_others_are_left(exponent):
    X = np.arange(10_000.0)[:, None]
    weights = np.zeros(10_000)
    weights[[17, 4095, 4096, 9000]] = [1.0, 1e-3, 2.0, 5.0]
    for seed in range(10):
        rows = distance_seeding(X, 4, exponent=exponent, sample_weight=weights, rng=seed)
        assert sorted(rows) == [17, 4095, 4096, 9000]
    with pytest.warns(match="only 4"):
        assert len(distance_seeding(X, 5, exponent=exponent, sample_weight=weights, rng=1)) == 4


@pytest.mark.parametrize("init", ["k-means++", "greedy k-means++", "k-means||"])
def test_one_point_of_weight_zero_does_not_spoil_the_start(init):
    with_one, without = [], []
    for seed in range(7):
        X = far_blobs(seed)
        weights = np.ones(3000)
        without.append(kmeans(X, 30, init=init, max_iter=1, rng=seed).inertia)
        weights[11 * seed] = 0.0
        with_one.append(kmeans(X, 30, init=init, sample_weight=weights, max_iter=1, rng=seed).inertia)
    assert np.median(with_one) < 2 * np.median(without)


@pytest.mark.parametrize("init", ["k-means++", "greedy k-means++", "k-means||"])
def test_a_row_of_zeros_does_not_spoil_spherical_k_means(init):
    """Sixty directions, each with fifty points: the first row has none, and is the last that may be drawn."""
    rng = np.random.default_rng(8)
    axes = np.linspace(0.0, 2 * np.pi, 60, endpoint=False)
    angles = np.repeat(axes, 50) + 1e-4 * rng.standard_normal(3000)
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    plain = np.median([spherical_kmeans(X, 60, init=init, rng=seed).inertia for seed in range(5)])
    X[-1] = 0.0
    results = [spherical_kmeans(X, 60, init=init, rng=seed) for seed in range(5)]
    assert all(result.labels[-1] == -1 for result in results)
    assert np.median([result.inertia for result in results]) < 3 * plain + 1e-3


def test_candidates_that_coincide_do_not_spoil_parallel_seeding():
    """A candidate without weight of its own, being a copy of one drawn in the same round, is never a seed."""
    once, often = [], []
    for seed in range(7):
        X = far_blobs(seed, n=600)
        once.append(block_sums(X, kmeans_parallel(X, 30, rng=seed)).inertia)
        copies = np.repeat(X, 5, axis=0)
        often.append(block_sums(copies, kmeans_parallel(copies, 30, rng=seed)).inertia / 5)
    assert np.median(often) < 2 * np.median(once)


@for_each("as_given", [np.asarray, sparse.csr_array])
@for_each("d", [1, 2, 6])
def test_every_point_speaks_for_the_candidate_that_is_nearest(d, as_given):
    """The triangle inequality spares distances; those it spares must not have been nearer."""
    rng = np.random.default_rng(d)
    X, weights = rng.standard_normal((5000, d)), rng.random(5000)
    drawn, masses = draw_candidates(as_points(as_given(X)), weights, 40, 0.5, 5, rng, Progress())
    nearest = ((X[:, None] - drawn) ** 2).sum(axis=2).argmin(axis=1)
    assert masses == pytest.approx(np.bincount(nearest, weights, minlength=len(drawn)), rel=1e-9)


def test_rounds_of_parallel_seeding_draw_oversampling_times_k():
    """In expectation, of points none of which is drawn for certain: five rounds after the first of all."""
    points = as_points(np.random.default_rng(8).random((4000, 3)))
    n_found = [
        len(draw_candidates(points, np.ones(4000), 40, 0.5, 5, np.random.default_rng(seed), Progress())[0])
        for seed in range(20)
    ]
    assert np.mean(n_found) == pytest.approx(1 + 5 * 0.5 * 40, abs=10)  # the deviation of the mean is below 2.3


def test_rows_are_drawn_by_their_share_of_the_mass_of_all_blocks():
    """Blocks of seven rows, some rows and one whole block without mass."""
    rng = np.random.default_rng(6)
    masses = rng.random(50) * (rng.random(50) < 0.7)
    masses[14:21] = 0.0
    boundaries = np.append(np.arange(0, 50, 7), 50)
    uniforms = np.append(np.linspace(0.0, 1.0, 400, endpoint=False), np.nextafter(1.0, 0.0))
    rows = seeding_module.draw_rows(np.ones(50), masses, 1.0, boundaries, uniforms)
    cumulative = np.cumsum(masses)
    expected = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    assert rows[:-1].tolist() == expected[:-1].tolist()
    assert rows[-1] == np.flatnonzero(masses)[-1]


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_the_greedy_choice_lowers_the_cost_most(monkeypatch, as_given):
    """Of the candidates that were drawn, by recomputing what each would leave."""
    X = blobs(800, 2, 30, 5, spread=0.2)
    weights = np.random.default_rng(5).random(800)
    drawn = []
    draw_rows = seeding_module.draw_rows

    def noted(*arguments):
        drawn.append(draw_rows(*arguments))
        return drawn[-1]

    monkeypatch.setattr(seeding_module, "draw_rows", noted)
    rows = distance_seeding(as_given(X), 25, n_candidates=4, sample_weight=weights, rng=3)
    sq_distances = ((X - X[rows[0]]) ** 2).sum(axis=1)
    for step, row in enumerate(rows[1:], 1):
        costs = [(weights * np.minimum(sq_distances, ((X - X[c]) ** 2).sum(axis=1))).sum() for c in drawn[step]]
        assert len(costs) == 4 and row == drawn[step][int(np.argmin(costs))]
        sq_distances = np.minimum(sq_distances, ((X - X[row]) ** 2).sum(axis=1))


@pytest.mark.parametrize("n_candidates", [1, 3])
@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, np.inf])
def test_few_points_are_seeded_like_many(monkeypatch, exponent, n_candidates):
    """All in one block, and block by block, where sums differ by rounding alone."""
    X, weights = blobs(500, 3, 12, 7, spread=0.5), np.random.default_rng(8).random(500)
    options = {"exponent": exponent, "n_candidates": n_candidates, "sample_weight": weights, "rng": 4}
    rows = distance_seeding(X, 20, **options)
    monkeypatch.setattr(seeding_module, "ROWS", 64)
    assert distance_seeding(X, 20, **options).tolist() == rows.tolist()


@pytest.mark.parametrize(("k", "expected"), [(1, 2), (2, 2), (3, 3), (8, 4), (21, 5), (1000, 8)])
def test_greedy_k_means_plus_plus_draws_two_and_the_logarithm_of_k(monkeypatch, k, expected):
    """2 + floor(ln k) candidates for each seed after the first (Arthur and Vassilvitskii's code, scikit-learn's)."""
    asked, X, draw_rows = [], np.random.default_rng(k).standard_normal((1200, 1)), seeding_module.draw_rows
    monkeypatch.setattr(seeding_module, "draw_rows", lambda *a: asked.append(len(a[-1])) or draw_rows(*a))
    kmeans_plusplus(X, k, greedy=True, rng=1)
    assert asked == [1] + [expected] * (k - 1)


@pytest.mark.parametrize(("k", "oversampling", "seed"), [(2, 0.5, 391), (8, 0.01, 1), (100, 1e-300, 1)])
def test_parallel_seeding_goes_on_until_it_has_k_candidates(k, oversampling, seed):
    points = np.random.default_rng(0).normal(size=(100, 1))
    assert len(kmeans_parallel(points, k, oversampling=oversampling, rng=seed)) == k
