"""What code written for scikit-learn and NetworkX meets when it calls ours: counts, warnings, weights, odd data."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.cluster
from cases import for_each, refuses
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning as TheirConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.preprocessing import StandardScaler

import graphclust
from graphclust import (
    CoresetSpectralClustering,
    KernelKMeans,
    KMeans,
    MiniBatchKMeans,
    NestedMiniBatchKMeans,
    SpectralClustering,
    SphericalKMeans,
)
from graphclust.points.kernel_k_means.matrix_kernels import DenseKernel
from graphclust.points.kernel_k_means.point_kernels import GaussianKernel, LaplacianKernel

X, CLASSES = make_blobs(120, centers=3, cluster_std=0.7, random_state=4)
FEW = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]] * 4)


@pytest.mark.parametrize("model", [KMeans, MiniBatchKMeans, NestedMiniBatchKMeans, SphericalKMeans])
def test_fewer_distinct_points_than_clusters_make_fewer_clusters_and_warn(model):
    points = FEW + np.array([1.0, 3.0])  # no two of one direction, none zero
    with pytest.warns(TheirConvergenceWarning, match="only 3 distinct points") as caught:
        fitted = model(5, random_state=0).fit(points)
    assert len(caught) == 1 and len(fitted.cluster_centers_) == 3 == len(np.unique(fitted.labels_))


def test_mini_batches_of_fewer_weighted_points_than_clusters_warn_once():
    points = np.arange(12.0).reshape(6, 2)
    with pytest.warns(TheirConvergenceWarning, match="only 2 distinct points") as caught:
        model = MiniBatchKMeans(3, n_init=4, random_state=0).fit(points, sample_weight=[1, 1, 0, 0, 0, 0])
    assert len(caught) == 1 and sorted(map(tuple, model.cluster_centers_)) == [(0.0, 1.0), (2.0, 3.0)]


def test_later_batches_give_the_centroids_that_the_first_could_not():
    model = MiniBatchKMeans(6, random_state=0)
    with pytest.warns(TheirConvergenceWarning, match="only 3 distinct points"):
        model.partial_fit(FEW)
    assert len(model.cluster_centers_) == 3
    with pytest.warns(TheirConvergenceWarning, match="only 4 distinct points"):
        model.partial_fit(np.vstack([FEW, [[50.0, 0.0]]]))
    assert [50.0, 0.0] in model.cluster_centers_.tolist()
    model.partial_fit([[50.0, 0.0], [0.0, 90.0], [90.0, 90.0]])
    assert len(model.cluster_centers_) == 6 == len(model._learner.counts)
    assert {(0.0, 90.0), (90.0, 90.0)} <= {*map(tuple, model.cluster_centers_.tolist())}


def test_copies_of_a_mean_give_no_centroid():
    """The mean of three copies of 0.1 is another number by round-off, but no other point."""
    model = MiniBatchKMeans(2, random_state=0)
    for _ in range(3):
        with pytest.warns(TheirConvergenceWarning, match="only 1 distinct"):
            model.partial_fit(np.full((7, 1), 0.1))
    assert len(model.cluster_centers_) == 1


@for_each("max_iter", [1, 3])
@for_each("batch_size", [1, 7, 50, 1024])
def test_mini_batches_make_no_more_passes_than_asked_for(batch_size, max_iter):
    model = MiniBatchKMeans(3, batch_size=batch_size, max_iter=max_iter, max_no_improvement=None, random_state=0)
    model.fit(X[:95])
    assert model.n_iter_ == max_iter and model.n_steps_ == max_iter * 95 // min(batch_size, 95)


@for_each("tol", [0.0, 1e-4, 1e-2, 10.0])
@for_each("max_iter", [1, 4, 300])
def test_iterations_are_counted_as_scikit_learn_counts_them(tol, max_iter):
    points = np.random.default_rng(0).normal(size=(300, 2))
    options = {"init": points[:3], "n_init": 1, "tol": tol, "max_iter": max_iter}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TheirConvergenceWarning)
        ours, theirs = (model(3, **options).fit(points) for model in (KMeans, sklearn.cluster.KMeans))
    assert ours.n_iter_ == theirs.n_iter_ and (ours.labels_ == theirs.labels_).all()


def test_a_result_says_whether_it_converged():
    start = X[:3]
    assert graphclust.kmeans(X, 3, init=start).converged
    assert not graphclust.kmeans(X, 3, init=start, max_iter=1).converged
    assert not graphclust.kmeans(X, 3, init=start, tol=1e6).converged
    assert graphclust.spherical_kmeans(X, 3, init=start).converged
    assert not graphclust.spherical_kmeans(X, 3, init=start, max_iter=1).converged


@pytest.mark.parametrize(
    "model", [KMeans, MiniBatchKMeans, NestedMiniBatchKMeans, SphericalKMeans, KernelKMeans], ids=lambda m: m.__name__
)
def test_weights_are_the_third_argument_everywhere(model):
    weights = np.arange(120) % 3 + 0.0
    fitted = model(3, random_state=0).fit(X, None, weights)
    assert (model(3, random_state=0).fit_predict(X, None, weights) == fitted.labels_).all()
    assert np.allclose(model(3, random_state=0).fit_transform(X, None, weights), fitted.transform(X))
    assert np.allclose(model(3, random_state=0).fit_transform(X, sample_weight=weights), fitted.transform(X))


def test_a_filter_for_scikit_learns_convergence_warning_holds_for_ours():
    assert issubclass(graphclust.ConvergenceWarning, TheirConvergenceWarning)
    with pytest.warns(TheirConvergenceWarning):
        graphclust.kmeans([[0.0], [0.0]], 2)
    warning = graphclust.ConvergenceWarning("few")
    assert type(pickle.loads(pickle.dumps(warning))) is graphclust.ConvergenceWarning


@pytest.mark.parametrize("model", [KMeans, MiniBatchKMeans])
def test_several_runs_from_given_centroids_warn(model):
    with pytest.warns(RuntimeWarning, match=r"Explicit initial center position passed.* instead of n_init=5"):
        model(3, init=X[:3], n_init=5).fit(X)
    for n_init in (1, "auto"):
        model(3, init=X[:3], n_init=n_init).fit(X)
    for wrong in (0, "all"):
        refuses(ValueError, "n_init", model(3, init=X[:3], n_init=wrong).fit, X)
    with pytest.warns(RuntimeWarning, match="n_init=2 with centroids"):
        graphclust.kmeans(X, 3, init=X[:3], n_init=2)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_default_width_of_a_kernel_takes_weights_into_account(kernel, k):
    """A point of weight 0 changes nothing, one of weight 3 counts as three."""
    outlier, none = np.vstack([X, [[1e3, 1e3]]]), np.append(np.ones(120), 0.0)
    alone = KernelKMeans(k, kernel=kernel, random_state=0).fit(X)
    beside = KernelKMeans(k, kernel=kernel, random_state=0).fit(outlier, sample_weight=none)
    assert beside.inertia_ == pytest.approx(alone.inertia_)
    width = alone.centers_.kernel.kappa
    assert beside.centers_.kernel.kappa == pytest.approx(width)
    times = np.arange(120) % 4
    weighted = KernelKMeans(k, kernel=kernel, random_state=0).fit(X, sample_weight=times)
    repeated = KernelKMeans(k, kernel=kernel, random_state=0).fit(np.repeat(X, times, axis=0))
    assert weighted.centers_.kernel.kappa == pytest.approx(repeated.centers_.kernel.kappa) != pytest.approx(width)
    assert k > 1 or weighted.inertia_ == pytest.approx(repeated.inertia_)


def test_default_widths_are_mean_distances_by_weight():
    points, weights = np.array([[0.0, 1.0], [3.0, 1.0], [1.0, 5.0]]), np.array([1.0, 2.0, 0.5])
    pairs = weights[:, None] * weights
    apart = points[:, None] - points
    for kernel, distances in ((GaussianKernel, (apart**2).sum(axis=2)), (LaplacianKernel, np.abs(apart).sum(axis=2))):
        assert kernel(points, sample_weight=weights).kappa == pytest.approx((pairs * distances).sum() / pairs.sum())
        assert kernel(points).kappa == pytest.approx(distances.mean())


@pytest.mark.parametrize("function", ["kernel_kmeans", "minibatch_kernel_kmeans", "truncated_kernel_kmeans"])
def test_the_functions_take_weights_into_the_width_too(function):
    options = {"rng": 0, "max_iter": 3, "sample_weight": np.append(np.ones(120), 0.0)}
    found = getattr(graphclust, function)(np.vstack([X, [[1e3, 1e3]]]), 3, **options)
    assert found.centers.kernel.kappa == pytest.approx(GaussianKernel(X).kappa)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer], ids=lambda load: load.__name__)
def test_a_gamma_far_off_fits_and_names_a_better_one(load):
    """Raw features: squared distances in the thousands. Points without a neighbor have no label."""
    points = load().data
    with pytest.warns(graphclust.GraphWarning, match=r"gamma=1 is far too large.*is gamma=") as caught:
        model = SpectralClustering(random_state=0).fit(points)
    alone = model.clustering_.graph.isolated
    assert alone.any() and ((model.labels_ == -1) == alone).all() and model.labels_.max() == 7
    assert any("gamma=1 is far too large" in remark for remark in model.clustering_.remarks)
    text = str(caught[0].message)
    better = float(text.split("is gamma=")[1].split(";")[0])
    assert better == pytest.approx(1.0 / GaussianKernel(points).kappa, rel=1e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SpectralClustering(3, gamma=better, random_state=0).fit(points).labels_.min() == 0
        SpectralClustering(3, random_state=0).fit(StandardScaler().fit_transform(points))


@pytest.mark.parametrize("affinity", ["rbf", "laplacian", "chi2"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_where_no_point_has_a_neighbor_the_error_names_a_gamma_that_fits(affinity, kind):
    if affinity == "chi2" and kind is not np.asarray:
        pytest.skip("scikit-learn's chi2 kernel takes dense points")
    points = np.abs(X) * 1e10
    with pytest.raises(graphclust.ParameterError, match=r"gamma=1 is far too large.*120 have no affinity") as error:
        SpectralClustering(3, affinity=affinity).fit(kind(points))
    better = float(str(error.value).split("is gamma=")[1].split(";")[0])
    assert SpectralClustering(3, affinity=affinity, gamma=better, random_state=0).fit(kind(points)).labels_.min() == 0


def test_where_no_gamma_would_help_the_scale_of_the_points_is_named():
    words = "of the 120; scale the points, as StandardScaler"
    refuses(graphclust.ParameterError, words, SpectralClustering(3).fit, X * 1e200)
    words = r"affinity='poly' makes no graph of these points.*points of another scale"
    refuses(ValueError, words, SpectralClustering(2, affinity="poly").fit, X * 1e45)


def test_a_coreset_of_an_rbf_graph_fits_as_well():
    with pytest.warns(graphclust.GraphWarning, match="gamma=1 is far too large"):
        model = CoresetSpectralClustering(3, affinity="rbf", random_state=0).fit(load_wine().data)
    assert model.labels_.max() == 2


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_round_off_in_a_precomputed_kernel_is_no_news(kind):
    matrix = rbf_kernel(X)
    matrix[0, 1] *= 1.0 + 1e-15
    assert (matrix != matrix.T).any()
    model = SpectralClustering(3, affinity="precomputed", random_state=0).fit(kind(matrix))
    assert any("rounding" in remark for remark in model.clustering_.graph.remarks)
    KernelKMeans(3, kernel="precomputed", random_state=0).fit(kind(matrix))


class LargestBlock(DenseKernel):
    """A kernel that keeps how many entries it was asked for at once."""

    asked = 0

    def block(self, rows, columns):
        entries = super().block(rows, columns)
        self.asked = max(self.asked, entries.size)
        return entries


def test_repeated_draws_of_a_batch_are_met_once():
    """A batch of 1024 draws from 30 points asks for the entries of 30 points."""
    kernel = LargestBlock(rbf_kernel(X[:30]))
    graphclust.truncated_kernel_kmeans(kernel, 3, batch_size=1024, max_iter=20, rng=0)
    assert 0 < kernel.asked <= 900


@pytest.mark.parametrize("solver", ["full", "minibatch"])
def test_of_several_runs_of_kernel_k_means_the_best_is_kept(solver):
    options = {"kernel": "linear", "solver": solver, "max_iter": 5}
    rng = np.random.default_rng(5)
    single = [KernelKMeans(8, random_state=rng, **options).fit(X).inertia_ for _ in range(6)]
    best = KernelKMeans(8, n_init=6, random_state=np.random.default_rng(5), **options).fit(X)
    assert best.inertia_ == min(single) < max(single)
    refuses(ValueError, "n_init=0", KernelKMeans(2, n_init=0).fit, X)


def test_a_draw_of_fewer_points_than_clusters_warns():
    with pytest.warns(RuntimeWarning, match="init_size=2 should be larger than n_clusters=3"):
        MiniBatchKMeans(3, init_size=2, random_state=0).fit(X)


def product_of_cosines(one, other):
    return float(np.cos(one - other).prod())


@for_each("solver", ["full", "minibatch", "truncated", "coreset"])
@for_each(
    ("kernel", "options"),
    [
        ("sigmoid", {"coef0": 0.5, "gamma": 1e-3}), ("chi2", {}), ("chi2", {"gamma": 0.2}), ("poly", {"degree": 2}),
        (product_of_cosines, {}),
    ],
)  # fmt: skip
def test_kernels_of_scikit_learn_and_functions_give_what_their_matrix_gives(kernel, options, solver):
    points = np.abs(X)
    theirs = {"coef0": 1.0, "degree": 3} | options
    matrix = pairwise_kernels(points, metric=kernel, filter_params=True, **({} if callable(kernel) else theirs))
    fit = {"solver": solver, "max_iter": 4, "batch_size": 20, "random_state": 2}
    model = KernelKMeans(3, kernel=kernel, **options, **fit).fit(points)
    given = KernelKMeans(3, kernel="precomputed", **fit).fit(matrix)
    assert model.inertia_ == pytest.approx(given.inertia_) and (model.labels_ == given.labels_).all()
    assert (model.predict(points[:9]) == given.predict(matrix[:9])).all()
    assert model.transform(points).shape == (120, 3)
