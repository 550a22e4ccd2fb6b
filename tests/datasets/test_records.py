"""Records: values are recomputed, only better partitions are kept, and what is kept is what the tables say."""

import importlib
import json
import lzma
import pathlib

import numpy as np
import pytest
from cases import for_each
from reference.quality import cut_and_volume, modularity
from scipy import sparse

FOLDER = pathlib.Path(__file__).parents[2] / "datasets" / "records"

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="not a checkout")

# Two triangles joined by an edge, and an edge apart; the largest component is nodes 0 to 5.
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5), (6, 7)]
TRIANGLES = [0, 0, 0, 1, 1, 1, -1, -1]
WORSE = [0, 0, 1, 1, 1, 1, -1, -1]


@pytest.fixture
def check(monkeypatch):
    """datasets/records/check.py."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("check")


@pytest.fixture
def bench(check, monkeypatch, tmp_path):
    """A folder of data with one graph, an empty table and a submission to it; returns the submission's file."""
    rows, columns = np.array([*EDGES, *(edge[::-1] for edge in EDGES)]).T
    matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(8, 8))
    (tmp_path / "graphs").mkdir()
    np.savez(tmp_path / "graphs" / "triangles.npz", indptr=matrix.indptr, indices=matrix.indices, n=8)
    monkeypatch.setenv("GRAPHCLUST_DATA", str(tmp_path))
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "README.md").write_text(f"# Best\n\n{check.BEGIN}{check.END}\nafter\n")
    monkeypatch.setattr(check, "HERE", tmp_path / "table")
    monkeypatch.setattr(check.Table.__init__, "__defaults__", (tmp_path / "table",))
    return tmp_path / "submission.json"


def submit(file, partition=TRIANGLES, **changes):
    """Write a submission and its labels."""
    (file.parent / "labels.txt").write_text("".join(f"{label}\n" for label in partition))
    submission = {
        "graph": "triangles", "objective": "normalized_cut", "k": 2, "labels": "labels.txt", "tool": "by hand",
        "version": "1", "seconds": 0.5, "date": "2026-01-02", "source": "somebody/somewhere", **changes,
    }  # fmt: skip
    file.write_text(json.dumps({name: value for name, value in submission.items() if value is not None}))


def refusal(check, file, *options) -> str:
    with pytest.raises(SystemExit) as stopped:
        check.main([str(file), *options])
    return str(stopped.value)


def test_values_are_those_of_the_definitions(check):
    rng = np.random.default_rng(5)
    dense = np.triu(rng.random((30, 30)) * (rng.random((30, 30)) < 0.3))
    matrix = sparse.csr_matrix(dense + np.triu(dense, 1).T)
    labels = np.r_[0:4, rng.integers(4, size=26)]
    cut, volume = cut_and_volume(matrix.toarray(), labels, 4)
    expected = {
        "normalized_cut": (cut / volume).sum(),
        "ratio_cut": (cut / np.bincount(labels)).sum(),
        "modularity": modularity(matrix.toarray(), labels),
    }
    for objective, value in expected.items():
        assert check.value_of(matrix, labels, objective) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("objective, value", [("normalized_cut", 2 / 7), ("ratio_cut", 2 / 3), ("modularity", 5 / 14)])
def test_a_better_partition_is_kept_with_its_recomputed_value(objective, value, check, bench, capsys):
    submit(bench, objective=objective, value=-1.0)
    check.main([str(bench)])
    assert not (check.HERE / "records.json").exists()
    check.main([str(bench), "--keep"])
    kept = json.loads((check.HERE / "records.json").read_text())
    (record,) = kept["records"]
    assert record["value"] == pytest.approx(value) and record["tool"] == "by hand" and record["seconds"] == 0.5
    assert kept["graphs"]["triangles"]["component_nodes"] == 6 and kept["graphs"]["triangles"]["edges"] == 8
    assert lzma.decompress((check.HERE / record["labels"]).read_bytes()).split() == [b"%d" % x for x in TRIANGLES]
    page = (check.HERE / "README.md").read_text()
    assert f"{record['value']:.8g}" in page and page.endswith("\nafter\n") and "kept" in capsys.readouterr().out
    assert check.check_all(check.Table()) == []


@pytest.mark.parametrize("labels", [WORSE, TRIANGLES, [1, 1, 1, 0, 0, 0, -1, -1]])
def test_what_is_not_better_is_refused(labels, check, bench):
    submit(bench)
    check.main([str(bench), "--keep"])
    before = (check.HERE / "records.json").read_bytes()
    submit(bench, labels)
    assert "expected below 0.28571" in refusal(check, bench, "--keep")
    assert (check.HERE / "records.json").read_bytes() == before


def test_a_better_one_takes_the_place_of_the_record(check, bench):
    submit(bench, WORSE)
    check.main([str(bench), "--keep"])
    submit(bench, tool="better", source=None)
    check.main([str(bench), "--keep"])
    (record,) = check.Table().records
    assert record["tool"] == "better" and len(list((check.HERE / "labels").iterdir())) == 1


@for_each(
    "labels, complaint",
    [
        (TRIANGLES[:-1], "has 7 lines, expected one for each of 8 nodes"),
        ([0, 0, 0, 0, 0, 0, -1, -1], "1 of 2 clusters are empty, the first is 1"),
        ([0, 0, 0, 1, 1, 2, -1, -1], "from 0 to 2 in the largest component, expected 0 to 1"),
        ([0, 0, 0, 1, 1, -1, -1, -1], "from -1 to 1 in the largest component"),
        ([0, 0, 0, 1, 1, 1, 1, 1], "expected -1 there"),
        ([0, 0, 0, 1, 1, 1.5, -1, -1], "not a whole number a line"),
        ([0, 0, 0, 1, 1, 10**30, -1, -1], "not a whole number a line"),
    ],
)
def test_what_is_no_partition_is_refused(labels, complaint, check, bench):
    submit(bench, labels)
    assert complaint in refusal(check, bench)


@for_each(
    "changes, complaint",
    [
        ({"objective": "conductance"}, "expected one of normalized_cut, ratio_cut, modularity"),
        ({"k": "2"}, "k is '2'"),
        ({"seconds": -1}, "seconds is -1"),
        ({"tool": None, "date": None}, "tool, date missing"),
        ({"source": None}, "expected 'source'"),
        ({"graph": "unknown"}, "unknown.npz is not there"),
        ({"labels": "elsewhere.txt"}, "elsewhere.txt is not there"),
        ({"labels": "."}, "is not there"),
        ({"labels": 5}, "labels is 5, expected a line of text"),
        ({"graph": ["triangles"]}, "graph is ['triangles'], expected a line of text"),
        ({"graph": "../graphs/triangles"}, "is a path"),
        ({"graph": "nowhere:to/be/found"}, "cannot be fetched"),
        ({"objective": ["modularity"]}, "objective is ['modularity'], expected a line of text"),
        ({"tool": "a | b"}, "tool is 'a | b', expected a line of text without '|'"),
        ({"tool": "two\nlines"}, "expected a line of text"),
        ({"version": 1}, "version is 1, expected a line of text"),
        ({"source": 5}, "source is 5, expected a line of text"),
        ({"date": 5}, "date is 5"),
        ({"date": "2026-13-45"}, "date is '2026-13-45', expected one such as"),
        ({"k": 7}, "k is 7, expected at most 6"),
        ({"k": 10**30}, "expected at most 6"),
        ({"seconds": 10**400}, "expected a number of at least 0"),
    ],
)
def test_a_submission_that_lacks_something_is_refused(changes, complaint, check, bench):
    submit(bench, **changes)
    assert complaint in refusal(check, bench, "--keep")
    assert not (check.HERE / "records.json").exists()


def test_labels_and_graphs_that_cannot_be_read_are_refused(check, bench):
    submit(bench, labels="labels.xz")
    for labels in (b"", lzma.compress(b"0\n" * 8)[:20], b"no archive"):
        (bench.parent / "labels.xz").write_bytes(labels)
        assert "labels.xz is not a whole number a line" in refusal(check, bench)
    for contents in (b"", b"no archive", b"PK\x03\x04 cut"):
        (bench.parent / "graphs" / "triangles.npz").write_bytes(contents)
        assert "does not hold indptr, indices and n of a graph" in refusal(check, bench)


def test_what_is_no_json_object_is_refused(check, bench):
    for text in ("", "[1]", "[" * 100_000, "{"):
        bench.write_text(text)
        assert "JSON object" in refusal(check, bench)


def test_another_graph_of_the_same_name_is_refused(check, bench):
    submit(bench)
    check.main([str(bench), "--keep"])
    with np.load(bench.parent / "graphs" / "triangles.npz") as stored:
        parts = dict(stored)
    at = parts["indices"].tolist().index(7)  # the edge apart becomes two loops
    parts["indices"][at], parts["indices"][at + 1] = 6, 7
    np.savez(bench.parent / "graphs" / "triangles.npz", **parts)
    submit(bench)
    assert "is not the one of the table" in refusal(check, bench)
    assert "the graph is not the one of the table" in check.check_all(check.Table())[0]


def test_a_record_that_is_not_what_it_says_is_found(check, bench):
    submit(bench)
    check.main([str(bench), "--keep"])
    table = check.Table()
    table.records[0]["value"] = 0.1
    assert "the table says 0.1" in check.check_all(table)[0]


def test_the_hash_is_of_edges_and_not_of_their_storage(check):
    edges = [(0, 1), (1, 2), (0, 3)]
    rows, columns = np.array([*edges, *(edge[::-1] for edge in edges)]).T
    one = sparse.csr_matrix((np.ones(6), (rows, columns)), shape=(4, 4))
    other = sparse.csr_matrix((np.ones(6, np.float32), (rows[::-1], columns[::-1])), shape=(4, 4))
    other.indices = other.indices.astype(np.int64)
    assert check.hash_of(one) == check.hash_of(other) != check.hash_of(2 * one)


def test_the_page_is_what_the_records_say(check):
    readme = (FOLDER / "README.md").read_text()
    assert check.Table(FOLDER).page() == readme.split(check.BEGIN)[1].split(check.END)[0].strip("\n") + "\n"


def test_every_record_has_its_labels_and_every_file_its_record(check):
    table = check.Table(FOLDER)
    assert {path.name for path in (FOLDER / "labels").iterdir()} == {
        pathlib.Path(record["labels"]).name for record in table.records
    }
    for record in table.records:
        lines = lzma.decompress((FOLDER / record["labels"]).read_bytes()).split()
        labels = np.array(lines, dtype=np.int64)
        facts = table.graphs[record["graph"]]
        assert len(labels) == facts["nodes"] and (labels >= 0).sum() == facts["component_nodes"]
        assert np.array_equal(np.unique(labels[labels >= 0]), np.arange(record["k"]))


@pytest.mark.slow
def test_the_records_are_what_they_say(check, data_folder):
    assert check.check_all(check.Table(FOLDER)) == []
