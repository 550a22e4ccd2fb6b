"""The bounded assignment against the full scan, and its bounds against true distances, over many moves."""

import numpy as np
import pytest

from graphclust.k_means import bounds as bounds_module
from graphclust.k_means.bounds import BoundedAssignment, group_centroids
from graphclust.k_means.points import DensePoints


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
