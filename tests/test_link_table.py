"""A table of links: what the rows add up to, exactly, however many nodes have moved; and it changes no move."""

import numpy as np
import pytest
from aims import ONE_OF_EACH, connected_part, looped, on_and_objective, random_labels

from graphclust.compiled.graphs.climbing import Patience, climb
from graphclust.compiled.graphs.link_table import EXACT, note_move, table_of, table_pays
from graphclust.compiled.graphs.moves import Scratch, change_cluster, look_at
from graphclust.compiled.graphs.small_levels import Assigned, move_at_once
from graphclust.graph.container import Graph
from graphclust.graph.gate import as_graph
from graphclust.objective.objective import weighed
from graphclust.partition.moves import summed
from graphclust.partition.small_graphs import level_of, room_for

GRAPHS = ["karate", "block model", "power-law blocks", "looped block model", "counted and looped"]
K = 4


def some_graph(name: str) -> Graph:
    if name != "counted and looped":
        return connected_part(name)
    return as_graph(np.ceil(looped().to_scipy().toarray()))


def halved(graph: Graph) -> Graph:
    """The same graph with half the weights: not one number is rounded otherwise, but they are no longer whole."""
    return as_graph(graph.to_scipy() * 0.5)


def scratch_of(k: int) -> Scratch:
    return Scratch(np.zeros(k), np.empty(k + 1, np.int32))


def links_of(graph: Graph, labels: np.ndarray, k: int) -> np.ndarray:
    """By the definition: the weight of each node to the others of each cluster."""
    A = graph.to_scipy().toarray()
    np.fill_diagonal(A, 0.0)
    return A @ np.eye(k)[labels]


@pytest.mark.parametrize("name", GRAPHS)
def test_the_table_stays_what_the_rows_add_up_to(name):
    graph = some_graph(name)
    on, n = weighed(graph, "normalized_cut"), graph.n_nodes
    labels = random_labels(n, K, 1).astype(np.int32)
    _, sums = summed(on, labels, K)
    table, rng = table_of(graph.rows, labels, K), np.random.default_rng(2)
    for _ in range(300):
        assert (table.links == links_of(graph, labels, K)).all()
        u, to = rng.integers(n), rng.integers(K)
        if to == (own := labels[u]):
            continue
        change_cluster(u, to, table.links[u, own], table.links[u, to], on.terms, labels, sums)
        note_move(u, own, to, graph.rows, table)
    for ours, expected in zip(sums, summed(on, labels, K)[1], strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12)


@pytest.mark.parametrize(("objective", "resolution"), ONE_OF_EACH)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_look_in_the_table_shows_what_a_look_at_the_row_shows(name, objective, resolution):
    graph = some_graph(name)
    on, objective = on_and_objective(graph, objective, resolution, K)
    labels = random_labels(graph.n_nodes, K, 3).astype(np.int32)
    labels[labels == K - 1], labels[0] = 0, K - 1  # one cluster of a single node
    _, sums = summed(on, labels, K)
    scratch, table = scratch_of(K), table_of(graph.rows, labels, K)
    looks = []
    for u in range(graph.n_nodes):
        arguments = u, graph.rows, on.terms, objective, labels, sums, scratch
        looks.append(look_at(*arguments, table))
        best, gain, *links = look_at(*arguments, None)
        assert (looks[u].best, looks[u].gain) == (best, gain)
        np.testing.assert_allclose([looks[u].stays, looks[u].shared], links, rtol=0.0, atol=1e-300)
        assert not scratch.link.any()
    assert looks[0].best == -1 and len({look.best for look in looks}) > 2


@pytest.mark.parametrize(("objective", "resolution"), ONE_OF_EACH)
@pytest.mark.parametrize("name", GRAPHS)
def test_nodes_move_and_climb_the_same_without_a_table(name, objective, resolution):
    """Of half the weights there is none, and every gain is half of what it is, or the same for ratios."""
    made = []
    for graph in (whole := some_graph(name)), halved(whole):
        unit = graph.total_volume / whole.total_volume if objective == "constant_potts" else 1.0
        on, goal = on_and_objective(graph, objective, resolution and resolution * unit, K)
        labels = random_labels(graph.n_nodes, K, 5).astype(np.int32)
        _, sums = summed(on, labels, K)
        moved = room_for(graph.n_nodes, K)
        assert table_pays(graph.rows, on.terms, K) == (graph is whole)
        n_read = move_at_once(level_of(on), Assigned(labels, sums), K, goal, moved)
        climbed = labels.copy()
        _, also_read = climb(Patience(1.0, 0.0), graph.rows, on.terms, goal, climbed, sums)
        made.append((moved.labels, climbed, n_read, also_read))
        assert (moved.labels != labels).any() and (climbed != labels).any()
    for ours, expected in zip(*made, strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_a_table_is_for_few_clusters_and_for_sums_that_are_never_rounded():
    graph = connected_part("block model")
    terms, mean = weighed(graph, "normalized_cut").terms, graph.n_entries // graph.n_nodes
    assert table_pays(graph.rows, terms, mean) and not table_pays(graph.rows, terms, mean + 1)
    for weight, whole in ((3.0, True), (0.5, False), (1e9, True), (EXACT, False)):
        heavy = as_graph(graph.to_scipy() * weight)
        assert table_pays(heavy.rows, weighed(heavy, "normalized_cut").terms, 2) == whole
    odd = graph.to_scipy().toarray()
    odd[0, 1:] *= 1.25
    odd[1:, 0] *= 1.25
    odd = as_graph(odd)
    assert not table_pays(odd.rows, weighed(odd, "normalized_cut").terms, 2)
