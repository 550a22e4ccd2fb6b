"""Climbs: nodes move on where the value falls, and all are taken back to where it was highest."""

import os

import networkx as nx
import numpy as np
import pytest
import reference_objectives as reference
from aims import AIMS, ONE_OF_EACH, WITH_EDGES, connected_part, looped, on_and_objective, random_labels

from graphclust import coreset_sc, move_nodes, normalized_cut, planted_partition
from graphclust.compiled.graphs.climbing import Patience, climb
from graphclust.compiled.graphs.objective import (
    LEAST_GAIN,
    ClusterSums,
    gain_of_joining,
    gain_of_link,
    loss_of_leaving,
)
from graphclust.graph.gate import as_graph
from graphclust.objective.objective import weighed
from graphclust.partition import cycles, small_graphs
from graphclust.partition.budget import Budget
from graphclust.partition.cycles import Search, assigned, climbed, moved
from graphclust.partition.moves import best_moves, summed
from graphclust.progress import Progress

pytestmark = pytest.mark.slow


GRAPHS = [*WITH_EDGES, "uneven and looped"]
ENDLESS = 1e9


def some_graph(name):
    return looped() if name == "uneven and looped" else connected_part(name)


def climbed_from(on, objective, labels, k, share, least=0.0):
    """Labels and sums after a climb, what it says was gained, and the entries read."""
    labels = labels.astype(np.int32)
    _, sums = summed(on, labels, k)
    return labels, sums, *climb(Patience(share, least), on.graph.rows, on.terms, objective, labels, sums)


def climbed_slowly(A, on, objective, labels, k, patience):
    """The same, node by node, by a dense matrix.

    What each would gain is known as of when it was last looked at, with what edges to nodes that moved since would add
    alone; who comes next by that is looked at again, and moves unless another seems better then.
    """
    A, labels, n_links = A.copy(), labels.copy(), np.diff(on.graph.indptr)
    np.fill_diagonal(A, 0.0)
    loops, mass = on.terms.loops, on.terms.mass

    def sums():
        inside = [A[np.ix_(labels == c, labels == c)].sum() + loops[labels == c].sum() for c in range(k)]
        return inside, [mass[labels == c].sum() for c in range(k)]

    def look(u):
        inside, masses = sums()
        own = labels[u]
        others = [c for c in np.unique(labels[A[u] > 0]) if c != own]
        if not others or np.count_nonzero(labels == own) == 1:
            return -1, -np.inf
        link = [A[u][labels == c].sum() for c in range(k)]
        loss = loss_of_leaving(objective, link[own], loops[u], mass[u], inside[own], masses[own])
        gains = [gain_of_joining(objective, link[c], loops[u], mass[u], inside[c], masses[c]) - loss for c in others]
        return others[int(np.argmax(gains))], max(gains)

    seems = {u: look(u)[1] for u in range(len(A))}
    value, highest, kept, in_vain = 0.0, 0.0, labels.copy(), 0
    while max(seems.values(), default=-np.inf) > -np.inf and in_vain <= patience * on.graph.n_entries:
        u = min(seems, key=lambda u: (-seems[u], u))
        to, seems[u] = look(u)
        in_vain += n_links[u]
        if to < 0 or any(gain > seems[u] for v, gain in seems.items() if v != u):
            continue
        value += seems.pop(u)
        own, labels[u] = labels[u], to
        if value > highest + LEAST_GAIN * objective.unit:
            highest, kept, in_vain = value, labels.copy(), 0
        in_vain += n_links[u]
        masses = sums()[1]
        for v in on.graph.neighbors(u):
            if v in seems and v != u and labels[v] != to:
                if seems[v] == -np.inf:
                    seems[v] = look(v)[1]
                    in_vain += n_links[v]
                    continue
                seems[v] += gain_of_link(objective, A[u, v], masses[to])
                if labels[v] == own:
                    seems[v] += gain_of_link(objective, A[u, v], masses[own])
    return kept, highest


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_climb_gains_what_it_says_and_its_sums_are_those_of_the_labels(graph, name, resolution):
    graph = some_graph(graph)
    A = graph.to_scipy().toarray()
    for k in {min(2, graph.n_nodes), min(5, graph.n_nodes)}:
        on, objective = on_and_objective(graph, name, resolution, k)
        for seed in range(3):
            before = random_labels(graph.n_nodes, k, seed)
            after, sums, gained, read = climbed_from(on, objective, before, k, (0.1, 0.5, ENDLESS)[seed])
            values = [reference.value(A, labels, name, resolution) for labels in (before, after)]
            scale = max(1.0, *map(abs, values))
            assert gained >= 0.0 and values[1] - values[0] == pytest.approx(gained, abs=1e-9 * scale)
            assert read >= graph.n_entries
            _, expected = summed(on, after, k)
            assert (sums.size == expected.size).all() and (sums.size > 0).all()
            np.testing.assert_allclose(sums.inside, expected.inside, atol=1e-9 * max(1.0, expected.inside.max()))
            np.testing.assert_allclose(sums.mass, expected.mass, rtol=1e-9, atol=1e-15 * expected.mass.sum())


@pytest.mark.parametrize("name", ["normalized_cut", "ratio_cut", "modularity"])
@pytest.mark.parametrize("graph", ["karate", "grid", "star", "weights of all sizes", "uneven and looped"])
def test_who_moves_next_and_how_far_it_goes(graph, name):
    graph = some_graph(graph)
    A = graph.to_scipy().toarray()
    resolution = 1.0 if name == "modularity" else None
    for k in (2, 4):
        on, objective = on_and_objective(graph, name, resolution, k)
        for seed, patience in ((1, 0.0), (2, 0.2), (3, ENDLESS)):
            before = random_labels(graph.n_nodes, k, seed)
            labels, _, gained, _ = climbed_from(on, objective, before, k, patience)
            expected, highest = climbed_slowly(A, on, objective, before, k, patience)
            np.testing.assert_array_equal(labels, expected)
            assert gained == pytest.approx(highest, abs=1e-9 * objective.unit)


def stepped_border(width=14, height=8):
    """A grid, and two halves of it whose border has a step: each move along it gains nothing, all of them an edge."""
    grid = nx.grid_2d_graph(width, height)
    labels = np.array([int(x >= width // 2 + (y < height // 2) - (y >= height // 2)) for x, y in sorted(grid)])
    return as_graph(nx.to_scipy_sparse_array(grid, nodelist=sorted(grid))), labels


def test_a_step_of_the_border_is_left_by_a_climb_alone():
    graph, labels = stepped_border()
    assert (move_nodes(graph, labels, objective="normalized_cut") == labels).all()
    on, objective = on_and_objective(graph, "normalized_cut", None, 2)
    straight = np.repeat([0, 1], graph.n_nodes // 2)
    after, _, gained, _ = climbed_from(on, objective, labels, 2, 0.5)
    assert gained > 0.0
    assert normalized_cut(graph, after) == pytest.approx(normalized_cut(graph, straight))
    again, _, gained, _ = climbed_from(on, objective, after, 2, ENDLESS)
    assert gained == 0.0 and (again == after).all()


def test_patience_is_for_what_is_read_in_vain():
    graph, _ = planted_partition(4, 100, 10, 3, rng=1)
    on, objective = on_and_objective(graph, "normalized_cut", None, 4)
    best = climbed_from(on, objective, np.repeat(np.arange(4), 100), 4, ENDLESS)[0]
    longest_row = np.diff(graph.indptr).max() / graph.n_entries
    for share, least in ((0.0, 0.0), (0.2, 0.0), (0.6, 0.0), (0.2, 0.1), (0.2, 0.4)):
        read = climbed_from(on, objective, best, 4, share, least * graph.n_entries)[3] / graph.n_entries - 1.0
        assert max(share, least) < read < max(share, least) + 20 * longest_row


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
def test_whole_branches_of_a_tree_move(monkeypatch):
    """Its regions are few, and each by itself only makes the cut larger: more is read in vain than a share of them."""
    graph, cuts = as_graph(nx.balanced_tree(2, 9)), []
    for anyway in (cycles.ANYWAY, 0):
        monkeypatch.setattr(cycles, "ANYWAY", anyway)
        cuts.append([coreset_sc(graph, 5, objective="normalized_cut", rng=seed).normalized_cut for seed in range(6)])
    farther, less_far = cuts
    assert np.mean(farther) < np.mean(less_far) and max(farther) <= 0.019


def search_for(on, k, name, effort=1.0, **options):
    objective = on_and_objective(on.graph, name, 1.0 if name == "modularity" else None, k)[1]
    return Search(k, objective, [4.0, 8.0], effort, np.random.default_rng(0), Progress(**options))


@pytest.mark.parametrize(("name", "resolution"), ONE_OF_EACH)
def test_cuts_are_climbed_unless_a_single_start_or_no_time_is_left(name, resolution):
    graph, labels = stepped_border()
    on = weighed(graph, name)
    found = assigned(on, labels.astype(np.int32), 2)
    is_cut = name in ("normalized_cut", "ratio_cut")
    after = climbed(on, found, search_for(on, 2, name))
    assert (after.labels != labels).any() == is_cut and (found.labels == labels).all()
    assert climbed(on, found, search_for(on, 2, name, effort=0.0)) is found
    hurried = search_for(on, 2, name, time_budget=1e-9)
    assert climbed(on, found, hurried) is found


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_better_than_before_is_climbed_from(at_once, monkeypatch):
    """The best start in any case, of cycles what gained by them; one alone or of several, on the graph itself."""
    graph, labels = stepped_border()
    on = weighed(graph, "normalized_cut")
    monkeypatch.setattr(small_graphs, "AT_ONCE", graph.n_entries if at_once else 0)
    climbs = []
    monkeypatch.setattr(cycles, "climbed", lambda *of: climbs.append(of[0]) or climbed(*of))
    stepped = assigned(on, labels.astype(np.int32), 2)
    halves = assigned(on, (np.arange(graph.n_nodes) % 2).astype(np.int32), 2)
    for n_tries in (1, 2):
        for before, is_climbed in ((None, True), (halves, True), (stepped, False)):
            search = search_for(on, 2, "normalized_cut")
            climbs.clear()
            found = cycles.best_of([lambda: stepped] * n_tries, on, search, before)
            assert any(climbed_on is on for climbed_on in climbs) == is_climbed
            assert found is before if not is_climbed else search.value(found) > search.value(stepped)
    search = search_for(on, 2, "modularity")
    assert cycles.best_of([lambda: stepped] * 2, on, search) is stepped


def test_nodes_move_again_where_a_climb_gained_or_several_were_combined(monkeypatch):
    """What a start or a cycle ends with is settled."""
    graph, labels = stepped_border()
    on = weighed(graph, "normalized_cut")
    search = search_for(on, 2, "normalized_cut")
    stepped = assigned(on, labels.astype(np.int32), 2)
    halves = assigned(on, (np.arange(graph.n_nodes) % 2).astype(np.int32), 2)
    best = climbed(on, moved(on, climbed(on, stepped, search), search), search)
    assert climbed(on, best, search) is best
    moves = []
    monkeypatch.setattr(cycles, "moved", lambda *of: moves.append(of[0]) or moved(*of))
    assert cycles.best_of([lambda: best] * 2, on, search) is best and not any(of is on for of in moves)
    cycles.best_of([lambda: stepped], on, search)
    assert any(of is on for of in moves)
    monkeypatch.setattr(cycles, "climbed", lambda on, found, search: found)
    monkeypatch.setattr(cycles, "together", lambda *of: halves)
    combined = cycles.best_of([lambda: best, lambda: halves], on, search)
    assert (combined.labels == moved(on, halves, search).labels).all() and (combined.labels != halves.labels).any()


def test_sums_given_are_left_as_they_are():
    graph, labels = stepped_border()
    on = weighed(graph, "normalized_cut")
    found = assigned(on, labels.astype(np.int32), 2)
    before = ClusterSums(*(values.copy() for values in found.sums))
    climbed(on, found, search_for(on, 2, "normalized_cut"))
    for values, others in zip(found.sums, before, strict=True):
        assert (values == others).all()


@pytest.mark.parametrize("k", [2, 9])
def test_nodes_settle_after_a_climb(k, monkeypatch):
    """A climb ends where the value was highest, where nodes that have moved may gain by another move."""
    graph = planted_partition(9, 60, 9, 3, rng=1).graph
    on, objective = on_and_objective(graph, "normalized_cut", None, k)

    def unsettled(on, found, search):
        labels = found.labels.copy()
        labels[::9] = (labels[::9] + 1) % k
        return assigned(on, labels, k)

    monkeypatch.setattr(cycles, "climbed", unsettled)
    found = assigned(on, random_labels(graph.n_nodes, k, 0).astype(np.int32), k)
    search = search_for(on, k, "normalized_cut")._replace(budget=Budget(4 * graph.n_entries))
    settled = cycles.in_cycles(on, found, search).labels
    target, _ = best_moves(on, settled, objective, *summed(on, settled, k))
    assert (target < 0).mean() > 0.99
