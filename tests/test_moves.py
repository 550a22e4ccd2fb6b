"""Single-node moves: exact changes under every objective, never worse, no cluster emptied."""

import networkx as nx
import numpy as np
import pytest
import reference_objectives as reference
from aims import AIMS, ONE_OF_EACH, WITH_EDGES, connected_part, looped, on_and_objective, random_labels
from graphs import make_graph

from graphclust.compiled.graphs.moves import Bounds
from graphclust.compiled.graphs.objective import better_of, value_of
from graphclust.generators import planted_partition
from graphclust.graph.gate import as_graph
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.cuts import normalized_cut
from graphclust.objective.objective import RATIOS
from graphclust.partition import moves as local_moves
from graphclust.partition.improvement import move_nodes
from graphclust.partition.moves import (
    NOBODY,
    are_light,
    best_moves,
    bounds_of,
    moved_at_once,
    moved_in_rounds,
    moved_until_stable,
    moves_that_empty_none,
    summed,
    sums_after,
)
from graphclust.progress import Progress


def value(graph, labels, name, resolution):
    return reference.value(graph.to_scipy().toarray(), labels, name, resolution)


@pytest.mark.parametrize("name", WITH_EDGES)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_moves_never_raise_the_cut_and_keep_every_cluster(name, k):
    graph = make_graph(name)
    k = min(k, graph.n_nodes)
    labels = random_labels(graph.n_nodes, k, 518)
    labels[graph.isolated] = -1
    present = set(labels) - {-1}
    improved = move_nodes(graph, labels, objective="normalized_cut")
    assert set(improved) - {-1} == present
    assert (improved[graph.isolated] == -1).all()
    assert normalized_cut(graph, improved) <= normalized_cut(graph, labels) + 1e-12


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


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@pytest.mark.parametrize(
    "graph", ["karate", "weights of all sizes", "power-law blocks", "looped block model", "uneven and looped"]
)
def test_every_single_move_changes_the_value_by_the_gain_it_was_made_for(graph, objective, resolution, monkeypatch):
    """One node a step: after each, the running sums equal those recomputed, and the value has risen."""
    graph = looped() if graph == "uneven and looped" else make_graph(graph)
    labels = random_labels(graph.n_nodes, 3, 7).astype(np.int32)
    on, wanted = on_and_objective(graph, objective, resolution, 3)
    A = graph.to_scipy().toarray()
    values = [reference.value(A, labels, objective, resolution)]
    real = local_moves.loops.move_nodes
    scale = wanted.unit
    # A ratio needs the mass of the lightest cluster; a plain score has the round-off of the heaviest ones anyway.
    least_mass = 0.0 if objective in RATIOS else 1e-12 * on.terms.mass.sum()

    def one_node(budget, *arrays):
        now, sums = arrays[3], arrays[4]
        before = now.copy()
        read = real(1, *arrays)
        assert np.count_nonzero(before != now) <= 1
        _, again = summed(on, now, 3)
        np.testing.assert_allclose(sums.inside, again.inside, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(sums.mass, again.mass, rtol=1e-9, atol=least_mass)
        assert sums.size.tolist() == again.size.tolist()
        values.append(reference.value(A, now, objective, resolution))
        assert value_of(wanted, sums) == pytest.approx(values[-1], abs=1e-9 * scale)
        moved = before != now
        if moved.any():
            u = int(np.flatnonzero(moved)[0])
            _, most = reference.best_move(A, before, u, objective, resolution)
            assert values[-1] - values[-2] == pytest.approx(most, abs=1e-9 * scale)  # and of all moves the best
        return read

    monkeypatch.setattr(local_moves.loops, "move_nodes", one_node)
    reported = value_of(wanted, moved_until_stable(on, labels, 3, wanted, Progress()))
    assert len(values) > 10
    assert (np.diff(values) >= -1e-12 * max(scale, abs(values[0]))).all()
    assert values[-1] > values[0]
    assert reported == pytest.approx(values[-1], rel=1e-9, abs=1e-9 * scale)


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@pytest.mark.parametrize("graph", ["karate", "some loops", "uneven and looped", "looped block model"])
@pytest.mark.parametrize("k", [2, 6])
def test_the_chosen_moves_are_the_best_of_all(graph, k, objective, resolution):
    """Also where some nodes are in no cluster, and for either half of the nodes."""
    graph = looped() if graph == "uneven and looped" else make_graph(graph)
    A = graph.to_scipy().toarray()
    on, wanted = on_and_objective(graph, objective, resolution, k)
    for seed in range(3):
        labels = np.random.default_rng(seed).integers(0, k, graph.n_nodes)
        labels[:k] = np.arange(k)
        labels[k::5] = -1 if seed == 2 else labels[k::5]
        state = summed(on, labels.astype(np.int32), k)
        chosen, _ = best_moves(on, labels.astype(np.int32), wanted, *state)
        before = reference.value(A, labels, objective, resolution)
        for u in range(graph.n_nodes):
            best, most = reference.best_move(A, labels, u, objective, resolution)
            if most <= 1e-9 * wanted.unit:
                assert chosen[u] == -1 or most > 0
            else:
                gain = reference.value(A, reference.moved(labels, u, chosen[u]), objective, resolution) - before
                assert chosen[u] == best or gain == pytest.approx(most, abs=1e-9 * wanted.unit)
        halves = [best_moves(on, labels.astype(np.int32), wanted, *state, turn)[0] for turn in (0, 1)]
        assert (np.maximum(*halves) == chosen).all() and (np.minimum(*halves) == -1).all()


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@pytest.mark.parametrize("graph", [*WITH_EDGES, "uneven and looped"])
def test_moves_made_all_at_once_never_lower_the_value_and_keep_every_cluster(graph, objective, resolution, monkeypatch):
    graph = looped() if graph == "uneven and looped" else connected_part(graph)
    monkeypatch.setattr(local_moves, "MANY_MOVES", 1)
    monkeypatch.setattr(local_moves.loops, "move_nodes", lambda budget, *arrays: arrays[5].state.fill(0) or 0)
    for k in {min(2, graph.n_nodes), min(4, graph.n_nodes)}:
        labels = random_labels(graph.n_nodes, k, 518)
        on, wanted = on_and_objective(graph, objective, resolution, k)
        before = value(graph, labels, objective, resolution)
        least = 1e-12 * max(wanted.unit, abs(before))
        for in_rounds in (False, True):
            improved = labels.astype(np.int32)
            if in_rounds:
                moved_in_rounds(on, improved, k, wanted, 3, Progress())
            else:
                reported = value_of(wanted, moved_until_stable(on, improved, k, wanted, Progress()))
                assert reported == pytest.approx(value(graph, improved, objective, resolution), rel=1e-9, abs=least)
            assert value(graph, improved, objective, resolution) >= before - least
            assert set(improved) == set(labels)


@pytest.mark.parametrize("objective", ["normalized_cut", "ratio_cut"])
@pytest.mark.parametrize("graph", [*WITH_EDGES, "uneven and looped"])
@pytest.mark.parametrize("few", [local_moves.FEW_ENTRIES, 2.0])
def test_the_sums_after_moves_follow_from_the_rows_that_change(graph, objective, few, monkeypatch):
    """Whatever moves, and also where some nodes are in no cluster."""
    monkeypatch.setattr(local_moves, "FEW_ENTRIES", few)
    graph = looped() if graph == "uneven and looped" else make_graph(graph)
    on, _ = on_and_objective(graph, objective, None, 4)
    monkeypatch.setattr(local_moves, "MOVERS_PER_BLOCK", 7)
    monkeypatch.setattr(local_moves, "SHRUNK", 0.0)  # or a cluster of next to nothing is summed anew
    for seed, share in enumerate((0.0, 0.1, 0.6, 1.0)):
        labels, other = (random_labels(graph.n_nodes, 4, of).astype(np.int32) for of in (seed, seed + 10))
        labels[::6] = other[::6] = -1
        moved = np.where(np.random.default_rng(seed).random(graph.n_nodes) < share, other, labels)
        before, expected = (summed(on, of, 4)[1] for of in (labels, moved))
        made, after = sums_after(on, labels, moved, before)
        assert made is None or (made == summed(on, moved, 4)[0]).all()
        assert after.size.tolist() == expected.size.tolist()
        for found, exact, was in zip(after[:2], expected[:2], before[:2], strict=True):
            np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-12 * np.abs(was).max(initial=0.0))
            if graph.weights is None:
                assert (found == exact).all()


def test_what_is_left_of_a_cluster_that_lost_nearly_all_is_summed_anew(monkeypatch):
    """1e17 and a loop of 0.3: once the heavy nodes have left, a difference would have nothing of it."""
    monkeypatch.setattr(local_moves, "FEW_ENTRIES", 2.0)
    A = np.diag([1e17, 1e17, 0.3, 1.0])
    A[0, 1] = A[1, 0] = 1e17
    A[2, 3] = A[3, 2] = 0.1
    on, _ = on_and_objective(as_graph(A), "normalized_cut", None, 2)
    labels, moved = np.array([0, 0, 0, 1], np.int32), np.array([1, 1, 0, 1], np.int32)
    _, after = sums_after(on, labels, moved, summed(on, labels, 2)[1])
    assert after.inside[0] == 0.3 and after.mass[0] == pytest.approx(0.4)


@pytest.mark.parametrize("in_rounds", [False, True])
@pytest.mark.parametrize("objective", ["normalized_cut", "modularity"])
def test_weights_that_stay_are_the_same_whether_made_with_the_sums_or_in_the_next_look(
    objective, in_rounds, monkeypatch
):
    graph, planted = planted_partition(10, 200, 12, 3, rng=2209)
    on, wanted = on_and_objective(graph, objective, 1.0 if objective == "modularity" else None, 10)
    monkeypatch.setattr(local_moves, "MANY_MOVES", 1)
    mistaken = np.where(np.random.default_rng(1).random(graph.n_nodes) < 0.4, (planted + 1) % 10, planted)
    real, of_each = local_moves.best_moves, []
    for few in (0.0, 2.0):
        known, targets = [], []

        def look(*of, known, _known=known, _targets=targets):
            _known.append(known)
            found = real(*of, known=known)
            _targets.append(found[0])
            return found

        monkeypatch.setattr(local_moves, "FEW_ENTRIES", few)
        monkeypatch.setattr(local_moves, "best_moves", look)
        labels = mistaken.astype(np.int32)
        if in_rounds:
            moved_in_rounds(on, labels, 10, wanted, 4, Progress())
        else:
            moved_until_stable(on, labels, 10, wanted, Progress(), 10)
        assert any(known[1:]) == (few == 0.0)
        assert adjusted_rand_index(labels, planted) > 0.5
        of_each.append(np.array(targets))
    assert of_each[0].tolist() == of_each[1].tolist()


@pytest.mark.parametrize("turn", [-1, 0, 1])
@pytest.mark.parametrize("graph", [*WITH_EDGES, "uneven and looped"])
def test_a_look_at_all_nodes_makes_the_weights_that_stay_on_the_way(graph, turn):
    graph = looped() if graph == "uneven and looped" else make_graph(graph)
    labels = random_labels(graph.n_nodes, 3, 518).astype(np.int32)
    labels[::5] = -1
    on, wanted = on_and_objective(graph, "modularity", 1.0, 3)
    stays, sums = summed(on, labels, 3)
    made = np.full(graph.n_nodes, np.nan)
    chosen, _ = best_moves(on, labels, wanted, made, sums, turn, known=False)
    assert (chosen == best_moves(on, labels, wanted, stays, sums, turn)[0]).all()
    looked_at = ~np.isnan(made)
    assert (made[looked_at] == stays[looked_at]).all() and (turn >= 0 or looked_at.all())


@pytest.fixture(scope="module")
def light_clusters():
    """Ten blocks, of which two parts of three nodes each are clusters of their own; labels of some nodes are wrong."""
    graph, planted = planted_partition(10, 120, 14, 4, rng=11)
    labels = planted.astype(np.int32)
    wrong = np.random.default_rng(3).choice(graph.n_nodes, 60, replace=False)
    labels[wrong] = (labels[wrong] + 1) % 10
    labels[[0, 1, 2]], labels[[1, 2, 3]] = 10, 11
    labels[::97] = -1
    return graph, labels


@pytest.mark.parametrize(("objective", "resolution"), ONE_OF_EACH)
@pytest.mark.parametrize("known", [True, False])
def test_only_nodes_that_no_move_would_help_are_ruled_out(light_clusters, objective, resolution, known, monkeypatch):
    """Light clusters are easily joined, and so by those beside them: more nodes are ruled out than without that."""
    graph, labels = light_clusters
    k = 12
    on, wanted = on_and_objective(graph, objective, resolution, k)
    stays, sums = summed(on, labels, k)
    bounds = bounds_of(on, labels, sums)
    beside = {v for u in np.flatnonzero(labels >= 10).tolist() for v in graph.neighbors(u).tolist()}
    assert np.flatnonzero(bounds.beside).tolist() == sorted(beside) and len(beside) < 0.1 * graph.n_nodes
    assert bounds.of_others[0] > 10 * bounds.of_all[0] > 0.0
    found, _ = best_moves(on, labels, wanted, stays.copy(), sums, known=known)
    monkeypatch.setattr(local_moves, "bounds_of", lambda *of: Bounds((0.0, np.inf), (0.0, np.inf), NOBODY))
    assert (found == best_moves(on, labels, wanted, stays, sums, known=True)[0]).all()
    assert 40 < np.count_nonzero(found >= 0) < 0.5 * graph.n_nodes


@pytest.mark.parametrize(
    ("mass", "light"),
    [
        ([0.0, 1.0, 400.0, 500.0], [True, True, False, False]),
        ([0.0, 400.0, 500.0], None),
        ([8.0, 100.0, 900.0], [True, False, False]),
        ([0.4, 0.7, 1.0, *[100.0] * 9], [True, True, True, *[False] * 9]),
        ([20.0, 100.0, 900.0], None),  # a fiftieth of the mass: too many nodes are beside it
        ([90.0, *[100.0] * 199], None),  # little of the mass, but hardly lighter than others
        ([5.0], None),
        ([0.0, 0.0], None),
    ],
)
def test_light_clusters(mass, light):
    mass = np.array(mass)
    found = are_light(mass, mass[mass > 0].min(initial=np.inf))
    assert found is None if light is None else found.tolist() == light


def entries_read(graph, move):
    """How many times over the entries of a graph are read in a call of `move(progress)`."""
    progress = Progress()
    progress.watch(graph)
    move(progress)
    return sum(progress.entries_read.values()) / graph.n_entries


@pytest.mark.parametrize("weighted", [False, True])
def test_each_look_at_all_nodes_is_one_pass_and_a_round_reads_what_moves(weighted, monkeypatch):
    """Where the sums are known at the start nothing else reads all entries, and the labels are the same."""
    graph, planted = planted_partition(10, 200, 12, 3, rng=2209)
    if weighted:
        matrix = graph.to_scipy()
        matrix.data = 0.25 * (1 + (matrix.tocoo().row + matrix.indices) % 4)
        graph = as_graph(matrix)
    on, wanted = on_and_objective(graph, "normalized_cut", None, 10)
    settled = planted.astype(np.int32)
    moved_until_stable(on, settled, 10, wanted, Progress(), most_sweeps=10)
    sums = summed(on, settled, 10)[1]
    stable = settled.copy()
    passes = entries_read(graph, lambda progress: moved_until_stable(on, stable, 10, wanted, progress, sums=sums))
    assert passes == 1 and (stable == settled).all()
    mistaken = settled.copy()
    wrong = np.random.default_rng(7).choice(graph.n_nodes, 300, replace=False)
    mistaken[wrong] = (mistaken[wrong] + 1) % 10
    monkeypatch.setattr(local_moves, "MANY_MOVES", 1)
    looks, real = [], local_moves.best_moves

    def look(*of, known):
        found = real(*of, known=known)
        looks.append((known, found[1] / graph.n_entries))
        return found

    monkeypatch.setattr(local_moves, "best_moves", look)

    def moved(known):
        labels = mistaken.copy()
        looks.clear()
        sums = summed(on, labels, 10)[1] if known else None
        passes = entries_read(
            graph, lambda progress: moved_until_stable(on, labels, 10, wanted, progress, 10, sums=sums)
        )
        assert all(0.0 < read < 0.9 if known else read == 1.0 for known, read in looks)
        return labels, passes - sum(read for _, read in looks)

    (labels, beside), (same, beside_unknown) = moved(True), moved(False)
    assert len(looks) > 1 and 0.1 < beside < 0.6, "the rows of nodes that move"
    assert beside_unknown == pytest.approx(beside + 1) and (labels == same).all()
    halves = entries_read(graph, lambda progress: moved_in_rounds(on, mistaken, 10, wanted, 2, progress, sums=None))
    assert 2.0 < halves < 2.5, "the sums at the start, two halves, and the nodes that moved"


def test_moves_made_all_at_once_empty_no_cluster_that_others_were_to_refill():
    """Where all of one go to a second, and all of that to a third, the first stays, and so the second must."""
    chain, onward = np.array([0, 0, 1, 1, 1]), np.array([1, 1, 2, 2, 2])
    assert moves_that_empty_none(chain, onward, np.array([2, 3, 4])).tolist() == [False] * 5
    assert moves_that_empty_none(chain, onward, np.array([3, 3, 4])).all()  # one of the first is no mover
    assert moves_that_empty_none(chain, onward, np.array([2, 3, 0])).tolist() == [False] * 5  # one without nodes
    for seed in range(200):
        rng = np.random.default_rng(seed)
        labels = np.concatenate([np.arange(6), rng.integers(6, size=4)])
        movers = np.flatnonzero(rng.random(10) < 0.9)
        to = (labels[movers] + rng.integers(1, 6, size=len(movers))) % 6
        made = moves_that_empty_none(labels[movers], to, np.bincount(labels, minlength=6))
        labels[movers[made]] = to[made]
        assert np.bincount(labels, minlength=6).all()


def test_moves_that_would_empty_a_cluster_leave_its_nodes_there():
    """Two nodes of a cluster that both gain by leaving: the cluster keeps them, whatever the value."""
    graph = as_graph(nx.complete_graph(8))
    labels = np.array([0] * 6 + [1, 1], np.int32)
    on, wanted = on_and_objective(graph, "modularity", 0.5, 2)
    _, sums = summed(on, labels, 2)
    target, _ = best_moves(on, labels, wanted, *summed(on, labels, 2))
    assert target.tolist() == [-1] * 6 + [0, 0]
    assert moved_at_once(on, labels, wanted, target, sums) is None
    assert labels.tolist() == [0] * 6 + [1, 1]
    assert set(move_nodes(graph, labels, objective="modularity", resolution=0.5)) == {0, 1}


def test_a_round_in_which_all_would_change_sides_is_refused(monkeypatch):
    """In a complete bipartite graph cut across its sides every node would follow the others to where they leave."""
    graph = as_graph(nx.complete_bipartite_graph(4, 4))
    labels = np.repeat(np.array([0, 1], np.int32), 4)
    before = normalized_cut(graph, labels)
    monkeypatch.setattr(local_moves, "MANY_MOVES", 1)
    rounds = []
    real = local_moves.sums_after
    monkeypatch.setattr(local_moves, "sums_after", lambda *of: rounds.append(of[2].copy()) or real(*of))
    on, wanted = on_and_objective(graph, "normalized_cut", None, 2)
    moved_until_stable(on, labels, 2, wanted, Progress())
    assert (rounds[0] == [1, 1, 1, 1, 0, 0, 0, 0]).all()  # tried: all of them, which cuts as much as before
    assert normalized_cut(graph, labels) < before  # one after the other they find a better place


def test_in_rounds_only_every_other_node_moves_at_a_time():
    """So that nodes which would all change sides do not: the halves take turns, and the first round already pays."""
    graph = as_graph(nx.complete_bipartite_graph(4, 4))
    labels = np.repeat(np.array([0, 1], np.int32), 4)
    before = normalized_cut(graph, labels)
    on, wanted = on_and_objective(graph, "normalized_cut", None, 2)
    moved_in_rounds(on, labels, 2, wanted, 1, Progress())
    assert normalized_cut(graph, labels) < before


@pytest.mark.parametrize(("objective", "resolution"), ONE_OF_EACH)
def test_rounds_find_what_single_moves_find(objective, resolution, monkeypatch):
    graph, planted = planted_partition(10, 200, 12, 3, rng=2209)
    mistaken = planted.astype(np.int32)
    wrong = np.random.default_rng(7).choice(graph.n_nodes, 500, replace=False)
    mistaken[wrong] = (mistaken[wrong] + 1) % 10
    on, wanted = on_and_objective(graph, objective, 0.01 if objective == "constant_potts" else resolution, 10)
    for many in (1, graph.n_nodes + 1):
        monkeypatch.setattr(local_moves, "MANY_MOVES", many)
        labels = mistaken.copy()
        moved_until_stable(on, labels, 10, wanted, Progress(), most_sweeps=10)
        assert adjusted_rand_index(labels, planted) > 0.99


def test_long_and_short_rows_count_what_stays_alike():
    graph = as_graph(nx.complete_graph(local_moves.loops.LONG_ROW + 2))
    labels = random_labels(graph.n_nodes, 3, 518).astype(np.int32)
    labels[5] = -1
    alike = [(labels[graph.neighbors(u)] == labels[u]).sum() for u in range(graph.n_nodes)]
    on, _ = on_and_objective(graph, "normalized_cut", None, 3)
    stays, _ = summed(on, labels, 3)
    assert (stays == np.where(labels < 0, 0, alike)).all()
    short = graph.subgraph(np.arange(20))
    on, _ = on_and_objective(short, "normalized_cut", None, 3)
    stays, _ = summed(on, labels[:20], 3)
    assert stays[0] == (labels[1:20] == labels[0]).sum()


def test_loops_stay_with_their_node_on_long_rows_and_on_short_ones():
    """A self-loop is no edge to another node of the cluster; it counts in what is inside by itself."""
    n = local_moves.loops.LONG_ROW + 2
    for A in (np.ones((n, n)), np.ones((9, 9)), np.full((n, n), 0.5)):
        graph = as_graph(A)
        on, _ = on_and_objective(graph, "normalized_cut", None, 1)
        stays, sums = summed(on, np.zeros(len(A), np.int32), 1)
        assert (stays == A[0, 0] * (len(A) - 1)).all() and sums.inside[0] == A.sum()


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
def test_no_move_is_left_that_would_help(objective, resolution):
    for graph in (make_graph("karate"), looped()):
        A = graph.to_scipy().toarray()
        labels = move_nodes(graph, random_labels(len(A), 3, 2209), objective=objective, resolution=resolution)
        _, wanted = on_and_objective(graph, objective, resolution, 3)
        for node in range(len(A)):
            assert reference.best_move(A, labels, node, objective, resolution)[1] <= 1e-9 * wanted.unit


def test_sweeps_end_when_few_nodes_would_move_or_enough_were_made(monkeypatch):
    graph = make_graph("power-law blocks")
    on, wanted = on_and_objective(graph, "normalized_cut", None, 20)
    sweeps = []
    real = local_moves.move_in_turn
    monkeypatch.setattr(local_moves, "move_in_turn", lambda *of: sweeps.append(int(of[4].state[1])) or real(*of))

    def n_sweeps(**options):
        sweeps.clear()
        moved_until_stable(on, random_labels(graph.n_nodes, 20, 1).astype(np.int32), 20, wanted, Progress(), **options)
        return len(sweeps)

    assert n_sweeps() == 1
    until_stable = n_sweeps(most_sweeps=100)
    assert until_stable > 2 and sweeps[0] > sweeps[-1] > 0
    assert n_sweeps(most_sweeps=2) == 2
    assert n_sweeps(most_sweeps=100, few=1.0) == 1


def test_one_sweep_follows_the_neighbors_of_moved_nodes():
    """Along a path only the node at the border gains by a move; each move makes the next one the border."""
    graph = as_graph(nx.path_graph(40))
    labels = np.array([0] * 3 + [1] * 37, np.int32)
    on, wanted = on_and_objective(graph, "normalized_cut", None, 2)
    assert np.flatnonzero(best_moves(on, labels, wanted, *summed(on, labels, 2))[0] >= 0).tolist() == [3]
    moved_until_stable(on, labels, 2, wanted, Progress(), most_sweeps=1)
    assert labels.tolist() == [0] * 20 + [1] * 20


def test_the_better_of_two_candidates_is_the_one_of_more_gain_or_of_the_lower_number():
    candidates = [(3, 1.0), (1, 2.0), (2, 2.0), (0, 2.0), (4, 0.5), (5, 2.0)]
    best, most = np.int32(-1), 0.0
    for c, gain in candidates:
        best, most = better_of(np.int32(c), gain, best, most)
    assert (best, most) == (0, 2.0), "of three candidates with the largest gain the lowest number"


def test_no_candidate_is_taken_that_gains_no_more_than_what_is_asked_for():
    assert better_of(np.int32(0), 1.0, np.int32(-1), 1.0) == (-1, 1.0)
    assert better_of(np.int32(0), 0.5, np.int32(-1), 1.0) == (-1, 1.0)
