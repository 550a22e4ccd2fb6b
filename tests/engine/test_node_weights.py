"""Weights of nodes, which bounds count: by name where they have names, else by place; in arrays and in files."""

import dataclasses
import re

import networkx as nx
import numpy as np
import pandas
import pytest
from shell import said

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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1\n2\n", "2 numbers.*3 nodes"),
        ("1\nx\n3\n", "line 2.*'x'"),
        ("0 5\n1 5\n", "no weight of 1 node.*2"),
        ("0 5\n1 5\n1 6\n2 2\n", "line 3.*'1' a second time"),
        ("\n# nothing\n", "empty"),
    ],
)
def test_files_of_weights_that_cannot_be_used_are_explained(tmp_path, text, words, capsys):
    (tmp_path / "weights").write_text(text)
    graphclust.save_graph(tmp_path / "path.mtx", nx.path_graph(3))
    code, _, err = said(capsys, "partition", tmp_path / "path.mtx", "-k", 2, "--node-weight", tmp_path / "weights")
    assert code == 1 and re.search(words, err), err


@pytest.mark.slow  # loops for nodes with sizes take half a minute to compile
def test_weights_of_a_metis_file_count_in_bounds_and_its_parts_are_read_back(tmp_path, capsys):
    weights = 1 + np.arange(64) % 7
    graph = graphclust.as_graph(nx.to_scipy_sparse_array(nx.grid_2d_graph(8, 8)))
    graphclust.save_graph(tmp_path / "grid.graph", dataclasses.replace(graph, node_weights=weights.astype(float)))
    assert (tmp_path / "grid.graph").read_text().splitlines()[:2] == ["64 112 010", "1 2 9"]
    for found in (
        graphclust.coreset_sc(tmp_path / "grid.graph", 4, max_size=np.ceil(1.03 * weights.sum() / 4), rng=0),
        graphclust.balanced_partition(tmp_path / "grid.graph", 4, rng=0),
    ):
        load = np.bincount(found.labels, weights)
        assert load.max() <= np.ceil(1.03 * weights.sum() / 4) and found.parameters["node_weight"] == "file"
    command = ["partition", tmp_path / "grid.graph", "-k", 4, "-q", "-o", tmp_path / "grid.graph.part.4"]
    assert said(capsys, *command)[0] == 0
    parts = graphclust.read_labels(tmp_path / "grid.graph.part.4")[1]
    assert (tmp_path / "grid.graph.part.4").read_text() == "".join(f"{part}\n" for part in parts)
    assert np.bincount(parts, weights).max() <= np.ceil(1.03 * weights.sum() / 4)
