"""Every objective against its definition: values, single moves, unions, bounds, and values on quotient graphs."""

import numpy as np
import pytest
import reference_objectives as reference
from aims import AIMS, looped, on_and_objective, random_labels
from graphs import make_graph

from graphclust import adjusted_rand_index, move_nodes, normalized_cut, planted_partition
from graphclust.compiled.graphs import objective as worth
from graphclust.compiled.graphs.objective import ClusterSums, value_of
from graphclust.graph.gate import as_graph
from graphclust.objective.objective import chance_objective, weighed
from graphclust.partition.moves import summed
from graphclust.partition.quotient import contracted

K = 5
GRAPHS = {"looped": looped, "karate": lambda: make_graph("karate"), "some loops": lambda: make_graph("some loops")}


def case(graph_name, name, resolution):
    """A graph with its dense matrix and labels, its terms, the objective and what the labels sum up to."""
    graph = GRAPHS[graph_name]()
    k = min(K, graph.n_nodes - 1)
    labels = random_labels(graph.n_nodes, k, 7)
    on, objective = on_and_objective(graph, name, resolution, k)
    stays, sums = summed(on, labels.astype(np.int32), k)
    return graph.to_scipy().toarray(), labels, on, objective, stays, sums


def nearly(value: float, scale: float):
    return pytest.approx(value, abs=1e-10 * max(scale, 1.0))


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_value_is_that_of_the_definition(graph, name, resolution):
    A, labels, _, objective, stays, sums = case(graph, name, resolution)
    expected = reference.value(A, labels, name, resolution)
    assert value_of(objective, sums) == nearly(expected, A.sum())
    assert sum(worth.score(objective, *of) for of in zip(sums.inside, sums.mass, strict=True)) == nearly(
        expected, A.sum()
    )
    without_loops = A - np.diag(np.diag(A))
    np.testing.assert_allclose(stays, (without_loops * (labels[:, None] == labels)).sum(axis=1), atol=1e-12)
    assert sums.size.tolist() == np.bincount(labels).tolist()
    empty = ClusterSums(*(np.append(of, 0.0) for of in sums))
    assert value_of(objective, empty) == value_of(objective, sums)  # a cluster of no mass is worth nothing


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_predicted_change_of_every_move_is_the_recomputed_one(graph, name, resolution):
    A, labels, on, objective, stays, sums = case(graph, name, resolution)
    before = reference.value(A, labels, name, resolution)
    n_tried = 0
    for u in range(len(A)):
        own, loop, mass = labels[u], on.terms.loops[u], on.terms.mass[u]
        if np.count_nonzero(labels == own) == 1:
            continue
        lost = worth.loss_of_leaving(objective, stays[u], loop, mass, sums.inside[own], sums.mass[own])
        alone = reference.value(A, reference.moved(labels, u, labels.max() + 1), name, resolution)
        by_itself = worth.score(objective, loop, mass)
        assert lost == nearly(before - alone + by_itself, A.sum())
        for c in range(labels.max() + 1):
            if c != own:
                link = A[u, labels == c].sum()
                won = worth.gain_of_joining(objective, link, loop, mass, sums.inside[c], sums.mass[c])
                after = reference.value(A, reference.moved(labels, u, c), name, resolution)
                assert won - lost == nearly(after - before, A.sum())
                n_tried += 1
    assert n_tried > len(A)


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_predicted_change_of_every_union_is_the_recomputed_one(graph, name, resolution):
    A, labels, on, objective, _, sums = case(graph, name, resolution)
    gains = reference.gains_of_unions(A, labels, name, resolution)
    for a in range(len(gains)):
        for b in range(len(gains)):
            if a != b:
                link = A[np.ix_(labels == a, labels == b)].sum()
                of = link, sums.inside[a], sums.mass[a], sums.inside[b], sums.mass[b]
                assert worth.gain_of_union(objective, *of) == nearly(gains[a, b], A.sum())
                by_chance = worth.gain_of_union(chance_objective(on), *of)
                assert by_chance == pytest.approx(link / (sums.mass[a] * sums.mass[b]), rel=1e-12)


@pytest.mark.parametrize("graph", GRAPHS)
def test_links_exceed_chance_at_the_resolution_below_which_their_union_pays(graph):
    """What the tree of unions is sorted by, over what chance gives, is a resolution: there a union changes nothing."""
    A, labels, _, _, _, _ = case(graph, "modularity", 1.0)
    for name in ("modularity", "constant_potts"):
        on = weighed(GRAPHS[graph](), name)
        sums = summed(on, labels.astype(np.int32), labels.max() + 1)[1]
        u, v = np.argwhere((A > 0) & (labels[:, None] != labels))[0]
        a, b = labels[u], labels[v]
        link = A[np.ix_(labels == a, labels == b)].sum()
        of = link, sums.inside[a], sums.mass[a], sums.inside[b], sums.mass[b]
        at = worth.gain_of_union(chance_objective(on), *of) / on.chance
        at *= 1.0 if name == "modularity" else on.chance
        for factor in (0.9, 1.0, 1.1):
            gain = reference.gains_of_unions(A, labels, name, factor * at)[a, b]
            assert np.sign(np.round(gain, 9)) == np.sign(1.0 - factor)


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_no_node_gains_more_by_joining_than_the_bound_says(graph, name, resolution):
    """Over all clusters, and for every weight that a node may have outside its own. Where a node brings less than
    nothing the bound of a ratio is negative, and then no cluster gains at all.
    """
    A, labels, on, objective, stays, sums = case(graph, name, resolution)
    worst = -min((sums.inside / sums.mass).min(), 0.0)
    tightest = np.inf
    for u in range(len(A)):
        loop, mass = on.terms.loops[u], on.terms.mass[u]
        most = worth.most_from_joining(objective, on.terms.degrees[u] - stays[u], loop, mass, sums.mass.min(), worst)
        for c in range(labels.max() + 1):
            if c != labels[u]:
                link = A[u, labels == c].sum()
                gain = worth.gain_of_joining(objective, link, loop, mass, sums.inside[c], sums.mass[c])
                assert gain <= (max(most, 0.0) if name == "ratio_cut" else most) + 1e-12
                tightest = min(tightest, most - gain)
    if graph == "looped":
        assert tightest < 4.0  # a bound that rules anything out


@pytest.mark.parametrize(("name", "resolution"), AIMS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_contracted_graph_gives_every_partition_its_value(graph, name, resolution):
    A, _, on, objective, _, _ = case(graph, name, resolution)
    rng = np.random.default_rng(2209)
    fine = random_labels(len(A), len(A) - 2, 3)
    coarse = random_labels(len(A) - 2, min(9, len(A) - 3), 4)
    once = contracted(on, fine.astype(np.int32), fine.max() + 1)
    twice = contracted(once, coarse.astype(np.int32), coarse.max() + 1)
    for on_small, to_small in ((once, fine), (twice, coarse[fine])):
        n = on_small.graph.n_nodes
        np.testing.assert_allclose(on_small.terms.mass.sum(), on.terms.mass.sum())
        np.testing.assert_allclose(on_small.terms.degrees, np.bincount(to_small, weights=A.sum(axis=1)))
        for k in (1, 2, 4):
            small = rng.permutation(np.arange(n) % min(k, n))
            sums = summed(on_small, small.astype(np.int32), small.max() + 1)[1]
            expected = reference.value(A, small[to_small], name, resolution)
            assert value_of(objective, sums) == nearly(expected, A.sum())
        assert on_small.chance == pytest.approx(on.chance)


def test_the_unit_of_an_objective_is_what_one_good_cluster_is_worth():
    """Of two cliques that nothing links each is worth the unit; under modularity both together."""
    clique = np.ones((6, 6)) - np.eye(6)
    graph = as_graph(np.kron(np.eye(2), clique))
    halves = np.repeat(np.array([0, 1], np.int32), 6)
    for name in ("normalized_cut", "modularity"):
        on, objective = on_and_objective(graph, name, None if name == "normalized_cut" else 1.0, 2)
        value = value_of(objective, summed(on, halves, 2)[1])
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
