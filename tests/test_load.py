# ruff: noqa: E501 - names of files, many a line
"""What graph a file holds: policies by hand, then against SciPy and NetworkX, then every format against each other."""

import gzip
import pathlib
import tarfile
import tracemalloc
import warnings

import networkx as nx
import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

import graphclust
from graphclust import describe, load_graph, read_labels, save_graph, write_labels
from graphclust.compiled.text import decimals
from graphclust.errors import (
    GraphFormatError,
    GraphValidationError,
    GraphWarning,
    ParameterError,
    ResourceLimitError,
)
from graphclust.graph.checked_rows import graph_from_csr
from graphclust.graph.container import Graph
from graphclust.graph.gate import as_graph
from graphclust.io import edge_sorting, source
from graphclust.io.load import FORMATS
from graphclust.io.matrix_market import read_matrix_market
from graphclust.io.source import open_source
from graphclust.progress import Progress

BANNER = "%%MatrixMarket matrix coordinate real general\n"


def load(tmp_path: pathlib.Path, text: str, name: str = "graph.txt", **options):
    """The dense adjacency matrix of a small graph, the graph and the info of a file with this text."""
    path = tmp_path / name
    path.write_text(text)
    graph, info = load_graph(path, return_info=True, **options)
    assert same_csr(graph, graph_from_csr(graph.indptr, graph.indices, graph.weights)), "not as the gate wants it"
    return graph.to_scipy().toarray() if graph.n_nodes < 1000 else None, graph, info


def same_csr(a: Graph, b: Graph) -> bool:
    arrays = ("indptr", "indices", "weights", "degrees", "loops")
    pairs = [(getattr(a, name), getattr(b, name)) for name in arrays]
    return all((x is None and y is None) or (x.dtype == y.dtype and np.array_equal(x, y)) for x, y in pairs)


# -- policies, by hand


def test_directions_join_by_max_or_sum(tmp_path):
    text = "0 1 3\n1 0 5\n1 2 2\n"
    dense, _, info = load(tmp_path, text, weights="file")
    assert dense.tolist() == [[0, 5, 0], [5, 0, 2], [0, 2, 0]]
    assert (info.counts.two_way, info.counts.unequal, info.counts.one_way) == (1, 1, 1)
    assert "each edge has the larger of its two weights" in info.remarks[0]
    assert load(tmp_path, text, weights="file", symmetrize="sum")[0].tolist() == [[0, 8, 0], [8, 0, 2], [0, 2, 0]]
    with pytest.raises(GraphValidationError, match=r"the first \(0, 1\)"):
        load(tmp_path, text, weights="file", symmetrize=None)


def test_without_weights_both_directions_are_one_edge_of_weight_1(tmp_path):
    dense, graph, info = load(tmp_path, "0 1\n1 0\n1 2\n2 1\n")
    assert dense.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.weights is None and info.remarks == ()
    assert load(tmp_path, "0 1\n1 0\n1 2\n", symmetrize="sum")[0].tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]


def test_repeated_edges_are_added_up_or_counted_once(tmp_path):
    dense, _, info = load(tmp_path, "0 1 1.5\n0 1 2\n1 0 4\n", weights="file")
    assert dense[0, 1] == 4 and info.counts.duplicates == 1
    assert any("1 repeated entries, the first (0, 1), were added up" in remark for remark in info.remarks)
    dense, _, info = load(tmp_path, "0 1\n0 1\n1 1\n1 1\n")
    assert dense.tolist() == [[0, 1], [1, 1]] and info.counts.duplicates == 2
    assert any("2 repeated entries" in remark and "counted once" in remark for remark in info.remarks)


def test_loops_stay_and_zeros_are_no_edges(tmp_path):
    dense, graph, info = load(tmp_path, BANNER + "3 3 4\n1 1 2\n1 2 0\n2 3 4\n3 2 4\n")
    assert dense.tolist() == [[2, 0, 0], [0, 0, 4], [0, 4, 0]]
    assert graph.loops.tolist() == [2, 0, 0] and info.counts.zeros == 1 and info.counts.loops == 1
    assert any("1 entries of weight 0" in remark for remark in info.remarks)


def test_weights_as_they_are_absolute_or_ignored(tmp_path):
    text = BANNER + "2 2 2\n1 2 -3\n2 1 -3\n"
    with pytest.raises(GraphValidationError, match=r"2 negative weights, the first -3 at \(1, 2\) in line 3"):
        load(tmp_path, text)
    assert load(tmp_path, text, weights="abs")[0][0, 1] == 3
    assert load(tmp_path, text, weights="ignore")[1].weights is None


def test_a_third_column_without_a_name_is_said(tmp_path):
    path = tmp_path / "times.txt"
    path.write_text("1 2 1082040961\n2 3 1082155839\n")
    with pytest.warns(GraphWarning, match="third column was read as weights"):
        load_graph(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_graph(path, weights="ignore").weights is None
        assert load_graph(path, weights="file").weights is not None


def test_directed_files_warn_and_undirected_lists_do_not(tmp_path):
    (tmp_path / "a.txt").write_text("1 2\n2 1\n2 3\n")
    with pytest.warns(GraphWarning, match="the graph was directed"):
        load_graph(tmp_path / "a.txt")
    (tmp_path / "b.txt").write_text("1 2\n2 3\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "one direction" in load_graph(tmp_path / "b.txt").remarks[0]


def test_isolated_nodes_of_a_matrix_are_nodes(tmp_path):
    _, graph, info = load(tmp_path, BANNER.replace("general", "symmetric") + "4 4 1\n3 1 2\n")
    assert graph.n_nodes == 4 and graph.isolated.tolist() == [False, True, False, True]
    assert "2 isolated nodes" in info.remarks[0]


def test_ids_become_nodes_in_increasing_order(tmp_path):
    _, graph, _ = load(tmp_path, "30 5\n5 1000\n")
    assert graph.nodes.tolist() == [5, 30, 1000]
    assert graph.neighbors(0).tolist() == [1, 2]
    assert load(tmp_path, "1 0\n2 0\n")[1].nodes is None


def test_sparse_ids_take_a_table(tmp_path):
    rng = np.random.default_rng(518)
    ids = np.unique(rng.integers(0, 2**62, 70_000))
    ends = rng.integers(0, len(ids), (100_000, 2))
    _, graph, _ = load(tmp_path, "".join(f"{u} {v}\n" for u, v in ids[ends].tolist()))
    _, dense, _ = load(
        tmp_path, "".join(f"{u} {v}\n" for u, v in np.unique(ends, return_inverse=True)[1].reshape(-1, 2).tolist())
    )
    assert graph.nodes.tolist() == ids[np.unique(ends)].tolist()
    assert same_csr(graph, dense)


def test_text_ids_are_numbered_as_they_appear(tmp_path):
    _, graph, info = load(tmp_path, '"Smith, J",Ann,2\nAnn,Öz,1\n', weights="file")
    assert graph.nodes == ["Smith, J", "Ann", "Öz"] and graph.weights.tolist() == [2, 2, 1, 1]
    assert info.format == "csv"
    assert load(tmp_path, "2 1\n1 7\n", format="csv")[1].nodes == ["2", "1", "7"]


def test_columns_by_their_names(tmp_path):
    text = "Id;Target;Source;Kind;Weight\n0;7;5;x y;2.5\n1;9;7;;3\n"
    dense, graph, info = load(tmp_path, text)
    assert graph.nodes.tolist() == [5, 7, 9]
    assert dense.tolist() == [[0, 2.5, 0], [2.5, 0, 3], [0, 3, 0]]
    assert any("columns not used: Id, Kind" in remark for remark in info.remarks)


@pytest.mark.parametrize(
    "header",
    ["source,target", "From Node,To Node", "name1,name2", "Gene A,Gene B", "id_a,id_b", "u,v", '"Node 1","Node 2"'],
)
def test_a_line_of_names_is_no_edge(tmp_path, header):
    _, graph, _ = load(tmp_path, f"{header}\nann,bob\nbob,carol\n")
    assert graph.nodes == ["ann", "bob", "carol"]


@pytest.mark.parametrize("header", ["protein1 protein2 combined_score", "left right score", "this that value"])
def test_a_line_with_a_name_where_the_others_have_a_number_is_no_edge(tmp_path, header):
    _, graph, info = load(tmp_path, f"{header}\nann bob 3\nbob carol 4\n")
    assert graph.nodes == ["ann", "bob", "carol"] and graph.weights.tolist() == [3, 3, 4, 4]
    name = header.split()[2]
    assert any(f"column '{name}' was read as weights" in remark for remark in info.remarks)
    assert load(tmp_path, f"{header}\nann bob 3\nbob carol 4\n", weights="ignore")[1].weights is None


def test_nodes_that_are_called_like_columns_stay_nodes(tmp_path):
    assert load(tmp_path, "node1 node2\nnode2 node3\n")[1].nodes == ["node1", "node2", "node3"]
    assert load(tmp_path, "u v\nv w\n")[1].nodes == ["u", "v", "w"]


def test_a_first_line_that_may_be_names_is_said(tmp_path):
    _, graph, info = load(tmp_path, "left,right\nann,bob\nbob,carol\n")
    assert graph.nodes[:2] == ["left", "right"]
    assert any("was read as an edge of 'left' and 'right'" in remark for remark in info.remarks)
    for text in ("ann,bob\nbob,carol\n", "ann,bob\nann,carol\n", "ann,bob\n"):
        assert not any("was read as an edge" in remark for remark in load(tmp_path, text)[2].remarks)


@pytest.mark.parametrize("nodes", ["1{0}2", "a{0}b"])
@pytest.mark.parametrize(
    ("delimiter", "weight", "expected"),
    [
        (";", "1,5", "'1,5', expected a number with a decimal point"),
        (" ", "1,5", "expected"),
        ("\t", "1;5", "'1;5', expected a number"),
        (",", "2021 01", "expected"),
        (",", "3 kg", "expected"),
        (",", "4x", "'4x', expected a number"),
        (",", "1_0", "'1_0', expected a number"),
        (",", "", "expected"),
    ],
)
def test_a_weight_is_a_number_as_a_whole(tmp_path, nodes, delimiter, weight, expected):
    line = nodes.format(delimiter) + delimiter
    (tmp_path / "graph.txt").write_text(f"{line}2\n{line}{weight}\n")
    with pytest.raises(GraphFormatError, match=expected) as caught:
        load_graph(tmp_path / "graph.txt", weights="file")
    assert caught.value.line == 2


def test_header_that_announces_more_edges(tmp_path):
    _, _, info = load(tmp_path, "# Nodes: 3 Edges: 5\n1 2\n2 3\n")
    assert any("announces 5 edges, 2 lines follow" in remark for remark in info.remarks)
    assert not any("announces" in remark for remark in load(tmp_path, "# Nodes: 3 Edges: 2\n1 2\n2 3\n")[2].remarks)


def test_metis_by_hand(tmp_path):
    """The figure of the METIS manual: 7 nodes, 11 edges, with sizes, two weights a node, and edge weights."""
    text = """% comment
7 11 111 2
1 1 2  5 1 3 2 2 1
1 1 2  1 1 3 2 4 1
1 1 2  5 3 4 2 2 2 1 2
1 1 2  2 1 3 2 6 2 7 5
1 1 2  1 1 3 3 6 2
1 1 2  5 2 4 2 7 6
1 1 2  6 6 4 5
"""
    dense, _, info = load(tmp_path, text)
    assert info.format == "metis" and (dense == dense.T).all() and np.count_nonzero(dense) == 22
    assert dense[3, 6] == 5 and dense[5, 6] == 6 and dense[0, 4] == 1
    assert "3 numbers before the neighbours" in info.remarks[0]


def test_a_rectangular_matrix_is_bipartite_if_asked(tmp_path):
    text = BANNER + "2 3 4\n1 1 2\n1 3 5\n2 3 1\n2 1 0\n"
    with pytest.raises(GraphValidationError, match=r"2 x 3, expected a square.*bipartite=True"):
        load(tmp_path, text)
    dense, _, info = load(tmp_path, text, bipartite=True)
    B = np.array([[2, 0, 5], [0, 0, 1]])
    assert dense.tolist() == np.block([[np.zeros((2, 2)), B], [B.T, np.zeros((3, 3))]]).tolist()
    assert info.remarks[0] == "bipartite: rows are the nodes 0 to 1, columns those from 2 to 4"
    assert load(tmp_path, BANNER + "2 2 2\n1 1 1\n1 2 1\n", bipartite=True)[0].tolist()[0] == [0, 0, 1, 1]
    with pytest.raises(GraphFormatError, match="index 4 is out of bounds, expected 1 to 3"):
        load(tmp_path, BANNER + "2 3 1\n1 4 2\n", bipartite=True)
    with pytest.raises(GraphValidationError, match=r"first -2 at \(1, 3\) in line 3"):
        load(tmp_path, BANNER + "2 3 1\n1 3 -2\n", bipartite=True)
    with pytest.raises(GraphValidationError, match="symmetric"):
        load(tmp_path, BANNER.replace("general", "symmetric") + "2 2 1\n2 1 1\n", bipartite=True)
    with pytest.raises(ParameterError, match="bipartite=True needs a matrix"):
        load(tmp_path, "1 2\n", bipartite=True)


def test_suitesparse_companions(tmp_path):
    content = {"K/K_nodename.txt": "a\nb\n", "K/K_coord.mtx": "%%MatrixMarket matrix array real general\n2 1\n3\n4\n"}
    content["K/K.mtx"] = BANNER + "2 2 2\n1 2 3\n2 1 3\n"
    with tarfile.open(tmp_path / "K.tar.gz", "w:gz") as archive:
        for name, text in content.items():
            (tmp_path / "member").write_text(text)
            archive.add(tmp_path / "member", name)
    graph, info = load_graph(tmp_path / "K.tar.gz", return_info=True)
    assert (graph.n_edges, info.format, info.compression) == (1, "suitesparse", "gzip")
    assert info.details["node_names"] == ["a", "b"] and info.details["coordinates"].tolist() == [[3], [4]]


def test_as_graph_takes_a_path(tmp_path):
    (tmp_path / "g.mtx").write_text(BANNER + "3 3 2\n1 2 1\n3 2 5\n")
    with pytest.warns(GraphWarning, match="the graph was directed"):
        assert as_graph(str(tmp_path / "g.mtx")).n_edges == 2


def test_limits_and_arguments(tmp_path):
    path = tmp_path / "g.mtx"
    path.write_text(BANNER + "3 3 1\n1 2 1\n")
    with pytest.raises(ResourceLimitError, match="memory_limit"):
        load_graph(path, memory_limit=10)
    for name, value in (("format", "xml"), ("symmetrize", "mean"), ("weights", "log"), ("max_bytes", 0)):
        with pytest.raises(ParameterError, match=name):
            load_graph(path, **{name: value})
    with pytest.raises(TypeError, match="path=3"):
        load_graph(3)


def test_progress_and_stop(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(1000)))
    steps = []
    load_graph(path, progress=lambda stage, done, total: steps.append((stage, done / total)))
    assert {stage for stage, _ in steps} == {"reading", "building the graph"} and steps[-1][1] == 1

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_graph(path, progress=stop)


# -- against other programs


@pytest.mark.parametrize("seed", [518, 2209, 7741])
def test_matrix_market_agrees_with_scipy(tmp_path, seed):
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array((60, 60), density=0.1, rng=rng, data_sampler=lambda size: rng.lognormal(size=size))
    scipy_io.mmwrite(tmp_path / "m.mtx", matrix, precision=17)
    directed = scipy_io.mmread(tmp_path / "m.mtx").tocsr()
    graph, _ = load_graph(tmp_path / "m.mtx", return_info=True)
    assert (graph.to_scipy() != directed.maximum(directed.T)).nnz == 0
    both = (directed + directed.T).tocsr()
    both.setdiag(directed.diagonal())
    graph, _ = load_graph(tmp_path / "m.mtx", return_info=True, symmetrize="sum")
    assert np.array_equal(graph.to_scipy().toarray(), both.toarray())


@pytest.mark.parametrize("delimiter", [" ", "\t", ",", ";"])
def test_weights_are_read_as_float_does(tmp_path, delimiter):
    """A third of them by two exact factors, the others by Python: none may differ in the last bit."""
    rng = np.random.default_rng(2209)
    words = [repr(x) for x in rng.lognormal(sigma=40, size=300).tolist()]
    words += [
        f"{mantissa}e{exponent}"
        for mantissa, exponent in zip(rng.integers(1, 2**60, 300), rng.integers(-60, 60, 300), strict=True)
    ]
    words += [f"{x:.{digits}f}" for digits in (0, 1, 5, 20) for x in rng.random(50) * 1e4 + 1]
    words += [
        "0" * 30 + "1.5",
        "1" + "0" * 25,
        ".5",
        "5.",
        "1.e3",
        "+7",
        "9007199254740993",
        "0." + "0" * 30 + "1",
        "3" * 40,
    ]
    text = "".join(f"{i}{delimiter}{i + 1}{delimiter}{word}\n" for i, word in enumerate(words))
    graph = load(tmp_path, text, weights="file")[1]
    upper = sparse.triu(graph.to_scipy(), 1).tocsr()
    assert upper.data.tolist() == [float(word) for word in words]


def test_the_nearest_float_of_any_text():
    """Random bits as Python writes them, long and short decimals, and points half way between two floats."""
    rng = np.random.default_rng(518)
    floats = np.abs(rng.integers(0, 0x7FEFFFFFFFFFFFFF, 4000).view(np.float64))
    words = list(map(repr, floats.tolist())) + [f"{x:.25e}" for x in floats[:500].tolist()]
    words += [f"{m}E{e:+d}" for m, e in zip(rng.integers(0, 2**63, 3000), rng.integers(-345, 310, 3000), strict=True)]
    lower = rng.integers(2**52, 2**53, 1000)
    words += [f"{10 * m + 5}e-1" for m in lower.tolist()] + [f"{(2 * m + 1) << 7}" for m in lower.tolist()]
    words += [f"{10 * m + 5}.{'0' * i}1e-1" for i, m in enumerate(lower[:30].tolist())]
    n_sure = 0
    for word in words:
        with np.errstate(over="ignore"):  # interpreted loops warn of what wraps round
            end, value, sure = decimals.read_number(np.frombuffer(f"{word} ".encode(), np.uint8), 0, False)
        assert end == len(word) and (not sure or value == float(word)), word
        n_sure += sure
    assert n_sure > 0.9 * len(words)
    for word in ("", "-", ".", "e5", "1e", "1e+", "nan"):
        with np.errstate(over="ignore"):
            end, *_ = decimals.read_number(np.frombuffer(f"{word} ".encode(), np.uint8), 0, False)
        assert end == decimals.NO_NUMBER


def test_real_values_of_any_length_agree_with_scipy(tmp_path):
    rng = np.random.default_rng(7741)
    values = rng.lognormal(sigma=90, size=3000).tolist()
    words = [f"{x:.{rng.integers(0, 22)}e}" for x in values] + list(map(repr, values)) + ["5e-324", "2.5e-323"]
    lines = [f"{i + 1} {i + 2} {word}" for i, word in enumerate(words)]
    text = BANNER + f"{len(words) + 1} {len(words) + 1} {len(words)}\n" + "\n".join(lines)
    (tmp_path / "g.mtx").write_text(text)
    with open_source(tmp_path / "g.mtx") as opened:
        chunks = read_matrix_market(opened, "file", None, Progress()).chunks
    assert np.concatenate([part[2] for part in chunks]).tolist() == scipy_io.mmread(tmp_path / "g.mtx").data.tolist()


def test_graphml_and_gml_agree_with_networkx(tmp_path):
    graph = nx.les_miserables_graph()
    nx.write_graphml(graph, tmp_path / "g.graphml")
    nx.write_gml(graph, tmp_path / "g.gml")
    expected = as_graph(graph)
    for name in ("g.graphml", "g.gml"):
        loaded, info = load_graph(tmp_path / name, return_info=True)
        assert same_csr(loaded, expected) and loaded.nodes == list(graph) and info.format == name[2:]


def test_edge_list_agrees_with_networkx(tmp_path):
    graph = nx.gnp_random_graph(80, 0.1, seed=7741)
    graph.remove_nodes_from(list(nx.isolates(graph)))
    nx.write_edgelist(graph, tmp_path / "g.txt", data=False)
    matrix = nx.to_scipy_sparse_array(graph, nodelist=sorted(graph), dtype=float)
    assert same_csr(load_graph(tmp_path / "g.txt"), as_graph(matrix))


# -- every format against every other


@st.composite
def graphs(draw):
    """Small graphs without isolated nodes or loops, whose weights are whole: what all formats can hold."""
    n = draw(st.integers(2, 12))
    weighted = draw(st.booleans())
    edges = {(i, i + 1): 1 for i in range(n - 1)}
    for u, v in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30)):
        if u != v:
            edges[min(u, v), max(u, v)] = 1
    if weighted:
        edges = {edge: draw(st.integers(1, 10**6)) for edge in edges}
    network = nx.Graph()
    network.add_nodes_from(range(n))
    network.add_weighted_edges_from((u, v, w) for (u, v), w in sorted(edges.items()))
    return network


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_and_pieces_change_nothing(tmp_path, monkeypatch, weighted):
    """Repeated edges, whose weights are added in the order of the file, both directions, loops, gaps in the ids."""
    rng = np.random.default_rng(2209)
    ends = rng.integers(0, 300, (30_000, 2)) * 3
    weights = [f" {x!r}" for x in rng.random(len(ends)).tolist()] if weighted else [""] * len(ends)
    text = "".join(f"{u} {v}{w}\n" for (u, v), w in zip(ends.tolist(), weights, strict=True))
    _, expected, info = load(tmp_path, text, weights="file")
    dense = np.zeros((2, 300, 300))
    if weighted:
        np.add.at(dense[0], tuple(ends.T // 3), list(map(float, weights)))
    else:
        dense[0][tuple(ends.T // 3)] = 1
    dense[1] = dense[0].T
    assert np.array_equal(expected.to_scipy().toarray(), dense.max(axis=0))
    assert info.counts.duplicates == len(ends) - np.count_nonzero(dense[0])
    assert (info.counts.loops, info.counts.two_way) == (
        np.count_nonzero(np.diag(dense[0])), np.count_nonzero(np.triu(dense[0] * dense[1], 1)),
    )  # fmt: skip
    monkeypatch.setattr(edge_sorting, "STEP", 1000)
    monkeypatch.setattr(source, "BLOCK", 1 << 16)
    n_threads = numba.get_num_threads()
    for threads in (1, n_threads):
        numba.set_num_threads(threads)
        try:
            _, graph, again = load(tmp_path, text, weights="file")
        finally:
            numba.set_num_threads(n_threads)
        assert same_csr(graph, expected) and again.counts == info.counts and (graph.nodes == expected.nodes).all()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(network=graphs())
def test_one_graph_in_every_format_is_one_csr(tmp_path, network):
    expected = as_graph(network)
    files = [tmp_path / name for name in ("g.mtx", "g.txt", "g.csv", "g.graph", "g.mtx.gz")]
    for path in files:
        save_graph(path, network, overwrite=True)
    nx.write_graphml(network, tmp_path / "g.graphml")
    nx.write_gml(network, tmp_path / "g.gml")
    scipy_io.mmwrite(tmp_path / "s.mtx", expected.to_scipy(), symmetry="symmetric")
    scipy_io.mmwrite(tmp_path / "f.mtx", expected.to_scipy(), symmetry="general")
    with tarfile.open(tmp_path / "s.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "s.mtx", "s/s.mtx")
    matrices = [tmp_path / name for name in ("s.mtx", "f.mtx", "s.tar.gz")]
    (tmp_path / "both.txt").write_text(
        "".join(f"{u} {v} {w}\n{v} {u} {w}\n" for u, v, w in network.edges(data="weight"))
    )
    for path in [*files, *matrices, tmp_path / "g.graphml", tmp_path / "g.gml", tmp_path / "both.txt"]:
        loaded, info = load_graph(path, return_info=True)
        assert same_csr(loaded, expected), (path, info)


@pytest.mark.parametrize("name", ["g.mtx", "g.txt", "g.mtx.gz", "g.txt.gz"])
@pytest.mark.parametrize("weighted", [True, False])
def test_round_trips_are_bitwise(tmp_path, name, weighted):
    rng = np.random.default_rng(7741)
    upper = sparse.triu(sparse.random_array((200, 200), density=0.05, rng=rng)).tocoo()
    weights = rng.lognormal(sigma=20, size=upper.nnz) if weighted else np.ones(upper.nnz)
    ring = sparse.coo_array(
        (np.full(200, 0.1 if weighted else 0.0), (np.arange(200), np.arange(200))), shape=(200, 200)
    )
    matrix = sparse.coo_array((weights, (upper.row, upper.col)), shape=upper.shape).tocsr()
    matrix = matrix.maximum(matrix.T).maximum(ring).tocsr()
    matrix.eliminate_zeros()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = as_graph(matrix)
    if name.startswith("g.txt"):
        graph = Graph(
            graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops, nodes=np.arange(200) * 3 + 1
        )
    save_graph(tmp_path / name, graph)
    loaded, info = load_graph(tmp_path / name, return_info=True)
    assert same_csr(loaded, graph) and "third column" not in str(info.remarks)
    if name.startswith("g.txt"):
        assert loaded.nodes.tolist() == graph.nodes.tolist()


def test_names_survive_a_table(tmp_path):
    graph = nx.relabel_nodes(nx.path_graph(4), {0: "a,b", 1: 'say "x"', 2: "Ö", 3: "plain"})
    save_graph(tmp_path / "g.csv", graph)
    loaded = load_graph(tmp_path / "g.csv")
    assert {frozenset((loaded.nodes[u], loaded.nodes[v])) for u in range(4) for v in loaded.neighbors(u)} == {
        frozenset(edge) for edge in graph.edges
    }


def test_what_a_format_cannot_hold_is_refused_and_leaves_no_file(tmp_path):
    loop, lone, half = nx.Graph([(0, 0), (0, 1)]), nx.empty_graph(2), nx.Graph()
    lone.add_edge(2, 3)
    half.add_edge(0, 1, weight=0.5)
    for name, graph, word in (
        ("g.graph", loop, "self-loops"),
        ("g.graph", half, "whole numbers"),
        ("g.txt", lone, "isolated"),
        ("g.csv", lone, "isolated"),
        ("g.txt", nx.relabel_nodes(nx.path_graph(2), str), "increasing whole numbers"),
    ):
        with warnings.catch_warnings(), pytest.raises(GraphValidationError, match=word):
            warnings.simplefilter("ignore")
            save_graph(tmp_path / name, graph)
    with pytest.raises(ParameterError, match="ends in none"):
        save_graph(tmp_path / "g.doc", loop)
    assert list(tmp_path.iterdir()) == []


def test_existing_files_are_left_alone(tmp_path):
    target = tmp_path / "g.txt"
    target.write_text("precious")
    with pytest.raises(FileExistsError):
        save_graph(target, nx.path_graph(3))
    with pytest.raises(FileExistsError):
        write_labels(target, [0, 1])
    assert target.read_text() == "precious"
    save_graph(target, nx.path_graph(3), overwrite=True)
    assert load_graph(target).n_edges == 2


# -- blocks: a file is read the same however it is cut


@pytest.mark.parametrize("size", [1 << 18, 300_000])
def test_blocks_do_not_matter(tmp_path, monkeypatch, size):
    rng = np.random.default_rng(518)
    ends = rng.integers(0, 30_000, (100_000, 2))
    text = "# c\n" + "".join(
        f"{u}\t{v}\t{w}\n" for (u, v), w in zip(ends.tolist(), rng.random(len(ends)).tolist(), strict=True)
    )
    whole = load(tmp_path, text, weights="file")[1]
    (tmp_path / "packed").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(source, "BLOCK", size)
    monkeypatch.setattr("graphclust.io.lines.PIECE", 10_000)
    assert same_csr(load(tmp_path, text, weights="file")[1], whole)
    assert same_csr(load_graph(tmp_path / "packed", weights="file", return_info=True)[0], whole)
    sparse_matrix = BANNER + f"30000 30000 {len(ends)}\n" + "".join(f"{u + 1} {v + 1} 1.5\n" for u, v in ends.tolist())
    blocks = load(tmp_path, sparse_matrix, "m.mtx")[1]
    monkeypatch.undo()
    assert same_csr(load(tmp_path, sparse_matrix, "m.mtx")[1], blocks)


def test_lines_longer_than_a_block(tmp_path, monkeypatch):
    save_graph(tmp_path / "star.graph", nx.star_graph(60_000))
    whole = load_graph(tmp_path / "star.graph")
    monkeypatch.setattr(source, "BLOCK", 1 << 17)
    monkeypatch.setattr(source, "HEAD", 1 << 10)
    assert same_csr(load_graph(tmp_path / "star.graph"), whole) and whole.degrees.max() == 60_000


def test_line_numbers_count_over_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "BLOCK", 1 << 18)
    with pytest.raises(GraphFormatError, match="line 100004"):
        load(tmp_path, "# c\n\n" + "1 2\n" * 100_001 + "1 x\n")
    with pytest.raises(GraphFormatError, match="line 100003"):
        load(tmp_path, BANNER + "9 9 100001\n" + "1 2 1\n" * 100_000 + "1 10 1\n", "m.mtx")
    with pytest.raises(GraphFormatError, match="line 100002"):
        load(tmp_path, "100001 50000\n" + "2\n1\n" * 50_000 + "x\n", "m.graph")


# -- labels


@pytest.mark.parametrize("name", ["l.tsv", "l.json", "l.npz"])
@pytest.mark.parametrize("nodes", [None, ["a b", "Ö", "7"], [10, 20, -3], np.array([5, 6, 7])])
def test_labels_come_back(tmp_path, name, nodes):
    labels = np.array([0, -1, 2])
    write_labels(tmp_path / name, labels, nodes)
    read_nodes, read = read_labels(tmp_path / name)
    assert read_nodes == (list(range(3)) if nodes is None else list(nodes)) and read.tolist() == [0, -1, 2]
    assert read.dtype == np.int64


def test_labels_of_a_clustering(tmp_path):
    clustering = graphclust.coreset_sc(nx.barbell_graph(5, 0), 2, rng=0)
    write_labels(tmp_path / "l.json", clustering)
    assert read_labels(tmp_path / "l.json")[1].tolist() == clustering.labels.tolist()


def test_labels_that_cannot_be_written_or_read(tmp_path):
    with pytest.raises(GraphValidationError, match="tab or a line break"):
        write_labels(tmp_path / "l.tsv", [0], ["a\tb"])
    write_labels(tmp_path / "l.json", [0], ["a\tb"])
    with pytest.raises(GraphValidationError, match="tuple"):
        write_labels(tmp_path / "l.json", [0], [(1, 2)], overwrite=True)
    np.savez(tmp_path / "p.npz", nodes=np.array([print], dtype=object), labels=np.array([0]))
    with pytest.raises(GraphFormatError, match="pickled objects are never loaded"):
        read_labels(tmp_path / "p.npz")
    (tmp_path / "x.tsv").write_text("node\tlabel\na\t1\nb 2\n")
    with pytest.raises(GraphFormatError, match="line 3"):
        read_labels(tmp_path / "x.tsv")
    (tmp_path / "x.json").write_text('{"nodes": [1]}')
    with pytest.raises(GraphFormatError, match="labels"):
        read_labels(tmp_path / "x.json")


# -- what is said of a graph


def test_described_by_hand(tmp_path):
    _, graph, info = load(tmp_path, BANNER + "6 6 6\n1 2 2\n2 1 2\n2 3 4\n4 5 1\n5 4 1\n6 6 3\n")
    facts = describe(graph, info)
    assert (facts["n_nodes"], facts["n_edges"], facts["n_loops"], facts["n_isolated"]) == (6, 4, 1, 0)
    assert (facts["n_components"], facts["largest_component"]) == (3, 3)
    assert facts["degrees"] == {"min": 1.0, "median": 2.5, "mean": pytest.approx(17 / 6), "max": 6.0}
    assert facts["directions"] == {"one": 1, "two_equal": 2, "two_unequal": 0}


@pytest.mark.parametrize(
    ("name", "n", "m", "weighted"),
    [("a.txt", 50_000, 600_000, False), ("b.txt", 200_000, 300_000, True), ("c.mtx", 300_000, 300_000, True),
     ("d.mtx", 20_000, 600_000, False)],
)  # fmt: skip
def test_memory_is_foretold_within_a_quarter(tmp_path, name, n, m, weighted):
    rng = np.random.default_rng(7741)
    columns = [rng.integers(1, n + 1, m), rng.integers(1, n + 1, m), *([rng.random(m)] if weighted else [])]
    header = f"%%MatrixMarket matrix coordinate {'real' if weighted else 'pattern'} general\n{n} {n} {m}\n"
    with (tmp_path / name).open("w") as file:
        file.write(header if name.endswith("mtx") else "")
        np.savetxt(file, np.column_stack(columns), fmt=["%d", "%d", "%.8f"][: len(columns)])
    load_graph(tmp_path / name, return_info=True)  # compile
    peak, (graph, info) = traced(lambda: load_graph(tmp_path / name, return_info=True, weights="file"))
    memory = describe(graph, info)["memory"]
    assert memory["to_load"] == pytest.approx(peak, rel=0.25)
    assert memory["graph"] == sum(a.nbytes for a in (graph.indptr, graph.indices, graph.degrees, graph.loops)) + (
        graph.weights.nbytes if weighted else 0
    )


@pytest.mark.parametrize("degree", [5, 20, 60])
def test_memory_to_cluster_is_not_more_than_foretold(degree):
    graph, _ = graphclust.planted_partition(50, 1_000, degree, degree / 5, rng=2209)
    graphclust.coreset_sc(graph, 50, rng=0)  # compile
    peak, _ = traced(lambda: graphclust.coreset_sc(graph, 50, rng=0))
    assert peak + describe(graph)["memory"]["graph"] <= describe(graph)["memory"]["to_cluster"]


def traced(function) -> tuple[int, object]:
    """The most bytes in use at a time while a function ran, and what it returned."""
    tracemalloc.start()
    try:
        result = function()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


# -- real files


REFUSED_WITH = {
    "bad/cegb2802.mtx.gz": "HTML",
    "bad/empty.mtx": "square",
    "bad/garbage.lagraph": "no known format",
    "suitesparse/Bai/dwg961b.tar.gz": "complex",
    "suitesparse/HB/1138_bus.tar.gz": "negative",
    "suitesparse/HB/well1033.tar.gz": "square",
} | {
    f"matrixmarket/{name}": word
    for word, names in {
        "negative": "LFAT5.mtx LFAT5_hypersparse.mtx LFAT5_two.mtx bcsstk13.mtx cryg2500.mtx mangled_int8.mtx "
        "mangled_int16.mtx mangled_int32.mtx matrix_int8.mtx matrix_int16.mtx matrix_int32.mtx matrix_int64.mtx olm1000.mtx "
        "west0067.mtx west0067_jumbled.mtx nist/1138_bus.mtx.gz nist/662_bus.mtx.gz nist/bp___200.mtx.gz nist/nos5.mtx.gz",
        "coordinate required": "comments_full.mtx complex.mtx full.mtx full_symmetric.mtx mangled2.mtx mangled15.mtx "
        "mangled16.mtx mangled_format.mtx",
        "skew-symmetric": "mangled_skew.mtx skew_fp32.mtx skew_fp64.mtx skew_int8.mtx skew_int16.mtx skew_int32.mtx "
        "skew_int64.mtx",
        "square": "lp_afiro.mtx lp_afiro_structure.mtx mangled9.mtx mangled10.mtx mangled11.mtx mangled12.mtx mangled13.mtx "
        "mangled14.mtx sources_7.mtx",
        "Not a Matrix Market file": "full_noheader.mtx karate_str.mtx west0067_noheader.mtx",
        "non-finite": "comments_west0067.mtx",
        "whole number": "matrix_fp32.mtx matrix_fp64.mtx",
        "out of range": "matrix_uint64.mtx",
        "'mangled'": "mangled1.mtx mangled3.mtx mangled4.mtx",
        "hermitian": "mangled5.mtx mangled6.mtx",
        "missing": "mangled7.mtx",
        "sizes": "mangled8.mtx",
    }.items()
    for name in names.split()
}  # fmt: skip
SIZES = {
    "edgelists/email-Enron.txt.gz": (36_692, 183_831),
    "edgelists/wiki-Vote.txt": (7_115, 100_762),
    "edgelists/email-Eu-core/email-Eu-core.txt": (1_005, 16_706),
    "matrixmarket/karate.mtx": (34, 78),
    "matrixmarket/netscience.mtx": (1_589, 2_742),
    "metis/karate.graph": (34, 78),
    "metis/4elt.graph": (15_606, 45_878),
    "metis/PGPgiantcompo.graph": (10_680, 24_316),
    "suitesparse/AG-Monien/bfly.tar.gz": (49_152, 98_304),
    "suitesparse/Pajek/Journals.tar.gz": (124, 6_096),
}


def test_every_real_file_loads_or_is_refused_for_the_right_reason(data_folder):
    folder = data_folder / "files"
    paths = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    assert len(paths) > 100 and set(REFUSED_WITH) <= set(paths) and set(SIZES) <= set(paths)
    for name, path in paths.items():
        if name in REFUSED_WITH:
            with pytest.raises((GraphFormatError, GraphValidationError)) as refusal:
                load_graph(path)
            assert REFUSED_WITH[name] in str(refusal.value), name
            continue
        graph, info = load_graph(path, return_info=True)
        assert info.format in FORMATS and graph.n_nodes > 0
        assert (graph.n_nodes, graph.n_edges) == SIZES.get(name, (graph.n_nodes, graph.n_edges))


@pytest.mark.parametrize(
    ("file", "array"),
    [("edgelists/email-Enron.txt.gz", "snap_email-enron"), ("metis/PGPgiantcompo.graph", "metis_PGPgiantcompo")],
)
def test_real_files_against_their_arrays(data_folder, file, array):
    graph = load_graph(data_folder / "files" / file)
    with np.load(data_folder / "graphs" / f"{array}.npz") as stored:
        assert np.array_equal(graph.indptr, stored["indptr"]) and np.array_equal(graph.indices, stored["indices"])
