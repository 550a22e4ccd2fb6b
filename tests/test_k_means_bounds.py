"""The bounded assignment against the full scan, and its bounds against true distances, over many moves."""

import numpy as np
import pytest
from scipy import sparse

from graphclust.compiled.point_distances import pair_sq_distances
from graphclust.k_means import bounds as bounds_module
from graphclust.k_means.bounds import BoundedAssignment, group_centroids
from graphclust.k_means.points import DensePoints, SparsePoints


def distances(X, centroids):
    return np.sqrt(((X[:, None].astype(np.float64) - centroids) ** 2).sum(axis=2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "d, k, most_bytes", [(3, 60, 1 << 30), (70, 9, 1 << 30), (70, 30, 4 * 300 * 7), (1, 2, 1 << 30)]
)
def test_labels_are_exact_and_bounds_hold_while_centroids_move(monkeypatch, dtype, d, k, most_bytes):
    monkeypatch.setattr(bounds_module, "_MOST_BYTES", most_bytes)
    rng = np.random.default_rng(d * k)
    X = (rng.standard_normal((300, d)) + 3).astype(dtype)
    bounded = BoundedAssignment(DensePoints(X), X[:k].copy())
    for step in range(12):
        labels = bounded.assign()
        true = distances(X, bounded.centroids)
        own = true[np.arange(len(X)), labels]
        assert own == pytest.approx(true.min(axis=1), rel=1e-5)
        assert (labels == true.argmin(axis=1)).mean() > 0.999
        others = true.copy()
        others[np.arange(len(X)), labels] = np.inf
        assert (bounded.upper + bounded.drift[labels] >= own).all()
        assert (bounded.lower - bounded.group_drift[-1] <= others.min(axis=1) * (1 + 1e-6)).all()
        for g in range(bounded.group_lower.shape[1]):
            nearest = others[:, bounded.group_of == g].min(axis=1)
            assert (bounded.group_lower[:, g] - bounded.group_drift[g] <= nearest * (1 + 1e-6) + 1e-6).all()
        scale = 0.5 ** (step / 2)
        bounded.move((bounded.centroids + scale * rng.standard_normal((k, d))).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k, most_bytes", [(5, 1 << 30), (40, 1 << 30), (40, 4 * 300 * 7)])
def test_the_same_for_sparse_points_of_which_all_or_few_centroids_move(monkeypatch, dtype, k, most_bytes):
    monkeypatch.setattr(bounds_module, "_MOST_BYTES", most_bytes)
    rng = np.random.default_rng(k)
    X = (rng.random((300, 50)) * (rng.random((300, 50)) < 0.2)).astype(dtype)
    bounded = BoundedAssignment(SparsePoints(sparse.csr_array(X)), X[:k].copy())
    for step in range(16):
        before = bounded.labels.copy()
        labels = bounded.assign()
        true = distances(X, bounded.centroids)
        own = true[np.arange(len(X)), labels]
        assert own == pytest.approx(true.min(axis=1), rel=1e-5, abs=1e-3)
        assert (labels == true.argmin(axis=1)).mean() > 0.99
        assert (labels != before).any()
        true[np.arange(len(X)), labels] = np.inf
        assert (bounded.upper + bounded.drift[labels] >= own).all()
        assert (bounded.lower - bounded.group_drift[-1] <= true.min(axis=1) * (1 + 1e-6)).all()
        for g in range(bounded.group_lower.shape[1]):
            nearest = true[:, bounded.group_of == g].min(axis=1)
            assert (bounded.group_lower[:, g] - bounded.group_drift[g] <= nearest * (1 + 1e-6) + 1e-6).all()
        moved = rng.random(k) < (1.0, 0.1, 0.4)[step % 3]
        moved[step % k] = True
        elsewhere = X[rng.permutation(300)[:k]] * (0.5 + rng.random((k, 1)))
        bounded.move(np.where(moved[:, None], elsewhere, bounded.centroids).astype(dtype))


@pytest.mark.parametrize("d", [2, 80])
def test_equal_centroids_tie_to_the_lowest_index_also_once_bounds_exist(d):
    X = np.random.default_rng(3).integers(0, 4, (200, d)).astype(float)
    bounded = BoundedAssignment(DensePoints(X), np.repeat(X[:5], 2, axis=0))
    for _ in range(3):
        assert (bounded.assign() % 2 == 0).all()
        bounded.move(np.repeat(bounded.centroids[::2][::-1], 2, axis=0))


def test_groups_are_numbered_without_gaps():
    centroids = np.random.default_rng(8).standard_normal((50, 4))
    assert set(group_centroids(centroids, 6)) == set(range(6))
    assert set(group_centroids(np.ones((50, 4)), 6)) == {0}
    assert group_centroids(centroids, 50).tolist() == list(range(50))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
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
