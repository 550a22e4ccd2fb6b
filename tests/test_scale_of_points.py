"""Results do not depend on a factor of the points: a power of two changes no label, or the error says what is wrong."""

import numpy as np
import pytest
from cases import for_each, refuses
from scipy import sparse

import graphclust as gc
from graphclust.errors import GraphValidationError
from graphclust.float_scaling import balance_rows

CENTERS = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
X = np.repeat(CENTERS, 60, axis=0) + np.random.default_rng(0).normal(size=(180, 2))
WIDE = np.hstack([X, np.random.default_rng(1).normal(size=(180, 70))])  # for the loops of many features
EXPONENTS = (-450, 129, 500)


@pytest.mark.parametrize("exponent", [129, *(pytest.param(other, marks=pytest.mark.slow) for other in (-450, 500))])
@pytest.mark.parametrize("run", [gc.kmeans, gc.minibatch_kmeans, gc.nested_minibatch_kmeans])
@pytest.mark.parametrize(
    "kind", ["few features", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("many features", "sparse"))]
)
def test_k_means_of_points_times_a_power_of_two_is_the_same_bit_for_bit(run, kind, exponent):
    points = WIDE if kind == "many features" else X
    scaled = np.ldexp(points, exponent)
    if kind == "sparse":
        points, scaled = sparse.csr_array(points), sparse.csr_array(scaled)
    found, expected = run(scaled, 3, rng=1), run(points, 3, rng=1)
    assert (found.labels == expected.labels).all()
    assert (found.centroids == np.ldexp(expected.centroids, exponent)).all()
    assert found.inertia == np.ldexp(expected.inertia, 2 * exponent)
    assert (found.predict(scaled) == found.labels).all()


def test_k_means_of_points_beyond_single_precision():
    """At 1e39 distances are no numbers of single precision any more, which the bounds of an assignment are kept in."""
    expected = gc.kmeans(X, 3, rng=1).labels
    for factor in (1e-44, 1e39, 1e100):
        assert (gc.kmeans(X * factor, 3, rng=1).labels == expected).all()


@pytest.mark.parametrize("exponent", [-1000, *EXPONENTS])
def test_other_assignments_and_seeds_of_points_times_a_power_of_two(exponent):
    scaled = np.ldexp(X, exponent)
    assert (gc.nearest_centroids(scaled, scaled[:5]) == gc.nearest_centroids(X, X[:5])).all()
    for mean in ("euclidean", "geodesic"):
        found, expected = (gc.spherical_kmeans(points, 2, mean=mean, rng=2) for points in (scaled, X))
        assert (found.labels == expected.labels).all() and (found.centroids == expected.centroids).all()
    if exponent > -1000:
        assert (gc.distance_seeding(scaled, 4, rng=3) == gc.distance_seeding(X, 4, rng=3)).all()
        assert (gc.kmeans_parallel(scaled, 4, rng=3) == np.ldexp(gc.kmeans_parallel(X, 4, rng=3), exponent)).all()


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-60, -20, 26])
def test_spherical_k_means_of_single_precision(exponent):
    points = X.astype(np.float32)
    found, expected = (gc.spherical_kmeans(some, 3, rng=2) for some in (np.ldexp(points, 2 * exponent), points))
    assert (found.labels == expected.labels).all() and (found.labels >= 0).all()


@for_each("exponent", [-990, 530, 1015])
@for_each("metric", ["euclidean", "cosine", "manhattan"])
@for_each("weights", ["gaussian", "umap"])
def test_graphs_of_neighbors_of_points_times_a_power_of_two_are_equal(metric, weights, exponent):
    found, expected = (gc.knn_graph(points, 5, metric=metric, weights=weights) for points in (np.ldexp(X, exponent), X))
    assert (found.indices == expected.indices).all() and (found.indptr == expected.indptr).all()
    assert found.weights == pytest.approx(expected.weights, abs=3e-5 if weights == "umap" else 0.0)


@pytest.mark.parametrize("exponent", [-660, 530])
def test_approximate_neighbors_of_points_times_a_power_of_two(exponent):
    found, expected = (
        gc.nearest_neighbors(points, 5, method="approximate", rng=0) for points in (np.ldexp(X, exponent), X)
    )
    assert (found[0] == expected[0]).all() and (found[1] == np.ldexp(expected[1], exponent)).all()


def test_clusters_of_very_small_points_are_found():
    for factor in (1e-200, 1e160):
        found = gc.coreset_sc(gc.knn_graph(X * factor, 5), 3, rng=0)
        assert gc.adjusted_rand_index(found.labels, np.repeat(np.arange(3), 60)) == 1.0


@for_each("kernel", ["gaussian", "linear", "laplacian", "cosine"])
@for_each("exponent", [-450, 480])
def test_kernel_k_means_of_points_times_a_power_of_two(kernel, exponent):
    found, expected = (gc.kernel_kmeans(points, 3, kernel=kernel, rng=1) for points in (np.ldexp(X, exponent), X))
    assert (found.labels == expected.labels).all()


@for_each(
    ("run", "word"),
    [
        (lambda: gc.kmeans(X * 1e-200, 3), r"X holds no number above 1\.\d+e-199 .* multiply X"),
        (lambda: gc.kmeans((X * 1e-20).astype(np.float32), 3), "float32: squared distances would vanish"),
        (lambda: gc.minibatch_kmeans(sparse.csr_array(X * 1e-200), 3), "would vanish"),
        (lambda: gc.nested_minibatch_kmeans(X * 1e-200, 3), "would vanish"),
        (lambda: gc.distance_seeding(X * 1e-200, 3), "would vanish"),
        (lambda: gc.kmeans_parallel(X * 1e-200, 3), "would vanish"),
        (lambda: gc.kernel_kmeans(X * 1e-200, 3), "would vanish"),
        (lambda: gc.kmeans(X * 1e154, 3), "expected finite numbers below"),
        (lambda: gc.kernel_kmeans(X * 1e80, 3, kernel="polynomial"), "degree 3 overflows in float64; divide X"),
        (lambda: gc.kernel_kmeans(np.eye(4) * 1e308, 2, kernel="precomputed"), "overflow; divide the matrix"),
        (lambda: gc.nearest_neighbors([[1e308], [-1e308], [0.0]], 2), "divide X by a power of ten"),
    ],
)
def test_sizes_that_no_result_has_are_refused_by_name(run, word):
    refuses(GraphValidationError, word, run)


@pytest.mark.parametrize("run", [gc.kmeans, gc.minibatch_kmeans, gc.nested_minibatch_kmeans])
def test_the_largest_points_that_are_taken_have_finite_sums(run):
    """Up to the size that is refused, 180 squared distances add up to a number."""
    expected = run(X, 3, rng=1)
    for exponent in range(495, 512):
        try:
            found = run(np.ldexp(X, exponent), 3, rng=1)
        except GraphValidationError:
            break
        assert (found.labels == expected.labels).all() and np.isfinite(found.inertia)
    assert 500 < exponent < 510


def test_points_that_are_all_zeros_are_no_small_numbers():
    assert gc.kmeans(np.zeros((3, 2)), 1).inertia == 0.0


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_rows_are_balanced_each_by_itself(as_given):
    rows = np.array([[3.0, -4.0], [1e-200, 3e-200], [0.0, 0.0], [-1e200, 0.0]])
    balanced, exponents = balance_rows(as_given(rows), 1e-100, 1e100)
    dense = balanced.toarray() if sparse.issparse(balanced) else balanced
    assert (np.ldexp(dense, exponents[:, None]) == rows).all() and exponents[[0, 2]].tolist() == [0, 0]
    assert ((np.abs(dense[[1, 3]]).max(axis=1) >= 0.5) & (np.abs(dense[[1, 3]]).max(axis=1) < 1.0)).all()
