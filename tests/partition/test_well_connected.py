"""Well-connected clusters: the guarantee, checked by NetworkX on all kinds of graphs and labels, and its limits."""

import math

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import graphclust as gc

KARATE = nx.karate_club_graph()


def connectivities(graph, labels, weight=None):
    """The number of nodes and the minimum cut of each cluster, by NetworkX."""
    whole = nx.from_scipy_sparse_array(gc.as_graph(graph).to_scipy())
    whole.remove_edges_from(list(nx.selfloop_edges(whole)))
    if weight is None:
        nx.set_edge_attributes(whole, 1.0, "weight")
    for c in range(labels.max() + 1):
        part = whole.subgraph(np.flatnonzero(labels == c).tolist())
        assert len(part) >= 2
        yield len(part), nx.stoer_wagner(part)[0] if nx.is_connected(part) else 0.0


def graphs():
    rng = np.random.default_rng(11)
    weighted = nx.gnp_random_graph(60, 0.12, seed=4)
    for _, _, data in weighted.edges(data=True):
        data["weight"] = float(rng.random() + 0.05)
    yield "planted", gc.planted_partition(6, 30, 5, 1, rng=1).graph
    yield "LFR", gc.lfr_like(400, 10, mixing=0.3, rng=2).graph
    yield "weighted", weighted
    yield "disconnected", nx.disjoint_union(nx.ring_of_cliques(8, 5), nx.random_labeled_tree(60, seed=1))
    yield "social", nx.les_miserables_graph()


@pytest.mark.parametrize(("name", "graph"), [*graphs()])
@pytest.mark.parametrize("recluster", [True, False])
@pytest.mark.parametrize("connectivity", ["log10", 2, math.sqrt])
def test_every_cluster_meets_the_criterion_inside_one_given(name, graph, recluster, connectivity):
    bar = math.log10 if connectivity == "log10" else (lambda n: 2) if connectivity == 2 else math.sqrt
    n = gc.as_graph(graph).n_nodes
    for given in (np.zeros(n, int), np.arange(n) % 3, gc.communities(graph, rng=0)):
        found = gc.well_connected(graph, given, connectivity=connectivity, recluster=recluster, leftover="alone", rng=0)
        labels = np.where(found.sizes[found.labels] > 1, found.labels, -1)
        assert all(cut > bar(size) for size, cut in connectivities(graph, labels))
        above = given.labels if isinstance(given, gc.Clustering) else given
        assert len({*zip(found.labels.tolist(), above.tolist(), strict=True)}) == found.n_clusters


def test_weights_count_if_asked():
    heavy = nx.Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], weight=9.0)
    heavy.add_edge(2, 3, weight=0.5)
    assert gc.well_connected(heavy, [0] * 6, connectivity=0.7).n_clusters == 1
    assert gc.well_connected(heavy, [0] * 6, connectivity=0.7, cut_weight=True).labels.tolist() == [0, 0, 0, 1, 1, 1]
    found = gc.well_connected(KARATE, [0] * 34, connectivity=4, cut_weight=True)
    assert all(cut > 4 for _, cut in connectivities(KARATE, found.labels, "weight"))


def test_communities_keep_the_promise_with_bounds_too():
    found = gc.communities(KARATE, connectivity=1, max_size=10, min_size=4, weight=None, rng=0)
    assert found.sizes.max() <= 10 and found.sizes.min() >= 4
    assert all(cut > 1 for _, cut in connectivities(KARATE, found.labels))
    assert found.parameters["connectivity"] == 1
    assert any(f"cover {np.mean(found.labels >= 0):.1%}" in remark for remark in found.remarks)


def test_what_is_well_connected_stays():
    graph, labels = gc.planted_partition(10, 40, 12, 1, rng=3)
    given = gc.communities(graph, rng=0)
    assert np.array_equal(gc.communities(graph, connectivity="well", rng=0).labels, given.labels)
    assert np.array_equal(gc.well_connected(graph, labels).labels >= 0, labels >= 0)


def test_labels_depend_on_neither_threads_nor_order_and_inputs_stay():
    graph = gc.lfr_like(600, 10, mixing=0.4, rng=5).graph
    given = np.zeros(600, int)
    found = []
    for threads in (1, 2):
        with gc.limit_threads(threads):
            found.append(gc.well_connected(graph, given, rng=0))
    assert np.array_equal(found[0].labels, found[1].labels) and not given.any()
    named = nx.relabel_nodes(nx.les_miserables_graph(), str)
    nodes = sorted(named)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(reversed(nodes))
    shuffled.add_edges_from(named.edges(data=True))
    first, second = (gc.communities(one, connectivity="well", rng=0).as_dict() for one in (named, shuffled))
    assert first == second


def test_tails_of_a_clique_are_left_out_or_alone():
    lollipop = nx.lollipop_graph(12, 3)
    apart, alone = (gc.well_connected(lollipop, [0] * 15, min_size=4, leftover=left) for left in ("apart", "alone"))
    assert apart.labels.tolist() == [0] * 12 + [-1] * 3 and alone.labels.tolist() == [0] * 12 + [1, 2, 3]
    any_size = gc.well_connected(lollipop, [0] * 15)
    assert any_size.labels.tolist() == [0] * 12 + [1] * 3  # a path of three nodes meets log10


def test_what_was_in_no_cluster_and_what_is_too_small_is_left_out():
    cliques = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(4))
    partly = [0] * 4 + [-1] + [1] * 2 + [-1] * 2
    assert gc.well_connected(cliques, partly).labels.tolist() == partly
    for least, expected in ((4, [0] * 5 + [1] * 4), (5, [0] * 5 + [-1] * 4)):
        assert gc.well_connected(cliques, [0] * 5 + [1] * 4, min_size=least).labels.tolist() == expected
    alone = gc.well_connected(cliques, [0] * 5 + [1] * 4, connectivity=99, leftover="alone")
    assert alone.labels.tolist() == [*range(9)]


def test_many_pendant_cliques_fall_off_in_one_round(monkeypatch):
    from graphclust.engine import connectivity as engine

    core = nx.complete_graph(60)
    for i in range(60):
        clique = nx.relabel_nodes(nx.complete_graph(6), {j: 60 + 6 * i + j for j in range(6)})
        core.update(clique)
        core.add_edge(i, 60 + 6 * i)
    rounds, part = [], engine.split_by_connection
    monkeypatch.setattr(engine, "split_by_connection", lambda *arrays: rounds.append(1) or part(*arrays))
    found = gc.well_connected(core, [0] * 420, recluster=False)
    assert found.sizes.tolist() == [60] + [6] * 60 and len(rounds) == 2


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"connectivity": -1}, gc.ParameterError, "connectivity=-1 is out of range, expected a finite number >= 0"),
        ({"connectivity": lambda n: np.nan}, gc.ParameterError, r"connectivity\(2\)=nan"),
        ({"connectivity": "strong"}, gc.ParameterError, "expected one of 'well', 'log10'"),
        ({"connectivity": 99}, gc.ParameterError, "connectivity=99 leaves no cluster, expected a lower one"),
        ({"labels": [0, 1, 2]}, gc.GraphValidationError, "expected one label per node"),
        ({"leftover": "gone"}, gc.ParameterError, "leftover='gone'"),
        ({"min_size": 0}, gc.ParameterError, "min_size=0"),
    ],
)
def test_impossible_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        gc.well_connected(KARATE, **({"labels": [0] * 34} | arguments))


@pytest.mark.parametrize("name", ["snap_email-enron", "fb100_Caltech36_dorm", "livejournal_top5000_sub"])
def test_real_graphs_by_the_minimum_cuts_of_igraph(name, data_folder):
    igraph = pytest.importorskip("igraph")
    found = gc.communities(data_folder / "graphs" / f"{name}.npz", connectivity="well", rng=0)
    matrix = found.graph.to_scipy()
    for c in np.flatnonzero(found.sizes <= 150):
        nodes = np.flatnonzero(found.labels == c)
        part = sparse.triu(matrix[nodes][:, nodes], 1).tocoo()
        cut = igraph.Graph(len(nodes), np.column_stack([part.row, part.col]).tolist()).mincut().value
        assert cut == found.min_cuts[c] > math.log10(len(nodes))


@pytest.mark.parametrize("bounds", [{}, {"max_size": 12}, {"max_size": 30, "min_size": 4, "levels": 2}])
def test_levels_keep_the_promise_and_nest(bounds):
    """Also after an update."""
    graph = gc.lfr_like(400, 10, mixing=0.3, rng=2).graph
    made = gc.hierarchy(graph, connectivity="well", rng=0, **bounds)
    edges = np.column_stack(sparse.triu(graph.to_scipy(), 1).nonzero())[::97].tolist()
    for found in (made, made.update(removed=edges, rng=0)):
        for level, parents, above in zip(found.levels[1:], found.parents[1:], found.levels, strict=False):
            assert np.array_equal(parents[level], above)
        for level in found.levels:
            sizes = np.bincount(level)
            labels = np.where(sizes[level] > 1, level, -1)
            assert all(cut > math.log10(size) for size, cut in connectivities(found.graph, labels))
            assert sizes[sizes > 1].min() >= bounds.get("min_size", 2)
        assert np.bincount(found.levels[-1]).max() <= bounds.get("max_size", 400)
        covered = np.mean(np.bincount(found.levels[-1])[found.levels[-1]] > 1)
        assert any(f"{covered:.1%} on the finest" in remark for remark in found.remarks)
        assert found.parameters == made.parameters


@pytest.mark.parametrize("bounds", [{}, {"max_size": 30, "min_size": 4}])
def test_updates_keep_the_promise_and_clusters_that_no_edit_touches(bounds):
    rng, shares = np.random.default_rng(3), []
    found = gc.communities(gc.lfr_like(400, 10, mixing=0.3, rng=2).graph, connectivity="well", rng=0, **bounds)
    for seed in range(12):
        matrix = sparse.triu(found.graph.to_scipy(), 1).tocoo()
        gone = rng.choice(matrix.nnz, 8, replace=False)
        before, edges = found, np.column_stack([matrix.row, matrix.col])
        new = rng.choice(400, (8, 2), replace=False)
        new = [(u, v) for u, v in new.tolist() if found.graph.to_scipy()[u, v] == 0.0]
        found = found.update(added=[(u, v, 1.0) for u, v in new], removed=edges[gone].tolist(), rng=seed)
        assert found.parameters == before.parameters and "cover" in found.remarks[0]
        sizes = np.bincount(found.labels[found.labels >= 0])
        assert bounds.get("min_size", 2) <= sizes.min() and sizes.max() <= bounds.get("max_size", 400)
        assert all(cut > math.log10(size) for size, cut in connectivities(found.graph, found.labels))
        untouched = np.setdiff1d(np.arange(400), np.concatenate([edges[gone].ravel(), np.ravel(new).astype(int)]))
        shares.append(np.mean(found.labels[untouched] == before.labels[untouched]))
    assert np.median(shares) > 0.9


def test_an_update_of_labels_of_other_origin_goes_on_as_they_were_made():
    barbell = nx.barbell_graph(12, 3)  # node 0 of the first clique will hang by one edge
    for leftover, k in (("apart", 2), ("alone", 5)):
        found = gc.well_connected(barbell, [0] * 27, leftover=leftover, min_size=4, recluster=False, rng=0)
        assert found.k == k
        later = found.update(removed=[(0, v) for v in range(1, 11)], rng=0)
        assert later.k == k + (leftover == "alone") and later.parameters == found.parameters
        assert np.array_equal(later.labels[1:15] >= 0, found.labels[1:15] >= 0)
        assert np.array_equal(later.labels[1:12], found.labels[1:12]) and later.labels[0] != found.labels[0]


def test_an_update_that_cannot_keep_the_promise_says_so():
    for make, options in ((gc.communities, {}), (gc.hierarchy, {}), (gc.hierarchy, {"max_size": 10})):
        later = make(KARATE, connectivity=lambda n: 1.0, rng=0, **options).update(removed=[(0, 1)], rng=0)
        assert any("promises no minimum cuts" in remark for remark in later.remarks)
        assert "connectivity" not in later.parameters


def test_the_table_says_how_well_each_cluster_holds_together():
    graph = nx.barbell_graph(12, 0)
    graph.add_edge(0, 24)
    found = gc.balanced_partition(nx.barbell_graph(12, 0), 2, rng=0)
    assert [row.minimum_cut for row in found.table()] == found.min_cuts.tolist() == [11.0, 11.0]
    given = gc.well_connected(graph, [0] * 12 + [1] * 12 + [0], connectivity=0)
    assert given.n_well_connected == 1 and "well-connected   1 of 2 clusters" in str(given)
    one, two = given.table()
    assert (one.nodes, one.volume, one.minimum_cut, one.members) == (13, 135.0, 1.0, (0, 11, 1, 2))
    assert one.density == pytest.approx(67 / 78) and two.density == 1.0
    assert one.conductance == two.conductance == pytest.approx(1 / 133)
    assert given.report()["min_cuts"] == [1.0, 11.0] and "1 of 2" in gc.report_page(given)
