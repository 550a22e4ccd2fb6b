"""Labels in every form that people hold them, for every function that judges a partition; measures of agreement."""

import math
import types

import networkx as nx
import numpy as np
import pandas
import pytest
from cases import for_each, refuses
from scipy import sparse

import graphclust as gc
from graphclust.objective.labels import labels_on

NAMES = ["a", "b", "c", "d", "e", "f"]
PLACES = [1, 1, 0, 0, 0, 1]
MEASURES = [
    gc.cluster_volumes, gc.normalized_cut, gc.conductance, gc.modularity, gc.kernel_k_means_cost,
]  # fmt: skip


def named_graph(order=NAMES) -> nx.Graph:
    """A weighted ring of six named nodes with a chord, whose nodes come in some order."""
    graph = nx.Graph()
    graph.add_nodes_from(order)
    nx.add_cycle(graph, NAMES)
    graph.add_edge("a", "c")
    for number, (u, v) in enumerate(sorted(tuple(sorted(edge)) for edge in graph.edges)):
        graph[u][v]["weight"] = 1.0 + number
    return graph


GRAPH = named_graph()
BY_NAME = dict(zip(NAMES, PLACES, strict=True))
SETS = [{"c", "d", "e"}, {"a", "b", "f"}]


def clustering(order=NAMES):
    """The partition as a Clustering of the graph whose nodes come in some order."""
    graph = gc.as_graph(named_graph(order))
    return gc.Clustering(np.array([BY_NAME[name] for name in order]), 2, graph)


FORMS = {
    "list": PLACES, "tuple": tuple(PLACES), "int8": np.array(PLACES, np.int8), "uint64": np.array(PLACES, np.uint64),
    "numpy scalars": [np.int64(place) for place in PLACES], "object": np.array(PLACES, object),
    "bool": np.array(PLACES, bool), "strings": ["two" if place else "one" for place in PLACES],
    "numpy strings": np.array(["two" if place else "one" for place in PLACES]),
    "object strings": np.array(["two" if place else "one" for place in PLACES], object),
    "bytes": np.array([b"two" if place else b"one" for place in PLACES]),
    "large numbers": [9 * 10**12 if place else 10**12 for place in PLACES],
    "beyond 64 bits": [9**90 if place else 9**80 for place in PLACES],
    "uint64 beyond int64": np.array([2**63 + 5 if place else 2**63 for place in PLACES], np.uint64), "dict": BY_NAME,
    "dict in another order": dict(reversed(BY_NAME.items())),
    "dict of names": {name: "two" if place else "one" for name, place in BY_NAME.items()}, "sets": SETS,
    "frozensets": [frozenset(part) for part in SETS], "lists": [list(part) for part in SETS],
    "a tuple of sets": tuple(SETS), "a view of sets": dict(enumerate(SETS)).values(), "Clustering": clustering(),
    "Clustering, nodes in another order": clustering(NAMES[::-1]),
    "any result": types.SimpleNamespace(labels=np.array(PLACES)), "Series": pandas.Series(PLACES),
    "Series by name": pandas.Series(PLACES[::-1], np.array(NAMES[::-1])),
    "Series by a foreign index": pandas.Series(PLACES, np.array([7, 8, 9, 11, 12, 13])),
    "Polars": types.SimpleNamespace(to_numpy=lambda: np.array(PLACES)),
}  # fmt: skip


@for_each("form", FORMS)
@for_each("measure", MEASURES)
def test_every_form_of_labels_is_judged_alike(form, measure):
    assert np.array_equal(measure(GRAPH, FORMS[form]), measure(GRAPH, np.array(PLACES)))


def test_a_generator_of_sets_is_taken():
    assert gc.modularity(GRAPH, (part for part in SETS)) == gc.modularity(GRAPH, PLACES)
    found = nx.community.greedy_modularity_communities(GRAPH)
    assert gc.modularity(GRAPH, found) == pytest.approx(nx.community.modularity(GRAPH, found))


def test_other_hashable_classes_are_numbered_as_they_appear():
    classes = [("two", 2) if place else ("one", 1) for place in PLACES]
    expected = gc.cluster_volumes(GRAPH, [1 - place for place in PLACES])  # the class of the first node comes first
    assert np.array_equal(gc.cluster_volumes(GRAPH, classes), expected)
    kinds = np.empty(6, object)
    kinds[:] = [complex if place else nx for place in PLACES]
    refuses(TypeError, "labels mixes types", gc.cluster_volumes, GRAPH, kinds)
    kinds[:] = [3j if place else 2j for place in PLACES]
    assert np.array_equal(gc.cluster_volumes(GRAPH, kinds), expected)


def test_none_is_minus_one_whatever_the_other_numbers():
    for large in (7, 10**12, 9**90):
        labels = [-1, large, large, large, large, -1]
        assert gc.normalized_cut(GRAPH, labels) == gc.normalized_cut(GRAPH, [-1, 0, 0, 0, 0, -1])
        assert labels_on(gc.as_graph(GRAPH), labels).tolist()[::5] == [-1, -1]
    assert gc.cluster_volumes(GRAPH, [-1, 10**12, 10**12, 10**13, 10**13, -1]).shape == (2,)
    assert gc.cluster_volumes(GRAPH, [5, 5, 0, 0, 0, 5]).shape == (6,)  # small numbers are places


def test_nodes_without_names_go_by_their_place():
    matrix = nx.to_scipy_sparse_array(GRAPH)
    assert gc.normalized_cut(matrix, clustering()) == gc.normalized_cut(GRAPH, PLACES)
    assert gc.normalized_cut(matrix, [{2, 3, 4}, {0, 1, 5}]) == gc.normalized_cut(GRAPH, PLACES)
    assert gc.normalized_cut(matrix, dict(enumerate(PLACES))) == gc.normalized_cut(GRAPH, PLACES)
    shuffled = pandas.Series([PLACES[place] for place in (3, 1, 2, 0, 5, 4)], np.array([3, 1, 2, 0, 5, 4]))
    assert gc.normalized_cut(matrix, shuffled) == gc.normalized_cut(GRAPH, PLACES)
    unnamed = gc.Clustering(np.array(PLACES), 2, gc.as_graph(matrix))
    assert gc.normalized_cut(GRAPH, unnamed) == gc.normalized_cut(GRAPH, PLACES)


def test_a_series_is_read_by_its_index():
    order = [2, 0, 5, 1, 3, 4]  # not its own inverse
    by_name = pandas.Series([PLACES[place] for place in order], np.array([NAMES[place] for place in order]))
    assert labels_on(gc.as_graph(GRAPH), by_name).tolist() == PLACES


@for_each("measure", MEASURES)
@for_each(
    ("labels", "error", "words"),
    [
        ({**BY_NAME, "z": 0}, gc.GraphValidationError, "labels has a label for 'z', which is not a node of the graph"),
        ({"a": 0, "b": 1}, gc.GraphValidationError, "labels has no label for node 'c'"),
        ([{"a", "b"}, {"b", "c", "d", "e", "f"}], gc.GraphValidationError, r"node 'b' is in labels\[0\] and in .*1\]"),
        ([["a", "b", "a"], ["c", "d", "e", "f"]], gc.GraphValidationError, r"node 'a' is in labels\[0\] and in .*0\]"),
        ([{"a", "b"}, {"c", "d", "e"}], gc.GraphValidationError, "node 'f' is in no set of labels"),
        ([{"a", "b", 3}, {"c", "d", "e", "f"}], gc.GraphValidationError, r"labels\[0\] holds 3, which is not a node"),
        (PLACES[:5], gc.GraphValidationError, r"labels has shape \(5,\), expected one label per node: \(6,\)"),
        ("ababab", gc.GraphValidationError, "shape"),
        ([], gc.GraphValidationError, r"shape \(0,\)"),
        (types.SimpleNamespace(labels=np.zeros(5, int)), gc.GraphValidationError, r"shape \(5,\)"),
        ({name: float(place) for name, place in BY_NAME.items()}, TypeError, "labels has dtype float64"),
        (np.array([0.5, 1, 1, 1, 1, 1], object), TypeError, "labels mixes types"),
        (np.array([0.5] * 6, object), TypeError, "labels has dtype object"),
        ([*"abcde", -1], TypeError, "labels mixes types"),
        ([*"abcde", None], TypeError, "labels mixes types"),
        ([None] * 6, TypeError, "labels mixes types"),
        ([0, 0, 0, 1, 1, -(9**90)], gc.GraphValidationError, "labels holds -"),
        ([0, 0, 0, 1, 1, -2], gc.GraphValidationError, "labels holds -2"),
        (3, gc.GraphValidationError, "shape"),
    ],
)  # fmt: skip
def test_what_are_no_labels_of_the_nodes_is_said(measure, labels, error, words):
    refuses(error, words, measure, GRAPH, labels)


def test_a_clustering_of_other_nodes_is_refused():
    with pytest.raises(gc.GraphValidationError, match="no label for node 'z'"):
        gc.cluster_volumes(nx.relabel_nodes(GRAPH, {"f": "z"}), clustering())


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
def test_communities_with_isolated_nodes_are_judged_as_the_clustering_is():
    graph = nx.karate_club_graph()
    graph.add_nodes_from(["alone", "too"])
    found = gc.coreset_sc(graph, 2, rng=0)
    assert gc.modularity(graph, found.communities()) == gc.modularity(graph, found)
    assert gc.normalized_cut(graph, found.communities()) == gc.normalized_cut(graph, found)
    expected = nx.community.modularity(graph, found.communities(), resolution=1.7)
    assert gc.modularity(graph, found, resolution=1.7) == pytest.approx(expected)


def test_modularity_at_a_resolution_is_that_of_the_formula():
    triangles = nx.barbell_graph(3, 0)
    labels = [0, 0, 0, 1, 1, 1]
    for resolution in (0, 0.5, 1.0, 2.5):
        assert gc.modularity(triangles, labels, resolution=resolution) == pytest.approx(
            12 / 14 - resolution * 2 * (7 / 14) ** 2
        )
    refuses(gc.ParameterError, "resolution=-1", gc.modularity, triangles, labels, resolution=-1)
    refuses(TypeError, "resolution='auto'", gc.modularity, triangles, labels, resolution="auto")


def test_agreement_is_by_name_where_both_name_their_nodes():
    ours, truth = clustering(), {"f": "x", "e": "x", "d": "x", "c": "y", "b": "y", "a": "y"}
    by_place = [truth[name] for name in NAMES]
    expected = gc.adjusted_rand_index(PLACES, by_place)
    assert expected < 0.5
    for labels in (ours, clustering(NAMES[::-1]), ours.as_dict(), ours.communities()):
        assert gc.adjusted_rand_index(labels, truth) == expected
        assert gc.adjusted_rand_index(truth, labels) == expected
        for other in (ours, clustering(NAMES[::-1]), BY_NAME, SETS):
            assert gc.adjusted_rand_index(labels, other) == 1.0
    assert gc.adjusted_rand_index(ours, by_place) == expected
    assert gc.normalized_mutual_information(by_place, ours) == pytest.approx(
        gc.normalized_mutual_information(by_place, PLACES)
    )
    matrix = gc.as_graph(sparse.csr_array(nx.to_scipy_sparse_array(GRAPH)))
    unnamed = gc.Clustering(np.array(PLACES), 2, matrix)
    assert gc.adjusted_rand_index(unnamed, dict(enumerate(PLACES))) == 1.0
    assert gc.adjusted_rand_index([10**12, 5, 5], [0, 7, 7]) == 1.0


def test_agreement_of_named_and_unnamed_nodes_is_refused():
    for named in (BY_NAME, SETS):
        with pytest.raises(TypeError, match="one of labels and other names its nodes and the other does not"):
            gc.adjusted_rand_index(named, PLACES)
        refuses(TypeError, "one of labels and other names its nodes", gc.adjusted_rand_index, PLACES, named)
    with pytest.raises(gc.GraphValidationError, match="other has no label for node 'f'"):
        gc.adjusted_rand_index(clustering(), dict.fromkeys(NAMES[:5], 0))
    refuses(gc.GraphValidationError, r"labels has shape \(\)", gc.adjusted_rand_index, 3, [1])
    with pytest.raises(gc.GraphValidationError, match="other has a label for 'c'"):
        gc.adjusted_rand_index([{"a", "b"}], {"a": 0, "b": 0, "c": 1})


SERIES = {"a": 0, "b": 0, "c": 0, "d": 1, "e": 1}


def test_two_series_are_compared_by_their_indices():
    one = pandas.Series(SERIES)
    other = one.sample(frac=1, random_state=3)
    assert list(one) != list(other)
    for measure in (gc.adjusted_rand_index, gc.normalized_mutual_information):
        assert measure(one, other) == measure(other, one) == measure(one, one) == 1.0
        assert measure(one.reset_index(drop=True), one.reset_index(drop=True).sample(frac=1, random_state=3)) == 1.0
        assert measure(other, SERIES) == measure(SERIES, other) == 1.0
        assert measure(other, [{"d", "e"}, {"a", "b", "c"}]) == 1.0
        assert measure(one.map({0: "x", 1: "y"}), other) == 1.0


def test_a_series_without_an_index_of_its_own_goes_by_place():
    named, numbered = pandas.Series(SERIES), pandas.Series([*SERIES.values()])
    shuffled = named.sample(frac=1, random_state=3)
    assert gc.adjusted_rand_index(named, numbered) == gc.adjusted_rand_index(numbered, named) == 1.0
    assert gc.adjusted_rand_index(shuffled, numbered) == gc.adjusted_rand_index(shuffled.to_numpy(), numbered) < 1.0
    assert gc.adjusted_rand_index(shuffled, [*shuffled]) == 1.0


def test_two_series_of_other_nodes_or_of_one_twice_are_refused():
    one = pandas.Series(SERIES)
    refuses(
        gc.GraphValidationError, "other has no label for node 'e'", gc.adjusted_rand_index, one, one.rename({"e": "f"})
    )
    twice = one.rename({"e": "a"})
    with pytest.raises(gc.GraphValidationError, match=r"the index of other holds 'a' twice.*other.to_numpy\(\)"):
        gc.adjusted_rand_index(one, twice)
    assert gc.adjusted_rand_index(twice, twice) == 1.0


def test_the_index_of_a_series_may_be_a_range_that_holds_the_nodes():
    """Nodes 1, 2, 3 in another order: the range from 1 names them, the one from 0 does not."""
    graph = nx.Graph([(3, 1), (1, 2)])
    labels = pandas.Series([0, 1, 1], index=pandas.RangeIndex(1, 4))
    assert gc.conductance(graph, labels).tolist() == gc.conductance(graph, {1: 0, 2: 1, 3: 1}).tolist()
    assert (
        gc.cluster_volumes(graph, labels.reset_index(drop=True)).tolist()
        == gc.cluster_volumes(graph, {3: 0, 1: 1, 2: 1}).tolist()
    )


RNG = np.random.default_rng(8)
PAIRS = [(RNG.integers(k, size=60), RNG.integers(j, size=60)) for k, j in ((1, 1), (1, 5), (4, 4), (60, 3), (9, 40))]


def entropy_of(*columns):
    n = len(columns[0])
    counts = np.unique(np.stack(columns), axis=1, return_counts=True)[1]
    return -sum(count / n * math.log(count / n) for count in counts)


@pytest.mark.parametrize("one, other", PAIRS)
def test_variation_of_information_is_what_either_does_not_say_of_the_other(one, other):
    both = entropy_of(one, other)
    expected = (both - entropy_of(one)) + (both - entropy_of(other))
    assert gc.variation_of_information(one, other) == pytest.approx(expected, abs=1e-12)
    assert gc.variation_of_information(one, one) == 0.0


def test_variation_of_information_is_a_metric():
    one, other, third = (RNG.integers(5, size=200) for _ in range(3))
    direct = gc.variation_of_information(one, other)
    assert direct == pytest.approx(gc.variation_of_information(other, one), abs=1e-12)
    assert direct <= gc.variation_of_information(one, third) + gc.variation_of_information(third, other)


@for_each("damping", [0.5, 0.9])
@for_each("one, other", PAIRS)
def test_element_centric_similarity_is_half_the_distance_of_personalized_pageranks(one, other, damping):
    def ranks(labels):
        together = (labels[:, None] == labels[None, :]).astype(float)
        return (1 - damping) * np.eye(len(labels)) + damping * together / together.sum(axis=1, keepdims=True)

    distances = np.abs(ranks(one) - ranks(other)).sum(axis=1)
    assert gc.element_centric_similarity(one, other) == pytest.approx(np.mean(1 - distances / (2 * damping)), abs=1e-12)


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("one, other", PAIRS)
def test_v_measure_is_that_of_scikit_learn(one, other, beta):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    assert gc.v_measure(one, other, beta=beta) == pytest.approx(
        metrics.v_measure_score(one, other, beta=beta), abs=1e-9
    )


def test_v_measure_is_zero_where_the_labels_say_nothing_of_the_classes():
    assert gc.v_measure([0] * 5, range(5)) == gc.v_measure([0] * 5, range(5), beta=0.0) == 0.0


@pytest.mark.parametrize("measure", [gc.v_measure, gc.variation_of_information, gc.element_centric_similarity])
def test_labels_are_taken_in_every_form(measure):
    one, other = [0, 0, 1, -1, 1], ["x", "y", "y", "x", "y"]
    assert measure(one, other) == measure([0, 0, 1, 1], [0, 1, 1, 1]) != measure([0, 0, 1, 1], [0, 0, 1, 1])
    assert measure({"a": 0, "b": 1}, {"b": 1, "a": 0}) == measure([0, 1], [0, 1])
    refuses(gc.GraphValidationError, None, measure, [0, 1], [0, 1, 1])


def test_an_impossible_beta_is_refused():
    refuses(gc.ParameterError, "beta=-1", gc.v_measure, [0, 1], [0, 1], beta=-1)
