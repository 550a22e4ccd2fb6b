"""Clusters of directed, bipartite, signed graphs and of several: through each door, by the values of brute force."""

import json

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from reference.objectives import partitions
from scipy import sparse
from scipy.cluster.hierarchy import is_valid_linkage

import graphclust as gc
from graphclust.compiled.runtime.blocks import set_threads
from graphclust.faces.cli import main as cli
from graphclust.graph.node_order import in_order
from graphclust.io.kinds import as_layered

KINDS = ("directed", "bipartite", "signed", "several")


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


def planted(kind, n=120, seed=0):
    """A graph of four planted clusters, u % 4, and an isolated node at the end; with the options that tell its kind."""
    rng, of = np.random.default_rng(seed), np.arange(n) % 4
    same = of[:, None] == of
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = rng.random((n, n)) < np.where(same, 0.4, 0.03)
    np.fill_diagonal(A, 0.0)
    upper = np.triu(A, 1)
    if kind == "directed":
        return A, {"kind": kind}
    if kind == "bipartite":
        return A[: n // 2, n // 2 :], {}
    if kind == "signed":
        upper[:n, :n] -= np.triu((rng.random((n, n)) < 0.1) & ~same & (A[:n, :n] == 0), 1)
        return upper + upper.T, {"kind": kind}
    other = np.roll(upper, 4, axis=(0, 1)) * (upper == 0)
    return [upper + upper.T, np.triu(other, 1) + np.triu(other, 1).T], {}


@for_each("kind", KINDS)
def test_the_best_partition_of_small_graphs_is_found(kind):
    for seed in range(12):
        G, options = random_graphs(kind, seed)
        layered = as_layered(G, **options)
        best = max(layered.modularity(labels) for labels in partitions(6))
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


@for_each("kind", KINDS)
def test_labels_depend_neither_on_storage_nor_order_nor_threads(kind):
    G, options = planted(kind, 60)
    layered = as_layered(G, **options)
    names = np.array([f"node {u}" for u in range(layered.n_nodes)])
    order, low = np.random.default_rng(5).permutation(layered.n_nodes), {"effort": "low"}
    shuffled = layered.take(order, in_order(layered.combined, order), with_arcs=True).with_names(names[order])
    for call, given in ((gc.communities, low), (gc.coreset_sc, {"k": 4} | low), (gc.hierarchy, {"max_size": 12})):

        def labels_of(G, **options):
            found = call(G, rng=0, **options | given)  # noqa: B023
            return found.levels[-1] if call is gc.hierarchy else found.labels  # noqa: B023

        first = labels_of(G, **options)
        for form in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
            forms = [form(one) for one in (G if kind == "several" else [G])]
            for one in forms:
                for indices in ("row", "col") if form is sparse.coo_array else ("indices", "indptr"):
                    setattr(one, indices, getattr(one, indices).astype(np.int64))
            assert (labels_of(forms if kind == "several" else forms[0], **options) == first).all()
        named = labels_of(layered.with_names(names))
        assert (labels_of(shuffled) == named[order]).all()
        for threads in (1, 2, 3):
            before = set_threads(threads)
            try:
                assert (labels_of(layered.with_names(names)) == named).all()
            finally:
                set_threads(before)


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


def test_one_resolution_in_a_list_is_that_of_the_only_graph():
    G = nx.karate_club_graph()
    one, listed = (gc.communities(G, resolution=at, rng=0) for at in (2, [2]))
    assert (one.labels == listed.labels).all() and one.parameters == listed.parameters


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


@for_each("kind", KINDS)
def test_what_knows_undirected_graphs_only_says_so(kind):
    G, options = random_graphs(kind, 1)
    layered = as_layered(G, **options)
    found = gc.communities(layered, rng=0)
    for call in (found.certainty, found.model, found.table, lambda: found.normalized_cut):
        refuses(gc.ParameterError, f"for undirected graphs only, and the graph is {kind}", call)
    for call in (gc.cluster_path, gc.normalized_cut, gc.conductance):
        arguments = (layered, [1, 2]) if call is gc.cluster_path else (layered, np.zeros(layered.n_nodes, int))
        refuses(TypeError, f"G is a {kind} LayeredGraph, expected an undirected graph", call, *arguments)


def test_the_estimator_takes_directed_and_signed_matrices():
    pytest.importorskip("sklearn")
    for kind in ("directed", "signed"):
        A, _ = random_graphs(kind, 2)
        model = gc.GraphClustering(affinity="precomputed", kind=kind, random_state=0).fit(A)
        assert (model.labels_ == gc.communities(A, kind=kind, rng=0).labels).all()
        assert model.clustering_.kind == kind
        refuses(ValueError, "affinity='precomputed'", gc.GraphClustering(kind=kind).fit, A)
    refuses(ValueError, "Negative values", gc.GraphClustering(affinity="precomputed").fit, A)


@for_each("kind", KINDS)
def test_planted_clusters_are_found_and_any_k_is_made(kind):
    G, options = planted(kind)
    layered = as_layered(G, **options)
    found = gc.coreset_sc(G, 4, rng=0, **options)
    truth = np.arange(120) % 4
    assert gc.adjusted_rand_index(found.labels[:120], truth) > 0.95
    assert found.kind == kind and found.modularity == pytest.approx(layered.modularity(found.labels), abs=1e-12)
    assert (found.labels >= 0).tolist() == (~layered.combined.isolated).tolist()
    for k in (1, 2, 3, 11):
        few = gc.coreset_sc(G, k, resolution=1.0, rng=0, **options)
        assert few.n_clusters == k
        assert few.n_pieces == k or kind == "signed"
    assert found.resolution is not None and found.parameters["method"] == "multilevel"


@for_each("kind", KINDS)
def test_an_interrupted_clustering_is_judged_as_one_of_its_kind(kind):
    G, options = planted(kind)

    def stop(stage, done, total):
        if stage == "partition" and done > 0:
            raise KeyboardInterrupt

    with pytest.raises(gc.Interrupted) as caught:
        gc.coreset_sc(G, 4, effort="high", rng=0, progress=stop, **options)
    best = caught.value.best
    assert best.kind == kind and best.modularity == pytest.approx(as_layered(G, **options).modularity(best.labels))


@pytest.mark.slow  # the loops of bounds take seconds to compile
@for_each("kind", KINDS)
def test_clusters_hold_what_bounds_say(kind):
    G, options = planted(kind)
    linked = ~as_layered(G, **options).combined.isolated
    for bounds in ({"max_size": 20}, {"min_size": 10, "max_size": 16}):
        sizes = np.bincount(gc.communities(G, rng=0, **options, **bounds).labels[linked])
        assert sizes.max() <= bounds["max_size"] and sizes[sizes > 1].min() >= bounds.get("min_size", 1)
        for k in (8, 9):
            found = gc.coreset_sc(G, k, rng=0, **options, **bounds)
            assert len(found.sizes) == k and found.sizes.max() <= bounds["max_size"]
            assert found.sizes.min() >= bounds.get("min_size", 1)
    refuses(gc.ParameterError, "expected max_size >= ", gc.coreset_sc, G, 4, max_size=10, rng=0, **options)


@for_each("kind", KINDS)
def test_levels_nest_within_the_bound_and_begin_with_communities(kind):
    G, options = planted(kind)
    layered = as_layered(G, **options)
    found = gc.hierarchy(G, max_size=12, rng=0, **options)
    coarsest = gc.communities(G, effort="low", rng=0, **options)
    assert (found.levels[0] == coarsest.labels).all() and len(found.levels) > 1
    for above, below in zip(found.levels, found.levels[1:], strict=False):
        assert len({*zip(above.tolist(), below.tolist(), strict=True)}) == below.max() + 1 > above.max() + 1
    assert found.sizes_on(-1).max() <= 12 and is_valid_linkage(found.linkage())
    assert found.modularities == pytest.approx([layered.modularity(labels) for labels in found.levels], abs=1e-12)
    assert coarsest.modularity_name in str(found) and json.loads(found.to_json())["options"]["kind"] == kind
    cut = found.cut(found.levels[0].max() + 1)
    assert (cut.labels == found.levels[0]).all() and cut.kind == kind
    natural = gc.hierarchy(G, rng=0, **options)
    assert gc.adjusted_rand_index(natural.levels[0][:120], np.arange(120) % 4) > 0.95
    for call, words in (
        (lambda: found.nats_saved, "undirected graphs only"),
        (lambda: gc.hierarchy(G, start=coarsest, **options), f"start is not for the levels of a {kind} graph"),
    ):
        refuses(gc.ParameterError, words, call)


def test_levels_of_a_kind_are_written_and_not_taken_for_those_of_another(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("source,target\na,b\nb,c\nc,a\nd,e\ne,f\nf,d\nc,d\n")
    written = tmp_path / "levels.json"
    code, said, err = run(capsys, "hierarchy", tmp_path / "a.csv", "--kind", "directed", "--max-size", 2, "-o", written)
    assert (code, err) == (0, "") and "directed modularity" in said
    assert json.loads(written.read_text())["n_levels"] == 2
    refuses(gc.GraphValidationError, "levels of a directed graph", gc.load_model, written)
    code, _, err = run(capsys, "hierarchy", tmp_path / "a.csv", "--kind", "directed", "--html", tmp_path / "a.html")
    assert code == cli.WRONG_USE and "--html shows undirected graphs only" in err


@for_each("kind", KINDS)
def test_a_start_of_a_kind_is_kept_or_bettered(kind):
    G, options = planted(kind)
    first = gc.communities(G, rng=0, **options)
    worse = np.where(np.arange(len(first.labels)) < 12, 0, first.labels)
    later = gc.communities(G, start=worse, rng=0, **options)
    assert later.modularity >= gc.modularity(G, worse, **options) and (later.ids == first.ids).all()
    again = gc.communities(G, start=first, rng=0, **options)
    assert (again.labels == first.labels).all() and {change.kind for change in again.changes} == {"kept"}


def test_what_undirected_graphs_alone_have_is_refused_with_what_to_do_instead():
    D = nx.gnp_random_graph(20, 0.3, seed=1, directed=True)
    for options, expected in (
        ({"k": None}, "communities"),
        ({"objective": "normalized_cut"}, "'modularity' or 'constant_potts'"),
        ({"method": "two-step"}, 'symmetrize="sum"'),
        ({"k": 21}, "20 nodes"),
    ):
        refuses(gc.ParameterError, expected, gc.coreset_sc, D, **{"k": 3} | options)
