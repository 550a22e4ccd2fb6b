"""GraphML, GEXF and GML files that are damaged, hostile or very large: named errors, and no memory beyond a limit."""

import warnings

import networkx as nx
import pytest
from cases import for_each
from graph_files import same_csr
from network_texts import AB, ABC, FORMATS, edge_with, gexf, gml, graphml, reader

from graphclust import load_graph
from graphclust.errors import GraphFormatError, GraphValidationError, GraphWarning, ResourceLimitError
from graphclust.io.graph_input import as_graph


@pytest.fixture
def read(tmp_path):
    return reader(tmp_path)


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
    ("gexf", "<gexf><a></gexf>", "is not well-formed XML (mismatched tag)"),
    ("gexf", "<gexf/><gexf/>", "is not well-formed XML (junk after document element)"),
    ("graphml", graphml('<node id="&eacute;"/>'), "is not well-formed XML (undefined entity)"),
]  # fmt: skip


@for_each(("format", "text", "message"), DAMAGED)
def test_damage_is_named(read, format, text, message):
    with pytest.raises(GraphFormatError) as caught:
        read(text, format)
    assert message in str(caught.value)


@for_each("text", [graphml(""), gexf("", ""), "graph [ ]"])
def test_no_nodes_are_refused(read, text):
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
    monkeypatch.setattr("graphclust.io.formats.xml_networks._BLOCK", 1 << 10)
    monkeypatch.setattr("graphclust.io.formats.xml_networks._LONGEST_TAG", 1 << 13)
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
