"""Lloyd's iteration: by hand, against a plain NumPy twin and scikit-learn, on batches that double, on odd data."""

import warnings

import numba
import numpy as np
import pytest
from blobs import blobs
from cases import for_each, refuses
from peaks import traced
from scipy import sparse
from sklearn.cluster import KMeans

import graphclust as gc
from graphclust.points.k_means.lloyd import nested_order
from graphclust.points.k_means.points import as_points, point_blocks


def test_k_means_of_four_points_is_that_by_hand():
    result = gc.kmeans([[0.0, 0.0], [0.0, 2.0], [10.0, 0.0], [10.0, 2.0]], 2, init=[[0.0, 0.0], [9.0, 0.0]])
    assert result.centroids.tolist() == [[0.0, 1.0], [10.0, 1.0]]
    assert result.labels.tolist() == [0, 0, 1, 1]
    assert result.inertia == 4.0
    assert result.n_iter == 1
    assert result.history.tolist() == pytest.approx([1.0])


@pytest.mark.parametrize("seed", [518, 2209, 7741])
def test_agrees_with_scikit_learn_from_the_same_start(seed):
    X = blobs(700, 5, 9, seed)
    weights = np.random.default_rng(seed).random(700)
    ours = gc.kmeans(X, 9, init=X[:9], sample_weight=weights)
    theirs = KMeans(9, init=X[:9], n_init=1, tol=0).fit(X, sample_weight=weights)
    assert (ours.labels == theirs.labels_).all()
    assert ours.centroids == pytest.approx(theirs.cluster_centers_, abs=1e-9)
    assert ours.inertia == pytest.approx(theirs.inertia_)
    assert ours.history[-1] * weights.sum() == pytest.approx(ours.inertia)


@pytest.mark.parametrize("max_iter", [1, 3, 300])
def test_labels_match_the_centroids_and_inertia_never_rises(max_iter):
    X = blobs(500, 3, 12, 31, spread=1.0)
    result = gc.kmeans(X, 12, max_iter=max_iter, rng=4)
    sq_distances = ((X[:, None] - result.centroids) ** 2).sum(axis=2)
    assert (result.labels == sq_distances.argmin(axis=1)).all()
    assert result.inertia == pytest.approx(sq_distances.min(axis=1).sum())
    assert (np.diff(result.history) <= 1e-9 * result.history[0]).all()


def test_weight_equals_repetition():
    X = blobs(200, 4, 5, 77)
    weights = np.random.default_rng(77).integers(0, 4, 200)
    start = X[np.flatnonzero(weights)[:5]]
    weighted = gc.kmeans(X, 5, init=start, sample_weight=weights)
    repeated = gc.kmeans(np.repeat(X, weights, axis=0), 5, init=start)
    assert weighted.centroids == pytest.approx(repeated.centroids, abs=1e-12)
    assert (np.repeat(weighted.labels, weights) == repeated.labels).all()


def test_ties_go_to_the_lowest_index():
    result = gc.kmeans([[0.0], [2.0], [1.0]], 2, init=[[2.0], [0.0]], max_iter=1)
    assert result.labels.tolist() == [1, 0, 0]


def test_an_empty_cluster_takes_the_point_that_costs_most():
    X = [[0.0], [1.0], [5.0], [6.5]]
    result = gc.kmeans(X, 2, init=[[3.0], [100.0]], max_iter=1)
    assert sorted(result.centroids.ravel().tolist()) == [2.0, 6.5]
    weighted = gc.kmeans(X, 2, init=[[3.0], [100.0]], max_iter=1, sample_weight=[9, 1, 1, 1])
    assert 0.0 not in weighted.centroids
    assert 6.5 in weighted.centroids
    light = gc.kmeans(X, 2, init=[[3.0], [100.0]], max_iter=1, sample_weight=[1, 1, 1, 0.1])
    assert 5.0 in light.centroids  # 6.5 is farther from the mean, and costs less


def test_fewer_distinct_points_than_clusters():
    X = np.repeat([[0.1, 0.7], [0.3, 0.2]], 5, axis=0)
    with pytest.warns(gc.ConvergenceWarning, match="k=4, but only 2"):
        result = gc.kmeans(X, 4, rng=1)
    assert len(result.centroids) == 2
    assert set(result.labels) == {0, 1}
    with pytest.warns(gc.ConvergenceWarning, match="k=4, but only 2"):
        given = gc.kmeans(X, 4, init=X[:4])
    assert given.inertia == pytest.approx(0.0, abs=1e-30)
    assert len(given.centroids) == 2


def test_as_many_clusters_as_points():
    X = blobs(40, 2, 3, 5)
    result = gc.kmeans(X, 40, rng=2)
    assert result.inertia == 0.0
    assert sorted(result.labels) == list(range(40))


def test_points_of_weight_zero_only_get_a_label():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [500.0]])
    for seed in range(20):
        result = gc.kmeans(X, 2, sample_weight=[1, 1, 1, 1, 0], rng=seed)
        alone = gc.kmeans(X[:4], 2, rng=seed)  # the same but for the label of the point without weight
        assert result.centroids.tobytes() == alone.centroids.tobytes()
        assert result.labels.tolist() == [*alone.labels, int(alone.centroids.argmax())]
        assert (result.inertia, result.n_iter) == (alone.inertia, alone.n_iter)


@pytest.mark.parametrize(
    ("method", "n", "d", "options"),
    [
        (gc.kmeans, 900, 5, {"k": 20, "init": "greedy k-means++"}),
        (gc.nested_minibatch_kmeans, 1200, 6, {"k": 9, "init": "k-means||", "batch_size": 100}),
    ],
)
def test_the_same_bits_on_one_and_two_threads(monkeypatch, method, n, d, options):
    X = blobs(n, d, options["k"], 8, spread=1.0)
    for name, small in (
        ("points._SMALL_WORK", 0), ("points._LARGEST_WORK", 1), ("seeding.ROWS", 64),
        ("seeding.ROWS_PER_PART", 64), ("steps._SMALL", 0), ("steps._CHUNK", 16),
    ):  # fmt: skip
        monkeypatch.setattr(f"graphclust.points.k_means.{name}", small)
    assert len(point_blocks(900, 5)) > 10
    results = []
    for n_threads in (1, min(2, numba.get_num_threads())):
        with gc.limit_threads(n_threads):
            results.append(method(X, rng=6, **options))
    one, two = results
    assert one.centroids.tobytes() == two.centroids.tobytes()
    assert one.labels.tobytes() == two.labels.tobytes()
    assert one.inertia == two.inertia
    assert one.history.tobytes() == two.history.tobytes()


@pytest.mark.parametrize("tol", [0.3, 3e-2, 3e-3, 1e-3])
def test_it_stops_once_the_centroids_move_less_than_tol_times_the_variance_of_a_feature(tol):
    X = blobs(3000, 6, 8, 31, spread=1.0) * [1.0, 2.0, 1.0, 0.5, 1.0, 1.0]
    centroids, expected = X[:8], 0
    moved = np.inf
    while moved > tol * X.var(axis=0).mean():
        labels = ((X[:, None] - centroids) ** 2).sum(axis=2).argmin(axis=1)
        means = np.array([X[labels == j].mean(axis=0) for j in range(8)])
        moved, centroids = ((means - centroids) ** 2).sum(), means
        expected += 1
    result = gc.kmeans(X, 8, init=X[:8], tol=tol)
    assert result.n_iter == expected < gc.kmeans(X, 8, init=X[:8]).n_iter
    assert result.centroids == pytest.approx(centroids)


def test_the_best_of_several_runs_is_kept():
    X = blobs(300, 2, 15, 19)
    rng = np.random.default_rng(1)
    single = [gc.kmeans(X, 15, init="random", rng=rng) for _ in range(6)]
    best = min(single, key=lambda result: result.inertia)
    assert best not in (single[0], single[-1])
    result = gc.kmeans(X, 15, init="random", n_init=6, rng=1)
    assert result.inertia == best.inertia and (result.labels == best.labels).all()


@for_each(
    "arguments, error, words",
    [
        ({"X": [[np.nan]], "k": 1}, gc.GraphValidationError, "finite"),
        ({"X": [1.0, 2.0], "k": 1}, gc.GraphValidationError, "shape"),
        ({"X": [["a"]], "k": 1}, TypeError, "numbers"),
        ({"X": [[1.0]], "k": 2}, gc.ParameterError, "k=2"),
        ({"X": [[1.0]], "k": True}, TypeError, "k=True"),
        ({"X": [[1.0]], "k": 1, "init": "best"}, gc.ParameterError, "init"),
        ({"X": [[1.0]], "k": 1, "init": [[1.0, 2.0]]}, gc.GraphValidationError, "init"),
        ({"X": [[1.0]], "k": 1, "tol": -1.0}, gc.ParameterError, "tol"),
        ({"X": [[1.0]], "k": 1, "max_iter": 0}, gc.ParameterError, "max_iter"),
        ({"X": [[1.0]], "k": 1, "n_init": 0}, gc.ParameterError, "n_init"),
        ({"X": [[1.0]], "k": 1, "sample_weight": [0.0]}, gc.GraphValidationError, "sample_weight"),
        ({"X": [[1e200], [1.0]], "k": 1}, gc.GraphValidationError, "below"),
    ],
)
def test_bad_input_is_named(arguments, error, words):
    refuses(error, words, gc.kmeans, **arguments)


def sparse_topics(n, d, k, seed, density=0.05):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) * (rng.random((n, d)) < density)
    X[np.arange(n), rng.integers(0, k, n)] += 3.0
    X[0] = 0.0
    return X


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.slow), np.float64])
def test_sparse_equals_dense(dtype):
    X = sparse_topics(400, 90, 6, 12).astype(dtype)
    dense = gc.kmeans(X, 6, init=X[1:7])
    for matrix in (sparse.csr_array(X), sparse.csr_matrix(X), sparse.coo_array(X)):
        result = gc.kmeans(matrix, 6, init=X[1:7])
        assert (result.labels == dense.labels).all()
        assert result.centroids == pytest.approx(dense.centroids, abs=1e-5)
        assert result.inertia == pytest.approx(dense.inertia, rel=1e-5)
        assert result.centroids.dtype == dtype


@pytest.mark.parametrize("n_absent", [0, 3])
def test_inertia_of_sparse_points_far_from_zero_is_that_of_dense_ones(n_absent):
    """|x|^2 - 2 x.c + |c|^2 would be off by some thousandths of each distance here."""
    X = 1e6 + 1e3 * np.repeat([[0.0], [1.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 6))
    X[:20, :n_absent] = 0.0
    weights = np.linspace(1.0, 2.0, 40)
    dense, found = (gc.kmeans(given, 2, init=X[[0, 20]], sample_weight=weights) for given in (X, sparse.csr_array(X)))
    assert (found.labels == dense.labels).all()
    assert found.inertia == pytest.approx(dense.inertia, rel=1e-8)


def test_sparse_seeding_draws_the_same_points():
    X = sparse_topics(300, 40, 5, 3)
    for arguments in ({"n_candidates": 3}, {"exponent": np.inf}, {"exponent": 1.0}):
        dense = gc.distance_seeding(X, 20, rng=9, **arguments)
        assert (gc.distance_seeding(sparse.csr_array(X), 20, rng=9, **arguments) == dense).all()


@pytest.mark.slow
def test_storage_does_not_matter():
    X = blobs(300, 4, 5, 21)
    expected = gc.kmeans(X, 5, rng=1)
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X.tolist(), frozen):
        assert gc.kmeans(same, 5, rng=1).centroids.tobytes() == expected.centroids.tobytes()
    single = gc.kmeans(X.astype(np.float32), 5, rng=1)
    assert single.centroids.dtype == np.float32
    assert single.inertia == pytest.approx(expected.inertia, rel=1e-4)


def test_a_far_offset_does_not_hide_the_clusters():
    X = blobs(300, 4, 5, 21)
    near, far = gc.kmeans(X, 5, rng=1), gc.kmeans(X + 1e7, 5, rng=1)
    assert (near.labels == far.labels).all()


def test_a_high_power_of_the_distance_is_nearly_furthest_first():
    X = [[0.0], [1e3], [3e3], [1e8]]
    seeds = gc.distance_seeding(X, 3, exponent=200.0, rng=4)
    assert set(seeds[1:]) <= set(gc.distance_seeding(X, 4, exponent=np.inf, rng=4))
    assert 3 in seeds


RUNS = [
    gc.kmeans,
    gc.spherical_kmeans,
    lambda X, k, **options: gc.minibatch_kmeans(X, k, batch_size=50, **options),
    lambda X, k, **options: gc.nested_minibatch_kmeans(X, k, batch_size=50, **options),
]


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("run", RUNS)
def test_points_are_predicted_as_they_were_clustered_and_new_ones_by_the_nearest_centroid(run, dtype, as_given):
    X, Y = blobs(400, 4, 6, 61, spread=1.0).astype(dtype), 3 * blobs(50, 4, 6, 62)
    X[7] = 0.0
    result = run(as_given(X), 6, rng=1)
    assert (result.predict(as_given(X)) == result.labels).all()
    new = Y / np.linalg.norm(Y, axis=1, keepdims=True) if run is gc.spherical_kmeans else Y
    nearest = ((new[:, None] - result.centroids) ** 2).sum(axis=2).argmin(axis=1)
    assert (result.predict(Y) == nearest).all()
    assert (result.predict(sparse.coo_array(Y)) == nearest).all()


def test_new_points_that_cannot_be_predicted():
    result = gc.kmeans([[0.0, 1.0], [4.0, 5.0]], 2, rng=1)
    refuses(gc.GraphValidationError, "X has 3 features, expected 2", result.predict, [[1.0, 2.0, 3.0]])
    refuses(gc.GraphValidationError, "finite", result.predict, [[np.nan, 1.0]])
    angles = gc.spherical_kmeans([[0.0, 1.0], [1.0, 0.0]], 2, rng=1)
    assert angles.predict([[0.0, 0.0], [0.0, 1e-9], [1e9, 0.0]]).tolist() == [-1, angles.labels[0], angles.labels[1]]


@for_each("run", RUNS)
def test_a_result_is_shown_in_one_line(run):
    shown = repr(run(blobs(2000, 3, 4, 5), 4, rng=1))
    assert "KMeansResult(k=4, n=2000, d=3, inertia=" in shown and len(shown) < 100


@for_each(("size", "weight"), [(11.0, 1e308), (11.0, 5e-324), (1e150, 1e20)])
def test_weights_out_of_range_are_refused(size, weight):
    X, words = size * np.array([[0.1], [0.2], [0.9], [1.0]]), r"sample_weight holds weights up to .* by a power of ten"
    refuses(gc.GraphValidationError, words, gc.kmeans, X, 2, sample_weight=weight, rng=1)


def test_empty_clusters_and_tolerances_take_no_more_memory_than_wide_sparse_points():
    """All points, dense, take 160 MB."""
    points = sparse.random_array((1000, 20_000), density=5e-4, rng=1, format="csr")
    far = np.repeat([[0.0], [-5.0], [-7.0]], 20_000, axis=1)
    peak, result = traced(lambda: gc.kmeans(points, 3, init=far, max_iter=2))
    assert len(result.centroids) == 3 and peak < 20e6
    assert traced(lambda: gc.minibatch_kmeans(points, 2, tol=1e-4, max_iter=2, rng=0))[0] < 20e6


def test_a_zero_that_is_stored_makes_no_other_point():
    copies = sparse.csr_array((np.array([2.0, 0.0, 2.0, 2.0]), [1, 0, 1, 1], [0, 1, 3, 4]), shape=(3, 2))
    others = sparse.csr_array([[0.0, 2.0], [0.0, 0.0], [1.0, 2.0], [0.0, 3.0]])
    assert not as_points(copies).differ(np.arange(3), 0) and not as_points(copies).differ(np.arange(3), 1)
    for row in (1, 2, 3):
        for points in (as_points(others), as_points(others.toarray())):
            assert points.differ(np.array([0, row]), 0) and points.differ(np.array([0, row]), row)


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
    result = gc.nested_minibatch_kmeans(X, 6, init=start, batch_size=60, rho=rho, sample_weight=weights, rng=7)
    assert result.history[: len(history)] == pytest.approx(history, rel=1e-9)
    assert result.n_iter in (len(history), len(history) + 1)  # a last update where the sums are taken afresh


def assert_end_of_lloyd(X, result, k):
    """No update from here lowers the inertia: its labels are the nearest, its centroids their means."""
    assert result.n_iter < 1000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gc.ConvergenceWarning)
        further = gc.kmeans(X, len(result.centroids), init=result.centroids)
    assert further.inertia == pytest.approx(result.inertia, rel=1e-9, abs=1e-9)
    assert (further.labels == result.labels).all()


@for_each("rho", [0.1, 100.0])
@for_each("seed", range(6))
def test_clusters_of_identical_points_end_in_a_fixed_point(seed, rho):
    """A cluster of copies neither moves nor has a standard error: it says nothing against a larger batch."""
    X = np.repeat(np.eye(4), 100, axis=0)
    result = gc.nested_minibatch_kmeans(X, 3, batch_size=20, rho=rho, rng=seed)
    assert_end_of_lloyd(X, result, 3)
    ratings = np.random.default_rng(seed).integers(1, 6, (2000, 2)).astype(float)
    assert_end_of_lloyd(ratings, gc.nested_minibatch_kmeans(ratings, 12, batch_size=100, rho=rho, rng=seed), 12)
    some_zeros = blobs(2000, 4, 5, seed) * (np.random.default_rng(seed).random((2000, 1)) > 0.3)
    assert_end_of_lloyd(some_zeros, gc.nested_minibatch_kmeans(some_zeros, 5, batch_size=100, rho=rho, rng=seed), 5)


def test_the_first_batch_has_points_of_weight():
    weights = np.zeros(50)
    weights[[7, 33]] = 1.0, 3.0
    X = np.arange(50.0)[:, None]
    result = gc.nested_minibatch_kmeans(X, 1, sample_weight=weights, batch_size=2, rng=0)
    assert result.centroids.tolist() == [[26.5]] and result.history[0] == result.inertia / 4.0 == 126.75
