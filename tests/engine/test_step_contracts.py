"""What each step promises by itself: a later step would mend what an earlier one breaks, and hide it."""

from dataclasses import replace
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

from graphclust.compiled.graphs import choosing
from graphclust.compiled.graphs import local_moving as loops
from graphclust.compiled.graphs.balance import balance
from graphclust.compiled.graphs.levels import Task, limits_of
from graphclust.compiled.graphs.objective import ADDITIVE, Objective
from graphclust.engine import bisection, engine, settling, v_cycle
from graphclust.engine.connectivity import connect_once
from graphclust.engine.contraction import contract
from graphclust.engine.levels import Run, Shares, Thoroughness, run_on, value, with_sizes_as_masses, with_sums
from graphclust.engine.settling import best_of
from graphclust.generators import planted_partition
from graphclust.io.graph_input import as_graph
from graphclust.objective.objective import ratio_objective, weigh

LINKS = Objective(ADDITIVE, 0.0, 1.0)  # the weight inside clusters, which every move to more links raises


HALVES = np.repeat([0, 1], 5).astype(np.int32)


def sized(G: object, size: object = None) -> Run:
    """A run over a graph whose nodes have sizes, ones by default."""
    graph = as_graph(G)
    size = np.ones(graph.n_nodes) if size is None else np.asarray(size, np.float64)
    return run_on(weigh(graph, "constant_potts"), size=size)


@pytest.mark.slow  # loops for nodes with sizes take half a minute to compile
@pytest.mark.parametrize(("least", "leaves"), [(3.0, 0), (2.0, 1), (1.0, 2), (4.0, 3), (0.0, 3)])
def test_a_cluster_gives_nodes_away_down_to_its_minimum_and_no_further(least, leaves):
    """Nodes 0 to 2 have all their links in the other cluster; one below its minimum already may lose all but one."""
    run = sized(nx.complete_bipartite_graph(3, 4))
    labels = np.array([0, 0, 0, 1, 1, 1, 1], np.int32)
    found = with_sums(run.finest, labels.copy(), 2, run)
    limits = limits_of(run.finest.terms.size, found.labels, 2, least, np.inf)
    now = loops.State(found.labels, found.sums, loops.Rules(1, False, limits))
    chosen = choosing.choose_alone(run.finest, LINKS, now, np.arange(3, dtype=np.int32))
    assert chosen.tolist() == ([-1] * 3 if leaves == 0 else [1] * 3)
    if leaves < 3:
        made = loops.refine(run.finest, found, Task(LINKS, 2, least))[0]
        assert np.bincount(made.labels, minlength=2).min() >= min(least, 3 - leaves)


@pytest.mark.slow
def test_moves_chosen_side_by_side_stop_at_the_minimum():
    """Three nodes choose to leave while each may; only the first may still when the moves are made."""
    run = sized(nx.complete_bipartite_graph(3, 4))
    found = with_sums(run.finest, np.array([0, 0, 0, 1, 1, 1, 1], np.int32), 2, run)
    limits = limits_of(run.finest.terms.size, found.labels, 2, 2.0, np.inf)
    now, moving = loops.State(found.labels, found.sums, loops.Rules(1, False, limits)), loops.moving_of(found.sums, 7)
    moving.waits[3:] = loops.IDLE
    this = loops.next_round(moving.waits, run.finest.rows.indptr, 0)
    choices, scratch = loops.room_for_choices(this), loops.scratch_for(2)
    loops.play_batches(run.finest, LINKS, now, this, choices, moving, scratch)
    assert len(this.starts) == 2 and found.labels.tolist() == [1, 0, 0, 1, 1, 1, 1]
    assert limits.load.tolist() == [2.0, 5.0] and moving.counts[loops.N_MOVED] == 1


@pytest.mark.parametrize("heavy", [0, 2])
def test_the_heaviest_part_of_a_cluster_stays(heavy):
    """Cluster 0 is the two ends of a path, cluster 1 its middle; the lighter end joins the middle."""
    path = nx.path_graph(9)
    ends = [range(2), range(2, 7), range(7, 9)]
    path.add_edges_from((leaf, ends[heavy][0]) for leaf in (9, 10, 11))
    run = run_on(weigh(as_graph(path), "constant_potts"))
    labels = np.array([0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], np.int32)
    task = Task(Objective(ADDITIVE, 0.1, 1.0), 2)
    found = connect_once(run.finest, with_sums(run.finest, labels, 2, run), task, run)
    lighter = list(ends[2 - heavy])
    assert found.labels[lighter].tolist() == [1, 1]
    assert found.labels[[*ends[heavy], 9, 10, 11]].tolist() == [0] * 5


def test_of_several_partitions_one_within_the_bound_is_taken_before_one_of_less_cut():
    run = sized(nx.barbell_graph(5, 0))
    uneven = with_sums(run.finest, np.array([0] * 9 + [1], np.int32), 2, run)
    halves = with_sums(run.finest, HALVES, 2, run)
    crossed = with_sums(run.finest, np.tile([0, 1], 5).astype(np.int32), 2, run)
    whole = with_sums(run.finest, np.array([0] * 10, np.int32), 2, run)
    task = Task(LINKS, 2, 0.0, 5.0)
    assert value(uneven, task) > value(crossed, task) and value(whole, task) > value(halves, task)
    for pool, best in (([uneven, crossed], crossed), ([whole, crossed, uneven, halves], halves), ([uneven], uneven)):
        for order in (pool, pool[::-1]):
            assert best_of(run.finest, order, task, run) is best
    unequal = replace(run, shares=Shares(np.array([10.0, 5.0]), np.zeros(2), np.array([10.0, 5.0])))
    assert best_of(run.finest, [crossed, uneven], task, unequal) is uneven


@pytest.mark.slow
def test_a_large_graph_is_coarsened_to_regions_within_the_upper_bound(monkeypatch):
    monkeypatch.setattr(v_cycle, "BUDGET", 1000)
    run = sized(planted_partition(20, 30, 20, 1, rng=0).graph)
    penalty = 0.05
    for most, fits in ((7.0, True), (np.inf, False)):
        steps = v_cycle.coarsen(run.finest, penalty, Task(LINKS, 0, 0.0, most), run)
        heaviest = max(float(step.coarse.terms.size.max()) for step in steps)
        assert (heaviest <= 7.0) == fits


@pytest.mark.slow
def test_balancing_takes_both_bounds_to_the_node():
    """At equality a cluster is within its bound, so nothing moves; one node beyond it, one node does."""
    run = sized(nx.path_graph(12))
    for first, least, most in ((6, 6.0, 6.0), (7, 5.0, 7.0), (5, 5.0, 7.0)):
        found = with_sums(run.finest, (np.arange(12) >= first).astype(np.int32), 2, run)
        balanced, within = balance(run.finest, found, Task(LINKS, 2, least, most), np.zeros(2))
        assert within and (balanced.labels == found.labels).all()
    found = with_sums(run.finest, (np.arange(12) >= 7).astype(np.int32), 2, run)
    (labels, _), within = balance(run.finest, found, Task(LINKS, 2, 6.0, 6.0), np.zeros(2))
    assert within and np.bincount(labels).tolist() == [6, 6] and np.count_nonzero(np.diff(labels)) == 1


@pytest.mark.parametrize("most", [0, 1 << 20])
def test_a_search_improves_its_best_once_unless_two_tries_agree(most, monkeypatch):
    """On the level of a small graph, before the way back of a large one."""
    run, improved = sized(nx.barbell_graph(5, 0)), []
    monkeypatch.setattr(engine, "improve_while_worth", lambda *given: improved.append(given[1]) or given[1])
    monkeypatch.setattr(engine, "recombine", lambda level, pool, schedule, run: pool[0])
    schedule, cycles = SimpleNamespace(task=Task(LINKS, 2)), engine.Cycles(2, 1, 0, most)
    halves, crossed = (with_sums(run.finest, labels, 2, run) for labels in (HALVES, np.tile(HALVES[::5], 5)))
    for pool, n_times in (([halves, crossed], 1), ([halves, halves], 0)):
        improved.clear()
        found, _ = engine.search(run.finest, [], pool, [], schedule, cycles, 0, run)
        assert (found, improved) == (halves, [halves] * n_times)


@pytest.mark.slow
def test_parts_are_bisected_on_the_first_level_that_has_nodes_enough_for_twice_as_many(monkeypatch):
    run = with_sizes_as_masses(sized(nx.path_graph(64)), np.ones(64))
    run, seen = replace(run, thoroughness=Thoroughness(nodes_per_part=16)), []
    pairs = contract(run.finest, with_sums(run.finest, (np.arange(64) // 2).astype(np.int32), 32, run), run)
    regions, cut = bisection.small_regions, bisection._bisect

    def bisect(level, parts, *others):
        seen.append((len(level.terms.mass), len(parts.counts)))
        assert len(seen) < 4
        return cut(level, parts, *others)

    monkeypatch.setattr(
        bisection,
        "small_regions",
        lambda level, within, *rest: [pairs] if within is None else regions(level, within, *rest),
    )
    monkeypatch.setattr(bisection, "_bisect", bisect)
    found = bisection.new_parts(run.finest, Task(Objective(ADDITIVE, 0.0, 1.0), 3, 20.0, 23.0), run)
    assert seen == [(32, 1), (64, 2)] and sorted(np.bincount(found.labels).tolist()) == [21, 21, 22]


@pytest.mark.slow
def test_searches_count_what_they_read_of_the_users_graph():
    run = run_on(weigh(as_graph(nx.grid_2d_graph(6, 6)), "normalized_cut"))
    run.progress.watch(run.graph)
    found = with_sums(run.finest, np.tile([0, 1], 18).astype(np.int32), 2, run)
    before = sum(run.progress.entries_read.values())
    settling.climb(run.finest, found, Task(ratio_objective(run.totals), 2), run)
    assert sum(run.progress.entries_read.values()) - before == 2 * run.graph.n_entries  # the searches, and the new sums
