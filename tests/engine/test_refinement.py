"""Better partitions from ones at hand, by V-cycles and by Fiduccia-Mattheyses: never worse, no cluster lost."""

import dataclasses

import networkx as nx
import numpy as np
import pytest
from aims import (
    AIMS,
    ONE_OF_EACH,
    WITH_EDGES,
    assert_exact_sums,
    connected_part,
    random_labels,
    random_partition,
    run_and_objective,
)
from cases import for_each, refuses
from reference import objectives as reference

import graphclust as gc
from graphclust.compiled.graphs.levels import Task
from graphclust.engine.levels import value, with_sums
from graphclust.engine.settling import climb

CUT = {"objective": "normalized_cut"}


def test_a_cluster_that_is_two_is_split_and_two_that_are_one_are_joined():
    planted = gc.planted_partition(10, 300, 16, 4, rng=2209)
    labels = planted.labels.copy()
    labels[labels == 1] = 0
    labels[np.flatnonzero(labels == 2)[::2]] = 1
    best = gc.normalized_cut(planted.graph, planted.labels)
    assert (
        gc.normalized_cut(planted.graph, gc.move_nodes(planted.graph, labels, **CUT)) > 1.2 * best
    )  # moves alone do not get out
    refined = gc.refine_partition(planted.graph, labels, rng=0, **CUT)
    assert gc.normalized_cut(planted.graph, refined) < 1.001 * best
    assert gc.adjusted_rand_index(refined, planted.labels) > 0.99


@pytest.mark.parametrize(("objective", "resolution"), AIMS)
@for_each("name", [*WITH_EDGES, "uneven and looped"])
def test_refining_never_lowers_the_value_and_keeps_every_cluster(name, objective, resolution):
    graph = connected_part(name)
    A = graph.to_scipy().toarray()
    for k in {1, min(3, len(A))}:
        labels = random_labels(len(A), k, 7)
        refined = gc.refine_partition(graph, labels, objective=objective, resolution=resolution, rng=0)
        assert set(refined) == set(range(k))
        before, after = (reference.value(A, of, objective, resolution) for of in (labels, refined))
        assert after >= before - 1e-9 * max(1.0, abs(before))
        assert (labels == random_labels(len(A), k, 7)).all()


def test_what_cannot_be_refined_is_refused():
    graph = gc.as_graph(nx.path_graph(4))
    for labels in ([0, 0, 2, 2], [0, 0, 1, -1]):
        refuses(gc.ParameterError, "every node a cluster", gc.refine_partition, graph, np.array(labels))


def test_what_is_best_already_stays():
    graph, planted = gc.planted_partition(5, 60, 14, 1, rng=0)
    for objective in ("modularity", "normalized_cut"):
        assert (gc.refine_partition(graph, planted, objective=objective, rng=0) == planted).all()


def test_the_same_seed_refines_the_same():
    graph, labels = nx.gnp_random_graph(120, 0.08, seed=3), random_labels(120, 6, 0)
    one, again, other = (gc.refine_partition(graph, labels, rng=seed) for seed in (1, 1, 2))
    assert (one == again).all() and (one != other).any()


CUTS = ["normalized_cut", "ratio_cut"]


def stepped_border(width=14, height=8):
    """A grid, and two halves of it whose border has a step: each move along it gains nothing, all of them an edge."""
    grid = nx.grid_2d_graph(width, height)
    labels = np.array([int(x >= width // 2 + (y < height // 2) - (y >= height // 2)) for x, y in sorted(grid)])
    return gc.as_graph(nx.to_scipy_sparse_array(grid, nodelist=sorted(grid))), labels.astype(np.int32)


@pytest.mark.parametrize("name", CUTS)
def test_a_step_of_a_border_is_left_by_a_climb_alone(name):
    graph, labels = stepped_border()
    assert (gc.move_nodes(graph, labels, objective=name) == labels).all()
    run, objective = run_and_objective(graph, name, None, 2)
    task, given = Task(objective, 2), labels.copy()
    found = climb(run.finest, with_sums(run.finest, labels, 2, run), task, run)
    straight = np.repeat([0, 1], graph.n_nodes // 2)
    assert gc.normalized_cut(graph, found.labels) == pytest.approx(gc.normalized_cut(graph, straight))
    assert (climb(run.finest, found, task, run).labels == found.labels).all() and (labels == given).all()


@for_each(("name", "resolution"), ONE_OF_EACH)
@for_each("graph", ["karate", "grid", "weights of all sizes", "uneven and looped"])
def test_a_climb_never_lowers_the_value_and_keeps_every_cluster(graph, name, resolution):
    graph = connected_part(graph)
    for k in (1, 2, 5):
        run, objective = run_and_objective(graph, name, resolution, k)
        task = Task(objective, k)
        for seed in range(3):
            before = random_partition(run, k, seed)
            found = climb(run.finest, before, task, run)
            assert value(found, task) >= value(before, task)
            assert (found is before) == (name not in CUTS or k == 1)
            assert_exact_sums(found, run, 1e-3 * graph.total_volume)
            assert len(found.sums.size) == k and (found.sums.size > 0).all()


@for_each("seed", range(6))
def test_heavy_nodes_that_pass_through_light_clusters_leave_their_sums_right(seed):
    rng = np.random.default_rng(seed)
    upper = np.triu((rng.random((9, 9)) < 0.5) * 10.0 ** rng.uniform(-9.0, 9.0, (9, 9)), 1)
    upper[np.arange(8), np.arange(1, 9)] += 1e-9
    run, objective = run_and_objective(gc.as_graph(upper + upper.T), "normalized_cut", None, 3)
    task = Task(objective, 3)
    before = random_partition(run, 3, seed)
    found = climb(run.finest, before, task, run)
    exact = value(with_sums(run.finest, found.labels, 3, run), task)
    assert value(found, task) == pytest.approx(exact, rel=1e-12) and exact >= value(before, task)


def test_without_time_nothing_is_climbed():
    graph, labels = stepped_border()
    run, objective = run_and_objective(graph, "normalized_cut", None, 2)
    run = dataclasses.replace(run, progress=gc.Progress(time_budget=1e-9))
    found = with_sums(run.finest, labels, 2, run)
    assert climb(run.finest, found, Task(objective, 2), run) is found
