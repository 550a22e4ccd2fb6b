"""The notebooks run from top to bottom; what is stored of them is clean, and is what the pages beside them say."""

import ast
import importlib
import json
import pathlib
import re
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from cases import refuses

import graphclust

FOLDER = pathlib.Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture
def runner(monkeypatch):
    """notebooks/run.py."""
    for library in ("nbformat", "matplotlib"):
        pytest.importorskip(library)
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("run")


@pytest.fixture
def recorder(monkeypatch, tmp_path):
    """A maker of records at the small size, and their file."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("GRAPHCLUST_NOTEBOOK_RECORD", str(tmp_path / "record.json"))
    return importlib.import_module("experiment").Record, tmp_path / "record.json"


@pytest.fixture
def provenance(monkeypatch):
    """notebooks/provenance.py."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("provenance")


def test_every_question_has_a_notebook():
    assert [path.stem[:3] for path in NOTEBOOKS] == [f"{number:02d}_" for number in range(1, 16)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_clean_and_have_a_picture(path, runner):
    notebook = runner.read(path)
    assert runner.unclean(notebook) == [] and runner.pictures(notebook)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_takes_from_the_package_is_there(path, runner):
    """Names, not results: the slow test below runs it."""
    cells = [cell.source for cell in runner.read(path).cells if cell.cell_type == "code"]
    trees = [ast.parse(re.sub(r"^\s*[%!].*", "", source, flags=re.MULTILINE)) for source in cells]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    taken = [
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "graphclust"
        for alias in node.names
    ]
    taken += [
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "graphclust"
    ]
    missing = [name for name in taken if not hasattr(graphclust, name) and not find_spec(f"graphclust.{name}")]
    assert taken and missing == []


@pytest.mark.parametrize("page", ["README.md", "HEADLINES.md"])
def test_pages_are_what_the_results_say(page, runner):
    """But for what the present code makes of them: the slow test below looks at that."""
    made = {"README.md": runner.readme, "HEADLINES.md": runner.headlines}[page]()
    assert (FOLDER / page).read_text().replace(runner.STALE, "") == made.replace(runner.STALE, "")


def test_every_claim_that_was_not_reproduced_has_a_reason(runner):
    page = runner.headlines()
    assert "not reproduced |" not in page and "not reproduced: " in page


@pytest.mark.hours  # all notebooks are measured again before a release; until then pages call their verdicts stale
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_record_is_older_than_the_code_that_it_measured(path, runner):
    changed = runner.outdated(runner.record_of(path))
    assert changed == [], f"measure it again: python notebooks/run.py {path.stem[:2]}"


@pytest.mark.parametrize("size, shown", [("full", "| reproduced |"), ("small", "| open; at small size reproduced |")])
def test_a_headline_is_open_until_it_was_measured_at_full_size(size, shown, runner, monkeypatch):
    claim = {"source": "Some paper, Figure 1", "claim": "a | b", "paper": "2", "here": "c", "verdict": "reproduced"}
    record = {"size": size, "claims": [claim], "modules": {}, "read": {}}
    monkeypatch.setattr(runner, "record_of", lambda path: record)
    page = runner.headlines()
    assert "## Some paper\n" in page and "| Figure 1: a \\| b | 2 | c " in page and shown in page


@pytest.mark.parametrize("kept, stale", [({}, False), ({"graphclust.errors": "another"}, True), (None, True)])
def test_a_headline_is_stale_where_the_code_is_not_the_one_that_was_measured(kept, stale, runner):
    record = {"size": "full", "read": {}} | ({} if kept is None else {"modules": kept})
    claim = {"source": "Some paper", "claim": "faster", "verdict": "reproduced"}
    assert runner.verdict_of(claim, record) == ("stale; " if stale else "") + "reproduced"


def test_a_hash_of_code_knows_no_comment_docstring_or_layout(provenance):
    source = "def f(x):\n    return [x, 1]\n"
    same = '"""A page."""\n# why\ndef f(x):\n    """Doubt."""\n    return [\n        x,  # one\n        1,\n    ]\n'
    assert provenance.code_hash(source) == provenance.code_hash(same)
    assert provenance.code_hash(source) != provenance.code_hash(source.replace("1", "2"))
    assert provenance.code_hash('def f():\n    "a"\n    return 1\n') != provenance.code_hash("def f():\n    return 2\n")


REFUSING = """
from graphclust.errors import {names}
def _refuse_much(x):
    raise ValueError({words})
def f(x):
    _refuse_much(x)
    if x < 0:
        raise {kind}({words})
    return x + 1
"""


def test_a_hash_of_code_knows_that_there_is_a_refusal_but_not_its_words(provenance):
    as_it_was = provenance.code_hash(REFUSING.format(names="ParameterError", words="'no'", kind="ParameterError"))
    others = {"names": "ParameterError, amount", "words": "amount(x, 'node')", "kind": "ParameterError"}
    assert provenance.code_hash(REFUSING.format(**others)) == as_it_was
    without = REFUSING.format(**others).replace("    _refuse_much(x)\n", "")
    assert provenance.code_hash(without) == as_it_was
    for old, new in (("x < 0", "x < 1"), ("x + 1", "x + 2"), ("raise ParameterError", "raise ValueError")):
        assert provenance.code_hash(REFUSING.format(**others).replace(old, new)) != as_it_was


def test_a_record_is_outdated_by_code_and_tables_that_it_used_alone(provenance):
    import graphclust.errors  # noqa: F401

    now = provenance.module_hashes(["graphclust", "graphclust.errors"])
    assert list(now) == ["graphclust.errors"]  # the list of public names measures nothing
    assert provenance.outdated({"modules": now, "read": {"digits": "1"}}) == []
    old = {"modules": {**now, "graphclust.no_longer_there": "1"}, "read": {"tests/no_such_table.md": "1"}}
    assert provenance.outdated(old) == ["graphclust.no_longer_there", "tests/no_such_table.md"]
    assert provenance.outdated({}) == ["everything"]


def test_points_that_cannot_be_had_say_where_they_are_looked_for(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delenv("GRAPHCLUST_DATA", raising=False)

    def no_network(*args, **options):
        raise OSError("no route to host")

    fetchers = SimpleNamespace(fetch_openml=no_network, fetch_rcv1=no_network)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", fetchers)
    points = importlib.import_module("points")
    for name in (*points.OPENML, "rcv1"):
        refuses(FileNotFoundError, f"{name}.*GRAPHCLUST_DATA.*no route to host", points.fetch_points, name)
    refuses(ValueError, r"mnist'.*mnist_784", points.fetch_points, "mnist")


def test_points_in_the_data_folder_are_not_fetched(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(FOLDER))
    (tmp_path / "features").mkdir()
    np.savez(tmp_path / "features" / "feat_har.npz", X=[[1.0], [2.0]], labels=["b", "a"])
    monkeypatch.setenv("GRAPHCLUST_DATA", str(tmp_path))
    X, classes = importlib.import_module("points").fetch_points("har")
    assert X.tolist() == [[1.0], [2.0]] and classes.tolist() == [1, 0]


@pytest.mark.parametrize(
    "ours, theirs, paired, good, improved",
    [
        ([3, 3, 4], [1, 2, 2], (5 / 3, 1 / 3), True, True),
        ([1, 2, 2], [3, 3, 4], (-5 / 3, 1 / 3), False, False),
        ([1, 0, 3], [0, 2, 3], (-1 / 3, 0.881917), None, None),
        ([0, 2, 3], [1, 0, 3], (1 / 3, 0.881917), None, None),
        ([1, 2, 3], [1, 2, 3], (0, 0), True, None),
    ],
)
def test_paired_differences_decide_beyond_two_standard_errors(ours, theirs, paired, good, improved, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(FOLDER))
    curves = importlib.import_module("curves")
    one, other = ([{"seed": s, "y": y} for s, y in enumerate(values)] for values in (ours, theirs))
    found = curves.difference(one, other[::-1], "y")
    assert found == pytest.approx(paired, rel=1e-5)
    assert curves.at_least(*found) is good and curves.better(*found) is improved


def test_clean_leaves_nothing_of_the_run(runner):
    nbformat = pytest.importorskip("nbformat")
    outputs = [
        nbformat.v4.new_output("execute_result", {"text/plain": "3"}, metadata={"a": 1}, execution_count=7),
        nbformat.v4.new_output("stream", name="stdout", text="sec"),
        nbformat.v4.new_output("stream", name="stdout", text="onds"),
    ]
    cell = nbformat.v4.new_code_cell("1 + 2", outputs=outputs, execution_count=7, metadata={"execution": {"t": "now"}})
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}})
    assert len(runner.unclean(notebook)) == 2
    runner.clean(notebook)
    nbformat.validate(notebook)
    assert runner.unclean(notebook) == [] and "now" not in nbformat.writes(notebook)
    assert [output.get("text") for output in cell.outputs] == [None, "seconds"]


@pytest.mark.parametrize("output", [{"name": "stderr", "text": "warning"}, {"name": "stdout", "text": "in /home/me/x"}])
def test_complaints_and_folders_of_the_machine_are_not_stored(output, runner):
    nbformat = pytest.importorskip("nbformat")
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("stream", **output)])
    assert len(runner.unclean(nbformat.v4.new_notebook(cells=[cell]))) == 1


def test_a_notebook_is_done_at_its_code_its_size_and_its_data(runner, monkeypatch):
    path = FOLDER / "10_the_field.ipynb"
    record = {"code": runner.code_of(runner.read(path)), "size": "small", "data": runner.available()}
    record |= {"modules": {}, "read": {}}
    monkeypatch.setattr(runner, "record_of", lambda path: record)
    assert runner.is_done(path, "small") and not runner.is_done(path, "full")
    record["data"] = []
    assert not runner.is_done(path, "small")
    record |= {"data": runner.available(), "code": "other"}
    assert not runner.is_done(path, "small")
    record |= {"code": runner.code_of(runner.read(path)), "modules": {"graphclust.errors": "another"}}
    assert not runner.is_done(path, "small")


def test_a_small_run_prints_its_verdicts_and_leaves_the_full_size_as_it_is(runner, monkeypatch, tmp_path, capsys):
    path, claim = tmp_path / "10_the_field.ipynb", {"claim": "faster", "here": "2 times", "verdict": "reproduced"}
    path.write_bytes((FOLDER / path.name).read_bytes())
    record = {"code": runner.code_of(runner.read(path)), "data": runner.available(), "modules": {}, "read": {}}
    kept = tmp_path / "10_the_field.json"
    kept.write_text(json.dumps({**record, "size": "full"}))
    for folder in ("RESULTS", "PICTURES"):
        monkeypatch.setattr(runner, folder, tmp_path)
    small = json.dumps({**record, "size": "small", "claims": [claim]})
    monkeypatch.setattr(runner, "execute", lambda notebook, size, working: working.write_text(small))
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert runner.is_done(path, "full") and not runner.is_done(path, "small")
    for again in (False, True):
        runner.run(path, "small", again)
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
        assert "2 times" in capsys.readouterr().out


def test_a_record_goes_on_where_it_ended(recorder):
    Record, path = recorder
    asked = []

    def square(x):
        asked.append(x)
        if x == 3:
            raise KeyboardInterrupt
        return {"square": x * x / 3}

    refuses(KeyboardInterrupt, None, Record().measure, "squares", [{"x": 1}, {"x": 2}, {"x": 3}], square)
    rows = Record().measure("squares", [{"x": 2}, {"x": 4}, {"x": 1}], square)
    assert asked == [1, 2, 3, 4]
    assert rows == [{"x": 2, "square": 1.33333}, {"x": 4, "square": 5.33333}, {"x": 1, "square": 0.333333}]
    kept = json.loads(path.read_text())
    assert kept["machine"]["versions"].startswith("graphclust") and kept["commit"]
    assert "graphclust.errors" in kept["modules"]


def test_a_record_names_its_seeds_and_its_data(recorder, monkeypatch):
    Record, path = recorder
    points = importlib.import_module("points")
    monkeypatch.delenv("GRAPHCLUST_DATA", raising=False)
    pytest.importorskip("sklearn")
    record = Record()
    record.measure("part", [{"seed": s} for s in range(3)], lambda seed: {"n": len(points.points("digits")[0])})
    record.measure("other", [{"seed": 4}, {"seed": 7}], lambda seed: {"n": 1})
    kept = json.loads(path.read_text())
    assert kept["seeds"] == {"part": "0-2", "other": "4, 7"} and len(kept["read"]["digits"]) == 10


def test_a_record_names_the_commit_of_its_last_measurement(recorder):
    Record, path = recorder

    def one(x):
        return {"y": 1}

    Record().measure("part", [{"x": 1}], one)
    path.write_text(json.dumps({**json.loads(path.read_text()), "commit": "before", "date": "2026-01-02"}))
    again = Record()
    again.measure("part", [{"x": 1}], one)
    again.claim("Some paper", "better", "0.1 ± 0.1", None)
    kept = json.loads(path.read_text())
    assert (kept["commit"], kept["date"]) == ("before", "2026-01-02")
    Record().measure("part", [{"x": 2}], one)
    kept = json.loads(path.read_text())
    assert kept["commit"] != "before" and kept["date"] != "2026-01-02"


ROUNDS, WAYS = 1, (1, {"a": len})


def test_a_record_forgets_what_was_measured_by_other_code_or_with_other_constants(recorder, monkeypatch):
    Record, path = recorder

    def helper():
        return 1

    def first(x):
        return {"y": helper()}

    def second(x):
        return {"y": 2 * ROUNDS * WAYS[0]}

    assert Record().measure("part", [{"x": 1}], first, needs=[helper]) == [{"x": 1, "y": 1}]
    assert Record().measure("part", [{"x": 1}], second) == [{"x": 1, "y": 2}]
    assert json.loads(path.read_text())["parts"]["part"]["constants"] == {"ROUNDS": 1, "WAYS": [1, {"a": "not JSON"}]}
    monkeypatch.setattr(sys.modules[__name__], "ROUNDS", 2)
    assert Record().measure("part", [{"x": 1}], second) == [{"x": 1, "y": 4}]


@pytest.mark.parametrize(
    "what, other",
    [("size", "full"), ("machine", {"processor": "another"}), ("modules", {"graphclust.errors": "another"})],
)
def test_a_record_of_another_size_machine_or_code_is_begun_anew(what, other, recorder):
    Record, path = recorder

    def one(x):
        return {"y": len(path.read_text()) if path.exists() else 0}

    Record().measure("part", [{"x": 1}], one)
    path.write_text(json.dumps({**json.loads(path.read_text()), what: other}))
    assert Record().measure("part", [{"x": 1}], one) != [{"x": 1, "y": 0}]


def test_a_claim_is_kept_once_with_its_verdict(recorder, capsys):
    Record, path = recorder
    record = Record()
    record.claim("Some paper, Figure 1", "twice as fast", "1.5 times", False)
    record.claim("Some paper, Figure 1", "twice as fast", "2.5 times", True, paper="2 times")
    record.claim("Some paper, Figure 2", "better", "0.1 ± 0.1", None)
    claims = json.loads(path.read_text())["claims"]
    kept = [tuple(claim[name] for name in ("paper", "here", "verdict")) for claim in claims]
    assert kept == [("2 times", "2.5 times", "reproduced"), ("", "0.1 ± 0.1", "undecided")]
    assert "not reproduced (small size)" in capsys.readouterr().out


def test_without_a_file_nothing_is_written(recorder, monkeypatch, tmp_path):
    monkeypatch.delenv("GRAPHCLUST_NOTEBOOK_RECORD")
    rows = recorder[0]().measure("part", [{"x": 1}], lambda x: [{"y": 1}, {"y": 2}])
    assert rows == [{"x": 1, "y": 1}, {"x": 1, "y": 2}] and list(tmp_path.iterdir()) == []


def run_without_outputs(path, runner):
    """The notebook after a run of all cells, none of which had an output before."""
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = runner.read(path)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    runner.execute(notebook, "small")
    runner.clean(notebook)
    return notebook


NO_WARNINGS_OF_CLIENTS = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.mark.slow
@NO_WARNINGS_OF_CLIENTS
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_at_the_small_size(path, runner):
    notebook = run_without_outputs(path, runner)
    assert runner.unclean(notebook) == [] and runner.pictures(notebook)
