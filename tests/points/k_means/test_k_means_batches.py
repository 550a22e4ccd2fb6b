"""Nested and plain mini-batches, k-means||, spherical k-means, block sums and validation curves."""

import numpy as np
import pytest
from blobs import blobs
from cases import for_each, refuses
from scipy import sparse

import graphclust as gc
from graphclust.compiled.runtime import blocks
from graphclust.compiled.runtime.blocks import thread_blocks
from graphclust.points.k_means import steps
from graphclust.points.k_means.lloyd import nested_order
from graphclust.points.k_means.points import as_points
from graphclust.points.k_means.spherical import geodesic_means
from graphclust.points.k_means.steps import Tally, cluster_sums


def assert_fixed_point(X, weights, result):
    sq_distances = ((X[:, None].astype(float) - result.centroids) ** 2).sum(axis=2)
    assert (result.labels == sq_distances.argmin(axis=1)).all()
    for j, centroid in enumerate(result.centroids):
        members = result.labels == j
        mean = np.average(X[members].astype(float), axis=0, weights=weights[members])
        assert centroid == pytest.approx(mean, rel=1e-5, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [1.0, 100.0])
@pytest.mark.parametrize(("d", "dtype"), [(3, np.float64), (70, np.float32)])
def test_nested_ends_in_a_fixed_point_of_lloyd(rho, d, dtype):
    X = blobs(900, d, 8, 41, spread=1.0).astype(dtype)
    weights = np.random.default_rng(41).random(900) + 0.1
    result = gc.nested_minibatch_kmeans(X, 8, batch_size=50, rho=rho, sample_weight=weights, rng=7)
    assert_fixed_point(X, weights, result)
    assert result.inertia < 1.1 * gc.kmeans(X, 8, sample_weight=weights, n_init=3, rng=7).inertia


def test_nested_on_sparse_points():
    X = np.random.default_rng(2).random((500, 60)) * (np.random.default_rng(3).random((500, 60)) < 0.1)
    X[np.arange(500), np.arange(500) % 5] += 2.0
    dense = gc.nested_minibatch_kmeans(X, 5, init=X[:5], batch_size=40, rng=3)
    result = gc.nested_minibatch_kmeans(sparse.csr_array(X), 5, init=X[:5], batch_size=40, rng=3)
    assert (result.labels == dense.labels).all()
    assert result.n_iter == dense.n_iter
    assert_fixed_point(X, np.ones(500), result)


def test_nested_with_one_batch_of_all_points_is_lloyd():
    X = blobs(300, 4, 6, 9, spread=1.0)
    nested, exact = gc.nested_minibatch_kmeans(X, 6, init=X[:6], batch_size=300, rng=1), gc.kmeans(X, 6, init=X[:6])
    assert (nested.labels == exact.labels).all() and nested.n_iter == exact.n_iter


def test_nested_with_far_seeds_that_nothing_is_nearest_to():
    X = blobs(400, 2, 4, 11)
    start = np.concatenate([X[:2], [[50.0, 50.0], [60.0, 60.0]]])
    result = gc.nested_minibatch_kmeans(X, 4, init=start, batch_size=30, rng=5)
    assert len(result.centroids) == 4
    assert_fixed_point(X, np.ones(400), result)


def test_nested_where_points_are_few():
    X = np.repeat([[0.1], [0.7], [3.0]], 40, axis=0)
    with pytest.warns(gc.ConvergenceWarning, match="only 3"):
        result = gc.nested_minibatch_kmeans(X, 5, batch_size=10, init=X[[0, 0, 50, 50, 100]], rng=5)
    assert result.inertia == pytest.approx(0.0, abs=1e-25)
    stopped = gc.nested_minibatch_kmeans(blobs(500, 3, 5, 1), 5, batch_size=20, max_iter=2, rng=1)
    assert stopped.n_iter == 2
    assert (stopped.labels >= 0).all()


def test_a_first_batch_of_copies_does_not_limit_the_number_of_clusters():
    X = np.concatenate([np.zeros((200, 2)), np.eye(2)])
    for run in (gc.nested_minibatch_kmeans, gc.minibatch_kmeans):
        assert len(run(X, 3, batch_size=4, rng=1).centroids) == 3


def test_the_points_that_enter_together_are_a_random_sample_in_order():
    order = nested_order(1000, 60, np.random.default_rng(5))
    assert sorted(order) == list(range(1000))
    for start, end in ((0, 60), (60, 120), (120, 240), (240, 480), (480, 960), (960, 1000)):
        assert (np.diff(order[start:end]) > 0).all()
    assert abs(order[:120].mean() - 500) < 100


@pytest.mark.parametrize("d", [5, 520])
def test_a_vote_is_taken_back_when_the_label_changes(d):
    rng = np.random.default_rng(14)
    X, weights, order = rng.standard_normal((300, d)) + 4, rng.random(300), rng.permutation(300)
    tally = Tally(as_points(X), order, weights[order], 7, 40)
    for n_rows in (40, 40, 80, 160, 160, 300, 300):
        labels = np.where(rng.random(n_rows) < 0.5, rng.integers(0, 7, n_rows), np.resize(tally.labels, n_rows))
        tally.update(np.where(labels < 0, 0, labels))
    placed = X[order]
    ours = weights[order]
    for j in range(7):
        members = tally.labels == j
        assert tally.sums[j] == pytest.approx((ours[members, None] * placed[members]).sum(axis=0))
        assert tally.masses[j] == pytest.approx(ours[members].sum())
    means, _ = tally.renew(np.zeros((7, d)))
    errors = [(ours[m, None] * (placed[m] - means[j]) ** 2).sum() for j in range(7) if (m := tally.labels == j).any()]
    assert tally.sq_errors == pytest.approx(errors)
    tally.update(np.where(np.arange(300) < 20, 3, tally.labels))
    tally.update(np.where(np.arange(300) < 20, tally.labels // 2, tally.labels))  # no vote for 4 to 6 changes
    some, moved = tally.renew(means)
    tally.recount(tally.labels.copy())
    assert some == pytest.approx(tally.renew(means)[0])
    assert moved == pytest.approx(np.sqrt(((some - means) ** 2).sum(axis=1)))


def test_sums_of_wide_points_are_the_same_bits_however_many_threads_share_the_features(monkeypatch):
    rng = np.random.default_rng(2)
    X, weights, labels = rng.standard_normal((40, 600)), rng.random(40), rng.integers(0, 4, 40)
    bits = set()
    for n_threads in (1, 2, 7):
        monkeypatch.setattr(blocks, "n_threads", lambda n_threads=n_threads: n_threads)
        assert len(thread_blocks(600)) == n_threads + 1
        sums, masses = cluster_sums(as_points(X), np.arange(40), weights, labels, 4)
        bits.add(sums.tobytes() + masses.tobytes())
    assert len(bits) == 1
    assert sums[2] == pytest.approx((weights[labels == 2, None] * X[labels == 2]).sum(axis=0))


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_sums_in_chunks_are_the_weighted_sums(monkeypatch, as_given):
    """Of some rows in any order; clusters of several chunks, of part of one and of no row."""
    monkeypatch.setattr(steps, "_SMALL", 0)
    monkeypatch.setattr(steps, "_CHUNK", 16)
    rng = np.random.default_rng(4)
    X, rows = rng.standard_normal((300, 5)), rng.permutation(300)[:200]
    weights, labels = rng.random(200), rng.choice([0, 1, 3], p=[0.7, 0.27, 0.03], size=200)
    sums, masses = cluster_sums(as_points(as_given(X)), rows, weights, labels, 4)
    member = (labels == np.arange(4)[:, None]) * weights
    assert sums == pytest.approx(member @ X[rows], rel=1e-12, abs=1e-12)
    assert masses == pytest.approx(member.sum(axis=1), rel=1e-12)


def test_the_variance_of_a_batch_is_about_its_own_mean():
    """Not about that of the first points, from which lengths are measured."""
    rng = np.random.default_rng(9)
    X, weights = rng.standard_normal((60, 3)) + np.linspace(0, 5, 60)[:, None], rng.random(60)
    tally = Tally(as_points(X), np.arange(60), weights, 4, 10)
    for size in (10, 20, 60):
        tally.update(np.arange(size) % 4)
        mean = np.average(X[:size], axis=0, weights=weights[:size])
        expected = np.average(((X[:size] - mean) ** 2).sum(axis=1), weights=weights[:size])
        assert tally.variance() == pytest.approx(expected, rel=1e-10)


def test_standard_errors_by_hand():
    tally = Tally(as_points([[0.0], [2.0], [7.0]]), np.arange(3), np.ones(3), 3, 3)
    tally.update(np.array([0, 0, 1]))
    means, moved = tally.renew(np.array([[1.0], [9.0], [9.0]]))
    assert means.ravel().tolist() == [1.0, 7.0, 9.0]
    assert moved.tolist() == [0.0, 2.0, 0.0]
    assert tally.standard_errors(moved).tolist() == pytest.approx([1.0, np.inf, np.inf])
    tally.recount(np.array([0, 0, 1]))
    _, moved = tally.renew(np.array([[4.0], [9.0], [9.0]]))  # about 4 the squares are 16 and 4
    assert tally.standard_errors(moved)[0] == pytest.approx(np.sqrt(20 / 2))


def test_minibatch_rates_by_hand():
    for rate, expected in (("count", [3.0, 9.5]), ("sqrt", [1.0 + (5.0 - 1.0) * np.sqrt(2 / 3), 9.0 + np.sqrt(1 / 3)])):
        model = gc.MiniBatch([[0.0], [8.0]], rate=rate, starved=0)
        model.centroids[:, 0] = 1.0, 9.0
        model.counts[:] = 2.0, 1.0
        # Both points at 5 are as far from 1 as from 9: the lowest index takes them.
        assert model.partial_fit([[5.0], [5.0], [10.0]]) == pytest.approx((16.0 + 16.0 + 1.0) / 3)
        assert model.centroids.ravel() == pytest.approx(expected)


def test_partial_fit_takes_weights_as_repetition():
    X = blobs(60, 3, 4, 5)
    weights = np.random.default_rng(5).integers(0, 3, 60)
    weighted, repeated = gc.MiniBatch(X[:4]), gc.MiniBatch(X[:4])
    weighted.partial_fit(X, sample_weight=weights)
    repeated.partial_fit(np.repeat(X, weights, axis=0))
    assert weighted.centroids == pytest.approx(repeated.centroids)
    assert weighted.counts == pytest.approx(repeated.counts)


@pytest.mark.parametrize("rate", ["count", "sqrt"])
def test_minibatch_comes_near_lloyd_and_stops_early(rate):
    X = blobs(2000, 3, 6, 17, spread=0.2)
    exact = gc.kmeans(X, 6, init="greedy k-means++", n_init=3, rng=1)
    ours = gc.minibatch_kmeans(X, 6, init=exact.centroids + 0.2, batch_size=200, rate=rate, rng=1)
    assert ours.inertia < 1.05 * exact.inertia and ours.n_iter < 200
    assert gc.minibatch_kmeans(X, 6, rate=rate, max_iter=30, patience=None, rng=2).n_iter == 30
    assert (ours.labels == gc.nearest_centroids(X, ours.centroids)).all()


def test_a_starved_centroid_is_moved_and_one_left_alone_in_the_end():
    X = blobs(400, 2, 3, 23, spread=0.1)
    start = np.concatenate([X[:2], [[100.0, 100.0]]])
    moved = gc.minibatch_kmeans(X, 3, init=start, batch_size=100, max_iter=40, patience=None, rng=2)
    assert len(moved.centroids) == 3
    left = gc.minibatch_kmeans(X, 3, init=start, batch_size=100, starved=0, rng=2)
    assert len(left.centroids) == 3 and left.centroids.max() < 100.0


def test_only_a_centroid_below_the_share_of_the_mean_count_is_starved():
    """Counts of 2, 10 and 84 before the tenth batch, mean 32: with a share of 0.1 the first alone is below 3.2."""
    model = gc.MiniBatch([[0.0], [1000.0], [2000.0]], starved=0.1, rng=3)
    model.counts[:], model.n_batches = [2.0, 10.0, 80.0], 9
    model.partial_fit([[1990.0], [2010.0], [2000.0], [2003.0]])
    assert model.counts == pytest.approx([9.6 / 3, 10.0, 84.0])
    assert model.centroids[0, 0] in (1990.0, 2003.0, 2010.0)  # by squared distance, so never the one at 2000
    assert model.centroids[1, 0] == 1000.0


def test_parallel_seeding_finds_separated_clusters():
    X = blobs(600, 2, 8, 31, spread=0.01)
    centroids = gc.kmeans_parallel(X, 8, rng=4)
    assert gc.block_sums(X, centroids).inertia < 2 * 600 * 2 * 0.01**2
    assert gc.block_sums(X, gc.kmeans_parallel(sparse.csr_array(X), 8, rng=4)).inertia < 2 * 600 * 2 * 0.01**2


def test_parallel_seeding_never_uses_a_point_of_weight_zero():
    X = np.array([[0.0], [1.0], [1000.0], [5.0]])
    assert gc.kmeans_parallel(X, 3, sample_weight=[1, 1, 0, 1], rng=4).max() <= 5.0
    with pytest.warns(gc.ConvergenceWarning, match="only 2"):
        assert len(gc.kmeans_parallel([[1.0], [1.0], [2.0]], 3, rng=4)) == 2


def test_both_means_of_points_on_two_axes():
    """a points at (1, 0), b at (0, 1): angles from the axis of the b points arctan(a / b) and a / (a + b) pi / 2."""
    a, b = 3, 1
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], [a, b], axis=0)
    for mean, expected in (("euclidean", np.arctan(a / b)), ("geodesic", a / (a + b) * np.pi / 2)):
        for points in (X, sparse.csr_array(X), 7 * X):
            x, y = gc.spherical_kmeans(points, 1, mean=mean, rng=1).centroids[0]
            assert np.arctan2(x, y) == pytest.approx(expected)
        assert gc.spherical_kmeans(X.astype(np.float32), 1, mean=mean, rng=1).centroids.dtype == np.float32


@pytest.mark.parametrize("mean", ["euclidean", "geodesic"])
def test_spherical_inertia_never_rises_and_labels_have_the_largest_cosine(mean):
    X = blobs(400, 5, 6, 37, spread=1.0) * np.random.default_rng(1).lognormal(size=(400, 1))
    weights = np.random.default_rng(2).random(400)
    result = gc.spherical_kmeans(X, 6, mean=mean, sample_weight=weights, rng=3)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = unit @ result.centroids.T
    assert np.linalg.norm(result.centroids, axis=1) == pytest.approx(1.0)
    assert (result.labels == cosines.argmax(axis=1)).all()
    assert (np.diff(result.history) <= 1e-9).all()
    angles = np.arccos(np.clip(cosines.max(axis=1), -1, 1))
    expected = angles**2 if mean == "geodesic" else 2 - 2 * np.cos(angles)
    assert result.inertia == pytest.approx((weights * expected).sum())
    if mean == "geodesic":  # no nearby point of the sphere has a lower sum of squared angles
        rng = np.random.default_rng(4)
        for j, centroid in enumerate(result.centroids):
            mine, w = unit[result.labels == j], weights[result.labels == j]
            cost = (w * np.arccos(np.clip(mine @ centroid, -1, 1)) ** 2).sum()
            for _ in range(20):
                other = centroid + 1e-3 * rng.standard_normal(5)
                other /= np.linalg.norm(other)
                assert (w * np.arccos(np.clip(mine @ other, -1, 1)) ** 2).sum() >= cost - 1e-9


def test_the_geodesic_mean_of_points_more_than_a_right_angle_away():
    """On a circle it is the weighted mean of the angles, measured from near it: here 12 degrees."""
    angles, weights = np.radians([-140.0, -100.0, 0.0, 30.0, 110.0, 150.0]), np.array([1.0, 1.0, 3.0, 1.0, 1.0, 1.0])
    mean = (weights * angles).sum() / weights.sum()
    points = as_points(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    found = geodesic_means(points, weights, np.zeros(6, np.int64), np.array([[1.0, 0.0]]))[0]
    assert np.arctan2(found[1], found[0]) == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("mean", ["euclidean", "geodesic"])
def test_spherical_inertia_never_rises_where_clusters_span_more_than_a_half_circle(mean):
    """From the first point the steps for these five lead to another local mean, of a larger sum."""
    circle = np.radians([50.0, 160.0, 20.0, 130.0, 270.0])
    points = np.stack([np.cos(circle), np.sin(circle)], axis=1)
    result = gc.spherical_kmeans(points, 1, mean=mean, init=points[:1])
    assert (np.diff(result.history) <= 0.0).all() and len(result.history) >= 2
    if mean == "geodesic":
        assert result.inertia == pytest.approx((np.radians([0.0, 110.0, 30.0, 80.0, 140.0]) ** 2).sum())
    for seed in range(60):
        points = np.random.default_rng(seed).normal(size=(9, 2 + seed % 2))
        weights = np.random.default_rng(seed).random(9)
        result = gc.spherical_kmeans(points, 1 + seed % 3, mean=mean, sample_weight=weights, rng=seed)
        assert (np.diff(result.history) <= 1e-12).all()
        assert np.linalg.norm(result.centroids, axis=1) == pytest.approx(1.0)


def test_opposite_directions_leave_a_geodesic_centroid_of_unit_length():
    result = gc.spherical_kmeans([[1.0, 0.0], [-1.0, 0.0]], 1, mean="geodesic", init=[[0.6, 0.8]])
    assert np.linalg.norm(result.centroids[0]) == pytest.approx(1.0) and (np.diff(result.history) <= 0.0).all()


def test_a_row_of_zeros_has_no_direction():
    result = gc.spherical_kmeans([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]], 2, rng=1)
    assert result.labels[1] == -1
    assert result.labels[0] != result.labels[2]
    refuses(gc.GraphValidationError, "zeros", gc.spherical_kmeans, np.zeros((3, 2)), 1)
    refuses(
        gc.GraphValidationError, "init holds a row of zeros", gc.spherical_kmeans, np.eye(2), 2, init=[[0, 0], [1, 0]]
    )


def test_block_sums_add_up_to_an_iteration():
    X = blobs(200, 3, 4, 43)
    blocks = [gc.block_sums(X[part], X[:4]) for part in (slice(0, 70), slice(70, 200))]
    means = sum(block.sums for block in blocks) / sum(block.masses for block in blocks)[:, None]
    assert means == pytest.approx(gc.kmeans(X, 4, init=X[:4], max_iter=1).centroids)


def test_validation_holds_seconds_and_energy():
    X, V = blobs(600, 3, 5, 47), blobs(100, 3, 5, 48)
    for run in (gc.kmeans, gc.nested_minibatch_kmeans, gc.minibatch_kmeans, gc.spherical_kmeans):
        result = run(X, 5, init=X[:5], validation=V, rng=1)
        assert result.validation.shape == (result.n_iter + 1, 2)
        assert (np.diff(result.validation[:, 0]) >= 0).all()
        start = X[:5] / np.linalg.norm(X[:5], axis=1, keepdims=True) if run is gc.spherical_kmeans else X[:5]
        for record, centroids in ((0, start), (-1, result.centroids)):
            energy = ((V[:, None] - centroids) ** 2).sum(axis=2).min(axis=1).mean()
            assert result.validation[record, 1] == pytest.approx(energy)
        assert run(X, 5, init=X[:5], rng=1).validation is None
    seen = []
    gc.kmeans(X, 5, init=X[:5], validation=lambda centroids: seen.append(centroids.shape) or 0.0)
    assert set(seen) == {(5, 3)}
    refuses(gc.GraphValidationError, "features", gc.kmeans, X, 5, validation=V[:, :2])


@for_each(
    "call",
    [
        lambda: gc.nested_minibatch_kmeans([[1.0]], 1, rho=0),
        lambda: gc.nested_minibatch_kmeans([[1.0]], 1, batch_size=0),
        lambda: gc.minibatch_kmeans([[1.0]], 1, rate="best"),
        lambda: gc.minibatch_kmeans([[1.0]], 1, patience=0),
        lambda: gc.kmeans_parallel([[1.0]], 1, oversampling=0),
        lambda: gc.kmeans_parallel([[1.0]], 2),
        lambda: gc.spherical_kmeans([[1.0]], 1, mean="median"),
        lambda: gc.MiniBatch([[1.0]], starved=1.0),
    ],
)
def test_bad_parameters_are_named(call):
    refuses(gc.ParameterError, None, call)


@pytest.mark.filterwarnings("error")
def test_a_random_start_loses_no_centroid_of_distinct_points():
    column = np.array([2.0, 3, 100, 103, 201, 202, 302, 301])[:, None]
    blobs = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat(np.arange(10), 20)[:, None] * 10
    for points, k, seeds in ((column, 4, 20), (blobs, 10, 40)):
        for seed in range(seeds):
            found = gc.minibatch_kmeans(points, k, init="random", rng=seed)
            assert len(np.unique(found.labels)) == len(found.centroids) == k
