"""Small graphs: cycles, and each of their steps, in one compiled call give the same, by the same draws, as by loops."""

import networkx as nx
import numpy as np
import pytest
from aims import ONE_OF_EACH, on_and_objective
from graphs import make_graph

from graphclust.compiled.runtime import shuffling
from graphclust.compiled.runtime.read_only import read_only
from graphclust.generators import planted_partition
from graphclust.graph.gate import as_graph
from graphclust.objective.objective import chance_objective
from graphclust.partition import cycles, moves, small_graphs
from graphclust.partition.coarsening import joined
from graphclust.partition.cycles import Search, assigned, cycle
from graphclust.partition.merging import merged
from graphclust.partition.quotient import contracted
from graphclust.progress import Progress

pytestmark = pytest.mark.slow


def some_graph(name):
    if name == "planted":
        return planted_partition(9, 60, 9, 3, rng=4).graph
    if name == "hub":
        star = nx.disjoint_union(nx.star_graph(80), nx.connected_watts_strogatz_graph(150, 6, 0.1, seed=2))
        star.add_edge(0, 100)
        return as_graph(star)
    return make_graph(name)


GRAPHS = ("planted", "hub", "power-law blocks", "weights of all sizes", "karate")


@pytest.mark.parametrize(("name", "resolution"), ONE_OF_EACH)
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("begin", ["from nothing", "from chance", "settled", "small groups first", "from the nodes"])
def test_one_call_gives_what_level_by_level_gives(graph, begin, name, resolution, monkeypatch):
    graph, k = some_graph(graph), 4
    on, objective = on_and_objective(graph, name, resolution, k)
    chance = assigned(on, np.random.default_rng(1).permutation(np.arange(graph.n_nodes) % k).astype(np.int32), k)

    def made(most_entries):
        monkeypatch.setattr(small_graphs, "AT_ONCE", most_entries)
        progress, rng = Progress(), np.random.default_rng(3)
        progress.watch(graph)
        search = Search(k, objective, [2.0], 1.0, rng, progress)
        at = None if begin == "from the nodes" else 2.0
        found = None if begin in ("from nothing", "from the nodes") else chance
        if begin == "settled":
            found = cycles.moved(on, chance, search)
        finest = 30.0 if begin == "small groups first" else 0.0
        found = cycle(on, found, search, at, settled=begin == "settled", finest=finest)
        return found, sum(progress.entries_read.values()), rng.random()

    one, read, drawn = made(graph.n_entries)
    exact = assigned(on, one.labels, k).sums
    for ours, expected in zip(one.sums, exact, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)
    for most_entries in (graph.n_entries - 1, 0):  # the first level by itself, and each
        other, read_by_level, drawn_by_level = made(most_entries)
        assert (one.labels == other.labels).all() and one.labels.dtype == other.labels.dtype == np.int32
        for ours, expected in zip(one.sums, other.sums, strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-12)
        assert (read_by_level, drawn_by_level) == (read, drawn)


@pytest.mark.parametrize(("name", "resolution"), ONE_OF_EACH)
@pytest.mark.parametrize("graph", GRAPHS)
def test_each_step_in_one_call_gives_what_loops_over_blocks_give(graph, name, resolution, monkeypatch):
    """Nodes joined to regions, the quotient graph, unions and moves: of one graph, and of its quotient."""
    graph, k = some_graph(graph), 4
    on, objective = on_and_objective(graph, name, resolution, k)

    def made(most_entries):
        monkeypatch.setattr(small_graphs, "AT_ONCE", most_entries)
        progress, rng = Progress(), np.random.default_rng(3)
        progress.watch(graph)
        search = Search(k, objective, [], 1.0, rng, progress)
        found, level = [], on
        for at in (6.0, 2.0):
            n = level.graph.n_nodes
            parts = (np.arange(n) % 2).astype(np.int32)
            (one, _), (other, n_other) = (
                joined(level, at, parts, 2, rng, progress),
                joined(level, at, None, k, rng, progress),
            )
            gains, pairs = np.full(n, -np.inf), np.zeros((n, 2), np.int32)
            tree, _ = merged(level, 2, chance_objective(level), progress, gains, pairs)
            labels, sums = merged(level, k, objective, progress)
            moved = cycles.moved(level, cycles.Assigned(labels, sums), search)
            found += [one, other, tree, labels, pairs, gains, *sums, moved.labels, *moved.sums]
            level = contracted(level, other, n_other)
            found += [*level.terms, *level.graph.rows, level.graph.degrees, level.graph.loops]
        return found, sum(progress.entries_read.values()), rng.random()

    (at_once, *counts), (by_loops, *expected) = made(graph.n_entries), made(0)
    assert counts == expected
    for ours, theirs in zip(at_once, by_loops, strict=True):
        assert ours.dtype == theirs.dtype
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        else:
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("most_entries", [0, 1 << 19])
def test_nodes_are_joined_to_no_fewer_regions_than_are_wanted(most_entries, monkeypatch):
    """A second pass that would leave too few is taken back, and a first one says so; neither goes on to its end."""
    once, twice = 1.0, 0.5  # of the nodes more than half move in the first pass, and fewer in the second
    monkeypatch.setattr(small_graphs, "AT_ONCE", most_entries)
    graph = planted_partition(9, 60, 9, 3, rng=4).graph
    on, _ = on_and_objective(graph, "modularity", 1.0, 9)

    def made(enough, unsettled):
        monkeypatch.setattr("graphclust.partition.coarsening.UNSETTLED", unsettled)
        progress = Progress()
        progress.watch(graph)
        region, n_regions = joined(on, 1.0, None, enough, np.random.default_rng(2), progress)
        assert len(np.unique(region)) == n_regions == region.max() + 1
        return region, n_regions, sum(progress.entries_read.values())

    (first, n_first, one_pass), (both, n_both, two_passes) = made(1, once), made(1, twice)
    assert n_both < n_first and (one_pass, two_passes) == (graph.n_entries, 2 * graph.n_entries)
    for enough in (n_both, n_both + 1, n_first, n_first + 1):
        region, n_regions, read = made(enough, twice)
        if enough <= n_both:
            assert (region == both).all() and read == two_passes
        elif enough <= n_first:
            assert (region == first).all() and one_pass < read <= two_passes and (enough < n_first or read < two_passes)
        else:
            assert n_regions < enough and read < one_pass


def test_a_graph_of_many_entries_is_cycled_level_by_level(monkeypatch):
    """However many nodes it has: where those are cycled in one call they never move all at once."""
    graph = planted_partition(9, 60, 9, 3, rng=4).graph
    on, objective = on_and_objective(graph, "modularity", 1.0, 9)
    search = Search(9, objective, [], 1.0, np.random.default_rng(3), Progress())
    made = []
    monkeypatch.setattr(cycles, "cycle_in_one_call", lambda on, *rest: made.append(on.graph.n_nodes) or 1 / 0)
    monkeypatch.setattr(moves, "MANY_MOVES", 1)
    for most, expected in ((graph.n_entries - 1, []), (graph.n_entries, [graph.n_nodes])):
        made.clear()
        monkeypatch.setattr(small_graphs, "AT_ONCE", most)
        with pytest.raises(ZeroDivisionError):
            cycle(on, None, search, 1.0)
        assert [n for n in made if n == graph.n_nodes] == expected
        assert len(made) == 1  # and what it is coarsened to in one call


def test_nothing_is_written_to_what_is_handed_over():
    graph = planted_partition(9, 60, 9, 3, rng=4).graph
    on, objective = on_and_objective(graph, "normalized_cut", None, 9)
    start = assigned(on, (np.arange(graph.n_nodes) % 9).astype(np.int32), 9)
    before = [values.copy() for values in (start.labels, *start.sums)]
    cycle(on, start, Search(9, objective, [], 1.0, np.random.default_rng(0), Progress()), 2.0)
    for values, as_before in zip((start.labels, *start.sums), before, strict=True):
        np.testing.assert_array_equal(values, as_before)


@pytest.mark.parametrize("shuffle", [shuffling.shuffle, pytest.param(shuffling.shuffle_any, marks=pytest.mark.slow)])
@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_orders_and_draws_are_those_of_numpy(shuffle, bits):
    ours, expected = np.random.Generator(bits(5)), np.random.Generator(bits(5))
    for n in (0, 1, 2, 3, 1000):
        order = np.arange(n, dtype=np.int32)
        shuffle(order, ours if shuffle is shuffling.shuffle_any else shuffling.draws_of(ours))
        assert (order == expected.permutation(n)).all()
    assert ours.random() == expected.random()


def test_a_read_only_array_is_the_same_one():
    values = np.arange(3.0)
    assert read_only(values) is values
