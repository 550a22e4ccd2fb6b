"""Arguments as users write them: what is converted, and what is refused in which words."""

import fractions

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses

import graphclust as gc
from graphclust.checks import as_array, as_choice, as_generator, as_labels, as_number, as_weights, as_whole_number
from graphclust.errors import GraphClustError, GraphValidationError, ParameterError


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), np.int32(3)])
def test_whole_numbers_of_any_kind_are_taken(value):
    assert as_whole_number(value, "k", at_least=1) == 3
    assert type(as_whole_number(value, "k", at_least=1)) is int


@for_each("value", [True, np.True_, 2.5, 3.0, np.float64(3), "3", None, [3], np.array([3]), 3j])
def test_what_is_no_whole_number_is_a_type_error_that_names_the_argument(value):
    refuses(TypeError, r"k=.* is a .*, expected a whole number", as_whole_number, value, "k", at_least=1)


def test_whole_numbers_out_of_range_say_what_is_allowed_and_why():
    for value in (0, -1, np.int64(-(2**40))):
        with pytest.raises(ParameterError, match=rf"n_clusters={value} is out of range, expected >= 1"):
            as_whole_number(value, "n_clusters", at_least=1)
    with pytest.raises(ParameterError, match=r"k=7 is out of range, expected between 1 and 6 \(the number of nodes\)"):
        as_whole_number(7, "k", at_least=1, at_most=6, why=" (the number of nodes)")
    assert as_whole_number(6, "k", at_least=6, at_most=6) == 6


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), fractions.Fraction(1, 2)])
def test_numbers_of_any_kind_are_taken(value):
    assert as_number(value, "shift", at_least=0.5) == 0.5
    assert type(as_number(value, "shift")) is float


@pytest.mark.parametrize("value", [True, "1", None, 1j, [1.0]])
def test_what_is_no_number_is_a_type_error(value):
    refuses(TypeError, r"shift=.*expected a number", as_number, value, "shift")


@for_each("value", [float("nan"), float("inf"), -float("inf"), -1e-300, 0, 1, 2.0])
def test_numbers_out_of_range_are_refused(value):
    with pytest.raises(ParameterError, match=r"tolerance=.*expected a finite number >= 0, > 0, < 1"):
        as_number(value, "tolerance", at_least=0.0, above=0.0, below=1.0)


def test_choices_are_listed():
    assert as_choice("max", "symmetrize", ("max", "sum")) == "max"
    for value in ("mean", "MAX", "", 1, None, ["max"]):
        with pytest.raises(ParameterError, match=r"symmetrize=.* is unknown, expected one of 'max', 'sum'"):
            as_choice(value, "symmetrize", ("max", "sum"))


def test_a_generator_is_used_as_it_is_and_a_seed_makes_one():
    generator = np.random.default_rng(3)
    assert as_generator(generator) is generator
    assert as_generator(3).random() == as_generator(np.int64(3)).random() == np.random.default_rng(3).random()
    assert as_generator(None).random() != as_generator(None).random()
    assert as_generator(2**40).random() == as_generator(2**40).random()


def test_what_is_no_generator_is_refused():
    refuses(ParameterError, r"rng=-1 cannot seed a generator .* expected a whole number >= 0", as_generator, -1)
    legacy = np.random.RandomState(0)
    for value in (True, 1.0, np.float64(2), "a", legacy, {}):
        refuses(TypeError, None, as_generator, value)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint16, ">i4"])
def test_labels_become_contiguous_native_int64(dtype):
    given = np.array([3, 9, 0, 9, 1, 9], dtype)[::2]
    labels = as_labels(given, 3)
    assert labels.tolist() == [3, 0, 1] and labels.dtype == np.int64 and labels.dtype.isnative
    assert labels.flags.c_contiguous
    assert as_labels([0, -1, 1], 3).tolist() == [0, -1, 1]


def test_wrong_labels_are_refused():
    refuses(GraphValidationError, r"labels has shape \(2,\), expected one label per node: \(3,\)", as_labels, [0, 1], 3)
    refuses(GraphValidationError, r"truth has shape \(3, 1\)", as_labels, [[0], [1], [2]], 3, "truth")
    refuses(GraphValidationError, "labels holds -2, expected cluster numbers >= 0, or -1", as_labels, [0, -2, 1], 3)
    refuses(GraphValidationError, "labels holds 4294967296, far above", as_labels, [0, 1, 2**32], 3)
    refuses(GraphValidationError, "far above", as_labels, np.array([0, 1, 2**63 + 5], np.uint64), 3)
    for value in ([0.0, 1.0, 2.0], [True, False, True], ["a", "b", "c"], [None, 0, 1]):
        refuses(TypeError, "expected whole numbers", as_labels, value, 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool, ">f8"])
def test_weights_become_contiguous_float64(dtype):
    weights = as_weights(np.array([1, 0, 1, 1], dtype)[::2], 2)
    assert weights.tolist() == [1.0, 1.0] and weights.dtype == np.float64 and weights.dtype.isnative
    assert as_weights(None, 3).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("number", [2, 2.0, np.float32(2.0), np.array(2)])
def test_a_number_is_the_weight_of_every_point(number):
    assert as_weights(number, 3).tolist() == [2.0, 2.0, 2.0]


@for_each(
    ("weights", "words"),
    [
        ([1.0, 2.0], r"sample_weight has shape \(2,\), expected one weight per point: \(3,\)"),
        ([1.0, -1.0, 0.0], r"sample_weight\[1\] is -1"),
        ([1.0, 0.0, float("nan")], r"sample_weight\[2\] is nan"),
        ([float("inf"), 0.0, 1.0], r"sample_weight\[0\] is inf"),
        ([0.0, 0.0, 0.0], "sample_weight is zero everywhere"),
        (0.0, "sample_weight is zero everywhere"),
        (-1.0, r"sample_weight\[0\] is -1"),
    ],
)
def test_wrong_weights_are_refused(weights, words):
    refuses(GraphValidationError, words, as_weights, weights, 3)


@pytest.mark.parametrize("weights", [["a", "b"], [1j, 2], [None, 1.0], "ab"])
def test_weights_that_are_no_numbers_are_type_errors(weights):
    refuses(TypeError, "sample_weight has dtype", as_weights, weights, 2)


def test_errors_are_also_what_a_caller_would_expect():
    for error, builtin in ((ParameterError, ValueError), (GraphValidationError, ValueError)):
        assert issubclass(error, GraphClustError) and issubclass(error, builtin)


POINTS, PLACES = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.0]]), np.array([0, 0, 1, 1])
MASKED, MASKED_LABELS = np.ma.masked_greater(POINTS, 5.5), np.ma.masked_array(PLACES, [0, 0, 0, 1])
MASKED_WEIGHTS = np.ma.masked_array(np.ones(4), [0, 0, 0, 1])
MASKED_MATRIX = np.ma.masked_equal(np.ones((4, 4)), 0.0)


@for_each(
    ("run", "name"),
    [
        *(
            (lambda f=f: f(MASKED, 2), "X")
            for f in (
                gc.kmeans, gc.minibatch_kmeans, gc.nested_minibatch_kmeans, gc.spherical_kmeans, gc.kmeans_plusplus,
                gc.distance_seeding, gc.kmeans_parallel, gc.kernel_kmeans, gc.nearest_neighbors, gc.knn_graph,
            )
        ),
        (lambda: gc.kmeans(list(MASKED), 2), "X"),
        (lambda: gc.kmeans(POINTS, 2, init=MASKED[2:]), "init"),
        (lambda: gc.kmeans(POINTS, 2, sample_weight=MASKED_WEIGHTS), "sample_weight"),
        (lambda: gc.kmeans(POINTS, 2, validation=MASKED), "validation"),
        (lambda: gc.kmeans(POINTS, 2, rng=0).predict(MASKED), "X"),
        (lambda: gc.kernel_kmeans(POINTS, 2, rng=0).predict(MASKED), "Y"),
        (lambda: gc.kernel_kmeans(MASKED_MATRIX, 2, kernel="precomputed"), "K"),
        (lambda: gc.kernel_kmeans(POINTS, 2, sample_weight=MASKED_WEIGHTS), "sample_weight"),
        (lambda: gc.kernel_kmeans(POINTS, 2, init=MASKED_LABELS), "init"),
        (lambda: gc.nearest_neighbors(POINTS, 2, queries=MASKED), "queries"),
        (lambda: gc.graph_from_neighbors(np.ma.masked_array([[1], [0]])), "indices"),
        (lambda: gc.graph_from_neighbors([[1], [0]], np.ma.masked_array([[1.0], [1.0]]), weights="umap"), "distances"),
        (lambda: gc.as_graph(MASKED_MATRIX), "G"),
        (lambda: gc.modularity(nx.path_graph(4), MASKED_LABELS), "labels"),
        (lambda: gc.normalized_cut(nx.path_graph(4), MASKED_LABELS), "labels"),
        (lambda: gc.modularity(nx.path_graph(4), [0, 0, 1, np.ma.masked]), "labels"),
        (lambda: gc.modularity(nx.path_graph(4), {0: 0, 1: 0, 2: 1, 3: np.ma.masked}), "labels"),
        (lambda: gc.adjusted_rand_index(PLACES, MASKED_LABELS), "other"),
        (lambda: gc.coreset_sc(nx.path_graph(4), 2, rng=0).model().predict(MASKED_MATRIX), "rows"),
    ],
)  # fmt: skip
def test_masked_arrays_are_refused_by_the_name_of_the_argument(run, name):
    refuses(TypeError, rf"^{name} is a masked array, expected every entry to be given", run)


@for_each("fit", ["fit", "fit_predict"])
@for_each(
    "estimator",
    [gc.KMeans, gc.MiniBatchKMeans, gc.NestedMiniBatchKMeans, gc.SphericalKMeans, gc.KernelKMeans,
     gc.SpectralClustering, gc.CoresetSpectralClustering, gc.GraphClustering],
)  # fmt: skip
def test_estimators_refuse_masked_points(estimator, fit):
    refuses(TypeError, "X is a masked array", getattr(estimator(2), fit), MASKED)


def test_rows_of_different_lengths_are_refused_by_name():
    with pytest.raises(GraphValidationError, match="points is a list of rows of different lengths"):
        as_array([[1.0, 2.0], [3.0]], "points")
