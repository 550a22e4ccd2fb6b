"""The bounded assignment against the full scan, and its bounds against true distances, over many moves."""

import numpy as np
import pytest
from scipy import sparse

from graphclust.compiled.points.k_means import pair_sq_distances
from graphclust.compiled.points.quantized_points import FINER, steps_between
from graphclust.points.k_means import steps
from graphclust.points.k_means.points import DensePoints, SparsePoints
from graphclust.points.k_means.steps import BoundedAssignment, RoundedPoints, group_centroids


def distances(X, centroids):
    return np.sqrt(((X[:, None].astype(np.float64) - centroids) ** 2).sum(axis=2))


def assert_bounds_hold(bounded, X, labels, share, nearly=0.0):
    """Labels of the nearest for a share of the points, bounds for all; what rounding may add to one is allowed for."""
    others = distances(X, bounded.centroids)
    own = others[np.arange(len(X)), labels]
    assert own == pytest.approx(others.min(axis=1), rel=1e-5, abs=nearly)
    assert (labels == others.argmin(axis=1)).mean() > share
    assert (bounded.bounds.upper + bounded.drift.of_centroid[labels] >= own).all()
    others[np.arange(len(X)), labels] = np.inf
    slack = bounded.drift.rounding[1]
    assert slack <= 1e-6 * (bounded.group_drift[-1] + bounded.drift.of_centroid.max())
    assert (bounded.bounds.lower - bounded.group_drift[-1] - slack <= others.min(axis=1) * (1 + 1e-6)).all()
    for g in range(bounded.bounds.group_lower.shape[1]):
        nearest = others[:, bounded.groups.of_centroid == g].min(axis=1)
        assert (bounded.bounds.group_lower[:, g] - bounded.group_drift[g] - slack <= nearest * (1 + 1e-6)).all()


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.slow), np.float64])
@pytest.mark.parametrize(
    "d, k, most_bytes", [(3, 60, 1 << 30), (70, 9, 1 << 30), (70, 30, 4 * 300 * 7), (1, 2, 1 << 30)]
)
def test_labels_are_exact_and_bounds_hold_while_centroids_move(monkeypatch, dtype, d, k, most_bytes):
    monkeypatch.setattr(steps, "_MOST_BYTES", most_bytes)
    rng = np.random.default_rng(d * k)
    X = (rng.standard_normal((300, d)) + 3).astype(dtype)
    bounded = BoundedAssignment(DensePoints(X), X[:k].copy())
    for step in range(12):
        assert_bounds_hold(bounded, X, bounded.assign(), 0.999)
        scale = 0.5 ** (step / 2)
        bounded.move((bounded.centroids + scale * rng.standard_normal((k, d))).astype(dtype))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.slow), np.float64])
@pytest.mark.parametrize("k, most_bytes", [(5, 1 << 30), (40, 1 << 30), (40, 4 * 300 * 7)])
def test_the_same_for_sparse_points_of_which_all_or_few_centroids_move(monkeypatch, dtype, k, most_bytes):
    monkeypatch.setattr(steps, "_MOST_BYTES", most_bytes)
    rng = np.random.default_rng(k)
    X = (rng.random((300, 50)) * (rng.random((300, 50)) < 0.2)).astype(dtype)
    bounded = BoundedAssignment(SparsePoints(sparse.csr_array(X)), X[:k].copy())
    for step in range(16):
        before = bounded.labels.copy()
        labels = bounded.assign()
        assert_bounds_hold(bounded, X, labels, 0.99, nearly=1e-3)
        assert (labels != before).any()
        moved = rng.random(k) < (1.0, 0.1, 0.4)[step % 3]
        moved[step % k] = True
        elsewhere = X[rng.permutation(300)[:k]] * (0.5 + rng.random((k, 1)))
        bounded.move(np.where(moved[:, None], elsewhere, bounded.centroids).astype(dtype))


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.slow), np.float64])
@pytest.mark.parametrize("d, scale, offset", [(70, 3.0, -5e4), (200, 1 / 255, 0.0)])
def test_points_kept_as_bytes_have_the_same_labels_and_bounds_that_hold(dtype, d, scale, offset):
    rng = np.random.default_rng(d)
    kinds = rng.integers(0, 256, (8, d))
    mixed = np.where(rng.random((300, d)) < 0.5, kinds[rng.integers(0, 8, 300)], rng.integers(0, 256, (300, d)))
    X = (offset + scale * mixed).astype(dtype)
    X[250] += 1000 * scale  # outside of the range that the first batch has
    centroids = X[rng.permutation(200)[:9]].copy()
    bounded = BoundedAssignment(DensePoints(X), centroids)
    plain = BoundedAssignment(DensePoints(X), centroids)
    for n_positions in (200, 200, 300, 300, 300):
        labels = bounded.assign(n_positions)
        plain.rounded = None
        assert (labels == plain.assign(n_positions)).all()
        true = distances(X[:n_positions], bounded.centroids)
        own = true[np.arange(n_positions), labels]
        assert own == pytest.approx(true.min(axis=1), rel=1e-5)
        assert (bounded.bounds.upper[:n_positions] + bounded.drift.of_centroid[labels] >= own).all()
        true[np.arange(n_positions), labels] = np.inf
        lower = bounded.bounds.group_lower[:n_positions] - bounded.group_drift[:-1] - bounded.drift.rounding[1]
        assert (lower <= true * (1 + 1e-6)).all()
        means = np.array([X[:n_positions][labels == j].mean(axis=0, dtype=float) for j in range(9)]).astype(dtype)
        bounded.move(means)
        plain.move(means)
    assert bounded.rounded is not None


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.slow), np.float64])
@pytest.mark.parametrize("d", [64, 2100])
def test_distances_of_rounded_points_are_within_their_errors(dtype, d):
    rng = np.random.default_rng(d)
    X = np.concatenate([rng.integers(0, 256, (10, d)), np.full((1, d), 255), np.zeros((1, d))])
    X = np.concatenate([X, 255 * rng.random((10, d)), 1e4 * rng.standard_normal((3, d))]).astype(dtype)
    X[:, 5] = 7.0
    rounded = RoundedPoints(len(X), d)
    rounded.choose_steps(X, np.arange(12))
    rounded.enter(X, 0)
    assert (rounded.points.errors[:12] < 1e-2).all()
    assert rounded.points.errors[12:22] == pytest.approx(np.sqrt(d / 12), rel=0.35)  # steps of 1, rounded evenly
    centroids = np.concatenate([X[[10, 11, 20, 24]], X[:10].mean(axis=0, dtype=float)[None]]).astype(dtype)
    (codes, sq_lengths, errors), others, unit = rounded.against(centroids)
    centroid_codes, centroid_sq_lengths, centroid_errors = others
    sq_steps = ((FINER * codes[:, None].astype(float) - centroid_codes) ** 2).sum(axis=2)
    assert (sq_lengths == (codes.astype(float) ** 2).sum(axis=1)).all()
    assert (centroid_sq_lengths == (centroid_codes.astype(float) ** 2).sum(axis=1)).all()
    for i in range(len(X)):
        for j in range(5):
            steps = steps_between(codes, sq_lengths, i, centroid_codes, centroid_sq_lengths, j)
            assert steps == np.sqrt(sq_steps[i, j])
    off = np.abs(unit * np.sqrt(sq_steps) - distances(X, centroids))
    assert (off <= errors[:, None] + centroid_errors + 1e-9 * distances(X, centroids)).all()
    assert (off > 0.5 * errors[:, None]).any()


@pytest.mark.slow
@pytest.mark.parametrize("tiny", [0.0, 1e-44, 1e-40])
def test_points_without_a_range_are_rounded_too(tiny):
    X = np.full((6, 70), 3.0, np.float32) if tiny == 0.0 else np.float32(tiny) * np.arange(420.0).reshape(6, 70)
    X = X.astype(np.float32)
    rounded = RoundedPoints(6, 70)
    rounded.choose_steps(X, np.arange(6))
    rounded.enter(X, 0)
    assert (rounded.points.errors < 1e-2).all()
    assert (BoundedAssignment(DensePoints(X), X[:2].copy()).assign() >= 0).all()


def test_points_far_from_bytes_are_not_kept_as_bytes():
    X = np.exp(2.0 * np.random.default_rng(1).standard_normal((300, 100)))
    bounded = BoundedAssignment(DensePoints(X), X[:5].copy())
    expected = distances(X, X[:5]).argmin(axis=1)
    assert (bounded.assign() == expected).all()
    assert bounded.rounded is None
    assert (bounded.assign() == expected).all()


@pytest.mark.parametrize(("d", "is_sparse"), [(2, False), (80, False), (5, True)])
def test_equal_centroids_tie_to_the_lowest_index_also_once_bounds_exist(d, is_sparse):
    X = np.random.default_rng(3).integers(0, 4, (200, d)).astype(float)
    points = SparsePoints(sparse.csr_array(X)) if is_sparse else DensePoints(X)
    bounded = BoundedAssignment(points, np.repeat(X[:5], 2, axis=0))
    for _ in range(3):
        assert (bounded.assign() % 2 == 0).all()
        bounded.move(np.repeat(bounded.centroids[::2][::-1], 2, axis=0))


@pytest.mark.slow
def test_groups_are_numbered_without_gaps():
    centroids = np.random.default_rng(8).standard_normal((50, 4))
    assert set(group_centroids(centroids, 6)) == set(range(6))
    assert set(group_centroids(np.ones((50, 4)), 6)) == {0}
    assert group_centroids(centroids, 50).tolist() == list(range(50))


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.slow), np.float64])
@pytest.mark.parametrize("d", [64, 77, 300])
def test_equal_pairs_get_equal_bits_wherever_they_stand(d, dtype):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((9, d)).astype(dtype)
    rows = np.append(rng.integers(0, 9, 50), (0, 0, 0))
    chosen = np.append(rng.integers(0, 9, 50), (0, 0, 0))
    sq_distances = np.empty(53, dtype)
    pair_sq_distances(X, rows, X, chosen, 50, sq_distances)
    bits = {}
    for i, j, value in zip(rows[:50], chosen[:50], sq_distances[:50], strict=True):
        assert bits.setdefault((i, j), value) == value
        assert value == pytest.approx(((X[i].astype(float) - X[j]) ** 2).sum(), rel=1e-5)
    assert len(bits) < 50


@pytest.mark.slow
def test_products_spoiled_by_rounding_change_no_label(monkeypatch):
    rng = np.random.default_rng(6)
    X = (rng.standard_normal((2000, 80)) + 3).astype(np.float32)
    X[:40] = np.repeat(X[40:60], 2, axis=0)
    expected = BoundedAssignment(DensePoints(X), X[:40].copy()).assign().copy()
    assert (expected[:40] % 2 == 0).all()
    true = distances(X, X[:40])
    assert true[np.arange(2000), expected] == pytest.approx(true.min(axis=1), rel=1e-6, abs=1e-6)

    class Spoiled(np.ndarray):
        def __matmul__(self, other):
            products = np.asarray(self) @ np.asarray(other)
            return (products * (1 + 1e-6 * rng.uniform(-1, 1, products.shape))).astype(np.float32)

    spoil = DensePoints.rows_at_once
    monkeypatch.setattr(DensePoints, "rows_at_once", lambda self, rows: spoil(self, rows).view(Spoiled))
    assert (BoundedAssignment(DensePoints(X), X[:40].copy()).assign() == expected).all()


def test_rows_that_do_not_ascend_are_still_the_rows_asked_for():
    points = DensePoints(np.arange(12.0)[:, None])
    for rows in ([3, 4, 5], [3, 9, 5], [7], [4, 2, 6]):
        assert points.rows_at_once(np.array(rows)).ravel().tolist() == rows
