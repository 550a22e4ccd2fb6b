"""Coreset kernel k-means beside the full batch."""

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from reference.kernels import blobs

from graphclust import (
    adjusted_rand_index,
    coreset_kernel_kmeans,
    kernel_kmeans,
    stochastic_block_model,
)
from graphclust.errors import ConvergenceWarning, ParameterError
from graphclust.points.kernel_k_means import coreset as coreset_module
from graphclust.points.kernel_k_means.seeding import draw_seeds


def test_a_coreset_of_all_points_is_the_full_batch():
    X = blobs(60, np.random.default_rng(19))
    result = coreset_kernel_kmeans(X, 4, coreset_size=60, rng=3)
    full = kernel_kmeans(X, 4, rng=3)
    assert np.array_equal(result.labels, full.labels)
    assert result.cost == pytest.approx(full.cost)


@pytest.mark.parametrize("second_term", ["voronoi", "seed_weight"])
def test_a_coreset_costs_little_more_than_all_points(second_term):
    rng = np.random.default_rng(27)
    X = np.eye(4)[rng.integers(4, size=800)] * 6.0 + rng.normal(size=(800, 4))
    full = kernel_kmeans(X, 4, rng=5)  # both find the four, which depends on the seeds
    result = coreset_kernel_kmeans(X, 4, coreset_size=200, second_term=second_term, rng=5)
    assert full.cost <= result.cost * (1 + 1e-12) <= 1.1 * full.cost
    assert len(result.centers.rows) <= 200
    assert np.array_equal(result.predict(X), result.labels)


@pytest.mark.parametrize("sampling", ["naive", "tree"])
def test_a_coreset_of_a_graph(sampling):
    planted = stochastic_block_model([150] * 3, 0.5, 0.02, rng=9)
    result = coreset_kernel_kmeans(planted.graph, 3, coreset_size=150, sampling=sampling, rng=4)
    assert adjusted_rand_index(result.labels, planted.labels) > 0.95


def test_impossible_kernel_coresets_are_named():
    X = blobs(30, np.random.default_rng(1))
    refuses(ParameterError, "coreset_size=3", coreset_kernel_kmeans, X, 4, coreset_size=3)
    refuses(ParameterError, "tree", coreset_kernel_kmeans, X, 4, coreset_size=9, sampling="tree")
    refuses(ParameterError, "second_term", coreset_kernel_kmeans, X, 4, coreset_size=9, second_term="none")
    refuses(ParameterError, "second_term", coreset_kernel_kmeans, X, 4, coreset_size=30, second_term="none")


@pytest.mark.parametrize(("oversampling", "n_seeds"), [(0.5, 2), (1.0, 4), (2.0, 8), (2.6, 11), (100.0, 30)])
def test_oversampling_says_how_many_seeds_the_coreset_is_drawn_by(monkeypatch, oversampling, n_seeds):
    asked = []
    monkeypatch.setattr(coreset_module, "draw_seeds", lambda *a: asked.append(a[2]) or draw_seeds(*a))
    coreset_kernel_kmeans(
        blobs(30, np.random.default_rng(1)), 4, coreset_size=20, oversampling=oversampling, max_iter=1, rng=2
    )
    assert asked == [n_seeds, 4]


def test_oversampling_reaches_the_tree(monkeypatch):
    asked = []
    construct = coreset_module.construct_coreset
    monkeypatch.setattr(
        coreset_module, "construct_coreset", lambda *a, **o: asked.append(o["oversampling"]) or construct(*a, **o)
    )
    coreset_kernel_kmeans(nx.karate_club_graph(), 2, coreset_size=20, sampling="tree", oversampling=3.5, rng=1)
    assert asked == [3.5]


def test_clipped_distances_are_counted_and_few_points_said():
    """Forty points in two groups whose members K puts at -3 from each other."""
    K = np.kron(np.eye(2), np.full((20, 20), 2.5)) - 1.5 * np.eye(40)
    result = coreset_kernel_kmeans(K, 2, coreset_size=10, kernel="precomputed", rng=1)
    assert result.n_clipped > 0
    with pytest.warns(ConvergenceWarning, match="k=3, but only 2 distinct"):
        copies = np.repeat([[0.0], [5.0]], 20, axis=0)
        assert len(np.unique(coreset_kernel_kmeans(copies, 3, coreset_size=10, rng=1).labels)) == 2
