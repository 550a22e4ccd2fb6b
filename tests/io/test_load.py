"""What graph a file holds: policies by hand, then against SciPy and NetworkX."""

import io
import tarfile
import warnings

import numpy as np
import pytest
from cases import refuses
from graph_files import BANNER, load, same_csr
from scipy import io as scipy_io
from scipy import sparse

from graphclust import load_graph
from graphclust.compiled.text import parse_float
from graphclust.errors import GraphFormatError, GraphValidationError, GraphWarning, ParameterError, ResourceLimitError
from graphclust.io.formats.matrix_market import read_matrix_market
from graphclust.io.text.byte_source import open_source
from graphclust.io.text.edge_lines import Reading
from graphclust.progress import Progress

# -- policies, by hand


def test_directions_join_by_max_or_sum(tmp_path):
    text = "0 1 3\n1 0 5\n1 2 2\n"
    dense, _, info = load(tmp_path, text, weights="file")
    assert dense.tolist() == [[0, 5, 0], [5, 0, 2], [0, 2, 0]]
    assert (info.counts.entries, info.counts.two_way, info.counts.unequal, info.counts.one_way) == (3, 1, 1, 1)
    assert "each edge has the larger of its two weights" in info.remarks[0]
    assert load(tmp_path, text, weights="file", symmetrize="sum")[0].tolist() == [[0, 8, 0], [8, 0, 2], [0, 2, 0]]
    refuses(GraphValidationError, r"the first \(0, 1\)", load, tmp_path, text, weights="file", symmetrize=None)


def test_without_weights_both_directions_are_one_edge_of_weight_1(tmp_path):
    dense, graph, info = load(tmp_path, "0 1\n1 0\n1 2\n2 1\n")
    assert dense.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.weights is None and info.remarks == ()
    assert load(tmp_path, "0 1\n1 0\n1 2\n", symmetrize="sum")[0].tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]


def test_repeated_edges_are_added_up_or_counted_once(tmp_path):
    dense, _, info = load(tmp_path, "0 1 1.5\n0 1 2\n1 0 4\n", weights="file")
    assert dense[0, 1] == 4 and info.counts.duplicates == 1
    assert any("1 repeated entry, the first (0, 1), was added up" in remark for remark in info.remarks)
    dense, _, info = load(tmp_path, "0 1\n0 1\n1 1\n1 1\n")
    assert dense.tolist() == [[0, 1], [1, 1]] and info.counts.duplicates == 2
    said = '2 repeated entries, the first (0, 1), was counted once (symmetrize="sum" adds them up)'
    assert any(said.replace("was", word) in remark for word in ("was", "were") for remark in info.remarks)
    assert load(tmp_path, "0 1\n0 1\n1 2\n", symmetrize="sum")[0][0, 1] == 2


def test_loops_stay_and_zeros_are_no_edges(tmp_path):
    dense, graph, info = load(tmp_path, BANNER + "3 3 4\n1 1 2\n1 2 0\n2 3 4\n3 2 4\n")
    assert dense.tolist() == [[2, 0, 0], [0, 0, 4], [0, 4, 0]]
    assert graph.loops.tolist() == [2, 0, 0] and info.counts.zeros == 1 and info.counts.loops == 1
    assert any("1 entry of weight 0 is not an edge" in remark for remark in info.remarks)


def test_weights_as_they_are_absolute_or_ignored(tmp_path):
    text = BANNER + "2 2 2\n1 2 -3\n2 1 -3\n"
    refuses(GraphValidationError, r"2 negative weights, the first -3 at \(1, 2\) in line 3", load, tmp_path, text)
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


def test_weights_that_are_all_one_are_said_to_be(tmp_path):
    _, graph, info = load(tmp_path, "a,b,1\nb,c,1\n", "graph.csv")
    assert graph.weights is None and any("read as weights" in remark for remark in info.remarks)
    assert any("all weights are 1" in remark for remark in info.remarks)
    for text in ("a,b,1\nb,c,2\n", "a,b\nb,c\n"):
        assert not any("weights are 1" in remark for remark in load(tmp_path, text, "graph.csv")[2].remarks)


def test_one_of_anything_is_said_in_the_singular(tmp_path):
    text = "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 2 2\n1 2 1\n2 1 1\n2 3 1\n3 1 0\n"
    said = "; ".join(load(tmp_path, text, "graph.mtx")[2].remarks)
    for words in ("isolated node has no edge", "repeated entry, the first (0, 1), was added up", "entry of weight 0"):
        assert f"1 {words}" in said, said
    assert "(2 edges have one direction, 1 two unequal ones" in said


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
    ranks = np.unique(ends, return_inverse=True)[1].reshape(-1, 2).tolist()
    _, dense, _ = load(tmp_path, "".join(f"{u} {v}\n" for u, v in ranks))
    assert graph.nodes.tolist() == ids[np.unique(ends)].tolist()
    assert same_csr(graph, dense)


def test_text_ids_are_numbered_as_they_appear(tmp_path):
    _, graph, info = load(tmp_path, '"Smith, J",Ann,2\nAnn,Öz,1\n', weights="file")
    assert graph.nodes == ["Smith, J", "Ann", "Öz"] and graph.weights.tolist() == [2, 2, 1, 1]
    assert info.format == "csv"
    assert load(tmp_path, "2 1\n1 7\n", format="csv")[1].nodes == ["2", "1", "7"]


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


def test_a_first_line_whose_words_do_not_occur_again_is_no_edge(tmp_path):
    _, graph, info = load(tmp_path, "winner,loser\nann,bob\nbob,carol\n")
    assert graph.nodes == ["ann", "bob", "carol"]
    assert any("'winner' and 'loser', was read as names of the columns" in repair for repair in info.repairs)
    _, graph, info = load(tmp_path, "winner,loser\nann,bob\nbob,carol\n", header=False)
    assert graph.nodes[:2] == ["winner", "loser"] and info.repairs == ()
    for text in ("ann,bob\nbob,carol\n", "ann,bob\nann,carol\n", "ann,bob\n", "bob,cyd\ncarol,ann\nann,bob\n"):
        assert load(tmp_path, text)[1].nodes[0] in ("ann", "bob")
        assert not any("first line" in remark for remark in load(tmp_path, text)[2].remarks)


def test_a_first_pair_among_other_lone_pairs_is_an_edge_and_said(tmp_path):
    _, graph, info = load(tmp_path, "ann,bob\ncyd,dan\neve,fay\nfay,gus\n")
    assert (graph.n_nodes, graph.n_edges) == (7, 4)
    assert any("was read as an edge of 'ann' and 'bob'" in repair for repair in info.repairs)
    text = "winner,loser\n" + "".join(f"p{i},p{i + 1}\n" for i in range(40)) + "x,y\n"
    assert load(tmp_path, text)[1].n_edges == 41, "one lone pair in forty is rare enough"


@pytest.mark.parametrize("nodes", ["1{0}2", "a{0}b"])
@pytest.mark.parametrize(
    ("delimiter", "weight", "expected"),
    [
        (";", "1,5,0", "'1,5,0', expected a number with a decimal point"),
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
    refuses(GraphFormatError, f"line 2: .*{expected}", load_graph, tmp_path / "graph.txt", weights="file")


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
    refuses(GraphValidationError, "each node has 2 weights, expected one; pass constraint=0", load, tmp_path, text)
    dense, graph, info = load(tmp_path, text, constraint=1)
    assert graph.node_weights.tolist() == [2] * 7
    assert info.format == "metis" and (dense == dense.T).all() and np.count_nonzero(dense) == 22
    assert dense[3, 6] == 5 and dense[5, 6] == 6 and dense[0, 4] == 1
    assert info.repairs == ("not used: the size and all weights but number 1 of each node",)
    assert load(tmp_path, text, constraint=0)[1].node_weights.tolist() == [1] * 7
    for constraint, name in ((2, "a.graph"), (0, "a.txt")):
        with pytest.raises((GraphValidationError, ParameterError), match=f"constraint={constraint}"):
            load(tmp_path, text if constraint else "1 2\n", name, constraint=constraint)


def test_a_rectangular_matrix_is_bipartite_if_asked(tmp_path):
    text = BANNER + "2 3 4\n1 1 2\n1 3 5\n2 3 1\n2 1 0\n"
    refuses(GraphValidationError, r"2 x 3, expected a square.*bipartite=True", load, tmp_path, text)
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
    with pytest.raises(ParameterError, match="bipartite=True needs a matrix or an edge list"):
        load(tmp_path, "3 2\n2\n1 3\n2\n", bipartite=True)


COMPANIONS = {
    "K/K_nodename.txt": "a\nb\nc\n",
    "K/K_coord.mtx": "%%MatrixMarket matrix array real general\n% x, then y\n3 2\n1.5\n-2\n3e2\n4\n5\n6\n",
    "K/K_nodeid.mtx": "%%MatrixMarket matrix array integer general\n3 1\n9007199254740993\n-1\n0\n",
    "K/K_label.mtx": "%%MatrixMarket matrix array real general\n3 1\n2\n7\n2\n",
    "K/K_Communities_all.mtx": BANNER.replace("real", "pattern") + "%\n3 2 3\n1 1\n2 1\n3 2\n",
    "K/K_Communities_top5000.mtx": BANNER.replace("real", "integer") + "3 1 1\n3 1 1\n",
}


def packed(path, **changed: str):
    """An archive of the collection with files beside its matrix, some of them changed."""
    matrix = BANNER + "3 3 2\n1 2 3\n2 3 1\n"
    with tarfile.open(path, "w:gz") as archive:
        others = COMPANIONS | {f"K/K_{key}.mtx": text for key, text in changed.items()}
        for name, text in {"K/K.mtx": matrix, **others}.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_files_beside_a_matrix_are_read_by_their_own_reader(tmp_path):
    graph, info = load_graph(packed(tmp_path / "K.tar.gz"), return_info=True, symmetrize="max")
    assert (graph.n_edges, info.format, info.compression) == (2, "suitesparse", "gzip")
    details = info.details
    assert details["node_names"] == ["a", "b", "c"] and details["coordinates"].tolist() == [[1.5, 4], [-2, 5], [300, 6]]
    assert details["node_ids"].tolist() == [2**53 + 1, -1, 0] and details["class_of_node"].tolist() == [2, 7, 2]
    assert list(details["communities_all"]) == [{0, 1}, {2}] and list(details["communities_top5000"]) == [{2}]


ARRAY, ENTRIES = "%%MatrixMarket matrix array real general\n", "%%MatrixMarket matrix coordinate real general\n"
BROKEN_COMPANIONS = [
    "", "x", ARRAY, ARRAY + "3 2\n1\n2\n", ARRAY + "3 1\n1\n2\n1e", ARRAY + "3 1\n1\0\n2\n3\n", ARRAY + "3 x\n",
    ARRAY + "3 99999999999\n1\n", ARRAY.replace("real", "complex") + "3 1\n1\n2\n3\n",
    ARRAY.replace("general", "symmetric") + "3 3\n1\n", ENTRIES + "3 3 9\n1 1 1\n", ENTRIES + "3 3 1\n9 1 1\n",
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN_COMPANIONS)
def test_files_beside_a_matrix_are_looked_at_on_request_and_broken_ones_named(tmp_path, text):
    path = packed(tmp_path / "K.tar.gz", coord=text)
    with pytest.warns(GraphWarning, match="the graph was directed") as caught:
        assert load_graph(path).n_edges == 2
    assert "coord" not in str(caught[0].message)
    graph, info = load_graph(path, return_info=True)
    assert graph.n_edges == 2 and "coordinates" not in info.details and "node_ids" in info.details
    assert any(remark.startswith(f"a file beside the matrix was left out: {path}:coord.mtx") for remark in info.repairs)


def test_limits_and_impossible_arguments_of_load_graph_are_named(tmp_path):
    path = tmp_path / "g.mtx"
    path.write_text(BANNER + "3 3 1\n1 2 1\n")
    refuses(ResourceLimitError, "memory_limit", load_graph, path, memory_limit=10)
    for name, value in (("format", "xml"), ("symmetrize", "mean"), ("weights", "log"), ("max_bytes", 0)):
        refuses(ParameterError, name, load_graph, path, **{name: value})
    refuses(TypeError, "path=3", load_graph, 3)


def test_loading_reports_progress_and_can_be_stopped(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(1000)))
    steps = []
    load_graph(path, progress=lambda stage, done, total: steps.append((stage, done / total)))
    assert {stage for stage, _ in steps} == {"reading", "building the graph"} and steps[-1][1] == 1

    def stop(*_):
        raise KeyboardInterrupt

    refuses(KeyboardInterrupt, None, load_graph, path, progress=stop)


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
    pairs = zip(rng.integers(1, 2**60, 300), rng.integers(-60, 60, 300), strict=True)
    words += [f"{mantissa}e{exponent}" for mantissa, exponent in pairs]
    words += [f"{x:.{digits}f}" for digits in (0, 1, 5, 20) for x in rng.random(50) * 1e4 + 1]
    words += [".5", "5.", "1.e3", "+7", "9007199254740993", "0" * 30 + "1.5", "1" + "0" * 25, "0." + "0" * 30 + "1"]
    words += ["3" * 40]
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
            end, value, sure = parse_float.read_number(np.frombuffer(f"{word} ".encode(), np.uint8), 0, False)
        assert end == len(word) and (not sure or value == float(word)), word
        n_sure += sure
    assert n_sure > 0.9 * len(words)
    ends = dict.fromkeys(("", "-", ".", "e5", "1e", "1e+", "nan"), parse_float.NO_NUMBER)
    ends |= {word: len(word) - 1 for word in ("12:", "1.5:", "1e2:", "12/")}  # the neighbors of 9 and of 0
    for word, expected in ends.items():
        with np.errstate(over="ignore"):
            end, *_ = parse_float.read_number(np.frombuffer(f"{word} ".encode(), np.uint8), 0, False)
        assert end == expected


def test_real_values_of_any_length_agree_with_scipy(tmp_path):
    rng = np.random.default_rng(7741)
    values = rng.lognormal(sigma=90, size=3000).tolist()
    words = [f"{x:.{rng.integers(0, 22)}e}" for x in values] + list(map(repr, values)) + ["5e-324", "2.5e-323"]
    lines = [f"{i + 1} {i + 2} {word}" for i, word in enumerate(words)]
    text = BANNER + f"{len(words) + 1} {len(words) + 1} {len(words)}\n" + "\n".join(lines)
    (tmp_path / "g.mtx").write_text(text)
    with open_source(tmp_path / "g.mtx") as opened:
        chunks = read_matrix_market(opened, Reading(), Progress()).chunks
    assert np.concatenate([part[2] for part in chunks]).tolist() == scipy_io.mmread(tmp_path / "g.mtx").data.tolist()
