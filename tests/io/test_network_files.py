"""GraphML, GEXF and GML: which nodes, edges, weights and names a file plainly says there are."""

import warnings

import networkx as nx
import pytest
from cases import for_each, refuses
from network_texts import AB, ABC, BC, FORMATS, edge_with, edges_of, gexf, gml, graphml, reader

from graphclust import load_graph, save_graph, save_store
from graphclust.errors import GraphFormatError, GraphValidationError, GraphWarning, ParameterError
from graphclust.io.graph_input import as_graph


@pytest.fixture
def read(tmp_path):
    return reader(tmp_path)


# -- what no clustering needs is not parsed


@for_each("namespace", ["http://www.gexf.net/1.1draft", "http://gexf.net/1.3", "http://www.gexf.net/1.3", ""])
def test_gexf_of_any_version_loads(read, namespace):
    nodes = '<node id="0"/><node id="1"/>'
    graph, info = read(gexf(nodes, '<edge source="0" target="1" weight="2"/>', namespace=namespace))
    assert edges_of(graph) == {(0, 1): 2.0} and info.format == "gexf"


def test_attributes_of_nodes_need_not_have_their_type(read):
    attributes = '<attributes class="node"><attribute id="0" title="age" type="long"/></attributes>'
    nodes = '<node id="a"><attvalues><attvalue for="0" value="unknown"/></attvalues></node><node id="b"/>'
    assert edges_of(read(gexf(nodes, AB, attributes))[0]) == {("a", "b"): 1.0}
    key = '<key id="k" for="node" attr.name="f" attr.type="boolean"/>'
    nodes = '<node id="a"><data key="k"> true </data></node><node id="b"><data key="never declared">1</data></node>'
    graph, info = read(graphml(nodes + AB, key))
    assert edges_of(graph) == {("a", "b"): 1.0} and info.remarks == ()


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_gml_texts_are_utf8_or_latin1_raw_or_entities(read, encoding):
    nodes = 'node [ id 1 label "Zoë" ] node [ id 2 label "Jos&#233; &amp; M&uuml;ller &unknown; AT&T" ]'
    graph, info = read(gml("source 1 target 2", nodes=nodes).encode(encoding))
    assert graph.nodes == ["Zoë", "José & Müller &unknown; AT&T"]
    assert info.remarks == (() if encoding == "utf-8" else ("the file is not UTF-8 and was read as Latin-1",))


@for_each("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1", "windows-1252"])
def test_xml_is_read_in_the_encoding_that_it_declares(read, encoding):
    declared = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}.get(encoding, encoding)
    text = f'<?xml version="1.0" encoding="{declared}"?>\n' + graphml('<node id="é"/><node id="b"/>')
    assert read(text.encode(encoding))[0].nodes == ["é", "b"]


def test_an_encoding_that_is_none_is_named(read):
    for encoding in ("klingon", "shift_jis"):
        with pytest.raises(GraphFormatError, match=r"cannot be read in its encoding .*; save it as UTF-8"):
            read(f'<?xml version="1.0" encoding="{encoding}"?>' + graphml(ABC))


def test_prefixes_and_foreign_elements_are_no_obstacle(read):
    text = (
        '<?xml version="1.0"?><!-- <graph> --><g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns">'
        '<o:graph><o:node id="x"/></o:graph><g:graph edgedefault="undirected"><o:node id="y"/><g:node id="a">'
        '<g:data key="k"><o:shape><g:node id="z"/></o:shape></g:data></g:node><g:node id="b"/>'
        '<g:edge source="a" target="b"/></g:graph></g:graphml>'
    )
    assert edges_of(read("\n " + text)[0]) == {("a", "b"): 1.0}


# -- several edges, directions, graphs


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_multigraph_is_the_same_from_a_file_and_as_an_object(tmp_path, format, kind, weighted):
    network = kind([("a", "b"), ("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")])
    if weighted:
        for i, (*_, attributes) in enumerate(network.edges(data=True)):
            attributes["weight"] = 1.5 + i
    getattr(nx, f"write_{format}")(network, tmp_path / "g")
    for rule in ("max", "sum"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            expected = as_graph(network, symmetrize=rule)
            graph, info = load_graph(tmp_path / "g", symmetrize=rule, return_info=True)
        assert graph == expected and any("repeated entr" in remark for remark in info.repairs)


@pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
@pytest.mark.parametrize("others", [[], [("b", "c")]])
def test_equal_directions_are_summed_whether_all_edges_have_two_or_not(tmp_path, others):
    network = nx.DiGraph([("a", "b"), ("b", "a"), *others])
    nx.write_graphml(network, tmp_path / "g.graphml")
    for given in (network, tmp_path / "g.graphml"):
        assert as_graph(given, symmetrize="sum").to_scipy()[0, 1] == 2
        assert as_graph(given, symmetrize="max").to_scipy()[0, 1] == 1


def test_the_two_entries_of_an_edge_of_metis_are_no_directions_to_be_summed(tmp_path):
    (tmp_path / "g.graph").write_text("3 2\n2\n1 3\n2\n")
    assert load_graph(tmp_path / "g.graph", symmetrize="sum") == load_graph(tmp_path / "g.graph")


@pytest.mark.parametrize("format", ["graphml", "gexf"])
@pytest.mark.parametrize("name", ["weight", "minutes"])
def test_weights_that_are_whole_numbers_and_others_are_one_attribute(tmp_path, format, name):
    G = nx.Graph()
    G.add_edges_from([("a", "b", {name: 3}), ("b", "c", {name: 0.5}), ("c", "d", {name: 2})])
    getattr(nx, f"write_{format}")(G, tmp_path / f"g.{format}")
    graph = load_graph(tmp_path / f"g.{format}", weight=name)
    assert graph == as_graph(G, weight=name) and graph.remarks == ()


def test_of_repeated_fields_of_a_gml_node_the_first_counts_and_a_repeated_weight_does_not(read):
    nodes = 'node [ id 1 id 3 label "a" label "b" ] node [ id 2 label "c" name "d" ]'
    graph, _ = read(gml("source 1 target 2 weight 2", nodes=nodes))
    assert graph.nodes == ["a", "c"] and graph.weights.tolist() == [2.0, 2.0]
    graph, info = read(gml("source 1 target 2 weight 2 weight 5", nodes=nodes))
    assert graph.weights is None and any("'weight' has several values" in said for said in info.remarks)
    refuses(GraphFormatError, "two values of source", read, gml("source 1 source 2 target 2", nodes=nodes))


def test_weights_ignored_are_1_also_of_repeated_edges(read):
    graph, _ = read(gml("source 1 target 2 weight x", "source 1 target 2"), weights="ignore")
    assert graph.weights is None and graph.n_edges == 1


MIXED = [
    ("graphml", graphml(ABC + '<edge source="a" target="b" directed="true"/>' + BC)),
    ("graphml", graphml(ABC + AB + '<edge source="b" target="c" directed="false"/>', directed=True)),
    ("gexf", gexf(ABC, '<edge source="a" target="b" type="directed"/><edge source="b" target="c" type="mutual"/>')),
]


@pytest.mark.parametrize(("format", "text"), MIXED)
def test_directed_and_undirected_edges_join(read, format, text):
    for rule in ("max", "sum"):
        graph, info = read(text, symmetrize=rule)
        assert edges_of(graph) == {("a", "b"): 1.0, ("b", "c"): 1.0} and info.format == format
        assert "1 edge is directed, 1 not" in info.remarks and "the graph was directed" in str(info.repairs)
    refuses(GraphValidationError, 'pass symmetrize="max" or "sum"', read, text, symmetrize=None)


def test_an_undirected_edge_adds_to_both_directions(read):
    def weighted(source, target, weight, directed):
        start = f'<edge source="{source}" target="{target}" directed="{directed}">'
        return f'{start}<data key="weight">{weight}</data></edge>'

    one_way, other_way = weighted("a", "b", 3, "true"), weighted("b", "a", 2, "true")
    for edge in (weighted("a", "b", 5, "false"), weighted("b", "a", 5, "false")):
        assert edges_of(read(graphml(ABC + one_way + edge + other_way))[0]) == {("a", "b"): 8.0}
        assert edges_of(read(graphml(ABC + one_way + edge + other_way), symmetrize="sum")[0]) == {("a", "b"): 10.0}


TWO_GRAPHS = {
    "graphml": graphml(ABC).replace("</graphml>", f'\n<graph edgedefault="directed">{ABC}</graph></graphml>'),
    "gexf": gexf(ABC, "").replace("</gexf>", "\n<graph></graph></gexf>"),
    "gml": gml() + "\n" + gml(),
}


@pytest.mark.parametrize("format", FORMATS)
def test_two_graphs_in_a_file_are_refused(read, format):
    refuses(GraphFormatError, "line 2: holds two graphs, expected one; save each in a file", read, TWO_GRAPHS[format])


def test_nodes_listed_twice_are_one_and_those_of_edges_alone_are_added(read):
    early = '<edge source="x" target="x"/><edge source="x" target="a"/>'
    graph, info = read(graphml(early + '<node id="b"/><node id="a"/><node id="a"/>' + AB))
    assert graph.nodes == ["b", "a", "x"]
    assert edges_of(graph) == {("b", "a"): 1.0, ("a", "x"): 1.0, ("x", "x"): 1.0}
    assert info.repairs == ("1 node that only edges name is added", "1 repeat of a node's id: each id is one node")


# -- weights


@for_each("format", FORMATS)
@for_each("name", ["weight", "Weight", "weights", "EdgeWeight", "value", "VALUE", "Score"])
def test_a_weight_is_known_by_the_names_that_tables_use(read, format, name):
    graph, info = read(edge_with(name, "2.5", format))
    assert list(edges_of(graph).values()) == [2.5, 1.0]
    assert f"1 edge without '{name}' counts 1" in info.remarks
    assert (info.repairs == ()) == (name.lower() not in ("value", "score"))
    assert read(edge_with(name, "2.5", format), weights="file")[1].repairs == ()


@pytest.mark.parametrize("format", FORMATS)
def test_the_weight_is_the_attribute_that_is_asked_for(read, format):
    text = edge_with("count", "3", format, type="int")
    graph, info = read(text)
    assert graph.weights is None
    assert info.repairs == ("numeric edge attributes not used: 'count'; pass weight='count' if that is the weight",)
    graph, info = read(text, weight="count")
    assert list(edges_of(graph).values()) == [3.0, 1.0] and info.repairs == ()
    for options in ({}, {"weights": "ignore"}):
        with pytest.raises(GraphValidationError, match="no edge has the attribute 'x', expected one of 'count'"):
            read(text, weight="x", **options)
    with pytest.raises(GraphValidationError, match="no edge has the attribute 'x', nor any other"):
        read(gml("source 0 target 1"), weight="x")


def test_a_numeric_attribute_beside_the_weight_is_named_without_a_warning(read):
    graph, info = read(gml('source 0 target 1 weight 2 id 7 since 1999 kind "a" graphics [ width 3 ]'))
    assert edges_of(graph) == {(0, 1): 2.0}
    assert info.remarks[0] == "numeric edge attributes not used: 'since'; pass weight='since' if that is the weight"
    assert not any("numeric" in repair for repair in info.repairs)


@pytest.mark.parametrize("format", FORMATS)
def test_attributes_that_hold_no_numbers_are_not_named(read, format):
    for name, text in (("kind", "friend"), ("value", "high")):
        text = f'"{text}"' if format == "gml" else text
        graph, info = read(edge_with(name, text, format, type="string"))
        assert graph.weights is None and info.remarks == ()
    assert edges_of(read(gml('source 0 target 1 value "high" score 3'))[0]) == {(0, 1): 3.0}


@for_each("format", FORMATS)
@for_each("word", ["abc", "1_0", "1,5"])
def test_a_weight_that_is_no_number_is_refused_with_its_line(read, format, word):
    text = edge_with("weight", word, format).replace("<edge ", "\n<edge ").replace("edge [", "\nedge [")
    refuses(GraphFormatError, f"line 2: the edge attribute 'weight' is '{word}', expected a number", read, text)
    assert read(text, weights="ignore")[0].weights is None


@pytest.mark.parametrize("format", FORMATS)
def test_weights_that_no_graph_has_are_refused(read, format):
    for word, message in (("-1", "1 negative weight, the first -1 at"), ("nan", "1 non-finite"), ("1e999", "1 non")):
        refuses(GraphValidationError, message, read, edge_with("weight", word, format))
    assert list(edges_of(read(edge_with("weight", "-4", format), weights="abs")[0]).values()) == [4.0, 1.0]


def test_graphml_attributes_may_stand_in_the_elements_themselves(read):
    nodes = '<node id="1" name="Ann"/><node id="2" name="Bob"/><node id="3" name="Cec"/>'
    edges = '<edge id="7" source="1" target="2" weight="2.5" since="1999"/><edge source="2" target="3" k="a" y:z="1"/>'
    graph, info = read(graphml(nodes + edges))
    assert edges_of(graph) == {("Ann", "Bob"): 2.5, ("Bob", "Cec"): 1.0}
    assert "numeric edge attributes not used: 'since'; pass weight='since' if that is the weight" in info.remarks
    assert edges_of(read(graphml(nodes + edges), weight="since")[0]) == {("Ann", "Bob"): 1999.0, ("Bob", "Cec"): 1.0}


def test_a_default_weight_fills_missing_edges(read):
    weight = '<data key="w">1</data>'
    body = f'{ABC}{AB}<edge source="b" target="c">{weight}</edge>'
    key = '<key id="w" for="{}" attr.name="weight" attr.type="double"><default>5</default></key>'
    for owner in ("edge", "all"):
        graph, info = read(graphml(body, key.format(owner)))
        assert edges_of(graph) == {("a", "b"): 5.0, ("b", "c"): 1.0} and info.remarks == ()
    assert edges_of(read(graphml(ABC + AB + BC, key.format("edge")))[0]) == {("a", "b"): 5.0, ("b", "c"): 5.0}
    attribute = '<attribute id="0" title="weight" type="float"><default>5</default></attribute>'
    graph, _ = read(gexf(ABC, AB + BC, f'<attributes class="edge">{attribute}</attributes>'))
    assert edges_of(graph) == {("a", "b"): 5.0, ("b", "c"): 5.0}
    astray = graphml("<default>7</default>" + body, key.format("edge") + "<default>7</default>")  # of no declaration
    assert edges_of(read(astray)[0]) == {("a", "b"): 5.0, ("b", "c"): 1.0}
    with pytest.raises(GraphFormatError, match="'weight' is 'five', expected a number"):
        read(graphml(body, key.format("edge").replace(">5<", ">five<")))


@for_each("word", ["1e-05", "1e+20", "1E-5", "+2", ".5", "3.", "2.5e3", "7"])
def test_gml_weights_are_read_as_float_does(read, word):
    assert edges_of(read(gml(f"source 0 target 1 weight {word}"))[0]) == {(0, 1): float(word)}


def test_formats_without_attributes_refuse_the_name_of_one(tmp_path):
    (tmp_path / "g.graph").write_text("2 1\n2\n1\n")
    save_store(tmp_path / "store", nx.path_graph(3))
    save_graph(tmp_path / "g.npz", nx.path_graph(3))
    for path in (tmp_path / "store", tmp_path / "g.npz", tmp_path / "g.graph", "snap:com-Orkut"):
        refuses(ParameterError, "weight='w' names ", load_graph, path, weight="w")


# -- names


def named(texts: list[str | None], format: str, attribute: str, type: str = "string") -> str:
    """Nodes n0, n1, ..., or 0, 1, ... in GML, with an attribute."""
    nodes = ""
    for i, text in enumerate(texts):
        if format == "gml":
            value = "" if text is None else f'{attribute} "{text}"'
            nodes += f"node [ id {i} {value} ]\n"
        elif format == "graphml":
            value = "" if text is None else f'<data key="v">{text}</data>'
            nodes += f'<node id="n{i}">{value}</node>'
        else:
            nodes += f'<node id="n{i}"/>' if text is None else f'<node id="n{i}" label="{text}"/>'
    if format == "gml":
        return gml(nodes=nodes)
    if format == "graphml":
        return graphml(nodes, f'<key id="v" for="node" attr.name="{attribute}" attr.type="{type}"/>')
    return gexf(nodes, "")


NAMING = [("gml", "label"), ("gml", "name"), ("graphml", "name"), ("graphml", "label"), ("gexf", "label")]


@pytest.mark.parametrize(("format", "attribute"), NAMING)
def test_labels_name_the_nodes_if_all_differ(read, format, attribute):
    ids = None if format == "gml" else ["n0", "n1", "n2"]
    graph, info = read(named(["Ann", "", "Bob"], format, attribute))
    assert graph.nodes == ["Ann", "", "Bob"]
    assert info.remarks[:-1] == ((f"nodes are called by their {attribute}, not by their id",) if ids else ())
    graph, info = read(named(["Ann", "Bob", "Ann"], format, attribute))
    assert graph.nodes == ids
    assert info.remarks[0] == f"nodes are called by their id: there are nodes with the same {attribute}"
    graph, info = read(named(["Ann", None, None], format, attribute))
    assert graph.nodes == ids
    assert info.remarks[0] == f"nodes are called by their id: there are 2 nodes without {attribute}"


def test_labels_of_whole_numbers_are_numbers_unless_they_are_typed_as_text(read):
    for format, attribute in NAMING:
        expected = [3, 5] if attribute == "label" and format != "graphml" else ["3", "5"]
        assert read(named(["3", "5"], format, attribute))[0].nodes == expected
    assert read(named(["3", "5"], "graphml", "name", type="long"))[0].nodes == [3, 5]
    assert read(named(["007", "7", "10"], "gexf", "label"))[0].nodes == ["007", "7", "10"]
