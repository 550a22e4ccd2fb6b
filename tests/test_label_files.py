"""Files of labels: what is written comes back, and what is none is refused."""

import networkx as nx
import numpy as np
import pytest

import graphclust
from graphclust import read_labels, write_labels
from graphclust.errors import (
    GraphFormatError,
    GraphValidationError,
)


@pytest.mark.parametrize("name", ["l.tsv", "l.json", "l.npz"])
@pytest.mark.parametrize("nodes", [None, ["a b", "Ö", "7"], [10, 20, -3], np.array([5, 6, 7])])
def test_labels_come_back(tmp_path, name, nodes):
    labels = np.array([0, -1, 2])
    write_labels(tmp_path / name, labels, nodes)
    read_nodes, read = read_labels(tmp_path / name)
    assert read_nodes == (list(range(3)) if nodes is None else list(nodes)) and read.tolist() == [0, -1, 2]
    assert read.dtype == np.int64


def test_labels_of_a_clustering(tmp_path):
    clustering = graphclust.coreset_sc(nx.barbell_graph(5, 0), 2, rng=0)
    write_labels(tmp_path / "l.json", clustering)
    assert read_labels(tmp_path / "l.json")[1].tolist() == clustering.labels.tolist()


def test_labels_that_cannot_be_written_or_read(tmp_path):
    with pytest.raises(GraphValidationError, match="tab or a line break"):
        write_labels(tmp_path / "l.tsv", [0], ["a\tb"])
    write_labels(tmp_path / "l.json", [0], ["a\tb"])
    with pytest.raises(GraphValidationError, match="tuple"):
        write_labels(tmp_path / "l.json", [0], [(1, 2)], overwrite=True)
    np.savez(tmp_path / "p.npz", nodes=np.array([print], dtype=object), labels=np.array([0]))
    with pytest.raises(GraphFormatError, match="pickled objects are never loaded"):
        read_labels(tmp_path / "p.npz")
    (tmp_path / "x.tsv").write_text("node\tlabel\na\t1\nb 2\n")
    with pytest.raises(GraphFormatError, match="line 3"):
        read_labels(tmp_path / "x.tsv")
    (tmp_path / "x.json").write_text('{"nodes": [1]}')
    with pytest.raises(GraphFormatError, match="labels"):
        read_labels(tmp_path / "x.json")


@pytest.mark.parametrize(
    "text, nodes",
    [
        ("1\t0\n-2\t1\n", [1, -2]),
        ("007\t0\n8\t1\n", ["007", "8"]),  # one that a number would not bring back makes names of all
        ("+7\t0\n8\t1\n", ["+7", "8"]),
        ("ann\tlee\t0\nbob\t1\n", ["ann\tlee", "bob"]),  # the last tab parts a name from its label
    ],
)
def test_names_of_other_programs_stay_as_they_are(tmp_path, text, nodes):
    (tmp_path / "labels.tsv").write_text(text)
    found, labels = read_labels(tmp_path / "labels.tsv")
    assert (found, labels.tolist()) == (nodes, [0, 1])
