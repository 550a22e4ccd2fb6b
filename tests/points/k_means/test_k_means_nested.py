"""Nested mini-batches against a plain twin round by round, and where points coincide."""

import warnings

import numpy as np
import pytest
from blobs import blobs
from cases import for_each

from graphclust import ConvergenceWarning, kmeans, nested_minibatch_kmeans
from graphclust.points.k_means.lloyd import nested_order


def twin_rounds(X, weights, centroids, order, batch_size, rho):
    """Newling and Fleuret's rule with full scans: the size of the batch and its energy in every round.

    The batch doubles when min_j sigma_j / p_j > rho, p_j being how far centroid j moved; p_j = 0 counts as +infinity.
    """
    n_rows, labels, sizes, history = batch_size, np.full(len(X), -1), [], []
    while True:
        rows = order[:n_rows]
        nearest = ((X[rows, None] - centroids) ** 2).sum(axis=2).argmin(axis=1)
        if n_rows == len(X) and (nearest == labels[:n_rows]).all():
            return sizes, history
        labels[:n_rows] = nearest
        ratios, cost, old = [], 0.0, centroids.copy()
        for j in range(len(centroids)):
            members, w = X[rows][nearest == j], weights[rows][nearest == j]
            if len(members) == 0:
                ratios.append(np.inf)
                continue
            centroids[j] = np.average(members, axis=0, weights=w)
            cost += (w[:, None] * (members - centroids[j]) ** 2).sum()
            moved = np.sqrt(((centroids[j] - old[j]) ** 2).sum())
            squares = (w[:, None] * (members - old[j]) ** 2).sum()
            sigma = np.sqrt(squares / w.sum() / (len(members) - 1)) if len(members) > 1 else np.inf
            ratios.append(np.inf if moved == 0.0 else sigma / moved)
        sizes.append(n_rows)
        history.append(cost / weights[rows].sum())
        if n_rows < len(X) and min(ratios) > rho:
            n_rows = min(2 * n_rows, len(X))


@for_each("rho", [0.3, 3.0, 100.0])
@for_each("seed", [41, 7741])
def test_rounds_and_batches_are_those_of_the_paper(seed, rho):
    X = blobs(1500, 3, 6, seed, spread=0.7)
    weights = np.random.default_rng(seed).random(1500) + 0.2
    start = X[:6] + 0.3
    order = nested_order(1500, 60, np.random.default_rng(7))
    sizes, history = twin_rounds(X, weights, start.copy(), order, 60, rho)
    assert len(set(sizes)) == 6 and len(sizes) > 12
    result = nested_minibatch_kmeans(X, 6, init=start, batch_size=60, rho=rho, sample_weight=weights, rng=7)
    assert result.history[: len(history)] == pytest.approx(history, rel=1e-9)
    assert result.n_iter in (len(history), len(history) + 1)  # a last update where the sums are taken afresh


def assert_end_of_lloyd(X, result, k):
    """No update from here lowers the inertia: its labels are the nearest, its centroids their means."""
    assert result.n_iter < 1000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        further = kmeans(X, len(result.centroids), init=result.centroids)
    assert further.inertia == pytest.approx(result.inertia, rel=1e-9, abs=1e-9)
    assert (further.labels == result.labels).all()


@for_each("rho", [0.1, 100.0])
@for_each("seed", range(6))
def test_clusters_of_identical_points_end_in_a_fixed_point(seed, rho):
    """A cluster of copies neither moves nor has a standard error: it says nothing against a larger batch."""
    X = np.repeat(np.eye(4), 100, axis=0)
    result = nested_minibatch_kmeans(X, 3, batch_size=20, rho=rho, rng=seed)
    assert_end_of_lloyd(X, result, 3)
    ratings = np.random.default_rng(seed).integers(1, 6, (2000, 2)).astype(float)
    assert_end_of_lloyd(ratings, nested_minibatch_kmeans(ratings, 12, batch_size=100, rho=rho, rng=seed), 12)
    some_zeros = blobs(2000, 4, 5, seed) * (np.random.default_rng(seed).random((2000, 1)) > 0.3)
    assert_end_of_lloyd(some_zeros, nested_minibatch_kmeans(some_zeros, 5, batch_size=100, rho=rho, rng=seed), 5)


def test_the_first_batch_has_points_of_weight():
    weights = np.zeros(50)
    weights[[7, 33]] = 1.0, 3.0
    X = np.arange(50.0)[:, None]
    result = nested_minibatch_kmeans(X, 1, sample_weight=weights, batch_size=2, rng=0)
    assert result.centroids.tolist() == [[26.5]] and result.history[0] == result.inertia / 4.0 == 126.75
