"""Which clusters an update looks at again: those in which something changed, as whole and no others."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphclust import adjusted_rand_index, as_graph, communities
from graphclust.objective.objective import weighed
from graphclust.partition.levels import run_on, with_sums
from graphclust.partition.overlay import connected_parts
from graphclust.partition.warm_start import has_changed, parts_of_some

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_parts_of_some_clusters_are_those_of_all_where_the_others_are_connected(seed):
    rng = np.random.default_rng(seed)
    run = run_on(weighed(as_graph(nx.gnm_random_graph(30, 32, seed=seed)), "modularity"))
    labels = rng.integers(0, 5, 30).astype(np.int32)
    labels[:5] = np.arange(5)
    found = with_sums(run.finest, labels, 5, run)
    parts, n_parts = connected_parts(run.finest, found, run)
    is_apart = np.array([len(set(parts[labels == c].tolist())) > 1 for c in range(5)])
    some, n_some = parts_of_some(run.finest, found, is_apart | (rng.random(5) < 0.3), run)
    assert n_some == n_parts and sorted(set(some.tolist())) == list(range(n_parts))
    assert adjusted_rand_index(some, parts) == 1.0


def test_a_cluster_has_changed_that_is_marked_or_has_other_nodes():
    before, after = np.array([0, 0, 1, 1, 2, 2, 2, -1, 3]), np.array([3, 3, 0, 0, 1, 1, 2, 2, 4])
    marks = np.zeros(9, bool)
    assert has_changed(after, before, marks).tolist() == [False, True, True, False, False]
    marks[2] = True
    assert has_changed(after, before, marks).tolist() == [True, True, True, False, False]


def test_one_edge_parts_its_cluster_among_many_and_no_other():
    graph = nx.disjoint_union_all([nx.barbell_graph(4, 0)] * 40)
    before = communities(graph, resolution=0.001, rng=0)
    after = before.update(removed=[(163, 164)], rng=0)
    same = np.arange(320) // 8 != 20
    assert before.k == 40 and after.k == 41 and after.labels[163] != after.labels[164]
    assert (after.labels[same] == before.labels[same]).all()
