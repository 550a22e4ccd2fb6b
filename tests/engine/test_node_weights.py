"""Weights of nodes, which bounds count: by name where they have names, else by place."""

import numpy as np
import pandas
import pytest

import graphclust
from graphclust.engine.bounds import as_sizes
from graphclust.errors import GraphValidationError, GraphWarning


def test_weights_of_nodes_by_name_are_those_of_the_named_nodes():
    by_name = {"d": 4.0, "c": 3.0, "b": 2.0, "a": 1.0}
    graph = graphclust.as_graph([("a", "b"), ("b", "c"), ("c", "d")])
    series = pandas.Series(by_name)
    for weights in (by_name, series, series.sort_values()):
        assert as_sizes(graph, graph, weights).tolist() == [1.0, 2.0, 3.0, 4.0]
    for weights in ([1, 2, 3, 4], pandas.Series([1, 2, 3, 4]), pandas.Series([1, 2, 3, 4], index=[9, 8, 7, 6])):
        assert as_sizes(graph, graph, weights).tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.warns(GraphWarning, match="1 node that the graph does not have left out"):
        assert as_sizes(graph, graph, by_name | {"e": 5.0}).tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(GraphValidationError, match="no weight of 2 nodes, the first 'b'; expected one for each node"):
        as_sizes(graph, graph, {"a": 1.0, "d": 4.0})
    with pytest.raises(GraphValidationError, match="a node twice"):
        as_sizes(graph, graph, pandas.Series([1.0, 2.0, 3.0, 4.0], index=[*"aabc"]))


def test_weights_of_rows_may_come_from_the_rows_of_a_larger_table():
    graph = graphclust.as_graph(np.array([[0, 1], [1, 0]]))
    assert as_sizes(graph, graph, pandas.Series([1.0, 2.0], index=[1, 0])).tolist() == [2.0, 1.0]
    assert as_sizes(graph, graph, pandas.Series([1.0, 2.0], index=[1, 7])).tolist() == [1.0, 2.0]
