"""GraphML, GEXF and GML as other programs write them, in small, and damaged, hostile or very large."""

import re
import warnings

import networkx as nx
import pytest
from cases import for_each, refuses
from graph_files import same_csr
from network_texts import AB, ABC, BC, FORMATS, edge_with, edges_of, gexf, gml, graphml, reader

from graphclust import load_graph
from graphclust.errors import GraphFormatError, GraphValidationError, GraphWarning, ResourceLimitError
from graphclust.io.graph_input import as_graph


@pytest.fixture
def read(tmp_path):
    return reader(tmp_path)


def test_files_of_gephi_are_read(read):
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
    yed, two_lines = 'Creator "yFiles" Version 2.2 ', 'Creator "two\nlines"\nVersion "2"\n'
    for start in (yed, two_lines, "# graph\n\n#\n", "\r\nversion 1\r\n"):
        assert read(start + graph)[1].format == "gml"
    (tmp_path / "g.gml").write_text("made_by me\n" + graph)
    assert load_graph(tmp_path / "g.gml", return_info=True)[1].format == "gml"
    assert read("graph node\nnode edge\n")[1].format == "csv"


def test_files_of_newmans_collection_are_read(read):
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


def test_files_of_igraph_are_read(read):
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


def test_files_of_yed_are_read(read):
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


DOCTYPE = '<!DOCTYPE graphml [<!ENTITY a "aaaa">]>'
EXTERNAL = '<!DOCTYPE graphml SYSTEM "x.dtd">'


@for_each("start", [DOCTYPE, f"<?a <!-- ?>{DOCTYPE}<?b --> ?>", f"<?a <![CDATA[ ?>{DOCTYPE}<?b ]]> ?>", EXTERNAL])
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
        refuses(GraphFormatError, r"graph.file, line \d+: ", read, text[:end], format)


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
    ("gexf", "<gexf><a></gexf>", "is not well-formed XML (mismatched tag)"),
    ("gexf", "<gexf/><gexf/>", "is not well-formed XML (junk after document element)"),
    ("graphml", graphml(ABC + "\n<hyperedge/>"), "line 2: holds a hyperedge, expected edges of two nodes"),
    ("graphml", graphml('<node id="&eacute;"/>'), "is not well-formed XML (undefined entity)"),
]  # fmt: skip


@for_each(("format", "text", "message"), DAMAGED)
def test_damage_is_named(read, format, text, message):
    refuses(GraphFormatError, re.escape(message), read, text, format)


@for_each("text", [graphml(""), gexf("", ""), "graph [ ]"])
def test_no_nodes_are_refused(read, text):
    refuses(GraphValidationError, "the graph has 0 nodes", read, text)


def test_deep_nesting_is_refused(read):
    for format, text in (
        ("graphml", '<graphml><graph><node id="a"><graph>' + '<node id="b"><graph>' * 5000),
        ("graphml", "<graphml>" + "<x>" * 5000),
        ("gexf", "<gexf><graph><nodes>" + '<node id="b"><nodes>' * 5000),
        ("gml", "graph [ a [ " + "a [ " * 5000),
    ):
        refuses(GraphFormatError, f"is nested too deeply for {format}", read, text)


def test_endless_tags_are_refused(read, monkeypatch):
    monkeypatch.setattr("graphclust.io.formats.xml_networks._BLOCK", 1 << 10)
    monkeypatch.setattr("graphclust.io.formats.xml_networks._LONGEST_TAG", 1 << 13)
    for start in ("<!-- ", '<graph x="'):
        refuses(GraphFormatError, "holds a tag or comment of more than", read, "<graphml>" + start + "x" * (1 << 15))
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
def test_block_sizes_change_no_network_file(tmp_path, monkeypatch, format):
    network = nx.gnp_random_graph(20, 0.2, seed=3)
    nx.set_edge_attributes(network, {edge: i / 7 for i, edge in enumerate(network.edges)}, "weight")
    getattr(nx, f"write_{format}")(network, tmp_path / "g")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        expected = as_graph(network)
        monkeypatch.setattr("graphclust.io.formats.xml_networks._BLOCK", 7)
        monkeypatch.setattr("graphclust.io.formats.network_files.BLOCK", 7)
        assert same_csr(load_graph(tmp_path / "g"), expected)
