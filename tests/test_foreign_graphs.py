"""Graphs as other libraries hold them: whatever the order and the names of the nodes, labels land on the right ones."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from graphclust import as_graph, cluster_anndata, coreset_sc, graph_from_table, load_graph, save_graph
from graphclust.errors import GraphFormatError, GraphValidationError, GraphWarning, ParameterError, ResourceLimitError
from graphclust.nx import coreset_communities, spectral_communities

igraph = pytest.importorskip("igraph", reason="igraph is not installed")
pandas = pytest.importorskip("pandas", reason="pandas is not installed")
polars = pytest.importorskip("polars", reason="polars is not installed")
anndata = pytest.importorskip("anndata", reason="anndata is not installed")
pytestmark = pytest.mark.slow

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)
NAMES = (TEXTS, st.integers(-50, 500), st.integers(0, 9).map(lambda i: i * 2**40))


@st.composite
def cliques(draw):
    """Weighted edges of two or three cliques and the nodes, all shuffled, some of them alone; and who belongs where."""
    sizes = draw(st.lists(st.integers(3, 5), min_size=2, max_size=3))
    n_alone = draw(st.integers(0, 2))
    n = sum(sizes) + n_alone
    names = st.lists(draw(st.sampled_from(NAMES)), min_size=n, max_size=n, unique=True)
    nodes = draw(names if n <= 10 else st.permutations(range(n)))
    starts = np.cumsum([0, *sizes])
    members = [nodes[a:b] for a, b in itertools.pairwise(starts)]
    edges = [(u, v, 2.0 + i) for clique in members for i, u in enumerate(clique) for v in clique[:i]]
    edges += [(clique[0], clique[0], 0.5) for clique in members[:1]]
    edges = [(v, u, w) if draw(st.booleans()) else (u, v, w) for u, v, w in edges]
    return draw(st.permutations(nodes)), draw(st.permutations(edges)), [set(clique) for clique in members]


def assert_labels_are_right(clustering, nodes, members):
    assert len(clustering.labels) == len(nodes) and set(clustering.nodes) == set(nodes)
    found = clustering.as_dict()
    clusters = [{node for node in nodes if found[node] == label} for label in range(len(members))]
    assert sorted(map(len, clusters)) == sorted(map(len, members)) and all(one in members for one in clusters)
    assert [node for node in nodes if found[node] == -1] == [
        node for node in nodes if not any(node in m for m in members)
    ]


def as_networkx(nodes, edges):
    G = nx.Graph()
    G.add_nodes_from(nodes)
    G.add_weighted_edges_from(edges)
    return G


def as_igraph(nodes, edges):
    place = {node: i for i, node in enumerate(nodes)}
    G = igraph.Graph(n=len(nodes), edges=[(place[u], place[v]) for u, v, _ in edges])
    G.es["weight"] = [w for *_, w in edges]
    G.vs["name"] = nodes
    return G


def columns(edges):
    return {name: [edge[i] for edge in edges] for i, name in enumerate(("source", "target", "weight"))}


FORMS = {
    "networkx": as_networkx,
    "igraph": as_igraph,
    "pandas": lambda nodes, edges: graph_from_table(pandas.DataFrame(columns(edges)), nodes=nodes),
    "polars": lambda nodes, edges: graph_from_table(polars.DataFrame(columns(edges)), nodes=nodes),
    "Graph": lambda nodes, edges: as_graph(as_networkx(nodes, edges)),
}


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cliques())
def test_labels_land_on_the_right_nodes(form, graph):
    nodes, edges, members = graph
    assert_labels_are_right(coreset_sc(FORMS[form](nodes, edges), len(members), rng=0), nodes, members)


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
@settings(max_examples=25, deadline=None)
@given(cliques())
def test_all_forms_are_one_graph(graph):
    nodes, edges, _ = graph
    expected = as_graph(as_networkx(nodes, edges))
    for form in FORMS.values():
        found = as_graph(form(nodes, edges))
        assert list(range(len(nodes)) if found.nodes is None else found.nodes) == nodes
        assert (found.to_scipy() != expected.to_scipy()).nnz == 0


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=cliques())
def test_labels_of_a_matrix_on_disk_are_in_the_order_of_its_rows(tmp_path, graph):
    nodes, edges, members = graph
    matrix = as_graph(as_networkx(nodes, edges)).to_scipy()
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        sparse.save_npz(tmp_path / "m.npz", kind(matrix))
        clustering = coreset_sc(tmp_path / "m.npz", len(members), rng=0)
        labels = dict(zip(nodes, clustering.labels.tolist(), strict=True))
        assert all(len({labels[node] for node in clique}) == 1 for clique in members)
        assert load_graph(tmp_path / "m.npz") == as_graph(matrix)


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
@settings(max_examples=15, deadline=None)
@given(cliques())
def test_communities_as_networkx_has_them(graph):
    nodes, edges, members = graph
    G = as_networkx(nodes, edges)
    for find in (coreset_communities, spectral_communities):
        found = find(G, len(members), seed=1)
        assert nx.community.is_partition(G, found)
        assert all(one in members for one in found[: len(members)])
        assert find(G, len(members), seed=np.random.RandomState(3)) == find(
            G, len(members), seed=np.random.RandomState(3)
        )


def test_tables_without_a_list_of_nodes():
    """Whole numbers in increasing order, other ids as they appear; the same as from a file."""
    table = {"a": [7, 3, 5], "b": [3, 5, 7]}
    assert as_graph(pandas.DataFrame({"source": [2, 0], "target": [1, 2]})).nodes is None
    assert graph_from_table(polars.DataFrame(table), "a", "b").nodes == [3, 5, 7]
    words = {"a": ["x", "w", "y"], "b": ["w", "y", "x"], "n": [1.0, 2.0, 0.5]}
    for frame in (pandas.DataFrame(words), polars.DataFrame(words), pandas.DataFrame(words).astype({"a": "category"})):
        graph = graph_from_table(frame, "a", "b", "n")
        assert graph.nodes == ["x", "w", "y"] and graph.weights.tolist() == [1, 0.5, 1, 2, 0.5, 2]


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0, 4.0, 1.0]])
def test_a_table_is_read_as_the_file_it_would_make(tmp_path, weights):
    """An edge from both ends, a repeated one, a loop: by one set of rules."""
    table = pandas.DataFrame({"source": ["a", "b", "b", "c", "c"], "target": ["b", "a", "c", "c", "b"]})
    if weights:
        table["weight"] = weights
    table = pandas.concat([table, table[2:3]])
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(GraphWarning):
        expected = load_graph(tmp_path / "t.csv")
    with pytest.warns(GraphWarning, match="repeated") as caught:
        assert as_graph(table) == expected
    assert caught[0].filename == __file__
    with pytest.warns(GraphWarning, match="sum of its two weights"):
        as_graph(table, symmetrize="sum")


@pytest.mark.parametrize(
    ("table", "options", "word"),
    [
        ({"a": [1], "target": [2]}, {}, "source='source' is no column"),
        ({"source": [1], "target": [2]}, {"weight": "w"}, "weight='w' is no column"),
        ({"source": [1, None], "target": [2, 3]}, {}, "1 missing value"),
        ({"source": [1], "target": [2], "weight": ["x"]}, {}, "expected numbers"),
        ({"source": [1], "target": [2], "weight": [-1.0]}, {}, "column 'weight': a weight is -1"),
        ({"source": [1], "target": [2]}, {"nodes": [1, 3]}, "edge of 2"),
        ({"source": [1], "target": [2]}, {"nodes": [1, 2, 1]}, "twice"),
        ({"source": [], "target": []}, {}, "no rows"),
    ],
)
def test_tables_that_cannot_be_used(table, options, word):
    for library in (pandas, polars):
        with pytest.raises(GraphValidationError, match=word):
            graph_from_table(library.DataFrame(table), **options)


def test_parallel_and_missing_and_directed_edges_of_igraph():
    G = igraph.Graph(n=3, edges=[(0, 1), (1, 0), (1, 2), (2, 2)])
    assert as_graph(G).to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 1]]
    G.es["strength"] = [1.0, 2.0, None, 4.0]
    assert as_graph(G, weight="strength").to_scipy().toarray().tolist() == [[0, 3, 0], [3, 0, 1], [0, 1, 4]]
    assert as_graph(G, weight=None).weights is None and as_graph(G).nodes is None
    G.vs["name"] = ["a", "a", "b"]
    assert as_graph(G).nodes is None
    with pytest.raises(GraphValidationError, match="'w'"):
        as_graph(G, weight="w")
    directed = igraph.Graph(edges=[(0, 1), (1, 0), (1, 2)], directed=True)
    with pytest.raises(GraphValidationError, match="directed igraph"):
        as_graph(directed)
    with pytest.warns(GraphWarning, match="sum of its two weights"):
        summed = as_graph(directed, symmetrize="sum")
    assert summed.to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    with pytest.raises(GraphValidationError, match="0 nodes"):
        as_graph(igraph.Graph())
    G.es["strength"] = ["much"] * 4
    with pytest.raises(GraphValidationError, match="does not hold numbers"):
        as_graph(G, weight="strength")


def test_matrices_of_graphblas_and_of_sparse():
    """Stand-ins with the methods that are called, for neither library need be there."""
    matrix = sparse.coo_array(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]]))
    entries = matrix.row.astype(np.uint64), matrix.col.astype(np.uint64), matrix.data
    blas = type("Matrix", (), {"__module__": "graphblas.core", "shape": (3, 3), "to_coo": lambda self: entries})
    data = type("COO", (), {"__module__": "sparse.numba_backend", "to_scipy_sparse": lambda self: matrix})
    assert as_graph(blas()) == as_graph(data()) == as_graph(matrix)


def test_archives_of_matrices(tmp_path):
    graph = as_graph(np.array([[0, 2.5, 0], [2.5, 0, 1], [0, 1, 3]]))
    save_graph(tmp_path / "g.npz", graph)
    read, info = load_graph(tmp_path / "g.npz", return_info=True)
    assert read == graph and info.format == "npz" and info.counts.loops == 1
    with pytest.warns(GraphWarning, match="larger of its two"):
        sparse.save_npz(tmp_path / "d.npz", sparse.csr_array(np.array([[0, 1.0], [0, 0]])))
        assert load_graph(tmp_path / "d.npz").n_edges == 1
    assert load_graph(tmp_path / "g.npz", weights="ignore").weights is None
    sparse.save_npz(tmp_path / "b.npz", sparse.csr_array(np.array([[False, True], [True, False]])))
    assert load_graph(tmp_path / "b.npz").weights is None
    with pytest.raises(ResourceLimitError, match="memory_limit"):
        load_graph(tmp_path / "g.npz", memory_limit=10)
    with pytest.raises(ParameterError, match="compressed already"):
        save_graph(tmp_path / "g.npz.gz", graph)
    with pytest.raises(ParameterError, match="bipartite"):
        load_graph(tmp_path / "g.npz", bipartite=True)


def test_archives_that_hold_no_matrix(tmp_path):
    sparse.save_npz(tmp_path / "w.npz", sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(GraphValidationError, match="square"):
        load_graph(tmp_path / "w.npz")
    np.savez(
        tmp_path / "o.npz", format=b"csr", shape=[2, 2], data=np.array([print], object), indices=[0], indptr=[0, 1, 1]
    )
    with pytest.raises(GraphFormatError, match="no matrix"):
        load_graph(tmp_path / "o.npz")
    np.savez(tmp_path / "r.npz", format=b"coo", shape=[2, 2], data=[1.0], row=[0], col=[7])
    with pytest.raises(GraphFormatError):
        load_graph(tmp_path / "r.npz")
    np.savez(tmp_path / "l.npz", labels=[1, 2])
    sparse.save_npz(tmp_path / "n.npz", sparse.csr_array(np.array([[0.0, -2.0], [-2.0, 0.0]])))
    with pytest.raises(GraphValidationError, match=r"a weight is -2.0"):
        load_graph(tmp_path / "n.npz")
    assert load_graph(tmp_path / "n.npz", weights="abs").weights.tolist() == [2, 2]
    with pytest.raises(GraphFormatError, match="zip archive"):
        load_graph(tmp_path / "l.npz")


def cells(nodes, edges, key="connectivities"):
    adata = anndata.AnnData(shape=(len(nodes), 0), obs=pandas.DataFrame(index=[repr(node) for node in nodes]))
    adata.obsp[key] = sparse.csr_matrix(as_graph(as_networkx(nodes, edges)).to_scipy())
    return adata


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=12, deadline=None)
@given(cliques())
def test_clusters_of_cells_land_on_the_right_ones(graph):
    nodes, edges, members = graph
    adata = cells(nodes, edges)
    assert cluster_anndata(adata, len(members), key_added="cells") is None
    found = adata.obs["cells"]
    assert found.dtype == "category" and list(found.cat.categories) == [str(j) for j in range(len(members))]
    for clique in members:
        assert len(set(found[[repr(node) for node in clique]])) == 1
    alone = [repr(node) for node in nodes if not any(node in clique for clique in members)]
    assert found[found.isna()].index.tolist() == alone
    assert adata.uns["cells"]["params"]["k"] == len(members)


@pytest.mark.filterwarnings("ignore")
def test_which_graph_of_the_cells_is_taken(tmp_path):
    G = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(3))
    adata = cells(list(G), [(u, v, 1.0) for u, v in G.edges], key="near_connectivities")
    with pytest.raises(ParameterError, match=r"no 'connectivities', .*near_connectivities.*scanpy.pp.neighbors"):
        cluster_anndata(adata, 2)
    adata.uns["near"] = {"connectivities_key": "near_connectivities"}
    changed = cluster_anndata(adata, 2, neighbors_key="near", copy=True, objective="normalized_cut")
    assert "graphclust" not in adata.obs and changed.uns["graphclust"]["params"]["objective"] == "normalized_cut"
    cluster_anndata(adata, 2, obsp="near_connectivities", use_weights=False)
    assert adata.obs["graphclust"].value_counts().tolist() == [4, 3]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    assert anndata.read_h5ad(tmp_path / "cells.h5ad").uns["graphclust"]["params"]["k"] == 2
    with pytest.raises(ParameterError, match="one of the two"):
        cluster_anndata(adata, 2, neighbors_key="near", obsp="near_connectivities")
    with pytest.raises(ParameterError, match=r"'far' is not in adata.uns"):
        cluster_anndata(adata, 2, neighbors_key="far")
    with pytest.raises(TypeError, match=r"expected an anndata.AnnData"):
        cluster_anndata(G, 2)
