"""Measures of agreement beside their definitions, summed node by node, and those of scikit-learn."""

import math

import numpy as np
import pytest
from cases import for_each, refuses

from graphclust import element_centric_similarity, normalized_mutual_information, v_measure, variation_of_information
from graphclust.errors import GraphValidationError, ParameterError

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
    assert variation_of_information(one, other) == pytest.approx(expected, abs=1e-12)
    assert variation_of_information(one, one) == 0.0


def test_variation_of_information_is_a_metric():
    one, other, third = (RNG.integers(5, size=200) for _ in range(3))
    direct = variation_of_information(one, other)
    assert direct == pytest.approx(variation_of_information(other, one), abs=1e-12)
    assert direct <= variation_of_information(one, third) + variation_of_information(third, other)


@for_each("damping", [0.5, 0.9])
@for_each("one, other", PAIRS)
def test_element_centric_similarity_is_half_the_distance_of_personalized_pageranks(one, other, damping):
    def ranks(labels):
        together = (labels[:, None] == labels[None, :]).astype(float)
        return (1 - damping) * np.eye(len(labels)) + damping * together / together.sum(axis=1, keepdims=True)

    distances = np.abs(ranks(one) - ranks(other)).sum(axis=1)
    assert element_centric_similarity(one, other) == pytest.approx(np.mean(1 - distances / (2 * damping)), abs=1e-12)


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("one, other", PAIRS)
def test_v_measure_is_that_of_scikit_learn(one, other, beta):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    assert v_measure(one, other, beta=beta) == pytest.approx(metrics.v_measure_score(one, other, beta=beta), abs=1e-9)


def test_v_measure_is_zero_where_the_labels_say_nothing_of_the_classes():
    assert v_measure([0] * 5, range(5)) == v_measure([0] * 5, range(5), beta=0.0) == 0.0


def test_v_measure_without_preference_is_the_normalized_mutual_information():
    one, other = PAIRS[2]
    assert v_measure(one, other) == pytest.approx(normalized_mutual_information(one, other), abs=1e-12)


@pytest.mark.parametrize("measure", [v_measure, variation_of_information, element_centric_similarity])
def test_labels_are_taken_in_every_form(measure):
    one, other = [0, 0, 1, -1, 1], ["x", "y", "y", "x", "y"]
    assert measure(one, other) == measure([0, 0, 1, 1], [0, 1, 1, 1]) != measure([0, 0, 1, 1], [0, 0, 1, 1])
    assert measure({"a": 0, "b": 1}, {"b": 1, "a": 0}) == measure([0, 1], [0, 1])
    refuses(GraphValidationError, None, measure, [0, 1], [0, 1, 1])


def test_an_impossible_beta_is_refused():
    refuses(ParameterError, "beta=-1", v_measure, [0, 1], [0, 1], beta=-1)
