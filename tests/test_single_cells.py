"""Cells of an AnnData: clusters land on the right ones, and everything is written where scanpy looks for it."""

import networkx as nx
import pytest
from cliques import as_networkx, cliques
from hypothesis import given, settings
from scipy import sparse

from graphclust import as_graph, cluster_anndata, coreset_sc
from graphclust.errors import ParameterError

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
    with pytest.raises(ParameterError, match=r"no 'connectivities', it is empty; run scanpy.pp.neighbors"):
        cluster_anndata(anndata.AnnData(shape=(7, 0)), 2)
    with pytest.raises(TypeError, match=r"G is a anndata.*pass it to cluster_anndata"):
        coreset_sc(adata, 2)
