"""Which clusters an update looks at again: those in which something changed, as whole and no others."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graphclust import adjusted_rand_index, as_graph, communities, coreset_sc, planted_partition
from graphclust.compiled.graphs.levels import Task
from graphclust.engine.connectivity import find_connected_parts
from graphclust.engine.contraction import contract
from graphclust.engine.levels import run_on, with_sums
from graphclust.objective.objective import ratio_objective, weigh
from graphclust.updates.edits import apply_edits
from graphclust.updates.start import start_from
from graphclust.updates.warm_start import connect_near, has_changed, parts_of_some, take_out

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_parts_of_some_clusters_are_those_of_all_where_the_others_are_connected(seed):
    rng = np.random.default_rng(seed)
    run = run_on(weigh(as_graph(nx.gnm_random_graph(30, 32, seed=seed)), "modularity"))
    labels = rng.integers(0, 5, 30).astype(np.int32)
    labels[:5] = np.arange(5)
    found = with_sums(run.finest, labels, 5, run)
    parts, n_parts = find_connected_parts(run.finest, found, run)
    is_apart = np.array([len(set(parts[labels == c].tolist())) > 1 for c in range(5)])
    some, n_some = parts_of_some(run.finest, found, is_apart | (rng.random(5) < 0.3), run)
    assert n_some == n_parts and sorted(set(some.tolist())) == list(range(n_parts))
    assert adjusted_rand_index(some, parts) == 1.0


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["modularity", "ratio_cut"]))
def test_nodes_taken_out_have_the_links_and_sums_of_the_whole_contraction(seed, has_regions, objective):
    rng = np.random.default_rng(seed)
    A = np.triu((rng.random((25, 25)) < 0.3) * rng.integers(1, 5, (25, 25)))
    run = run_on(weigh(as_graph(A + np.triu(A, 1).T), objective))
    labels = rng.integers(0, 4, 25).astype(np.int32)
    labels[:4] = np.arange(4)
    found = with_sums(run.finest, labels, 4, run)
    nodes = np.flatnonzero((labels == 3) | (rng.random(25) < 0.2))
    groups = labels[nodes].astype(np.int64) * 2 + rng.integers(0, 2, len(nodes)) if has_regions else nodes
    regions = np.unique(groups, return_inverse=True)[1]
    step = take_out(run.finest, found, nodes, regions, run)
    whole = contract(run.finest, with_sums(run.finest, step.regions.labels, len(step.regions.sums.size), run), run)
    tables = []
    for one in (step, whole):
        table = sparse.csr_array((one.coarse.rows.weights, one.coarse.rows.indices, one.coarse.rows.indptr)).toarray()
        n_rests = len(table) - int(regions.max()) - 1
        table[:n_rests, :n_rests] = 0.0  # links between rests are left out
        tables.append(table)
    assert (tables[0] == tables[1]).all() and n_rests <= 3
    for sums in ("inside", "mass", "size"):
        assert getattr(step.regions.sums, sums) == pytest.approx(getattr(whole.regions.sums, sums))
    assert step.coarse.terms.loops == pytest.approx(whole.coarse.terms.loops)


@for_each("weight", [0.1 * i for i in range(1, 10)])
def test_of_two_equal_halves_of_a_cluster_one_joins_its_neighbor_despite_round_off(weight):
    A = np.zeros((7, 7))
    for u, v, w in [(0, 1, weight), (2, 3, weight), (0, 4, 0.1), (2, 4, 0.1), (4, 5, 1.0), (4, 6, 1.0), (5, 6, 1.0)]:
        A[u, v] = A[v, u] = w
    for order in ([4, 0, 1, 2, 3, 5, 6], [0, 1, 4, 5, 6, 3, 2], [3, 1, 2, 0, 6, 4, 5]):
        run = run_on(weigh(as_graph(A[np.ix_(order, order)]), "normalized_cut"))
        labels = np.repeat([0, 1], [4, 3]).astype(np.int32)[order]  # 0-1 and 2-3 are the halves
        found = connect_near(
            run.finest, with_sums(run.finest, labels, 2, run), Task(ratio_objective(run.totals), 2), run
        )
        assert find_connected_parts(run.finest, found, run)[1] == 2 == len(np.unique(found.labels))


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


@pytest.mark.parametrize(
    ("edits", "waiting"),
    [
        ({"removed": [(0, 1)]}, {0, 1}),  # weight to their cluster is lost
        ({"added": [(0, 7)]}, {0, 7}),  # weight to another is won
        ({"removed": [(3, 4)]}, set()),
        ({"reweighted": [(1, 2, 3.0)]}, set()),
        ({"reweighted": [(1, 2, 0.5)]}, {1, 2}),
        ({"reweighted": [(3, 4, 3.0)]}, {3, 4}),
        ({"reweighted": [(3, 4, 0.5), (5, 6, 0.5)]}, {5, 6}),
    ],
)
def test_nodes_wait_that_lost_weight_to_their_cluster_or_won_weight_to_another(edits, waiting):
    before = communities(nx.barbell_graph(4, 0), rng=0)
    edit = apply_edits(before.graph, **edits)
    run = run_on(weigh(edit.graph, before.objective))
    start = start_from(before, edit, np.arange(8), before.labels, before.labels, run)
    assert set(np.flatnonzero(start.waits).tolist()) == waiting
    exact = with_sums(run.finest, start.partition.labels, 2, run).sums
    np.testing.assert_allclose(start.partition.sums.inside, exact.inside)
    np.testing.assert_allclose(start.partition.sums.mass, exact.mass)


def test_an_update_reads_the_rows_near_its_edits():
    """Counts of entries, which no other work on the machine disturbs; a run from nothing reads each several times."""
    graph = planted_partition(150, 200, 15, 5, rng=1).graph
    edges = [(u, int(graph.neighbors(u)[0])) for u in (0, 9_000, 20_000)]
    for found in (communities(graph, rng=0), coreset_sc(graph, 150, rng=0)):
        read = [found.update(removed=edges[:n], rng=0).entries_read["partition"] for n in (1, 3)]
        assert 0 < read[0] <= read[1] < 0.05 * graph.n_entries
