"""Rows of tables whose first id starts with # or %: hashtags are nodes, comments are comments, doubts are said."""

import warnings

import network_texts
import pytest

from graphclust import load_graph
from graphclust.errors import GraphWarning
from graphclust.io.text import byte_source


def edges_of(tmp_path, text: str, name: str = "table.csv", **options) -> tuple[set, tuple[str, ...]]:
    """The edges of a file by the names of their ends, with the weight if any, and what was repaired or assumed."""
    (tmp_path / name).write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # return_info says it all
        graph, info = load_graph(tmp_path / name, return_info=True, **options)
    weights = network_texts.edges_of(graph)
    edges = {(*sorted(map(str, ends)), *([] if graph.weights is None else [weights[ends]])) for ends in weights}
    return edges, info.remarks


def of_comments(remarks) -> list[str]:
    return [remark for remark in remarks if "comment" in remark]


HASHTAGS = [("#python", "#rust"), ("rust", "go"), ("#go", "%python")]
EDGES = {tuple(sorted(edge)) for edge in HASHTAGS}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (0, 2, 1)])
def test_hashtags_are_nodes(tmp_path, delimiter, header, weighted, order):
    rows = [(*HASHTAGS[i], *([str(i + 2)] if weighted else [])) for i in order]
    if not header and not weighted and order == (0, 2, 1):
        rows.append(("#rust", "go"))  # otherwise the first two lines might be comments above the table
    lines = [("source", "target", "weight")[: 2 + weighted]] * header + rows
    edges, remarks = edges_of(tmp_path, "".join(delimiter.join(line) + "\n" for line in lines))
    assert edges == {(*sorted(row[:2]), *map(float, row[2:])) for row in rows} and of_comments(remarks) == []


@pytest.mark.parametrize("format", [None, "csv"])
def test_a_table_of_hashtags_alone(tmp_path, format):
    text = "".join(f"{u},{v}\n" for u, v in [("#a", "#b"), ("#b", "#c"), ("%c", "#a")])
    assert edges_of(tmp_path, text, format=format)[0] == {("#a", "#b"), ("#b", "#c"), ("#a", "%c")}
    assert edges_of(tmp_path, "source,target\n" + text, format=format)[0] == {
        ("#a", "#b"), ("#b", "#c"), ("#a", "%c"),
    }  # fmt: skip


def test_white_space_between_columns_that_have_names(tmp_path):
    edges, remarks = edges_of(tmp_path, "source target\nrust go\n#python #rust\n# not an edge\n", "table.txt")
    assert edges == {("go", "rust"), ("#python", "#rust")} and of_comments(remarks) == []


def test_comments_stay_comments(tmp_path):
    for name, text in (
        ("snap.txt", "# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n1\t2\n# a\tb\n2\t3\n"),
        ("snap.txt", "#FromNodeId\tToNodeId\n1\t2\n2\t3\n"),
        ("names.csv", "#source,target\n1,2\n2,3\n"),
        ("weights.csv", "#ends,ends,how often\n1,2,1\n2,3,1\n"),
        ("above.csv", "#made,yesterday\n# of two, or three\nsource,target\n1,2\n2,3\n"),
        ("within.csv", "source,target\n1,2\n# so far, so good, or not\n#nothing\n2,3\n"),
        ("long.csv", "source,target\n1,2\n#one,two,three\n2,3\n"),
        ("konect.txt", "% sym unweighted\n% 2 3 3\n1 2\n2 3\n"),
    ):
        edges, remarks = edges_of(tmp_path, text, name)
        assert edges == {("1", "2"), ("2", "3")} and of_comments(remarks) == []


def test_what_may_be_an_edge_is_counted(tmp_path):
    for text, n_doubtful, line in (
        ("#left,right\nann,bob\nbob,cyd\n", 1, 1),  # names of columns, or an edge?
        ("ann,bob\nbob,cyd\n# dan,eve\n# eve,fay\n", 2, 3),
        ("source,target,weight\nann,bob,1\nbob,cyd,1\n# dan,eve,7\n", 1, 4),
        ("ann bob\nbob cyd\n#dan eve\n", 1, 3),
    ):
        edges, remarks = edges_of(tmp_path, text, "table.csv")
        assert edges == {("ann", "bob"), ("bob", "cyd")}
        (said,) = of_comments(remarks)
        assert said.startswith(f"{n_doubtful} line{'s' * (n_doubtful > 1)} ")
        assert f"line {line}" in said and "quotes" in said
        with pytest.warns(GraphWarning, match="for a comment|for comments"):
            load_graph(tmp_path / "table.csv")


def test_a_name_among_numbers_is_counted(tmp_path):
    text = "source,target\n1,2\n#tag,2\n2,3\n#tag,3\n"
    edges, remarks = edges_of(tmp_path, text)
    assert edges == {("1", "2"), ("2", "3")}
    (said,) = of_comments(remarks)
    assert said.startswith("2 lines") and "line 3" in said and "format='csv'" in said
    edges, remarks = edges_of(tmp_path, text, format="csv")
    assert ("#tag", "2") in edges and len(edges) == 4 and of_comments(remarks) == []


def test_doubts_are_counted_over_all_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(byte_source, "BLOCK", 1 << 16)
    monkeypatch.setattr(byte_source, "HEAD", 1 << 12)
    rows = [f"{u},{u + 1}\n" for u in range(1, 30_000)]
    for place in (29_000, 100):
        rows.insert(place, "#x,1\n")
    said = of_comments(edges_of(tmp_path, "".join(rows))[1])
    assert len(said) == 1 and said[0].startswith("2 lines") and "line 101" in said[0]


@pytest.mark.parametrize("blank", ["\t", " ", " \t "])
def test_white_space_around_the_ids_of_a_comma_table_is_no_part_of_them(tmp_path, blank):
    rows = [f"ann{blank},bob", f"bob,cyd{blank}", f"{blank}cyd,{blank}ann"]
    for header in ("", "source,target\n"):
        edges, _ = edges_of(tmp_path, header + "\n".join(rows) + "\n")
        assert edges == {("ann", "bob"), ("bob", "cyd"), ("ann", "cyd")}
    assert edges_of(tmp_path, f'a,b\n"ann{blank}",bob\n', format="csv")[0] >= {tuple(sorted((f"ann{blank}", "bob")))}
