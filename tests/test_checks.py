"""Arguments as users write them: what is converted, and what is refused in which words."""

import fractions
from functools import partial

import networkx as nx
import numpy as np
from cases import for_each, refuses

import graphclust as gc
from graphclust.checks import as_labels, as_weights
from graphclust.errors import GraphClustError, GraphValidationError, ParameterError

PATH = nx.path_graph(3)
POINTS, PLACES = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.0]]), np.array([0, 0, 1, 1])


@for_each("value", [3, np.int64(3), np.uint8(3), np.int32(3)])
def test_whole_numbers_of_any_kind_are_taken(value):
    found = gc.coreset_sc(PATH, value, rng=0)
    assert found.k == 3 and type(found.k) is int


@for_each("value", [True, np.True_, 2.5, 3.0, np.float64(3), "3", None, [3], np.array([3]), 3j])
def test_what_is_no_whole_number_is_a_type_error_that_names_the_argument(value):
    refuses(TypeError, r"k=.* is a .*, expected a whole number", gc.kmeans, POINTS, value)


def test_whole_numbers_out_of_range_say_what_is_allowed_and_why():
    for value in (0, -1, np.int64(-(2**40))):
        refuses(ParameterError, f"n_neighbors={value} is out of range, expected >= 1", gc.knn_graph, POINTS, value)
    words = r"k=4 is out of range, expected between 1 and 3, the number of nodes"
    refuses(ParameterError, words, gc.merge_clusters, PATH, 4)
    assert sorted(gc.merge_clusters(PATH, 3)) == [0, 1, 2]


@for_each("value", [0.5, np.float32(0.5), fractions.Fraction(1, 2)])
def test_numbers_of_any_kind_are_taken(value):
    found = gc.communities(PATH, resolution=value, rng=0).resolution
    assert found == 0.5 and type(found) is float


@for_each("value", [True, "1", None, 1j, [1.0]])
def test_what_is_no_number_is_a_type_error(value):
    refuses(TypeError, r"shift=.*expected a number", gc.NormalizedCutKernel.of, PATH, shift=value)


@for_each("value", [float("nan"), float("inf"), -float("inf"), -1e-300, 1, 2.0])
def test_numbers_out_of_range_are_refused(value):
    words = "starved=.*expected a finite number >= 0, < 1"
    refuses(ParameterError, words, gc.minibatch_kmeans, POINTS, 2, starved=value)
    refuses(ParameterError, "shift=inf.*finite number", gc.NormalizedCutKernel.of, PATH, shift=np.inf)


def test_choices_are_listed():
    assert gc.as_graph(np.eye(3), symmetrize="max").n_nodes == 3
    for value in ("mean", "MAX", "", 1, ["max"]):
        words = r"symmetrize=.* is unknown, expected one of 'max', 'sum'"
        refuses(ParameterError, words, gc.as_graph, np.eye(3), symmetrize=value)


def test_a_generator_is_used_as_it_is_and_a_seed_makes_one():
    def drawn(rng):
        return gc.distance_seeding(np.arange(1000.0)[:, None], 5, rng=rng).tolist()

    generator = np.random.default_rng(3)
    first = drawn(generator)
    assert first == drawn(3) == drawn(np.int64(3)) == drawn(np.random.default_rng(3)) != drawn(generator)
    assert drawn(2**40) == drawn(2**40) and drawn(None) != drawn(None)


def test_what_is_no_generator_is_refused():
    refuses(ParameterError, r"rng=-1 cannot seed .* expected a whole number >= 0", gc.kmeans, POINTS, 2, rng=-1)
    for value in (True, 1.0, np.float64(2), "a", np.random.RandomState(0), {}):
        refuses(TypeError, None, gc.kmeans, POINTS, 2, rng=value)


@for_each("dtype", [np.int8, np.int32, np.int64, np.uint16, ">i4"])
def test_labels_become_contiguous_native_int64(dtype):
    """Loops are compiled for these alone."""
    given = np.array([3, 9, 0, 9, 1, 9], dtype)[::2]
    labels = as_labels(given, 3)
    assert labels.tolist() == [3, 0, 1] and labels.dtype == np.int64 and labels.dtype.isnative
    assert labels.flags.c_contiguous
    assert as_labels([0, -1, 1], 3).tolist() == [0, -1, 1]


def test_wrong_labels_are_refused():
    start = partial(gc.kernel_kmeans, POINTS, 2, kernel="linear")
    for wrong, words in (
        ([0, 1], r"init has shape \(2,\), expected one label per node: \(4,\)"),
        ([[0], [1], [2], [3]], r"init has shape \(4, 1\)"),
        ([0, -2, 1, 1], "init holds -2, expected cluster numbers >= 0, or -1"),
        ([0, 1, 2**32, 1], "init holds 4294967296, far above"),
        (np.array([0, 1, 1, 2**63 + 5], np.uint64), "far above"),
    ):
        refuses(GraphValidationError, words, start, init=wrong)
    for value in ([0.0, 1.0, 2.0, 3.0], [True, False, True, True], [*"abcd"], [None, 0, 1, 1]):
        refuses(TypeError, "expected whole numbers", start, init=value)


@for_each("dtype", [np.float64, np.float32, np.int64, bool, ">f8"])
def test_weights_become_contiguous_float64(dtype):
    """Loops are compiled for these alone."""
    weights = as_weights(np.array([1, 0, 1, 1], dtype)[::2], 2)
    assert weights.tolist() == [1.0, 1.0] and weights.dtype == np.float64 and weights.dtype.isnative
    assert as_weights(None, 3).tolist() == [1.0, 1.0, 1.0]


@for_each("number", [2, 2.0, np.float32(2.0), np.array(2)])
def test_a_number_is_the_weight_of_every_point(number):
    found, once = (gc.kmeans(POINTS, 2, sample_weight=weight, rng=0).inertia for weight in (number, None))
    assert found == 2.0 * once


@for_each(
    ("error", "weights", "words"),
    [
        (GraphValidationError, [1.0, 2.0], r"has shape \(2,\), expected one weight per point: \(4,\)"),
        (GraphValidationError, [1.0, -1.0, 0.0, 0.0], r"\[1\] is -1"),
        (GraphValidationError, [1.0, 0.0, float("nan"), 0.0], r"\[2\] is nan"),
        (GraphValidationError, [float("inf"), 0.0, 1.0, 1.0], r"\[0\] is inf"),
        (GraphValidationError, [0.0, 0.0, 0.0, 0.0], "is zero everywhere"),
        (GraphValidationError, 0.0, "is zero everywhere"),
        (GraphValidationError, -1.0, r"\[0\] is -1"),
        *((TypeError, wrong, "has dtype") for wrong in ([*"abcd"], [1j, 2, 1, 1], [None, 1.0, 1.0, 1.0], "ab")),
    ],
)
def test_wrong_weights_are_refused(error, weights, words):
    refuses(error, f"sample_weight ?{words}", gc.kmeans, POINTS, 2, sample_weight=weights)


def test_errors_are_also_what_a_caller_would_expect():
    for error, builtin in ((ParameterError, ValueError), (GraphValidationError, ValueError)):
        assert issubclass(error, GraphClustError) and issubclass(error, builtin)


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
    refuses(GraphValidationError, "X is a list of rows of different lengths", gc.kmeans, [[1.0, 2.0], [3.0]], 2)
