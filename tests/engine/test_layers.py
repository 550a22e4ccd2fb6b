"""Directed, bipartite, signed graphs and several at once: the best partitions, by brute force and beside leidenalg."""

import numpy as np
import pytest
from cases import for_each
from leiden_of_kinds import optimized, parts_of
from reference.objectives import partitions
from scipy import sparse

import graphclust as gc
from graphclust.compiled.graphs.levels import Task
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.compiled.runtime.blocks import set_threads
from graphclust.engine import levels, local_moving
from graphclust.engine.connectivity import join_parts, without_cut_edges
from graphclust.engine.contraction import contract
from graphclust.engine.engine import EFFORTS, partition_into, partition_into_any_number, partition_signed
from graphclust.engine.levels import run_on, value, with_sums
from graphclust.graph import layers as build
from graphclust.objective.objective import as_objective_choice, weigh_layers

KINDS = ("directed", "bipartite", "signed", "several", "slices")


def values(layered, labels, resolution=1.0):
    """The modularity of each of some partitions, by the sum over pairs of nodes."""
    gain = layered.combined.to_scipy().toarray()
    for layer, penalty in zip(layered.layers, layered.penalties(resolution), strict=True):
        gain = gain - penalty * np.outer(layer.outward, layer.inward)
    return ((labels[:, :, None] == labels[:, None, :]) * gain).sum(axis=(1, 2)) / layered.total


def start(layered, resolution=1.0, seed=0, k=0):
    """A run over a graph, and its task."""
    on = weigh_layers(layered, resolution)
    return run_on(on, seed), Task(Objective(ADDITIVE, 1.0, on.totals.volume / layered.n_nodes, on.layers), k)


def clusters(layered, resolution=1.0, seed=0, k=0, effort="normal"):
    """The labels that the engine finds."""
    (run, task), effort = start(layered, resolution, seed, k), EFFORTS[effort]
    if not layered.connected:
        return partition_signed(run.finest, task, effort, run).labels
    if k:
        return partition_into(run.finest, k, as_objective_choice("modularity", 1.0), effort, run)[0].labels
    return partition_into_any_number(run.finest, task, effort, run).labels


def symmetric(A):
    return np.triu(A, 1) + np.triu(A, 1).T


def small_graph(kind, rng, n_most=8):
    """A random graph of a few nodes, weights 1 to 3; every sign and every layer has an edge."""
    n = int(rng.integers(3, n_most + 1))
    A = rng.integers(1, 4, size=(n, n)) * (rng.random((n, n)) < 0.5).astype(float)
    np.fill_diagonal(A, 0.0)
    A[0, 1] = 1.0
    matrix = sparse.csr_array
    if kind == "directed":
        return build.directed(matrix(A))
    if kind == "bipartite":
        n_rows = int(rng.integers(1, n))
        return build.bipartite(matrix(A[:n_rows, n_rows:] + np.eye(n_rows, n - n_rows)))
    if kind == "signed":
        signs = rng.choice([-1.0, 1.0], size=(n, n))
        signs[0, 2], A[0, 2] = -1.0, 1.0
        return build.signed(matrix(symmetric(A * np.where(np.eye(n, k=1) > 0, np.abs(signs), signs))))
    one, other = build.undirected(matrix(symmetric(A))), build.undirected(matrix(symmetric(np.ones((n, n)) - (A > 1))))
    if kind == "slices":
        of_slice = symmetric(A)[:4, :4] + symmetric(np.eye(min(n, 4), k=1))
        return build.slices([build.undirected(matrix(of_slice)), build.undirected(matrix(of_slice.T * 2))], 0.5)
    weights = [1.0, float(rng.integers(1, 4))]
    if not other.total:
        return one
    return build.several([one, other], weights, normalize=bool(rng.integers(2)))


def best_of_small_graphs(n_graphs, n_most, effort):
    for kind in KINDS:
        rng = np.random.default_rng(7)
        for seed in range(n_graphs):
            layered, resolution = small_graph(kind, rng, n_most), float(rng.choice([0.5, 1.0, 1.5]))
            best = values(layered, partitions(layered.n_nodes), resolution).max()
            found = clusters(layered, resolution, seed, effort=effort)
            assert values(layered, found[None], resolution)[0] == pytest.approx(best, abs=1e-9), (kind, seed)
            assert layered.modularity(found, resolution) == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
def test_the_best_partition_of_a_thousand_small_graphs_is_found():
    best_of_small_graphs(200, 8, "high")  # at normal effort 3 of 5,000 are missed


@for_each("kind", KINDS)
def test_exactly_k_clusters_are_made_that_no_single_move_betters(kind):
    rng = np.random.default_rng(3)
    for seed in range(3):
        layered = small_graph(kind, rng, 6)
        for k in range(1, layered.n_nodes + 1):
            found = clusters(layered, 1.0, seed, k)
            assert (np.bincount(found, minlength=k) > 0).all() and found.max() == k - 1, (kind, seed, k)
            moved = np.repeat(found[None], layered.n_nodes * k, axis=0)
            moved[np.arange(len(moved)), np.arange(len(moved)) // k] = np.arange(len(moved)) % k
            moved = moved[[len(np.unique(labels)) == k for labels in moved]]
            if not layered.connected:
                assert values(layered, moved).max() <= values(layered, found[None])[0] + 1e-9, (kind, seed, k)


def test_clusters_that_no_edge_links_unite_where_they_have_the_same_opponents():
    ties = np.zeros((6, 6))
    for a, b in ((0, 1), (2, 3), (4, 5)):  # three pairs of friends
        ties[a, b] = 1.0
    for a in (0, 1, 2, 3):  # two of the pairs are opponents of the third
        ties[a, 4] = ties[a, 5] = -1.0
    layered = build.signed(sparse.csr_array(ties + ties.T))
    best = partitions(6)[values(layered, partitions(6)).argmax()]
    assert clusters(layered).tolist() == best.tolist() == [0, 0, 0, 0, 1, 1]
    assert clusters(layered, k=3).tolist() == [0, 0, 1, 1, 2, 2]


@for_each("kind", KINDS)
def test_contraction_keeps_the_value_where_weights_cancel(kind):
    rng = np.random.default_rng(1)
    for _ in range(10):
        layered = small_graph(kind, rng)
        run, task = start(layered)
        regions = partitions(layered.n_nodes)[rng.integers(len(partitions(layered.n_nodes)))].astype(np.int32)
        step = contract(run.finest, with_sums(run.finest, regions, int(regions.max()) + 1, run), run)
        pair = (np.arange(len(step.coarse.terms.mass)) % 2).astype(np.int32)
        coarse = with_sums(step.coarse, pair, int(pair.max()) + 1, run)
        expected = layered.modularity(pair[regions]) * layered.total
        assert value(coarse, task) == pytest.approx(expected, abs=1e-9)


@for_each("kind", KINDS)
def test_a_cluster_alone_is_judged_as_if_it_were_the_graph(kind):
    rng = np.random.default_rng(2)
    for _ in range(10):
        layered = small_graph(kind, rng)
        nodes = np.sort(rng.permutation(layered.n_nodes)[: rng.integers(2, layered.n_nodes + 1)])
        labels = np.unique(rng.integers(0, 2, len(nodes)), return_inverse=True)[1].astype(np.int32)
        inner = rng.integers(0, 2, len(nodes))
        part = without_cut_edges(layered.combined.subgraph(nodes), labels)
        alone = layered.alone(nodes, labels, part)
        expected = 0.0
        for c in range(labels.max() + 1):
            members, within = nodes[labels == c], inner[labels == c]
            gain = layered.combined.to_scipy().toarray()[np.ix_(members, members)]
            for layer in layered.layers:
                arcs = layer.arcs.toarray()[np.ix_(members, members)]
                chance = np.outer(arcs.sum(axis=1), arcs.sum(axis=0)) / (arcs.sum() or 1.0)
                gain = gain - layer.penalty * layer.arcs.sum() * chance
            expected += gain[within[:, None] == within].sum()
        both = np.unique(labels * 2 + inner, return_inverse=True)[1]
        assert alone.scores(both).sum() == pytest.approx(expected, abs=1e-9)


def planted(kind, n=400, seed=0):
    """A graph of a kind with four planted clusters, as a LayeredGraph, and as the matrix or matrices of a caller."""
    rng, of = np.random.default_rng(seed), np.arange(n) % 4
    chance = np.where(of[:, None] == of, 0.10, 0.02)
    A = (rng.random((n, n)) < chance) * rng.random((n, n))
    np.fill_diagonal(A, 0.0)
    if kind == "directed":
        return build.directed(sparse.csr_array(A)), sparse.csr_array(A)
    if kind == "bipartite":
        B = sparse.csr_array(A[: n // 2, n // 2 :])
        return build.bipartite(B), B
    if kind == "signed":
        B = symmetric((rng.random((n, n)) < np.where(of[:, None] == of, 0.005, 0.04)) * (A == 0))
        signs = sparse.csr_array(symmetric(A) - B)
        return build.signed(signs), signs
    parts = [symmetric((rng.random((n, n)) < 0.03 + 0.03 * (of[:, None] == of)).astype(float)) for _ in range(3)]
    parts = [sparse.csr_array(part) for part in parts]
    return build.several([build.undirected(part) for part in parts], [1.0] * 3), parts


@pytest.mark.slow
@for_each("kind", ["directed", "signed"])
def test_labels_do_not_depend_on_threads_or_on_whether_a_step_is_one_call(kind, monkeypatch):
    layered, _ = planted(kind)
    made = set()
    for constant, entries in (("CHUNK", 64), ("LONG_ROW", 16), ("WORTH_THREADS", -1)):
        monkeypatch.setattr(local_moving, constant, entries)
    for threads in (0, 1, 2, 3):  # 0: one compiled call
        monkeypatch.setattr(levels, "AT_ONCE", 0 if threads else layered.combined.n_entries)
        before = set_threads(max(threads, 1))
        try:
            run, task = start(layered)
            regions = local_moving.find_regions(run.finest, 4.0, run)
            made.add((regions.labels.tobytes(), local_moving.refine(run.finest, regions, task, run).labels.tobytes()))
        finally:
            set_threads(before)
    assert len(made) == 1


def test_the_layer_of_a_single_graph_is_as_good_as_the_graph():
    graph = gc.as_graph(planted("several")[1][0])
    layered = build.several([build.undirected(graph.to_scipy())], [2.0])
    plain = gc.communities(graph, rng=0)
    assert layered.modularity(plain.labels) == pytest.approx(plain.modularity, abs=1e-12)
    assert layered.modularity(clusters(layered)) >= plain.modularity - 2e-3


@pytest.mark.slow
@for_each("kind", KINDS[:4])
def test_values_are_no_less_than_those_of_leidenalg(kind):
    for package in ("leidenalg", "igraph"):
        pytest.importorskip(package)
    layered, G = planted(kind)
    make, weights = parts_of(None if kind == "several" else kind, G)
    theirs = np.unique(optimized(make(), weights, 1)[0].membership, return_inverse=True)[1]
    assert layered.modularity(clusters(layered)) >= layered.modularity(theirs) - 1e-3


def test_parts_of_clusters_join_where_that_gains_most_by_all_masses():
    """Two cliques, and a node with a link to one and two to the other."""
    ends = [(u, v) for first in (0, 4) for u in range(first, first + 4) for v in range(first, first + 4) if u != v]
    u, v = np.array([*ends, (3, 8), (8, 4), (8, 5)]).T
    layered = build.directed(sparse.csr_array((np.ones(len(u)), (u, v)), (9, 9)))
    run, task = start(layered, k=2)
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0], np.int32)
    joined = join_parts(run.finest, np.isin(np.arange(9), [0, 4]), labels, task)
    assert joined.labels[8] == 1 and joined.sums.mass.sum() == pytest.approx(run.finest.terms.mass.sum())
