"""Local moving: exact changes under every objective, never worse, no cluster emptied, as its slow twin."""

import networkx as nx
import numpy as np
import pytest
from aims import (
    AIMS,
    ONE_OF_EACH,
    WITH_EDGES,
    assert_exact_sums,
    connected_part,
    looped,
    random_labels,
    random_partition,
    run_and_objective,
)
from cases import for_each
from graphs import make_graph
from reference import objectives as reference
from scipy import sparse

import graphclust as gc
from graphclust.compiled.graphs import choosing, v_cycle
from graphclust.compiled.graphs import local_moving as loops
from graphclust.compiled.graphs.levels import Partition, Task
from graphclust.compiled.graphs.objective import better_of, value_of
from graphclust.compiled.runtime.blocks import set_threads
from graphclust.engine import levels, local_moving
from graphclust.engine.levels import run_on, with_sums
from graphclust.engine.local_moving import find_regions, refine
from graphclust.objective.objective import OBJECTIVES, weigh

GRAPHS = [*WITH_EDGES, "uneven and looped"]


@pytest.fixture(params=[0, levels.AT_ONCE], ids=["in steps", "in one call"])
def at_once(request, monkeypatch):
    monkeypatch.setattr(levels, "AT_ONCE", request.param)


@for_each("name", WITH_EDGES)
@for_each("k", [1, 2, 4])
def test_isolated_nodes_and_those_without_a_cluster_are_left_alone(name, k):
    graph = make_graph(name)
    labels = random_labels(graph.n_nodes, min(k, graph.n_nodes), 518)
    labels[graph.isolated] = -1
    present = set(labels) - {-1}
    improved = gc.move_nodes(graph, labels, objective="normalized_cut")
    assert set(improved) - {-1} == present and (improved[graph.isolated] == -1).all()
    assert gc.normalized_cut(graph, improved) <= gc.normalized_cut(graph, labels) + 1e-12


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
def test_no_move_is_left_that_would_help(objective, resolution):
    for graph in (make_graph("karate"), looped()):
        A = graph.to_scipy().toarray()
        labels = gc.move_nodes(graph, random_labels(len(A), 3, 2209), objective=objective, resolution=resolution)
        _, wanted = run_and_objective(graph, objective, resolution, 3)
        for node in range(len(A)):
            assert reference.best_move(A, labels, node, objective, resolution)[1] <= 1e-9 * wanted.unit


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@pytest.mark.parametrize("graph", ["karate", "weights of all sizes", "looped block model", "uneven and looped"])
def test_the_value_never_falls_move_by_move(graph, objective, resolution, monkeypatch):
    """Batch by batch, in many nodes of a batch: the running sums equal those recomputed, and each batch has gained.

    The moves of a batch are made again one by one: each gains what it was made for, more than nothing.
    """
    graph = connected_part(graph)
    run, wanted = run_and_objective(graph, objective, resolution, 3)
    (labels, sums), A = random_partition(run, 3, 7), graph.to_scipy().toarray()
    # A ratio needs the mass of the lightest cluster; a plain score has the round-off of the heaviest ones anyway.
    least_mass = 0.0 if OBJECTIVES[objective].is_ratio else 1e-12 * run.totals.mass
    state = loops.State(labels, sums, loops.Rules(3, False))
    moving, scratch, n_moved = loops.moving_of(sums, graph.n_nodes), loops.scratch_for(3), 0
    for key in range(20):
        this = loops.next_round(moving.waits, run.finest.rows.indptr, key)
        choices, before = loops.room_for_choices(this), labels.copy()
        moving.counts[loops.N_MOVED] = 0
        loops.play_batches(run.finest, wanted, state, this, choices, moving, scratch)
        movers = moving.moved[: moving.counts[loops.N_MOVED]]
        assert np.flatnonzero(before != labels).tolist() == sorted(movers.tolist())
        exact = with_sums(run.finest, labels, 3, run).sums
        np.testing.assert_allclose(sums.inside, exact.inside, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(sums.mass, exact.mass, rtol=1e-9, atol=least_mass)
        one_by_one, now = before.copy(), reference.value(A, before, objective, resolution)
        for u in movers:
            one_by_one[u] = labels[u]
            after = reference.value(A, one_by_one, objective, resolution)
            assert after > now
            n_moved, now = n_moved + 1, after
        assert value_of(wanted, sums) == pytest.approx(now, abs=1e-9 * wanted.unit)
        loops.mark_neighbors(0, len(movers), 0, run.finest.rows, labels, this, moving)
    assert n_moved > 5


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@for_each("graph", ["karate", "some loops", "uneven and looped", "looped block model"])
def test_the_chosen_moves_are_the_best_of_all(graph, objective, resolution):
    """Among neighboring clusters, and where clusters may open, among these and one of the node alone."""
    graph = connected_part(graph)
    A, k = graph.to_scipy().toarray(), 4
    run, wanted = run_and_objective(graph, objective, resolution, k)
    nodes = np.arange(graph.n_nodes, dtype=np.int32)
    for seed in range(3):
        labels, sums = random_partition(run, k, seed)
        before = reference.value(A, labels, objective, resolution)
        for opens in (False, True) if not OBJECTIVES[objective].is_ratio else (False,):
            state = loops.State(labels, sums, loops.Rules(1 if opens else k, opens))
            chosen = choosing.choose_alone(run.finest, wanted, state, nodes)
            assert opens or (chosen[sums.size[labels] == 1] == -1).all()
            for u in np.flatnonzero(sums.size[labels] > 1):
                best, most = reference.best_move(A, labels, u, objective, resolution)
                alone = reference.value(A, reference.moved(labels, u, k), objective, resolution) - before
                if opens and alone > max(most, 0.0) + 1e-9 * wanted.unit:
                    assert chosen[u] == labels[u]
                elif most <= 1e-9 * wanted.unit:
                    assert chosen[u] == -1 or most > 0
                elif chosen[u] != best:
                    other = reference.value(A, reference.moved(labels, u, chosen[u]), objective, resolution)
                    assert other - before == pytest.approx(most, abs=1e-9 * wanted.unit)


@pytest.mark.parametrize(("objective", "resolution"), ONE_OF_EACH)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_refinement_keeps_k_clusters_and_its_sums_are_those_of_its_labels(name, objective, resolution, at_once):
    graph = connected_part(name)
    for k in {min(2, graph.n_nodes), min(4, graph.n_nodes)}:
        run, wanted = run_and_objective(graph, objective, resolution, k)
        found = random_partition(run, k)
        given = [values.copy() for values in (found.labels, *found.sums)]
        for once in (False, True):
            made = refine(run.finest, found, Task(wanted, k), run, once=once)
            assert (np.bincount(made.labels, minlength=k) > 0).all() and len(made.sums.size) == k
            assert_exact_sums(made, run, graph.total_volume)
            assert value_of(wanted, made.sums) >= value_of(wanted, found.sums) - 1e-12 * wanted.unit * k
        assert all((ours == before).all() for ours, before in zip((found.labels, *found.sums), given, strict=True))


def crossing_hub():
    """Blocks, and a node with an edge to every other."""
    graph = gc.planted_partition(8, 200, 8, 3, rng=4).graph.to_scipy().tolil()
    graph[0, 1:] = graph[1:, 0] = 1.0
    return gc.as_graph(graph.tocsr())


@pytest.mark.parametrize("name", ["power-law blocks", "grid", "star", "hub"])
def test_labels_do_not_depend_on_threads(name, monkeypatch):
    """Also not on whether one compiled call makes all rounds, nor on whether threads share the rows of hubs."""
    graph = crossing_hub() if name == "hub" else make_graph(name)
    run, wanted = run_and_objective(graph, "modularity", 1.0, 4)
    found, nodes = random_partition(run, 4), np.arange(0, graph.n_nodes, 3, dtype=np.int32)
    for constant, entries in (("CHUNK", 64), ("LONG_ROW", 64)):
        monkeypatch.setattr(local_moving, constant, entries)
    made, of_some = set(), set()
    for threads in (0, 1, 2, 3, 7):  # 0: one compiled call
        monkeypatch.setattr(levels, "AT_ONCE", 0 if threads else graph.n_entries)
        monkeypatch.setattr(local_moving, "WORTH_THREADS", -1)
        before = set_threads(max(threads, 1))
        try:
            own = run_on(weigh(graph, "modularity"), 3)
            several = [find_regions(own.finest, 4.0 * own.totals.chance, own)]
            several += [refine(own.finest, found, Task(wanted, k), own) for k in (0, 4)]
            of_some.add(refine(own.finest, found, Task(wanted, 4), own, nodes=nodes).labels.tobytes())
        finally:
            set_threads(before)
        made.add(tuple(one.labels.tobytes() for one in several))
    assert len(made) == len(of_some) == 1


def test_rows_that_threads_share_lead_to_the_choices_and_notes_of_one_thread_bit_by_bit(monkeypatch):
    monkeypatch.setattr(local_moving, "CHUNK", 3)
    before = set_threads(3)
    for graph, objective, k, opens in (
        (crossing_hub(), "modularity", 9, True), (looped(90), "normalized_cut", 9, False),
        (looped(90), "modularity", 40, True),
    ):  # fmt: skip
        run, wanted = run_and_objective(graph, objective, 1.0 if opens else None, k)
        found, n, seen = random_partition(run, k), graph.n_nodes, []
        state, moving = loops.State(found.labels, found.sums, loops.Rules(1, opens)), loops.moving_of(found.sums, n)
        this = loops.next_round(moving.waits, run.finest.rows.indptr, 5)
        batch = loops.batch_at(this, 0)
        places, n = batch.entries[:-1] - batch.entries[0], len(batch.nodes)
        for chunks, shared in ((np.array([0, n]), []), (np.arange(n + 1), list(range(n)))):
            choices = loops.room_for_choices(this)
            local_moving.Mover(run.finest, wanted, state, moving, run).choose(batch, choices, chunks, shared)
            noted = [range(p, p + m) for p, m in zip(places, choices.n_earlier[:n], strict=True)]
            notes = [(choices.entry[of].tolist(), choices.label[of].tolist()) for of in noted]
            moves = choices.target[:n] >= 0
            links = np.r_[choices.stays[:n][moves], choices.shared[:n][moves]]
            seen.append((choices.target[:n].tolist(), links.tolist(), notes))
        assert seen[0] == seen[1] and moves.any() and sum(map(len, noted)) > 0
    set_threads(before)


def test_without_time_only_a_refinement_that_looks_once_moves(at_once):
    graph, planted = gc.planted_partition(10, 200, 12, 3, rng=2209)
    run = run_on(weigh(graph, "modularity"), 0, gc.Progress(time_budget=1e-9))
    _, wanted = run_and_objective(graph, "modularity", 1.0, 10)
    mistaken = np.where(np.random.default_rng(1).random(graph.n_nodes) < 0.2, (planted + 1) % 10, planted)
    found = with_sums(run.finest, mistaken.astype(np.int32), 10, run)
    assert (refine(run.finest, found, Task(wanted, 10), run).labels == mistaken).all()
    hasty = refine(run.finest, found, Task(wanted, 10), run, once=True)
    assert gc.adjusted_rand_index(hasty.labels, planted) > 0.95


def test_a_node_that_would_empty_its_cluster_stays():
    """Two nodes of a cluster that both gain by leaving: the second keeps it."""
    labels = gc.move_nodes(nx.complete_graph(8), np.array([0] * 6 + [1, 1]), objective="modularity", resolution=0.5)
    assert np.bincount(labels).tolist() == [7, 1]


def test_nodes_that_would_all_change_sides_do_not():
    """In a complete bipartite graph cut across its sides every node would follow the others to where they leave."""
    graph, labels = nx.complete_bipartite_graph(4, 4), np.repeat([0, 1], 4)
    assert gc.normalized_cut(graph, gc.move_nodes(graph, labels, objective="normalized_cut")) < gc.normalized_cut(
        graph, labels
    )


def test_a_move_queues_the_neighbors():
    """Along a path only the node at the border gains by a move; each move makes the next one the border."""
    labels = np.array([0] * 3 + [1] * 37, np.int32)
    run, wanted = run_and_objective(gc.as_graph(nx.path_graph(40)), "normalized_cut", None, 2)
    found, task = with_sums(run.finest, labels, 2, run), Task(wanted, 2)
    assert refine(run.finest, found, task, run, once=True).labels.tolist() == [0] * 4 + [1] * 36
    assert refine(run.finest, found, task, run).labels.tolist() == [0] * 20 + [1] * 20


@pytest.mark.parametrize(("objective", "resolution"), ONE_OF_EACH)
def test_mistaken_nodes_find_back(objective, resolution):
    graph, planted = gc.planted_partition(10, 200, 12, 3, rng=2209)
    mistaken = planted.copy()
    wrong = np.random.default_rng(7).choice(graph.n_nodes, 500, replace=False)
    mistaken[wrong] = (mistaken[wrong] + 1) % 10
    resolution = 0.01 if objective == "constant_potts" else resolution
    labels = gc.move_nodes(graph, mistaken, objective=objective, resolution=resolution)
    assert gc.adjusted_rand_index(labels, planted) > 0.99


def regions_one_by_one(A, penalty, rng):
    """Two sequential passes in random order, by the definition: each node joins the region that gains most."""
    n, mass = A.shape[0], A.sum(axis=1)
    labels, masses = np.arange(n), mass.copy()
    for u in np.concatenate([rng.permutation(n), rng.permutation(n)]):
        ends, links = A.indices[A.indptr[u] : A.indptr[u + 1]], {labels[u]: 0.0}
        for v, w in zip(ends, A.data[A.indptr[u] : A.indptr[u + 1]], strict=True):
            if v != u:
                links[labels[v]] = links.get(labels[v], 0.0) + w
        masses[labels[u]] -= mass[u]
        labels[u] = max(links, key=lambda c: links[c] - penalty * mass[u] * masses[c])
        masses[labels[u]] += mass[u]
    return labels


@pytest.mark.parametrize("name", ["planted", "dense", "hubs", "mesh"])
def test_regions_are_as_good_as_those_of_sequential_passes(name, at_once):
    """By value and by purity, with nodes that choose side by side; regions of nodes on both sides are not made."""
    truth = None
    if name == "mesh":
        graph = gc.as_graph(nx.grid_2d_graph(30, 30))
    elif name == "hubs":
        graph, truth = crossing_hub(), np.repeat(np.arange(8), 200)
    else:
        graph, truth = gc.planted_partition(10, 100, *((60, 20) if name == "dense" else (12, 3)), rng=2)
    A = sparse.csr_array(graph.to_scipy())
    values, purity = ([], []), ([], [])
    for seed in range(4):
        run = run_on(weigh(graph, "modularity"), seed)
        penalty = 4.0 * run.totals.chance
        one_by_one = regions_one_by_one(A, penalty, np.random.default_rng(seed))
        for which, labels in enumerate((find_regions(run.finest, penalty, run).labels, one_by_one)):
            values[which].append(gc.modularity(graph, labels, resolution=4.0))
            if truth is not None:
                counts = np.zeros((graph.n_nodes, 10))
                np.add.at(counts, (labels, truth), 1)
                purity[which].append(counts.max(axis=1).sum() / graph.n_nodes)
    assert np.mean(values[0]) > np.mean(values[1]) - 0.02
    assert truth is None or np.mean(purity[0]) > np.mean(purity[1]) - 0.02


def test_regions_do_not_cross_parts_and_their_sums_are_theirs(at_once):
    for name in ("karate", "grid", "uneven and looped", "star"):
        graph = connected_part(name)
        run, parts = run_on(weigh(graph, "modularity"), 5), random_labels(graph.n_nodes, 2, 7).astype(np.int32)
        for level in (run.finest, v_cycle.rows_within(run.finest, parts)):
            regions = find_regions(level, run.totals.chance, run)
            assert regions.labels.max() + 1 == len(regions.sums.size) < graph.n_nodes
            assert_exact_sums(regions, run, graph.total_volume)
        assert len(np.unique(np.c_[regions.labels, parts], axis=0)) == len(regions.sums.size)


def test_no_fewer_regions_are_left_than_are_asked_for(at_once):
    run = run_on(weigh(gc.planted_partition(12, 80, 12, 2, rng=518).graph, "modularity"))
    counts = [len(find_regions(run.finest, run.totals.chance, run, fewest=n).sums.size) for n in (1, 300, 959, 960)]
    assert counts[0] < counts[1] and counts[1:] == [300, 959, 960]


def test_a_higher_pull_leaves_more_regions():
    run = run_on(weigh(gc.planted_partition(12, 80, 12, 2, rng=518).graph, "modularity"))
    counts = [len(find_regions(run.finest, g * run.totals.chance, run).sums.size) for g in (0.1, 1.0, 10.0, 1e4)]
    assert counts == sorted(counts) and counts[0] < 120 and counts[-1] == len(run.finest.terms.mass)


def test_numbers_of_clusters_have_no_gap_once_some_are_empty():
    run = run_on(weigh(looped(), "modularity"))
    labels = random_labels(24, 5, 1).astype(np.int32) * 2
    sums = with_sums(run.finest, labels, 9, run).sums
    made = loops.without_gaps(labels.copy(), sums)
    assert np.unique(made.labels[np.sort(np.unique(made.labels, return_index=True)[1])]).tolist() == [0, 1, 2, 3, 4]
    assert made.labels[0] == 0 and len(np.unique(np.c_[made.labels, labels], axis=0)) == 5
    assert_exact_sums(Partition(*made), run)


def test_the_better_of_two_candidates_is_the_one_of_more_gain_than_asked_for_or_of_the_lower_number():
    candidates = [(3, 1.0), (1, 2.0), (2, 2.0), (0, 2.0), (4, 0.5), (5, 2.0)]
    best, most = np.int32(-1), 0.0
    for c, gain in candidates:
        best, most = better_of(np.int32(c), gain, best, most)
    assert (best, most) == (0, 2.0), "of three candidates with the largest gain the lowest number"
    for gain in (1.0, 0.5):
        assert better_of(np.int32(0), gain, np.int32(-1), 1.0) == (-1, 1.0)
