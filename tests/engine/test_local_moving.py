"""Local moving: exact changes under every objective, never worse, no cluster emptied, as its slow twin."""

import os

import networkx as nx
import numpy as np
import pytest
from aims import (
    AIMS,
    ONE_OF_EACH,
    WITH_EDGES,
    connected_part,
    looped,
    random_labels,
    random_partition,
    run_and_objective,
)
from graphs import make_graph
from reference import objectives as reference

from graphclust.compiled.graphs import local_moving as loops
from graphclust.compiled.graphs import v_cycle
from graphclust.compiled.graphs.levels import Goal, Partition
from graphclust.compiled.graphs.objective import better_of, value_of
from graphclust.compiled.runtime.shuffling import draws_of
from graphclust.engine import levels, local_moving
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.local_moving import find_regions, refine
from graphclust.engine.refinement import move_nodes
from graphclust.generators.planted_graphs import planted_partition
from graphclust.io.graph_input import as_graph
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.cuts import normalized_cut
from graphclust.objective.objective import OBJECTIVES, weigh
from graphclust.progress import Progress

KEPT, FREE = loops.Rules(False, False, True), loops.Rules(True, True, True)
GRAPHS = [*WITH_EDGES, "uneven and looped"]


def some_graph(name):
    return looped() if name == "uneven and looped" else connected_part(name)


def value(graph, labels, name, resolution):
    return reference.value(graph.to_scipy().toarray(), labels, name, resolution)


def assert_same_sums(found, run, scale=1.0):
    exact = with_sums(run.finest, found.labels, len(found.sums.size), run).sums
    np.testing.assert_allclose(found.sums.inside, exact.inside, rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(found.sums.mass, exact.mass, rtol=1e-9, atol=1e-9 * scale)
    assert found.sums.size.tolist() == exact.size.tolist()


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@pytest.mark.parametrize("name", ["weights of all sizes", "some loops", "tiny pieces", "two cliques"])
def test_moves_never_lower_any_objective_and_keep_every_cluster(name, objective, resolution):
    graph = connected_part(name)
    for k in (2, 5):
        labels = random_labels(graph.n_nodes, k, 518)
        improved = move_nodes(graph, labels, objective=objective, resolution=resolution)
        assert set(improved) == set(range(k))
        scale = graph.total_volume if objective in ("modularity", "constant_potts") else k
        before, after = (value(graph, of, objective, resolution) for of in (labels, improved))
        assert after >= before - 1e-12 * max(scale, abs(before))


@pytest.mark.parametrize("name", WITH_EDGES)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_isolated_nodes_and_those_without_a_cluster_are_left_alone(name, k):
    graph = make_graph(name)
    labels = random_labels(graph.n_nodes, min(k, graph.n_nodes), 518)
    labels[graph.isolated] = -1
    present = set(labels) - {-1}
    improved = move_nodes(graph, labels, objective="normalized_cut")
    assert set(improved) - {-1} == present and (improved[graph.isolated] == -1).all()
    assert normalized_cut(graph, improved) <= normalized_cut(graph, labels) + 1e-12


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
def test_no_move_is_left_that_would_help(objective, resolution):
    for graph in (make_graph("karate"), looped()):
        A = graph.to_scipy().toarray()
        labels = move_nodes(graph, random_labels(len(A), 3, 2209), objective=objective, resolution=resolution)
        _, wanted = run_and_objective(graph, objective, resolution, 3)
        for node in range(len(A)):
            assert reference.best_move(A, labels, node, objective, resolution)[1] <= 1e-9 * wanted.unit


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@pytest.mark.parametrize("graph", ["karate", "weights of all sizes", "looped block model", "uneven and looped"])
def test_every_single_move_is_the_best_of_its_node_and_changes_the_value_by_its_gain(graph, objective, resolution):
    """One node a step: after each, the running sums equal those recomputed, and the value has risen."""
    graph = some_graph(graph)
    run, wanted = run_and_objective(graph, objective, resolution, 3)
    (labels, sums), A = random_partition(run, 3, 7), graph.to_scipy().toarray()
    # A ratio needs the mass of the lightest cluster; a plain score has the round-off of the heaviest ones anyway.
    least_mass = 0.0 if OBJECTIVES[objective].is_ratio else 1e-12 * run.units.mass
    moving = loops.queue_of(np.arange(graph.n_nodes, dtype=np.int32), sums)
    n_moved, now = 0, reference.value(A, labels, objective, resolution)
    while moving.state[1]:
        before = labels.copy()
        loops.move_nodes(1, *run.finest, wanted, KEPT, labels, sums, moving)
        moved = np.flatnonzero(before != labels)
        assert len(moved) <= 1
        exact = with_sums(run.finest, labels, 3, run).sums
        np.testing.assert_allclose(sums.inside, exact.inside, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(sums.mass, exact.mass, rtol=1e-9, atol=least_mass)
        for u in moved:
            after = reference.value(A, labels, objective, resolution)
            _, most = reference.best_move(A, before, int(u), objective, resolution)
            assert after - now == pytest.approx(most, abs=1e-9 * wanted.unit) and most > 0
            assert value_of(wanted, sums) == pytest.approx(after, abs=1e-9 * wanted.unit)
            n_moved, now = n_moved + 1, after
    assert n_moved > 5


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@pytest.mark.parametrize("graph", ["karate", "some loops", "uneven and looped", "looped block model"])
def test_the_chosen_moves_are_the_best_of_all(graph, objective, resolution):
    """Among neighboring clusters, and where clusters may open, among these and one of the node alone."""
    graph = some_graph(graph)
    A, k = graph.to_scipy().toarray(), 4
    run, wanted = run_and_objective(graph, objective, resolution, k)
    for seed in range(3):
        labels, sums = random_partition(run, k, seed)
        before = reference.value(A, labels, objective, resolution)
        for rules in (KEPT, FREE) if not OBJECTIVES[objective].is_ratio else (KEPT,):
            chosen = local_moving._choose(run.finest, wanted, loops.BlockState(labels, sums, rules), run)
            assert rules.empties or (chosen[sums.size[labels] == 1] == -1).all()
            for u in np.flatnonzero(sums.size[labels] > 1):
                best, most = reference.best_move(A, labels, u, objective, resolution)
                alone = reference.value(A, reference.moved(labels, u, k), objective, resolution) - before
                if rules.opens and alone > max(most, 0.0) + 1e-9 * wanted.unit:
                    assert chosen[u] == labels[u]
                elif most <= 1e-9 * wanted.unit:
                    assert chosen[u] == -1 or most > 0
                elif chosen[u] != best:
                    other = reference.value(A, reference.moved(labels, u, chosen[u]), objective, resolution)
                    assert other - before == pytest.approx(most, abs=1e-9 * wanted.unit)


@pytest.mark.parametrize("at_once", [0, levels.AT_ONCE])
@pytest.mark.parametrize(("objective", "resolution"), ONE_OF_EACH)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_refinement_keeps_k_clusters_and_its_sums_are_those_of_its_labels(
    name, objective, resolution, at_once, monkeypatch
):
    monkeypatch.setattr(levels, "AT_ONCE", at_once)
    graph = some_graph(name)
    for k in {min(2, graph.n_nodes), min(4, graph.n_nodes)}:
        run, wanted = run_and_objective(graph, objective, resolution, k)
        found = random_partition(run, k)
        given = [values.copy() for values in (found.labels, *found.sums)]
        for once in (False, True):
            made = refine(run.finest, found, Goal(wanted, k), run, once=once)
            assert (np.bincount(made.labels, minlength=k) > 0).all() and len(made.sums.size) == k
            assert_same_sums(made, run, graph.total_volume)
            assert value_of(wanted, made.sums) >= value_of(wanted, found.sums) - 1e-12 * wanted.unit * k
        assert all((ours == before).all() for ours, before in zip((found.labels, *found.sums), given, strict=True))


def test_a_look_at_the_clock_changes_no_move(monkeypatch):
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    graph = make_graph("power-law blocks")
    run, wanted = run_and_objective(graph, "normalized_cut", None, 9)
    found, made = random_partition(run, 9), set()
    for entries in (1.0, 50.0, 1e9):
        monkeypatch.setattr(local_moving, "ENTRIES_PER_STEP", entries)
        made.add(refine(run.finest, found, Goal(wanted, 9), run).labels.tobytes())
    assert len(made) == 1


@pytest.mark.parametrize("at_once", [0, levels.AT_ONCE])
def test_without_time_only_a_refinement_that_looks_once_moves(at_once, monkeypatch):
    monkeypatch.setattr(levels, "AT_ONCE", at_once)
    graph, planted = planted_partition(10, 200, 12, 3, rng=2209)
    run = run_on(weigh(graph, "modularity"), 0, Progress(time_budget=1e-9))
    _, wanted = run_and_objective(graph, "modularity", 1.0, 10)
    mistaken = np.where(np.random.default_rng(1).random(graph.n_nodes) < 0.2, (planted + 1) % 10, planted)
    found = with_sums(run.finest, mistaken.astype(np.int32), 10, run)
    assert (refine(run.finest, found, Goal(wanted, 10), run).labels == mistaken).all()
    hasty = refine(run.finest, found, Goal(wanted, 10), run, once=True)
    assert adjusted_rand_index(hasty.labels, planted) > 0.95


def test_a_node_that_would_empty_its_cluster_stays():
    """Two nodes of a cluster that both gain by leaving: the second keeps it."""
    labels = move_nodes(nx.complete_graph(8), np.array([0] * 6 + [1, 1]), objective="modularity", resolution=0.5)
    assert np.bincount(labels).tolist() == [7, 1]


def test_nodes_that_would_all_change_sides_do_not():
    """In a complete bipartite graph cut across its sides every node would follow the others to where they leave."""
    graph, labels = nx.complete_bipartite_graph(4, 4), np.repeat([0, 1], 4)
    assert normalized_cut(graph, move_nodes(graph, labels, objective="normalized_cut")) < normalized_cut(graph, labels)


def test_a_move_queues_the_neighbors():
    """Along a path only the node at the border gains by a move; each move makes the next one the border."""
    labels = np.array([0] * 3 + [1] * 37, np.int32)
    run, wanted = run_and_objective(as_graph(nx.path_graph(40)), "normalized_cut", None, 2)
    found, goal = with_sums(run.finest, labels, 2, run), Goal(wanted, 2)
    assert refine(run.finest, found, goal, run, once=True).labels.tolist() == [0] * 4 + [1] * 36
    assert refine(run.finest, found, goal, run).labels.tolist() == [0] * 20 + [1] * 20


@pytest.mark.parametrize(("objective", "resolution"), ONE_OF_EACH)
def test_mistaken_nodes_find_back(objective, resolution):
    graph, planted = planted_partition(10, 200, 12, 3, rng=2209)
    mistaken = planted.copy()
    wrong = np.random.default_rng(7).choice(graph.n_nodes, 500, replace=False)
    mistaken[wrong] = (mistaken[wrong] + 1) % 10
    resolution = 0.01 if objective == "constant_potts" else resolution
    labels = move_nodes(graph, mistaken, objective=objective, resolution=resolution)
    assert adjusted_rand_index(labels, planted) > 0.99


def regions_by_twin(A, order, name, resolution, parts):
    """A pass by the definition: each node tries all neighboring regions of its part."""
    labels = np.arange(len(A))
    for u in order:
        best, most = -1, 1e-9
        for c in np.unique(labels[A[u] > 0]):
            if c != labels[u] and (parts is None or parts[c] == parts[labels[u]]):
                two = np.where((labels == labels[u]) | (labels == c), labels, -1)
                gain = reference.value(A, reference.moved(two, u, c), name, resolution)
                gain -= reference.value(A, two, name, resolution)
                if gain > most + 1e-9:
                    best, most = c, gain
        labels[u] = best if best >= 0 else labels[u]
    return labels


@pytest.mark.parametrize("at_once", [0, levels.AT_ONCE])
@pytest.mark.parametrize(("name", "resolution"), [("modularity", 1.0), ("modularity", 3.0), ("constant_potts", 0.2)])
@pytest.mark.parametrize("graph", ["karate", "grid", "uneven and looped", "star"])
def test_regions_are_those_of_a_slow_pass_over_the_nodes(graph, name, resolution, at_once, monkeypatch):
    """In the order of a permutation; within parts too, of which none joins nodes of two."""
    monkeypatch.setattr(levels, "AT_ONCE", at_once)
    monkeypatch.setattr(local_moving, "UNSETTLED", 1.0)
    graph = some_graph(graph)
    n, order = graph.n_nodes, np.random.default_rng(5).permutation(graph.n_nodes)
    for parts in (None, random_labels(n, 2, 7).astype(np.int32)):
        run = run_on(weigh(graph, name), 5)
        level = run.finest if parts is None else v_cycle.rows_within(run.finest, parts)
        regions = find_regions(level, resolution * (run.units.chance if name == "modularity" else 1.0), run)
        expected = regions_by_twin(graph.to_scipy().toarray(), order, name, resolution, parts)
        assert len(regions.sums.size) == len(set(expected)) == regions.labels.max() + 1
        assert len(set(zip(regions.labels.tolist(), expected.tolist(), strict=True))) == len(set(expected))
        assert_same_sums(regions, run, graph.total_volume)


def test_a_higher_pull_leaves_more_regions():
    run = run_on(weigh(planted_partition(12, 80, 12, 2, rng=518).graph, "modularity"))
    counts = [len(find_regions(run.finest, g * run.units.chance, run).sums.size) for g in (0.1, 1.0, 10.0, 1e4)]
    assert counts == sorted(counts) and counts[0] < 40 and counts[-1] == len(run.finest.terms.mass)


def test_regions_are_pure():
    graph, planted = planted_partition(12, 80, 12, 2, rng=518)
    run = run_on(weigh(graph, "modularity"))
    regions = find_regions(run.finest, 8.0 * run.units.chance, run)
    counts = np.zeros((len(regions.sums.size), 12))
    np.add.at(counts, (regions.labels, planted), 1)
    assert counts.max(axis=1).sum() > 0.9 * graph.n_nodes


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="the order of plain Python is another")
def test_a_pass_follows_while_the_last_moved_many_nodes():
    level = run_on(weigh(planted_partition(12, 80, 6, 4, rng=518).graph, "modularity")).finest
    n, pull = len(level.terms.mass), 1.0 / level.terms.mass.sum()

    def n_passes(unsettled):
        rng = np.random.default_rng(1)
        return loops.find_regions(level, pull, np.inf, unsettled, draws_of(rng))[1] / len(level.rows.indices)

    passes = [n_passes(share) for share in (1.0, 0.7, 0.3, 0.1, 0.5 / n)]
    assert passes == sorted(passes) and passes[0] == 1 and passes[-1] > 4 and len(set(passes)) > 3


def test_numbers_of_clusters_have_no_gap_once_some_are_empty():
    run = run_on(weigh(looped(), "modularity"))
    labels = random_labels(24, 5, 1).astype(np.int32) * 2
    sums = with_sums(run.finest, labels, 9, run).sums
    made = loops.without_gaps(labels.copy(), sums)
    assert np.unique(made.labels[np.sort(np.unique(made.labels, return_index=True)[1])]).tolist() == [0, 1, 2, 3, 4]
    assert made.labels[0] == 0 and len(np.unique(np.c_[made.labels, labels], axis=0)) == 5
    assert_same_sums(Partition(*made), run)


def test_the_better_of_two_candidates_is_the_one_of_more_gain_or_of_the_lower_number():
    candidates = [(3, 1.0), (1, 2.0), (2, 2.0), (0, 2.0), (4, 0.5), (5, 2.0)]
    best, most = np.int32(-1), 0.0
    for c, gain in candidates:
        best, most = better_of(np.int32(c), gain, best, most)
    assert (best, most) == (0, 2.0), "of three candidates with the largest gain the lowest number"


def test_no_candidate_is_taken_that_gains_no_more_than_what_is_asked_for():
    assert better_of(np.int32(0), 1.0, np.int32(-1), 1.0) == (-1, 1.0)
    assert better_of(np.int32(0), 0.5, np.int32(-1), 1.0) == (-1, 1.0)
