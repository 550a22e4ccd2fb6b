"""Better partitions from ones at hand: never worse, no cluster lost, what is wrong mended."""

import networkx as nx
import numpy as np
import pytest
from aims import AIMS, WITH_EDGES, connected_part, looped, random_labels
from cases import for_each, refuses
from reference import objectives as reference

import graphclust as gc

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
    graph = looped() if name == "uneven and looped" else connected_part(name)
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
