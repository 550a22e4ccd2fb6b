"""Every objective against its definition: values, single moves, unions, bounds, and values on quotient graphs."""

import numpy as np
import pytest
from aims import AIMS, looped, random_labels, run_and_objective
from cases import for_each
from graphs import make_graph
from reference import objectives as reference

from graphclust import adjusted_rand_index, move_nodes, normalized_cut, planted_partition
from graphclust.compiled.graphs import objective as worth
from graphclust.compiled.graphs.objective import ClusterSums, value_of
from graphclust.engine.levels import run_on, stays_and_sums, with_sums
from graphclust.io.graph_input import as_graph
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, OBJECTIVES, chance_objective, weigh

K = 5
GRAPHS = {"looped": looped, "karate": lambda: make_graph("karate"), "some loops": lambda: make_graph("some loops")}


def case(graph_name, name, resolution):
    """A graph with its dense matrix and labels, its terms, the objective and what the labels sum up to."""
    graph = GRAPHS[graph_name]()
    k = min(K, graph.n_nodes - 1)
    labels = random_labels(graph.n_nodes, k, 7)
    run, objective = run_and_objective(graph, name, resolution, k)
    stays, sums = stays_and_sums(run.finest, labels.astype(np.int32), k)
    return graph.to_scipy().toarray(), labels, run, objective, stays, sums


def nearly(value: float, scale: float):
    return pytest.approx(value, abs=1e-10 * max(scale, 1.0))


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@for_each("graph", GRAPHS)
def test_the_value_is_that_of_the_definition(graph, name, resolution):
    A, labels, _, objective, stays, sums = case(graph, name, resolution)
    expected = reference.value(A, labels, name, resolution)
    assert value_of(objective, sums) == nearly(expected, A.sum())
    assert sum(worth.score(objective, *of, ()) for of in zip(sums.inside, sums.mass, strict=True)) == nearly(
        expected, A.sum()
    )
    without_loops = A - np.diag(np.diag(A))
    np.testing.assert_allclose(stays, (without_loops * (labels[:, None] == labels)).sum(axis=1), atol=1e-12)
    assert sums.size.tolist() == np.bincount(labels).tolist()
    empty = ClusterSums(*(np.append(of, 0.0) for of in sums))
    assert value_of(objective, empty) == value_of(objective, sums)  # a cluster of no mass is worth nothing


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@for_each("graph", GRAPHS)
def test_the_predicted_change_of_every_move_is_the_recomputed_one(graph, name, resolution):
    A, labels, run, objective, stays, sums = case(graph, name, resolution)
    before = reference.value(A, labels, name, resolution)
    n_tried = 0
    for u in range(len(A)):
        own, loop, mass = labels[u], run.finest.terms.loops[u], run.finest.terms.mass[u]
        if np.count_nonzero(labels == own) == 1:
            continue
        lost = worth.loss_of_leaving(objective, stays[u], loop, mass, sums.inside[own], sums.mass[own], ())
        alone = reference.value(A, reference.moved(labels, u, labels.max() + 1), name, resolution)
        by_itself = worth.score(objective, loop, mass, ())
        assert lost == nearly(before - alone + by_itself, A.sum())
        for c in range(labels.max() + 1):
            if c != own:
                link = A[u, labels == c].sum()
                won = worth.gain_of_joining(objective, link, loop, mass, sums.inside[c], sums.mass[c], ())
                after = reference.value(A, reference.moved(labels, u, c), name, resolution)
                assert won - lost == nearly(after - before, A.sum())
                n_tried += 1
    assert n_tried > len(A)


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@for_each("graph", GRAPHS)
def test_the_predicted_change_of_every_union_is_the_recomputed_one(graph, name, resolution):
    A, labels, run, objective, _, sums = case(graph, name, resolution)
    gains = reference.gains_of_unions(A, labels, name, resolution)
    for a in range(len(gains)):
        for b in range(len(gains)):
            if a != b:
                link = A[np.ix_(labels == a, labels == b)].sum()
                of = link, sums.inside[a], sums.mass[a], sums.inside[b], sums.mass[b]
                assert worth.gain_of_union(objective, *of, ()) == nearly(gains[a, b], A.sum())
                by_chance = worth.gain_of_union(chance_objective(run.totals), *of, ())
                assert by_chance == pytest.approx(link / (sums.mass[a] * sums.mass[b]), rel=1e-12)


@pytest.mark.parametrize("graph", GRAPHS)
def test_links_exceed_chance_at_the_resolution_below_which_their_union_pays(graph):
    """What the tree of unions is sorted by, over what chance gives, is a resolution: there a union changes nothing."""
    A, labels, _, _, _, _ = case(graph, "modularity", 1.0)
    for name in ADDITIVE_OBJECTIVES:
        run = run_on(weigh(GRAPHS[graph](), name))
        sums = with_sums(run.finest, labels.astype(np.int32), labels.max() + 1, run).sums
        u, v = np.argwhere((A > 0) & (labels[:, None] != labels))[0]
        a, b = labels[u], labels[v]
        link = A[np.ix_(labels == a, labels == b)].sum()
        of = link, sums.inside[a], sums.mass[a], sums.inside[b], sums.mass[b]
        at = worth.gain_of_union(chance_objective(run.totals), *of, ()) / run.totals.chance
        at *= OBJECTIVES[name].unit_of_resolution(run.totals)
        for factor in (0.9, 1.0, 1.1):
            gain = reference.gains_of_unions(A, labels, name, factor * at)[a, b]
            assert np.sign(np.round(gain, 9)) == np.sign(1.0 - factor)


def test_the_unit_of_an_objective_is_what_one_good_cluster_is_worth():
    """Of two cliques that nothing links each is worth the unit; under modularity both together."""
    clique = np.ones((6, 6)) - np.eye(6)
    graph = as_graph(np.kron(np.eye(2), clique))
    halves = np.repeat(np.array([0, 1], np.int32), 6)
    for name in ("normalized_cut", "modularity"):
        run, objective = run_and_objective(graph, name, None if name == "normalized_cut" else 1.0, 2)
        value = value_of(objective, with_sums(run.finest, halves, 2, run).sums)
        assert value == pytest.approx(objective.unit * (2 if name == "normalized_cut" else 1))


def test_by_the_cut_a_node_can_belong_where_it_has_fewer_links():
    """A node with few links to any cluster makes each of them worse, and the largest least: more links to a small one
    do not outweigh that. A search that ends before such nodes move is nearer to planted labels than the smallest cut.
    """
    sizes, links = (6, 60, 10, 10, 10), (2, 1, 1, 1, 1)
    cliques = np.repeat(np.arange(5), sizes)
    A = np.zeros((97, 97))
    A[:96, :96] = (cliques[:, None] == cliques) & ~np.eye(96, dtype=bool)
    for first, n_links in zip(np.searchsorted(cliques, np.arange(5)), links, strict=True):
        A[96, first : first + n_links] = A[first : first + n_links, 96] = 1.0
    graph = as_graph(A)
    labels = [np.append(cliques, c) for c in range(5)]
    cuts = [5.0 - reference.value(A, of, "normalized_cut", None) for of in labels]
    assert [normalized_cut(graph, of) for of in labels] == pytest.approx(cuts)
    assert np.argmin(cuts) == 1 and links[1] < links[0]
    assert all(move_nodes(graph, of, objective="normalized_cut")[96] == 1 for of in labels)


def test_the_smallest_cut_is_not_that_of_planted_labels():
    """Though they are better clusters: from them nodes move on, which makes the cut smaller and the agreement less."""
    for seed in range(3):
        graph, planted = planted_partition(30, 200, 10, 2, size_ratio=0.9, degree_exponent=2.5, rng=seed)
        nodes = np.flatnonzero(~graph.isolated)
        graph, planted = graph.subgraph(nodes), planted[nodes]
        moved = move_nodes(graph, planted, objective="normalized_cut")
        assert normalized_cut(graph, moved) < 0.995 * normalized_cut(graph, planted)
        assert 0.9 < adjusted_rand_index(planted, moved) < 0.98
