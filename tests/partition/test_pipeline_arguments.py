"""coreset_sc and what it is asked for: impossible arguments, options of another method, no graph at all."""

import json
import warnings

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from quiet_calls import PAPER, quietly

from graphclust import cluster_path, communities, coreset_sc, hierarchy
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError
from graphclust.partition.options import METHODS, OPTIONS, PUBLISHED_OBJECTIVE, check_options


@for_each(
    ("k", "error"),
    [
        *((k, ParameterError) for k in (0, -1, 35)),
        *((k, TypeError) for k in (True, 2.5, "3", float("nan"))),
    ],
)
def test_impossible_k_is_named(k, error):
    with pytest.raises(error, match="k="):
        coreset_sc(nx.karate_club_graph(), k)


def test_k_may_be_any_kind_of_whole_number():
    assert coreset_sc(nx.karate_club_graph(), np.int64(2), rng=0).n_clusters == 2


@for_each(
    ("options", "error", "words"),
    [
        ({"coreset_size": 1}, ParameterError, "coreset_size=1"),
        ({"coreset_size": 0}, ParameterError, "coreset_size=0"),
        ({"coreset_size": 1.5}, ParameterError, "coreset_size=1.5"),
        ({"oversampling": -1}, ParameterError, "oversampling=-1"),
        ({"oversampling": float("nan")}, ParameterError, "oversampling=nan"),
        ({"shift": -1}, ParameterError, "shift=-1"),
        ({"loops": "no"}, ParameterError, "loops='no'"),
        ({"sampling": "fast"}, ParameterError, "'tree', 'naive'"),
        ({"second_term": 3}, ParameterError, "second_term=3"),
        ({"rounds": 0}, ParameterError, "rounds=0"),
        ({"embedding": "lanczos"}, ParameterError, "embedding='lanczos'"),
        ({"degrees": "d"}, ParameterError, "degrees='d'"),
        ({"method": "best"}, ParameterError, "method='best'"),
        ({"objective": "cut"}, ParameterError, "objective='cut' is unknown, expected one of 'modularity'"),
        ({"objective": "ncut"}, ParameterError, "'constant_potts', 'edge_cut'"),
        ({"objective": 3}, ParameterError, "objective=3"),
        ({"resolution": -1}, ParameterError, "resolution=-1 is out of range"),
        ({"resolution": float("inf")}, ParameterError, "resolution=inf is out of range"),
        ({"resolution": True}, TypeError, "resolution=True"),
        ({"rng": -1}, ParameterError, "rng=-1"),
        ({"rng": "a"}, TypeError, "rng='a'"),
        ({"progress": 3}, TypeError, "progress=3"),
        ({"symmetrize": "mean"}, ParameterError, "symmetrize='mean'"),
    ],
)
@for_each("method", ["auto", "multilevel", "paper"])
def test_impossible_options_are_named(options, error, words, method):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        coreset_sc(nx.karate_club_graph(), 2, **{"method": method, **options})


@for_each(
    ("method", "options", "words"),
    [
        (
            "multilevel",
            {"coreset_size": 20},
            "coreset_size=20 is not an option.*'two-step' or 'paper'",
        ),
        ("multilevel", {"sampling": "naive"}, "sampling='naive' is not an option"),
        ("multilevel", {"rounds": 2}, "rounds=2 is not an option.*method 'paper'"),
        (
            "two-step",
            {"shift": 1.0},
            "shift=1.0 is not an option of method 'two-step'; leave it out, or take method 'paper'",
        ),
        ("two-step", {"shift": 0.0}, "shift=0.0 is not an option of method 'two-step'"),
        ("paper", {"resolution": "auto"}, "resolution='auto' is not an option of method 'paper'"),
        ("paper", {"objective": "modularity"}, "objective='modularity' is not what method 'paper' is made for"),
        (
            "auto",
            {"objective": "ratio_cut", "resolution": 1},
            "resolution=1.0 is not an option of objective 'ratio_cut'",
        ),
        ("auto", {"resolution": "high"}, "resolution='high' is unknown, expected 'auto' or a number > 0"),
        ("paper", {"effort": "normal"}, "effort='normal' is not an option of method 'paper'"),
        ("paper", {"effort": "high"}, "effort='high' is not an option of method 'paper'"),
        ("auto", {"effort": "high", "embedding": "power"}, "effort='high' is not an option of method 'paper'"),
    ],
)
def test_options_that_the_method_does_not_have(method, options, words):
    with pytest.raises(ParameterError, match=words):
        coreset_sc(nx.karate_club_graph(), 2, method=method, **options)


@for_each("name", OPTIONS)
def test_giving_an_option_chooses_the_method_whatever_its_value(name):
    graph, option = nx.karate_club_graph(), OPTIONS[name]
    value = {"min_size": 10, "max_imbalance": 1.0}.get(name, 20) if option.default is None else option.default
    value = "normalized_cut" if name == "objective" else value  # the one that every method has
    found = quietly(graph, 2, rng=0, **{name: value})
    assert found.parameters["method"] == option.methods[0]
    assert found.parameters[name] == value
    for method in METHODS[1:]:
        if method in option.methods:
            value = PUBLISHED_OBJECTIVE if (method, name) == ("paper", "objective") else value
            parameters = quietly(graph, 2, method=method, rng=0, **{name: value}).parameters
            assert (parameters["method"], parameters[name]) == (method, value)
        else:
            with pytest.raises(ParameterError, match=f"{name}=.* is not an option of method '{method}'"):
                coreset_sc(graph, 2, method=method, **{name: value})
    assert quietly(graph, 2, rng=0, **{name: None}).parameters["method"] == "multilevel"


@pytest.mark.parametrize(
    "pair",
    [({"oversampling": 2.0}, {"oversampling": 2.1}), ({"rounds": 1}, {"rounds": 2}), ({"shift": 0}, {"shift": 1})],
)
def test_a_default_that_is_given_chooses_as_any_other_value(pair):
    chosen = [quietly(nx.karate_club_graph(), 2, rng=0, **options).parameters["method"] for options in pair]
    assert chosen[0] == chosen[1] != "multilevel"


def test_a_coreset_option_beside_one_of_the_paper_is_the_papers():
    found = quietly(nx.karate_club_graph(), 2, coreset_size=20, embedding="power", rng=0)
    assert (found.parameters["method"], found.parameters["coreset_size"]) == ("paper", 20)


def test_an_option_too_many_is_refused_before_the_graph_is_read(tmp_path):
    with pytest.raises(ParameterError, match="is not an option"):
        coreset_sc(tmp_path / "no such file", 2, method="multilevel", shift=1.0)


def test_parameters_are_those_that_were_used():
    graph = nx.karate_club_graph()
    by_method = {method: set(quietly(graph, 2, method=method, rng=0).parameters) for method in METHODS[1:]}
    assert by_method["multilevel"] == {"method", "objective", "resolution", "effort", "components"}
    assert by_method["two-step"] == by_method["multilevel"] | {"coreset_size", "oversampling", "sampling"}
    assert {"embedding", "loops", "objective"} <= by_method["paper"]
    assert not {"effort", "resolution"} & by_method["paper"]


def test_a_mistyped_option_is_named():
    with pytest.raises(TypeError, match="coreset_sise"):
        coreset_sc(nx.karate_club_graph(), 2, coreset_sise=5)


def test_no_graph_to_cluster():
    with pytest.raises(GraphValidationError, match="no edges"), warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        coreset_sc(np.zeros((4, 4)), 2)
    with pytest.raises(TypeError, match=r"expected a networkx\.Graph"):
        coreset_sc([[0, 1], [1, 0]], 2)
    with pytest.raises(GraphValidationError, match=r"symmetrize=.sum"):
        coreset_sc(nx.path_graph(4, create_using=nx.DiGraph), 2)
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
        lambda G: check_options(3, resolution=np.float32(0.5), min_size=np.int64(2), max_size=np.float32(9)),
    ],
    ids=["communities", "coreset_sc", "cluster_path", "hierarchy", "bounds"],
)
def test_numbers_of_numpy_are_recorded_as_plain_numbers(make):
    recorded = make(nx.karate_club_graph())
    assert recorded["resolution"] == 0.5 and json.loads(json.dumps(recorded)) == recorded
