"""One graph in every format is the same graph, and comes back as it was, however its file is cut into blocks."""

import gzip
import math
import tarfile
import warnings
from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import numba
import numpy as np
import pytest
from cases import refuses
from graph_files import BANNER, load, same_csr
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from graphclust import limit_threads, load_graph, save_graph, write_labels
from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError
from graphclust.io.graph_input import as_graph
from graphclust.io.text import byte_source


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
    """Repeated edges, whose sums are those of real numbers rounded once, both directions, loops, gaps in the ids."""
    rng = np.random.default_rng(2209)
    ends = rng.integers(0, 300, (30_000, 2)) * 3
    weights = [f" {x!r}" for x in rng.random(len(ends)).tolist()] if weighted else [""] * len(ends)
    text = "".join(f"{u} {v}{w}\n" for (u, v), w in zip(ends.tolist(), weights, strict=True))
    _, expected, info = load(tmp_path, text, weights="file")
    dense = np.zeros((2, 300, 300))
    if weighted:
        of_edge: dict[tuple[int, int], list[float]] = {}
        for u, v, weight in zip(*(ends.T // 3).tolist(), weights, strict=True):
            of_edge.setdefault((u, v), []).append(float(weight))
        dense[0][tuple(np.array(list(of_edge)).T)] = [math.fsum(one) for one in of_edge.values()]
    else:
        dense[0][tuple(ends.T // 3)] = 1
    dense[1] = dense[0].T
    assert np.array_equal(expected.to_scipy().toarray(), dense.max(axis=0))
    assert info.counts.duplicates == len(ends) - np.count_nonzero(dense[0])
    assert (info.counts.loops, info.counts.two_way) == (
        np.count_nonzero(np.diag(dense[0])), np.count_nonzero(np.triu(dense[0] * dense[1], 1)),
    )  # fmt: skip
    monkeypatch.setattr("graphclust.io.edges.STEP", 1000)
    monkeypatch.setattr(byte_source, "BLOCK", 1 << 16)
    for threads in (1, numba.get_num_threads()):
        with limit_threads(threads):
            _, graph, again = load(tmp_path, text, weights="file")
        assert same_csr(graph, expected) and again.counts == info.counts and (graph.nodes == expected.nodes).all()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(network=graphs())
def test_one_graph_in_every_format_is_one_csr(tmp_path, network):
    expected = as_graph(network)
    names = ("g.mtx", "g.txt", "g.csv", "g.graph", "g.mtx.gz", "g.graphml", "g.gml", "g.gexf")
    files = [tmp_path / name for name in names]
    for path in files:
        save_graph(path, network, overwrite=True)
    nx.write_graphml(network, tmp_path / "n.graphml")
    nx.write_gml(network, tmp_path / "n.gml")
    nx.write_gexf(network, tmp_path / "n.gexf")
    scipy_io.mmwrite(tmp_path / "s.mtx", expected.to_scipy(), symmetry="symmetric")
    scipy_io.mmwrite(tmp_path / "f.mtx", expected.to_scipy(), symmetry="general")
    with tarfile.open(tmp_path / "s.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "s.mtx", "s/s.mtx")
    others = [tmp_path / name for name in ("s.mtx", "f.mtx", "s.tar.gz", "n.graphml", "n.gml", "n.gexf", "both.txt")]
    (tmp_path / "both.txt").write_text(
        "".join(f"{u} {v} {w}\n{v} {u} {w}\n" for u, v, w in network.edges(data="weight"))
    )
    for path in [*files, *others]:
        loaded, info = load_graph(path, return_info=True)
        assert same_csr(loaded, expected), (path, info)


@pytest.mark.parametrize("name", ["g.mtx", "g.txt", "g.mtx.gz", "g.txt.gz", "g.graphml", "g.gml", "g.gexf.gz"])
@pytest.mark.parametrize("weighted", [True, False])
def test_round_trips_are_bitwise(tmp_path, name, weighted):
    rng = np.random.default_rng(7741)
    upper = sparse.triu(sparse.random_array((200, 200), density=0.05, rng=rng)).tocoo()
    weights = rng.lognormal(sigma=20, size=upper.nnz) if weighted else np.ones(upper.nnz)
    ring = sparse.diags_array(np.full(200, 0.1 if weighted else 0.0))
    matrix = sparse.coo_array((weights, (upper.row, upper.col)), shape=upper.shape).tocsr()
    matrix = matrix.maximum(matrix.T).maximum(ring).tocsr()
    matrix.eliminate_zeros()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = as_graph(matrix)
    if not name.startswith("g.mtx"):
        graph = replace(graph, nodes=np.arange(200) * 3 + 1)
    save_graph(tmp_path / name, graph)
    loaded, info = load_graph(tmp_path / name, return_info=True)
    assert same_csr(loaded, graph) and "third column" not in str(info.remarks)
    if not name.startswith("g.mtx"):
        assert list(loaded.nodes) == graph.nodes.tolist()


def can_hold(format: str, name: str) -> bool:
    """XML by Python's own parser; GML has numbers for all characters."""
    if format == "gml":
        return True
    try:
        return ElementTree.fromstring(ElementTree.tostring(ElementTree.Element("a", b=name), "utf-8")).get("b") == name
    except (ElementTree.ParseError, UnicodeEncodeError):
        return False


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.text(max_size=4), min_size=2, max_size=6, unique=True))
@example(names=["#a", " b ", '"&<>', "", "Ö", "a\tb\r\n"])
@example(names=["2", "-1", "10"])
@example(names=["2", "01", "10"])
@example(names=[str(2**63), "0"])
@example(names=["()", "[]"])
@example(names=["a\0", "b"])
@example(names=["\ud800", "b"])
@pytest.mark.parametrize("format", ["graphml", "gml", "gexf"])
def test_networks_keep_names_and_nodes_without_edges_or_refuse(tmp_path, format, names):
    network = nx.empty_graph(names)
    network.add_edges_from([(names[-1], names[0]), (names[0], names[0])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = as_graph(network)
        if not all(can_hold(format, name) for name in names):
            with pytest.raises(GraphValidationError, match=f"has a name that {format} files cannot hold"):
                save_graph(tmp_path / "g", graph, format=format, overwrite=True)
            return
        save_graph(tmp_path / "g", graph, format=format, overwrite=True)
        loaded = load_graph(tmp_path / "g")
    assert loaded == graph and loaded.nodes == names


@pytest.mark.parametrize("format", ["graphml", "gml", "gexf"])
def test_networks_tell_numbers_from_text_or_refuse(tmp_path, format):
    for names in ([2, 0, 1], [1, 2, 3], None, ["0", "1", "2"], ["007", "7", "07"], np.array([-5, 2**62, 3])):
        ends = sparse.coo_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
        graph = replace(as_graph(ends + ends.T), nodes=names)
        save_graph(tmp_path / "g", graph, format=format, overwrite=True)
        assert load_graph(tmp_path / "g") == graph
    for names, kind in ((["a", 1, 2], "int"), ([1, "a", "b"], "str"), ([(0, 1), 1, 2], "tuple"), ([1, 2.5, 2], "float"),
                        ([1, True, 0], "bool"), ([0, 1, 2**63], "int")):  # fmt: skip
        with pytest.raises(GraphValidationError, match=f"has a name of type {kind}, but {format} files hold names"):
            save_graph(tmp_path / "h", replace(graph, nodes=names), format=format)
    assert [path.name for path in tmp_path.iterdir()] == ["g"]


def test_names_that_are_one_as_text_are_refused(tmp_path):
    with pytest.raises(GraphValidationError, match="two nodes of G have the same name as text, by which gexf files"):
        save_graph(tmp_path / "g.gexf", nx.Graph([(1, "1")]))
    assert list(tmp_path.iterdir()) == []


def test_what_a_format_cannot_hold_is_refused_and_leaves_no_file(tmp_path):
    loop, lone = nx.Graph([(0, 0), (0, 1)]), nx.empty_graph(2)
    lone.add_edge(2, 3)
    for name, graph, word in (
        ("g.txt", lone, "isolated"),
        ("g.csv", lone, "isolated"),
        ("g.txt", nx.relabel_nodes(nx.path_graph(2), str), "increasing whole numbers"),
    ):
        with warnings.catch_warnings(), pytest.raises(GraphValidationError, match=word):
            warnings.simplefilter("ignore")
            save_graph(tmp_path / name, graph)
    refuses(ParameterError, "ends in none", save_graph, tmp_path / "g.doc", loop)
    assert list(tmp_path.iterdir()) == []


def test_existing_files_are_left_alone(tmp_path):
    target = tmp_path / "g.txt"
    target.write_text("precious")
    refuses(FileExistsError, None, save_graph, target, nx.path_graph(3))
    refuses(FileExistsError, None, write_labels, target, [0, 1])
    assert target.read_text() == "precious"
    save_graph(target, nx.path_graph(3), overwrite=True)
    assert load_graph(target).n_edges == 2


# -- blocks: a file is read the same however it is cut


@pytest.mark.slow
@pytest.mark.parametrize("size", [1 << 18, 300_000])
def test_block_sizes_change_no_edge_list(tmp_path, monkeypatch, size):
    rng = np.random.default_rng(518)
    ends = rng.integers(0, 30_000, (100_000, 2))
    rows = zip(ends.tolist(), rng.random(len(ends)).tolist(), strict=True)
    text = "# c\n" + "".join(f"{u}\t{v}\t{w}\n" for (u, v), w in rows)
    whole = load(tmp_path, text, weights="file")[1]
    (tmp_path / "packed").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(byte_source, "BLOCK", size)
    monkeypatch.setattr("graphclust.io.text.byte_source.PIECE", 10_000)
    assert same_csr(load(tmp_path, text, weights="file")[1], whole)
    assert same_csr(load_graph(tmp_path / "packed", weights="file", return_info=True)[0], whole)
    sparse_matrix = BANNER + f"30000 30000 {len(ends)}\n" + "".join(f"{u + 1} {v + 1} 1.5\n" for u, v in ends.tolist())
    blocks = load(tmp_path, sparse_matrix, "m.mtx")[1]
    monkeypatch.undo()
    assert same_csr(load(tmp_path, sparse_matrix, "m.mtx")[1], blocks)


def test_lines_longer_than_a_block(tmp_path, monkeypatch):
    save_graph(tmp_path / "star.graph", nx.star_graph(60_000))
    whole = load_graph(tmp_path / "star.graph")
    monkeypatch.setattr(byte_source, "BLOCK", 1 << 17)
    monkeypatch.setattr(byte_source, "HEAD", 1 << 10)
    assert same_csr(load_graph(tmp_path / "star.graph"), whole) and whole.degrees.max() == 60_000


def test_line_numbers_count_over_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(byte_source, "BLOCK", 1 << 18)
    refuses(GraphFormatError, "line 100004", load, tmp_path, "# c\n\n" + "1 2\n" * 100_001 + "1 x\n")
    with pytest.raises(GraphFormatError, match="line 100003"):
        load(tmp_path, BANNER + "9 9 100001\n" + "1 2 1\n" * 100_000 + "1 10 1\n", "m.mtx")
    refuses(GraphFormatError, "line 100002", load, tmp_path, "100001 50000\n" + "2\n1\n" * 50_000 + "x\n", "m.graph")
