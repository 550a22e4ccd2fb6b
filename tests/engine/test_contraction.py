"""Contraction: quotient graphs, the levels that partitions go through, and those of a graph read in order."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from aims import (
    AIMS,
    WITH_EDGES,
    connected_part,
    exact_sums,
    looped,
    random_labels,
    random_partition,
    run_and_objective,
)
from cases import for_each, refuses
from graphs import make_graph
from reference import objectives as reference
from scipy import sparse

import graphclust as gc
from graphclust.compiled.graphs import v_cycle
from graphclust.compiled.graphs.levels import Task
from graphclust.engine import contraction, engine, levels
from graphclust.engine.contraction import agglomerate, contract, contractions, links_of_clusters
from graphclust.engine.engine import labels_of_nodes
from graphclust.engine.levels import n_entries, run_on, value
from graphclust.engine.local_moving import find_regions
from graphclust.engine.settling import uncoarsen
from graphclust.objective.objective import weigh
from graphclust.results.quotient import weights_between


def dense(rows):
    """The links of a level as a matrix."""
    matrix = np.zeros((len(rows.indptr) - 1,) * 2)
    for c in range(len(matrix)):
        entries = slice(rows.indptr[c], rows.indptr[c + 1])
        assert len(set(rows.indices[entries].tolist())) == rows.indptr[c + 1] - rows.indptr[c], "each neighbor once"
        matrix[c, rows.indices[entries]] = rows.weights[entries]
    return matrix


@for_each("name", WITH_EDGES)
def test_quotient_graph_keeps_cuts_and_volumes(name):
    graph = make_graph(name)
    k = min(5, graph.n_nodes)
    labels = random_labels(graph.n_nodes, k, 3)
    quotient = gc.quotient_graph(graph, labels)
    member = np.eye(k)[labels]
    dense = member.T @ graph.to_scipy().toarray() @ member
    np.testing.assert_allclose(quotient.to_scipy().toarray(), dense, rtol=1e-12)
    np.testing.assert_allclose(quotient.degrees, dense.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(quotient.loops, np.diag(dense), rtol=1e-12)
    coarse = np.arange(k) % 2
    if quotient.degrees.all() and k > 1:
        assert gc.normalized_cut(quotient, coarse) == pytest.approx(gc.normalized_cut(graph, coarse[labels]), rel=1e-9)


def test_volumes_of_a_quotient_graph_are_kept_where_its_links_are_estimated(monkeypatch):
    monkeypatch.setattr("graphclust.results.quotient.is_estimate", lambda *_: True)
    graph = gc.as_graph(nx.ring_of_cliques(4, 6))
    quotient = gc.quotient_graph(graph, np.arange(24) // 6)
    assert quotient.degrees.tolist() == [32.0] * 4 and quotient.loops.tolist() == [30.0] * 4


@pytest.mark.parametrize("method", ["multilevel", "two-step", "paper"])
def test_a_quotient_graph_is_clustered_like_any_other(method):
    rng = np.random.default_rng(518)
    matrix, _ = gc.planted_partition(20, 100, 12, 3, rng=rng)
    quotient = gc.quotient_graph(matrix, np.unique(rng.integers(0, 400, 2000), return_inverse=True)[1])
    through_the_gate = gc.as_graph(quotient.to_scipy())
    for name in ("indptr", "indices", "weights"):
        assert np.array_equal(getattr(quotient, name), getattr(through_the_gate, name))
    one, other = (gc.coreset_sc(graph, 20, method=method, rng=1) for graph in (quotient, through_the_gate))
    assert np.array_equal(one.labels, other.labels)


def test_quotient_graph_needs_every_label_and_every_node():
    refuses(gc.GraphValidationError, "every node a cluster", gc.quotient_graph, nx.path_graph(3), np.array([0, -1, 1]))
    refuses(gc.GraphValidationError, "none empty", gc.quotient_graph, nx.path_graph(3), np.array([0, 2, 2]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 40, 400])
def test_links_of_clusters_are_sums_of_edges_however_they_are_read(k, weighted, monkeypatch):
    """In one call, in blocks and in the order of the rows; a self-loop and what stays inside are in the terms."""
    graph = gc.planted_partition(20, 50, 12, 3, rng=1).graph
    if weighted:
        matrix = graph.to_scipy()
        matrix.data = 1.0 + (matrix.tocoo().row + matrix.indices) % 3
        graph = gc.as_graph(matrix + matrix.T)
    run = run_on(weigh(graph, "modularity"))
    regions = random_partition(run, k, 5)
    member = np.eye(k)[regions.labels]
    expected = member.T @ graph.to_scipy().toarray() @ member
    for at_once, streamed, block in ((levels.AT_ONCE, 1 << 60, 1 << 21), (0, 1 << 60, 1 << 8), (0, 0, 1 << 21)):
        monkeypatch.setattr(levels, "AT_ONCE", at_once)
        monkeypatch.setattr(contraction, "STREAMED", streamed)
        monkeypatch.setattr(contraction, "ENTRIES_PER_BLOCK", block)
        step = contract(run.finest, regions, run)
        np.testing.assert_array_equal(dense(step.coarse.rows), expected - np.diag(np.diag(expected)))
        np.testing.assert_array_equal(step.coarse.terms.loops, np.diag(expected))
        np.testing.assert_array_equal(step.coarse.terms.mass, expected.sum(axis=1))


def test_the_order_of_neighbors_does_not_depend_on_blocks(monkeypatch):
    graph = gc.planted_partition(20, 50, 12, 3, rng=1).graph
    labels, made = random_labels(graph.n_nodes, 70, 5).astype(np.int32), []
    for block in (1 << 8, 1 << 10, 1 << 21):
        monkeypatch.setattr(contraction, "ENTRIES_PER_BLOCK", block)
        made.append(links_of_clusters(graph.rows, labels, 70))
    for other in made[1:]:
        assert all(np.array_equal(*arrays) for arrays in zip(made[0], other, strict=True))


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@for_each("graph", ["karate", "some loops", "uneven and looped", "weights of all sizes"])
def test_a_partition_has_its_value_on_every_level(graph, name, resolution):
    graph = connected_part(graph)
    run, objective = run_and_objective(graph, name, resolution, 3)
    A, task = graph.to_scipy().toarray(), Task(objective, 3)
    once = contract(run.finest, random_partition(run, graph.n_nodes - 1, 3), run)
    of_regions = levels.with_sums(once.coarse, random_labels(graph.n_nodes - 1, 4, 4).astype(np.int32), 4, run)
    twice = contract(once.coarse, of_regions, run)
    coarse = levels.with_sums(twice.coarse, np.array([0, 1, 2, 1], np.int32), 3, run)
    fine = once.project(twice.project(coarse))
    expected = reference.value(A, fine.labels, name, resolution)
    assert value(coarse, task) == pytest.approx(expected, abs=1e-9 * max(1.0, A.sum()))
    assert (twice.restrict(once.restrict(fine)).labels == coarse.labels).all()
    assert twice.coarse.terms.mass.sum() == pytest.approx(run.totals.mass)


@pytest.mark.parametrize("graph", ["karate", "uneven and looped", "weights of all sizes", "star"])
def test_rows_within_parts_are_those_of_the_graph_without_what_leads_elsewhere(graph):
    graph = connected_part(graph)
    level, A = run_on(weigh(graph, "modularity")).finest, graph.to_scipy().toarray()
    for n_parts in (1, 3, graph.n_nodes):
        parts = random_labels(graph.n_nodes, n_parts, 7).astype(np.int32)
        indptr, indices, weights = v_cycle.rows_within(level, parts).rows
        found = np.zeros(A.shape)
        rows = np.repeat(np.arange(len(A)), np.diff(indptr))
        found[rows, indices[: indptr[-1]]] = weights[: indptr[-1]] if len(weights) else 1.0
        np.testing.assert_array_equal(found, A * (parts[:, None] == parts))


def test_levels_shrink_to_regions_of_one_block_each():
    graph, planted = gc.planted_partition(12, 80, 12, 2, rng=518)
    run = run_on(weigh(graph, "modularity"))
    steps = engine.contract_to_regions(run.finest, 3, run)
    sizes = [graph.n_nodes, *(len(step.coarse.terms.mass) for step in steps)]
    assert steps and all(b <= engine.LARGEST_SHARE * a for a, b in pairwise(sizes))
    first = steps[0].regions.labels
    assert sum(np.bincount(planted[first == c]).max() for c in range(sizes[1])) > 0.9 * graph.n_nodes


def test_contractions_end_with_a_dozen_or_two_regions_per_cluster():
    graph = gc.planted_partition(12, 80, 12, 2, rng=518).graph
    for k in (1, 4, 12, 40):
        run = run_on(weigh(graph, "modularity"))
        steps = engine.contract_to_regions(run.finest, k, run)
        n = len(engine.coarsest(run.finest, steps).terms.mass)
        assert engine.MIN_REGIONS * k <= n < 2 * engine.MIN_REGIONS * k or n == len(run.finest.terms.mass)


def test_levels_that_hardly_shrink_are_skipped_and_the_last_is_the_same():
    graph, tops, labels = gc.planted_partition(4, 100, 8, 3, rng=1).graph, [], []
    for skipped in (np.inf, 0.5, 0.0):
        run, resolutions = run_on(weigh(graph, "modularity")), [16.0, 32.0, 64.0]

        def regions_of(level, within, run=run, at=resolutions):
            return find_regions(level, at.pop() * run.totals.chance, run) if at else None

        steps = contractions(run.finest, regions_of, run, None, skipped)
        assert all(a.coarse is b.fine for a, b in pairwise(steps)) and steps[0].fine is run.finest
        assert len(steps) == (3 if skipped == np.inf else 1 if skipped == 0.0 else len(steps))
        tops.append(steps[-1].coarse)
        labels.append(labels_of_nodes([step.regions.labels for step in steps], np.arange(len(tops[-1].terms.mass))))
    for top, found in zip(tops, labels, strict=True):
        assert (found == labels[0]).all() and n_entries(top) == n_entries(tops[0])
        A, B = (sparse.csr_array((one.rows.weights, one.rows.indices, one.rows.indptr)) for one in (top, tops[0]))
        assert abs(A - B).max() == 0.0 and (top.terms.mass == tops[0].terms.mass).all()
        assert (top.terms.loops == tops[0].terms.loops).all()


def test_weights_between_clusters_leave_out_nodes_without_one():
    graph = looped()
    labels = np.arange(24) % 4 - 1
    member = np.eye(3)[labels] * (labels >= 0)[:, None]
    expected = member.T @ graph.to_scipy().toarray() @ member
    np.testing.assert_allclose(weights_between(graph, labels, 3).toarray(), expected - np.diag(np.diag(expected)))


def test_sums_of_a_cut_are_exact_after_links_were_estimated(monkeypatch):
    monkeypatch.setattr(contraction, "STREAMED", 0)
    monkeypatch.setattr(contraction, "SAMPLED", 2_000)  # of some 14,000 entries
    monkeypatch.setattr(contraction, "MOST_IN_A_TABLE", 10)
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    graph = gc.planted_partition(12, 80, 12, 2, rng=518).graph
    run, objective = run_and_objective(graph, "normalized_cut", None, 6)
    task = Task(objective, 6)
    regions = random_partition(run, 40, 3)
    step = contract(run.finest, regions, run)
    coarse = agglomerate(step.coarse, task, run)
    assert step.project(coarse).sums.inside.sum() != pytest.approx(exact_sums(step.project(coarse), run).inside.sum())
    found = uncoarsen(step, coarse, task, run)
    np.testing.assert_allclose(found.sums.inside, exact_sums(found, run).inside)
