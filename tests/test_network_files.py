"""GraphML, GEXF and GML: which nodes, edges and weights a file plainly says there are, whoever wrote it."""

import warnings

import networkx as nx
import numpy as np
import pytest
from graph_files import same_csr

from graphclust import load_graph, save_graph, save_store
from graphclust.errors import (
    GraphClustError,
    GraphFormatError,
    GraphValidationError,
    GraphWarning,
    ParameterError,
    ResourceLimitError,
)
from graphclust.graph.gate import as_graph

ABC = '<node id="a"/><node id="b"/><node id="c"/>'
AB, BC = '<edge source="a" target="b"/>', '<edge source="b" target="c"/>'
PATH = ["a", "b", "c"]


def graphml(body: str, keys: str = "", directed: bool = False) -> str:
    default = "directed" if directed else "undirected"
    graph = f'<graph edgedefault="{default}">{body}</graph>'
    return f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}{graph}</graphml>'


def gexf(nodes: str, edges: str, attributes: str = "", namespace: str = "http://www.gexf.net/1.2draft") -> str:
    parts = f"{attributes}<nodes>{nodes}</nodes><edges>{edges}</edges>"
    return f'<gexf xmlns="{namespace}"><graph defaultedgetype="undirected">{parts}</graph></gexf>'


def gml(*edges: str, directed: int = 0, nodes: str = "node [ id 0 ] node [ id 1 ] node [ id 2 ]") -> str:
    return f"graph [ directed {directed} {nodes} {' '.join(f'edge [ {edge} ]' for edge in edges)} ]"


def edge_with(name: str, value: str, format: str, type: str = "double") -> str:
    """A path of three nodes; its first edge has an attribute, the second has none."""
    if format == "gml":
        return gml(f"source 0 target 1 {name} {value}", "source 1 target 2")
    if format == "graphml":
        key = f'<key id="d0" for="edge" attr.name="{name}" attr.type="{type}"/>'
        return graphml(f'{ABC}<edge source="a" target="b"><data key="d0">{value}</data></edge>{BC}', key)
    attributes = f'<attributes class="edge"><attribute id="0" title="{name}" type="{type}"/></attributes>'
    valued = f'<edge source="a" target="b"><attvalues><attvalue for="0" value="{value}"/></attvalues></edge>'
    return gexf(ABC, valued + BC, attributes)


FORMATS = ["graphml", "gexf", "gml"]


@pytest.fixture
def read(tmp_path):
    """Gives the graph and the info of a file with a text."""

    def load(text: str | bytes, format: str | None = None, **options):
        path = tmp_path / "graph.file"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_graph(path, format=format, return_info=True, **options)

    return load


def edges_of(graph) -> dict[tuple, float]:
    """The weight of each edge, once, by the names of its ends."""
    nodes, matrix = graph.nodes, graph.to_scipy().tocoo()
    names = range(graph.n_nodes) if nodes is None else nodes
    entries = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    return {(names[u], names[v]): weight for u, v, weight in entries if u <= v}


# -- what no clustering needs is not parsed


@pytest.mark.parametrize(
    "namespace", ["http://www.gexf.net/1.1draft", "http://gexf.net/1.3", "http://www.gexf.net/1.3", ""]
)
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


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1", "windows-1252"]
)
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


@pytest.mark.parametrize("directed", [0, 1])
def test_repeated_edges_of_gml_are_added_up(read, directed):
    graph, info = read(gml("source 1 target 2", "source 1 target 2", directed=directed))
    assert edges_of(graph) == {(1, 2): 2.0} and "1 repeated entry, the first (1, 2), was added up" in info.repairs


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
    with pytest.raises(GraphValidationError, match='pass symmetrize="max" or "sum"'):
        read(text, symmetrize=None)


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
    with pytest.raises(GraphFormatError, match="line 2: holds two graphs, expected one; save each in a file"):
        read(TWO_GRAPHS[format])


def test_nodes_listed_twice_are_one_and_those_of_edges_alone_are_added(read):
    early = '<edge source="x" target="x"/><edge source="x" target="a"/>'
    graph, info = read(graphml(early + '<node id="b"/><node id="a"/><node id="a"/>' + AB))
    assert graph.nodes == ["b", "a", "x"]
    assert edges_of(graph) == {("b", "a"): 1.0, ("a", "x"): 1.0, ("x", "x"): 1.0}
    assert info.repairs == ("1 node that only edges name is added", "1 repeat of a node's id: each id is one node")


# -- weights


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["weight", "Weight", "weights", "EdgeWeight", "value", "VALUE", "Score"])
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


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("word", ["abc", "1_0", "1,5"])
def test_a_weight_that_is_no_number_is_refused_with_its_line(read, format, word):
    text = edge_with("weight", word, format).replace("<edge ", "\n<edge ").replace("edge [", "\nedge [")
    with pytest.raises(GraphFormatError, match=f"line 2: the edge attribute 'weight' is '{word}', expected a number"):
        read(text)
    assert read(text, weights="ignore")[0].weights is None


@pytest.mark.parametrize("format", FORMATS)
def test_weights_that_no_graph_has_are_refused(read, format):
    for word, message in (
        ("-1", "1 negative weight, the first -1 at edge"),
        ("nan", "1 non-finite"),
        ("1e999", "1 non"),
    ):
        with pytest.raises(GraphValidationError, match=message):
            read(edge_with("weight", word, format))
    assert list(edges_of(read(edge_with("weight", "-4", format), weights="abs")[0]).values()) == [4.0, 1.0]


def test_graphml_attributes_may_stand_in_the_elements_themselves(read):
    nodes = '<node id="1" name="Ann"/><node id="2" name="Bob"/><node id="3" name="Cec"/>'
    edges = (
        '<edge id="7" source="1" target="2" weight="2.5" since="1999"/><edge source="2" target="3" kind="a" y:z="1"/>'
    )
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
    with pytest.raises(GraphFormatError, match="'weight' is 'five', expected a number"):
        read(graphml(body, key.format("edge").replace(">5<", ">five<")))


@pytest.mark.parametrize("word", ["1e-05", "1e+20", "1E-5", "+2", ".5", "3.", "2.5e3", "7"])
def test_gml_weights_are_read_as_float_does(read, word):
    assert edges_of(read(gml(f"source 0 target 1 weight {word}"))[0]) == {(0, 1): float(word)}


def test_formats_without_attributes_refuse_the_name_of_one(tmp_path):
    (tmp_path / "g.graph").write_text("2 1\n2\n1\n")
    save_store(tmp_path / "store", nx.path_graph(3))
    save_graph(tmp_path / "g.npz", nx.path_graph(3))
    for path in (tmp_path / "store", tmp_path / "g.npz", tmp_path / "g.graph", "snap:com-Orkut"):
        with pytest.raises(ParameterError, match="weight='w' names "):
            load_graph(path, weight="w")


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
    assert (
        graph.nodes == ids and info.remarks[0] == f"nodes are called by their id: there are 2 nodes without {attribute}"
    )


def test_labels_of_whole_numbers_are_numbers_unless_they_are_typed_as_text(read):
    for format, attribute in NAMING:
        expected = [3, 5] if attribute == "label" and format != "graphml" else ["3", "5"]
        assert read(named(["3", "5"], format, attribute))[0].nodes == expected
    assert read(named(["3", "5"], "graphml", "name", type="long"))[0].nodes == [3, 5]
    assert read(named(["007", "7", "10"], "gexf", "label"))[0].nodes == ["007", "7", "10"]


# -- files of other programs, in small


def test_gephi(read):
    """Version 1.3 with the looks of nodes, and 1.1 with an attribute that changes over time."""
    text = """<?xml version='1.0' encoding='UTF-8'?>
<gexf xmlns="http://gexf.net/1.3" version="1.3" xmlns:viz="http://gexf.net/1.3/viz">
  <meta lastmodifieddate="2024-02-03"><creator>Gephi 0.10</creator><title></title></meta>
  <graph defaultedgetype="undirected" mode="static">
    <attributes class="node" mode="static"><attribute id="modularity_class" title="Modularity Class" type="integer">
      <default>0</default></attribute></attributes>
    <nodes>
      <node id="0.0" label="Paris"><attvalues><attvalue for="modularity_class" value="1"/></attvalues>
        <viz:size value="4.0"></viz:size><viz:position x="-1" y="2"/><viz:color r="1" g="2" b="3"/></node>
      <node id="1.0" label="Rome"/><node id="2.0" label="Oslo"/>
    </nodes>
    <edges><edge id="0" source="0.0" target="1.0" weight="2.5"><viz:thickness value="2"/></edge>
      <edge id="1" source="1.0" target="2.0"></edge></edges>
  </graph>
</gexf>"""
    graph, info = read(text)
    assert edges_of(graph) == {("Paris", "Rome"): 2.5, ("Rome", "Oslo"): 1.0} and info.repairs == ()
    dynamic = """<gexf xmlns="http://www.gexf.net/1.1draft" version="1.1">
  <graph mode="dynamic" defaultedgetype="directed" start="2001" timeformat="double">
    <attributes class="edge" mode="dynamic"><attribute id="weight" title="Weight" type="float"/></attributes>
    <nodes><node id="a" start="2001"><slices><slice start="2001" end="2002"/></slices></node>
      <node id="b"><spells><spell start="2001"/></spells></node></nodes>
    <edges><edge source="a" target="b"><attvalues><attvalue for="weight" value="1" end="2002"/>
      <attvalue for="weight" value="3" start="2002"/></attvalues></edge></edges>
  </graph>
</gexf>"""
    graph, info = read(dynamic)
    assert edges_of(graph) == {("a", "b"): 1.0}
    assert "the graph changes over time; every node and edge was read, times were not" in info.remarks
    assert "edge attribute 'Weight' has several values for an edge, and was not used" in info.repairs
    with pytest.raises(GraphValidationError, match="an edge has several values of the attribute 'Weight'"):
        read(dynamic, weight="Weight")
    both = dynamic.replace("</edges>", '<edge source="b" target="c" weight="7"/></edges>')
    graph, info = read(both)
    assert edges_of(graph) == {("a", "b"): 1.0, ("b", "c"): 7.0} and "numeric" not in str(info.remarks)
    assert "edge attribute 'Weight' has several values for an edge, and was not used" in info.repairs
    one_value = dynamic.replace('<attvalue for="weight" value="3" start="2002"/>', "")
    assert edges_of(read(one_value.replace('"1"', '"4"'))[0]) == {("a", "b"): 4.0}


def test_gml_is_known_by_what_stands_before_the_graph(read, tmp_path):
    graph = gml("source 0 target 1")
    starts = (
        'Creator "yFiles" Version 2.2 ',
        'Creator "two\nlines"\nVersion "2"\n',
        "# graph\n\n#\n",
        "\r\nversion 1\r\n",
    )
    for start in starts:
        assert read(start + graph)[1].format == "gml"
    (tmp_path / "g.gml").write_text("made_by me\n" + graph)
    assert load_graph(tmp_path / "g.gml", return_info=True)[1].format == "gml"
    assert read("graph node\nnode edge\n")[1].format == "csv"


def test_newman(read):
    """A line of the creator, brackets on lines of their own, texts over several lines, comments."""
    text = """Creator "someone on Sat Jul 22 05:32:16 2006"
# a comment with [ brackets and a "
graph
[
  comment "two
lines, a # and a ] in it"
  directed 0
  node
  [
    id 0
    label "Beak"
    value 3
    source "Blue,
Kos"
  ]
  node [ id 1 label "Topless" ]  # one more
  edge
  [
    source 0
    target 1
    value 2.526e-3
  ]
]
"""
    graph, info = read(text.replace("\n", "\r\n"))
    assert edges_of(graph) == {("Beak", "Topless"): 2.526e-3} and info.format == "gml"
    assert len(info.repairs) == 1 and "'value' was read as weights" in info.repairs[0]
    unquoted = text.replace('Creator "someone on', "Creator someone (on").replace('2006"', "2006)")
    assert read(unquoted)[0] == graph and read("\ufeff" + text)[0] == graph


def test_igraph(read):
    text = """Creator "igraph version 0.10"
Version 1
graph
[
  directed 0
  name "Ties"
  node
  [
    id 0
    name "1"
  ]
  node
  [
    id 1
    name "Zo&#235;"
  ]
  edge
  [
    source 1
    target 0
    weight 1e-05
  ]
]
"""
    assert edges_of(read(text)[0]) == {("1", "Zoë"): 1e-5}
    graph, info = read(
        graphml(
            '<data key="g_name">Ties</data><node id="n0"><data key="v_name">1</data></node><node id="n1">'
            '<data key="v_name">2</data></node><edge source="n0" target="n1"><data key="e_w">1e-05</data></edge>',
            '<key id="g_name" for="graph" attr.name="name" attr.type="string"/><key id="v_name" for="node" '
            'attr.name="name" attr.type="string"/><key id="e_w" for="edge" attr.name="weight" attr.type="double"/>',
        )
    )
    assert edges_of(graph) == {("1", "2"): 1e-5} and info.repairs == ()


def test_yed(read):
    """Groups, ports and looks; the second edge lies in the group."""
    text = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key for="port" id="d0" yfiles.type="portgraphics"/><key for="graphml" id="d1" yfiles.type="resources"/>
  <key attr.name="url" attr.type="string" for="node" id="d2"/><key for="node" id="d3" yfiles.type="nodegraphics"/>
  <key for="edge" id="d4" yfiles.type="edgegraphics"/><key attr.name="hint" attr.type="string" for="edge" id="d5"/>
  <graph edgedefault="directed" id="G">
    <node id="n0"><data key="d3"><y:ShapeNode><y:NodeLabel>A<y:LabelModel/></y:NodeLabel></y:ShapeNode></data>
      <port name="left"/></node>
    <node id="n1" yfiles.foldertype="group"><data key="d2"/><graph edgedefault="directed" id="n1:">
      <node id="n1::n0"/><node id="n1::n1"/><edge id="n1::e0" source="n1::n0" target="n1::n1"/></graph></node>
    <edge id="e0" source="n0" target="n1::n0" sourceport="left"><data key="d4"><y:PolyLineEdge/></data>
      <data key="d5"/></edge>
  </graph><data key="d1"><y:Resources/></data>
</graphml>"""
    graph, info = read(text)
    assert edges_of(graph) == {("n0", "n1::n0"): 1.0, ("n1::n0", "n1::n1"): 1.0}
    assert graph.nodes == ["n0", "n1", "n1::n0", "n1::n1"]
    assert "some nodes hold nodes or graphs; all nodes and edges were read as one graph" in info.remarks


def test_gexf_nodes_within_nodes(read):
    nodes = '<node id="a"><nodes><node id="b"><attvalues/></node></nodes><edges/></node><node id="c" pid="a"/>'
    graph, info = read(gexf(nodes, AB + BC))
    assert edges_of(graph) == {("a", "b"): 1.0, ("b", "c"): 1.0} and "some nodes hold nodes" in info.remarks[0]


def test_hyperedges_are_refused(read):
    hyperedge = '\n<hyperedge><endpoint node="a"/><endpoint node="b"/><endpoint node="c"/></hyperedge>'
    with pytest.raises(GraphFormatError, match="line 2: holds a hyperedge, expected edges of two nodes"):
        read(graphml(ABC + hyperedge))


# -- damage and malice


DOCTYPE = '<!DOCTYPE graphml [<!ENTITY a "aaaa">]>'


@pytest.mark.parametrize(
    "start",
    [
        DOCTYPE,
        f"<?a <!-- ?>{DOCTYPE}<?b --> ?>",
        f"<?a <![CDATA[ ?>{DOCTYPE}<?b ]]> ?>",
        '<!DOCTYPE graphml SYSTEM "x.dtd">',
    ],
)
def test_document_types_are_refused_wherever_they_hide(read, start):
    for text in (graphml(ABC), graphml('<node id="&a;"/>')):
        with pytest.raises(GraphFormatError, match="line 2: defines a document type or entities"):
            read(f'<?xml version="1.0"?>\n{start}{text}')
    text = graphml('<node id="a"><data key="x"><![CDATA[<!DOCTYPE x>]]></data></node><!-- <!ENTITY --><?c <!ENTITY ?>')
    assert read(text)[0].nodes == ["a"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_cut_file_is_refused_with_its_line_wherever_it_is_cut(read, format):
    text = edge_with("weight", "2", format).replace(">", ">\n").replace("]", "]\n").rstrip()
    for end in range(20, len(text), 13):
        with pytest.raises(GraphFormatError, match=r"graph.file, line \d+: "):
            read(text[:end], format)


DAMAGED = [
    ("graphml", graphml("<node/>"), "line 1: a node has no id"),
    ("gexf", gexf("<node/>", ""), "line 1: a node has no id"),
    ("gml", "graph [\nnode [ label 3 ] ]", "line 2: a node has no id"),
    ("graphml", graphml(ABC + '\n<edge source="a"/>'), "line 2: an edge has no source or no target"),
    ("gexf", gexf(ABC, '\n<edge target="a"/>'), "line 2: an edge has no source or no target"),
    ("gml", "graph [ node [ id 1 ]\nedge [ source 1 ] ]", "line 2: an edge has no source or no target"),
    ("gml", gml("source 1 source 2 target 0"), "an edge has two values of source, expected one"),
    ("gml", gml("source 0 target 1") + "\n]", "line 2: ']' stands where"),
    ("gml", "graph [ node [ id 1 label ] ]", "']' stands where"),
    ("gml", "graph [ node [ id 1 2 ] ]", "'2' stands where a key is expected"),
    ("gml", 'graph [ node [ id 1 "a" ] ]', "stands where a key is expected"),
    ("gml", "graph [ [ ] ]", "'[' stands where a key is expected"),
    ("gml", 'graph [ node [ id 1\nlabel "a ] ]', "line 2: a text has no end"),
    ("gml", "graph [ node [ id 1 ]\nedge [ source 1 target 9 ] ]", "line 2: an edge names node '9', which is not"),
    ("gml", "graph [ node [ id 1 ] edge [ source 1 target &#55296; ] ]", "an edge names node '?'"),
    ("gml", gml("source 1 target 2 weight &#55296;"), "'weight' is '?'"),
    ("gml", "Version 1", "holds no graph"),
    ("graphml", gexf(ABC, AB), "begins with the element <gexf>, expected <graphml>"),
    ("gexf", "<gexf><a></gexf>", "is no well-formed XML (mismatched tag)"),
    ("gexf", "<gexf/><gexf/>", "is no well-formed XML (junk after document element)"),
    ("graphml", graphml('<node id="&eacute;"/>'), "is no well-formed XML (undefined entity)"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "message"), DAMAGED)
def test_damage_is_named(read, format, text, message):
    with pytest.raises(GraphFormatError) as caught:
        read(text, format)
    assert message in str(caught.value)


@pytest.mark.parametrize("format", FORMATS)
def test_no_nodes_are_refused(read, format):
    text = {"graphml": graphml(""), "gexf": gexf("", ""), "gml": "graph [ ]"}[format]
    with pytest.raises(GraphValidationError, match="the graph has 0 nodes"):
        read(text)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("graphml", '<graphml><graph><node id="a"><graph>' + '<node id="b"><graph>' * 5000),
        ("graphml", "<graphml>" + "<x>" * 5000),
        ("gexf", "<gexf><graph><nodes>" + '<node id="b"><nodes>' * 5000),
        ("gml", "graph [ a [ " + "a [ " * 5000),
    ],
)
def test_deep_nesting_is_refused(read, format, text):
    with pytest.raises(GraphFormatError, match=f"is nested too deeply for {format}"):
        read(text)


def test_endless_tags_are_refused(read, monkeypatch):
    monkeypatch.setattr("graphclust.io.xml_elements._BLOCK", 1 << 10)
    monkeypatch.setattr("graphclust.io.xml_elements._LONGEST_TAG", 1 << 13)
    for start in ("<!-- ", '<graph x="'):
        with pytest.raises(GraphFormatError, match="holds a tag or comment of more than"):
            read("<graphml>" + start + "x" * (1 << 15))
    assert read(graphml(f'<node id="a"><data key="x">{"x" * (1 << 15)}</data></node>'))[0].n_nodes == 1


@pytest.mark.parametrize("format", FORMATS)
def test_memory_limits_hold(tmp_path, format):
    nx.write_graphml(nx.empty_graph(2000), tmp_path / "g.graphml")
    nx.write_gexf(nx.empty_graph(2000), tmp_path / "g.gexf")
    nx.write_gml(nx.empty_graph(2000), tmp_path / "g.gml")
    with pytest.raises(ResourceLimitError, match=f"g.{format}: its nodes and edges need more memory than the limit"):
        load_graph(tmp_path / f"g.{format}", memory_limit=100_000)
    assert load_graph(tmp_path / f"g.{format}", memory_limit=10_000_000, return_info=True)[0].n_nodes == 2000


@pytest.mark.parametrize("format", FORMATS)
def test_blocks_do_not_matter(tmp_path, monkeypatch, format):
    network = nx.gnp_random_graph(20, 0.2, seed=3)
    nx.set_edge_attributes(network, {edge: i / 7 for i, edge in enumerate(network.edges)}, "weight")
    getattr(nx, f"write_{format}")(network, tmp_path / "g")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        expected = as_graph(network)
        monkeypatch.setattr("graphclust.io.xml_elements._BLOCK", 7)
        monkeypatch.setattr("graphclust.io.network_files.BLOCK", 7)
        assert same_csr(load_graph(tmp_path / "g"), expected)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_mutated_files_load_or_are_refused_by_name(read, format):
    rng = np.random.default_rng(2209)
    text = edge_with("weight", "2.5", format).encode()
    for _ in range(1500):
        spoiled = bytearray(text)
        for at in rng.integers(0, len(text), rng.integers(1, 4)):
            spoiled[at : at + int(rng.integers(0, 9))] = bytes(rng.integers(0, 256, rng.integers(0, 3)).tolist())
        try:
            graph, _ = read(bytes(spoiled), format)
        except GraphClustError as problem:
            assert "graph.file" in str(problem)
        else:
            assert graph.n_nodes >= 1 and (graph.weights is None or (graph.weights > 0).all())
