"""What the benchmarks write is what README shows, and what they vary is there to be varied."""

import pathlib
import re
import sys

import pytest

BENCHMARKS = pathlib.Path(__file__).parent / "benchmarks"


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """The modules of the benchmarks by name, with an empty folder of results."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import readme_tables
    import tables

    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    monkeypatch.setattr(readme_tables, "RESULTS", tmp_path)
    return tables, readme_tables


def test_rows_are_read_as_they_were_written(bench):
    tables, readme_tables = bench
    rows = [["k-means||", "1.0"], ["", "a | b"]]
    tables.write_table("some", "Some", ["tool", "seconds"], rows, "a note")
    assert [list(row.values()) for row in readme_tables.read_rows("some")] == rows


def test_part_of_a_table_is_not_kept(bench, tmp_path):
    bench[0].write_table("some", "Some", ["tool"], [["x"]], whole=False)
    assert list(tmp_path.iterdir()) == []


def test_tools_stand_side_by_side(bench):
    tables, readme_tables = bench
    rows = [["g", "2", "graphclust", "0.1"], ["g", "2", "METIS (3 parts)", "0.2"], ["h", "5", "graphclust", "0.3"]]
    tables.write_table("some", "Some", ["graph", "k", "tool", "seconds"], rows)
    columns = [("ours", "graphclust", "seconds"), ("METIS", "METIS", "seconds")]
    text = readme_tables.side_by_side(readme_tables.by_graph("some"), columns)
    assert [re.sub(" +", "", line) for line in text.splitlines()[2:]] == ["|g|2|0.1|0.2|", "|h|5|0.3||"]


def test_only_the_block_of_that_name_is_filled(bench):
    text = "a\n<!-- measured: one -->\nold\n<!-- end -->\nb\n<!-- measured: two -->\nkept\n<!-- end -->\n"
    filled = bench[1].filled(text, "one", "new")
    assert "old" not in filled and filled.startswith("a\n<!-- measured: one -->\n\nnew\n\n<!-- end -->\nb\n")
    assert bench[1].filled(filled, "one", "new") == filled and "\nkept\n" in filled
    with pytest.raises(KeyError, match="three"):
        bench[1].filled(text, "three", "new")


def test_every_measured_block_of_the_readme_is_filled_by_the_script(bench):
    blocks = re.findall(r"<!-- measured: (\w+) -->", bench[1].README.read_text())
    assert sorted(blocks) == sorted(bench[1].MEASURED)


def test_every_number_that_is_varied_is_there(bench):
    """Building the list reads each number as it stands: a name that is gone is an AttributeError."""
    sys.modules.pop("bench_ablation", None)
    import bench_ablation

    assert len({(change.method, change.what) for change in bench_ablation.CHANGES}) == len(bench_ablation.CHANGES)
