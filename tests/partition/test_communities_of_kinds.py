"""Communities of directed, bipartite, signed graphs and of several: through each door, by the values of brute force."""

import json

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from scipy import sparse

import graphclust as gc
from graphclust.faces.cli import main as cli
from graphclust.io.kinds import as_layered


def partitions(n):
    """All partitions of n nodes, as labels in the order of their first nodes."""
    labels = [[0]]
    for _ in range(n - 1):
        labels = [[*one, c] for one in labels for c in range(max(one) + 2)]
    return np.array(labels)


PARTITIONS = partitions(6)


def random_graphs(kind, seed):
    """A graph of 6 nodes of the kind, and the options that say so."""
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 3, size=(6, 6)) * (rng.random((6, 6)) < 0.5)
    np.fill_diagonal(A, 0)
    A[0, 1] = A[1, 2] = 1
    if kind == "directed":
        return A, {"kind": kind}
    if kind == "bipartite":
        return A[:4, :2] + np.eye(4, 2), {"kind": kind}
    upper = np.triu(A, 1)
    if kind == "signed":
        signs = rng.choice([-1, 1], size=(6, 6))
        return upper * signs + (upper * signs).T, {"kind": kind}
    other = np.triu(rng.integers(0, 2, size=(6, 6)), 1)
    other[0, 5] = 1
    return [upper + upper.T, other + other.T], {"layer_weights": [1, 2], "normalize": bool(seed % 2)}


@for_each("kind", ["directed", "bipartite", "signed", "several"])
def test_the_best_partition_of_small_graphs_is_found(kind):
    for seed in range(12):
        G, options = random_graphs(kind, seed)
        layered = as_layered(G, **options)
        best = max(layered.modularity(labels) for labels in PARTITIONS)
        found = gc.communities(G, rng=seed, **options)
        assert found.modularity == pytest.approx(gc.modularity(G, found.labels, **options), abs=1e-12)
        assert found.modularity == pytest.approx(best, abs=1e-9), (kind, seed)


def test_a_clustering_names_the_modularity_that_was_asked_for():
    D = nx.gnp_random_graph(20, 0.2, seed=1, directed=True)
    found = gc.communities(D, rng=0)
    assert (found.kind, found.modularity_name) == ("directed", "directed modularity")
    assert found.modularity == pytest.approx(nx.community.modularity(D, found.communities()), abs=1e-12)
    assert "directed modularity" in str(found) and "directed modularity" in found.remarks[0]
    report = json.loads(json.dumps(found.report()))
    assert (report["kind"], report["modularity"]) == ("directed", found.modularity)
    assert gc.communities(nx.karate_club_graph(), rng=0).modularity_name == "modularity"


def test_both_sides_of_a_bipartite_graph_have_labels():
    davis = nx.davis_southern_women_graph()
    found = gc.communities(davis, kind="bipartite", rng=0)
    assert (len(found.row_labels), len(found.column_labels)) == (18, 14)
    assert found.as_dict() == dict(
        zip([*davis.graph["top"], *davis.graph["bottom"]], found.labels.tolist(), strict=True)
    )
    assert found.modularity > 0.33 and found.modularity_name == "Barber's modularity"
    B = nx.bipartite.biadjacency_matrix(davis, davis.graph["top"], davis.graph["bottom"])
    assert gc.communities(B, rng=0).modularity == pytest.approx(found.modularity)
    with pytest.raises(gc.ParameterError, match="expected a bipartite one"):
        _ = gc.communities(nx.path_graph(3), rng=0).row_labels


def test_several_graphs_show_what_none_does_alone():
    truth = np.repeat(range(4), 40)
    chances = np.full((4, 4), 0.045) + 0.085 * np.eye(4)
    graphs = {name: nx.stochastic_block_model([40] * 4, chances, seed=seed) for seed, name in enumerate("abc")}
    together = gc.communities(graphs, weight=None, rng=0)
    alone = [gc.adjusted_rand_index(gc.communities(graph, weight=None, rng=0), truth) for graph in graphs.values()]
    assert gc.adjusted_rand_index(together.labels, truth) > 0.9 > max(alone) + 0.1
    expected = {name: gc.modularity(graph, together.labels, weight=None) for name, graph in graphs.items()}
    assert together.layer_modularity == pytest.approx(expected)
    assert together.modularity == pytest.approx(np.mean([*expected.values()]))


def test_slices_tell_the_cluster_of_each_node_in_each():
    graphs = {year: nx.barbell_graph(5, 0) for year in (2023, 2024)}
    found = gc.communities(gc.time_slices(graphs, 0.5), rng=0)
    by_slice = found.by_slice()
    assert by_slice[2023] == by_slice[2024] == {node: int(node > 4) for node in range(10)}
    assert found.as_dict()[7, 2024] == 1
    apart = gc.communities(gc.time_slices(graphs, 0.0), rng=0)
    assert apart.k == 4


@for_each("kind", ["directed", "bipartite", "signed", "several"])
def test_labels_do_not_depend_on_storage_order_or_threads(kind):
    G, options = random_graphs(kind, 3)
    several = kind == "several"
    first = gc.communities(G, rng=0, **options).labels
    for form in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        other = [form(one) for one in G] if several else form(G)
        with gc.limit_threads(1):
            assert (gc.communities(other, rng=0, **options).labels == first).all()


def run(capsys, *arguments):
    code = cli.main([str(word) for word in arguments])
    return (code, *capsys.readouterr())


def test_kinds_and_layers_of_files_on_the_command_line(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("source,target,weight\na,b,2\nb,c,1\nc,a,1\nd,e,1\ne,f,3\nf,d,1\nc,d,1\n")
    (tmp_path / "b.csv").write_text("source,target,weight\na,d,1\nb,e,2\nb,c,2\n")
    (tmp_path / "s.csv").write_text("source,target,weight\na,b,2\nb,c,-1\nc,d,2\n")
    (tmp_path / "sales.csv").write_text("customer,product\n1,1\n1,2\n2,1\n3,3\n4,3\n")
    for name, kind in (("a", "directed"), ("s", "signed"), ("sales", "bipartite")):
        path, out = tmp_path / f"{name}.csv", tmp_path / f"{name}.tsv"
        code, said, err = run(capsys, "communities", path, "--kind", kind, "-o", out, "--report", "json")
        assert (code, err) == (0, "") and json.loads(said)["kind"] == kind
        found = gc.communities(path, kind=kind, rng=0)
        nodes, labels = gc.read_labels(out)
        assert dict(zip(map(str, nodes), labels.tolist(), strict=True)) == {
            str(u): c for u, c in found.as_dict().items()
        }
        code, said, err = run(capsys, "compare", out, out, "--graph", path, "--kind", kind)
        assert (code, err) == (0, "") and found.modularity_name in said and f"{found.modularity:.4f}" in said
    code, said, _ = run(capsys, "communities", tmp_path / "a.csv", tmp_path / "b.csv", "--layer-weights", "1,2",
                        "--resolution", "1,0.5", "--report", "json")  # fmt: skip
    found = gc.communities([tmp_path / "a.csv", tmp_path / "b.csv"], layer_weights=[1, 2], resolution=[1, 0.5], rng=0)
    assert code == 0 and json.loads(said)["sizes"] == found.sizes.tolist()
    code, _, err = run(capsys, "communities", tmp_path / "a.csv", tmp_path / "b.csv", "--layer-weights", "1,-1")
    assert code == cli.WRONG_USE and "--layer-weights" in err and "sum to 0" in err


def test_several_graphs_of_cells_are_the_layers_of_one_clustering():
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(shape=(20, 0))
    for key, seed in (("rna", 1), ("atac", 2)):
        graph = nx.stochastic_block_model([10, 10], [[0.8, 0.1], [0.1, 0.8]], seed=seed)
        adata.obsp[key] = nx.to_scipy_sparse_array(graph, dtype=float, format="csr")
    gc.cluster_anndata(adata, obsp=["rna", "atac"], layer_weights=[1, 2], resolution=1.0, key_added="both")
    expected = gc.communities([adata.obsp["rna"], adata.obsp["atac"]], layer_weights=[1, 2], rng=0)
    assert (adata.obs["both"].astype(int).to_numpy() == expected.labels).all()
    found = adata.uns["both"]
    assert (found["params"]["obsp"], found["params"]["layer_weights"]) == (["rna", "atac"], [1.0, 2.0])
    assert found["modularity"] == expected.modularity
    given = [adata.obsp["rna"], adata.obsp["atac"]]
    gc.cluster_anndata(adata, adjacency=given, layer_weights=[1, 2], resolution=1.0, key_added="given")
    assert (adata.obs["given"] == adata.obs["both"]).all()
    with pytest.raises(gc.ParameterError, match="is for several graphs"):
        gc.cluster_anndata(adata, obsp="rna", layer_weights=[1], resolution=1.0)


@for_each("kind", ["directed", "bipartite", "signed", "several"])
def test_what_knows_undirected_graphs_only_says_so(kind):
    G, options = random_graphs(kind, 1)
    layered = as_layered(G, **options)
    found = gc.communities(layered, rng=0)
    for call in (found.certainty, found.update, found.drift, found.model, found.table, lambda: found.normalized_cut):
        with pytest.raises(gc.ParameterError, match=f"for undirected graphs only, and the graph is {kind}"):
            call()
    for call in (gc.cluster_path, gc.normalized_cut, gc.conductance):
        arguments = (layered, [1, 2]) if call is gc.cluster_path else (layered, np.zeros(layered.n_nodes, int))
        with pytest.raises(TypeError, match=f"G is a {kind} LayeredGraph, expected an undirected graph"):
            call(*arguments)


def test_the_estimator_takes_directed_and_signed_matrices():
    pytest.importorskip("sklearn")
    for kind in ("directed", "signed"):
        A, _ = random_graphs(kind, 2)
        model = gc.GraphClustering(affinity="precomputed", kind=kind, random_state=0).fit(A)
        assert (model.labels_ == gc.communities(A, kind=kind, rng=0).labels).all()
        assert model.clustering_.kind == kind
        with pytest.raises(ValueError, match="affinity='precomputed'"):
            gc.GraphClustering(kind=kind).fit(A)
    with pytest.raises(ValueError, match="Negative values"):
        gc.GraphClustering(affinity="precomputed").fit(A)
