"""Loops ask for memory that they will read, of more labels than caches hold for those: what they find is the same."""

import os

import numpy as np
import pytest
from numba import njit

import graphclust as gc
from graphclust.compiled.graphs import choosing
from graphclust.compiled.graphs import local_moving as loops
from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.graphs.objective import Rows, value_of
from graphclust.compiled.runtime import prefetch
from graphclust.compiled.runtime.loops import ask_for, start_compiler
from graphclust.compiled.runtime.prefetch import CACHED, ask_for_neighbors, ask_for_next, ask_for_row
from graphclust.engine import contraction, levels
from graphclust.engine.levels import run_on, stays_and_sums, with_sums
from graphclust.engine.local_moving import refine
from graphclust.graph.matrices import graph_from_csr
from graphclust.objective.objective import additive_objective, weigh
from graphclust.results.quotient import contract_graph
from graphclust.two_step import shared_neighbors
from graphclust.two_step.in_memory import spread_labels
from graphclust.two_step.shared_neighbors import link_coreset

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")

K = 8


@pytest.fixture(scope="module")
def one():
    return gc.planted_partition(K, 256, 6, 2, rng=3)


@pytest.fixture(scope="module")
def copies(one):
    """So many copies of the graph beside each other that its labels are too many to be cached, and their number."""
    graph = one.graph
    times = CACHED // graph.n_nodes + 1
    indices = graph.indices[None, :] + graph.n_nodes * np.arange(times)[:, None]
    indptr = graph.indptr[None, :-1] + graph.n_entries * np.arange(times)[:, None]
    indptr = np.append(indptr.ravel(), times * graph.n_entries)
    return graph_from_csr(indptr, indices.ravel().astype(np.int32), None), times


@pytest.fixture(scope="module")
def disturbed(one):
    """Labels of one copy, some of them wrong."""
    rng = np.random.default_rng(5)
    labels = one.labels.astype(np.int32)
    return np.where(rng.random(len(labels)) < 0.3, rng.integers(K, size=len(labels)), labels).astype(np.int32)


def test_memory_is_asked_for():
    start_compiler()

    @njit
    def asks(values, rows):
        ask_for(values, 1)
        ask_for_row(rows, 0)
        ask_for_neighbors(values, rows, 0)

    asks(np.zeros(4, np.int32), Rows(np.array([0, 2]), np.array([1, 2], np.int32), np.empty(0)))
    made = next(iter(asks.inspect_llvm().values()))
    assert made.count("call void @llvm.prefetch") >= 3


@pytest.mark.parametrize("many", [False, True])
def test_each_node_but_the_last_is_asked_for_before_its_turn(many, monkeypatch):
    """Where its row begins, then the row, by values that are asked for before; the neighbors' values of many nodes."""
    asked = []
    name = lambda array: next(name for name, known in arrays.items() if np.shares_memory(array, known))  # noqa: E731
    monkeypatch.setattr(prefetch, "ask_for", lambda array, place: asked.append((name(array), int(place))))
    for function in ("ask_for_row", "ask_for_neighbors"):
        monkeypatch.setattr(prefetch, function, getattr(prefetch, function).py_func)
    indptr, nodes = np.arange(0, 22, 3), np.array([4, 2, 0, 6, 5, 1, 3])
    rows = Rows(indptr, (np.arange(21) * 5 % 7).astype(np.int32), np.empty(0))
    arrays = {"begins": indptr, "row": rows.indices, "values": np.zeros(7)}
    ask_for_next.py_func(arrays["values"], rows, nodes, 0, 2, many)
    expected = [("begins", nodes[6]), ("row", indptr[nodes[4]])]
    expected += [("values", v) for v in rows.indices[indptr[nodes[2]] : indptr[nodes[2] + 1]]] if many else []
    assert asked == expected


def test_sums_and_links_of_clusters(one, copies, disturbed, monkeypatch):
    many, times = copies
    labels = np.tile(disturbed, times)
    stays, sums = stays_and_sums(run_on(weigh(one.graph, "modularity")).finest, disturbed, K)
    of_copies, sums_of_copies = stays_and_sums(run_on(weigh(many, "modularity")).finest, labels, K)
    assert (of_copies.reshape(times, -1) == stays).all()
    assert (sums_of_copies.inside == times * sums.inside).all() and (sums_of_copies.size == times * sums.size).all()
    quotient = contract_graph(one.graph, disturbed, K).to_scipy().toarray()
    assert (contract_graph(many, labels, K).to_scipy().toarray() == times * quotient).all()
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    monkeypatch.setattr(contraction, "STREAMED", 1)
    assert (contract_graph(many, labels, K).to_scipy().toarray() == times * quotient).all()


def test_moves_that_nodes_should_make(copies, disturbed):
    many, times = copies
    run, nodes = run_on(weigh(many, "modularity")), np.arange(many.n_nodes, dtype=np.int32)
    labels, sums = with_sums(run.finest, np.tile(disturbed, times), K, run)
    now, objective = loops.State(labels, sums, loops.Rules(K, False)), additive_objective(run.totals, K, 1.0)
    target = choosing.choose_alone(run.finest, objective, now, nodes)
    looked_at = np.random.default_rng(1).choice(many.n_nodes, 300)
    for u in [*looked_at.tolist(), 0, many.n_nodes - 1]:  # nothing is asked for
        assert choosing.choose_alone(run.finest, objective, now, nodes[u : u + 1]) == target[u]
    assert (target >= 0).any() and (target < 0).any()


def test_nodes_move_until_none_that_waits_gains(copies, disturbed):
    many, times = copies
    run = run_on(weigh(many, "modularity"))
    found, task = (
        with_sums(run.finest, np.tile(disturbed, times), K, run),
        Task(additive_objective(run.totals, K, 1.0), K),
    )
    better = refine(run.finest, found, task, run)
    expected = with_sums(run.finest, better.labels, K, run).sums
    assert (better.sums.size == expected.size).all()
    assert levels.value(better, task) == pytest.approx(value_of(task.objective, expected), rel=1e-12)
    assert levels.value(better, task) > levels.value(found, task)


def test_labels_spread_alike_with_and_without_prefetching(one, copies):
    many, times = copies
    labels = np.where(np.arange(one.graph.n_nodes) % 40 == 0, one.labels, -1).astype(np.int32)
    found, n_found = spread_labels(many, np.tile(labels, times), K, 0.0, gc.Progress())
    expected, n_expected = spread_labels(one.graph, labels, K, 0.0, gc.Progress())
    assert (found.reshape(times, -1) == expected).all() and n_found == [times * n for n in n_expected]


def test_links_by_shared_neighbors_are_the_same_with_prefetching(copies, monkeypatch):
    monkeypatch.setattr(shared_neighbors, "MOST_NEIGHBORS", 10**6)
    many, _ = copies
    kernel = gc.NormalizedCutKernel.of(many)
    nodes = np.unique(np.random.default_rng(4).choice(6000, 400))
    nodes = np.append(nodes, many.n_nodes - 1)  # alone in its copy: it shares no neighbors
    coreset = gc.CoresetSample(nodes, np.linspace(1.0, 2.0, len(nodes)))
    links = link_coreset(kernel, coreset)
    factor = gc.two_step_factor(kernel, coreset)
    expected = (factor @ factor.T).toarray()
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(links.to_scipy().toarray(), expected, atol=1e-15)
    np.testing.assert_allclose(links.degrees, expected.sum(axis=1), atol=1e-14)
    assert links.isolated[-1] and not links.isolated.all()


def test_components_and_the_graph_between_some_nodes(one, copies):
    many, times = copies
    n, of_one = one.graph.n_nodes, one.graph.components
    shifted = of_one + (int(of_one.max()) + 1) * np.arange(times)[:, None]
    assert (many.components.reshape(times, n) == shifted).all()
    nodes = np.flatnonzero(np.random.default_rng(6).random(n) < 0.2)
    part, of_many = one.graph.subgraph(nodes), many.subgraph((nodes + n * np.arange(times)[:, None]).ravel())
    assert (np.diff(of_many.indptr).reshape(times, -1) == np.diff(part.indptr)).all()
    assert (of_many.degrees.reshape(times, -1) == part.degrees).all()
    columns = part.indices + len(nodes) * np.arange(times)[:, None]
    assert (of_many.indices.reshape(times, -1) == columns).all()
