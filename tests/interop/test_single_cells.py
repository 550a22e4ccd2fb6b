"""Cells of an AnnData: clusters land on the right ones, and everything is written where scanpy looks for it."""

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from cliques import as_networkx, cliques
from hypothesis import given, settings
from scipy import sparse

from graphclust import adjusted_rand_index, as_graph, cluster_anndata, communities, coreset_sc, knn_graph
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
pandas = pytest.importorskip("pandas", reason="pandas is not installed")
pytestmark = pytest.mark.slow


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
    assert adata.uns["cells"]["k"] == len(members)


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
    refuses(ParameterError, r"'far' is not in adata.uns", cluster_anndata, adata, 2, neighbors_key="far")
    refuses(TypeError, r"expected an anndata.AnnData", cluster_anndata, G, 2)
    with pytest.raises(ParameterError, match=r"no 'connectivities', it is empty; run scanpy.pp.neighbors"):
        cluster_anndata(anndata.AnnData(shape=(7, 0)), 2)
    refuses(TypeError, r"G is a anndata.*pass it to cluster_anndata", coreset_sc, adata, 2)
    refuses(TypeError, r"X is an AnnData, expected an array; .*X\.obsm\['X_pca'\]", knn_graph, adata, 2)
    refuses(TypeError, r"k=0\.5 is a float, .* resolution=0\.5$", cluster_anndata, adata, 0.5)


def two_cliques():
    G = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(3))
    return cells(list(G), [(u, v, 1.0) for u, v in G.edges])


def test_k_may_be_left_to_the_graph(tmp_path):
    adata = two_cliques()
    cluster_anndata(adata, None)
    found = adata.uns["graphclust"]
    assert found["k"] == len(adata.obs["graphclust"].cat.categories) == 2
    assert any("k was not given" in remark for remark in found["remarks"])
    adata.write_h5ad(tmp_path / "cells.h5ad")


def test_without_k_a_resolution_makes_as_many_clusters_as_it_does():
    graph = nx.les_miserables_graph()
    adata = cells(list(graph), list(graph.edges(data="weight")))
    cluster_anndata(adata, resolution=1, rng=3)
    expected = communities(nx.les_miserables_graph(), rng=3)
    assert adjusted_rand_index(adata.obs["graphclust"].astype(int), expected.labels) == 1
    found = adata.uns["graphclust"]
    assert found["k"] == expected.k and "k" not in found["params"] and found["resolution"] == 1.0
    assert found["modularity"] == pytest.approx(expected.modularity)
    cluster_anndata(adata, resolution=np.float32(1.0), rng=3, key_added="narrow")
    assert adata.uns["narrow"]["k"] == expected.k


def test_the_seed_is_recorded_and_gives_the_clusters_again():
    adata = two_cliques()
    cluster_anndata(adata, 2, rng=None, key_added="drawn")
    seed = adata.uns["drawn"]["seed"]
    cluster_anndata(adata, 2, rng=seed, key_added="again")
    assert isinstance(seed, int) and adata.obs["drawn"].tolist() == adata.obs["again"].tolist()
    assert adata.uns["again"]["params"]["rng"] == seed


def test_some_cells_are_clustered_and_the_others_keep_what_they_have():
    G = nx.disjoint_union_all([nx.complete_graph(n) for n in (5, 4, 3)])
    adata = cells(list(G), [(u, v, 1.0) for u, v in G.edges])
    adata.obs["kind"] = pandas.Categorical(["A"] * 9 + ["B"] * 3)
    cluster_anndata(adata, 2, restrict_to=("kind", ["A"]), certainty=True)
    assert adata.obs["graphclust_R"].tolist() == ["A,0"] * 5 + ["A,1"] * 4 + ["B"] * 3
    assert adata.obs["graphclust_R_certainty"][:9].tolist() == [1.0] * 9
    assert adata.obs["graphclust_R_certainty"][9:].isna().all() and "graphclust" not in adata.obs
    assert adata.uns["graphclust_R"]["params"]["restrict_to"] == ["kind", "A"]
    cluster_anndata(adata, 3, restrict_to=("kind", ["A", "B"]), key_added="all")
    assert adata.obs["all"].tolist() == ["A-B,0"] * 5 + ["A-B,1"] * 4 + ["A-B,2"] * 3
    for wrong in (("kind", ["C"]), ("sort", ["A"]), ("kind", "A")):
        with pytest.raises(TypeError if wrong[1] == "A" else ParameterError, match="restrict_to"):
            cluster_anndata(adata, 2, restrict_to=wrong)


def test_certainty_of_a_cell_is_the_share_of_its_links_in_its_cluster():
    G = nx.barbell_graph(4, 0)
    adata = cells(list(G), [(u, v, 1.0) for u, v in G.edges])
    cluster_anndata(adata, 2, certainty=True)
    assert adata.obs["graphclust_certainty"].tolist() == [1, 1, 1, 0.75, 0.75, 1, 1, 1]


def test_only_neighbors_are_named_where_neighbors_are_asked_for():
    adata = two_cliques()
    adata.uns |= {"near": {"connectivities_key": "connectivities"}, "leiden": {"params": {}}, "log1p": {}}
    for key, words in (("far", "is not in adata.uns"), ("leiden", "holds no neighbors")):
        with pytest.raises(ParameterError, match=rf"'{key}' {words}.*, expected one of \['near'\]$"):
            cluster_anndata(adata, 2, neighbors_key=key)


def test_a_matrix_that_is_no_graph_is_named_as_the_caller_did():
    adata = two_cliques()
    n = adata.n_obs
    one_way = sparse.csr_matrix((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))
    adata.obsp["distances"] = adata.obsp["mine"] = one_way
    with pytest.raises(
        GraphValidationError, match=r"^adata.obsp\['distances'\] is not.*expected obsp='connectivities'"
    ):
        cluster_anndata(adata, 2, obsp="distances")
    with pytest.raises(GraphValidationError, match=r"pass adjacency=as_graph\(adata.obsp\['mine'\], symmetrize="):
        cluster_anndata(adata, 2, obsp="mine")
    with pytest.warns(GraphWarning, match="sum of its two weights"):
        graph = as_graph(adata.obsp["mine"], symmetrize="sum")
    cluster_anndata(adata, 2, adjacency=graph)
    assert adata.obs["graphclust"].nunique() == 2
    with pytest.raises(TypeError, match="adjacency is a Graph, expected a symmetric sparse matrix"):
        cluster_anndata(adata, 2, adjacency=nx.path_graph(n))
