"""scikit-learn's own checks of what an estimator has to do; what fails on purpose is listed with its reason."""

import numpy as np
import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import graphclust as gc

GIVEN = ("precomputed", "precomputed_nearest_neighbors")
ESTIMATORS = [
    gc.KMeans(), gc.MiniBatchKMeans(), gc.NestedMiniBatchKMeans(), gc.SphericalKMeans(), gc.SpectralClustering(),
    gc.CoresetSpectralClustering(), gc.KernelKMeans(), gc.GraphClustering(), gc.GraphClustering(affinity="precomputed"),
    gc.KMeans(2), gc.MiniBatchKMeans(2), gc.NestedMiniBatchKMeans(2), gc.CoresetSpectralClustering(2),
    *(gc.SphericalKMeans(2, mean=mean) for mean in ("euclidean", "geodesic")),
    *(gc.SpectralClustering(2, affinity=affinity) for affinity in ("rbf", "nearest_neighbors", *GIVEN)),
    *(gc.SpectralClustering(2, assign_labels=way) for way in ("discretize", "cluster_qr")),
    gc.CoresetSpectralClustering(2, affinity="rbf"), gc.CoresetSpectralClustering(2, affinity="precomputed"),
    *(gc.KernelKMeans(2, solver=solver) for solver in ("full", "minibatch", "truncated", "coreset")),
    *(gc.KernelKMeans(2, kernel=kernel) for kernel in ("laplacian", "polynomial", "linear", "cosine", "precomputed")),
]  # fmt: skip
DRAWN = (
    "seeds, and batches, are drawn in proportion to the weights: the same in distribution as from repeated points, but "
    "the same random numbers meet other points; scikit-learn's own KMeans lists the same"
)
WEIGHTED = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
DRAW_THEMSELVES = ("check_methods_sample_order_invariance", "check_nonsquare_error")  # from NumPy's global generator
NOT_SQUARE = "this check gives points, whatever the tag pairwise says: scikit-learn's own fails it too"
TOO_FEW = "of a random sparse matrix too few distances are known: scikit-learn's own fails it too"
SPARSE = ("check_estimator_sparse_tag", "check_estimator_sparse_array", "check_estimator_sparse_matrix")


def expected_failures(estimator):
    given = {"check_clustering": NOT_SQUARE} if get_tags(estimator).input_tags.pairwise else {}
    match estimator.get_params():
        case {"affinity": "precomputed_nearest_neighbors"}:
            return given | dict.fromkeys(SPARSE, TOO_FEW)
        case {"affinity": _}:
            return given
    return given | dict.fromkeys(WEIGHTED, DRAWN)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")  # of matrices that hold rows of zeros
@pytest.mark.filterwarnings("ignore::graphclust.errors.ConvergenceWarning")  # a check sets n_components to one
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimators_pass_the_checks_of_scikit_learn(estimator, check):
    before = np.random.get_state()  # noqa: NPY002
    check(estimator)
    if check.func.__name__ in DRAW_THEMSELVES:
        np.random.set_state(before)  # noqa: NPY002


# Those that fit nothing, or on the way to an error, so that nothing has to be compiled for them.
QUICK = {
    "check_estimator_cloneable", "check_estimator_repr", "check_no_attributes_set_in_init",
    "check_parameters_default_constructible", "check_do_not_raise_errors_in_init_or_set_param",
    "check_get_params_invariance", "check_set_params", "check_valid_tag_types", "check_mixin_order",
    "check_estimator_tags_renamed", "check_complex_data", "check_estimators_empty_data_messages",
    "check_estimators_unfitted", "check_fit1d", "check_estimators_nan_inf",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_estimators_keep_the_conventions(estimator):
    run = set()
    for instance, check in estimator_checks_generator(estimator):
        if check.func.__name__ in QUICK:
            check(instance)
            run.add(check.func.__name__)
    assert len(run) >= 12
