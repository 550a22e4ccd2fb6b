"""What the benchmarks write is what README and the site show, and what they vary is there to be varied."""

import ast
import inspect
import pathlib
import re
import sys

import pytest

from graphclust.engine import levels

BENCHMARKS = pathlib.Path(__file__).parent / "benchmarks"


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """The modules of the benchmarks by name, with an empty folder of results."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import harness
    import readme_tables

    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(readme_tables, "RESULTS", tmp_path)
    return harness, readme_tables


def test_rows_are_read_as_they_were_written(bench):
    harness, readme_tables = bench
    rows = [["k-means||", "1.0"], ["", "a | b"]]
    harness.write_table("some", "Some", ["tool", "seconds"], rows, "a note")
    assert [list(row.values()) for row in readme_tables.read_rows("some")] == rows


def test_part_of_a_table_is_not_kept(bench, tmp_path):
    bench[0].write_table("some", "Some", ["tool"], [["x"]], whole=False)
    assert list(tmp_path.iterdir()) == []


def test_tools_stand_side_by_side(bench):
    harness, readme_tables = bench
    rows = [["g", "2", "graphclust", "0.1"], ["g", "2", "METIS (3 parts)", "0.2"], ["h", "5", "graphclust", "0.3"]]
    harness.write_table("some", "Some", ["graph", "k", "tool", "seconds"], rows)
    columns = [("ours", "graphclust", "seconds"), ("METIS", "METIS", "seconds")]
    text = readme_tables.side_by_side(readme_tables.by_graph("some"), columns)
    assert [re.sub(" +", "", line) for line in text.splitlines()[2:]] == ["|g|2|0.1|0.2|", "|h|5|0.3||"]


def test_only_the_block_of_that_name_is_filled(bench):
    text = "a\n<!-- measured: one -->\nold\n<!-- end -->\nb\n<!-- measured: two -->\nkept\n<!-- end -->\n"
    filled = bench[1].filled(text, "one", "new")
    assert "old" not in filled and filled.startswith("a\n<!-- measured: one -->\n\nnew\n\n<!-- end -->\nb\n")
    assert bench[1].filled(filled, "one", "new") == filled and "\nkept\n" in filled
    assert bench[1].filled(text, "three", "new") == text


def test_a_table_that_no_page_shows_is_an_error(bench, monkeypatch):
    monkeypatch.setitem(bench[1].MEASURED, "three", lambda: "new")
    with pytest.raises(KeyError, match="three"):
        bench[1].pages(["three"])


def test_a_graph_is_of_one_half_by_its_name_alone(bench):
    from bench_held_out import half_of, mean_with_error

    halves = {name: half_of(name) for name in ("altsoph_football", "altsoph_karate", "planetoid_cora", "sdcn_hhar10")}
    assert list(halves.values()) == ["development", "evaluation", "development", "evaluation"]
    assert mean_with_error([1.0, 2.0, 6.0]) == "+3.000 ± 1.528"


def test_every_measured_block_of_the_pages_is_filled_by_the_script(bench):
    blocks = [name for page in bench[1].PAGES for name in re.findall(r"<!-- measured: (\w+) -->", page.read_text())]
    assert sorted(blocks) == sorted(bench[1].MEASURED)


def test_the_pages_show_what_was_measured(bench, monkeypatch):
    monkeypatch.setattr(bench[1], "RESULTS", BENCHMARKS / "results")
    for page, text in bench[1].pages().items():
        assert page.read_text() == text, f"{page.name}: run tests/benchmarks/readme_tables.py"


def test_every_number_of_the_engine_is_varied(bench):
    """Or named as one that is not; building the list reads each as it stands, so none of its names is stale."""
    ablation, tuned = tuned_numbers()
    assert len({(change.method, change.what) for change in ablation.CHANGES}) == len(ablation.CHANGES)
    varied = {name for change in ablation.CHANGES for _, name, _ in change.patches} | ablation.NOT_VARIED
    assert tuned - varied == set() and ablation.NOT_VARIED - tuned == set()
    patches = [patch for change in ablation.CHANGES for patch in change.patches]
    assert [name for module, name, _ in patches if not hasattr(module, name)] == []


def test_the_engine_has_sixteen_tuned_numbers_at_most(bench):
    """They were taken for fifteen while two had one name."""
    ablation, tuned = tuned_numbers()
    assert len(tuned - ablation.NOT_VARIED) <= 16


def tuned_numbers():
    """The module of the ablation, and the names of all numbers of the engine's modules."""
    sys.modules.pop("bench_ablation", None)
    import bench_ablation as ablation

    modules = (
        ablation.coreset_parents, ablation.engine, ablation.family_tree, ablation.in_memory, ablation.local_moving,
        ablation.resolution, ablation.shared_neighbors, ablation.v_cycle, levels,
    )  # fmt: skip
    return ablation, {name for module in modules for name in numbers_of(module)}


def numbers_of(module) -> list[str]:
    """Names in capitals that the module itself gives a number or several."""
    statements = ast.parse(inspect.getsource(module)).body
    targets = [target for one in statements if isinstance(one, ast.Assign) for target in one.targets]
    names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return [name for name in names if name.isupper() and type(getattr(module, name)) in (int, float, tuple)]
