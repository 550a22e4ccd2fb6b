"""Overlapping communities: sets when asked for, one label a node by the smallest, and what a smaller graph keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from graphclust import Communities
from graphclust.io.formats.communities import communities_of_columns, communities_of_ids

sets = st.lists(st.frozensets(st.integers(0, 14), max_size=8), max_size=8)


def of_sets(given_sets) -> Communities:
    starts = np.concatenate([[0], np.cumsum([len(one) for one in given_sets])]).astype(np.int64)
    members = [node for one in given_sets for node in sorted(one)]
    return Communities(starts, np.array(members, np.int32))


def test_sets_in_the_order_of_the_file():
    known = of_sets([{3, 1}, {2}, {1, 2, 5}])
    assert list(known) == [{1, 3}, {2}, {1, 2, 5}] and known[-1] == {1, 2, 5} and known[1:] == [{2}, {1, 2, 5}]
    assert len(known) == 3 and known.sizes.tolist() == [2, 1, 3] and {2} in known
    with pytest.raises(IndexError):
        known[3]


@given(sets)
def test_a_label_is_the_smallest_community_and_then_the_first(given_sets):
    expected = []
    for node in range(15):
        mine = [(len(one), c) for c, one in enumerate(given_sets) if node in one]
        expected.append(min(mine)[1] if mine else -1)
    assert of_sets(given_sets).labels(15).tolist() == expected


@given(sets, st.permutations(range(15)), st.integers(0, 15))
def test_a_part_of_the_graph_keeps_its_part_of_each_community(given_sets, order, n_kept):
    position = np.array(order)
    position[position >= n_kept] = -1
    expected = [{int(position[node]) for node in one} - {-1} for one in given_sets]
    assert list(of_sets(given_sets).renumbered(position)) == expected


def test_columns_of_a_matrix_are_communities():
    matrix = sparse.coo_array(([1, 1, 1, 1], ([2, 0, 1, 0], [0, 0, 2, 0])), shape=(3, 3))  # one entry twice
    assert list(communities_of_columns(matrix)) == [{0, 2}, set(), {1}]


def test_ids_of_nodes_and_of_none():
    nodes = np.array([3, 5, 9])
    assert list(communities_of_ids(np.array([0, 3, 5]), np.array([5, 4, 3, 9, 10]), nodes, 3)) == [{0, 1}, {2}]
    assert list(communities_of_ids(np.array([0, 2]), np.array([2, 3]), None, 3)) == [{2}]
