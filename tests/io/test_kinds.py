"""Directed, bipartite, signed graphs and several at once, as callers have them: what is read, and what is refused."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from scipy import sparse

import graphclust as gc
from graphclust.io.kinds import as_layered, time_slices

ARCS = [("a", "b", 2.0), ("b", "c", 1.0), ("c", "b", 4.0), ("d", "a", 3.0)]
SALES = {"customer": [1, 1, 2, 3], "product": [1, 2, 2, 3], "pieces": [1.0, 2.0, 3.0, 4.0]}


def of_definition(A, out, into, labels, resolution=1.0):
    """Sum over pairs in one cluster of the weight less chance, over the total weight; A : from row to column."""
    chance = np.outer(out, into) / A.sum()
    return ((A - resolution * chance) * (labels[:, None] == labels)).sum() / A.sum()


def digraph(edges, kind=nx.DiGraph):
    graph = kind()
    graph.add_weighted_edges_from(edges)
    return graph


def random_digraph(seed, n=30, kind=nx.DiGraph):
    rng, graph = np.random.default_rng(seed), kind(nx.gnp_random_graph(n, 0.3, seed=seed, directed=kind is nx.DiGraph))
    for u, v in graph.edges:
        graph[u][v]["weight"] = float(rng.random())
    return graph, rng.integers(4, size=n)


def sets_of(labels):
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


def same_arcs(tmp_path):
    """The arcs in each form in which directions can be told."""
    table = dict(zip(("source", "target", "weight"), map(list, zip(*ARCS, strict=True)), strict=True))
    path = tmp_path / "arcs.csv"
    path.write_text("source,target,weight\n" + "".join(f"{u},{v},{w}\n" for u, v, w in ARCS))
    nx.write_graphml(digraph(ARCS), tmp_path / "arcs.graphml")
    yield from (digraph(ARCS), ARCS, path, tmp_path / "arcs.graphml")
    for library, make in (("pandas", "DataFrame"), ("polars", "DataFrame")):
        yield getattr(pytest.importorskip(library), make)(table)
    yield pytest.importorskip("igraph").Graph.TupleList(ARCS, directed=True, weights=True)
    yield pytest.importorskip("pandas").DataFrame(nx.to_numpy_array(digraph(ARCS)), index=[*"abcd"], columns=[*"abcd"])


def test_arcs_of_every_form_have_the_same_degrees(tmp_path):
    for graph in same_arcs(tmp_path):
        read = as_layered(graph, "directed")
        (layer,) = read.layers
        names = list(read.combined.nodes)
        degrees = {name: (layer.outward[i], layer.inward[i]) for i, name in enumerate(names)}
        assert degrees == {"a": (2, 3), "b": (1, 6), "c": (4, 1), "d": (3, 0)}, type(graph)


def test_arrays_have_the_arcs_from_row_to_column_and_stay_as_they_are():
    matrix = np.array([[0, 2, 0], [0, 0, 5], [1, 0, 0]])
    for form in (np.array, sparse.csr_array, sparse.coo_matrix, sparse.csc_array, sparse.lil_array):
        given = form(matrix)
        read = as_layered(given, "directed")
        assert read.layers[0].outward.tolist() == [2, 5, 1] and read.layers[0].inward.tolist() == [1, 2, 5]
        assert (sparse.coo_array(given).toarray() == matrix).all()
    assert as_layered(matrix.astype(bool), "directed").total == as_layered(matrix, "directed", weight=None).total == 3
    ends = np.array([[0, 1, 1], [1, 2, 2]])
    assert as_layered((ends, 3), "directed").layers[0].outward.tolist() == [1, 1, 0]


@for_each("seed", range(5))
def test_directed_modularity_is_that_of_networkx_and_of_leidenalg(seed):
    graph, labels = random_digraph(seed)
    for resolution in (1.0, 0.3):
        expected = nx.community.modularity(graph, sets_of(labels), resolution=resolution)
        assert gc.modularity(graph, labels, resolution=resolution) == pytest.approx(expected, abs=1e-12)
    leidenalg, igraph = pytest.importorskip("leidenalg"), pytest.importorskip("igraph")
    theirs = igraph.Graph.from_networkx(graph)
    quality = leidenalg.ModularityVertexPartition(theirs, labels.tolist(), weights="weight").quality()
    assert gc.modularity(theirs, labels) == pytest.approx(quality, abs=1e-12)


@for_each("seed", range(5))
def test_modularity_of_each_kind_is_that_of_its_definition(seed):
    rng = np.random.default_rng(seed)
    B = rng.integers(3, size=(6, 4)) + np.eye(6, 4)
    labels = rng.integers(3, size=10)
    block = np.zeros((10, 10))
    block[:6, 6:] = B
    expected = of_definition(block, block.sum(axis=1), block.sum(axis=0), labels, 0.7)
    assert gc.modularity(B, labels, resolution=0.7) == pytest.approx(expected, abs=1e-12)
    A = np.triu(rng.integers(-2, 3, size=(10, 10)), 1)
    A = A + A.T
    shares = [(part.sum(), of_definition(part, *[part.sum(axis=0)] * 2, labels)) for part in (A.clip(0), (-A).clip(0))]
    expected = (shares[0][0] * shares[0][1] - shares[1][0] * shares[1][1]) / (shares[0][0] + shares[1][0])
    assert gc.modularity(A, labels, kind="signed") == pytest.approx(expected, abs=1e-12)


@for_each("seed", range(3))
def test_modularity_of_several_graphs_is_the_mean_of_theirs_or_that_of_all_edges(seed):
    graphs, labels = [random_digraph(seed + i, kind=nx.Graph)[0] for i in (0, 50)], random_digraph(seed)[1]
    graphs[1].remove_edges_from([*graphs[1].edges][:3])
    each = [gc.modularity(graph, labels) for graph in graphs]
    assert gc.modularity(graphs, labels, layer_weights=[1, 3]) == pytest.approx((each[0] + 3 * each[1]) / 4, abs=1e-12)
    size = [graph.size("weight") for graph in graphs]
    expected = (size[0] * each[0] + size[1] * each[1]) / sum(size)
    assert gc.modularity(graphs, labels, normalize=False) == pytest.approx(expected, abs=1e-12)
    at = [gc.modularity(graph, labels, resolution=r) for graph, r in zip(graphs, (0.5, 2), strict=True)]
    assert gc.modularity(graphs, labels, resolution=[0.5, 2]) == pytest.approx(sum(at) / 2, abs=1e-12)


def test_the_type_of_a_graph_says_its_kind_and_a_remark_says_so():
    read = as_layered(digraph(ARCS))
    assert read.kind == "directed" and "directed modularity" in read.combined.remarks[0]
    with pytest.warns(gc.GraphWarning, match="the graph was directed"):
        assert as_layered(digraph(ARCS), symmetrize="sum").n_edges == 3
    read = as_layered(np.ones((4, 5)))
    assert (read.kind, read.sides) == ("bipartite", (4, 5)) and "rectangular" in read.combined.remarks[0]
    assert isinstance(as_layered(nx.path_graph(3)), gc.Graph)
    assert as_layered(digraph(ARCS), "directed").combined.remarks == ()


def test_customers_and_products_whose_numbers_overlap_stay_apart(tmp_path):
    table = pytest.importorskip("pandas").DataFrame(SALES)
    path = tmp_path / "sales.csv"
    table.to_csv(path, index=False)
    for G in (table, path):
        read = as_layered(G, "bipartite", weight="pieces")
        assert (read.sides, read.total) == ((3, 3), 10.0)
        assert read.combined.nodes[:4] == ["customer:1", "customer:2", "customer:3", "product:1"]
        refuses(gc.GraphValidationError, 'pass kind="bipartite" if they do', gc.modularity, G, [0, 0, 0])


def test_sides_of_graphs_are_those_of_their_attribute():
    davis = nx.davis_southern_women_graph()
    read = as_layered(davis, "bipartite")
    assert (read.sides, read.total) == ((18, 14), davis.number_of_edges())
    assert read.combined.nodes == [*davis.graph["top"], *davis.graph["bottom"]]
    assert as_layered(davis.to_directed(), "bipartite").total == davis.number_of_edges()
    igraph = pytest.importorskip("igraph")
    assert as_layered(igraph.Graph.Full_Bipartite(2, 3), "bipartite").sides == (2, 3)


def test_layers_are_aligned_by_names_and_a_node_that_one_lacks_has_no_edge_there():
    graphs = {"calls": digraph([("a", "b", 1.0)], nx.Graph), "mails": digraph([("c", "b", 2.0)], nx.Graph)}
    read = as_layered(graphs)
    assert list(read.combined.nodes) == ["a", "b", "c"] and [layer.name for layer in read.layers] == ["calls", "mails"]
    assert [layer.outward.tolist() for layer in read.layers] == [[1, 1, 0], [0, 2, 2]]
    labels = [0, 0, 1]
    assert gc.modularity(graphs, labels, layer_weights={"mails": 0, "calls": 2}) == gc.modularity(
        graphs["calls"], [0, 0]
    )


def test_slices_have_a_node_for_each_node_and_slice_that_has_it():
    graphs = {2023: nx.path_graph(3), 2024: nx.path_graph(4), 2025: nx.path_graph(3)}
    read = time_slices(graphs, 0.5)
    assert list(read.combined.nodes) == [(u, s) for s, graph in graphs.items() for u in graph]
    assert read.total == 2 * (2 + 3 + 2) + 2 * 0.5 * 6
    assert time_slices(graphs, 0.5, links="all").total == read.total + 2 * 0.5 * 3
    leidenalg, igraph = pytest.importorskip("leidenalg"), pytest.importorskip("igraph")
    slices = [igraph.Graph.from_networkx(graph) for graph in graphs.values()]
    for one in slices:
        one.vs["id"] = one.vs["_nx_name"]
    layers, between, _ = leidenalg.time_slices_to_layers(slices, interslice_weight=0.5)
    labels = np.arange(10) % 3
    expected = leidenalg.CPMVertexPartition(
        between, labels.tolist(), weights="weight", node_sizes="node_size", resolution_parameter=0
    ).quality()
    for layer in layers:
        expected += leidenalg.RBConfigurationVertexPartition(layer, labels.tolist(), weights="weight").quality()
    assert read.scores(labels).sum() == pytest.approx(expected, abs=1e-12)


def test_what_is_no_graph_of_its_kind_is_refused_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gc.save_store("a_store", nx.path_graph(3))
    for G, options, words in (
        ([np.ones((2, 2)), np.ones((3, 3))], {}, "layer 1 has 3 nodes and layer 0 has 2"),
        ([nx.path_graph(3), np.ones((3, 3))], {}, "layer 1 has no names of nodes"),
        ([np.ones((3, 3))] * 2, {"layer_weights": [1, -1]}, r"layer_weights=\[1, -1\] sum to 0"),
        ([np.ones((3, 3))] * 2, {"layer_weights": [0, 0]}, r"layer_weights=\[0, 0\] sum to 0"),
        ([np.ones((3, 3))] * 2, {"layer_weights": [1]}, "expected 2 finite numbers"),
        ([np.ones((3, 3))] * 2, {"layer_weights": [1, np.nan]}, "expected 2 finite numbers"),
        ({"x": np.ones((3, 3))}, {"layer_weights": {"y": 1}}, r"expected the layers \['x'\]"),
        ([np.ones((3, 4))] * 2, {}, "bipartite graphs are not served"),
        (nx.path_graph(3), {"layer_weights": [1]}, "is for several graphs"),
        (nx.path_graph(3), {"normalize": False}, "is for several graphs"),
        (nx.path_graph(3), {"kind": "bipartite"}, "no attribute 'bipartite'"),
        (nx.path_graph(3), {"kind": "oriented"}, "kind='oriented' is unknown"),
        (np.ones((3, 4)), {"kind": "directed"}, 'pass kind="bipartite"'),
        (np.array([[0, np.nan], [1, 0]]), {"kind": "directed"}, r"edge \(0, 1\) has nan"),
        (np.array([[0, np.nan], [np.nan, 0]]), {"kind": "signed"}, r"edge \(0, 1\) has nan"),
        (np.array([[0, np.inf, 1, 1]]), {}, r"edge \(0, 1\) has inf"),
        (digraph([("a", "b", -1.0)]), {}, r"edge \('a', 'b'\) has -1.0 .*pass kind=\"signed\""),
        ([np.eye(2), np.array([[0, -1], [-1, 0]])], {}, "layer 1: G has 2 entries with negative weight"),
        (np.array([[0, 1], [2, 0]]), {}, 'not symmetric.*; pass kind="directed"'),
        (np.array([[0, -1], [-1, 0]]), {}, 'negative weight.*; pass kind="signed" if they repel'),
        (np.array([[0, 1], [2, 0]]), {"kind": "signed"}, "expected a signed graph without directions"),
        (np.ones((0, 3)), {"kind": "bipartite"}, "expected at least 1 node"),
        ("a_store", {"kind": "directed"}, 'a_store is undirected, .*, or kind="undirected"'),
        ("suitesparse:SNAP/com-Friendster", {"kind": "directed"}, 'Friendster is undirected, .*, or kind="undirected"'),
        (digraph(ARCS), {"self_loops": "twice"}, "is for an undirected graph, and G is directed"),
        ([np.ones((3, 3))] * 2, {"resolution": [1, 2, 3]}, "resolution has 3 numbers, .* one for each of 2"),
    ):
        refuses(gc.GraphClustError, f"(?s){words}", gc.modularity, G, [0, 0, 0], **options)


def test_an_edge_inside_a_side_or_a_node_without_one_is_refused():
    davis = nx.davis_southern_women_graph()
    davis.add_edge("E1", "E2")
    refuses(gc.GraphValidationError, r"edge \('E1', 'E2'\) lies inside the side 1", as_layered, davis, "bipartite")
    del davis.nodes["E1"]["bipartite"]
    refuses(gc.GraphValidationError, "node 'E1' has no side", as_layered, davis, "bipartite")


def test_signs_of_lists_tables_and_files_are_kept(tmp_path):
    edges = [("a", "b", 2.0), ("b", "c", -1.0)]
    path = tmp_path / "ties.csv"
    path.write_text("source,target,weight\na,b,2\nb,c,-1\n")
    matrix = np.array([[0, 2.0, 0], [2, 0, -1], [0, -1, 0]])
    for G in (edges, path, digraph(edges, nx.Graph), matrix, sparse.coo_array(matrix)):
        read = as_layered(G, "signed")
        assert (read.combined.to_scipy().toarray() == matrix).all() and read.total == 6.0
    rounded = np.corrcoef(np.random.default_rng(0).normal(size=(9, 20)))
    assert (rounded != rounded.T).any() and as_layered(rounded, "signed").n_nodes == 9
    both = np.array([[0, 2.0], [-1, 0]])
    assert as_layered(both, "signed", symmetrize="sum").combined.to_scipy().toarray().tolist() == [[0, 1], [1, 0]]
    refuses(gc.GraphValidationError, 'pass kind="signed" if they repel', gc.modularity, path, [0, 0, 0])


def test_coupling_and_links_of_slices_are_checked():
    for options in ({"coupling": -1}, {"coupling": np.nan}, {"links": "some"}, {"kind": "x"}):
        refuses(gc.ParameterError, None, time_slices, [np.ones((2, 2))] * 2, **options)
    refuses(TypeError, "expected a list or dict of graphs", time_slices, nx.path_graph(3))


def test_a_negative_weight_has_one_remedy_for_signs_whatever_it_stands_in(tmp_path):
    sparse.save_npz(tmp_path / "g.npz", sparse.csr_array(np.array([[0.0, -2], [-2, 0]])))
    for given, is_file in (([(0, 1, 1.0), (1, 2, -2.0)], False), (tmp_path / "g.npz", True)):
        with pytest.raises(gc.GraphValidationError, match="a weight is -2") as raised:
            gc.communities(given)
        said = str(raised.value)
        assert said.count('pass kind="signed" if they repel') == 1
        assert ('weights="ignore"' in said) == is_file
