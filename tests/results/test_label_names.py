"""Labels in files: any names come back as they were, and what only looks like a number stays text."""

import numpy as np
import pytest
from cases import refuses
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphclust import read_labels, write_labels
from graphclust.errors import GraphFormatError, GraphValidationError

LOOKS_LIKE_NUMBERS = ["007", "+5", "-0", "1_0", "1.0", " 7", "\u0663", "1e3", ""]


@pytest.mark.parametrize("ending", ["tsv", "txt", "json", "npz"])
@pytest.mark.parametrize("name", LOOKS_LIKE_NUMBERS)
def test_a_name_that_only_looks_like_a_number_stays_text(tmp_path, ending, name):
    path = tmp_path / f"labels.{ending}"
    write_labels(path, [0, 1, -1], ["12", name, "-3"])
    nodes, labels = read_labels(path)
    assert nodes == ["12", name, "-3"] and labels.tolist() == [0, 1, -1]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(-1, 1000)), min_size=1, max_size=20),
    ending=st.sampled_from(["tsv", "json", "npz"]),
)
def test_whole_numbers_come_back_as_numbers(tmp_path, rows, ending):
    names, labels = map(list, zip(*rows, strict=True))
    path = tmp_path / f"labels.{ending}"
    write_labels(path, labels, names, overwrite=True)
    nodes, read = read_labels(path)
    assert nodes == names and read.tolist() == labels
    assert all(type(node) is int for node in nodes)


def test_a_table_made_by_hand(tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text("two words\t5\r\nplain\t-1\r\n")
    nodes, labels = read_labels(path)
    assert nodes == ["two words", "plain"] and labels.tolist() == [5, -1]
    for row in ("a\t1.5\n", "a\t--1\n", "a\t\n", "a 1\n", "a\t1 \n"):
        path.write_text("node\tlabel\nb\t0\n" + row)
        refuses(GraphFormatError, "line 3", read_labels, path)


def test_many_labels_are_written_in_pieces_that_join(tmp_path):
    labels = np.arange(200_000) % 7 - 1
    write_labels(tmp_path / "labels.tsv", labels)
    nodes, read = read_labels(tmp_path / "labels.tsv")
    assert nodes == list(range(200_000)) and np.array_equal(read, labels)


def test_as_many_names_as_labels(tmp_path):
    with pytest.raises(GraphValidationError, match="2 names, expected one for each of 3 labels"):
        write_labels(tmp_path / "labels.tsv", [0, 0, 1], ["a", "b"])
    assert list(tmp_path.iterdir()) == []
