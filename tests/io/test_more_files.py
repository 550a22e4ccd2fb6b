"""Files of further programs: Pajek, JSON of nodes and links, adjacency lists, DIMACS, Parquet, MATLAB."""

import gzip
import io
import json
import time

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from network_texts import edges_of
from scipy import io as scipy_io
from scipy import sparse

from graphclust import convert_to_store, load_graph
from graphclust.errors import GraphFormatError, GraphValidationError, GraphWarning, ParameterError

PAJEK = """% a comment
*Network little
*Vertices 4
1 "ann lee" 0.1 0.2
2 "bob"
3 "cid"
4 "dot"
*Edges
1 2 2.5 l "friends"
2 3
*Edgeslist
3 4 1
"""


@pytest.fixture
def load(tmp_path):
    """The graph of some content under a name, and what was said of it; a warning is an error."""

    def load(name, content, **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_graph(path, return_info=True, **options)

    return load


def weights_of(graph):
    """Edge by the names of its ends -> weight."""
    return {frozenset(ends): weight for ends, weight in edges_of(graph).items()}


def test_a_pajek_network_has_its_labels_weights_and_lists(load):
    graph, info = load("a.net", PAJEK)
    assert info.format == "pajek" and graph.nodes == ["ann lee", "bob", "cid", "dot"]
    pairs = {("ann lee", "bob"): 2.5, ("bob", "cid"): 1, ("cid", "dot"): 1, ("ann lee", "cid"): 1}
    assert weights_of(graph) == {frozenset(pair): weight for pair, weight in pairs.items()}
    assert info.repairs == ()  # nothing was joined: edges have no direction
    assert load("a.net", PAJEK, weights="ignore")[0].weights is None


def test_a_pajek_network_need_not_name_its_vertices_and_may_be_a_matrix(load):
    graph, info = load("a.net", "*vertices 3\n*arcs :1 'likes'\n1 2 1\n2 1 3\n*arcs\n3 2 1\n")
    assert graph.nodes == [1, 2, 3] and weights_of(graph) == {frozenset((1, 2)): 3, frozenset((2, 3)): 1}
    assert any("the larger of its two weights" in repair for repair in info.repairs)
    graph, _ = load("a.net", "*Vertices 3\n1 a\n2 b\n3 c\n*Matrix\n0 2 0\n2 0 1\n0 1 0\n")
    assert weights_of(graph) == {frozenset("ab"): 2, frozenset("bc"): 1}


OF_INFOMAP = {  # networks of three vertices and a path, as Infomap's examples and Pajek's projects have them
    "comments": '# c\n*Vertices 3\n# id name\n1 "a" 1\n2 "b"\n3 "c" .1 .2 ic Red\n*Edges 2\n# u v\n1 2 1\n2 3 c Blue\n',
    "no number": '*Vertices\n1 "a"\n2 "b"\n3 "c"\n*Links 2\n1 2\n2 3 1.0\n',
    "edges alone": "*Edges\n1 2\n2 3\n",
    "a partition": "*Vertices 3\n*Edges\n1 2\n2 3\n*Partition p\n*Vertices 3\n1\n2\n1\n*Vector\n*Vertices 3\n1\n",
    "a partition before": "*Partition p\n*Vertices 3\n1\n2\n1\n*Network x\n*Vertices 3\n*Edges\n1 2\n2 3\n",
}


def test_pajek_as_other_programs_write_it(load):
    for name, text in OF_INFOMAP.items():
        graph, info = load("a.net", text)
        assert info.format == "pajek" and graph.degrees.tolist() == [1, 2, 1], name
        assert list(graph.nodes) in (["a", "b", "c"], [1, 2, 3]), name
    for part in ("States", "Intra", "Inter", "Multilayer"):
        with pytest.raises(GraphFormatError, match=f"{part.lower()} begins a network of states or layers"):
            load("a.net", f'*Vertices 2\n1 "a"\n2 "b"\n*{part}\n1 1 "x"\n*Links\n1 2\n')


@pytest.mark.parametrize("text", ["*Vertices " + "9" * 5000, "*Vertices 30000000" + "\n" * 3_100_000])
def test_a_number_of_vertices_that_no_such_file_describes_is_refused_at_once(load, text):
    start = time.process_time()
    refuses(GraphFormatError, r"line 1.*(expected \*Vertices and their number|claims 30000000)", load, "a.net", text)
    assert time.process_time() - start < 2


def test_pajek_files_of_networkx_come_back(load):
    G = nx.les_miserables_graph()
    content = io.BytesIO()
    nx.write_pajek(G, content)
    graph, _ = load("a.net", content.getvalue())
    assert weights_of(graph) == {frozenset((u, v)): w for u, v, w in G.edges(data="weight")}


@pytest.mark.parametrize("key", ["links", "edges"])
def test_json_of_nodes_and_links_is_a_graph(load, key):
    G = nx.les_miserables_graph()
    graph, info = load("a.json", json.dumps(nx.node_link_data(G, edges=key)))
    assert info.format == "node_link" and graph.nodes == list(G)
    assert weights_of(graph) == {frozenset((u, v)): w for u, v, w in G.edges(data="weight")}


def test_links_of_d3_count_nodes_and_call_weights_values(load):
    data = {"nodes": [{"name": "ann", "group": 1}, {"name": "bob"}, {"name": "cid"}]}
    data["links"] = [{"source": 0, "target": 1, "value": 3}, {"source": 2, "target": 1, "value": 1.5}]
    graph, info = load("a.json", json.dumps(data))
    assert graph.nodes == ["ann", "bob", "cid"]
    assert weights_of(graph) == {frozenset(("ann", "bob")): 3, frozenset(("bob", "cid")): 1.5}
    assert any("'value' was read as weights" in repair for repair in info.repairs)


def test_json_that_is_no_graph_is_refused(load):
    for data, message in (
        ({"links": [{"source": 1}]}, r"links\[0\] has no source or no target"),
        ({"links": [{"source": [1], "target": 2}]}, r"links\[0\] names \[1\], expected an id"),
        ({"links": 3}, "'links' is not a list of objects"),
        ({"nodes": [{"id": 1}, {"name": "x"}], "links": []}, "1 of its nodes have no 'id'"),
        ({"nodes": [{"id": 1}, {"id": "1"}], "links": []}, "differ in their types alone"),
    ):
        refuses(GraphFormatError, message, load, "a.json", json.dumps(data))


PATH = [{"source": "ann", "target": "bob"}, {"source": "bob", "target": "cid"}]
NUMBERED = [{"source": 1, "target": 2}, {"source": 2, "target": 3}]


@for_each("key", ["id", "key", "name", "label", "_id", "ID", "title"])
def test_links_name_nodes_by_the_key_under_which_all_ends_are_found(load, key):
    nodes = [{"group": 1, key: name, "index": place} for place, name in enumerate(("ann", "bob", "cid"))]
    graph, _ = load("a.json", json.dumps({"nodes": nodes, "links": PATH}))
    assert graph.nodes == ["ann", "bob", "cid"] and graph.degrees.tolist() == [1, 2, 1]


def test_a_key_of_all_nodes_counts_where_some_have_an_attribute_id(load):
    nodes = [{"key": "ann", "attributes": {"id": "z"}}, {"key": "bob"}, {"key": "cid"}]
    assert load("a.json", json.dumps({"nodes": nodes, "edges": PATH}))[0].nodes == ["ann", "bob", "cid"]


def test_relatives_of_node_link(load):
    nodes = [{"name": "ann", "id": 7}, {"name": "bob", "id": 8}, {"name": "cid", "id": 9}]
    cases = [
        {"nodes": nodes, "links": PATH},
        {"nodes": [{"id": str(i)} for i in (1, 2, 3)], "edges": NUMBERED},
        {"nodes": [{"id": i} for i in (1, 2, 3)], "edges": [{"from": 1, "to": 2}, {"from": 2, "to": 3}]},
        {
            "nodes": [{"key": "ann"}, {"key": "bob"}, {"key": "cid"}],
            "edges": [one | {"attributes": {}} for one in PATH],
        },
        {"elements": {"nodes": [{"data": {"id": i}} for i in (1, 2, 3)], "edges": [{"data": one} for one in NUMBERED]}},
    ]
    for data in cases:
        graph, _ = load("a.json", json.dumps({"directed": False} | data))
        assert graph.n_nodes == 3 and graph.degrees.tolist() == [1, 2, 1], data
    edges = [{"source": "a", "target": "b", "attributes": {"weight": 3}}]
    weighted = json.dumps({"nodes": [{"key": "a"}, {"key": "b"}], "edges": edges})
    assert weights_of(load("a.json", weighted)[0]) == {frozenset("ab"): 3}


def test_links_that_name_no_node_are_refused(load):
    for nodes, links in (
        ([{"id": "ann"}, {"id": "bob"}], PATH),
        ([{"x": 7}, {"x": 8}, {"x": 9}], NUMBERED),  # a place past the list
        ([{"name": "ann"}, {"name": "ann"}, {"name": "cid"}], PATH),
    ):
        with pytest.raises(GraphFormatError, match="links name nodes by no key that all nodes have"):
            load("a.json", json.dumps({"nodes": nodes, "links": links}))


def test_what_a_file_is_may_stand_behind_what_is_long(load):
    pad, comment = "x" * 400_000, "# " + "c" * 70 + "\n"
    mark = comment * 5000
    xml = '<graphml><graph edgedefault="undirected"><node id="a"/><edge source="a" target="a"/></graph></graphml>'
    gml = "node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]\n"
    texts = {
        "node_link": json.dumps({"note": pad, "nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}]}),
        "snap": mark + "1 2\n", "csv": mark + "source,target\na,b\n", "metis": mark.replace("#", "%") + "2 1\n2\n1\n",
        "dimacs": mark.replace("#", "c") + "p edge 2 1\ne 1 2\n", "pajek": mark.replace("#", "%") + "*Edges\n1 2\n",
        "gml": f'graph [ comment "{pad}" {gml}', "graphml": f"<?xml version='1.0'?>\n<!-- {pad} -->\n{xml}",
    }  # fmt: skip
    for format, text in texts.items():
        named = "a.graph" if format == "metis" else "a"
        for name, content in ((named, text.encode()), ("a.gz", gzip.compress(text.encode()))):
            graph, info = load(name, content)
            assert (info.format, graph.n_edges) == (format, 1)


def test_an_adjacency_list_names_an_edge_at_one_end_or_both(load):
    graph, info = load("a.adjlist", "# of three\nann bob cid\nbob ann\ncid\ndot # alone\n")
    assert info.format == "adjacency_list" and graph.nodes == ["ann", "bob", "cid", "dot"]
    assert weights_of(graph) == {frozenset(("ann", "bob")): 1, frozenset(("ann", "cid")): 1}
    assert load("a.txt", "1 2 3\n2 3\n", format="adjacency_list")[0].n_edges == 3
    graph, info = load("a.adjlist", "Zoë José\n".encode("latin-1"))
    assert graph.nodes == ["Zoë", "José"] and info.remarks == ("the file is not UTF-8 and was read as Latin-1",)


def test_a_coloring_instance_may_list_edges_from_both_ends(load):
    graph, info = load("a.col", "c of DIMACS\np edge 4 3\nn 1 2\ne 1 2\ne 2 1\ne 3 2\ne 2 3\ne 3 4\ne 4 3\n")
    assert info.format == "dimacs" and graph.n_nodes == 4 and graph.nodes is None
    assert weights_of(graph) == {frozenset((0, 1)): 1, frozenset((1, 2)): 1, frozenset((2, 3)): 1}


def test_a_road_network_has_its_lengths_as_weights_and_says_so(load):
    text = "c roads\np sp 3 4\na 1 2 7\na 2 1 7\na 2 3 2\na 3 2 2\n"
    graph, info = load("a.gr", text)
    assert weights_of(graph) == {frozenset((0, 1)): 7, frozenset((1, 2)): 2}
    assert any("lengths of the arcs were read as weights" in repair for repair in info.repairs)
    assert load("a.gr", text, weights="ignore")[0].weights is None and not load("a.gr", text, weights="file")[1].repairs
    refuses(GraphValidationError, r"negative.*arc 2", load, "a.gr", "p sp 3 2\na 1 2 1\na 2 3 -1\n")


def test_damage_is_refused_with_its_line(load):
    for name, content, line, message in (
        ("a.col", "p edge 3 2\ne 1 2\ne 1 4\n", 3, "expected nodes from 1 to 3"),
        ("a.col", "p edge 3 2\ne 1 2\ne 1\n", 3, "does not hold two nodes"),
        ("a.col", "p sp 3 2\na 1 2 x\na 1 3 1\n", 2, "does not hold two nodes and a length"),
        ("a.col", "p edge 3 2\ne 1 2\n", None, "the header says 2 edges, found 1"),
        ("a.col", "p sp 3 2\na 1 2 1\na 2 3 1_0\n", 3, "does not hold two nodes and a length"),
        ("a.col", "p edge 3 2\ne 1 2\ne 2 3e0\n", 3, "expected nodes from 1 to 3"),
        ("a.net", "*Vertices 2\n*Edges\n1 3\n", 3, "'3' is not a vertex, expected a number from 1 to 2"),
        ("a.net", "*Vertices 2\n*Edges\n1\n", 3, "expected the numbers of two vertices"),
        ("a.net", "*Vertices 2\n*Lines\n1 2\n", 2, "unknown part"),
        ("a.net", "*Vertices 2\n*Matrix\n0 1 1\n", 3, "a row of 3 numbers, expected 2"),
        ("a.net", "*Vertices 2\n*Matrix\n0 x\n", 3, "'x' in the matrix, expected a number"),
        ("a.net", "*Vertices 99999999\n", 1, "more than a file of its size describes"),
        ("a.net", "*Vertices 2\n*Edges\n1 2\n*Vertices 2\n", 4, "holds two graphs"),
        ("a.json", '{"nodes": [],\n "links": [,]}', 2, "is not JSON"),
        ("a.json", '{"links": ' + "[" * 100_000, None, "is not JSON"),
    ):
        with pytest.raises(GraphFormatError, match=message) as caught:
            load(name, content)
        assert caught.value.line == line


@pytest.fixture
def parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    def write(**columns):
        parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
        return tmp_path / "a.parquet"

    return write


def test_a_parquet_table_is_read_by_the_names_of_its_columns(parquet):
    path = parquet(when=[1, 2], src=["a", "b"], dst=["b", "c"], weight=[2.0, 3.0])
    graph, info = load_graph(path, return_info=True)
    assert info.format == "parquet" and weights_of(graph) == {frozenset("ab"): 2, frozenset("bc"): 3}
    with pytest.warns(GraphWarning, match="columns not used: when"):
        assert load_graph(path, weights="ignore").weights is None
    path = parquet(x=[1, 2], y=[5, 6], z=[2, 3], load=[-1.0, 4.0])
    refuses(GraphFormatError, "no two of its columns are plainly the ends of an edge", load_graph, path)
    with pytest.warns(GraphWarning, match="columns not used: y"):
        graph = load_graph(path, source="x", target="z", weight="load", weights="abs")
    assert weights_of(graph) == {frozenset((1, 2)): 1, frozenset((2, 3)): 4}
    refuses(GraphValidationError, "load", load_graph, path, source="x", target=2, weight="load")
    refuses(GraphValidationError, r"a\.parquet: target='w' is not a column", load_graph, path, source="x", target="w")
    path.write_bytes(b"PAR1 and no more")
    refuses(GraphFormatError, "is not a Parquet file", load_graph, path)


def matlab(**variables):
    content = io.BytesIO()
    scipy_io.savemat(content, variables, do_compression=True)
    return content.getvalue()


A = sparse.csc_array(np.array([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]]))


@for_each("variables", [{"A": A, "info": np.ones((3, 7))}, {"Problem": {"A": A, "name": "x"}}, {"net": A.toarray()}])
def test_a_matrix_of_matlab_is_a_graph(load, variables):
    graph, info = load("a.mat", matlab(**variables))
    assert info.format == "mat" and weights_of(graph) == {frozenset((0, 1)): 2, frozenset((1, 2)): 1}


def test_what_is_no_matrix_of_matlab_is_refused(load):
    refuses(GraphFormatError, "holds 2 matrices that may be the graph among A, B", load, "a.mat", matlab(A=A, B=A))
    refuses(GraphFormatError, "holds no matrix of MATLAB", load, "a.mat", matlab(A=A)[:-40])
    refuses(GraphFormatError, "save it with the option -v7", load, "a.mat", b"MATLAB 7.3 MAT-file" + bytes(200))
    refuses(GraphValidationError, r"shape \(2, 3\), expected a square one", load, "a.mat", matlab(A=A[:2]))
    refuses(ParameterError, "bipartite=True needs a matrix or an edge list", load, "a.mat", matlab(A=A), bipartite=True)


def test_damaged_arrays_of_matlab_are_refused(load):
    """Column starts and row numbers that lead out of the arrays, or to other entries."""
    matrix = sparse.csc_matrix(np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0.0]]))
    content = io.BytesIO()
    scipy_io.savemat(content, {"A": matrix})
    whole = content.getvalue()
    assert load("a.mat", whole)[0].n_edges == 4
    starts, rows = (whole.index(array.astype("<i4").tobytes()) for array in (matrix.indptr, matrix.indices))
    changes = [(starts + 4 * column, value) for column, value in ((1, 10**9), (1, -5), (2, 1), (4, 7), (4, 9), (0, 1))]
    for place, value in [*changes, (rows, 1000), (rows, -5)]:
        damaged = bytearray(whole)
        damaged[place : place + 4] = np.array(value, "<i4").tobytes()
        refuses(GraphFormatError, r"a.mat: holds no matrix of MATLAB: ", load, "a.mat", bytes(damaged))
    for size in (10, 60, 200):
        refuses(GraphFormatError, r"a.mat: holds no matrix of MATLAB: ", load, "a.mat", whole[:-size])


@pytest.mark.parametrize("dtype", [">f8", "<f4", "float16", "longdouble", ">i4", "uint8", "complex64"])
def test_numbers_of_any_type_are_weights(tmp_path, load, dtype):
    matrix = sparse.csr_array(A)
    arrays = {"indptr": matrix.indptr, "indices": matrix.indices, "shape": matrix.shape}
    np.savez(tmp_path / "a.npz", data=matrix.data.astype(dtype), **arrays)
    weights = "abs" if dtype == "complex64" else None
    assert load_graph(tmp_path / "a.npz", weights=weights).degrees.tolist() == [2, 3, 1]


def test_signed_and_complex_matrices_name_what_makes_them_graphs(load):
    values = "%%MatrixMarket matrix coordinate {}\n3 3 {}"
    files = {
        "signed.mat": matlab(A=-A), "complex.mat": matlab(A=A * 1j),
        "skew.mtx": values.format("real skew-symmetric", "2\n2 1 -2\n3 2 1\n"),
        "hermitian.mtx": values.format("complex hermitian", "2\n2 1 0 -2\n3 2 .6 .8\n"),
        "complex.mtx": values.format("complex general", "4\n2 1 0 -2\n3 2 .6 .8\n1 2 2 0\n2 3 1 0\n"),
    }  # fmt: skip
    for name, content in files.items():
        refuses(GraphValidationError, r'(?s)weights="(abs|ignore)".* or weights="(ignore|abs)"', load, name, content)
        assert load(name, content, weights="abs")[0].degrees.tolist() == [2, 3, 1], name
        assert load(name, content, weights="ignore")[0].degrees.tolist() == [1, 2, 1], name


@pytest.mark.parametrize("column", [[[1], [2]], [{"a": 1}, {"a": 2}]])
def test_nested_columns_of_parquet_are_refused_with_the_name_of_the_file(parquet, column):
    path = parquet(source=column, target=[1, 2])
    words = r"a\.parquet: columns 'source' and 'target' hold what names no node"
    refuses(GraphValidationError, words, load_graph, path)
    path = parquet(source=[1, 2], target=[2, 3], weight=column)
    refuses(GraphValidationError, r"a\.parquet: column 'weight' has dtype object, expected numbers", load_graph, path)


def test_they_become_stores_as_other_files_do(tmp_path):
    (tmp_path / "a.mat").write_bytes(matlab(A=A))
    assert convert_to_store(tmp_path / "a.mat", tmp_path / "one").degrees.tolist() == [2, 3, 1]
    (tmp_path / "a.net").write_text(PAJEK)
    assert convert_to_store(tmp_path / "a.net", tmp_path / "two").n_edges == 4
