"""Which columns of a table are read: those that are named, by the caller or by the table, and no others."""

import warnings

import numpy as np
import pytest
from graph_files import load, same_csr

from graphclust import GraphFormatError, GraphValidationError, GraphWarning, ParameterError, as_graph, load_graph
from graphclust.faces.cli import main as cli
from graphclust.io.columns import means_weight
from graphclust.io.text.layout import layout_of

COUNTS = "source,target,count\na,b,10\nb,c,1\n"


def names_of(graph) -> list:
    return list(range(graph.n_nodes) if graph.nodes is None else graph.nodes)


def edges_of(tmp_path, text: str, **options) -> set:
    """The edges by the names of their ends, in order, with their weights."""
    _, graph, _ = load(tmp_path, text, "t.csv", **options)
    names, entries = names_of(graph), graph.to_scipy().tocoo()
    return {
        (*sorted((names[u], names[v]), key=str), w)
        for u, v, w in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
    }


def test_columns_are_chosen_by_name_or_place(tmp_path):
    text = "when,caller,callee,minutes\n3,ann,bob,2.5\n4,bob,cyd,1\n"
    expected = {("ann", "bob", 2.5), ("bob", "cyd", 1.0)}
    assert edges_of(tmp_path, text, source="caller", target="callee", weight="minutes") == expected
    assert edges_of(tmp_path, text, source=1, target=2, weight=3) == expected
    assert edges_of(tmp_path, text, source=np.int64(2), target="Caller", weight=" MINUTES ") == expected
    assert edges_of(tmp_path, text, source="caller", target="callee") == {("ann", "bob", 1.0), ("bob", "cyd", 1.0)}


def test_places_suffice_without_a_header(tmp_path):
    text = "1 2 7 0.5\n2 3 8 1.5\n"
    with pytest.raises(GraphFormatError, match=r"4 columns; .* source=0, target=1"):
        load(tmp_path, text)
    assert edges_of(tmp_path, text, source=0, target=1) == {(1, 2, 1.0), (2, 3, 1.0)}
    assert edges_of(tmp_path, text, source=1, target=0, weight=3) == {(1, 2, 0.5), (2, 3, 1.5)}
    assert edges_of(tmp_path, "1,5,7\n2,7,9\n", source=1, target=2) == {(5, 7, 1.0), (7, 9, 1.0)}
    assert edges_of(tmp_path, "1 2 7\n2 3 8\n", weight=0) == {(2, 7, 1.0), (3, 8, 2.0)}


def test_a_fourth_column_of_times_is_left_out_and_the_third_is_the_weight(tmp_path):
    text = "1 2 0.5 1300000000\n2 3 1.5 1300000001\n"
    (tmp_path / "a.txt").write_text(text)
    graph, info = load_graph(tmp_path / "a.txt", return_info=True)
    assert graph.degrees.tolist() == [0.5, 2.0, 1.5]
    assert any("the third column was read as weights" in repair for repair in info.repairs)
    assert any("columns not used: 3" in remark for remark in info.remarks)
    with pytest.raises(GraphFormatError, match="4 columns"):
        load(tmp_path, text.replace("1300000001", "7"))


def test_a_column_that_is_not_there_is_an_error_that_lists_those_found(tmp_path):
    for options, words in (
        ({"weight": "nonsense"}, "weight='nonsense' is no column of the file, .* 'source', 'target', 'count'"),
        ({"source": "from", "target": "target"}, "source='from' is no column"),
        ({"source": 0, "target": 3}, r"target=3 is no column .*\(places 0 to 2\)"),
        ({"weight": "source"}, "two columns|twice|ends of an edge"),
    ):
        with pytest.raises((GraphValidationError, GraphFormatError), match=words):
            load(tmp_path, COUNTS, "t.csv", **options)
    with pytest.raises(GraphValidationError, match="names two columns"):
        load(tmp_path, "a,b,x,x\n1,2,3,4\n", weight="x")
    with pytest.raises(GraphValidationError, match=r"weight='w' is no column .* places 0 to 1, .*header=True"):
        load(tmp_path, "1 2\n2 3\n", weight="w")


def test_arguments_that_name_no_column_are_refused(tmp_path):
    for options, words in (
        ({"source": 0}, "source= is given and target= is not"),
        ({"target": "b"}, "target= is given and source= is not"),
        ({"weight": -1}, "weight=-1, expected the name of a column"),
        ({"weight": True}, "weight=True"),
        ({"header": "yes"}, "header='yes', expected True, False or None"),
        ({"source": 0, "target": 0}, "name a column twice"),
    ):
        with pytest.raises(ParameterError, match=words):
            load(tmp_path, COUNTS, "t.csv", **options)


def test_header_says_whether_the_first_line_names_the_columns(tmp_path):
    assert edges_of(tmp_path, "source,target\nann,bob\n", header=False) == {
        ("source", "target", 1.0), ("ann", "bob", 1.0),
    }  # fmt: skip
    assert edges_of(tmp_path, "ann,bob\nbob,ann\nann,cyd\n", header=True) == {("ann", "bob", 1.0), ("ann", "cyd", 1.0)}
    assert edges_of(tmp_path, "1,2\n2,3\n", header=True) == {(2, 3, 1.0)}


def test_a_weight_is_read_where_it_is_asked_for_and_else_named_as_left_out(tmp_path):
    _, graph, info = load(tmp_path, COUNTS, "t.csv")
    assert graph.weights is None
    assert info.repairs == ("columns not used: count; each edge counts 1 unless weight= names its weight",)
    assert edges_of(tmp_path, COUNTS, weight="count") == {("a", "b", 10.0), ("b", "c", 1.0)}
    path = tmp_path / "t.csv"
    assert as_graph(path, weight="count").weights.tolist() == [10, 10, 1, 1]
    with pytest.raises(GraphValidationError, match="weight='nonsense' is no column"):
        as_graph(path, weight="nonsense")
    assert load(tmp_path, COUNTS.replace("count", "weights"), "t.csv")[1].weights is not None


def test_names_of_weights_are_known_in_any_case():
    assert all(map(means_weight, ("weight", "Weights", "VALUE", "edge_weight", "Score", "combined_score", "strength")))
    assert not any(map(means_weight, ("count", "source", "weighting", "")))


@pytest.mark.parametrize("name", ["g.mtx", "g.graph", "g.npz", "g.store", "g.tar"])
def test_columns_of_a_format_without_any_are_an_error(tmp_path, name):
    import tarfile

    from graphclust import convert_to_store, save_graph

    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    if name == "g.store":
        convert_to_store(tmp_path / "g.txt", tmp_path / name)
    elif name == "g.tar":
        save_graph(tmp_path / "g.mtx", tmp_path / "g.txt")
        with tarfile.open(tmp_path / name, "w") as archive:
            archive.add(tmp_path / "g.mtx", "g/g.mtx")
    else:
        save_graph(tmp_path / name, tmp_path / "g.txt")
    for option, value in (("weight", "nonsense"), ("header", True)):
        with pytest.raises(ParameterError, match=f"{option}={value!r} names a column of an edge list"):
            load_graph(tmp_path / name, **{option: value})
    with pytest.raises(ParameterError, match="weight='nonsense'"):
        as_graph(tmp_path / name, weight="nonsense")
    with pytest.raises(ParameterError, match="weight='nonsense'"):
        convert_to_store(tmp_path / name, tmp_path / "out", weight="nonsense")


# -- what the table says itself


@pytest.mark.parametrize(
    "header",
    [
        "source,target", "src,dst", "from,to", "FromNodeId,ToNodeId", "From Node,To Node", "from_id,to_id",
        "source id,target id", "Source Node,Target Node", "Source.Name,Target.Name", "from_station,to_station",
        "Sender,Receiver", "sender_id,recipient_id", "follower,followee", "caller,callee", "citing,cited",
        "parent,child", "origin,destination", "orig_airport,dest_airport", "node1,node2", "node_a,node_b", "idA,idB",
        "Gene A,Gene B", "protein1,protein2", "genea,geneb", "u,v", "i,j", "name_x,name_y", "head,tail",
        "Target,Source",
    ],
)  # fmt: skip
def test_columns_that_are_plainly_the_ends(header):
    for shape in ("{0}", "id,{0}", ",{0}", "{0},since", "type,{0},timestamp"):
        names = shape.format(header).split(",")
        at = names.index(header.split(",")[0])
        rows = [["3"] * at + ends + ["4"] * (len(names) - at - 2) for ends in (["5", "7"], ["7", "9"])]
        layout = layout_of("\n".join(",".join(row) for row in [names, *rows]).encode(), "t.csv", None, None)
        assert {layout.source, layout.target} == {at, at + 1} and layout.has_header and not layout.two_kinds, names


def test_every_name_of_an_end_is_known():
    sources = ["source", "src", "from", "fromnodeid", "fromnode", "fromid", "sourceid", "sourcenode"]
    targets = ["target", "dst", "to", "tonodeid", "tonode", "toid", "targetid", "targetnode"]
    for one, other in zip(sources, targets, strict=True):
        for names in ([one, other], [other, one], ["x", other, one]):
            layout = layout_of(",".join(names).encode() + b"\nx,y,z\n", "t.csv", None, None)
            assert (names[layout.source], names[layout.target]) == (one, other)


@pytest.mark.parametrize(
    "text",
    [
        "x,y,z\n1,2,3\n2,3,4\n",
        "a,b,c,d\n1,2,3,4\n",
        "source_name,source_type,kind,color\n1,2,3,4\n",
        "node1,node2,gene1,gene2\n1,2,3,4\n",
        "ann likes bob\nbob hates cyd\n",
    ],
)
def test_a_pair_that_is_not_plain_is_an_error(tmp_path, text):
    with pytest.raises(GraphFormatError, match=r"no two of its columns are plainly the ends .* source= and target="):
        load(tmp_path, text, "t.csv")
    assert load(tmp_path, text, "t.csv", source=0, target=1, weights="ignore")[1].n_edges


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("person,friend,years\nann,bob,3\nbob,cyd,4\n", ("ann", "bob")),
        ("i_gene,other_gene,corr,pval\nx,y,.5,.1\ny,z,.2,.1\n", ("x", "y")),
        ("head,relation,tail\nx,likes,y\ny,hates,z\n", ("x", "y")),
        ("userId,movieId,rating,timestamp\n1,20,4,9\n2,20,3,8\n", (1, 20)),
    ],
)
def test_other_columns_are_of_another_kind(tmp_path, text, ends):
    _, graph, info = load(tmp_path, text, "t.csv")
    assert tuple(names_of(graph)[node] for node in (0, graph.neighbors(0)[0])) == ends
    assert any("columns not used" in repair for repair in info.repairs)


def test_a_table_of_nodes_is_refused(tmp_path):
    for text in ("Id;Label;Weight\n1;ann;3\n2;bob;4\n", "node\tlabel\na\t0\nb\t1\n", "name,community\na,x\nb,y\n"):
        with pytest.raises(GraphFormatError, match="looks like a table of nodes"):
            load(tmp_path, text, "t.csv")


def test_a_comment_may_name_the_columns(tmp_path):
    text = "# made today\n# target source strength\n1 2 5\n2 3 6\n"
    assert edges_of(tmp_path, text) == {(1, 2, 5.0), (2, 3, 6.0)}
    assert edges_of(tmp_path, "# u v days\n1 2 5\n2 3 6\n", source="u", target="v", weight="days") == {
        (1, 2, 5.0), (2, 3, 6.0),
    }  # fmt: skip


def test_a_header_alone_has_no_edges(tmp_path):
    for text in ("source,target\n", "Source;Target;Weight\n", "Sender,Receiver\n", "# c\nnode1 node2\n\n"):
        with pytest.raises(GraphValidationError, match="holds no edges below its header"):
            load(tmp_path, text, "t.csv")
    assert load(tmp_path, "ann,bob\n", "t.csv")[1].n_edges == 1


# -- two kinds of nodes


def test_a_network_of_konect_says_that_it_is_bipartite(tmp_path):
    dense, graph, info = load(tmp_path, "% bip unweighted\n% 4 3 3\n1 1\n1 2\n2 2\n3 3\n", "out.l")
    assert graph.nodes == [f"{side}:{i}" for side in ("source", "target") for i in (1, 2, 3)]
    assert dense[:3, 3:].tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]] and not dense[:3, :3].any()
    assert any(remark.startswith("bipartite: the nodes of 'source' are 0 to 2") for remark in info.remarks)


def test_columns_of_konect_are_ends_weight_and_time(tmp_path):
    _, graph, info = load(tmp_path, "% sym positive\n% 2 3 3\n1 2 2 1082040961\n2 3 5\t1082155839\n")
    assert graph.weights.tolist() == [2, 2, 5, 5] and info.repairs == ("columns not used: 3",)
    assert load(tmp_path, "% asym unweighted\n1 2 1 1082040961\n2 3 1 1082155839\n")[1].weights is None


@pytest.mark.parametrize("quote", ["", '"'])
def test_ids_on_two_sides_are_different_nodes_if_asked(tmp_path, quote):
    rows = [("1", "1", 5), ("1", "2", 3), ("2", "2", 4)]
    text = "userID\tartistID\tweight\n" + "".join(f"{quote}{u}{quote}\t{quote}{v}{quote}\t{w}\n" for u, v, w in rows)
    _, graph, info = load(tmp_path, text, "m.tsv")
    assert graph.n_nodes == 2 and any("'userID' and 'artistID' may name two kinds" in said for said in info.repairs)
    dense, graph, info = load(tmp_path, text, "m.tsv", bipartite=True)
    assert graph.nodes == ["userID:1", "userID:2", "artistID:1", "artistID:2"] and info.repairs == ()
    assert dense[:2, 2:].tolist() == [[5, 3], [0, 4]] and not dense[:2, :2].any() and not dense[2:, 2:].any()
    assert load(tmp_path, "ann,book\nbob,book\n", bipartite=True)[1].nodes == ["ann", "bob", "book"]
    assert load(tmp_path, "9 70\n5 80\n", bipartite=True)[1].nodes == [5, 9, 70, 80]


# -- the command line


def test_columns_on_the_command_line(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("when,caller,callee,minutes\n3,ann,bob,2.5\n4,bob,cyd,1\n")
    words = ["--source", "caller", "--target", "2", "--weight", "minutes", "--header"]
    for output in ("g.graphml", "g.store"):
        to = ["--to", "store"] if output == "g.store" else []
        assert cli.main(["convert", str(tmp_path / "t.csv"), str(tmp_path / output), *words, *to]) == 0
        graph = load_graph(tmp_path / output)
        assert list(graph.nodes) == ["ann", "bob", "cyd"] and graph.weights.tolist() == [2.5, 2.5, 1, 1]
    assert cli.main(["info", str(tmp_path / "t.csv"), "--weight", "nonsense"]) != 0
    assert "--weight nonsense is no column" in capsys.readouterr().err
    assert cli.main(["info", "karate", "--weight", "x"]) != 0
    assert "--weight x names a column" in capsys.readouterr().err


def test_quiet_still_says_what_was_assumed(capsys, tmp_path):
    (tmp_path / "t.csv").write_text(COUNTS)
    words = ["cluster", str(tmp_path / "t.csv"), "-k", "2", "-q"]
    assert cli.main(words) == 0
    captured = capsys.readouterr()
    assert captured.out == "" and "columns not used: count" in captured.err
    assert cli.main([*words, "--weight", "count"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


# -- stores


FILES = {
    "count.csv": ("id,caller,callee,n\n1,5,7,2\n2,7,9,3\n3,9,5,4\n", {"weight": "n"}),
    "places.txt": ("1 2 7 0.5\n2 3 8 1.5\n", {"source": 1, "target": 0, "weight": 3}),
    "header.csv": ("1,2\n2,3\n3,4\n", {"header": True}),
    "padded.csv": ("1,2\n2,3\n3,01\n", {}),
    "konect.txt": ("% bip unweighted\n1 1\n1 2\n2 2\n", {}),
    "konect-weighted.txt": ("% sym positive\n1 2 3 9\n2 3 4 9\n", {}),
    "counted.txt": ("5 6\n1 2\n2 3\n3 4\n4 5\n5 1\n1 3\n", {}),
    "counted-weighted.txt": ("4 5\n1 2 3\n2 3 1\n3 4 1\n4 1 2\n1 3 1\n", {}),
    "tree.txt": ("4 3\n1 2\n2 3\n3 4\n", {}),
    "attributes.txt": ("1 2 {'weight': 3, 'since': 5}\n2 3 {'weight': 4}\n", {}),
    "quoted.csv": ('source,target,label\n5,7,"a, b"\n9,7,c\n', {}),
    "sides.csv": ("user,item\n1,2\n2,1\n", {"bipartite": True}),
}


@pytest.mark.parametrize("name", FILES)
def test_a_store_holds_what_is_loaded_and_says_the_same(tmp_path, name):
    from graphclust import convert_to_store

    text, options = FILES[name]
    (tmp_path / name).write_text(text)
    found = []
    for read in (load_graph, lambda path, **options: convert_to_store(path, tmp_path / "store", **options)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            graph = read(tmp_path / name, **options)
        found.append((graph, [str(warning.message) for warning in caught if warning.category is GraphWarning]))
    (graph, said), (store, said_of_store) = found
    assert store == graph and same_csr(store, graph) and store.remarks == graph.remarks and said_of_store == said
