"""Mini-batch and truncated kernel k-means against twins written from the definition, and their relatives."""

import numpy as np
import pytest
from cases import for_each, refuses
from reference.kernels import SEEDS, blobs, coefficients_on_all, random_kernel, twin_minibatch

import graphclust as gc
from graphclust.errors import ConvergenceWarning, GraphValidationError, Interrupted, ParameterError
from graphclust.points.kernel_k_means.point_kernels import PointKernel


def assert_equals_its_twin(run, seed, rate, **options):
    """In the coefficients of 4 centers after 25 batches and their lengths; returns it, the kernel and both of these."""
    rng = np.random.default_rng(seed)
    K = random_kernel(50, rng)
    batches = [rng.integers(50, size=12) for _ in range(25)]
    seeds = rng.choice(50, 4, replace=False)
    result = run(K, 4, kernel="precomputed", init=seeds, rate=rate, batches=batches, **options)
    C, _ = twin_minibatch(K, seeds, batches, rate, *options.values())
    norms = np.einsum("jx,xy,jy->j", C, K, C)
    np.testing.assert_allclose(coefficients_on_all(result, 50), C, atol=1e-12)
    np.testing.assert_allclose(result.centers.sq_norms, norms, rtol=1e-9)
    return result, K, C, norms


@for_each("rate", ["sqrt", "count"])
@for_each("seed", SEEDS)
def test_minibatch_equals_its_twin(seed, rate):
    result, K, C, norms = assert_equals_its_twin(gc.minibatch_kernel_kmeans, seed, rate)
    assert result.n_iter == 25
    to_centers = np.diag(K)[:, None] + norms - 2 * K @ C.T
    assert np.array_equal(result.labels, to_centers.argmin(axis=1))
    assert result.cost == pytest.approx(to_centers.min(axis=1).sum())
    np.testing.assert_allclose(result.centers.sq_distances_to(K), to_centers - np.diag(K)[:, None], atol=1e-9)


@for_each("renormalize", [True, False])
@for_each("rate", ["sqrt", "count"])
@for_each("tau", [1, 5, 20])
def test_truncated_equals_its_twin(tau, rate, renormalize):
    assert_equals_its_twin(gc.truncated_kernel_kmeans, 5150 + tau, rate, tau=tau, renormalize=renormalize)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tau_never_reached_changes_nothing(seed):
    X = blobs(80, np.random.default_rng(seed))
    whole = gc.minibatch_kernel_kmeans(X, 4, batch_size=24, max_iter=10, rng=seed)
    kept = gc.truncated_kernel_kmeans(X, 4, batch_size=24, max_iter=10, tau=24 * 11, rng=seed)
    np.testing.assert_allclose(kept.history, whole.history, rtol=1e-9)
    assert np.array_equal(kept.labels, whole.labels)
    assert kept.cost == pytest.approx(whole.cost, rel=1e-9)


@pytest.mark.parametrize("function", [gc.minibatch_kernel_kmeans, gc.truncated_kernel_kmeans])
def test_the_whole_data_as_one_batch_is_one_full_step(function):
    rng = np.random.default_rng(404)
    X = blobs(80, rng)
    kernel = gc.GaussianKernel(X)
    seeds = rng.choice(80, 4, replace=False)
    K = kernel.block(slice(None), slice(None))
    nearest = (np.diag(K)[seeds] - 2 * K[:, seeds]).argmin(axis=1)
    expected = gc.kernel_kmeans(kernel, 4, init=nearest, max_iter=1)
    result = function(kernel, 4, init=seeds, rate="count", batches=[np.arange(80)])
    assert np.array_equal(result.labels, expected.labels)


def test_nothing_of_size_n_is_touched_between_seeding_and_labels():
    class Spy(gc.GaussianKernel):
        largest = 0

        def block(self, rows, columns):
            self.look(rows, columns)
            return super().block(rows, columns)

        def add_sums(self, votes, rows, columns, sums):
            self.look(rows, columns)
            super().add_sums(votes, rows, columns, sums)

        def look(self, *asked):
            for chosen in asked:
                assert not isinstance(chosen, slice) or self.labeling
                self.largest = max(self.largest, chosen.stop if isinstance(chosen, slice) else len(chosen))

    kernel = Spy(blobs(1000, np.random.default_rng(2)))
    stages = []

    def listener(stage, done, total):
        stages.append(stage)
        if stage == "kernel k-means":
            assert 20 <= kernel.largest < 4 * (30 + 20) + 4
            kernel.labeling = done == 15

    kernel.labeling = False
    gc.truncated_kernel_kmeans(
        kernel, 4, init=[3, 9, 27, 81], batch_size=20, tau=30, max_iter=15, rng=1, progress=listener
    )
    assert "labels" in stages


@pytest.mark.parametrize("function", [gc.minibatch_kernel_kmeans, gc.truncated_kernel_kmeans])
def test_mini_batches_find_the_blobs(function):
    rng = np.random.default_rng(3)
    truth = rng.integers(4, size=240)
    X = np.eye(4)[truth] * 12.0 + rng.normal(size=(240, 4))
    for K_or_X, named in ((X, "gaussian"), (X.astype(np.float32), "gaussian"), (X, "laplacian"),
                          (gc.nearest_neighbor_kernel(X, 50), "precomputed")):  # fmt: skip
        result = function(K_or_X, 4, kernel=named, init=[int(np.flatnonzero(truth == j)[0]) for j in range(4)],
                          batch_size=60, max_iter=8, rng=5)  # fmt: skip
        assert gc.adjusted_rand_index(result.labels, truth) == 1.0


@pytest.mark.parametrize("function", [gc.minibatch_kernel_kmeans, gc.truncated_kernel_kmeans])
def test_it_stops_when_a_batch_gains_too_little(function):
    X = blobs(100, np.random.default_rng(12))
    K = gc.GaussianKernel(X).block(slice(None), slice(None))
    batches = [np.arange(100)] * 20
    result = function(X, 3, rate="count", batches=batches, max_iter=20, tol=1e-3, rng=6)
    assert 1 < result.n_iter < 20
    gains = -np.diff(result.history)
    assert (gains >= 1e-3).all()
    never = function(X, 3, rate="count", batches=batches, max_iter=20, rng=6)
    assert never.n_iter == 20
    assert never.history[result.n_iter - 1] - never.history[result.n_iter] < 1e-3
    assert result.history[0] <= np.diag(K).mean() * 2


@pytest.mark.parametrize("function", [gc.minibatch_kernel_kmeans, gc.truncated_kernel_kmeans])
def test_batches_are_drawn_by_weight_and_then_count_alike(function):
    X = np.array([[0.0], [0.2], [50.0], [9.0], [9.3]])
    weights = np.array([1.0, 3.0, 0.0, 2.0, 2.0])
    result = function(X, 2, kernel="linear", sample_weight=weights, init=[0, 3], batch_size=4000, rate="count",
                      max_iter=1, rng=8)  # fmt: skip
    # Means of points drawn by weight: 0.15 and 9.15, standard deviations 0.0019 and 0.0034 over 2,000 points.
    means = (result.centers.coefficients @ X[result.centers.rows]).ravel()
    np.testing.assert_allclose(means, [0.15, 9.15], atol=0.02)
    assert result.labels.tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("function", [gc.minibatch_kernel_kmeans, gc.truncated_kernel_kmeans])
def test_extreme_sizes_of_mini_batches(function):
    X = np.arange(6.0)[:, None] ** 2
    assert len(np.unique(function(X, 6, batch_size=50, max_iter=5, rng=2).labels)) == 6
    assert not function(X, 1, batch_size=1, max_iter=5, rng=2).labels.any()
    with pytest.warns(ConvergenceWarning, match="only 1 distinct"):
        assert not function(np.ones((5, 2)), 3, batch_size=50, max_iter=3, rng=2).labels.any()
    refuses(ParameterError, "rate", function, X, 2, rate="beta")
    refuses(ParameterError, "tol=-1", function, X, 2, tol=-1)
    refuses(ParameterError, "batches", function, X, 2, batches=[[0, 6]])
    refuses(GraphValidationError, "init", function, X, 2, init=[0, 1, 2])


@pytest.mark.parametrize("function", [gc.minibatch_kernel_kmeans, gc.truncated_kernel_kmeans])
def test_clipped_distances_are_reported(function):
    K = np.array([[1.0, 2.5, 0.0], [2.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert function(K, 2, kernel="precomputed", max_iter=2, rng=1).n_clipped > 0
    assert function(K, 2, kernel="precomputed", max_iter=2, init=[0, 2], rng=1).n_clipped == 0
    with pytest.warns(ConvergenceWarning, match="came out negative"):
        function(K, 3, kernel="precomputed", max_iter=2, rng=1)


def test_an_interrupt_in_the_middle_of_a_round_carries_labels_of_an_earlier_one(monkeypatch):
    points = np.random.default_rng(2209).normal(size=(400, 3)) + np.arange(400)[:, None] % 7
    n_calls = 0

    def add_sums(self, *given):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 16:  # the first is of the seeds; the centers are scaled by now, and not yet moved
            raise KeyboardInterrupt
        whole(self, *given)

    whole = PointKernel.add_sums
    by_rounds = [
        gc.minibatch_kernel_kmeans(points, 5, kernel="linear", max_iter=n, rng=0).labels.tolist() for n in range(1, 15)
    ]
    monkeypatch.setattr(PointKernel, "add_sums", add_sums)
    with pytest.raises(Interrupted) as stop:
        gc.minibatch_kernel_kmeans(points, 5, kernel="linear", max_iter=20, rng=0)
    assert stop.value.best.tolist() in by_rounds[6:]
