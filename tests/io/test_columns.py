"""Which columns of a table are read: those that are named, by the caller or by the table, and no others."""

import warnings
from importlib.util import find_spec

import network_texts
import numpy as np
import pytest
from cases import refuses
from graph_files import load, same_csr, told

from graphclust import GraphFormatError, GraphValidationError, GraphWarning, ParameterError, as_graph, load_graph
from graphclust.faces.cli import main as cli

COUNTS = "source,target,count,kind\na,b,10,x\nb,c,1,y\n"


def edges_of(tmp_path, text: str, **options) -> set:
    """The edges by the names of their ends, in order, with their weights."""
    _, graph, _ = load(tmp_path, text, "t.csv", **options)
    return {(*sorted(ends, key=str), weight) for ends, weight in network_texts.edges_of(graph).items()}


def test_columns_are_chosen_by_name_or_place(tmp_path):
    text = "when,caller,callee,minutes\n3,ann,bob,2.5\n4,bob,cyd,1\n"
    expected = {("ann", "bob", 2.5), ("bob", "cyd", 1.0)}
    assert edges_of(tmp_path, text, source="caller", target="callee", weight="minutes") == expected
    assert edges_of(tmp_path, text, source=1, target=2, weight=3) == expected
    assert edges_of(tmp_path, text, source=np.int64(2), target="Caller", weight=" MINUTES ") == expected
    assert edges_of(tmp_path, text, source="caller", target="callee") == {("ann", "bob", 1.0), ("bob", "cyd", 1.0)}


def test_places_suffice_without_a_header(tmp_path):
    text = "1 2 7 0.5\n2 3 8 1.5\n"
    refuses(GraphFormatError, r"4 columns; .* source=0, target=1", load, tmp_path, text)
    assert edges_of(tmp_path, text, source=0, target=1) == {(1, 2, 1.0), (2, 3, 1.0)}
    assert edges_of(tmp_path, text, source=1, target=0, weight=3) == {(1, 2, 0.5), (2, 3, 1.5)}
    assert edges_of(tmp_path, "1,5,7\n2,7,9\n", source=1, target=2) == {(5, 7, 1.0), (7, 9, 1.0)}
    assert edges_of(tmp_path, "1 2 7\n2 3 8\n", weight=0) == {(2, 7, 1.0), (3, 8, 2.0)}


def test_a_fourth_column_of_times_is_left_out_and_the_third_is_the_weight(tmp_path):
    text = "1 2 0.5 1300000000\n2 3 1.5 1300000001.25\n"
    (tmp_path / "a.txt").write_text(text)
    graph, info = load_graph(tmp_path / "a.txt", return_info=True)
    assert graph.degrees.tolist() == [0.5, 2.0, 1.5]
    assert any("the third column was read as weights" in repair for repair in info.repairs)
    assert any("columns not used: 3" in remark for remark in info.remarks)
    refuses(GraphFormatError, "4 columns", load, tmp_path, text.replace("1300000001.25", "7"))


def test_a_column_that_is_not_there_is_an_error_that_lists_those_found(tmp_path):
    for options, words in (
        ({"weight": "nonsense"}, "weight='nonsense' is not a column of the table, .* 'source', 'target', 'count'"),
        ({"source": "from", "target": "target"}, "source='from' is not a column"),
        ({"source": 0, "target": 4}, r"target=4 is not a column .*\(places 0 to 3\)"),
        ({"weight": "source"}, "two columns|twice|ends of an edge"),
    ):
        refuses((GraphValidationError, GraphFormatError), words, load, tmp_path, COUNTS, "t.csv", **options)
    refuses(GraphValidationError, "names two columns", load, tmp_path, "a,b,x,x\n1,2,3,4\n", weight="x")
    with pytest.raises(GraphValidationError, match=r"weight='w' is not a column .* places 0 to 1, .*header=True"):
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
        refuses(ParameterError, words, load, tmp_path, COUNTS, "t.csv", **options)


def test_header_says_whether_the_first_line_names_the_columns(tmp_path):
    assert edges_of(tmp_path, "source,target\nann,bob\n", header=False) == {
        ("source", "target", 1.0), ("ann", "bob", 1.0),
    }  # fmt: skip
    assert edges_of(tmp_path, "ann,bob\nbob,ann\nann,cyd\n", header=True) == {("ann", "bob", 1.0), ("ann", "cyd", 1.0)}
    assert edges_of(tmp_path, "1,2\n2,3\n", header=True) == {(2, 3, 1.0)}


def test_a_weight_is_read_where_it_is_asked_for_and_else_named_as_left_out(tmp_path):
    _, graph, info = load(tmp_path, COUNTS, "t.csv")
    assert graph.weights is None
    assert info.repairs == ("columns not used: count, kind; each edge counts 1 unless weight= names its weight",)
    assert edges_of(tmp_path, COUNTS, weight="count") == {("a", "b", 10.0), ("b", "c", 1.0)}
    path = tmp_path / "t.csv"
    with pytest.warns(GraphWarning, match="columns not used: kind"):
        assert as_graph(path, weight="count").weights.tolist() == [10, 10, 1, 1]
    refuses(GraphValidationError, "weight='nonsense' is not a column", as_graph, path, weight="nonsense")
    assert load(tmp_path, COUNTS.replace("count", "weights"), "t.csv")[1].weights is not None


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
    refuses(ParameterError, "weight='nonsense'", as_graph, tmp_path / name, weight="nonsense")
    refuses(ParameterError, "weight='nonsense'", convert_to_store, tmp_path / name, tmp_path / "out", weight="nonsense")


# -- the three rules, in every kind of table


NAMES = {  # of columns, and the edges that two rows hold: the places of source, target and weight; None for an error
    "source,target": (0, 1, None), "target,source": (1, 0, None), "src,dst": (0, 1, None), "from,to": (0, 1, None),
    "FromNodeId,ToNodeId": (0, 1, None), "Source.Name,Target.Name": (0, 1, None), "u,v": (0, 1, None),
    "id,kind,from_station,to_station,since": (2, 3, None), "source,source_type,target,target_type": (0, 2, None),
    "from,to,similarity": (0, 1, 2), "customer,product,amount": (0, 1, 2), "Gene A,Gene B": (0, 1, None),
    "weight,from,x,to": (1, 3, 0), "w,a,b": (1, 2, 0), "source,target,id": (0, 1, None), "u,v,w,when": (0, 1, 2),
    "a,b,c,d": None, "id,label": None, "id,label,category": None, "node,x,y": None, "id,source_id,goal_id": None,
    "from_id,from_x,to_id,to_x": (0, 2, None), "from_a,from_b,to_a,to_b": None, "edge_id,caller,callee": None,
    ",customer,product": (1, 2, None), "Unnamed: 0,customer,product,amount": (1, 2, 3),
}  # fmt: skip


def tables_of(tmp_path, names: list[str], rows: list[list[int]]) -> dict:
    """One table as a file of text, as a DataFrame, as a list and, with pyarrow, as Parquet; each with its call."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=names)
    for ending, mark in (("csv", ","), ("tsv", "\t"), ("txt", ";")):
        frame.to_csv(tmp_path / f"t.{ending}", index=False, sep=mark)
    listed = [dict(zip(names, row, strict=True)) for row in rows]
    endings = ["csv", "tsv", "txt"]
    if find_spec("pyarrow"):
        frame.to_parquet(tmp_path / "t.parquet")
        endings.append("parquet")
    paths = {ending: lambda e=ending: load_graph(tmp_path / f"t.{e}") for ending in endings}
    return paths | {"frame": lambda: as_graph(frame), "list": lambda: as_graph(listed)}


def test_one_rule_for_every_kind_of_table(tmp_path):
    for header, places in NAMES.items():
        names = header.split(",")
        rows = [[10 * row + column + 1 for column in range(len(names))] for row in (1, 2)]
        if places is not None:
            rows[1][places[1]] = rows[0][places[0]]  # so that the path has three nodes
            rows[1][places[0]], rows[0][places[1]] = 98, 99
        for kind, read in tables_of(tmp_path, names, rows).items():
            if places is None:
                refuses(GraphFormatError, r"no two of its columns are .* source=.* its first rows: ", read)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    graph = read()
                except GraphValidationError as problem:
                    assert "kinds of nodes" in str(problem) and "customer" in header, (kind, header)
                    continue
            source, _, weight = places
            nodes = list(graph.nodes)
            assert sorted(nodes) == sorted({rows[0][source], 98, 99}), (kind, header)
            found = graph.to_scipy()[nodes.index(98), nodes.index(rows[0][source])]
            assert found == (1 if weight is None else rows[1][weight]), (kind, header, graph)


def test_what_is_assumed_or_not_used_is_said_for_every_kind_of_table(tmp_path):
    for kind, read in tables_of(tmp_path, ["from", "to", "similarity"], [[1, 2, 3], [2, 3, 5]]).items():
        with pytest.warns(GraphWarning, match="'similarity' was read as weights; pass weight"):
            assert read().weights.tolist() == [3, 3, 5, 5], kind
    for kind, read in tables_of(tmp_path, ["from", "to", "x", "y"], [[1, 2, 3, 4], [2, 3, 5, 6]]).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = "; ".join(read().remarks)
        assert "columns not used: x, y; each edge counts 1 unless weight= names its weight" in said, kind


def test_a_table_that_may_not_hold_edges_is_refused(tmp_path):
    for text in (
        "ann likes bob\nbob hates cyd\n",
        "id,label,category,city\n1,ann,a,Ulm\n2,bob,b,Rom\n",
        "id\tlabel\tx\ty\tcluster\tweight<Links>\n1\tann\t.5\t.1\t1\t3\n2\tbob\t.2\t.1\t1\t3\n",
        "id,name,email,phone\n1,ann,a@b.c,1\n2,bob,b@b.c,2\n",
        "station,lat,lon\nUlm,48.4,9.99\nRom,41.9,12.5\n",
        "Id;Label;Weight\n1;ann;3\n2;bob;4\n",
        "node\tlabel\na\t0\nb\t1\n",
        "name,community\na,x\nb,y\n",
        "city,population\nUlm,100\nRom,200\n",
    ):
        words = r"no two of its columns are plainly the ends .* source= and target="
        refuses(GraphFormatError, words, load, tmp_path, text, "t.csv")


EXPORTS = {  # as programs write a table with two edges
    "pandas, with its index": ",from,to,weight\n0,ann,bob,1.5\n1,bob,cyd,2.0\n",
    "pandas, of other names": ",customer,product,amount\n0,ann,bob,1.5\n1,bob,cyd,2.0\n",
    "R, write.csv": '"","from","to","weight"\n"1","ann","bob",1.5\n"2","bob","cyd",2\n',
    "R, write.table": '"from" "to" "weight"\n"1" "ann" "bob" 1.5\n"2" "bob" "cyd" 2\n',
    "R, write.table of other names": '"a" "b" "n"\n"1" "ann" "bob" 1.5\n"2" "bob" "cyd" 2\n',
    "R, write.csv2": '"";"from";"to";"weight"\n"1";"ann";"bob";1,5\n"2";"bob";"cyd";2\n',
    "Excel": "\ufefffrom,to,weight\r\nann,bob,1.5\r\nbob,cyd,2\r\n",
    "Excel in Europe": "sep=;\r\nfrom;to;weight\r\nann;bob;1,5\r\nbob;cyd;2\r\n",
    "Excel, empty columns": "from,to,weight,,\r\nann,bob,1.5,,\r\nbob,cyd,2,,\r\n",
    "pandas, lines in fields": 'from,to,note,weight\nann,bob,"so\nfar, ""good""\n",1.5\nbob,cyd,"3,4",2\n',
    "Gephi": "Source,Target,Type,Id,Label,timeset,Weight\nann,bob,Undirected,0,,,1.5\nbob,cyd,Undirected,1,,,2\n",
}


@pytest.mark.parametrize("program", EXPORTS)
def test_exports_of_other_programs(tmp_path, program):
    (tmp_path / "t.csv").write_bytes(EXPORTS[program].encode())
    graph, info = load_graph(tmp_path / "t.csv", return_info=True)
    assert list(graph.nodes) == ["ann", "bob", "cyd"] and graph.weights.tolist() == [1.5, 1.5, 2, 2]
    assert info.format == "csv" and not any("first line" in said for said in info.repairs)


def test_line_ends_in_quotes_in_headers_and_ids(tmp_path):
    text = f'"from\nwhere",to,"a\nnote"\n"ann\nlee",bob,"#1,2"\nbob,cyd,"{"x" * 200_000}"\n'
    _, graph, _ = load(tmp_path, text, "t.csv", source=0, target=1)
    assert graph.nodes == ["ann\nlee", "bob", "cyd"]
    _, graph, _ = load(tmp_path, 'from,to,note\n1,2,"a\n3,4,b"\n2,5,c\n', "t.csv")
    assert list(graph.nodes) == [1, 2, 5]
    text = 'from,to\na,b\nb,"c\nc,d\nd,e\n'
    refuses(GraphFormatError, "line 3: .*a quote does not end", load, tmp_path, text, "t.csv")


def test_one_number_in_two_spellings_is_refused(tmp_path):
    for text in ("from,to\n1e+05,2\n100000,3\n", "from,to\na,1e+05\nb,100000\n", "from,to\nx,y\n1e+05,100000\n"):
        refuses(GraphFormatError, "the ids '1e\\+05' and '100000' are one number", load, tmp_path, text, "t.csv")


def test_blocks_may_end_within_quotes(tmp_path, monkeypatch):
    from graphclust.io.text import byte_source

    monkeypatch.setattr(byte_source, "BLOCK", 64)
    rows = "".join(f'n{i},n{i + 1},"{i},\n\n{i}"\n' for i in range(100))
    assert load(tmp_path, "from,to,note\n" + rows, "t.csv")[1].n_edges == 100


def test_rows_without_an_id_are_refused_left_out_or_kept(tmp_path):
    for word in ("", "NA", "nan", "NULL", "None", "#N/A", '""', "<NA>", r"\N"):
        for names in (("ann", "bob", "cyd"), ("1", "2", "3")):
            rows = [(names[0], names[1]), (names[1], word), (names[1], names[2]), (word, names[2])]
            text = "from,to,x,y\n" + "".join(f"{u},{v},0,0\n" for u, v in rows)
            words = r"2 rows lack an id, the first '.*' in line 3.*missing=\"drop"
            refuses(GraphValidationError, words, load, tmp_path, text, "t.csv")
            _, graph, info = load(tmp_path, text, "t.csv", missing="drop")
            assert list(map(str, graph.nodes)) == list(names) and graph.n_edges == 2
            assert any(said.startswith("2 rows without an id left out, the first") for said in info.repairs)
    assert load(tmp_path, "from,to\nNA,ZA\nZA,BW\n", "t.csv", missing="keep")[1].nodes == ["NA", "ZA", "BW"]
    assert load(tmp_path, 'from,to\n"NA",ZA\nZA,BW\n', "t.csv")[1].nodes == ["NA", "ZA", "BW"]  # as R writes a name


def test_a_decimal_comma_between_semicolons_and_no_second_mark(tmp_path):
    for ids in (("ann", "bob", "cyd"), (1, 2, 3)):
        text = "{0};{1};1,5\n{1};{2};2\n".format(*ids)
        assert load(tmp_path, text, "t.csv")[1].weights.tolist() == [1.5, 1.5, 2, 2]
        with pytest.raises(GraphFormatError, match=r"two decimal marks: .*1,5"):
            load(tmp_path, text + "{0};{2};1.234\n".format(*ids), "t.csv")


def test_an_encoding_may_be_named_and_workbooks_are(tmp_path):
    import zipfile

    path = tmp_path / "t.csv"
    for encoding in ("cp1252", "utf-16"):
        path.write_bytes("from,to\nMüller,Œuvre\nŒuvre,ann\n".encode(encoding))
        assert load_graph(path, encoding=encoding).nodes == ["Müller", "Œuvre", "ann"]
        refuses(GraphFormatError, "encoding", load_graph, path)
    refuses(ParameterError, "encoding='klingon'", load_graph, path, encoding="klingon")
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    (tmp_path / "t.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    for name in ("t.xlsx", "t.xls"):
        with pytest.raises(GraphFormatError, match="workbook of a spreadsheet program; save its sheet of edges as CSV"):
            load_graph(tmp_path / name)


def test_a_comment_may_name_the_columns(tmp_path):
    text = "# made today\n# target source strength\n1 2 5\n2 3 6\n"
    assert edges_of(tmp_path, text) == {(1, 2, 5.0), (2, 3, 6.0)}
    assert edges_of(tmp_path, "# u v days\n1 2 5\n2 3 6\n", source="u", target="v", weight="days") == {
        (1, 2, 5.0), (2, 3, 6.0),
    }  # fmt: skip


def test_a_header_alone_has_no_edges(tmp_path):
    for text in ("source,target\n", "Source;Target;Weight\n", "# c\nfrom to\n\n"):
        refuses(GraphValidationError, "holds no edges below its header", load, tmp_path, text, "t.csv")
    for text in ("# edges\na,b", "# edges\na,b\n"):
        refuses(GraphValidationError, "holds no edges below its header", load, tmp_path, text, header=True)
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
    if not quote:
        words = r"'userID' and 'artistID' share 2 ids.* bipartite=True .*=False"
        refuses(GraphValidationError, words, load, tmp_path, text, "m.tsv")
    assert load(tmp_path, text, "m.tsv", bipartite=False)[1].n_nodes == 2
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
    assert "--weight nonsense is not a column" in capsys.readouterr().err
    assert cli.main(["info", "karate", "--weight", "x"]) != 0
    assert "--weight x names a column" in capsys.readouterr().err


def test_quiet_still_says_what_was_assumed(capsys, tmp_path):
    (tmp_path / "t.csv").write_text(COUNTS)
    words = ["cluster", str(tmp_path / "t.csv"), "-k", "2", "-q"]
    assert cli.main(words) == 0
    captured = capsys.readouterr()
    assert captured.out == "" and "columns not used: count, kind" in captured.err
    assert cli.main([*words, "--weight", "count"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "" and "columns not used: kind" in captured.err


# -- stores


FILES = {
    "count.csv": ("id,from,to,n\n1,5,7,2\n2,7,9,3\n3,9,5,4\n", {"weight": "n"}),
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
    graph, said = told(lambda: load_graph(tmp_path / name, **options))
    store, said_of_store = told(lambda: convert_to_store(tmp_path / name, tmp_path / "store", **options))
    assert store == graph and same_csr(store, graph) and store.remarks == graph.remarks and said_of_store == said
