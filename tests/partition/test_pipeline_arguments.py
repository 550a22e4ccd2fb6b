"""coreset_sc and what it is asked for: impossible arguments, options of another method, no graph at all."""

import inspect
import json
import re
import warnings

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from quiet_calls import PAPER, quietly

from graphclust import Coreset, cluster_path, communities, coreset_sc, hierarchy
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError
from graphclust.partition.options import METHODS, METHODS_WITH, NEW_ARGUMENTS, as_options


@for_each(
    ("k", "error"),
    [*((k, ParameterError) for k in (0, -1, 35)), *((k, TypeError) for k in (True, 2.5, "3", float("nan")))],
)
def test_impossible_k_is_named(k, error):
    refuses(error, "k=", coreset_sc, nx.karate_club_graph(), k)


@for_each(
    ("options", "error", "words"),
    [
        ({"method": "best"}, ParameterError, "method='best'"),
        ({"objective": "cut"}, ParameterError, "objective='cut' is unknown, expected one of 'modularity'"),
        ({"objective": "ncut"}, ParameterError, "'constant_potts'"),
        ({"objective": "edge_cut"}, ParameterError, "balanced_partition(G, k)"),
        ({"coreset": Coreset(size=1)}, ParameterError, "coreset=Coreset(size=1)"),
        ({"coreset": 0.5}, TypeError, "expected a Coreset: Coreset(size"),
        ({"objective": 3}, ParameterError, "objective=3"),
        ({"resolution": -1}, ParameterError, "resolution=-1 is out of range"),
        ({"resolution": float("inf")}, ParameterError, "resolution=inf is out of range"),
        ({"resolution": True}, TypeError, "resolution=True"),
        ({"rng": -1}, ParameterError, "rng=-1"),
        ({"rng": "a"}, TypeError, "rng='a'"),
        ({"progress": 3}, TypeError, "progress=3"),
        ({"symmetrize": "mean"}, ParameterError, "symmetrize='mean'"),
        ({"coresett": Coreset()}, TypeError, "coresett"),
    ],
)
@for_each("method", ["auto", "multilevel", "paper"])
def test_impossible_options_are_named(options, error, words, method):
    refuses(error, re.escape(words), coreset_sc, nx.karate_club_graph(), 2, **{"method": method, **options})


@for_each(
    ("method", "options", "words"),
    [
        ("multilevel", {"coreset": Coreset(rounds=2)}, r"coreset=Coreset\(rounds=2\) is not an option"),
        ("two-step", {"coreset": Coreset(shift=1.0)}, "shift=1.0 is not an option .*; leave it out, or .* 'paper'"),
        ("paper", {"objective": "modularity"}, "objective='modularity' is not what method 'paper' is made for"),
        ("auto", {"objective": "ratio_cut", "resolution": 1}, "resolution=1 is not an option of objective 'ratio_cut'"),
        ("auto", {"resolution": "high"}, "resolution='high' is unknown, expected 'auto' or a number > 0"),
        ("auto", {"effort": "low", "coreset": Coreset(embedding="power")}, "effort='low' is not an option .* 'paper'"),
    ],
)
def test_options_that_the_method_does_not_have(method, options, words):
    refuses(ParameterError, words, coreset_sc, nx.karate_club_graph(), 2, method=method, **options)


GIVEN = {
    "resolution": 1.0, "effort": "normal", "components": "large", "coreset": Coreset(), "min_size": 10, "max_size": 20,
}  # fmt: skip


@for_each("name", METHODS_WITH)
def test_giving_an_option_chooses_the_method_whatever_its_value(name):
    graph, value = nx.karate_club_graph(), GIVEN[name]
    assert quietly(graph, 2, rng=0, **{name: value}).parameters["method"] == METHODS_WITH[name][0]
    assert quietly(graph, 2, rng=0, **{name: None}).parameters["method"] == "multilevel"
    for method in METHODS[1:]:
        if method in METHODS_WITH[name]:
            parameters = quietly(graph, 2, method=method, rng=0, **{name: value}).parameters
            assert parameters["method"] == method and name in parameters
        else:
            able = " or ".join(map(repr, METHODS_WITH[name]))
            words = f"{name}=.* is not an option of method '{method}'; leave it out, or take method {able}$"
            refuses(ParameterError, words, coreset_sc, graph, 2, method=method, **{name: value})


@for_each(
    ("field", "value", "error"),
    [
        *(("size", value, ParameterError) for value in (0, 1.5, -0.1)),
        *(("oversampling", value, ParameterError) for value in (-1, float("nan"))),
        *(("shift", -1, ParameterError), ("rounds", 0, ParameterError), ("rounds", None, TypeError)),
        *((name, "no", ParameterError) for name in ("loops", "sampling", "second_term", "embedding", "degrees")),
    ],
)
def test_a_coreset_is_checked_when_it_is_made(field, value, error):
    refuses(error, f"^{field}=", Coreset, **{field: value})


def test_a_field_of_the_published_method_chooses_it():
    graph = nx.karate_club_graph()
    assert quietly(graph, 2, coreset=Coreset(size=20), rng=0).parameters["method"] == "two-step"
    found = quietly(graph, 2, coreset=Coreset(size=0.6, embedding="power"), rng=0)
    assert (found.parameters["method"], found.parameters["coreset"]["size"]) == ("paper", 21)
    again = quietly(graph, 2, method="paper", coreset=Coreset(**found.parameters["coreset"]), rng=0)
    assert again == found


@for_each("name", NEW_ARGUMENTS)
def test_an_argument_of_earlier_versions_is_told_what_takes_its_place(name):
    words = rf"^coreset_sc\(\) has no '{name}': .*(Coreset|balanced|communities)"
    refuses(TypeError, words, coreset_sc, nx.karate_club_graph(), 2, **{name: 1})


def test_there_is_room_in_the_call():
    assert len(inspect.signature(coreset_sc).parameters) <= 18


def test_an_option_too_many_is_refused_before_the_graph_is_read(tmp_path):
    options = {"method": "multilevel", "coreset": Coreset(shift=1.0)}
    refuses(ParameterError, "is not an option", coreset_sc, tmp_path / "no such file", 2, **options)


def test_parameters_are_those_that_were_used():
    graph = nx.karate_club_graph()
    by_method = {method: set(quietly(graph, 2, method=method, rng=0).parameters) for method in METHODS[1:]}
    assert by_method["multilevel"] == {"method", "objective", "resolution", "effort", "components"}
    assert by_method["two-step"] == by_method["multilevel"] | {"coreset"}
    assert by_method["paper"] == {"method", "objective", "coreset"}


def test_no_graph_to_cluster():
    with pytest.raises(GraphValidationError, match="no edges"), warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        coreset_sc(np.zeros((4, 4)), 2)
    refuses(TypeError, r"expected a networkx\.Graph", coreset_sc, [[0, 1], [1, 0]], 2)
    assert coreset_sc(nx.path_graph(4, create_using=nx.DiGraph), 2, rng=0).kind == "directed"
    refuses(GraphValidationError, r"symmetrize=.sum", coreset_sc, np.triu(np.ones((4, 4)), 1), 2)
    with pytest.warns(GraphWarning, match="sum of its two weights"):
        result = coreset_sc(nx.path_graph(4, create_using=nx.DiGraph), 2, symmetrize="sum", rng=0, **PAPER)
    assert result.labels.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])


ASKED = {"resolution": np.float32(0.5), "time_budget": np.float32(600), "rng": np.int64(0)}


@pytest.mark.parametrize(
    "make",
    [
        lambda G: communities(G, **ASKED).report()["parameters"],
        lambda G: coreset_sc(G, np.int64(3), **ASKED).model().origin["options"],
        lambda G: cluster_path(G, [np.int64(3)], **ASKED)[3].report()["parameters"],
        lambda G: hierarchy(G, resolution=np.float32(0.5), levels=np.int64(2), rng=0).parameters,
        lambda G: as_options(resolution=np.float32(0.5), min_size=np.int64(2), max_size=np.float32(9)).record,
    ],
    ids=["communities", "coreset_sc", "cluster_path", "hierarchy", "bounds"],
)
def test_numbers_of_numpy_are_recorded_as_plain_numbers(make):
    recorded = make(nx.karate_club_graph())
    assert recorded["resolution"] == 0.5 and json.loads(json.dumps(recorded)) == recorded
